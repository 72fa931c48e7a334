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
body { font: 9pt/1.22 Georgia, serif; color: #111; max-width: 184mm; margin: 8mm auto; }
@media print { body { margin: 0 auto; } }
h1 { font-size: 16pt; margin: 0 0 1mm; } h2 { font-size: 10.5pt; margin: 0; } p { margin: 0.5mm 0; }
section { display: grid; grid-template-columns: 42% 1fr; gap: 0 4mm; align-items: center; break-inside: avoid;
  border-top: 1px solid #ddd; padding: 0.6mm 0; }
/* Fonts that are not for mathematics say neither how low an index hangs nor how far a fraction is from its bar. */
math { font-family: Georgia, serif; }
:is(msub, msubsup) > :nth-child(2) { position: relative; top: 0.15em; }
mfrac > :first-child { padding-bottom: 0.1em; } mfrac > :last-child { padding-top: 0.1em; }
math[display=block] { display: block math; font-size: 8pt; margin: 0.4mm 0; }
.matrix { border-left: 1px solid; border-right: 1px solid; border-radius: 3px; }
.note { border-left: 2px solid #888; padding-left: 2mm; color: #444; font-size: 8.5pt; }
footer { font-size: 8.5pt; color: #555; margin-top: 4mm; border-top: 1px solid #bbb; }
"""


def handout(lesson: Lesson, evaluated: Evaluated, inputs: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """The lesson with these inputs as an HTML page; all that a person typed is escaped."""
    steps = "".join(
        f"<section><div><h2>{number}. {escape(step.title)}</h2><p>{escape(step.says)}</p>"
        + (f'<p class="note">{escape(step.note)}</p>' if step.note else "")
        + f"</div><div>{_math(step.formula, lesson, evaluated)}"
        + f"{''.join(_math(line, lesson, evaluated) for line in step.numbers)}</div></section>"
        for number, step in enumerate(lesson.steps, start=1)
    )
    sides = dict(zip(("first", "second"), evaluated.words.get("sides", ()), strict=False))
    facts = [escape(f"{sides.get(side, side)}: {text}") for side, text in {**lesson.texts, **texts}.items()]
    for name, value in inputs.items():
        letter, _, index = name.partition("_")
        below = f"<sub>{escape(index)}</sub>" if index else ""
        facts.append(f"{escape(letter)}{below} = {_text(value, lesson.digits)}")
    by = (
        f"Numbers of the model {evaluated.model}."
        if evaluated.checkpoint
        else "Numbers of an example, not of a trained model."
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(lesson.title)} · PairLens</title>'
        f"<style>{_STYLE}</style></head><body><h1>{escape(lesson.title)}</h1><p>{escape(lesson.about)}</p>"
        f'<p class="note">{"; ".join(facts)}</p>{steps}'
        f"<footer>PairLens, lesson “{escape(lesson.title)}”. {escape(by)}</footer></body></html>\n"
    )


def _math(latex: str, lesson: Lesson, evaluated: Evaluated) -> str:
    return mathml(latex, evaluated.values, lesson.digits).to_html()


def _text(value: Value, digits: int) -> str:
    if not isinstance(value, list):
        return str(rounded(value, digits))
    inner = [_text(part, digits) for part in value]
    return f"({', '.join(inner)})"
