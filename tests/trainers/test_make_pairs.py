"""Made pairs: each kind's labels and grammar on hand-made premises, the same bytes for the same seed, and errors."""

import json
import random
import re
from functools import partial
from pathlib import Path

import pytest

from core.data import read
from core.linguistics.word_lists import Noun, WordLists, article, plural
from core.linguistics.wordnet import lexicon
from trainers.paper import make_pairs
from trainers.paper.__main__ import main as paper
from trainers.paper.make_pairs import premises
from trainers.paper.make_pairs.kinds import CONTRADICTION, ENTAILMENT, NEUTRAL, WANTED, Maker

PREMISES = (
    "A man in a blue shirt is playing a guitar on a stage.",
    "A young woman wearing an orange hat is holding an umbrella in the park.",
    "Two boys are eating apples near a lake.",
    "Three dogs are running through the snow while a man watches.",
    "A girl is sitting on a bench in front of a restaurant.",
    "A tall boy is walking up a hill with a dog.",
    "An old man is sleeping on a couch in the kitchen.",
    "A dog is running on the beach.",
    "A woman is drinking coffee at a table.",
    "Two men are playing soccer in a field.",
    "A little boy is riding a red bicycle down the street.",
    "The large elephant is standing behind a fence.",
    "A woman is not playing a guitar.",
    "Every man in the room is playing a violin.",
)


@pytest.fixture(scope="module")
def lists() -> WordLists:
    return WordLists(lexicon())


@pytest.fixture(scope="module")
def pairs(lists: WordLists) -> list[tuple[str, str, str, str]]:
    maker = Maker(lists, seed=3)
    for _ in range(60):
        for text in PREMISES:
            sentence = premises.read(text)
            assert sentence is not None
            maker.take(sentence)
    return maker.pairs


def test_every_kind_is_made_with_its_label(pairs: list[tuple[str, str, str, str]]) -> None:
    wanted = {key for kinds in WANTED.values() for key in kinds}
    assert {(kind, label) for kind, label, *_ in pairs} == wanted
    assert len({pair[2:] for pair in pairs}) == len(pairs)


def test_all_is_clean_english(pairs: list[tuple[str, str, str, str]]) -> None:
    for text in (text for pair in pairs for text in pair[2:]):
        assert text[0].isupper() and text.endswith(".") and "  " not in text and " ," not in text
        for found, word in re.findall(r"\b(an?) (\w+)", text, re.IGNORECASE):
            assert found.lower() == article(word), text
        assert not re.search(
            r"\b((a|an|one|two) (milk|water|grass|soccer)|(a|an|one) people)\b", text, re.IGNORECASE
        ), text
        assert not re.search(
            r"\b(two|three|four|ten) (\w+ )?(man|woman|boy|girl|dog|apple|child|pear)\b", text.lower()
        ), text


def test_each_kind_on_its_own_premise(lists: WordLists) -> None:
    def made(text: str, kind: str, label: str) -> set[tuple[str, str]]:
        maker = Maker(lists, seed=1)
        sentence = premises.read(text)
        assert sentence is not None
        for _ in range(150):
            maker.take(sentence)
        return {(first, second) for k, which, first, second in maker.pairs if (k, which) == (kind, label)}

    guitar, red = "A man is playing a guitar.", "A woman is wearing a red hat on the beach."
    assert (guitar, "A man is playing a violin.") in made(guitar, "cohyponym", CONTRADICTION)
    assert (guitar, "A man is playing an instrument.") in made(guitar, "hypernym", ENTAILMENT)
    assert ("A man is playing an instrument.", guitar) in made(guitar, "hyponym", NEUTRAL)
    assert (guitar, "A man is not playing a guitar.") in made(guitar, "negation", CONTRADICTION)
    assert any("green hat" in second for _, second in made(red, "colour", CONTRADICTION))
    two = "Two men are jumping."
    assert (two, "Five men are jumping.") in made(two, "number", CONTRADICTION)
    up = "A man is walking up a hill."
    assert (up, "A man is walking down a hill.") in made(up, "antonym", CONTRADICTION)
    bike = "A man is riding a bike."
    assert (bike, "A man is riding a bicycle.") in made(bike, "synonym", ENTAILMENT)
    long = "A tall man is running on a beach."
    assert (long, "A man is running.") in made(long, "dropped", ENTAILMENT)
    assert ("A man is running.", long) in made(long, "added", NEUTRAL)


def test_a_sentence_ends_only_where_the_rest_can_be_left_out(lists: WordLists) -> None:
    def shorter(text: str) -> list[str]:
        sentence = premises.read(text)
        assert sentence is not None
        parts = premises.clause(sentence, lists)
        assert parts is not None
        return [" ".join(sentence.words[:end]) for end in parts.cuts[:-1]]

    assert shorter("A man is running in a park near a lake.") == ["A man is running", "A man is running in a park"]
    assert shorter("A boy is hanging upside down from a swing.") == []
    assert "Two boys are playing in a run" not in shorter("Two boys are playing in a run down alley.")
    assert shorter("A woman is holding a cup while a man watches.") == ["A woman is holding a cup"]


