"""The reason for a verdict, in one to three sentences confirmed by forward passes.

People do not name the word with the largest effect: they name the difference between the two texts. So changes are
tried in a fixed order (:data:`core.effects.differences.RULES`), and the first that flips the verdict is reported. Two
warnings may precede it: a model that reads only one text is just as sure, or the input is unlike the training data. A
score cannot flip; for scores the largest change is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import torch

from core.alone import explained_alone, unread
from core.card import ranked_by
from core.checkpoint import Checkpoint
from core.effects.asked_pair import AskedPair
from core.effects.attention_edits import CELL, AttentionEdit, explain_under
from core.effects.cost import SOON
from core.effects.cost import of_reason as cost_of_reason
from core.effects.differences import (
    ALONE,
    EXCHANGE,
    MATCH,
    MOST_PASSES,
    ONE_TEXT,
    ORDER,
    RULES,
    SHARED,
    STRETCH,
    TOGETHER,
    Candidate,
    Word,
    exchanges,
    omissions,
    only_in,
    ordered,
    stretches,
    together,
)
from core.effects.edits import EditError, edited
from core.effects.gradients import NORM
from core.effects.gradients import word_effects as gradient_effects
from core.effects.words import Progress, unheard
from core.evaluation.predict import predict
from core.evaluation.suites import LEAST, exchange, kind_of_exchange
from core.evidence import AttentionMap, Explanation
from core.evidence.explanation import LABELS
from core.evidence.reason import SCORE, SLOW, Clause, Reason
from core.input_warnings import is_unlike
from core.lazy import lazy_property
from core.linguistics.word_lists import article
from core.wording import capital, percent, shown, the

MOST_LISTED = 400
"""Maximum number of changes considered per kind: both texts have at most this many words."""
ENTAILED = ("entailment", "supports", "paraphrase")
"""Classes that require matching words."""


@dataclass(frozen=True)
class Outcome:
    """A candidate and the class probabilities after it."""

    candidate: Candidate
    probabilities: tuple[float, ...]

    @property
    def label(self) -> int:
        """The most probable class."""
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__)


def reason_for(question: AskedPair, progress: Progress = unheard) -> Reason:
    """The reason for the verdict on a pair or a single text."""
    return _with_record(question, _Search(question).reason(progress))


def quick_reason(question: AskedPair, progress: Progress = unheard) -> Reason:
    """The reason, or, for an external model that would take long, the cost of computing it."""
    price = cost_of_reason(question)
    if price.seconds <= SOON:
        return reason_for(question, progress)
    return Reason(SLOW, f"What decides was not computed for this model: it takes {price}.")


def with_reason(checkpoint: Checkpoint, explanation: Explanation) -> Explanation:
    """A copy with the reason for its verdict under the model's own attention (:func:`quick_reason`)."""
    asked = AskedPair(checkpoint, explanation.first.text, explanation.second.text)
    return replace(explanation, reason=quick_reason(asked))


def _with_record(question: AskedPair, reason: Reason) -> Reason:
    """The reason with the model's accuracy on hand-written pairs of its kind of change, from the card."""
    suite, kind, words = "", None, ""
    if reason.kind == ORDER:
        suite, kind, words = "order", "order", "the words in another order"
    elif len(question.sides) == 2 and reason.named:
        own, other = (side.text for side in question.sides[::-1])
        changed = exchange(other, own)
        if changed:
            suite, kind = "one_word", kind_of_exchange(*changed)
            words = f"{article(kind or '')} {kind} replaced"
    counts = (question.checkpoint.card.get("suites") or {}).get(suite, {}).get("kinds", {}).get(kind)
    if not isinstance(counts, dict) or counts.get("total", 0) < LEAST:
        return reason
    share = percent(counts["right"] / counts["total"])
    return replace(
        reason, known=f"On {counts['total']} hand-written pairs with {words}, it is right {share} of the time."
    )


