"""Words of external models: in scripts without spaces they follow the tokeniser, and as many are read as fit."""

from __future__ import annotations

import itertools
from math import log

import pytest

from core.checkpoint import load
from core.effects.edits import Edit, edited
from core.effects.question import Question
from core.effects.words import DROPPED
from core.evidence import AttentionMap
from core.explain import explain
from core.external.base import spelt
from core.reading.reader import PairError
from tests.guests import TOKENIZERS, make, make_tower

CHINESE = ("今天天气很好，我们去公园玩", "她在家里")
JAPANESE = ("猫が庭で眠っています。", "犬はカレーを食べた")
THAI = ("วันนี้อากาศดี", "เธออยู่ที่บ้าน")
MIXED = ("My iPhone手机 is new.", "これはiPhoneです")
OF = {"WordPiece": "bert", "byte BPE": "roberta", "unigram": "xlm-roberta"}


@pytest.fixture(scope="module")
def guests(tmp_path_factory):
    home = tmp_path_factory.mktemp("words")
    return {kind: load(make(home / name, name)) for kind, name in OF.items()}


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("pair", [CHINESE, JAPANESE, THAI, MIXED])
def test_words_of_scripts_without_spaces_end_where_pieces_do(guests, kind, pair):
    """Checked piece by piece: no piece belongs to two words."""
    guest = guests[kind]
    explanation = explain(guest, *pair)
    for text, side in zip(pair, (explanation.first, explanation.second), strict=True):
        spans = [(token.start, token.end) for token in side.tokens]
        assert all(text[start:end] == token.text for (start, end), token in zip(spans, side.tokens, strict=True))
        pieces = guest.reader.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        for start, end in itertools.pairwise(place for span in spans for place in span):
            assert start <= end
        for start, end in pieces:
            touched = [span for span in spans if max(start, span[0]) < min(end, span[1]) and text[span[0]].isalnum()]
            assert len(touched) <= 1 or text[start:end].isascii()
    record = explanation.find(AttentionMap)
    assert len(record.weights) == len(explanation.second.tokens) and len(record.weights[0]) == len(
        explanation.first.tokens
    )
    owners = set(guest.reader.batch(guest.read(*pair)).owners[0].tolist())
    tokens = [*explanation.first.tokens, *explanation.second.tokens]
    assert owners >= {number for number, token in enumerate(tokens) if token.text.isalnum()}


def test_a_clause_of_chinese_is_as_many_words_as_its_tokeniser_has(guests):
    for kind in ("WordPiece", "byte BPE"):
        explanation = explain(guests[kind], *CHINESE)
        assert [token.text for token in explanation.second.tokens] == list("她在家里")
        assert len(explanation.first.tokens) == 13
    assert [token.text for token in explain(guests["WordPiece"], *MIXED).first.tokens] == [
        "My",
        "iPhone",
        "手",
        "机",
        "is",
        "new",
        ".",
    ]
    assert [token.text for token in guests["byte BPE"].reader.tokens("Two dogs aren't in the U.S. park")][2:4] == [
        "are",
        "n't",
    ]


def test_a_bi_encoder_splits_them_too(tmp_path):
    guest = load(make_tower(tmp_path / "tower"))
    assert len(explain(guest, *CHINESE).find(AttentionMap).weights) == 4


def test_words_that_are_taken_away_leave_no_space_where_there_was_none(guests):
    guest = guests["WordPiece"]
    effects = Question(guest, *CHINESE).words(DROPPED).words
    typed = explain(guest, "今天气很好，我们去公园玩", CHINESE[1])
    own = explain(guest, *CHINESE)
    target = own.probabilities.index(max(own.probabilities))
    place = next(number for number, word in enumerate(effects) if number == 2)
    assert effects[place].effect == pytest.approx(
        log(own.probabilities[target] / typed.probabilities[target]), abs=1e-5
    )
    split = guest.reader.tokens
    assert edited(CHINESE, [Edit("drop", 0, 2)], split)[0] == "今天气很好，我们去公园玩"
    assert edited(CHINESE, [Edit("replace", 1, 0, "他")], split)[1] == "他在家里"
    assert edited(CHINESE, [Edit("insert", 1, 4, "了")], split)[1] == "她在家里了"
    assert edited(CHINESE, [Edit("insert", 1, 0, "昨")], split)[1] == "昨她在家里"
    assert Edit("drop", 1, 3).describe(CHINESE, split) == "“里” left out"
    reading = guest.read(*CHINESE)
    assert spelt(reading.second)[0] == CHINESE[1]
    for change in Question(guest, *CHINESE).smallest_change():
        assert change.described and " " not in "".join(change.after)


