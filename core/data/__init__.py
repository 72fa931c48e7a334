"""Data sets in their official layouts; the layout is recognised from the file's head.

    read(path) -> Dataset
    Stream(path) -> the same rows as an iterator, also over a folder's files

Known layouts of pairs: SNLI and MultiNLI jsonl, SICK, WikiQA, TrecQA, SelQA, MSRP, Quora, SciTail, FEVER, and any
table whose header names the two texts of a pair by one of the field's names (:mod:`core.data.layouts`); JSON with these
keys, XML with these elements, and Parquet with these columns. Tables are divided by tabs, commas, semicolons or pipes,
or are the first sheet of an Excel workbook; JSON may be a line a row, or a list.

Known layouts of documents (``Dataset.single``): jsonl with ``text`` and ``label`` (DBpedia, IMDB, Yelp, 20 Newsgroups),
Zhang et al.'s CSV without header ``class,title,text`` or ``class,text`` (DBpedia, AG's news, Yelp), SST-5 lines
``label text``, and any CSV or TSV whose header names ``text,label``, perhaps ``title``.

Each may be packed by gzip or zstd. Of any other table or JSON, columns can be picked (:mod:`core.data.picked`). What
else a row holds under a name stays with it (:attr:`Example.columns`).
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Unpack

from core.data import fever, json_rows, lines, table  # noqa: F401, registered in this order
from core.data.dataset import DataError, Dataset, Example, Problem
from core.data.picked import Picked
from core.data.stream import ReadOptions, Stream

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

__all__ = ["DataError", "Dataset", "Example", "Picked", "Problem", "Stream", "read"]


def read(path: str | Path, name: str | None = None, **options: Unpack[ReadOptions]) -> Dataset:
    """Read a data file. ``labelled=False`` keeps rows without a gold label, for prediction; ``mapped``: keys of labels
    that are gold even if they look like none, such as -1; ``largest``: bytes that a packed file may unpack to.
    ``columns``: the columns of a row's parts, instead of a recognised layout.

    ``block``: FEVER's files are read in blocks of this many lines, each like a separate file (0: at once). The larger a
    file, the nearer is the evidence that its claims without evidence are given: training on blocks as large as the file
    that is judged leaves no such difference.

    Broken rows are named in ``problems`` and left out. Raises DataError when the layout is unknown or no row is
    usable.
    """
    if Path(path).is_dir():
        raise DataError(f"{Path(path).name} is a folder; give the path of one data file in it")
    stream = Stream(Path(path), name, most=lines.MOST_LINES, told=None, **options)
    rows = tuple(stream)
    return Dataset(
        stream.name,
        stream.layout,
        rows,
        stream.problems,
        stream.dropped,
        stream.sha256,
        task=stream.task,
        notes=tuple(stream.notes),
    )
