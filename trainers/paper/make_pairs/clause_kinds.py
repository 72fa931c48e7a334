"""The kinds of made pairs that need the clause of a premise: negation, names and dates put in, roles exchanged."""

from __future__ import annotations

from trainers.paper.make_pairs.kinds import CONTRADICTION, ENTAILMENT, NEUTRAL, Maker
from trainers.paper.make_pairs.sentences import Clause, Order, Sentence, being, cut_short, negated, shortened, write
from trainers.paper.make_pairs.slots import Frame, one_of
from trainers.paper.make_pairs.verbs import contracted

SOMEBODY = {
    "man", "woman", "boy", "girl", "person", "people", "men", "women", "child", "kid", "children", "lady",
    "guy", "kids",
}  # fmt: skip
PHRASES = (
    (("in",), "countries", ()),
    (("in",), "cities", ()),
    (("on",), "days", ()),
    (("in",), "months", ()),
    (("in", "the"), "seasons", ()),
    (("in", "the"), "daytimes", ()),
    (("for", "the"), "ordinals", ("time",)),
)
"""What is put in at the end of a sentence: the words before, the list, the words after."""
SUBJECTS = (
    "reading a book about",
    "looking at a picture of",
    "talking about",
    "watching a movie about",
    "writing about",
)
PRONOUNS = {"his", "her", "its", "their", "it", "them", "him", "who", "that", "and", "which", "each", "other"}


def negation(maker: Maker, frame: Frame, parts: Clause) -> None:
    """Pairs with "not" or "nobody" on one side, or on both."""
    sentence = frame.sentence
    whole = being(sentence, parts)
    short = maker.random.choice(frame.shorter) if frame.shorter else whole
    nobody = maker.random.random() < 0.25 and sentence.lower(parts.head) in SOMEBODY
    yes_whole, yes_short = write(sentence, whole), write(sentence, short)
    no_whole, no_short = (write(sentence, negated(order, parts, nobody)) for order in (whole, short))
    # Who "a man" is must not change with the negation: these say less of the same subject.
    less = cut_short(sentence, parts, maker.random.choice(parts.cuts))
    yes_less, no_less = write(sentence, less), write(sentence, negated(less, parts, nobody))
    if maker.random.random() < 0.3:
        no_whole, no_short, no_less = map(contracted, (no_whole, no_short, no_less))
    draw = maker.random.random()
    if draw < 0.35:
        maker.emit("negation", "negation", CONTRADICTION, yes_whole, maker.random.choice((no_short, no_whole)))
    elif draw < 0.6:
        maker.emit("negation", "negation", CONTRADICTION, no_short, maker.random.choice((yes_short, yes_whole)))
    elif no_less == no_whole:
        return
    elif draw < 0.73:
        maker.emit("negation", "negation", NEUTRAL, no_whole, yes_less)
    elif draw < 0.86:
        maker.emit("negation", "negated", NEUTRAL, no_whole, no_less)
    else:
        maker.emit("negation", "negated", ENTAILMENT, no_less, no_whole)


def _words(sentence: Sentence, order: Order) -> list[str]:
    return write(sentence, order)[:-1].replace(",", " ,").split(" ")


def insertion(maker: Maker, frame: Frame, parts: Clause) -> None:
    """A place, a time or a name put into both sides, the same or another one."""
    sentence = frame.sentence
    draw = maker.random.random()
    if draw < 0.6:
        return
    if draw < 0.68:
        subject_named(maker, frame, parts)
        return
    if draw < 0.73:
        topic(maker, frame, parts)
        return
    order = maker.random.choice(frame.shorter) if frame.shorter else being(sentence, parts)
    lead, name, end = maker.random.choice(PHRASES)
    kind = "number" if name == "ordinals" else "name"
    if not maker.wants(kind):
        return
    pool: list[str] = maker.lists[name]
    words, fewest = (
        _words(sentence, order),
        _words(sentence, shortened(sentence, parts, parts.cuts[0], True, maker.lists)),
    )
    made = Sentence((*words, *lead, pool[0], *end))
    # The shorter sentence: its own words, and the phrase by its positions.
    shorter: tuple[Order, ...] = ((*fewest, *range(len(words), len(made.words))),) if len(fewest) < len(words) else ()
    maker.contrast(Frame(made, made.order(), shorter), one_of(kind, len(words) + len(lead), pool[0], pool))


