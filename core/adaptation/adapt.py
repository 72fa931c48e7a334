"""Adapts a checkpoint to labelled pairs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from core.adaptation.features import Pair, feature_vectors, kept_features
from core.adaptation.fits import FOLDS, KEEP, PULL, PULLS, Linear, Step, fresh, held_out_pull, no_step, pulled, spread
from core.card import Roles, unit
from core.checkpoint import Checkpoint
from core.checkpoint.adapted import adapted_card, with_classifier
from core.data.split import sharing
from core.errors import UserError
from core.evaluation.predict import RowsDone
from core.json_types import JsonObject
from core.wording import counted

MOST_CLASSES = 300
FEW_PULL = 0.03
"""The default pull for up to :data:`MOST_CORRECTIONS` pairs if old answers are not kept by a term of the loss."""

LEARNED, MOST_CORRECTIONS = 0.8, 50
"""The probability that the right classes of corrections have to reach. More pairs than this with the same classes are
probably a sample of a whole file: they neither need to become right nor keep old answers, and the pull is chosen on
held-out pairs (:func:`core.adaptation.fits.held_out_pull`). Measured on the kinds of one_word, with five wrong pairs of
a kind corrected: more kinds get .9 of their other pairs right at a cost of at most .8 points on SNLI dev than with any
fixed pull: 4 of 7 instead of 2 for nli-attconv-light, 7 of 9 instead of 6 for nli-decomposable, and 5 of 6, as before,
for nli-esim."""


class AdaptationError(UserError):
    """The model cannot learn from these pairs; the message is one sentence with the remedy."""


@dataclass(frozen=True)
class Examples:
    """Labelled pairs with their features, in an order that does not depend on the file's.

    ``features [N, F]``; ``labels [N]``: indices into ``classes``; ``folds [N]``: the part of each pair in
    cross-validation, the same for all pairs of a ``group``, by default those that share a text."""

    pairs: Sequence[Pair]
    labels: Tensor
    classes: tuple[str, ...]
    features: Tensor
    folds: np.ndarray

    @classmethod
    def of(
        cls,
        checkpoint: Checkpoint,
        pairs: Sequence[Pair],
        labels: Sequence[str],
        groups: Sequence[str] = (),
        progress: RowsDone = lambda rows: None,
    ) -> Examples:
        """Reads the pairs with a checkpoint. The classes are the checkpoint's if all labels are among them, else the
        labels in alphabetical order. Raises AdaptationError for pairs from which nothing can be learned, PairError for
        a text that cannot be read."""
        classes = classes_for(checkpoint, labels)
        order = sorted(range(len(pairs)), key=lambda row: (pairs[row], labels[row]))
        sorted_pairs = [pairs[row] for row in order]
        index = {label: at for at, label in enumerate(classes)}
        numbers = torch.tensor([index[labels[row]] for row in order], dtype=torch.int64)
        features = feature_vectors(checkpoint, sorted_pairs, progress)
        together = defaultdict[str, list[int]](list)
        for place, row in enumerate(order if groups else ()):
            together[groups[row]].append(place)
        folds = _folds(numbers, [*together.values()] or sharing(sorted_pairs, len(order) // FOLDS))
        return cls(sorted_pairs, numbers, classes, features, folds)


def classes_for(checkpoint: Checkpoint, labels: Sequence[str]) -> tuple[str, ...]:
    """The classes of a checkpoint adapted to these labels. Raises AdaptationError for pairs that teach nothing."""
    found = Counter(labels)
    if set(found) <= set(checkpoint.labels):
        return checkpoint.labels
    if len(found) < 2:
        only = next(iter(found))
        raise AdaptationError(f"every pair has the label {only[:60]!r}: label pairs of at least one other class too")
    if len(found) > MOST_CLASSES:
        raise AdaptationError(
            f"the labels are {len(found):,} different values, and at most {MOST_CLASSES} classes are possible: choose "
            "another column of labels"
        )
    return tuple(sorted(found))


def _folds(labels: Tensor, groups: Sequence[Sequence[int]]) -> np.ndarray:
    """The part of each row. Whole groups are assigned, the largest first, each to the part with the fewest rows of its
    labels. A group that is larger than a part is assigned row by row."""
    classes = labels.tolist()
    most = max(1, len(classes) // FOLDS)
    apart = [part for rows in groups for part in ([rows] if len(rows) <= most else [[row] for row in rows])]
    folds = np.empty(len(classes), dtype=np.int64)
    dealt = [Counter[int]() for _ in range(FOLDS)]
    for rows in sorted(apart, key=len, reverse=True):
        own = Counter(classes[row] for row in rows)
        part = min(range(FOLDS), key=lambda at: (sum(dealt[at][label] for label in own), dealt[at].total(), at))
        dealt[part].update(own)
        folds[rows] = part
    return folds


def classifier_of(checkpoint: Checkpoint) -> Linear | None:
    """The classifier of a checkpoint; None for a model without one, such as a bi-encoder that compares vectors."""
    layer = checkpoint.model.output_layer
    return None if layer is None else Linear.of(layer)


def corrected(
    checkpoint: Checkpoint, old: Linear, examples: Examples, pull: float, keep: float = KEEP, step: Step = no_step
) -> Linear:
    """The old classifier of a checkpoint refitted to corrections (:func:`core.adaptation.fits.pulled`); ``pull`` is in
    units of the spread of other pairs' features."""
    if not len(examples.pairs):
        return old
    kept = kept_features(checkpoint)
    pull *= spread(kept)
    return pulled(old, examples.features, examples.labels, kept if keep else None, pull=pull, keep=keep, step=step)


