"""Changes of a whole file whose effect on the labels is known: invariance and directional expectation tests, with the
failure rate of each model.

After CheckList (Ribeiro, Wu, Guestrin & Singh 2020, "Beyond accuracy: behavioral testing of NLP models with
CheckList") and Robustness Gym (Goel et al. 2021, "Robustness Gym: unifying the NLP evaluation landscape"). There a
change has one expected effect on all rows; of pairs, the effect depends on the gold label: "not" in the hypothesis
makes a contradiction of an entailment, and promises nothing for a neutral pair.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from core.data.labels import ENTAILMENT, FACTS, PARAPHRASE, proposed
from core.desk.run import RunModel
from core.effects.differences import CONTENT, word_class
from core.effects.edits import EXCHANGE, NEGATE, REPLACE, Edit, EditError, edited
from core.effects.offers import RAREST
from core.evaluation.probe import TYPED
from core.linguistics.constructions import embedded_clause, quantifier, words_of
from core.linguistics.word_lists import article, plural, word_groups
from core.reading.tokens import Token, tokenize
from core.reading.word_table import default_table

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
"""How far a probability that may not fall may do so, as in CheckList's examples."""


class Expectation(NamedTuple):
    """What a model should do after a change: predict the same class (no ``label``), predict the ``label``, which is the
    row's new one, or, if the label only ``may_not_fall``, give it at least its earlier probability less TOLERANCE."""

    label: str = ""
    may_not_fall: bool = False

    def __str__(self) -> str:
        if not self.label:
            return "same prediction"
        return f"P({self.label}) may not fall" if self.may_not_fall else f"becomes {self.label}"


SAME = Expectation()


class Source(NamedTuple):
    """A row's texts and what a change may draw from. ``judged``: the text that the label is about (0 or 1), such as the
    hypothesis; ``others``: texts of other rows that stand where its other text stands."""

    texts: tuple[str, str]
    judged: int
    others: Sequence[str]
    chance: random.Random

    def judged_as(self, text: str) -> tuple[str, str]:
        """The texts with another one that is judged."""
        return (text, self.texts[1]) if self.judged == 0 else (self.texts[0], text)


class Perturbation(NamedTuple):
    """A change: its name on screen, the texts after it (None where it does not apply), and its expected effect by the
    meaning of the gold label; labels that are missing are promised nothing."""

    title: str
    change: Callable[[Source], tuple[str, str] | None]
    expected: Mapping[str, Expectation]


def _each(change: Callable[[str], str]) -> Callable[[Source], tuple[str, str]]:
    return lambda source: (change(source.texts[0]), change(source.texts[1]))


def _typo(source: Source) -> tuple[str, str] | None:
    """Two letters inside a content word exchanged, so that no frequent word comes out."""
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
# 's is left as it is: it may stand for is, has or a possessive.
_EXPANDED = {
    r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should)n['’]t\b": r"\1 not",
    r"\b(c)an['’]t\b": r"\1annot",
    r"\b(w)on['’]t\b": r"\1ill not",
    r"\b(you|we|they)['’]re\b": r"\1 are",
    r"\b(I|you|he|she|it|we|they)['’]ll\b": r"\1 will",
    r"\b(I)['’]m\b": r"\1 am",
}


def _contractions(source: Source) -> tuple[str, str]:
    """Everything contracted, or expanded where nothing is left to contract."""
    contracted = _each(functools.partial(_rewritten, _CONTRACTED))(source)
    return contracted if contracted != source.texts else _each(functools.partial(_rewritten, _EXPANDED))(source)


def _rewritten(rules: Mapping[str, str], text: str) -> str:
    for pattern, replacement in rules.items():
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
    return text


def _name(source: Source) -> tuple[str, str] | None:
    """A person's name replaced by another in both texts."""
    words = {token.text for text in source.texts for token in tokenize(text)}
    for names in (word_groups()["male names"], word_groups()["female names"]):
        found = [name for name in names if name in words]
        if found and not re.search(rf"\b{found[0]} [A-Z]", " | ".join(source.texts)):  # John Deere
            new = source.chance.choice([other for other in names if other not in words] or found)
            return _each(functools.partial(re.sub, rf"\b{found[0]}\b", new))(source)
    return None


_SEVERAL_SENSES = {"rock", "picture", "instrument", "making", "taking", "lifting", "throwing", "mad"}
"""Words of the lists that are no synonyms in frequent other senses: a rock band, taking a nap."""


@functools.cache
def _synonyms() -> Mapping[str, str]:
    lists = word_groups()
    found = {one: other for one, other in lists["synonyms"] if one not in _SEVERAL_SENSES}
    found |= {plural(one): plural(other) for one, other in found.items() if plural(one) and plural(other)}
    found |= {"man": "guy", "men": "guys", "woman": "lady", "women": "ladies", "bicycle": "bike", "sofa": "couch"}
    more = (*lists["adjective synonyms"], *lists["verb synonyms"])
    return found | {one: other for one, other in more if one not in _SEVERAL_SENSES}


