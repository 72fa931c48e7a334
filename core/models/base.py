"""The interface of all models of sentence pairs: settings, a forward pass with a trace, and the evidence made from it.

    @register("my-model", title="My model", paper="…", section="3")
    class MyModel(PairModel):
        def __init__(self, config: MyConfig) -> None: ...

A file of this folder that registers a model is all that the model needs: lists of models, titles, pages, sweep labels
and the conformance test read :data:`REGISTRY`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar, get_type_hints

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.errors import UserError
from core.evidence import BOTH, AttentionMap, Record
from core.external.attention import Knockout
from core.json_types import checked
from core.json_types import setting as setting
from core.layers.attention import Override
from core.layers.projection import read_words
from core.models import answers
from core.models.answers import SOFTMAX
from core.reading.batch import Batch, Side
from core.reading.reader import Reading
from core.wording import hint

Evidence = Iterator[Record]
"""Records in the order of the page."""
Wanted = Collection[type[Record]]
"""The requested types of record."""


Settings = Mapping[str, Any]
"""Plain values of a model's settings, as on a card or in a recipe; those that are not there have their defaults."""


class ConfigError(UserError):
    """An architecture or setting that does not exist or has a value that it cannot take."""


@dataclass(frozen=True)
class ModelConfig:
    """Settings of a model, checked when it is made from plain values (:func:`build`)."""

    input_size: int = setting(least=1)
    """D, numbers of a word vector."""
    classes: int = setting(3, least=1)

    @property
    def linguistic(self) -> str:
        """The set of linguistic features that the model also reads, or "none"
        (:data:`core.linguistics.features.FEATURES`): the setting ``extra``, where a model has it."""
        return str(getattr(self, "extra", "none"))

    def unprojected(self) -> ModelConfig | None:
        """Settings of the same model over word vectors that passed its projection already; None where it has none that
        can be left out."""
        return None


@dataclass(frozen=True)
class CentredConfig(ModelConfig):
    """``width``: words that a filter sees, as many before as behind the central one."""

    width: int = setting(3, least=1)

    def __post_init__(self) -> None:
        if self.width % 2 == 0:
            raise ValueError(f"width must be odd to have a central word, got {self.width}")


@dataclass(frozen=True)
class ProjectedConfig(ModelConfig):
    """``projection``: d, width of a learned map of the word vectors, 0 for none (then d is ``input_size``)."""

    projection: int = setting(0, least=0)

    @property
    def words(self) -> int:
        """d, the width of a word as the model reads it."""
        return self.projection or self.input_size

    def unprojected(self) -> Self | None:
        return replace(self, projection=0, input_size=self.projection) if self.projection else None


class Output(NamedTuple):
    """The result of a forward pass."""

    logits: Tensor
    """[B, C]"""
    features: Tensor
    """[B, F], the vector that the classifier reads, before dropout."""
    trace: Any
    """The family's own record of what it computed on the way."""


@dataclass(frozen=True)
class Intervention:
    """The replaced parts of one call of a model, passed as an argument because threads share the model.

    ``attention``: replaces the model's. ``crossings``: False sets q, the share of words that look across a
    word, to 0 (:attr:`PairModel.counts_crossings`). Of a transformer, ``head``: whose attention the evidence is about,
    empty for the one shown first, None where there is no evidence; ``knockout``: the links that are cut."""

    attention: Override | None = None
    crossings: bool = True
    head: str | None = None
    knockout: Knockout | None = None

    @property
    def overrides(self) -> int:
        """How many overrides its attention holds, 0 without."""
        maps = (self.attention,) if isinstance(self.attention, Tensor) else self.attention or ()
        return next((len(one) for one in maps if one is not None), 0)

    def rows(self, rows: Tensor) -> Intervention:
        """The intervention on some rows of a batch, by their numbers."""
        if self.attention is None:
            return self
        if isinstance(self.attention, Tensor):
            return replace(self, attention=self.attention[rows])
        return replace(self, attention=tuple(None if own is None else own[rows] for own in self.attention))


@dataclass(frozen=True)
class AttentionLinks:
    """One attention map as an override takes it, and what its rows and columns are."""

    rows: str
    """Role of the sentence along the rows."""
    columns: str
    values: Tensor
    """Numbered as the model's records number it: ``[R, C]``, of a single row ``[C]``; the null word's last."""
    units: str = "words"
    """The unit of a row, as in :class:`~core.evidence.attention_map.AttentionMap`."""
    null: bool = False
    """Whether the last column is the null word."""
    least: float | None = None
    """The least score that a match can have; None in a map of weights."""
    blocks: tuple[int, ...] = (0,)
    """The first column of each block over which a row of weights adds up to 1."""
    reach: tuple[tuple[int, int], ...] = ()
    """The first column that each row can look at, and the one after its last; empty where rows see all."""
    knocked_out: bool = False
    """Whether a link can only be cut before the softmax of every layer (:class:`Knockouts`)."""
    scores: Tensor | None = None
    """For a map of weights, its scores before the softmax, shaped as ``values``; None where they are unknown."""

    def softmaxes(self, row: int) -> list[slice]:
        """The columns over which each softmax of a row runs, the null word among them."""
        if self.reach:
            return [slice(*self.reach[row])]
        return [slice(start, end) for start, end in itertools.pairwise([*self.blocks, self.values.shape[-1]])]


