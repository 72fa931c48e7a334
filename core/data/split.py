"""Divides rows into two parts that share no text, one of them held out: a model tested on a text it was trained on
shows what it remembers.

    parts([(row.first, row.second) for row in rows], share=0.2, seed=0) -> Parts
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.data.dataset import DataError
from core.lazy import import_alone
from core.wording import counted


@dataclass(frozen=True)
class Parts:
    """The indices of the rows in each part, int, ascending."""

    train: np.ndarray
    held_out: np.ndarray
    left_out: np.ndarray
    """Rows in neither part because they share one text with each; most files have none."""


def parts(pairs: Sequence[tuple[str, str]], share: float = 0.2, seed: int = 0, labels: Sequence[object] = ()) -> Parts:
    """Holds out about this ``share`` of the rows, given as pairs of texts (the second one empty for single texts).

    Rows with a text in common, in either place, stay together: the connected components of the graph whose nodes are
    texts (their words, whatever case and punctuation) and whose edges are rows. A row's part depends on texts and
    ``seed``, not on the order of the rows. With ``labels``, each label has the same share if its components allow, and
    keeps rows to train on. If a component has most of the rows, as where few texts are paired with many, it is divided
    and the rows that connect its two parts are left out.

    Raises DataError if not even that gives two parts.
    """
    numbers: dict[str, int] = {}
    ends = [_ends(numbers, *map(_words, pair)) for pair in pairs]
    drawn = [hashlib.blake2b(f"{seed} {text}".encode(), digest_size=8).digest() for text in numbers]
    by_row = [*labels] or [None] * len(pairs)
    room = {label: int(share * count + 0.5) for label, count in Counter(by_row).items()}
    side, held = np.zeros(len(pairs), dtype=int), 0
    components = _components(ends, drawn)
    for rows in components:
        own = Counter(by_row[row] for row in rows)
        if all(count <= room[label] for label, count in own.items()):
            for label, count in own.items():
                room[label] -= count
            side[rows], held = 1, held + len(rows)
    if components and held < share * len(pairs) / 2:
        _divide(max(components, key=len), ends, drawn, share * len(pairs) - held, side)
    train, held_out, left_out = (np.flatnonzero(side == value) for value in (0, 1, -1))
    if not len(train) or not len(held_out):
        raise DataError(
            f"{counted(len(pairs), 'row')} cannot be divided into two parts without a common text; give held-out rows "
            "in a file of their own"
        )
    return Parts(train, held_out, left_out)


def folds(pairs: Sequence[tuple[str, str]], number: int, seed: int = 0) -> np.ndarray:
    """The fold of each row, int ``[N]``, for cross-validation: rows with a text in common stay together
    (:func:`sharing`), and folds have about the same size."""
    sizes, out = [0] * number, np.empty(len(pairs), dtype=int)
    for rows in sorted(sharing(pairs, len(pairs) // number, seed), key=len, reverse=True):
        smallest = min(range(number), key=sizes.__getitem__)
        out[rows], sizes[smallest] = smallest, sizes[smallest] + len(rows)
    return out


def sharing(pairs: Sequence[tuple[str, str]], most: int, seed: int = 0) -> list[list[int]]:
    """The rows of each group with texts in common, as in :func:`parts`. A component of more than ``most`` rows is
    divided by its first texts, which stay together; its second texts do not."""
    numbers: dict[str, int] = {}
    ends = [_ends(numbers, *map(_words, pair)) for pair in pairs]
    drawn = [hashlib.blake2b(f"{seed} {text}".encode(), digest_size=8).digest() for text in numbers]
    groups = list[list[int]]()
    for rows in _components(ends, drawn):
        by_first = defaultdict[int, list[int]](list)
        for row in rows:
            by_first[ends[row][0] if len(rows) > most else 0].append(row)
        groups += by_first.values()
    return groups


def in_common(pairs: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]) -> np.ndarray:
    """Whether each pair shares a text with one of the others, bool ``[N]``; texts are compared as in :func:`parts`."""
    known = {_words(text) for pair in others for text in pair if text}
    return np.array([any(text and _words(text) in known for text in pair) for pair in pairs], dtype=bool)


def _ends(numbers: dict[str, int], first: str, second: str) -> tuple[int, int]:
    """The nodes that a row connects; an empty second text does not count as a node."""
    number = numbers.setdefault(first, len(numbers))
    return number, numbers.setdefault(second, len(numbers)) if second else number


def _words(text: str) -> str:
    """The words of a text, by which texts are compared; the text itself if it has none."""
    return " ".join(re.findall(r"\w+", text.casefold())) or text.strip()


def _components(ends: Sequence[tuple[int, int]], drawn: Sequence[bytes]) -> list[list[int]]:
    """The rows of each component, in the order of the least number ``drawn`` for its texts."""
    if not ends:
        return []
    from_, to = np.array(ends).T
    import_alone("scipy.sparse.csgraph")
    from scipy.sparse import coo_array  # imported here, because it is slow to import
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(ends), dtype=bool), (from_, to)), shape=(len(drawn), len(drawn)))
    of_text = connected_components(graph, directed=False)[1].tolist()
    rows: dict[int, list[int]] = {of_text[text]: [] for text in sorted(range(len(drawn)), key=drawn.__getitem__)}
    for row, (text, _) in enumerate(ends):
        rows[of_text[text]].append(row)
    return [*rows.values()]


def _divide(
    rows: Sequence[int], ends: Sequence[tuple[int, int]], drawn: Sequence[bytes], wanted: float, side: np.ndarray
) -> None:
    """Holds out (1) rows among texts near one another, and leaves out (-1) those that connect them with others."""
    at: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        for text in {*ends[row]}:
            at[text].append(row)
    near, held = set[int](), 0
    for text in _nearest_first(at, ends, drawn, most=max(1, wanted)):
        near.add(text)
        held += sum(near.issuperset(ends[row]) for row in at[text])
        if held >= wanted:
            break
    inside = [near.intersection(ends[row]) for row in rows]
    side[rows] = [bool(own) and (1 if own == {*ends[row]} else -1) for row, own in zip(rows, inside, strict=True)]


def _nearest_first(
    at: dict[int, list[int]], ends: Sequence[tuple[int, int]], drawn: Sequence[bytes], most: float
) -> Iterator[int]:
    """Texts by their distance from one drawn first, without those in more than ``most`` rows, such as "none": held out,
    they would leave out all other rows they are in."""
    seen = {text for text, rows in at.items() if len(rows) > most}
    for start in sorted(at.keys() - seen, key=drawn.__getitem__):
        queue = deque([start] if start not in seen else [])
        seen.add(start)
        while queue:
            yield (text := queue.popleft())
            new = {other for row in at[text] for other in ends[row]} - seen
            seen |= new
            queue.extend(sorted(new, key=drawn.__getitem__))
