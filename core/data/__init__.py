"""Data sets in their official layouts; the layout is recognised from the file's head.

    read(path) -> Dataset

Known layouts of pairs: SNLI and MultiNLI jsonl, SICK, WikiQA, TrecQA, SelQA, MSRP, Quora, SciTail, FEVER, and any
CSV or TSV whose header names ``premise,hypothesis,label`` (TaxiNLI: ``prem,hyp``), ``sentence1,sentence2,label`` or
``question,answer,label``.

Known layouts of documents (``Dataset.single``): jsonl with ``text`` and ``label`` (DBpedia, IMDB, Yelp, 20 Newsgroups),
Zhang et al.'s CSV without header ``class,title,text`` or ``class,text`` (DBpedia, AG's news, Yelp), SST-5 lines
``label text``, and any CSV or TSV whose header names ``text,label``, perhaps ``title``.

Each may be gzipped. What else a row holds under a name stays with it (:attr:`Example.columns`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from core.data import class_csv, document_jsonl, fever, nli_jsonl, quora, scitail, selqa, sst, table
from core.data.dataset import DataError, Dataset, Example, Parsed, Problem
from core.data.lines import HEAD, LARGEST, Line, read_lines

__all__ = ["LAYOUTS", "DataError", "Dataset", "Example", "Problem", "read"]

LAYOUTS = (
    nli_jsonl.NAME,
    fever.NAME,
    *(layout.name for layout in table.LAYOUTS),
    quora.NAME,
    scitail.NAME,
    selqa.NAME,
    document_jsonl.NAME,
    document_jsonl.NEWSGROUPS,
    class_csv.NAME,
    sst.NAME,
)


class Reader(Protocol):
    """What a module of this package does for its layouts."""

    def recognises(self, head: list[Line]) -> bool:
        """Whether a file's first lines have the layout."""

    def read(self, lines: list[Line], labelled: bool) -> Parsed:
        """Read the lines of a file that was recognised."""


_READERS: tuple[Reader, ...] = (nli_jsonl, fever, document_jsonl, table, quora, scitail, selqa, class_csv, sst)
"""The first that recognises a file reads it: Quora's rule asks more of a file than SelQA's."""


def read(
    path: str | Path,
    name: str | None = None,
    *,
    layout: str = "auto",
    labelled: bool = True,
    block: int = 0,
    largest: int = LARGEST,
) -> Dataset:
    """Read a data file. ``labelled=False`` keeps rows without a label, for prediction; ``largest``: bytes that a packed
    file may unpack to.

    ``block``: FEVER's files are read in blocks of so many lines, each as a file of its own (0: at once). The larger a
    file, the nearer is the evidence that its claims without evidence are given: training on blocks as large as the file
    that is judged leaves no such difference.

    Broken rows are named in ``problems`` and left out. Raises DataError when the layout is unknown, is not the one
    asked for, or no row is usable.
    """
    path = Path(path)
    if layout not in ("auto", *LAYOUTS):
        raise DataError(f"unknown layout {layout!r}; choose auto or one of: {', '.join(LAYOUTS)}")
    lines, problems, digest = read_lines(path, largest)
    if not lines:
        raise DataError(f"{path} has no text in it; check that it was downloaded whole")
    reader = next((reader for reader in _READERS if reader.recognises(lines[:HEAD])), None)
    if reader is None:
        raise DataError(
            f"the layout of {path} is not known; give a file in one of these: {', '.join(LAYOUTS)}, "
            "or CSV with the header premise,hypothesis,label or text,label"
        )
    if block and reader is not fever:
        raise DataError(f"{path} is not {fever.NAME}: leave block out")
    rows: list[Example] = []
    broken: list[Problem] = []
    dropped, recognised = 0, ""
    for start in range(0, len(lines), block or len(lines)):
        more, wrong, without, recognised = reader.read(lines[start : start + (block or len(lines))], labelled)
        rows += more
        broken += wrong
        dropped += without
    if layout not in ("auto", recognised):
        raise DataError(f"{path} looks like {recognised}, not {layout}; write layout: auto or give another file")
    problems = sorted([*problems, *broken], key=lambda problem: problem.line)
    if not rows:
        why = f"; {problems[0]}" if problems else " because every row lacks a gold label" if dropped else ""
        raise DataError(f"{path} has no usable row ({recognised}{why}); mend the file or give another one")
    return Dataset(name or path.name, recognised, tuple(rows), tuple(problems), dropped, digest)
