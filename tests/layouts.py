"""Folders in the layouts of sentence-transformers, with small random weights, and the scores of that library.

``python -m tests.layouts`` writes the scores to tests/layout_scores.json; it needs sentence-transformers 5.7 or later,
which the tests do not."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file

from tests.guests import word_piece

SCORES = Path(__file__).with_name("layout_scores.json")
PAIRS = (
    ("A man's dog can't run near the park.", "The dog doesn't run."),
    ("Three girls play.", "Nobody is sleeping outside near the U.S. embassy."),
)
SIGMOID, IDENTITY = "torch.nn.modules.activation.Sigmoid", "torch.nn.modules.linear.Identity"
LABELS = ("entailment", "neutral", "contradiction")
_WIDTH = 16
_MODULES = {
    "Transformer": "sentence_transformers.base.modules.transformer",
    "Dense": "sentence_transformers.base.modules.dense",
    "Pooling": "sentence_transformers.sentence_transformer.modules.pooling",
    "Normalize": "sentence_transformers.sentence_transformer.modules.normalize",
    "LayerNorm": "sentence_transformers.sentence_transformer.modules.layer_norm",
    "Dropout": "sentence_transformers.sentence_transformer.modules.dropout",
}
"""Where version 5.4 has its modules; earlier ones have them in sentence_transformers.models."""
Module = tuple[str, Mapping[str, Any], Mapping[str, Sequence[int]]]
"""A module after the transformer: its kind, its settings and the shapes of its weights."""


def _random(shapes: Mapping[str, Sequence[int]], seed: int) -> dict[str, torch.Tensor]:
    """Random weights by name; norm weights are around 1."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: 0.3 * torch.randn(*shapes[name], generator=generator) + ("orm.weight" in name) for name in sorted(shapes)
    }


def _transformer(home: Path, classes: int = 0, **settings: Any) -> None:
    """A transformer with ``classes`` outputs (0: without a classifier), and its tokeniser."""
    tokenizer = word_piece()
    tokenizer.model_max_length = 48
    names = dict(enumerate(LABELS if classes == len(LABELS) else ("LABEL_0",)))
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=_WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=64,
        id2label=names,
        label2id={label: number for number, label in names.items()},
        **settings,
    )
    model = (transformers.BertForSequenceClassification if classes else transformers.BertModel)(config)
    model.save_pretrained(home)
    shapes = {name: value.shape for name, value in load_file(home / "model.safetensors").items()}
    save_file(_random(shapes, seed=classes), home / "model.safetensors", {"format": "pt"})
    tokenizer.save_pretrained(home)


def _write(path: Path, values: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values, indent=2))


def pooling(*ways: str) -> Module:
    """Pooling as written since 5.4."""
    mode = ways[0] if len(ways) == 1 else list(ways)
    return "Pooling", {"embedding_dimension": _WIDTH, "pooling_mode": mode, "include_prompt": True}, {}


def dense(inputs: int, outputs: int, activation: str, to: str = "sentence_embedding", **settings: Any) -> Module:
    """A dense layer as written since 5.4."""
    config = {
        "in_features": inputs,
        "out_features": outputs,
        "bias": True,
        "activation_function": activation,
        "module_input_name": "sentence_embedding",
        "module_output_name": to,
        **settings,
    }
    residual = {"residual.weight": (outputs, inputs)} if settings.get("use_residual") and inputs != outputs else {}
    return "Dense", config, {"linear.weight": (outputs, inputs), "linear.bias": (outputs,), **residual}


def write(folder: Path, model_type: str, modules: Sequence[Module] = (), classes: int = 0, **settings: Any) -> Path:
    """A model as version 5.4 and later write it. ``settings``: of config_sentence_transformers.json."""
    _transformer(folder, classes)
    task = ("sequence-classification", "logits", "scores") if classes else None
    task = task or ("feature-extraction", "last_hidden_state", "token_embeddings")
    reads = {"text": {"method": "forward", "method_output_name": task[1]}}
    own = {"transformer_task": task[0], "modality_config": reads, "module_output_name": task[2]}
    _write(folder / "sentence_bert_config.json", own)
    versions = {"pytorch": "2.13.0", "sentence_transformers": "5.4.1", "transformers": "5.24.0"}
    known = {"prompts": {}, "default_prompt_name": None, **settings}
    _write(folder / "config_sentence_transformers.json", {"__version__": versions, "model_type": model_type, **known})
    steps = [{"idx": 0, "name": "0", "path": "", "type": f"{_MODULES['Transformer']}.Transformer"}]
    for number, (kind, config, shapes) in enumerate(modules, start=1):
        path = f"{number}_{kind}"
        steps.append({"idx": number, "name": str(number), "path": path, "type": f"{_MODULES[kind]}.{kind}"})
        _write(folder / path / "config.json", config)
        if shapes:
            save_file(_random(shapes, seed=10 * number), folder / path / "model.safetensors")
    _write(folder / "modules.json", steps)
    return folder


