"""Columns and slices of several annotators' labels, by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core.desk.filters import rows_of
from core.desk.slices import scored
from core.desk.table import open_table
from core.desk.votes import features
from tests.core.made_up_runs import made_up_run, with_rows

LISTS = [
    ["entailment"] * 5,
    ["contradiction"] * 3 + ["neutral"] * 2,
    ["Neutral"] * 4 + ["entailment"],
    ["contradiction"] * 5,
    ["neutral", ""],
    ["entailment", "neutral"],
]


def with_votes(run, name, votes):
    cells = [text if isinstance(text, str) else json.dumps(text) for text in votes]
    rows = zip(run.dataset.rows, cells, strict=True)
    return with_rows(run, [replace(row, columns={name: cell}) for row, cell in rows])


@pytest.mark.slow
def test_votes_are_columns_and_slices_by_agreement(tmp_path):
    run = with_votes(made_up_run(tmp_path), "annotator_labels", LISTS)
    table = open_table(run, known=bool)
    values = table.take(np.arange(6), ["entropy", "agreement", "votes.neutral", "A.distance"]).to_pydict()
    assert values["agreement"] == [1, 0.6, 0.8, 1, None, 0.5], "one vote says nothing about agreement"
    assert values["entropy"] == pytest.approx([0, 0.971, 0.722, 0, None, 1], abs=1e-3, nan_ok=True)
    assert values["votes.neutral"] == [0, 0.4, 0.8, 0, None, 0.5]
    # Model one says .6, .3, .1 of row 2, of which people say .2, .8, 0: .5 would have to move.
    assert values["A.distance"] == pytest.approx([0.2, 0.2, 0.5, 0.8, None, 0.45], abs=1e-6)
    assert np.flatnonzero(rows_of("agreement < 70 and A.distance > 40%", table)).tolist() == [5]
    parts = {s.slice.value: (s.items, s.score) for s in scored(run, 0, table) if "agreement" in s.slice.expression}
    assert parts == {"0–50 %": (1, 1), "50–70 %": (1, 1), "70–90 %": (1, 0), "all": (2, 0.5)}


@pytest.mark.slow
def test_chaosnlis_counts_are_votes_and_other_texts_are_none(tmp_path):
    counts = [{"entailment": 60, "neutral": 40}, {"contradiction": 100}, "x", {"neutral": -1}, {"neutral": "2"}, "[1]"]
    run = with_votes(made_up_run(tmp_path), "label_counter", counts)
    table = open_table(run, known=bool)
    assert table.take(np.arange(6), ["agreement"]).column(0).to_pylist() == [0.6, 1, None, None, None, None]
    lettered = with_votes(run, "label_counter", [{"e": 60, "n": 30, "c": 10}] * 6)
    rows = tuple(replace(row, label="e", label_text="e") for row in lettered.dataset.rows)
    model = replace(run.models[0], counts_as={"e": ("entailment",)})
    lettered = with_rows(lettered, rows, (model,))
    distance = open_table(lettered, known=bool).take(np.arange(1), ["A.distance"]).column(0).to_pylist()
    assert distance == pytest.approx([0.2]), "no row has the label c, but some annotators gave it"
    other = with_votes(run, "label_counter", [{"maybe": 1, "neutral": 1}] * 6)
    known = open_table(other, known=bool).columns
    assert "votes.maybe" in known and "A.distance" not in known, "no class of the model"
    assert features(["{}", "", "[" * 5000]) == {}


@pytest.mark.parametrize(
    "printed",
    [
        "{'e': 3, 'can\\'t tell': 1}",
        '{"e": 3.0, "can\'t tell": 1.0}',
        "Counter({'e': 3, \"can't tell\": 1})",
        "defaultdict(<class 'int'>, {'e': 3, \"can't tell\": 1})",
        "['e', 'e', 'e', \"can't tell\"]",
        "('e', 'e', 'e', \"can't tell\")",
        "['e' 'e'\n 'e' \"can't tell\"]",
        "array(['e', 'e', 'e', \"can't tell\"], dtype=object)",
    ],
)
def test_votes_are_read_as_pandas_writes_them(printed):
    found = features([printed, "", "[" * 5000, "{'e': 1e400}", "__import__('os')", "{'e': 1.5, 'n': None}"])
    assert {name: values[0] for name, values in found.items() if name.startswith("votes.")} == {
        "votes.e": 0.75,
        "votes.can't tell": 0.25,
    }
    assert np.isnan(found["agreement"][1:]).all()
