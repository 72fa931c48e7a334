"""The word with the largest effect in each row. Shortcuts, such as a word of the hypothesis that decides alone (Poliak
et al. 2018; Gururangan et al. 2018), show up as the strongest words of many wrong rows.

A word's effect is log p of the prediction before minus after dropping the word (:mod:`core.effects.words`); the
strongest word in a row is the one with the largest effect, if any is positive.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Engine

from core.checkpoint import Checkpoint
from core.data import Example
from core.data.rationales import holds_reasons
from core.desk import schema
from core.desk.columns import Cells, cells, of_model
from core.desk.database import reading, writing
from core.desk.filters import literal
from core.desk.jobs import Job, predicted_by
from core.desk.run import Run, column_of
from core.desk.schema import check_row, clean
from core.desk.slices import Share
from core.desk.table import RunTable
from core.effects.asked_pair import target_class
from core.effects.words import DROPPED, Place, Sides, places, without
from core.errors import DeskError
from core.evaluation.people import words_of
from core.evaluation.predict import check_texts, predict
from core.reading.reader import PairError, Reading
from core.spreadsheet import csv_text

SAMPLE, SEED = 2_000, 0
"""Rows per job, and the seed for the order in which rows are sampled."""
LEAST_ROWS = 5
"""A word is listed if it is the strongest in at least this many rows: a share of fewer means nothing."""
AT_ONCE = 16
"""Rows computed together and stored in one transaction."""


@dataclass(frozen=True)
class StrongestWord:
    """A row's word with the largest effect, lower-cased, and the role of its text; both empty if no word supports the
    prediction."""

    word: str = ""
    side: str = ""


NONE = StrongestWord()
Found = Mapping[str, StrongestWord]
"""Results by row key; rows that were not computed are missing."""


def strongest_words(
    checkpoint: Checkpoint,
    rows: Sequence[Example],
    still_wanted: Callable[[], None] = lambda: None,
) -> list[StrongestWord]:
    """The strongest word in each row, by dropping words, in a few batches over all rows. Rows that the model cannot
    read have none. ``still_wanted`` is called regularly; its exceptions cancel the work."""
    asked: list[tuple[int, Sides, list[Place]]] = []
    readings: list[Reading] = []
    for number, row in enumerate(rows):
        try:
            whole = checkpoint.read(row.first, row.second)
        except PairError:
            continue
        sides = whole.texts()
        left = {place: texts for place in places(sides) if (texts := without(sides, place)) is not None}
        asked.append((number, sides, list(left)))
        readings += [whole, *(checkpoint.reading(texts) for texts in left.values())]
        still_wanted()
    out = [NONE] * len(rows)
    if readings:
        logits = predict(checkpoint, readings, progress=lambda done: still_wanted())
        log_p = checkpoint.model.answers.supports(logits.double()).numpy()
        parts = np.split(log_p, np.cumsum([1 + len(taken) for *_, taken in asked])[:-1])
        for (number, sides, taken), part in zip(asked, parts, strict=True):
            out[number] = _strongest(checkpoint, sides, taken, part)
    return out


def _strongest(checkpoint: Checkpoint, sides: Sides, taken: Sequence[Place], log_p: np.ndarray) -> StrongestWord:
    """The strongest word, from log p ``[1 + T, C]`` of the full row and, below it, of the row without each of the words
    ``taken``."""
    target = target_class(checkpoint, log_p[0].tolist())
    effects = log_p[0, target] - log_p[1:, target]
    if not taken or effects.max() <= 0:
        return NONE
    best = taken[int(effects.argmax())]
    side = sides[best.side]
    return StrongestWord(clean(side.tokens[best.index].norm, schema.LONGEST_NOTE), side.role)


def drawn(rows: Sequence[str] | np.ndarray, known: Iterable[str], count: int = SAMPLE) -> list[int]:
    """Indices of the next ``count`` rows of a file, in a fixed random order, skipping rows whose keys are ``known``. So
    the known rows are always a random sample."""
    have = set(known)
    order = np.random.default_rng(SEED).permutation(len(rows)).tolist()
    return [i for i in order if rows[i] not in have and _holdable(rows[i])][:count]


def _holdable(key: str) -> bool:
    try:
        check_row(key)
    except DeskError:
        return False
    return True


class StrongestWords:
    """Earlier results, stored in the desk's database. All methods raise DeskError if it cannot be reached."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def known(self, file: str, checkpoint: str) -> dict[str, StrongestWord]:
        """Stored results for a file and a checkpoint, both by checksum, by row key."""
        own = schema.strongest_word.c
        of = own.file == file, own.checkpoint == checkpoint, own.way == DROPPED
        asked = sa.select(own.row, own.word, own.side).where(*of)
        with reading(self._engine) as connection:
            return {row: StrongestWord(word, side) for row, word, side in connection.execute(asked)}

    def count(self, file: str) -> int:
        """Number of results for a file; changes whenever :meth:`keep` adds new ones."""
        asked = sa.select(sa.func.count()).where(schema.strongest_word.c.file == file)
        with reading(self._engine) as connection:
            return int(connection.scalar(asked) or 0)

    def keep(self, file: str, checkpoint: str, found: Found) -> None:
        """Stores these results, replacing earlier ones for the same rows."""
        table, of = schema.strongest_word, {"file": file, "checkpoint": checkpoint, "way": DROPPED}
        lines = [{**of, "row": row, "word": own.word, "side": own.side} for row, own in found.items()]
        same = (*(table.c[name] == value for name, value in of.items()), table.c.row.in_(list(found)))
        with writing(self._engine) as connection:
            connection.execute(sa.delete(table).where(*same))
            connection.execute(sa.insert(table), lines)


