"""Folders of strangers: whatever is wrong with one, it is listed with one sentence, loading it raises nothing but that
sentence, and the other models are not affected."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from core.checkpoint import CheckpointError, available, load, open_checkpoint, read_card
from core.errors import UserError
from core.evaluation.predict import predict
from core.explain import explain
from core.external import functions
from core.external.functions import made
from tests.guests import make, make_tower

PAIR = ("A man plays a red guitar.", "Nobody is sleeping.")
ODD = (
    "x",
    "",
    [],
    {},
    None,
    float("nan"),
    float("inf"),
    -1,
    0,
    3,
    10**7,
    10**12,
    True,
    False,
    "a" * 5000,
    "\0",
    [[[]]],
    0.5,
)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A cross-encoder and a model of single texts that can be used."""
    home = tmp_path_factory.mktemp("good")
    make(home / "cross", num_hidden_layers=2)
    make_tower(home / "tower", dense=5)
    (home / "tower/config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "query: "}, "default_prompt_name": None, "similarity_fn_name": "cosine"})
    )
    for name in ("cross", "tower"):
        (home / name / "pairlens.json").write_text('{"title": "Ours", "labels": [], "head": "mean", "notes": ""}')
    return home


def sentence_of(folder, *, loads=True):
    """The error message for a folder; empty if it loads. Any other exception fails the test."""
    try:
        read_card(folder)
        if loads:
            explain(load(folder), *PAIR)
    except UserError as error:
        said = str(error)
        assert said and "\n" not in said and len(said) < 600 and str(folder.parent) not in said, said
        return said
    return ""


def _mutations(value):
    """Copies of a JSON value with one part of it odd, missing or of another type."""
    yield from ODD
    if isinstance(value, dict):
        for key in value:
            yield {name: one for name, one in value.items() if name != key}
            yield from ({**value, key: other} for other in _mutations(value[key]))
    elif isinstance(value, list):
        for place, one in enumerate(value[:3]):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in _mutations(one))


FITS = "more than its weights|do not fit its config.json"
"""A size that the weights do not have, as the list of models or the loader says it."""


@pytest.mark.parametrize("name", ["cross", "tower"])
def test_any_odd_value_in_any_file_is_one_sentence_or_works(good, tmp_path, name):
    """All are listed, and a random tenth is loaded and asked."""
    drawn, folder, tried = random.Random(0), tmp_path / name, 0
    shutil.copytree(good / name, folder)
    files = [file for file in sorted(folder.rglob("*.json")) if file.name != "tokenizer.json"]
    assert len(files) >= 3
    for file in files:
        text = file.read_text()
        of_file = list(_mutations(json.loads(text)))
        for odd in drawn.sample(of_file, min(len(of_file), 60)):
            file.write_text(json.dumps(odd))
            sentence_of(folder, loads=drawn.random() < 0.1)
            tried += 1
        file.write_text(text)
    assert tried > 100 and not sentence_of(folder), "and the folder as it was still works"


@pytest.mark.parametrize("name", ["cross", "tower"])
def test_a_file_of_any_other_kind_is_one_sentence(good, tmp_path, name):
    """In the place of every file: nothing, a link to nowhere, a folder, a FIFO, a device, half of it, other text."""
    folder, text = tmp_path / name, '{"a": ' * 100_000
    shutil.copytree(good / name, folder)
    changes = (
        lambda file: None,
        lambda file: file.symlink_to(tmp_path / "nowhere"),
        lambda file: file.symlink_to(file),
        lambda file: file.mkdir(),
        lambda file: os.mkfifo(file),
        lambda file: file.symlink_to("/dev/zero"),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(b"\xff\xfe\0" * 100),
        lambda file: file.write_text(text),
    )
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    for file, change in itertools.product(files, changes):
        content = file.read_bytes()
        file.unlink()
        change(file)
        sentence_of(folder)
        shutil.rmtree(file, ignore_errors=True) if file.is_dir() and not file.is_symlink() else file.unlink(
            missing_ok=True
        )
        file.write_bytes(content)
    assert not sentence_of(folder)


def _config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))


