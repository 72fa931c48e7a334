"""Reads and averages the CSV tables written by `python -m trainers sweep` and `compare` in a checkpoint's folder."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.errors import UserError
from core.evaluation.intervals import half_width
from core.evaluation.suites import SUITES

LARGEST = 1_000_000
CLASSIFIERS = ("network", "logistic regression", "linear SVM")
SUITE_COLUMNS = {name: f"accuracy ({name} pairs)" for name in SUITES}
"""Columns of runs that were evaluated on the suites (:mod:`core.evaluation.probe`)."""
COMPARED = (
    "Difference with its 95\u00a0% interval: a paired bootstrap over items (questions) and seeds. Unresolved: the "
    "interval holds zero."
)
"""How to read a table of comparisons."""


class SweepError(UserError):
    """The table cannot be read; the message is one sentence with the remedy."""


class Mean(NamedTuple):
    """A mean over runs, and the half-width of its 95 % interval (Student's t), None for a single run."""

    value: float
    half: float | None
    runs: int


@dataclass(frozen=True)
class Sweep:
    """A table's variants in file order: the settings varied, and a mean for each of ``columns``."""

    data: bytes
    measure: str
    columns: dict[str, str]
    folds: int
    dev: str
    """The data set of the scores; empty if the table does not name it."""
    seeds: tuple[str, ...]
    command: str
    """The command that reproduces the table; empty if the table does not name it."""
    variants: list[tuple[dict[str, str], dict[str, Mean]]]

    def averages(self) -> list[dict[str, str]]:
        """One row per variant, by column; a dash for a missing score."""
        return [
            {"variant": label(varied), "runs": str(means[self.measure].runs)}
            | {name: text(means[key], key) if key in means else "–" for key, name in self.columns.items()}
            for varied, means in self.variants
        ]

    @property
    def varied(self) -> bool:
        """Whether anything other than seeds and folds was varied."""
        return any({*variant} - {"fold"} for variant, _ in self.variants)


@dataclass(frozen=True)
class Comparisons:
    """A table from `python -m trainers compare --csv`: pairs of variants and the difference in their scores."""

    data: bytes
    rows: list[dict[str, str]]
    """Columns: comparison, on (data and runs), scores, difference with its interval, and an unnamed one with the
    outcome: higher, lower or unresolved."""


def read(path: Path) -> Sweep | Comparisons:
    """Reads and averages a table. Raises SweepError for a damaged file or one that neither sweep nor compare wrote."""
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError("more than 1 MB")
        data = path.read_bytes()
        lines = [*filter(None, csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))]
        if len(lines) < 2 or len({*map(len, lines)}) > 1:
            raise ValueError("no runs" if len(lines) < 2 else "a row is longer or shorter than the first line")
        rows = [dict(zip(lines[0], row, strict=True)) for row in lines[1:]]
        return _compared(data, rows) if lines[0][0] == "comparison" else _averaged(data, lines[0], rows)
    except (OSError, ValueError, csv.Error) as error:
        why = getattr(error, "strerror", None) or ("not UTF-8" if isinstance(error, UnicodeError) else error)
        raise SweepError(
            f"{path.name} in the folder of {path.parent.name} cannot be read ({why}): write it again with "
            "`python -m trainers sweep … --csv`, or take it out of the folder."
        ) from error


def _averaged(data: bytes, head: list[str], rows: list[dict[str, str]]) -> Sweep:
    measure = "map" if "map" in head else "accuracy"
    if not {"seed", "best_epoch", measure} <= {*head} or len({*head}) < len(head):
        raise ValueError("its first line does not name a sweep’s columns")
    names = {measure: "MAP", "mrr": "MRR"} if measure == "map" else {measure: measure}
    names |= {f"{measure} ({kind})": kind for kind in CLASSIFIERS}
    names |= {key: key for key in head if key.startswith("F1 (")}
    names |= {column: f"{suite} pairs" for suite, column in SUITE_COLUMNS.items()}
    columns = {key: name for key, name in names.items() if key in head}
    keys = [key for key in head[: head.index("best_epoch")] if key not in ("seed", "fold")]
    folds_alone = not keys and "fold" in head  # one row per fold, then one for all
    groups: dict[tuple[tuple[str, str], ...], list[dict[str, str]]] = {}
    for row in rows:
        varied = tuple((key, row[key]) for key in (["fold"] if folds_alone else keys) if row[key])
        groups.setdefault(varied, []).append(row)
    if folds_alone:
        groups[(("fold", ""),)] = rows
    variants = []
    for varied, runs in groups.items():
        scores = {key: [_score(row[key], key) for row in runs if row[key] or key == measure] for key in columns}
        variants.append((dict(varied), {key: mean(values) for key, values in scores.items() if values}))
    folds = len({row["fold"] for row in rows}) if "fold" in head else 0
    dev, command = (rows[0].get(key, "") for key in ("dev", "command"))
    seeds = tuple(dict.fromkeys(row["seed"] for row in rows))
    return Sweep(data, measure, columns, folds, dev, seeds, command, variants)


