"""Pairs as pieces, and the WordPiece that makes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.checkpoint import open_checkpoint
from core.data import Dataset
from core.evaluation.predict import classify
from trainers.recipe import DataSource, Recipe

LONGEST = 160
"""Pieces of a pair that are read in training."""


@dataclass(frozen=True)
class Rows:
    """Training pairs: ``pieces`` and ``segments`` are numbers ``[T_i]`` a pair, ``targets [N, C]`` what is learnt, and
    ``chances [N]`` how likely an epoch draws each."""

    pieces: list[list[int]]
    segments: list[list[int]]
    targets: Tensor
    chances: np.ndarray

    def batches(self, size: int, generator: np.random.Generator) -> Iterator[np.ndarray]:
        """Row numbers of an epoch's batches of like length, in random order."""
        drawn = np.flatnonzero(generator.random(len(self.pieces)) < self.chances)
        lengths = np.array([len(self.pieces[row]) for row in drawn])
        # The noise lets other pairs meet in each epoch.
        order = drawn[np.argsort(lengths + 3 * generator.random(len(drawn)))]
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        yield from (batches[number] for number in generator.permutation(len(batches)))

    def inputs(self, rows: np.ndarray) -> dict[str, Tensor]:
        """The model's input for these rows, padded to the longest."""
        pieces = [torch.tensor(self.pieces[row]) for row in rows]
        segments = [torch.tensor(self.segments[row]) for row in rows]
        padded = torch.nn.utils.rnn.pad_sequence(pieces, batch_first=True)
        lengths = torch.tensor([len(row) for row in pieces])
        return {
            "input_ids": padded,
            "token_type_ids": torch.nn.utils.rnn.pad_sequence(segments, batch_first=True),
            "attention_mask": (torch.arange(padded.shape[1])[None] < lengths[:, None]).long(),
        }


def fitted_tokenizer(datasets: Sequence[Dataset], pieces: int) -> Any:
    """A lower-casing WordPiece of ``pieces`` pieces, fitted on the texts of these data sets (each text counted
    once)."""
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertTokenizerFast  # type: ignore[attr-defined]

    texts = dict.fromkeys(text for dataset in datasets for row in dataset.rows for text in (row.first, row.second))
    fitted = BertWordPieceTokenizer(lowercase=True)
    fitted.train_from_iterator(texts, vocab_size=pieces, min_frequency=2, show_progress=False)
    return BertTokenizerFast(tokenizer_object=fitted._tokenizer, do_lower_case=True)


def encoded(
    recipe: Recipe,
    train: Sequence[tuple[DataSource, Dataset]],
    tokenizer: Any,
    teacher: str,
    teacher_share: float,
    made: float,
) -> Rows:
    """The training pairs. Rows that a recipe's teachers are asked about are drawn in every epoch, by the weight that
    the recipe gives them, those that are not (made pairs) by the share ``made`` of it."""
    asked = open_checkpoint(teacher)
    targets, chances = [], []
    firsts, seconds = [], []
    for source, dataset in train:
        labels = torch.tensor([recipe.labels.index(row.label or "") for row in dataset.rows])
        target = F.one_hot(labels, len(recipe.labels)).float()
        if source.taught and teacher_share:
            said = torch.from_numpy(classify(asked, dataset, torch.device("cpu"))).float()
            target = (1 - teacher_share) * target + teacher_share * said
        targets.append(target)
        share = 1.0 if source.taught else made
        chances += [share * min(1.0, source.weight_of(row.id)) for row in dataset.rows]
        firsts += [row.first for row in dataset.rows]
        seconds += [row.second for row in dataset.rows]
    read = tokenizer(firsts, seconds, truncation=True, max_length=LONGEST)
    return Rows(read["input_ids"], read["token_type_ids"], torch.cat(targets), np.array(chances))
