"""Models written by sentence-transformers answer as that library does; other folders get an error that names them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.checkpoint import CheckpointError, load, read_card
from core.checkpoint.files import files_state
from core.external.card import fingerprint
from core.external.checkpoint import load_external
from core.models.answers import IDENTITY, SIGMOID, chances
from tests.guests import make
from tests.layouts import LABELS, LAYOUTS, PAIRS, SCORES, dense, pooling, write

WRITTEN = json.loads(SCORES.read_text())["scores"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A function that writes a layout once."""
    place = tmp_path_factory.mktemp("layouts")

    def folder(name):
        at = place / name
        return at if at.exists() else LAYOUTS[name](at)

    return folder


def _copied(folder, to):
    return Path(shutil.copytree(folder, to / "my-model"))


def _answers(folder):
    """The scores of both pairs, as the library returns them: after a sigmoid if it applies one."""
    guest = load_external(folder, files_state(folder), read_card(folder), numbered=True)
    sigmoid = guest.card["config"]["activation"] == SIGMOID
    with torch.inference_mode():
        logits = torch.cat([guest.model(guest.reader.batch(guest.read(*pair))).logits for pair in PAIRS])
    return guest, chances(logits, SIGMOID if sigmoid else IDENTITY)


def _expected(name):
    return torch.tensor(WRITTEN[name], dtype=torch.float64).reshape(len(PAIRS), -1)


@pytest.mark.parametrize("name", LAYOUTS)
def test_scores_are_the_librarys(written, name):
    guest, answers = _answers(written(name))
    torch.testing.assert_close(answers, _expected(name), atol=1e-5, rtol=0)
    assert guest.card["architecture"] == ("bi-encoder" if "encoder" in name else "cross-encoder")
    if "classes" in name:  # the layer of scores does not name them
        assert bool(guest.card["asked"]) == ("modular" in name)
        named = ("LABEL_0", "LABEL_1", "LABEL_2") if "modular" in name else LABELS
        assert guest.labels == named


@pytest.mark.parametrize("name", ["one score", "three labels"])
def test_a_saved_sigmoid_is_applied_without_modules_json(written, tmp_path, name):
    folder = _copied(written(name), tmp_path)
    (folder / "modules.json").unlink()
    torch.testing.assert_close(_answers(folder)[1], _expected(name), atol=1e-5, rtol=0)


def test_a_prompt_precedes_the_text_that_is_read_first(written, tmp_path):
    folder = _copied(written("one score with a prompt"), tmp_path)
    (folder / "pairlens.json").write_text('{"second_first": true}')
    guest = load(folder)
    with torch.inference_mode():
        turned = [guest.model(guest.reader.batch(guest.read(second, first))).logits.item() for first, second in PAIRS]
    assert turned == pytest.approx(WRITTEN["one score with a prompt"], abs=1e-5)


def _rename(folder, file, renamed):
    weights = load_file(folder / file)
    save_file({renamed(name): value for name, value in weights.items()}, folder / file, {"format": "pt"})


@pytest.mark.parametrize(
    "renamed",
    [
        lambda name: f"_orig_mod.{name}",
        lambda name: f"module.{name}",
        lambda name: f"module._orig_mod.module.{name}",
        lambda name: name.replace("encoder.", "_orig_mod.encoder.module.").replace("linear.", "module.linear."),
    ],
)
@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("one score", ("model.safetensors",)),
        ("encoder with layers", ("model.safetensors", "2_Dense/model.safetensors")),
    ],
)
def test_names_of_wrappers_are_removed(written, tmp_path, name, files, renamed):
    folder = _copied(written(name), tmp_path)
    for file in files:
        _rename(folder, file, renamed)
    torch.testing.assert_close(_answers(folder)[1], _expected(name), atol=1e-5, rtol=0)


def test_weights_under_other_names_say_so(written, tmp_path):
    folder = _copied(written("three classes"), tmp_path)
    _rename(folder, "model.safetensors", lambda name: f"net.{name}")
    with pytest.raises(CheckpointError, match=r"have other names \(net\.bert.*save_pretrained") as error:
        load(folder)
    assert "copy the model again" not in str(error.value)


def test_two_heads_on_one_transformer_are_two_models(tmp_path):
    identity = "torch.nn.modules.linear.Identity"
    first, second = (
        write(tmp_path / str(ways), "CrossEncoder", [pooling("cls"), dense(16, ways, identity, "scores")])
        for ways in (1, 2)
    )
    assert fingerprint(first) != fingerprint(second)
    assert read_card(second)["labels"] == ["LABEL_0", "LABEL_1"] and read_card(second)["asked"]


def _change(folder, file="config.json", **changes):
    values = json.loads((folder / file).read_text()) | changes
    (folder / file).write_text(json.dumps({name: value for name, value in values.items() if value is not None}))


def _one_tensor_twice(folder):
    weights = load_file(folder / "model.safetensors")
    weights["module.classifier.bias"] = weights["classifier.bias"].clone()
    save_file(weights, folder / "model.safetensors")


def _without(folder, beginning):
    weights = load_file(folder / "model.safetensors")
    save_file(
        {name: one for name, one in weights.items() if not name.startswith(beginning)}, folder / "model.safetensors"
    )


