"""The effects of corrections: on the corrected pairs, our test pairs by kind, pairs tried, and the rows of a file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from app import own_models, page_style
from app.explore import candidates, pairs_tried
from app.explore.answering import Answered
from app.explore.corrections import QUOTED, examples_of, names_of, quoted, read_suites, read_uploaded, save, usable
from app.models import own
from app.page_state.codec import short
from app.page_state.explore import ExploreState
from app.page_state.session import PageSession
from app.page_state.widgets import folded
from app.pair_form import digest, once
from app.panels import lists
from core.adaptation.adapt import Examples
from core.adaptation.corrections import Correction, from_csv
from core.adaptation.features import feature_vectors
from core.adaptation.fits import PULLS
from core.adaptation.what_changed import (
    Fitted,
    KindEffect,
    fitted,
    learned_with_less,
    old_classifier,
    suites_are_read,
)
from core.card import right_class, unit
from core.checkpoint import Checkpoint
from core.checkpoint.adapted import PAIRS, origin_of
from core.checkpoint.unlisted import base_of
from core.errors import UserError
from core.evaluation.intervals import wilson
from core.evaluation.reliability import mcnemar
from core.evaluation.scores import ranking
from core.wording import capital, counted, percent, score_percent

MOST_KINDS = 3
"""Length of the lists of losses and gains: the verdict below them should stay in sight."""
MOST_ROWS = 2_000
"""Maximum number of rows of a file on which an adapted model is tested here; the Error desk takes more."""
_PULL, _TESTED = "pull of the corrections", "tested file of corrections"


def suites_come_late(answered: Answered) -> bool:
    """Whether :func:`what_changed` may wait for the suites, as after a restart of the server."""
    return "base" in answered.checkpoint.card and not suites_are_read(origin_of(answered.checkpoint))


def what_changed(page: PageSession[ExploreState], answered: Answered, place: DeltaGenerator) -> None:
    """The effects of an adapted model, in this ``place``: on its pairs, our test pairs by kind, and the pairs tried in
    this visit. Open for a new model; for a saved one, if its pairs were kept, once the visitor opens it."""
    adapted = answered.checkpoint
    kept, unlisted = adapted.folder / PAIRS, bool(base_of(page.state.model or ""))
    if not kept.is_file():
        return
    base, settings = origin_of(adapted), adapted.card.get("adaptation") or {}
    if adapted.labels != base.labels or "pull" not in settings:
        return
    with place, folded("What changed", f"what changed {unlisted}", expanded=unlisted) as is_open:
        if not is_open:
            return
        corrections, pull = from_csv(kept.read_text(encoding="utf-8")), float(settings["pull"])
        with st.spinner("Testing …"):
            read_suites(base)
            examples = examples_of(base, corrections)
            found = fitted(base, examples, pull)
        page_style.note(found.changed.sentence)
        missed = found.changed.learned < len(corrections)
        weaker = [fitted(base, examples, other).changed for other in PULLS if missed and other < pull]
        if weaker and (said := learned_with_less(found.changed, weaker)):
            page_style.note(said)
        _slider(page, base, examples, pull, corrections)
        _kinds(found.changed.kinds)
        _pairs(f"Corrected {unit(base.card)}s", base, examples, found, [one.pair for one in corrections])
        _pairs(f"{capital(unit(base.card))}s tried", base, examples, found, _tried(base, corrections), changed=True)
        _file(base, found)
        both = {"model": base.name, "with": page.state.model or ""}
        page_style.page_link("compare", both, f"Compare both on this {unit(base.card)}")
        if unlisted:
            own.save(page, page.state.model or "", adapted.card, adapted.folder)


def _file(base: Checkpoint, found: Fitted) -> None:
    """The labelled rows of a file before and after, rows that are wrong now first."""
    with st.popover("Test on a labelled file"):
        opened = st.file_uploader(
            f"Labelled {unit(base.card)}s", ["csv", "tsv", "jsonl"], key=_TESTED, max_upload_size=5
        )
        if opened is None:
            return
        content = opened.getvalue()
        key = digest([content.hex(), base.card["sha256"]])
        try:
            rows, features = once("tested file", key, lambda: _read(opened.name, content, base))
        except UserError as error:
            page_style.notice([f"{str(error).rstrip('.')}."])
            return
        gold = np.array([base.labels.index(one.label) for one in rows])
        before = old_classifier(base).logits(features).argmax(1).numpy() == gold
        after = found.linear.logits(features).argmax(1).numpy() == gold
        shares = [f"{percent(float(right.mean()))} ({_interval(right)})" for right in (before, after)]
        page_style.note(
            f"{counted(len(rows), 'row')}: {shares[0]} right before, {shares[1]} now; {int((after & ~before).sum())} "
            f"fixed, {int((before & ~after).sum())} lost; McNemar’s exact p = {_p(mcnemar(before, after).p)}."
        )
        if candidates.fits(base):
            page_style.note(_ranked(base, rows, [one.logits(features) for one in (old_classifier(base), found.linear)]))
        lost = [rows[place] for place in np.flatnonzero(before & ~after)[:MOST_KINDS]]
        lists.table(
            ["lost", "label"],
            [(" / ".join(short(text, QUOTED) for text in one.pair if text), one.label) for one in lost],
        )


def _ranked(base: Checkpoint, rows: Sequence[Correction], logits: Sequence[Tensor]) -> str:
    """The ranking of the answers to each question, before and after: the purpose of such a model."""
    right = right_class(base.card)
    assert right is not None, "it ranks answers"
    questions, relevant = [one.first for one in rows], [one.label == base.labels[right] for one in rows]
    odds = [(one[:, right] - one[:, 1 - right]).tolist() for one in logits]
    before, after = (ranking(questions, relevant, scores) for scores in odds)
    scores = [f"{name} {score_percent(a)} before, {score_percent(b)} now" for name, a, b in (
        ("MAP", before.map, after.map), ("MRR", before.mrr, after.mrr),
    )]  # fmt: skip
    return f"Questions with a right answer: {after.questions:,}. Ranking their answers: {'; '.join(scores)}."


def _read(name: str, content: bytes, base: Checkpoint) -> tuple[list[Correction], Tensor]:
    """The rows of a file that this model can be tested on, at most :data:`MOST_ROWS`, and their features. Raises
    UserError if there is none."""
    rows = usable(read_uploaded(name, content, names_of(base)), base)[:MOST_ROWS]
    if not rows:
        raise UserError(
            f"no row of {name} has a label among {', '.join(names_of(base).values())}: choose a file of its task"
        )
    return rows, feature_vectors(base, [one.pair for one in rows])


def _interval(right: np.ndarray) -> str:
    low, high = wilson(int(right.sum()), len(right))
    return f"{100 * low:.1f} – {100 * high:.1f}"


def _slider(
    page: PageSession[ExploreState],
    base: Checkpoint,
    examples: Examples,
    pull: float,
    corrections: Sequence[Correction],
) -> None:
    def pulled(chosen: str) -> None:
        name = page.state.model or ""
        mine = bool(base_of(name)) and own_models.made(name)
        try:
            saved = save(base, examples, float(chosen), corrections, name if mine else "")
        except UserError as error:  # the disk is full
            page.refuse(f"{capital(str(error)).rstrip('.')}.")
            return
        if not mine:
            page.set(page.state.updated(model=saved))

    steps = [f"{one:g}" for one in PULLS]
    # One widget for all pulls: a new one would lose the keyboard focus with each step.
    st.session_state[_PULL] = f"{min(PULLS, key=lambda one: abs(one - pull)):g}"
    st.select_slider(
        "Pull towards the old weights: to the left it learns more, to the right it forgets less",
        steps,
        format_func=lambda step: f"{steps.index(step) + 1} of {len(steps)}",
        **page.widget(_PULL, pulled, lambda name: name),
    )


def _kinds(kinds: Sequence[KindEffect]) -> None:
    """The kinds of test pairs that lost most, then those that gained most."""
    worse = [one for one in kinds if one.after < one.before][:MOST_KINDS]
    better = [one for one in reversed(kinds) if one.after > one.before][:MOST_KINDS]
    rows = [
        (f"{one.kind}: {quoted(one.example)}", f"{one.before} of {one.total}", str(one.after), _p(one.p))
        for one in (*worse, *better)
    ]
    lists.table(["test pairs of a kind, and one of them", "right before", "right now", "p (McNemar)"], rows)


def _p(p: float) -> str:
    return "< .001" if p < 0.001 else f"{p:.3f}"


def _tried(base: Checkpoint, corrections: Sequence[Correction]) -> list[tuple[str, str]]:
    corrected = {one.pair for one in corrections}
    pairs = [(first, "" if base.single else second) for first, second in pairs_tried.tried()]
    return [pair for pair in dict.fromkeys(pairs) if pair not in corrected and bool(pair[1]) != base.single]


def _pairs(
    title: str,
    base: Checkpoint,
    examples: Examples,
    found: Fitted,
    pairs: Sequence[tuple[str, str]],
    *,
    changed: bool = False,
) -> None:
    """Verdicts before and after; ``changed``: only pairs whose verdict changed."""
    if not pairs:
        return
    features = once(f"features, {title}", digest([base.card["sha256"], pairs]), lambda: feature_vectors(base, pairs))
    names = list(names_of(base).values())
    before = old_classifier(base).logits(features).softmax(1)
    after = found.linear.logits(features).softmax(1)
    rows = []
    for pair, old, new in zip(pairs, before, after, strict=True):
        was, now = int(old.argmax()), int(new.argmax())
        if not changed or was != now:
            texts = quoted(pair)
            rows.append((texts, *(f"{names[at]} {percent(float(p[at]))}" for at, p in ((was, old), (now, new)))))
    lists.table([title, "before", "now"], rows)
