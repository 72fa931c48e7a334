"""What may come from anywhere, made up by Hypothesis: texts, data files, addresses, saved files, filters and cards.

Some 2,000 cases in all, the same in each run. PAIRLENS_CASES=100000 python -m pytest tests/test_hardness.py runs more;
Hypothesis prints the case that fails.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import unicodedata
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import numpy as np
import openpyxl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.page_state.compare import CompareState
from app.page_state.error_desk import DeskState
from app.page_state.explore import ExploreState
from app.page_state.filter_map import MapState
from app.page_state.lessons import LessonsState
from app.page_state.models import ModelsState
from app.page_state.phrases import PhraseState
from core.checkpoint import CheckpointError, read_card
from core.data import DataError, Dataset, read
from core.data.picked import Picked
from core.data.stream import seen_in
from core.desk.columns import cells
from core.desk.filters import FilterError, literal, quoted, rows_of
from core.desk.table import table_of_cells
from core.reading.tokens import norms, tokenize, well_formed

_ASKED = os.environ.get("PAIRLENS_CASES")
_PROPERTIES = 11
hard = settings(
    max_examples=max(1, int(_ASKED or 2_000) // _PROPERTIES),
    derandomize=not _ASKED,
    database=None,
    deadline=None,
    # A file of one case is overwritten by the next one's.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
)
_ODD = st.sampled_from(
    ["", " ", "\0", "\ud800", "\u200b", "\u2028", "\ufeff", "\r", "\x85", "e\u0301", "🇩🇪",
     "👩‍👩‍👧", "שלום", "ﬀ", "İ", "½", "don't", "U.S.",
     "-LRB-", "``", "n't", "12,381.5", "go-kart", "…", "<b>", "**", "$x$", "=SUM(A1)",
     '"', "'", "\\", "\t", "\n", ",", ";", "|", "null"]
)  # fmt: skip
texts = st.one_of(
    st.text(max_size=40), st.lists(st.one_of(_ODD, st.text(max_size=6)), max_size=12).map("".join),
    st.text("ab .'-1", max_size=30)
)  # fmt: skip


def sentence(error):
    """Whether an error's message is one sentence for people."""
    text = str(error)
    return bool(text.strip()) and "\n" not in text and "Traceback" not in text


# Tokens


@hard
@given(texts)
def test_every_character_is_in_one_token_or_is_none(text):
    tokens, at = tokenize(text), 0
    for token in tokens:
        assert token.text == text[token.start : token.end] != "" and token.norm and token.start >= at
        at = token.end
    inside = {place for token in tokens for place in range(token.start, token.end)}
    outside = [text[place] for place in range(len(text)) if place not in inside]
    assert all(c.isspace() or unicodedata.category(c)[0] in "CZ" or unicodedata.combining(c) for c in outside), outside
    well_formed(text).encode()


@hard
@given(st.text(st.characters(max_codepoint=126), max_size=40))
def test_a_foreign_word_behind_a_text_changes_none_of_its_tokens(text):
    """One pattern reads ASCII alone, another everything: they agree."""
    assert tokenize(f"{text} é")[:-1] == tokenize(text)


@hard
@given(texts)
def test_texts_without_spans_have_the_same_words(text):
    assert norms(text) == [token.norm for token in tokenize(well_formed(text))]


# Data files

_CELL = st.one_of(st.sampled_from(["entailment", "neutral", "0", "1", "-", "a dog runs", "4.5", "ENTAILMENT"]), texts)
_HEADS = [
    ("premise", "hypothesis", "label"), ("sentence1", "sentence2", "label"), ("question", "answer", "label"),
    ("text", "label"),
    ("prem", "hyp", "label", "pairID"), ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"), ("a", "b"),
    ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment"),
    ("QuestionID", "Question", "DocumentID", "DocumentTitle", "SentenceID", "Sentence", "Label"),
]  # fmt: skip
_KEYS = [
    "sentence1",
    "sentence2",
    "gold_label",
    "pairID",
    "annotator_labels",
    "claim",
    "label",
    "evidence",
    "text",
    "title",
    "id",
]
_VALUE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True), _CELL),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=2)),
    max_leaves=4,
)


@st.composite
def tables(draw):
    """A table in a known layout's columns or in others, whose rows may have too few or too many cells."""
    out, head = io.StringIO(), draw(st.sampled_from(_HEADS))
    writer = csv.writer(
        out, delimiter=draw(st.sampled_from("\t,;|")), lineterminator=draw(st.sampled_from(["\n", "\r\n", "\r"]))
    )
    writer.writerow(head)
    for _ in range(draw(st.integers(0, 4))):
        width = draw(st.sampled_from([len(head)] * 4 + [1, len(head) + 1]))
        try:
            writer.writerow([draw(_CELL) for _ in range(width)])
        except csv.Error:  # what no writer can write
            continue
    return out.getvalue().encode("utf-8", "surrogatepass")


