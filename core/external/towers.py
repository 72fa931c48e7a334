"""A model of single texts in sentence-transformers' layout, implemented with transformers alone.

``modules.json`` lists its modules, each in a folder: the transformer, pooling of token states into one vector
(``1_Pooling``), optional further layers (``2_Dense``) and normalisation (``3_Normalize``). Any other setting in its
files is rejected by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from core.errors import CheckpointError
from core.external.folder import WEIGHTS, check_files, files_of, has, modules_of, object_of, without_safetensors
from core.external.loading import LEAST_PIECES, body_of, longest_of, tokenizer_of
from core.external.names import called
from core.external.pieces import NO_WORD, Pieces

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

_POOLINGS = ("cls", "max", "mean", "mean_sqrt_len", "weightedmean", "lasttoken")
"""In the order in which several poolings are concatenated."""
_OLD_KEYS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_ACTIVATIONS: Mapping[str, type[nn.Module]] = {
    kind.__name__: kind for kind in (nn.Identity, nn.Tanh, nn.ReLU, nn.GELU, nn.Sigmoid)
}
SIMILARITIES: Mapping[str, tuple[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "cosine": ("similarity", lambda u, v: nn.functional.cosine_similarity(u, v, dim=-1)),
    "dot": ("dot product", lambda u, v: (u * v).sum(-1)),
    "euclidean": ("negative distance", lambda u, v: -(u - v).norm(dim=-1)),
    "manhattan": ("negative distance", lambda u, v: -(u - v).abs().sum(-1)),
}
"""Similarities by their names in sentence-transformers: the title, and the function of vectors ``[B, E]``."""
_SETTINGS = "config_sentence_transformers.json"
_OF_TEXTS = tuple(
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
"""Names of the file with the settings for reading texts; the first that exists is used."""
_NEUTRAL = ("__version__", "model_type", "prompts", "default_prompt_name", "similarity_fn_name")


class Pooling(nn.Module):
    """Pools the states of a text's pieces ``[B, P, D]``, including special ones, into one vector ``[B, D]``; several
    poolings are concatenated."""

    def __init__(self, ways: Sequence[str]) -> None:
        super().__init__()
        self.ways = tuple(ways)

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        vectors = [
            states.masked_fill(~real[..., None], float("-inf")).amax(1)
            if way == "max"
            else (piece_weights(way, real).to(states)[:, None] @ states)[:, 0]
            for way in self.ways
        ]
        return torch.cat(vectors, dim=-1)


def piece_weights(way: str, real: Tensor) -> Tensor:
    """The weight of each piece in the pooled vector, ``[B, P]``, for any pooling except max. ``real [B, P]``: false on
    padding, which is at the end."""
    places = torch.arange(1, real.shape[1] + 1, device=real.device)
    counts = real.sum(1, keepdim=True)
    if way in ("cls", "lasttoken"):
        return (places == (1 if way == "cls" else counts)).expand(real.shape).double()
    mask = real.double()
    if way == "weightedmean":  # weighted by position, from 1 (Muennighoff 2022)
        mask = mask * places
    return mask / (counts.sqrt() if way == "mean_sqrt_len" else mask.sum(1, keepdim=True))


class _Unit(nn.Module):
    """Normalises vectors to length 1."""

    def forward(self, vectors: Tensor) -> Tensor:
        return nn.functional.normalize(vectors, dim=-1)


class Tower(nn.Module):
    """Encodes a text's pieces as a vector; ``longest``: maximum number of pieces; ``prompt``: prefix of each text;
    ``lower``: whether texts are lower-cased."""

    def __init__(
        self,
        body: nn.Module,
        pooling: Pooling,
        layers: nn.Module,
        tokenizer: PreTrainedTokenizerFast,
        longest: int,
        similarity: str = "cosine",
        prompt: str = "",
        lower: bool = False,
    ) -> None:
        super().__init__()
        self.body, self.pooling, self.layers = body, pooling, layers
        self.tokenizer, self.longest, self.similarity = tokenizer, longest, similarity
        self.prompt, self.lower = prompt, lower
        self.together = True
        """Whether several texts may be padded and run together with the same results as alone."""

    def forward(self, pieces: Pieces) -> tuple[Tensor, Tensor]:
        """The states of the pieces ``[B, P, D]``, and the texts' vectors ``[B, E]``."""
        if len(pieces) > 1 and not self.together:
            rows = [self(pieces.row(number)) for number in range(len(pieces))]
            states = nn.utils.rnn.pad_sequence([row[0][0] for row in rows], batch_first=True)
            return states, torch.cat([row[1] for row in rows])
        body: Any = self.body
        states = body(**pieces.inputs, attention_mask=pieces.real.long()).last_hidden_state
        return states, self.layers(self.pooling(states, pieces.real))

    @property
    def bilinear(self) -> bool:
        """Whether the similarity is linear in each of the two vectors (normalised to length 1 for a cosine)."""
        return self.similarity in ("cosine", "dot")

    @property
    def adds_up(self) -> bool:
        """Whether the similarity is a sum over pairs of pieces, divided at most by the vectors' norms."""
        layers = self.layers.children()
        return (
            self.bilinear
            and len(self.pooling.ways) == 1
            and self.pooling.ways != ("max",)
            and all(isinstance(layer, _Unit) for layer in layers)
        )

    def weighted(self, states: Tensor, pieces: Pieces) -> Tensor:
        """The summands ``[P, D]`` of one text's vector, in double precision. ``states``: ``[1, P, D]``. Requires
        :attr:`adds_up`."""
        parts = piece_weights(self.pooling.ways[0], pieces.real)[0][:, None] * states[0].double()
        unit = self.similarity == "cosine" or any(True for _ in self.layers.children())
        return parts / parts.sum(0).norm() if unit else parts

    def by_vectors(self, pieces: Pieces) -> tuple[Tensor, Tensor, Callable[[Tensor], Tensor]]:
        """The embeddings of one text's pieces ``[1, P, D]``; the reference's, in which padding replaces the words; and
        a function from embeddings ``[B, P, D]`` to the text's vector ``[B, E]``, of length 1 if the similarity is a
        cosine."""
        body: Any = self.body
        inputs = dict(pieces.inputs)
        ids = inputs.pop("input_ids")
        reference = torch.where(pieces.owners == NO_WORD, ids, self.tokenizer.pad_token_id or 0)

        def encode(given: Tensor) -> Tensor:
            rows = {name: values.expand(len(given), -1) for name, values in inputs.items()}
            real = pieces.real.expand(len(given), -1)
            states = body(inputs_embeds=given, attention_mask=real.long(), **rows).last_hidden_state
            vectors: Tensor = self.layers(self.pooling(states, real))
            return nn.functional.normalize(vectors, dim=-1) if self.similarity == "cosine" else vectors

        table = body.get_input_embeddings()
        return table(ids), table(reference), encode

    def similarity_of(self, u: Tensor, v: Tensor) -> Tensor:
        """The similarity of vectors ``[B, E]``, ``[B]``."""
        return SIMILARITIES[self.similarity][1](u, v)


