"""Build the filter map of a checkpoint: a layout of the filters it generates for the texts in a data file.

    python -m trainers map pretrained/NAME dbpedia/dev_600.jsonl --titles
    python -m trainers map NAME WikiQA-dev.tsv --texts 2000 --filters all,12 --metric euclid --out runs/map

CHECKPOINT is a shipped name or a folder of a model that generates its filters from the text (acnn, adaqa). From a file
of single texts, the sample is balanced by class where possible; from a file of pairs the first rows are used, with
every question and every answer as a separate text. The texts themselves are not stored: only their row ids, and with
--titles their titles. The app shows the texts if PAIRLENS_DATA is a data folder with the unchanged file.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.checkpoint import Checkpoint, open_checkpoint
from core.data import Dataset, Example, read
from core.errors import RunError
from core.files import check_writable
from core.filter_map.card import MapCard, MapSource
from core.filter_map.map import METRICS, FilterMap, MapItem, codes_of, filter_sides
from core.progress import progress_bar
from trainers.commands import as_typed
from trainers.options import add_options, columns
from trainers.tables import text, told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers map`."""
    add_options(parser, "checkpoint")
    parser.add_argument("file", metavar="FILE", type=Path, help="a data file")
    parser.add_argument("--texts", type=int, default=3000, metavar="N", help="how many texts (default: 3000)")
    parser.add_argument(
        "--filters",
        default="all,0",
        metavar="LIST",
        help="one map each: all for a text's filters together, or a filter's number from 0 (default: all,0)",
    )
    parser.add_argument("--metric", choices=METRICS, default="cosine", help="distance of filters (default: cosine)")
    parser.add_argument("--perplexity", type=float, default=30, help="t-SNE's perplexity (default: 30)")
    parser.add_argument("--seed", type=int, default=0, help="for sampling and t-SNE (default: 0)")
    parser.add_argument(
        "--held-out",
        type=Path,
        metavar="FILE",
        help="held-out texts, to measure how well the map's neighbours predict their classes",
    )
    parser.add_argument("--titles", action="store_true", help="keep the texts' titles in the map")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="default: the folder map in the checkpoint's")
    add_options(parser, "--json", "--columns")


def run(args: argparse.Namespace) -> int:
    """Sample, compute codes, fit, write, print."""
    filters = _filters(args.filters)
    if not 0 <= args.seed < 2**32:
        raise RunError(f"--seed wants a whole number from 0 to {2**32 - 1}, got {args.seed}")
    checkpoint = open_checkpoint(args.checkpoint, args.class_names)
    sides = filter_sides(checkpoint)
    out = args.out or checkpoint.folder / "map"
    check_writable(out, "--out", folder=True)
    dataset = read(args.file, columns=columns(args.columns))
    drawn = draw(checkpoint, dataset, sides, args.texts, args.seed, args.titles)
    codes = _codes(checkpoint, sides, drawn)
    command = as_typed("trainers map", checkpoint.name, args.file.name, **args.given)
    about: MapCard = {"data": _source(args.file, dataset), "command": command}
    held_out = None
    if args.held_out:
        others = read(args.held_out, columns=columns(args.columns))
        held_out_texts = draw(checkpoint, others, sides, args.texts, args.seed)
        held_out = _codes(checkpoint, sides, held_out_texts), [item.label for item, _ in held_out_texts]
        about["held_out"] = {**_source(args.held_out, others), "texts": len(held_out_texts)}
    with progress_bar("iteration", "t-SNE") as progress:
        filter_map = FilterMap.fit(
            checkpoint,
            [item for item, _ in drawn],
            codes,
            filters=filters,
            metric=args.metric,
            perplexity=args.perplexity,
            seed=args.seed,
            progress=progress,
            held_out=held_out,
            about=about,
        )
    filter_map.save(out)
    layouts = {layout.name: dict(layout.quality) for layout in filter_map.layouts.values()}
    record = {"checkpoint": checkpoint.name, "file": args.file.name, "texts": len(drawn), "layouts": layouts}
    print(told(record, table(filter_map, dataset), args.json))
    print(f"written to {out}", file=sys.stderr)
    return 0