def write_old(folder: Path) -> Path:
    """A bi-encoder as written before 5.4, with the transformer in a subfolder."""
    kinds = ("Transformer", "Pooling", "Normalize")
    _transformer(folder / "0_Transformer")
    _write(folder / "0_Transformer/sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": True})
    names = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
    modes = {f"pooling_mode_{name}": name == "max_tokens" for name in names}
    _write(folder / "1_Pooling/config.json", {"word_embedding_dimension": _WIDTH, **modes, "include_prompt": True})
    (folder / "2_Normalize").mkdir()
    steps = [
        {"idx": at, "name": str(at), "path": f"{at}_{kind}", "type": f"sentence_transformers.models.{kind}"}
        for at, kind in enumerate(kinds)
    ]
    _write(folder / "modules.json", steps)
    return folder


def write_old_cross(folder: Path, classes: int, **settings: Any) -> Path:
    """A cross-encoder as written before 5.4: transformers' own layout. ``settings``: of config.json."""
    _transformer(folder, classes, **settings)
    return folder


_LAYERS = (
    pooling("mean", "cls"),
    dense(32, 8, "torch.nn.modules.activation.Tanh", use_residual=True),
    ("LayerNorm", {"dimension": 8}, {"norm.weight": (8,), "norm.bias": (8,)}),
    ("Dropout", {"dropout": 0.2}, {}),
    ("Normalize", {}, {}),
)
_GELU = dense(16, 16, "torch.nn.modules.activation.GELU")
_PROMPT = {"prompts": {"query": "dog: ", "document": ""}, "default_prompt_name": "query"}

LAYOUTS: Mapping[str, Callable[[Path], Path]] = {
    "encoder": lambda at: write(at, "SentenceTransformer", [pooling("mean")], similarity_fn_name="cosine"),
    "encoder, square root": lambda at: write(at, "SentenceTransformer", [pooling("mean_sqrt_len_tokens")]),
    "encoder with layers": lambda at: write(at, "SentenceTransformer", _LAYERS, similarity_fn_name="dot"),
    "encoder, truncated": lambda at: write(at, "SentenceTransformer", [pooling("cls")], truncate_dim=5),
    "encoder with a prompt": lambda at: write(at, "SentenceTransformer", [pooling("cls")], **_PROMPT),
    "old encoder": write_old,
    "one score": lambda at: write(at, "CrossEncoder", classes=1, activation_fn=SIGMOID),
    "one score, as it is": lambda at: write(at, "CrossEncoder", classes=1, activation_fn=IDENTITY),
    "one score, by default": lambda at: write(at, "CrossEncoder", classes=1),
    "one score with a prompt": lambda at: write(at, "CrossEncoder", classes=1, activation_fn=IDENTITY, **_PROMPT),
    "three classes": lambda at: write(at, "CrossEncoder", classes=3, activation_fn=IDENTITY),
    "three labels": lambda at: write(at, "CrossEncoder", classes=3, activation_fn=SIGMOID),
    "old score": lambda at: write_old_cross(at, 1, sentence_transformers={"activation_fn": SIGMOID, "version": "4.1"}),
    "older score": lambda at: write_old_cross(at, 1, sbert_ce_default_activation_function=IDENTITY),
    "old three classes": lambda at: write_old_cross(at, 3, sentence_transformers={"activation_fn": IDENTITY}),
    "modular, one score": lambda at: write(
        at, "CrossEncoder", [pooling("cls"), _GELU, dense(16, 1, IDENTITY, "scores")], activation_fn=SIGMOID
    ),
    "modular, three classes": lambda at: write(
        at, "CrossEncoder", [pooling("mean"), dense(16, 3, IDENTITY, "scores")], activation_fn=IDENTITY, **_PROMPT
    ),
}
"""A function that writes a model, by its description."""


def main() -> None:
    """Records the library's scores of :data:`PAIRS`: similarities, or the cross-encoder's predictions."""
    import sentence_transformers as library

    scores = {}
    with tempfile.TemporaryDirectory() as place:
        for name, written in LAYOUTS.items():
            folder = str(written(Path(place) / name))
            if "encoder" not in name:
                scores[name] = library.CrossEncoder(folder).predict(list(PAIRS)).tolist()
                continue
            model = library.SentenceTransformer(folder)
            first, second = (model.encode(list(texts), convert_to_tensor=True) for texts in zip(*PAIRS, strict=True))
            scores[name] = model.similarity_pairwise(first, second).tolist()
    versions = {one.__name__: one.__version__ for one in (library, transformers, torch)}
    _write(SCORES, {"versions": versions, "scores": scores})


if __name__ == "__main__":
    main()
