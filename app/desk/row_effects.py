"""What each word of the open row does to what the models say of it, computed while a person reads the row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from markupsafe import Markup

from app import page_style
from app.desk.open_run import OpenRun, checkpoint_named, letter
from app.effects import asking, late, work
from core.checkpoint import load_named
from core.effects.memory import kept_why
from core.effects.words import TAKEN_AWAY, Progress
from core.evidence.effects import Effects, WordEffect
from core.templates import render
from core.wording import class_names

MOST = 6
"""Words of a row that are listed."""
_STYLE = Markup("""<style>
.pl-row .effects { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
.pl-row .effects td { border: 0; padding: 0 0.6rem 0 0; overflow-wrap: anywhere; }
.pl-row .effects .soft { opacity: 0.78; font-size: 0.83rem; }
.pl-row .effects .number { text-align: right; padding: 0; white-space: nowrap; }
.pl-row .track { position: relative; width: 45%; }
.pl-row .track i { position: absolute; top: 0.35rem; height: 0.7rem; min-width: 1px; box-sizing: border-box; }
.pl-row .supports { background: var(--pl-supports); }
.pl-row .opposes { border: 1.5px solid var(--pl-opposes); }
</style>""")


def draw(opened: OpenRun, place: int) -> None:
    """The words of a row with the largest effects, for each model that is here."""
    row = opened.run.dataset.rows[place]
    asked: dict[work.Key, Callable[[Progress], Effects]] = {}
    for number, model in enumerate(opened.run.models):
        name = checkpoint_named(model.sha256)
        if name is not None:
            key = (letter(number), model.sha256, row.first, row.second)
            asked[key] = _asked(name, row.first, row.second)
    works = work.at_work(asked)
    for one in works.values():
        one.wait(late.PATIENCE / len(works))
    if not works:
        return
    if any(one.stopped for one in works.values()):
        page_style.note("What each word does was stopped before it was done.")
        st.button("Compute what each word does", on_click=work.again, type="tertiary")
    elif all(one.finished for one in works.values()):
        judged = {letter(i): model.roles.judged for i, model in enumerate(opened.run.models)}
        st.html(
            _STYLE + render("desk/effects.html", models=[_model(key[0], judged, one) for key, one in works.items()])
        )
        page_style.note(
            "Filled, to the right: the word supports what the model says; hollow, to the left: it opposes it. The "
            "number is log p before minus after the word is taken away. Explore has all words and other ways to ask."
        )
    else:
        _waiting(tuple(works.values()))


def _asked(name: str, first: str, second: str) -> Callable[[Progress], Effects]:
    def compute(progress: Progress) -> Effects:
        checkpoint = load_named(name)
        way = asking.way(checkpoint, (first, second), TAKEN_AWAY, "")
        return kept_why(checkpoint, first, second, way.computed, progress, drawing=way.drawing)

    return compute


@st.fragment(run_every=0.5)
def _waiting(works: Sequence[work.Work[Effects]]) -> None:
    """How far it is, and a way to stop."""
    if all(one.finished for one in works):
        st.rerun()
    done, of = sum(one.done for one in works), sum(one.of for one in works)
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    left.progress(min(1.0, done / max(1, of)), "Computing what each word does …")
    right.button("Stop", key="desk effects stop", on_click=work.stop)


def _model(name: str, judged: dict[str, str], of: work.Work[Effects]) -> dict[str, Any]:
    """What the template draws of a model."""
    effects = of.answer
    if effects is None:
        return {"letter": name, "verdict": "its verdict", "problem": of.problem, "words": []}
    known = [word for word in effects.words if word.effect is not None]
    words = sorted(known, key=lambda word: -abs(word.effect or 0))[:MOST]
    labels = dict(zip(effects.labels, class_names(effects.labels, judged[name]), strict=True))
    low, high = (limit([0.0, *(word.effect or 0 for word in words)]) for limit in (min, max))
    lines = [_line(word, low, max(high - low, 1e-9)) for word in words]
    return {"letter": name, "verdict": labels[effects.verdict], "problem": "", "words": lines}


def _line(word: WordEffect, low: float, whole: float) -> dict[str, Any]:
    effect = word.effect or 0.0
    left, width = 100 * (min(effect, 0) - low) / whole, 100 * abs(effect) / whole
    return {"text": word.text, "role": word.role, "effect": effect, "left": left, "width": width}