def words_job(run: Run, model: int, checkpoint: str, store: StrongestWords) -> Job:
    """A job that finds the strongest words in the next rows of a run without results (:func:`drawn`) with an installed
    checkpoint, one of the run's models. They are stored as they are found: another job resumes one that was cancelled
    or killed."""
    file, sha256 = run.dataset.sha256, run.models[model].sha256
    places = drawn(run.keys, store.known(file, sha256))

    def work(job: Job) -> None:
        predictor = predicted_by(checkpoint, sha256)
        check_texts(predictor, run.dataset)
        job.begin()
        for start in range(0, len(places), AT_ONCE):
            some = places[start : start + AT_ONCE]
            rows = [run.dataset.rows[i] for i in some]
            found = strongest_words(predictor, rows, functools.partial(job.progress, start))
            store.keep(file, sha256, {run.keys[i]: word for i, word in zip(some, found, strict=True)})
        job.done = job.rows

    what = f"The search for the strongest words of {run.dataset.name} by {checkpoint}"
    return Job(what, len(places), work, ("words", file, sha256))


def agreement_with_people(run: Run, model: int, found: Found) -> dict[int, tuple[bool, float]]:
    """By row, whether people also name its strongest word, and the share of its text's content words that they name.
    Rows without a named content word are missing, and so are rows whose strongest word is a function word."""
    if not any(map(holds_reasons, run.rows.other_columns())):
        return {}
    out, second = {}, run.models[model].roles.second
    for key, at in run.places(found).items():
        words = words_of(run.dataset.rows[at])[found[key].side == second]
        if found[key].word in words and any(words.values()):
            out[at] = words[found[key].word], sum(words.values()) / len(words)
    return out


def with_words(table: RunTable, run: Run, found: Sequence[Found]) -> RunTable:
    """The table with the strongest words: for each model that has any, the word, the text that contains it, and, in a
    file with rationales, whether people name it."""
    for place, (model, known) in enumerate(zip(run.models, found, strict=True)):
        if known:
            rows = {at: known[key] for key, at in run.places(known).items()}
            about = f"the word with the largest effect on the prediction of {model.title}, if computed"
            sides = [word.side for word in rows.values()]
            columns: dict[str, Cells] = {
                "strongest_word": cells([word.word for word in rows.values()], "text", about),
                "strongest_in": cells(sides, "text", "the text that contains this word"),
            }
            if agreed := agreement_with_people(run, place, known):
                about = f"agreement of {model.title} with people: whether they name this word, too"
                dimension = "agreement with people" + (f", {model.title}" if place else "")
                named = [agreed[at][0] if at in agreed else None for at in rows]
                columns["people_agree"] = cells(named, "yes", about, dimension=dimension)
            table = table.joined(f"words{place}", list(rows), of_model(place, columns))
    return table


@dataclass(frozen=True)
class WordScores:
    """All words, each with its text and the share of wrong rows among those in which it is the strongest, starting with
    the words of the most wrong rows. ``rows`` were computed and have a label, ``wrong`` of them are wrong, and in
    ``without`` no word supports the prediction."""

    words: tuple[Share, ...]
    rows: int
    wrong: int
    without: int
    agreed: float = 0.0
    """The share of the rows in :func:`agreement_with_people` whose strongest word people also name."""
    chance: float = 0.0
    """The share of named words among the content words of these rows' texts."""
    told: int = 0
    """Number of these rows."""

    @property
    def share(self) -> float:
        """Share of all these rows that are wrong."""
        return self.wrong / max(self.rows, 1)

    def to_csv(self) -> str:
        """One line per word, with its share of wrong rows and the share over all rows."""
        head = ["word", "text", "rows", "wrong", "share_wrong", "low", "high", "all_rows", "all_share_wrong"]
        lines = [
            [*one.names, one.rows, one.hits, one.score, one.low, one.high, self.rows, self.share] for one in self.words
        ]
        return csv_text(head, lines)


def scored(run: Run, model: int, found: Found) -> WordScores:
    """How often each word is the strongest, and how often the model is wrong there; only rows with a label count."""
    wrong = ~run.right(model)
    counts: Counter[StrongestWord] = Counter()
    errors: dict[StrongestWord, int] = defaultdict(int)
    for key, place in run.places(found).items():
        if run.judged[place]:
            counts[found[key]] += 1
            errors[found[key]] += int(wrong[place])
    columns = column_of("strongest_word", model), column_of("strongest_in", model)
    words = []
    for own, rows in counts.items():
        if own != NONE:
            names = own.word, own.side
            expression = " and ".join(
                f"{column} = {literal(name)}" for column, name in zip(columns, names, strict=True)
            )
            words.append(Share.of(names, rows, errors[own], expression))
    words.sort(key=lambda one: (-one.hits, -one.rows, one.names))
    told = [*agreement_with_people(run, model, found).values()]
    agreed, chance = np.mean(told, axis=0).tolist() if told else (0.0, 0.0)
    return WordScores(tuple(words), counts.total(), sum(errors.values()), counts[NONE], agreed, chance, len(told))
