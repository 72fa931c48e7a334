"""A checkpoint's card as lines of text and numbers to plot. Cards of a person's own may lack anything but the names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from core.evaluation import alignment_table
from core.evaluation.probe import CARD_KEYS
from core.models import REGISTRY
from core.models.base import EXTERNAL
from core.wording import counted, score_percent

Card = Mapping[str, Any]
SUITES = {"simple": "Simple pairs", "order": "Order pairs"}
"""Our suites of pairs written by hand, as a card's line calls them."""


def description(card: Card) -> str:
    """What the model is: a sentence on its architecture with these settings, and the card's notes, whose Markdown for
    code becomes quotation marks: this is shown as plain text."""
    return re.sub(r"`([^`]+)`", r"“\1”", " ".join(f"{_about(card)} {card.get('notes') or ''}".split()))


def one_line(card: Card) -> str:
    """The paper with its section, and a sentence on what the model is."""
    spec, about = REGISTRY.get(str(card["architecture"])), _about(card)
    if "guest" in card:
        config = card["config"]
        sizes = config.get("layers"), config.get("heads")
        heads = ", {} layers of {} heads".format(*sizes) if all(sizes) else ""
        return f"An external model: {card['guest']}{heads}. {about}"
    return f"{spec.paper}, section {spec.section}: {re.sub(SECTION, '', about)}" if spec else about


SECTION = r" \(sections? [^)]*\)"
"""Where a docstring says it: a line that begins with the paper has it there."""


def _about(card: Card) -> str:
    spec = REGISTRY.get(str(card["architecture"])) or EXTERNAL.get(str(card["architecture"]))
    return spec.model.about(_mapping(card["config"])) if spec else f"Architecture {card['architecture']}."


def results(card: Card) -> list[tuple[str, str, str]]:
    """One line a measured set: name, accuracy (or MAP) and what it was measured on; the paper's numbers last."""
    lines = []
    for name, result in _mapping(card.get("results")).items():
        if not score(result):
            continue
        items = result.get("items")
        notes = [f"MRR {result['mrr']:.4f}"] if _number(result.get("mrr")) else []
        if _number(items):
            notes.append(f"{items:,} {'questions' if _number(result.get('map')) else _rows(card)}")
        if _number(result.get("macro_f1")):
            notes.append(f"macro-F1 {score_percent(result['macro_f1'])}")
        if _number(result.get("accuracy_with_evidence")):
            notes.append(f"{score_percent(result['accuracy_with_evidence'])} of the claims with evidence of their own")
        if _number(result.get("evidence_cut")):
            notes.append(f"{score_percent(result['evidence_cut'])} have more evidence than is read")
        lines.append((str(name), score(result), ", ".join(notes)))
    lines += simple_pairs(card)
    for name, value in _mapping(card.get("paper")).items():
        ranked = str(name).endswith(("MAP", "MRR"))
        shown = written(value, ranked) if _number(value) else str(value)
        lines.append((f"{name}, in the paper", shown, "other training data"))
    return lines


def written(value: float, ranked: bool = False) -> str:
    """A score as text: in per cent, also where a card has it so, or as a share to four digits where it is of
    ``ranked`` answers."""
    return f"{value:.4f}" if ranked else score_percent(value if value <= 1 else value / 100)


def simple_pairs(card: Card) -> list[tuple[str, str, str]]:
    """How many pairs of our own the model gets right, in all and by kind: a line for each suite that it was put to."""
    lines = (_probed(name, _mapping(card.get(CARD_KEYS[suite]))) for suite, name in SUITES.items())
    return [line for line in lines if line is not None]


def _probed(name: str, probed: Card) -> tuple[str, str, str] | None:
    right, total = probed.get("right"), probed.get("total")
    if not (_number(right) and _number(total) and total):
        return None
    counts = {str(kind): _mapping(counts) for kind, counts in _mapping(probed.get("kinds")).items()}
    notes = [f"{kind} {n.get('right')} of {n.get('total')}" for kind, n in counts.items()]
    without = _mapping(probed.get("without_crossings"))
    if _number(without.get("turned")) and _number(without.get("total")):
        turned = f"{without['turned']} of {without['total']} exchanged pairs"
        notes.append(f"without crossings (q = 0) the verdicts of {turned} turn")
    return name, f"{right:,} of {total:,}", ", ".join(notes)


def score(result: object) -> str:
    """The first number of a measured set: accuracy in per cent, or a ranker's MAP; empty when there is neither."""
    result = _mapping(result)
    if _number(result.get("accuracy")):
        return written(result["accuracy"])
    return f"MAP {written(result['map'], True)}" if _number(result.get("map")) else ""


