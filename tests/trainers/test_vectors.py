"""Word vectors from text files."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from core.errors import RunError
from trainers.vectors import read_vectors


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("header", ["", "3 2\n"])
def test_glove_and_word2vec_layouts(tmp_path: Path, header: str) -> None:
    path = write(tmp_path / "v.txt", f"{header}The 1 -2\nthe 9 9\n. . 3 4 \nDog 0.5 1e-1\n")
    table = read_vectors(path, {})
    assert table.words == ["the", ". .", "dog"] and table.width == 2
    assert torch.allclose(table.vectors(["the", "dog"]), torch.tensor([[1.0, -2.0], [0.5, 0.1]]), atol=0.02)


def test_only_frequent_and_wanted_words_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "v.txt", "".join(f"w{i} {i} 1\n" for i in range(10)))
    assert read_vectors(path, {"w7"}, frequent=2).words == ["w0", "w1", "w7"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a 1 2\nb 1\n", "line 2 of v.txt has 1 numbers where the first row has 2"),
        ("a 1 2\nb 1 2 3\n", "line 2 of v.txt has 3 numbers where the first row has 2"),
        ("a 1 2\nb 1 x\n", "line 2 of v.txt holds something that is not a number"),
        ("a 1 2\nb 1 nan\n", "line 2"),
        ("", "no word vectors"),
    ],
)
def test_a_broken_file_is_named_by_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RunError, match=says):
        read_vectors(write(tmp_path / "v.txt", text), {})


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="does not exist"):
        read_vectors(tmp_path / "none.txt", {})
