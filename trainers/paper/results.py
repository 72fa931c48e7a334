"""Write the tables of docs/results.md from the cards of the shipped checkpoints and the tables beside them.

    python -m trainers.paper results
    python -m trainers.paper results --check

Every number comes from pretrained/*/card.json, the CSV tables beside it (`python -m trainers sweep` and `compare`), its
map/map.json and docs/speed.json (`python -m trainers.bench --json docs/speed.json`). They are put between the marks of
the page, `<!-- written: NAME -->` and `<!-- end -->`; the words around them are written there by hand. --check writes
nothing and ends with status 1 when the page is not what these files say.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.card import Card
from core.checkpoint import PRETRAINED, read_card
from core.errors import RunError
from core.evaluation import sweeps
from core.evaluation.probe import CARD_KEYS
from core.evaluation.sweeps import Comparisons, Mean, Sweep
from core.json_types import JsonMapping
from core.wording import counted
from trainers import recipe as recipes
from trainers.bench.runs import kept_runs
from trainers.commands import today
from trainers.paper import document, markdown

DOCS = PRETRAINED.parent / "docs"
PAGE, SPEED = "results.md", "speed.json"
MADE_BY = "python -m trainers.paper results"


SIMPLE_PAIRS = """\
Simple pairs that differ in one respect, written by hand (`core/evaluation/simple_pairs.tsv`), and how many of each kind
are right: `python -m trainers probe CHECKPOINT` names those that are not. No model is trained on them."""

ORDER_PAIRS = """\
Pairs on who does what to whom, on how many and on whose, written by hand too (`core/evaluation/order_pairs.tsv`), and
how many of each kind are right: `python -m trainers probe CHECKPOINT --suite order`. No model is trained on them."""

HELD_OUT = "held-out-half.json"

TABLES = {
    "ablation": "What each part of the features brings.",
    "adaptivity": "Fixed filters against generated ones.",
    "adaptivity-folds": "Fixed against generated filters in folds over more questions; the best epoch of each counts.",
    "attention": "What each term of the match and of the loss does to verdicts and alignment, on pairs people wrote.",
    "baselines": "Baselines with the same word table and linguistic features.",
    "comparisons": "The paper’s claims, each with runs that could have refuted it: same data and budget on both sides.",
    "figure3a": "Accuracy against the number of filters K (the paper’s figure 3a).",
    "figure3b": "By question word, with how many questions have it (the paper’s figure 3b).",
    "figure6": "Each k of k-min and k-max pooling (the paper’s figure 6).",
    "folds": "Cross-validation, which says more of new pairs than one small dev set.",
    "folds-squad": "Cross-validation after pre-training that has read SQuAD’s sentences, too.",
    "folds-without-pretraining": "Cross-validation from random weights.",
    "hundred-filters": "M-ACNN against M-CNN in folds; the last epoch counts.",
    "made-pairs": "The same network at several weights of the made pairs in its loss; with 0 it reads none.",
    "made-kinds": "The same network with all made pairs at one weight, and without those of one family: roles and "
    "clauses, quantities, owners and commitment.",
    "pooling": "k-min, k-max and full pooling with all features.",
    "pooling-plain": "k-min against k-max pooling with the paper’s own features `rep` and `simi` alone.",
    "seeds": "The recipe with several seeds.",
    "paper-settings": "M-ACNN with the paper’s own settings, its word vectors learnt from this sample alone.",
    "tuned-words": "The shared table’s words as they are, against words tuned with the model.",
    "tfidf": "What word counts reach without a network, with the same training data.",
    "single-filter": "S-ACNN against S-CNN: one filter, trained for longer.",
}
"""What a table is about, by its file's name."""
SCALE = ("load", "pairs", "streaming")
"""Benchmarks of many visitors and many rows, which have a part of the page to themselves."""
BLOCK = re.compile(r"(?<=<!-- written: )([^>]+) -->\n.*?<!-- end -->", re.DOTALL)
"""A part of the page that this command writes: its name, and what stands there."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper results`."""
    parser.add_argument("--check", action="store_true", help=f"only say whether docs/{PAGE} is up to date")


