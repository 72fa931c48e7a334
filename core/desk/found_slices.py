"""Slices found by searching one half of the rows and confirmed on the other.

A hash of each row's id determines the halves before any search (:attr:`core.desk.run.Run.held_back`). The search tests
the slices of all columns that do not require the label, frequent words in either text, and pairs of the most
significant ones. Those with q ≤ :data:`LEVEL` (Benjamini & Hochberg) are tested again on the held-back half, as one
family.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.desk.columns import texts_of_row
from core.desk.filters import compiled, literal, quoted
from core.desk.leakage import leaks, without_leaks
from core.desk.run import Run, prediction_of
from core.desk.slices import Items, Slice, SliceScore, adjusted, q_values, slices
from core.desk.table import RunTable, picked

MOST_ROWS = 50_000
"""Maximum number of rows searched in a larger file, sampled by the same hash."""
MOST_WORDS = 200
"""Number of words per text, the most frequent first."""
MOST_PAIRED = 60
LEAST = 25
"""Minimum number of items of a slice in each half."""
LEVEL = 0.05
PURE = 0.95
"""A slice's predicted class reveals whether the model is right if this share of its items has one label."""


@dataclass(frozen=True)
class FoundSlice:
    """A slice whose score differs significantly: its score on the searched and on the held-back half, and whether it
    ``holds`` there: the difference has the same direction, with q ≤ :data:`LEVEL`."""

    searched: SliceScore
    held_back: SliceScore
    holds: bool


@dataclass(frozen=True)
class Search:
    """The significant slices, confirmed ones first, then by difference on the held-back half; with the number of slices
    ``tested``, and of items in each half."""

    found: tuple[FoundSlice, ...]
    tested: int
    searched: int
    held_back: int


def search(run: Run, model: int, table: RunTable) -> Search:
    """Searches for slices on which the model's score differs. The rows must have labels (:attr:`Run.labelled`)."""
    items = Items.of(run, model)
    items = items.kept(np.sort(np.argsort(run.draws[items.rows] >> 1)[:MOST_ROWS]))
    candidates = [*_of_columns(run, model, table, items), *_words(run, table, items.rows)]
    known, masks = [part for part, _ in candidates], np.array([mask for _, mask in candidates])
    masks = masks.reshape(len(known), len(items.rows))
    held, gold = run.held_back[items.rows], run.gold_answers[model][items.rows]
    large = np.minimum(masks[:, ~held].sum(1), masks[:, held].sum(1)) >= LEAST
    known, masks = [part for part, enough in zip(known, large, strict=True) if enough], masks[large]
    own, other = items.kept(~held), items.kept(held)
    inside = masks[:, ~held]
    p = own.p_values(inside.sum(1), np.array([own.scores[mask].sum() for mask in inside]))
    paired = [int(i) for i in np.argsort(p)[:MOST_PAIRED] if not np.isnan(p[i])]
    pairs, counts, totals = _pairs(own, inside[paired], masks[paired][:, held])
    told = _told([known[i] for i in paired], masks[paired], gold, model)
    pairs, counts, totals = (values[~told[tuple(pairs.T)]] for values in (pairs, counts, totals))
    sources = [(i,) for i in range(len(known))] + [(paired[i], paired[j]) for i, j in pairs]
    p = np.concatenate([p, own.p_values(counts, totals)])
    q = np.array(q_values(p))
    searched, confirmed = list[SliceScore](), list[SliceScore]()
    for place in np.flatnonzero(q <= LEVEL):
        part, mask = _joined([known[i] for i in sources[place]]), masks[[*sources[place]]].all(0)
        searched.append(replace(own.on(part, mask[~held]), q=float(q[place])))
        confirmed.append(other.on(part, mask[held]))
    found = [
        FoundSlice(a, b, b.q <= LEVEL and (a.score > a.outside) == (b.score > b.outside))
        for a, b in zip(searched, adjusted(confirmed), strict=True)
    ]
    found.sort(key=lambda one: (not one.holds, -one.held_back.weight))
    return Search(tuple(found), int((~np.isnan(p)).sum()), len(own.rows), int(held.sum()))


