"""Corrected verdicts: a tray of pairs with the right class, a model adapted to them, and what that changed."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from app import own_models, page_style
from app.explore import pairs_tried
from app.explore.answering import Answered
from app.models import own
from app.page_state.codec import short
from app.page_state.explore import ExploreState
from app.page_state.session import PageSession
from app.page_state.widgets import folded
from app.pair_form import digest, once
from app.panels import lists
from app.panels.verdict import Correct
from core.adaptation.adapt import Examples, assembled
from core.adaptation.corrections import Correction, from_csv, put, to_csv
from core.adaptation.features import feature_vectors
from core.adaptation.fits import KEEP, PULLS
from core.adaptation.reading_ahead import read_ahead
from core.adaptation.what_changed import (
    Fitted,
    KindEffect,
    default_pull,
    fitted,
    learned_with_less,
    old_classifier,
    suites_are_read,
    tested,
)
from core.checkpoint import Checkpoint, load_named
from core.checkpoint.adapted import PAIRS, origin_of, save_unlisted
from core.checkpoint.unlisted import base_of, new_name
from core.data import read
from core.errors import UserError
from core.evaluation.intervals import wilson
from core.evaluation.reliability import mcnemar
from core.evidence import BOTH
from core.wording import capital, class_names, counted, percent

QUOTED = 40
"""Length limit in characters of a sentence in the tray."""
MOST_KINDS = 3
"""Rows in each of the lists of losses and gains: the verdict below should stay in sight."""
MOST_ROWS = 2_000
"""Rows of a file on which an adapted model is tested at once: the Error desk takes more."""
_PULL, _OPENED, _TESTED = "pull of the corrections", "opened corrections", "tested file of corrections"


def choices(page: ExploreState, checkpoint: Checkpoint) -> Correct | None:
    """The classes that the user can say are right; None for a model without a classifier that could learn it, and for
    an epoch of a training."""
    if checkpoint.model.output_layer is None or len(checkpoint.labels) < 2 or page.epoch:
        return None
    said = next((one.label for one in page.corrections if one.pair == _texts(page, checkpoint)), "")
    return Correct(_names(checkpoint), said if said in checkpoint.labels else "")


def _names(checkpoint: Checkpoint) -> Mapping[str, str]:
    sides = (checkpoint.roles["first"], checkpoint.roles["second"])
    shown = class_names(checkpoint.labels, checkpoint.roles["judged"] if checkpoint.judged != BOTH else sides[1])
    return dict(zip(checkpoint.labels, shown, strict=True))


def _texts(page: ExploreState, checkpoint: Checkpoint) -> tuple[str, str]:
    first, second = page.pair.now
    return first, "" if checkpoint.single else second


def choose(page: PageSession[ExploreState], label: str) -> None:
    """Takes the class that the user says is right for the pair shown; an empty one takes the correction back."""
    state = page.state
    checkpoint = load_named(state.model or "")
    pair = _texts(state, checkpoint)
    others = tuple(one for one in state.corrections if one.pair != pair)
    page.change(corrections=put(others, Correction(*pair, label)) if label in checkpoint.labels else others)


def _usable(corrections: Sequence[Correction], base: Checkpoint) -> list[Correction]:
    """The corrections that this model can learn: of its classes, and of pairs or single texts as it reads them."""
    return [one for one in corrections if one.label in base.labels and bool(one.second.strip()) != base.single]


def tray(page: PageSession[ExploreState], answered: Answered) -> None:
    """The corrections collected so far, and the button that adapts the model to them; nothing before the first one."""
    listed = page.state.corrections
    if not listed or choices(page.state, answered.checkpoint) is None:
        return
    with folded(f"Corrections ({len(listed)})", "corrections", expanded=True) as is_open:
        if not is_open:
            return
        base = origin_of(answered.checkpoint)
        read_ahead(base)
        for place, one in enumerate(listed):
            _entry(page, base, place, one)
        usable = _usable(listed, base)
        if len(usable) < len(listed):
            other = counted(len(listed) - len(usable), "correction")
            page_style.note(f"{other} of other classes or texts are not for this model.")
        if usable and st.button("Adapt the model", type="primary", key="adapt", width="stretch"):
            _adapt(page, base, usable)


def files(page: PageSession[ExploreState]) -> None:
    """Saves the corrections as a file, and opens one."""
    listed = page.state.corrections
    if listed:
        page_style.download(
            "Save the corrections (CSV)", to_csv(listed).encode("utf-8-sig"), "pairlens-corrections.csv", framed=True
        )
    st.file_uploader(
        "Open corrections: labelled pairs", ["csv", "tsv", "jsonl"], key=_OPENED, on_change=_open, args=(page,),
        max_upload_size=5,
    )  # fmt: skip


def _quoted(pair: tuple[str, str]) -> str:
    return " / ".join(short(text, QUOTED) for text in pair if text)


def _entry(page: PageSession[ExploreState], base: Checkpoint, place: int, one: Correction) -> None:
    """One correction: its texts, its class to change, and a button that removes it."""
    listed, names = page.state.corrections, _names(base)

    def change(label: str) -> None:
        page.change(corrections=tuple(Correction(*old.pair, label) if old is one else old for old in listed))

    def remove() -> None:
        page.change(corrections=tuple(old for old in listed if old is not one))

    with st.container(key=f"correction {place}"):
        texts = _quoted(one.pair)
        page_style.note(texts)
        row = st.container(horizontal=True, vertical_alignment="center", gap="small")  # columns would stack on a phone
        labels = list(dict.fromkeys([*base.labels, one.label]))
        row.selectbox(
            f"Right class of {page_style.plain(texts)}",
            labels,
            labels.index(one.label),
            format_func=lambda label: names.get(label, label),
            label_visibility="collapsed",
            width=130,
            **page.widget(f"class {place} {one.first} {one.second} {one.label}", change),
        )
        row.button(
            "", icon=":material/delete:", help="Remove this correction", key=f"remove correction {place}",
            on_click=remove, type="tertiary",
        )  # fmt: skip


def _open(page: PageSession[ExploreState]) -> None:
    """Adds the labelled pairs of a file, or says in one sentence why it cannot."""
    opened = st.session_state[_OPENED]
    page.touch()
    if opened is None:
        return
    try:
        data = read_uploaded(opened.name, opened.getvalue())
    except UserError as error:
        page.refuse(f"{capital(str(error)).rstrip('.')}.")
        return
    corrections = page.state.corrections
    for one in data:
        corrections = put(corrections, one)
    page.change(corrections=corrections)


def read_uploaded(name: str, content: bytes) -> list[Correction]:
    """The labelled pairs of an uploaded file. Raises DataError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / re.sub(r"[^\w.-]|^\.+", "_", name)[-80:]
        path.write_bytes(content)
        rows = read(path).rows
    return [Correction(row.first, row.second, row.label) for row in rows if row.label is not None]


