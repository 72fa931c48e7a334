"""The interface of all sentence-pair models: settings, a forward pass with a trace, and the evidence derived from it.

    @register("my-model", title="My model", paper="…", section="3")
    class MyModel(PairModel):
        def __init__(self, config: MyConfig) -> None: ...

A model needs only one module in this package that registers it: lists of models, titles, pages and the conformance
test read :data:`REGISTRY`.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeVar, get_type_hints, runtime_checkable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.errors import UserError
from core.evidence import BOTH, AttentionMap, Record
from core.json_types import checked
from core.json_types import setting as setting
from core.layers.attention import Override
from core.layers.projection import read_words
from core.models.answers import SOFTMAX, ModelAnswers
from core.models.intervention import AttentionLinks, Intervention
from core.models.routes import Patching, Route
from core.reading.batch import Batch, Side
from core.reading.reader import Reading
from core.wording import hint

Evidence = Iterator[Record]
"""Records in page order."""
Wanted = Collection[type[Record]]
"""The requested types of record."""


Settings = Mapping[str, Any]
"""A model's settings as plain values, as on a card or in a recipe; missing ones have their defaults."""


class ConfigError(UserError):
    """The architecture or setting does not exist, or the value is not allowed."""


@dataclass(frozen=True)
class ModelConfig:
    """A model's settings, validated when built from plain values (:func:`build`)."""

    input_size: int = setting(least=1)
    """D, the dimension of word vectors."""
    classes: int = setting(3, least=1)

    @property
    def linguistic(self) -> str:
        """The set of linguistic features that the model also reads, or "none"
        (:data:`core.linguistics.features.FEATURES`): its setting ``extra``, if it has one."""
        return str(getattr(self, "extra", "none"))

    @classmethod
    def about(cls, settings: Settings) -> str:
        """One sentence describing a model with these settings; empty for the first one of its docstring."""
        return ""

    def unprojected(self) -> ModelConfig | None:
        """Settings of the same model for word vectors that are already projected; None if its projection cannot be left
        out."""
        return None


@dataclass(frozen=True)
class CentredConfig(ModelConfig):
    """``width``: window size of a filter in words, with as many before the central word as after it."""

    width: int = setting(3, least=1)

    def __post_init__(self) -> None:
        if self.width % 2 == 0:
            raise ValueError(f"width must be odd to have a central word, got {self.width}")


@dataclass(frozen=True)
class ProjectedConfig(ModelConfig):
    """``projection``: d, the width of a learned map of the word vectors; 0 for none (then d is ``input_size``)."""

    projection: int = setting(0, least=0)

    @property
    def words(self) -> int:
        """d, the width of a word inside the model."""
        return self.projection or self.input_size

    def unprojected(self) -> Self | None:
        return replace(self, projection=0, input_size=self.projection) if self.projection else None


class Output(NamedTuple):
    """The result of a forward pass."""

    logits: Tensor
    """[B, C]"""
    features: Tensor
    """[B, F], the classifier's input before dropout."""
    trace: Any
    """The intermediate values of the forward pass, in the model family's own type."""


class Reads(NamedTuple):
    """The input of a model with some settings."""

    contexts: tuple[int, ...] = (1,)
    """The possible numbers of contexts (texts after the first)."""
    lines: bool = False
    """Whether each line of the second text is a separate context when the first text is judged."""
    both: bool = True
    """Whether the classifier can read both sides; a model that represents only one must know which."""
    crossings: bool = False
    """Whether it reads q, the share of words whose attention crosses a word's, and so also has a verdict without q."""


class FilterMaker(Protocol):
    """The interface that the filter map and n-grams require of a model that generates filters from its texts."""

    @property
    def made_from(self) -> tuple[str, ...]:
        """The sides whose texts generate filters: "first", "second" or both; empty for fixed filters."""

    @property
    def bank_shape(self) -> tuple[int, int, int]:
        """K filters over h words of d dimensions."""

    @property
    def code_size(self) -> int:
        """l, the size of a text's code z."""

    def project(self, vectors: Tensor) -> Tensor:
        """Word vectors ``[V, D]`` projected to the filters' input space, ``[V, d]``."""

    def encoder(self) -> Callable[[Tensor], Tensor]:
        """A float64 copy of the encoder from one text's word vectors ``[T, D]`` to z ``[l]``."""

    def linear_map(self, filters: slice | int = slice(None)) -> Tensor:
        """The matrix M with filters = [z; 1] M, ``[l + 1, K'·h·d]``."""


