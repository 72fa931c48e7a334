"""An external model on the page Models: facts that need no loading, and the form for its class names."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import streamlit as st

from app import page_style
from app.model_choice import Card, megabytes
from core.checkpoint.memory import memory_limit
from core.errors import CheckpointError, UserError
from core.external import card as guests
from core.external.card import BI_ENCODER
from core.external.folder import files_of, weights_of
from core.external.headers import shapes_of
from core.external.modules import prompts_of
from core.external.suggestion import LABELS, Suggestion, suggestion, usual_labels
from core.layers.heads import title_of
from core.models.answers import SIGMOID, SOFTMAX
from core.tasks import TASKS
from core.wording import counted

_SUGGESTED = "suggested labels"
"""Session key of the suggestions, by folder."""
_REOPENED = "reopened classes"
"""Session key of the folder whose form was reopened."""
_GOOD = 0.7
"""Minimum accuracy on the simple pairs for a useful suggestion."""
_FLOAT = 4
"""Bytes per weight in memory."""


def facts(card: Card, folder: Path) -> list[tuple[str, str]]:
    """Facts from the folder's files, one line each, without reading weights."""
    config, roles = card["config"], card["roles"]
    sizes = config.get("layers"), config.get("heads")
    heads = ", {} layers × {} heads".format(*sizes) if all(sizes) else ""
    order = [roles["first"], roles["second"]]
    asked = bool(card.get("asked"))
    labels = f"{', '.join(card['labels'])}{': name them below' if asked else ''}"
    of, numbers = weights(folder), parameters(folder)
    lines = [
        ("Architecture", f"{card['guest']}{heads}, external"),
        ("Licence of the weights", str(card["licence"])),
        ("Classes", labels),
        ("Answers with", _answer(card)),
        ("Reads", ", then ".join(reversed(order) if card.get("second_first") else order)),
    ]
    prompted = "each text" if card["architecture"] == BI_ENCODER else "the text read first"
    lines += [(f"Before {prompted}", prompts)] if (prompts := _prompts(folder)) else []
    lines += [("Shown first", title_of(config["head"]))] if "head" in config else []
    lines += [("Parameters", f"{numbers:,}")] if numbers else []
    loaded = f", {megabytes(numbers * _FLOAT)} in memory" if numbers else ""
    lines += [("Size", f"{megabytes(of)} on disk{loaded}")] if of else []
    lines += [("Memory", alone)] if (alone := stays_alone(numbers * _FLOAT or of)) else []
    own = (folder, files_of(folder))
    files = ", ".join(
        path.name if path.parent in own else f"{path.parent.name}/{path.name}"
        for path in guests.external_files(folder)
        if path.is_file()
    )
    return [*lines, ("Files", files)] if files else lines


def _answer(card: Card) -> str:
    """The kind of its outputs."""
    activation, one = card["config"].get("activation", SOFTMAX), len(card["labels"]) == 1
    if card["architecture"] == BI_ENCODER and one:
        return "a similarity; no threshold fitted (`python -m trainers calibrate` fits one)"
    if one:
        return "one score between 0 and 1 (its sigmoid)" if activation == SIGMOID else "one score, as it is"
    return "labels, each of which may hold (sigmoids)" if activation == SIGMOID else "classes, one of which holds"


def _prompts(folder: Path) -> str:
    """The prompt that its files define."""
    try:
        prompt, prompts = prompts_of(files_of(folder))
    except CheckpointError:
        return ""
    names = ", ".join(prompts)
    return f"“{prompt}”" if prompt else f"nothing: its prompts ({names}) are optional" if names else ""


def stays_alone(size: int) -> str:
    """A note on a model that is larger than the memory limit; empty for others."""
    try:
        limit = memory_limit()
    except UserError:
        return ""
    if size <= limit:
        return ""
    return f"larger than PAIRLENS_MEMORY_MB ({megabytes(int(limit))}): it evicts all others, and is reloaded after them"


def weights(folder: Path) -> int:
    """Total bytes of its weight files."""
    return guests.size_of(folder)


def parameters(folder: Path) -> int:
    """Number of parameters, from the headers of the weight files; 0 if they cannot be read."""
    try:
        return _parameters(tuple((path, path.stat().st_mtime_ns) for path in weights_of(folder)))
    except (CheckpointError, OSError):
        return 0


