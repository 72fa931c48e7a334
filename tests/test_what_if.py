"""Changes by hand, what is offered in a word's place, and the smallest change that turns a verdict."""

import json

import pytest
import torch

from core.__main__ import main
from core.checkpoint import load_named
from core.effects import Question, offers
from core.effects.attention_edits import AttentionEdit, edited_attention, explain_under, maps_under
from core.effects.edits import Edit, EditError, edited
from core.effects.history import acting, parse_edit, words_after
from core.effects.offers import offers_for
from core.effects.turning import BEST, DEEPEST, Change
from core.evidence import AttentionMap
from core.explain import explain, explained
from core.linguistics.wordnet import lexicon
from core.models.intervention import AttentionLinks

PAIR = ("Three girls play, outside.", "The girls are outside.")


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        ("drop 0 0", ("Girls play, outside.", PAIR[1])),
        ("drop 0 2", ("Three girls, outside.", PAIR[1])),
        ("drop 0 3", ("Three girls play outside.", PAIR[1])),
        ("drop 1 4", (PAIR[0], "The girls are outside")),
        ("replace 0 0 two", ("Two girls play, outside.", PAIR[1])),
        ("replace 1 1 boys", (PAIR[0], "The boys are outside.")),
        ("insert 1 1 tall", (PAIR[0], "The tall girls are outside.")),
        ("insert 1 4 now", (PAIR[0], "The girls are outside now.")),
        ("insert 1 5 now", (PAIR[0], "The girls are outside. now")),
        ("negate 1", (PAIR[0], "The girls are not outside.")),
        ("swap 0 1 2", ("Three play girls, outside.", PAIR[1])),
        ("exchange", PAIR[::-1]),
    ],
)
def test_an_edit_and_its_text(edit, after):
    assert edited(PAIR, [Edit.parse(edit)]) == after
    assert str(Edit.parse(edit)) == edit
    assert Edit.parse(edit).describe(PAIR)


def test_a_word_dropped_from_evidence_leaves_its_lines():
    evidence = ("A dog", "The dog  is outside.\nA cat")
    assert edited(evidence, [Edit("drop", 1, 1)])[1] == "The is outside.\nA cat"
    assert edited(evidence, [Edit("drop", 1, 4)])[1] == "The dog  is outside\nA cat"


def test_edits_are_made_one_after_the_other():
    edits = [Edit.parse(text) for text in ("drop 0 0", "replace 0 0 boys", "exchange", "negate 0")]
    assert edited(PAIR, edits) == ("The girls are not outside.", "Boys play, outside.")


@pytest.mark.parametrize("text", ["", "drop", "drop 0", "drop a b", "drop 2 0", "drop 0 -1", "fly 0 1", "replace 0 0"])
def test_an_invalid_edit_is_refused_in_one_sentence(text):
    with pytest.raises(EditError, match="is not an edit of a pair"):
        Edit.parse(text)


def test_edits_beyond_the_text_or_that_empty_it_are_refused():
    with pytest.raises(EditError, match="beyond the sentence"):
        edited(PAIR, [Edit("drop", 1, 9)])
    with pytest.raises(EditError, match="without a word"):
        edited(("Girls.", "Boys."), [Edit("drop", 0, 0)])
    with pytest.raises(EditError, match="no place where"):
        edited(("Girls run.", "Boys."), [Edit("negate", 0)])
    with pytest.raises(EditError):
        Edit.parse(f"replace 0 0 {'x' * 100}")


@pytest.mark.parametrize("backwards", [False, True])
def test_offers_do_not_depend_on_the_order_of_the_words_above(monkeypatch, backwards):
    """nltk gives them in the order of a set of strings: another in each process."""
    synset, ordered = type(lexicon().synsets("dog")[0]), lambda own: sorted(of(own), reverse=backwards)
    of = synset.hypernyms
    monkeypatch.setattr(synset, "hypernyms", ordered)
    offers_for.cache_clear()
    words = [offer.word for offer in offers_for("dog").offers]
    assert "canine" in words and "stray" not in words


