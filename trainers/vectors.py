"""Reads word vectors from text files in GloVe, word2vec or fastText format: a word and D numbers per line."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

import numpy as np
import torch

from core.errors import RunError
from core.reading.tokens import normalise
from core.reading.word_table import WordTable

FREQUENT = 50_000
"""Rows read from the beginning of the file (sorted by frequency) in addition to the words in the data."""


def read_vectors(path: Path, vocabulary: Container[str], frequent: int = FREQUENT) -> WordTable:
    """A word table from the file's first ``frequent`` rows and those whose normalised word is in ``vocabulary``.

    A first line of two integers (word2vec, fastText) is skipped. If several spellings have the same normalised form,
    the first row is used. Unknown words get n-gram vectors with the rows' median norm. Raises RunError naming the line
    of a row whose number of values differs from the first one's, or with a value that is not a number.
    """
    words: dict[str, None] = {}
    rows: list[np.ndarray] = []
    width = 0
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                cells = line.rstrip(" \r\n").split(" ") if "\t" not in line else line.rstrip("\r\n").split("\t")
                if (number == 1 and len(cells) == 2 and all(map(str.isdigit, cells))) or not line.strip():
                    continue
                width = width or len(cells) - 1
                if len(cells) - 1 < max(width, 1):
                    raise RunError(_wrong_width(path, number, cells, width))
                # In a few rows of public files the word contains spaces; numbers are counted from the end.
                word = normalise(" ".join(cells[:-width]))
                if len(cells) - 1 > width and _is_number(cells[-width - 1]):
                    raise RunError(_wrong_width(path, number, cells, width))
                if word in words or not (len(words) < frequent or word in vocabulary):
                    continue
                rows.append(_numbers(path, number, cells[-width:]))
                words[word] = None
    except FileNotFoundError:
        raise RunError(f"the vector file {path} does not exist; give another --vectors") from None
    except OSError as error:
        raise RunError(f"the vector file {path} cannot be read ({error.strerror}); give another --vectors") from None
    if not rows:
        raise RunError(f"{path.name} holds no word vectors; give a text file with a word and its numbers on each line")
    matrix = torch.from_numpy(np.stack(rows))
    return WordTable.from_vectors(list(words), matrix, float(matrix.norm(dim=1).median()), path.name)


def read_folder(folder: Path, vocabulary: Container[str], frequent: int = FREQUENT) -> WordTable:
    """A word table from ``words.txt`` (one word per line) and ``vectors.npy [V, D]``: the first ``frequent`` rows and
    those whose word is in ``vocabulary``.

    The words keep the file's order. If several spellings have the same normalised form, the row spelt in that form is
    used, else the first. All rows are divided by their median norm: GloVe's are about 6, which saturates gates designed
    for the shared table's norms. Unknown words get n-gram vectors of norm .01 · √(D / 3), as under the paper's U(±.01).
    Raises RunError if a file is missing or the two do not match.
    """
    words, vectors = words_and_vectors(folder)
    rows: dict[str, int] = {}
    for i, word in enumerate(words):
        form = normalise(word)
        if (i < frequent or form in vocabulary) and (form not in rows or (word == form and words[rows[form]] != form)):
            rows[form] = i
    if not rows:
        raise RunError(f"{folder.name} has no word of the data; give another folder")
    matrix = torch.from_numpy(np.asarray(vectors[list(rows.values())], dtype=np.float32))
    matrix = matrix / matrix.norm(dim=1).median()
    scale = 0.01 * float(np.sqrt(matrix.shape[1] / 3))
    return WordTable.from_vectors(list(rows), matrix, scale, folder.name)


def words_and_vectors(folder: Path) -> tuple[list[str], np.ndarray]:
    """The words in ``words.txt`` (one per line) and their rows of ``vectors.npy [V, D]``, which stay on disk.

    Raises RunError if a file is missing or the two do not match.
    """
    try:
        words = (folder / "words.txt").read_text(encoding="utf-8").split("\n")
        vectors = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
    except (OSError, EOFError, ValueError):
        raise RunError(f"{folder.name} has no readable words.txt and vectors.npy; give another folder") from None
    words = words[:-1] if words and not words[-1] else words
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise RunError(f"{folder.name} has {len(words):,} words and vectors {list(vectors.shape)}; get it again")
    return words, vectors


def _numbers(path: Path, number: int, cells: list[str]) -> np.ndarray:
    try:
        values = np.array(cells, dtype=np.float32)
    except ValueError:
        values = np.array([np.nan])
    if not np.isfinite(values).all():
        raise RunError(f"line {number} of {path.name} holds something that is not a number; fix or delete the line")
    return values


def _wrong_width(path: Path, number: int, cells: list[str], width: int) -> str:
    return (
        f"line {number} of {path.name} has {len(cells) - 1} numbers where the first row has {width}; "
        "the file is cut off or mixed, get it again"
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
