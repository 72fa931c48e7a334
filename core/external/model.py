"""A transformer for text pairs with the interface of the other models: logits, attention records, links to ablate."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from core.evidence import AttentionMap
from core.evidence.attention_heads import AttentionHeads, Between
from core.evidence.matrix import matrix
from core.external.attention import Attention
from core.external.base import ExternalModel, blaming
from core.external.between import between, chosen_attention
from core.external.patching import LayerPatch, Patched
from core.external.pieces import Pieces
from core.json_types import JsonObject, setting
from core.layers.attention import Knockout
from core.layers.heads import title_of
from core.models.answers import SOFTMAX
from core.models.base import EXTERNAL, Evidence, Knockouts, ModelConfig, Output, PairModel, Wanted, exchanged, register
from core.models.intervention import AttentionLinks, Intervention
from core.reading.reader import Reading


@dataclass(frozen=True)
class CrossEncoderConfig(ModelConfig):
    """``layers`` and ``heads`` of the transformer; ``head``: the one shown first; ``measured``: the head that agrees
    best with human word alignments, and its ``f1``."""

    input_size: int = 1
    layers: int = setting(1, least=0)
    heads: int = setting(1, least=0)
    head: str = "mean"
    measured: str = ""
    f1: float = 0.0
    activation: str = SOFTMAX

    @property
    def agreement(self) -> JsonObject:
        """The measured agreement, as in the record."""
        return {"measured": self.measured, "f1": self.f1} if self.measured else {}


@dataclass(frozen=True)
class CrossEncoderTrace:
    """Trace of one call: attention ``[B, heads, P, P]`` per layer, if requested, over these pieces, and the head used
    as evidence."""

    layers: Sequence[Tensor]
    pieces: Pieces
    head: str


@register(
    "cross-encoder", title="Cross-encoder", paper="Vaswani et al. 2017, Devlin et al. 2019", section="3", among=EXTERNAL
)
class CrossEncoder(ExternalModel[Pieces]):
    """A transformer that reads both texts together and classifies the pair, loaded with Hugging Face's library.

    ``body`` comes from ``AutoModelForSequenceClassification``, with eager attention; ``softmaxes``: how many of a
    call's are its layers' (:func:`core.external.attention.layers_of`); ``states``: which of a call's results are the
    states after each layer (:func:`core.external.patching.states_of`).
    """

    records = (AttentionMap, AttentionHeads)
    refusal = "a transformer's weights cannot be set: ablate its links instead"

    def __init__(
        self,
        config: CrossEncoderConfig,
        body: torch.nn.Module,
        softmaxes: int,
        name: str = ExternalModel.name,
        states: tuple[int, ...] = (),
    ) -> None:
        super().__init__(config)
        self.body, self.softmaxes, self.name, self.states = body, softmaxes, name, states
        self.together = True
        """Whether several rows may be padded and run together with the same answers as alone."""

    @functools.cached_property
    def _output_layer(self) -> str:
        """The name of the last linear layer with one output per class; empty if there is none."""
        sized = [
            name
            for name, part in self.body.named_modules()
            if isinstance(part, nn.Linear) and part.out_features == self.config.classes
        ]
        return sized[-1] if sized else ""

    @property
    def output_layer(self) -> nn.Linear | None:
        found = self.body.get_submodule(self._output_layer) if self._output_layer else None
        return found if isinstance(found, nn.Linear) else None

    def with_output_layer(self, layer: nn.Linear | nn.Identity) -> PairModel:
        if not self._output_layer:
            return super().with_output_layer(layer)
        return exchanged(self, f"body.{self._output_layer}", layer, activation=SOFTMAX)

    def answer(self, batch: Pieces) -> Output:
        return self._call(batch, None, None)

    def under(self, batch: Pieces, intervention: Intervention) -> Output:  # type: ignore[override]
        """Links can be ablated (:class:`~core.external.attention.Knockout`). Raises ValueError for anything else."""
        if intervention.attention is not None or not intervention.crossings or intervention.patching is not None:
            raise ValueError(self.refusal)
        knockout = intervention.knockout
        rows = 1 if knockout is None or knockout.cells is None else len(knockout.cells)
        several = len(batch) == 1 and rows > 1
        with blaming(self.name):
            return self._call(batch.repeated(rows) if several else batch, intervention.head, knockout)

    def _call(self, pieces: Pieces, head: str | None, knockout: Knockout | None) -> Output:
        shown = head or self.config.head
        if len(pieces) > 1 and not self.together:
            cuts = [None if knockout is None else knockout.row(number) for number in range(len(pieces))]
            rows = [self._call(pieces.row(number), None, cut) for number, cut in enumerate(cuts)]
            logits = torch.cat([row.logits for row in rows])
            return Output(logits, logits, CrossEncoderTrace((), pieces, shown))
        seen = head is not None
        with Attention(pieces.real.shape[1], knockout, seen=seen, layers=self.softmaxes) as attention:
            logits = self.body(**pieces.inputs, attention_mask=pieces.real.long()).logits
        return Output(logits, logits, CrossEncoderTrace(attention.weights, pieces, shown))

    def patched(self, versions: Pieces, patch: LayerPatch) -> Tensor:
        """Logits ``[W + 2 H + 2, C]`` of a pair, with parts of a layer from the other version (:class:`LayerPatch`).
        ``versions``: the one version and the other, as two rows with equal numbers of pieces."""
        rows = [0] * (len(patch.states) + 2 * patch.heads + 1) + [1]
        inputs = {name: values[rows] for name, values in versions.inputs.items()}
        with blaming(self.name), Patched(patch, self.states[patch.layer]):
            logits: Tensor = self.body(**inputs, attention_mask=versions.real[rows].long()).logits
        return logits

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        trace: CrossEncoderTrace = output.trace
        if not trace.layers:
            return
        roles = reading.first.role, reading.second.role
        if AttentionMap in wanted:
            decodes = getattr(self.body.config, "is_encoder_decoder", False)
            name = f"{title_of(trace.head)}{' of the encoder' if decodes else ''}"
            first, second = between(chosen_attention(trace.layers, trace.head).double(), trace.pieces)
            yield _map(name, roles[1], roles[0], second)
            yield _map(name, roles[0], roles[1], first)
        if AttentionHeads in wanted:
            every = torch.stack([layer[0] for layer in trace.layers]).double()  # [layers, heads, P, P]
            yield AttentionHeads.of(trace.head, roles, between(every, trace.pieces), **self.config.agreement)

    def cuttable(self, reading: Reading, batch: Pieces) -> tuple[AttentionLinks, ...]:
        output = self.under(batch, Intervention(head=self.config.head))
        return tuple(
            AttentionLinks(record.rows, record.columns, torch.tensor(record.weights), knocked_out=True)
            for record in self.evidence(reading, output, (AttentionMap,))
            if isinstance(record, AttentionMap)
        )

    def by_vectors(self, pieces: Pieces, target: int) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        """The embeddings of one pair's pieces ``[1, P, D]``, and a function from replaced embeddings ``[B, P, D]`` to
        log p ``[B]`` of a class."""
        body: Any = self.body
        vectors = body.get_input_embeddings()(pieces.inputs["input_ids"]).detach().clone()
        others = {name: values for name, values in pieces.inputs.items() if name != "input_ids"}

        def log_p(given: Tensor) -> Tensor:
            if len(given) > 1 and not self.together:
                return torch.cat([log_p(row) for row in torch.split(given, 1)])
            rows = {name: values.expand(len(given), -1) for name, values in others.items()}
            mask = pieces.real.long().expand(len(given), -1)
            logits = body(inputs_embeds=given, attention_mask=mask, **rows).logits
            return self.answers.supports(logits)[:, target]

        return vectors, log_p

    @property
    def knockouts(self) -> Knockouts | None:
        return self if self.config.layers else None

    def heads_across(self, reading: Reading, batch: Pieces) -> Tensor:
        layers = self.under(batch, Intervention(head=self.config.head)).trace.layers
        first, second = between(torch.stack([layer[0] for layer in layers]).double(), batch)
        return torch.cat([first.weights.sum(-1), second.weights.sum(-1)], dim=-1).mean(-1)

    def knocked_out(
        self, reading: Reading, batch: Pieces, number: int, cells: Sequence[tuple[int, int]]
    ) -> Intervention:
        """Ablates attention from all pieces of one word to all pieces of another, before the softmax of every layer
        (Geva et al. 2023, section 4.1), one link per row. ``number``: index of the map in :meth:`cuttable`."""
        first = len(reading.first.tokens)
        rows_from, columns_from = (first, 0) if number == 0 else (0, first)
        owners = batch.owners[0]
        looking = torch.tensor([rows_from + row for row, _ in cells])
        looked_at = torch.tensor([columns_from + column for _, column in cells])
        cut = (owners[None, :, None] == looking[:, None, None]) & (owners[None, None] == looked_at[:, None, None])
        return Intervention(knockout=Knockout(cut))


def _map(name: str, rows: str, columns: str, seen: Between) -> AttentionMap:
    special, own = (tuple(values.tolist()) for values in (seen.special, seen.own))
    return AttentionMap(name, rows, columns, (), matrix(seen.weights), null=special, own=own)
