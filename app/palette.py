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

KMIN: Pair = ("#7a1f45", "#f0b4d2")
"""What k-min pooling keeps."""
KMAX: Pair = ("#3a93cf", "#437fc6")
"""What k-max pooling keeps."""
STRONGEST_TINT = 0.4
"""Share of k-min's or k-max's colour behind a word that all kept phrases cover."""
Line = tuple[str, tuple[int, int], str]
"""Colour, dashes and shape of the points of a chart's line, which stays when the theme changes."""
POOLING_LINES: dict[str, Line] = {
    "kmin": ("#b03a68", (1, 0), "circle"),
    "kmax": ("#3a93cf", (6, 3), "square"),
    "full": ("#8a7a2e", (2, 3), "triangle-up"),
}
OTHER_LINE: Line = ("#77828e", (1, 0), "diamond")

CLASSES: dict[str, Pair] = {
    "entailment": ("#0b7a67", "#35bf9c"),
    "neutral": ("#c2a868", "#f4e2a4"),
    "contradiction": ("#5b2a86", "#9460d2"),
}
"""Classes keep their colours on all pages."""

ANSWERS: dict[str, Pair] = {"not an answer": CLASSES["contradiction"], "answer": CLASSES["entailment"]}
"""Answer selection's two classes: the yes and the no of entailment's colours."""

OTHER_CLASSES: tuple[Pair, ...] = (("#0b7a67", "#35bf9c"), ("#5b2a86", "#9460d2"), ("#c2a868", "#f4e2a4"))
"""For the classes of another task, in their order."""

CIVIDIS: tuple[str, ...] = (
    "#002051", "#0a326a", "#2b446e", "#4d566d", "#696970", "#7f7c75", "#948f78", "#ada476", "#caba6a", "#ead156",
    "#fdea45",
)  # fmt: skip


def class_colours(labels: Sequence[str]) -> list[Pair]:
    """One colour a class, in the order of ``labels``."""
    for known in (CLASSES, ANSWERS):
        if all(label in known for label in labels):
            return [known[label] for label in labels]
    return [OTHER_CLASSES[i % len(OTHER_CLASSES)] for i in range(len(labels))]


def css_variables() -> str:
    """The colours as CSS custom properties that follow the theme (``light-dark()``), for the component's root."""
    names = {
        "accent": ACCENT, "context": CONTEXT, "kmin": KMIN, "kmax": KMAX, "ink": INK, "soft": SOFT, "line": LINE,
        "paper": PAPER, "wash": WASH,
    }  # fmt: skip
    colours = "".join(f"--{name}:light-dark({light},{dark});" for name, (light, dark) in names.items())
    return f"{colours}--strongest:{100 * STRONGEST_TINT:.0f}%;"