@functools.lru_cache(maxsize=64)
def _parameters(files: tuple[tuple[Path, int], ...]) -> int:
    return sum(map(math.prod, shapes_of([path for path, _ in files]).values()))


def names_classes(card: Card) -> bool:
    """Whether the user may name the model's classes."""
    return card["architecture"] == guests.CROSS_ENCODER and len(card["labels"]) > 1


def ask(name: str, card: Card, folder: Path) -> None:
    """The form that names the classes and saves the names in the model's folder. It is open if the classes are only
    numbered; otherwise a button opens it."""
    if not card.get("asked") and st.session_state.get(_REOPENED) != folder:
        if st.button("Change what its classes mean", key=f"reopen {name}"):
            st.session_state[_REOPENED] = folder
            st.rerun()
        return
    page_style.heading("What do its classes mean?")
    page_style.note(
        "The names are saved to pairlens.json in the model’s folder, in the order of the model’s outputs."
        if not card.get("asked")
        else "The model files do not name the classes. Enter the names once here (saved to pairlens.json)."
    )
    classes = guests.labels_of(folder)
    fitting = [task for task in LABELS if usual_labels(task, len(classes))] or list(LABELS)
    known = _suggested(folder)
    generation = f"{name} {known}"
    task = st.selectbox(
        "Task",
        fitting,
        fitting.index(known.task) if known else 0,
        format_func=page_style.capital,
        key=f"task of {generation}",
    )
    suggested = list(known.labels) if known and known.task == task else []
    boxes = st.container(horizontal=True)
    labels = [
        boxes.selectbox(
            f"{page_style.plain(one)} means",
            [*usual_labels(task, len(classes))],
            usual_labels(task, len(classes)).index(suggested[number]) if suggested else None,
            placeholder="Choose, or type a name",
            accept_new_options=True,
            key=f"{one} of {task} {generation}",
        )
        for number, one in enumerate(classes)
    ]
    roles = TASKS[task].texts
    orders = [" first, then ".join(roles), " first, then ".join(roles[::-1])]
    turned = bool(known and known.task == task and known.second_first)
    order = st.radio("The model reads the", orders, int(turned), horizontal=True, key=f"order of {task} {generation}")
    done = sum(bool(label) for label in labels)
    page_style.note(f"{done} of {counted(len(classes), 'class', 'es')} {'has' if done == 1 else 'have'} a name.")
    with st.container(horizontal=True, gap="small"):
        if st.button("Save labels", type="primary", key=f"save {name}"):
            _save(folder, task, [label or "" for label in labels], order == orders[1])
        if st.button(
            f"Suggest labels from 20 simple pairs (loads {megabytes(weights(folder))})", key=f"suggest {name}"
        ):
            _suggest(folder)
    if known:
        poor = known.right < _GOOD * known.of
        page_style.note(
            f"Suggested: with these labels the model gets {known.right} of {known.of} simple pairs right. "
            f"{'That is low: the model may be for another task.' if poor else 'Try some of your own, too.'}"
        )


def _suggested(folder: Path) -> Suggestion | None:
    found: Suggestion | None = st.session_state.get(_SUGGESTED, {}).get(folder)
    return found


def _suggest(folder: Path) -> None:
    bar = st.progress(0.0, "Loading the model …")
    try:
        found = suggestion(folder, lambda done, of: bar.progress(done / of, f"Testing simple pairs: {done} of {of} …"))
    except UserError as error:
        bar.empty()
        page_style.notice([f"No suggestion: {error}."])
        return
    bar.empty()
    if found is None:
        page_style.notice(["No suggestion: no task has the same number of classes."])
        return
    st.session_state.setdefault(_SUGGESTED, {})[folder] = found
    st.rerun()


def _save(folder: Path, task: str, labels: list[str], second_first: bool) -> None:
    if not all(label.strip() for label in labels):
        page_style.notice(["Not written: each class needs a label."])
        return
    try:
        guests.answer(folder, task, [label.strip() for label in labels], second_first)
    except UserError as error:
        page_style.notice([f"Not written: {error}."])
        return
    st.session_state.pop(_REOPENED, None)
    st.toast("Written into pairlens.json.")
    st.rerun()
