"""Visitors' models: saving one under a name that everybody sees; and, for its maker, renaming and deleting it."""

from __future__ import annotations

import contextlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from app import own_models, page_style
from app.page_state.session import PageSession
from core.adaptation.corrections import from_csv, to_lines
from core.card import Card, class_titles, unit
from core.checkpoint import CheckpointError, available, epochs
from core.checkpoint.unlisted import PAIRS, base_of, disown, remove, rename, save_as, saving
from core.errors import UserError
from core.files import FileError
from core.wording import capital, counted

LONGEST_TITLE = 100
_LONGEST_LINK = 4_000
"""Maximum length of the corrections in a link, in characters."""


def save(page: PageSession[Any], name: str, card: Card, folder: Path) -> None:
    """The form that saves an unlisted model, and selects it under its new name."""
    if not saving():
        page_style.note("Saving under a name is switched off on this server: download it on its page under Models.")
        return
    with st.popover("Save under a name"), st.form("save the model", border=False):
        new = st.text_input(
            "Save it for all visitors of this server, under the name",
            placeholder="letters, digits, hyphens",
            max_chars=60,
            key="name of the model",
        )
        corrected = (folder / PAIRS).is_file()
        with_pairs = corrected and st.checkbox(f"together with the corrected {unit(card)}s", key="with the pairs")
        if not st.form_submit_button("Save the model"):
            return
        # Inside the popover, which covers what is drawn below it.
        try:
            if new in available():
                raise CheckpointError(f"there is a model named {new} already: choose another name")
            save_as(folder, new, new, own_models.maker(), with_pairs=with_pairs)
        except (FileError, OSError):
            page_style.notice(
                ["The model cannot be written, perhaps because the server’s disk is full: try again later."]
            )
            return
        except UserError as error:
            page_style.notice([f"{capital(str(error)).rstrip('.')}."])
            return
    own_models.forget(name)
    with contextlib.suppress(OSError, ValueError, FileError):  # then the list has both
        disown(folder)
    page.set(page.state.updated(model=new))
    st.rerun()


def about(card: Card) -> list[tuple[str, str]]:
    """The facts about an adaptation, for the table on the model's card."""
    adaptation = card.get("adaptation") or {}
    labels = adaptation.get("labels")
    shown = labels.items() if isinstance(labels, dict) else ()
    names = dict(zip(card["labels"], class_titles(card), strict=True))
    listed = ", ".join(f"{names.get(label, label)} {number}" for label, number in list(shown)[:12])
    settings = ", ".join(f"{key} {adaptation[key]}" for key in ("pull", "keep", "C", "balanced") if key in adaptation)
    rows = adaptation.get("rows")
    return [
        ("Adapted from", card["base"]["title"]),
        ("To", f"{counted(rows, unit(card))} ({listed})" if isinstance(rows, int) else "not stated"),
        ("Settings", settings),
    ]


def manage(page: PageSession[Any], name: str, card: Card, folder: Path) -> None:
    """A download of the model and, for its maker, the forms that rename and delete it."""
    st.download_button(
        "Download the model (.zip)", lambda: _zipped(folder), f"{folder.name}.zip", "application/zip",
        key="download the model", on_click="ignore",
    )  # fmt: skip
    if base_of(name):
        page_style.note("Unlisted: for a day, only people with its link can open it.")
        save(page, name, card, folder)
    if own_models.made(name):
        _rename_or_delete(page, name, card, folder)
    if "base" in card:
        _adapt_again(card, folder)


def _adapt_again(card: Card, folder: Path) -> None:
    """A link to the page where the model was adapted, with its corrections if they were kept."""
    kept = folder / PAIRS
    corrections = from_csv(kept.read_text(encoding="utf-8")) if kept.is_file() else ()
    lines = to_lines(corrections)
    if not corrections and "pull" in (card.get("adaptation") or {}):
        page_style.page_link("explore", {"model": card["base"]["name"]}, "Adapt again: correct verdicts in Explore")
    elif not corrections:
        page_style.page_link("error_desk", {}, "Adapt again: choose its file under New run")
    elif len(lines) > _LONGEST_LINK:
        page_style.page_link("explore", {"model": card["base"]["name"]}, "Adapt again: open pairs.csv of the download")
    else:
        first, second = corrections[0].pair
        tray = {"model": card["base"]["name"], "first": first, "second": second, "corrections": lines}
        page_style.page_link("explore", tray, f"Adapt again: {counted(len(corrections), 'correction')} in Explore")


def _rename_or_delete(page: PageSession[Any], name: str, card: Card, folder: Path) -> None:
    with st.form("rename the model", border=False):
        title = st.text_input("Title", card["title"], max_chars=LONGEST_TITLE, key=f"title of {folder.name}")
        if st.form_submit_button("Rename") and title.strip() and _done(lambda: rename(folder, title.strip())):
            page.set(page.state)  # select boxes would still show the old title
            st.rerun()
    with st.popover("Delete the model"):
        page_style.note("Runs and links that name it can no longer open it.")
        if st.button("Delete it for everybody", key="delete the model") and _done(lambda: remove(folder)):
            own_models.forget(name)
            page.set(page.state.updated(model=None))
            st.rerun()


def _done(change: Callable[[], None]) -> bool:
    """Makes a change on disk, or shows why it failed, as on a full disk or for a deleted model."""
    try:
        change()
    except (OSError, ValueError, FileError):
        page_style.notice(["This model is gone, or its folder cannot be written: reload the page."])
    else:
        return True
    return False


def _zipped(folder: Path) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted([*folder.iterdir(), *folder.glob(f"{epochs.FOLDER}/*/*")]):
            if path.is_file() and path.suffix in (".json", ".safetensors", ".csv"):
                archive.write(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
    return out.getvalue()