@st.composite
def objects(draw):
    """Lines of JSON, some of which are broken."""
    lines = [
        json.dumps(draw(st.dictionaries(st.sampled_from(_KEYS), _VALUE, max_size=6)), ensure_ascii=draw(st.booleans()))
        for _ in range(draw(st.integers(1, 4)))
    ]
    lines.append(draw(st.sampled_from(["", "{", "[]", '{"a": NaN}', '"\\ud800"', "[" * 3000])))
    return "\n".join(lines).encode("utf-8", "surrogatepass")


@st.composite
def markup(draw):
    """XML, some of it cut off or with what does not belong there."""
    pair = '<pair id="1" entailment="YES">\n<t>A dog &amp; a cat.</t><h>A <b>dog</b>.</h></pair>'
    whole = f'<?xml version="1.0"?>\n<corpus>{pair * draw(st.integers(0, 3))}{draw(_CELL)}</corpus>'
    return whole[: draw(st.integers(1, len(whole)))].encode("utf-8", "surrogatepass")


@st.composite
def workbooks(draw):
    """A workbook some of whose bytes are others."""
    out, book = io.BytesIO(), openpyxl.Workbook()
    book.active.append(["premise", "hypothesis", "label"])
    book.active.append(["a", draw(st.one_of(st.floats(allow_nan=False), st.booleans(), st.text("ab\n"))), "n"])
    book.save(out)
    content = bytearray(out.getvalue())
    for _ in range(draw(st.integers(0, 3))):  # the length depends on the time that the workbook was saved
        content[4 + draw(st.integers(0, 1 << 16)) % (len(content) - 4)] = draw(st.integers(0, 255))
    return bytes(content)


_FILES = st.one_of(
    st.binary(max_size=200), tables(), tables(), objects(), tables().map(gzip.compress),
    tables().map(lambda data: gzip.compress(data)[:-5]), tables().map(lambda data: b"\xef\xbb\xbf" + data),
    tables().map(lambda data: data.decode("utf-8", "replace").encode("utf-16")), markup(), workbooks(),
)  # fmt: skip


def usable(data: Dataset):
    """Invariants of every file read: printable texts, and one sentence per broken line."""
    assert data.rows and all(sentence(problem) for problem in data.problems)
    for row in data.rows:
        for text in (row.id, row.first, row.label or "", *row.columns):
            text.encode()


@hard
@given(_FILES, st.booleans())
def test_a_data_file_is_read_or_refused_in_one_sentence(tmp_path, content, labelled):
    path = tmp_path / "file.csv"
    path.write_bytes(content)
    try:
        usable(read(path, labelled=labelled))
    except DataError as error:
        assert sentence(error)


@hard
@given(st.one_of(tables(), objects(), st.binary(max_size=100)), st.data())
def test_columns_that_a_person_picks_are_read_or_refused(tmp_path, content, data):
    path = tmp_path / "file.csv"
    path.write_bytes(content)
    try:
        names = list(seen_in(path).names)
        chosen = [data.draw(st.sampled_from(["", *names])) for _ in range(4)]
        usable(read(path, labelled=False, columns=Picked(data.draw(st.sampled_from(names)), *chosen)))
    except DataError as error:
        assert sentence(error)


# Addresses and saved files

PAGES = (CompareState, DeskState, ExploreState, LessonsState, MapState, ModelsState, PhraseState)
MODELS = {"topic-acnn": "topics", "as-adaqa": "answers", "{odd} model": "paraphrases", "nli-two-sided": "entailment"}
_WORDS = st.one_of(
    texts,
    st.sampled_from([*MODELS, "on", "score", "1.2", "0", "9999", "a" * 16, f"{'b' * 16}.{'c' * 16}", "1-2", "rows"]),
)  # fmt: skip


@st.composite
def addresses(draw):
    page = draw(st.sampled_from(PAGES))
    names = st.one_of(st.sampled_from(sorted(page.names())), texts)
    return page, draw(st.dictionaries(names, _WORDS, max_size=6))


def same_again(page, state):
    """A page writes what it reads again without a word."""
    parameters = state.to_parameters()
    assert dict(parse_qsl(urlencode(parameters), keep_blank_values=True, errors="strict")) == parameters
    assert page.from_parameters(parameters, MODELS) == (state, [])
    assert page.from_file(state.to_file(), MODELS) == (state, [])
    assert len(urlencode(state.address())) <= 2_000


@hard
@given(addresses())
def test_any_address_is_a_page_that_writes_the_same_address_again(address):
    page, parameters = address
    state, problems = page.from_parameters(parameters, MODELS)
    assert all(problems)
    same_again(page, state)


