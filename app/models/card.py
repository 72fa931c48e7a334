"""A checkpoint's card as lines of text and numbers to plot. A user's card may lack all but the required fields."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from core.card import Details, KindRoutes, Score, SuiteCounts, TrainedOn, class_titles, details, is_external, unit
from core.checkpoint.unlisted import PAIRS
from core.evaluation.scores import fisher
from core.evaluation.suites import SUITES
from core.evidence.routes import signed_percent
from core.json_types import JsonMapping, is_number
from core.models import REGISTRY
from core.models.base import EXTERNAL
from core.wording import capital, counted, score_percent, the

IN_THE_PAPER = ", in the paper"
"""Suffix of the name of a result from the paper."""
MOST_NAMES, MOST_RESULTS = 4, 3
"""Number of classes and of results named in the first lines of a card."""


def description(card: JsonMapping) -> str:
    """Plain-text description of the model: a sentence on its architecture and settings, then the card's notes, with
    quotation marks instead of Markdown backticks."""
    return re.sub(r"`([^`]+)`", r"“\1”", " ".join(f"{_about(card)} {details(card).notes}".split()))


def one_line(card: JsonMapping) -> str:
    """The paper with its section, and one sentence describing the model."""
    spec, about = REGISTRY.get(str(card["architecture"])), _about(card)
    if is_external(card):
        config = card["config"]
        sizes = config.get("layers"), config.get("heads")
        heads = ", {} layers of {} heads".format(*sizes) if all(sizes) else ""
        return f"An external model: {card['guest']}{heads}. {about}"
    return f"{spec.paper}, section {spec.section}: {re.sub(SECTION, '', about)}" if spec else about


def summary(card: JsonMapping) -> list[tuple[str, str]]:
    """The model's kind, accuracy and purpose, one line each."""
    roles = card["roles"]
    texts = " and ".join(the(role) for role in (roles["first"], roles["second"]) if role)
    names = class_titles(card)
    *others, last = (f"“{name}”" for name in names)
    does = f"says {', '.join(others)} or {last}" if others else "gives them a score"
    if len(names) > MOST_NAMES:
        does = f"chooses one of {len(names)} classes"
    own = [f"{name} {number}" for name, number, _ in results(card) if not name.endswith(IN_THE_PAPER)]
    measured = "; ".join(own[:MOST_RESULTS])
    return [
        ("What it is", one_line(card)),
        ("How good", f"{measured}." if measured else "Not measured here."),
        ("What for", f"{capital(str(card['task']))}: it reads {texts}, and {does}."),
    ]


SECTION = r" \(sections? [^)]*\)"
"""The section reference in a docstring; lines that begin with the paper already show it."""


def _about(card: JsonMapping) -> str:
    spec = REGISTRY.get(str(card["architecture"])) or EXTERNAL.get(str(card["architecture"]))
    return spec.about(card["config"]) if spec else f"Architecture {card['architecture']}."


def results(card: JsonMapping) -> list[tuple[str, str, str]]:
    """One line per evaluated set: name, accuracy (or MAP) and details; the paper's numbers last."""
    told, rows = details(card), f"{unit(card)}s"
    lines = [(name, score(result), ", ".join(_notes(result, rows))) for name, result in told.results.items()]
    lines = [line for line in lines if line[1]] + simple_pairs(card) + routes(card)
    for name, value in told.paper.items():
        shown = written(value, name.endswith(("MAP", "MRR"))) if is_number(value) else str(value)
        lines.append((f"{name}{IN_THE_PAPER}", shown, "other training data"))
    return lines


def _notes(result: Score, rows: str) -> Iterator[str]:
    for name, value, ranks in (("Pearson’s r", result.pearson, False), ("Spearman’s ρ", result.spearman, True)):
        if value is not None:
            low, high = fisher(value, result.items or 0, ranks)
            yield f"{name} {value:.3f} [{low:.3f}, {high:.3f}]"
    if result.mrr is not None:
        yield f"MRR {result.mrr:.4f}"
    if result.items is not None:
        yield f"{result.items:,} {rows if result.map is None else 'questions'}"
    if result.macro_f1 is not None:
        yield f"macro-F1 {score_percent(result.macro_f1)}"
    if result.accuracy_with_evidence is not None:
        yield f"{score_percent(result.accuracy_with_evidence)} of the claims with evidence of their own"
    if result.evidence_cut is not None:
        yield f"{score_percent(result.evidence_cut)} have more evidence than is read"


def written(value: float, ranked: bool = False) -> str:
    """A score as text: as a percentage (cards store shares or percentages), or to four decimals for ``ranked``
    answers."""
    return f"{value:.4f}" if ranked else score_percent(value if value <= 1 else value / 100)


