"""Labels from several annotators: SNLI's and MultiNLI's ``annotator_labels``, ChaosNLI's ``label_counter``; as JSON, or
as Python and NumPy print them, which is what pandas writes."""

from __future__ import annotations

import ast
import json
import re
import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from core.data.labels import key, proposed
from core.desk.columns import RunColumn, class_column
from core.desk.run import Run, column_of

COLUMNS = ("annotator_labels", "label_counter")
"""Columns of votes: a list of labels, or an object with the count of each label."""
SHARE = "votes."
"""Prefix of the features with each label's share."""
_MOST_LABELS = 10
_LONGEST = 10_000
"""Maximum length of a row's votes in characters."""
_CALL = re.compile(r"\w+\([^\[{]*([\[{].*[\]}])[^\]}]*\)", re.DOTALL)
"""Votes within ``Counter(…)`` or ``array(…, dtype=object)``."""
_SPACED = re.compile(r"(?<=['\"])\s+(?=['\"])")
"""The space that NumPy prints between the labels of a list."""
_ALONE = threading.Lock()
"""Python 3.11 raises a SystemError in one of two threads that parse literals at the same time."""


def features(texts: Sequence[str]) -> dict[str, np.ndarray]:
    """Values ``[N]`` from each row's votes, NaN for rows with fewer than two: ``entropy`` in bits, ``agreement``, the
    share of the most frequent label, and each label's share. Empty if the texts are not votes."""
    counts = [_counts(text) for text in texts]
    labels = sorted({label for own in counts for label in own})
    if not 1 < len(labels) <= _MOST_LABELS:
        return {}
    votes = np.array([[own[label] for label in labels] for own in counts], dtype=float)
    total = votes.sum(axis=1, keepdims=True)
    shares = np.divide(votes, total, out=np.full_like(votes, np.nan), where=total > 1)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    measured = {"entropy": np.abs((shares * logs).sum(axis=1)), "agreement": shares.max(axis=1)}
    return measured | {f"{SHARE}{label}": share for label, share in zip(labels, shares.T, strict=True)}


def columns(names: Collection[str]) -> dict[str, RunColumn]:
    """The columns of those features among ``names`` that are computed from votes."""
    shares = (0.5, 0.7, 0.9, 0.999)
    known = {
        "entropy": RunColumn("number", "entropy of the annotators' votes in bits"),
        "agreement": RunColumn(
            "number", "share of the most frequent vote", "agreement of the annotators", shares, share=True
        ),
    }
    for name in names:
        if name.startswith(SHARE):
            about = f"share of the annotators' votes for {name.removeprefix(SHARE)}"
            known[name] = RunColumn("number", about, share=True)
    return {name: column for name, column in known.items() if name in names}


def distances(run: Run, columns: Mapping[str, RunColumn]) -> dict[str, RunColumn]:
    """By model, the SQL expression for the total variation distance between its probabilities and the annotators'
    votes: the probability that would have to move to other labels. Missing for a model that lacks a label."""
    voted = {name.removeprefix(SHARE): column for name, column in columns.items() if name.startswith(SHARE)}
    out = {}
    for i, model in enumerate(run.models):
        # A label that only annotators gave, such as ChaosNLI's c, is not mapped.
        meant = {label: proposed(label, voted, model.labels) for label in model.scale.unknown(voted)}
        answers = model.scale.of([meant[label][0] if meant.get(label) else label for label in voted])
        if not voted or (answers < 0).any():
            continue
        terms = []
        for answer, members in enumerate(model.scale.members):
            sums = [columns[class_column(i, model.labels[place])].sql for place in members]
            people = [column.sql for column, own in zip(voted.values(), answers, strict=True) if own == answer]
            terms.append(f"abs({' + '.join(sums)} - ({' + '.join(people) or '0'}))")
        about = f"distance of {model.title} from the annotators' votes (total variation)"
        out[column_of("distance", i)] = RunColumn("number", about, share=True, sql=f"(({' + '.join(terms)}) / 2)")
    return out


def _counts(text: str) -> Counter[str]:
    """A row's votes by label; empty if unreadable."""
    votes = _value(text)
    if isinstance(votes, list | tuple):
        votes = Counter(vote for vote in votes if isinstance(vote, str) and vote)
    counts = Counter[str]()
    for label, count in votes.items() if isinstance(votes, dict) else ():
        if isinstance(label, str) and type(count) in (int, float) and 0 < count < 1_000_000 and count == int(count):
            counts[key(label)] += int(count)
    return counts


def _value(text: str) -> object:
    """The value of JSON, or of a literal printed by Python or NumPy; None if it is neither."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        printed = _CALL.sub(r"\1", text.strip()[:_LONGEST])
    try:
        with _ALONE:
            return ast.literal_eval(_SPACED.sub(", ", printed))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
