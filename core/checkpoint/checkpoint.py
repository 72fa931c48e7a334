"""A trained model with its card and word table, and how it reads texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from torch import Tensor

from core.card import Card
from core.evidence import BOTH, Sentence
from core.linguistics import LinguisticsError
from core.models import PairModel
from core.reading.reader import PairError, Reader, Reading, ReadText, WordReader, read_text
from core.reading.tokens import MAX_TOKENS
from core.reading.word_table import WordTable, default_table

FilesState = tuple[tuple[int, ...] | None, ...]
"""Identifies a version of the files, to detect changes."""


@dataclass(frozen=True)
class Checkpoint:
    """A model ready to use (in eval mode), its card and its word table. Never changed after loading."""

    of_vectors: ClassVar[bool] = True
    """Whether its model reads word vectors, which can be nudged; an external model reads pieces of words."""
    settable: ClassVar[bool] = True
    """Whether other attention weights can be set in it; an external model's can only be cut, if at all."""
    name: str
    folder: Path
    model: PairModel
    card: Card
    words: WordTable
    state: FilesState
    """The version of the files it was read from."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Class names in the order of the logits."""
        return tuple(self.card["labels"])

    @property
    def token_limits(self) -> tuple[int, int]:
        """Maximum tokens the model reads of the first and of the second sentence; the rest is truncated."""
        limits = self.card.get("token_limits") or {}
        first, second = (int(limits.get(self.roles[side], MAX_TOKENS)) for side in ("first", "second"))
        return first, second

    @property
    def roles(self) -> Mapping[str, str]:
        """Names of the ``first``, ``second`` and ``judged`` sentence in the task's terms. The second name is empty for
        a model of single texts."""
        return self.card["roles"]

    @property
    def single(self) -> bool:
        """Whether the model reads single texts, not pairs."""
        return not self.roles["second"]

    @property
    def judged(self) -> str:
        """The side whose representation reaches the classifier: "first", "second" or "both"."""
        return judged_side(self.roles)

    @property
    def seconds(self) -> float:
        """Measured time of one forward pass over a pair of typical length; 0 for models that are always fast."""
        return 0.0

    def rows_a_call(self, characters: int) -> int:
        """Number of rows of ``characters`` characters each that one call may compute before it reports progress."""
        return 128

    @property
    def reader(self) -> Reader:
        """Tokenises texts for this model and provides the token vectors."""
        return WordReader(self.words)

    def unknown(self, side: Sentence) -> list[bool]:
        """For each word of a sentence, whether it is out of vocabulary."""
        return [token.unknown for token in side.tokens]

    def read(self, first: str, second: str = "", extra: Sequence[float] | None = None) -> Reading:
        """A pair (``first`` alone for a model of single texts) as the model reads it, truncated at its token limits.

        ``extra``: its linguistic features, if already computed. Raises PairError when they cannot be computed.
        """
        texts = (first,) if self.single else (first, second)
        sides = [
            read_text(self.reader, text, self.roles[name], limit)
            for text, name, limit in zip(texts, ("first", "second"), self.token_limits, strict=False)
        ]
        return self.reading(sides, extra)

    def reading(self, sides: Sequence[ReadText], extra: Sequence[float] | None = None) -> Reading:
        """Like :meth:`read`, for texts that are already tokenised, in the data set's order."""
        kind = self.model.config.linguistic
        if kind != "none" and extra is None:
            from core.linguistics.features import extra_features

            try:
                extra = extra_features(kind, sides[0].tokens, sides[1].tokens, default_table())
            except LinguisticsError as error:
                raise PairError(str(error)) from error
        contexts: Sequence[ReadText] = sides[1:]
        if contexts and self.judged == "first" and self.model.reads(self.card["config"]).lines:
            contexts = contexts[0].lines()
        return Reading(sides[0], tuple(contexts), self.judged, None if extra is None else tuple(extra))


@runtime_checkable
class MakesBatches(Protocol):
    """The interface of a checkpoint whose model reads texts in its own form, not word ids."""

    def batches(
        self, readings: Sequence[Reading], most: int = 256, short: bool = False
    ) -> Iterator[tuple[Tensor, Any]]:
        """The readings as model inputs, in batches of at most ``most`` rows, each with its row indices; ``short``: none
        takes long."""


def judged_side(roles: Mapping[str, str]) -> str:
    """The side named as judged in ``roles``: "first", "second" or "both"."""
    judged = roles["judged"]
    return BOTH if judged == BOTH else "first" if judged == roles["first"] else "second"


def check_finite(checkpoint: Checkpoint, logits: Tensor) -> None:
    """Raises PairError if any logit is NaN or infinite, since no class can be chosen."""
    if not logits.isfinite().all():
        raise PairError(f"{checkpoint.name} returned NaN or infinite logits: train it again, or choose another model")
