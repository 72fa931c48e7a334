"""Changes by hand, what is offered in a word's place, and the smallest change that turns a verdict."""

import json

import pytest

from core.__main__ import main
from core.checkpoint import load_named
from core.effects import offers
from core.effects.edits import Edit, EditError, edited
from core.effects.offers import offers_for
from core.effects.turning import BEST, DEEPEST, smallest_changes
from core.explain import explain

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
def test_what_is_no_edit_is_refused_in_one_sentence(text):
    with pytest.raises(EditError, match="is no edit of a pair"):
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
    changes = smallest_changes(checkpoint, *texts)
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


def test_the_command(capsys):
    arguments = ["turn", "nli-two-sided", "--first", "Three girls play", "--second", "Two girls play"]
    assert main([*arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer[0]["turned"]
    assert answer[0]["edits"][0].split()[0] in ("drop", "replace")
    assert main(arguments) == 0
    assert "turns the verdict to" in capsys.readouterr().out
