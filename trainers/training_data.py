"""A recipe's data sets as word ids, and the word table used to read them."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from core.card import ranked_by
from core.checkpoint.checkpoint import judged_side
from core.data import DataError, Dataset, Example, read
from core.data.dataset import UnknownLayoutError
from core.data.labels import MOST_ASKED, key
from core.data.split import parts
from core.errors import RunError
from core.evaluation.encoding import Encoded, Vocabulary, encode
from core.json_types import JsonObject
from core.models import spec_of
from core.reading.tokens import MAX_TOKENS
from core.reading.word_table import WordTable, default_table
from core.wording import together
from trainers.recipe import Recipe
from trainers.sources import DataSource
from trainers.teaching import recombined
from trainers.trained_words import random_table
from trainers.vectors import read_folder, read_vectors

RowsOf = Callable[[Path, DataSource], Dataset]
"""Reads a recipe's data file in the data folder, as :func:`read_source` does."""


@dataclass(frozen=True)
class TrainingData:
    """Encoded data sets by role, and their description for the card."""

    train: Encoded
    """Rows without a label have -1."""
    dev: Encoded
    train_rows: tuple[Example, ...]
    dev_rows: tuple[Example, ...]
    """The rows as texts, as teachers read them."""
    report: dict[str, Encoded]
    vocabulary: Vocabulary
    taught: Tensor
    """Training rows to which the teachers are applied, bool ``[N]``."""
    listed: tuple[JsonObject, ...]
    """Name, rows and licence of each training set."""
    fingerprint: str
    """SHA-256 of the files' contents."""


def load_data(recipe: Recipe, folder: Path, quiet: bool = False, rows_of: RowsOf | None = None) -> TrainingData:
    """Reads and encodes all data sets of a recipe; ``rows_of`` replaces :func:`read_source`.

    Raises DataError or RunError before any time is spent on training.
    """
    vocabulary = Vocabulary()
    digest = hashlib.sha256()
    kind = recipe.model_config().linguistic
    limits = [recipe.token_limits.get(role, MAX_TOKENS) for role in recipe.roles]

    datasets = {id(source): dataset for source, dataset in read_all(recipe, folder, rows_of)}
    for source in recipe.sources:
        dataset = datasets[id(source)]
        digest.update(f"{dataset.sha256} {source.rows}\n".encode())
        if not quiet:
            print(dataset.summary(), flush=True)

    def read_rows(*sources: DataSource) -> list[tuple[Example, DataSource]]:
        return [(row, source) for source in sources for row in datasets[id(source)].rows]

    def encoded(rows: Sequence[tuple[Example, DataSource]]) -> Encoded:
        return encode(
            [row for row, _ in rows],
            vocabulary,
            recipe.labels,
            judged=judged_side({"first": recipe.roles[0], "judged": recipe.judged}),
            single=len(recipe.roles) == 1,
            weights=[source.weight_of(row.id) for row, source in rows],
            limits=(limits[0], limits[-1]),
            lines=recipe.judged == recipe.roles[0] and spec_of(recipe.architecture).model.reads(recipe.model).lines,
            extra=linguistic(kind, [(row.first, row.second) for row, _ in rows], quiet),
        )

    train, dev = read_rows(*recipe.train), read_rows(recipe.dev)
    if recipe.answerable_only:
        answered = {row.group for row, _ in train if row.label == ranked_by({"labels": list(recipe.labels)})}
        train = [(row, source) for row, source in train if row.group in answered]
    train += transfer_set(recipe, train)
    return TrainingData(
        encoded(train),
        encoded(dev),
        tuple(row for row, _ in train),
        tuple(row for row, _ in dev),
        {source.name: encoded(read_rows(source)) for source in recipe.report},
        vocabulary,
        torch.tensor([source.taught for _, source in train]),
        tuple({"name": s.name, "rows": len(datasets[id(s)].rows), "licence": s.licence} for s in recipe.train),
        digest.hexdigest(),
    )


def transfer_set(recipe: Recipe, train: Sequence[tuple[Example, DataSource]]) -> list[tuple[Example, DataSource]]:
    """The recipe's unlabelled pairs, recombined from its taught rows. Raises RunError."""
    if not recipe.transfer:
        return []
    taught = [row for row, source in train if source.taught]
    source = DataSource("recombined pairs", "")
    return [(row, source) for row in recombined(taught, recipe.transfer, recipe.seed)]


def linguistic(kind: str, pairs: Sequence[tuple[str, str]], quiet: bool) -> Tensor | None:
    """The linguistic features of these pairs, ``[N, F]``, or None for a recipe without them."""
    if kind == "none":
        return None
    from core.linguistics.cache import features

    return torch.from_numpy(features(kind, pairs, default_table(), progress=not quiet))