def tower_of(folder: Path) -> Tower:
    """The model in a folder. Raises CheckpointError with the problem in one sentence."""
    folder = files_of(folder)
    steps = modules_of(folder)
    kinds = [step["type"].rpartition(".")[2] for step in steps]
    homes = [folder / step["path"] for step in steps]
    if kinds[:2] != ["Transformer", "Pooling"] or {*kinds[2:]} - {"Dense", "Normalize"}:
        raise CheckpointError(
            f"{called(folder)} has steps that PairLens does not know ({', '.join(kinds)[:100]}): use a model of "
            "Transformer, Pooling, Dense and Normalize, or write it as a function (docs/guests.md)"
        )
    lower, limit = _how_texts_are_read(folder, homes[0])
    prompt, _ = prompts_of(folder)
    ways = _pooling(folder, homes[1], prompt)
    similarity = similarity_of(folder)
    further = zip(kinds[2:], homes[2:], strict=True)
    layers = [_dense(folder, home) if kind == "Dense" else _Unit() for kind, home in further]
    body, tokenizer = body_of(homes[0], classifies=False), tokenizer_of(homes[0])
    longest = longest_of(tokenizer, body)
    return Tower(
        body,
        Pooling(ways),
        nn.Sequential(*layers),
        tokenizer,
        min(longest, limit or longest),
        similarity,
        prompt,
        lower,
    )


def _how_texts_are_read(folder: Path, home: Path) -> tuple[bool, int | None]:
    """Whether texts are lower-cased, and the maximum number of pieces."""
    name = next((name for name in _OF_TEXTS if has(home, name)), _OF_TEXTS[0])
    said = object_of(home, name)
    limit, lower = said.pop("max_seq_length", None), said.pop("do_lower_case", False)
    if limit is not None and (type(limit) is not int or limit < LEAST_PIECES):
        raise CheckpointError(f"{called(folder)}/{name} has a max_seq_length that cannot be: fix it")
    if type(lower) is not bool:
        raise CheckpointError(f"{called(folder)}/{name} must have true or false as do_lower_case: fix it")
    _refuse_others(folder, name, said)
    return lower, limit


