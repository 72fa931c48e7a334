"""Filters and slices of a made-up run: their rows by hand, and errors that point at their place."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import duckdb
import numpy as np
import pytest

from core.data import read
from core.desk import charts
from core.desk.columns import RunColumn, cells
from core.desk.features import FEATURES, Feature
from core.desk.file_state import FileState, RowState
from core.desk.filters import LONGEST, FilterError, literal, rows_of
from core.desk.run_folder import load
from core.desk.slices import scored, slices
from core.desk.table import open_table, with_tags
from tests.core.made_up_runs import LABELS, ONE, made_up_run, predictions, save, stored, table_of_cells, with_rows


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return made_up_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def known(run):
    """The run's table; a test only reads it."""
    plain = open_table(run, known=lambda word: word != "snow")
    tagged = RowState({"negation": {"ann"}, "other": {"ann"}}, {"ann"}, {"ann": "a note"})
    return with_tags(plain, run, FileState({"1c": tagged, "2e": RowState(settled={"other": True})}))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", [0, 1, 2, 3, 4, 5]),
        ("A.right", [0, 1, 4, 5]),
        ("NOT A.right", [2, 3]),
        ("A.right = no", [2, 3]),
        ("gold = neutral", [2, 4]),
        ("gold = 'Neutral' and A.right", [4]),
        ("gold != A", [2, 3]),
        ("A = B", [0, 3, 5]),
        ("A.right and not B.right or gold = neutral", [1, 2, 4]),
        ("A.right and not (B.right or gold = neutral)", [1]),
        ("A.p >= 70%", [0, 1, 5]),
        ("A.p > .7", None),
        ("A.p > B.p", [0, 1, 4, 5]),
        ("A.p_gold < 0.31", [2, 3]),
        ("A.p_contradiction > 0.6", [1]),
        ("negation", [1, 3]),
        ("negation_logic = 1", [1, 3]),
        ("`negation_logic` in (1, 7)", [1, 3]),
        ("general_q2 = 1.0", [1]),
        ("genre in (fiction, 'none')", [0, 1, 4]),
        ("genre not in (fiction)", [2, 3, 5]),
        ('hypothesis contains "<B>"', [4]),
        ("overlap = 1", [0, 5]),
        ("hypothesis.words <= 3", [0, 1]),
        ("tags = other", [1, 5]),
        ("tags != other", [0, 2, 3, 4]),
        ("tags in (negation)", [1]),
        ('tags != ""', [1, 5]),
        ("tags = '' or tags in ('', negation)", [0, 1, 2, 3, 4]),
        ('annotators != ""', [1]),
        ('settled != "" and settled = "other: yes"', [5]),
        ("tags contains NEG", [1]),
        ("annotators = ann", [1]),
        ("notes contains note", [1]),
        ("unknown > 0", [0, 1, 2]),
        ("id = '1c#2'", [3]),
        (r'hypothesis contains "\""', []),
        ("A.p >= 70", [0, 1, 5]),
        ("A.p > B.p and b.P_NEUTRAL > 20", [4, 5]),
        ("overlap in (100, 5%)", [0, 5]),
        ("A.p <= 1", [0, 1, 2, 3, 4, 5]),
        ('premise contains toy and hypothesis contains "<B>"', [4]),
        ("hypothesis.words <= 3 and tags = other", [1]),
        ("annotators = ann and notes contains 'ann: a note'", [1]),
        ("90% < A.p or 0.25 > B.p", []),
        ("hypothesis.words - premise.words > 0", [2, 3, 4]),
        ("hypothesis.words -premise.words >= 0", [2, 3, 4, 5]),
        ("(A.p - B.p) * 100 > 10", [0, 5]),
        ("A.p - B.p > 10", [0, 5]),
        ("A.p + hypothesis.words > 4.5", [2, 3, 4, 5]),  # no share, so not 4.5 %
        ("len(premise) - -1 >= 24 and abs(A.right - B.right) = 1", [1]),
        ("A.p / negation_logic > 0", [1, 3]),
        ("hypothesis has word not", [3]),
        ('hypothesis has word "NO"', [1]),
        ('premise has word "the snow"', [0, 1]),
        ("premise has word play", []),
        ("premise has lemma play", [0, 1]),
        ("hypothesis has lemma 'were'", [2, 3, 5]),
        ("premise matches /^A (dog|man)/", [0, 1, 2, 3]),
        (r"hypothesis matches /<\/b>$/", [4]),
        ("(gold = neutral) = yes", [2, 4]),
        ("not not A.right", [0, 1, 4, 5]),
    ],
)
def test_rows_of_a_filter(known, text, rows):
    if rows is None:
        with pytest.raises(FilterError):
            rows_of(text, known)
    else:
        assert np.flatnonzero(rows_of(text, known)).tolist() == rows