def test_offers_by_relation(monkeypatch, tmp_path):
    def of(word):
        return {offer.word: offer.relation for offer in offers_for(word).offers}

    assert of("three")["two"] == of("three")["four"] == "number"
    assert of("red")["blue"] == "colour"
    assert of("tall")["short"] == "opposite"
    assert of("dog")["cat"] == "of the same kind"
    assert of("dog")["animal"] == of("guitar")["instrument"] == "more general"
    assert {"boys", "women"} <= of("girls").keys()
    assert of("every")["no"] == "of the same kind"
    assert of("a") == {}
    offers_for.cache_clear()
    monkeypatch.setenv("PAIRLENS_WORDNET", str(tmp_path))
    alone = offers_for("red")
    assert "wordnet-base" in alone.note
    assert {offer.relation for offer in alone.offers} == {offers.COLOUR}
    offers_for.cache_clear()


@pytest.mark.parametrize(
    ("model", "texts"),
    [
        ("nli-two-sided", ("Three girls are playing in the park", "Two girls are playing in the park")),
        ("nli-attconv-light", ("A man sleeps on a couch.", "A person is asleep.")),
        ("sentiment-attconv", ("A wonderful film.", "")),
    ],
)
def test_the_smallest_changes_do_what_they_say(model, texts):
    checkpoint = load_named(model)
    own = explain(checkpoint, *texts, records=())
    changes = Question(checkpoint, *texts).smallest_change()
    assert 1 <= len(changes) <= BEST
    sizes = [len(change.edits) for change in changes]
    assert sizes == sorted(sizes)
    assert sizes[-1] <= DEEPEST
    for change in changes:
        assert change.turned
        after = explain(checkpoint, *change.after, records=())
        assert after.verdict == change.verdict != own.verdict
        assert change.before == texts
        assert edited(texts, change.edits) == change.after
        verdict = own.labels.index(own.verdict)
        assert change.lost == pytest.approx(own.probabilities[verdict] - after.probabilities[verdict], abs=1e-5)
    single = [change.lost for change in changes if len(change.edits) == 1]
    assert single == sorted(single, reverse=True)


def test_fewer_edits_come_first_and_no_change_repeats_a_smaller_one(monkeypatch):
    one, two, three, four, five = (Edit("drop", 1, index) for index in range(5))
    found = iter((
        [((one, two), 0.9, True), ((three,), 0.5, True), ((four,), 0.4, False)],  # two edits: an article agrees
        [((three, four), 0.8, True), ((four, five), 0.7, True)],
    ))  # fmt: skip

    def judged(asked, texts, candidates, progress):
        return [Change(edits, texts, texts, "", 0.0, lost, turned) for edits, lost, turned in next(found)]

    monkeypatch.setattr("core.effects.turning._judged", judged)
    changes = Question(load_named("nli-two-sided"), "A dog barks", "A cat sleeps on mats").smallest_change()
    assert [change.edits for change in changes] == [(three,), (one, two), (four, five)]


def test_the_command(capsys):
    arguments = ["turn", "nli-two-sided", "--first", "Three girls play", "--second", "Two girls play"]
    assert main([*arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer[0]["turned"]
    assert answer[0]["edits"][0].split()[0] in ("drop", "replace")
    assert main(arguments) == 0
    assert "turns the verdict to" in capsys.readouterr().out


ATTENTION = (
    "cell 0 1 2 0.5 kept",
    "cell 0 1 2 0.5 renormalised",
    "uniform 0",
    "temperature 0.5",
    "permuted 0 7",
    "uncrossed",
)


def edited_map(text, **more):
    values = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]])
    (changed,) = edited_attention([AttentionLinks("b", "a", values, **more)], [AttentionEdit.parse(text)])
    return changed.tolist()


