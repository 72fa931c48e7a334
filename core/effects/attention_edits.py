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
from typing import NamedTuple

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

    @property
    def of_any_words(self) -> bool:
        """Whether it refers to no cell or map, so that it stays in effect when the words change."""
        return ATTENTION_EDITS[self.kind].of_any_words

    def __str__(self) -> str:
        values = (getattr(self, name) for name in ATTENTION_EDITS[self.kind].fields)
        return " ".join([self.kind, *(f"{value:g}" if isinstance(value, float) else str(value) for value in values)])

    @classmethod
    def parse(cls, text: str) -> AttentionEdit:
        """The inverse of ``str``. Raises EditError for other text, and for values out of range."""
        refused = EditError(f"{text[:80]!r} is not an edit of attention; undo it")
        kind, *parts = text.split(" ")
        if kind not in ATTENTION_EDITS or len(parts) != len(ATTENTION_EDITS[kind].fields):
            raise refused
        given = dict(zip(ATTENTION_EDITS[kind].fields, parts, strict=True))
        value = _number(given.pop("value", "1"), *ATTENTION_EDITS[kind].values)
        rest = given.pop("rest", Taken.RENORMALISED.value)
        whole = all(part.isascii() and part.isdigit() and len(part) <= MOST_DIGITS for part in given.values())
        if not whole or rest not in set(Taken):
            raise refused
        return cls(kind, value=value, rest=rest, **{name: int(part) for name, part in given.items()})

    def describe(self, rows: Sequence[str], columns: Sequence[str], scored: bool = False) -> str:
        """Describes the edit for users; ``rows`` and ``columns``: the words along the edges of its map; ``scored``:
        whether the map holds scores."""
        said = ATTENTION_EDITS[self.kind].said
        return said.format(edit=self) if said else self._of_a_cell(rows, columns, scored)

    def _of_a_cell(self, rows: Sequence[str], columns: Sequence[str], scored: bool) -> str:
        kept_rest = ", the rest kept" if self.rest == Taken.KEPT and not scored else ""
        looks = "matches" if scored else "looks at"
        cell = f"{_quoted(rows, self.row)} {looks} {_quoted(columns, self.column)}"
        return f"{cell} with {percent(self.value)}{kept_rest}"


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
            if edit.of_any_words or number == edit.map:
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
        kind = ATTENTION_EDITS[edit.kind]
        changed = (kind.of_scores or kind.of_weights)(edit, shares, edit.column, number)
        out[at] = links.least + (BEST_MATCH - links.least) * changed[at].clamp(0.0, 1.0)
        return out
    own = links.values.view(-1, len(row))[number]
    for block in links.softmaxes(number):
        if edit.kind == TEMPERATURE and links.scores is not None and torch.equal(row, own):
            # Not powers of the weights: for scores a hundred apart, the lower weight is 0 in float32 and stays 0.
            scores = links.scores.view(-1, len(row))[number, block]
            out[block] = torch.softmax(scores.double() / edit.value, dim=0).to(row)
        elif edit.kind != CELL or _holds(block, edit.column):
            out[block] = ATTENTION_EDITS[edit.kind].of_weights(edit, row[block], edit.column - block.start, number)
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


def _same(edit: AttentionEdit, weights: Tensor, at: int, number: int) -> Tensor:
    return weights


def _mean(edit: AttentionEdit, shares: Tensor, at: int, number: int) -> Tensor:
    return torch.full_like(shares, shares.mean().item())


def _power(edit: AttentionEdit, shares: Tensor, at: int, number: int) -> Tensor:
    return shares.clamp(min=0.0) ** (1 / edit.value)


Change = Callable[[AttentionEdit, Tensor, int, int], Tensor]
"""Changes a row (its number last) within one softmax, given where the edit's column is in it."""


class AttentionEditKind(NamedTuple):
    """A kind of edit: the fields of its text form, in order; its description for users, if it needs no words; the
    changed weights of a row, and of a row of scores, which is not normalised, if they differ; the lowest and the
    highest ``value``; and :attr:`AttentionEdit.of_any_words`."""

    fields: tuple[str, ...]
    said: str
    of_weights: Change
    of_scores: Change | None = None
    values: tuple[float, float] = TEMPERATURES
    of_any_words: bool = False


ATTENTION_EDITS: Mapping[str, AttentionEditKind] = {
    CELL: AttentionEditKind(("map", "row", "column", "value", "rest"), "", _cell, values=(0.0, 1.0)),
    UNIFORM: AttentionEditKind(("map",), "attention uniform", _uniform, _mean),
    PERMUTED: AttentionEditKind(("map", "seed"), "attention permuted (seed {edit.seed})", _permuted),
    TEMPERATURE: AttentionEditKind(
        ("value",), "attention at temperature {edit.value:g}", _tempered, _power, of_any_words=True
    ),
    UNCROSSED: AttentionEditKind((), "crossing words not counted (q = 0)", _same, of_any_words=True),
}
"""The kinds of edits by the first word of their text form."""


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
    return [replace(links, values=values) for links, values in zip(maps, edited_attention(maps, edits), strict=True)]
