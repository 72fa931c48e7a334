"""The one contract between models and screens: a model's output for one pair, as frozen, JSON-serialisable records.

:func:`core.explain.explain` builds an :class:`Explanation`; the page, the command line and notebooks render its records
and know nothing about the models.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TypeVar

from core.evidence.codec import from_dict, to_dict
from core.evidence.reason import Reason
from core.evidence.record import LATER, Record, Sentence
from core.json_types import JsonObject
from core.wording import class_names, shown

SCHEMA_VERSION = 2
"""Increased whenever a record's meaning changes; :meth:`Explanation.from_dict` rejects other versions."""

BOTH = "both"
"""Value of ``judged`` for models whose classifier reads both sides."""

R = TypeVar("R", bound=Record)


LABELS, SCORE, UNFITTED = "labels", "score", "no threshold fitted"
"""Kinds of answer other than a choice among classes: independent labels, a single score, or a similarity without a
fitted threshold."""


def shares_text(labels: Sequence[str], probabilities: Sequence[float]) -> str:
    """Classes with their probabilities on one line; for a model with one output, its score."""
    return "  ".join(f"{label} {shown(p, len(labels))}" for label, p in zip(labels, probabilities, strict=True))


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
        for side in (self.first, *self.contexts):
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
        sides = "".join(f"<p>{escape(side.role)}: {escape(side.text)}</p>" for side in (self.first, *self.contexts))
        verdict = f"<b>{escape(self._named().capitalize())}</b> ({shares})" if not self.answer else escape(self.said)
        why = self.reason._repr_html_() if self.reason else ""
        head = f"<p>{verdict}, by {escape(self.title)}</p>{why}{sides}"
        warnings = "".join(f"<p>{escape(warning)}</p>" for warning in self.warnings)
        return head + warnings + "".join(record.to_html(self) for record in self.evidence)