class Result(NamedTuple):
    """A number of the table of all models: as text, on which data, by which measure."""

    text: str
    data: str
    measure: str
    value: float


def first_result(card: Card) -> Result | None:
    """The first set that the model was measured on, None for a card without one."""
    for name, result in _mapping(card.get("results")).items():
        if score(result):
            measure = "accuracy" if _number(result.get("accuracy")) else "map"
            return Result(score(result), str(name), measure, result[measure])
    return None


def papers_result(card: Card) -> Result | None:
    """The first number that the paper has for this model, None where the card names none."""
    for name, value in _mapping(card.get("paper")).items():
        if _number(value):
            measure = "map" if str(name).endswith(" MAP") else "accuracy"
            text = f"MAP {written(value, True)}" if measure == "map" else written(value)
            return Result(text, str(name).removesuffix(" MAP"), measure, value if value <= 1 else value / 100)
    return None


def trained_on(card: Card) -> list[str]:
    """Names of the data sets."""
    return [str(item.get("name", "unnamed")) for item in card.get("data") or () if isinstance(item, Mapping)]


def parameters(card: Card) -> tuple[int, int] | None:
    """How many the model has, and how many more project the words; None for a card that does not say."""
    counted = _mapping(card.get("parameters"))
    own, projection = counted.get("model"), counted.get("projection", 0)
    return (int(own), int(projection)) if _number(own) and _number(projection) else None  # type: ignore[arg-type]


def count(number: int) -> str:
    """A large number for people: 1.35 M, 361 k, 950."""
    if number >= 999_500:
        return f"{number / 1e6:.2f} M"
    return f"{number / 1e3:.0f} k" if number >= 9_950 else f"{number:,}"


def size(card: Card) -> str:
    """How many parameters the model has, those that project the words apart; empty for a card that does not say."""
    counted = parameters(card)
    if counted is None:
        return ""
    return count(counted[0]) + (f" + {count(counted[1])} word projection" if counted[1] else "")


def made_and_measured(card: Card) -> list[str]:
    """The seed and the first result, for a line under a figure."""
    out = [] if card.get("seed") is None else [f"seed {card['seed']}"]
    first = first_result(card)
    return out if first is None else [*out, f"{first.data} {first.text}"]


@dataclass(frozen=True)
class AgreementLine:
    """How well attention agrees with people's word alignments: a line under the matrix with this sentence along its
    rows."""

    rows: str
    text: str


def agreement(card: Card) -> AgreementLine | None:
    """The line of a model whose attention was measured, None for a card without."""
    stored = card.get("alignment")
    return stored and AgreementLine(card["roles"]["second"], alignment_table.in_one_line(stored))


def measured_head(card: Card) -> str | None:
    """Whose attention was compared with people's, of a transformer; None where that is not said."""
    heads = _mapping(_mapping(card.get("alignment")).get("heads"))
    return str(heads["head"]) if "head" in heads else None


def tables(folder: Path) -> list[Path]:
    """CSV tables in a card's folder (an ablation, a figure's points), for the page to draw."""
    return sorted(folder.glob("*.csv"))


def dev_set(card: Card) -> str:
    """The set on which sweeps of the card's recipe were scored."""
    return str(_mapping(_mapping(card.get("recipe")).get("dev")).get("name") or "the dev set")


def facts(card: Card, folder: Path) -> list[tuple[str, str]]:
    """How the model was made and how large it is, one line each; fields that the card lacks are left out."""
    lines = [("Licence of the weights", str(card["licence"]))]
    sets = [_data_set(item, _rows(card)) for item in card.get("data") or () if isinstance(item, Mapping)]
    if sets:
        lines.append(("Trained on", "; ".join(sets)))
    teachers = card.get("teachers")
    if isinstance(teachers, list) and teachers:
        share = _mapping(card.get("recipe")).get("teacher_share")
        source = f"the mean probabilities of {len(teachers)} earlier models"
        lines.append(("Labels mixed with", source + (f" (share {share})" if _number(share) else "")))
    training = _mapping(card.get("training"))
    if _number(training.get("seconds")):
        on = f" on {training['device']}" if training.get("device") else ""
        lines.append(("Training took", duration(training["seconds"]) + on))
    if isinstance(card.get("classifier"), str):
        lines.append(("Classifier kept", _classifier(card["classifier"], _mapping(card.get("classifiers")))))
    if card.get("seed") is not None:
        lines.append(("Seed", f"{card['seed']}{_seeds(card)}"))
    if size(card):
        lines.append(("Parameters", size(card)))
    own, of_map = (
        sum(path.stat().st_size for path in place.glob("*") if path.is_file()) for place in (folder, folder / "map")
    )
    beside = f", its filter map {of_map / 1e6:.1f} MB" if of_map else ""
    lines.append(("Size on disk", f"{own / 1e6:.1f} MB{beside}"))
    lines.append(("Word table", str(_mapping(card.get("words")).get("name", "not named"))))
    return lines


