"""What if the pair or the attention were different: manual edits, each with its verdict, undo and redo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.page_state.explore import MOST_EDITS, ExploreState, opened, split_by
from app.pairs import Version
from app.panels import verdict
from core.checkpoint import Checkpoint, load_named, records_of
from core.effects.asked_pair import target_class
from core.effects.attention_edits import BEST_MATCH, AttentionEdit, explain_under, maps_under
from core.effects.edits import Edit, EditError, edited
from core.effects.history import AnyEdit, acting, parse_edit, words_after
from core.effects.links import MOST_LINKS
from core.evidence import AttentionMap, Explanation, Matrix
from core.evidence.attention_heads import AttentionHeads
from core.evidence.edges import edge_words
from core.evidence.matrix import matrix
from core.external.card import BI_ENCODER
from core.json_types import JsonMapping
from core.models.intervention import AttentionLinks
from core.spreadsheet import csv_text
from core.wording import the

CANNOT_BE_SET = "A transformer’s weights cannot be set, only cut: “What each link does” cuts them, one at a time."
READ_APART = "This model encodes each text separately, so there is no attention between them to change."
CANNOT_BE_CHANGED = "The attention that this external model reports cannot be changed."
ENDED = "ended: the words have changed since"
"""Note on an attention edit that is no longer in effect."""


@dataclass(frozen=True)
class Step:
    """The pair after an edit, or as typed. ``said``: description of the edit; ``note``: the reason it is not in effect;
    ``words``: whether it is a word edit."""

    said: str
    probabilities: tuple[float, ...]
    note: str
    words: bool


@dataclass(frozen=True)
class ScoreMap:
    """A map of scores that can be edited; ``number``: its index in edits. ``shares``: position of each score from the
    lowest possible match (0) to the best (1); ``words``: along both edges; ``units``: the units of rows and columns."""

    number: int
    rows: str
    columns: str
    units: str
    words: tuple[Sequence[str], Sequence[str]]
    shares: Matrix


@dataclass(frozen=True)
class WhatIf:
    """All steps, starting with the pair as typed. ``at``: number of edits in effect; ``target``: index of the first
    verdict's class; ``sides``: the roles of the texts, in the order in which edits index them; ``note``: the reason why
    attention cannot be changed, for a model whose weights are shown; ``scores``: the maps of a score-based model."""

    steps: tuple[Step, ...]
    at: int
    target: int
    sides: tuple[str, ...]
    note: str = ""
    scores: tuple[ScoreMap, ...] = ()


def after(state: ExploreState, said: JsonMapping) -> ExploreState:
    """The state after a message from the browser: ``make``, edits in their text form that replace the undone ones; or
    ``to``, the number of edits to apply. Raises EditError for edits that cannot be made, and exceptions from
    :func:`core.checkpoint.load_named`."""
    if "to" in said:
        to = min(max(0, int(said["to"])), len(state.edits))
        return state.updated(step=None if to == len(state.edits) else to)
    made = [parse_edit(str(text)) for text in said["make"]]
    edits = (*state.made, *made)
    if len(edits) > MOST_EDITS:
        raise EditError(f"{MOST_EDITS} edits are as many as are listed; undo one, or retype the sentence")
    texts = words_after(state.pair.now, made, split_by(state.model, state.pair.now))
    if any(isinstance(edit, AttentionEdit) for edit in made):
        explain_under(load_named(state.shown_model), *texts, acting(edits))
    return state.updated(edits=edits, open=opened(state.doors, "what-if"))


@dataclass(frozen=True)
class EditedPair:
    """The pair after the first edits, with the model's explanation. ``edit``: the last of them, None for the pair as
    typed; ``said``: its description; ``problem``: the reason why this model cannot apply it; ``scores``: the current
    maps of a model whose attention is scores."""

    texts: Version
    explanation: Explanation
    edit: AnyEdit | None = None
    said: str = "as typed"
    problem: str = ""
    scores: Sequence[AttentionLinks] = ()


def tried(state: ExploreState, checkpoint: Checkpoint, head: str = "") -> list[EditedPair]:
    """The pair as typed, and after each edit; ``head`` as in :func:`core.explain.explain`. Raises PairError as
    :func:`core.explain.explain` does."""

    def explained(texts: Version, edits: Sequence[AttentionEdit]) -> Explanation:
        return explain_under(checkpoint, *texts, edits, head=head)

    def scores(texts: Version, edits: Sequence[AttentionEdit]) -> Sequence[AttentionLinks]:
        if checkpoint.model.least_score is None:
            return ()
        try:
            maps = maps_under(checkpoint, *texts, edits)
        except EditError:  # too many phrases for a map
            return ()
        return [links for links in maps if links.values.numel() <= MOST_LINKS]

    texts, split = state.texts[0].now, checkpoint.reader.tokens
    made: list[AnyEdit] = []  # those that this model and pair support
    out = [EditedPair(texts, explained(texts, ()), scores=scores(texts, ()))]
    for edit in state.edits:
        problem = ""
        if isinstance(edit, Edit):
            said, texts = edit.describe(texts, split), edited(texts, [edit], split)
        else:
            said = of_attention(edit, out[-1])
            try:
                explained(texts, acting([*made, edit]))
            except EditError as error:
                problem = str(error)
        made += [] if problem else [edit]
        attention = acting(made)
        out.append(EditedPair(texts, explained(texts, attention), edit, said, problem, scores(texts, attention)))
    return out


def of_attention(edit: AttentionEdit, before: EditedPair) -> str:
    """Describes an edit of the attention as it was ``before``; if there are several maps, names the map."""
    explanation = before.explanation
    if edit.of_any_words:
        return edit.describe((), ())
    if edit.map < len(before.scores):
        return edit.describe(*_edges(before.scores[edit.map], explanation), scored=True)
    maps = [record for record in explanation.evidence if isinstance(record, AttentionMap)]
    if edit.map >= len(maps):
        return edit.describe((), ())
    record = maps[edit.map]
    cells = record.scores or record.weights
    shape = len(cells), len(cells[0]) + bool(record.null)
    words = edge_words(record.rows, record.columns, record.units, bool(record.null), shape, explanation)
    where = f" (where {the(record.rows)} looks)" if len(maps) > 1 else ""
    return edit.describe(*words) + where


def _edges(links: AttentionLinks, explanation: Explanation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words along both edges of a map of scores."""
    rows, columns = links.values.shape
    return edge_words(links.rows, links.columns, links.units, links.null, (rows, columns), explanation)