def run(args: argparse.Namespace) -> int:
    """Write the page, or compare it with what it should be."""
    path = DOCS / PAGE
    old = path.read_text(encoding="utf-8")
    page = filled(old, PRETRAINED, DOCS / SPEED)
    if args.check:
        if old == page:
            return 0
        print(f"docs/{PAGE} is not what the cards and tables say: run `{MADE_BY}`.", file=sys.stderr)
        return 1
    path.write_text(page, encoding="utf-8")
    print(f"wrote docs/{PAGE}")
    return 0


def filled(page: str, pretrained: Path, speed: Path) -> str:
    """The page with what its marked parts should hold. Raises :class:`core.errors.MendableError` for a file that is
    missing or broken, and for something to tell that has no part of the page."""
    folders = [path.parent for path in sorted(pretrained.glob("*/card.json")) if path.parent.name != "words"]
    cards = {folder: _complete(folder) for folder in folders}
    elsewhere = [read_card(path.parent) for path in sorted(pretrained.glob("*/pairlens.json"))]
    parts = {
        "models from elsewhere": guests(elsewhere),
        "alignment": document.aligned(cards),
        "faithfulness": document.believed(cards),
        "pointing": document.pointed(cards),
        "systems": document.systems(speed.parent / "tables"),
        "tables": (part for folder, card in cards.items() for part in tables(folder, card)),
        "maps": maps(folders),
        "word table": word_table(pretrained / "words" / "card.json"),
        "speed": speeds(speed, lambda name: name not in SCALE),
        "scale": speeds(speed, lambda name: name in SCALE, " ".join(SCALE)),
        "licences": licences(cards),
    }
    for task in {str(card["task"]) for card in cards.values()}:
        parts[task] = shipped({folder: card for folder, card in cards.items() if card["task"] == task})
    texts = {name: today("\n\n".join(part)) for name, part in parts.items()}
    for name in texts.keys() - BLOCK.findall(page):
        raise RunError(f"docs/{PAGE} has no place for {name}: add `<!-- written: {name} -->` and `<!-- end -->` to it")
    return BLOCK.sub(lambda part: f"{part[1]} -->\n\n{texts.get(part[1], '')}\n\n<!-- end -->", page)


def shipped(cards: Mapping[Path, Card]) -> Iterator[str]:
    """The checkpoints of a task: what they were trained on, what they reach, and the commands."""
    items = {name: score["items"] for card in cards.values() for name, score in card["results"].items()}
    rows = [
        {
            "checkpoint": f"`{card['name']}`",
            "model": card["title"],
            "trained on": ", ".join(source["name"] for source in card["data"]),
            **{f"{name} ({count:,})": scores(card["results"].get(name, {})) for name, count in items.items()},
            "mean over seeds": over_seeds(folder, card),
            "the paper": "; ".join(f"{name} {_text(value, _measure(name))}" for name, value in card["paper"].items())
            or "–",
            "seed": card["seed"],
            "weights + projection": f"{card['parameters']['model']:,} + {card['parameters']['projection']:,}",
            "training": f"{minutes(card)}, {counted(card['training']['threads'], 'thread')}",
        }
        for folder, card in cards.items()
    ]
    devices = dict.fromkeys(
        f"{markdown.plain(made['device'])}, torch {made['torch']}"
        for made in (card["training"] for card in cards.values())
    )
    yield markdown.table(rows)
    yield f"In brackets: items of the set (for MAP and MRR: questions). Trained on {'; '.join(devices)}, by"
    yield markdown.commands(card["training"]["command"] for card in cards.values())
    for folder, card in cards.items():
        if card.get("notes") and not any(folder.glob("*.csv")):  # else they stand above its tables
            yield f"From the card of `{card['name']}`: {markdown.plain(card['notes'])}"
    yield from pairs_by_hand(list(cards.values()))
    for folder, card in cards.items():
        if (folder / HELD_OUT).is_file():
            yield from held_out(card["name"], json.loads((folder / HELD_OUT).read_text(encoding="utf-8")))


