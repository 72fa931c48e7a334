"""The smallest change of a pair that flips the verdict: beam search over dropped and replaced words."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from core.effects.asked_pair import AskedPair
from core.effects.edits import DROP, REPLACE, Edit, edited
from core.effects.offers import offers_for
from core.effects.words import Place, Progress, Sides, places, unheard, with_word, without
from core.errors import UserError
from core.evaluation.predict import predict
from core.linguistics.content_words import stop_words
from core.linguistics.word_lists import article, word_groups
from core.reading.tokens import Token
from core.wording import percent, points

WIDTH, DEEPEST, BEST = 8, 3, 3
"""Beam width; maximum edits per change; number of changes returned."""
FURTHER = 40
"""Single edits tried in addition to the beam's: those that lowered the verdict's probability most."""


@dataclass(frozen=True)
class Change:
    """A set of edits and its effect."""

    edits: tuple[Edit, ...]
    """From the end of the text backwards, so that earlier edits do not shift the positions of later ones."""
    before: tuple[str, str]
    after: tuple[str, str]
    verdict: str
    """The verdict after the change."""
    probability: float
    """Probability of the original verdict after the change."""
    lost: float
    """The original probability minus that (Δp)."""
    turned: bool
    """Whether the verdict flipped."""
    described: tuple[str, ...] = ()
    """The edits described for users, in text order: “Two” → “Three”."""
    chance: float = 0.0
    """Probability of the new verdict."""

    def to_dict(self) -> dict[str, object]:
        """Plain values."""
        return {**asdict(self), "edits": [str(edit) for edit in self.edits]}

    def to_text(self, names: Mapping[str, str]) -> str:
        """Terminal text; ``names``: the display names of labels."""
        before, after = percent(self.probability + self.lost), percent(self.probability)
        new = f"turns the verdict to {names.get(self.verdict, self.verdict)} {percent(self.chance)}"
        what = new if self.turned else "does not turn the verdict, but costs it most"
        lost = f"(the first verdict falls from {before} to {after}, by {points(self.lost)})"
        return "\n".join([f"{', '.join(self.described)} {what} {lost}", *(f"  {text}" for text in self.after if text)])


def smallest_changes(asked: AskedPair, progress: Progress = unheard) -> tuple[Change, ...]:
    """The three best changes that flip the verdict, fewest edits first, then largest Δp; if no change of at most
    :data:`DEEPEST` edits flips it, the one that lowers its probability most. No text is left without words.

    ``progress`` receives the number of candidates tried and known so far; exceptions raised by it cancel the search.
    Raises PairError as :func:`core.explain.explain` does, and UserError for a model with one output.
    """
    if len(asked.checkpoint.labels) == 1:
        raise UserError(
            f"{asked.checkpoint.name} gives a score, which has no other class to turn to: ask `why` instead"
        )
    singles = _single_edits(asked.sides, progress)
    tried = 0
    texts = asked.sides[0].text, asked.sides[1].text if len(asked.sides) > 1 else ""
    beam: list[tuple[Edit, ...]] = [()]
    turned: list[Change] = []
    nearest: Change | None = None
    for _ in range(DEEPEST):
        candidates = _longer(beam, singles)
        known = tried + len(candidates)
        changes = _judged(asked, texts, candidates, functools.partial(_further, progress, tried, known))
        tried = known
        changes.sort(key=lambda change: -change.lost)
        if not changes:
            break
        if nearest is None or changes[0].lost > nearest.lost:
            nearest = changes[0]
        shortest = sorted(changes, key=lambda change: len(change.edits))  # article corrections are edits too
        turned += [change for change in shortest if change.turned and not _contains(turned, change)][
            : BEST - len(turned)
        ]
        if len(turned) >= BEST:
            break
        if len(beam[0]) == 0:
            singles = [change.edits[0] for change in changes[:FURTHER]]
        beam = [change.edits for change in changes if not change.turned][:WIDTH]
        if not beam:
            break
    if not turned and nearest is not None:
        return (_made(asked, nearest),)
    return tuple(turned)


def _further(progress: Progress, before: int, of: int, rows: int) -> None:
    progress(before + rows, of)


def _single_edits(sides: Sides, progress: Progress) -> list[Edit]:
    edits = []
    for place in places(sides):
        progress(0, 0)
        token = sides[place.side].tokens[place.index]
        if _may_be_left_out(sides[place.side].tokens, place.index):
            edits.append(Edit(DROP, place.side, place.index))
        if token.is_word:
            words = (offer.word for offer in offers_for(token.norm).offers if _same_number(token.norm, offer.word))
            edits += [Edit(REPLACE, place.side, place.index, word) for word in words]
    return edits


def _may_be_left_out(tokens: Sequence[Token], index: int) -> bool:
    """Whether the sentence may stay grammatical without this word: articles, forms of "to be" and nouns after an
    article are kept."""
    if tokens[index].norm in _ARTICLES or tokens[index].norm in _BE:
        return False
    follows = tokens[index + 1].norm if index + 1 < len(tokens) else ""
    behind_article = index > 0 and tokens[index - 1].norm in _ARTICLES
    return not behind_article or (follows[:1].isalnum() and follows not in stop_words())


_ARTICLES, _BE = ("a", "an", "the"), ("am", "is", "are", "was", "were")


def _same_number(word: str, other: str) -> bool:
    """Whether the following word fits both: "two girls" and "three girls", but not "all girls" and "every girls". True
    for words that are neither numbers nor quantifiers."""
    return (word in _OF_ONE, word in _OF_SEVERAL) == (other in _OF_ONE, other in _OF_SEVERAL) or other in ("no", "some")


_OF_ONE, _OF_SEVERAL = ("one", "every"), ("all", "most", "few", *word_groups()["numbers"])


def _with_articles(sides: Sides, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The same edits, plus those that make "a" or "an" agree with the word that now follows it."""
    edits = tuple(edit for edit in edits if edit.word not in ("a", "an"))  # corrected articles
    changed = {(edit.side, edit.index): edit for edit in edits}
    more = []
    for number, side in enumerate(sides):
        before = None
        for index, token in enumerate(side.tokens):
            edit = changed.get((number, index))
            if edit is not None and edit.kind == DROP:
                continue
            word = token.norm if edit is None else edit.word
            if before is not None and word != before[1] and article(word) != side.tokens[before[0]].norm:
                more.append(Edit(REPLACE, number, before[0], article(word)))
            follows = side.tokens[index + 1].norm if index + 1 < len(side.tokens) else ""
            before = (index, follows) if edit is None and token.norm in ("a", "an") else None
    return tuple(sorted((*edits, *more), key=lambda edit: (-edit.side, -edit.index)))