def _in_shards(folder):
    names = list(load_file(folder / "model.safetensors"))
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")
    index = {"weight_map": dict.fromkeys([*names, "bert.encoder.layer.2.output.dense.bias"], "model-1.safetensors")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: _change(folder, vocab_size=171), "vocab_size 171"),
        (lambda folder: _change(folder, hidden_size=20), "hidden_size 20"),
        (lambda folder: _change(folder, intermediate_size=40), "intermediate_size 40"),
        (lambda folder: _change(folder, num_hidden_layers=3), "3 layers, and 2 in the weights"),
        (lambda folder: _change(folder, num_hidden_layers=1), "1 layer, and 2 in the weights"),
        (lambda folder: _change(folder, max_position_embeddings=80), "max_position_embeddings 80, and 64"),
        (lambda folder: _change(folder, type_vocab_size=1), "type_vocab_size 1, and 2"),
        (lambda folder: _change(folder, id2label={"0": "no", "1": "yes"}), "2 classes there, 3 in the weights"),
        (lambda folder: _without(folder, "classifier"), "encoder without a classifier"),
        (_one_tensor_twice, "two tensors for classifier.bias"),
        (_in_shards, "lack bert.encoder.layer.2"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"x" * 40), "truncated"),
        (lambda folder: [file.unlink() for file in folder.glob("tokenizer*")], "has no tokeniser"),
    ],
)
def test_a_folder_is_listed_only_if_its_weights_fit(written, tmp_path, damage, message):
    folder = _copied(written("three classes"), tmp_path)
    damage(folder)
    _said(folder, message)


def _said(folder, message):
    """The card cannot be read: one sentence says why."""
    with pytest.raises(CheckpointError, match=message) as error:
        read_card(folder)
    assert "\n" not in str(error.value) and len(str(error.value)) < 500


def _steps(*kinds):
    return [{"path": f"{at}_{kind}" * bool(at), "type": f"library.{kind}"} for at, kind in enumerate(kinds)]


def _modules(folder, *kinds, **settings):
    (folder / "modules.json").write_text(json.dumps(_steps(*kinds)))
    _change(folder, "config_sentence_transformers.json", **settings)


def _export(folder, name):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / "model.safetensors").rename(folder / name)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda at: _modules(at, "Transformer", "SpladePooling", model_type="SparseEncoder"), "sparse encoder .SPLADE"),
        (lambda at: _modules(at, "Transformer", "Dense", model_type="ColBERT"), "multi-vector encoder .ColBERT"),
        (lambda at: _modules(at, "StaticEmbedding"), "static embeddings, without a transformer"),
        (lambda at: _modules(at, "Transformer", "LogitScore"), "language model that scores a pair by its next word"),
        (lambda at: _modules(at, "Transformer", "Pooling", "CNN"), "modules that PairLens does not know .*CNN"),
        (lambda at: _modules(at, "Transformer", "Pooling", model_type="CrossEncoder"), "without a layer of scores"),
        (
            lambda at: _change(at, "sentence_bert_config.json", transformer_task="fill-mask"),
            "transformer for fill-mask",
        ),
        (
            lambda at: _change(at, "sentence_bert_config.json", modality_config={"message": {}, "text": {}}),
            "does not read plain texts but message, text",
        ),
        (lambda at: _change(at, "sentence_bert_config.json", query_length=8), "sets query_length.*remove that line"),
        (lambda at: (at / "modules.json").unlink(), "has lost its modules.json"),
        (lambda at: _change(at / "1_Pooling", embedding_dimension=8), "takes 16 numbers and gets 8"),
        (lambda at: _export(at, "onnx/model.onnx"), "ONNX graph"),
        (lambda at: _export(at, "openvino/openvino_model.xml"), "OpenVINO graph"),
        (lambda at: _export(at, "model.gguf"), "GGUF file"),
        (lambda at: _export(at, "pytorch_model.bin"), "pickle.*transformers import AutoModel as M"),
        (lambda at: _export(at, "adapter_model.safetensors") or _adapter(at), "PEFT adapter on base"),
        (lambda at: _change(at, quantization={"bits": 4}), "quantised .MLX"),
    ],
)
def test_another_kind_of_folder_says_what_it_is(written, tmp_path, other, message):
    folder = _copied(written("modular, one score"), tmp_path)
    other(folder)
    _said(folder, message)


def _adapter(folder):
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "base"}')


@pytest.mark.parametrize(("architecture", "kind"), [("t5", "T5EncoderModel"), ("bart", "BartModel")])
def test_a_bi_encoder_takes_the_encoder_of_t5_alone(tmp_path, architecture, kind):
    import transformers

    folder = write(tmp_path / architecture, "SentenceTransformer", [("Pooling", {"pooling_mode": "mean"}, {})])
    (folder / "model.safetensors").unlink()
    make(tmp_path / "whole", architecture)
    for file in (tmp_path / "whole").iterdir():
        shutil.copy(file, folder)
    body = getattr(transformers, kind).from_pretrained(tmp_path / "whole").eval()
    body.save_pretrained(folder)
    guest, answers = _answers(folder)
    with torch.inference_mode():
        u, v = (
            body(**guest.model.tower.tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0)
            for text in PAIRS[0]
        )
    assert answers[0].item() == pytest.approx(torch.cosine_similarity(u, v, dim=0).item(), abs=1e-5)
