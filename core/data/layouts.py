"""The layouts of data files: one table of column names and label words for all files, whatever their format.

Names are compared ignoring case, spaces and punctuation: ``sentence_A``, ``Sentence A`` and ``sentenceA`` are the same.
A layout maps columns to the parts of a row (first, second, label, id, group, title); the readers of tables
(:mod:`core.data.table`) and of JSON (:mod:`core.data.json_rows`) turn records into named columns, and :func:`row_of`
turns these into rows.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.data.dataset import Example, other_columns
from core.data.labels import gold
from core.data.lines import HEAD, says_something
from core.data.reader import RowReader, Split
from core.json_types import JsonObject
from core.tasks import ANSWERS, ENTAILMENT, PARAPHRASE

PAIRS: tuple[tuple[str, str], ...] = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"), ("sent1", "sent2"), ("s1", "s2"), ("sentencea", "sentenceb"), ("senta", "sentb"),
    ("1string", "2string"), ("string1", "string2"), ("text1", "text2"), ("texta", "textb"),
    ("text", "textpair"), ("text", "text2"), ("sentence", "sentence2"), ("sentence", "sentencepair"),
    ("question", "question2"), ("question1", "question2"), ("q1", "q2"), ("first", "second"), ("source", "target"),
    ("context", "hypothesis"), ("text", "hypothesis"), ("t", "h"), ("p", "h"), ("premise", "conclusion"),
    ("qtext", "atext"), ("context", "query"),
    ("query", "passage"), ("question", "passage"), ("query", "document"), ("query", "answer"),
    ("question", "sentence"), ("question", "answer"), ("claim", "evidence"), ("sentence", "paraphrase"),
    *itertools.product(("premise", "prem", "sentence1", "first", "text1", "question1"),
                       ("hypothesis", "hyp", "hypo", "sentence2", "second", "text2", "question2")),
)  # fmt: skip
"""Names for the two texts of a pair, in this order; the first match is used."""
TEXTS = ("text", "content", "abstract", "description", "review", "document", "sentence")
"""Names for a document's text."""
LABELS = (
    "label", "goldlabel", "gold", "isduplicate", "majoritylabel", "quality", "entailment", "judgment", "judgement",
    "entailmentjudgment", "entailmentlabel", "relation", "class", "target", "value", "score", "similarity",
    "similarityscore", "relatednessscore",
)  # fmt: skip
CLASSES = ("label", "gold", "class", "classindex", "category", "sentiment")
"""Names for a document's label."""
IDS = ("id", "pairid", "uid", "guid")
ABOUT = (
    "explanation",
    "reason",
    "rationale",
    "comment",
    "note",
    "summary",
    "source",
    "url",
    "title",
    "author",
    "labelby",
    "labelbefore",
)
"""Name prefixes of texts about a row, which are not part of it."""
EXPLANATIONS = re.compile(r"explanations?\d*")
"""Human explanations of the label: one per column, or a list (:mod:`core.data.rationales`)."""
HIGHLIGHTED = re.compile(r"(\w+?)highlighted\d*")
"""Positions of the words that annotators marked in the text named at the start."""
EVIDENCES = ("evidences", "rationales")
"""Spans marked by annotators."""
EXPORTED = "rows exported by the Error desk"
"""The layout of the Error desk's CSV."""
_PAIR_COLUMNS = {name for pair in PAIRS for name in pair}


def plain(name: str) -> str:
    """The name normalised for comparison."""
    return re.sub(r"[\W_]+", "", name.lower())


def is_known(name: str) -> bool:
    """Whether this names a part of a row."""
    return plain(name) in _PAIR_COLUMNS.union(TEXTS, LABELS, CLASSES, IDS)


