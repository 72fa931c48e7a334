"""Shipped checkpoints give the answers kept in shipped_answers.json: effects of words and links, the smallest change,
curves of faithfulness, and places on the filter map.

The numbers belong to the weights that made them: after retraining a checkpoint, renew them with
``python -m tests.test_shipped_answers NAME``. Kendall's τ-b and the adversary are left out: ties and the processor's
clock decide about their last digits.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from core.checkpoint import Checkpoint, load_named
from core.effects.faithfulness import faithfulness
from core.effects.links import Taken
from core.effects.question import Question
from core.filter_map.map import FilterMap, available_map, codes_of, filter_sides
from tests.test_shipped_numbers import digest

FILE = Path(__file__).with_name("shipped_answers.json")
KEPT: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
METHODS = ("taken-away", "dropped", "gradient-norm", "integrated-gradients")
CURVES = (*METHODS, "random")


def words(checkpoint: Checkpoint, first: str, second: str) -> dict[str, Any]:
    """The effect of each word by method, and by the methods that taken-away mixes."""
    out: dict[str, Any] = {}
    for method in METHODS:
        effects = Question(checkpoint, first, second).words(method)
        out[method] = [word.effect for word in effects.words]
        if effects.completeness is not None:
            out[f"{method}, completeness"] = effects.completeness
        for part in dict.fromkeys(part for word in effects.words for part in word.by_way):
            out[f"{method}, {part}"] = [word.by_way.get(part) for word in effects.words]
    return out


def links(checkpoint: Checkpoint, first: str, second: str) -> list[list[float]]:
    """A digest of the effects of each map's links, the row renormalised after each."""
    if not checkpoint.model.shows(checkpoint.card["config"]):
        return []
    return [digest(links.effects) for links in Question(checkpoint, first, second).links(Taken.RENORMALISED)]


def change(checkpoint: Checkpoint, first: str, second: str) -> list[dict[str, Any]]:
    """The smallest changes."""
    return [
        {"edits": list(map(str, one.edits)), "verdict": one.verdict, "numbers": [one.probability, one.lost, one.chance]}
        for one in Question(checkpoint, first, second).smallest_change()
    ]


def curves(checkpoint: Checkpoint, first: str, second: str) -> dict[str, list[float]]:
    """Sufficiency and comprehensiveness by method, and the class probabilities under changed attention."""
    # The links' effects, from which it computes τ-b alone, are among the answers already.
    with mock.patch("core.effects.faithfulness.link_effects", return_value=()):
        measured = faithfulness(Question(checkpoint, first, second))
    of = {way: [*own.sufficiency, *own.comprehensiveness] for way, own in measured.curves.items() if way in CURVES}
    return of | (
        {"uniform": list(measured.moved.uniform), "permuted": list(measured.moved.mean)} if measured.moved else {}
    )


def positions(checkpoint: Checkpoint, first: str, second: str) -> dict[str, list[float]]:
    """Both texts' coordinates in each layout of the checkpoint's filter map; empty without a map."""
    folder = available_map(checkpoint)
    if folder is None:
        return {}
    filter_map = FilterMap.load(folder, checkpoint)
    texts = {checkpoint.roles["first"]: first, checkpoint.roles["second"]: second}
    return {
        f"{layout}, {role}": filter_map.place(codes_of(checkpoint, [texts[role]], role), layout)[0].tolist()
        for layout in filter_map.layouts
        for role in filter_sides(checkpoint)
    }


ANSWERS = {"words": words, "links": links, "change": change, "curves": curves, "positions": positions}


def compare(now: Any, then: Any) -> None:
    """Equal texts, and numbers within the tolerance of tests/test_shipped_numbers.py."""
    if isinstance(then, dict):
        assert now.keys() == then.keys()
        for name, value in then.items():
            compare(now[name], value)
    elif isinstance(then, list):
        size = max([1.0, *(abs(number) for number in then if isinstance(number, float | int))])
        assert len(now) == len(then)
        for one, other in zip(now, then, strict=True):
            if isinstance(other, float | int):
                assert one == pytest.approx(other, abs=1e-5 * size)
            else:
                compare(one, other)
    else:
        assert now == then


@pytest.mark.parametrize("name", KEPT)
def test_answers_are_those_of_before(name: str) -> None:
    checkpoint = load_named(name)
    assert checkpoint.card["sha256"] == KEPT[name]["sha256"], "other weights: renew the numbers"
    for row in KEPT[name]["rows"]:
        for kind, expected in row["answers"].items():
            compare(ANSWERS[kind](checkpoint, *row["pair"]), expected)


if __name__ == "__main__":
    for renewed in sys.argv[1:]:
        loaded = load_named(renewed)
        KEPT[renewed]["sha256"] = loaded.card["sha256"]
        for row_of_pair in KEPT[renewed]["rows"]:
            asked = {kind: answer(loaded, *row_of_pair["pair"]) for kind, answer in ANSWERS.items()}
            row_of_pair["answers"] = json.loads(json.dumps(asked))
    FILE.write_text(json.dumps(KEPT, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
