"""Corrected verdicts: a tray of pairs with the right class, and a model adapted to them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st

from app import own_models, page_style
from app.explore.answering import Answered
from app.page_state.codec import short
from app.page_state.explore import ExploreState
from app.page_state.session import PageSession
from app.page_state.widgets import folded
from app.pair_form import digest, once
from app.panels.verdict import Correct
from core.adaptation.adapt import Examples, assembled
from core.adaptation.corrections import Correction, from_csv, merged, put, to_csv, words_of
from core.adaptation.fits import KEEP
from core.adaptation.reading_ahead import read_ahead
from core.adaptation.what_changed import (
    default_pull,
    fitted,
    suites_are_read,
    tested,
)
from core.card import class_titles
from core.checkpoint import Checkpoint, available, load_named
from core.checkpoint.adapted import PAIRS, origin_of, save_unlisted
from core.checkpoint.unlisted import new_name
from core.data import DataError, Example, Picked, read
from core.data.dataset import UnknownLayoutError
from core.data.labels import key, proposed
from core.data.stream import seen_in
from core.errors import UserError
from core.wording import capital, counted

QUOTED = 40
"""Length limit in characters of a sentence in the tray."""
NO_NAMES: Mapping[str, str] = {}
_OPENED = "opened corrections"


def choices(page: ExploreState, checkpoint: Checkpoint) -> Correct | None:
    """The classes that the user can choose as right; None for a model without a classifier that could learn them, and
    for an epoch of a training."""
    if checkpoint.model.output_layer is None or len(checkpoint.labels) < 2 or page.epoch:
        return None
    words = words_of(_texts(page, checkpoint))
    said = next((one.label for one in page.corrections if one.words == words), "")
    return Correct(names_of(checkpoint), said if said in checkpoint.labels else "")


def names_of(checkpoint: Checkpoint) -> Mapping[str, str]:
    """The classes' names on screen."""
    return dict(zip(checkpoint.labels, class_titles(checkpoint.card), strict=True))


def _texts(page: ExploreState, checkpoint: Checkpoint) -> tuple[str, str]:
    first, second = page.pair.now
    return first, "" if checkpoint.single else second


def choose(page: PageSession[ExploreState], label: str) -> None:
    """Stores the class that the user chose as right for the pair shown; an empty one withdraws the correction."""
    state = page.state
    checkpoint = load_named(state.model or "")
    new = Correction(*_texts(state, checkpoint), label)
    others = tuple(one for one in state.corrections if one.words != new.words)
    try:
        page.change(corrections=put(others, new) if label in checkpoint.labels else others)
    except UserError as error:
        page.refuse(f"{error}.")


def usable(corrections: Sequence[Correction], base: Checkpoint) -> list[Correction]:
    """The corrections that this model can learn: with its classes, and of pairs or single texts, whichever it reads."""
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
        fitting = usable(listed, base)
        if len(fitting) < len(listed):
            other = len(listed) - len(fitting)
            verb = "is" if other == 1 else "are"
            page_style.note(f"{counted(other, 'correction')} of other classes or texts {verb} not for this model.")
        if fitting and {*fitting} == learned(answered.checkpoint):
            page_style.note("The model shown is adapted to them.")
        elif fitting and st.button("Adapt the model", type="primary", key="adapt", width="stretch"):
            _adapt(page, base, fitting)


def learned(checkpoint: Checkpoint) -> set[Correction]:
    """The corrections that a model was adapted to, if they were kept; none for any other model."""
    kept = checkpoint.folder / PAIRS
    return {*from_csv(kept.read_text(encoding="utf-8"))} if kept.is_file() else set()


def files(page: PageSession[ExploreState]) -> None:
    """Saves the corrections as a file, and opens one."""
    listed = page.state.corrections
    if listed:
        page_style.download(
            "Save the corrections (CSV)", to_csv(listed).encode("utf-8-sig"), "pairlens-corrections.csv", framed=True
        )
    st.file_uploader(
        "Open corrections: a labelled file", ["csv", "tsv", "jsonl"], key=_OPENED, on_change=_open, args=(page,),
        max_upload_size=5,
    )  # fmt: skip


def quoted(pair: tuple[str, str]) -> str:
    """The texts, shortened to :data:`QUOTED` characters each."""
    return " / ".join(short(text, QUOTED) for text in pair if text)


