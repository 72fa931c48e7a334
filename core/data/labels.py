"""Maps labels in data files to a model's classes: labels that mean no gold label, the class of each label, and sets of
classes that count as one label.

A label matches the class with the same text, ignoring case, surrounding spaces and number format (``1.0`` is ``1``).
The user must map any other label: :func:`proposed` suggests classes by meaning, never by position.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from core.data.dataset import DataError
from core.tasks import ENTAILMENT, FACTS, TASKS

CountsAs = Mapping[str, Sequence[str]]
"""The classes that count as each label (by its :func:`key`); rows whose label has no classes are not scored."""

NOTHING: CountsAs = MappingProxyType({})
_NUMBER = re.compile(r"[-+]?(\d{1,15}(\.\d*)?|\.\d+)")
_NO_GOLD = {
    *("", "-", "--", "–", "—", "-1", "?", "n/a", "#n/a", "na", "<na>", "nan", "none", "null", "nil"),
    *("unlabelled", "unlabeled", "not labelled", "not labeled", "no label", "no gold", "no gold label", "hidden"),
}


def key(text: str) -> str:
    """The form in which labels are compared: lower case, stripped, numbers in their shortest form."""
    text = " ".join(text.split()).casefold()
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text)
    return str(int(number)) if number.is_integer() else repr(number)


def is_number(label: str) -> bool:
    """Whether a label, by its :func:`key`, is a number."""
    return bool(_NUMBER.fullmatch(label))


def graded(labels: Collection[str], unknown: Collection[str] = ()) -> bool:
    """Whether labels are grades: numbers, some of them fractional, or more than two ``unknown`` to a model's
    :class:`Scale`, such as 1 to 5."""
    return all(map(is_number, labels)) and (any("." in label for label in labels) or len(unknown) > 2)


def gold(text: str, named: Collection[str] = ()) -> str | None:
    """The :func:`key` of a label; None for spellings of "no gold label", except those among ``named``
    (:func:`names_of`)."""
    own = key(text)
    return None if own.replace("_", " ") in _NO_GOLD and own not in named else own


def names_of(classes: Iterable[str], counts_as: CountsAs = NOTHING) -> frozenset[str]:
    """The labels that are gold whatever they look like: a model may have a class called none, and a user may map -1."""
    return frozenset(map(key, classes)).union(counts_as)


_ENTAILMENT, _NEUTRAL, _CONTRADICTION, _REST = "entailment", "neutral", "contradiction", "not entailment"
_POSITIVE, _NEGATIVE = "positive", "negative"
_SPELLINGS = {
    _ENTAILMENT: "entailment|entails|entailed|entail|e|supports|supported|support|implies|implied|yes|true",
    _NEUTRAL: "neutral|n|unknown|undetermined|unclear|nei|not enough info|not enough information|not enough evidence|"
    "cannot tell|can't tell",
    _CONTRADICTION: "contradiction|contradicts|contradictory|contradicted|contradict|c|refutes|refuted|refute",
    _REST: "not entailment|non entailment|no entailment|not entailed|non entailed|does not entail|not entails|"
    "notentailment|nonentailment|not supported|unsupported",
    _POSITIVE: "1|yes|true|duplicate|duplicates|paraphrase|paraphrases|equivalent|relevant|similar|same|match|answer|"
    "right|correct|positive|is duplicate|right answer|correct answer|semantically equivalent",
    _NEGATIVE: "0|no|false|different|dissimilar|irrelevant|nonduplicate|nonparaphrase|distinct|wrong|incorrect|"
    "negative|no match|wrong answer|incorrect answer",
}
"""Usual spellings in data sets, by meaning."""
_MEANINGS = {meaning: {*listed.split("|")} for meaning, listed in _SPELLINGS.items()}
_NEGATIONS = ("not a ", "not an ", "not ", "non ", "no ", "non")


def _plain(label: str) -> str:
    return " ".join(key(label).replace("_", " ").replace("-", " ").split())


def _means(label: str, meaning: str) -> bool:
    """Whether a label has this meaning; a negated positive one counts as negative."""
    text = _plain(label)
    if text in _MEANINGS[meaning]:
        return True
    if meaning != _NEGATIVE:
        return False
    bare = (text[len(negation) :] for negation in _NEGATIONS if text.startswith(negation))
    return any(word in _MEANINGS[_POSITIVE] - {"1", "yes", "true"} for word in bare)


def proposed(label: str, labels: Collection[str], classes: Sequence[str]) -> tuple[str, ...]:
    """The classes that match a label's meaning, in a file with these ``labels``; empty if uncertain, as for numbers in
    NLI files, whose order differs between files, and for 1 among numbers that may be grades."""
    if is_number(label) and not {other for other in labels if is_number(other)} <= {"0", "1"}:
        return ()
    named = {meaning: [name for name in classes if _means(name, meaning)] for meaning in _MEANINGS}
    if len(classes) == 2 and len(named[_POSITIVE]) == len(named[_NEGATIVE]) == 1:
        return tuple(next((named[own] for own in (_POSITIVE, _NEGATIVE) if _means(label, own)), ()))
    opposed = [name for name in classes if _plain(name) in ("no", "false")]
    named[_CONTRADICTION if named[_NEUTRAL] else _REST] += opposed
    return tuple(_inferred(label, labels, named)) if named[_ENTAILMENT] else ()


def _inferred(label: str, labels: Collection[str], classes: Mapping[str, list[str]]) -> list[str]:
    """:func:`proposed` for inference classes, given by their meanings."""
    others = [name for meaning in (_NEUTRAL, _CONTRADICTION, _REST) for name in classes[meaning]]
    if _means(label, _ENTAILMENT):
        return classes[_ENTAILMENT]
    # RTE's NO covers everything that is not entailed, unless the file also has a label for unknown. So does SciTail's
    # neutral, as that file has no contradiction.
    middle = any(_means(other, _NEUTRAL) for other in labels)
    # ChaosNLI writes e, n and c, even if no row of a file has c.
    opposite = any(_means(other, _CONTRADICTION) or _plain(other) in ("no", "false", "n") for other in labels)
    if _means(label, _REST) or (_plain(label) in ("no", "false") and not middle):
        return others
    if _means(label, _NEUTRAL):
        return (classes[_NEUTRAL] or classes[_REST]) if opposite else others
    if _means(label, _CONTRADICTION) or _plain(label) in ("no", "false"):
        return classes[_CONTRADICTION] or classes[_REST]
    return []


def own(counts_as: CountsAs, classes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The mapping restricted to a model's ``classes``."""
    by_key = {key(name): name for name in classes}
    return {label: tuple(by_key[key(n)] for n in names if key(n) in by_key) for label, names in counts_as.items()}