def _tokenizer(folder, **changes):
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def _sharded(folder, *names):
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    index = {"weight_map": {f"w{number}": name for number, name in enumerate(names)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _without_unknown(folder):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"].pop("[UNK]")
    tokenizer["added_tokens"] = [one for one in tokenizer["added_tokens"] if one["content"] != "[UNK]"]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


def _more_pieces(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["zebra", "quagga"])
    tokenizer.save_pretrained(folder)


def _linked_weights(folder):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").symlink_to(folder / "gone")


def _folder_of_weights(folder):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").mkdir()


def _not_finite(folder):
    weights = load_file(folder / "model.safetensors")
    weights["classifier.weight"][0, 0] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: _config(folder, num_hidden_layers="x"), "an implausible number of layers"),
        (
            lambda folder: _config(folder, num_hidden_layers=[3]),
            "implausible number of (layers|heads)|no plausible number|do not fit its config.json",
        ),
        (
            lambda folder: _config(folder, num_hidden_layers=float("nan")),
            "implausible number of (layers|heads)|no plausible number|do not fit its config.json",
        ),
        (
            lambda folder: _config(folder, num_hidden_layers=100_000),
            "implausible number of (layers|heads)|no plausible number|do not fit its config.json",
        ),
        (
            lambda folder: _config(folder, num_hidden_layers=5_000),
            FITS,
        ),
        (
            lambda folder: _config(folder, vocab_size=10**12),
            FITS,
        ),
        (lambda folder: _config(folder, id2label=None, num_labels=10**7), "names no classes .1 to 1000"),
        (lambda folder: _config(folder, id2label={"0": "a", "1": "a"}), "each with its own name"),
        (_linked_weights, "model.safetensors is a link to nowhere"),
        (_folder_of_weights, "model.safetensors is not a regular file"),
        (lambda folder: _sharded(folder, "pytorch_model.bin"), "not a .*safetensors file in the model’s folder"),
        (lambda folder: _sharded(folder, "part.safetensors", "../part.safetensors"), "not a .*safetensors file in"),
        (lambda folder: _sharded(folder, "/etc/part.safetensors"), "not a .*safetensors file in"),
        (lambda folder: _sharded(folder, "other.safetensors"), "other.safetensors is missing"),
        (lambda folder: _config(folder, transformers_weights="adapter_model.bin"), "names its weights in config.json"),
        (lambda folder: _config(folder, quantization_config={"load_in_8bit": True}), "is quantised"),
        (lambda folder: _config(folder, auto_map={"AutoModel": "own.Model"}), "brings its own code"),
        (lambda folder: _tokenizer(folder, model_max_length=-3), "reads at most -3 pieces"),
        (lambda folder: _tokenizer(folder, model_max_length="long"), "reads at most long pieces"),
        (lambda folder: _tokenizer(folder, tokenizer_file="/etc/passwd"), "names a file elsewhere"),
        (_without_unknown, "tokeniser"),
        (_more_pieces, "of number .* but the model has vectors for"),
        (_not_finite, "not finite"),
    ],
)
def test_problems_are_named_when_the_model_is_loaded(good, tmp_path, damage, message):
    folder = tmp_path / "damaged"
    shutil.copytree(good / "cross", folder)
    damage(folder)
    with pytest.raises(CheckpointError, match=message) as error:
        open_checkpoint(str(folder))
    assert "\n" not in str(error.value) and len(str(error.value)) < 500


@pytest.mark.parametrize("path", ["a\0b", "a" * 5000, "../other", "/etc", "0_Transformer/../.."])
def test_steps_stay_inside_the_folder(good, tmp_path, path):
    folder = tmp_path / "tower"
    shutil.copytree(good / "tower", folder)
    steps = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps([{**steps[0], "path": path}, *steps[1:]]))
    assert "not a folder inside the model’s" in sentence_of(folder)


def test_one_bad_folder_leaves_the_others(good, tmp_path, monkeypatch):
    for name in ("cross", "tower"):
        shutil.copytree(good / name, tmp_path / name)
    for name in ("loop", "fifo", "empty", "own", "unreadable"):
        shutil.copytree(good / "cross", tmp_path / name)
        (tmp_path / name / "config.json").unlink()
    (tmp_path / "loop/config.json").symlink_to(tmp_path / "loop/config.json")
    os.mkfifo(tmp_path / "fifo/config.json")
    (tmp_path / "own/card.json").mkdir()
    (tmp_path / "unreadable/config.json").mkdir()
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    listed = {name: folder for name, folder in available().items() if folder.parent == tmp_path}
    assert set(listed) == {"cross", "empty", "fifo", "loop", "own", "tower", "unreadable"}
    assert [name for name, folder in listed.items() if not sentence_of(folder)] == ["cross", "tower"]


def test_weights_in_parts_are_those_in_one_file_and_all_are_fingerprinted(good, tmp_path):
    folder = tmp_path / "parts"
    shutil.copytree(good / "cross", folder)
    weights = load_file(folder / "model.safetensors")
    halves = list(weights)[::2], list(weights)[1::2]
    (folder / "model.safetensors").unlink()
    for number, names in enumerate(halves):
        save_file({name: weights[name] for name in names}, folder / f"part-{number}.safetensors")
    where = {name: f"part-{number}.safetensors" for number, names in enumerate(halves) for name in names}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    whole = explain(load(good / "cross"), *PAIR)
    assert explain(load(folder), *PAIR).logits == pytest.approx(whole.logits, abs=1e-5)
    before = read_card(folder)["sha256"]
    changed = {name: weights[name] + 1 for name in halves[1]}
    save_file(changed, folder / "part-1.safetensors")
    assert read_card(folder)["sha256"] != before


