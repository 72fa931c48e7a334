"""The keys of a run's rows, and an index that finds some of them among a million."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

_TEXTS = np.dtypes.StringDType()


def distinct(ids: list[str]) -> list[str]:
    """The ids with ``#2`` and so on appended to repeated ones."""
    taken, seen = set(ids), dict[str, int]()
    keys = []
    for id in ids:
        seen[id] = count = seen.get(id, 0) + 1
        name = id if count == 1 else f"{id}#{count}"
        while count > 1 and name in taken:
            name += "'"
        taken.add(name)
        keys.append(name)
    return keys


@dataclass(frozen=True)
class RowIndex:
    """The ``keys`` of rows, ``[N]`` of str; their ``hashes``, sorted, int64 ``[N]``; and the row of each. Finds a key
    among a million without comparing all."""

    keys: np.ndarray
    hashes: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, keys: list[str]) -> RowIndex:
        """The index of these keys."""
        hashes = np.fromiter(map(hash, keys), np.int64, len(keys))
        rows = np.argsort(hashes)
        return cls(np.array(keys, dtype=_TEXTS), hashes[rows], rows)

    @property
    def unique(self) -> bool:
        """Whether no two keys are equal, or have the same hash by chance."""
        return not (self.hashes[1:] == self.hashes[:-1]).any()

    def places(self, keys: Iterable[str]) -> dict[str, int]:
        """The index of each row with one of these keys, by its key, in the order of the rows."""
        wanted = [*dict.fromkeys(keys)]
        hashes = np.fromiter(map(hash, wanted), np.int64, len(wanted))
        begin = np.searchsorted(self.hashes, hashes, side="left").tolist()
        end = np.searchsorted(self.hashes, hashes, side="right").tolist()
        found = [
            (int(row), key)
            for key, *some in zip(wanted, begin, end, strict=True)
            for row in self.rows[slice(*some)]
            if self.keys[row] == key
        ]
        return {key: row for row, key in sorted(found)}
