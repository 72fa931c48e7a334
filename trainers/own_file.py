"""The recipe for the user's own file: classes, roles, division and training settings follow from the rows."""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path

from core.checkpoint import available, read_card
from core.data import Dataset, Example, read
from core.data.labels import graded, is_number, key, task_of
from core.data.picked import Picked
from core.data.split import in_common
from core.errors import RunError
from core.evidence import BOTH
from core.json_types import JsonMapping, JsonObject
from core.models import spec_of
from core.tasks import texts_of
from core.wording import counted, hint, score_percent, together
from trainers import recipe as recipes
from trainers.options import add_options, columns, mapped
from trainers.recipe import Recipe
from trainers.sources import DataSource
from trainers.training_data import part_of, sample

STEPS, FEWEST_EPOCHS, MOST_EPOCHS = 280, 2, 12
"""Training continues for about this many steps of a batch, in whole epochs."""
BATCHES = ((500, 16), (1500, 32))
"""Pairs per step for files of fewer training rows; 64 for all others."""
DROPOUT = {"embedding_dropout": 0.1, "dropout": 0.2}
"""Minimum dropout of a model that is trained further, if it was trained with any."""
FEW_ROWS = 5
"""Classes with fewer rows are mentioned in a warning."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options for the user's own file instead of a recipe."""
    parser.add_argument(
        "--file", type=Path, metavar="FILE", help="your own labelled pairs or texts, instead of a recipe"
    )
    add_options(parser, "--columns", "--label")
    parser.add_argument("--dev", type=Path, metavar="FILE", help="held-out rows (default: a fifth of FILE's, "
                        "divided so that no text is on both sides)")  # fmt: skip
    parser.add_argument("--task", default="", help="the task's name on cards and pages (default: by the file)")


def check(args: argparse.Namespace, recipe: str) -> None:
    """Raises RunError unless there is either a file or a ``recipe`` (as its option is called)."""
    if (args.file is None) == (args.recipe is None):
        raise RunError(f"give either {recipe} or --file FILE, your own labelled rows")
    if args.rows < 0:
        raise RunError(f"--rows must be at least 1, or 0 for all, got {args.rows}")
    if args.dev and not args.dev.is_file():
        raise RunError(f"--dev: there is no file {args.dev.name}; give the path of a file of held-out rows")
    only = ("columns", "counts_as", "dev", "task", "base", "architecture", "rows", "seed", "title")
    if args.file is None and recipe == "RECIPE" and (extra := [name for name in only if getattr(args, name)]):
        options = {"counts_as": "label", "base": "from"}
        names = ", ".join(f"--{options.get(name, name)}" for name in extra)
        raise RunError(
            f"{names} belong{'s' if len(extra) == 1 else ''} to --file FILE; change a recipe with --set KEY=VALUE"
        )


def of_file(args: argparse.Namespace, base: str = "", architecture: str = "", changes: Sequence[str] = ()) -> Recipe:
    """The recipe for the file in ``args``, for a model that starts from the checkpoint ``base``, or for a new one of
    this ``architecture``. Prints what it found. Raises DataError for a file that cannot be read, and RunError with all
    reasons why a model cannot be trained on it."""
    picked, counts_as = columns(args.columns), _one_class_each(mapped(args.counts_as))
    dataset = _rows(args.file, picked, counts_as, args.rows)
    classes = _classes(dataset, counts_as)
    card = _card_of(base) if base else {}
    wrong = [*_unusable(dataset, classes), *_unsuitable(dataset, base, card)]
    if wrong:
        raise RunError(together(wrong))
    same = {key(name) for name in card.get("labels", ())} == {key(name) for name in classes}
    labels = tuple(card["labels"]) if same else tuple(classes)
    by_label = {label: _named(name, labels) for label, name in counts_as.items()}
    by_label |= {
        row.label: _named(row.label_text, labels) for row in dataset.rows if row.label and row.label not in by_label
    }
    name = args.file.stem
    source: JsonObject = {
        "path": args.file.name, "columns": picked.parts if picked else {}, "counts_as": by_label,
        "licence": "not stated", "rows": args.rows,
    }  # fmt: skip
    held_out = dict(source, name=f"{name}, held-out rows", part="held out")
    if args.dev:
        held_out |= {"name": args.dev.stem, "path": os.path.relpath(args.dev, args.file.parent), "part": "", "rows": 0}
    values: JsonObject = {
        "train": [dict(source, name=f"{name}, training rows", part="" if args.dev else "train")],
        "dev": held_out,
        "labels": [*labels], "seed": args.seed, "licence": "not stated",
        **_texts_and_task(args, dataset, picked, card, same, architecture),
        **_model(base, card, architecture, same),
    }  # fmt: skip
    values["name"] = args.out.name if args.out else re.sub(r"[^\w.-]+", "-", name).strip("-.") or "own"
    values["title"] = args.title or (
        f"{card['title']}, {name}" if base else f"{spec_of(architecture).model.spec.title}, {name}"
    )
    divided = dataset if args.dev else part_of(dataset, DataSource("", "", part="train"))
    there = {by_label[row.label or ""] for row in divided.rows}
    if absent := [name for name in labels if name not in there]:
        raise RunError(
            f"no row is left to train on with the label {', '.join(absent[:8])}: add rows, leave it out (--label "
            f"{absent[0]}=), or give held-out rows in a file of their own (--dev)"
        )
    for note in (*_notes(dataset, divided, values, same), *(_shared(dataset, args.dev, picked) if args.dev else ())):
        print(note, flush=True)
    return recipes.from_dict(*recipes.changed(values | _schedule(len(divided.rows)), changes))


