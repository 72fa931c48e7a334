"""What if the pair were another one: edits by hand, each with its verdict, undone and made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.page_state.explore import MOST_EDITS, ExploreState
from app.pairs import Version
from app.panels import verdict
from app.panels.what_if import Step, WhatIf
from core.checkpoint import Checkpoint
from core.effects.edits import Edit, EditError, edited
from core.effects.why import target_class
from core.evidence import Explanation
from core.explain import explained
from core.spreadsheet import csv_text


def after(state: ExploreState, said: Mapping[str, Any]) -> ExploreState:
    """The state after what the browser said: ``make``, edits in their text form in the place of those that are undone;
    or ``to``, the number of edits that shall be in effect. Raises EditError for edits that cannot be made."""
    if "to" in said:
        to = min(max(0, int(said["to"])), len(state.edits))
        return state.anew(step=None if to == len(state.edits) else to)
    made = [Edit.parse(str(text)) for text in said["make"]]
    edits = (*state.made, *made)
    if len(edits) > MOST_EDITS:
        raise EditError(f"{MOST_EDITS} edits are as many as are listed; undo one, or type the sentence anew")
    edited(state.pair.now, made)
    return state.anew(edits=edits)


@dataclass(frozen=True)
class Tried:
    """The pair after the first edits, with what the model says of it. ``edit``: the last of them, None of the pair as
    it was typed; ``said``: the edit for people."""

    texts: Version
    explanation: Explanation
    edit: Edit | None = None
    said: str = "as typed"


def tried(state: ExploreState, checkpoint: Checkpoint) -> list[Tried]:
    """The pair as it was typed, and after each edit. Raises PairError as :func:`core.explain.explain` does."""
    crossings = state.crossings or not checkpoint.model.counts_crossings
    texts = state.texts[0].now
    out = [Tried(texts, explained(checkpoint, *texts, state.temperature, crossings))]
    for edit in state.edits:
        said = edit.describe(texts)
        texts = edited(texts, [edit])
        out.append(Tried(texts, explained(checkpoint, *texts, state.temperature, crossings), edit, said))
    return out


def panel(state: ExploreState, checkpoint: Checkpoint, steps: Sequence[Tried]) -> WhatIf:
    """What the panel draws of these steps."""
    typed = steps[0].explanation
    target = target_class(checkpoint, typed.probabilities)
    before: float | None = None
    drawn: list[Step] = []
    for one in steps:
        label, p = verdict.headline(one.explanation)
        follows = one.explanation.probabilities[target]
        change = None if before is None else follows - before
        drawn.append(Step(one.said, verdict.shares(one.explanation), label, p, follows, change))
        before = follows
    roles = tuple(side.role for side in (typed.first, typed.second) if side.role)
    return WhatIf(tuple(drawn), len(state.made), verdict.class_names(typed)[target], roles)


def to_csv(checkpoint: Checkpoint, steps: Sequence[Tried]) -> str:
    """One line a step: the edit (its text form, and for people), both texts after it, the verdict, the probability of
    every class, and how the probability of the first verdict changed by this edit."""
    typed = steps[0].explanation
    target = target_class(checkpoint, typed.probabilities)
    names = verdict.class_names(typed)
    head = ["step", "edit", "change", "first", "second", "verdict", *(f"p({name})" for name in names)]
    rows: list[list[object]] = []
    before: float | None = None
    for number, one in enumerate(steps):
        probabilities = one.explanation.probabilities
        change: object = "" if before is None else probabilities[target] - before
        label = verdict.headline(one.explanation)[0]
        rows.append([number, str(one.edit or ""), one.said, *one.texts, label, *probabilities, change])
        before = probabilities[target]
    return csv_text([*head, f"change of p({names[target]})"], rows)
