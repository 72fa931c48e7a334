"""Agreement of attention with human word alignments.

A word of the target (hypothesis) links to the source (premise) word with the largest weight in its row, if that weight
is above a threshold and above the null word's. Models tokenise differently, so links are compared between the
whitespace tokens that contain the two tokens. Punctuation is linked like words, because people aligned it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import torch
from numpy.typing import ArrayLike

from core.card import CardWordScores, LinkScores
from core.checkpoint import Checkpoint
from core.data import DataError
from core.data.alignments import AlignedPair, Link
from core.evidence import AttentionMap
from core.evidence.attention_map import SIMILARITY
from core.evidence.explanation import Record
from core.evidence.matrix import matrix
from core.evidence.similarity_shares import SimilarityShares
from core.linguistics.content_words import stop_words
from core.models.base import Output
from core.models.intervention import Intervention
from core.reading.reader import Reading, ReadText
from core.reading.tokens import Token

THRESHOLDS = tuple(k / 100 for k in range(100))
"""Thresholds tried by :func:`best_threshold`."""

Strengths = Mapping[Link, float]
"""The links of one pair (source position, target position), each with its largest attention weight."""


def whitespace_places(text: str, tokens: Sequence[Token]) -> list[list[int]]:
    """The indices of the whitespace tokens that each token overlaps."""
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    return [[k for k, (start, end) in enumerate(spans) if start < t.end and t.start < end] for t in tokens]


def strengths(
    weights: ArrayLike,
    null: Sequence[float],
    row_places: Sequence[Sequence[int]],
    column_places: Sequence[Sequence[int]],
) -> dict[Link, float]:
    """The links of one attention map, with weights ``[rows, columns]`` and null ``[rows]`` (empty: none), as (column
    position, row position) and the largest weight behind each. On ties the first weight counts.

    ``row_places``, ``column_places``: whitespace-token positions of each token (:func:`whitespace_places`).
    """
    links: dict[Link, float] = {}
    for i, row in enumerate(np.asarray(weights, dtype=np.float64)):
        best = int(row.argmax())
        if len(null) and row[best] <= null[i]:
            continue
        for link in product(column_places[best], row_places[i]):
            links[link] = max(links.get(link, 0.0), float(row[best]))
    return links


def none_of(record: AttentionMap) -> tuple[float, ...]:
    """Each row's null weight, if it means that the word is unaligned. It does not in transformers, where special tokens
    attract much of every word's attention regardless of its alignment (Clark et al. 2019, section 3.2)."""
    return () if record.own else record.null


def above(links: Strengths, threshold: float) -> set[Link]:
    """The links whose weight is above the threshold."""
    return {link for link, weight in links.items() if weight > threshold}


def identical_words(source: Sequence[Token], target: Sequence[Token]) -> list[Link]:
    """The baseline, on tokens: each target token links to the equal source token (compared by normalised form); if
    there are several, to the nearest in relative position, i / T."""
    places: dict[str, list[int]] = {}
    for i, token in enumerate(source):
        places.setdefault(token.norm, []).append(i)
    links = []
    for j, token in enumerate(target):
        # |i / T_s - j / T_t| in integers, so that rounding cannot break ties: the first of equally near ones counts.
        apart = {i: abs(i * len(target) - j * len(source)) for i in places.get(token.norm, ())}
        if apart:
            links.append((min(apart, key=apart.__getitem__), j))
    return links


def agreement(predicted: Sequence[Iterable[Link]], pairs: Sequence[AlignedPair]) -> LinkScores:
    """Micro-averaged agreement of each pair's predicted links with the human ones."""
    links = sure = right = allowed = 0
    for own, pair in zip(map(set, predicted), pairs, strict=True):
        links, sure = links + len(own), sure + len(pair.sure)
        right, allowed = right + len(own & pair.sure), allowed + len(own & (pair.sure | pair.possible))
    total = links + sure
    error = 1 - (right + allowed) / total if total else 0.0
    f1 = 2 * right / total if total else 0.0
    precision, recall = (right / count if count else 0.0 for count in (links, sure))
    return {"precision": precision, "recall": recall, "f1": f1, "aer": error, "links": links, "sure": sure}


def best_threshold(linked: Sequence[Strengths], pairs: Sequence[AlignedPair]) -> float:
    """The entry of :data:`THRESHOLDS` with the best F1 over sure links; the lowest if several tie."""
    weights = np.array([weight for links in linked for weight in links.values()])
    right = np.array(
        [link in pair.sure for links, pair in zip(linked, pairs, strict=True) for link in links], dtype=bool
    )
    sure = sum(len(pair.sure) for pair in pairs)
    scores = [2 * (right & over).sum() / max(1, over.sum() + sure) for over in (weights > t for t in THRESHOLDS)]
    return THRESHOLDS[int(np.argmax(scores))]