@dataclass(frozen=True)
class ColumnLayout:
    """Column names for each part of a row (:func:`plain`); the first one present is used."""

    name: str
    texts: tuple[tuple[str, ...], ...]
    """The two texts of a pair, or the single text of a document."""
    label: tuple[str, ...] = LABELS
    id: tuple[str, ...] = IDS
    group: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    task: str = ""
    """The task of such files, named as on cards; empty if a header does not determine it."""
    needed: tuple[str, ...] = ()
    """The parts besides texts that a file must have to match this layout."""
    clean: Callable[[str], str] = str
    """Cleans a document's text or title."""

    @property
    def of_pairs(self) -> bool:
        """Whether rows are pairs rather than documents."""
        return len(self.texts[0]) == 2

    def places(self, names: Sequence[str]) -> dict[str, int] | None:
        """The positions of a row's parts among these normalised column names; None if the layout does not match."""
        texts = next((spelled for spelled in self.texts if {*spelled} <= {*names}), None)
        if texts is None:
            return None
        places = {part: names.index(name) for part, name in zip(("first", "second"), texts, strict=False)}
        others = ["" if at in places.values() else name for at, name in enumerate(names)]
        places |= found(others, label=self.label, id=self.id, title=self.title) | found(names, group=self.group)
        # A column for one side of a pair rules out a document.
        if not {*self.needed} <= places.keys() or (not self.of_pairs and not _PAIR_COLUMNS.isdisjoint(others)):
            return None
        return places


def found(names: Sequence[str], **wanted: Sequence[str]) -> dict[str, int]:
    """The position among ``names`` (normalised) of each part of a row, by the first spelling present."""
    spelled = ((part, next((name for name in known if name in names), None)) for part, known in wanted.items())
    return {part: names.index(name) for part, name in spelled if name is not None}


SNLI = ColumnLayout("SNLI jsonl", (("sentence1", "sentence2"),), ("goldlabel",), ("pairid",), task=ENTAILMENT,
              needed=("label",))  # fmt: skip
LAYOUTS = (
    ColumnLayout("SICK TSV", (("sentencea", "sentenceb"),), ("entailmentjudgment", "entailmentlabel"), task=ENTAILMENT,
           needed=("label",)),
    ColumnLayout("WikiQA TSV", (("question", "sentence"),), ("label",), ("sentenceid",), ("questionid",), task=ANSWERS,
           needed=("group",)),
    ColumnLayout("TrecQA CSV", (("qtext", "atext"),), ("label",), group=("qtext",), task=ANSWERS),
    ColumnLayout("MSRP TSV", (("1string", "2string"),), ("quality",), task=PARAPHRASE),
    ColumnLayout("question-answer table", (("question", "answer"),), ("label", "gold"), ("id",),
           ("questionid", "question"), task=ANSWERS, needed=("label",)),
    ColumnLayout("sentence-pair table", tuple(pair for pair in PAIRS if pair[1].startswith(("h", "conclusion"))),
           task=ENTAILMENT),
    ColumnLayout("sentence-pair table", (("question1", "question2"), ("question", "question2"), ("q1", "q2")),
           task=PARAPHRASE),
    ColumnLayout("sentence-pair table", PAIRS),
    ColumnLayout("document table", tuple((text,) for text in TEXTS), CLASSES, ("id",), title=("title",)),
)  # fmt: skip
"""Layouts of files with named columns, in the order in which they are tried."""


@dataclass(frozen=True, kw_only=True)
class Headerless(ColumnLayout):
    """Rows without named columns, recognised by the labels in the first lines."""

    columns: tuple[str, ...]
    """The names given to the cells of a line."""
    labels: Sequence[str]
    """The labels of such files. Pairs with other labels are kept; documents with other labels are broken rows."""
    delimiter: str = "\t"
    head: int = HEAD
    """Number of first lines examined; more than half of them must fit."""

    def fits(self, record: Mapping[str, str]) -> bool:
        """Whether a line has a known label and, if it could be a row of numbers, letters in its last cell."""
        letters = self.delimiter != "," or any(map(str.isalpha, record[self.columns[-1]]))
        return letters and record["label"].strip() in self.labels

    def counts_rows(self, records: Sequence[Mapping[str, str]]) -> bool:
        """Whether the numbers in the label column are a spreadsheet's row numbers: below a header, or rising from each
        line to the next."""
        if self.delimiter != ",":
            return False
        numbers = [int(label) if (label := record["label"].strip()) in self.labels else None for record in records]
        known = [number for number in numbers if number is not None]
        rising = len(known) >= _FEWEST and all(one < other for one, other in itertools.pairwise(known))
        return rising or (len(numbers) > 1 and numbers[0] is None)


