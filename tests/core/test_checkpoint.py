import copy
import json
import os
import resource
import threading
import time
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from core import checkpoint as module
from core.__main__ import main
from core.checkpoint import CheckpointError, available, files, load, load_named, memory, read_card, save
from core.checkpoint.files import count_parameters, round_weights
from core.checkpoint.unlisted import SECONDS, TRAINING, folder_of, new_name, remove_old
from core.evaluation.predict import predict
from core.explain import explain
from core.files import FileError
from core.models import build
from core.reading.reader import PairError
from core.reading.word_table import file_sha256
from core.shared_cache import SharedCache
from tests.core.made_up import make_card, make_checkpoint

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


def _change_card(folder, **changes):
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps({**card, **changes}))


def _roles(first, second, judged):
    return {"first": first, "second": second, "judged": judged}


def _truncate(folder, name="weights.safetensors"):
    (folder / name).write_bytes((folder / name).read_bytes()[:-9])


def _change_tensors(folder, change):
    tensors = load_file(folder / "weights.safetensors")
    save_file({name: change(value) for name, value in tensors.items()}, folder / "weights.safetensors")


def _set_weights(folder, number):
    """Weights of this number, with their checksum on the card."""
    _change_tensors(folder, lambda value: torch.full_like(value.float(), number))
    _change_card(folder, sha256=file_sha256(folder / "weights.safetensors"))


def _pipe(folder, name):
    (folder / name).unlink()
    os.mkfifo(folder / name)


def _device(folder, name):
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_truncate, "weights.safetensors is truncated"),
        (lambda f: _change_tensors(f, lambda t: 2 * t), "does not match its card's checksum"),
        (lambda f: _set_weights(f, float("nan")), "has numbers in .* that are not finite"),
        (lambda f: _set_weights(f, float("inf")), "has numbers in .* that are not finite"),
        (lambda f: _pipe(f, "weights.safetensors"), "weights.safetensors is not a regular file"),
        (lambda f: _device(f, "weights.safetensors"), "weights.safetensors is not a regular file"),
        (lambda f: _device(f, "card.json"), "card.json is not a regular file"),
        (lambda f: _pipe(f, "card.json"), "card.json is not a regular file"),
        (lambda f: (f / "card.json").write_text(" " * (5 << 20)), "card.json is not a regular file of at most 4 MB"),
        (lambda f: _change_card(f, title="long" * 500), "titles, labels and roles must have at most 200 characters"),
        (lambda f: _change_card(f, labels=["a", "b", "c" * 300]), "labels and roles must have at most 200 characters"),
        (lambda f: _change_card(f, notes="long" * 500_000), "a text of more than 20,000 characters"),
        (lambda f: _change_card(f, results={"long" * 9000: {}}), "a text of more than 20,000 characters"),
        (lambda f: (f / "weights.safetensors").unlink(), "has no weights.safetensors"),
        (lambda f: (f / "card.json").unlink(), "has no card.json"),
        (lambda f: _truncate(f, "card.json"), "not readable JSON"),
        (lambda f: (f / "card.json").write_bytes(b"\xff\xfe\x00"), "not readable JSON"),
        (lambda f: (f / "card.json").write_text("[]"), "another version"),
        (lambda f: _change_card(f, schema_version=99), "another version"),
        (lambda f: (f / "card.json").write_bytes(bytes(500)), "not readable JSON"),
        (lambda f: (f / "card.json").write_text("[" * 100_000 + "]" * 100_000), "not readable JSON"),
        (lambda f: _change_card(f, title="half a \ud800 character"), "not readable JSON"),
        (lambda f: _change_card(f, labels=None), "labels must be a list of texts"),
        (lambda f: _change_card(f, labels=[]), "labels must be different names, one at least"),
        (lambda f: _change_card(f, labels="no"), "labels must be a list of texts"),
        (lambda f: _change_card(f, labels=["no", 1]), "labels must be a list of texts"),
        (lambda f: _change_card(f, labels=["no", "no", "yes"]), "labels must be different names"),
        (lambda f: _change_card(f, labels=["no", "yes"]), "2 labels for 3 classes"),
        (lambda f: _change_card(f, roles=None), "roles must be keys and values, got None"),
        (lambda f: _change_card(f, roles={"first": "text"}), "roles.second is missing, roles.judged is missing"),
        (lambda f: _change_card(f, roles=_roles("a", None, "a")), "roles.second must be text"),
        (lambda f: _change_card(f, roles=_roles("a", "b", "c")), "roles must judge one of the sides, or both"),
        (lambda f: _change_card(f, roles=_roles("a", "", "both")), "roles must judge one of the sides"),
        (lambda f: _change_card(f, roles=_roles("a", "a", "a")), "roles must name two different sides"),
        (lambda f: _change_card(f, roles=_roles("", "", "")), "roles must name two different sides"),
        (
            lambda f: _change_card(f, roles=_roles("a", "", "a")),
            "AttConv light reads pairs, and the roles are for",
        ),
        (lambda f: _change_card(f, roles=_roles("a", "b", "both")), "AttConv light judges one side"),
        (lambda f: _change_card(f, architecture=["bert"]), "architecture must be text"),
        (lambda f: _change_card(f, config=None), "config must be keys and values"),
        (lambda f: _change_card(f, title=5), "title must be text"),
        (lambda f: _change_card(f, words="nli-160"), "words must be keys and values, got 'nli-160'"),
        (lambda f: _change_card(f, words={"name": "w", "sha256": "0", "own": 1}), "words.own must be true or false"),
        (lambda f: _change_card(f, results=[0.5]), "results must be keys and values"),
        (
            lambda f: _change_card(f, results={"dev": {"accuracy": None}}),
            "results.dev.accuracy must be a number",
        ),
        (lambda f: _change_card(f, token_limits={"premise": 1.5}), "token_limits.premise must be a whole number"),
        (lambda f: _change_card(f, token_limits={"premise": -1}), "token_limits must be at least 1"),
        (lambda f: _change_card(f, typical_length={"premise": "40"}), "typical_length.premise must be a number"),
        (
            lambda f: _change_card(f, typical_length={"premise": 10**400}),
            "typical_length.premise must be a number",
        ),
        (
            lambda f: _change_card(f, typical_length={"premise": float("nan")}),
            "premise must be a number, got nan",
        ),
        (lambda f: (f / "weights.safetensors").write_bytes(bytes(500)), "weights.safetensors is truncated"),
        (lambda f: (f / "words.safetensors").write_bytes(bytes(500)), "damaged"),
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
    assert len(str(caught.value)) < 600