def guests(cards: Sequence[JsonMapping]) -> Iterator[str]:
    """The models in Hugging Face's format that are shipped: what they reach, and how they were made."""
    rows = [
        {
            "checkpoint": f"`{card['name']}`",
            "model": f"{card['title']}: {card['config']['layers']} layers of {card['config']['heads']} heads",
            **{f"{name} ({result['items']:,})": scores(result) for name, result in card["results"].items()},
            **{
                f"{suite} pairs ({card[key]['total']})": card[key]["right"]
                for suite, key in CARD_KEYS.items()
                if key in card
            },
            "head nearest to people": card["config"].get("measured", "–"),
            **{f"{name} F1": f"{result['f1']:.2f}" for name, result in card["alignment"]["results"].items()},
            "licence of the weights": card["licence"],
        }
        for card in cards
    ]
    yield markdown.table(rows)
    yield from (f"`{card['name']}`: {card['notes']}" for card in cards)
    yield "The head is chosen, and its agreement measured, by"
    measured = (result for card in cards for result in card["alignment"]["results"].values())
    yield markdown.commands(dict.fromkeys(result["command"] for result in measured))


def held_out(name: str, run: JsonMapping) -> Iterator[str]:
    """What a run learnt from half of the templates and words of made pairs is right of the other half, by kind and
    label."""
    yield f"Made pairs from the other half of their templates and words, `{name}`. {run['about']}"
    yield markdown.table([{"kind": kind} | {x: _share(of[x]) for x in of} for kind, of in run["kinds"].items()])
    suites = ", ".join(f"{right} of the {suite} pairs" for suite, right in run["suites"].items())
    dev = ", ".join(f"{_text(value, 'accuracy')} on {dev}" for dev, value in run["dev"].items())
    yield f"Accuracy with its 95\u00a0% interval; the run, seed {run['seed']}, has {dev}, and {suites}:"
    yield markdown.commands(run["commands"])


def _share(part: JsonMapping) -> str:
    low, high = part["interval"]
    return f"{part['accuracy']:.2f} ({low:.2f} to {high:.2f})"


def pairs_by_hand(cards: Sequence[JsonMapping]) -> Iterator[str]:
    """How many pairs of our own each checkpoint gets right, a table a suite, by kind; nothing where no card says it."""
    for suite, caption in (("simple", SIMPLE_PAIRS), ("order", ORDER_PAIRS)):
        probed = {f"`{card['name']}`": card[CARD_KEYS[suite]] for card in cards if CARD_KEYS[suite] in card}
        rows = [
            {
                "checkpoint": name,
                f"{suite} pairs ({result['total']})": result["right"],
                **{f"{kind} ({n['total']})": n["right"] for kind, n in result["kinds"].items()},
            }
            for name, result in probed.items()
        ]
        if rows:
            yield caption
            yield markdown.table(rows)
        for name, result in probed.items():
            if "without_crossings" in result:
                turned, total = (result["without_crossings"][key] for key in ("turned", "total"))
                yield (
                    f"{name} counts the words that look across a word (q); without that (q = 0) it changes its verdict "
                    f"on {turned} of the {total} pairs that have the same words in another order."
                )


def minutes(card: Card) -> str:
    """How long the training took: 25 seconds, 1.6 minutes."""
    seconds = card["training"]["seconds"]
    return f"{seconds:.0f} seconds" if seconds < 60 else f"{seconds / 60:.1f} minutes"


def scores(result: Mapping[str, float]) -> str:
    """Accuracy, or MAP and MRR; a dash where the set was not scored."""
    if "map" in result:
        return f"MAP {_text(result['map'], 'map')}, MRR {_text(result['mrr'], 'mrr')}"
    if "accuracy_with_evidence" in result:
        own, cut = (_text(result[key], "accuracy") for key in ("accuracy_with_evidence", "evidence_cut"))
        return f"{_text(result['accuracy'], 'accuracy')}, with evidence of their own {own}, evidence cut {cut}"
    return _text(result["accuracy"], "accuracy") if result else "–"


