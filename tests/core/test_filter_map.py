"""The filter map: true to the filters, the same every time, and honest about its quality."""

import copy
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from core.checkpoint import load
from core.filter_map.map import (
    FilterMap,
    FilterMapError,
    MapItem,
    codes_of,
    filter_sides,
    isometry,
)
from core.reading.batch import Side
from core.reading.word_table import ngram_vector
from tests.core.made_up import WORDS, make_checkpoint

ROOT = Path(__file__).resolve().parents[2]
CLASSES, ITEMS = 3, 90
SETTINGS = {"perplexity": 8, "iterations": (60, 90)}


def clustered(seed=0, count=ITEMS, spread=0.15):
    """Codes around one centre a class, and their classes."""
    random = np.random.default_rng(seed)
    classes = np.arange(count) % CLASSES
    centres = np.random.default_rng(7).uniform(0, 3, (CLASSES, 6))
    codes = np.maximum(0, centres[classes] + spread * random.normal(size=(count, 6)))
    return codes.astype(np.float32), classes


def items_of(classes):
    return [MapItem(f"line {i}", f"class {c}", f"title {i}") for i, c in enumerate(classes)]


@pytest.fixture(scope="module")
def acnn(tmp_path_factory, table):
    return make_checkpoint(tmp_path_factory.mktemp("map") / "tiny", table, "acnn")


@pytest.fixture(scope="module")
def made(acnn):
    codes, classes = clustered()
    return FilterMap.fit(acnn, items_of(classes), codes, filters=(None, 2), **SETTINGS)


def banks(checkpoint, codes, filter=None):
    """The filters themselves, one row a text, by the generator's own arithmetic in float64."""
    bank = copy.deepcopy(checkpoint.model.generator).double()(torch.from_numpy(codes).double()).detach()
    return (bank if filter is None else bank[:, filter]).flatten(1).numpy()


# --- the isometry ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("filter", [None, 0, 11])
def test_reduced_points_have_the_inner_products_of_the_filters(tmp_path, table, rank, filter):
    checkpoint = make_checkpoint(tmp_path / "c", table, "acnn", rank=rank)
    codes, _ = clustered()
    real = banks(checkpoint, codes, filter)
    root = isometry(checkpoint.model.generator, filter)
    points = np.concatenate([codes.astype(np.float64), np.ones((ITEMS, 1))], axis=1) @ root
    # The factorised generator's matrix is a product in float32.
    tolerance = 1e-5 if rank else 1e-9
    np.testing.assert_allclose(points @ points.T, real @ real.T, rtol=tolerance)
    apart = np.linalg.norm(real[:, None] - real[None], axis=2)
    np.testing.assert_allclose(np.linalg.norm(points[:, None] - points[None], axis=2), apart, rtol=tolerance, atol=1e-9)


def test_more_codes_than_a_filter_has_weights(tmp_path, table):
    """Then G is singular: directions that move no filter are dropped."""
    checkpoint = make_checkpoint(tmp_path / "c", table, "acnn", code=40, projection=4, width=3)
    codes = np.random.default_rng(0).uniform(0, 1, (50, 40)).astype(np.float32)
    root = isometry(checkpoint.model.generator, 3)
    assert np.linalg.matrix_rank(root) == 12 and np.isfinite(root).all()
    real = banks(checkpoint, codes, 3)
    points = np.concatenate([codes, np.ones((50, 1))], axis=1) @ root
    np.testing.assert_allclose(points @ points.T, real @ real.T, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("metric", ["cosine", "euclid"])
@pytest.mark.parametrize("filter", [None, 5])
def test_neighbours_are_those_of_the_filters_themselves(acnn, metric, filter):
    codes, classes = clustered()
    found = FilterMap.fit(
        acnn, items_of(classes), codes, filters=[filter], metric=metric, perplexity=8, iterations=(1, 1)
    )
    asked, _ = clustered(seed=1, count=5)
    old, new = banks(acnn, codes, filter), banks(acnn, asked, filter)
    if metric == "cosine":
        lengths = np.linalg.norm(new, axis=1)[:, None] * np.linalg.norm(old, axis=1)[None]
        expected = 1 - new @ old.T / lengths
    else:
        expected = np.linalg.norm(new[:, None] - old[None], axis=2)
    name = "all filters" if filter is None else f"filter {filter}"
    for code, row in zip(asked, expected, strict=True):
        nearest = found.neighbours(code, name, k=8)
        assert [n.index for n in nearest] == list(np.argsort(row)[:8])
        np.testing.assert_allclose([n.distance for n in nearest], np.sort(row)[:8], rtol=1e-6, atol=1e-10)
    itself = found.neighbours(codes[17], name, k=1)[0]
    assert (itself.index, itself.distance) == (17, 0.0)


# --- placing ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_by_one_is_all_at_once_in_any_order_and_nothing_moves(made):
    asked, _ = clustered(seed=1, count=6)
    for name, layout in made.layouts.items():
        before = layout.coordinates.tobytes()
        together = made.place(asked, name)
        assert together.dtype == np.float32 and together.shape == (6, 2)
        order = [3, 0, 5, 1, 4, 2]
        assert made.place(asked[order], name).tobytes() == together[order].tobytes()
        assert b"".join(made.place(code[None], name).tobytes() for code in asked) == together.tobytes()
        assert layout.coordinates.tobytes() == before
        with pytest.raises(ValueError, match="read-only"):
            layout.coordinates[0] = 0
    assert made.place(asked[:0], "all filters").shape == (0, 2)


@pytest.mark.slow
def test_a_new_text_lands_among_its_own_class(made):
    asked, classes = clustered(seed=2, count=12)
    coordinates = made.layouts["all filters"].coordinates
    for place, own in zip(made.place(asked, "all filters"), classes, strict=True):
        nearest = np.argsort(np.linalg.norm(coordinates - place, axis=1))[:10]
        assert all(made.items[i].label == f"class {own}" for i in nearest)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["cosine", "euclid"])