def _saved(folder, kind, config):
    torch.manual_seed(0)
    getattr(transformers, kind)(config).save_pretrained(folder)


SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 40}


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("BertForMaskedLM", transformers.BertConfig(**SMALL)),
        ("GPT2LMHeadModel", transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=40)),
        ("BertModel", transformers.BertConfig(**SMALL)),
        (
            "T5ForConditionalGeneration",
            transformers.T5Config(d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, vocab_size=40),
        ),
        (
            "CLIPModel",
            transformers.CLIPConfig(
                text_config={"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 40},
                vision_config={"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 32},
            ),
        ),
    ],
)
def test_a_model_of_another_kind_is_refused_by_its_architecture(tmp_path, kind, config):
    _saved(tmp_path / "other", kind, config)
    assert f"is a {kind}, not a classifier of pairs: give one" in sentence_of(tmp_path / "other")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"adapter_config.json": '{"base_model_name_or_path": "acme/base"}', "adapter_model.bin": ""},
            "adapter on acme/base",
        ),
        ({"model.Q4_0.gguf": "GGUF"}, "GGUF"),
        ({"config.json": "{}", "model.onnx": ""}, "ONNX"),
        ({"config.json": "{}", "tf_model.h5": ""}, "TensorFlow"),
        ({"pytorch_model.bin": ""}, "convert it to safetensors"),
        ({"config.json": "{}", "flax_model.msgpack": ""}, "Flax"),
        ({"config.json": '{"model_type": "bert"}', "model.fp16.safetensors": ""}, "name its file of weights"),
    ],
)
def test_weights_of_another_kind_are_named(tmp_path, monkeypatch, files, message):
    (tmp_path / "other").mkdir()
    for name, text in files.items():
        (tmp_path / "other" / name).write_text(text)
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path))
    assert message in sentence_of(available()["other"])


FACTORIES = """
import sys
calls = []

def leaves():
    calls.append(1)
    sys.exit("no licence")

class Ends:
    labels = ("entailment", "neutral", "contradiction")
    ending = KeyboardInterrupt

    def probabilities(self, pairs):
        if "guitar" in pairs[0][0] and "small stage" in pairs[0][0]:
            return [[0.2, 0.3, 0.5]] * len(pairs)
        raise SystemExit(3)

class Odd:
    labels = ("entailment", "neutral", "contradiction")
    probabilities = Ends.probabilities

    @property
    def title(self):
        raise RuntimeError("no title")
"""


def test_a_factory_that_fails_is_asked_once_and_what_ends_a_program_is_its_fault(tmp_path, monkeypatch):
    (tmp_path / "odd_factories.py").write_text(FACTORIES)
    monkeypatch.syspath_prepend(tmp_path)
    names = [f"odd_factories:{name}" for name in ("leaves", "Ends", "Odd")]
    monkeypatch.setenv("PAIRLENS_GUESTS", ",".join(names))
    functions._made.cache_clear()
    import odd_factories

    for _ in range(5):
        with pytest.raises(CheckpointError, match="SystemExit: no licence"):
            read_card(available()[names[0]])
    assert odd_factories.calls == [1]
    with pytest.raises(UserError, match="could not answer"):
        explain(open_checkpoint(names[1]), "A dog runs.", "It runs.")
    with pytest.raises(CheckpointError, match="RuntimeError: no title"):
        read_card(available()[names[2]])
    assert made(names[1]) is made(names[1])


def test_weights_are_not_read_from_a_pickle_in_the_same_folder(good, tmp_path):
    """The library would take an adapter's pickle; this one would write a file when unpickled."""
    folder = tmp_path / "both"
    shutil.copytree(good / "cross", folder)
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch /tmp/never'\ntR.")
    assert not sentence_of(folder)
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": null}')
    assert "PEFT adapter" in sentence_of(folder)


def test_many_odd_texts_are_asked_of_a_model_without_an_error(good):
    guest = load(good / "cross")
    texts = ["꙯꧁", "🐶" * 30, "日本語" * 20, "a" * 400, "\u0301x", "x\u200dy"]
    logits = predict(guest, [guest.read(one, "A dog.") for one in texts if guest.read(one, "A dog.").first.has_word])
    assert logits.isfinite().all()
