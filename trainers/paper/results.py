"""Write the tables in docs/results.md from the shipped checkpoints' cards and tables.

    python -m trainers.paper results
    python -m trainers.paper results --check

Every number comes from pretrained/*/card.json, the CSV tables next to it (`python -m trainers sweep` and `compare`),
its map/map.json, docs/tables (`python -m trainers.paper table` and `figure`) and docs/speed.json (`python -m trainers
bench --json docs/speed.json`). They go between the markers on the page, `<!-- written: NAME -->` and `<!-- end -->`;
the text around them is edited by hand. --check writes nothing and exits with status 1 if the page is out of date. Full
commands are only on the cards: `python -m core models --json`, or the Models page.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from core.card import Card
from core.checkpoint import PRETRAINED, read_card
from core.errors import RunError
from core.evaluation import alignment_table, faithfulness_table, people_table, sweeps
from core.evaluation.scores import fisher
from core.evaluation.suites import SUITES
from core.evaluation.sweeps import Comparisons
from core.external.settings import ExternalSettings, settings_of
from core.json_types import JsonMapping
from core.wording import counted
from trainers import point
from trainers.paper import markdown
from trainers.paper.results_from_tables import (
    FEW_LABELS,
    MADE_BY,
    SPEED,
    Row,
    compared,
    few_labels,
    maps,
    minutes,
    score_text,
    speeds,
    swept,
    systems,
    word_table,
)

DOCS = PRETRAINED.parent / "docs"
PAGE = "results.md"
ROUTE_KINDS = (
    ("one_word", "colour"),
    ("one_word", "profession"),
    ("one_word", "number"),
    ("one_word", "antonym"),
    ("one_word", "hyponym"),
    ("simple", "negation"),
    ("simple", "swapped"),
)
"""The suites and kinds whose routes the page lists."""
FEWEST_KINDS = 3
"""Number of these kinds with figures from which a checkpoint is listed."""
BLOCK = re.compile(r"(?<=<!-- written: )([^>]+) -->\n.*?<!-- end -->", re.DOTALL)
"""A block of the page written by this command: its name and its text."""
Cards = Mapping[Path, Card]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers.paper results`."""
    parser.add_argument("--check", action="store_true", help=f"only check whether docs/{PAGE} is up to date")


def run(args: argparse.Namespace) -> int:
    """Write the page, or check that it is up to date."""
    path = DOCS / PAGE
    old = path.read_text(encoding="utf-8")
    page = filled(old, PRETRAINED, DOCS)
    if args.check:
        if old == page:
            return 0
        print(f"docs/{PAGE} does not match the cards and tables: run `{MADE_BY}`.", file=sys.stderr)
        return 1
    path.write_text(page, encoding="utf-8")
    print(f"wrote docs/{PAGE}")
    return 0


def filled(page: str, pretrained: Path, docs: Path) -> str:
    """The page with its marked blocks filled in. Raises :class:`core.errors.UserError` for a missing or broken file,
    and for a block without a marker on the page."""
    folders = [path.parent for path in sorted(pretrained.glob("*/card.json")) if path.parent.name != "words"]
    cards = {folder: _complete(folder) for folder in folders}
    # A package named there need not be installed.
    external = {path.parent.name: settings_of(path.parent) for path in sorted(pretrained.glob("*/pairlens.json"))}
    found = {folder: [(path.stem, sweeps.read(path)) for path in sorted(folder.glob("*.csv"))] for folder in folders}
    parts: dict[str, list[Row] | Iterator[str]] = {
        "external models": [*guests(external)],
        "alignment": [*alignments(cards)],
        "faithfulness": faithfulness(cards),
        "pointing": [*pointing(cards)],
        "suites": [*by_kind(cards.values())],
        "routes": [*routes(cards.values())],
        "people": [*people([*cards.values(), *({"name": name, **of.measured} for name, of in external.items())])],
        "systems": systems(docs / "tables"),
        "claims": [row | {"checkpoint": f"`{folder.name}`"} for folder in found for row in compared(found[folder])],
        "tables": [row for folder in found for row in swept(folder.name, found[folder])],
        "maps": [*maps(folders)],
        "word table": [word_table(pretrained / "words" / "card.json")],
        "few labels": few_labels(docs / FEW_LABELS),
        "speed": speeds(docs / SPEED),
    }
    for task in {str(card["task"]) for card in cards.values()}:
        own = {folder: card for folder, card in cards.items() if card["task"] == task}
        parts[task] = [checkpoint_row(folder, card, own) for folder, card in own.items()]
    texts = {
        name: markdown.table(part) if isinstance(part, list) else "\n\n".join(part) for name, part in parts.items()
    }
    for name in texts.keys() - BLOCK.findall(page):
        raise RunError(f"docs/{PAGE} has no place for {name}: add `<!-- written: {name} -->` and `<!-- end -->` to it")
    return BLOCK.sub(lambda part: f"{part[1]} -->\n{texts.get(part[1], '')}\n<!-- end -->", page)