def _longer(beam: Sequence[tuple[Edit, ...]], singles: Sequence[Edit]) -> list[tuple[Edit, ...]]:
    """Each change in the beam extended by one edit of a word it does not touch, without duplicates."""
    longer: dict[frozenset[Edit], tuple[Edit, ...]] = {}
    for edits in beam:
        taken = {(edit.side, edit.index) for edit in edits}
        for edit in singles:
            if (edit.side, edit.index) not in taken:
                longer.setdefault(frozenset((*edits, edit)), (*edits, edit))
    # From the end of the texts, so that no edit shifts the position of the next one.
    return [tuple(sorted(edits, key=lambda edit: (-edit.side, -edit.index))) for edits in longer.values()]


def _judged(
    asked: AskedPair, texts: tuple[str, str], candidates: Sequence[tuple[Edit, ...]], progress: Callable[[int], None]
) -> list[Change]:
    """The model's answer after each change; changes that would empty a text are left out."""
    agreeing = [_with_articles(asked.sides, edits) for edits in candidates]
    short = [edits for edits in agreeing if len(edits) <= DEEPEST]
    made = [(edits, sides) for edits in short if (sides := _applied(asked.sides, edits)) is not None]
    if not made:
        return []
    readings = (asked.checkpoint.reading(sides) for _, sides in made)
    probabilities = asked.checkpoint.model.answers.chances(predict(asked.checkpoint, readings, progress=progress))
    own = asked.explanation.probabilities[asked.target]
    verdict = asked.explanation.verdict
    changes = []
    for (edits, _), row in zip(made, probabilities.tolist(), strict=True):
        label = asked.checkpoint.labels[max(range(len(row)), key=row.__getitem__)]
        after = row[asked.target]
        changes.append(Change(edits, texts, texts, label, after, own - after, label != verdict, chance=max(row)))
    return [_made(asked, change) if change.turned else change for change in changes]


def _made(asked: AskedPair, change: Change) -> Change:
    """The change with the resulting texts and its description."""
    split = asked.checkpoint.reader.tokens
    described = tuple(edit.describe(change.before, split) for edit in reversed(change.edits))
    return replace(change, after=edited(change.before, change.edits, split), described=described)


def _applied(sides: Sides, edits: Sequence[Edit]) -> Sides | None:
    for edit in edits:
        if edit.kind == REPLACE:
            sides = with_word(sides, Place(edit.side, edit.index), edit.word)
    return without(sides, *(Place(edit.side, edit.index) for edit in edits if edit.kind == DROP))


def _contains(turned: Sequence[Change], change: Change) -> bool:
    """Whether a smaller change with a subset of these edits already flips it."""
    return any(set(smaller.edits) < set(change.edits) for smaller in turned)