def task_of(labels: Collection[str], layout: str) -> str:
    """The task of a file by its labels, or else by its ``layout``; empty if unknown."""
    words = {_plain(label) for label in labels} - {"yes", "no", "true", "false", "0", "1"}
    if words & {"supports", "refutes"}:
        return FACTS
    entailing = any(_means(word, meaning) for word in words for meaning in (_ENTAILMENT, _REST, _CONTRADICTION))
    return ENTAILMENT if entailing else layout


def mismatch(file: str, task: str, model: str, of_model: str) -> str:
    """A one-sentence warning if a file's task differs from the model's; empty if they match or either is unknown."""
    if task == of_model or not all(name in TASKS and TASKS[name].classes for name in (task, of_model)):
        return ""
    return (
        f"{file} is a data set for {task}, but {model} was trained for {of_model}: choose a model for {task}, or read "
        "the scores with care"
    )


@dataclass(frozen=True)
class Scale:
    """The answers by which a model is scored: each is a class, or several that count as one label.

    ``positive``: the class of right answers; label 1 means this class if the only other label is 0. Raises DataError
    for classes the model does not have, and if a class would count as two labels.
    """

    classes: tuple[str, ...]
    counts_as: CountsAs
    positive: str | None = None

    def __post_init__(self) -> None:
        known = {key(name): place for place, name in enumerate(self.classes)}
        for names in self.counts_as.values():
            strange = [name for name in names if key(name) not in known]
            if strange:
                raise DataError(f"{strange[0]!r} is not a class: the classes are {', '.join(self.classes)}")
        sets = {frozenset(known[key(name)] for name in names): label for label, names in self.counts_as.items()}
        listed = [(members, label) for members, label in sets.items() if members]
        for at, (members, label) in enumerate(listed):
            shared = next((other for others, other in listed[:at] if members & others), None)
            if shared is not None:
                raise DataError(
                    f"a class counts as both {shared} and {label}: give labels the same classes or different ones"
                )

    @cached_property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """Class indices of each answer, in the order of their first class."""
        known = {key(name): place for place, name in enumerate(self.classes)}
        several = {tuple(sorted({known[key(name)] for name in names})) for names in self.counts_as.values() if names}
        taken = {place for members in several for place in members}
        return tuple(sorted([*several, *((place,) for place in known.values() if place not in taken)]))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each answer: its class, or the labels that its classes count as."""
        names = list[str]()
        for members in self.members:
            own = [label for label in self.counts_as if self._places.get(label) == len(names)]
            names.append(self.classes[members[0]] if len(members) == 1 else "/".join(own))
        if len({*names}) < len(names):
            return tuple(" + ".join(self.classes[place] for place in members) for members in self.members)
        return tuple(names)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The answer for each label that is mapped or equals a class name; -1: its rows are not scored."""
        answers = {place: at for at, members in enumerate(self.members) for place in members}
        by_class = {key(name): place for place, name in enumerate(self.classes)}
        # A class that is part of another label's answer does not count separately.
        found = {name: answers[p] for name, p in by_class.items() if len(self.members[answers[p]]) == 1}
        if self.positive is not None and len(self.classes) == 2:
            right = by_class[key(self.positive)]
            found = {"0": answers[1 - right], "1": answers[right]} | found
        mapped = {label: answers[by_class[key(names[0])]] if names else -1 for label, names in self.counts_as.items()}
        return found | mapped

    @property
    def several(self) -> bool:
        """Whether several classes count as one label, so the most probable answer may lack the most probable class."""
        return len(self.members) < len(self.classes)

    def unknown(self, labels: Collection[str]) -> list[str]:
        """The labels of a file that match no answer. If one of its numbers does not, none does unless it is mapped: in
        grades from 1 to 5, 1 is not the class 1. Another model's class that looks like no gold label is left out."""
        strange = {label for label in labels if label not in self._places and gold(label) is not None}
        if any(map(is_number, strange)):
            strange |= {label for label in labels if is_number(label)} - self.counts_as.keys()
        return [label for label in labels if label in strange]

    def of(self, labels: Sequence[str | None]) -> np.ndarray:
        """The answer of each label, int ``[N]``; -1 for rows that are not scored."""
        return np.array([self._places.get(label, -1) if label is not None else -1 for label in labels], dtype=int)

    def sums(self, probabilities: np.ndarray) -> np.ndarray:
        """The probability of each answer, ``[N, A]``, from class probabilities ``[N, C]``."""
        return np.stack([probabilities[:, members].sum(axis=1) for members in self.members], axis=1)

    def of_classes(self, places: np.ndarray) -> np.ndarray:
        """The answers to which these class indices ``[N]`` belong."""
        answers = {place: at for at, members in enumerate(self.members) for place in members}
        return np.array([answers[place] for place in range(len(self.classes))])[places]