def panel(state: ExploreState, checkpoint: Checkpoint, steps: Sequence[EditedPair]) -> WhatIf:
    """The panel's data for these steps."""
    typed, at = steps[0].explanation, len(state.made)
    drawn = tuple(
        Step(
            one.said,
            one.explanation.probabilities,
            f"not made: {one.problem}" if one.problem else _ended(steps, number, at),
            isinstance(one.edit, Edit),
        )
        for number, one in enumerate(steps)
    )
    roles = tuple(side.role for side in (typed.first, typed.second) if side.role)
    target = target_class(checkpoint, typed.probabilities)
    return WhatIf(drawn, at, target, roles, _why_not_attention(checkpoint), _scored(steps[at]))


def _why_not_attention(checkpoint: Checkpoint) -> str:
    """The reason why this model's attention cannot be edited."""
    records = records_of(checkpoint.card)
    if checkpoint.settable or AttentionMap not in records:
        return ""
    if AttentionHeads in records:
        return CANNOT_BE_SET
    return READ_APART if checkpoint.card["architecture"] == BI_ENCODER else CANNOT_BE_CHANGED


def _ended(steps: Sequence[EditedPair], number: int, at: int) -> str:
    """The note on an attention edit (step ``number``) that a word edit up to step ``at`` suspended; else empty."""
    since, edit = any(isinstance(one.edit, Edit) for one in steps[number + 1 : at + 1]), steps[number].edit
    return ENDED if since and isinstance(edit, AttentionEdit) and not edit.of_any_words else ""


def _scored(shown: EditedPair) -> tuple[ScoreMap, ...]:
    """The maps of scores, which can be edited."""
    return tuple(
        ScoreMap(
            number,
            links.rows,
            links.columns,
            links.units,
            _edges(links, shown.explanation),
            matrix((links.values - least) / (BEST_MATCH - least)),
        )
        for number, links in enumerate(shown.scores)
        for least in (links.least or 0.0,)
    )


def problems(state: ExploreState, steps: Sequence[EditedPair]) -> list[str]:
    """One sentence for each edit that should be in effect but cannot be applied to this model."""
    return [f"The edit “{one.said}” is not made: {one.problem}." for one in steps[: len(state.made) + 1] if one.problem]


def change_of_words(steps: Sequence[EditedPair], at: int) -> str:
    """Description of the last word edit among those in effect; empty if there is none."""
    return next((one.said for one in reversed(steps[: at + 1]) if isinstance(one.edit, Edit)), "")


def to_csv(checkpoint: Checkpoint, steps: Sequence[EditedPair]) -> str:
    """One line per step: the edit (its text form and its description), both texts after it, the verdict, the
    probability of every class, and the change in the first verdict's probability by this edit."""
    typed = steps[0].explanation
    target = target_class(checkpoint, typed.probabilities)
    names = typed.class_names
    head = ["step", "edit", "change", "first", "second", "verdict", *(f"p({name})" for name in names)]
    rows: list[list[object]] = []
    before: float | None = None
    for number, one in enumerate(steps):
        probabilities = one.explanation.probabilities
        change: object = "" if before is None else probabilities[target] - before
        label = verdict.headline(one.explanation)[0]
        said = f"{one.said} (not made: {one.problem})" if one.problem else one.said
        rows.append([number, str(one.edit or ""), said, *one.texts, label, *probabilities, change])
        before = probabilities[target]
    return csv_text([*head, f"change of p({names[target]})"], rows)