def _compared(data: bytes, rows: list[dict[str, str]]) -> Comparisons:
    if not {"measure", "dev", "ours", "theirs", "difference", "low", "high", "items", "seeds"} <= {*rows[0]}:
        raise ValueError("its first line does not name a comparison’s columns")
    shown = []
    for row in rows:
        measure = row["measure"]
        ours, theirs = (text(Mean(_score(row[key], key), None, 1), measure) for key in ("ours", "theirs"))
        gap, low, high = (_score(row[key], key, -1.0) for key in ("difference", "low", "high"))
        scale, digits = (100, 1) if measure == "accuracy" else (1, 4)
        numbers = [f"{scale * value:+.{digits}f}".replace("-", "−") for value in (gap, low, high)]
        runs = f"{int(row['items']):,} items, {row['seeds']} seed{'' if row['seeds'] == '1' else 's'}"
        shown.append(
            {
                "comparison": row["comparison"],
                "on": f"{row['dev']}: {runs}",
                "scores": f"{'MAP' if measure == 'map' else measure} {ours} against {theirs}",
                "difference": f"{numbers[0]} [{numbers[1]}, {numbers[2]}]",
                "": "higher" if low > 0 else "lower" if high < 0 else "unresolved",
            }
        )
    return Comparisons(data, shown)


def _score(cell: str, column: str, least: float = 0.0) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = -2.0
    if not least <= value <= 1:
        raise ValueError(f"{column} holds {cell[:40]!r}, not a number from {least:g} to 1")
    return value


def mean(values: Sequence[float]) -> Mean:
    """The mean of n values and the half-width of its interval."""
    if len(values) < 2:
        return Mean(values[0], None, 1)
    return Mean(statistics.mean(values), half_width(values), len(values))


def label(varied: dict[str, str]) -> str:
    """Readable label of a variant, with the recipe's names of settings: pooling = kmin, k = 5, extra = none."""
    words = []
    for key, value in varied.items():
        *parents, last = key.split(".")
        of = f" of {parents[-1]}" if parents and parents[0] == "train" else ""
        words.append("all folds" if (key, value) == ("fold", "") else f"{last.replace('_', ' ')}{of} = {value}")
    return ", ".join(words) or "as the recipe says"


def text(mean: Mean, measure: str) -> str:
    """Formats as 87.1 ± 0.4 % for accuracy, 0.6712 ± 0.0040 for MAP and MRR."""
    scale, digits, unit = (100, 1, " %") if measure.startswith("accuracy") else (1, 4, "")
    half = "" if mean.half is None else f" ± {scale * mean.half:.{digits}f}"
    return f"{scale * mean.value:.{digits}f}{half}{unit}"


def caption(sweep: Sweep, dev: str) -> str:
    """Explains how to read the table; ``dev``: the data set of a table that names none."""
    runs = sorted({means[sweep.measure].runs for _, means in sweep.variants})
    measures = [name for key, name in sweep.columns.items() if "(" not in key]
    line = " and ".join(measures).replace("accuracy", "Accuracy")
    line += (
        f" in cross-validation over train and dev ({sweep.folds} folds)" if sweep.folds else f" on {sweep.dev or dev}"
    )
    names = {*sweep.columns.values()}
    rest = "" if names.isdisjoint(CLASSIFIERS) else f"; then {measures[0]} of each kind of classifier"
    line += f" with the classifier that was kept{rest}. "
    if any(name.startswith("F1 (") for name in names):
        line += (
            "F1: of links by attention on people’s word alignments, above a threshold fixed on the first of the files. "
        )
    if not sweep.columns.keys().isdisjoint(SUITE_COLUMNS.values()):
        line += "Suites (simple, order pairs): the share right of pairs written by hand (`python -m trainers probe`). "
    if runs == [1]:
        return f"{line}One run each, so without intervals."
    many = " to ".join(str(count) for count in dict.fromkeys([runs[runs[0] == 1], runs[-1]]))
    line += f"±: half the 95\u00a0% interval of the mean over {many} runs "
    line += "(Student’s t)" + ("; a single run has none." if runs[0] == 1 else ".")
    return line + (" Folds share training data, which makes it rather too narrow." if sweep.folds else "")