MOST_ASKED = 12
"""Maximum number of labels named in one question."""


def question(
    file: str, labels: Sequence[str], unknown: Sequence[str], model: str, classes: Sequence[str], grades: bool = False
) -> str:
    """One sentence for the command line that asks what the ``unknown`` ones among a file's ``labels`` mean, with the
    options that answer it; ``grades``: whether the model could be compared with grades."""
    asked = list(unknown)[:MOST_ASKED]
    more = f" and {len(unknown) - MOST_ASKED} more" if len(unknown) > MOST_ASKED else ""
    guesses = {label: proposed(label, labels, classes) for label in asked}
    if all(guesses.values()):  # the answer may have other effects, as with SciTail's neutral
        known = {label: proposed(label, labels, classes) for label in labels if label not in guesses}
        guesses |= {label: names for label, names in known.items() if len(names) > 1}
    options = " ".join(
        f"--label {shlex.quote(label + '=' + (','.join(names) or 'CLASS'))}" for label, names in guesses.items()
    )
    which = "" if all(guesses.values()) else "; CLASS is one or several of these, with commas between them"
    one, perhaps = len(unknown) == 1, grades and all(map(is_number, labels))
    return (
        f"{file} has the label{'' if one else 's'} {', '.join(asked)}{more}, which {'is' if one else 'are'} not "
        f"{'all ' if perhaps else ''}among the classes of {model} ({', '.join(classes)}): add "
        f"{'--grades if they are grades, or else ' if perhaps else ''}{options}{which} (nothing behind the = leaves "
        "the rows unscored), or choose another model"
    )
