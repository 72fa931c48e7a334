"""A lesson on paper: one HTML page that needs nothing else, with the numbers of the example that is on screen."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from core.lessons.formula import mathml
from core.lessons.lesson import Lesson, Value, rounded
from core.lessons.sources import Evaluated

_STYLE = """
@page { size: A4; margin: 12mm; }
body { font: 10.5pt/1.35 Georgia, serif; color: #111; max-width: 184mm; margin: 8mm auto; }
h1 { font-size: 16pt; margin: 0 0 1mm; } h2 { font-size: 11pt; margin: 3mm 0 0; } p { margin: 0.5mm 0; }
.steps { columns: 2; column-gap: 8mm; } section { break-inside: avoid; }
math[display=block] { display: block math; font-size: 7.8pt; margin: 0.8mm 0; }
.matrix { border-left: 1px solid; border-right: 1px solid; border-radius: 3px; }
.note { border-left: 2px solid #888; padding-left: 2mm; color: #444; font-size: 9pt; }
footer { font-size: 8.5pt; color: #555; margin-top: 4mm; border-top: 1px solid #bbb; }
"""


def handout(lesson: Lesson, evaluated: Evaluated, inputs: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """The lesson with these inputs as an HTML page; all that a person typed is escaped."""
    steps = "".join(
        f"<section><h2>{number}. {escape(step.title)}</h2><p>{escape(step.says)}</p>"
        f"{_math(step.formula, lesson, evaluated)}"
        f'<div class="numbers">{"".join(_math(line, lesson, evaluated) for line in step.numbers)}</div>'
        + (f'<p class="note">{escape(step.note)}</p>' if step.note else "")
        + "</section>"
        for number, step in enumerate(lesson.steps, start=1)
    )
    sides = dict(zip(("first", "second"), evaluated.words.get("sides", ()), strict=False))
    facts = [f"{sides.get(side, side)}: {text}" for side, text in {**lesson.texts, **texts}.items()]
    facts += [f"{name} = {_text(value, lesson.digits)}" for name, value in inputs.items()]
    by = (
        f"Numbers of the model {evaluated.checkpoint}."
        if evaluated.checkpoint
        else "Numbers of an example, not of a trained model."
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(lesson.title)} · PairLens</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(lesson.title)}</h1><p>{escape(lesson.about)}</p>"
        f'<p class="note">{escape("; ".join(facts))}</p><div class="steps">{steps}</div>'
        f"<footer>PairLens, lesson “{escape(lesson.title)}”. {escape(by)}</footer></body></html>\n"
    )


def _math(latex: str, lesson: Lesson, evaluated: Evaluated) -> str:
    return mathml(latex, evaluated.values, lesson.digits).to_html()


def _text(value: Value, digits: int) -> str:
    if not isinstance(value, list):
        return str(rounded(value, digits))
    inner = [_text(part, digits) for part in value]
    return f"({', '.join(inner)})"