def test_edits_of_attention_by_hand():
    first, second = [0.5, 0.25, 0.25], [0.1, 0.1, 0.8]
    expected = (
        [first, [0.1, 0.1, 0.5]],
        [first, [0.25, 0.25, 0.5]],
        [[1 / 3] * 3] * 2,
        [[4 / 6, 1 / 6, 1 / 6], [0.01 / 0.66, 0.01 / 0.66, 0.64 / 0.66]],
    )
    for text, rows in zip(ATTENTION, expected, strict=False):
        for got, row in zip(edited_map(text), rows, strict=True):
            assert got == pytest.approx(row, abs=1e-6), text
    permuted = edited_map("permuted 0 7")
    assert [sorted(row) for row in permuted] == [sorted(row) for row in torch.tensor([first, second]).tolist()]
    assert permuted == edited_map("permuted 0 7")
    values = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]])
    edits = [AttentionEdit.parse(text) for text in ("cell 0 1 2 0.5 kept", "cell 0 1 0 0.2 renormalised")]
    (changed,) = edited_attention([AttentionLinks("b", "a", values)], edits)
    assert changed[1].tolist() == pytest.approx([0.2, 0.5 / 6, 2.5 / 6]), "the row's own sum stays"
    equal = torch.tensor([[0.1, 0.2, 0.3, 0.4]] * 6)
    both = [edited_attention([AttentionLinks("b", "a", equal)], [AttentionEdit("permuted", seed=k)]) for k in (7, 8)]
    assert not torch.equal(*(rows for (rows,) in both)) and len(both[0][0].unique(dim=0)) > 1, "each row separately"
    assert edited_map("uniform 0", reach=((0, 2), (1, 3))) == [[0.5, 0.5, 0.25], [pytest.approx(0.1), 0.5, 0.5]]
    for text in ATTENTION:
        edit = AttentionEdit.parse(text)
        assert str(edit) == text and edit.describe(["A", "B"], ["a", "b", "c"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cell 0 1 2 nan kept", "not a number from 0 to 1"),
        ("cell 0 1 2 much kept", "not a number from 0 to 1"),
        ("cell 0 1 2 1.5 kept", "not a number from 0 to 1"),
        ("temperature 0", "not a number from 0.01 to 100"),
        ("column 0 1 0 kept", "is not an edit of attention"),
        ("cell 0 1 2 0.5", "is not an edit of attention"),
        ("cell 0 x 2 0.5 kept", "is not an edit of attention"),
        ("cell 0 7 2 0.5 kept", "beyond the attention"),
        ("cell 0 1 2", "is not an edit of attention"),
        ("permuted 0 9999999999", "is not an edit of attention"),
        ("uniform 3", "of another"),
    ],
)
def test_an_invalid_attention_edit_is_refused_in_one_sentence(text, why):
    with pytest.raises(EditError, match=why):
        edited_map(text)
    with pytest.raises(EditError, match="cannot attend to"):
        edited_map("cell 0 0 2 0.5 kept", reach=((0, 2), (1, 3)))


def test_edits_of_scores_hold_to_a_match_s_share_of_the_way_from_the_least_to_the_best():
    first, second = [0.5, 0.25, 0.25], [0.1, 0.1, 0.8]
    half = [[first, [0.1, 0.1, 0.0]], [first, [0.1, 0.1, 0.0]]]  # from -1 to 1
    expected = {
        -1.0: [*half, [[1 / 3] * 3] * 2],
        0.0: [*[[first, [0.1, 0.1, 0.5]]] * 2, [[1 / 3] * 3] * 2],
    }
    for least, maps in expected.items():
        for text, rows in zip(ATTENTION, maps, strict=False):
            for got, row in zip(edited_map(text, least=least), rows, strict=True):
                assert got == pytest.approx(row, abs=1e-6), (text, least)
    assert edited_map("temperature 0.5", least=-1.0)[0] == pytest.approx(
        [2 * (s / 2) ** 2 - 1 for s in (1.5, 1.25, 1.25)]
    )
    assert [sorted(row) for row in edited_map("permuted 0 7", least=0.0)] == [
        sorted(row) for row in torch.tensor([first, second]).tolist()
    ]
    with pytest.raises(EditError, match="beyond the attention"):
        edited_map("cell 0 0 3 0.5 kept", least=0.0)