def over_seeds(folder: Path, card: Card) -> str:
    """The mean on dev over several seeds and how many: from the table of seeds beside the card, or from the card."""
    if (folder / "seeds.csv").is_file():
        sweep = sweeps.read(folder / "seeds.csv")
        if isinstance(sweep, Comparisons):
            raise RunError(f"{folder.name}/seeds.csv is a table of comparisons: write it again with `trainers sweep`")
        means = {name: sweep.variants[0][1][key] for key, name in sweep.columns.items() if "(" not in key}
        dev, count = sweep.dev or card["recipe"]["dev"]["name"], len(sweep.seeds)
    elif "seeds" in card:
        dev, count = card["recipe"]["dev"]["name"], len(card["seeds"]["seeds"])
        over = card["seeds"]["results"][dev]
        means = {over.get("measure", "accuracy"): sweeps.mean(over["values"])}
    else:
        return "–"
    names = "".join(
        f", {name} {sweeps.text(mean, name)}" if name != "accuracy" else f" {sweeps.text(mean, name)}"
        for name, mean in means.items()
    )
    return f"{dev}{names} ({count} seeds)"


def tables(folder: Path, card: Card) -> Iterator[str]:
    """Every CSV table beside a card, averaged, with what it was made from."""
    paths = sorted(folder.glob("*.csv"))
    if not paths:
        return
    recipe = recipes.load(folder.name)
    yield f"### {card['title']} (`{folder.name}`)"
    if card.get("notes"):
        yield f"From its card: {markdown.plain(card['notes'])}"
    for path in paths:
        table = sweeps.read(path)
        yield f"**{path.name}** {TABLES.get(path.stem, '')}".rstrip()
        if isinstance(table, Comparisons):
            yield markdown.table(table.rows)
            yield sweeps.COMPARED
            continue
        yield markdown.table(_averages(table))
        train = " and ".join(source.name for source in _swept(table.command, recipe).train)
        seeds = f"Seed{'' if len(table.seeds) == 1 else 's'} {', '.join(table.seeds)}."
        caption = sweeps.caption(table, recipe.dev.name, bars=False)
        command = "Made by" if table.command else "The table names no command."
        yield f"{caption} Train: {train}; dev: {table.dev or recipe.dev.name}. {seeds} {command}"
        if table.command:
            yield markdown.commands([f"{table.command} --csv {path.name}"])


def _swept(command: str, own: recipes.Recipe) -> recipes.Recipe:
    """The recipe that the runs of a table are of: the checkpoint's own, unless the table's command names another."""
    _, _, name = command.partition("trainers sweep ")
    name = name.split(" ")[0]
    return recipes.load(name) if name != own.name and name in recipes.names() else own


def _averages(sweep: Sweep) -> list[dict[str, str]]:
    """What the sweep is drawn against down, the variants across; else a row a variant."""
    if sweep.axis is None:
        return sweep.averages()
    head = f"{sweep.axis.name}: {sweep.columns[sweep.measure]}"
    lines: dict[str, dict[str, str]] = {}
    for point in sweep.points():
        place = str(point["x"])
        lines.setdefault(place, {head: place})[point["line"]] = point["text"]
    return list(lines.values())


