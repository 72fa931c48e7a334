import pytest

from core.reading.tokens import MAX_CHARACTERS, tokenize


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