def draw(
    checkpoint: Checkpoint, dataset: Dataset, sides: Sequence[str], count: int, seed: int, titles: bool = False
) -> list[tuple[MapItem, str]]:
    """The reference texts and their items, at most ``count``, in file order, without duplicates.

    Single texts: classes take turns, in random order (``seed``), until there are enough. Pairs (``sides`` names their
    roles): from the first row on, the first text under its role's name, the second under the row's label. Raises
    RunError if the model cannot read the file's rows, or if requested titles are missing.
    """
    if dataset.single != checkpoint.single:
        kinds = ("single texts", "pairs") if checkpoint.single else ("pairs", "single texts")
        raise RunError(f"{checkpoint.name} reads {kinds[0]}, and {dataset.name} holds {kinds[1]}: give another file")
    if titles and not any(row.title for row in dataset.rows):
        raise RunError(f"{dataset.name} has no titles: leave --titles out")
    if dataset.single:
        rows = in_turns(list({row.first: row for row in reversed(dataset.rows)}.values())[::-1], count, seed)
        return [(MapItem(row.id, row.label or "", row.title if titles else ""), row.first) for row in rows]
    drawn: dict[tuple[str, str], MapItem] = {}
    for row in dataset.rows:
        texts = (checkpoint.roles["first"], row.first), (checkpoint.roles["second"], row.second)
        for pair, label in zip(texts, (checkpoint.roles["first"], row.label or ""), strict=True):
            if pair[0] in sides and len(drawn) < count:
                drawn.setdefault(pair, MapItem(row.id, label, row.title if titles else "", pair[0]))
    return [(item, text) for (_, text), item in drawn.items()]


def in_turns(rows: Sequence[Example], count: int, seed: int) -> list[Example]:
    """At most ``count`` rows, balanced by class as far as possible, in their order."""
    taken: Counter[str | None] = Counter()
    turns = []
    for i in np.random.default_rng(seed).permutation(len(rows)):
        turns.append((taken[rows[i].label], int(i)))
        taken[rows[i].label] += 1
    # A stable sort keeps the random order within a turn.
    first_turns = sorted(turns, key=lambda turn: turn[0])[: max(count, 0)]
    return [rows[i] for i in sorted(i for _, i in first_turns)]


def _source(path: Path, dataset: Dataset) -> MapSource:
    return {"file": path.name, "layout": dataset.layout, "rows": len(dataset.rows), "sha256": dataset.sha256}


def table(filter_map: FilterMap, dataset: Dataset) -> str:
    """The map's quality as text."""
    card, k = filter_map.card, filter_map.card["quality_neighbours"]
    classes = len({item.label for item in filter_map.items})
    lines = [
        f"{card['checkpoint']['name']}: {len(filter_map.items):,} texts of {dataset.summary()}",
        f"{classes} classes, metric {card['metric']}, perplexity {card['perplexity']:g}, seed {card['seed']}",
        "",
    ]
    columns = {"knn_filters": f"{k}-NN, filter space", "knn_plane": f"{k}-NN, plane", "majority": "largest class"}
    if other := card.get("held_out"):
        columns["knn_held_out"] = f"{k}-NN, filter space, of {other['texts']:,} held-out texts ({other['file']})"
    rows = [
        {"map": layout.name, **{column: f"{layout.quality[name]:.2%}" for name, column in columns.items()}}
        | {"trustworthiness": f"{layout.quality['trustworthiness']:.4f}"}
        for layout in filter_map.layouts.values()
    ]
    return "\n".join([*lines, text(rows)])


def _filters(text: str) -> list[int | None]:
    try:
        return [None if part.strip() == "all" else int(part) for part in text.split(",")]
    except ValueError:
        raise RunError(f"--filters wants all and numbers from 0, such as all,0,12, got {text!r}") from None


def _codes(checkpoint: Checkpoint, sides: Sequence[str], drawn: Sequence[tuple[MapItem, str]]) -> np.ndarray:
    """z of every sampled text, ``[N, l]``."""
    codes: np.ndarray | None = None
    for side in sides:
        at = [i for i, (item, _) in enumerate(drawn) if item.side == side]
        with progress_bar("text", f"filters of {side or 'texts'}") as progress:
            of_side = codes_of(checkpoint, [drawn[i][1] for i in at], side, progress)
        codes = np.empty((len(drawn), of_side.shape[1]), dtype=np.float32) if codes is None else codes
        codes[at] = of_side
    assert codes is not None, "filter_sides names at least one"
    return codes
