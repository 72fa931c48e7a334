import itertools
import random
import re
import time
import timeit

import pytest
import torch

from core.reading.tokens import MAX_CHARACTERS, tokenize
from core.reading.tokens import norms as norms_of
from core.reading.word_table import WordTable
from tests.core.plain_tokens import plainly

WORDS = """
n't N’T 's ’re 'S 'ſ d do U.S p.m. a. a.B é İ K ſ Σ ß ﬁ Ⓐ ﷺ 1 ² Ⅷ ½ 12,3 3.6 ٣ - -- – — -LRB- -lſb- `` '' ` ' ’ “ … ..
. $ € < | 가 ᄀ ᅡ ᆨ क ् ि ก ำ 一 م ַ 👨 👩🏽 ❤ 🇩 🇪 🏴 © ™ # * @ _ ₑ dog cannot isn’t o'clock go-kart 1990s 10-year
"""
BETWEEN = (
    " \t\n\r\x00\x0b\x1c\x1f\x85\xa0\xad\u0301\u0316\u0344\u0345\u0378\u0600\u0d4e\u1160\u200b\u200c\u200d\u2028\u20e3"
    "\u3000\ud800\udc00\ue000\ufe0f\ufeff\U000111c2\U0001f3fb\U000e0067"
)
"""Spaces, marks, zero-width and unassigned characters."""

REPEATED = {
    "regional indicators": "🇩", "one and a mark": "🇩\u0301", "emoji chain": "👨\u200d", "skin tones": "👩🏽",
    "hearts": "❤\ufe0f", "tag emoji": "🏴\U000e0067", "keycaps": "1\ufe0f\u20e3", "marks": "\u0301",
    "marks out of order": "\u0301\u0316", "marks that decompose": "\u0344\u0f73\u0316", "marks on a sign": "!\u0301",
    "accents": "e\u0301", "jamo": "ᄀ", "jamo syllables": "ᄀ\u1161", "Devanagari": "क्", "Arabic": "مرحبا ",
    "ligatures": "ﬁ", "sigma": "Σ\u0301", "Han": "一", "apostrophes": "'", "negations": "n't ", "clitics": "a's",
    "joined negations": "n't", "joined words": "a'b", "backquotes": "`", "hyphens": "-", "hyphened": "a-",
    "brackets": "-lrb-", "half brackets": "-lr", "dots": ".", "abbreviations": "a.", "names": "a.b", "thousands": "1,",
    "digits": "1", "digits and letters": "1a", "ranges": "1-", "letters": "a", "capitals": "Ж", "spaces": " ",
    "hard spaces": "\xa0", "zero width": "\u200b", "zero width in words": "a\u200b", "prefixes": "\u0600",
    "control": "\x00", "surrogates": "\ud800", "private": "\ue000", "unassigned": "\u0378",
}  # fmt: skip


def norms(text):
    return [token.norm for token in tokenize(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dog's bone.", ["a", "dog", "'s", "bone", "."]),
        ("I don't, can't and won’t", ["i", "do", "n't", ",", "ca", "n't", "and", "wo", "n't"]),
        ("The U.S. costs $12,381 at 5 p.m", ["the", "u.s.", "costs", "$", "12,381", "at", "5", "p.m."]),
        ("a go-kart, o'clock and O'Brien's", ["a", "go-kart", ",", "o'clock", "and", "o'brien", "'s"]),
        ("the 1990s... well", ["the", "1990s", "...", "well"]),
        ("一 هذا كتاب नमस्ते", ["一", "هذا", "كتاب", "नमस्ते"]),
        ("wo\u200brd \u202eevil\x00\x07", ["word", "evil"]),
        ("naïve cafe\u0301", ["naïve", "café"]),
        ("<img src=x>", ["<", "img", "src", "=", "x", ">"]),
        ("", []),
        (" \t\n\u00a0", []),
    ],
)
def test_words(text, expected):
    assert norms(text) == expected


def test_text_split_already_and_raw_text_come_out_alike():
    raw = "I don't think it's Bob's (or \"hers\")? No."
    split = "I do n't think it 's Bob 's -LRB- or `` hers '' -RRB- ? No ."
    assert norms(raw) == norms(split)


APOSTROPHES = "'’´`ʼ＇′‘‛ꞌʹʻ\x92"
SPLIT = [
    "ca n't", "wo n't", "do n't", "is n't", "would n't", "ai n't", "I 'm", "you 're", "it 's", "they 'll", "we 've",
    "she 'd", "John 's", "James '", "the dogs '", "could n't 've", "who 'd 've", "y' all", "y' all 've", "d' you",
    "D' ye", "more 'n", "let 's", "o'clock", "O'Brien 's", "rock'n'roll", "1990 's",
]  # fmt: skip
"""Words as the Penn Treebank splits them; without the spaces they are as people type them."""
CARRIERS = ["{}", "{} .", "( {} )", "he said {} , then left", "{}\n{}", "“ {} ”", "Well -- {} !", "no-one {}"]