@hard
@given(addresses(), st.integers(0, 2), st.one_of(st.none(), texts, _VALUE))
def test_any_saved_file_is_a_page_or_one_sentence(address, version, other):
    page, parameters = address
    content = {"pairlens": page.page, "version": version, **parameters, "more": other}
    text = json.dumps(content) if version else other if isinstance(other, str) else json.dumps(other)
    state, problems = page.from_file(text, MODELS)
    assert all(problems) and (state is not None or len(problems) == 1)
    if state is not None:
        same_again(page, state)


# Filters

_ROWS = 6
_GOLD = np.array(["neutral", "entailment", "neutral", "", "Ähre", 'a "quoted" \\ one'], dtype=object)
_P = np.array([0.1, 0.95, np.nan, 0.5, 1.0, 0.0])
_RIGHT = np.array([True, False, True, True, False, False])
_COLUMNS = {
    "gold": cells(_GOLD, "text"),
    "p": cells(_P, "number"),
    "right": cells(_RIGHT, "yes"),
    "tag": cells([[], ["other"], *[["a", "b"]] * 4], "set"),
    "a column": cells([float(i) for i in range(6)], "number"),
}
_TABLE = table_of_cells(_COLUMNS)
_PIECES = st.sampled_from(
    [*map(quoted, _COLUMNS), "and", "or", "not", "in", "contains", "(", ")", ",", "=", "!=", "<", ">=", "90%", "-1",
     "0.5", "neutral", '"neutral"', "'x", "`gold`", "goldd", "yes", "é", "²", "٣"]
)  # fmt: skip


@hard
@given(st.one_of(st.lists(st.one_of(_PIECES, texts), max_size=12).map(" ".join), texts))
@example("'\n'")  # a sentence quoted it as it is
def test_any_filter_keeps_rows_or_says_where_it_is_wrong(text):
    try:
        kept = rows_of(text, _TABLE)
        assert kept.dtype == bool and kept.shape == (_ROWS,)
    except FilterError as error:
        assert sentence(error) and 0 <= error.start < error.end


@st.composite
def conditions(draw, depth=2):
    """A filter that can be read, the rows for which it holds and those for which it does not; where p is not a number,
    neither does."""
    kind = draw(
        st.sampled_from(["number", "text", "yes"] if not depth else ["number", "text", "yes", "and", "or", "not"])
    )
    if kind == "not":
        text, yes, no = draw(conditions(depth - 1))
        return f"not ({text})", no, yes
    if kind in ("and", "or"):
        (left, *one), (right, *other) = draw(conditions(depth - 1)), draw(conditions(depth - 1))
        text = f"({left}) {kind} ({right})"
        return (
            (text, one[0] & other[0], one[1] | other[1])
            if kind == "and"
            else (text, one[0] | other[0], one[1] & other[1])
        )
    if kind == "number":
        bound = draw(st.integers(0, 100))
        return f"p > {bound}%", bound / 100 < _P, bound / 100 >= _P
    if kind == "text":
        value = draw(st.sampled_from([value for value in _GOLD if value]))
        kept = value == _GOLD
        return f"gold = {literal(value)}", kept, ~kept
    return "right", _RIGHT, ~_RIGHT


@hard
@given(conditions())
def test_a_filter_keeps_the_rows_that_its_parts_keep(condition):
    text, yes, no = condition
    assert rows_of(text, _TABLE).tolist() == yes.tolist()
    assert rows_of(f"not ({text})", _TABLE).tolist() == no.tolist()


# Cards

_CARD = json.loads((Path(__file__).resolve().parents[1] / "pretrained/nli-two-sided/card.json").read_text())


@st.composite
def damaged(draw):
    """A shipped card in which one value, however deep, is another one, or is gone."""
    card = json.loads(json.dumps(_CARD))
    place, key = card, draw(st.sampled_from(sorted(card)))
    while isinstance(place[key], (dict, list)) and place[key] and draw(st.booleans()):
        place = place[key]
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    if draw(st.booleans()):
        del place[key]
    else:
        place[key] = draw(_VALUE)
    return json.dumps(card)


@hard
@given(st.one_of(damaged(), damaged(), _VALUE.map(json.dumps), texts))
@example(json.dumps(_CARD | {"results": {"a\nname": {"accuracy": "a\nlie"}}, "labels": {"\n": None}}))
@example(json.dumps(_CARD | {"alignment": {"results": {}, "both_ways": {"\n": None}}}))
def test_a_damaged_card_is_a_card_or_one_sentence(tmp_path, content):
    file = tmp_path / "made-up" / "card.json"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content.encode("utf-8", "surrogatepass"))
    os.utime(file, ns=(0, hash(content) & 0xFFFFFFFFFF))  # two cases within one tick of the clock are two files
    try:
        card = read_card(file.parent)
        assert card["labels"] and card["roles"]["first"]
    except CheckpointError as error:
        assert sentence(error)