@pytest.mark.parametrize("name", ["te-phrases-kmax", "nli-abcnn", "nli-apcnn"])
def test_a_verdict_under_edited_scores(name):
    checkpoint, texts = load_named(name), ("Three girls play", "Two girls play")
    edits = [AttentionEdit.parse(text) for text in ("cell 0 0 1 0 kept", "cell 0 0 0 1 kept")]
    own, (links,) = explain(checkpoint, *texts, records=()), maps_under(checkpoint, *texts)
    override = links.values.clone()
    override[0, 1], override[0, 0] = links.least, 1.0
    (changed,) = maps_under(checkpoint, *texts, edits)
    assert torch.allclose(changed.values, override, atol=1e-6)
    under = explain_under(checkpoint, *texts, edits)
    assert under.logits == pytest.approx(explain(checkpoint, *texts, override=override, records=()).logits, abs=1e-5)
    assert under.logits != pytest.approx(own.logits, abs=1e-4)
    assert edits[1].describe("ab", "cd", scored=True) == "“a” matches “c” with 100\u00a0%"


def test_a_verdict_under_edited_attention():
    checkpoint, texts = load_named("nli-two-sided"), ("Three girls play", "Two girls play")
    own = explain(checkpoint, *texts)
    assert explain_under(checkpoint, *texts, []).logits == pytest.approx(own.logits, abs=1e-4)
    under = explain_under(checkpoint, *texts, [AttentionEdit("uniform"), AttentionEdit("uniform", map=1)])
    first, second = (record for record in under.evidence if isinstance(record, AttentionMap))
    assert first.overridden and first.override[0] == pytest.approx([1 / 4] * 4)
    assert second.override[0] == pytest.approx([1 / 4] * 4)
    assert under.logits != pytest.approx(own.logits, abs=1e-3)
    with pytest.raises(EditError, match="has no attention"):
        explain_under(load_named("nli-hypothesis-only"), *texts, [AttentionEdit("uniform")])


def test_edits_of_attention_hold_for_the_words_since_the_last_edit_of_words():
    edits = [parse_edit(text) for text in ("uncrossed", "temperature 2", "uniform 0", "drop 0 0", "permuted 0 2")]
    assert [str(edit) for edit in acting(edits)] == ["uncrossed", "temperature 2", "permuted 0 2"]
    assert acting(edits[2:4]) == () and acting(edits[2:3]) == (AttentionEdit("uniform"),)
    assert words_after(PAIR, edits) == edited(PAIR, [Edit("drop", 0, 0)])
    with pytest.raises(EditError, match="is not an edit of a pair"):
        parse_edit("fly 0")


def maps_of_record(explanation):
    return [torch.tensor(record.override) for record in explanation.evidence if isinstance(record, AttentionMap)]


def test_edits_begin_with_the_weights_at_a_temperature_and_leave_the_model_unchanged():
    checkpoint, texts = load_named("nli-attconv-light"), ("Three girls play", "Two girls play")
    own = explained(checkpoint, *texts)
    # The power 2 of the softmax of half the scores.
    back = explain_under(checkpoint, *texts, [AttentionEdit("temperature", value=value) for value in (2.0, 0.5)])
    assert torch.allclose(*(maps_of_record(one)[0] for one in (own, back)), atol=1e-5)
    assert back.logits == pytest.approx(own.logits, abs=1e-3)
    edits = [AttentionEdit.parse("cell 0 0 1 0.25 renormalised")]
    under = explain_under(checkpoint, *texts, edits)
    assert maps_of_record(under)[0][0, 1] == 0.25 and under is explain_under(checkpoint, *texts, edits)
    assert explain_under(checkpoint, *texts, []) is explained(checkpoint, *texts)
    assert explain(checkpoint, *texts).logits == own.logits
    counted = load_named("nli-two-sided")
    without = explain_under(counted, *texts, [AttentionEdit("temperature"), AttentionEdit("uncrossed")])
    assert without.logits == pytest.approx(explain(counted, *texts, crossings=False).logits, abs=1e-4)
