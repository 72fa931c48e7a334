"""A data file comes out with its labels corrected, as it came: headers, columns, order, spelling, format."""

import json
from dataclasses import replace
from types import SimpleNamespace

import openpyxl
import pytest

from core.data import Picked, read
from core.data.corrected import NewLabel, NotRewritableError, as_table, corrected
from core.desk import source, store

CORRECTIONS = {0: NewLabel("neutral", "Ann"), 2: NewLabel("entailment", "Ann, Bob")}
TEXTS = [("A man, cold", "He isn't"), ('the "toy" is red', "the toy"), ("a dog\nruns", "it runs")]
SPELLED = ["Contradiction", "entailment", "Entailment"]
"""The second decision is the label as the file spells it."""


def cells(delimiter, *row):
    return delimiter.join('"' + cell.replace('"', '""') + '"' if set(cell) & {'"', ",", "\n"} else cell for cell in row)


def written(folder, name, lines, end="\n", mark=""):
    path = folder / name
    path.write_bytes((mark + "".join(f"{line}{end}" for line in lines)).encode())
    return path


def again(path, made, **options):
    new = path.with_name(f"x-corrected{made.suffix}")
    new.write_bytes(made.content)
    return read(new, labelled=False, **options)


def same_but_labels(before, after):
    """Whether these are the same rows, with the corrected labels."""
    kept = [(row.id, row.first, row.second) for row in before.rows]
    assert [(row.id, row.first, row.second) for row in after.rows] == kept
    assert [row.label_text for row in after.rows] == ["neutral", "entailment", "Entailment"]
    for index, (old, new) in enumerate(zip(before.rows, after.rows, strict=True)):
        own = {name: text for name, text in new.columns.items() if name not in ("label_before", "label_by")}
        assert own == old.columns
        told = (SPELLED[index], CORRECTIONS[index].by) if index in CORRECTIONS else ("", "")
        assert (new.columns["label_before"], new.columns["label_by"]) == told
    (note,) = after.notes
    assert note.startswith("corrected from x.") and "2 labels decided by people, 1 changed" in note


@pytest.mark.parametrize(("end", "mark", "delimiter"), [("\n", "", ","), ("\r\n", "\ufeff", ";")])
def test_a_table_keeps_its_headers_columns_line_ends_and_mark(tmp_path, end, mark, delimiter):
    lines = [cells(delimiter, "Genre", " Premise", "Hypothesis", "Gold Label", "id")]
    lines += [
        cells(delimiter, "x", *pair, label, f"r{n}")
        for n, (pair, label) in enumerate(zip([*TEXTS[:2], ("a; dog, runs", "it")], SPELLED, strict=True))
    ]
    path = written(tmp_path, "x.csv", lines, end, mark)
    before, made = read(path, labelled=False), corrected(path, CORRECTIONS)
    text = made.content.decode()
    assert text.startswith(f"{mark}Genre{delimiter} Premise") and text.count(end) == text.count("\n") == 4
    assert delimiter.join(["Gold Label", "label_before", "label_by", "id"]) in text.splitlines()[0]
    same_but_labels(before, again(path, made))
    path.with_name("x.csv").write_bytes(made.content)
    twice = corrected(path, {1: NewLabel("neutral", "Cleo")}).content.decode()
    assert twice.splitlines()[0] == text.splitlines()[0].removeprefix("") and "Cleo" in twice and "Ann" in twice


def test_a_table_of_tabs_keeps_its_unquoted_quotes_and_its_broken_row_is_counted(tmp_path):
    rows = [('a "toy"', '"it" is'), ("one", "two"), ("three's", "four")]
    lines = ["sentence1\tsentence2\tlabel"] + [
        "\t".join((*pair, label)) for pair, label in zip(rows, SPELLED, strict=True)
    ]
    path = written(tmp_path, "x.tsv", [*lines[:2], "broken", *lines[2:]])
    made = corrected(path, CORRECTIONS)
    assert made.left_out == 1 and made.suffix == ".tsv" and b'a "toy"\t"it" is\tneutral' in made.content
    before, after = read(path, labelled=False), again(path, made)
    assert [row.first for row in after.rows] == [row.first for row in before.rows]


