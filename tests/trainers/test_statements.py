"""Families of short statements: what follows from what is said once, without contradiction, and in clean English."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import pytest

from core.data import read
from core.evaluation.probe import SUITES
from core.linguistics.wordnet import lexicon
from trainers.paper import make_pairs
from trainers.paper.make_pairs.lists import Lists, article
from trainers.paper.make_pairs.statements import Statements, said

SCENES = ["A man is running on a beach.", "Two dogs play in the snow"]


@pytest.fixture(scope="module")
def statements() -> Statements:
    return Statements(Lists(lexicon()), 1, SCENES)


@pytest.fixture(scope="module")
def pairs(statements: Statements) -> list[tuple[str, str, str, str]]:
    return list(statements.pairs(0.1))


def test_a_family_says_once_what_follows_and_what_excludes_is_excluded(statements: Statements) -> None:
    for name, family in statements.data["families"].items():
        relations = {
            tuple(pair.split(" > ")): label
            for label in ("entailment", "neutral", "contradiction")
            for pair in family[label]
        }
        assert len(relations) == sum(len(family[label]) for label in ("entailment", "neutral", "contradiction")), name
        assert {key for pair in relations for key in pair} == {*family["says"]}, name
        for one, other in combinations(family["says"], 2):
            # What excludes another thing is excluded by it, and cannot follow from it or leave it open.
            both = {relations.get((one, other)), relations.get((other, one))} - {None}
            assert "contradiction" not in both or both == {"contradiction"}, (name, one, other)
        for (first, second), label in relations.items():
            if label == "entailment":
                for third in family["says"]:
                    # What excludes the conclusion excludes the premise.
                    if relations.get((second, third)) == "contradiction":
                        assert relations.get((first, third), "contradiction") == "contradiction", (name, first, third)
                    if relations.get((second, third)) == "entailment":
                        assert relations.get((first, third), "entailment") == "entailment", (name, first, third)


def test_every_family_has_all_its_labels_and_no_pair_twice(pairs: list[tuple[str, str, str, str]]) -> None:
    counts = Counter((family, label) for family, label, *_ in pairs)
    assert len(counts) == 3 * 18 - 1  # nothing follows from an unrelated scene
    for family in {family for family, _ in counts}:
        of_labels = [count for (name, _), count in counts.items() if name == family]
        assert max(of_labels) - min(of_labels) <= max(of_labels) // 4, family
    assert len({pair[2:] for pair in pairs}) == len(pairs)


def test_statements_are_clean_english(pairs: list[tuple[str, str, str, str]]) -> None:
    for text in (text for pair in pairs for text in pair[2:]):
        assert re.fullmatch(r"[A-Z][A-Za-z0-9,' -]+\.", text), text
        for a, word in re.findall(r"\b(an?) (\w+)", text, re.IGNORECASE):
            assert a.lower() == article(word), text


def test_braces_take_articles_plurals_and_digits() -> None:
    words = {"x": "apple", "A": "the", "n": "eleven", "colour x": "red apple"}
    assert said("{a x}, {A x}, {x s}, {#n}, {a colour x}.", words) == "An apple, the apple, apples, 11, a red apple."
    assert said("{A x}.", words | {"A": "a"}) == "An apple."


def test_no_sentence_of_the_suite_is_made() -> None:
    def texts(pairs: Iterable[tuple[object, ...]]) -> set[object]:
        return {text for *_, premise, hypothesis in pairs for text in (premise, hypothesis)}

    suite = {text for row in read(SUITES["simple"]).rows for text in (row.first, row.second)}
    assert suite & texts(Statements(Lists(lexicon()), 1, SCENES).pairs(1.0))  # else what follows says nothing
    assert not suite & texts(make_pairs.make(SCENES, seed=1, scale=1.0))
