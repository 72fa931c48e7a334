"""Colours of the page, one meaning each, for light and dark; checked for colour blindness in tests/app/test_palette.py.

Text is never coloured by class: class colours fill areas that a label names. ``accent`` marks what is selected and
nothing else; ``context`` is the attentive context; weights use cividis (Nuñez, Anderton & Renslow 2018), which is
perceptually even, is the same to colour-blind eyes and rises in lightness alone when printed in grey.
"""

from __future__ import annotations

from collections.abc import Sequence

Pair = tuple[str, str]
"""A colour in the light theme and in the dark one."""

ACCENT: Pair = ("#c63f0a", "#ff8a4c")
CONTEXT: Pair = ("#3570b8", "#7fb2ee")
INK: Pair = ("#1d2733", "#e8edf2")
SOFT: Pair = ("#566473", "#a3b2c1")
LINE: Pair = ("#dde3e9", "#303c48")
PAPER: Pair = ("#ffffff", "#11161c")
WASH: Pair = ("#f1f4f7", "#1d2630")

CLASSES: dict[str, Pair] = {
    "entailment": ("#0b7a67", "#35bf9c"),
    "neutral": ("#c2a868", "#f4e2a4"),
    "contradiction": ("#5b2a86", "#9460d2"),
}
"""Classes keep their colours on all pages."""

OTHER_CLASSES: tuple[Pair, ...] = (("#0b7a67", "#35bf9c"), ("#5b2a86", "#9460d2"), ("#c2a868", "#f4e2a4"))
"""For the classes of another task, in their order."""

CIVIDIS: tuple[str, ...] = (
    "#002051", "#0a326a", "#2b446e", "#4d566d", "#696970", "#7f7c75", "#948f78", "#ada476", "#caba6a", "#ead156",
    "#fdea45",
)  # fmt: skip


def class_colours(labels: Sequence[str]) -> list[Pair]:
    """One colour a class, in the order of ``labels``."""
    if all(label in CLASSES for label in labels):
        return [CLASSES[label] for label in labels]
    return [OTHER_CLASSES[i % len(OTHER_CLASSES)] for i in range(len(labels))]


def css_variables() -> str:
    """The colours as CSS custom properties that follow the theme (``light-dark()``), for the component's root."""
    names = {"accent": ACCENT, "context": CONTEXT, "ink": INK, "soft": SOFT, "line": LINE, "paper": PAPER, "wash": WASH}
    return "".join(f"--{name}:light-dark({light},{dark});" for name, (light, dark) in names.items())
