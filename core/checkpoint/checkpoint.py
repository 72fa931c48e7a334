"""A trained model with its card and its words, and how it reads texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from core.card import Card
from core.evidence import BOTH, Sentence
from core.linguistics import LinguisticsError
from core.models import PairModel
from core.reading.reader import PairError, Reader, Reading, ReadText, WordReader, read_text
from core.reading.tokens import MAX_TOKENS
from core.reading.word_table import WordTable, default_table

FilesState = tuple[tuple[int, ...] | None, ...]
"""Identifies the versions of files, to detect changes."""


@dataclass(frozen=True)
class Checkpoint:
    """A model ready to use (in eval mode), its card and its word table. Never changed after loading."""

    name: str
    folder: Path
    model: PairModel
    card: Card
    words: WordTable
    state: FilesState
    """Identifies the version of the files that it was read from."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Class names in the order of the logits."""
        return tuple(self.card["labels"])

    @property
    def token_limits(self) -> tuple[int, int]:
        """Tokens that the model reads of the first and of the second sentence; the rest is cut."""
        limits = self.card.get("token_limits") or {}
        first, second = (int(limits.get(self.roles[side], MAX_TOKENS)) for side in ("first", "second"))
        return first, second

    @property
    def roles(self) -> Mapping[str, str]:
        """Names of the ``first``, ``second`` and ``judged`` sentence in the words of the task. The second one has an
        empty name for a model of single texts."""
        return self.card["roles"]

    @property
    def single(self) -> bool:
        """Whether the model reads one text, not a pair."""
        return not self.roles["second"]

    @property
    def judged(self) -> str:
        """The side whose representation reaches the classifier: "first", "second" or "both"."""
        return judged_side(self.roles)

    @property
    def seconds(self) -> float:
        """Time of one pass over a pair of usual length, where it was measured; 0 for models that are always fast."""
        return 0.0

    def rows_a_call(self, characters: int) -> int:
        """Rows of ``characters`` characters each that one call may compute before it reports progress."""
        return 128

    @property
    def reader(self) -> Reader:
        """Splits texts for this model and has vectors for their tokens."""
        return WordReader(self.words)

    def unknown(self, side: Sentence) -> list[bool]:
        """For each word of a sentence, whether it is out of vocabulary."""
        return [token.unknown for token in side.tokens]

    def read(self, first: str, second: str = "", extra: Sequence[float] | None = None) -> Reading:
        """A pair (of a model of single texts ``first`` alone) as the model reads it, cut at its token limits.

        ``extra``: its linguistic features where they are known already. Raises PairError when they cannot be computed.
        """
        texts = (first,) if self.single else (first, second)
        sides = [
            read_text(self.reader, text, self.roles[name], limit)
            for text, name, limit in zip(texts, ("first", "second"), self.token_limits, strict=False)
        ]
        return self.reading(sides, extra)

    def reading(self, sides: Sequence[ReadText], extra: Sequence[float] | None = None) -> Reading:
        """Texts that are split into tokens already, in the data set's order, as the model reads them; otherwise as
        :meth:`read`."""
        kind = self.model.config.linguistic
        if kind != "none" and extra is None:
            from core.linguistics.features import extra_features

            try:
                extra = extra_features(kind, sides[0].tokens, sides[1].tokens, default_table())
            except LinguisticsError as error:
                raise PairError(str(error)) from error
        contexts: Sequence[ReadText] = sides[1:]
        if contexts and self.judged == "first" and self.model.reads_lines(self.card["config"]):
            contexts = contexts[0].lines()
        return Reading(sides[0], tuple(contexts), self.judged, None if extra is None else tuple(extra))


def judged_side(roles: Mapping[str, str]) -> str:
    """The side that ``roles`` name as judged: "first", "second" or "both"."""
    judged = roles["judged"]
    return BOTH if judged == BOTH else "first" if judged == roles["first"] else "second"


def check_finite(checkpoint: Checkpoint, logits: Tensor) -> None:
    """Raises PairError where one of the logits is not finite: no class can be told from them."""
    if not logits.isfinite().all():
        raise PairError(
            f"{checkpoint.name} answers with numbers that are not finite: train it again, or choose another model"
        )