def _refuse_others(folder: Path, name: str, said: Mapping[str, Any]) -> None:
    other = next((key for key, value in said.items() if value not in (None, {}, [], False, "")), None)
    if other is not None:
        raise CheckpointError(
            f"{called(folder)}/{name} sets {other[:60]}, which is not followed here: use a model without it, or write "
            "it as a function (docs/guests.md)"
        )


def similarity_of(folder: Path) -> str:
    """The name of the similarity the model was trained with."""
    said = object_of(folder, _SETTINGS)
    _refuse_others(folder, _SETTINGS, {key: value for key, value in said.items() if key not in _NEUTRAL})
    name = str(said.get("similarity_fn_name") or "cosine")
    known = {"dot_score": "dot", "cos_sim": "cosine", "euclidean_sim": "euclidean", "manhattan_sim": "manhattan"}
    name = known.get(name, name)
    if name not in SIMILARITIES:
        raise CheckpointError(
            f"{called(folder)} compares by {name[:60]}, which is not known here: use one of {', '.join(SIMILARITIES)}"
        )
    return name


def prompts_of(folder: Path) -> tuple[str, Mapping[str, str]]:
    """The default prompt, a prefix of each text (empty if there is none), and all prompts by name, without empty
    ones."""
    said = object_of(folder, _SETTINGS)
    prompts, name = said.get("prompts") or {}, said.get("default_prompt_name")
    if not isinstance(prompts, dict) or not all(isinstance(one, str) for one in prompts.values()):
        raise CheckpointError(f"{called(folder)}/{_SETTINGS} has prompts that are not texts by name: fix it")
    if name is not None and (not isinstance(name, str) or name not in prompts):
        raise CheckpointError(
            f"{called(folder)}/{_SETTINGS} has no prompt {str(name)[:60]!r}: fix its default_prompt_name"
        )
    return "" if name is None else prompts[name], {name: prompt for name, prompt in prompts.items() if prompt}


def _pooling(folder: Path, step: Path, prompt: str) -> list[str]:
    config = object_of(step, "config.json")
    mode = config.get("pooling_mode")
    asked = [mode] if isinstance(mode, str) else mode if isinstance(mode, list) else []
    asked = [way for one in asked for way in str(one).split("+")]
    asked += [way for key, way in _OLD_KEYS.items() if config.get(key) and way not in asked]
    if (
        not asked
        or {*asked} - {*_POOLINGS}
        or any(key.startswith("pooling_mode_") and key not in _OLD_KEYS and value for key, value in config.items())
    ):
        raise CheckpointError(
            f"{called(folder)} pools in a way that PairLens does not know: use one of {', '.join(_POOLINGS)}, or write "
            "it as a function (docs/guests.md)"
        )
    if prompt and config.get("include_prompt") is False:
        raise CheckpointError(
            f"{called(folder)} leaves its prompt out of the pooling (include_prompt), which is not followed: write "
            "it as a function (docs/guests.md)"
        )
    return [way for way in _POOLINGS if way in asked]


def _dense(folder: Path, step: Path) -> nn.Module:
    config = object_of(step, "config.json")
    if not has(step, WEIGHTS):
        raise CheckpointError(f"{called(folder)}: {without_safetensors(step)}")
    activation = _ACTIVATIONS.get(str(config.get("activation_function", "Tanh")).rpartition(".")[2])
    try:
        if activation is None:
            raise ValueError("an activation that PairLens does not know")
        check_files(step)
        weights = {name.removeprefix("linear."): value for name, value in load_file(step / WEIGHTS).items()}
        outputs, inputs = weights["weight"].shape
        layer = nn.Linear(inputs, outputs, bool(config.get("bias", True)))
        layer.load_state_dict(weights)
    except CheckpointError:
        raise
    except Exception as error:
        raise CheckpointError(
            f"{called(folder)}/{step.name} cannot be read ({str(error)[:120]}): copy the model again"
        ) from error
    return nn.Sequential(layer, activation())


def by_word(states: Tensor, pieces: Pieces) -> Tensor:
    """The mean state of each word's pieces in one text, ``[words, D]``; zeros for a word without a piece."""
    of_word = pieces.of_words.to(states)[:-1]
    return of_word @ states[0] / of_word.sum(1, keepdim=True).clamp_min(1)