@pytest.mark.parametrize(
    ("text", "place", "part"),
    [
        ("gold = ", (6, 7), "a value"),
        ("gold neutral", (5, 12), "a comparison"),
        ("A.p = nan", (6, 9), "not a number"),
        ("A.p > high", (6, 10), "not a number"),
        ("golden = neutral", (0, 6), "did you mean gold?"),
        ("A.right and goldd = x", (12, 17), "did you mean gold?"),
        ('gold = "neutral', (7, 15), "does not end"),
        ("(A.right", (8, 9), "closing bracket"),
        ("A.right)", (7, 8), "and/or"),
        ("premise > 3", (0, 7), "not a number"),
        ("A.p", (0, 3), "compare it"),
        ("A.p contains 3", (0, 3), "not text"),
        ("gold in fiction", (8, 15), "in brackets"),
        ("A.right = maybe", (0, 7), "yes or no"),
        ("A.right; drop", (7, 8), "no meaning"),
        ("__import__('os')", (0, 10), "no function"),
        ("A.p / 0 > 1", (6, 7), "divide by another"),
        ("A.p + gold > 1", (6, 10), "not a number"),
        ("3 > 4", (0, 1), "a column name"),
        ("premise matches /[/", (0, 19), "missing ]"),
        ("premise matches /(a{900}){900}/", (0, 31), "too large"),
        ("premise matches /" + "x" * 201 + "/", (16, 219), "may have 200"),
        ("premise matches foo", (16, 19), "between slashes"),
        ("premise has foo", (12, 15), "“word” or “lemma”"),
        ("A.p has word x", (0, 3), "not text"),
        ("@gold", (0, 1), "no meaning"),
        ("x" * (LONGEST + 1), (LONGEST, LONGEST + 1), "characters"),
    ],
)
def test_errors_point_at_their_place(known, text, place, part):
    with pytest.raises(FilterError) as caught:
        rows_of(text, known)
    assert (caught.value.start, caught.value.end) == place
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("A.right an animal", "Expected a comparison (=, <, contains) or and/or here, not 'an'."),
        (
            "gold = not enough info and A.right",
            "Expected and/or here, not 'enough'. Put quotes around a value of several words: \"not enough info\".",
        ),
        ("A.right and A.p > 90% 3", "Expected and/or here, not '3'."),
    ],
)
def test_an_invalid_filter_gets_an_error_with_its_remedy(known, text, sentence):
    with pytest.raises(FilterError) as caught:
        rows_of(text, known)
    assert str(caught.value) == sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "asked"), [("a man who is cold", False), ("a man who is cold ?", True), ("who is cold?", True)]
)
def test_only_questions_have_slices_by_question_word(run, first, asked):
    rows = [replace(row, first=first) if i > 1 else row for i, row in enumerate(run.dataset.rows)]
    dimensions = {part.dimension for part in slices(open_table(with_rows(run, rows), known=lambda word: True))}
    assert ("question word" in dimensions) is asked and "negation" in dimensions


def test_features_of_a_pairs_words_by_hand(run):
    pair, *others = run.dataset.rows
    changed = with_rows(run, [replace(pair, first="a dog runs in the snow", second="no dog is red ."), *others])
    known = open_table(changed, known=lambda word: word not in {"snow", "red"})
    for text in ("premise.words = 6", "hypothesis.words = 4", "overlap = 25%", "unknown = 20%", "negation"):
        assert rows_of(text, known)[0], text
    swapped = with_rows(run, [replace(pair, first="no dog is red .", second="a dog runs in the snow"), *others])
    assert not rows_of("negation", open_table(swapped))[0], "it is about the text that is judged"


CONSTRUCTIONS = [
    ("the dog chases a cat", "a cat chases the dog", {"exchanged"}),
    ("the dog chased the cat", "the cat was quickly chased by the dog", {"passive"}),
    ("a boy bit the dog", "the dog isn't always bitten", {"passive"}),
    ("every man is tired", "a man who is cold runs", {"quantifier", "embedded_clause"}),
    ("if it rains , the dog runs", "the dog runs", {"embedded_clause"}),
    ("the man said that a dog runs", "who runs ?", {"embedded_clause"}),
    ("while walking , he likes that dog", "the man that ran", {"embedded_clause"}),
    ("when is it cold ?", "he likes that dog while walking", set()),
    ("the dog runs", "the dog runs", set()),
    ("the man's bitten the dog", "the dog runs", set()),
]


def test_a_filter_that_takes_too_long_is_stopped(known):
    slow = replace(known, tables=("range(100_000_000_000) AS many(row)",), sparse={})
    with pytest.raises(duckdb.InterruptException):
        slow.query("SELECT count(*) FROM {rows} WHERE sqrt(row) < 0", seconds=0.05)