def simple_pairs(card: JsonMapping) -> list[tuple[str, str, str]]:
    """How many of our own pairs the model gets right, overall and by kind: one line per suite."""
    told = details(card).suites
    known = {suite.title: told[name] for name, suite in SUITES.items() if name in told}
    return [(title, *_probed(suite)) for title, suite in known.items() if suite.total and suite.right is not None]


def _probed(suite: SuiteCounts) -> tuple[str, str]:
    notes = [f"{kind} {counts.right} of {counts.total}" for kind, counts in suite.kinds.items()]
    without = suite.without_crossings
    if without.turned is not None:
        turned = f"{without.turned} of {without.total} exchanged pairs"
        notes.append(f"without crossings (q = 0) the verdicts of {turned} turn")
    return f"{suite.right:,} of {suite.total:,}", ", ".join(notes)


def routes(card: JsonMapping) -> list[tuple[str, str, str]]:
    """The routes by which an exchanged word changes the verdict: one line per suite, with the kind that has most pairs
    first; for the other kinds, only the first route's share."""
    told = details(card).routes
    known = [(suite.title, told[name]) for name, suite in SUITES.items() if told.get(name)]
    return [line for title, kinds in known for line in _noticed(title, kinds)]


def _noticed(title: str, kinds: Mapping[str, KindRoutes]) -> Iterator[tuple[str, str, str]]:
    most = max(kinds, key=lambda kind: kinds[kind].pairs)
    shares = {name: signed_percent(own.share) for name, own in kinds[most].routes.items()}
    if not shares:
        return
    first, *others = shares
    rest = [f"{name} {shares[name]}" for name in others]
    same = [
        f"{kind} {signed_percent(own.routes[first].share)}"
        for kind, own in kinds.items()
        if kind != most and first in own.routes
    ]
    notes = f"{', '.join(rest)} ({most}, {kinds[most].pairs} pairs)"
    notes += f"; {first} of other kinds: {', '.join(same)}" if same else ""
    yield f"{title}: difference carried by {first}", shares[first], notes


def score(result: Score) -> str:
    """The first score on an evaluated set: accuracy in per cent, MAP or Pearson's r; else empty."""
    if result.accuracy is not None:
        return written(result.accuracy)
    if result.pearson is not None:
        return f"r {result.pearson:.3f}"
    return "" if result.map is None else f"MAP {written(result.map, True)}"


class Result(NamedTuple):
    """A number in the table of all models: its text, data set and metric."""

    text: str
    data: str
    measure: str
    value: float


def first_result(card: JsonMapping) -> Result | None:
    """The result on the first evaluated set, None if the card has none."""
    for name, result in details(card).results.items():
        measure, value = ("map", result.map) if result.accuracy is None else ("accuracy", result.accuracy)
        if value is not None:
            return Result(score(result), name, measure, value)
    return None


def papers_result(card: JsonMapping) -> Result | None:
    """The paper's first result for this model, None if the card has none."""
    for name, value in details(card).paper.items():
        if is_number(value):
            measure = "map" if name.endswith(" MAP") else "accuracy"
            text = f"MAP {written(value, True)}" if measure == "map" else written(value)
            return Result(text, name.removesuffix(" MAP"), measure, value if value <= 1 else value / 100)
    return None


def count(number: int) -> str:
    """Abbreviates a large number: 1.35 M, 361 k, 950."""
    if number >= 999_500:
        return f"{number / 1e6:.2f} M"
    return f"{number / 1e3:.0f} k" if number >= 9_950 else f"{number:,}"


def size(card: JsonMapping) -> str:
    """The number of parameters, with the word projection's counted separately; empty if the card does not state it."""
    counted = details(card).parameters
    if counted is None:
        return ""
    return count(counted.model) + (f" + {count(counted.projection)} word projection" if counted.projection else "")


def made_and_measured(card: JsonMapping) -> list[str]:
    """The seed and the first result, for a line under a figure."""
    seed, first = details(card).seed, first_result(card)
    return ([] if seed is None else [f"seed {seed}"]) + ([] if first is None else [f"{first.data} {first.text}"])


def tables(folder: Path) -> list[Path]:
    """CSV tables in a card's folder (an ablation, a figure's points), for the page to draw."""
    return sorted({*folder.glob("*.csv")} - {folder / PAIRS})


def dev_set(card: JsonMapping) -> str:
    """The set on which sweeps of the card's recipe were evaluated."""
    return str((details(card).recipe.get("dev") or {}).get("name") or "the dev set")


