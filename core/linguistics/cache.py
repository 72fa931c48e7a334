"""A cache of extra features for many pairs, in one SQLite file (see :func:`features`)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from core.files import users_folder
from core.linguistics import LinguisticsError
from core.linguistics.features import FEATURES, extra_features
from core.progress import bar
from core.reading.tokens import MAX_TOKENS, tokenize
from core.reading.word_table import WordTable

VERSION = 2
"""Part of every key: increase it when a change to core.linguistics, or to the tokeniser, changes a value."""
_AT_ONCE = 500
"""Keys per query and rows per commit: limits the loss of a killed run and the waiting time of other processes."""
_SECONDS = 60.0
"""How long a process waits for another's write before it continues without the cache."""


def features(
    kind: str, pairs: Sequence[tuple[str, str]], words: WordTable, cache: Path | None = None, progress: bool = True
) -> np.ndarray:
    """The values of ``core.linguistics.features.FEATURES[kind]`` for N pairs of texts: ``float32 [N, F]``.

    Each text is read up to ``MAX_TOKENS`` tokens. Rows missing from ``cache`` (an SQLite file, by default
    ``$XDG_CACHE_HOME/pairlens/features.sqlite3``) are computed, with a progress bar if ``progress``, and stored there.
    Several processes may share the file. A corrupt file is renamed with the suffix ``.broken``, and one that cannot be
    written is not used; both print a sentence to standard error. Raises LinguisticsError as
    :func:`core.linguistics.features.extra_features` does.
    """
    if kind not in FEATURES:
        raise LinguisticsError(f"no features of the kind {kind!r} exist; choose one of {', '.join(FEATURES)}")
    keys = _keys(kind, pairs, words)
    store = _Store(cache or default_cache(), len(FEATURES[kind]))
    with contextlib.closing(store):
        rows = store.read(list(dict.fromkeys(keys)))
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in rows}
        fresh: dict[bytes, np.ndarray] = {}
        with bar(len(missing), "pair", f"{kind} features", shown=progress) as shown:
            for key, (first, second) in missing.items():
                sides = tokenize(first)[:MAX_TOKENS], tokenize(second)[:MAX_TOKENS]
                rows[key] = fresh[key] = np.array(extra_features(kind, *sides, words), dtype="<f4")
                if len(fresh) == _AT_ONCE:
                    store.write(fresh)
                    fresh = {}
                shown.update()
        store.write(fresh)
    return np.array([rows[key] for key in keys], dtype=np.float32).reshape(len(pairs), len(FEATURES[kind]))


def default_cache() -> Path:
    """The default file for ``features``, in the user's cache folder (XDG base directories)."""
    return users_folder("XDG_CACHE_HOME", ".cache") / "features.sqlite3"


def _keys(kind: str, pairs: Sequence[tuple[str, str]], words: WordTable) -> list[bytes]:
    table = ""
    if kind != "entailment":
        # A table that was not read from a file has no checksum; a hash of its words in order replaces it.
        table = words.sha256 or hashlib.sha256("\n".join(words.words).encode()).hexdigest()
    texts = (json.dumps([kind, VERSION, table, first, second]) for first, second in pairs)
    return [hashlib.sha256(text.encode()).digest() for text in texts]


class _Store:
    """Rows of ``width`` little-endian float32 by key; an unusable store is empty and saves nothing."""

    def __init__(self, path: Path, width: int) -> None:
        self._path, self._width = path, width
        self._connection: sqlite3.Connection | None = None
        with self._guarded():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._open()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, np.ndarray]:
        """The stored rows; a row of the wrong length counts as missing."""
        rows: list[tuple[bytes, object]] = []
        with self._guarded():
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, row FROM pairlens_features WHERE key IN ({marks})"
                rows += self._connection.execute(query, some).fetchall() if self._connection else []
        whole = ((key, row) for key, row in rows if isinstance(row, bytes) and len(row) == 4 * self._width)
        return {key: np.frombuffer(row, dtype="<f4") for key, row in whole}

    def write(self, rows: dict[bytes, np.ndarray]) -> None:
        """Add rows in one transaction."""
        with self._guarded():
            if self._connection and rows:
                with self._connection:
                    self._connection.executemany(
                        "INSERT OR REPLACE INTO pairlens_features VALUES (?, ?)",
                        [(key, row.tobytes()) for key, row in rows.items()],
                    )

    def close(self) -> None:
        if self._connection:
            self._connection.close()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_SECONDS)
        try:
            # The write lock is requested immediately, because only then does sqlite wait if several create the file.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("CREATE TABLE IF NOT EXISTS pairlens_features (key BLOB PRIMARY KEY, row BLOB)")
            connection.commit()
            # With a write-ahead log, readers never wait for the one process that writes. sqlite refuses the change
            # while another process makes it, which is fine.
            with contextlib.suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("SELECT key, row FROM pairlens_features LIMIT 1")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """The cache must never fail a run: rebuild it if corrupt, continue without it if unusable."""
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            self.close()
            self._connection = None
            _say(f"the feature cache {self._path} cannot be used ({error}); the features are computed without it")
        except sqlite3.DatabaseError as error:
            self.close()
            self._connection = None
            _say(f"the feature cache {self._path} is broken ({error}); it is set aside and rebuilt")
            with contextlib.suppress(sqlite3.Error, OSError):
                self._set_aside()
                self._connection = self._open()

    def _set_aside(self) -> None:
        # The log is removed too: sqlite would replay it into the new file.
        for ending in ("-wal", "-shm"):
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
        self._path.replace(self._path.with_name(self._path.name + ".broken"))


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