@pytest.mark.slow
def test_constructions_of_a_pair_are_columns_and_slices(run):
    names = ("exchanged", "passive", "quantifier", "embedded_clause")
    pair, number = run.dataset.rows[0], len(CONSTRUCTIONS)
    rows = [
        replace(pair, id=f"{at}", first=first, second=second) for at, (first, second, _) in enumerate(CONSTRUCTIONS)
    ]
    known = open_table(with_rows(run, rows, (predictions("one", [[1, 0, 0]] * number, ONE),)), known=lambda word: True)
    found = {name: rows_of(name, known) for name in names}
    assert [{name for name in names if found[name][at]} for at in range(number)] == [has for *_, has in CONSTRUCTIONS]
    parts = {part.expression: part for part in slices(known)}
    assert all(parts[name].dimension.startswith(name.replace("_", " ")) for name in names)
    assert parts.keys().isdisjoint(f"not {name}" for name in names), "nearly all rows"


def test_rows_are_ordered_by_a_column_and_equal_ones_as_in_the_file():
    texts = ["b", *(f"a{i % 7}" for i in range(2_000))]
    numbers, tags = [float(i % 3) if i else np.nan for i in range(2_001)], [[]] * 2_001
    table = table_of_cells({"x": cells(texts, "text"), "n": cells(numbers, "number"), "t": cells(tags, "set")})
    mask = np.arange(2_001) % 2 == 0
    order = table.ordered(mask, "x", largest_first=True)
    assert order[0] == 0 and [texts[i] for i in order] == sorted((texts[i] for i in range(0, 2_001, 2)), reverse=True)
    assert (np.diff(order[[texts[i] == "a6" for i in order]]) > 0).all()
    assert table.ordered(mask, "x", largest_first=False)[-1] == 0
    for largest_first in (True, False):  # unknown values come last
        assert table.ordered(mask, "n", largest_first=largest_first)[-1] == 0
    assert table.ordered(mask, "t", largest_first=True).tolist() == np.flatnonzero(mask).tolist()


def test_capitals_do_not_matter_as_in_python():
    texts = ["Straße", "STRASSE", "İstanbul", "ΣΊΣΥΦΟΣ", "Ǆ", "plain", "a\0B"]
    table = table_of_cells({"x": cells(texts, "text")})
    for text in texts:
        same = [text.casefold() == other.casefold() for other in texts]
        assert rows_of(f"x = {literal(text)}", table).tolist() == same
        part = text[1:].upper()
        found = [part.casefold() in other.casefold() for other in texts]
        assert rows_of(f"x contains {literal(part)}", table).tolist() == found
    table = table_of_cells({"Word": cells(["a", "b"], "text"), "word": cells(["c", "a"], "text")})
    assert [rows_of(f"{name} = a", table).tolist() for name in ("Word", "word")] == [[True, False], [False, True]]


def test_a_query_reaches_no_file_and_changes_no_setting(run, tmp_path):
    (tmp_path / "secret.csv").write_text("a")
    save(run, tmp_path / "run")
    table = open_table(load(tmp_path / "run"), known=bool)
    for sql in (
        f"SELECT * FROM read_csv('{tmp_path}/secret.csv')",
        f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
        "SET memory_limit = '4GB'",
        "SET enable_external_access = true",
    ):
        with pytest.raises(duckdb.Error):
            table.connection.execute(sql)
    limits = "SELECT current_setting('threads'), current_setting('memory_limit')"
    assert table.connection.execute(limits).fetchone() == (2, "143.0 MiB")


@pytest.mark.slow
def test_sessions_query_one_run_at_the_same_time(run, tmp_path):
    save(run, tmp_path / "run")
    table = open_table(stored := load(tmp_path / "run"), known=bool)

    def session(number):
        state = FileState({"1c": RowState({f"tag {number}": {"ann"}}, {"ann"})})
        tagged = with_tags(table, stored, state)
        for text, rows in ((f"tags = 'tag {number}'", [1]), ("tags = 'tag'", []), ("hypothesis contains TOY", [4, 5])):
            assert np.flatnonzero(rows_of(text, tagged)).tolist() == rows

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(session, range(8)))


def test_features_of_a_stored_run_are_computed_once(run, tmp_path, monkeypatch):
    save(run, tmp_path / "run")
    stored = load(tmp_path / "run")
    first = rows_of("overlap = 1 and negation_logic = 0", open_table(stored))
    monkeypatch.setattr("core.desk.features._computed", None)
    assert (rows_of("overlap = 1 and negation_logic = 0", open_table(stored)) == first).all() and first.sum() == 2
    monkeypatch.undo()
    added = Feature("commas", RunColumn("number", "commas in the {judged}"), lambda row: row.judged.text.count(","))
    monkeypatch.setattr("core.desk.features.FEATURES", (*FEATURES, added))
    table = open_table(stored)
    assert table.columns["commas"].about == "commas in the hypothesis" and not rows_of("commas > 0", table).any()