def test_json_lines_keep_their_values_and_types(tmp_path):
    rows = [
        {
            "sentence1": first,
            "sentence2": second,
            "gold_label": label,
            "pairID": f"p{n}",
            "v": ["a", None],
            "n": 1.5,
        }
        for n, ((first, second), label) in enumerate(zip(TEXTS, SPELLED, strict=True))
    ]
    path = written(tmp_path, "x.jsonl", map(json.dumps, rows))
    made = corrected(path, CORRECTIONS)
    first = json.loads(made.content.splitlines()[0])
    assert list(first)[2:5] == ["gold_label", "label_before", "label_by"] and first["v"] == ["a", None]
    same_but_labels(read(path, labelled=False), again(path, made))
    nested = [{"example": {"premise": "a b", "hypothesis": "c d", "label": n}} for n in (0, 1, 0)]
    path = written(tmp_path, "y.jsonl", map(json.dumps, nested))
    made = corrected(path, {0: NewLabel("1", "Ann")})
    values = [json.loads(line) for line in made.content.splitlines()]
    assert [value["example"]["label"] for value in values] == [1, 1, 0] and values[0]["label_before"] == "0"


def test_a_workbook_keeps_its_other_cells_and_sheets(tmp_path):
    book, path = openpyxl.Workbook(), tmp_path / "x.xlsx"
    sheet = book.active
    sheet.append(["premise", "hypothesis", "label", "n", "double"])
    for n, (pair, label) in enumerate(zip(TEXTS, SPELLED, strict=True), start=2):
        sheet.append([*pair, label, n, f"=2*D{n}"])
    book.create_sheet("notes")["A1"] = "kept"
    book.save(path)
    made = corrected(path, {0: NewLabel("neutral", "=Ann"), 2: CORRECTIONS[2]})
    again_path = tmp_path / "x-corrected.xlsx"
    again_path.write_bytes(made.content)
    new = openpyxl.load_workbook(again_path)
    assert new["notes"]["A1"].value == "kept" and new.worksheets[0]["E2"].value == "=2*D2"
    assert new.worksheets[0]["G2"].data_type == "s"
    after = read(again_path, labelled=False)
    assert [row.label_text for row in after.rows] == ["neutral", "entailment", "Entailment"]
    assert [row.columns["label_by"] for row in after.rows] == ["=Ann", "", "Ann, Bob"]


def test_a_file_without_labels_gets_a_column_and_documents_are_read_again(tmp_path):
    path = written(tmp_path, "x.csv", ["id,text", "1,the app crashes", "2,it is slow"])
    made = corrected(path, {1: NewLabel("bug", "Ann Alpha, Bob Beta, Cleo")})
    assert made.content.decode().splitlines()[0] == "id,text,label,label_before,label_by"
    after = again(path, made)
    assert [(row.label_text, row.columns["label_by"]) for row in after.rows] == [
        ("", ""),
        ("bug", "Ann Alpha, Bob Beta, Cleo"),
    ]
    made = corrected(path, {0: NewLabel("bug", "Ann")}, Picked("id", "text"))
    after = again(path, made, columns=Picked("id", "text", "label"))
    assert [row.label for row in after.rows] == ["bug", None]


def test_a_file_without_named_columns_comes_out_under_usual_names(tmp_path):
    path = written(tmp_path, "x.txt", ["a b\tc d\tentails", "e f\tg, h\tneutral"])
    with pytest.raises(NotRewritableError):
        corrected(path, {})
    before = read(path, labelled=False)
    made = as_table(before.rows, ("premise", "hypothesis"), {1: NewLabel("entails", "Ann")})
    after = again(path, made)
    assert [(row.id, row.first, row.second, row.label) for row in after.rows] == [
        (row.id, row.first, row.second, "entails") for row in before.rows
    ]


def test_labels_of_held_out_rows_are_written_into_their_lines_of_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setenv("PAIRLENS_DESK", str(tmp_path / "desk"))
    path = written(tmp_path, "x.csv", ["premise,hypothesis,label", *(f"text {n},b,no" for n in range(5))])
    data = read(path, labelled=False)
    packed = replace(source.source_of(data, path), rows=(1, 3, 4))
    folder = store.folder_of(data.sha256)
    folder.mkdir(parents=True)
    source.keep(replace(data, source=packed))
    run = SimpleNamespace(folder=folder)
    made = source.corrected_file(run, {0: NewLabel("yes", "Ann"), 2: NewLabel("perhaps", "Bo")})
    assert [row.label_text for row in again(path, made).rows] == ["no", "yes", "no", "no", "perhaps"]
