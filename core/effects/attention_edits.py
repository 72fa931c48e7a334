"""Changes of a model's attention by hand: a cell's weight, a column boosted or muted, a whole map made another.

An edit has a short text form (``cell 0 3 2 0.8 kept``), as those of the words have (:mod:`core.effects.edits`). Maps,
rows and columns count from 0 as a model's records number them, the null word's column last. All edits hold to the cells
that the model could use: those of a row's softmaxes.

In a map of scores, where a choice or a pooling follows (phrases, ABCNN, AP-CNN), there is one rule: an edit holds to a
score's share of the way from the least match (0) to the best (1, a score of :data:`BEST_MATCH`) as it does to a weight,
and no row is normalised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from core.checkpoint import Checkpoint, records_of
from core.effects.edits import EditError
from core.effects.links import Taken
from core.effects.other_attention import fits, maps_of, maps_of_another, no_such_model, version_of_another
from core.evidence import Explanation
from core.evidence.attention_heads import AttentionHeads
from core.explain import explain, explained, kept, said_at, word_maps
from core.external.checkpoint import ExternalCheckpoint
from core.layers.attention import Override, as_override
from core.models.base import AttentionLinks
from core.wording import percent

CELL, COLUMN, UNIFORM, DIAGONAL, SHARPER, PERMUTED = "cell", "column", "uniform", "diagonal", "sharper", "permuted"
FROM = "from"
KINDS: Mapping[str, tuple[str, ...]] = {
    CELL: ("map", "row", "column", "value", "rest"),
    COLUMN: ("map", "column", "value", "rest"),
    UNIFORM: ("map",),
    DIAGONAL: ("map",),
    SHARPER: ("map", "value"),
    PERMUTED: ("map", "seed"),
    FROM: ("map", "other", "model"),
}
"""What each kind's text form has, in this order."""
LARGEST = 100.0
"""Factor of a boosted column, and power of a sharpened row."""
LONGEST_NAME = 200
"""Characters of another model's name."""
BEST_MATCH = 1.0
"""The largest score that a match can have: a cosine's, a tanh's, and 1 / (1 + distance) of no distance."""
MOST_DIGITS = 9
"""Of a map's, row's or column's number, and of a seed."""

Maps = Sequence[AttentionLinks]


@dataclass(frozen=True)
class AttentionEdit:
    """One change of the map with this number.

    - ``cell``: its weight becomes ``value``, from 0 to 1;
    - ``column``: its weights are multiplied by ``value``, 0 mutes it;
    - ``uniform``: each softmax gives all its cells the same weight, a row of scores all of them its mean;
    - ``diagonal``: a row's whole weight is on the column at the same share of the way;
    - ``sharper``: each weight to the power ``value``, the row normalised: the softmax at temperature 1 / ``value``;
    - ``permuted``: each softmax's weights in another order, drawn with ``seed``;
    - ``from``: the map ``other`` of the model of this name (another seed's, say) in its place.

    ``rest``: whether the other cells of a row stay (``kept``) or the row adds up to what it did (``renormalised``; of a
    cell the others are scaled, and a row that cannot be stays as it is typed).
    """

    kind: str
    map: int = 0
    row: int = 0
    column: int = 0
    value: float = 1.0
    rest: str = Taken.RENORMALISED.value
    seed: int = 0
    other: int = 0
    model: str = ""

    def __str__(self) -> str:
        values = (getattr(self, name) for name in KINDS[self.kind])
        return " ".join([self.kind, *(f"{value:g}" if isinstance(value, float) else str(value) for value in values)])

    @classmethod
    def parse(cls, text: str) -> AttentionEdit:
        """The inverse of ``str``. Raises EditError for a text that is none, and for weights that are no numbers."""
        refused = EditError(f"{text[:80]!r} is not an edit of attention; undo it")
        kind, _, rest_of_text = text.partition(" ")
        names = KINDS.get(kind, ())
        parts = rest_of_text.split(" ", len(names) - 1)
        if kind not in KINDS or len(parts) != len(names):
            raise refused
        given = dict(zip(names, parts, strict=True))
        model = given.pop("model", "")
        value = _number(given.pop("value", "1"), 1.0 if kind == CELL else LARGEST)
        rest = given.pop("rest", Taken.RENORMALISED.value)
        whole = all(part.isascii() and part.isdigit() and len(part) <= MOST_DIGITS for part in given.values())
        if not whole or rest not in set(Taken) or len(model) > LONGEST_NAME or "\n" in model:
            raise refused
        return cls(kind, value=value, rest=rest, model=model, **{name: int(part) for name, part in given.items()})

    def describe(self, rows: Sequence[str], columns: Sequence[str], scored: bool = False) -> str:
        """What it does, for people; ``rows`` and ``columns``: the words along the edges of its map, which is of
        scores where it is ``scored``."""
        column = _quoted(columns, self.column)
        kept_rest = ", the rest kept" if self.rest == Taken.KEPT and not scored else ""
        if self.kind == CELL:
            looks = "matches" if scored else "looks at"
            return f"{_quoted(rows, self.row)} {looks} {column} with {percent(self.value)}{kept_rest}"
        if self.kind == COLUMN:
            done = ("match with", "matches with") if scored else ("look at", "looks at")
            return (f"no {done[0]} {column}" if self.value == 0 else f"{done[1]} {column} × {self.value:g}") + kept_rest
        return {
            UNIFORM: "attention uniform",
            DIAGONAL: "attention on the diagonal",
            SHARPER: f"attention sharper (power {self.value:g})",
            PERMUTED: f"attention permuted (seed {self.seed})",
            FROM: f"attention of {self.model}",
        }[self.kind]


