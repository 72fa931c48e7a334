"""Why this verdict, in one or two sentences that forward passes have confirmed.

The largest effect is not what people name: they name the difference between the two sentences. So candidate changes
are tried in a fixed order (:data:`KINDS`), and the first that flips the verdict is stated.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import torch

from core.effects.edits import DROP, INSERT, REPLACE, SWAP, Edit, EditError, edited
from core.effects.words import Progress
from core.errors import UserError
from core.evaluation.predict import predict
from core.evidence import AttentionMap
from core.linguistics.content_words import stop_words
from core.reading.tokens import Token
from core.wording import class_names, percent

if TYPE_CHECKING:
    from core.effects.question import Question

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
DETERMINERS = frozenset(
    ("a", "an", "the", "this", "that", "these", "those", "some", "my", "your", "his", "her", "its", "our", "their")
)
"""Words that may differ between two sentences with the same words in another order."""


@dataclass(frozen=True)
class Candidate:
    """One change that may flip the verdict."""

    kind: str
    edits: tuple[Edit, ...]
    named: tuple[tuple[int, int], ...]
    """The words that the sentence names: side and token index."""


@dataclass(frozen=True)
class Outcome:
    """A candidate and the model's probabilities after it."""

    candidate: Candidate
    probabilities: tuple[float, ...]


@dataclass(frozen=True)
class Reason:
    """Why a verdict: the first change in the order of :data:`KINDS` that flips it, the strongest of its kind.

    ``kind`` is empty where no candidate flips it; ``edits``, ``verdict`` (the class's label) and ``probability`` (its
    probability) are then those of the change that lowers the verdict's probability most. ``passes``: texts that the
    model read."""

    kind: str
    edits: tuple[Edit, ...]
    named: tuple[tuple[int, int], ...]
    verdict: str
    probability: float
    sentence: str
    passes: int


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
    edits = [Edit(REPLACE, 1, index, word.lower()) for index, word in zip(ours, theirs, strict=False)]
    extra = [Edit(DROP, 1, index) for index in ours[len(theirs) :]]
    at = ours[-1] + 1 if ours else (second[k] if k < len(second) else len(hypothesis))
    missing = [Edit(INSERT, 1, at, word.lower()) for word in reversed(theirs[len(ours) :])]
    named = tuple((1, n) for n in ours) or tuple((0, n) for n in first[i:j])
    yield Candidate(STRETCH, (*edits, *reversed(extra), *missing), named)


def only_in(tokens: Sequence[Token], other: Sequence[Token]) -> list[int]:
    """Words of a sentence that the other lacks, determiners left out."""
    known = {token.norm for token in other}
    return [i for i in _content(tokens) if tokens[i].norm not in known]


def exchange_candidates(
    premise: Sequence[Token], hypothesis: Sequence[Token], nearest: Callable[[int, Sequence[int]], int | None]
) -> Iterator[Candidate]:
    """Each word that only the hypothesis has, replaced by the premise word that it attends to most among those that the
    hypothesis lacks."""
    others = only_in(premise, hypothesis)
    for index in only_in(hypothesis, premise):
        partner = nearest(index, others)
        if partner is not None:
            edit = Edit(REPLACE, 1, index, premise[partner].text.lower())
            yield Candidate(EXCHANGE, (edit,), ((1, index), (0, partner)))


def alone_candidates(premise: Sequence[Token], hypothesis: Sequence[Token]) -> Iterator[Candidate]:
    """Each word that only one of the sentences has, left out."""
    for side, (tokens, other) in ((1, (hypothesis, premise)), (0, (premise, hypothesis))):
        for index in only_in(tokens, other):
            yield Candidate(ALONE, (Edit(DROP, side, index),), ((side, index),))


def shared_candidates(premise: Sequence[Token], hypothesis: Sequence[Token]) -> Iterator[Candidate]:
    """Each word of both sentences, left out of the hypothesis and of the premise."""
    for side, (tokens, other) in ((1, (hypothesis, premise)), (0, (premise, hypothesis))):
        alone = set(only_in(tokens, other))
        for index in _content(tokens):
            if index not in alone and tokens[index].norm not in stop_words():
                yield Candidate(SHARED, (Edit(DROP, side, index),), ((side, index),))


def together_candidates(outcomes: Iterable[Outcome], target: int) -> Iterator[Candidate]:
    """Pairs of exchanges and omissions of different words, strongest first."""
    ranked = sorted(
        (o for o in outcomes if o.candidate.kind in (EXCHANGE, ALONE)), key=lambda o: o.probabilities[target]
    )
    for one, other in itertools.combinations(ranked[:5], 2):
        places = {(edit.side, edit.index) for edit in one.candidate.edits}
        if places.isdisjoint((edit.side, edit.index) for edit in other.candidate.edits):
            edits = sorted((*one.candidate.edits, *other.candidate.edits), key=lambda edit: (-edit.side, -edit.index))
            yield Candidate(TOGETHER, tuple(edits), (*one.candidate.named, *other.candidate.named))


