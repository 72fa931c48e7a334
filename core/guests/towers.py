"""A model of single texts in sentence-transformers' layout, read with transformers alone.

``modules.json`` lists its steps, each with a folder: the transformer, how the states of its pieces become one vector
(``1_Pooling``), perhaps a layer more (``2_Dense``), perhaps a division by the length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from core.errors import CheckpointError
from core.files import read_json
from core.guests.card import modules_of
from core.guests.hub import called
from core.guests.loading import body_of, longest_of, tokenizer_of
from core.guests.pieces import Pieces
from core.json_types import JsonObject

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

POOLINGS = ("cls", "mean", "max", "mean_sqrt_len")
_KEYS = {
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt_len": "pooling_mode_mean_sqrt_len_tokens",
}
_ACTIVATIONS: Mapping[str, type[nn.Module]] = {kind.__name__: kind for kind in (nn.Identity, nn.Tanh, nn.ReLU, nn.GELU)}


class Pooling(nn.Module):
    """One vector ``[B, D]`` from the states of a text's pieces ``[B, P, D]``, special pieces among them."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        mask = real[..., None].to(states)
        if self.how == "cls":
            return states[:, 0]
        if self.how == "max":
            return states.masked_fill(~real[..., None], float("-inf")).amax(1)
        counts = mask.sum(1).clamp_min(1)
        return (states * mask).sum(1) / (counts if self.how == "mean" else counts.sqrt())


class Tower(nn.Module):
    """From a text's pieces to its vector; ``longest``: pieces that it reads."""

    def __init__(
        self, body: nn.Module, pooling: Pooling, dense: nn.Module, tokenizer: PreTrainedTokenizerFast, longest: int
    ) -> None:
        super().__init__()
        self.body, self.pooling, self.dense = body, pooling, dense
        self.tokenizer, self.longest = tokenizer, longest
        self.together = True
        """Whether several texts may be padded and run at once: whether it then reads each as it does alone."""

    def forward(self, pieces: Pieces) -> tuple[Tensor, Tensor]:
        """The states of the pieces ``[B, P, D]``, and the texts' vectors ``[B, E]``, each of length 1: only their
        cosine is used."""
        if len(pieces) > 1 and not self.together:
            rows = [self(pieces.row(number)) for number in range(len(pieces))]
            states = nn.utils.rnn.pad_sequence([row[0][0] for row in rows], batch_first=True)
            return states, torch.cat([row[1] for row in rows])
        body: Any = self.body
        states = body(**pieces.inputs, attention_mask=pieces.real.long()).last_hidden_state
        return states, nn.functional.normalize(self.dense(self.pooling(states, pieces.real)), dim=-1)


@dataclass(frozen=True)
class _Step:
    kind: str
    folder: Path


def tower_of(folder: Path) -> Tower:
    """The model of a folder. Raises CheckpointError with what is wrong in one sentence."""
    steps = [_Step(str(one["type"]).rpartition(".")[2], folder / one["path"]) for one in modules_of(folder)]
    kinds = [step.kind for step in steps]
    if kinds[:2] != ["Transformer", "Pooling"] or {*kinds[2:]} - {"Dense", "Normalize"}:
        raise CheckpointError(
            f"{called(folder)} has steps that PairLens does not know ({', '.join(kinds)}): use a model of "
            "Transformer, Pooling, Dense and Normalize, or write it as a function (docs/guests.md)"
        )
    body, tokenizer = body_of(steps[0].folder, classifies=False), tokenizer_of(steps[0].folder)
    longest = longest_of(tokenizer, body)
    limit = _json(steps[0].folder / "sentence_bert_config.json").get("max_seq_length")
    if isinstance(limit, int) and limit > 0:
        longest = min(longest, limit)
    dense = nn.Sequential(*(_dense(folder, step.folder) for step in steps if step.kind == "Dense"))
    return Tower(body, Pooling(_pooling(folder, steps[1].folder)), dense, tokenizer, longest)


def _pooling(folder: Path, step: Path) -> str:
    config = _json(step / "config.json")
    asked = [how for how, key in _KEYS.items() if config.get(key)] or [str(config.get("pooling_mode"))]
    if len(asked) != 1 or asked[0] not in POOLINGS:
        raise CheckpointError(
            f"{called(folder)} pools in a way that PairLens does not know: use one of {', '.join(POOLINGS)}, or write "
            "it as a function (docs/guests.md)"
        )
    return asked[0]


def _dense(folder: Path, step: Path) -> nn.Module:
    config = _json(step / "config.json")
    activation = _ACTIVATIONS.get(str(config.get("activation_function", "Tanh")).rpartition(".")[2])
    try:
        if activation is None:
            raise ValueError("an activation that PairLens does not know")
        weights = load_file(step / "model.safetensors")
        layer = nn.Linear(int(config["in_features"]), int(config["out_features"]), bool(config.get("bias", True)))
        layer.load_state_dict({name.removeprefix("linear."): value for name, value in weights.items()})
    except Exception as error:
        raise CheckpointError(
            f"{called(folder)}/{step.name} cannot be read ({str(error)[:120]}): copy the model again"
        ) from error
    return nn.Sequential(layer, activation())


def _json(file: Path) -> JsonObject:
    try:
        values = read_json(file)
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def by_word(states: Tensor, pieces: Pieces, words: int) -> Tensor:
    """The mean state of each word's pieces in one text, ``[words, D]``; zeros for a word without a piece."""
    of_word = (pieces.owners[0] == torch.arange(words)[:, None]).to(states)
    return of_word @ states[0] / of_word.sum(1, keepdim=True).clamp_min(1)
