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

import importlib
import pkgutil
from pathlib import Path

from core.data.dataset import DataError, Dataset, Example, Problem
from core.data.lines import HEAD, LARGEST, read_lines
from core.data.reader import known_layouts, reader_of

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

__all__ = ["LAYOUTS", "DataError", "Dataset", "Example", "Problem", "read"]

LAYOUTS = known_layouts()


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
    reader = reader_of(lines[:HEAD])
    if reader is None:
        raise DataError(
            f"the layout of {path} is not known; give a file in one of these: {', '.join(LAYOUTS)}, "
            "or CSV with the header premise,hypothesis,label or text,label"
        )
    if block and reader.finished is None:
        raise DataError(f"{path} is {reader.layout}, whose rows do not depend on each other: leave block out")
    if layout not in ("auto", reader.layout):
        raise DataError(f"{path} looks like {reader.layout}, not {layout}; write layout: auto or give another file")
    rows: list[Example] = []
    dropped, block = 0, block or len(lines)
    for start in range(0, len(lines), block):
        more, broken, without = reader.read(lines[start : start + block], labelled)
        rows += more
        problems += broken
        dropped += without
    problems.sort(key=lambda problem: problem.line)
    if not rows:
        why = f"; {problems[0]}" if problems else " because every row lacks a gold label" if dropped else ""
        raise DataError(f"{path} has no usable row ({reader.layout}{why}); mend the file or give another one")
    return Dataset(name or path.name, reader.layout, tuple(rows), tuple(problems), dropped, digest)