def test_weights_of_a_foreign_program_are_refused(tmp_path, table):
    folder = make_checkpoint(tmp_path / "foreign", table).folder
    (folder / "weights.safetensors").write_bytes(b"\x80\x04pickle")
    _change_card(folder, sha256=file_sha256(folder / "weights.safetensors"))
    with pytest.raises(CheckpointError, match="truncated or no file of weights"):
        load(folder)


def test_a_card_must_have_the_required_keys(tmp_path, table):
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


def test_a_retrained_checkpoint_is_reloaded(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    make_checkpoint(tmp_path / "mine", table)
    before = load_named("mine")
    torch.manual_seed(6)
    save(tmp_path / "mine", build("attconv-light", before.card["config"]), before.card, words=table)
    assert load_named("mine") is not before


def test_both_sides_may_be_judged(tmp_path, table):
    folder = make_checkpoint(tmp_path / "tiny", table, "addition").folder
    _change_card(folder, roles=_roles("premise", "hypothesis", "both"))
    assert load(folder).roles["judged"] == "both"


@pytest.mark.parametrize("part", ["", "mine", "mine/card.json", "mine/weights.safetensors"])
def test_an_unreadable_file_gets_one_sentence(tmp_path, table, monkeypatch, capsys, part):
    """The tests may run as root, whom no permission stops: the refusal is played."""
    for name in ("mine", "other"):
        make_checkpoint(tmp_path / name, table)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    forbid(monkeypatch, tmp_path / part)
    files._card.cache_clear()  # true permissions change the file's ctime, and it is read again
    refused = tmp_path.name if not part else "mine"
    assert main(["models"]) == 0
    listed = capsys.readouterr()
    assert ("A tiny model" in listed.out) == bool(part) and "AttConv light" in listed.out
    assert ("Permission denied" in listed.err) == (part != "mine/weights.safetensors")
    assert main(["explain", "--model", refused, "--first", "a dog", "--second", "an animal"]) == 2
    told = capsys.readouterr().err
    assert refused in told and "Permission denied" in told and len(told.splitlines()) == 1
    if part:
        assert main(["explain", "--model", "other", "--first", "a dog", "--second", "an animal"]) == 0


def forbid(monkeypatch, forbidden):
    """A folder of mode 000: it can be seen, what is in it cannot. A file of mode 000: it cannot be opened."""
    folder = forbidden.is_dir()

    def refuse(method):
        real = getattr(Path, method)

        def refusing(path, *arguments, **named):
            if forbidden in path.parents or (path == forbidden and method == ("iterdir" if folder else "open")):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *arguments, **named)

        monkeypatch.setattr(Path, method, refusing)

    for method in ("stat", "iterdir", "open"):
        refuse(method)


