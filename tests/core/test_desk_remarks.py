"""Sentences about filters' results, and the columns that people compute, of the made-up run."""

import numpy as np
import pytest

from core.desk.exchange import to_csv
from core.desk.file_state import FileState
from core.desk.filters import rows_of
from core.desk.formulas import MOST_COLUMNS, with_formulas
from core.desk.remarks import remarks
from core.desk.slices import slices
from core.desk.table import open_table, with_tags
from core.linguistics.forms import forms_of
from tests.core.made_up_runs import made_up_run

EVERY = np.ones(6, dtype=bool)


@pytest.fixture
def known(tmp_path):
    run = made_up_run(tmp_path)
    return with_tags(open_table(run, known=bool), run, FileState({}))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("A.right", []),
        ("gold = neutral and A.right", []),
        ("gold = netral", ["No row has “netral” as gold: did you mean neutral?"]),
        ("not A.right or GOLD != netral", ["No row has “netral” as gold: did you mean neutral?"]),
        ("gold = xyz", ["No row has “xyz” as gold: its values are contradiction, entailment, neutral."]),
        ("tags = xyz", []),  # any tag may be given later
        ("A.p > 99 and gold = neutral", ["No row has “A.p > 99”; without it, 2 rows would be left."]),
        (
            "A = entailment and gold = contradiction and A.right",
            ["“A.right” rules out the 1 row that the conditions before it keep; without it, 1 row would be left."],
        ),
        (
            "gold = contradiction and A = neutral and A.p > 99 and A.right",
            ["No row has “A.p > 99”; without it, 0 rows would be left."],
        ),
        ("A.p / negation_logic > 0", ["“negation_logic” is 0 in 4 rows: a division by it has no value there."]),
        ("1 / (negation_logic + 0) > 9", ["A divisor is 0 in 4 rows: a division by it has no value there."]),
    ],
)
def test_the_result_of_a_filter_is_explained(known, text, sentences):
    assert remarks(text, known, int(rows_of(text, known).sum())) == sentences


@pytest.mark.slow
def test_formulas_become_columns_of_filters_slices_and_exports(known):
    lines = "gap = len(hypothesis) - len(premise)\n\n short = hypothesis.words < 4 \nlonger = gap > 0"
    table, sentences = with_formulas(known, lines)
    assert sentences == [] and "gap" not in known.columns
    assert table.take(np.arange(6), ["gap"]).column(0).to_pylist() == [-12, -11, 13, 5, 5, 0]
    assert np.flatnonzero(rows_of("gap > 0 and not short", table)).tolist() == [2, 3, 4]
    assert table.ordered(EVERY, "gap", largest_first=True).tolist()[0] == 2
    assert {"short", "not short", "longer", "gap = 13"} <= {part.expression for part in slices(table)}
    assert to_csv(table, EVERY).splitlines()[0].endswith("gap,short,longer")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("gap", "Write a name of one word, =, and a formula"),
        ("a name = A.p", "Write a name of one word"),
        ("not = A.p", "Write a name of one word"),
        ("GOLD = A.p", "There is a column “GOLD”: choose another name."),
        ("x = gold", "from other columns"),
        ("x = 3", "from other columns"),
        ("x = y + 1", "There is no column “y”"),
        ("x = A.p / 0", "divide by another number"),
        ("x = premise matches /(/", "missing )"),
        ("x = A.p +", "incomplete"),
        ("x = A.p / negation_logic", "x: “negation_logic” is 0 in 4 rows"),
    ],
)
def test_a_formula_with_a_mistake_gets_one_sentence(known, line, why):
    _, (sentence,) = with_formulas(known, line)
    assert why in sentence


def test_only_some_columns_are_computed(known):
    table, (sentence,) = with_formulas(known, "\n".join(f"x{i} = A.p * {i}" for i in range(MOST_COLUMNS + 1)))
    assert f"first {MOST_COLUMNS} columns" in sentence
    assert f"x{MOST_COLUMNS - 1}" in table.columns and f"x{MOST_COLUMNS}" not in table.columns


def test_a_lemma_has_its_forms():
    assert {"am", "is", "are", "was", "were", "been", "being", "be"} == set(forms_of("be")) == set(forms_of("Were"))
    assert set(forms_of("child")) == set(forms_of("children")) == {"child", "children"}
    assert forms_of("snowcat") == ("snowcat",)
