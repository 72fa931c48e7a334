"""Filter maps as files: saved and loaded the same, and refused in one sentence where they are damaged."""

import json

import pytest
from safetensors.numpy import load_file

from core.filter_map.map import FilterMap, FilterMapError, MapItem, available_map
from tests.core.made_up import make_checkpoint
from tests.core.test_filter_map import clustered, items_of


@pytest.fixture
def kept(tmp_path, table):
    """A checkpoint with its map."""
    checkpoint = make_checkpoint(tmp_path / "tiny", table, "acnn")
    codes, classes = clustered(count=30)
    assert available_map(checkpoint) is None
    about = {"data": {"file": "made-up.csv"}, "command": "none"}
    FilterMap.fit(
        checkpoint, items_of(classes), codes, filters=(None, 2), perplexity=3, iterations=(25, 25), about=about
    ).save(tmp_path / "tiny" / "map")
    assert available_map(checkpoint) == tmp_path / "tiny" / "map"
    return checkpoint


def test_saved_and_loaded_the_same(kept, tmp_path):
    folder = available_map(kept)
    assert {f.name for f in folder.iterdir()} == {"map.json", "map.safetensors"}
    found = FilterMap.load(folder, kept)
    assert found.items[4] == MapItem("line 4", "class 1", "title 4")
    assert found.card["data"] == {"file": "made-up.csv"} and found.card["metric"] == "cosine"
    assert found.card["checkpoint"] == {"name": "tiny", "sha256": kept.card["sha256"]}
    assert set(found.layouts) == {"all filters", "filter 2"} and found.layouts["filter 2"].filter == 2
    found.save(tmp_path / "again")
    assert (tmp_path / "again/map.json").read_bytes() == (folder / "map.json").read_bytes()
    again, arrays = FilterMap.load(tmp_path / "again", kept), load_file(folder / "map.safetensors")
    assert again.codes.tobytes() == arrays["codes"].tobytes()
    for name, layout in again.layouts.items():
        assert layout.coordinates.tobytes() == arrays[f"coordinates of {name}"].tobytes()
        assert layout.quality == found.layouts[name].quality
        assert again.place(found.codes[:2], name).tobytes() == found.place(found.codes[:2], name).tobytes()


def _change(folder, **changes):
    record = json.loads((folder / "map.json").read_text())
    (folder / "map.json").write_text(json.dumps({**record, **changes}))


def _truncate(folder, name):
    (folder / name).write_bytes((folder / name).read_bytes()[:-9])


def _foreign(folder):
    from core.reading.word_table import file_sha256

    (folder / "map.safetensors").write_bytes(b"\x80\x04pickle")
    _change(folder, sha256=file_sha256(folder / "map.safetensors"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "map.json").unlink(), "there is no map.json"),
        (lambda f: _truncate(f, "map.json"), "not readable JSON"),
        (lambda f: (f / "map.json").write_bytes(b"\xff\xfe\x00"), "not readable JSON"),
        (lambda f: (f / "map.json").write_bytes(bytes(500)), "not readable JSON"),
        (lambda f: (f / "map.json").write_text("[" * 100_000 + "]" * 100_000), "not readable JSON"),
        (lambda f: (f / "map.safetensors").write_bytes(bytes(500)), "changed"),
        (lambda f: _change(f, perplexity="5"), "perplexity must be a number, got '5'"),
        (lambda f: (f / "map.json").write_text("[]"), "another version"),
        (lambda f: _change(f, schema_version=99), "another version"),
        (lambda f: (f / "map.json").write_text('{"schema_version": 1}'), "checkpoint is missing"),
        (lambda f: _change(f, checkpoint={}), "checkpoint.sha256 is missing"),
        (lambda f: _change(f, checkpoint={"name": "tiny", "sha256": "0"}), "other weights"),
        (lambda f: _truncate(f, "map.safetensors"), "truncated"),
        (lambda f: (f / "map.safetensors").unlink(), "missing"),
        (_foreign, "lacks a part"),
        (lambda f: _change(f, items=[["a", "b", "", ""]]), "other sizes than its 1 items"),
        (lambda f: _change(f, items=[[]]), "lacks a part"),
        (lambda f: _change(f, items=[]), "has no items"),
        (lambda f: _change(f, items=[["a", 1, "", ""]]), r"items\[0\] must be a list of texts"),
        (lambda f: _change(f, items=["ab"]), r"items\[0\] must be a list of texts, got 'ab'"),
        (lambda f: _change(f, layouts=[]), "has no layouts"),
        (lambda f: _change(f, layouts=["all filters"]), r"layouts\[0\] must be keys and values"),
        (lambda f: _change(f, layouts=[{"name": "x"}]), r"layouts\[0\].filter is missing"),
    ],
)
def test_damaged_and_foreign_maps_are_refused_in_one_sentence(kept, tmp_path, damage, message):
    folder = available_map(kept)
    damage(folder)
    with pytest.raises(FilterMapError, match=message) as caught:
        FilterMap.load(folder, kept)
    told = str(caught.value)
    assert "\n" not in told and str(tmp_path) not in told and "python -m trainers map" in told


def _change_layout(folder, **changes):
    first, *others = json.loads((folder / "map.json").read_text())["layouts"]
    _change(folder, layouts=[{**first, **changes}, *others])


GOOD = {"knn_filters": 0.9, "knn_plane": 0.9, "majority": 0.5, "trustworthiness": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"quality": {}}, "quality lacks knn_filters, knn_plane, majority, trustworthiness"),
        ({"quality": None}, "quality must be keys and values"),
        ({"quality": GOOD | {"majority": "0.5"}}, "quality.majority must be a number, got '0.5'"),
        ({"quality": GOOD | {"majority": True}}, "quality.majority must be a number, got True"),
        ({"quality": GOOD | {"knn_plane": float("nan")}}, "quality.knn_plane must be a number, got nan"),
        ({"quality": GOOD | {"more": "x"}}, "quality.more must be a number"),
        ({"filter": 12}, "another filter than 0 to 11"),
        ({"filter": -1}, "another filter than 0 to 11"),
        ({"filter": "0"}, "filter must be a whole number"),
        ({"filter": True}, "filter must be a whole number"),
        ({"metric": "manhattan"}, r"layouts\[0\].metric must be one of cosine, euclid, got 'manhattan'"),
        ({"metric": None}, "metric must be text"),
    ],
)
def test_a_layout_that_the_model_cannot_have_is_refused(kept, changes, message):
    _change_layout(available_map(kept), **changes)
    with pytest.raises(FilterMapError, match=message) as caught:
        FilterMap.load(available_map(kept), kept)
    assert "python -m trainers map" in str(caught.value)


def test_a_layout_may_tell_more_of_its_quality(kept):
    _change_layout(available_map(kept), quality=GOOD | {"more": 0.5})
    assert FilterMap.load(available_map(kept), kept).layouts["all filters"].quality["more"] == 0.5


def test_a_map_of_another_checkpoint_is_refused(kept, tmp_path, table):
    other = make_checkpoint(tmp_path / "other", table, "acnn", code=5)
    with pytest.raises(FilterMapError, match="other weights"):
        FilterMap.load(available_map(kept), other)
