"""What docs/results.md says of attention and of ways to ask why, from the cards of the models that were measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from core.evaluation import alignment_table, faithfulness_table
from core.json_types import Card
from trainers import point
from trainers.paper import markdown


def aligned(cards: Mapping[Path, Card]) -> Iterator[str]:
    """How well the attention of every model that was measured agrees with people's word alignments."""
    measured = {str(card["name"]): card["alignment"] for card in cards.values() if card.get("alignment")}
    if not measured:
        return
    lines = []
    for name, stored in measured.items():
        head, rows = alignment_table.table(stored)
        lines += [{"checkpoint": f"`{name}`", **dict(zip(head, row, strict=True))} for row in rows]
    fixed_on = dict.fromkeys(stored["fixed_on"] for stored in measured.values())
    yield markdown.table(lines)
    yield f"{alignment_table.CAPTION.format(fixed_on=', '.join(fixed_on))} Measured by"
    yield markdown.commands(result["command"] for stored in measured.values() for result in stored["results"].values())


def believed(cards: Mapping[Path, Card]) -> Iterator[str]:
    """How well each way to ask why names the words that decide, of every model that was measured."""
    measured = {str(card["name"]): card["faithfulness"] for card in cards.values() if card.get("faithfulness")}
    if not measured:
        yield "No checkpoint was measured yet: `python -m trainers faithfulness CHECKPOINT FILE --card NAME`."
        return
    yield faithfulness_table.CAPTION.format(moved=faithfulness_table.MOVED)
    yield markdown.table(faithfulness_table.of_attention(measured))
    for measure in faithfulness_table.MEASURES:
        yield f"{measure.capitalize()}, AOPC:"
        yield markdown.table(faithfulness_table.by_checkpoint(measured, measure))
    yield "Measured by"
    yield markdown.commands(figures["command"] for stored in measured.values() for figures in stored.values())


def pointed(cards: Mapping[Path, Card]) -> Iterator[str]:
    """The pointing game of every model that played it."""
    played = [
        (card["name"], data, figures) for card in cards.values() for data, figures in card.get("pointing", {}).items()
    ]
    for name, data, figures in played:
        yield f"`{name}`, {data}: {figures['judged_right']:,} of {figures['items']:,} items, judged right by the model:"
        yield markdown.table(point.rows(figures))
    if played:
        yield "Played by"
        yield markdown.commands(figures["command"] for *_, figures in played)
