"""Perturbations of a whole file with known effects on the labels: invariance and directional expectation tests, with
each model's failure rate.

After CheckList (Ribeiro, Wu, Guestrin & Singh 2020, "Beyond accuracy: behavioral testing of NLP models with CheckList")
and Robustness Gym (Goel et al. 2021, "Robustness Gym: unifying the NLP evaluation landscape"). There, a change has one
expected effect on all rows; for pairs, the effect depends on the gold label: "not" in the hypothesis turns an
entailment into a contradiction, but has no determined effect on a neutral pair.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from core.data.labels import proposed
from core.desk.run import RunModel
from core.effects.differences import CONTENT, word_class
from core.effects.edits import EXCHANGE, NEGATE, REPLACE, Edit, EditError, edited
from core.effects.offers import RAREST
from core.evaluation.probe import TYPED
from core.linguistics.constructions import embedded_clause, quantifier, words_of
from core.linguistics.word_lists import article, plural, word_groups
from core.reading.tokens import Token, tokenize
from core.reading.word_table import default_table
from core.tasks import ENTAILMENT, FACTS, PARAPHRASE

PERTURBATION, EXPECTED, BEFORE, FAILED, ORIGINAL = "perturbation", "expected", "before", "failed", "original."
"""The columns added to the file's: the change, its expected effect, the classes the models predicted before, the names
of the models that failed, and (prefix) the original row's id and texts."""
ANY, ENTAILED, NEUTRAL, CONTRADICTED, SAME_MEANING, DIFFERENT = (
    "any label",
    "entailment",
    "neutral",
    "contradiction",
    "paraphrase",
    "not a paraphrase",
)
"""Meanings of gold labels."""
_MEANINGS = {
    ENTAILMENT: (ENTAILED, NEUTRAL, CONTRADICTED),
    FACTS: (ENTAILED, NEUTRAL, CONTRADICTED),
    PARAPHRASE: (DIFFERENT, SAME_MEANING),
}
TOLERANCE = 0.1
"""How far a probability that may not fall is allowed to fall, as in CheckList's examples."""


class Expectation(NamedTuple):
    """A model's expected behaviour after a change: predict the same class (no ``label``), predict the row's new
    ``label``, or, if the label ``may_not_fall``, give it at least its earlier probability minus TOLERANCE."""

    label: str = ""
    may_not_fall: bool = False

    def __str__(self) -> str:
        if not self.label:
            return "same prediction"
        return f"P({self.label}) may not fall" if self.may_not_fall else f"becomes {self.label}"


SAME = Expectation()


class Source(NamedTuple):
    """A row's texts and the material for changes. ``judged``: index of the text the label is about (0 or 1), such as
    the hypothesis; ``others``: other rows' texts in the position of its other text."""

    texts: tuple[str, str]
    judged: int
    others: Sequence[str]
    chance: random.Random

    def judged_as(self, text: str) -> tuple[str, str]:
        """The texts with the judged one replaced."""
        return (text, self.texts[1]) if self.judged == 0 else (self.texts[0], text)


class Perturbation(NamedTuple):
    """A change: its display name, the texts after it (None if it does not apply), and its expected effect by the
    meaning of the gold label; missing labels have no expected effect."""

    title: str
    change: Callable[[Source], tuple[str, str] | None]
    expected: Mapping[str, Expectation]


def _each(change: Callable[[str], str]) -> Callable[[Source], tuple[str, str]]:
    return lambda source: (change(source.texts[0]), change(source.texts[1]))


def _typo(source: Source) -> tuple[str, str] | None:
    """Two letters inside a content word exchanged, avoiding results that are frequent words."""
    places = []
    for index, token in enumerate(tokenize(source.texts[source.judged])):
        if token.text.isalpha() and token.text.isascii() and word_class(token.norm) == CONTENT:
            for i in range(1, len(token.text) - 2):
                word = token.text[:i] + token.text[i + 1] + token.text[i] + token.text[i + 2 :]
                if word != token.text and (default_table().rank(word.lower()) or RAREST) >= RAREST:
                    places.append(Edit(REPLACE, source.judged, index, word))
    return edited(source.texts, [source.chance.choice(places)]) if places else None