def facts(card: JsonMapping, folder: Path) -> list[tuple[str, str]]:
    """The model's training and size, one line each; fields missing from the card are left out."""
    told, rows = details(card), f"{unit(card)}s"
    share = told.recipe.get("teacher_share")
    teachers = [str(of["name"]) for of in told.teachers if isinstance(of, dict) and "name" in of]
    who = teachers[0] if len(teachers) == 1 else f"{len(teachers)} earlier models, their mean"
    mixed = f"the probabilities of {who}" if teachers else ""
    recombined = told.recipe.get("transfer")
    data = [_data_set(source, rows) for source in told.data]
    if recombined and is_number(recombined):
        data.append(f"{recombined:,} pairs recombined from them, without labels")
    seconds, device = told.training.seconds, told.training.device
    took = "" if seconds is None else duration(seconds) + (f" on {device}" if device else "")
    whole, of_map = (
        sum(path.stat().st_size for path in place.glob("*") if path.is_file()) for place in (folder, folder / "map")
    )
    lines = {
        "Licence of the weights": str(card["licence"]),
        "Trained on": "; ".join(data),
        "Labels mixed with": f"{mixed} (share {share})" if mixed and is_number(share) else mixed,
        "Training took": took,
        "Classifier kept": _classifier(told.classifier, told.classifiers),
        "Seed": "" if told.seed is None else f"{told.seed}{_seeds(told)}",
        "Parameters": size(card),
        "Size on disk": f"{whole / 1e6:.1f} MB" + (f", its filter map {of_map / 1e6:.1f} MB" if of_map else ""),
        "Word table": str(told.words.get("name", "not named")),
    }
    return [(name, text) for name, text in lines.items() if text]


def recipe(card: JsonMapping) -> str:
    """The recipe's settings on one line; card.json has the full recipe."""
    names = ("optimizer", "lr", "batch_size", "batch", "epochs", "schedule", "clip", "ema")
    settings = details(card).recipe
    return ", ".join(f"{name} {settings[name]}" for name in names if settings.get(name) is not None)


def command(card: JsonMapping) -> str:
    """The command that repeats its training."""
    return details(card).training.command or f"python -m trainers train {card['name']} --data DIR"


def missing_runs(card: JsonMapping, known: Collection[str]) -> tuple[str, ...]:
    """Initial and teacher checkpoints of its training that are unavailable: neither ``known`` (installed) nor runs of a
    sweep, whose names contain the setting (``seed=1``), nor trained first by the card's command (``NAME@``)."""
    settings = details(card).recipe
    names = dict.fromkeys([*(settings.get("teachers") or ()), settings.get("init")])
    return tuple(name for name in names if name and name not in known and not {"=", "@"} & set(name))


def curve(card: JsonMapping) -> list[dict[str, Any]]:
    """Scores after each epoch as rows ``{"epoch", "set", "score", "measure"}``, for each dev set of the card.

    ``measure`` is accuracy, or MAP for a set on which the card has a ranker's result.
    """
    told = details(card)
    names = {re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_"): name for name in told.results}
    return [
        {
            "epoch": record["epoch"],
            "set": names.get(key, key.replace("_", " ")),
            "score": float(value),
            "measure": "accuracy" if key not in names or told.results[names[key]].map is None else "MAP",
        }
        for record in told.epochs
        for key, value in record.items()
        if is_number(record.get("epoch"))
        and (key in names or key.endswith(("dev", "accuracy")))
        and is_number(value)
        and 0 <= value <= 1
    ]


def duration(seconds: float) -> str:
    """Formats a duration: 42 s, 11 min, 1.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _seeds(told: Details) -> str:
    seeds = told.seeds
    if seeds is None:
        return ""
    count = "several seeds" if seeds.seeds is None else counted(len(seeds.seeds), "seed")
    spread = seeds.std if seeds.spread is None else seeds.spread
    if told.ranks:
        return f"; over {count} MAP {seeds.mean:.4f}" + ("" if spread is None else f" ± {spread:.4f}")
    return f"; over {count} {score_percent(seeds.mean)}" + ("" if spread is None else f" ± {100 * spread:.1f}")


def _classifier(name: str, scores: Mapping[str, Score]) -> str:
    """The classifier on top of the features, with its dev score and the dev score of the network's last layer."""
    shown = {kind: score(result) for kind, result in scores.items()}
    text = f"{name}, {shown[name]} on dev" if shown.get(name) else name
    if len(scores) > 1:
        text += f", the best of {len(scores)}"
    network = shown.get("network")
    return f"{text}; the network’s own {network}" if network and name != "network" else text


def _data_set(data: TrainedOn, rows: str) -> str:
    return f"{data.name} ({'' if data.rows is None else f'{data.rows:,} {rows}, '}{data.licence})"
