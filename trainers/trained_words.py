"""Word vectors that are trained with the model.

All of them from random ones, as Shen et al. (2018, section 4) do for documents (``train_words`` in a recipe); or the
vectors of frequent words of the training data, starting from the table (``tune_words``).

The trainer passes a model vectors; here it passes the words' numbers, and the vectors are weights like all others to
the optimizer, the running mean, the saved state and other processes.
"""

from __future__ import annotations

from collections import Counter

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.evaluation.encoding import Encoded, Vocabulary
from core.models import PairModel
from core.models.base import ModelConfig, Output
from core.reading.batch import Batch
from core.reading.word_table import WordTable

RANGE = 0.001
"""Vectors start as U(±.001) (Shen et al. 2018, section 4)."""


def random_table(vocabulary: Vocabulary, width: int, seed: int) -> WordTable:
    """Vectors to start from, for every word of the data."""
    drawn = torch.empty(len(vocabulary.ids), width)
    drawn.uniform_(-RANGE, RANGE, generator=torch.Generator().manual_seed(seed))
    return WordTable.from_vectors(list(vocabulary.ids), drawn, RANGE, f"random {width}")


def frequent(data: Encoded, least: int) -> Tensor:
    """Numbers of the words that occur in at least ``least`` texts of a data set, ``[R]`` in ascending order."""
    counts: Counter[int] = Counter()
    for texts in (data.first, *data.contexts):
        for start, length in zip(texts.starts.tolist(), texts.lengths.tolist(), strict=True):
            counts.update({*texts.flat[start : start + length].tolist()})
    return torch.tensor(sorted(number for number, count in counts.items() if number and count >= least)).long()


class StartVectors(nn.Module):
    """The vectors ``table [V + 1, D]`` of words by their numbers; row 0 stands for no word and is zero."""

    table: Tensor
    scale = 1.0
    """Multiplies what training adds: as Adam's steps are as long whatever the gradient, it scales their learning rate.
    """

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        # It can be made again from the data, so that no saved state holds it.
        self.register_buffer("table", table.clone(), persistent=False)

    def forward(self, numbers: Tensor) -> Tensor:
        """``[…] -> […, D]``."""
        return F.embedding(numbers, self.table)


class TrainedWords(nn.Module):
    """A model and its word vectors: ``start``, by numbers, plus learned ``changes [R + 1, D]`` of the words
    ``trained``; row 0 stands for no word and stays zero."""

    place: Tensor
    """[V + 1], each word's row in ``changes``, 0 for words that are not trained."""

    def __init__(self, model: PairModel, start: StartVectors, trained: Tensor) -> None:
        super().__init__()
        self.model, self.start = model, start
        place = torch.zeros(len(start.table), dtype=torch.int64)
        place[trained] = torch.arange(1, len(trained) + 1)
        self.register_buffer("place", place, persistent=False)
        self.changes = nn.Parameter(torch.zeros(len(trained) + 1, model.config.input_size))

    @property
    def config(self) -> ModelConfig:
        """The model's settings."""
        return self.model.config

    def vectors(self, numbers: Tensor) -> Tensor:
        """Vectors of words by their numbers: ``[…] -> […, D]``."""
        start: Tensor = self.start(numbers)
        return start + self.start.scale * F.embedding(self.place[numbers], self.changes, padding_idx=0)

    def forward(self, batch: Batch) -> Output:
        """The model's output for a batch of word numbers."""
        return self.model(batch.embedded(self.vectors))

    def regulariser(self) -> Tensor | None:
        """The model's additional term of the loss."""
        return self.model.regulariser()

    @torch.no_grad()
    def unwrapped(self, vocabulary: Vocabulary, table: WordTable, tuned: bool) -> tuple[PairModel, WordTable]:
        """The model alone, and the trained vectors as a word table (rounded to int8 like every table): over ``table``,
        which they started from, where they were ``tuned``."""
        norms, numbers = [*vocabulary.ids], torch.nonzero(self.place).flatten()
        rows = self.vectors(numbers).float().cpu()
        # Words not seen in training get the median length.
        scale = table.unknown_scale if tuned else float(rows.norm(dim=1).median()) / rows.shape[1] ** 0.5
        words = [norms[number - 1] for number in numbers.tolist()]
        name = f"{table.name}, {'tuned' if tuned else 'trained'}"
        return self.model, WordTable.from_vectors(words, rows, scale, name, table if tuned else None)


@torch.no_grad()
def fold(model: PairModel, words: WordTable) -> tuple[PairModel, WordTable]:
    """The model without its projection and the table with it; both unchanged for a model that must project, and for a
    table that lies over another one, whose rows the checkpoint does not hold.

    Rows are rounded to int8 again. A word outside the table gets an n-gram vector with the length that its
    projected one would have without the bias.
    """
    config = model.config.unprojected()
    if config is None or words.beneath is not None:
        return model, words
    projection = model.projection
    assert projection is not None, "unprojected() says so"
    weight, bias = projection.weight.cpu(), projection.bias.cpu()
    rows = words.vectors(words.words) @ weight.T + bias
    scale = words.unknown_scale * float(weight.norm()) / words.width**0.5
    table = WordTable.from_vectors(words.words, rows, scale, f"{words.name}, projected")
    folded = type(model)(config)
    folded.load_state_dict({k: v for k, v in model.state_dict().items() if not k.startswith("projection.")})
    return folded.to(model.classifier.weight.device).eval(), table
