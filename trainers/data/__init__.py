"""Data sets in their official layouts; the layout is recognised from the file's head.

    read(path) -> Dataset

Known layouts: SNLI and MultiNLI jsonl, SICK, WikiQA, TrecQA, SelQA, MSRP, and any CSV or TSV whose header names
``premise,hypothesis,label``, ``sentence1,sentence2,label`` or ``question,answer,label``; each may be gzipped.
"""

from __future__ import annotations

from pathlib import Path

from trainers.data import nli_jsonl, selqa, table
from trainers.data.lines import read_lines
from trainers.data.records import DataError, Dataset, Example, Problem

__all__ = ["LAYOUTS", "DataError", "Dataset", "Example", "Problem", "read"]

LAYOUTS = (nli_jsonl.NAME, *(layout.name for layout in table.LAYOUTS), selqa.NAME)

_HEAD = 20
"""Lines looked at to recognise a layout: some may be broken."""


def read(path: str | Path, name: str | None = None, *, layout: str = "auto", labelled: bool = True) -> Dataset:
    """Read a data file. ``labelled=False`` keeps rows without a label, for prediction.

    Broken rows are named in ``problems`` and left out. Raises DataError when the layout is unknown, is not the one
    asked for, or no row is usable.
    """
    path = Path(path)
    if layout not in ("auto", *LAYOUTS):
        raise DataError(f"unknown layout {layout!r}; choose auto or one of: {', '.join(LAYOUTS)}")
    lines, problems, digest = read_lines(path)
    head = lines[:_HEAD]
    if not lines:
        raise DataError(f"{path} has no text in it; check that it was downloaded whole")
    if nli_jsonl.recognises(head):
        rows, broken, dropped = nli_jsonl.read(lines, labelled)
        found = nli_jsonl.NAME
    elif table.recognises(head):
        rows, broken, dropped, found = table.read(lines, labelled)
    elif selqa.recognises(head):
        rows, broken, dropped = selqa.read(lines, labelled)
        found = selqa.NAME
    else:
        raise DataError(
            f"the layout of {path} is not known; give a file in one of these: {', '.join(LAYOUTS)}, "
            "or CSV with the header premise,hypothesis,label"
        )
    if layout not in ("auto", found):
        raise DataError(f"{path} looks like {found}, not {layout}; write layout: auto or give another file")
    problems = sorted([*problems, *broken], key=lambda problem: problem.line)
    if not rows:
        why = f"; {problems[0]}" if problems else " because every row lacks a gold label" if dropped else ""
        raise DataError(f"{path} has no usable row ({found}{why}); mend the file or give another one")
    return Dataset(name or path.name, found, tuple(rows), tuple(problems), dropped, digest)
