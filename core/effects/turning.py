"""The smallest change of a pair that turns the verdict: beam search over dropped and replaced words."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from core.checkpoint import Checkpoint
from core.effects.edits import DROP, REPLACE, Edit, edited
from core.effects.offers import offers_for
from core.effects.why import Asked
from core.effects.words import Place, Progress, Sides, places, unheard, with_word, without
from core.errors import MendableError
from core.evaluation.predict import predict
from core.wording import percent

WIDTH, DEEPEST, BEST = 8, 3, 3
"""Of the beam; the most edits of a change; the changes that are returned."""
FURTHER = 40
"""Single edits that are tried beside the beam's: those that took most from the verdict."""


@dataclass(frozen=True)
class Change:
    """Some edits, and what they do."""

    edits: tuple[Edit, ...]
    """In the order of the text from its end, so that each one's place is that of the pair before."""
    before: tuple[str, str]
    after: tuple[str, str]
    verdict: str
    """After."""
    probability: float
    """Of the pair's own verdict, after."""
    lost: float
    """That before minus after (Δp)."""
    turned: bool
    """Whether the verdict is another."""
    described: tuple[str, ...] = ()
    """Its edits for people, in the order of the text: “Two” → “Three”."""

    def to_dict(self) -> dict[str, object]:
        """Plain values."""
        values = {**asdict(self), "edits": [str(edit) for edit in self.edits]}
        del values["described"]
        return values

    def to_text(self) -> str:
        """For a terminal."""
        what = (
            f"turns the verdict to {self.verdict}" if self.turned else "turns nothing, and takes most from the verdict"
        )
        lost = f"(its own falls by {percent(self.lost)} to {percent(self.probability)})"
        return "\n".join([f"{', '.join(self.described)} {what} {lost}", *(f"  {text}" for text in self.after if text)])


def smallest_changes(
    checkpoint: Checkpoint, first: str, second: str = "", progress: Progress = unheard
) -> tuple[Change, ...]:
    """The three best changes that turn the verdict, fewest edits first, then the largest Δp; where none of at most
    :data:`DEEPEST` edits turns it, the one that takes most from it. No text is left without a word.

    ``progress`` is called with the candidates tried so far, and how many are known by then; what it raises ends the
    search. Raises PairError as :func:`core.explain.explain` does, and MendableError for a model with one output.
    """
    if len(checkpoint.labels) == 1:
        raise MendableError(f"{checkpoint.name} gives a score, which has no other class to turn to: ask `why` instead")
    asked = Asked.about(checkpoint, first, second)
    singles = _single_edits(asked.pair.sides, progress)
    tried = 0
    texts = asked.pair.sides[0].text, asked.pair.sides[1].text if len(asked.pair.sides) > 1 else ""
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
        turned += [change for change in changes if change.turned and not _contains(turned, change)][
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
        edits.append(Edit(DROP, place.side, place.index))
        if token.is_word:
            words = (offer.word for offer in offers_for(token.norm).offers)
            edits += [Edit(REPLACE, place.side, place.index, word) for word in words]
    return edits


def _longer(beam: Sequence[tuple[Edit, ...]], singles: Sequence[Edit]) -> list[tuple[Edit, ...]]:
    """Each change of the beam with one more edit, of a word that it leaves alone; each set of edits once."""
    longer: dict[frozenset[Edit], tuple[Edit, ...]] = {}
    for edits in beam:
        taken = {(edit.side, edit.index) for edit in edits}
        for edit in singles:
            if (edit.side, edit.index) not in taken:
                longer.setdefault(frozenset((*edits, edit)), (*edits, edit))
    # From the end of the texts, so that no edit moves the place of the next one.
    return [tuple(sorted(edits, key=lambda edit: (-edit.side, -edit.index))) for edits in longer.values()]


def _judged(
    asked: Asked, texts: tuple[str, str], candidates: Sequence[tuple[Edit, ...]], progress: Callable[[int], None]
) -> list[Change]:
    """What the model says after each; changes that would empty a text are left out."""
    made = [(edits, sides) for edits in candidates if (sides := _applied(asked.pair.sides, edits)) is not None]
    if not made:
        return []
    readings = (asked.checkpoint.reading(sides) for _, sides in made)
    probabilities = asked.checkpoint.model.chances(predict(asked.checkpoint, readings, progress=progress))
    own = asked.explanation.probabilities[asked.target]
    verdict = asked.explanation.verdict
    changes = []
    for (edits, _), row in zip(made, probabilities.tolist(), strict=True):
        label = asked.checkpoint.labels[max(range(len(row)), key=row.__getitem__)]
        after = row[asked.target]
        changes.append(Change(edits, texts, texts, label, after, own - after, label != verdict))
    return [_made(asked, change) if change.turned else change for change in changes]


def _made(asked: Asked, change: Change) -> Change:
    """The change with the texts after it, and in words."""
    split = asked.checkpoint.reader.tokens
    described = tuple(edit.describe(change.before, split) for edit in reversed(change.edits))
    return replace(change, after=edited(change.before, change.edits, split), described=described)


def _applied(sides: Sides, edits: Sequence[Edit]) -> Sides | None:
    for edit in edits:
        if edit.kind == REPLACE:
            sides = with_word(sides, Place(edit.side, edit.index), edit.word)
    return without(sides, *(Place(edit.side, edit.index) for edit in edits if edit.kind == DROP))


def _contains(turned: Sequence[Change], change: Change) -> bool:
    """Whether a smaller change does it already with some of these edits."""
    return any(set(smaller.edits) < set(change.edits) for smaller in turned)
