"""Lessons: every file holds together, formulas show their numbers, and handouts give no answer away."""

import functools
import html
import io
import math
import re
from dataclasses import replace

import numpy as np
import pandas
import pytest

from app.lessons.drawing import drawn
from core.checkpoint import available
from core.lessons import LessonError, at, evaluate, lessons, mathml
from core.lessons.arithmetic import chains, from_shown, tolerances
from core.lessons.handout import handout, numbers_csv
from core.lessons.lesson import guessed, place_of, read, rounded, shown
from core.lessons.sources import SOURCES
from tests.loops.arithmetic import dot, scaled, softmax, tanh

LESSONS = lessons()
every_lesson = pytest.mark.parametrize("name", LESSONS)


@functools.cache
def default(name):
    """A lesson with its own numbers."""
    return evaluate(LESSONS[name], {}, {})


def text(formula):
    return html.unescape(re.sub("<[^>]*>", "", formula))


@pytest.mark.slow
@every_lesson
def test_every_name_in_a_lesson_is_a_value_and_every_formula_can_be_drawn(name):
    lesson, evaluated = LESSONS[name], default(name)
    for row in (*lesson.picture, *lesson.given):
        at(evaluated.values, row.value)
        assert not row.of or row.of in {**lesson.words, **evaluated.words}
        sources = {source.rpartition(":")[2].partition(".")[0] for source in (*row.made_of, *row.uses)}
        assert sources <= {other.value for other in (*lesson.picture, *lesson.given)}, "on screen and in the CSV"
    for step in lesson.steps:
        assert step.says.endswith(".") and step.says.count(". ") == 0, "a step has one sentence"
        for latex in (step.formula, *step.numbers):
            mathml(latex, evaluated.values, lesson.digits, words={**lesson.words, **evaluated.words})
        assert all(at(evaluated.values, part) is not None for part in step.lit)
        assert all(isinstance(at(evaluated.values, guess), float) for guess in guessed(evaluated.values, step))
        assert not step.opens or step.opens in available()


PRINTED = re.compile(r'data-of="([^"]+)" class="value">([^<]+)<')
"""The numbers of a sheet with their names."""


def numbers_of(value):
    return [number for part in value for number in numbers_of(part)] if isinstance(value, list) else [value]


@every_lesson
def test_a_number_to_guess_is_in_its_step_and_given_away_nowhere(name):
    lesson, evaluated = LESSONS[name], default(name)
    values, reached = evaluated.values, set(lesson.inputs)
    blanks, key = (handout(lesson, evaluated, {}, blanks) for blanks in (True, False))
    assert "____" not in key and (not lesson.change or lesson.change not in blanks), "nothing changes on paper"
    sheets = (page.split("<section>")[1:] for page in (blanks, key))
    printed, answers = ([PRINTED.findall(section) for section in sheet] for sheet in sheets)
    for place, step in enumerate(lesson.steps):
        reached |= {part.partition(".")[0] for part in step.lit}
        if not step.guess:
            continue
        for guess in guessed(values, step):
            answer = at(values, guess)
            assert (guess, "____") in printed[place], step.title
            assert (guess, shown(answer, lesson.digits)) in answers[place], step.title
        said_before = "".join(earlier.says + earlier.note for earlier in lesson.steps[:place]) + step.says
        assert rf"\val{{{step.guess}}}" not in said_before, step.title
        if step.vote or answer == round(answer) or re.search("max|min", step.formula):
            continue  # counts coincide by chance, and a largest number is one of the numbers listed
        same = shown(answer, lesson.digits)
        assert same not in [text for _, text in printed[place]], step.title
        elsewhere = [at(values, other) for section in printed for other, text in section if text != "____"]
        for row in lesson.picture:
            if row.value in reached and row.value != guess.partition(".")[0]:
                elsewhere += numbers_of(values[row.value])
        assert not any(math.isclose(number, answer, rel_tol=1e-9) for number in elsewhere), step.title


@every_lesson
def test_both_sides_of_every_equation_are_equal(name):
    lesson = LESSONS[name]
    for step, equations in zip(lesson.steps, chains(lesson.steps, default(name).values, None), strict=True):
        for (_, first), *others in filter(None, equations):
            for written, number in others:
                assert np.allclose(first, number, rtol=1e-4, atol=1e-5), (step.title, written, first, number)


TO_ESTIMATE = {
    "global-attention": {"score.3"}, "local-attention": {"inside"}, "word-by-word": {"kappa_C.1"},
    "transformer": {"all.3.1"}, "heads": {"looks.word", "own_row.word"},
    "phrases": {"least.1", "most.1", "by_least.1", "length_most.1"},
    "moved-attention": {"permuted_y.target", "mean_y.target", "flat_y.target", "other_y.target", "looks"},
    "ways": {"decides", "path.word", "agree"}, "people": {"model.2"},
}  # fmt: skip
"""Guesses that no line computes: they are counted, looked up, or computed as another step shows."""