def test_places_are_those_of_openTSNE_itself(acnn, metric):
    """Its transform, with the exact gradient (theta 0)."""
    from openTSNE import TSNEEmbedding
    from openTSNE.affinity import PerplexityBasedNN

    codes, classes = clustered()
    found = FilterMap.fit(acnn, items_of(classes), codes, filters=[None], metric=metric, **SETTINGS)
    asked, _ = clustered(seed=1, count=5, spread=1.0)
    old, new = banks(acnn, codes), banks(acnn, asked)
    name = {"cosine": "cosine", "euclid": "euclidean"}[metric]
    coordinates = found.layouts["all filters"].coordinates.astype(np.float64)
    affinities = PerplexityBasedNN(old, perplexity=8, metric=name, method="exact")
    reference = TSNEEmbedding(coordinates, affinities, negative_gradient_method="bh", theta=0)
    placed = np.asarray(reference.transform(new))
    moved = coordinates[0] - np.asarray(reference)[0]
    np.testing.assert_allclose(found.place(asked, "all filters"), placed + moved, atol=1e-4)


@pytest.mark.slow
def test_threads_share_a_map(made, acnn, tmp_path):
    asked, _ = clustered(seed=1, count=4)
    expected = made.place(asked, "all filters").tobytes()
    made.save(tmp_path / "map")
    fresh = FilterMap.load(tmp_path / "map", acnn)
    found = [b""] * 4

    def work(i):
        found[i] = fresh.place(asked, "all filters").tobytes()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def told(folder, order):
    """Print the vector of an unknown word, and places and codes of a map that is fitted here and of the kept one, with
    the new texts in this order."""
    print(ngram_vector("Ünïcode", 20).tolist())
    folder, order = Path(folder), [int(i) for i in order.split(",")]
    checkpoint = load(folder)
    texts = (folder / "texts.txt").read_text().splitlines()
    items = [MapItem(str(i), str(i % 3)) for i in range(len(texts) - 3)]
    made = FilterMap.fit(checkpoint, items, codes_of(checkpoint, texts[3:]), **SETTINGS)
    for found in (made, FilterMap.load(folder / "map", checkpoint)):
        places = found.place(codes_of(checkpoint, [texts[i] for i in order]), "all filters")
        print([places[order.index(i)].tobytes().hex() for i in range(3)])
        print(found.layouts["all filters"].coordinates.tobytes().hex(), found.codes.tobytes().hex())


@pytest.mark.slow
def test_another_process_agrees(tmp_path, table, capsys):
    """Vectors by spelling, codes, a fit, a kept map and new texts in another order: all the same bytes."""
    checkpoint = make_checkpoint(tmp_path / "c", table, "acnn")
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS, random.integers(1, 12))) for _ in range(63)]
    (tmp_path / "c" / "texts.txt").write_text("\n".join(texts))
    items = [MapItem(str(i), str(i % 3)) for i in range(60)]
    FilterMap.fit(checkpoint, items, codes_of(checkpoint, texts[3:]), **SETTINGS).save(tmp_path / "c" / "map")
    code = "import sys; from tests.core.test_filter_map import told; told(*sys.argv[1:])"
    program = [sys.executable, "-c", code, str(tmp_path / "c"), "2,0,1"]
    environment = {**os.environ, "PYTHONHASHSEED": "1"}  # this process has another one, drawn at its start
    fresh = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    told(str(tmp_path / "c"), "0,1,2")
    assert fresh.stdout == capsys.readouterr().out != ""