def test_nothing_is_weakened_under_negation_or_a_quantifier(lists: WordLists) -> None:
    maker = Maker(lists, seed=1)
    texts = ("A woman is not playing a guitar.", "Every man in the room is playing a violin.", "Few dogs are running.")
    for text in (*texts, "Only a boy is eating an apple on a bench.", "A girl without a red hat is riding a horse."):
        sentence = premises.read(text)
        assert sentence is not None
        for _ in range(80):
            maker.take(sentence)
    assert maker.pairs == []


def test_a_number_is_some_and_only_from_five_on_several(pairs: list[tuple[str, str, str, str]]) -> None:
    few = {"two", "three", "four"}
    numbers = few | {
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "fifteen",
        "twenty",
        "thirty",
        "fifty",
    }
    vague = set()
    for kind, label, first, second in pairs:
        narrow, wide = (text.lower().split() for text in ((first, second) if kind == "hypernym" else (second, first)))
        if kind in ("hypernym", "hyponym") and {"some", "several"} & {*wide} - {*narrow} and numbers & {*narrow}:
            vague.add(kind)
            assert label == (ENTAILMENT if kind == "hypernym" else NEUTRAL)
            assert "several" not in {*wide} - {*narrow} or not few & {*narrow}
    assert vague == {"hypernym", "hyponym"}


def test_under_negation_the_subject_stays_who_it_was(pairs: list[tuple[str, str, str, str]]) -> None:
    assert any("n't " in text for _, _, *texts in pairs for text in texts)
    for kind, label, first, second in pairs:
        if kind == "negated" or (kind, label) == ("negation", NEUTRAL):
            plain = (text.replace(" isn't ", " is not ").replace(" aren't ", " are not ") for text in (first, second))
            subjects, rests = zip(*(re.split(r" (?:is|are) ", text, maxsplit=1) for text in plain), strict=True)
            assert subjects[0] == subjects[1] or "Nobody" in subjects
            more, less = (
                text.removeprefix("not ").rstrip(".") for text in (rests if label == NEUTRAL else rests[::-1])
            )
            # Less is said of the same deed, or a wider word of its object.
            assert more != less and more.split(" ")[0] == less.split(" ")[0]
            assert more.startswith(less) or len(more.split(" ")) <= len(less.split(" ")) + 3


def test_words_that_may_both_hold_do_not_contradict(lists: WordLists) -> None:
    for one, other in (
        ("bike", "bicycle"),
        ("shirt", "blouse"),
        ("car", "jeep"),
        ("woman", "girl"),
        ("soccer", "football"),
    ):
        for noun in lists.forms[one]:
            assert other not in lists.partners(noun)
    assert "violin" in lists.partners(Noun("guitar", "instrument", "singular"))


def test_plurals_and_articles() -> None:
    given = ("child", "knife", "woman", "cherry", "bus", "toy", "piece of fruit", "mango", "sheep")
    assert [plural(word) for word in given] == [
        "children",
        "knives",
        "women",
        "cherries",
        "buses",
        "toys",
        "pieces of fruit",
        "mangoes",
        "sheep",
    ]
    words = ("apple", "unicycle", "umbrella", "hour", "house", "ukulele", "European")
    assert [article(word) for word in words] == ["an", "a", "an", "an", "a", "a", "a"]


@pytest.fixture
def snli(tmp_path: Path) -> Path:
    (tmp_path / "snli").mkdir()
    rows = [
        {"gold_label": "neutral", "sentence1": text, "sentence2": "x", "pairID": str(i)}
        for i, text in enumerate(PREMISES)
    ]
    (tmp_path / "snli/snli_1.0_train_86k.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_the_same_seed_gives_the_same_bytes(
    snli: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_pairs, "COMMON", 1)
    monkeypatch.setattr(make_pairs, "make", partial(make_pairs.make, scale=0.1))
    outs = [snli / name for name in ("a.jsonl", "made/pairs.jsonl", "c.jsonl")]  # the second is where they go unasked
    options = ["--out", str(outs[0]), "--seed", "1"], [], ["--out", str(outs[2]), "--seed", "2"]
    for number, more in enumerate(options):
        random.seed(number)
        assert paper(["make-pairs", "--data", str(snli), *more]) == 0
    one, again, other = (out.read_bytes() for out in outs)
    assert one == again != other
    dataset = read(outs[0])
    assert dataset.layout == "SNLI jsonl" and not dataset.problems
    assert all(re.fullmatch(r"[a-z ]+-\d+", row.id) for row in dataset.rows)
    assert "cohyponym" in capsys.readouterr().out


def test_missing_data_gets_one_sentence(
    snli: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PAIRLENS_DATA", raising=False)
    wrong = (
        (["make-pairs"], "--data"),
        (["make-pairs", "--data", str(tmp_path / "snli")], "snli_1.0_train_86k.jsonl"),
        (["make-pairs", "--data", str(snli), "--out", str(tmp_path / "no/where.jsonl")], "make it first"),
    )
    for command, part in wrong:
        assert paper(command) == 2
        message = capsys.readouterr().err
        assert part in message and len(message.strip().splitlines()) == 1