def _synonym(source: Source) -> tuple[str, str] | None:
    text = source.texts[source.judged]
    tokens = tokenize(text)
    places = [index for index, token in enumerate(tokens) if token.norm in _synonyms()]
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
    """ "Some dogs are not running" denies no "Some dogs are running", and a "not" may land in an embedded clause."""
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
    """Another row's premise behind the premise."""
    own = source.texts[1 - source.judged].rstrip()
    others = [text for text in source.others if text.strip() and text.strip() != own]
    if not own or not others:
        return None
    longer = f"{own}{'' if own[-1] in '.?!' else '.'} {source.chance.choice(others)}"
    return (longer, source.texts[1]) if source.judged else (source.texts[0], longer)


PERTURBATIONS: dict[str, Perturbation] = {
    # How a text is typed, who is named and which of two synonyms stands in it change no label of any task.
    "full_stop": Perturbation("No final full stop", _each(TYPED["without full stop"]), {ANY: SAME}),
    "lower_case": Perturbation("Lower case", _each(TYPED["in lower case"]), {ANY: SAME}),
    "typo": Perturbation("A typo (two letters exchanged)", _typo, {ANY: SAME}),
    "contractions": Perturbation("Contractions (is not, isn’t)", _contractions, {ANY: SAME}),
    "name": Perturbation("Another person’s name", _name, {ANY: SAME}),
    "synonym": Perturbation("A synonym", _synonym, {ANY: SAME}),
    # A premise contradicts the negation of what it entails. What it contradicts may be false for another reason than
    # the negated one ("A man sleeps", "A woman runs"): the negation need not follow, but no less than the hypothesis.
    # The negation of a neutral hypothesis is mostly neutral, and contradicted where both say nearly the same.
    "not": Perturbation(
        "“not” put in", _negated, {ENTAILED: Expectation(CONTRADICTED), CONTRADICTED: Expectation(ENTAILED, True)}
    ),
    # Contradicting and meaning the same are symmetric. What follows need not entail in turn, and of two neutral texts
    # the more detailed one may entail the other.
    "swap": Perturbation(
        "Both texts swapped",
        lambda source: edited(source.texts, [Edit(EXCHANGE)]),
        {CONTRADICTED: SAME, SAME_MEANING: SAME, DIFFERENT: SAME},
    ),
    # What is always true adds nothing.
    "tautology": Perturbation("“and true is true” added", _tautology, {ANY: SAME}),
    # What follows from a premise follows from more. A neutral hypothesis may follow from the new sentence or contradict
    # it, and one that was contradicted may be about the new sentence.
    "sentence": Perturbation("Another row’s sentence added", _sentence, {ENTAILED: SAME}),
}


EXAMPLE = ("John does not sleep.", "John is on a sofa.")
"""A pair that every perturbation changes."""


@functools.cache
def promises() -> list[tuple[str, str, str]]:
    """A line per perturbation: its title, the texts of :data:`EXAMPLE` that it changes, and the expected effect by gold
    label."""
    return [(one.title, _in_example(one), _effects(one.expected)) for one in PERTURBATIONS.values()]


def _in_example(one: Perturbation) -> str:
    texts = one.change(Source(EXAMPLE, 1, ["A dog barks."], random.Random(1))) or EXAMPLE
    return " / ".join(after for before, after in zip(EXAMPLE, texts, strict=True) if after != before)


def _effects(expected: Mapping[str, Expectation]) -> str:
    labels: dict[str, list[str]] = {}
    for label, effect in expected.items():
        labels.setdefault(str(effect), []).append(label)
    return "; ".join(f"{', '.join(of)}: {effect}" for effect, of in labels.items())


def meanings_of(model: RunModel, answers: Sequence[Sequence[int]]) -> list[str]:
    """The meaning of each answer of a model (its classes by their places); empty where it has none of those above."""
    known = _MEANINGS.get(model.task, ())
    out = []
    for members in answers:
        meant = {proposed(model.labels[place], model.labels, known) for place in members} if known else set()
        (only,) = meant if len(meant) == 1 else ((),)
        out.append(only[0] if len(only) == 1 else "")
    return out


def changed(name: str, meaning: str, source: Source) -> tuple[tuple[str, str], Expectation] | None:
    """The texts of a row whose gold label has this meaning after a change, and the expected effect; None where nothing
    is promised or the change does not apply."""
    perturbation = PERTURBATIONS[name]
    expected = perturbation.expected.get(meaning) or perturbation.expected.get(ANY)
    if expected is None:
        return None
    try:
        texts = perturbation.change(source)
    except EditError:
        return None
    return None if texts is None or texts == source.texts else (texts, expected)
