import copy
import json
import os
import resource
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from core.__main__ import main
from core.checkpoint import CheckpointError, load, load_named, read_card, save
from core.checkpoint.files import count_parameters, round_weights
from core.evaluation.predict import predict
from core.explain import explain
from core.files import FileError
from core.models import build
from core.reading.reader import PairError
from core.reading.word_table import file_sha256
from tests.core.made_up import change_card, make_card, make_checkpoint, truncate

PAIR = ("An animal plays in the snow", "The dog plays in the cold")


def test_save_load_same_answer(checkpoint):
    again = load(checkpoint.folder)
    assert explain(again, *PAIR).logits == explain(checkpoint, *PAIR).logits
    assert not again.model.training
    assert again.card["parameters"] == count_parameters(again.model)


def test_a_model_that_was_loaded_during_inference_has_gradients(checkpoint):
    with torch.inference_mode():
        loaded = load(checkpoint.folder)
    assert not any(parameter.is_inference() for parameter in loaded.model.parameters())


def test_values_that_float16_represents_are_stored_in_float16(checkpoint, tmp_path):
    exact, rounded = checkpoint.model.state_dict(), copy.deepcopy(checkpoint.model)
    save(tmp_path / "exact", checkpoint.model, checkpoint.card, checkpoint.words)
    round_weights(rounded)
    save(tmp_path / "rounded", rounded, checkpoint.card, checkpoint.words)
    stored = [load_file(tmp_path / name / "weights.safetensors") for name in ("exact", "rounded")]
    assert all(torch.equal(value, exact[name]) for name, value in stored[0].items())
    assert {value.dtype for value in stored[1].values()} == {torch.float16}
    loaded = load(tmp_path / "rounded").model.state_dict()
    assert {value.dtype for value in loaded.values()} == {torch.float32}
    for name, value in rounded.state_dict().items():
        assert torch.equal(loaded[name], value)
        assert torch.allclose(value, exact[name], rtol=1e-3, atol=1e-7)


def test_a_tensor_beyond_float16_stays_as_it_is():
    model = torch.nn.Linear(2, 1)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[70_000.25, 0.1]]))
        model.bias.fill_(0.1)
    round_weights(model)
    assert model.weight.tolist() == torch.tensor([[70_000.25, 0.1]]).tolist()
    assert model.bias.item() == torch.tensor(0.1).half().item()


def test_the_folder_holds_no_pickle(checkpoint):
    assert {f.name for f in checkpoint.folder.iterdir()} == {"weights.safetensors", "card.json", "words.safetensors"}


def _roles(first, second, judged):
    return {"first": first, "second": second, "judged": judged}


def _change_tensors(folder, change):
    tensors = load_file(folder / "weights.safetensors")
    save_file({name: change(value) for name, value in tensors.items()}, folder / "weights.safetensors")


def _set_weights(folder, number):
    """Weights of this number, with their checksum on the card."""
    _change_tensors(folder, lambda value: torch.full_like(value.float(), number))
    change_card(folder, sha256=file_sha256(folder / "weights.safetensors"))


def _pipe(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)


