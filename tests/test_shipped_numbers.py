"""Shipped checkpoints give the same logits and evidence as the numbers kept in shipped_numbers.json.

The numbers were taken from the checkpoints' own weights by an earlier state of the program, and belong to these
weights: after retraining a checkpoint, renew its numbers with ``python -m tests.test_shipped_numbers NAME``.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.card import is_external
from core.checkpoint import PRETRAINED, available, load_named
from core.checkpoint.checkpoint import Checkpoint
from core.explain import explain
from core.models.features import EXTRA_SIZES
from core.reading.word_table import file_sha256
from tests import routes

FILE = Path(__file__).with_name("shipped_numbers.json")
KEPT: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def leaves(value: Any) -> Iterator[float]:
    """All numbers of a JSON-like value in order; a text counts as the sum of its characters, nothing as -7."""
    if value is None:
        yield -7.0
    elif isinstance(value, str):
        yield float(sum(map(ord, value)))
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    else:
        yield float(value)


def digest(value: Any) -> list[float]:
    """How many numbers there are, their sum, a sum that depends on their order, and the sum of their sizes."""
    numbers = list(leaves(value))
    ordered = sum(number * math.cos(i % 97) for i, number in enumerate(numbers))
    return [len(numbers), sum(numbers), ordered, sum(map(abs, numbers))]


def numbers_of(name: str) -> list[dict[str, Any]]:
    """Logits and digests of every field of every record, for each of the pairs."""
    rows = []
    for first, second in KEPT["pairs"]:
        explanation = explain(load_named(name), first, second, nearest_for=0).to_dict()
        evidence = [
            {
                "kind": record.pop("kind"),
                "name": record.pop("name"),
                "fields": {k: digest(v) for k, v in record.items()},
            }
            for record in explanation["evidence"]
        ]
        rows.append({"logits": explanation["logits"], "evidence": evidence})
    return rows


def has_weights(folder: Path) -> bool:
    """Whether the weights are in the folder, not in a package."""
    return any(folder.glob("*.safetensors"))


def test_the_shared_word_table_is_the_same_file() -> None:
    assert file_sha256(PRETRAINED / "words" / "words.safetensors") == KEPT["words"]


def test_every_shipped_checkpoint_has_its_numbers() -> None:
    shipped = {name for name, folder in available().items() if folder.parent == PRETRAINED and has_weights(folder)}
    assert shipped == KEPT["checkpoints"].keys()


@pytest.mark.parametrize("name", KEPT["checkpoints"])
def test_logits_and_evidence_are_those_of_before(name: str) -> None:
    before = KEPT["checkpoints"][name]
    assert load_named(name).card["sha256"] == before["sha256"], "other weights: renew the numbers"
    kinds = {
        record["kind"] for row in before["rows"] for record in row["evidence"]
    }  # none that were added since, nor fields
    for now, then in zip(numbers_of(name), before["rows"], strict=True):
        for logit, expected in zip(now["logits"], then["logits"], strict=True):
            assert abs(logit - expected) <= 1e-5 * max(1.0, abs(expected))
        evidence = [record for record in now["evidence"] if record["kind"] in kinds]
        for record, expected in zip(evidence, then["evidence"], strict=True):
            assert (record["kind"], record["name"]) == (expected["kind"], expected["name"])
            assert record["fields"].keys() >= expected["fields"].keys()
            for field, kept in expected["fields"].items():
                # Sums over a field: relative to the sum of the sizes of its numbers.
                assert record["fields"][field] == pytest.approx(kept, abs=1e-5 * max(1.0, kept[3])), field
    if not is_external(load_named(name).card):
        routes_are_whole(load_named(name))


def routes_are_whole(checkpoint: Checkpoint) -> None:
    """The parts of a shipped model of pairs carry the whole difference between two versions; made-up linguistic
    features save reading WordNet."""
    size = EXTRA_SIZES[checkpoint.model.config.linguistic]
    extra = [[k / 7 - way for k in range(size)] or None for way in (0.1, 0.4)]
    versions = (("A red dog runs home", "A dog sleeps"), ("One blue cat runs home", "A man sits"))
    one, other = (
        checkpoint.reader.batch(checkpoint.read(*version, extra=own))
        for version, own in zip(versions, extra, strict=True)
    )
    routed = routes.check(checkpoint.model, checkpoint.card["config"], one, other, 1e-5)
    assert routed or checkpoint.single or checkpoint.card["config"].get("context") == "none"


if __name__ == "__main__":
    for renewed in sys.argv[1:]:
        sha256 = load_named(renewed).card["sha256"]
        KEPT["checkpoints"][renewed] = {"sha256": sha256, "rows": numbers_of(renewed)}
    FILE.write_text(json.dumps(KEPT, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