@dataclass(frozen=True)
class Attended:
    """A pair as read by a model: the source is its first sentence, the target its second."""

    pair: AlignedPair
    source: ReadText
    target: ReadText
    attention: AttentionMap
    """Rows are the target's tokens."""

    def links(self) -> dict[Link, float]:
        """Links from the target's words with their weights."""
        return strengths(self.attention.weights, none_of(self.attention), *self._places())

    def identical_words(self) -> set[Link]:
        """The baseline's links (:func:`identical_words`)."""
        rows, columns = self._places()
        tokens = identical_words(self.source.tokens, self.target.tokens)
        return {link for i, j in tokens for link in product(columns[i], rows[j])}

    def peaks(self) -> list[Token | None]:
        """The source token with the largest weight in each row, None if the null word's weight is larger."""
        best = [int(np.argmax(row)) for row in self.attention.weights]
        null = none_of(self.attention) or (0.0,) * len(best)
        return [
            self.source.tokens[j] if row[j] > none else None
            for j, row, none in zip(best, self.attention.weights, null, strict=True)
        ]

    def entropies(self) -> np.ndarray:
        """Entropy of each row, including the null weight, in nats, ``[T_target]``. Rows that do not add up to 1 are
        normalised first."""
        rows = np.array(self.attention.override)
        if self.attention.own or self.attention.units == SIMILARITY:
            weights = np.array(self.attention.weights)
            rows = weights / weights.sum(1, keepdims=True).clip(1e-12)
        # 0 · log 0 is 0.
        return -(rows * np.log(np.where(rows > 0, rows, 1.0))).sum(1)

    def _places(self) -> tuple[list[list[int]], list[list[int]]]:
        return tuple(whitespace_places(side.text, side.tokens) for side in (self.target, self.source))  # type: ignore[return-value]


def _map(record: Record) -> AttentionMap | None:
    """The record as a word-to-word attention map, if it is one; in a map of similarity shares each row has the word's
    positive shares, normalised to add up to 1."""
    if isinstance(record, SimilarityShares):
        shares = np.array(record.shares)[:-1, :-1].clip(0, None)
        weights = matrix(shares / shares.sum(1, keepdims=True).clip(1e-12))
        return AttentionMap(record.name, record.rows, record.columns, (), weights, units=SIMILARITY)
    return record if isinstance(record, AttentionMap) and record.units in ("words", SIMILARITY) else None


@torch.inference_mode()
def attend(
    checkpoint: Checkpoint, pairs: Iterable[AlignedPair], head: str = "", *, shares: bool = False
) -> Iterator[Attended]:
    """The attention maps between the words of each pair. ``head``: a transformer head, empty for the card's default;
    ``shares``: for a bi-encoder, use the shares of its similarity instead of cosines.

    Raises DataError for a model without attention from its second sentence to its first, or without shares.
    """
    for pair in pairs:
        reading = checkpoint.read(pair.source, pair.target)
        output = checkpoint.model.under(checkpoint.reader.batch(reading), Intervention(head=head))
        yield _attended(checkpoint, pair, reading, output, shares)


def attend_heads(
    checkpoint: Checkpoint, pairs: Iterable[AlignedPair], heads: Sequence[str]
) -> Iterator[dict[str, Attended]]:
    """The maps of several transformer heads, keyed by head ("7.4"), from one forward pass per pair.

    Raises DataError as :func:`attend` does, and HeadError for a head the model lacks.
    """
    for pair in pairs:
        reading = checkpoint.read(pair.source, pair.target)
        output = checkpoint.model.under(checkpoint.reader.batch(reading), Intervention(head=heads[0]))
        shown = {head: output._replace(trace=replace(output.trace, head=head)) for head in heads}
        yield {head: _attended(checkpoint, pair, reading, of, shares=False) for head, of in shown.items()}


def _attended(checkpoint: Checkpoint, pair: AlignedPair, reading: Reading, output: Output, shares: bool) -> Attended:
    source, target = checkpoint.roles["first"], checkpoint.roles["second"]
    records = checkpoint.model.evidence(reading, output, (SimilarityShares if shares else AttentionMap,))
    attention = next((one for one in map(_map, records) if one and (one.rows, one.columns) == (target, source)), None)
    if attention is None:
        raise DataError(
            f"{checkpoint.name} has no similarity that adds up from words: leave --shares out"
            if shares
            else f"{checkpoint.name} has no attention from the second sentence to the first: "
            "choose a model with an attention matrix, such as nli-attconv-light"
        )
    return Attended(pair, reading.first, reading.second, attention)


def fixed_threshold(attended: Sequence[Attended]) -> float:
    """The best threshold for these pairs (:func:`best_threshold`)."""
    return best_threshold([one.links() for one in attended], [one.pair for one in attended])


def word_scores(attended: Sequence[Attended], threshold: float) -> CardWordScores:
    """Agreement with human word alignments of the links above a threshold.

    ``content_on_function``: the share of the target's content words whose largest weight is on a function word
    (scikit-learn's list) or punctuation. ``entropy``: mean over the target's tokens, in nats. ``identical_words``: the
    baseline.
    """
    pairs = [one.pair for one in attended]
    content = [
        peak
        for one in attended
        for token, peak in zip(one.target.tokens, one.peaks(), strict=True)
        if not _functional(token)
    ]
    away = sum(peak is not None and _functional(peak) for peak in content)
    return {
        "threshold": threshold,
        **agreement([above(one.links(), threshold) for one in attended], pairs),
        "pairs": len(pairs),
        "content_on_function": away / len(content) if content else 0.0,
        "entropy": float(np.concatenate([one.entropies() for one in attended]).mean()),
        "identical_words": agreement([one.identical_words() for one in attended], pairs),
    }


def _functional(token: Token) -> bool:
    return not token.is_word or token.norm in stop_words()
