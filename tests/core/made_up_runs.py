"""A made-up file in TaxiNLI's layout, and runs over it whose predictions are written by hand."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.card import Roles, ranked_by
from core.data import read
from core.desk import run_folder, store, table
from core.desk.run import Predictions

HEAD = ["prem", "hyp", "label", "negation_logic", "general_q2", "pairID", "genre"]
ROWS = [
    ("a dog plays in the snow", "a dog plays", "entailment", "0", "-", "1e", "fiction"),
    ("a dog plays in the snow", "no dog plays", "contradiction", "1", "1.0", "1c", "fiction"),
    ("a man is cold", "the man is in the red snow", "neutral", "0", "0.0", "1n", "telephone"),
    ("a man is cold", "the man isn't cold", "contradiction", "1", "-", "1c", "telephone"),
    ("the toy is red", "=SUM(A1) <b>toy</b>", "neutral", "0", "-", "2n", "fiction"),
    ("the toy is red", "the toy is red", "entailment", "0", "-", "2e", "telephone"),
]
ONE, TWO = "b" * 64, "a" * 64
"""Checksums of the two models."""
LABELS = ("entailment", "neutral", "contradiction")
ROLES = Roles("premise", "hypothesis", "hypothesis")


def taxi(folder, rows=ROWS):
    """The file, with the prefix of its columns."""
    path = folder / "taxi.tsv"
    path.write_text("\n".join("\t".join(row) for row in [HEAD, *rows]) + "\n", encoding="utf-8")
    return path


def predictions(model, chances, sha256, labels=LABELS):
    known = model, f"The {model}", sha256, labels, "entailment", ROLES, ranked_by({"labels": labels})
    return Predictions(*known, probabilities=np.array(chances, dtype=np.float32))


_FOLDERS = tempfile.TemporaryDirectory()


def stored(dataset, models):
    """The run of these predictions, in a new folder."""
    folder = Path(tempfile.mkdtemp(dir=_FOLDERS.name))
    run_folder.save(dataset, models, folder)
    return run_folder.load(folder)


def with_rows(run, rows, models=None):
    """The run with other rows."""
    return stored(replace(run.dataset, rows=tuple(rows)), models or run.models)


def content(dataset):
    """The data set with its rows in memory."""
    return replace(dataset, rows=tuple(dataset.rows))


def save(run, folder):
    """Store the rows and predictions in a folder."""
    run_folder.save(run.dataset, run.models, folder)


def keep(run, desk=None):
    """Store them on the desk."""
    save(run, store.folder_of(run.dataset.sha256, desk))


def made_up_run(folder, rows=ROWS):
    """Model one is right on rows 0, 1, 4 and 5, model two on 0, 2 and 5. Checksums do not rise from model to model, so
    that an order by them is not the run's."""
    one = [[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.9, 0.05, 0.05]]
    two = [[0.7, 0.2, 0.1], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1], [0.5, 0.3, 0.2], [0.4, 0.3, 0.3]]
    models = predictions("one", one[: len(rows)], ONE), predictions("two", two[: len(rows)], TWO)
    return stored(read(taxi(folder, rows)), models)


def table_of_cells(columns):
    """A table with only these columns."""
    connection, (values, known) = table._connection(), table._named(columns, "f")
    table._store_facts(connection, values)
    return table.RunTable(len(next(iter(values.values()))), known, connection, ("facts",), {})
