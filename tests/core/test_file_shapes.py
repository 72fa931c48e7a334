"""Files as spreadsheets, dumps and older programs write them: read completely, or one sentence with the remedy."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import io
import json
import os
import threading
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import DataError, Stream, read
from core.data.dataset import UnknownLayoutError
from core.data.lines import checksum
from core.data.picked import Seen
from core.data.stream import seen_in, survey

HEAD = "premise,hypothesis,label\n"


def given(folder: Path, content: str | bytes, name: str = "x.csv", **options):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path, **options)


def texts(data):
    return [(row.first, row.second, row.label) for row in data.rows]


def workbook(**sheets) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


QUOTED = '"id"\t"question1"\t"question2"\t"is_duplicate"\n"7"\t"What is ""a""?"\t"Why\n\nb?"\t"1"\n'


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (QUOTED, [('What is "a"?', "Why\n\nb?", "1")]),
        (QUOTED.replace('"7"', "7").replace('"1"', "1"), [('What is "a"?', "Why\n\nb?", "1")]),
        ('label\tpremise\thypothesis\n1\tA\t"b\nc"\n0\t"D\tE"\t"""F"""\n', [("A", "b\nc", "1"), ("D\tE", '"F"', "0")]),
    ],
    ids=["all cells", "texts", "where needed"],
)
def test_tab_separated_files_may_be_quoted(tmp_path, content, rows):
    data = given(tmp_path, content, "x.tsv")
    assert texts(data) == rows and not data.problems


def test_stray_quotes_of_unquoted_files_stay(tmp_path):
    lines = ['"Hi" he said\tx', '"Hi."\ty', 'a "b" c\t"d e', 'f\t"g" h', 'say ""\tz', '"a\tb"']
    data = given(tmp_path, "premise\thypothesis\tlabel\n" + "".join(f"{line}\tn\n" for line in lines), "x.tsv")
    assert [f"{row.first}\t{row.second}" for row in data.rows] == lines and not data.problems


def test_carriage_returns_end_lines_where_there_is_no_other_end(tmp_path):
    rows = f'{HEAD}A man.,"B\nman.",n\n,x,n\n'.replace("\n", "\r")
    data = given(tmp_path, rows)
    assert texts(data) == [("A man.", "B\nman.", "n")] and [problem.line for problem in data.problems] == [4]
    mixed = given(tmp_path, b'premise,hypothesis,label\r\nA,B,n\nC,D,n\r\n\r\n"E\r\n\r\nx",F,n')
    assert texts(mixed) == [("A", "B", "n"), ("C", "D", "n"), ("E\n\nx", "F", "n")]


def test_windows_1252_is_read_with_a_note(tmp_path):
    data = given(tmp_path, f"{HEAD}Der Mann schläft.,“Müde”,n\nplain,text,n\n".encode("cp1252"))
    assert data.rows[0].first == "Der Mann schläft." and data.rows[0].second == "“Müde”" and len(data.rows) == 2
    assert "1 line is not UTF-8 and was read as Windows-1252" in data.summary()


@pytest.mark.parametrize(
    ("line", "encoding"), [("今天天气很好,我们去公园玩,n", "gbk"), ("мужчина спит,мужчина стоит,n", "cp1251")]
)
def test_other_encodings_are_no_windows_1252(tmp_path, line, encoding):
    with pytest.raises(DataError, match=r"line 2: not valid UTF-8 .*; save the file as UTF-8"):
        given(tmp_path, HEAD.encode() + line.encode(encoding))


def test_a_file_of_both_encodings_names_the_lines_that_are_not_utf_8(tmp_path):
    data = given(tmp_path, HEAD.encode() + "café,x,n\n".encode() + "café,y,n\n".encode("cp1252"))
    assert [row.second for row in data.rows] == ["x"] and [problem.line for problem in data.problems] == [3]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_read(tmp_path, encoding):
    mark = "" if encoding == "utf-16" else "\ufeff"
    content = (mark + HEAD.replace(",", "\t").replace("\n", "\r\n") + "Über 🐕\tb\tn\r\n").encode(encoding)
    assert texts(given(tmp_path, content, "x.txt")) == [("Über 🐕", "b", "n")]


def test_joined_files_keep_all_rows(tmp_path):
    """Each with its byte order mark and its header."""
    one = f"\ufeff{HEAD}A,B,n\n"
    data = given(tmp_path, one + one.replace("A,B", "C,D") + "\ufeffE,F,n\n")
    assert texts(data) == [("A", "B", "n"), ("C", "D", "n"), ("E", "F", "n")] and not data.problems
    row = json.dumps({"premise": "A", "hypothesis": "B", "label": "n"})
    data = given(tmp_path, f"\ufeff{row}\n\ufeff{row}\n", "x.jsonl")
    assert len(data.rows) == 2 and not data.problems


def test_nul_characters_break_their_own_row_only(tmp_path):
    data = given(tmp_path, f"{HEAD}A dog\0 runs,B,n\nC,D,n\n")
    assert texts(data) == [("C", "D", "n")] and data.problems[0].line == 2


@pytest.mark.parametrize(
    ("content", "row", "others"),
    [
        ("premise;hypothesis;score\nA, b.;C.;2,5\n", ("A, b.", "C.", "2,5"), {}),
        ("premise,hypothesis,label,\nA,B,n,\n", ("A", "B", "n"), {}),
        ("premise,hypothesis,label\nA,B,n,,\n", ("A", "B", "n"), {}),
        ("premise,hypothesis,label,\nA,B,n,x\n", ("A", "B", "n"), {"column 4": "x"}),
        (",premise,hypothesis,label\n0,A,B,n\n", ("A", "B", "n"), {"column 1": "0"}),
        ("Unnamed: 0,premise,hypothesis,label\n0,A,B,n\n", ("A", "B", "n"), {"Unnamed: 0": "0"}),
        ("premise,hypothesis,label,tag,tag\nA,B,n,x,y\n", ("A", "B", "n"), {"tag": "x", "tag 2": "y"}),
        ('"Sentence\nA";"Sentence\nB";label\nA;B;n\n', ("A", "B", "n"), {}),
    ],
)
def test_headers_of_spreadsheets(tmp_path, content, row, others):
    data = given(tmp_path, content)
    assert texts(data) == [row] and data.rows[0].columns == others and not data.problems


ROWS = [
    ["premise", "hypothesis", "label", "when"],
    ['A "man", asleep.', "two\nlines", 1.0, datetime.datetime(2020, 1, 2)],
    [2.5, True, 0],
    [],
    ["C", "D", "n", "x"],
]


@pytest.mark.parametrize("packed", [False, True])
def test_the_first_sheet_of_a_workbook_is_read_with_a_note(tmp_path, packed):
    content = workbook(Data=ROWS, Notes=[["a note"]])
    data = given(tmp_path, gzip.compress(content) if packed else content, f"x.xlsx{'.gz' * packed}")
    assert texts(data) == [('A "man", asleep.', "two\nlines", "1"), ("2.5", "True", "0"), ("C", "D", "n")]
    assert [row.id for row in data.rows] == ["line 2", "line 3", "line 5"] and not data.problems
    assert data.rows[0].columns == {"when": "2020-01-02"}
    assert "only the first of 2 sheets, “Data”, was read" in data.summary()


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), r"an old Excel workbook \(\.xls\)"),
        (workbook(Data=[]), "has no text in it"),
        (workbook(Data=ROWS)[:400], "damaged zip file or workbook; download or save it again"),
        (zipped(xl__workbook=b"", **{"xl__workbook.xml": b"<no"}), "damaged workbook"),
        (zipped(train=b"a,b"), r"is a zip file \(train\), not an .xlsx workbook; unpack it"),
        (b"%PDF-1.4", "is a PDF file, which is not read; give CSV"),
        (gzip.compress(gzip.compress(b"a,b", mtime=0), mtime=0), "gzip within gzip"),
        (bytes(range(9)) * 100, "is not text"),
        (HEAD.encode("utf-16-le"), "UTF-16 without its mark; save it as UTF-8"),
        (b"<!DOCTYPE html>\n<html>404</html>", "is a web page, not data"),
        (b"", "no text in it"),
        (b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aa">]>\n<l><p a="&a;"/></l>', "with its own entities"),
        (b"<corpus>\n<pair><t>A</h></pair>", "mismatched tag"),
        (b"just some words\nand more\n", "its first line is .just some words.; give CSV"),
        (b"claim;proof;mark\na;b;c\n", "it has the columns claim, proof, mark; pick the texts .*--columns"),
        (b"A man sleeps.\tA man rests.\tn\n", "looks like a row, not like a header .*premise=1,hypothesis=2,label=3"),
        (b"left\tright\tsame\nA man.\tA dog.\t1\nA cat.\tIt.\t0\n", "columns left, right, same; pick the texts"),
        (b"A man\tsleeps\tn\nA dog\truns\tn\n", "looks like a row, not like a header"),
        (b'{"a": {"b": "A man sleeps."}, "c": 1}', r"its rows have the keys a, c, a\.b; .*--columns"),
        ("\x1b[31m <b>\u202ex</b>\ty\nz\tz\n".encode(), r"columns  \[31m <b> x</b>, y;"),
    ],
)
def test_an_unreadable_file_gets_one_sentence_without_a_path(tmp_path, content, told):
    with pytest.raises(DataError, match=told) as raised:
        given(tmp_path, content, "given.csv")
    assert str(tmp_path) not in str(raised.value) and "\n" not in str(raised.value)


def test_a_workbook_that_unpacks_to_more_than_the_bound_is_refused_before(tmp_path, monkeypatch):
    monkeypatch.setattr("openpyxl.load_workbook", None)
    with pytest.raises(DataError, match="holds more than 1 MB"):
        given(tmp_path, zipped(**{"xl__workbook.xml": b" " * 2_000_000}), largest=1_000_000)


def test_columns_of_pandas_json_are_rows(tmp_path):
    columns = {"premise": {"0": "A", "1": "C"}, "hypothesis": {"0": "B", "1": "D"}, "label": {"0": 1, "1": 0}}
    lists = {name: [*column.values()] for name, column in columns.items()}
    for content in (columns, lists):
        for indent in (None, 2):
            data = given(tmp_path, json.dumps(content, indent=indent), "x.json")
            assert texts(data) == [("A", "B", "1"), ("C", "D", "0")]


def test_a_list_that_is_cut_off_keeps_its_whole_rows(tmp_path):
    rows = json.dumps([{"premise": "A", "hypothesis": "B", "label": "n"}] * 3, indent=1)
    data = given(tmp_path, rows[:-20], "x.json")
    assert len(data.rows) == 2 and [str(problem) for problem in data.problems] == [
        "line 12: not a JSON object (cut off?)"
    ]


@pytest.mark.slow
def test_a_long_list_is_read_row_by_row(tmp_path):
    """Rows of a file that is still being written are read before its end."""
    os.mkfifo(tmp_path / "pipe")
    row, go_on = json.dumps({"premise": "A", "hypothesis": "B", "label": "n"}), threading.Event()

    def write():
        with (tmp_path / "pipe").open("w") as file:
            file.write("[\n" + f"{row},\n" * 20_000)
            file.flush()
            go_on.wait(60)
            file.write(f"{row}\n]\n")

    writer = threading.Thread(target=write)
    writer.start()
    rows = iter(Stream(tmp_path / "pipe"))
    some = [next(rows) for _ in range(15_000)]
    go_on.set()
    assert len(some) + sum(1 for _ in rows) == 20_001
    writer.join()


def test_xml_that_is_cut_off_keeps_its_whole_records(tmp_path):
    pair = '<pair id="{0}" entailment="YES"><t>A.</t><h>B.</h></pair>'
    for between in ("", "\n"):
        content = f"<corpus>{between}{pair.format(1)}{between}{pair.format(2)}{between}<pair><t>cut"
        data = given(tmp_path, content, "x.xml")
        assert [row.id for row in data.rows] == ["1", "2"] and "not well-formed XML" in data.problems[0].what


def test_texts_around_records_of_xml_are_not_dropped(tmp_path):
    answers = "<positive><s>A man did it.</s><s>Nobody did it.</s></positive>"
    content = f"<corpus>\n<set><question>Who did it then ?</question>{answers}</set>\n</corpus>"
    with pytest.raises(DataError, match="has texts in <set> next to records of texts"):
        given(tmp_path, content, "x.xml")


def test_nested_columns_of_parquet_are_read(tmp_path):
    pq.write_table(pa.table({"pair": [{"premise": "A", "hypothesis": "B"}], "label": ["n"]}), tmp_path / "x.parquet")
    assert texts(read(tmp_path / "x.parquet")) == [("A", "B", "n")]


@pytest.mark.parametrize("line", ["sep=;", "SEP=;;;", '"sep=;"', "\ufeffsep=;"])
def test_excels_line_with_the_delimiter_is_not_a_header(tmp_path, line):
    data = given(tmp_path, f"{line}\npremise;hypothesis;label\nA, b;C;n\n")
    assert texts(data) == [("A, b", "C", "n")] and data.rows[0].id == "line 3" and not data.rows[0].columns


@pytest.mark.parametrize("head", ["premise,hypo,label", "prem,hypo,label", "p,h,label", "Premise,Conclusion,label"])
def test_short_names_of_the_two_texts_are_known(tmp_path, head):
    data = given(tmp_path, f"{head}\nA,B,n\n")
    assert texts(data) == [("A", "B", "n")] and data.task == "entailment"


def test_rows_of_glues_snli_with_five_votes_are_read(tmp_path):
    head = "index\tcaptionID\tpairID\tsentence1\tsentence2\tlabel1\tgold_label"
    one = '0\tc\ta\tA "man" swims .\tHe "" moves .\tentailment\tentailment'
    five = '1\tc\tb\tA man swims "x .\tHe sleeps .\tc\tneutral\tc\tc\tc\tcontradiction'
    none = "2\tc\td\tA man swims .\tHe runs .\tc\tneutral\t-"
    data = given(tmp_path, f"{head}\n{one}\n{five}\n{none}\n3\tc\te\tA\n{five}\tx\n", "x.tsv", labelled=False)
    assert [(row.id, row.label) for row in data.rows] == [("a", "entailment"), ("b", "contradiction"), ("d", None)]
    assert data.rows[1].columns == {
        "index": "1",
        "captionID": "c",
        **{f"label{place}": vote for place, vote in enumerate(["c", "neutral", "c", "c", "c"], start=1)},
    }
    assert [problem.what for problem in data.problems] == ["4 columns instead of 7", "12 columns instead of 7"]


def test_a_copy_with_other_line_ends_is_the_same_data_set(tmp_path):
    text = "premise\thypothesis\tlabel\n" + "A man swims.\tHe moves.\tEntailment \n" * 3
    copies = {}
    for name, end in (("unix", "\n"), ("windows", "\r\n")):
        (tmp_path / f"{name}.tsv").write_bytes(text.replace("\n", end).encode())
        copies[name] = tmp_path / f"{name}.tsv"
    one, other = (read(path) for path in copies.values())
    assert one.sha256 == other.sha256 and one.rows == other.rows
    assert {survey(path) for path in copies.values()} == {(one.sha256, 4)}
    assert {checksum(path) for path in copies.values()} == {one.sha256}
    packed = tmp_path / "packed.tsv.gz"  # carriage returns among compressed bytes do not end lines
    packed.write_bytes(gzip.compress(text.encode(), mtime=0x0D0D0D0D))
    assert read(packed).sha256 == checksum(packed) == hashlib.sha256(packed.read_bytes()).hexdigest()
    (tmp_path / "other.tsv").write_text(text + "A man swims.\tHe sings.\tneutral\n")
    assert read(tmp_path / "other.tsv").sha256 != one.sha256


def test_the_texts_of_a_file_without_labels_are_guessed():
    rows = tuple((f"U{n}", f"the ship left port {n}", f"a ship has sailed today {n}") for n in range(6))
    texts = {"first": "report", "second": "reply"}
    assert Seen(("case", "report", "reply"), rows=rows).guess() == texts | {"id": "case"}
    assert Seen(("case", "report", "reply", "score"), rows=tuple((*row, row[0]) for row in rows)).guess() == texts
    topics = tuple((*row[1:], "topic" + "x" * n) for n, row in enumerate(rows))
    assert Seen(("report", "reply", "topic"), rows=topics).guess() == texts, "many classes are not ids"
    labelled = tuple((*row, "ab"[n % 2]) for n, row in enumerate(rows))
    assert Seen(("case", "report", "reply", "kind"), rows=labelled).guess()["label"] == "kind"
    partly = tuple((*row, "a" if n < 4 else "") for n, row in enumerate(rows))
    assert Seen(("case", "report", "reply", "kind"), rows=partly).guess() == texts | {"id": "case"}, "not of every row"
    more = [(f"U{n}", f"the ship left port {n}", f"a ship has sailed today {n}") for n in range(12)]
    phrases = tuple((*row, ("does not follow from it", "does follow")[n % 2]) for n, row in enumerate(more))
    assert Seen(("case", "report", "reply", "kind"), rows=phrases).guess()["label"] == "kind", "no third text"
    doubtful = tuple((*row, "xy"[n % 2]) for n, row in enumerate(labelled))
    assert Seen(("case", "report", "reply", "kind", "part"), rows=doubtful).guess() == {}


def test_numbered_rows_of_single_texts_are_no_class_csv(tmp_path):
    """Their numbers are not classes; and rows sorted by class, some of them unlabelled, have a class to guess."""
    file = tmp_path / "tickets.csv"
    texts = [f"my parcel number {n} has not arrived" for n in range(90)]
    labelled = [f"{n},{text},{('bill', 'lost', '')[n // 30]}" for n, text in enumerate(texts)]
    file.write_text("\n".join(["Ticket,Message,Queue", *labelled]))
    with pytest.raises(UnknownLayoutError):
        read(file)
    found = seen_in(file, 100_000)
    assert found.guess() == {"first": "Message", "label": "Queue", "id": "Ticket"}
    for header, rows in (("", labelled), ("Nr,Report,Reply", [f"{n},{text},{text}?" for n, text in enumerate(texts)])):
        file.write_text("\n".join([header, *rows]))
        with pytest.raises(UnknownLayoutError):
            read(file)
    file.write_text("\n".join(f"{n // 30},A title,{text}" for n, text in enumerate(texts)))
    assert read(file).layout == "class CSV", "sorted by class"


def test_a_question_above_classes_is_the_name_of_a_column(tmp_path):
    rows = "".join(
        f"E{n},The ship left port {n},A ship sailed today {n},{'yes' if n % 2 else 'no'}\n" for n in range(8)
    )
    file = tmp_path / "events.csv"
    for question in ("same event?", "Do both report the same event?"):
        file.write_text(f"case,left,right,{question}\n{rows}")
        found = seen_in(file, 10_000)
        assert not found.doubtful and found.guess()["label"] == question
    for first in ("E9,The ship sank here,A ship went down,maybe", "E9,12.5,A ship went down,maybe"):
        file.write_text(f"{first}\n{rows if '12.5' not in first else rows.replace('The ship left port ', '')}")
        assert seen_in(file, 10_000).doubtful, "it may be a row"
