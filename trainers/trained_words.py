"""Word vectors that are trained with the model, as Shen et al. (2018, section 4) train those of documents.

The trainer passes a model vectors; here it passes the words' numbers, and the vectors are weights like all others to
the optimizer, the running mean, the saved state and other processes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from core.evaluation.encoding import Vocabulary
from core.models import PairModel
from core.models.base import Output
from core.reading.batch import Batch
from core.reading.word_table import WordTable

RANGE = 0.001
"""Vectors start as U(±.001) (Shen et al. 2018, section 4)."""


def random_table(vocabulary: Vocabulary, width: int, seed: int) -> WordTable:
    """Vectors to start from, for every word of the data."""
    drawn = torch.empty(len(vocabulary.ids), width)
    drawn.uniform_(-RANGE, RANGE, generator=torch.Generator().manual_seed(seed))
    return WordTable.from_vectors(list(vocabulary.ids), drawn, RANGE, f"random {width}")


class TrainedWords(nn.Module):
    """A model and the vectors ``words [V + 1, D]`` that it reads; row 0 stands for no word and stays zero."""

    def __init__(self, model: PairModel, words: Tensor) -> None:
        super().__init__()
        self.model = model
        self.words = nn.Parameter(words.clone())

    @property
    def config(self) -> Any:
        """The model's settings."""
        return self.model.config

    def forward(self, batch: Batch) -> Output:
        """The model's output for a batch of word numbers."""
        output: Output = self.model(batch.embedded(self.words))
        return output

    def regulariser(self) -> Tensor | None:
        """The model's term of the loss beside the classes."""
        return self.model.regulariser()

    def penalty(self, output: Output) -> Tensor | None:
        """The model's term of the loss from its output."""
        return self.model.penalty(output)

    def unwrapped(self, vocabulary: Vocabulary, name: str) -> tuple[PairModel, WordTable]:
        """The model alone, and the trained vectors as a word table (rounded to int8 like every table)."""
        rows = self.words.detach()[1:].float().cpu()
        # A word that training never saw is as long as the words are at the median.
        scale = float(rows.norm(dim=1).median()) / rows.shape[1] ** 0.5
        return self.model, WordTable.from_vectors(list(vocabulary.ids), rows, scale, f"{name}, trained")
