"""The one contract between models and screens: a model's output for one pair, as frozen, JSON-serialisable records.

:func:`core.explain.explain` builds an :class:`Explanation`; the page, the command line and notebooks render its records
and know nothing about the models. Each other module of this package defines a kind of record.
"""

from __future__ import annotations

import functools
import importlib
import json
import pkgutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from core.evidence.as_json import LATER, any_of, from_dict, to_dict
from core.evidence.reason import Reason
from core.json_types import JsonObject
from core.reading.sentence import Sentence
from core.wording import class_names, shown

if TYPE_CHECKING:
    from core.reading.reader import ReadText

SCHEMA_VERSION = 2
"""Increased whenever a record's meaning changes; :meth:`Explanation.from_dict` rejects other versions."""

BOTH = "both"
"""Value of ``judged`` for models whose classifier reads both sides."""

LABELS, SCORE, UNFITTED = "labels", "score", "no threshold fitted"
"""Kinds of answer other than a choice among classes: independent labels, a single score, or a similarity without a
fitted threshold."""


def shares_text(labels: Sequence[str], probabilities: Sequence[float]) -> str:
    """Classes with their probabilities on one line; for a model with one output, its score."""
    return "  ".join(f"{label} {shown(p, len(labels))}" for label, p in zip(labels, probabilities, strict=True))


R = TypeVar("R", bound="Record")

_KINDS: dict[str, type[Record]] = {}


class Record:
    """Base of all records: frozen dataclasses declared as ``class MyRecord(Record, kind="my_record")``, with the text,
    CSV and HTML forms of their numbers. JSON follows the types of their fields."""

    kind: ClassVar[str]
    of_every_model: ClassVar[bool] = False
    """Whether any model's explanations may have it: if it has its own :meth:`of_texts` or :meth:`of_explanation`."""
    name: str
    """Display name, in the model's terms."""

    def __init_subclass__(cls, kind: str) -> None:
        cls.kind = kind
        cls.of_every_model = cls.of_every_model or not {"of_texts", "of_explanation"}.isdisjoint(vars(cls))
        _KINDS[kind] = cls

    @classmethod
    def of_texts(cls, texts: Sequence[ReadText]) -> Iterable[Self]:
        """The records of this kind that follow from the texts alone, whatever the model: none, unless overridden.
        ``texts``: in the data set's order, two for a pair."""
        return ()

    @classmethod
    def of_explanation(cls, explanation: Explanation) -> Iterable[Self]:
        """The records of this kind that follow from a verdict and the model's own records (those that are wanted),
        whatever the model: none, unless overridden."""
        return ()

    def to_text(self, explanation: Explanation) -> list[str]:
        """Lines for a terminal; empty if the record can only be shown as a figure."""
        return []

    def to_html(self, explanation: Explanation) -> str:
        """Static HTML for a notebook or report with all input text escaped; by default the terminal lines."""
        lines = "\n".join(self.to_text(explanation)).strip()
        return f"<pre>{escape(lines)}</pre>" if lines else ""

    @property
    def title(self) -> str:
        """A title that tells the record apart from others in its explanation."""
        return self.name

    @property
    def tabular(self) -> bool:
        """Whether the record can be exported as a table."""
        return type(self).to_csv is not Record.to_csv

    def to_csv(self, explanation: Explanation) -> str:
        """The numbers as CSV; empty unless the record is :attr:`tabular`."""
        return ""


def record_kinds() -> Mapping[str, type[Record]]:
    """All kinds of records by name. Their modules are imported here, at the first use, so that a record may import any
    other module of the project."""
    _import_kinds()
    return _KINDS


@functools.cache
def _import_kinds() -> None:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"{__package__}.{module.name}")


def kinds_of_every_model() -> tuple[type[Record], ...]:
    """The kinds of records that any model's explanations may have."""
    return tuple(kind for kind in record_kinds().values() if kind.of_every_model)


def records_of_every_model(
    texts: Sequence[ReadText], explanation: Explanation, wanted: Collection[type[Record]] | None = None
) -> Iterator[Record]:
    """The records of the ``wanted`` kinds (None for all) that follow from the texts, and from the ``explanation`` with
    the model's own."""
    for kind in kinds_of_every_model():
        if wanted is None or kind in wanted:
            yield from kind.of_texts(texts)
            yield from kind.of_explanation(explanation)