def chosen_pull(
    checkpoint: Checkpoint, old: Linear, examples: Examples, keep: float = KEEP, step: Step = no_step
) -> float:
    """The strongest pull with which every corrected pair has its class with probability :data:`LEARNED`; the weakest
    if there is none, and :data:`core.adaptation.fits.PULL` for more than :data:`MOST_CORRECTIONS` pairs."""
    if not 0 < len(examples.pairs) <= MOST_CORRECTIONS:
        return PULL
    for pull in reversed(PULLS):
        chances = corrected(checkpoint, old, examples, pull, keep, step).logits(examples.features).softmax(1)
        if chances[range(len(examples.labels)), examples.labels].min() >= LEARNED:
            return pull
    return PULLS[0]


def fit(
    checkpoint: Checkpoint,
    examples: Examples,
    *,
    pull: float | None = None,
    keep: float | None = None,
    balanced: bool = False,
    new: bool = False,
    step: Step = no_step,
) -> tuple[Linear, JsonObject]:
    """The classifier fitted to the examples, and its settings. For the checkpoint's own classes, unless ``new``, it
    starts from the old one (:func:`core.adaptation.fits.pulled`), else it is :func:`core.adaptation.fits.fresh`. By
    default, old answers are kept and the pull is chosen as for corrections, or, for more pairs, as described at
    :data:`MOST_CORRECTIONS`."""
    old = classifier_of(checkpoint)
    if old is not None and examples.classes == checkpoint.labels and not new:
        many = len(examples.pairs) > MOST_CORRECTIONS
        keep = (0.0 if many else KEEP) if keep is None else keep
        if pull is None and many and not keep:
            scale = spread(kept_features(checkpoint))
            pull = held_out_pull(old, examples.features, examples.labels, examples.folds, scale, step)
        elif pull is None:
            pull = chosen_pull(checkpoint, old, examples, keep, step) if keep else FEW_PULL
        return corrected(checkpoint, old, examples, pull, keep, step), {"pull": pull, "keep": keep}
    if not len(examples.pairs):
        raise AdaptationError(f"{checkpoint.name} has no classifier to start from: label a pair of each class")
    if len(set(examples.labels.tolist())) < len(examples.classes):
        missing = [name for at, name in enumerate(examples.classes) if at not in set(examples.labels.tolist())]
        raise AdaptationError(f"no pair has the label {missing[0][:60]!r}: label some, or correct the old classifier")
    found = fresh(examples.features, examples.labels, examples.folds, balanced=balanced, step=step)
    return found.linear, {"C": found.strength, "balanced": balanced}