def _quoted(words: Sequence[str], place: int) -> str:
    return f"“{words[place]}”" if place < len(words) else f"word {place + 1}"


def _number(text: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= most:
        raise EditError(f"{text[:20]!r} is not a number from 0 to {most:g}; type one")
    return value


def _no_other(name: str) -> Maps:
    raise no_such_model(name)


def edited_attention(
    maps: Maps, edits: Iterable[AttentionEdit], maps_of_other: Callable[[str], Maps] = _no_other
) -> list[Tensor]:
    """The values of the maps after these edits, one after the other. ``maps_of_other``: the maps of the model of this
    name on the same pair.

    Raises EditError for an edit beyond a map or of a cell that the model cannot use, and for another model's map that
    does not fit."""
    values = [links.values.clone() for links in maps]
    for edit in edits:
        if edit.map >= len(maps):
            raise EditError(f"this model has {len(maps)} attention maps, and the edit {str(edit)!r} is of another")
        links = maps[edit.map]
        rows = values[edit.map].view(-1, links.values.shape[-1])
        if edit.row >= len(rows) or edit.column >= rows.shape[1]:
            raise EditError(f"the edit {str(edit)!r} reaches beyond the attention of this pair; undo it")
        if edit.kind == CELL and not any(_holds(block, edit.column) for block in links.softmaxes(edit.row)):
            raise EditError(f"the edit {str(edit)!r} is of a cell that this model cannot attend to; choose another one")
        if edit.kind == FROM:
            values[edit.map] = _of_another(edit, links, maps_of_other(edit.model))
        else:
            changed = [_row(edit, links, i, row) for i, row in enumerate(rows)]
            values[edit.map] = torch.stack(changed).view_as(links.values)
    return values


def _holds(block: slice, column: int) -> bool:
    return column in range(block.start, block.stop)


def _of_another(edit: AttentionEdit, links: AttentionLinks, others: Maps) -> Tensor:
    """The other model's map; a map without the null word gives it no weight."""
    if edit.other >= len(others):
        raise EditError(f"{edit.model} has {len(others)} attention maps, and the edit {str(edit)!r} is of another")
    other = others[edit.other]
    if not fits(links, other):
        raise EditError(f"the attention of {edit.model} has other rows, columns or units than this; choose another one")
    values = links.values.new_zeros(links.values.shape)
    values[..., : other.values.shape[-1]] = other.values
    return values


def _row(edit: AttentionEdit, links: AttentionLinks, number: int, row: Tensor) -> Tensor:
    if edit.kind == CELL and edit.row != number:
        return row
    if links.least is not None:
        shares = (row - links.least) / (BEST_MATCH - links.least)
        at = slice(edit.column, edit.column + 1) if edit.kind in (CELL, COLUMN) else slice(None)
        edit = replace(edit, rest=Taken.KEPT.value)
        changed = _OF_SCORES[edit.kind](edit, shares, edit.column, _share(links, number, row), number)
        out = row.clone()
        out[at] = links.least + (BEST_MATCH - links.least) * changed[at].clamp(0.0, 1.0)
        return out
    out = row.clone()
    for block in links.softmaxes(number):
        columns = range(*block.indices(len(row)))
        if edit.kind in (CELL, COLUMN) and not _holds(block, edit.column):
            continue
        out[block] = _CHANGED[edit.kind](
            edit, row[block], edit.column - columns.start, _share(links, number, row), number
        )
    return out


def _share(links: AttentionLinks, number: int, row: Tensor) -> float:
    """How far down the map a row stands, from 0 to 1."""
    count = links.values.numel() // len(row)
    return number / max(1, count - 1)


def _cell(edit: AttentionEdit, weights: Tensor, at: int, share: float, number: int) -> Tensor:
    out, whole = weights.clone(), weights.sum()
    out[at] = 0.0
    others = out.sum()
    if edit.rest == Taken.RENORMALISED and others > 0:
        out *= (whole - edit.value).clamp(min=0.0) / others
    out[at] = edit.value
    return out


def _column(edit: AttentionEdit, weights: Tensor, at: int, share: float, number: int) -> Tensor:
    out, whole = weights.clone(), weights.sum()
    out[at] *= edit.value
    return out * (whole / out.sum()) if edit.rest == Taken.RENORMALISED and out.sum() > 0 else out


def _uniform(edit: AttentionEdit, weights: Tensor, at: int, share: float, number: int) -> Tensor:
    return torch.full_like(weights, 1 / len(weights))


def _diagonal(edit: AttentionEdit, weights: Tensor, at: int, share: float, number: int) -> Tensor:
    out = torch.zeros_like(weights)
    out[round(share * (len(weights) - 1))] = 1.0
    return out


def _sharper(edit: AttentionEdit, weights: Tensor, at: int, share: float, number: int) -> Tensor:
    # Largest weight 1 first: a small weight's high power would be 0 in float32, and so might be the sum.
    powers = (weights / weights.max()) ** edit.value if weights.max() > 0 else weights
    return powers / powers.sum() if powers.sum() > 0 else weights


def _permuted(edit: AttentionEdit, weights: Tensor, at: int, share: float, number: int) -> Tensor:
    drawn = torch.Generator().manual_seed(edit.seed * 1_000 + number)
    return weights[torch.randperm(len(weights), generator=drawn)]


_CHANGED: Mapping[str, Callable[[AttentionEdit, Tensor, int, float, int], Tensor]] = {
    CELL: _cell,
    COLUMN: _column,
    UNIFORM: _uniform,
    DIAGONAL: _diagonal,
    SHARPER: _sharper,
    PERMUTED: _permuted,
}


def _mean(edit: AttentionEdit, shares: Tensor, at: int, share: float, number: int) -> Tensor:
    return torch.full_like(shares, shares.mean().item())


def _power(edit: AttentionEdit, shares: Tensor, at: int, share: float, number: int) -> Tensor:
    return shares.clamp(min=0.0) ** edit.value


_OF_SCORES = {**_CHANGED, UNIFORM: _mean, SHARPER: _power}
"""Of a row that is not normalised: what is uniform is its mean, and what is sharper its power."""


def explain_under(
    checkpoint: Checkpoint,
    first: str,
    second: str,
    edits: Iterable[AttentionEdit],
    *,
    temperature: float = 1.0,
    crossings: bool = True,
    head: str = "",
) -> Explanation:
    """What the model says of a pair under these edits of its attention, kept for all threads as
    :func:`core.explain.explained` keeps what it says without them. The edits begin with the weights at this temperature
    and with or without crossings; ``head`` as in :func:`core.explain.explain`. Raises PairError and ValueError as
    :func:`core.explain.explain` does, and EditError as :func:`edited_attention` does, for a model without attention and
    for another one that is not there."""
    edits = tuple(edits)
    own = explained(checkpoint, first, second, temperature, crossings, head)
    if not edits:
        return own

    if isinstance(checkpoint, ExternalCheckpoint):
        transformer = AttentionHeads in records_of(checkpoint.card)
        only = "a transformer’s weights cannot be set, only cut: look at what each link does instead"
        raise EditError(only if transformer else f"the attention of {checkpoint.name} cannot be changed: undo it")

    def compute() -> Explanation:
        tempered = [torch.tensor(record.override) for record in word_maps(own)] if temperature != 1 else []
        base = as_override(tempered) if tempered else None
        changed = as_override([links.values for links in maps_under(checkpoint, first, second, edits, base, crossings)])
        return said_at(temperature, explain(checkpoint, first, second, override=changed, crossings=crossings))

    return kept(checkpoint, (first, second, temperature, crossings, *map(_key, edits)), compute)


def maps_under(
    checkpoint: Checkpoint,
    first: str,
    second: str,
    edits: Iterable[AttentionEdit],
    base: Override | None = None,
    crossings: bool = True,
) -> Maps:
    """The attention maps of a pair after these edits, which begin with ``base`` in the place of the model's own.
    Raises as :func:`explain_under` does."""
    maps = maps_of(checkpoint, first, second, base, crossings)
    if not maps:
        raise EditError(f"{checkpoint.name} has no attention that could be changed; choose another model")
    changed = edited_attention(maps, edits, lambda name: maps_of_another(checkpoint, name, first, second))
    return [replace(links, values=values) for links, values in zip(maps, changed, strict=True)]


def _key(edit: AttentionEdit) -> Hashable:
    """What an edit does, in the same words wherever it does the same."""
    return (edit, version_of_another(edit.model)) if edit.kind == FROM else edit