def _unescaped(text: str) -> str:
    r"""The text with the line ends that the class CSV writes as ``\n``, and without the ``\`` before quotes in Yelp."""
    return re.sub(r'\\"+', '"', text.replace(r"\n", "\n"))


_FEWEST = 5
"""Number of lines from which rising numbers are taken for row numbers, not classes."""
_BINARY = ("0", "1")
_CLASS_CSV = Headerless(
    "class CSV", (("text",),), title=("title",), clean=_unescaped, columns=("label", "title", "text"),
    labels=[*map(str, range(1000))], delimiter=",",
)  # fmt: skip
HEADERLESS = (
    _CLASS_CSV,
    replace(_CLASS_CSV, columns=("label", "text")),
    Headerless("SST-5 lines", (("text",),), columns=("label", "text"), labels=("0", "1", "2", "3", "4"), delimiter=" "),
    Headerless("Quora TSV", (("question1", "question2"),), task=PARAPHRASE, labels=_BINARY,
               columns=("label", "question1", "question2", "id")),
    Headerless("SciTail", (("premise", "hypothesis"),), task=ENTAILMENT, labels=("entails", "neutral"),
               columns=("premise", "hypothesis", "label")),
    Headerless("SelQA TSV", (("question", "sentence"),), group=("question",), task=ANSWERS, labels=_BINARY, head=1,
               columns=("question", "sentence", "label")),
)  # fmt: skip
"""Zhang et al.'s (2015) CSV of DBpedia, AG's news and Yelp, whose class is a number of up to three digits; the Stanford
Sentiment Treebank; Wang et al.'s (2017) layout of Quora; SciTail's ``tsv_format`` (Khot et al. 2018); SelQA's for
answer sentence selection. None of them marks a missing label, and only the first quotes its cells."""


def fitting(
    names: Sequence[str], layouts: Iterable[ColumnLayout] = LAYOUTS, shown: Sequence[str] = ()
) -> tuple[ColumnLayout, dict[str, str]] | None:
    """The layout that matches columns with these names (or as ``shown``), and the name of each part of a row."""
    compared = [plain(name) for name in shown or names]
    matches = ((layout, layout.places(compared)) for layout in layouts)
    first = next(((layout, places) for layout, places in matches if places is not None), None)
    return None if first is None else (first[0], {part: names[at] for part, at in first[1].items()})


def drops_a_text(layout: ColumnLayout, keys: Mapping[str, str], records: Sequence[JsonObject]) -> bool:
    """Whether rows read as documents have sentences under another name too; the user must then pick the columns."""
    others = {name for record in records for name in record if not plain(name).startswith(ABOUT)} - {*keys.values()}
    columns = ([record[name] for record in records if record.get(name)] for name in others)
    return not layout.of_pairs and any(2 * sum(map(is_sentence, column)) > len(column) > 0 for column in columns)


def is_sentence(value: object) -> bool:
    """Whether a value looks like a sentence rather than a name, a number or a label."""
    words = value.split() if isinstance(value, str) else []
    if len(words) == 1:
        return not words[0].isascii() and len(words[0]) > 9  # in a language without spaces
    return len(words) > 3 or (len(words) > 1 and words[-1].endswith((".", "?", "!")))


def no_label(names: Sequence[str]) -> str:
    """The reason why no row of a file with these columns has a label."""
    return (
        f"no column named label or the like; it has {', '.join(names[:20])[:300]}, of which --columns can name one: "
        "premise=…,hypothesis=…,label=NAME"
    )


def reader_of(
    layout: ColumnLayout, keys: Mapping[str, str], records: Split, names: Sequence[str] = (), joined: bool = False
) -> RowReader:
    """Reads records in which these ``keys`` (possibly dotted) hold the parts of a layout's rows. ``names``: what a file
    without a label has; ``joined``: see :func:`row_of`."""
    row = functools.partial(row_of, layout, keys, joined)
    texts = tuple(keys[part] for part in ("first", "second") if part in keys)
    missing = no_label(names) if names and "label" not in keys else ""
    return RowReader(
        layout.name, row, records, task=layout.task, no_label=missing, label=keys.get("label", ""), texts=texts
    )