class _Search:
    """Tries the changes of one pair in order and puts them into words."""

    def __init__(self, question: AskedPair) -> None:
        self.question, self.checkpoint, self.explanation = question, question.checkpoint, question.explanation
        split, sides = self.checkpoint.reader.tokens, (self.explanation.first, *self.explanation.contexts)
        # Truncated words, which the model does not read, are never changed.
        self.texts = tuple(split(side.text)[: len(side.tokens)] for side in sides)
        self.roles = [side.role for side in sides]
        self.own = int(len(sides) > 1 and self.roles[0] not in ("claim", self.explanation.judged))
        self.unread = unread(self.checkpoint.card)
        self.names = self.explanation.class_names
        ranks = ranked_by(self.checkpoint.card) is not None and self.checkpoint.card["task"] == "answer selection"
        self.scored = len(self.names) == 1 or self.explanation.answer == LABELS or ranks
        self.target = question.target
        self.passes = 1
        self.singles: list[Outcome] = []

    def reason(self, progress: Progress) -> Reason:
        first = [*self._doubts()]
        groups = self._groups(progress)
        outcomes = [outcome for group in groups for outcome in group]
        flipped: list[Outcome] = next(filter(None, ([*filter(self._flips, group)] for group in groups)), [])
        compared = flipped and flipped[0].candidate.kind in (ORDER, STRETCH, EXCHANGE)
        if self.scored and outcomes:
            reason = self._of_score(outcomes)
        elif not compared and self.matches:
            reason = self.matches
        else:
            reason = self._of_flip(flipped) if flipped else self._of_none(outcomes)
        return replace(reason, sentence=" ".join([*first, reason.sentence]), passes=self.passes)

    # --- search ---

    def _doubts(self) -> Iterable[str]:
        """Warnings placed before the reason."""
        if any(is_unlike(self.checkpoint, side) for side in self.question.sides):
            yield "The input is unlike the training data."
        alone = None
        if len(self.texts) > 1:
            alone = explained_alone(self.checkpoint.card, self.question.first, self.question.second)
        if alone is not None and not self.scored:
            self.passes += 1
            sure = max(alone.probabilities)
            least = max(RULES[ONE_TEXT].least, self.explanation.probabilities[self.target])
            if alone.verdict == self.explanation.verdict and sure >= least:
                said = f"{self.names[self.target]} ({percent(sure)})"
                yield f"A model that reads only {the(alone.judged)} is as sure: {said}."

    def _groups(self, progress: Progress) -> list[list[Outcome]]:
        """The outcomes by kind, in the order of the rules, up to the first that flips the verdict."""
        texts, own = self.texts, self.own
        kinds: dict[str, Iterable[Candidate]] = {ALONE: omissions(texts, own, shared=False)}
        if len(texts) > 1:
            kinds = {
                ORDER: ordered(texts, own),
                STRETCH: stretches(texts, own),
                EXCHANGE: exchanges(texts, own, self._partner),
                **kinds,
            }
        most = {kind: RULES[kind].passes for kind in kinds}
        if len(texts) == 1:  # a single text has no other differences
            most[ALONE] = MOST_PASSES - 2 - RULES[TOGETHER].passes
        tried = self._tried([one for kind, some in kinds.items() for one in self._foremost(some, most[kind])])
        self.singles = tried
        progress(1, 3)
        groups = [[outcome for outcome in tried if outcome.candidate.kind == kind] for kind in kinds]
        if not self.scored and (any(map(self._flips, tried)) or self.matches):
            return groups
        ranked = [outcome.candidate for outcome in sorted(tried, key=self._left)]
        single = [one for one in ranked if one.kind == ALONE and one.named[0][0] == own]
        later = {
            TOGETHER: together(texts, own, single),
            SHARED: omissions(texts, own, shared=True),
        }
        for number, (kind, candidates) in enumerate(later.items(), start=2):
            if (kind == TOGETHER and self.scored) or (kind == SHARED and len(texts) == 1):
                continue
            groups.append(self._tried(self._foremost(candidates, RULES[kind].passes)))
            progress(number, 3)
            if any(map(self._flips, groups[-1])):
                break
        return groups

    def _foremost(self, candidates: Iterable[Candidate], most: int) -> list[Candidate]:
        """The first candidates, up to the limit; for omissions, the words with the largest gradients."""
        listed = [*islice(candidates, MOST_LISTED)]
        if len(listed) > most and listed[0].kind in (ALONE, SHARED) and self.checkpoint.model.differentiable:
            listed.sort(key=lambda candidate: -self.slopes[candidate.named[0]])
        return listed[:most]

    @lazy_property
    def slopes(self) -> dict[Word, float]:
        """The norm of the gradient of log p(verdict) with respect to each word's vector."""
        self.passes += 1
        found = gradient_effects(self.checkpoint, self.question.reading, self.target, NORM)
        return {(self.roles.index(word.role), word.index): word.effect or 0.0 for word in found.words}

    def _tried(self, candidates: Sequence[Candidate]) -> list[Outcome]:
        """The model's answers after each possible change, in one batch."""
        texts, made = (self.question.first, self.question.second), []
        for candidate in candidates:
            if self.unread in [self.roles[edit.side] for edit in candidate.edits]:
                continue
            try:
                made.append((candidate, edited(texts, candidate.edits, self.checkpoint.reader.tokens)))
            except EditError:  # it would leave a text without words
                continue
        if not made:
            return []
        self.passes += len(made)
        logits = predict(self.checkpoint, (self.checkpoint.read(*after) for _, after in made))
        rows = self.checkpoint.model.answers.chances(logits).tolist()
        return [Outcome(candidate, tuple(row)) for (candidate, _), row in zip(made, rows, strict=True)]

    def _left(self, outcome: Outcome) -> float:
        return outcome.probabilities[self.target]

    def _flips(self, outcome: Outcome) -> bool:
        return outcome.label != self.target

    def _partner(self, index: int, others: Sequence[int]) -> int | None:
        """The word among ``others`` that a word of the own text attends to most, if any; without attention between
        words, the nearest by cosine."""
        found = self._map()
        if found is None:
            norms = [self.texts[self.own][index].norm, *(self.texts[1 - self.own][other].norm for other in others)]
            vectors = self.checkpoint.words.vectors(norms)
            near = dict(zip(others, torch.cosine_similarity(vectors[1:], vectors[:1]).tolist(), strict=True))
        else:
            near = {other: found[1].weights[index][other] for other in others}
        best = max(near, key=near.__getitem__)
        return best if near[best] >= RULES[EXCHANGE].least else None

    def _map(self) -> tuple[int, AttentionMap] | None:
        """The attention weights from the own text's words to the other's, and the index of that map."""
        sides = self.roles[self.own], self.roles[1 - self.own]
        maps = [record for record in self.explanation.evidence if isinstance(record, AttentionMap)]
        found = (
            (number, record)
            for number, record in enumerate(maps)
            if (record.rows, record.columns) == sides and record.units == "words" and record.weights
        )
        return next(found, None)

    # --- wording ---

    def _of_flip(self, flipped: Sequence[Outcome]) -> Reason:
        # Of the first two kinds, smaller changes come first.
        first = flipped[0].candidate.kind in (ORDER, STRETCH)
        best = flipped[0] if first else min(flipped, key=lambda one: (len(one.candidate.named), self._left(one)))
        candidate, clause = best.candidate, self._clause(best)
        if candidate.kind == ORDER:
            return self._reason(best, f"The order decides: {clause.text}.", clause)
        return self._reason(best, f"{capital(self._decides(candidate))}: {clause.text}.", clause)

    def _decides(self, candidate: Candidate) -> str:
        """What the words do: an entailment needs words of the premise; other verdicts are decided by a difference."""
        named = self._named(candidate)
        if candidate.parts:
            return f"{named} decide together"
        if self._entails() and candidate.named[0][0] != self.own:
            return f"{'' if self._new_words()[0] else f'{self._all_in}, and '}{named} is needed"
        return f"no difference decides, but {named} does" if candidate.kind == SHARED else f"{named} decides"

    def _of_score(self, outcomes: Sequence[Outcome]) -> Reason:
        before = self.explanation.probabilities[self.target]
        best = max(outcomes, key=lambda outcome: abs(before - self._left(outcome)))
        gain, named, clause = before - self._left(best), capital(self._named(best.candidate)), self._clause(best)
        one = len(self.names) == 1
        of = f" of {_points(before, one)}" if 0 < gain <= before else ""
        does = f"adds {_points(gain, one)}{of}" if gain >= 0 else f"takes away {_points(-gain, one)}"
        unit = "" if one else " percentage points"
        return replace(self._reason(best, f"{named} {does}{unit}: {clause.text}.", clause), kind=SCORE)

    def _of_none(self, outcomes: Sequence[Outcome]) -> Reason:
        if not outcomes:
            return Reason("", "No word of it can be changed.")
        best = min(outcomes, key=self._left)
        clause = self._clause(best, spelt_out=True)
        tried = f"None of {len(outcomes)} small changes flips it; the strongest"
        if len(outcomes) == 1:
            tried = "The only small change tried"
        if self._entails() and not self._new_words()[0]:
            tried = f"{capital(self._all_in)}. {tried}"
        return replace(self._reason(best, f"{tried}, {clause.text}.", clause), kind="")

    @lazy_property
    def matches(self) -> Reason | None:
        """The links from the own text's words to different words of the other text, each confirmed by ablating it or by
        exchanging the words; None if one is not confirmed."""
        if not self._entails():
            return None
        found, (new, others) = self._map(), self._new_words()
        if not new:
            return self._of_extra_words(others)
        if found is None or not others or len(new) > RULES[MATCH].passes:
            return None
        clauses, named = list[Clause](), list[Word]()
        for index in {self.texts[self.own][index].norm: index for index in reversed(new)}.values():
            column = max(others, key=lambda word: found[1].weights[index][word])
            if found[1].weights[index][column] < RULES[EXCHANGE].least:
                return None
            exchange = ((self.own, index), (1 - self.own, column))
            exchanged = next((one for one in self.singles if one.candidate.words == exchange), None)
            clause, how = self._cut(found[0], index, column), "link cut"
            if clause is None and exchanged is not None:
                clause, how = self._clause(exchanged), "exchanged"
            if clause is None:
                return None
            words = f"“{self.texts[self.own][index].text}” ↔ “{self.texts[1 - self.own][column].text}”"
            after = self.names[self.checkpoint.labels.index(clause.verdict)]
            clauses.append(replace(clause, text=f"{words} ({how}: {after} {percent(clause.probability)})"))
            named += exchange
        links = ", ".join(clause.text for clause in clauses)
        sentence = f"Every content word of {the(self.roles[self.own])} has a match: {links}."
        return Reason(MATCH, sentence, tuple(clauses), tuple(named))

    def _of_extra_words(self, others: Sequence[int]) -> Reason | None:
        """The one extra stretch of the other text, removed."""
        extra = {(1 - self.own, index) for index in others}
        for outcome in self.singles:
            candidate = outcome.candidate
            if candidate.kind == STRETCH and not candidate.added and extra & {*candidate.named}:
                clause = self._clause(outcome)
                sentence = f"{capital(self._all_in)}, and {self._named(candidate)} is not needed: {clause.text}."
                return replace(self._reason(outcome, sentence, clause), kind=MATCH)
        return None

    def _cut(self, number: int, row: int, column: int) -> Clause | None:
        """The verdict without a link, if it drops by the rule's threshold; None for a slow transformer."""
        if self.checkpoint.model.knockouts is not None:
            return None
        edit = AttentionEdit(CELL, number, row, column, 0.0)
        after = explain_under(self.checkpoint, self.question.first, self.question.second, [edit])
        self.passes += 1
        costs = self.explanation.probabilities[self.target] - after.probabilities[self.target]
        enough = costs >= RULES[MATCH].least
        return Clause("", (str(edit),), after.verdict, max(after.probabilities)) if enough else None

    def _new_words(self) -> tuple[list[int], list[int]]:
        """The words that only the own text has, and those that only the other has."""
        own, other = self.texts[self.own], self.texts[1 - self.own]
        return only_in(own, other), only_in(other, own)

    @property
    def _all_in(self) -> str:
        return f"every content word of {the(self.roles[self.own])} is in {the(self.roles[1 - self.own])}"

    def _entails(self) -> bool:
        return len(self.texts) > 1 and self.names[self.target] in ENTAILED

    def _reason(self, outcome: Outcome, sentence: str, clause: Clause) -> Reason:
        return Reason(outcome.candidate.kind, sentence, (clause,), outcome.candidate.words)

    def _clause(self, outcome: Outcome, *, spelt_out: bool = False) -> Clause:
        """The change with the verdict after it, ``spelt_out`` if the sentence has not named the words yet."""
        at = self.target if self.scored else outcome.label
        value, name = outcome.probabilities[at], self.names[at]
        answer = f"{name} ({percent(value)})" if len(self.names) > 1 else f"the score is {shown(value, 1)}"
        spelt = self._spelt_out if spelt_out else self._change
        text = f"{spelt(outcome.candidate)}, {'leaves ' if spelt_out else ''}{answer}"
        return Clause(text, tuple(map(str, outcome.candidate.edits)), self.checkpoint.labels[at], value)

    def _named(self, candidate: Candidate) -> str:
        """The words that start a sentence, with the name of their text if both have them."""
        if candidate.parts:
            *first, last = map(self._quoted, candidate.parts)
            return f"{', '.join(first)} and {last}"
        side = candidate.named[0][0]
        own = side == self.own and candidate.kind != SHARED
        return self._quoted(candidate) if own else f"{the(self.roles[side])}’s {self._quoted(candidate)}"

    def _quoted(self, candidate: Candidate) -> str:
        side, places = candidate.named[0][0], [index for _, index in candidate.named]
        tokens, text = self.texts[side], self.question.sides[side].text
        return f"“{text[tokens[min(places)].start : tokens[max(places)].end]}”"

    def _change(self, candidate: Candidate) -> str:
        if candidate.kind == ORDER:
            also = f" and with its {candidate.instead}" if candidate.instead else ""
            return f"in {the(self.roles[1 - self.own])}’s order{also}"
        if candidate.parts:
            return "without them"
        if candidate.instead:
            return f"with “{candidate.instead}” instead"
        return f"with it in {the(self.roles[self.own])} too" if candidate.added else "without it"

    def _spelt_out(self, candidate: Candidate) -> str:
        """The change with the words it affects."""
        if candidate.kind == ORDER:
            return self._change(candidate)
        if candidate.instead:
            return f"with “{candidate.instead}” for {self._named(candidate)}"
        if candidate.added:
            return f"with {self._quoted(candidate)} in {the(self.roles[self.own])} too"
        return f"without {self._named(candidate)}"


def _points(value: float, one_output: bool) -> str:
    """A share of a score; for a probability, in percentage points."""
    return shown(value, 1) if one_output else percent(value).removesuffix("\u00a0%")