def reason_for(question: Question, progress: Progress) -> Reason:
    """The reason for the verdict on a pair. Raises UserError for a model of single texts or with one output."""
    explanation, labels = question.explanation, question.checkpoint.labels
    if len(labels) == 1 or not explanation.contexts:
        raise UserError("a reason needs a pair of texts and a model with several classes")
    target = labels.index(explanation.verdict)  # a model that ranks is asked about its verdict, too
    outcomes, names = _outcomes(question, target, progress), class_names(labels, explanation.second.role)
    flips = ([outcome for outcome in group if _flips(outcome, target)] for group in outcomes)
    flipped = next(filter(None, flips), None)
    passes = 1 + sum(map(len, outcomes))
    pool = [outcome for group in outcomes for outcome in group] if flipped is None else flipped
    if not pool:
        return Reason("", (), (), labels[target], explanation.probabilities[target], "No word can be changed.", passes)
    best = min(pool, key=lambda outcome: outcome.probabilities[target])
    after = max(range(len(labels)), key=best.probabilities.__getitem__)
    answer = f"{names[after]} ({percent(best.probabilities[after])})"
    change = _described(question, best.candidate)
    if flipped is None:
        sentence = f"No change of one or two words flips it; the strongest, {change}, leaves {answer}."
    elif best.candidate.kind == ORDER:
        sentence = f"The order decides: in the {explanation.first.role}'s order, {answer}."
    else:
        words = " and ".join(f"“{_word(question, side, index)}”" for side, index in _own_words(best.candidate))
        sentence = f"{words} decide{'' if ' and ' in words else 's'}: {change}, {answer}."
    kind = "" if flipped is None else best.candidate.kind
    return Reason(
        kind, best.candidate.edits, best.candidate.named, labels[after], max(best.probabilities), sentence, passes
    )


def _outcomes(question: Question, target: int, progress: Progress) -> list[list[Outcome]]:
    """The outcomes of each kind, in the order of :data:`KINDS`, up to the first kind that flips the verdict. Words that
    the model does not read, of a long text, are left alone."""
    split, explanation = question.checkpoint.reader.tokens, question.explanation
    premise = split(question.first)[: len(explanation.first.tokens)]
    hypothesis = split(question.second)[: len(explanation.second.tokens)]
    pair, done = (premise, hypothesis), list[list[Outcome]]()

    def nearest(index: int, others: Sequence[int]) -> int | None:
        return _partner(question, hypothesis[index], premise, index, others)

    singles: list[Iterable[Candidate]] = [
        order_candidates(*pair),
        stretch_candidates(*pair),
        exchange_candidates(*pair, nearest),
        alone_candidates(*pair),
    ]
    tried = _tried(
        question, [one for kind, some in zip(KINDS, singles, strict=False) for one in islice(some, KINDS[kind][0])]
    )
    progress(1, 3)
    done += [[outcome for outcome in tried if outcome.candidate.kind == kind] for kind in list(KINDS)[:4]]
    later: list[tuple[str, Iterable[Candidate]]] = [
        (TOGETHER, together_candidates(tried, target)),
        (SHARED, shared_candidates(*pair)),
    ]
    for number, (kind, candidates) in enumerate(later, start=2):
        if any(_flips(outcome, target) for group in done for outcome in group):
            break
        done.append(_tried(question, islice(candidates, KINDS[kind][0])))
        progress(number, 3)
    return done


def _tried(question: Question, candidates: Iterable[Candidate]) -> list[Outcome]:
    """The model's answers after each change that can be made, in one batch."""
    checkpoint, texts = question.checkpoint, (question.first, question.second)
    made = []
    for candidate in candidates:
        try:
            made.append((candidate, edited(texts, candidate.edits, checkpoint.reader.tokens)))
        except EditError:  # it would leave a text without a word
            continue
    if not made:
        return []
    logits = predict(checkpoint, (checkpoint.read(*after) for _, after in made))
    rows = checkpoint.model.chances(logits).tolist()
    return [Outcome(candidate, tuple(row)) for (candidate, _), row in zip(made, rows, strict=True)]


def _flips(outcome: Outcome, target: int) -> bool:
    return max(range(len(outcome.probabilities)), key=outcome.probabilities.__getitem__) != target


def _partner(
    question: Question, word: Token, premise: Sequence[Token], index: int, others: Sequence[int]
) -> int | None:
    """Which of some premise words this hypothesis word attends to most; without attention, the nearest by cosine."""
    if not others:
        return None
    first, second = question.explanation.first.role, question.explanation.second.role
    for record in question.explanation.evidence:
        if (
            isinstance(record, AttentionMap)
            and record.units == "words"
            and (record.rows, record.columns) == (second, first)
        ):
            row = record.weights[index]
            return max(others, key=lambda other: row[other])
    table = question.checkpoint.words
    vectors = table.vectors([word.norm, *(premise[other].norm for other in others)])
    return others[int(torch.cosine_similarity(vectors[1:], vectors[:1]).argmax())]


def _word(question: Question, side: int, index: int) -> str:
    return question.checkpoint.reader.tokens((question.first, question.second)[side])[index].text


def _own_words(candidate: Candidate) -> list[tuple[int, int]]:
    """The words that the sentence begins with: those that are edited, or that the hypothesis lacks."""
    edited_words = {(edit.side, edit.index) for edit in candidate.edits}
    return [word for word in candidate.named if word in edited_words] or list(candidate.named)


def _described(question: Question, candidate: Candidate) -> str:
    """The change as the sentence states it: with “three” instead, without it."""
    put = [edit.word for edit in candidate.edits if edit.kind in (REPLACE, INSERT)]
    left_out = [edit for edit in candidate.edits if edit.kind == DROP]
    if candidate.kind == ORDER:
        return f"the {question.explanation.first.role}'s order"
    parts = (
        [
            f"with “{' '.join(put)}” instead"
            if any(e.kind == REPLACE for e in candidate.edits)
            else f"with “{' '.join(put)}” put in"
        ]
        if put
        else []
    )
    if left_out:
        roles = question.explanation.first.role, question.explanation.second.role
        words = " and ".join(
            f"“{_word(question, edit.side, edit.index)}” in the {roles[edit.side]}" for edit in left_out
        )
        parts.append(f"without {words}")
    return " and ".join(parts)