def _entry(page: PageSession[ExploreState], base: Checkpoint, place: int, one: Correction) -> None:
    """One correction: its texts, its class to change, and a button that removes it."""
    listed, names = page.state.corrections, names_of(base)

    def change(label: str) -> None:
        page.change(corrections=tuple(Correction(*old.pair, label) if old is one else old for old in listed))

    def remove() -> None:
        page.change(corrections=tuple(old for old in listed if old is not one))

    with st.container(key=f"correction {place}"):
        texts = quoted(one.pair)
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
    """Adds the labelled pairs of a file, or shows the reason why not in one sentence."""
    opened = st.session_state[_OPENED]
    page.touch()
    if opened is None:
        return
    model = page.state.model or ""
    try:
        names = names_of(load_named(model)) if model in available() else NO_NAMES
        found = read_uploaded(opened.name, opened.getvalue(), names)
    except UserError as error:
        page.refuse(f"{str(error).rstrip('.')}.")
        return
    corrections, told = merged(page.state.corrections, found)
    page.change(corrections=corrections)
    if told:
        page.refuse(" ".join(told))


def read_uploaded(name: str, content: bytes, names: Mapping[str, str] = NO_NAMES) -> list[Correction]:
    """The labelled pairs of an uploaded file. A label may be one of the classes ``names`` (by label) as written on
    screen, or mean one of them without doubt. Raises DataError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / re.sub(r"[^\w.-]|^\.+", "_", name)[-80:]
        path.write_bytes(content)
        rows = _rows(path)
    labels = {key(name): label for label, name in names.items()} | {key(label): label for label in names}
    found = [(row, row.shown_label) for row in rows if row.label is not None]
    every = {label for _, label in found}
    meant = {label: proposed(label, every, [*names]) for label in every if key(label) not in labels}
    labels |= {key(label): classes[0] for label, classes in meant.items() if len(classes) == 1}
    if not found:
        raise DataError(f"no row of {path.name} has a label: write the right classes into a column named label")
    return [Correction(row.first, row.second, labels.get(key(label), label)) for row, label in found]


def _rows(path: Path) -> Sequence[Example]:
    """The rows of a file with known columns, or with other headers if their meaning is unambiguous. Raises
    DataError."""
    try:
        return read(path, labelled=False).rows
    except UnknownLayoutError:
        guess, name = seen_in(path).guess(), path.name
        if not {"first", "label"} <= guess.keys():
            raise DataError(f"the columns of {name} are not known: call them sentence1, sentence2 and label") from None
        return read(path, labelled=False, columns=Picked.of(guess)).rows


def _adapt(page: PageSession[ExploreState], base: Checkpoint, corrections: Sequence[Correction]) -> None:
    """Adapts the model and selects it."""
    try:
        with st.spinner("Learning the corrections …"):
            read_suites(base)
            examples = examples_of(base, corrections)
            pull = default_pull(base, examples)
            name = save(base, examples, pull, corrections)
    except UserError as error:
        page.refuse(f"{capital(str(error)).rstrip('.')}.")
        st.rerun()  # the page's sentences are drawn before the sidebar
    _select(page, name)


def read_suites(base: Checkpoint) -> None:
    """Waits for the base's features of the suites, with progress."""
    if suites_are_read(base):
        return
    shown = st.empty()

    def progress(done: int, of: int) -> None:
        shown.progress(done / of, f"{done:,} of {of:,} test pairs read")

    tested(base, progress)
    shown.empty()


def examples_of(base: Checkpoint, corrections: Sequence[Correction]) -> Examples:
    """The corrections as the base model reads them; cached, because every run of the page needs them."""
    key = digest([base.card["sha256"], to_csv(corrections)])
    pairs, labels = [one.pair for one in corrections], [one.label for one in corrections]
    return once("read corrections", key, lambda: Examples.of(base, pairs, labels))


def save(base: Checkpoint, examples: Examples, pull: float, corrections: Sequence[Correction], name: str = "") -> str:
    """Saves the adapted model under an unlisted name, by default a new one, and returns the name."""
    name = name or new_name(base.name)
    settings = {"pull": pull, "keep": KEEP}
    adapted = assembled(base, examples, fitted(base, examples, pull).linear, settings, name=name)
    learned, maker = [one.pair for one in corrections], own_models.maker()
    save_unlisted(name, adapted, to_csv(corrections), learned, maker)
    own_models.add(name)
    return name


def _select(page: PageSession[ExploreState], name: str) -> None:
    page.update(model=name)  # only the list of models changes: text typed meanwhile stays
    st.rerun()  # the whole page