# --- codes -----------------------------------------------------------------------------------------------------------


def test_codes_are_those_of_the_model(acnn):
    texts = ["the dog plays in the snow", "an animal", "zyxgraph telemundo ."]
    found = codes_of(acnn, texts)
    assert found.shape == (3, 6) and found.dtype == np.float32
    assert found.tobytes() == b"".join(codes_of(acnn, [text]).tobytes() for text in texts)
    # The model's own arithmetic in float64, rounded: so they depend neither on threads nor on the other texts.
    exact, vectors = copy.deepcopy(acnn.model).double(), acnn.reader.vectors(["an", "animal"])
    windows = exact.windows(Side.of([vectors.double()]))
    expected = exact.generator.code(windows).detach().numpy()
    assert found[1:2].tobytes() == expected.astype(np.float32).tobytes()
    with pytest.raises(FilterMapError, match="type at least one word"):
        codes_of(acnn, ["  "])


def test_sides_with_filters(tmp_path, table):
    pair = make_checkpoint(tmp_path / "two", table, "adaqa")
    assert filter_sides(pair) == ("premise", "hypothesis")
    assert codes_of(pair, ["a dog"], "hypothesis").shape == (1, 6)
    one_way = make_checkpoint(tmp_path / "one", table, "adaqa", adaptivity="one-way")
    assert filter_sides(one_way) == ("premise",)
    with pytest.raises(FilterMapError, match="from the premise alone"):
        codes_of(one_way, ["a dog"], "hypothesis")
    for name, settings in (("attconv-light", {}), ("acnn", {"adaptivity": "none"})):
        other = make_checkpoint(tmp_path / name, table, name, **settings)
        with pytest.raises(FilterMapError, match="choose a model that does"):
            filter_sides(other)


def test_each_side_has_its_own_token_limit(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "c", table, "adaqa")
    checkpoint.card["token_limits"] = {"premise": 1, "hypothesis": 2}
    first, second = (codes_of(checkpoint, ["dog snow toy"], side) for side in filter_sides(checkpoint))
    assert first.tobytes() == codes_of(checkpoint, ["dog"], "premise").tobytes()
    assert second.tobytes() == codes_of(checkpoint, ["dog snow"], "hypothesis").tobytes()
    assert second.tobytes() != codes_of(checkpoint, ["dog"], "hypothesis").tobytes()


# --- quality ---------------------------------------------------------------------------------------------------------


def test_clusters_are_found_and_random_labels_are_not(acnn, made):
    for layout in made.layouts.values():
        assert layout.quality["knn_filters"] > 0.97 and layout.quality["knn_plane"] > 0.97
        assert layout.quality["trustworthiness"] > 0.9
        assert layout.quality["majority"] == pytest.approx(1 / CLASSES)
    codes, classes = clustered(spread=3.0)
    shuffled = np.random.default_rng(3).permutation(classes)
    found = FilterMap.fit(acnn, items_of(shuffled), codes, filters=[None], **SETTINGS)
    quality = found.layouts["all filters"].quality
    assert quality["knn_filters"] < 0.5 and quality["knn_plane"] < 0.5


def test_progress_counts_all_iterations(acnn):
    seen = []
    codes, classes = clustered(count=30)
    FilterMap.fit(
        acnn, items_of(classes), codes, perplexity=3, iterations=(25, 50), progress=lambda *told: seen.append(told)
    )
    assert seen == [(done, 150) for done in range(25, 151, 25)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "manhattan"}, "choose one of cosine, euclid"),
        ({"filters": [12]}, "0 to 11"),
        ({"filters": [-1]}, "0 to 11"),
        ({"filters": []}, "0 to 11"),
        ({"filters": [0, 0]}, "different filters"),
        ({"perplexity": 30}, "at least 91 different texts, got 90"),
        ({"perplexity": 0}, "at least 1"),
    ],
)
def test_impossible_settings_are_refused_in_one_sentence(acnn, changes, message):
    codes, classes = clustered()
    with pytest.raises(FilterMapError, match=message) as caught:
        FilterMap.fit(acnn, items_of(classes), codes, **{"perplexity": 8, **changes})
    assert "\n" not in str(caught.value)


def test_a_layout_that_is_not_there(made):
    for ask in (lambda: made.place(made.codes[:1], "filter 7"), lambda: made.neighbours(made.codes[0], "filter 7")):
        with pytest.raises(FilterMapError, match="choose one of all filters, filter 2"):
            ask()
