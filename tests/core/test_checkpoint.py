import json

import pytest
import torch

from core import checkpoint as module
from core.checkpoint import CheckpointError, available, count_parameters, load, load_named, save
from core.explain import explain
from core.models import build
from tests.core.made_up import make_card, make_checkpoint

PAIR = ("An animal plays in the snow", "The dog plays in the cold")


def test_save_load_same_answer(checkpoint):
    again = load(checkpoint.folder)
    assert explain(again, *PAIR).logits == explain(checkpoint, *PAIR).logits
    assert not again.model.training
    assert again.card["parameters"] == count_parameters(again.model)


def test_the_folder_holds_no_pickle(checkpoint):
    assert {f.name for f in checkpoint.folder.iterdir()} == {"weights.safetensors", "card.json", "words.safetensors"}


def _change_card(folder, **changes):
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps({**card, **changes}))


def _truncate(folder, name="weights.safetensors"):
    (folder / name).write_bytes((folder / name).read_bytes()[:-9])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_truncate, "does not match its card's checksum"),
        (lambda f: (f / "weights.safetensors").unlink(), "has no weights.safetensors"),
        (lambda f: (f / "card.json").unlink(), "has no card.json"),
        (lambda f: _truncate(f, "card.json"), "no readable JSON"),
        (lambda f: (f / "card.json").write_bytes(b"\xff\xfe\x00"), "no readable JSON"),
        (lambda f: (f / "card.json").write_text("[]"), "another version"),
        (lambda f: _change_card(f, schema_version=99), "another version"),
        (lambda f: _change_card(f, labels=None), "does not list the labels' names"),
        (lambda f: _change_card(f, labels=[]), "does not list the labels' names"),
        (lambda f: _change_card(f, labels="no"), "does not list the labels' names"),
        (lambda f: _change_card(f, labels=["no", 1]), "does not list the labels' names"),
        (lambda f: _change_card(f, roles=None), "does not name the roles first, second, judged"),
        (lambda f: _change_card(f, roles={"first": "text"}), "does not name the roles first, second, judged"),
        (lambda f: _change_card(f, roles={"first": "a", "second": None, "judged": "a"}), "does not name the roles"),
        (lambda f: _change_card(f, architecture="bert"), "unknown architecture 'bert'"),
        (lambda f: _change_card(f, config={"input_size": 24, "hidden": 13}), "does not fit this program"),
        (lambda f: _change_card(f, config={"input_size": 24, "hiden": 12}), "did you mean 'hidden'"),
        (lambda f: _change_card(f, words={"name": "made-up", "sha256": "0", "own": True}), "another word table"),
        (lambda f: _change_card(f, words={"name": "nli", "sha256": "0"}), "another word table"),
        (lambda f: _truncate(f, "words.safetensors"), "damaged"),
    ],
)
def test_damaged_and_foreign_folders_are_refused_in_one_sentence(tmp_path, table, damage, message):
    folder = make_checkpoint(tmp_path / "broken", table).folder
    damage(folder)
    with pytest.raises(CheckpointError, match=message) as caught:
        load(folder)
    assert "\n" not in str(caught.value) and str(tmp_path) not in str(caught.value)


def test_weights_of_a_foreign_program_are_refused(tmp_path, table):
    folder = make_checkpoint(tmp_path / "foreign", table).folder
    (folder / "weights.safetensors").write_bytes(b"\x80\x04pickle")
    from core.reading.word_table import file_sha256

    _change_card(folder, sha256=file_sha256(folder / "weights.safetensors"))
    with pytest.raises(CheckpointError, match="does not fit this program"):
        load(folder)


def test_a_card_must_say_what_is_needed(tmp_path, table):
    card = make_card(table, "attconv-light", {"input_size": 24})
    del card["licence"]
    with pytest.raises(CheckpointError, match="lacks licence"):
        save(tmp_path / "x", build("attconv-light", {"input_size": 24}), card)
    assert not (tmp_path / "x" / "card.json").exists()


def test_a_persons_own_checkpoints_are_listed(tmp_path, table, monkeypatch):
    shipped, own = tmp_path / "shipped", tmp_path / "own"
    monkeypatch.setattr(module, "PRETRAINED", shipped)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(own))
    assert available() == {}
    make_checkpoint(shipped / "light", table)
    make_checkpoint(own / "light", table, hidden=5)
    make_checkpoint(own / "mine", table)
    (own / "half-written").mkdir()
    assert list(available()) == ["light", "own/light", "mine"]
    assert load_named("own/light").model.config.hidden == 5
    assert load_named("mine") is load_named("mine")
    with pytest.raises(CheckpointError, match="choose one of light, own/light, mine"):
        load_named("yours")


def test_a_checkpoint_trained_anew_is_read_anew(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    make_checkpoint(tmp_path / "mine", table)
    before = load_named("mine")
    torch.manual_seed(6)
    save(tmp_path / "mine", build("attconv-light", before.card["config"]), before.card, words=table)
    assert load_named("mine") is not before