def adapt(
    checkpoint: Checkpoint,
    pairs: Sequence[Pair],
    labels: Sequence[str],
    *,
    name: str = "",
    title: str = "",
    pull: float | None = None,
    keep: float | None = None,
    balanced: bool = False,
    new: bool = False,
    groups: Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
    task: str = "",
    command: str = "",
    progress: RowsDone = lambda rows: None,
) -> Checkpoint:
    """The checkpoint with a classifier fitted to labelled pairs; everything else is shared with it.

    If all ``labels`` are classes of the checkpoint, its classifier is corrected: ``pull`` is the pull towards its old
    weights, ``keep`` the pull towards its old answers to other pairs (None: chosen by the number of pairs, see
    :func:`fit`); without a pair, the answers stay the same bit for bit. Otherwise (or if ``new``) a new classifier is
    fitted; ``balanced``: rare classes count as much as frequent ones. ``groups``: rows of one group (a question's
    answers) stay together in cross-validation. ``roles``: other names of the texts; the judged side stays. The result
    does not depend on the order of the pairs. It is in memory only: :func:`core.checkpoint.adapted.save_adapted` writes
    it.

    Raises AdaptationError for pairs that teach nothing, UserError for a model whose last layer cannot be replaced.
    """
    examples = Examples.of(checkpoint, pairs, labels, groups, progress)
    linear, settings = fit(checkpoint, examples, pull=pull, keep=keep, balanced=balanced, new=new)
    more = {"name": name, "title": title, "task": task, "command": command}
    return assembled(checkpoint, examples, linear, settings, roles=roles, **more)


def assembled(
    checkpoint: Checkpoint,
    examples: Examples,
    linear: Linear,
    settings: JsonObject,
    *,
    name: str = "",
    title: str = "",
    roles: Mapping[str, str] | None = None,
    task: str = "",
    command: str = "",
) -> Checkpoint:
    """The checkpoint with a classifier that was fitted to these examples, and its card; see :func:`adapt`."""
    base = checkpoint.card["base"]["title"] if "base" in checkpoint.card else checkpoint.card["title"]
    count = len(examples.pairs)
    same = examples.classes == checkpoint.labels
    noun = "correction" if same else unit(checkpoint.card)
    card = adapted_card(
        checkpoint,
        name=name or f"{checkpoint.name}-adapted",
        title=title or f"{base} + {counted(count, noun)}",
        labels=list(examples.classes),
        roles=renamed(checkpoint.card["roles"], roles),
        task=task or (checkpoint.card["task"] if same else "your own classes"),
        adaptation={
            "rows": count,
            "labels": dict(Counter(examples.classes[label] for label in examples.labels.tolist())),
            **settings,
            **({"command": command} if command else {}),
        },
    )
    if card.get("ranked_by") not in (None, *examples.classes):
        del card["ranked_by"]
    return with_classifier(checkpoint, linear.weight, linear.bias, card, Path(card["name"]))


def renamed(old: Mapping[str, str], new: Mapping[str, str] | None) -> dict[str, str]:
    """The roles with other names for the first and second text; the judged side keeps its place."""
    if not new:
        return dict(old)
    names = {old["first"]: new.get("first") or old["first"]}
    if old["second"]:
        names[old["second"]] = new.get("second") or old["second"]
    roles = {side: names.get(role, role) for side, role in old.items()}
    try:
        Roles(**roles)
    except ValueError as error:
        raise AdaptationError(f"the names of the texts {error}: give two different names") from error
    return roles
