"""The shipped models of generated filters and their maps: whole, small, and of sound judgement."""

from pathlib import Path

import numpy as np
import pytest

from core.checkpoint import PRETRAINED, available, load_named
from core.evidence import FilterProducts, FilterProvenance, GeneratedFilters
from core.explain import explain
from core.filter_map.map import FilterMap, available_map, codes_of, filter_sides

MAPPED = ("topic-acnn", "sentiment-acnn", "as-adaqa", "as-adaqa-att")
NAMES = (*MAPPED, "para-adaqa")


def size(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


def test_all_together_are_small():
    assert set(NAMES) <= available().keys()
    # Two questions of a pair are of one kind, and their filters tell no paraphrase: a map of them would say nothing.
    assert [name for name in NAMES if (PRETRAINED / name / "map").is_dir()] == [*MAPPED]
    assert sum(size(PRETRAINED / name) for name in NAMES) <= 15_000_000


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("The company was founded in 1921 and makes steel bridges in Ohio.", "company"),
        ("It is a species of flowering plant in the daisy family.", "plant"),
        ("He is a retired footballer who played as a goalkeeper for the national team.", "athlete"),
        ("A small village in the administrative district of Gmina Lubin in Poland.", "village"),
        ("It is the third studio album by the band, released in 1998 on their own label.", "album"),
        ("The river is a tributary of the Danube in the north of Romania.", "natural place"),
    ],
)
def test_topics(text, verdict):
    assert explain(load_named("topic-acnn"), text).verdict == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("A wonderful film, moving and beautifully played; I loved every minute of it.", "pos"),
        ("A dull and stupid film with awful acting. It was a waste of my time.", "neg"),
    ],
)
def test_sentiment(text, verdict):
    assert explain(load_named("sentiment-acnn"), text).verdict == verdict


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("What is the capital of France?", "Which city is the capital of France?", "1"),
        ("What is the best way to learn Python?", "How can I learn Python in the best way?", "1"),
        ("How do I cook rice?", "How do I fix a bicycle?", "0"),
        ("Why is the sky blue?", "Who wrote the novel Dracula?", "0"),
    ],
)
def test_paraphrases(first, second, verdict):
    assert explain(load_named("para-adaqa"), first, second).verdict == verdict


@pytest.mark.parametrize("name", NAMES)
def test_shares_add_up_in_the_shipped_weights(name):
    checkpoint = load_named(name)
    result = explain(checkpoint, "who wrote the book about the sea", "the book about the sea is by a sailor")
    sides = [record for record in result.evidence if isinstance(record, FilterProvenance)]
    for record in sides:
        for f in record.filters:
            assert sum(f.offsets) + f.bias == pytest.approx(f.preactivation, abs=1e-4)
    assert result.find(GeneratedFilters) is not None
    if not sides[0].filters[0].logit_shares:
        return
    for c, logit in enumerate(result.logits):
        total = sides[0].logit_bias[c] + sum(f.logit_shares[c] for record in sides for f in record.filters)
        products = result.find(FilterProducts)
        if products is not None:
            total += sum(row[c] for row in products.products) + products.linguistic[c]
        assert total == pytest.approx(logit, abs=1e-3)


@pytest.mark.parametrize("name", MAPPED)
def test_the_map_holds_no_text_and_places_a_new_one(name):
    checkpoint = load_named(name)
    folder = available_map(checkpoint)
    found = FilterMap.load(folder, checkpoint)
    assert 2000 <= len(found.items) <= 3000
    # Ids, classes and DBpedia's titles alone: no title is a sentence.
    assert all(len(item.title) <= 120 for item in found.items)
    if name != "topic-acnn":
        assert not any(item.title for item in found.items)
    for layout in found.layouts.values():
        quality = layout.quality
        assert quality["trustworthiness"] > 0.8
        if layout.filter is None:
            assert quality["knn_filters"] > quality["majority"]
        codes = codes_of(checkpoint, ["the city lies on the river"], filter_sides(checkpoint)[0])
        place = found.place(codes, layout.name)
        assert np.isfinite(place).all()
        low, high = layout.coordinates.min(0), layout.coordinates.max(0)
        # A text unlike all others may be pushed out a little, but stays in sight.
        margin = (high - low) / 4
        assert (place >= low - margin).all() and (place <= high + margin).all()


def test_a_topic_lands_among_its_class():
    checkpoint = load_named("topic-acnn")
    found = FilterMap.load(available_map(checkpoint), checkpoint)
    codes = codes_of(checkpoint, ["It is a species of flowering plant in the daisy family, found in Peru."])
    near = found.neighbours(codes[0], "all filters", k=10)
    assert [found.items[n.index].label for n in near].count("plant") >= 8
    distances = [n.distance for n in near]
    assert distances == sorted(distances)
    # The plane shows it near them, too.
    place = found.place(codes, "all filters")[0]
    coordinates = found.layouts["all filters"].coordinates
    nearest = np.argsort(((coordinates - place) ** 2).sum(1))[:10]
    assert [found.items[i].label for i in nearest].count("plant") >= 8
