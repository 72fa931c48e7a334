"""Readers of single texts and of Quora's pairs: recognised from the head, broken rows named by line, good rows kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.data import DataError, Dataset, read

BOM = "\ufeff"


def given(folder: Path, content: str, **options: Any) -> Dataset:
    path = folder / "file"
    path.write_bytes(content.encode())
    return read(path, **options)


def texts(dataset: Dataset) -> list[tuple[str, str | None]]:
    return [(row.first, row.label) for row in dataset.rows]


def test_jsonl_documents_name_broken_rows(tmp_path: Path) -> None:
    good = {"label": "Natural Place", "title": "Lake Nowhere", "text": " It is a lake.", "id": 7}
    lines = [
        good,
        {**good, "text": "\u200b"},
        {"label": "Film"},
        {**good, "text": 0},
        {**good, "title": ["x"]},
        {**good, "label": {"is": "Film"}},
        {**good, "label": None},
        {**good, "label": "-"},
        [1],
        {"text": "No title here.", "label": 3},
    ]
    dataset = given(tmp_path, BOM + "\r\n".join(json.dumps(line) for line in lines) + '\r\n{"text": "cut')
    assert (dataset.layout, dataset.single, dataset.ranking, dataset.dropped) == ("document jsonl", True, False, 2)
    assert texts(dataset) == [("Lake Nowhere. It is a lake.", "natural place"), ("No title here.", "3")]
    assert [(r.id, r.title, r.second, r.group) for r in dataset.rows] == [
        ("7", "Lake Nowhere", "", None),
        ("line 10", "", "", None),
    ]
    assert [(p.line, p.what) for p in dataset.problems] == [
        (2, "the text is empty"),
        (3, "no text"),
        (4, "text is not a string"),
        (5, "title is not a string"),
        (6, "label is neither text nor a number"),
        (9, "not a JSON object"),
        (11, "not a JSON object (cut off?)"),
    ]


def test_texts_without_labels_can_be_read_for_prediction(tmp_path: Path) -> None:
    assert texts(given(tmp_path, '{"text": "a"}\n{"text": "b", "label": "-"}', labelled=False)) == [
        ("a", None),
        ("b", None),
    ]
    assert texts(given(tmp_path, "id,text\n4,a\n", labelled=False)) == [("a", None)]
    with pytest.raises(DataError, match="every row lacks a gold label"):
        given(tmp_path, '{"text": "a"}')


@pytest.mark.parametrize(
    ("title", "first"), [("Who?", "Who? Me."), (" Inc. ", "Inc. Me."), ("Me", "Me. Me."), ("", "Me.")]
)
def test_a_title_becomes_the_first_sentence(tmp_path: Path, title: str, first: str) -> None:
    row = given(tmp_path, json.dumps({"title": title, "text": "Me.", "label": "x"})).rows[0]
    assert (row.first, row.title) == (first, title.strip())


def test_newsgroup_posts_lose_header_signature_and_quotes(tmp_path: Path) -> None:
    header = "From: a@b.c (A)\nSubject: gears\nLines: 3\n\n"
    posts = [
        header + "b@c.d wrote:\n> old words\n| older words\nNew words.\n\nMore of them.\n--\nA, somewhere",
        header + "One line only.\n",
        header + "> just a quote\n",
    ]
    dataset = given(tmp_path, "\n".join(json.dumps({"text": post, "label": "rec.autos"}) for post in posts))
    assert dataset.layout == "20 Newsgroups jsonl"
    assert texts(dataset) == [("New words.\n\nMore of them.", "rec.autos"), ("One line only.", "rec.autos")]
    assert str(dataset.problems[0]) == "line 3: the text is empty"


def test_class_csv_with_a_title(tmp_path: Path) -> None:
    rows = [
        '1,"Acme, Inc"," It makes ""things"", all sorts."',
        '"12","Two\\nlines","Ends \\""quoted\\""."',
        "3,Plain,No quotes at all",
        '4,"Title","  "',
        'five,"Title","Text"',
        '6,"Only a title"',
        '7,"open,and never closed',
        '8,"A","real',
        'line end"',
        '9,"","No title."',
    ]
    dataset = given(tmp_path, BOM + "\r\n".join(rows) + "\r\n")
    assert (dataset.layout, dataset.single) == ("class CSV", True)
    assert texts(dataset) == [
        ('Acme, Inc. It makes "things", all sorts.', "1"),
        ('Two\nlines. Ends "quoted".', "12"),
        ("Plain. No quotes at all", "3"),
        ("A. real\nline end", "8"),
        ("No title.", "9"),
    ]
    assert [(p.line, p.what) for p in dataset.problems] == [
        (4, "the text is empty"),
        (5, "label 'five' is not a number from 0 to 999"),
        (6, "2 columns instead of 3"),
        (7, 'a quote (") is opened and never closed'),
    ]
    assert (dataset.rows[0].id, dataset.rows[0].title) == ("line 1", "Acme, Inc")


def test_class_csv_without_title(tmp_path: Path) -> None:
    dataset = given(tmp_path, '"5","Good, all of it."\n"1","Bad."\n"2","Too","many"\n')
    assert texts(dataset) == [("Good, all of it.", "5"), ("Bad.", "1")]
    assert str(dataset.problems[0]) == "line 3: 3 columns instead of 2"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_tables_of_documents(tmp_path: Path, delimiter: str) -> None:
    rows = "text,label\nfine,Pos\n,neg\nbad,\nnone,-\nx,y,z\n".replace(",", delimiter)
    dataset = given(tmp_path, BOM + rows.replace("\n", "\r\n"))
    assert (dataset.layout, dataset.single, dataset.dropped) == ("document table", True, 2)
    assert texts(dataset) == [("fine", "pos")]
    assert [(p.line, p.what) for p in dataset.problems] == [
        (3, "the text is empty"),
        (6, "3 columns instead of 2"),
    ]


def test_tables_of_documents_may_have_titles_and_long_quoted_texts(tmp_path: Path) -> None:
    long = "\n".join(["a line"] * 100)
    dataset = given(tmp_path, f'Class Index,Title,Description\n3,"T, t","{long}"\n4,U,u\n')
    assert texts(dataset) == [(f"T, t. {long}", "3"), ("U. u", "4")]
    assert [row.title for row in dataset.rows] == ["T, t", "U"]


def test_documents_keep_their_other_columns(tmp_path: Path) -> None:
    row = given(tmp_path, '{"text": "a", "label": 1, "title": "b", "id": 2, "stars": 4.5, "by": "me"}').rows[0]
    assert row.columns == {"stars": "4.5", "by": "me"}
    assert given(tmp_path, "text,label, Year \na,b,1999\n").rows[0].columns == {"Year": "1999"}
    for headless in ("1,a", "1 a", "1\ta\tb\t2"):
        assert given(tmp_path, headless).rows[0].columns == {}


def test_sst_lines(tmp_path: Path) -> None:
    dataset = given(
        tmp_path, "4 a review , text , and label .\r\n0 \u200b\r\n7 too good\r\n0 a b\r\nwords\r\n2 c d\r\n"
    )
    assert (dataset.layout, dataset.single) == ("SST-5 lines", True)
    assert texts(dataset) == [("a review , text , and label .", "4"), ("a b", "0"), ("c d", "2")]
    assert [(p.line, p.what) for p in dataset.problems] == [
        (2, "the text is empty"),
        (3, "label '7' is not a number from 0 to 4"),
        (5, "1 columns instead of 2"),
    ]


def test_quora_is_not_taken_for_selqa(tmp_path: Path) -> None:
    rows = [
        '1\tWhat is "it ?\tWhat is it, then?\t31',
        "cut off\there\t0",  # a row of SelQA's
        "2\tA?\tB?\t32",
        "0\tA?\t \t33",
        "0\tA?\tB?\t34",
        "0\tA?\tB?\t",
    ]
    dataset = given(tmp_path, BOM + "\r\n".join(rows))
    assert (dataset.layout, dataset.single, dataset.ranking) == ("Quora TSV", False, False)
    assert [(r.id, r.first, r.second, r.label) for r in dataset.rows] == [
        ("31", 'What is "it ?', "What is it, then?", "1"),
        ("32", "A?", "B?", "2"),
        ("34", "A?", "B?", "0"),
        ("line 6", "A?", "B?", "0"),
    ]
    assert [(p.line, p.what) for p in dataset.problems] == [
        (2, "3 columns instead of 4"),
        (4, "the second sentence is empty"),
    ]
    assert given(tmp_path, "Q?\tA.\t0\n1\tQ?\tA.\t5\nQ?\tB.\t1\n").layout == "SelQA TSV"


def test_quora_with_its_own_header(tmp_path: Path) -> None:
    head = '"id","qid1","qid2","question1","question2","is_duplicate"\n'
    dataset = given(tmp_path, head + '"8","1","2","A, a?","B?","1"\n')
    assert [(r.id, r.first, r.second, r.label) for r in dataset.rows] == [("8", "A, a?", "B?", "1")]


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        ("text,hypothesis,label\na,b,c\n", "sentence-pair table"),
        ("claim;question;text;label\na;b;c;d\n", None),
        ("text\nword\n", None),
        ("1,2,3\n4,5,6\n", None),
        ("2020,A year,of four digits\n2021,And,another\n", None),
        ("Some words\n1,then a numbered line\nand more\n", None),
        ("9 lives\n8 more\n", None),
        ('{"question": "a", "text": "b", "label": 1}', None),
        ('{"claim": "a", "label": "REFUTES", "evidence": ["b"]}', "FEVER jsonl"),
        ('{"sentence1": "a", "sentence2": "b", "gold_label": "neutral", "text": "c", "label": "x"}', "SNLI jsonl"),
        ("question\tsentence\tlabel\na\tb\t1\n", "sentence-pair table"),
        ("QuestionID\tQuestion\tSentence\tLabel\n1\ta\tb\t1\n", "WikiQA TSV"),
        ("question,answer,label,text\na,b,1,c\n", "question-answer table"),
        ("3,who\tit , text\t0\n4,who\tit\t1\n", "SelQA TSV"),
    ],
)
def test_no_other_layout_is_taken_for_documents(tmp_path: Path, content: str, layout: str | None) -> None:
    if layout is None:
        with pytest.raises(DataError, match=r"layout of .* is not known"):
            given(tmp_path, content)
    else:
        assert given(tmp_path, content).layout == layout


def test_every_layout_is_recognised(tmp_path: Path) -> None:
    for content, layout in (
        ('{"text": "a", "label": "b"}', "document jsonl"),
        (json.dumps({"text": "Subject: a\n\nb", "label": "c"}), "20 Newsgroups jsonl"),
        ("1,a", "class CSV"),
        ("text,label\na,b", "document table"),
        ("1 a", "SST-5 lines"),
        ("1\ta\tb\t2", "Quora TSV"),
    ):
        assert given(tmp_path, content).layout == layout