class Knockouts(Protocol):
    """The interface that link effects require of a transformer whose links and heads can be ablated. ``batch``: a
    single pair."""

    def cuttable(self, reading: Reading, batch: Any) -> tuple[AttentionLinks, ...]:
        """The pair's attention maps whose links can be ablated."""

    def knocked_out(self, reading: Reading, batch: Any, number: int, cells: Sequence[tuple[int, int]]) -> Intervention:
        """The pair once per link (row and column), without that link: links of map ``number`` in :meth:`cuttable`."""

    def heads_across(self, reading: Reading, batch: Any) -> Tensor:
        """The mean attention of a word to the other text by layer and head, ``[layers, heads]``."""


@runtime_checkable
class Regularised(Protocol):
    """The interface that a recipe's ``diversity`` requires of a model."""

    def regulariser(self) -> Tensor:
        """An additional term of the loss."""


def _scores_of(record: AttentionMap) -> Tensor | None:
    """Raw scores with the null word's score in the last column, as in the weights."""
    if not record.scores or not record.weights:
        return None
    scores = torch.tensor(record.scores)
    return scores if record.null_score is None else F.pad(scores, (0, 1), value=record.null_score)


class PairModel(nn.Module):
    """Base of all models. ``classifier`` reads :attr:`Output.features`; a forward pass stores nothing on the module, so
    threads may share it."""

    spec: ClassVar[ModelSpec]
    differentiable: bool = True
    """Whether its verdict is differentiable in its input."""
    records: ClassVar[tuple[type[Record], ...]] = ()
    """The types of its evidence records; :meth:`shows` overrides this if they depend on settings."""
    least_score: ClassVar[float | None] = None
    """The lowest possible match score of a model whose overrides are scores; None if they are weights."""
    config: Any
    classifier: nn.Linear

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config

    @property
    def answers(self) -> ModelAnswers:
        """The meaning of its logits: a softmax, except in some external models."""
        return ModelAnswers(str(getattr(self.config, "activation", SOFTMAX)))

    @property
    def output_layer(self) -> nn.Linear | None:
        """The layer that gives the logits; None for an external model without one."""
        return self.classifier

    def with_output_layer(self, layer: nn.Linear | nn.Identity) -> PairModel:
        """A copy with another output layer, for as many classes as it has outputs; all other tensors are shared. With
        ``nn.Identity`` the logits are the vector that the layer reads. Raises UserError for a model without layers."""
        return exchanged(self, "classifier", layer)

    @property
    def filter_maker(self) -> FilterMaker | None:
        """The model itself if it generates filters from its texts, else None."""
        return None

    @property
    def knockouts(self) -> Knockouts | None:
        """The model itself if its links can only be ablated before the softmax; None if weights can be set."""
        return None

    def forward(self, batch: Batch, override: Any = None) -> Output:
        """Logits, features and trace. ``override`` (an :data:`Override`) replaces the model's attention.

        Raises ValueError for a batch the model cannot read, and for an override of another shape or for a model without
        attention.
        """
        raise NotImplementedError

    @classmethod
    def shows(cls, config: Settings) -> tuple[type[Record], ...]:
        """The types of evidence records for a model with these settings."""
        return cls.records

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        """Records of the ``wanted`` types for the output of one pair (a batch of 1). ``overridden``: its attention was
        replaced."""
        return iter(())

    @classmethod
    def reads(cls, config: Settings) -> Reads:
        """The input of a model with these settings."""
        return Reads()

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        """The routes of a model with these settings, at most four, each of which :meth:`forward` passes through its
        argument ``patching``; empty if there are none to tell apart."""
        return ()

    def lay_out(self, override: Override, reading: Reading) -> Override:
        """Converts an override indexed like the records to a batch of 1 for :meth:`forward` and :meth:`under`."""
        if isinstance(override, Tensor):
            return override[None]
        return tuple(None if matrix is None else matrix[None] for matrix in override)

    def links(self, reading: Reading, output: Output) -> tuple[AttentionLinks, ...]:
        """The model's attention maps for the output of one pair (a batch of 1); empty without attention. They are built
        from its records, unless a model overrides this."""
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
        phrases kept), each ``[B, …]``: with them fixed, the logits are a continuous function of the word vectors. Empty
        for a model without hard choices."""
        return {}

    def under(self, batch: Batch, intervention: Intervention) -> Output:
        """:meth:`forward` with parts of the computation replaced; all interventions go through this method. For a batch
        of 1 the attention may be a batch of overrides; the output then has one row per override. With routes to patch,
        the batch has M pairs in the one version and then in the other, and the output M rows per row of the patching.

        Raises ValueError if the model does not compute the replaced part, and for attention of another shape.
        """
        if intervention.patching is not None:
            return self._patched(batch, intervention.patching)
        if not intervention.crossings:
            raise ValueError(f"{self.spec.title} counts no crossing words, so there is nothing to leave out")
        several = len(batch.first.mask) == 1 and intervention.overrides > 1
        return self(batch.repeated(intervention.overrides) if several else batch, intervention.attention)

    def _patched(self, batch: Batch, patching: Patching) -> Output:
        if not patching.takes:
            raise ValueError(f"{self.spec.title} has no routes to tell apart")
        rows, pairs = len(next(iter(patching.takes.values()))), len(batch.first.mask) // 2
        ones = [*range(pairs)]
        several = batch.rows([*ones * (rows + 1), *range(pairs, 2 * pairs)])
        output: Output = self(several, patching=replace(patching, pairs=pairs))
        return output._replace(logits=output.logits[: rows * pairs], features=output.features[: rows * pairs])


def exchanged(model: PairModel, name: str, layer: nn.Linear | nn.Identity, **settings: object) -> PairModel:
    """A copy of a model with another submodule under this dotted ``name``, for as many classes as it has outputs, and
    with these settings; all other tensors are shared."""
    twin = _with_submodule(model, name.split("."), layer)
    if isinstance(layer, nn.Linear):
        twin.config = replace(model.config, classes=layer.out_features, **settings)
    return twin


Module = TypeVar("Module", bound=nn.Module)


def _with_submodule(module: Module, path: Sequence[str], part: nn.Module) -> Module:
    twin = copy.copy(module)
    inner = module._modules.get(path[0])
    twin.__dict__.pop(path[0], None)  # None if the original has no such part
    # The copy's dictionary of submodules is the original's, which other threads may be using.
    new = part if len(path) == 1 or inner is None else _with_submodule(inner, path[1:], part)
    object.__setattr__(twin, "_modules", {**module._modules, path[0]: new})
    return twin


class WordModel(PairModel):
    """Base of the models that project word vectors first."""

    projection: nn.Linear | None
    """None if the model uses the vectors directly."""

    def words(self, side: Side) -> Tensor:
        """Words projected to the model's width, ``[B, T, D] -> [B, T, d]``, zero on padding."""
        return read_words(self.projection, side, self.config.embedding_dropout if self.training else 0.0)

    def dropped(self, values: Tensor) -> Tensor:
        """The values after dropout."""
        return F.dropout(values, self.config.dropout, self.training)


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

    def about(self, settings: Settings) -> str:
        """One sentence describing a model with these settings."""
        return self.config.about(settings) or self.summary


