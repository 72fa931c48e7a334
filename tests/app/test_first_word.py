"""The word that is selected at first says something: it differs, looks elsewhere, or has won most."""

import pytest

from app.panels.attention_map.first_word import telling_word
from core.evidence import AttentionMap, Explanation, FilterProvenance, Sentence
from core.evidence.attention_map import FINAL_STATE
from core.evidence.filter_provenance import FilterRecord
from core.evidence.record import TokenRecord
from core.reading.tokens import tokenize


def sentence(role, text):
    return Sentence(role, text, tuple(TokenRecord(t.text, t.start, t.end, False) for t in tokenize(text)))


def first_word(first, second, looks=(), won=(), units="words"):
    """Of words of ``second`` that look at themselves where they can, but for ``looks`` (word → word of ``first``)."""
    sides = sentence("premise", first), sentence("hypothesis", second)
    columns, rows = ([token.text for token in side.tokens] for side in sides)
    seen = [dict(looks).get(word, word) for word in rows]
    weights = tuple(tuple(0.9 if column == word else 0.01 for column in columns) for word in seen)
    filters = tuple(FilterRecord(k, rows.index(w), (0, 1), 0, 0, 0, 0, 0, 0, 0, ()) for k, w in enumerate(won))
    record = AttentionMap("attention", "hypothesis", "premise", weights, weights, units=units)
    evidence = (record, FilterProvenance("filters", "hypothesis", 3, filters, ()))
    explanation = Explanation("m", "M", sides[0], sides[1:], "both", ("yes",), (0.0,), (1.0,), evidence)
    return rows[telling_word(record, explanation)]


@pytest.mark.parametrize(
    ("first", "second", "more", "word"),
    [
        ("Three girls are playing", "Two girls are playing", {"won": ["playing", "playing"]}, "Two"),
        ("A man is playing a guitar", "A man is not playing a guitar", {"won": ["guitar"]}, "not"),
        ("A man isn't here", "A man is not here", {"won": ["here"], "looks": {"not": "n't"}}, "here"),
        ("A dog in the house .", "A dog on the house .", {}, "on"),
        ("The boys are outdoors", "The kids are outdoors near a smile", {"won": ["smile", "near", "near"]}, "smile"),
        ("A dog runs", "The dog runs", {"looks": {"runs": "dog"}}, "runs"),
        (
            "A boy is chasing a girl",
            "A girl is chasing a boy",
            {"won": ["boy", "chasing", "boy", "a", "a", "a"]},
            "boy",
        ),
        ("what is it", "it is what", {"won": ["is", "is", "it"]}, "what"),
        ("so , it is", "it , is", {"won": [",", ",", "it"]}, "it"),
        ("A dog runs", "A dog sleeps .", {"units": FINAL_STATE}, "."),
    ],
)
def test_the_word_selected_at_first_says_something(first, second, more, word):
    assert first_word(first, second, **more) == word
