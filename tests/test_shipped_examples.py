"""The examples of the pages end as their titles say, with the checkpoints that are shipped."""

import pytest

from app.examples import EXAMPLES, FAILS, MAP_EXAMPLES, PHRASE_EXAMPLES, shown_with
from app.model_choice import explains_texts, kinds, offered, reads_pairs, shows
from app.page_state.compare import CompareState
from app.page_state.explore import ExploreState
from app.page_state.filter_map import MapState
from app.page_state.phrases import PhraseState
from core.checkpoint import load_named
from core.evidence import AttentionMap, GeneratedFilters, PhraseSelection
from core.explain import explain

EXPLORED, MAPS = kinds(offered(explains_texts)), kinds(offered(shows(GeneratedFilters)))
PAGES = [
    (ExploreState, EXPLORED),
    (CompareState, kinds(offered(reads_pairs))),
    (PhraseState, kinds(offered(shows(PhraseSelection)))),
    (MapState, MAPS),
]


def verdict(model, pair, records=()):
    explanation = explain(load_named(model), *pair, records=records)
    return explanation.class_names[explanation.labels.index(explanation.verdict)], explanation


@pytest.mark.parametrize("example", [*EXAMPLES, *PHRASE_EXAMPLES], ids=lambda example: example.slug)
def test_an_examples_verdict_matches_its_title(example):
    assert example.gold, "an example has a gold label"
    model = shown_with(example, EXPLORED)
    (pair,) = example.texts
    given, _ = verdict(model, (pair.first, pair.second))
    assert (given != example.gold) == (FAILS in example.title), f"{model} says {given}, not {example.gold}"


@pytest.mark.parametrize(("page", "models"), PAGES, ids=lambda one: getattr(one, "page", ""))
def test_what_opens_first_belongs_to_its_task_and_is_right(page, models):
    firsts = {}
    for model in models:
        state, problems = page.from_parameters({"model": model}, models)
        assert state.example is not None and problems == []
        assert state.example.kind == models[model], f"{model} opens with an example of another task"
        firsts.setdefault(models[model], (model, state.example))
    for model, example in firsts.values():
        given, _ = verdict(model, example.texts[0].now)
        gold = example.gold or ENDS[example.slug][len(example.texts[0].earlier)]
        assert given == gold, f"{model} opens with “{example.title}” and says {given}"
        assert FAILS not in example.title


def test_explore_opens_with_attention_that_is_worth_looking_at():
    model, kind = next(iter(EXPLORED.items()))
    example = next(example for example in EXAMPLES if example.kind == kind)
    _, explanation = verdict(model, example.texts[0].now, (AttentionMap,))
    attention = explanation.find(AttentionMap)
    words = [
        [token.text for token in explanation.sentence(role).tokens] for role in (attention.rows, attention.columns)
    ]
    looked_at = {
        word: words[1][max(range(len(row)), key=row.__getitem__)]
        for word, row in zip(words[0], attention.weights, strict=True)
        if max(row) > 0.25
    }
    others = {word: seen for word, seen in looked_at.items() if word.lower() != seen.lower()}
    assert len(others) > 1, f"words look at other words than themselves, not {looked_at}"


def test_figure_6_agrees_with_the_paper():
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
    "same-question": ["paraphrase"],
    "weight": ["paraphrase", "not a paraphrase"],
}
"""Descriptions of the map examples' texts, in order."""


@pytest.mark.parametrize("example", MAP_EXAMPLES, ids=lambda example: example.slug)
def test_a_map_examples_class_matches_its_title(example):
    texts = [text for pair in example.texts for text in (*pair.earlier, (pair.first, pair.second))]
    given = [verdict(shown_with(example, MAPS), text)[0] for text in texts]
    assert (given != ENDS[example.slug]) == (FAILS in example.title), given