def test_a_clause_longer_than_the_model_is_cut_with_a_warning(tmp_path):
    guest = load(make(tmp_path / "short", max_position_embeddings=64))
    explanation = explain(guest, "天" * 128, CHINESE[1])
    batch = guest.reader.batch(guest.read("天" * 128, CHINESE[1]))
    assert len(explanation.first.tokens) == 64 - 3 - 4 and len(explanation.second.tokens) == 4
    assert batch.real.shape[1] == 64
    assert [warning for warning in explanation.warnings if "was cut after 57 words" in warning]


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_long_pair_keeps_as_many_words_as_fit(tmp_path, kind):
    """One word more of the text that was cut has no room."""
    limit = 66 if kind != "WordPiece" else 64
    guest = load(make(tmp_path / "short", OF[kind], max_position_embeddings=limit))
    words = [
        "A",
        "man",
        "in",
        "a",
        "blue",
        "shirt",
        "is",
        "playing",
        "guitars",
        "while",
        "three",
        "girls",
        "don't",
        "eat",
    ]
    for lengths in ((300, 5), (5, 300), (200, 200), (40, 30)):
        pair = tuple(" ".join(itertools.islice(itertools.cycle(words), length)) for length in lengths)
        reading = guest.read(*pair)
        pieces = guest.reader.batch(reading).real.shape[1]
        assert 56 < pieces <= 64
        sides = [reading.first, reading.second]
        whole = [guest.reader.tokens(text) for text in pair]
        assert all(side.truncated == len(own) - len(side.tokens) for side, own in zip(sides, whole, strict=True))
        counts = [len(guest.reader.tokenizer(spelt(side)[0], add_special_tokens=False)["input_ids"]) for side in sides]
        if min(lengths) == 5:
            assert not sides[lengths.index(5)].truncated
        else:
            assert abs(counts[0] - counts[1]) <= 8, "both are cut by the same rule"


def test_premises_longer_than_two_hundred_words_are_read_where_the_model_has_room(guests):
    explanation = explain(guests["WordPiece"], " ".join(["dog"] * 300), "A dog.")
    assert len(explanation.first.tokens) == 300 and not explanation.first.truncated
    explanation = explain(guests["WordPiece"], " ".join(["dog"] * 500), "A dog.")
    assert len(explanation.first.tokens) == 397 and explanation.first.truncated == 103


def test_a_word_longer_than_the_model_is_refused_in_one_sentence(tmp_path, guests):
    guest = load(make(tmp_path / "short", "roberta", max_position_embeddings=66))
    word = "x" * 900
    with pytest.raises(PairError, match="x…” is longer than the 64 pieces that this model reads: shorten it"):
        explain(guest, f"{word} is a word.", "A dog.")
    explanation = explain(guest, f"This is a word: {word} and more", "A dog.")
    assert [token.text for token in explanation.first.tokens] == ["This", "is", "a", "word", ":"]


def test_warnings_go_by_the_models_own_tokeniser(guests):
    """A model that was trained on Russian is not said to be unable to read it."""
    russian = ("Две собаки бегут по снегу", "собаки бегут")
    assert not explain(guests["unigram"], *russian).warnings
    assert not explain(guests["byte BPE"], *CHINESE).warnings
    warnings = explain(guests["WordPiece"], *CHINESE).warnings
    assert warnings and all("unknown to the model’s tokeniser" in warning for warning in warnings)