def checkpoint_row(folder: Path, card: Card, cards: Cards) -> Row:
    """A checkpoint's scores, compared with others of its task."""
    items = {name: score["items"] for other in cards.values() for name, score in other["results"].items()}
    probed = [name for name in SUITES if any(name in other.get("suites", {}) for other in cards.values())]
    threads = counted(card["training"]["threads"], "thread")
    replaced = any("shipped_before" in other for other in cards.values())
    return {
        "checkpoint": f"`{card['name']}`",
        "model": card["title"],
        **{f"{name} ({count:,})": scores(card["results"].get(name, {})) for name, count in items.items()},
        **{SUITES[name].title: suite_score(card, name) for name in probed},
        **({"shipped before (difference, points)": shipped_before(card)} if replaced else {}),
        "mean over seeds": over_seeds(folder, card),
        "the paper": "; ".join(f"{name} {score_text(value, _measure(name))}" for name, value in card["paper"].items())
        or "–",
        "weights + projection": f"{card['parameters']['model']:,} + {card['parameters']['projection']:,}",
        "training": f"{minutes(card)}, {threads}",
        "started from": f"`{card['init']['name']}`" if card.get("init") else "random weights",
        "trained on (rows, licence)": "; ".join(
            f"{source['name']} ({source['rows']:,}, {source['licence']})" for source in card["data"]
        ),
        "licence of the weights": card["licence"],
    }


def shipped_before(card: Card) -> str:
    """The scores of the checkpoint that this one replaced, with the paired 95 % interval of the difference."""
    told = []
    for name, was in card.get("shipped_before", {}).items():
        if "right" in was:
            told.append(f"{name} {was['right']}")
        else:
            low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in was["interval_95"])
            told.append(f"{name} {score_text(was['accuracy'], 'accuracy')} ({low} to {high})")
    return ", ".join(told) or "–"


def suite_score(card: JsonMapping, name: str) -> str:
    """The number of pairs of a suite that a checkpoint gets right: 190 of 200."""
    suites: JsonMapping = card.get("suites") or {}
    return f"{suites[name]['right']:,} of {suites[name]['total']:,}" if name in suites else "–"


def by_kind(cards: Iterable[Card]) -> Iterator[Row]:
    """How many pairs of each kind the checkpoints get right that were scored on all suites."""
    for card in cards:
        told = card.get("suites", {})
        for name, suite in SUITES.items() if told.keys() == SUITES.keys() else ():
            kinds = ", ".join(f"{kind} {n['right']}/{n['total']}" for kind, n in told[name]["kinds"].items())
            row = {"checkpoint": f"`{card['name']}`", "suite": suite.title}
            yield {**row, "right": suite_score(card, name), "by kind": kinds}


def routes(cards: Iterable[Card]) -> Iterator[Row]:
    """The routes by which an exchanged word changes a checkpoint's verdict, for some kinds of words."""
    for card in cards:
        measured = card.get("routes", {})
        kinds = {kind: measured.get(suite, {}).get(kind) for suite, kind in ROUTE_KINDS}
        if sum(map(bool, kinds.values())) < FEWEST_KINDS:
            continue
        names = next((" / ".join(kind["routes"]) for kind in kinds.values() if kind), "")
        yield {
            "checkpoint": f"`{card['name']}`",
            "routes": names,
            **{kind: _routes(own) for kind, own in kinds.items()},
        }


def _routes(kind: JsonMapping | None) -> str:
    """The median share of each route with its interval, and the number of pairs; a dash if there are too few."""
    if not kind:
        return "–"
    whole = lambda share: f"{round(100 * share)}".replace("-", "−")  # noqa: E731
    shares = [f"{whole(own['share'])} [{', '.join(map(whole, own['interval']))}]" for own in kind["routes"].values()]
    return f"{' / '.join(shares)}; {kind['pairs']}"