def test_a_name_too_long_for_a_file_is_one_sentence(capsys):
    assert main(["explain", "--model", "x" * 5000, "--first", "a dog", "--second", "an animal"]) == 2
    told = capsys.readouterr().err
    assert "no checkpoint named" in told and len(told.splitlines()) == 1 and len(told) < 1000


def test_one_bad_card_costs_its_own_line(tmp_path, table, monkeypatch, capsys):
    for name in ("bad", "good"):
        make_checkpoint(tmp_path / name, table)
    _change_card(tmp_path / "good", results=None, title="A good one")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    for change in ({"results": 5}, {"results": {"dev": 3}}, {"title": ["x"]}, {"name": None}):
        _change_card(tmp_path / "bad", **change)
        assert main(["models"]) == 0
        listed = capsys.readouterr()
        assert "A good one" in listed.out and listed.err.startswith("bad/card.json is damaged")
        assert len(listed.err.splitlines()) == 1


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


def test_the_checkpoints_used_last_stay_in_memory(tmp_path, table, monkeypatch):
    for name in "abc":
        make_checkpoint(tmp_path / name, table)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr(memory, "_CHECKPOINTS", SharedCache(0, memory._size))
    monkeypatch.setenv("PAIRLENS_MEMORY_MB", str(2.5 * memory.memory_of(load_named("a")) / 1e6))
    a, b = load_named("a"), load_named("b")
    assert load_named("a") is a
    c = load_named("c")
    assert load_named("a") is a and load_named("c") is c and load_named("b") is not b
    monkeypatch.setenv("PAIRLENS_MEMORY_MB", "0.000001")
    one = load_named("a")
    assert load_named("a") is one and len(memory._CHECKPOINTS) == 1
    for wrong in ("much", "-1", "nan"):
        monkeypatch.setenv("PAIRLENS_MEMORY_MB", wrong)
        with pytest.raises(CheckpointError, match="PAIRLENS_MEMORY_MB must be a number of megabytes"):
            load_named("a")


def test_a_card_is_read_once_until_its_file_changes(tmp_path, table, monkeypatch):
    folder, read = make_checkpoint(tmp_path / "mine", table).folder, []
    files._card.cache_clear()
    monkeypatch.setattr(files, "read_json", lambda path: read.append(path) or json.loads(path.read_text()))
    first = read_card(folder)
    first["title"] = "changed by the one who asked"
    assert read_card(folder)["title"] != first["title"] and len(read) == 1
    _change_card(folder, title="Trained again")
    assert read_card(folder)["title"] == "Trained again" and len(read) == 2


def test_a_card_that_claims_more_than_the_file_holds_costs_no_memory(tmp_path, table, monkeypatch):
    folder = make_checkpoint(tmp_path / "large", table).folder
    _change_card(folder, config={"input_size": 24, "hidden": 4000})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CheckpointError, match="names a larger model than its weights"):
        load(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KB; the model takes 500 MB


@pytest.fixture
def loads(tmp_path, monkeypatch):
    """Names of the folders that were loaded, in order; checkpoints in the test's folder are listed."""
    loaded, real = [], memory.load
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    monkeypatch.setattr(memory, "load", lambda folder: loaded.append(folder.name) or real(folder))
    return loaded


@pytest.mark.parametrize("name", ["card.json", "weights.safetensors", "words.safetensors"])
def test_a_failure_is_remembered_until_a_file_changes(tmp_path, table, loads, name):
    folder = make_checkpoint(tmp_path / "mine", table).folder
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[:-9])
    told = []
    for _ in range(2):
        with pytest.raises(CheckpointError) as caught:
            load_named("mine")
        told.append(str(caught.value))
    assert loads == ["mine"] and told[0] == told[1]
    (folder / name).write_bytes(whole)
    assert load_named("mine").name == "tiny" and loads == ["mine"] * 2