def _of_columns(run: Run, model: int, table: RunTable, items: Items) -> list[tuple[Slice, np.ndarray]]:
    """The slices of columns that do not leak the answer (:mod:`core.desk.leakage`), with their items, bool ``[I]``."""
    parts, labels = slices(without_leaks(run, model, table)), {*map(str.casefold, run.spellings.values())}
    conditions = [compiled(part.expression, table.columns) for part in parts]
    masks = [column.to_numpy() for column in table.masks(conditions, items.rows).columns]
    values: dict[str, list[int]] = defaultdict(list)
    for place, part in enumerate(parts):
        values[part.dimension].append(place)
    own = {name: table.columns[name] for name in values if name in table.columns}  # of the file, or the user's
    gold, leaky = run.gold_answers[model][items.rows], set[str]()
    right = [run.right(each)[items.rows] for each in range(len(run.models))]
    for name in own:
        named = sum(parts[place].value.casefold() in labels for place in values[name]) > 1
        if named or (not items.ranks and leaks([masks[place] for place in values[name]], gold, right)):
            leaky.add(name)
    leaky |= {name for name, column in own.items() if column.computed_from & leaky}
    return [(part, mask) for part, mask in zip(parts, masks, strict=True) if part.dimension not in leaky]


def _told(parts: Sequence[Slice], masks: np.ndarray, gold: np.ndarray, model: int) -> np.ndarray:
    """Pairs of a predicted class and a slice nearly all of whose items have one label, which together reveal whether
    the model is right, bool ``[K, K]``."""
    predicted = np.array([part.dimension == prediction_of(model) for part in parts], dtype=bool)
    pure = np.array([np.bincount(gold[mask]).max(initial=0) >= PURE * mask.sum() for mask in masks], dtype=bool)
    told = predicted[:, None] & pure[None]
    return told | told.T


def _words(run: Run, table: RunTable, rows: np.ndarray) -> list[tuple[Slice, np.ndarray]]:
    """The most frequent words of each text, and which rows have them, bool ``[I]``. They are the words matched by "has
    word": "isn't" has "is" and "not". One regular expression per word would take ten times as long."""
    found = []
    for name in texts_of_row(run):
        column = table.columns[name]
        negated = f"regexp_replace({column.folded}, '(n[''’]t)([^\\pL\\pM\\pN-]|$)|cannot', ' \\0 not \\2', 'g')"
        words = f"unnest(list_distinct(regexp_extract_all({negated}, '[\\pL\\pM\\pN-]{{{{2,}}}}')))"
        sql = (
            f"SELECT word, list(place) FROM (SELECT place, {words} AS word FROM {{rows}}) "
            f"GROUP BY word HAVING count(*) >= {2 * LEAST} ORDER BY count(*) DESC, word LIMIT {MOST_WORDS}"
        )
        frequent = table.query(sql, picked=picked(rows))
        for word, places in zip(*(values.to_pylist() for values in frequent.columns), strict=True):
            mask = np.zeros(len(rows), dtype=bool)
            mask[places] = True
            expression = f"{quoted(name)} has word {literal(word)}"
            found.append((Slice(f"{column.about} has the word", word, expression, len(places)), mask))
    return found


def _pairs(items: Items, masks: np.ndarray, held: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pairs of slices (bool ``[K, I]`` on each half) with enough rows and a significant difference within both: int
    ``[P, 2]``, with the number of their items ``[P]`` and the sum of these items' scores ``[P]``."""
    numbers = masks.astype(np.float32)
    counts, others = numbers @ numbers.T, held.astype(np.float32) @ held.T.astype(np.float32)
    totals = (numbers * items.scores.astype(np.float32)) @ numbers.T
    inside = [items.kept(mask).p_values(counts[i], totals[i]) for i, mask in enumerate(masks)]
    means = totals / np.maximum(counts, 1)
    apart = means - np.diag(means)[:, None]
    telling = (np.array(inside) < LEVEL) & (np.minimum(counts, others) >= LEAST)
    both = np.triu(telling & telling.T & (apart * apart.T > 0), 1)
    return np.argwhere(both), counts[both], totals[both]


def _joined(parts: Sequence[Slice]) -> Slice:
    """The slice itself, or the intersection of two."""
    if len(parts) == 1:
        return parts[0]
    one, other = parts
    name = f"{one.dimension}: {one.value} and {other.dimension}"
    return Slice(name, other.value, f"{one.expression} and {other.expression}", 0)