@dataclass(frozen=True)
class Explanation:
    """A model's complete output for one pair; the page, the command line and notebooks show the same numbers."""

    model: str
    title: str
    """The model's display name."""
    first: Sentence
    contexts: tuple[Sentence, ...]
    """The other sentences in the data set's order: one for a pair, none for a single text."""
    judged: str
    """Role of the sentence whose representation reaches the classifier, or "both"."""
    labels: tuple[str, ...]
    logits: tuple[float, ...]
    probabilities: tuple[float, ...]
    evidence: tuple[Record, ...]
    warnings: tuple[str, ...] = ()
    """One sentence for each way the input differs from the training data, or if it was truncated."""
    milliseconds: float = 0.0
    """Time to run the model and build this record."""
    answer: str = field(default="", metadata=LATER)
    """Empty if the answer is one of the classes; else LABELS, SCORE or UNFITTED. In those cases ``probabilities`` holds
    one value per label, or just the score or similarity."""
    reason: Reason | None = field(default=None, metadata=LATER)
    """Why the model gives this verdict; None if not requested."""
    schema_version: int = field(default=SCHEMA_VERSION)

    @property
    def second(self) -> Sentence:
        """The second sentence of a pair; for a single text, an empty one without a role."""
        return self.contexts[0] if self.contexts else Sentence("", "", ())

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """All its sentences, in the data set's order."""
        return self.first, *self.contexts

    @property
    def verdict(self) -> str:
        """The most probable class."""
        return self.labels[max(range(len(self.labels)), key=self.probabilities.__getitem__)]

    @property
    def class_names(self) -> tuple[str, ...]:
        """The labels as displayed; if both sides are judged, named after the second one's role."""
        sides = (self.first.role, self.second.role)
        return class_names(self.labels, self.judged if self.judged in sides else sides[1])

    @property
    def unit(self) -> str:
        """The unit of effects on the verdict."""
        return "score" if len(self.labels) == 1 else "log p"

    @property
    def said(self) -> str:
        """The verdict in words, with its numbers."""
        shares = shares_text(self.class_names, self.probabilities)
        if self.answer == LABELS:
            return f"{shares}   (each label may hold)"
        if len(self.labels) == 1:
            return f"{shares}{f'; {UNFITTED}' if self.answer == UNFITTED else ''}"
        return f"{self._named()}   ({shares})"

    def _named(self) -> str:
        """The verdict as displayed."""
        return self.class_names[self.labels.index(self.verdict)]

    def sentence(self, role: str) -> Sentence:
        """The sentence with this role. Raises KeyError if there is none."""
        for side in self.sentences:
            if side.role == role:
                return side
        raise KeyError(role)

    def find(self, kind: type[R]) -> R | None:
        """The first record of this type, or None if the model returned none."""
        return next((record for record in self.evidence if isinstance(record, kind)), None)

    def to_dict(self) -> JsonObject:
        """Plain dicts, lists, strings and numbers; each evidence record carries its ``kind``."""
        return to_dict(self)

    def to_json(self, indent: int | None = None) -> str:
        """JSON text of :meth:`to_dict`."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    @classmethod
    def from_dict(cls, data: object) -> Explanation:
        """The inverse of :meth:`to_dict`. Raises ValueError for another schema version, shape or kind of record."""
        version = data.get("schema_version") if isinstance(data, dict) else None
        if version != SCHEMA_VERSION:
            raise ValueError(
                f"this explanation has schema version {version!r}, this program reads version {SCHEMA_VERSION}"
            )
        return from_dict(data, cls)

    def to_text(self) -> str:
        """The explanation as terminal text: the verdict, then every record that has a text form."""
        why = [*filter(None, (self.reason.sentence, self.reason.known))] if self.reason else []
        head = [f"{self.said}   {self.title}, {self.milliseconds:.0f} ms", *why, *self.warnings]
        return "\n".join(head + [line for record in self.evidence for line in record.to_text(self)])

    def _repr_html_(self) -> str:
        """A fragment of static HTML for a notebook or report, without scripts or style sheets."""
        shares = escape(shares_text(self.class_names, self.probabilities).replace("  ", ", "))
        sides = "".join(f"<p>{escape(side.role)}: {escape(side.text)}</p>" for side in self.sentences)
        verdict = f"<b>{escape(self._named().capitalize())}</b> ({shares})" if not self.answer else escape(self.said)
        why = self.reason._repr_html_() if self.reason else ""
        head = f"<p>{verdict}, by {escape(self.title)}</p>{why}{sides}"
        warnings = "".join(f"<p>{escape(warning)}</p>" for warning in self.warnings)
        return head + warnings + "".join(record.to_html(self) for record in self.evidence)


any_of(Record, record_kinds)