@every_lesson
def test_a_guess_computed_from_the_numbers_on_screen_is_right_and_near_the_answer(name):
    lesson, values = LESSONS[name], default(name).values
    equations = chains(lesson.steps, values, lesson.digits)
    within = tolerances(lesson.steps, values, lesson.digits)
    for step, shown_ones, allowed in zip(lesson.steps, equations, within, strict=True):
        if not step.guess or step.guess in TO_ESTIMATE.get(name, ()):
            continue
        computed, answer = from_shown(place_of(values, step.guess), shown_ones), at(values, step.guess)
        assert computed is not None, f"no line computes {step.guess}"
        off = abs(computed - answer)
        assert off <= allowed, step.title
        assert off <= max(0.02 * abs(answer), 10**-lesson.digits), f"{step.title} needs more digits"


def test_a_small_number_has_digits_enough_to_compute_with():
    assert [shown(number, 3) for number in (0.000662, 0.0143, 0.0064)] == ["0.00066", "0.014", "0.0064"]
    lesson, values = LESSONS["ways"], default("ways").values
    number = next(i for i, step in enumerate(lesson.steps) if step.guess == "norm.word")
    squares = float(shown(at(values, "squares.word"), lesson.digits))
    within = tolerances(lesson.steps, values, lesson.digits)[number]
    assert abs(math.sqrt(squares) - at(values, "norm.word")) <= within < at(values, "norm.word"), "0 is not accepted"


@every_lesson
def test_no_guess_is_one_minus_the_other_numbers(name):
    lesson, evaluated = LESSONS[name], default(name)
    drawing = drawn(lesson, evaluated, {})
    sections = handout(lesson, evaluated, {}, blanks=True).split("<section>")[1:]
    for step, section in zip(drawing.steps, sections, strict=True):
        if not step.guess or "." not in step.guess:
            continue
        parent, _, place = step.guess.rpartition(".")
        whole = at(evaluated.values, parent)
        if math.isclose(sum(whole), 1, abs_tol=1e-3):
            others = [f"{parent}.{i + 1}" for i in range(len(whole)) if str(i + 1) != place]
            assert set(others) == set(step.hidden), step.title
            assert not [text for name, text in PRINTED.findall(section) if name in others and text != "…"], step.title


@every_lesson
def test_parts_with_names_of_their_own_are_printed_with_them(name):
    lesson, evaluated = LESSONS[name], default(name)
    words = {**lesson.words, **evaluated.words}
    read = {*words.get("x", ()), *words.get("y", ()), *words.get("classes", ())}
    for row in (*lesson.picture, *lesson.given):
        names = words.get(row.of, [])
        if len(names) < 4 or row.shape in ("rows", "curve") or read & set(names) or any(map(str.isdigit, names)):
            continue
        bare = [step.title for step in lesson.steps if rf"\val{{{row.value}}}" in "".join(step.numbers)]
        assert not bare or row.of in (
            "h",
            "pairs",
            "window",
            "windows",
            "phrases",
            "of_window",
            "parts",
            "least",
            "most",
        ), row.value


@pytest.mark.parametrize(
    ("name", "inputs"),
    [("people", {"people": [0.0] * 12, "threshold": 1.0}), ("people", {"threshold": 1.0}), ("ways", {})],
)
def test_a_share_of_nothing_is_not_shown_as_a_number_nor_asked(name, inputs):
    lesson, evaluated = LESSONS[name], evaluate(LESSONS[name], inputs, {})
    steps = drawn(lesson, evaluated, {}).steps
    lines = [text(line).replace("\u00a0", " ") for step in steps for line in step.numbers]
    assert not [line for line in lines if "0 of 0" in line]
    assert not [line for step in steps for line in step.numbers if re.search("<mfrac>.*>0</mn></mfrac>", line)]
    if name == "people":
        assert "the model has no link" in "".join(lines) and not [one for one in steps if one.guess == "precision"]
    else:
        assert "no votes on a word yet" in "".join(lines)


SMALL = """
title: T
about: A.
source: softmax
picture: []
steps: []
"""


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("title: [", "is not readable YAML at line 2"),
        (SMALL.replace("about: A.\n", ""), "about is missing"),
        (SMALL + "colour: red\n", "unknown key colour"),
        (SMALL.replace("picture: []", "picture: [{value: a, label: b, shape: pie}]"), "shape"),
        ("", "must be keys and values"),
    ],
)
def test_a_file_that_is_no_lesson_gets_one_sentence(tmp_path, written, problem):
    file = tmp_path / "1-odd.yaml"
    file.write_text(written, encoding="utf-8")
    with pytest.raises(LessonError, match=rf"1-odd\.yaml.*{problem}"):
        read(file)