def _device(folder, name):
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncate, "weights.safetensors is truncated"),
        (lambda f: _change_tensors(f, lambda t: 2 * t), "does not match its card's checksum"),
        (lambda f: _set_weights(f, float("nan")), "has numbers in .* that are not finite"),
        (lambda f: _set_weights(f, float("inf")), "has numbers in .* that are not finite"),
        (lambda f: _pipe(f, "weights.safetensors"), "weights.safetensors is not a regular file"),
        (lambda f: _device(f, "weights.safetensors"), "weights.safetensors is not a regular file"),
        (lambda f: _device(f, "card.json"), "card.json is not a regular file"),
        (lambda f: _pipe(f, "card.json"), "card.json is not a regular file"),
        (lambda f: (f / "card.json").write_text(" " * (5 << 20)), "card.json is not a regular file of at most 4 MB"),
        (lambda f: change_card(f, title="long" * 500), "titles, labels and roles must have at most 200 characters"),
        (lambda f: change_card(f, labels=["a", "b", "c" * 300]), "labels and roles must have at most 200 characters"),
        (lambda f: change_card(f, notes="long" * 500_000), "a text of more than 20,000 characters"),
        (lambda f: change_card(f, results={"long" * 9000: {}}), "a text of more than 20,000 characters"),
        (lambda f: (f / "weights.safetensors").unlink(), "has no weights.safetensors"),
        (lambda f: (f / "card.json").unlink(), "has no card.json"),
        (lambda f: truncate(f, "card.json"), "not readable JSON"),
        (lambda f: (f / "card.json").write_bytes(b"\xff\xfe\x00"), "not readable JSON"),
        (lambda f: (f / "card.json").write_text("[]"), "another version"),
        (lambda f: change_card(f, schema_version=99), "another version"),
        (lambda f: (f / "card.json").write_bytes(bytes(500)), "not readable JSON"),
        (lambda f: (f / "card.json").write_text("[" * 100_000 + "]" * 100_000), "not readable JSON"),
        (lambda f: change_card(f, title="half a \ud800 character"), "not readable JSON"),
        (lambda f: change_card(f, labels=None), "labels must be a list of texts"),
        (lambda f: change_card(f, labels=[]), "labels must be different names, one at least"),
        (lambda f: change_card(f, labels="no"), "labels must be a list of texts"),
        (lambda f: change_card(f, labels=["no", 1]), "labels must be a list of texts"),
        (lambda f: change_card(f, labels=["no", "no", "yes"]), "labels must be different names"),
        (lambda f: change_card(f, labels=["no", "yes"]), "2 labels for 3 classes"),
        (lambda f: change_card(f, roles=None), "roles must be keys and values, got None"),
        (lambda f: change_card(f, roles={"first": "text"}), "roles.second is missing, roles.judged is missing"),
        (lambda f: change_card(f, roles=_roles("a", None, "a")), "roles.second must be text"),
        (lambda f: change_card(f, roles=_roles("a", "b", "c")), "roles must judge one of the sides, or both"),
        (lambda f: change_card(f, roles=_roles("a", "", "both")), "roles must judge one of the sides"),
        (lambda f: change_card(f, roles=_roles("a", "a", "a")), "roles must name two different sides"),
        (lambda f: change_card(f, roles=_roles("", "", "")), "roles must name two different sides"),
        (
            lambda f: change_card(f, roles=_roles("a", "", "a")),
            "AttConv light reads pairs, and the roles are for",
        ),
        (lambda f: change_card(f, roles=_roles("a", "b", "both")), "AttConv light judges one side"),
        (lambda f: change_card(f, architecture=["bert"]), "architecture must be text"),
        (lambda f: change_card(f, config=None), "config must be keys and values"),
        (lambda f: change_card(f, title=5), "title must be text"),
        (lambda f: change_card(f, words="nli-160"), "words must be keys and values, got 'nli-160'"),
        (lambda f: change_card(f, words={"name": "w", "sha256": "0", "own": 1}), "words.own must be true or false"),
        (lambda f: change_card(f, results=[0.5]), "results must be keys and values"),
        (
            lambda f: change_card(f, results={"dev": {"accuracy": None}}),
            "results.dev.accuracy must be a number",
        ),
        (lambda f: change_card(f, token_limits={"premise": 1.5}), "token_limits.premise must be a whole number"),
        (lambda f: change_card(f, token_limits={"premise": -1}), "token_limits must be at least 1"),
        (lambda f: change_card(f, typical_length={"premise": "40"}), "typical_length.premise must be a number"),
        (
            lambda f: change_card(f, typical_length={"premise": 10**400}),
            "typical_length.premise must be a number",
        ),
        (
            lambda f: change_card(f, typical_length={"premise": float("nan")}),
            "premise must be a number, got nan",
        ),
        (lambda f: (f / "weights.safetensors").write_bytes(bytes(500)), "weights.safetensors is truncated"),
        (lambda f: (f / "words.safetensors").write_bytes(bytes(500)), "damaged"),
        (lambda f: change_card(f, architecture="bert"), "unknown architecture 'bert'"),
        (lambda f: change_card(f, config={"input_size": 24, "hidden": 13}), "does not fit this program"),
        (lambda f: change_card(f, config={"input_size": 24, "hiden": 12}), "did you mean 'hidden'"),
        (lambda f: change_card(f, words={"name": "made-up", "sha256": "0", "own": True}), "another word table"),
        (lambda f: change_card(f, words={"name": "nli", "sha256": "0"}), "another word table"),
        (lambda f: truncate(f, "words.safetensors"), "damaged"),
    ],
)
def test_damaged_and_foreign_folders_are_refused_in_one_sentence(tmp_path, table, damage, message):
    folder = make_checkpoint(tmp_path / "broken", table).folder
    damage(folder)
    with pytest.raises(CheckpointError, match=message) as caught:
        load(folder)
    assert "\n" not in str(caught.value) and str(tmp_path) not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_weights_of_a_foreign_program_are_refused(tmp_path, table):
    folder = make_checkpoint(tmp_path / "foreign", table).folder
    (folder / "weights.safetensors").write_bytes(b"\x80\x04pickle")
    change_card(folder, sha256=file_sha256(folder / "weights.safetensors"))
    with pytest.raises(CheckpointError, match="truncated or no file of weights"):
        load(folder)


