"""Word vectors that are trained with the model, as Shen et al. (2018, section 4) train those of documents.

The trainer hands a model vectors; here it hands over row numbers as vectors of width 1 (exact below 2^24), and the
vectors themselves are weights like all others: optimizer, running mean, saved state and processes know no difference.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.evaluation.encoding import Vocabulary
from core.reading.batch import Batch
from core.reading.word_table import WordTable

RANGE = 0.001
"""Vectors start as U(±.001) (Shen et al. 2018, section 4)."""


def random_table(vocabulary: Vocabulary, width: int, seed: int) -> WordTable:
    """Vectors to start from, for every word of the data."""
    drawn = torch.empty(len(vocabulary.ids), width)
    drawn.uniform_(-RANGE, RANGE, generator=torch.Generator().manual_seed(seed))
    return WordTable.from_vectors(list(vocabulary.ids), drawn, RANGE, f"random {width}")


def row_numbers(vocabulary: Vocabulary) -> Tensor:
    """What stands for the vectors: each row's own number, ``[V + 1, 1]``."""
    return torch.arange(len(vocabulary.ids) + 1, dtype=torch.float32)[:, None]


class TrainedWords(nn.Module):
    """A model and the vectors ``words [V + 1, D]`` that it reads; row 0 stands for no word and stays zero."""

    def __init__(self, model: nn.Module, words: Tensor) -> None:
        super().__init__()
        self.model = model
        self.words = nn.Parameter(words.clone())

    @property
    def config(self) -> Any:
        """The model's settings."""
        return self.model.config

    def forward(self, batch: Batch, attention: Tensor | None = None) -> Any:
        """The model's output for a batch of row numbers."""
        x, y = (F.embedding(side[..., 0].long(), self.words, padding_idx=0) for side in (batch.x, batch.y))
        return self.model(dataclasses.replace(batch, x=x, y=y), attention)

    def unwrapped(self, vocabulary: Vocabulary, name: str) -> tuple[nn.Module, WordTable]:
        """The model alone, and the trained vectors as a word table (rounded to int8 like every table)."""
        rows = self.words.detach()[1:].float().cpu()
        # A word that training never saw is as long as the words are at the median.
        scale = float(rows.norm(dim=1).median()) / rows.shape[1] ** 0.5
        return self.model, WordTable.from_vectors(list(vocabulary.ids), rows, scale, f"{name}, trained")