def _adapt(page: PageSession[ExploreState], base: Checkpoint, corrections: Sequence[Correction]) -> None:
    """Adapts the model and selects it."""
    try:
        with st.spinner("Learning the corrections …"):
            _read_suites(base)
            examples = _examples(base, corrections)
            pull = default_pull(base, examples)
            name = _save(base, examples, pull, corrections)
    except UserError as error:
        page.refuse(f"{capital(str(error)).rstrip('.')}.")
        st.rerun()  # the page's sentences are drawn before the sidebar
    _select(page, name)


def _read_suites(base: Checkpoint) -> None:
    """Waits for the base's features of the suites, with progress."""
    if suites_are_read(base):
        return
    shown = st.empty()

    def progress(done: int, of: int) -> None:
        shown.progress(done / of, f"{done:,} of {of:,} test pairs read")

    tested(base, progress)
    shown.empty()


def _examples(base: Checkpoint, corrections: Sequence[Correction]) -> Examples:
    """The corrections as the base reads them, read once: every run of the page asks for them."""
    key = digest([base.card["sha256"], to_csv(corrections)])
    pairs, labels = [one.pair for one in corrections], [one.label for one in corrections]
    return once("read corrections", key, lambda: Examples.of(base, pairs, labels))


def _save(base: Checkpoint, examples: Examples, pull: float, corrections: Sequence[Correction], name: str = "") -> str:
    """Saves the adapted model under an unlisted name, by default a new one, and returns the name."""
    name = name or new_name(base.name)
    settings = {"pull": pull, "keep": KEEP}
    adapted = assembled(base, examples, fitted(base, examples, pull).linear, settings, name=name)
    learned, maker = [one.pair for one in corrections], own_models.maker()
    save_unlisted(name, adapted, to_csv(corrections), learned, maker)
    own_models.add(name)
    return name


def _select(page: PageSession[ExploreState], name: str) -> None:
    page.update(model=name)  # only the list of models is new: what was typed meanwhile stays
    st.rerun()  # the whole page


def suites_come_late(answered: Answered) -> bool:
    """Whether :func:`what_changed` may wait for the suites, as after a restart of the server."""
    return "base" in answered.checkpoint.card and not suites_are_read(origin_of(answered.checkpoint))