def _one_class_each(labels: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The class of each label in --label; empty for rows that are left out. Raises RunError for several classes."""
    for label, names in labels.items():
        if len(names) > 1:
            raise RunError(
                f"--label {label}={','.join(names)} names several classes; training needs one for each label"
            )
    return {label: "".join(names) for label, names in labels.items()}


def _rows(file: Path, picked: Picked | None, counts_as: Mapping[str, str], rows: int) -> Dataset:
    """The labelled rows of the file, with their labels as written. Raises DataError."""
    dataset = read(file, columns=picked, named=frozenset(counts_as))
    print(dataset.summary(), flush=True)
    kept = [row for row in dataset.rows if counts_as.get(row.label or "", "kept")]
    return sample(Dataset(dataset.name, dataset.layout, tuple(kept), task=dataset.task), rows)


def _classes(dataset: Dataset, counts_as: Mapping[str, str]) -> dict[str, int]:
    """The rows of each class by name, in the order of the names, numbers by value. A class is named as in --label or as
    the file spells it most often."""
    rows, spelled = Counter[str](), defaultdict[str, Counter[str]](Counter)
    for row in dataset.rows:
        name = counts_as.get(row.label or "") or row.shown_label
        rows[key(name)] += 1
        spelled[key(name)][name] += 1
    ordered = sorted(rows, key=lambda own: (float(own), "") if is_number(own) else (float("inf"), own))
    return {max(sorted(spelled[own]), key=spelled[own].__getitem__): rows[own] for own in ordered}


def _named(label: str, classes: Sequence[str]) -> str:
    """The class with this name in any spelling."""
    return next((name for name in classes if key(name) == key(label)), label)


def _unusable(dataset: Dataset, classes: Mapping[str, int]) -> Iterator[str]:
    """Reasons why no model can learn these classes."""
    labels = [key(name) for name in classes]
    if len(classes) < 2:
        yield (
            f"all {len(dataset.rows):,} labelled rows of {dataset.name} have the label {next(iter(classes), '')}: give "
            "rows of two classes at least, or another label column"
        )
    elif graded(labels) or (all(map(is_number, labels)) and len(labels) > 20):
        yield (
            f"the labels of {dataset.name} are numbers such as {labels[len(labels) // 2]}, and models here learn "
            "classes: add a column that names a class for each range of numbers, and pick it as the label"
        )
    elif 2 * len(classes) > len(dataset.rows) and len(dataset.rows) > 4:
        yield (
            f"{dataset.name} has {len(classes):,} different labels in {counted(len(dataset.rows), 'row')}, too many "
            "to learn: pick another column as the label"
        )
    long = next((name for name in classes if len(name) > 200), "")
    if long:
        yield f"the label “{long[:40]}…” is longer than the 200 characters of a class name: pick another label column"


def _unsuitable(dataset: Dataset, base: str, card: JsonMapping) -> Iterator[str]:
    """Reasons why training cannot start from this checkpoint."""
    if not base:
        return
    if "input_size" not in card.get("config", {}):
        yield (
            f"{base} is not a model of these trainers: give a shipped one such as --from nli-two-sided, or fine-tune a "
            f"transformer with `python -m trainers finetune {base} --file FILE --out DIR`"
        )
    elif dataset.single == bool(card["roles"]["second"]):
        has, reads = ("single texts", "pairs") if dataset.single else ("pairs", "single texts")
        other = "sentiment-attconv" if dataset.single else "nli-two-sided"
        yield f"{dataset.name} has {has}, and {base} reads {reads}: start --from {other}, or pick other --columns"


def _card_of(base: str) -> JsonMapping:
    """Its card. Raises RunError for an unknown checkpoint."""
    known = available()
    if base not in known and not Path(base).is_dir():
        raise RunError(f"--from: there is no checkpoint {base!r}{hint(base, known)}")
    return read_card(known.get(base) or Path(base))


def _texts_and_task(
    args: argparse.Namespace, dataset: Dataset, picked: Picked | None, card: JsonMapping, same: bool, architecture: str
) -> JsonObject:
    """The recipe's keys about the texts: task, roles, judged side, limits."""
    task = args.task or (card["task"] if same else task_of(dataset.labels, dataset.task)) or args.file.stem
    own = [name for name in (card["roles"]["first"], card["roles"]["second"]) if name] if card else ()
    default = (own or ("text",)) if dataset.single else (own if same else texts_of(task))
    roles = _roles(args.columns or "", picked, tuple(default))
    place = {name: number for number, name in enumerate(own)}
    judged = card["roles"]["judged"] if card else BOTH if spec_of(architecture).model.reads({}).both else ""
    limits = {roles[place[role]]: most for role, most in card.get("token_limits", {}).items()} if card else {}
    by_place = BOTH if judged == BOTH and len(roles) == 2 else roles[place.get(judged, len(roles) - 1)]
    return {"task": task, "roles": [*roles], "judged": by_place, "token_limits": limits}


def _roles(option: str, picked: Picked | None, default: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the texts: those in --columns (premise=…), else the picked columns' (first=HEADLINE), else these."""
    if not picked:
        return default
    names = []
    for part, column in (("first", picked.first), ("second", picked.second)):
        said = re.search(rf"(premise|hypothesis|question|answer|text)\s*=\s*{re.escape(column)}\s*(,|$)", option, re.I)
        if column and (said or not column.isdecimal()):
            names.append(said[1].lower() if said else " ".join(column.split())[:40])
        elif column:
            names.append(default[part == "second" and len(default) > 1])
    return tuple(names) if len({*names, BOTH, ""}) == len(names) + 2 else default


def _model(base: str, card: JsonMapping, architecture: str, same: bool) -> JsonObject:
    """The recipe's keys about the model and its initial weights."""
    if not base:
        return {"architecture": architecture, "lr": 0.001}
    kind = spec_of(card["architecture"]).config
    usual = {each.name: each.default for each in fields(kind) if each.default is not MISSING}
    given = {name: value for name, value in card["config"].items() if name not in ("input_size", "classes")}
    given |= {name: max(least, given[name]) for name, least in DROPOUT.items() if given.get(name)}
    model = {name: value for name, value in given.items() if name not in usual or usual[name] != value}
    return {
        "architecture": card["architecture"], "model": model, "init": base, "init_classifier": same, "lr": 0.0005,
        "licence": f"{card['licence']} ({card['name']}); the file's is not stated",
    }  # fmt: skip


def _schedule(rows: int) -> JsonObject:
    """Batch size, epochs and warm-up for this number of training rows."""
    batch = next((size for most, size in BATCHES if rows < most), 64)
    steps = -(-rows // batch)
    epochs = min(MOST_EPOCHS, max(FEWEST_EPOCHS, round(STEPS / steps)))
    return {
        "batch_size": batch, "epochs": epochs, "warmup": min(20, steps * epochs // 10), "ema": 0.99,
        "class_weights": "none", "optimizer": "adamw", "schedule": "cosine",
    }  # fmt: skip


def _notes(dataset: Dataset, divided: Dataset, recipe: JsonMapping, same: bool) -> Iterator[str]:
    """Notes for the user before training begins."""
    classes = Counter(recipe["dev"]["counts_as"][row.label] for row in dataset.rows)
    if divided is not dataset:
        source = DataSource("", "", part="held out")
        held_out = len(part_of(dataset, source).rows)
        yield f"{counted(len(divided.rows), 'row')} to train on and {held_out:,} held out, with no text in both"
    most, of_most = classes.most_common(1)[0]
    some = ", ".join(f"{name} {count:,}" for name, count in classes.most_common(8))
    more = f" and {len(classes) - 8:,} more" if len(classes) > 8 else ""
    yield f"classes: {some}{more}; always saying {most} is right in {score_percent(of_most / len(dataset.rows))}"
    if rare := [name for name, count in classes.items() if count < FEW_ROWS]:
        names = ", ".join(sorted(rare)[:8]) + (" …" if len(rare) > 8 else "")
        yield (
            f"{counted(len(rare), 'class', 'es')} with fewer than {FEW_ROWS} rows can hardly be learnt or tested: "
            f"{names}; add rows, or join them to others (--label RARE=CLASS)"
        )
    if all(map(is_number, map(key, recipe["labels"]))):
        yield f"the classes are named by numbers; name them, as in --label {recipe['labels'][0]}=NAME"
    yield from _two_labels(dataset.rows)
    if recipe.get("init"):
        yield f"starts from {recipe['init']}, {'with its classifier' if same else 'with a new classifier'}"


def _shared(dataset: Dataset, dev: Path, picked: Picked | None) -> Iterator[str]:
    """A note about held-out rows with a text of the training rows."""
    held_out = read(dev, columns=picked).rows
    pairs, others = ([(row.first, row.second) for row in rows] for rows in (held_out, dataset.rows))
    if shared := int(in_common(pairs, others).sum()):
        yield (
            f"{shared:,} of {counted(len(held_out), 'row')} of {dev.name} have a text that is trained on: the score on "
            "them shows what the model remembers; leave --dev out to divide the rows without a common text"
        )


def _two_labels(rows: Sequence[Example]) -> Iterator[str]:
    """A note about texts that occur under several labels."""
    labels = defaultdict[tuple[str, str], dict[str, str]](dict)
    for row in rows:
        labels[row.first, row.second].setdefault(row.label or "", row.id)
    twice = [own for own in labels.values() if len(own) > 1]
    if twice:
        places = ", ".join(f"{row} {label}" for label, row in twice[0].items())
        what = counted(len(twice), "pair" if rows[0].second else "text")
        yield f"{what} {'has' if len(twice) == 1 else 'have'} several labels ({places}); all rows are kept"
