"""Manual changes of a model's attention: the weight of one cell, a whole map made uniform, permuted or given another
temperature, and crossings switched off.

An edit has a short text form (``cell 0 3 2 0.8 kept``), like edits of words (:mod:`core.effects.edits`). Maps, rows and
columns are indexed from 0 as in the model's records, with the null word in the last column. Only cells inside a row's
softmaxes change.

In a map of scores, followed by a selection or pooling (phrases, ABCNN, AP-CNN), an edit sets a score on a scale from
the lowest possible match (0) to the best (1, a score of :data:`BEST_MATCH`), like a weight, and rows are not
normalised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from core.checkpoint import Checkpoint, records_of
from core.effects.edits import EditError
from core.effects.links import Taken
from core.evidence import Explanation, Record
from core.evidence.attention_heads import AttentionHeads
from core.explain import check_words, explain, explained, kept
from core.layers.attention import as_override
from core.models.intervention import AttentionLinks
from core.wording import percent

CELL, UNIFORM, PERMUTED, TEMPERATURE, UNCROSSED = "cell", "uniform", "permuted", "temperature", "uncrossed"
EDIT_FIELDS: Mapping[str, tuple[str, ...]] = {
    CELL: ("map", "row", "column", "value", "rest"),
    UNIFORM: ("map",),
    PERMUTED: ("map", "seed"),
    TEMPERATURE: ("value",),
    UNCROSSED: (),
}
"""The fields of each kind's text form, in order."""
OF_ANY_WORDS = (TEMPERATURE, UNCROSSED)
"""Edits that refer to no cell or map, so they stay in effect when the words change."""
TEMPERATURES = (0.01, 100.0)
"""Lowest and highest temperature."""
BEST_MATCH = 1.0
"""The highest possible match score, for a cosine, tanh, and 1 / (1 + distance) at distance 0."""
MOST_DIGITS = 9
"""In the index of a map, row or column, and in a seed."""

Maps = Sequence[AttentionLinks]


@dataclass(frozen=True)
class AttentionEdit:
    """A single change.

    - ``cell``: sets a cell's weight to ``value``, from 0 to 1; the row's other cells stay (``rest`` is ``kept``) or are
      rescaled to preserve the row's sum (``renormalised``, if possible);
    - ``uniform``: gives all cells of each softmax the same weight; in a map of scores, each row its mean;
    - ``permuted``: shuffles the weights within each softmax, using ``seed``;
    - ``temperature``: divides the scores of every softmax in all maps by ``value``;
    - ``uncrossed``: sets q, the share of words whose attention crosses a word's, to 0 in a model that reads it.
    """

    kind: str
    map: int = 0
    row: int = 0
    column: int = 0
    value: float = 1.0
    rest: str = Taken.RENORMALISED.value
    seed: int = 0

    def __str__(self) -> str:
        values = (getattr(self, name) for name in EDIT_FIELDS[self.kind])
        return " ".join([self.kind, *(f"{value:g}" if isinstance(value, float) else str(value) for value in values)])

    @classmethod
    def parse(cls, text: str) -> AttentionEdit:
        """The inverse of ``str``. Raises EditError for other text, and for values out of range."""
        refused = EditError(f"{text[:80]!r} is not an edit of attention; undo it")
        kind, *parts = text.split(" ")
        names = EDIT_FIELDS.get(kind)
        if names is None or len(parts) != len(names):
            raise refused
        given = dict(zip(names, parts, strict=True))
        value = _number(given.pop("value", "1"), *((0.0, 1.0) if kind == CELL else TEMPERATURES))
        rest = given.pop("rest", Taken.RENORMALISED.value)
        whole = all(part.isascii() and part.isdigit() and len(part) <= MOST_DIGITS for part in given.values())
        if not whole or rest not in set(Taken):
            raise refused
        return cls(kind, value=value, rest=rest, **{name: int(part) for name, part in given.items()})

    def describe(self, rows: Sequence[str], columns: Sequence[str], scored: bool = False) -> str:
        """Describes the edit for users; ``rows`` and ``columns``: the words along the edges of its map; ``scored``:
        whether the map holds scores."""
        if self.kind == CELL:
            kept_rest = ", the rest kept" if self.rest == Taken.KEPT and not scored else ""
            looks = "matches" if scored else "looks at"
            cell = f"{_quoted(rows, self.row)} {looks} {_quoted(columns, self.column)}"
            return f"{cell} with {percent(self.value)}{kept_rest}"
        return {
            UNIFORM: "attention uniform",
            PERMUTED: f"attention permuted (seed {self.seed})",
            TEMPERATURE: f"attention at temperature {self.value:g}",
            UNCROSSED: "crossing words not counted (q = 0)",
        }[self.kind]


