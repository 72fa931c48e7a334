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
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.card import Card
from core.checkpoint import PRETRAINED, read_card
from core.errors import RunError
from core.evaluation import alignment_table, faithfulness_table, people_table, sweeps
from core.evaluation.scores import fisher
from core.evaluation.suites import SUITES
from core.evaluation.sweeps import Comparisons, Mean, Sweep
from core.external.settings import ExternalSettings, settings_of
from core.json_types import JsonMapping
from core.wording import counted
from trainers import bench, point
from trainers.paper import markdown
from trainers.paper.table.systems import TABLES
from trainers.tables import read_rows

DOCS = PRETRAINED.parent / "docs"
PAGE, SPEED = "results.md", "speed.json"
FEW_LABELS = "few-labels.json"
MADE_BY = "python -m trainers.paper results"
FIGURES = {
    "figure-length-sst5": "**Accuracy by the number of words, SST-5 dev** (the paper’s figure 5, on Yelp).",
    "figure-length-imdb": "**Accuracy by the number of words, IMDB dev** (the paper’s figure 5, on Yelp).",
    "figure-evidence": "**Accuracy by the number of evidence sentences, FEVER dev 6k** (the paper’s figure 8).",
}
"""Titles by the name of the file that `figure` wrote."""
CLAIMS = {
    "ablation": "the gain from each part of the features",
    "adaptivity": "fixed and generated filters",
    "adaptivity-folds": "fixed and generated filters, cross-validated; best epoch",
    "attention": "each term of the match and of the loss",
    "baselines": "baselines with the same word table and linguistic features",
    "figure3a": "the number of filters K (the paper’s figure 3a)",
    "figure3b": "by question word (the paper’s figure 3b)",
    "figure6": "each k of k-min and k-max pooling (the paper’s figure 6)",
    "folds": "cross-validation",
    "folds-squad": "cross-validation, also pre-trained on SQuAD’s sentences",
    "folds-without-pretraining": "cross-validation from random weights",
    "hundred-filters": "M-ACNN and M-CNN, cross-validated; last epoch",
    "made-kinds": "all generated pairs, and without one family",
    "made-pairs": "the weight of the generated pairs in the loss",
    "paper-settings": "M-ACNN with the paper’s own settings",
    "pooling": "k-min, k-max and full pooling, all features",
    "pooling-plain": "k-min and k-max, only the paper’s features `rep` and `simi`",
    "single-filter": "S-ACNN against S-CNN: one filter, trained for longer",
    "tfidf": "word counts without a network",
    "tuned-words": "the shared words unchanged, and tuned with the model",
}
"""The setting varied in a checkpoint's table, by the table's file name."""
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
Row = dict[str, Any]


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
        "the paper": "; ".join(f"{name} {_text(value, _measure(name))}" for name, value in card["paper"].items())
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
            told.append(f"{name} {_text(was['accuracy'], 'accuracy')} ({low} to {high})")
    return ", ".join(told) or "–"


def suite_score(card: JsonMapping, name: str) -> str:
    """How many pairs of a suite a checkpoint gets right: 190 of 200."""
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
    """By which routes an exchanged word changes a checkpoint's verdict, for some kinds of words."""
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


def minutes(card: Card) -> str:
    """Training time in words: 25 seconds, 1.6 minutes."""
    seconds = card["training"]["seconds"]
    return f"{seconds:.0f} seconds" if seconds < 60 else f"{seconds / 60:.1f} minutes"


def scores(result: Mapping[str, float]) -> str:
    """Accuracy, MAP and MRR, or correlations with grades; a dash if the set was not scored."""
    if "map" in result:
        return f"MAP {_text(result['map'], 'map')}, MRR {_text(result['mrr'], 'mrr')}"
    if "accuracy_with_evidence" in result:
        own, cut = (_text(result[key], "accuracy") for key in ("accuracy_with_evidence", "evidence_cut"))
        return f"{_text(result['accuracy'], 'accuracy')}, with evidence of their own {own}, evidence cut {cut}"
    if "pearson" in result:
        low, high = fisher(result["pearson"], int(result["items"]), ranks=False)
        return f"r {result['pearson']:.3f} [{low:.3f}, {high:.3f}], ρ {result['spearman']:.3f}"
    return _text(result["accuracy"], "accuracy") if result else "–"


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


def systems(folder: Path) -> Iterator[str]:
    """The tables and figures for the AttConv paper in this folder: a figure has a row per run, a column per group."""
    for table, of in TABLES.items():
        for recipe, title in of.titles.items():
            if rows := read_rows(folder / f"{recipe}.csv"):
                yield f"{title} By `python -m trainers.paper table {table} --train {recipe}`."
                yield markdown.table(rows)
    for name, title in FIGURES.items():
        lines: dict[str, Row] = {}
        for each in read_rows(folder / f"{name}.csv"):
            low, accuracy, high = (f"{100 * float(each[key]):.1f}" for key in ("low", "accuracy", "high"))
            line = lines.setdefault(each["checkpoint"], {"run": each["checkpoint"]})
            line[f"{each['group']} ({each['items']} rows)"] = f"{accuracy} ({low} to {high})"
        if lines:
            yield f"{title} Per cent, 95\u00a0% intervals; by `python -m trainers.paper figure {name.split('-')[1]}`."
            yield markdown.table([*lines.values()])


