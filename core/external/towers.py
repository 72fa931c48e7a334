"""A model of single texts in sentence-transformers' layout, implemented with transformers alone.

A transformer, pooling of token states into one vector, and further layers (:mod:`core.external.modules` reads which).
A cross-encoder may have the same modules: then the last layer's outputs are its scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from core.errors import CheckpointError
from core.external.folder import files_of
from core.external.loading import body_of, longest_of, tokenizer_of
from core.external.modules import ACTIVATIONS, Layer, ModuleLayout, layout_of, similarity_name
from core.external.names import called
from core.external.pieces import NO_WORD, Pieces

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

SIMILARITIES: Mapping[str, tuple[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "cosine": ("similarity", lambda u, v: nn.functional.cosine_similarity(u, v, dim=-1)),
    "dot": ("dot product", lambda u, v: (u * v).sum(-1)),
    "euclidean": ("negative distance", lambda u, v: -(u - v).norm(dim=-1)),
    "manhattan": ("negative distance", lambda u, v: -(u - v).abs().sum(-1)),
}
"""Similarities by their names in sentence-transformers: the title, and the function of vectors ``[B, E]``."""


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


class _Truncate(nn.Module):
    """Keeps the first numbers of a vector (Kusupati et al. 2022)."""

    def __init__(self, kept: int) -> None:
        super().__init__()
        self.kept = kept

    def forward(self, vectors: Tensor) -> Tensor:
        return vectors[..., : self.kept]


class _Dense(nn.Module):
    """f(W x + b), plus x or its projection if the layer has a residual."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.linear = nn.Linear(layer.inputs, layer.outputs, layer.bias)
        self.activation = ACTIVATIONS[layer.activation]()
        self.skips = layer.residual
        if layer.residual and layer.inputs != layer.outputs:
            self.residual = nn.Linear(layer.inputs, layer.outputs, bias=False)

    def forward(self, vectors: Tensor) -> Tensor:
        out: Tensor = self.activation(self.linear(vectors))
        if not self.skips:
            return out
        return out + (self.residual(vectors) if hasattr(self, "residual") else vectors)


class Scorer(nn.Module):
    """A cross-encoder whose pooled vector goes through layers to scores, called like transformers' classifiers."""

    def __init__(self, body: nn.Module, pooling: Pooling, layers: nn.Module) -> None:
        super().__init__()
        self.body, self.pooling, self.layers = body, pooling, layers
        self.config = body.config

    def get_input_embeddings(self) -> nn.Module:
        """The transformer's table of token embeddings."""
        body: Any = self.body
        table: nn.Module = body.get_input_embeddings()
        return table

    def forward(self, attention_mask: Tensor, **inputs: Any) -> Any:
        """The transformer's output, with ``logits [B, scores]``. ``inputs`` as for the transformer."""
        output = self.body(attention_mask=attention_mask, **inputs)
        output["logits"] = self.layers(self.pooling(output.last_hidden_state, attention_mask.bool()))
        return output


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


def pooled_layers(layout: ModuleLayout) -> tuple[Pooling, nn.Sequential]:
    """The modules that follow the transformer. Raises CheckpointError."""
    return Pooling(layout.pooling), nn.Sequential(*(_layer(layer, layout.home) for layer in layout.layers))


def _layer(layer: Layer, home: Path) -> nn.Module:
    if layer.kind == "Normalize":
        return _Unit()
    if layer.kind == "Truncate":
        return _Truncate(layer.outputs)
    module: nn.Module = nn.LayerNorm(layer.outputs) if layer.kind == "LayerNorm" else _Dense(layer)
    try:
        module.load_state_dict(layer.weights())
    except Exception as error:
        where = f"{called(home)}/{layer.folder.name}"
        raise CheckpointError(f"{where} cannot be read ({str(error)[:120]}): copy the model again") from error
    return module


def tower_of(folder: Path) -> Tower:
    """The model in a folder. Raises CheckpointError with the problem in one sentence."""
    layout = layout_of(folder)
    pooling, layers = pooled_layers(layout)
    body, tokenizer = body_of(layout.home, classifies=False), tokenizer_of(layout.home)
    longest = longest_of(tokenizer, body)
    return Tower(
        body,
        pooling,
        layers,
        tokenizer,
        min(longest, layout.limit or longest),
        similarity_of(files_of(folder)),
        layout.prompt,
        layout.lower,
    )


def similarity_of(files: Path) -> str:
    """The name of the similarity the model was trained with. Raises CheckpointError if it is unknown."""
    name = similarity_name(files)
    if name not in SIMILARITIES:
        raise CheckpointError(
            f"{called(files)} compares by {name[:60]}, which is not known here: use one of {', '.join(SIMILARITIES)}"
        )
    return name


def by_word(states: Tensor, pieces: Pieces) -> Tensor:
    """The mean state of each word's pieces in one text, ``[words, D]``; zeros for a word without a piece."""
    of_word = pieces.of_words.to(states)[:-1]
    return of_word @ states[0] / of_word.sum(1, keepdim=True).clamp_min(1)
