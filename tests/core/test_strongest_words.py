"""The word with the largest effect of each row, against a loop written by hand, and how words are counted."""

import csv
import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from core.checkpoint import load_named, read_card
from core.data import Example
from core.desk import charts, strongest_words
from core.desk.database import open_database
from core.desk.filters import rows_of
from core.desk.slices import Share, slices
from core.desk.strongest_words import (
    NONE,
    StrongestWord,
    StrongestWords,
    WordScores,
    agreement_with_people,
    drawn,
    scored,
    words_job,
)
from core.desk.table import open_table
from core.evaluation.intervals import wilson
from core.explain import explain
from tests.core.made_up import make_checkpoint
from tests.core.made_up_runs import ONE, made_up_run, taxi, with_rows
from tests.core.write_tags import FILE
from trainers.__main__ import main

FOUND = {
    "1e": StrongestWord("dog", "premise"),
    "1n": StrongestWord("cold", "premise"),
    "1c#2": StrongestWord("cold", "premise"),
    "2n": StrongestWord("cold", "hypothesis"),
    "2e": NONE,
}


def by_hand(checkpoint, row):
    """The word of lower-case texts that are their tokens with spaces between them."""
    sides = [row.first.split(), row.second.split()]
    whole = explain(checkpoint, row.first, row.second).probabilities
    target = max(range(len(whole)), key=whole.__getitem__)
    best, largest = NONE, 0.0
    for side, words in enumerate(sides):
        for i, word in enumerate(words):
            left = [*sides]
            left[side] = words[:i] + words[i + 1 :]
            if not left[side]:
                continue
            without = explain(checkpoint, *map(" ".join, left)).probabilities
            effect = math.log(whole[target]) - math.log(without[target])
            if effect > largest:
                best, largest = StrongestWord(word, ("premise", "hypothesis")[side]), effect
    return best


@pytest.mark.parametrize("architecture", ["attconv-light", "esim"])
def test_the_strongest_words_are_those_of_a_loop_over_words(tmp_path, table, architecture):
    checkpoint = make_checkpoint(tmp_path, table, architecture)
    texts = [
        ("a dog plays in the snow", "the dog is cold"),
        ("the man is cold", "run"),
        ("a toy", "a red toy is in the snow"),
    ]
    rows = [Example(str(i), first, second, None) for i, (first, second) in enumerate(texts)]
    found = strongest_words.strongest_words(checkpoint, [*rows, Example("none", "a dog", " ", None)])
    assert found == [*(by_hand(checkpoint, row) for row in rows), NONE]
    assert any(one != NONE for one in found)


def test_single_texts_have_strongest_words_too(tmp_path, table):
    checkpoint = make_checkpoint(tmp_path, table, "acnn")
    (found,) = strongest_words.strongest_words(checkpoint, [Example("1", "the red dog plays", "", None)])
    assert found == NONE or (found.side == "text" and found.word in "the red dog plays")


def test_words_are_counted_with_the_share_that_is_wrong(tmp_path):
    run = made_up_run(tmp_path)  # model one is wrong in the rows 1n and 1c#2
    known = scored(run, 0, FOUND)
    assert (known.rows, known.wrong, known.without) == (5, 2, 1) and known.share == 0.4
    cold, *others = known.words
    assert (cold.names, cold.rows, cold.hits, cold.score) == (("cold", "premise"), 2, 2, 1.0)
    assert (cold.low, cold.high) == wilson(2, 2)
    assert [(one.names, one.hits) for one in others] == [(("cold", "hypothesis"), 0), (("dog", "premise"), 0)]
    often = {key: StrongestWord("dog", "premise") for key in ("1e", "1c", "2n")} | {
        "1n": StrongestWord("man", "premise")
    }
    assert [(one.names[0], one.rows) for one in scored(run, 0, often).words] == [("man", 1), ("dog", 3)], "by errors"
    plain = open_table(run, known=bool)
    more = strongest_words.with_words(plain, run, [FOUND, {}])
    assert np.flatnonzero(rows_of(cold.expression, more)).tolist() == [2, 3]
    assert "B.strongest_word" not in more.columns
    assert known.to_csv().splitlines()[1].startswith("cold,premise,2,2,1.0,")
    strange = {"1e": StrongestWord('=a"b\\', "premise")}
    odd = scored(run, 0, strange)
    more = strongest_words.with_words(plain, run, [strange, {}])
    assert np.flatnonzero(rows_of(odd.words[0].expression, more)).tolist() == [0]
    assert odd.to_csv().splitlines()[1].startswith('"\'=a""b\\",premise')


def test_peoples_words_are_compared_with_the_strongest_ones(tmp_path):
    run = made_up_run(tmp_path)
    said = {"1e": "a dog is a dog", "1n": "red is not cold", "1c#2": "", "2n": "toys"}
    rows = zip(run.keys, run.dataset.rows, strict=True)
    rows = tuple(replace(row, columns={"Explanation_1": said.get(key, "nothing")}) for key, row in rows)
    told = with_rows(run, rows)
    found = FOUND | {"1n": StrongestWord("man", "premise"), "1c": StrongestWord("no", "hypothesis")}
    assert agreement_with_people(told, 0, found) == {0: (True, 1 / 3), 2: (False, 1 / 2)}
    assert not agreement_with_people(run, 0, found), "the file has no such columns"
    table = strongest_words.with_words(open_table(told, known=bool), told, [found, {}])
    assert np.flatnonzero(rows_of("A.people_agree", table)).tolist() == [0]
    assert np.flatnonzero(rows_of("not A.people_agree", table)).tolist() == [2]
    of_people = [one for one in slices(table) if one.dimension == "agreement with people"]
    assert [(one.value, one.expression, one.rows) for one in of_people] == [
        ("yes", "A.people_agree", 1),
        ("no", "not A.people_agree", 1),
    ]
    known = scored(told, 0, found)
    assert (known.agreed, known.chance, known.told) == pytest.approx((0.5, 5 / 12, 2))
    how = charts.strongest_words("The one", known, 6, 20).how
    told_in_words = "they name the row’s word, too, in 50.0 % of 2 rows; of its text’s content words they name 41.7 %"
    assert told_in_words in how.replace("\u00a0", " ")