def read_all(
    recipe: Recipe, folder: Path, rows_of: RowsOf | None = None, limit: int = 0
) -> Iterator[tuple[DataSource, Dataset]]:
    """Each source of a recipe with its rows, whose labels are the recipe's classes. ``limit``: the sample size per
    source. Raises DataError with the problems of all sources before the first one is yielded."""
    found, wrong = list[tuple[DataSource, Dataset]](), list[str]()
    for source in recipe.sources:
        asked = dataclasses.replace(source.naming(recipe.labels), rows=limit or source.rows)
        try:
            dataset = (rows_of or read_source)(folder, asked)
            _check_rows(recipe, source, dataset)
            found.append((source, dataset))
        except DataError as error:
            wrong.append(str(error))
    if wrong:
        raise DataError(together(wrong))
    yield from found


def _check_rows(recipe: Recipe, source: DataSource, dataset: Dataset) -> None:
    if dataset.single != (len(recipe.roles) == 1):
        has = "single texts" if dataset.single else "pairs"
        raise DataError(f"{source.name} has {has}, but roles names {len(recipe.roles)}; fix roles or the file")
    unknown = [label for label in dataset.labels if label not in recipe.labels]
    if unknown:
        some = ", ".join(unknown[:MOST_ASKED]) + (" …" if len(unknown) > MOST_ASKED else "")
        raise DataError(
            f"{source.name} has labels that are not among the recipe's ({', '.join(recipe.labels)}): give the class of "
            f"each, or nothing to leave its rows out, as in counts_as: {{{unknown[0]}: CLASS}}; they are {some}"
        )


def read_source(folder: Path, source: DataSource) -> Dataset:
    """The rows of a recipe's data file with positive weight, sampled to its ``rows``, or one part of them. Raises
    DataError."""
    if not (folder / source.path).is_file():
        raise DataError(
            f"{source.name} is not at {source.path} in the data folder; put it there, give another --data, "
            "or change the recipe"
        )
    classes = {key(label): name for label, name in source.counts_as.items()}
    try:
        dataset = read(
            folder / source.path, source.name, block=source.block, columns=source.picked, named=frozenset(classes)
        )
    except UnknownLayoutError as error:
        raise DataError(re.sub(r"--columns (\S+)\)", _in_a_recipe, str(error))) from None
    rows = (row.relabelled(classes) for row in dataset.rows if source.weight_of(row.id) > 0)
    named = tuple(row for row in rows if row.label != "")
    return part_of(sample(dataclasses.replace(dataset, rows=named), source.rows), source)


def _in_a_recipe(columns: re.Match[str]) -> str:
    """The value of --columns as a recipe has it."""
    return f"columns: {{{columns[1].replace('=', ': ').replace(',', ', ')}}} in the recipe)"


def part_of(dataset: Dataset, source: DataSource) -> Dataset:
    """The part of the rows that a source names."""
    if not source.part:
        return dataset
    rows = dataset.rows
    both = parts([(row.first, row.second) for row in rows], source.share, labels=[row.label for row in rows])
    own = both.train if source.part == "train" else both.held_out
    return dataclasses.replace(dataset, rows=tuple(rows[number] for number in own))


def sample(dataset: Dataset, rows: int) -> Dataset:
    """``rows`` rows sampled at random (files may be sorted by class), the same in every run, in the file's order; 0
    keeps all."""
    if not 0 < rows < len(dataset.rows):
        return dataset
    numbers = np.sort(np.random.default_rng(0).choice(len(dataset.rows), rows, replace=False))
    return dataclasses.replace(dataset, rows=tuple(dataset.rows[i] for i in numbers))


def table_for(recipe: Recipe, folder: Path, vectors: Path | None, vocabulary: Vocabulary) -> tuple[WordTable, bool]:
    """The word table for reading, and whether it belongs to the checkpoint: --vectors, else the recipe's, else the
    shared one. Raises RunError for --vectors with a recipe that tunes the shared table."""
    if vectors and recipe.tune_words:
        raise RunError("--vectors does not go with tune_words, which tunes the shared table; leave one of them out")
    if vectors:
        return read_vectors(vectors, vocabulary.ids), True
    if recipe.train_words:
        return random_table(vocabulary, recipe.train_words, recipe.seed), True
    if recipe.vectors:
        return read_folder(folder / recipe.vectors, vocabulary.ids), True
    # Tuned rows of the shared table belong to the checkpoint.
    return default_table(), recipe.tune_words > 0