def _quoted(words: Sequence[str], place: int) -> str:
    return f"“{words[place]}”" if place < len(words) else f"word {place + 1}"


def _number(text: str, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise EditError(f"{text[:20]!r} is not a number from {least:g} to {most:g}; enter one")
    return value


def edited_attention(maps: Maps, edits: Iterable[AttentionEdit]) -> list[Tensor]:
    """The maps after applying these edits in order.

    Raises EditError for an edit outside the maps or of a cell the model cannot use."""
    values = [links.values.clone() for links in maps]
    for edit in edits:
        if edit.map >= len(maps):
            raise EditError(f"this model has {len(maps)} attention maps, and the edit {str(edit)!r} is of another")
        if edit.kind == CELL:
            _check_cell(edit, maps[edit.map])
        for number, links in enumerate(maps):
            if edit.kind == TEMPERATURE or number == edit.map:
                rows = values[number].view(-1, links.values.shape[-1])
                changed = [_row(edit, links, i, row) for i, row in enumerate(rows)]
                values[number] = torch.stack(changed).view_as(links.values)
    return values


def _check_cell(edit: AttentionEdit, links: AttentionLinks) -> None:
    width = links.values.shape[-1]
    if edit.row >= links.values.numel() // width or edit.column >= width:
        raise EditError(f"the edit {str(edit)!r} reaches beyond the attention of this pair; undo it")
    if not any(_holds(block, edit.column) for block in links.softmaxes(edit.row)):
        raise EditError(f"the edit {str(edit)!r} is of a cell that this model cannot attend to; choose another one")


def _holds(block: slice, column: int) -> bool:
    return column in range(block.start, block.stop)


def _row(edit: AttentionEdit, links: AttentionLinks, number: int, row: Tensor) -> Tensor:
    if edit.kind == CELL and edit.row != number:
        return row
    out = row.clone()
    if links.least is not None:
        shares = (row - links.least) / (BEST_MATCH - links.least)
        at = slice(edit.column, edit.column + 1) if edit.kind == CELL else slice(None)
        edit = replace(edit, rest=Taken.KEPT.value)
        changed = _OF_SCORES[edit.kind](edit, shares, edit.column, number)
        out[at] = links.least + (BEST_MATCH - links.least) * changed[at].clamp(0.0, 1.0)
        return out
    own = links.values.view(-1, len(row))[number]
    for block in links.softmaxes(number):
        if edit.kind == TEMPERATURE and links.scores is not None and torch.equal(row, own):
            # Not powers of the weights: for scores a hundred apart, the lower weight is 0 in float32 and stays 0.
            scores = links.scores.view(-1, len(row))[number, block]
            out[block] = torch.softmax(scores.double() / edit.value, dim=0).to(row)
        elif edit.kind != CELL or _holds(block, edit.column):
            out[block] = _CHANGED[edit.kind](edit, row[block], edit.column - block.start, number)
    return out


def _cell(edit: AttentionEdit, weights: Tensor, at: int, number: int) -> Tensor:
    out, whole = weights.clone(), weights.sum()
    out[at] = 0.0
    others = out.sum()
    if edit.rest == Taken.RENORMALISED and others > 0:
        out *= (whole - edit.value).clamp(min=0.0) / others
    out[at] = edit.value
    return out


def _uniform(edit: AttentionEdit, weights: Tensor, at: int, number: int) -> Tensor:
    return torch.full_like(weights, 1 / len(weights))


def _tempered(edit: AttentionEdit, weights: Tensor, at: int, number: int) -> Tensor:
    # Scaled to a largest weight of 1: otherwise high powers, even their sum, could underflow to 0 in float32.
    powers = (weights / weights.max()) ** (1 / edit.value) if weights.max() > 0 else weights
    return powers / powers.sum() if powers.sum() > 0 else weights


def _permuted(edit: AttentionEdit, weights: Tensor, at: int, number: int) -> Tensor:
    drawn = torch.Generator().manual_seed(edit.seed * 1_000 + number)
    return weights[torch.randperm(len(weights), generator=drawn)]


_CHANGED: Mapping[str, Callable[[AttentionEdit, Tensor, int, int], Tensor]] = {
    CELL: _cell,
    UNIFORM: _uniform,
    PERMUTED: _permuted,
    TEMPERATURE: _tempered,
}


def _mean(edit: AttentionEdit, shares: Tensor, at: int, number: int) -> Tensor:
    return torch.full_like(shares, shares.mean().item())


def _power(edit: AttentionEdit, shares: Tensor, at: int, number: int) -> Tensor:
    return shares.clamp(min=0.0) ** (1 / edit.value)


_OF_SCORES = {**_CHANGED, UNIFORM: _mean, TEMPERATURE: _power}
"""Operations on rows that are not normalised: uniform is the mean, temperature a power."""


def explain_under(
    checkpoint: Checkpoint,
    first: str,
    second: str,
    edits: Iterable[AttentionEdit],
    *,
    head: str = "",
    records: Collection[type[Record]] | None = None,
) -> Explanation:
    """The model's explanation of a pair under these attention edits, cached for all threads as in
    :func:`core.explain.explained`; ``head`` and ``records`` as in :func:`core.explain.explain`.

    Raises PairError as :func:`core.explain.explain` does, and EditError as :func:`edited_attention` does, for a model
    without attention, and for crossings in a model that does not use them."""
    edits = tuple(edits)
    if not edits and records is None:
        return explained(checkpoint, first, second, head)
    if edits and not checkpoint.settable:
        transformer = AttentionHeads in records_of(checkpoint.card)
        only = "a transformer’s weights cannot be set, only cut: see the effect of each link instead"
        raise EditError(only if transformer else f"the attention of {checkpoint.name} cannot be changed: undo it")
    changes = tuple(edit for edit in edits if edit.kind != UNCROSSED)
    crossings = len(changes) == len(edits)
    if not crossings and not checkpoint.model.reads(checkpoint.card["config"]).crossings:
        raise EditError(f"{checkpoint.name} does not count crossing words: undo it")

    def compute() -> Explanation:
        maps = maps_under(checkpoint, first, second, changes) if changes else ()
        override = as_override([links.values for links in maps]) if changes else None
        return explain(checkpoint, first, second, override=override, crossings=crossings, records=records, head=head)

    return kept(checkpoint, (first, second, edits, head, records), compute)


@torch.inference_mode()
def maps_under(checkpoint: Checkpoint, first: str, second: str, edits: Iterable[AttentionEdit] = ()) -> Maps:
    """The attention maps of a pair after these edits, indexed as in the model's records. Raises as
    :func:`explain_under` does."""
    reading = checkpoint.read(first, second)
    check_words(reading)
    maps = checkpoint.model.links(reading, checkpoint.model(checkpoint.reader.batch(reading)))
    if not maps:
        raise EditError(f"{checkpoint.name} has no attention that could be changed; choose another model")
    changes = [edit for edit in edits if edit.kind != UNCROSSED]
    return [replace(links, values=values) for links, values in zip(maps, edited_attention(maps, changes), strict=True)]