REGISTRY: dict[str, ModelSpec] = {}
"""All models by the name used in recipes and cards."""
EXTERNAL: dict[str, ModelSpec] = {}
"""Architectures of external models, which recipes cannot train (:mod:`core.external`), by the name on their cards."""

M = TypeVar("M", bound=PairModel)


def register(
    name: str, *, title: str, paper: str, section: str, among: dict[str, ModelSpec] = REGISTRY
) -> Callable[[type[M]], type[M]]:
    """Class decorator: registers a model under ``name``, by default ``among`` the architectures for recipes. Its
    settings have the type of its constructor's ``config``."""

    def add(model: type[M]) -> type[M]:
        config = get_type_hints(model.__init__)["config"]
        model.spec = among[name] = ModelSpec(name, title, paper, section, config, model)
        return model

    return add


def build(architecture: str, config: Settings) -> PairModel:
    """A newly initialised model. Raises ConfigError for an unknown architecture or key, or an invalid value."""
    spec = spec_of(architecture)
    try:
        return spec.model(checked(dict(config), spec.config))
    except ValueError as error:
        raise ConfigError(f"{architecture}: {error}") from error


def spec_of(architecture: str) -> ModelSpec:
    """The model registered under this name. Raises ConfigError if there is none."""
    spec = REGISTRY.get(architecture) or EXTERNAL.get(architecture)
    if spec is None:
        raise ConfigError(f"unknown architecture {architecture!r}{hint(str(architecture), REGISTRY)}")
    return spec


def check_sides(architecture: str, config: Settings, contexts: int, judged: str) -> None:
    """Raises ConfigError if a model with these settings cannot read rows with this number of contexts, or represents
    one side while ``judged`` is "both"."""
    model = spec_of(architecture).model
    reads = model.reads(config)
    if contexts not in reads.contexts:
        rows = ("single texts", "pairs")
        raise ConfigError(f"{model.spec.title} reads {rows[1 - contexts]}, and the roles are for {rows[contexts]}")
    if judged == BOTH and not reads.both:
        raise ConfigError(f"{model.spec.title} judges one side: judged must name it, not both")