def compared(tables: Sequence[tuple[str, Sweep | Comparisons]]) -> Iterator[Row]:
    """The paper's claims, each with runs that could have refuted it."""
    for _, table in tables:
        if isinstance(table, Comparisons):
            yield from table.rows


def swept(name: str, tables: Sequence[tuple[str, Sweep | Comparisons]]) -> Iterator[Row]:
    """The first, best and worst variant in each sweep of a checkpoint."""
    for file, table in tables:
        if isinstance(table, Sweep) and file != "seeds" and len(table.variants) > 1:
            rows = sorted(table.variants, key=lambda variant: -variant[1][table.measure].value)
            first, best, worst = (
                f"{sweeps.label(varied)}: {sweeps.text(means[table.measure], table.measure)}"
                for varied, means in (table.variants[0], rows[0], rows[-1])
            )
            yield {
                "checkpoint": f"`{name}`",
                "table": f"{file}: {CLAIMS.get(file, file)}",
                "variants": len(rows),
                "the first": first,
                "the best": best,
                "the worst": worst,
                "measure": table.columns[table.measure] + (f", {table.folds} folds" if table.folds else ""),
            }


def maps(folders: Sequence[Path]) -> Iterator[Row]:
    """The quality of every filter map."""
    for folder in folders:
        if not (folder / "map" / "map.json").is_file():
            continue
        made = _json(folder / "map" / "map.json")
        other = made.get("held_out")
        held_out_texts = f" ({other['texts']:,} of {other['file']})" if other else ""
        for layout in made["layouts"]:
            shares = {name: f"{100 * share:.1f} %" for name, share in layout["quality"].items()}
            yield {
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


def word_table(path: Path) -> Row:
    """The sources of the shared word table."""
    card = _json(path)
    last, training = max(card["epochs"], key=lambda epoch: epoch["epoch"]), card["training"]
    return {
        "words": f"{card['words']:,}",
        "numbers a word": card["width"],
        "made from": "; ".join(f"{source['name']} ({source['licence']})" for source in card["made_from"]),
        "SNLI dev after its last epoch": _text(last["snli_dev"], "accuracy"),
        "training": f"{minutes(card)}, {counted(training['threads'], 'thread')}, torch {training['torch']}",
        "licence": card["licence"],
    }


def few_labels(path: Path) -> Iterator[str]:
    """The scores stored by `python -m trainers few-labels`."""
    if not path.is_file():
        yield f"No scores are stored yet: `python -m trainers few-labels` writes docs/{FEW_LABELS}."
        return
    stored, tabled = _json(path), dict[str, Row]()
    for row in stored["rows"]:
        own = tabled.setdefault(row["data"], {"data": row["data"]})
        range_of = f"({row['lowest']:.3f} – {row['highest']:.3f})"
        own[f"{row['labelled pairs']:,} pairs"] = f"{row['accuracy']:.3f} {range_of}"
        own["majority"], own["TF-IDF"] = f"{row['majority']:.3f}", f"{row['TF-IDF with word overlap']:.3f}"
    yield markdown.table([*tabled.values()])
    yield (
        f"Made by `{stored['command']}`: means of {stored['draws']} draws and their range; majority class, and TF-IDF "
        "with word overlap on the most pairs of the first draw."
    )


def speeds(path: Path) -> Iterator[str]:
    """The stored runs of `python -m trainers bench` with their thresholds, except what is below half of a maximum; if
    there are none, how to make one."""
    again = f"python -m trainers bench --json docs/{SPEED}"
    if not path.is_file():
        yield f"No speeds are stored yet: `{again}` measures them, and `{MADE_BY}` puts them on this page."
        return
    lines, runs, left_out = list[Row](), list[str](), 0
    for number, stored in enumerate(bench.stored_runs(path), start=1):
        rows = [bench.row_of(row) for rows in stored["benchmarks"].values() for row in rows]
        with_bar = [row for row in rows if row.bar is not None]
        shown = [row for row in with_bar if not (row.met and row.at_most and 2 * (row.value or 0) < (row.bar or 0))]
        lines += [{**row.cells, "run": number} for row in shown]
        left_out += len(with_bar) - len(shown)
        machine = stored["machine"]
        runs.append(
            f"Run {number}: {machine['date']} on {markdown.plain(machine['device'])} "
            f"({counted(machine['cores'], 'core')}, {counted(machine['threads'], 'thread')}, load "
            f"{machine['load_before']:.1f} before; Python {machine['python']}, torch {machine['torch']}, float32)."
        )
    yield markdown.table(lines)
    yield f"Left out: {counted(left_out, 'measurement')} below half of their maximum (docs/{SPEED} has them)."
    yield " ".join(runs)


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
        raise RunError(f"{path.parent.name}/{path.name} is not readable JSON: make it again") from None


def _measure(name: str) -> str:
    return name.rpartition(" ")[2].lower() if name.endswith((" MAP", " MRR")) else "accuracy"


def _text(value: float, measure: str) -> str:
    return sweeps.text(Mean(value, None, 1), measure)
