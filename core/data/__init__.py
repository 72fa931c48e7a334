"""Reads data sets in their official layouts, recognised from the first lines of a file.

    read(path) -> Dataset
    Stream(path) -> the same rows as an iterator, also over a folder's files

Known layouts of pairs: SNLI and MultiNLI jsonl, SICK, WikiQA, TrecQA, SelQA, MSRP, Quora, SciTail, FEVER, and any table
whose header gives the two texts of a pair one of the usual names (:mod:`core.data.layouts`); JSON with these keys, XML
with these elements, and Parquet with these columns. Tables are separated by tabs, commas, semicolons or pipes, or are
the first sheet of an Excel workbook; JSON has one row per line, or is a list.

Known layouts of documents (``Dataset.single``): jsonl with ``text`` and ``label`` (DBpedia, IMDB, Yelp, 20 Newsgroups),
Zhang et al.'s CSV without header ``class,title,text`` or ``class,text`` (DBpedia, AG's news, Yelp), SST-5 lines ``label
text``, and any CSV or TSV whose header has ``text,label`` and optionally ``title``.

Files may be compressed with gzip or zstd. For any other table or JSON, the user can pick columns
(:mod:`core.data.picked`). A row keeps all its other columns (:attr:`Example.columns`).
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Unpack

from core.data import fever, json_rows, lines, table  # noqa: F401, registered in this order
from core.data.corrected import notes_on
from core.data.dataset import DataError, Dataset, Example, Problem
from core.data.picked import Picked
from core.data.stream import ReadOptions, Stream

__path__: list[str]
for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

__all__ = ["DataError", "Dataset", "Example", "Picked", "Problem", "Stream", "read"]


def read(path: str | Path, name: str = "", **options: Unpack[ReadOptions]) -> Dataset:
    """Read a data file. ``labelled=False`` keeps rows without a gold label, for prediction; ``named``: labels that
    are gold although they look like none (:func:`core.data.labels.names_of`); ``largest``: maximum size of a
    decompressed file in bytes. ``columns``: the columns to read, instead of a recognised layout.

    ``block``: reads FEVER's files in blocks of this many lines, each like a separate file (0: all at once). The larger
    the file, the more similar is the evidence sampled for claims that have none: training on blocks as large as the
    test file avoids this difference.

    Broken rows are reported in ``problems`` and left out. Raises DataError if the layout is unknown or no row is
    usable.
    """
    if Path(path).is_dir():
        raise DataError(f"{Path(path).name} is a folder; give the path of one data file in it")
    stream = Stream(path, name, most=lines.MOST_LINES, told=None, **options)
    rows = tuple(stream)
    notes = *stream.notes, *notes_on(rows, stream.name)
    return Dataset(
        stream.name,
        stream.layout,
        rows,
        stream.problems,
        stream.dropped,
        stream.sha256,
        task=stream.task,
        notes=notes,
        text_names=stream.text_names,
    )
