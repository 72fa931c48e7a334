"""Converts links and files of earlier versions, in which temperature and ignored crossings were separate settings."""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.effects.attention_edits import TEMPERATURE, UNCROSSED


def converted(parameters: Mapping[str, str]) -> dict[str, str]:
    """Explore's parameters with these settings converted to edits, and ``sharper`` (a power) to a temperature."""
    out = dict(parameters)
    added = [UNCROSSED] if out.pop("crossings", "") == "off" else []
    if re.fullmatch(r"\d{1,2}(\.\d{1,3})?", out.get("temperature", "")):
        temperature = float(out.pop("temperature"))
        added += [f"{TEMPERATURE} {temperature:g}"] if temperature != 1 else []
    lines = [_converted(line) for line in out.get("edits", "").split("\n") if line]
    if added and re.fullmatch(r"\d{1,2}", out.get("step", "")):
        out["step"] = str(int(out["step"]) + len(added))
    # Before the other attention edits, which were applied to these weights.
    return out | ({"edits": "\n".join([*added, *lines])} if added or lines else {})


def _converted(line: str) -> str:
    power = re.fullmatch(r"sharper \d{1,9} (\d{1,3}(?:\.\d+)?)", line)
    return f"{TEMPERATURE} {1 / max(float(power[1]), 0.01):g}" if power else line
