"""Word vectors trained together with the model.

Either all vectors, from random initialisation as in Shen et al. (2018, section 4) for documents (``train_words`` in a
recipe); or only the vectors of frequent training words, starting from the table (``tune_words``).

Usually the trainer passes vectors to a model; here it passes word ids, and the optimizer, the running mean, the saved
state and other processes treat the vectors like all other weights.
"""

from __future__ import annotations

from collections import Counter

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.evaluation.encoding import Encoded, Vocabulary
from core.models import PairModel
from core.models.base import ModelConfig, Output, Regularised, WordModel
from core.reading.batch import Batch
from core.reading.word_table import WordTable

RANGE = 0.001
"""Vectors are initialised as U(±.001) (Shen et al. 2018, section 4)."""


def random_table(vocabulary: Vocabulary, width: int, seed: int) -> WordTable:
    """Initial vectors for every word in the data."""
    drawn = torch.empty(len(vocabulary.ids), width)
    drawn.uniform_(-RANGE, RANGE, generator=torch.Generator().manual_seed(seed))
    return WordTable.from_vectors(list(vocabulary.ids), drawn, RANGE, f"random {width}")


def frequent(data: Encoded, least: int) -> Tensor:
    """Ids of the words that occur in at least ``least`` texts of a data set, ``[R]``, ascending."""
    counts: Counter[int] = Counter()
    for texts in (data.first, *data.contexts):
        for start, length in zip(texts.starts.tolist(), texts.lengths.tolist(), strict=True):
            counts.update({*texts.flat[start : start + length].tolist()})
    return torch.tensor(sorted(number for number, count in counts.items() if number and count >= least)).long()


class StartVectors(nn.Module):
    """The vectors ``table [V + 1, D]`` of words by id; row 0 is padding and stays zero."""

    table: Tensor
    scale = 1.0
    """Multiplies what training adds: as Adam ignores the gradient's scale, this scales the learning rate.
    """

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        # It can be rebuilt from the data, so saved states do not contain it.
        self.register_buffer("table", table.clone(), persistent=False)

    def forward(self, numbers: Tensor) -> Tensor:
        """``[…] -> […, D]``."""
        return F.embedding(numbers, self.table)


class TrainedWords(nn.Module):
    """A model and its word vectors: ``start``, by id, plus learned ``changes [R + 1, D]`` for the words ``trained``;
    row 0 is padding and stays zero."""

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
        """Vectors of words by id: ``[…] -> […, D]``."""
        start: Tensor = self.start(numbers)
        return start + self.start.scale * F.embedding(self.place[numbers], self.changes, padding_idx=0)

    def forward(self, batch: Batch) -> Output:
        """The model's output for a batch of word ids."""
        return self.model(batch.embedded(self.vectors))

    def regulariser(self) -> Tensor:
        """The model's additional loss term."""
        model: object = self.model
        assert isinstance(model, Regularised), "check_settings has checked it"
        return model.regulariser()

    @torch.no_grad()
    def unwrapped(self, vocabulary: Vocabulary, table: WordTable, tuned: bool) -> tuple[PairModel, WordTable]:
        """The model alone, and the trained vectors as a word table (rounded to int8 like every table), as an overlay
        over the original ``table`` if they were ``tuned``."""
        norms, numbers = [*vocabulary.ids], torch.nonzero(self.place).flatten()
        rows = self.vectors(numbers).float().cpu()
        # Words not seen in training get the median norm.
        scale = table.unknown_scale if tuned else float(rows.norm(dim=1).median()) / rows.shape[1] ** 0.5
        words = [norms[number - 1] for number in numbers.tolist()]
        name = f"{table.name}, {'tuned' if tuned else 'trained'}"
        return self.model, WordTable.from_vectors(words, rows, scale, name, table if tuned else None)


@torch.no_grad()
def fold(model: PairModel, words: WordTable) -> tuple[PairModel, WordTable]:
    """Merges the model's projection into its word table; both stay unchanged if the model needs its projection, or if
    the table is an overlay, because the checkpoint lacks the rows beneath.

    Rows are rounded to int8 again. An out-of-vocabulary word gets an n-gram vector with the norm that its projection
    would have without the bias.
    """
    config = model.config.unprojected()
    if config is None or words.beneath is not None:
        return model, words
    assert isinstance(model, WordModel) and model.projection is not None, "unprojected() says so"
    weight, bias = model.projection.weight.cpu(), model.projection.bias.cpu()
    rows = words.vectors(words.words) @ weight.T + bias
    scale = words.unknown_scale * float(weight.norm()) / words.width**0.5
    table = WordTable.from_vectors(words.words, rows, scale, f"{words.name}, projected")
    folded = type(model)(config)
    folded.load_state_dict({k: v for k, v in model.state_dict().items() if not k.startswith("projection.")})
    return folded.to(model.classifier.weight.device).eval(), table