def _scores_of(record: AttentionMap) -> Tensor | None:
    """The null word's score in the last column, as its weight."""
    if not record.scores or not record.weights:
        return None
    scores = torch.tensor(record.scores)
    return scores if record.null_score is None else F.pad(scores, (0, 1), value=record.null_score)


class FilterMaker(Protocol):
    """A model that generates filters from its texts, as the filter map and n-grams ask of it."""

    @property
    def made_from(self) -> tuple[str, ...]:
        """The sides whose texts make filters: "first", "second" or both; none with fixed filters."""

    @property
    def bank_shape(self) -> tuple[int, int, int]:
        """K filters of h words by d numbers."""

    @property
    def code_size(self) -> int:
        """l, numbers of a text's code z."""

    def project(self, vectors: Tensor) -> Tensor:
        """Word vectors ``[V, D]`` as filters read them, ``[V, d]``."""

    def encoder(self) -> Callable[[Tensor], Tensor]:
        """A copy in float64 of what makes z ``[l]`` of one text's word vectors ``[T, D]``."""

    def linear_map(self, filters: slice | int = slice(None)) -> Tensor:
        """The matrix M with filters = [z; 1] M, ``[l + 1, K'·h·d]``."""


class Knockouts(Protocol):
    """A transformer whose links and heads can be cut, as their effects ask of it. ``batch``: of one pair."""

    @property
    def layers(self) -> int:
        """Layers from which on a link can be cut."""

    def cuttable(self, reading: Reading, batch: Any) -> tuple[AttentionLinks, ...]:
        """The maps of the pair whose links can be cut."""

    def knocked_out(
        self, reading: Reading, batch: Any, number: int, cells: Sequence[tuple[int, int]], layer: int = 0
    ) -> Intervention:
        """The pair without each of some links (row and column), one link a row, of the map of this ``number`` in
        :meth:`cuttable`, from a ``layer`` (from 0) on."""

    def heads_across(self, reading: Reading, batch: Any) -> Tensor:
        """A word's mean attention to the other text, by layer and head, ``[layers, heads]``."""