def test_a_card_must_have_the_required_keys(tmp_path, table):
    card = make_card(table, "attconv-light", {"input_size": 24})
    del card["licence"]
    with pytest.raises(CheckpointError, match="lacks licence"):
        save(tmp_path / "x", build("attconv-light", {"input_size": 24}), card)
    assert not (tmp_path / "x" / "card.json").exists()


def test_both_sides_may_be_judged(tmp_path, table):
    folder = make_checkpoint(tmp_path / "tiny", table, "addition").folder
    change_card(folder, roles=_roles("premise", "hypothesis", "both"))
    assert load(folder).roles["judged"] == "both"


def test_a_name_too_long_for_a_file_is_one_sentence(capsys):
    assert main(["explain", "--model", "x" * 5000, "--first", "a dog", "--second", "an animal"]) == 2
    told = capsys.readouterr().err
    assert "no checkpoint named" in told and len(told.splitlines()) == 1 and len(told) < 1000


def test_an_older_checkpoint_stays_until_the_new_one_is_whole(tmp_path, table, monkeypatch):
    before = make_checkpoint(tmp_path / "mine", table)
    files = {path.name: path.read_bytes() for path in before.folder.iterdir()}

    def full(tensors, path, **named):
        Path(path).write_bytes(b"half of it")
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    for where in ("core.checkpoint.files.save_file", "core.reading.word_table.save_file"):
        with monkeypatch.context() as patch, pytest.raises(FileError, match="No space left on device") as caught:
            patch.setattr(where, full)
            save(before.folder, build("attconv-light", before.card["config"]), before.card, words=table)
        assert "\n" not in str(caught.value)
        assert {path.name: path.read_bytes() for path in before.folder.iterdir()} == files
    load(before.folder)


def test_a_card_that_claims_more_than_the_file_holds_costs_no_memory(tmp_path, table, monkeypatch):
    folder = make_checkpoint(tmp_path / "large", table).folder
    change_card(folder, config={"input_size": 24, "hidden": 4000})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CheckpointError, match="names a larger model than its weights"):
        load(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KB; the model takes 500 MB


def test_logits_that_are_not_finite_are_refused_in_one_sentence(tmp_path, table, monkeypatch, capsys):
    folder = make_checkpoint(tmp_path / "huge", table).folder
    _set_weights(folder, 3e38)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    assert main(["explain", "--model", "huge", "--first", "a dog", "--second", "an animal", "--json"]) == 2
    told = capsys.readouterr()
    assert not told.out and "returned NaN or infinite logits" in told.err and len(told.err.splitlines()) == 1
    huge = load_named("huge")
    with pytest.raises(PairError, match="NaN or infinite"):
        predict(huge, [huge.read("a dog", "an animal")])


def test_each_text_is_cut_at_its_own_limit_and_all_is_told(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "mine", table)
    checkpoint.card["token_limits"] = {"premise": 3, "hypothesis": 2}
    found = explain(checkpoint, "a dog plays in the snow", "the dog plays")
    assert checkpoint.token_limits == (3, 2)
    assert [[token.text for token in side.tokens] for side in found.sentences] == [
        ["a", "dog", "plays"],
        ["the", "dog"],
    ]
    assert [side.truncated for side in found.sentences] == [3, 1]
    assert [side.line_starts for side in found.sentences] == [(0,), (0,)]
    lines = explain(checkpoint, "\na\n\ndog plays", "the\ndog").sentences
    assert [side.line_starts for side in lines] == [(0, 1), (0, 1)]


def test_null_on_a_card_is_as_good_as_absent(tmp_path, table):
    folder = make_checkpoint(tmp_path / "mine", table).folder
    optional = ("token_limits", "typical_length", "results", "alignment", "calibration", "notes", "recipe")
    change_card(folder, **dict.fromkeys(optional))
    assert not set(optional) & set(read_card(folder))
    assert explain(load(folder), *PAIR).verdict in ("entailment", "neutral", "contradiction")


def test_a_setting_that_is_not_finite_is_refused(tmp_path, table):
    folder = make_checkpoint(tmp_path / "mine", table, "two-sided").folder
    config = json.loads((folder / "card.json").read_text())["config"]
    change_card(folder, config={**config, "place": float("inf")})
    with pytest.raises(CheckpointError, match="place must be a number, got inf"):
        load(folder)