@pytest.mark.parametrize("split", SPLIT)
def test_raw_and_treebank_spellings_are_read_alike_with_any_apostrophe(split):
    raw = re.sub(r" (?=n't|')|(?<=[dDy]') ", "", split)
    assert "' " not in raw and " '" not in raw
    for carrier, form in itertools.product(CARRIERS, (str, str.upper, str.capitalize)):
        expected = norms(carrier.replace("{}", form(split)))
        for sign in APOSTROPHES:
            typed = carrier.replace("{}", form(raw).replace("'", sign))
            assert norms(typed) == expected == norms_of(typed), ascii(typed)
            assert all(typed[token.start : token.end] == token.text for token in tokenize(typed))


@pytest.mark.parametrize(
    ("raw", "split"),
    [
        ("He cannot go; CANNOT!", "He can not go ; CAN NOT !"),
        ("We're gonna win, wanna bet?", "We 're gon na win , wan na bet ?"),
        ("Gimme that, lemme go, I gotta", "Gim me that , lem me go , I got ta"),
        ("'Tis so and 'twas; 'tisn't ’tis", "'T is so and 't was ; 't is n't 't is"),
        ("don't, can't", "don 't , can 't"),
        ("a 'quoted' word, \"twice\"", "a ` quoted ' word , `` twice ''"),
        ("a ‘quoted’ word, “twice”, ´´twice´´", "a ` quoted ' word , `` twice '' , '' twice ''"),
        ("(a) [b] {c}", "-LRB- a -RRB- -LSB- b -RSB- -LCB- c -RCB-"),
        ("and/or 1/2", "and\\/or 1\\/2"),
        ("In the U.S. at 5p.m.", "In the U.S. at 5 p.m."),
        ("5kg, 20mph, 3pm, 5km/h", "5 kg , 20 mph , 3 pm , 5 km / h"),
        ("1,000 and 12,345,678.5 and 10000-strong", "1000 and 12345678.5 and 10,000-strong"),
        ("½ a go‑kart −5", "1/2 a go-kart - 5"),
    ],
)
def test_treebank_spellings_are_normalised(raw, split):
    assert norms(raw) == norms(split) == norms_of(raw) == norms_of(split)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5th 3D 1990s 10-year", ["5th", "3d", "1990s", "10-year"]),
        ("1,2 and 2010,2011", ["1,2", "and", "2010,2011"]),
        ("1½ and 10²", ["1 1/2", "and", "10 2"]),
        ("use `code` here", ["use", "`", "code", "'", "here"]),
        ("the 'y' axis, the 't' sound", ["the", "`", "y", "'", "axis", ",", "the", "`", "t", "'", "sound"]),
    ],
)
def test_other_tokens_than_contractions_and_units_stay_unchanged(text, expected):
    assert norms(text) == expected


def test_both_spellings_of_a_number_have_the_vector_of_the_one_in_the_table():
    table = WordTable.from_vectors(["dog", "1,000", "2000", "2,000"], torch.eye(4), 1.0, "numbers")
    assert table.known("1000") and table.vectors(["1000"]).equal(table.vectors(["1,000"]))
    assert table.vectors(["2000"]).argmax() == 2


@pytest.mark.parametrize(
    "text", ["A  dog’s\tbone — 👨‍👩‍👧 <b>x</b> don't U.S. wo\u200brd", "مرحبا بالعالم!", "a" * 500]
)
def test_spans_point_into_the_original_and_follow_each_other(text):
    end = 0
    for token in tokenize(text):
        assert text[token.start : token.end] == token.text
        assert token.start >= end and token.text.strip()
        assert not text[end : token.start].strip(" \t")
        end = token.end


def test_an_emoji_of_several_characters_is_one_token_and_no_word():
    tokens = tokenize("👨‍👩‍👧 🇩🇪 ok")
    assert [t.text for t in tokens] == ["👨‍👩‍👧", "🇩🇪", "ok"]
    assert [t.is_word for t in tokens] == [False, False, True]


def test_a_book_is_cut_before_it_is_split():
    assert tokenize("word " * MAX_CHARACTERS)[-1].end <= MAX_CHARACTERS


@pytest.mark.slow
def test_tokens_are_those_of_the_plain_rules():
    draw, pieces = random.Random(0), [*WORDS.split(), *BETWEEN]
    texts = ["".join(draw.choices(pieces, k=draw.randrange(1, 25))) for _ in range(4000)]
    texts += ["".join(draw.choices("nt's.-aLRB1, \x1c", k=20)) for _ in range(2000)]
    texts += ["a" + "".join(draw.choices("\u0301\u0316\u0344\u0345\u0f73\u1e69가", k=100)) for _ in range(200)]
    for text in texts:
        assert tokenize(text) == [(t.text, t.start, t.end, t.norm) for t in plainly(text)], ascii(text)


@pytest.mark.parametrize("piece", REPEATED.values(), ids=REPEATED.keys())
def test_twice_the_text_takes_less_than_three_times_as_long(piece):
    def seconds(length):
        text = (piece * length)[:length]
        return timeit.timeit(lambda: tokenize(text), timer=time.process_time, number=1)

    # timeit holds the garbage collector still, whose full collections fall now on one length, now on the other; the
    # clock says little of a few hundredths of a second, and a busy machine may slow down one of the two.
    wholes = (seconds(MAX_CHARACTERS // 4) for _ in range(8))
    assert any(whole < 0.02 or whole < 3 * seconds(MAX_CHARACTERS // 8) for whole in wholes)
