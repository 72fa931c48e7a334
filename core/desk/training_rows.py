"""Whether a run's rows may be training rows of one of its models, by the names of the files on the model's card."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from core.card import Card
from core.desk.run import LETTERS, Run


def training_notes(run: Run, cards: Mapping[int, Card]) -> list[str]:
    """A sentence about each model that was trained on a file of the run's name, or on another part of the same training
    set. ``cards``: the cards of the run's models, by index, without models that are not installed."""
    return [
        f"{LETTERS[model]} ({run.models[model].title}) was trained on {source}, which this file seems to be (or a part "
        "of it): scores on training rows do not show how well a model does on new ones."
        for model, card in cards.items()
        if (source := _source(run.dataset.name, card))
    ]


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
