"""Readers: layouts are recognised, broken rows named by line, good rows kept."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import threading
import tracemalloc
from pathlib import Path

import pytest

from core.data import DataError, read
from core.reading.tokens import tokenize

GOOD = {"gold_label": "neutral", "sentence1": "A dog runs.", "sentence2": "It barks.", "pairID": "7"}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_snli_jsonl_drops_rows_without_gold_label_and_names_broken_ones(tmp_path: Path) -> None:
    lines = [
        json.dumps(GOOD).encode(),
        json.dumps({**GOOD, "gold_label": "-"}).encode(),
        b'{"gold_label": "neut',
        json.dumps({**GOOD, "sentence2": " \u200b"}).encode(),
        json.dumps({**GOOD, "gold_label": "maybe"}).encode(),
        b"[1, 2]",
        b'{"gold_label": "neutral", "sentence1": "caf\xe9"}',
        json.dumps({"gold_label": "neutral", "sentence1": "x"}).encode(),
        json.dumps({**GOOD, "gold_label": "entailment", "sentence1": 3}).encode(),
        json.dumps({**GOOD, "gold_label": "contradiction", "pairID": "8"}).encode(),
    ]
    dataset = read(write(tmp_path / "x.jsonl", b"\xef\xbb\xbf" + b"\r\n".join(lines)))
    assert [(r.id, r.label, r.first) for r in dataset.rows] == [
        ("7", "neutral", "A dog runs."),
        ("7", "maybe", "A dog runs."),
        ("8", "contradiction", "A dog runs."),
    ]
    assert dataset.dropped == 1
    assert [p.line for p in dataset.problems] == [3, 4, 6, 7, 8, 9]
    assert "UTF-8" in dataset.problems[3].what
    assert "line 3" in dataset.summary() and "3 more" in dataset.summary()
    assert "3 of 4 rows have a label" in dataset.summary()


def test_gzip_is_read_like_its_content(tmp_path: Path) -> None:
    plain = write(tmp_path / "x.jsonl", json.dumps(GOOD))
    packed = write(tmp_path / "x.jsonl.gz", gzip.compress(plain.read_bytes()))
    assert read(packed).rows == read(plain).rows
    with pytest.raises(DataError, match="damaged gzip"):
        read(write(tmp_path / "cut.gz", packed.read_bytes()[:-9]))


ROW = b"a dog,a cat,neutral\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"premise,hypothesis,label\n" + ROW * 200_000, "bomb.csv.gz holds more than 1 MB of text; divide it"),
        (b"x" * 20_000_000, "line 1 of bomb.csv.gz has more than 16,777,216 bytes"),
    ],
    ids=["lines", "one line"],
)
def test_a_small_file_that_holds_a_large_one_is_refused_while_it_is_unpacked(
    tmp_path: Path, content: bytes, what: str
) -> None:
    packed = write(tmp_path / "bomb.csv.gz", gzip.compress(content, 1))
    largest = 1_000_000 if content.endswith(ROW) else 100_000_000
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=what):
            read(packed, largest=largest)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < (10_000_000 if largest == 1_000_000 else 40_000_000), f"{most:,} bytes"


def test_a_file_of_many_lines_is_refused_and_a_plain_one_may_be_as_large_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = write(tmp_path / "x.csv", b"premise,hypothesis,label\n" + ROW * 50)
    assert len(read(plain, largest=100).rows) == 50
    monkeypatch.setattr("core.data.lines.MOST_LINES", 50)
    with pytest.raises(DataError, match="holds more than 50 lines; divide it"):
        read(plain)


def test_json_that_would_take_much_more_room_than_its_text_breaks_its_own_row_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.data.lines.MOST_VALUES", 200)
    lines = [GOOD, {**GOOD, "extra": [[]] * 250}, {**GOOD, "sentence1": "a dog, " * 20}]
    dataset = read(write(tmp_path / "x.jsonl", "\n".join(map(json.dumps, lines))))
    assert len(dataset.rows) == 2 and str(dataset.problems[0]) == "line 2: more than 200 values"


@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_as_a_file_is(tmp_path: Path, packed: bool) -> None:
    content = b"premise,hypothesis,label\n" + ROW * 5
    content = gzip.compress(content) if packed else content
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(content))
    writer.start()
    dataset = read(tmp_path / "pipe")
    writer.join()
    assert len(dataset.rows) == 5 and dataset.sha256 == hashlib.sha256(content).hexdigest()


def test_sick_is_read_without_quoting(tmp_path: Path) -> None:
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    rows = '4\tA "man runs\tHe runs\t3.6\tCONTRADICTION\n5\tonly four\tcells\tNEUTRAL\n'
    rows += "6\ta\tb\t1\tYES\n7\ta\tb\t1\tNEUTRAL\n"
    dataset = read(write(tmp_path / "sick.txt", head + rows))
    assert dataset.layout == "SICK TSV" and not dataset.ranking
    assert [(r.first, r.label, r.label_text) for r in dataset.rows] == [
        ('A "man runs', "contradiction", "CONTRADICTION"),
        ("a", "yes", "YES"),
        ("a", "neutral", "NEUTRAL"),
    ]
    assert [(p.line, p.what) for p in dataset.problems] == [(3, "4 columns instead of 5")]


def test_ranking_layouts_group_answers_by_question(tmp_path: Path) -> None:
    wikiqa = (
        "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
        "Q1\twho ?\tD1\tT\tD1-0\tHe did .\t0\nQ1\twho ?\tD1\tT\tD1-1\tShe did .\t1\nQ2\twho ?\tD2\tT\tD2-0\tX\t0\n"
    )
    trecqa = 'qtext,label,atext\r\n"Who , then ?",1,"the ""IRON LADY"" , by\nhim"\r\nWho ?,0,nobody\r\n'
    selqa = 'Who is "it ?\tIt is .\t0\nWho is "it ?\tNo .\t1\nbad row\n'
    for name, text, layout, groups in (
        ("w.tsv", wikiqa, "WikiQA TSV", ["Q1", "Q1", "Q2"]),
        ("t.csv", trecqa, "TrecQA CSV", ["Who , then ?", "Who ?"]),
        ("s.tsv", selqa, "SelQA TSV", ['Who is "it ?'] * 2),
    ):
        dataset = read(write(tmp_path / name, text))
        assert (dataset.layout, dataset.ranking, [r.group for r in dataset.rows]) == (layout, True, groups)
        assert set(dataset.labels) == {"0", "1"}
    assert read(tmp_path / "t.csv").rows[0].second == 'the "IRON LADY" , by\nhim'


@pytest.mark.parametrize(
    "header", ["premise,hypothesis,label", "sentence1,sentence2,gold_label", "question,answer,label"]
)
def test_plain_tables_with_a_header(tmp_path: Path, header: str) -> None:
    rows = 'one,two,1\n"a, b",c,0\n5" pipe,d,1\n,empty,0\nx,y\n"open,row,1\nlast,row,0\n'
    dataset = read(write(tmp_path / "x.csv", f"{header}\n{rows}"))
    assert [(r.first, r.second, r.label) for r in dataset.rows] == [
        ("one", "two", "1"),
        ("a, b", "c", "0"),
        ('5" pipe', "d", "1"),
        ("last", "row", "0"),
    ]
    assert [p.line for p in dataset.problems] == [5, 6, 7]
    assert dataset.problems[2].what == 'a quote (") is opened and never closed'
    tabs = read(write(tmp_path / "x.tsv", f"{header}\na,b,1\n".replace(",", "\t")))
    assert tabs.rows[0].second == "b" and tabs.ranking == header.startswith("question")


def test_labels_may_be_missing_when_they_are_not_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "premise,hypothesis\na,b\n")
    assert read(path, labelled=False).rows[0].label is None
    with pytest.raises(DataError, match="no column named label"):
        read(path)


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        (b"", "no text"),
        (b"just some words\nand more\n", "layout of .* is not known"),
        (b"premise,hypothesis,label\n,,\n", "no usable row .*line 2"),
        (b'{"sentence1": "a", "sentence2": "b", "gold_label": "-"}', "every row lacks a gold label"),
        ("premise,hypothesis,label\n,,\n".encode("utf-16"), "no usable row .*line 2"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, content: bytes, remedy: str) -> None:
    with pytest.raises(DataError, match=remedy):
        read(write(tmp_path / "x.csv", content))


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        read(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder"):
        read(tmp_path)


def test_wikiqa_train_and_dev_come_out_alike() -> None:
    """Train is split already (" ,", " ?", `` and -LRB-), dev is raw text: one sentence in both manners."""
    split = "`` African immigrants '' -LRB- in the U.S. -RRB- , do n't they ... it 's 12,381 people 's ?"
    raw = "“African immigrants” (in the U.S.), don't they… it's 12,381 people's?"
    assert [token.norm for token in tokenize(split)] == [token.norm for token in tokenize(raw)]


@pytest.mark.parametrize("half", ["\\ud800", "\\udc00 \\ud83d", "\\uDBFF"])
@pytest.mark.parametrize("key", ["sentence1", "pairID", "genre"])
def test_half_a_character_breaks_its_own_row_only(tmp_path: Path, key: str, half: str) -> None:
    broken = json.dumps({**GOOD, key: "A dog HALF runs."}).replace("HALF", half)
    whole = json.dumps({**GOOD, "sentence1": "A 🐕 is caf\u00e9."})
    dataset = read(write(tmp_path / "x.jsonl", f"{broken}\n{whole}\n"))
    assert [row.first for row in dataset.rows] == ["A 🐕 is café."]
    assert [str(p) for p in dataset.problems] == ["line 1: a \\u escape with an unpaired surrogate"]


@pytest.mark.slow
def test_no_depth_of_nesting_escapes_the_report(tmp_path: Path) -> None:
    rows = [json.dumps(GOOD)[:-1] + f', "{key}": {"[" * n}{"]" * n}}}' for key in ("x", "pairID") for n in range(1100)]
    dataset = read(write(tmp_path / "x.jsonl", "\n".join(rows)))
    assert len(dataset.rows) + len(dataset.problems) == len(rows) and 1 < len(dataset.problems) < len(rows)


def test_a_cell_of_any_length_is_read(tmp_path: Path) -> None:
    long = "a, b " * 60_000
    dataset = read(write(tmp_path / "t.csv", f'qtext,label,atext\nWho ?,1,"{long}"\nWho ?,0,x\n'))
    assert [len(row.second) for row in dataset.rows] == [300_000, 1] and not dataset.problems


def test_rows_keep_the_files_other_columns(tmp_path: Path) -> None:
    taxi = "prem\thyp\tlabel\tnegation_logic\tpairID\tgenre\na\tb\tneutral\t0\t5e\ttelephone\n"
    row = read(write(tmp_path / "taxi.tsv", taxi)).rows[0]
    assert (row.id, row.first, row.second, row.label) == ("5e", "a", "b", "neutral")
    assert row.columns == {"negation_logic": "0", "genre": "telephone"}
    more = {"sentence1_parse": "(A dog)", "votes": ["neutral", "é"], "n": 3, "sure": True, "note": None, "genre": "x"}
    row = read(write(tmp_path / "x.jsonl", json.dumps({**GOOD, **more}))).rows[0]
    assert row.columns == {"votes": '["neutral", "é"]', "n": "3", "sure": "true", "note": "", "genre": "x"}
    trecqa = read(write(tmp_path / "t.csv", "qtext,label,atext\nWho ?,1,me\n")).rows[0]
    assert trecqa.columns == {} and {trecqa, trecqa} == {trecqa}
