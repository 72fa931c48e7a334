"""Why this verdict, in one or two sentences that forward passes have confirmed.

The largest effect is not what people name: they name the difference between the two sentences. So candidate changes
are tried in a fixed order (:data:`KINDS`), and the first that flips the verdict is stated.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from core.checkpoint import Checkpoint
from core.effects.edits import DROP, INSERT, REPLACE, SWAP, Edit, EditError, edited
from core.evaluation.predict import predict
from core.evidence import AttentionMap, Explanation
from core.linguistics.content_words import stop_words
from core.reading.tokens import Token

ORDER, STRETCH, EXCHANGE, ALONE, TOGETHER, SHARED = "order", "stretch", "exchange", "alone", "together", "shared"
KINDS = {
    ORDER: (1, "same words in another order: the hypothesis in the premise's order"),
    STRETCH: (4, "one differing stretch of at most two words: the premise's stretch instead"),
    EXCHANGE: (10, "a hypothesis word and the different premise word that it attends to most: exchanged"),
    ALONE: (10, "a word that only one sentence has: left out"),
    TOGETHER: (6, "two of these together"),
    SHARED: (8, "a word of both sentences: left out of one"),
}
"""Kinds of candidate changes in the order in which they are tried, each with the most candidates of it (forward passes)
and its description. Together at most 40 passes with the pair's own."""
LONGEST_STRETCH = 2
"""Words of a differing stretch: a longer one says little about which word decides."""
DETERMINERS = frozenset("a an the this that these those my your his her its our their some".split())
"""Words that may differ between two sentences with the same words in another order."""


@dataclass(frozen=True)
class Candidate:
    """One change that may flip the verdict."""

    kind: str
    edits: tuple[Edit, ...]
    named: tuple[tuple[int, int], ...]
    """The words that the sentence names: side and token index."""


@dataclass(frozen=True)
class Tried:
    """A candidate and the model's probabilities after it."""

    candidate: Candidate
    probabilities: tuple[float, ...]


def _content(tokens: Sequence[Token]) -> list[int]:
    return [i for i, token in enumerate(tokens) if token.is_word and token.norm not in DETERMINERS]


def order_candidates(premise: Sequence[Token], hypothesis: Sequence[Token]) -> Iterator[Candidate]:
    """The hypothesis's words in the premise's order, where both have the same words but for determiners."""
    before, after = _content(premise), _content(hypothesis)
    wanted, words = [premise[i].norm for i in before], [hypothesis[i].norm for i in after]
    if wanted == words or sorted(wanted) != sorted(words):
        return
    edits, moved = [], []
    for place, norm in enumerate(wanted):
        if words[place] != norm:
            source = words.index(norm, place + 1)
            edits.append(Edit(SWAP, 1, after[place], other=after[source]))
            words[place], words[source] = words[source], words[place]
            moved += [(1, after[place]), (1, after[source])]
    yield Candidate(ORDER, tuple(edits), tuple(dict.fromkeys(moved)))


def stretch_candidates(premise: Sequence[Token], hypothesis: Sequence[Token]) -> Iterator[Candidate]:
    """The premise's stretch in the hypothesis's place, where the two differ in one stretch of words."""
    first = [i for i, token in enumerate(premise) if token.is_word]
    second = [i for i, token in enumerate(hypothesis) if token.is_word]
    matcher = difflib.SequenceMatcher(
        a=[premise[i].norm for i in first], b=[hypothesis[i].norm for i in second], autojunk=False
    )
    differing = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if len(differing) != 1:
        return
    ((_, i, j, k, m),) = differing
    if max(j - i, m - k) > LONGEST_STRETCH:
        return
    theirs, ours = [premise[n].text for n in first[i:j]], second[k:m]
    edits = [Edit(REPLACE, 1, index, word.lower()) for index, word in zip(ours, theirs)]
    extra = [Edit(DROP, 1, index) for index in ours[len(theirs) :]]
    at = ours[-1] + 1 if ours else (second[k] if k < len(second) else len(hypothesis))
    missing = [Edit(INSERT, 1, at, word.lower()) for word in reversed(theirs[len(ours) :])]
    named = tuple((1, n) for n in ours) or tuple((0, n) for n in first[i:j])
    yield Candidate(STRETCH, (*edits, *reversed(extra), *missing), named)


def only(tokens: Sequence[Token], other: Sequence[Token]) -> list[int]:
    """Words of a sentence that the other lacks, determiners left out."""
    known = {token.norm for token in other}
    return [i for i in _content(tokens) if tokens[i].norm not in known]


def exchange_candidates(
    premise: Sequence[Token], hypothesis: Sequence[Token], nearest: Callable[[int, Sequence[int]], int | None]
) -> Iterator[Candidate]:
    """Each word that only the hypothesis has, replaced by the premise word that it attends to most among those that the
    hypothesis lacks."""
    others = only(premise, hypothesis)
    for index in only(hypothesis, premise):
        partner = nearest(index, others)
        if partner is not None:
            edit = Edit(REPLACE, 1, index, premise[partner].text.lower())
            yield Candidate(EXCHANGE, (edit,), ((1, index), (0, partner)))


