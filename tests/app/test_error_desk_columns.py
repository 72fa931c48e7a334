"""The Error desk's form: columns named by the user, and the question whether a table's first line is a header."""

import os

import pytest

from tests.app.desk_page import texts
from tests.app.pages import open_view, sentences

pytestmark = pytest.mark.usefixtures("own_desk", "checkpoints")

ROWS = "A dog is outside.\tThe dog is not cold.\tneutral\nA cat is here.\tThe cat is red.\tcontradiction\n"


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Opens the page with a file of this name and content chosen."""

    def open_with(name, content):
        folder = tmp_path / "sets"
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        monkeypatch.setenv("PAIRLENS_DATASETS", str(folder))
        app = open_view("error_desk")
        chooser(app, "or choose").set_value(name).run()
        assert not app.exception
        assert str(tmp_path) not in texts(app) + " ".join(sentences(app))
        return app

    return open_with


def chooser(app, label):
    return next(box for box in app.selectbox if box.label.startswith(label))


def pick(app, **columns):
    for label, name in columns.items():
        chooser(app, label.replace("_", " ")).set_value(name)
    app.run()
    assert not app.exception


def test_a_first_line_that_looks_like_a_row_is_asked_about(opened):
    app = opened("pairs.tsv", ROWS)
    (question,) = app.radio
    assert question.value is None and "First line: A dog is outside. · The dog is not cold. · neutral" in texts(app)
    assert not any(box.label == "First text" for box in app.selectbox)
    question.set_value("a row").run()
    assert chooser(app, "First text").options == [
        "(none)",
        "1: A dog is outside.",
        "2: The dog is not cold.",
        "3: neutral",
    ]
    pick(app, First_text="1", Second_text="2", Label="3")
    assert "pairs.tsv: 2 rows (picked columns)" in texts(app)
    app.radio[0].set_value("names of the columns").run()
    pick(app, First_text="A dog is outside.", Second_text="The dog is not cold.")
    assert "pairs.tsv: 1 row (picked columns)" in texts(app)


def test_a_header_of_other_names_is_proposed_as_one(opened):
    app = opened("odd.csv", "left;right\na dog;a cat\n")
    assert app.radio[0].value == "names of the columns" and "Choose the column of the first text." in texts(app)
    pick(app, First_text="left", Second_text="right")
    assert "odd.csv: 1 row (picked columns)" in texts(app)


def test_nested_keys_are_offered_and_no_header_is_asked_for(opened):
    app = opened("x.jsonl", '{"a": {"b": "A dog.", "c": "A cat."}, "d": "neutral"}\n')
    assert not app.radio and {"a.b", "a.c"} < set(chooser(app, "First text").options)
    pick(app, First_text="a.b", Second_text="a.c", Label="d")
    assert "x.jsonl: 1 row (picked columns)" in texts(app)


def test_a_second_text_is_asked_for(opened):
    app = opened("chat.csv", "text,reply,label\nHow are you doing today?,I am doing very well thanks,pos\n")
    assert "PairLens does not recognise these columns" in texts(app)
    pick(app, First_text="text", Second_text="reply")
    assert "chat.csv: 1 row (picked columns)" in texts(app)


def test_columns_of_a_known_layout_can_be_chosen_too(opened):
    app = opened("known.csv", "premise,hypothesis,label\na dog,a cat,neutral\n")
    assert "known.csv: 1 row (sentence-pair table)" in texts(app)
    next(box for box in app.checkbox if box.label == "Choose the columns myself").check().run()
    pick(app, First_text="hypothesis", Second_text="premise", Label="label")
    assert "known.csv: 1 row (picked columns)" in texts(app)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("old.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "old.csv is an old Excel workbook (.xls)"),
        ("empty.csv", b"", "empty.csv has no text in it"),
        ("<b>.csv", b"premise,hypothesis,label\n,,\n", "<b>.csv has no usable row"),
        ("cut.csv.gz", b"\x1f\x8b\x08", "cut.csv.gz is a damaged gzip file"),
        ("words.txt", b"just <i>some</i> words\nand more\n", "its first line is “just <i>some</i> words”"),
    ],
)
def test_an_unreadable_file_gets_one_sentence(opened, name, content, told):
    app = opened(name, content)
    assert any(told.replace("<", "&lt;").replace(">", "&gt;") in sentence for sentence in sentences(app))


def test_a_file_that_may_not_be_read_is_named_without_its_place(opened, tmp_path, monkeypatch):
    opened("x.csv", "premise,hypothesis,label\na,b,neutral\n")

    def refuse(path, **options):
        raise PermissionError(13, os.strerror(13), str(path))

    monkeypatch.setattr("app.desk.file_choice.read", refuse)
    app = opened("x.csv", "premise,hypothesis,label\na,c,neutral\n")
    assert any("x.csv cannot be read (Permission denied)" in sentence for sentence in sentences(app))
