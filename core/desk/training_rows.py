"""Whether a run's rows may be training rows of one of its models, by the names of the files on the model's card."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

import numpy as np

from core.card import Card
from core.checkpoint import available
from core.checkpoint.learned import learned_hashes, pair_hashes
from core.desk import dynamics
from core.desk.jobs import checkpoint_named
from core.desk.run import LETTERS, Run, column_of
from core.evaluation.intervals import wilson
from core.wording import counted, score_percent

_ROWS = 10_000
"""Rows read at a time."""


def training_notes(run: Run, cards: Mapping[int, Card]) -> list[str]:
    """A sentence about each model that learned from some of the run's rows, with its scores on these and on the others;
    or that was trained on a file with the run's name, or on another part of the same training set. ``cards``: the cards
    of the run's models, by index, without models that are not installed."""
    by_name = [
        f"{LETTERS[model]} ({run.models[model].title}) was trained on {source}, which this file seems to be (or a part "
        "of it): scores on training rows do not show how well a model does on new ones."
        for model, card in cards.items()
        if (source := _source(run.dataset.name, card))
    ]
    learned = [_scores_apart(run, model, rows) for model, rows in learned_rows(run).items()]
    return learned + by_name + dynamics.sentences(run, dynamics.recorded(run))


def learned_rows(run: Run) -> dict[int, np.ndarray]:
    """The rows with a pair that a visitor's model was adapted to or trained on, bool ``[N]``, by model; only for
    models that are installed and know some of the rows."""
    names = {model: checkpoint_named(known) for model, known in enumerate(run.models)}
    learned = {model: learned_hashes(available()[name]) for model, name in names.items() if name}
    if not any(map(len, learned.values())):
        return {}
    parts = [pair_hashes(zip(*texts, strict=True)) for texts in run.rows.texts(_ROWS)]
    own = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    found = {model: np.isin(own, hashes) for model, hashes in learned.items()}
    return {model: rows for model, rows in found.items() if rows.any()}


def _scores_apart(run: Run, model: int, rows: np.ndarray) -> str:
    """A model's training rows in words, and its accuracy on them and on the others."""
    parts = {"these": rows & run.judged, "the others": ~rows & run.judged} if run.labelled else {}
    told = []
    for name, part in parts.items():
        if total := int(part.sum()):
            right = int(run.right(model)[part].sum())
            low, high = wilson(right, total)
            told.append(f"{score_percent(right / total)} of {name} ({100 * low:.1f} – {100 * high:.1f})")
    scores = f"; it is right on {' and on '.join(told)}" if told else ""
    return (
        f"{LETTERS[model]} ({run.models[model].title}) learned from {int(rows.sum()):,} of these "
        f"{counted(len(rows), 'row')}{scores}: filter them out with not {column_of('learned', model)}."
    )


def _source(file: str, card: Card) -> str:
    """The training data that a file of this name seems to be; empty if there is none."""
    name = file.removesuffix(", perturbed")
    for source in card.get("recipe", {}).get("train", []):
        known = PurePosixPath(str(source.get("path", ""))).name
        words = _words(known)
        if known and (known.lower() == name.lower() or ("train" in words and len(words) > 1 and words == _words(name))):
            return f"{source.get('name') or known} ({known})"
    return ""


def _words(name: str) -> set[str]:
    """The words of a file's name without its endings, versions and sizes: snli_1.0_train_86k.jsonl has snli, train."""
    stem = re.sub(r"(\.[a-z]+)+$", "", name.lower())
    return {part for part in re.split(r"[\W_]+", stem) if part and not re.search(r"\d", part)}