def guests(external: Mapping[str, ExternalSettings]) -> Iterator[Row]:
    """The shipped models in Hugging Face's format, including those named by package."""
    for name, settings in external.items():
        measured, alignment = settings.measured, settings.alignment or {"results": {}}
        yield {
            "checkpoint": f"`{name}`",
            "model": settings.title,
            **{f"{name} ({result['items']:,})": scores(result) for name, result in (settings.results or {}).items()},
            **{
                suite.title: suite_score(measured, name)
                for name, suite in SUITES.items()
                if name in (measured.get("suites") or {})
            },
            "head nearest to people": alignment.get("heads", {}).get("head", "–"),
            **{f"{name} F1": f"{result['f1']:.2f}" for name, result in alignment["results"].items()},
            "licence of the weights": settings.licence,
        }


def scores(result: Mapping[str, float]) -> str:
    """Accuracy, MAP and MRR, or correlations with grades; a dash if the set was not scored."""
    if "map" in result:
        return f"MAP {score_text(result['map'], 'map')}, MRR {score_text(result['mrr'], 'mrr')}"
    if "accuracy_with_evidence" in result:
        own, cut = (score_text(result[key], "accuracy") for key in ("accuracy_with_evidence", "evidence_cut"))
        return f"{score_text(result['accuracy'], 'accuracy')}, with evidence of their own {own}, evidence cut {cut}"
    if "pearson" in result:
        low, high = fisher(result["pearson"], int(result["items"]), ranks=False)
        return f"r {result['pearson']:.3f} [{low:.3f}, {high:.3f}], ρ {result['spearman']:.3f}"
    return score_text(result["accuracy"], "accuracy") if result else "–"


def over_seeds(folder: Path, card: Card) -> str:
    """The mean dev score over several seeds and their number, from the checkpoint's table of seeds or its card."""
    dev = card["recipe"]["dev"]["name"]
    if (folder / "seeds.csv").is_file():
        sweep = sweeps.read(folder / "seeds.csv")
        if isinstance(sweep, Comparisons):
            raise RunError(f"{folder.name}/seeds.csv is a table of comparisons: write it again with `trainers sweep`")
        means = {name: sweep.variants[0][1][key] for key, name in sweep.columns.items() if "(" not in key}
        dev, count = sweep.dev or dev, len(sweep.seeds)
    elif "seeds" in card:
        over, count = card["seeds"]["results"][dev], len(card["seeds"]["seeds"])
        means = {over.get("measure", "accuracy"): sweeps.mean(over["values"])}
    else:
        return "–"
    named = (f" {'' if name == 'accuracy' else f'{name} '}{sweeps.text(mean, name)}" for name, mean in means.items())
    return f"{dev}{','.join(named)} ({count} seeds)"


def alignments(cards: Cards) -> Iterator[Row]:
    """Agreement of attention with human word alignments for every measured model, linking each word to its largest
    weight."""
    for card in cards.values():
        if card.get("alignment"):
            row = {"checkpoint": f"`{card['name']}`"}
            for name, result in card["alignment"]["results"].items():
                figures = alignment_table.table({name: result})
                row |= {f"{name}: {key}": figures[0][key] for key in ("F1", "precision", "recall", "AER")}
                row["F1 of identical words there"] = figures[-1]["F1"]
            yield row


def faithfulness(cards: Cards) -> Iterator[str]:
    """How well each method names the decisive words (comprehensiveness), for every measured model."""
    measured = {str(card["name"]): card["faithfulness"] for card in cards.values() if card.get("faithfulness")}
    tables = faithfulness_table.of_attention(measured), faithfulness_table.by_checkpoint(measured, "comprehensiveness")
    yield faithfulness_table.CAPTION.format(moved=faithfulness_table.MOVED)
    yield markdown.table([of_attention | by_method for of_attention, by_method in zip(*tables, strict=True)])


def pointing(cards: Cards) -> Iterator[Row]:
    """Pointing-game results for every measured model."""
    for card in cards.values():
        for data, figures in card.get("pointing", {}).items():
            yield point.summary(card["name"], data, figures)


def people(cards: Sequence[JsonMapping]) -> Iterator[Row]:
    """How often methods name people's words, for every measured model."""
    yield from people_table.by_checkpoint({card["name"]: card["people"] for card in cards if card.get("people")})


def _complete(folder: Path) -> Card:
    card = read_card(folder)
    needed = ("data", "paper", "parameters", "recipe", "results", "seed", "training")
    if missing := [key for key in needed if key not in card]:
        raise RunError(f"{folder.name}/card.json lacks {', '.join(missing)}: train the checkpoint again")
    return card


def _measure(name: str) -> str:
    return name.rpartition(" ")[2].lower() if name.endswith((" MAP", " MRR")) else "accuracy"