@pytest.mark.parametrize("name", ["weights.safetensors", "words.safetensors"])
def test_a_file_that_changes_is_read_though_the_card_does_not(tmp_path, table, loads, name):
    folder = make_checkpoint(tmp_path / "mine", table).folder
    before = load_named("mine")
    _truncate(folder, name)
    with pytest.raises(CheckpointError):
        load_named("mine")
    assert before.name == "tiny"


def test_a_refusal_of_the_system_is_not_remembered(tmp_path, table, loads, monkeypatch):
    make_checkpoint(tmp_path / "mine", table)
    with monkeypatch.context() as patch:
        forbid(patch, tmp_path / "mine" / "weights.safetensors")
        with pytest.raises(CheckpointError, match="Permission denied"):
            load_named("mine")
    assert load_named("mine").name == "tiny"


def test_loading_one_checkpoint_does_not_block_loaded_ones(tmp_path, table, monkeypatch):
    for name in ("slow", "ready"):
        make_checkpoint(tmp_path / name, table)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    ready, real = load_named("ready"), memory.load
    begun, go_on, answers = threading.Event(), threading.Event(), []

    def slow(folder):
        begun.set()
        go_on.wait(600)
        return real(folder)

    monkeypatch.setattr(memory, "load", slow)
    visitors = [threading.Thread(target=lambda: answers.append(load_named("slow"))) for _ in range(2)]
    for visitor in visitors:
        visitor.start()
    begun.wait(600)
    other = threading.Thread(target=lambda: answers.append(load_named("ready")))
    other.start()
    other.join(600)
    there = list(answers)
    go_on.set()
    for visitor in visitors:
        visitor.join()
    assert there == [ready] and answers[1] is answers[2]


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


def test_a_model_takes_the_memory_of_its_weights_and_of_a_word_table_of_its_own(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path / "mine", table)
    weights = [*checkpoint.model.parameters(), *checkpoint.model.buffers()]
    own = sum(weight.numel() * weight.element_size() for weight in weights)
    assert checkpoint.card["words"]["own"]
    assert memory.memory_of(checkpoint) == own + table.codes.numel() + 200 * len(table)
    checkpoint.card["words"]["own"] = False
    assert memory.memory_of(checkpoint) == own


def test_an_unlisted_model_or_a_training_that_stands_still_is_removed_after_a_day(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path))
    now = time.time()
    for kind in ("card.json", TRAINING):
        for age, kept in ((SECONDS - 100, True), (SECONDS + 100, False)):
            folder = folder_of(new_name(f"base-{kind}"))
            folder.mkdir(parents=True)
            (folder / TRAINING).mkdir()
            (folder / kind).touch()
            os.utime(folder / TRAINING, (now - 100 * SECONDS,) * 2)
            os.utime(folder / kind, (now - age,) * 2)
            remove_old()
            assert folder.exists() == kept, (kind, age)


def test_null_on_a_card_is_as_good_as_absent(tmp_path, table):
    folder = make_checkpoint(tmp_path / "mine", table).folder
    optional = ("token_limits", "typical_length", "results", "alignment", "calibration", "notes", "recipe")
    _change_card(folder, **dict.fromkeys(optional))
    assert not set(optional) & set(read_card(folder))
    assert explain(load(folder), *PAIR).verdict in ("entailment", "neutral", "contradiction")


def test_a_setting_that_is_not_finite_is_refused(tmp_path, table):
    folder = make_checkpoint(tmp_path / "mine", table, "two-sided").folder
    config = json.loads((folder / "card.json").read_text())["config"]
    _change_card(folder, config={**config, "place": float("inf")})
    with pytest.raises(CheckpointError, match="place must be a number, got inf"):
        load(folder)
