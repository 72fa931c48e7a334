"""The examples of the pages end as their titles say, with the checkpoints that are shipped."""

import pytest

from app.examples import EXAMPLES, FAILS, MAP_EXAMPLES, PHRASE_EXAMPLES
from app.panels.verdict import class_names
from core.checkpoint import load_named
from core.evidence import AttentionMap
from core.explain import explain

DEFAULTS = {id(example): "nli-two-sided" for example in EXAMPLES}
"""Explore opens with it where an example names no model."""
MAPS = {"topics": "topic-acnn", "reviews": "sentiment-acnn", "answers": "as-adaqa", "paraphrases": "para-adaqa"}


def verdict(model, pair, records=()):
    explanation = explain(load_named(model), *pair, records=records)
    return class_names(explanation)[explanation.labels.index(explanation.verdict)], explanation


@pytest.mark.parametrize("example", [*EXAMPLES, *PHRASE_EXAMPLES], ids=lambda example: example.slug)
def test_an_example_ends_as_its_title_says(example):
    assert example.gold or example.slug == "figure-6", "an example has a gold label"
    model = example.model or DEFAULTS[id(example)]
    (pair,) = example.texts
    given, _ = verdict(model, (pair.first, pair.second))
    if example.gold:
        assert (given != example.gold) == (FAILS in example.title), f"{model} says {given}, not {example.gold}"


def test_figure_6_shows_what_the_paper_saw():
    """c_dog is mainly “animal”, c_Frisbee mainly “plastic toy” and “playing” (Yin & Schütze 2018, figure 6a)."""
    (pair,) = next(example for example in EXAMPLES if example.slug == "figure-6").texts
    _, explanation = verdict("nli-two-sided", (pair.first, pair.second), (AttentionMap,))
    attention = explanation.find(AttentionMap)
    assert (attention.rows, attention.columns) == ("hypothesis", "premise")
    rows = {token.text: i for i, token in enumerate(explanation.second.tokens)}
    weights = {
        word: dict(zip((t.text for t in explanation.first.tokens), attention.weights[rows[word]], strict=True))
        for word in ("dog", "Frisbee")
    }
    assert max(weights["dog"], key=weights["dog"].get) == "animal"
    toys = sum(weights["Frisbee"][word] for word in ("plastic", "toy", "playing"))
    assert toys > 0.5 * sum(weights["Frisbee"].values())


ENDS = {
    "album-film-river": ["album", "film", "natural place", "athlete"],
    "four-topics": ["company", "athlete", "village", "film"],
    "beetles": ["mean of transportation", "animal"],
    "masterpiece": ["positive", "negative"],
    "not-wonderful": ["positive", "negative"],
    "three-reviews": ["positive", "negative", "positive"],
    "where-when": ["not an answer", "answer"],
    "one-question": ["answer", "not an answer"],
    "weight": ["paraphrase", "not a paraphrase"],
}
"""What the texts of the map's examples are, in the order in which they were typed."""


@pytest.mark.parametrize("example", MAP_EXAMPLES, ids=lambda example: example.slug)
def test_an_example_for_the_map_is_what_its_title_says(example):
    texts = [text for pair in example.texts for text in (*pair.earlier, (pair.first, pair.second))]
    given = [verdict(MAPS[example.kind], text)[0] for text in texts]
    assert (given != ENDS[example.slug]) == (FAILS in example.title), given