def recipe(card: Card) -> str:
    """The recipe's settings on one line: the whole of it is in card.json."""
    names = ("optimizer", "lr", "batch_size", "batch", "epochs", "schedule", "clip", "ema")
    settings = _mapping(card.get("recipe"))
    return ", ".join(f"{name} {settings[name]}" for name in names if settings.get(name) is not None)


def command(card: Card) -> str:
    """How to train it again."""
    return str(_mapping(card.get("training")).get("command") or f"python -m trainers train {card['name']} --data DIR")


def missing_runs(card: Card, known: Collection[str]) -> tuple[str, ...]:
    """Checkpoints that its training began with or learned from and that cannot be had: neither ``known``, as the
    installed ones are, nor runs of a sweep, whose names have the setting (``seed=1``)."""
    settings = _mapping(card.get("recipe"))
    teachers = settings.get("teachers")
    names = [*(teachers if isinstance(teachers, list) else []), settings.get("init")]
    wanted = (name for name in names if isinstance(name, str) and name)
    return tuple(dict.fromkeys(name for name in wanted if name not in known and "=" not in name))


def curve(card: Card) -> list[dict[str, Any]]:
    """Scores after each epoch as rows ``{"epoch", "set", "score", "measure"}``, for each dev set of the card.

    ``measure`` is accuracy, or MAP for a set on which the card has a ranker's result.
    """
    measured = _mapping(card.get("results"))
    names = {re.sub(r"[^a-z0-9]+", "_", str(name).lower()).strip("_"): str(name) for name in measured}
    rows = []
    for record in card.get("epochs") or ():
        if not isinstance(record, Mapping) or not _number(record.get("epoch")):
            continue
        for key, value in record.items():
            known = key in names or key.endswith(("dev", "accuracy"))
            if known and _number(value) and 0 <= value <= 1:
                ranked = _number(_mapping(measured.get(names.get(key, ""))).get("map"))
                rows.append(
                    {
                        "epoch": int(record["epoch"]),
                        "set": names.get(key, key.replace("_", " ")),
                        "score": float(value),
                        "measure": "MAP" if ranked else "accuracy",
                    }
                )
    return rows


def duration(seconds: float) -> str:
    """Time for people: 42 s, 11 min, 1.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _seeds(card: Card) -> str:
    seeds = _mapping(card.get("seeds"))
    mean, spread = seeds.get("mean"), seeds.get("spread", seeds.get("std"))
    if not _number(mean):
        return ""
    listed = seeds.get("seeds")
    count = counted(len(listed), "seed") if isinstance(listed, list) else "several seeds"
    ranked = any(_number(_mapping(result).get("map")) for result in _mapping(card.get("results")).values())
    if ranked:
        return f"; over {count} MAP {mean:.4f}" + (f" ± {spread:.4f}" if _number(spread) else "")
    return f"; over {count} {score_percent(mean)}" + (f" ± {100 * spread:.1f}" if _number(spread) else "")  # type: ignore[operator, arg-type]


def _classifier(name: str, scores: Card) -> str:
    """The classifier on top of the features, its score on dev and that of the network's own last layer."""
    text = f"{name}, {score(scores.get(name))} on dev" if score(scores.get(name)) else name
    if len(scores) > 1:
        text += f", the best of {len(scores)}"
    own = score(scores.get("network"))
    return f"{text}; the network’s own {own}" if own and name != "network" else text


def _rows(card: Card) -> str:
    """What a row of its data is."""
    return "texts" if _mapping(card.get("roles")).get("second") == "" else "pairs"


def _data_set(item: Card, unit: str) -> str:
    rows = f" ({item['rows']:,} {unit}" if _number(item.get("rows")) else " ("
    licence = str(item.get("licence") or "licence not stated")
    return f"{item.get('name', 'unnamed')}{rows}{', ' if len(rows) > 2 else ''}{licence})"


def _mapping(value: object) -> Card:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
