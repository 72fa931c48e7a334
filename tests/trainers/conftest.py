"""Made-up data in the official layouts: the hypothesis gives the class away, so that a small model can learn it."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.evaluation.suites import SUITES, Suite
from trainers import recipe as recipes

WORDS = [
    "man", "dog", "woman", "child", "red", "blue", "runs", "sleeps", "eats", "jumps", "park", "house", "water", "ball",
    "happy", "tall", "old", "young",
]  # fmt: skip
SETS = {
    "snli/snli_1.0_train_86k.jsonl": 96,
    "snli/cad_revised_train.jsonl": 8,
    "mnli/multinli_train_23k.jsonl": 8,
    "wanli/wanli_15k.jsonl": 8,
    "snli/snli_1.0_dev.jsonl": 24,
    "mnli/multinli_dev_matched.jsonl": 10,
    "made/pairs.jsonl": 24,
}


def pair(source: random.Random, number: int) -> dict[str, str]:
    """A premise of random words; its own words for entailment, "not" for contradiction, others for neutral."""
    premise = [source.choice(WORDS) for _ in range(source.randint(3, 9))]
    label = ("entailment", "neutral", "contradiction")[number % 3]
    other = [source.choice(WORDS) for _ in range(3)]
    hypothesis = {"entailment": premise[:3], "contradiction": ["not", *premise[:2]], "neutral": ["maybe", *other]}[
        label
    ]
    sides = {"sentence1": " ".join(premise), "sentence2": " ".join(hypothesis)}
    return {"gold_label": label, **sides, "pairID": str(number)}


WIKIQA = ("QuestionID", "Question", "DocumentID", "DocumentTitle", "SentenceID", "Sentence", "Label")


def answers(source: random.Random, questions: int) -> Iterator[str]:
    """Lines of three candidates a question; the right one holds the question's word. The last question has none."""
    for q in range(questions):
        word, asked = source.choice(WORDS), "who" if q % 4 == 1 else "what"
        for i in range(3):
            right = i == q % 3 and q < questions - 1
            sentence = " ".join(["the", word if right else "thing", *(source.choice(WORDS) for _ in range(4))])
            yield f"Q{q}\t{asked} is {word} ?\tD{q}\ttitle\tD{q}-{i}\t{sentence}\t{int(right)}\n"


DBPEDIA = tuple(recipes.load("topic-acnn").labels)


def documents(path: Path, source: random.Random, count: int, labels: tuple[str, ...]) -> None:
    """Texts whose class is the word that they say twice, as jsonl with text and label."""
    path.parent.mkdir(exist_ok=True)
    lines = []
    for i in range(count):
        place = i % len(labels)
        rest = [source.choice(WORDS) for _ in range(source.randint(1, 9))]
        lines.append(json.dumps({"label": labels[place], "text": " ".join([WORDS[place], *rest, WORDS[place]])}) + "\n")
    data = "".join(lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def claims(path: Path, source: random.Random, count: int) -> None:
    """FEVER claims whose evidence says their words, with "not" where it refutes; a third have none."""
    path.parent.mkdir(exist_ok=True)
    lines = []
    for i in range(count):
        words, label = [source.choice(WORDS) for _ in range(4)], ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")[i % 3]
        evidence = [" ".join(words), " ".join(words[::-1])] if i % 3 == 0 else [" ".join(["not", *words])]
        lines.append({"id": i, "label": label, "claim": " ".join(words), "evidence": evidence if i % 3 < 2 else []})
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))


