"""Explanations with records that no shipped model returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import app.panels
from core.evidence import Explanation, PooledAttention, Record, Sentence, TokenRecord


@dataclass(frozen=True)
class WordLength(Record, kind="word_length"):
    """A record whose panel is a folder of the tests."""

    name: str
    letters: tuple[int, ...]


@dataclass(frozen=True)
class Faulty(Record, kind="faulty"):
    """A record whose panel fails at a chosen stage (tests/app/more_panels/faulty)."""

    name: str
    at: str


@dataclass(frozen=True)
class Unseen(Record, kind="unseen"):
    """A record without a panel."""

    name: str = "unseen"


def sentence(role: str, text: str) -> Sentence:
    """The text's words; characters have no places."""
    return Sentence(role, text, tuple(TokenRecord(word, 0, 0, False) for word in text.split()))


def pair(*evidence: Record, judged: str = "answer", **changed: object) -> Explanation:
    """A question and an answer with these records."""
    first, second = sentence("question", "who made the film"), sentence("answer", "Ann made it")
    explanation = Explanation("made-up", "Made up", first, (second,), judged, ("0", "1"), (0.0, 1.0), (0.25, 0.75), ())
    return replace(explanation, evidence=evidence, **changed)  # type: ignore[arg-type]


POOLED = (
    PooledAttention("attentive pooling", "question", (0.1, 0.6, 0.1, 0.2)),
    PooledAttention("attentive pooling", "answer", (0.7, 0.2, 0.1)),
)


def with_more_panels() -> None:
    """Let the app find the panels of the tests, too."""
    folder = str(Path(__file__).parent / "more_panels")
    if folder not in app.panels.__path__:
        app.panels.__path__.append(folder)
