"""Models whose files come as an installed Python package: found, listed, checked."""

import json
from importlib import metadata

import pytest

from core.checkpoint import CheckpointError, available, load, read_card
from core.explain import explain
from core.external import installed
from core.reading.word_table import file_sha256
from tests.guests import make_tower

PAIR = ("How do I learn Python?", "How can I learn Python?")


@pytest.fixture(autouse=True)
def searched_again():
    """A process remembers where it found a package; these tests move packages, and remove them."""
    installed._folder_of.cache_clear()
    yield
    installed._folder_of.cache_clear()


@pytest.fixture
def named(tmp_path, monkeypatch):
    """A settings folder that names an installed package with a small encoder; :func:`write` changes its digests."""
    files = make_tower(tmp_path / "site/tiny_encoder/model")
    home = files / "0_Transformer"
    info = tmp_path / "site/tiny_encoder-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-encoder\nVersion: 1.0\n")
    # Its own folder is the one with the weights, so the transformer stands at the top, as in the shipped package.
    for file in home.iterdir():
        file.rename(files / file.name)
    home.rmdir()
    modules = json.loads((files / "modules.json").read_text())
    modules[0]["path"] = ""
    (files / "modules.json").write_text(json.dumps(modules))
    paths = [file.relative_to(tmp_path / "site") for file in files.rglob("*") if file.is_file()]
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in paths))
    monkeypatch.syspath_prepend(tmp_path / "site")
    folder = tmp_path / "own/tiny"
    folder.mkdir(parents=True)
    digest = file_sha256(files / "model.safetensors")
    package = {"name": "tiny-encoder", "sha256": {"model.safetensors": digest}}
    (folder / "pairlens.json").write_text(json.dumps({"title": "Tiny", "package": package}))
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(folder.parent))
    return folder


def test_a_folder_that_names_a_package_opens_the_packages_files(named):
    assert available()["tiny"] == named and read_card(named)["title"] == "Tiny"
    checkpoint = load(named)
    assert checkpoint.folder == named and checkpoint.model.tower.longest == 64
    assert explain(checkpoint, PAIR[0], PAIR[0]).logits[0] == pytest.approx(1)


def test_other_weights_than_the_published_ones_are_refused_in_one_sentence(named):
    text = (named / "pairlens.json").read_text()
    digest = json.loads(text)["package"]["sha256"]["model.safetensors"]
    (named / "pairlens.json").write_text(text.replace(digest, "0" * 64))
    with pytest.raises(CheckpointError, match=r"^model\.safetensors of tiny-encoder is not the published file .*: run"):
        load(named)


def test_without_its_package_a_model_is_not_listed(monkeypatch):
    before = available()

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.files", missing)
    installed._folder_of.cache_clear()
    assert list(available()) == [name for name in before if name != "encoder-minilm"]


def test_the_shipped_encoder_is_what_its_card_says():
    if "encoder-minilm" not in available():
        pytest.skip("its package is not installed")
    checkpoint = load(available()["encoder-minilm"])
    assert checkpoint.card["licence"] == "Apache-2.0" and "not held-out" in checkpoint.card["notes"]
    assert {"model.safetensors", "tokenizer.json"} <= json.loads((checkpoint.folder / "pairlens.json").read_text())[
        "package"
    ]["sha256"].keys()
    assert explain(checkpoint, *PAIR).verdict == "1"
    assert explain(checkpoint, PAIR[0], "Where is the station?").verdict == "0"
