"""The next row to label: by the smallest margin, one in five at random; accuracy on the random ones alone."""

import numpy as np
import pytest

from core.desk import suggestions
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.file_state import Guess
from core.desk.labelling import Labelling
from core.desk.suggestions import Background, RowFeatures, SuggestingModel
from tests.core.write_tags import FILE


def test_the_row_of_the_smallest_margin_or_a_random_one_comes_next():
    chances = np.array([[0.9, 0.06, 0.04], [0.5, 0.48, 0.02], [0.2, 0.7, 0.1], [0.3, 0.31, 0.39]])
    fitted = SuggestingModel(20, np.array([1, 3, 4, 7]), np.array([2, 5, 8]), chances)
    left, draws = np.ones(8, dtype=bool), np.array([0, 40, 0, 30, 20, 0, 0, 50])
    assert fitted.next(left, draws, random=False) == 3, "the two most probable are closest"
    left[3] = False
    assert fitted.next(left, draws, random=False) == 7 and fitted.next(left, draws, random=True) == 4
    assert fitted.next(np.zeros(8, dtype=bool), draws, random=True) is None
    assert fitted.guess(4) == 5 and fitted.guess(1) == 2 and fitted.guess(2) is None and fitted.guess(8) is None


def test_a_classifier_is_fitted_after_twenty_labels_and_every_five_in_the_background():
    random = np.random.default_rng(0)
    classes = random.integers(2, size=60)
    features = (classes[:, None] * 2 + random.normal(size=(60, 50)) / 4).astype(np.float16)
    known, background = RowFeatures(np.arange(60), features), Background()

    def latest(count):
        found = background.latest("Ann", known, {row: int(classes[row]) + 1 for row in range(count)})
        for _, future in background._running.values():
            future.result()
        return found

    assert latest(19) is None and not background._running
    assert latest(20) is None and latest(22).labels == 20, "it is ready at the next row"
    assert latest(25).labels == 20 and latest(26).labels == 25
    guessed = [background.latest("Ann", known, {}).guess(row) for row in range(60)]
    assert guessed == [number + 1 for number in classes.tolist()]
    assert suggestions.fit(known, {0: 1, 1: 1}) is None, "one class teaches nothing"


def test_accuracy_is_measured_on_random_rows_before_their_labels(database):
    engine = open_database()
    annotations, labelling = Annotations(engine), Labelling(engine)
    labelling.add_classes("Ann", FILE, ["bug", "wish"])
    labelling.label("Ann", FILE, "1", 1, (1, True, 20))
    labelling.label("Ann", FILE, "2", 1, (2, True, 20))
    labelling.label("Ann", FILE, "3", 1, (1, False, 20))
    labelling.label("Bob", FILE, "4", 1, (1, True, 25))
    state = annotations.state(FILE)
    assert suggestions.measured(state.guesses("Ann")) == (1, 2)
    assert suggestions.learned_from(state, "Ann") == {"1": "bug", "2": "bug", "3": "bug"}, "others' are hidden"
    assert state.seen_by("Ann").guesses("Bob") == []
    annotations.blind("Ann", FILE, False)
    assert suggestions.learned_from(annotations.state(FILE), "Ann").keys() == {"1", "2", "3", "4"}
    (sentence,) = suggestions.sentences(state.guesses("Ann"))
    assert sentence.startswith("On 2 random rows, each before it was labelled, the model is right in 50.0")


@pytest.mark.parametrize(("late", "told"), [(6, True), (10, False)])
def test_a_sentence_says_when_more_labels_stop_helping(late, told):
    first = [Guess("x", True, 20 + n, n < 7) for n in range(10)]
    second = [Guess("x", True, 70 + n, n < late) for n in range(10)]
    assert suggestions.curve([*first, *second], 2) == [(24.5, 7, 10), (74.5, late, 10)]
    assert any("no longer raise" in line for line in suggestions.sentences([*second, *first])) == told
    assert suggestions.sentences([Guess("x", False, 20, True)]) == []
