"""Files of word alignments, and attention measured against them: known answers by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core.data import DataError
from core.data.alignments import AlignedPair, read
from core.evaluation import alignment
from core.evaluation.alignment_table import in_one_line
from core.evidence import AttentionMap
from core.explain import explain
from core.reading.reader import ReadText
from core.reading.tokens import tokenize
from tests.core.made_up import make_checkpoint


def pair(source, target, sure="", possible=""):
    links = [frozenset(tuple(map(int, link.split("-"))) for link in text.split()) for text in (sure, possible)]
    return AlignedPair("1", source, target, *links)


def attended(aligned, weights):
    """A pair as a model read it whose words look as ``weights`` [T_target, T_source] say."""
    source, target = (
        ReadText(role, text, tuple(tokenize(text)))
        for role, text in (("premise", aligned.source), ("hypothesis", aligned.target))
    )
    return alignment.Attended(aligned, source, target, AttentionMap("attention", "hypothesis", "premise", (), weights))


def test_tokens_lie_in_the_whitespace_tokens_that_they_share_characters_with():
    text = " He  does n't, o'clock."
    tokens = tokenize(text)
    assert [token.text for token in tokens] == ["He", "does", "n't", ",", "o'clock", "."]
    assert alignment.whitespace_places(text, tokens) == [[0], [1], [2], [2], [3], [3]]
    # Another tokeniser may join what a space parts.
    joined = [tokens[1]._replace(end=tokens[2].end)]
    assert alignment.whitespace_places(text, joined) == [[1, 2]]


def test_a_word_links_to_its_largest_weight_if_that_is_above_threshold_and_null():
    weights = [[0.1, 0.6, 0.1], [0.3, 0.1, 0.1], [0.4, 0.4, 0.2], [0.25, 0.5, 0.0]]
    places = [[0], [1], [2]]
    links = alignment.strengths(weights, (0.2, 0.5, 0.0, 0.25), [[0], [1], [2], [0]], places)
    # Row 1 gives the null more; of row 2's equal weights the first counts; rows 0 and 3 make one link, the larger.
    assert links == {(1, 0): 0.6, (0, 2): 0.4}
    assert alignment.above(links, 0.4) == {(1, 0)}  # not the one that only reaches it
    assert alignment.strengths(weights[:1], (), [[0]], places) == {(1, 0): 0.6}
    assert alignment.strengths([[0.5]], (0.5,), [[0]], [[0]]) == {}  # as much as the null is not above it
    # A token that lies in two whitespace tokens links them both, on either side.
    assert alignment.strengths([[1.0]], (), [[0, 1]], [[2, 3]]) == {(2, 0): 1.0, (2, 1): 1.0, (3, 0): 1.0, (3, 1): 1.0}


def test_figures_by_hand():
    pairs = [pair("a b c", "a b", "0-0 1-1 2-1", "0-1"), pair("x", "y z", "0-0")]
    # Links: 3 + 1, of them sure 2 (0-0, 1-1), possible one more (0-1); people's sure ones: 3 + 1.
    figures = alignment.agreement([{(0, 0), (1, 1), (0, 1)}, {(0, 1)}], pairs)
    assert figures == {"precision": 0.5, "recall": 0.5, "f1": 0.5, "aer": 1 - 5 / 8, "links": 4, "sure": 4}
    nothing = alignment.agreement([[], []], pairs)
    assert [nothing[key] for key in ("precision", "recall", "f1", "aer")] == [0, 0, 0, 1]
    assert alignment.agreement([[]], [pair("a", "b")])["aer"] == 0


def test_the_best_threshold_is_the_lowest_with_the_best_f1():
    links, pairs = [{(0, 0): 0.9, (1, 1): 0.305}, {(1, 0): 0.2, (0, 1): 0.3}], [pair("a b", "a b", "0-0 1-1")] * 2
    # Four sure links. Above 0 2 of 4 are right, F1 4/8; above .2 2 of 3, 4/7; above .3 2 of 2, 4/6; then 1, 2/5.
    assert alignment.best_threshold(links, pairs) == 0.3
    by_hand = [
        alignment.agreement([alignment.above(own, t) for own in links], pairs)["f1"] for t in alignment.THRESHOLDS
    ]
    assert max(by_hand) == by_hand[30] and by_hand.index(max(by_hand)) == 30
    assert alignment.best_threshold([{}], [pair("a", "b", "0-0")]) == 0


def test_a_head_is_told_by_a_set_on_which_it_was_not_chosen():
    stored = {"fixed_on": "mine", "results": {"mine": {"f1": 0.75}, "others": {"f1": 0.5}}}
    assert in_one_line(stored) == "F1 .75 against people’s word alignments (mine)"
    told = in_one_line(stored | {"heads": {"head": "2.1"}})
    assert told.endswith(": F1 .50 against people’s word alignments (others)")
    del stored["results"]["others"]
    assert in_one_line(stored | {"heads": {"head": "2.1"}}).endswith(": F1 .75 against people’s word alignments (mine)")


def test_of_several_identical_words_the_nearest_in_relative_place_is_linked():
    one = attended(pair("The dog saw the cat , the end .", "the cat saw the DOG ."), [[1.0] + [0.0] * 8] * 6)
    # Places i / 9 of "the": 0, .33, .67; in the target, i / 6: 0 and .5, as far from .33 as from .67: the first.
    assert one.identical_words() == {(0, 0), (4, 1), (2, 2), (3, 3), (1, 4), (8, 5)}
    assert one.links() == {(0, i): 1.0 for i in range(6)}
    # 1 / 2 is nearer to 7 / 8 than to 0 / 8, though place 1 is nearer to place 0.
    apart = [tokenize(text) for text in ("the a b c d e f the", "x the")]
    assert alignment.identical_words(*apart) == [(7, 1)]


def test_content_words_that_look_at_function_words_and_entropy():
    # "dog" looks at "the", "runs" at ".", "cat" at "cat", "red" at nothing in particular; "the" is not a content word.
    rows = [[1.0, 0, 0, 0], [0.7, 0.1, 0.1, 0.1], [0, 0.5, 0, 0.5], [0.2, 0.2, 0.5, 0.1], [0, 0, 1.0, 0]]
    words = pair("the dog cat .", "the dog runs cat red", "0-0 1-1 2-3")
    one = attended(words, rows)
    figures = alignment.word_scores([one], 0.5)
    assert figures["content_on_function"] == 1 / 4  # "dog"; "runs" looks first at "dog", as much as at the sign
    entropies = [-sum(p * np.log(p) for p in row if p) for row in rows]
    assert figures["entropy"] == pytest.approx(np.mean(entropies))
    assert (figures["precision"], figures["recall"], figures["links"]) == (1 / 3, 1 / 3, 3)
    assert figures["identical_words"]["f1"] == 1


def test_attention_on_the_null_word_is_neither_a_link_nor_a_peak_but_counts_in_the_entropy():
    one = attended(pair("the dog", "dogs sleep", "1-0"), ((0.1, 0.5), (0.25, 0.25)))
    # "sleep" looks first at "the", were it not for the null.
    assert alignment.word_scores([one], 0.0)["content_on_function"] == 1 / 2
    one = replace(one, attention=replace(one.attention, null=(0.4, 0.5)))
    assert alignment.word_scores([one], 0.0)["content_on_function"] == 0
    assert one.links() == {(1, 0): 0.5}
    assert [peak and peak.text for peak in one.peaks()] == ["dog", None]
    rows = [(0.1, 0.5, 0.4), (0.25, 0.25, 0.5)]
    assert one.entropies() == pytest.approx([-sum(p * np.log(p) for p in row) for row in rows])


def test_jacanas_layout_is_read_and_broken_entries_are_named(tmp_path):
    good = {"id": "7", "source": "a b", "target": "c d .", "sureAlign": "0-0 1-2", "possibleAlign": "0-0 0-1"}
    broken = [
        "no object",
        good | {"source": None},
        good | {"target": " "},
        good | {"sureAlign": "0-0 1"},
        good | {"sureAlign": "0-3"},
        good | {"possibleAlign": "2-0"},
        good | {"sureAlign": 5},
    ]
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps([good, *broken, {"source": "a", "target": "b"}], indent=1))
    data = read(path)
    assert data.pairs[0] == AlignedPair("7", "a b", "c d .", frozenset({(0, 0), (1, 2)}), frozenset({(0, 1)}))
    assert [one.id for one in data.pairs] == ["7", "9"]
    assert [problem.split(": ")[0] for problem in data.problems] == [f"entry {k}" for k in range(2, 9)]
    assert data.problems[4] == "entry 6: sureAlign has 0-3, but the sentences have 2 and 3 words"
    path.write_text(json.dumps(broken))
    with pytest.raises(DataError, match=r"no pair with alignments \(entry 1: not a JSON object\)"):
        read(path)


@pytest.mark.parametrize("text", ["", "{", '{"source": "a"}', "premise,hypothesis,label\na,b,c\n", "5"])
def test_another_file_is_refused_in_one_sentence(tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(DataError, match="give a JSON list of objects with source, target and sureAlign"):
        read(path)
    with pytest.raises(DataError, match="does not exist"):
        read(tmp_path / "none.json")


def test_links_come_from_the_models_own_map(checkpoint):
    aligned = pair("a dog plays in snow", "the dog is cold .")
    (one,) = alignment.attend(checkpoint, [aligned])
    weights = np.array(one.attention.weights)
    assert weights.shape == (5, 5) and np.allclose(weights.sum(1), 1)
    assert one.links() == {(int(j), i): pytest.approx(weights[i, j]) for i, j in enumerate(weights.argmax(1))}


def test_of_a_model_whose_sentences_look_at_each_other_the_targets_words_are_linked(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "two-sided", "both")
    aligned = pair("a dog plays in snow", "the dog is cold .", "1-1")
    (one,) = alignment.attend(checkpoint, [aligned])
    maps = [
        record
        for record in explain(checkpoint, aligned.source, aligned.target).evidence
        if isinstance(record, AttentionMap)
    ]
    assert one.attention == maps[0] and (maps[0].rows, maps[1].rows) == ("hypothesis", "premise")
    best = {i: max(range(len(row)), key=row.__getitem__) for i, row in enumerate(maps[0].weights)}
    expected = {(j, i): maps[0].weights[i][j] for i, j in best.items() if maps[0].weights[i][j] > maps[0].null[i]}
    assert one.links() == pytest.approx(expected) and expected