@pytest.mark.parametrize(
    ("latex", "problem"),
    [
        (r"\colour{a}", "unknown command"),
        (r"\val{nothing}", "no value 'nothing'"),
        (r"\frac{a}", "fraction without two parts"),
        (r"\val{a", "lacks a brace"),
        (r"\begin{pmatrix} a", "not valid LaTeX"),
    ],
)
def test_a_formula_that_cannot_be_drawn_gets_one_sentence(latex, problem):
    with pytest.raises(LessonError, match=problem):
        mathml(latex, {"a": 1.0}, 3)


def test_the_examples_numbers_are_in_the_formula():
    values = {"a": [0.25, -1.5], "k": 2.0, "W": [[1.0, 0.0]], "long": [0.0] * 11}
    assert text(mathml(r"\val{a.1} + \val{a.k} = \val{a}", values, 3)) == "0.25+(−1.5)=(0.25,−1.5)"
    assert 'data-of="a.2"' in mathml(r"\val{a.k}", values, 3)
    assert text(mathml(r"\each{+}{long}{\val{long.#}}", values, 3)) == "0+0+⋯\u00a0(9\u00a0more)"
    assert text(mathml(r"\val{long}", values, 3)).endswith("and\u00a04\u00a0more)")
    assert "<mtable" in mathml(r"\val{W}", values, 3)


def test_numbers_are_short_and_a_tiny_one_is_not_nought():
    texts = [shown(number, 3) for number in (0.25, 1.0, -0.5, 0.0, 0.0004, -0.0000004)]
    assert texts == ["0.25", "1", "−0.5", "0", "0.0004", "≈0"]
    assert rounded([[0.12345]], 2) == [["0.12"]]


def test_a_handout_holds_all_steps_and_nothing_typed_becomes_markup():
    lesson = LESSONS["light"]
    texts = {"first": "<b>A dog</b>", "second": "An animal"}
    page = handout(lesson, evaluate(lesson, {}, texts), texts)
    assert page.count("<section>") == len(lesson.steps)
    assert "&lt;b&gt;A dog" in page and "<b>" not in page
    assert "http" not in page.replace("http-equiv", "") and "<script" not in page and "src=" not in page


def test_a_handout_names_the_parts_of_its_vectors_once():
    people, states = (handout(LESSONS[name], default(name), {}, blanks=True) for name in ("people", "global-attention"))
    assert people.count("<bdi>same words: </bdi>") == 1 and people.count("<bdi>taken away: </bdi>") == 2
    assert "same words, local" not in people, "a list has its names"
    assert "weights α (over A, man, plays, the, guitar): A (1, " in people
    assert "people’s links: A, woman, plays, a, guitar" in people and "states: every, dog, danced" in states


@pytest.mark.parametrize("name", ["global-attention", "light"])
def test_a_spreadsheet_opens_as_a_table_whose_numbers_follow_from_the_given_ones(name):
    lesson, evaluated = LESSONS[name], default(name)
    table = pandas.read_csv(io.StringIO(numbers_csv(lesson, evaluated)), index_col="value")
    numbers = {value: row.dropna().tolist() for value, row in table.filter(like="number").iterrows()}
    assert [*table.index].index("score") < [*table.index].index("alpha"), "in the order of computation"
    assert table.kind["alpha"] == "to compute"
    assert numbers["alpha"] == pytest.approx(softmax(numbers["score"]), abs=1e-6)
    if name == "light":
        assert table.word["y.2"] == "dog" and len(numbers["y.2"]) == 8
        assert table.kind["parts"] == "given", "the filter's weights are not shown"
        context = scaled(numbers["alpha"], [numbers[f"y.{j}"] for j in range(1, 6)])
        assert numbers["c"] == pytest.approx(context, abs=1e-6)
    else:
        assert (table.kind["h.2"], table.word["h.2"], numbers["h.2"]) == ("given", "dog", [0.2, 0.4])
        states = [numbers[f"h.{i}"] for i in range(1, 4)]
        assert numbers["score"] == pytest.approx([dot(state, numbers["h_C"]) for state in states])
        weights = [numbers[f"W_k.{row}"] for row in range(1, 5)]
        assert numbers["combo"] == pytest.approx(tanh(scaled(numbers["kappa"] + numbers["h_C"], weights)))


def test_a_lesson_with_an_unknown_source_names_those_known():
    with pytest.raises(
        LessonError, match=r"unknown source 'odd': choose one of agreement with people, attconv advanced"
    ):
        evaluate(replace(LESSONS["softmax"], source="odd"), {}, {})
    assert {lesson.source for lesson in LESSONS.values()} <= set(SOURCES)