def test_only_words_of_enough_rows_are_drawn():
    words = [Share((f"w{rows}", "premise"), rows, rows // 2, 0.25, 0.75, f"x = {rows}") for rows in (9, 5, 4, 6)]
    drawn = charts.strongest_words("The one", WordScores(tuple(words), 30, 12, 0), 30, 2)
    assert [line[:4] for line in drawn.lines] == [("w9", "premise", "9", "4"), ("w5", "premise", "5", "2")]
    assert drawn.lines[1][4].startswith("40.0") and drawn.lines[1][5].startswith("25.0")
    how = drawn.how.replace("\u00a0", " ")
    assert "Of all 30 rows 40.0 % are wrong" in how and "1 word with fewer than 5 rows" in how and "2 of 3 words" in how


def test_predict_counts_the_most_decisive_words_of_a_sample(tmp_path, table, capsys):
    checkpoint = make_checkpoint(tmp_path / "tiny", table)
    file, rows = taxi(tmp_path), made_up_run(tmp_path).dataset.rows
    command = ["predict", str(checkpoint.folder), str(file), "--out"]
    assert main([*command, f"{tmp_path}/run/", "--words", "6"]) == 0
    assert re.search(r"of 6 rows wrong.*\n\nword", capsys.readouterr().out)
    (written,) = (tmp_path / "run").glob("words-*.csv")
    counted = {(line["word"], line["text"]): int(line["rows"]) for line in csv.DictReader(written.open())}
    found = strongest_words.strongest_words(checkpoint, rows)
    assert counted == {(word.word, word.side): count for word, count in Counter(found).items() if word != NONE}
    verdicts = [explain(checkpoint, row.first, row.second, records=()).verdict for row in rows]
    wrong = sum(verdict != row.label for verdict, row in zip(verdicts, rows, strict=True))
    assert all(int(line["all_rows"]) == 6 for line in csv.DictReader(written.open()))
    assert all(float(line["all_share_wrong"]) == pytest.approx(wrong / 6) for line in csv.DictReader(written.open()))
    assert main([*command, f"{tmp_path}/run.csv", "--words", "6"]) == 2
    assert "--words needs a number of rows, and a run as --out" in capsys.readouterr().err
    file.write_text("premise,hypothesis\na dog,a cat\n")
    assert main([*command, f"{tmp_path}/other/", "--words", "6"]) == 2
    assert "--words needs rows with labels" in capsys.readouterr().err


def test_rows_are_drawn_once_for_a_file_and_what_follows_goes_on():
    keys = [str(i) for i in range(50)] + ["x" * 6000]
    first = drawn(keys, (), 20)
    assert len({*first}) == 20 and first != sorted(first) and drawn(keys, (), 20) == first
    assert first + drawn(keys, [keys[i] for i in first], 100) == drawn(keys, (), 100)
    assert 50 not in drawn(keys, (), 100), "no database can hold its id"


@pytest.mark.usefixtures("database")
def test_a_cancelled_job_is_gone_on_with_by_another(tmp_path, table, monkeypatch):
    monkeypatch.setenv("PAIRLENS_CHECKPOINTS", str(tmp_path / "own"))
    monkeypatch.setattr(strongest_words, "AT_ONCE", 2)
    make_checkpoint(tmp_path / "own/tiny", table)
    sha256 = read_card(tmp_path / "own/tiny")["sha256"]
    run, store = made_up_run(tmp_path), StrongestWords(open_database())
    run = replace(run, models=(run.models[0], replace(run.models[1], sha256=sha256)))
    data, seen = run.dataset, []
    real = strongest_words.strongest_words

    def computed(checkpoint, rows, still_wanted):
        seen.extend(row.id for row in rows)
        if len(seen) == 4:
            job.cancel()
        return real(checkpoint, rows, still_wanted)

    monkeypatch.setattr(strongest_words, "strongest_words", computed)
    job = words_job(run, 1, "tiny", store)
    job.run()
    assert not job.problem and job.rows == 6 and job.done == 2
    assert len(store.known(data.sha256, sha256)) == store.count(data.sha256) == 2
    job = words_job(run, 1, "tiny", store)
    job.run()
    assert not job.problem and job.done == job.rows == 4
    words = real(load_named("tiny"), data.rows)
    assert store.known(data.sha256, sha256) == dict(zip(run.keys, words, strict=True))
    other = words_job(run, 0, "tiny", store)
    other.run()
    assert "is not the one that predicted this run" in other.problem


@pytest.mark.usefixtures("database")
def test_stored_results_are_replaced():
    store = StrongestWords(open_database())
    store.keep(FILE, ONE, FOUND)
    store.keep(FILE, ONE, {"1e": NONE})
    assert store.known(FILE, ONE) == FOUND | {"1e": NONE} and store.known(FILE, "c" * 64) == {}