_CONTRACTED = {
    r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should) not\b": r"\1n't",
    r"\b(c)an ?not\b": r"\1an't",
    r"\b(w)ill not\b": r"\1on't",
    r"\b(it|he|she|that|there|who|what|where) is\b(?= \w)": r"\1's",
    r"\b(you|we|they) are\b(?= \w)": r"\1're",
    r"\b(I|you|he|she|it|we|they) will\b(?= \w)": r"\1'll",
    r"\b(I) am\b(?= \w)": r"\1'm",
}
# 's is unchanged: it may stand for is, has or a possessive.
_EXPANDED = {
    r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should)n['’]t\b": r"\1 not",
    r"\b(c)an['’]t\b": r"\1annot",
    r"\b(w)on['’]t\b": r"\1ill not",
    r"\b(you|we|they)['’]re\b": r"\1 are",
    r"\b(I|you|he|she|it|we|they)['’]ll\b": r"\1 will",
    r"\b(I)['’]m\b": r"\1 am",
}


def _contractions(source: Source) -> tuple[str, str]:
    """Contracts everything, or expands it if there is nothing to contract."""
    contracted = _each(functools.partial(_rewritten, _CONTRACTED))(source)
    return contracted if contracted != source.texts else _each(functools.partial(_rewritten, _EXPANDED))(source)


def _rewritten(rules: Mapping[str, str], text: str) -> str:
    for pattern, replacement in rules.items():
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
    return text


def _name(source: Source) -> tuple[str, str] | None:
    """A person's name replaced by another in both texts."""
    words = {token.text for text in source.texts for token in tokenize(text)}
    for names in (word_groups()["frequent male names"], word_groups()["frequent female names"]):
        found = [name for name in names if name in words]
        # skips names such as John Deere, Papa John's, St. John's
        if found and not re.search(rf"\b{found[0]} [A-Z]|\w [A-Z]\w*\.? {found[0]}\b", " | ".join(source.texts)):
            new = source.chance.choice([other for other in names if other not in words] or found)
            return _each(functools.partial(re.sub, rf"\b{found[0]}\b", new))(source)
    return None


_SEVERAL_SENSES = frozenset((
    "rock", "picture", "instrument", "making", "taking", "lifting", "throwing", "relaxing", "mad", "angry", "happy",
    "beautiful",
))  # fmt: skip
"""Words in the lists that are not synonyms in other frequent senses or places: a rock band, the most beautiful."""


@functools.cache
def _synonyms() -> Mapping[str, str]:
    lists = word_groups()
    found = {one: other for one, other in lists["synonyms"] if one not in _SEVERAL_SENSES}
    found |= {
        plural(one): plural(other) for one, other in found.items() if one != "person" and plural(one) and plural(other)
    }
    found |= {"man": "guy", "men": "guys", "woman": "lady", "women": "ladies", "bicycle": "bike", "sofa": "couch"}
    more = (*lists["adjective synonyms"], *lists["verb synonyms"])
    found |= {one: other for one, other in more if one not in _SEVERAL_SENSES}
    return found | lists["synonyms in any sense"]


def _synonym(source: Source) -> tuple[str, str] | None:
    text = source.texts[source.judged]
    tokens = tokenize(text)
    # Inside a sentence, a capital begins a name: the United Nations.
    places = [i for i, token in enumerate(tokens) if token.norm in _synonyms() and (not i or token.text.islower())]
    if not places:
        return None
    index = source.chance.choice(places)
    word = _synonyms()[tokens[index].norm]
    edits = [Edit(REPLACE, source.judged, index, word), *_article(tokens, index, word, source.judged)]
    return edited(source.texts, edits)


def _article(tokens: Sequence[Token], index: int, word: str, side: int) -> list[Edit]:
    """The edit that makes an "a" or "an" before the word agree with it."""
    before = tokens[index - 1].norm if index else ""
    return [Edit(REPLACE, side, index - 1, article(word))] if before in ("a", "an") else []


def _negated(source: Source) -> tuple[str, str] | None:
    """ "Some dogs are not running" does not deny "Some dogs are running"; "not" may end up in an embedded clause."""
    words = words_of(source.texts[source.judged])
    if quantifier(words) or embedded_clause(words) or not _INDEFINITE.isdisjoint(words):
        return None
    return edited(source.texts, [Edit(NEGATE, source.judged)])


_INDEFINITE = {"someone", "somebody", "something", "somewhere", "sometimes", "or"}


def _tautology(source: Source) -> tuple[str, str] | None:
    """Naik et al. (2018, "Stress test evaluation for natural language inference") append it to hypotheses."""
    text = source.texts[source.judged].rstrip()
    if not text or text[-1] in "?!":
        return None
    bare = text.rstrip(".")
    return source.judged_as(f"{bare} and true is true{text[len(bare) :]}")