def row_of(layout: ColumnLayout, keys: Mapping[str, str], joined: bool, number: int, record: JsonObject) -> Example:
    """The row for a record whose ``keys`` hold a layout's parts. Raises ValueError for a broken row.

    ``joined``: converts other values to text (lists are joined by spaces) instead of rejecting the row.
    """
    values = {part: value_at(record, key) for part, key in keys.items()}
    for part in ("first", "second", "title") if not joined else ():
        value = values.get(part)
        if value is None and part in keys and part != "title":
            raise ValueError(f"no {keys[part]}")
        if not isinstance(value, str | None):
            raise ValueError(f"{keys[part]} is not a string")
    if not layout.of_pairs and not joined and isinstance(values.get("label"), dict | list):
        raise ValueError(f"{keys['label']} is neither text nor a number")
    # A list of sentences shows how many there were, so the row also keeps it.
    used = [keys[part] for part, value in values.items() if not (joined and isinstance(value, list))]
    taken = {key if key in record else key.removesuffix(".1") for key in used}
    if layout is SNLI:  # its parses repeat both sentences twice: a gigabyte in its training file
        taken |= {name for name in record if name.startswith("sentence") and name.endswith("_parse")}
    fields = {part: _text(value, joined) for part, value in values.items()}
    others = other_columns(record.items(), taken)
    key, label = fields.get("id") or f"line {number}", fields.get("label", "").strip()
    if layout.of_pairs:
        first, second = fields["first"], fields["second"]
        for side, text in (("first", first), ("second", second)):
            if not says_something(text):
                raise ValueError(f"the {side} sentence is empty")
        return Example(key, first, second, gold(label), fields.get("group") or None, "", others, label)
    if isinstance(layout, Headerless) and label not in layout.labels:
        raise ValueError(f"label {label[:40]!r} is not a number from {layout.labels[0]} to {layout.labels[-1]}")
    text, title = layout.clean(fields["first"]).strip(), layout.clean(fields.get("title", "")).strip()
    if not says_something(text):
        raise ValueError("the text is empty")
    # The title is prepended even if the text repeats it, as done for DBpedia and AG's news since Zhang et al. (2015,
    # section 4). We add the full stop, so that the title does not run into the first sentence.
    stop = "" if title.endswith((".", "?", "!")) else "."
    whole = f"{title}{stop} {text}" if title else text
    return Example(key, whole, "", gold(label), None, title, others, label)


def _text(value: object, joined: bool) -> str:
    if isinstance(value, str):
        return value
    if joined and isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def nested(record: Mapping[str, object], prefix: str = "", depth: int = 4) -> Iterator[tuple[str, object]]:
    """Each value in an object under its dotted name, ``example.premise``; two texts in a list are ``set.1`` and
    ``set.2``."""
    for key, value in record.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value and depth:
            yield from nested(value, f"{name}.", depth - 1)
        elif isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value):
            yield from ((f"{name}.{place}", part) for place, part in enumerate(value, start=1))
        else:
            yield name, value


def value_at(value: object, name: str) -> object:
    """The value under a key or dotted name, with list elements counted from 1; None if there is none."""
    if isinstance(value, dict) and name in value:
        return value[name]
    parts = name.split(".")
    # A key may itself contain a dot.
    for size in range(len(parts) - 1, 0, -1):
        key, rest = ".".join(parts[:size]), ".".join(parts[size:])
        if isinstance(value, dict) and key in value:
            return value_at(value[key], rest)
        if isinstance(value, list) and size == 1 and key.isdecimal() and 0 < int(key) <= len(value):
            return value_at(value[int(key) - 1], rest)
    if isinstance(value, list) and name.isdecimal() and 0 < int(name) <= len(value):
        return value[int(name) - 1]
    return None