def paraphrases(source: random.Random, count: int) -> Iterator[tuple[int, str, str]]:
    """Paraphrases say the same words in another order, the others say others: label, both sentences."""
    for i in range(count):
        first = [source.choice(WORDS) for _ in range(5)]
        second = first[::-1] if i % 2 else [source.choice(WORDS) for _ in range(5)]
        yield i % 2, " ".join(first), " ".join(second)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linguistic features are kept for the tests alone, not in the home of whoever runs them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def few_pairs() -> dict[str, Suite]:
    """The suites with a dozen pairs each, instead of 2,700."""
    few = {name: replace(suite) for name, suite in SUITES.items()}
    for suite in few.values():
        vars(suite)["pairs"] = replace(suite.pairs, rows=suite.pairs.rows[:: max(1, len(suite.pairs.rows) // 12)])
    return few


@pytest.fixture(autouse=True)
def trainings_answer_few_pairs(few_pairs: dict[str, Suite], monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of each training; test_probe.py asks all of them."""
    monkeypatch.setattr("trainers.train.SUITES", few_pairs)


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with every file that a recipe names, and vectors.txt (16 numbers a word)."""
    folder, source = tmp_path_factory.mktemp("data"), random.Random(0)
    for name, rows in SETS.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(pair(source, i)) + "\n" for i in range(rows)))
    whole = "".join(json.dumps(pair(random.Random(i), i)) + "\n" for i in range(96))
    (folder / "snli/snli_1.0_train.jsonl").write_text(whole)
    (folder / "sick").mkdir()
    for name, count in (("SICK_train.txt", 120), ("SICK_trial.txt", 24)):
        pairs = [pair(source, i) for i in range(count)]
        (folder / "sick" / name).write_text(
            "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
            + "".join(
                f"{i}\t{p['sentence1']}\t{p['sentence2']}\t3\t{p['gold_label'].upper()}\n" for i, p in enumerate(pairs)
            )
        )
    (folder / "wikiqa").mkdir()
    for name, count in (("WikiQA-train.tsv", 40), ("WikiQA-dev.tsv", 8)):
        (folder / "wikiqa" / name).write_text("".join(["\t".join(WIKIQA) + "\n", *answers(source, count)]))
    (folder / "trecqa").mkdir()
    for name, count in (("train-all.csv", 40), ("dev.csv", 8)):
        lines = [line.rstrip("\n").split("\t") for line in answers(source, count)]
        told = [f"{cells[1]},{cells[6]},{cells[5]}\n" for cells in lines]
        (folder / "trecqa" / name).write_text("".join(["qtext,label,atext\n", *told]))
    (folder / "selqa").mkdir()
    lines = [line.rstrip("\n").split("\t") for line in answers(source, 5)]
    (folder / "selqa/selqa-ass-dev.tsv").write_text("".join(f"{c[1]}\t{c[5]}\t{c[6]}\n" for c in lines))
    for name, count in (("dbpedia/train_6k.jsonl", 120), ("dbpedia/dev_600.jsonl", 24)):
        documents(folder / name, source, count, DBPEDIA)
    for name, count in (("imdb/train.jsonl.gz", 120), ("imdb/dev.jsonl.gz", 24)):
        documents(folder / name, source, count, ("neg", "pos"))
    for name, count in (("fever/fever_train.jsonl.gz", 120), ("fever/fever_dev_6k.jsonl.gz", 24)):
        claims(folder / name, source, count)
    for name, count in (("sst5/stsa.fine.train", 120), ("sst5/stsa.fine.dev", 24)):
        (folder / "sst5").mkdir(exist_ok=True)
        (folder / name).write_text("".join(f"{i % 5} {WORDS[i % 5]} {source.choice(WORDS)}\n" for i in range(count)))
    for name, count in (("quora/train_18k.tsv", 80), ("quora/dev_1k.tsv", 24)):
        (folder / "quora").mkdir(exist_ok=True)
        (folder / name).write_text(
            "".join(f"{a}\t{b}\t{c}\t{i}\n" for i, (a, b, c) in enumerate(paraphrases(source, count)))
        )
    rows = [f"n{i},{b},{c},{a}\n" for i, (a, b, c) in enumerate(paraphrases(source, 40))]
    (folder / "made/quora-near.csv").write_text("".join(["id,sentence1,sentence2,label\n", *rows]))
    for name, count in (("msrp/msr-para-train.tsv", 40), ("msrp/msr-para-val.tsv", 24)):
        (folder / "msrp").mkdir(exist_ok=True)
        told = [f"{a}\t{i}\t{i + 1}\t{b}\t{c}\n" for i, (a, b, c) in enumerate(paraphrases(source, count))]
        (folder / name).write_text("".join(["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n", *told]))
    vectors = [[word, *(f"{source.gauss(0, 1):.4f}" for _ in range(16))] for word in [*WORDS, "not", "maybe", "a"]]
    (folder / "vectors.txt").write_text("".join(" ".join(row) + "\n" for row in vectors))
    return folder