def test_a_filter_nested_deep_is_read_or_refused(known):
    assert rows_of("(" * 900 + "A.right" + ")" * 900, known).sum() == 4


@pytest.mark.slow
def test_slices_with_their_scores_by_hand(run, known):
    parts = {(part.dimension, part.value): part for part in slices(known)}
    for part in parts.values():
        assert rows_of(part.expression, known).sum() == part.rows, part.expression
    assert {"negation", "word overlap", "unknown words", "genre", "tag", "gold label"} <= {d for d, _ in parts}
    scores = scored(run, 0, known)
    neutral = next(score for score in scores if score.slice.expression == 'gold = "neutral"')
    # Model one is right on row 4 of the two, and on rows 0, 1 and 5 of the four others.
    assert (neutral.items, neutral.score, neutral.outside) == (2, 0.5, 0.75)
    assert neutral.weight == pytest.approx(0.25 * 2**0.5)
    assert neutral.low == pytest.approx(0.0945, abs=1e-4) and neutral.high == pytest.approx(0.9055, abs=1e-4)
    weights = [score.weight for score in scores]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [("0", "1"), ("1", "0")])
def test_slices_of_a_ranking_set_count_questions(tmp_path, labels):
    path = tmp_path / "qa.csv"
    lines = ["what is red,a toy,1", "what is red,snow,0", "who runs,a dog,0", "who runs,a man,1", "when,now,0"]
    path.write_text("\n".join(["question,answer,label", *lines]))
    chances = [[0.2, 0.8], [0.6, 0.4], [0.1, 0.9], [0.7, 0.3], [0.5, 0.5]]
    model = predictions("one", [row if labels[0] == "0" else row[::-1] for row in chances], "a" * 64, labels)
    run = stored(read(path), (model,))
    scores = scored(run, 0, open_table(run, known=lambda word: True))
    words = {score.slice.value: (score.items, score.score) for score in scores if "word = " in score.slice.expression}
    # “when” has no right answer, so it does not count in the score.
    assert words == {"what": (1, 1.0), "who": (1, 0.5)}


def test_a_model_without_a_class_of_right_answers_is_scored_by_rows(tmp_path):
    path = tmp_path / "qa.csv"
    path.write_text("question,answer,label\nwhat is red,a toy,1\nwhat is red,snow,0\n")
    data = read(path).relabelled({"0": "neutral", "1": "entailment"})
    run = stored(data, (predictions("one", [[0.8, 0.1, 0.1], [0.6, 0.2, 0.2]], "a" * 64),))
    assert run.dataset.ranking and not run.ranks(0)
    known = open_table(run, known=lambda word: True)
    assert {s.slice.value: s.score for s in scored(run, 0, known)} == {"entailment": 1.0, "neutral": 0.0}


def test_rows_without_a_label_are_left_out_of_scores(run):
    first, *others = run.dataset.rows
    some = with_rows(run, [replace(first, label=None), *others])
    assert some.labelled and some.judged.sum() == 5
    known = open_table(some, known=lambda word: True)
    negated = {score.slice.expression: score for score in scored(some, 0, known)}["not negation"]
    # Rows 2, 4 and 5; row 0 has no label to compare with.
    assert (negated.items, negated.score) == (3, pytest.approx(2 / 3))
    assert (
        "5 of 6 rows have a label"
        in charts.classes(some, 0, np.ones(6, dtype=bool), dict(zip(LABELS, LABELS, strict=True))).how
    )


def test_grades_are_compared_and_computed_as_numbers(tmp_path):
    made = made_up_run(tmp_path)
    labels = ["1.5", "10", "4.20", "3", None, "3.0"]
    rows = tuple(
        replace(row, label=label, label_text=label or "") for row, label in zip(made.dataset.rows, labels, strict=True)
    )
    table = open_table(with_rows(made, rows), known=bool)

    def kept(text):
        return np.flatnonzero(rows_of(text, table)).tolist()

    assert kept("gold > 3") == [1, 2] and kept("3 <= gold") == [1, 2, 3, 5] and kept("gold - 1 < 1") == [0]
    assert kept("gold = 3") == [3, 5] and kept("gold != 3") == [0, 1, 2] and kept('gold = ""') == [4]
    assert kept("gold in (1.5, 10)") == [0, 1]
    with pytest.raises(FilterError, match="is not a number on both sides"):
        rows_of("gold > 3", open_table(made, known=bool))