def what_changed(page: PageSession[ExploreState], answered: Answered, place: DeltaGenerator) -> None:
    """What an adapted model changed, in this ``place``: its pairs, our test pairs by kind, and the pairs tried in this
    visit. Open for one that was just made; for a saved one, if its pairs were kept, once the visitor opens it."""
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
        with st.spinner("Testing on our pairs …"):
            _read_suites(base)
            examples = _examples(base, corrections)
            found = fitted(base, examples, pull)
        page_style.note(found.changed.sentence)
        missed = found.changed.learned < len(corrections)
        weaker = [fitted(base, examples, other).changed for other in PULLS if missed and other < pull]
        if weaker and (said := learned_with_less(found.changed, weaker)):
            page_style.note(said)
        _slider(page, base, examples, pull, corrections)
        _kinds(found.changed.kinds)
        _pairs("Corrected pairs", base, examples, found, [one.pair for one in corrections])
        _pairs("Pairs tried", base, examples, found, _tried(base, corrections), changed=True)
        _file(base, found)
        both = {"model": base.name, "with": page.state.model or ""}
        page_style.page_link("compare", both, "Compare both on this pair")
        if unlisted:
            own.save(page, page.state.model or "", adapted.folder)


def _file(base: Checkpoint, found: Fitted) -> None:
    """The labelled rows of a file before and after, with those that are wrong now first."""
    with st.popover("Test on a labelled file"):
        opened = st.file_uploader("Labelled pairs", ["csv", "tsv", "jsonl"], key=_TESTED, max_upload_size=5)
        if opened is None:
            return
        content = opened.getvalue()
        key = digest([content.hex(), base.card["sha256"]])
        try:
            rows, features = once("tested file", key, lambda: _read(opened.name, content, base))
        except UserError as error:
            page_style.notice([f"{capital(str(error)).rstrip('.')}."])
            return
        gold = np.array([base.labels.index(one.label) for one in rows])
        before = old_classifier(base).logits(features).argmax(1).numpy() == gold
        after = found.linear.logits(features).argmax(1).numpy() == gold
        shares = [f"{percent(float(right.mean()))} ({_interval(right)})" for right in (before, after)]
        page_style.note(
            f"{counted(len(rows), 'row')}: {shares[0]} right before, {shares[1]} now; {int((after & ~before).sum())} "
            f"fixed, {int((before & ~after).sum())} lost; McNemar’s exact p = {_p(mcnemar(before, after).p)}."
        )
        lost = [rows[place] for place in np.flatnonzero(before & ~after)[:MOST_KINDS]]
        lists.table(
            ["lost", "label"],
            [(" / ".join(short(text, QUOTED) for text in one.pair if text), one.label) for one in lost],
        )


def _read(name: str, content: bytes, base: Checkpoint) -> tuple[list[Correction], Tensor]:
    """The rows of a file that this model can be tested on, at most :data:`MOST_ROWS`, and their features. Raises
    UserError if there is none."""
    rows = _usable(read_uploaded(name, content), base)[:MOST_ROWS]
    if not rows:
        raise UserError(
            f"no row of {name} has a label among {', '.join(base.labels)}: choose a file of this model's task"
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
            saved = _save(base, examples, float(chosen), corrections, name if mine else "")
        except UserError as error:  # the disk is full
            page.refuse(f"{capital(str(error)).rstrip('.')}.")
            return
        if not mine:
            page.set(page.state.updated(model=saved))

    steps = [f"{one:g}" for one in PULLS]
    # One widget for all pulls: a new one would take the focus from the keyboard with each step.
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
        (f"{one.kind}: {_quoted(one.example)}", f"{one.before} of {one.total}", str(one.after), _p(one.p))
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
    """Verdicts before and after; ``changed``: only of pairs whose verdict is another now."""
    if not pairs:
        return
    features = once(f"features, {title}", digest([base.card["sha256"], pairs]), lambda: feature_vectors(base, pairs))
    names = list(_names(base).values())
    before = old_classifier(base).logits(features).softmax(1)
    after = found.linear.logits(features).softmax(1)
    rows = []
    for pair, old, new in zip(pairs, before, after, strict=True):
        was, now = int(old.argmax()), int(new.argmax())
        if not changed or was != now:
            texts = _quoted(pair)
            rows.append((texts, *(f"{names[at]} {percent(float(p[at]))}" for at, p in ((was, old), (now, new)))))
    lists.table([title, "before", "now"], rows)
