"""Word vectors from a text file as GloVe, word2vec and fastText write them: a word and D numbers a line."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

import numpy as np
import torch

from core.errors import RunError
from core.reading.tokens import normalise
from core.reading.word_table import WordTable

FREQUENT = 50_000
"""Rows read from the file's beginning (such files go from frequent to rare) in addition to the words of the data."""


def read_vectors(path: Path, vocabulary: Container[str], frequent: int = FREQUENT) -> WordTable:
    """A word table from the file's first ``frequent`` rows and those whose normalised word is in ``vocabulary``.

    A first line of two whole numbers (word2vec, fastText) is skipped. Of several spellings of one normalised form the
    first row counts. Unknown words get n-gram vectors of the rows' median length. Raises RunError naming the line of a
    row with another number of values than the first one's, or with something that is not a number.
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
                # A few rows of public files hold spaces in the word; the numbers are counted from the end.
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
        raise RunError(f"{path.name} holds no word vectors; give a text file with a word and its numbers a line")
    matrix = torch.from_numpy(np.stack(rows))
    return WordTable.from_vectors(list(words), matrix, float(matrix.norm(dim=1).median()), path.name)


def read_folder(folder: Path, vocabulary: Container[str], frequent: int = FREQUENT) -> WordTable:
    """A word table from ``words.txt`` (a word a line) and ``vectors.npy [V, D]``: the first ``frequent`` rows and those
    whose word is in ``vocabulary``.

    The words keep the file's order. Of several spellings of one normalised form the first row that is spelt in it
    counts, else the first row. All rows are divided by their median length: GloVe's are about 6 long, which saturates
    gates made for rows of the shared table's length. Unknown words get n-gram vectors of length .01 · √(D / 3), as
    under the paper's U(±.01). Raises RunError when a file is missing or the two do not fit.
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
    """The words of ``words.txt`` (a word a line) and their rows of ``vectors.npy [V, D]``, which stay on the disk.

    Raises RunError when a file is missing or the two do not fit.
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
