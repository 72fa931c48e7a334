"""Compares two files of predictions."""

from __future__ import annotations

import io

import pandas as pd

from core.desk.run import LETTERS
from core.errors import UserError
from core.files import parse_json
from core.spreadsheet import is_rows_export, original


class PredictionsError(UserError):
    """The file has no predictions; the message is one sentence with the remedy."""


def predictions(text: str, name: str) -> list[pd.DataFrame]:
    """The rows of each model in a file that `python -m trainers predict` wrote as CSV or JSON lines, or that the Error
    desk exported as CSV: ``first``, ``second``, ``label``, ``predicted`` and its probability ``p``. Raises
    PredictionsError for any other file."""
    try:
        if text.lstrip().startswith("{"):
            table = pd.DataFrame([parse_json(line) for line in text.splitlines() if line.strip()])
        else:
            table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
        if table.empty:
            raise ValueError("no rows")
        if is_rows_export(table.columns):
            return _exported(table)
        p = [float(row[f"p_{row['predicted']}"]) for row in table.to_dict("records")]
        return [table[["first", "predicted"]].join(table.reindex(columns=["second", "label"])).fillna("").assign(p=p)]
    except (KeyError, TypeError, ValueError) as error:
        what = (
            f"{name[:60]} holds no predictions: give a file that `python -m trainers predict` wrote or that the Error "
            "desk exported (Rows, CSV)"
        )
        raise PredictionsError(what) from error


def _exported(table: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of each model in the Error desk's export, whose second and third columns are the texts."""
    texts = {"first": table.columns[1], "second": table.columns[2], "label": "gold"}
    own = pd.DataFrame({part: table[column].map(original) for part, column in texts.items()})
    letters = [letter for letter in LETTERS if {letter, f"{letter}.p"} <= {*table.columns}]
    if not letters:
        raise ValueError("no model")
    return [own.assign(predicted=table[one].map(original), p=table[f"{one}.p"].astype(float)) for one in letters]


def disagreements(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """The pairs in both files on which the predictions differ, with the second file's columns suffixed _other; the most
    confident disagreements first."""
    texts = ["first", "second"]
    both = first.merge(second.drop_duplicates(texts), on=texts, suffixes=("", "_other"))
    differing = both[both["predicted"] != both["predicted_other"]]
    return differing.iloc[(-differing["p"] * differing["p_other"]).argsort(kind="stable")]