class PairModel(nn.Module):
    """Base of all models. ``classifier`` reads :attr:`Output.features`, and nothing is kept on the module by a forward
    pass, so threads may share it."""

    spec: ClassVar[ModelSpec]
    judges_both: ClassVar[bool] = True
    """Whether its classifier reads both sides; a model that represents one of them needs to know which."""
    counts_crossings: ClassVar[bool] = False
    """Whether it reads q, the share of words that look across a word, so that there is a verdict without."""
    differentiable: bool = True
    """Whether its verdict has a gradient in what it reads."""
    records: ClassVar[tuple[type[Record], ...]] = ()
    """The types of record that it has evidence of; where that depends on settings, :meth:`shows` says it."""
    least_score: ClassVar[float | None] = None
    """The least score that a match can have, of a model whose override is scores; None where it is weights."""
    config: Any
    classifier: nn.Linear
    projection: nn.Linear | None
    """Maps word vectors to the model's input; None if the model uses them directly."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config

    def words(self, side: Side) -> Tensor:
        """Words as the model reads them, ``[B, T, D] -> [B, T, d]``, zero on pads."""
        return read_words(self.projection, side, self.config.embedding_dropout if self.training else 0.0)

    def dropped(self, values: Tensor) -> Tensor:
        """The values after dropout."""
        return F.dropout(values, self.config.dropout, self.training)

    @property
    def activation(self) -> str:
        """The meaning of its logits (:mod:`core.models.answers`): softmax, except for some external models."""
        return str(getattr(self.config, "activation", SOFTMAX))

    @property
    def unfitted(self) -> bool:
        """Whether its one output is a similarity without a fitted threshold."""
        return False

    def chances(self, logits: Tensor) -> Tensor:
        """Logits ``[..., C]`` as shown, float64: probabilities, or the score of one output."""
        return answers.chances(logits, self.activation)

    def supports(self, logits: Tensor) -> Tensor:
        """The quantity whose differences are effects, ``[..., C]``: log p of each class, or the score of one output."""
        return answers.supports(logits, self.activation)

    @property
    def filter_maker(self) -> FilterMaker | None:
        """The model itself, where it generates filters from its texts."""
        return None

    @property
    def knockouts(self) -> Knockouts | None:
        """The model itself, where its links can only be cut before the softmax; None where weights can be set."""
        return None

    def forward(self, batch: Batch, override: Any = None) -> Output:
        """Logits, features and trace. ``override`` (an :data:`Override`) replaces the model's attention.

        Raises ValueError for a batch that the model cannot read, and for an override of another shape or of a model
        that has no attention.
        """
        raise NotImplementedError

    @classmethod
    def shows(cls, config: Settings) -> tuple[type[Record], ...]:
        """The types of record that a model with these settings has evidence of."""
        return cls.records

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        """Records of the ``wanted`` types from the output of one pair (a batch of 1). ``overridden``: its attention was
        replaced."""
        return iter(())

    @classmethod
    def about(cls, config: Settings) -> str:
        """One sentence on what a model with these settings is: the first of its docstring."""
        return cls.spec.summary

    @classmethod
    def contexts(cls, config: Settings) -> tuple[int, ...]:
        """How many contexts (texts after the first) a model with these settings can read: one."""
        return (1,)

    @classmethod
    def reads_lines(cls, config: Settings) -> bool:
        """Whether each line of the second text is a separate context, where the first text is judged."""
        return False

    def lay_out(self, override: Override, reading: Reading) -> Override:
        """An override as records number it, as a batch of 1 for :meth:`forward` and :meth:`under`."""
        if isinstance(override, Tensor):
            return override[None]
        return tuple(None if matrix is None else matrix[None] for matrix in override)

    def links(self, reading: Reading, output: Output) -> tuple[AttentionLinks, ...]:
        """The model's attention maps in the output of one pair (a batch of 1); none without attention. They come from
        its records, unless a model overrides this."""
        lines = tuple(itertools.accumulate((len(side.tokens) for side in reading.contexts[:-1]), initial=0))
        return tuple(
            AttentionLinks(
                record.rows,
                record.columns,
                torch.tensor(record.override or record.scores),
                record.units,
                bool(record.null),
                self.least_score,
                lines if record.apart else (0,),
                record.reach,
                scores=_scores_of(record),
            )
            for record in self.evidence(reading, output, (AttentionMap,))
            if isinstance(record, AttentionMap)
        )

    def choices(self, output: Output) -> dict[str, Tensor]:
        """Arguments of :meth:`forward` that repeat the hard choices behind an output (the words within a window, the
        phrases kept), each ``[B, …]``: with them the logits are a continuous function of the word vectors.
        Empty for a model that chooses nothing."""
        return {}

    def under(self, batch: Batch, intervention: Intervention) -> Output:
        """:meth:`forward` with parts of the computation replaced; every intervention goes through here. For a batch of
        1 the attention may be a batch of overrides, and the output has as many rows.

        Raises ValueError where the model computes no such thing, and for attention of another shape.
        """
        if not intervention.crossings:
            raise ValueError(f"{self.spec.title} counts no crossing words, so there is nothing to leave out")
        several = len(batch.first.mask) == 1 and intervention.overrides > 1
        return self(batch.repeated(intervention.overrides) if several else batch, intervention.attention)

    def regulariser(self) -> Tensor | None:
        """An additional term of the loss; None if the model has none."""
        return None

    def penalty(self, output: Output) -> Tensor | None:
        """A term of the loss that goes by what a forward pass computed, None for a model without."""
        return None


@dataclass(frozen=True)
class ModelSpec:
    """A registered model."""

    name: str
    title: str
    """Display name."""
    paper: str
    section: str
    config: type[ModelConfig]
    model: type[PairModel]

    @property
    def summary(self) -> str:
        """The first sentence of the model's docstring."""
        return " ".join((self.model.__doc__ or "").strip().split("\n\n")[0].split())


REGISTRY: dict[str, ModelSpec] = {}
"""All models by the name that recipes and cards use."""
EXTERNAL: dict[str, ModelSpec] = {}
"""Architectures of external models, which no recipe trains (:mod:`core.external`), by the name on their cards."""

M = TypeVar("M", bound=PairModel)


def register(
    name: str, *, title: str, paper: str, section: str, among: dict[str, ModelSpec] = REGISTRY
) -> Callable[[type[M]], type[M]]:
    """Class decorator: register a model under ``name``, by default ``among`` the architectures of recipes. Its settings
    have the type of its constructor's ``config``."""

    def add(model: type[M]) -> type[M]:
        config = get_type_hints(model.__init__)["config"]
        model.spec = among[name] = ModelSpec(name, title, paper, section, config, model)
        return model

    return add


def build(architecture: str, config: Settings) -> PairModel:
    """A fresh model. Raises ConfigError for an unknown architecture, an unknown key or an impossible value."""
    spec = spec_of(architecture)
    try:
        return spec.model(checked(dict(config), spec.config))
    except ValueError as error:
        raise ConfigError(f"{architecture}: {error}") from error


def spec_of(architecture: str) -> ModelSpec:
    """The model registered under this name. Raises ConfigError for another."""
    spec = REGISTRY.get(architecture) or EXTERNAL.get(architecture)
    if spec is None:
        raise ConfigError(f"unknown architecture {architecture!r}{hint(str(architecture), REGISTRY)}")
    return spec


def check_sides(architecture: str, config: Settings, contexts: int, judged: str) -> None:
    """Raises ConfigError where a model with these settings does not read rows with this number of contexts, or
    represents one side while ``judged`` is "both"."""
    model = spec_of(architecture).model
    if contexts not in model.contexts(config):
        rows = ("single texts", "pairs")
        raise ConfigError(f"{model.spec.title} reads {rows[1 - contexts]}, and the roles are for {rows[contexts]}")
    if judged == BOTH and not model.judges_both:
        raise ConfigError(f"{model.spec.title} judges one side: judged must name it, not both")