def _sentence(source: Source) -> tuple[str, str] | None:
    """Another row's premise appended to the premise."""
    own = source.texts[1 - source.judged].rstrip()
    others = [text for text in source.others if text.strip() and text.strip() != own]
    if not own or not others:
        return None
    longer = f"{own}{'' if own[-1] in '.?!' else '.'} {source.chance.choice(others)}"
    return (longer, source.texts[1]) if source.judged else (source.texts[0], longer)


PERTURBATIONS: dict[str, Perturbation] = {
    # The way a text is typed, the person named and the choice between synonyms change no label in any task.
    "full_stop": Perturbation("No final full stop", _each(TYPED["without full stop"]), {ANY: SAME}),
    "lower_case": Perturbation("Lower case", _each(TYPED["in lower case"]), {ANY: SAME}),
    "typo": Perturbation("A typo (two letters exchanged)", _typo, {ANY: SAME}),
    "contractions": Perturbation("Contractions (is not, isn’t)", _contractions, {ANY: SAME}),
    "name": Perturbation("Another person’s name", _name, {ANY: SAME}),
    "synonym": Perturbation("A synonym", _synonym, {ANY: SAME}),
    # A premise contradicts the negation of what it entails. A contradiction may be false for a reason other than the
    # negated one ("A man sleeps", "A woman runs"): the negation need not follow, but is at least as likely as the
    # hypothesis. The negation of a neutral hypothesis is usually neutral, but a contradiction for near paraphrases.
    "not": Perturbation(
        "“not” put in", _negated, {ENTAILED: Expectation(CONTRADICTED), CONTRADICTED: Expectation(ENTAILED, True)}
    ),
    # Contradiction and paraphrase are symmetric. Entailment is not, and of two neutral texts the more detailed one may
    # entail the other.
    "swap": Perturbation(
        "Both texts swapped",
        lambda source: edited(source.texts, [Edit(EXCHANGE)]),
        {CONTRADICTED: SAME, SAME_MEANING: SAME, DIFFERENT: SAME},
    ),
    # A tautology adds nothing.
    "tautology": Perturbation("“and true is true” added", _tautology, {ANY: SAME}),
    # Whatever follows from a premise also follows from a longer one. A neutral hypothesis may follow from the new
    # sentence or contradict it, and a contradicted one may be about the new sentence.
    "sentence": Perturbation("Another row’s sentence added", _sentence, {ENTAILED: SAME}),
}


EXAMPLE = ("John does not sleep.", "John is on a sofa.")
"""A pair that every perturbation changes."""


@functools.cache
def promises(task: str) -> dict[str, tuple[str, str, str]]:
    """By the name of each perturbation that promises anything for a task: its title, the texts of :data:`EXAMPLE` that
    it changes, and the expected effect by gold label."""
    labels = (ANY, *_MEANINGS.get(task, ()))
    return {
        name: (one.title, _in_example(one), effects)
        for name, one in PERTURBATIONS.items()
        if (effects := _effects({label: effect for label, effect in one.expected.items() if label in labels}))
    }


def _in_example(one: Perturbation) -> str:
    texts = one.change(Source(EXAMPLE, 1, ["A dog barks."], random.Random(1))) or EXAMPLE
    return " / ".join(after for before, after in zip(EXAMPLE, texts, strict=True) if after != before)


def _effects(expected: Mapping[str, Expectation]) -> str:
    labels: dict[str, list[str]] = {}
    for label, effect in expected.items():
        labels.setdefault(str(effect), []).append(label)
    return "; ".join(f"{', '.join(of)}: {effect}" for effect, of in labels.items())


def meanings_of(model: RunModel, answers: Sequence[Sequence[int]]) -> list[str]:
    """The meaning of each of a model's answers (given by class indices); empty if it is none of the above."""
    known = _MEANINGS.get(model.task, ())
    out = []
    for members in answers:
        meant = {proposed(model.labels[place], model.labels, known) for place in members} if known else set()
        (only,) = meant if len(meant) == 1 else ((),)
        out.append(only[0] if len(only) == 1 else "")
    return out


def changed(name: str, meaning: str, source: Source) -> tuple[tuple[str, str], Expectation] | None:
    """The changed texts of a row whose gold label has this meaning, and the expected effect; None if no effect
    is expected or the change does not apply."""
    perturbation = PERTURBATIONS[name]
    expected = perturbation.expected.get(meaning) or perturbation.expected.get(ANY)
    if expected is None:
        return None
    try:
        texts = perturbation.change(source)
    except EditError:
        return None
    return None if texts is None or texts == source.texts else (texts, expected)