def maps(folders: Sequence[Path]) -> Iterator[str]:
    """The quality of every filter map."""
    rows, commands = [], []
    for folder in folders:
        path = folder / "map" / "map.json"
        if not path.is_file():
            continue
        made = _json(path)
        commands.append(made["command"])
        other = made.get("held_out")
        held_out_texts = f" ({other['texts']:,} of {other['file']})" if other else ""
        for layout in made["layouts"]:
            shares = {name: f"{100 * share:.1f} %" for name, share in layout["quality"].items()}
            rows.append(
                {
                    "checkpoint": f"`{folder.name}`",
                    "map of": layout["name"],
                    "texts": f"{len(made['items']):,} of {made['data']['file']}",
                    "k": made["quality_neighbours"],
                    "in filter space": shares["knn_filters"],
                    "in the plane": shares["knn_plane"],
                    "held out, filter space": shares.get("knn_held_out", "–") + held_out_texts,
                    "largest class": shares["majority"],
                    "trustworthiness": f"{layout['quality']['trustworthiness']:.3f}",
                }
            )
    if rows:
        yield markdown.table(rows)
        yield markdown.commands(commands)


def word_table(path: Path) -> Iterator[str]:
    """What the shared word table is made of."""
    card = _json(path)
    last, training = max(card["epochs"], key=lambda epoch: epoch["epoch"]), card["training"]
    row = {
        "words": f"{card['words']:,}",
        "numbers a word": card["width"],
        "made from": "; ".join(f"{source['name']} ({source['licence']})" for source in card["made_from"]),
        "SNLI dev after its last epoch": _text(last["snli_dev"], "accuracy"),
        "training": f"{minutes(card)}, {counted(training['threads'], 'thread')}, torch {training['torch']}",
        "licence": card["licence"],
    }
    yield markdown.table([row])
    if card.get("notes"):
        yield markdown.plain(card["notes"])
    yield markdown.commands([training["command"]])


def speeds(path: Path, wanted: Callable[[str], bool], names: str = "") -> Iterator[str]:
    """The saved run of `python -m trainers.bench`, those benchmarks that are ``wanted``; without one, how to make it.
    ``names``: of these benchmarks in a command, where they are not measured with all others."""
    again = f"python -m trainers.bench {names} --json docs/{SPEED}{' --add' if names else ''}".replace("  ", " ")
    runs = kept_runs(path) if path.is_file() else []
    found = [(run, [row for name, rows in run.benchmarks.items() if wanted(name) for row in rows]) for run in runs]
    if not any(rows for _, rows in found):
        yield f"No speeds are kept here yet: `{again}` measures them, and `{MADE_BY}` puts them on this page."
        return
    for run, rows in found:
        if not rows:
            continue
        yield markdown.table([row.cells for row in rows])
        machine = run.machine
        yield (
            f"Measured on {machine['date']} on {markdown.plain(machine['device'])} "
            f"({counted(machine['cores'], 'core')}, {counted(machine['threads'], 'thread')}, load "
            f"{machine['load_before']:.1f} before; Python {machine['python']}, torch {machine['torch']}, float32)."
        )
    yield f"Made by `{again}`" + ("." if names else ", a later part of it by the same with its names and --add.")


def licences(cards: Mapping[Path, Card]) -> Iterator[str]:
    """Under which licence each checkpoint's weights stand, and from which data they come."""
    rows = [
        {
            "checkpoint": f"`{card['name']}`",
            "licence of the weights": card["licence"],
            "trained on (rows, licence)": "; ".join(
                f"{source['name']} ({source['rows']:,}, {source['licence']})" for source in card["data"]
            ),
            "started from": f"`{card['init']['name']}`" if card.get("init") else "random weights",
        }
        for card in cards.values()
    ]
    yield markdown.table(rows)


def _complete(folder: Path) -> Card:
    card = read_card(folder)
    needed = ("data", "paper", "parameters", "recipe", "results", "seed", "training")
    if missing := [key for key in needed if key not in card]:
        raise RunError(f"{folder.name}/card.json lacks {', '.join(missing)}: train the checkpoint again")
    return card


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise RunError(f"{path.parent.name}/{path.name} is no readable JSON: make it again") from None


def _measure(name: str) -> str:
    return name.rpartition(" ")[2].lower() if name.endswith((" MAP", " MRR")) else "accuracy"


def _text(value: float, measure: str) -> str:
    return sweeps.text(Mean(value, None, 1), measure)
