"""Colours of the page, each with one meaning, in both themes; tests/app/test_palette.py checks them for colour
blindness.

Text is never coloured by class: class colours fill labelled areas. ``accent`` marks only the selection; ``context`` is
the attentive context; weights use cividis (Nuñez, Anderton & Renslow 2018), which is perceptually uniform, looks the
same to colour-blind readers and becomes steadily lighter in grey print.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.wording import SENTIMENTS

Shades = tuple[str, str]
"""A colour in the light and the dark theme."""

COLOURS: dict[str, Shades] = {
    "accent": ("#c63f0a", "#ff8a4c"),
    "context": ("#3570b8", "#7fb2ee"),
    # Ribbons other than the selected word's: muted, but readable on a projector.
    "ribbon": ("#8092a8", "#62748a"),
    # Phrases kept by k-min and by k-max pooling.
    "kmin": ("#7a1f45", "#f0b4d2"),
    "kmax": ("#3a93cf", "#437fc6"),
    "ink": ("#1d2733", "#e8edf2"),
    "soft": ("#566473", "#a3b2c1"),
    "line": ("#dde3e9", "#303c48"),
    "paper": ("#ffffff", "#11161c"),
    "wash": ("#f1f4f7", "#1d2630"),
    # Support for a verdict: positive numbers, filled; opposition: negative, hollow.
    "supports": ("#b06c0a", "#d98a1e"),
    "opposes": ("#2464b0", "#6ea6ea"),
}
"""Colours by the name of their CSS custom property."""
STRONGEST_TINT = 0.4
"""Opacity of k-min's or k-max's colour behind a word that all kept phrases cover."""

CLASSES: dict[str, Shades] = {
    "entailment": ("#0b7a67", "#35bf9c"),
    "neutral": ("#c2a868", "#f4e2a4"),
    "contradiction": ("#5b2a86", "#9460d2"),
}
"""Classes keep their colours on all pages."""

ANSWERS: dict[str, Shades] = {"not an answer": CLASSES["contradiction"], "answer": CLASSES["entailment"]}
"""Answer selection's two classes, in the colours of entailment and contradiction."""

PARAPHRASES: dict[str, Shades] = {
    "not a paraphrase": CLASSES["contradiction"],
    "paraphrase": CLASSES["entailment"],
}

FACTS: dict[str, Shades] = {
    "supports": CLASSES["entailment"],
    "refutes": CLASSES["contradiction"],
    "not enough info": CLASSES["neutral"],
}

_BETWEEN: tuple[Shades, ...] = (("#a585c6", "#c2a6ea"), CLASSES["neutral"], ("#6fb5a6", "#95e6cf"))
FIVE_SENTIMENTS: dict[str, Shades] = dict(
    zip(SENTIMENTS, (CLASSES["contradiction"], *_BETWEEN, CLASSES["entailment"]), strict=True)
)
"""SST-5's classes in order, from the no colour to the yes colour of the other tasks."""

OTHER_CLASSES: tuple[Shades, ...] = (("#0b7a67", "#35bf9c"), ("#5b2a86", "#9460d2"), ("#c2a868", "#f4e2a4"))
"""Colours of up to three classes of other tasks, in order; more classes use a map's colours."""

MAP_COLOURS: tuple[str, ...] = (
    "#3661ce", "#bf816c", "#088f1f", "#9a4798", "#0f9de4", "#3e6e37", "#7f8e9c",
    "#879600", "#f04ba5", "#00a596", "#b47800", "#b44b69", "#6969a5", "#ff4b69",
)  # fmt: skip
"""Colours of a map's classes in order, for both themes; only the first seven are safe for colour-blind readers. For
these readers, and for grey print, each class also has its own symbol."""
MAP_SYMBOLS: tuple[str, ...] = (
    "circle", "diamond", "square", "cross", "x", "triangle-up", "triangle-down",
    "circle-open", "hourglass", "square-open", "asterisk-open", "diamond-open", "triangle-left", "bowtie",
)  # fmt: skip
NO_YES = dict(zip((*ANSWERS, *PARAPHRASES), ("#9460d2", "#0b7a67") * 2, strict=True))
"""Map colours of no and yes, as on the other pages."""
NEITHER = "#b08e5e"
"""Colour of texts without a class, such as questions."""

DIVERGING: Shades = ("#2464b0", "#b06c0a")
"""Colours of negative and positive numbers; they fade towards zero, so they suit both themes."""

CIVIDIS: tuple[str, ...] = (
    "#002051",
    "#0a326a",
    "#2b446e",
    "#4d566d",
    "#696970",
    "#7f7c75",
    "#948f78",
    "#ada476",
    "#caba6a",
    "#ead156",
    "#fdea45",
)


def class_colours(labels: Sequence[str]) -> list[Shades]:
    """One colour per class, in the order of ``labels``."""
    for known in (CLASSES, ANSWERS, PARAPHRASES, FACTS, FIVE_SENTIMENTS):
        if all(label in known for label in labels):
            return [known[label] for label in labels]
    others = OTHER_CLASSES if len(labels) <= len(OTHER_CLASSES) else [(colour, colour) for colour in MAP_COLOURS]
    return [others[i % len(others)] for i in range(len(labels))]


def map_look(names: Sequence[str]) -> list[tuple[str, str]]:
    """Colour and symbol of each class on a map, by name; the first fourteen classes have distinct colours and symbols,
    further ones other combinations."""
    judged, many = any(name in NO_YES for name in names), len(MAP_COLOURS)
    return [
        (
            NO_YES.get(name, NEITHER) if judged else MAP_COLOURS[i % many],
            MAP_SYMBOLS[(i + 3 * (i // many)) % len(MAP_SYMBOLS)],
        )
        for i, name in enumerate(names)
    ]


def css_variables(prefix: str = "--") -> str:
    """The colours as CSS custom properties that follow the theme (``light-dark()``), for the component's root."""
    colours = "".join(f"{prefix}{name}:light-dark({light},{dark});" for name, (light, dark) in COLOURS.items())
    return f"{colours}{prefix}strongest:{100 * STRONGEST_TINT:.0f}%;"


def theme_variables() -> tuple[str, str]:
    """The colours as CSS custom properties, of the light and of the dark theme, for phones too old for
    ``light-dark()``."""
    light, dark = ("".join(f"--{name}:{shades[theme]};" for name, shades in COLOURS.items()) for theme in (0, 1))
    return light, dark