def alone_candidates(premise: Sequence[Token], hypothesis: Sequence[Token]) -> Iterator[Candidate]:
    """Each word that only one of the sentences has, left out."""
    for side, (tokens, other) in ((1, (hypothesis, premise)), (0, (premise, hypothesis))):
        for index in only(tokens, other):
            yield Candidate(ALONE, (Edit(DROP, side, index),), ((side, index),))


def shared_candidates(premise: Sequence[Token], hypothesis: Sequence[Token]) -> Iterator[Candidate]:
    """Each word of both sentences, left out of the hypothesis and of the premise."""
    for side, (tokens, other) in ((1, (hypothesis, premise)), (0, (premise, hypothesis))):
        alone = set(only(tokens, other))
        for index in _content(tokens):
            if index not in alone and tokens[index].norm not in stop_words():
                yield Candidate(SHARED, (Edit(DROP, side, index),), ((side, index),))


def together_candidates(tried: Iterable[Tried], target: int) -> Iterator[Candidate]:
    """Pairs of exchanges and omissions of different words, strongest first."""
    ranked = sorted(
        (one for one in tried if one.candidate.kind in (EXCHANGE, ALONE)), key=lambda one: one.probabilities[target]
    )
    for one, other in itertools.combinations(ranked[:5], 2):
        places = {(edit.side, edit.index) for edit in one.candidate.edits}
        if places.isdisjoint((edit.side, edit.index) for edit in other.candidate.edits):
            edits = sorted(
                (*one.candidate.edits, *other.candidate.edits), key=lambda edit: (-edit.side, -edit.index)
            )
            yield Candidate(TOGETHER, tuple(edits), (*one.candidate.named, *other.candidate.named))


@dataclass
class Search:
    """The candidates of one pair, tried."""

    checkpoint: Checkpoint
    explanation: Explanation
    passes: int = 1

    def __post_init__(self) -> None:
        self.texts = self.explanation.first.text, self.explanation.second.text
        split = self.checkpoint.reader.tokens
        self.premise, self.hypothesis = split(self.texts[0]), split(self.texts[1])
        probabilities = self.explanation.probabilities
        self.target = max(range(len(probabilities)), key=probabilities.__getitem__)

    def nearest(self, index: int, others: Sequence[int]) -> int | None:
        if not others:
            return None
        for record in self.explanation.evidence:
            if (
                isinstance(record, AttentionMap)
                and record.units == "words"
                and (record.rows, record.columns) == (self.explanation.second.role, self.explanation.first.role)
            ):
                row = record.weights[index]
                return max(others, key=lambda other: row[other])
        vectors = self.checkpoint.words.vectors([self.hypothesis[index].norm])[0]
        theirs = self.checkpoint.words.vectors([self.premise[i].norm for i in others])
        return others[int(torch.cosine_similarity(theirs, vectors[None]).argmax())]

    def tried(self, candidates: Iterable[Candidate]) -> list[Tried]:
        made = []
        for candidate in candidates:
            try:
                made.append((candidate, edited(self.texts, candidate.edits, self.checkpoint.reader.tokens)))
            except EditError:
                continue
        if not made:
            return []
        self.passes += len(made)
        logits = predict(self.checkpoint, (self.checkpoint.read(*texts) for _, texts in made))
        rows = self.checkpoint.model.chances(logits).tolist()
        return [Tried(candidate, tuple(row)) for (candidate, _), row in zip(made, rows, strict=True)]

    def flips(self, one: Tried) -> bool:
        return max(range(len(one.probabilities)), key=one.probabilities.__getitem__) != self.target

    def first(self) -> Tried | None:
        pair = self.premise, self.hypothesis
        singles = [
            *order_candidates(*pair),
            *stretch_candidates(*pair),
            *itertools.islice(exchange_candidates(*pair, self.nearest), KINDS[EXCHANGE][0]),
            *itertools.islice(alone_candidates(*pair), KINDS[ALONE][0]),
        ]
        done = self.tried(singles)
        for kind in (ORDER, STRETCH, EXCHANGE, ALONE):
            found = [one for one in done if one.candidate.kind == kind and self.flips(one)]
            if found:
                return min(found, key=lambda one: one.probabilities[self.target])
        for kind, more in (
            (TOGETHER, together_candidates(done, self.target)),
            (SHARED, shared_candidates(*pair)),
        ):
            rest = self.tried(itertools.islice(more, KINDS[kind][0]))
            done += rest
            found = [one for one in rest if self.flips(one)]
            if found:
                return min(found, key=lambda one: one.probabilities[self.target])
        return None