def subject_named(maker: Maker, frame: Frame, parts: Clause) -> None:
    """The subject exchanged for a person's name."""
    sentence = frame.sentence
    head = sentence.lower(parts.head)
    if head not in ("man", "woman", "boy", "girl", "lady", "guy") or not maker.wants("name"):
        return
    female = head in ("woman", "girl", "lady")
    pool: list[str] = maker.lists["female names" if female else "male names"]
    order = maker.random.choice(frame.shorter) if frame.shorter else being(sentence, parts)
    fewest = shortened(sentence, parts, parts.cuts[0], True, maker.lists)
    rest, few = (
        _words(sentence, tuple(x for x in long if isinstance(x, str) or x > parts.head)) for long in (order, fewest)
    )
    rest[0], few[0] = rest[0].lower(), few[0].lower()
    if rest[0] not in ("is", "in", "with", "wearing"):
        return
    made = Sentence((pool[0], *rest))
    shorter: tuple[Order, ...] = ((0, *few),) if len(few) < len(rest) else ()
    above = ("A woman" if female else "A man", "A person")
    slot = one_of("name", 0, pool[0], pool, lambda word: above if word in pool else ())
    maker.contrast(Frame(made, made.order(), shorter), slot)


def topic(maker: Maker, frame: Frame, parts: Clause) -> None:
    """The subject reads or talks about a planet or a country."""
    sentence = frame.sentence
    if parts.plural or sentence.lower(parts.head) not in SOMEBODY or not maker.wants("name"):
        return
    pool: list[str] = maker.lists[maker.random.choice(("planets", "planets", "countries"))]
    words = [*_words(sentence, tuple(range(parts.head + 1))), "is", *maker.random.choice(SUBJECTS).split(" ")]
    tail = ending(sentence, parts)
    made = Sentence((*words, pool[0], *tail))
    shorter: tuple[Order, ...] = (tuple(range(len(words) + 1)),) if tail else ()
    maker.contrast(Frame(made, made.order(), shorter), one_of("name", len(words), pool[0], pool))


def ending(sentence: Sentence, parts: Clause) -> list[str]:
    """The phrase of place that a sentence ends in, as words; none where it is long or speaks of someone."""
    if len(parts.cuts) < 2:
        return []
    tail = list(sentence.words[parts.cuts[-2] :])
    plain = tail[0].lower() in ("in", "on", "at", "near", "outside", "inside") and len(tail) < 6
    after = tail[1].lower() in ("a", "an", "the") if len(tail) > 1 else False
    return tail if plain and after and not PRONOUNS & {word.lower() for word in tail} else []


def roles(maker: Maker, frame: Frame, parts: Clause) -> None:
    """Subject and object of a verb that is not symmetric change places, and with the passive they mean the same."""
    sentence = frame.sentence
    subject = write(sentence, tuple(range(parts.head + 1)))[:-1]
    head, lists = sentence.lower(parts.head), maker.lists
    beast = any(noun.group in ("small animal", "large animal") for noun in lists.forms.get(head, []))
    if parts.plural or subject.split(" ")[0] not in ("A", "An") or not (beast or head in lists.people):
        return
    maker.subjects.append(f"{subject[0].lower()}{subject[1:]}")
    one, two = maker.subjects[-1], maker.random.choice(maker.subjects[-2000:])
    heads = {one.split(" ")[-1].lower(), two.split(" ")[-1].lower()}
    # Where one may be called what the other is called, a change of places says little.
    interchangeable = any(
        heads & {"person", "adult", *lists.others_of("synonyms", who), *lists.words_above(who, "people")}
        for who in heads
    )
    if len(heads) < 2 or interchangeable or maker.random.random() < 0.6 or not maker.wants("swapped"):
        return
    tame = heads <= lists.people.keys() - {"dog", "cat", "baby", "toddler"}
    verb = maker.random.choice(list(lists["roles"]) if tame else lists["roles of animals"])
    write_roles(maker, one, two, verb, ending(sentence, parts))


def write_roles(maker: Maker, one: str, two: str, verb: str, tail: list[str]) -> None:
    """Emit a pair of sentences in which ``one`` and ``two`` do ``verb`` to each other, by turns in the passive."""
    participle = maker.lists["roles"][verb]

    def sentence(agent: str, patient: str, passive: bool, end: list[str]) -> str:
        words = [patient, "is being", participle, "by", agent] if passive else [agent, "is", verb, patient]
        text = " ".join([*words, *end])
        return f"{text[0].upper()}{text[1:]}."

    first, second = maker.random.choice(((False, False), (False, True), (True, False), (True, True)))
    draw = maker.random.random()
    less = tail if maker.random.random() < 0.5 else []
    whole, short = sentence(one, two, first, tail), sentence(one, two, first, [])
    if draw < 0.45:
        maker.emit("swapped", "swapped", CONTRADICTION, whole, sentence(two, one, second, less))
    elif draw < 0.85:
        maker.emit("swapped", "swapped", ENTAILMENT, whole, sentence(one, two, not first, less))
    elif tail and draw < 0.93:
        maker.emit("swapped", "dropped", ENTAILMENT, whole, short)
    elif tail:
        maker.emit("swapped", "added", NEUTRAL, short, whole)
