"""Choosing a run: a stored one, or a file and checkpoints for a prediction in the background."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import streamlit as st

from app import page_style
from app.desk import adapting, annotator, jobs
from app.desk.open_run import PAGE, attempt, database, show_run
from app.model_choice import offered, titles
from app.page_state.widgets import labelled
from app.pair_form import once
from core.archives import MOST_MEMBERS, TooLargeError, pieces
from core.card import Card, ranked_by
from core.data import DataError, Dataset, Picked, read
from core.data.dataset import UnknownLayoutError
from core.data.labels import ANSWERS, CountsAs, Scale, graded, is_number, mismatch, proposed, task_of
from core.data.lines import LARGEST
from core.data.picked import Seen
from core.data.stream import seen_in
from core.desk import source, store
from core.desk.annotations import Annotations
from core.desk.folders import SUFFIXES, data_file, data_files, datasets_folder, is_run
from core.desk.jobs import Job
from core.desk.prediction import NO_MAPPING, prediction
from core.desk.run import MOST_MODELS, RunHeader, fitting
from core.errors import DeskError, UserError
from core.evaluation.probe import suits
from core.evaluation.suites import SUITES
from core.wording import told_apart

_JOB = "desk prediction"
_UNPACKED = 10
"""How many times its size limit an upload may reach when decompressed."""
_Read = TypeVar("_Read")
_NONE = "(none)"
_PARTS = {"first": "First text", "second": "Second text", "label": "Label", "id": "Id", "group": "Question"}
"""The form's labels for the parts of a row."""
_HEADER, _ROW = "names of the columns", "a row"
_UNSCORED = "no matching class (rows not scored)"
_MAPPED = 12
"""Maximum number of labels that can be mapped on screen."""
_PICTURES = Path(__file__).parent
_FINISHED = "A finished run: a filter, a table of rows with gold labels and predictions, and a confusion matrix"


def run_choice() -> None:
    """The select boxes for a run and its models, in the sidebar, and the button for a new run."""
    runs = {store.short(run.sha256): run for run in store.runs()}
    state, names = PAGE.state, store.names_of(runs.values())
    st.selectbox(
        "Run",
        list(runs),
        list(runs).index(state.file) if state.file in runs else None,
        placeholder="A new run" if runs else "No run yet",
        format_func=lambda file: names[runs[file].sha256],
        **PAGE.widget("file", _open_run, labelled(PAGE, names)),
    )
    if state.file in runs:
        models = told_apart({store.short(model.sha256): model.title for model in runs[state.file].models}, letters=6)
        if models:
            st.multiselect(
                "Models, A first",
                list(models),
                [model for model in state.models if model in models],
                format_func=models.__getitem__,
                max_selections=MOST_MODELS,
                **PAGE.widget("models", _choose_models, labelled(PAGE, models)),
            )
        st.button(
            "New run",
            key="desk new",
            on_click=lambda: PAGE.set(PAGE.state.updated(file=None, models=())),
            type="tertiary",
            icon=":material/add:",
        )


def _open_run(file: str) -> None:
    show_run(file, [model.sha256 for model in store.header(file).models])


def _choose_models(models: list[str]) -> None:
    if models:
        PAGE.update(models=tuple(models))
    else:  # the select boxes return to the previous ones
        PAGE.set(PAGE.state)


def run_is_open() -> bool:
    """Whether the page shows a run: one with models, or the rows of a file that no model has predicted."""
    file = PAGE.state.file
    if file is None or PAGE.state.models or not store.has_run(file):
        return file is not None and bool(PAGE.state.models)
    if models := store.header(file).models:  # predicted meanwhile
        show_run(file, (model.sha256 for model in models), PAGE.state.view)
    return True


def new_run() -> None:
    """The form for a new run, with the predictions in progress."""
    page_style.heading("New run")
    page_style.note(
        "Find out where models err: predict a data file with one to four checkpoints, filter its rows, compare slices "
        "and models, and tag errors. Or teach a model the classes of your own file, and see on which rows it errs."
    )
    jobs.draw_running()
    jobs.draw_unfinished()
    adapting.draw_unfinished()
    jobs.finish(_JOB, "The prediction was stopped; what the finished checkpoints predicted is kept.")
    adapting.finish()
    page_style.note("No file at hand? Try hand-written pairs:")
    with st.container(horizontal=True, gap="small"):
        for name, suite in SUITES.items():
            busy = _JOB in st.session_state
            st.button(
                f"{suite.title} ({len(suite.pairs.rows):,})",
                key=f"desk sample {name}",
                help=suite.about,
                on_click=_begin_sample,
                args=(name,),
                disabled=busy,
            )
    chosen = _file()
    if isinstance(chosen, RunHeader):
        show_run(chosen.sha256, (model.sha256 for model in chosen.models))
        st.rerun()
    elif chosen is not None:
        _models(*chosen)
    elif not store.runs():
        shown = "dark" if st.context.theme.type == "dark" else "light"
        with st.container(width=720):  # at most: an image with this width is cut off on a phone
            st.image(_PICTURES / f"finished_run_{shown}.png", "A finished run", "stretch", alt=_FINISHED)


def _file() -> tuple[Dataset, Mapping[str, str]] | RunHeader | None:
    """The uploaded or chosen data set with the names that its header gives to the texts, or the run copied to the desk;
    None if there is none or it cannot be read."""
    limit, names = int(st.get_option("server.maxUploadSize")), data_files()
    uploaded = st.file_uploader(
        f"Upload a file (up to {limit} MB)",
        [suffix[1:] for suffix in (*SUFFIXES, ".zip", ".xls")],  # .xls is accepted only to explain what to do
        key="desk upload",
        help="SNLI, MultiNLI, SICK, WikiQA, TrecQA, SelQA, MSRP, Quora, TaxiNLI, documents, or CSV, TSV, JSON, XML, "
        "Parquet or an Excel workbook; or a run that `python -m trainers predict … --out run/` wrote, packed as .zip.",
        max_upload_size=limit,
    )
    page_style.note(
        "All visitors to this server see all runs, with their texts, tags and notes. You can delete a run under Export "
        "if you made it with your name in the sidebar."
    )
    name = None
    if datasets_folder() is not None:
        name = st.selectbox("or choose a file on the server", names, None, placeholder="Files under PAIRLENS_DATASETS")
    shown = uploaded.name if uploaded is not None else name or ""
    try:
        if uploaded is not None:
            largest = limit * _UNPACKED * 1_000_000
            return _read(uploaded.file_id, lambda: _as_file(uploaded.name, uploaded.getvalue()), largest)
        if name:
            path = data_file(name)
            changed = max(file.stat().st_mtime_ns for file in (path, *(path.iterdir() if path.is_dir() else ())))
            return _read(f"{name} {changed}", lambda: nullcontext(path), LARGEST)
    except UserError as error:
        page_style.notice([f"{error}."])
    except OSError as error:  # its text contains the file's path on the server
        page_style.notice([f"{shown} cannot be read ({error.strerror}): choose it again, or another file."])
    return None


@contextmanager
def _as_file(name: str, data: bytes) -> Iterator[Path]:
    """The uploaded bytes as a temporary file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (Path(name.replace("\\", "/")).name[-100:] or "upload")
        path.write_bytes(data)
        yield path


def _read(
    token: str, file: Callable[[], AbstractContextManager[Path]], largest: int
) -> tuple[Dataset, Mapping[str, str]] | RunHeader | None:
    """The file in its recognised layout, or with columns picked by the user; it may decompress to ``largest`` bytes."""

    def reading(read: Callable[[Path], _Read]) -> _Read:
        with file() as path:
            return read(path)

    known = once("desk file", token, lambda: reading(lambda path: _adopted(path, largest)))
    if isinstance(known, RunHeader):
        return known
    if isinstance(known, Dataset):
        page_style.note(known.summary())
        if not st.checkbox("Choose the columns myself", key=f"desk columns {token}"):
            return known, {}
        seen = once("desk seen", token, lambda: reading(lambda path: seen_in(path, largest)))
    else:
        seen = known
        guessed = "The columns are guessed from the first rows: change what is wrong."
        asked = "PairLens does not know these columns: choose what each part of a row is."
        page_style.note(guessed if seen.guess() else asked)
    picked = _picked(seen, token)
    if picked is None:
        return None
    data = once("desk picked", (token, picked), lambda: reading(lambda path: _read_by(path, largest, picked)))
    page_style.note(data.summary())
    return data, {"first": picked.first, "second": picked.second} if picked.header else {}


def _picked(seen: Seen, token: str) -> Picked | None:
    """The columns picked by the user; None until the first text is picked and the first line of a table is decided."""
    header = _has_header(seen, token)
    if header is None:
        return None
    names = list(seen.names) if header else [str(place) for place in range(1, len(seen.first) + 1)]
    shown = dict(zip(names, seen.first, strict=False)) if not header else {}
    guess = seen.guess() if header else {}
    chosen = {
        part: column.selectbox(
            what,
            [_NONE, *names],
            1 + names.index(guess[part]) if part in guess else 0,
            format_func=lambda name: f"{name}: {shown[name][:40]}" if name in shown else name,
            key=f"desk pick {what} {header} {token}",
        )
        for column, (part, what) in zip(st.columns(len(_PARTS)), _PARTS.items(), strict=True)
    }
    if chosen["first"] == _NONE:
        page_style.hint("Choose the column of the first text.")
        return None
    return Picked.of({part: name for part, name in chosen.items() if name != _NONE}, header)


def _has_header(seen: Seen, token: str) -> bool | None:
    """The user's answer on whether a table's first line is a header; no default if it looks like a row. True for
    JSON."""
    if not seen.first:
        return True
    line = " · ".join(cell.strip() for cell in seen.first)
    page_style.note(f"First line: {line[:120]}{'…' if len(line) > 120 else ''}")
    answer = st.radio(
        "What is the first line?",
        [_HEADER, _ROW],
        None if seen.doubtful else 0,
        horizontal=True,
        key=f"desk header {token}",
    )
    return None if answer is None else answer == _HEADER


def _adopted(path: Path, largest: int) -> Dataset | RunHeader | Seen:
    """The file as :func:`_recognised`; a new run is the visitor's."""
    before = {run.sha256 for run in store.runs()}
    known = _recognised(path, largest)
    if isinstance(known, RunHeader) and known.sha256 not in before:
        Annotations(database()).made(annotator.name(), known.sha256)
    return known


def _recognised(path: Path, largest: int) -> Dataset | RunHeader | Seen:
    """The data set, the run after copying it to the desk, or the columns to pick from. Raises DataError if there are
    none, and for a file that cannot be read or decompresses to more than ``largest`` bytes."""
    if path.suffix == ".zip":
        with _unpacked(path, largest) as folder:
            return store.adopt(folder, largest)
    if is_run(path):
        return store.adopt(path, largest)
    try:
        return _read_by(path, largest)
    except UnknownLayoutError:
        seen = seen_in(path, largest)
        if len(seen.names) < 2 and seen.first:  # text without columns
            raise
        return seen


@contextmanager
def _unpacked(path: Path, largest: int) -> Iterator[Path]:
    """The files of a zipped run, which may be inside a folder, as a temporary folder with the name of the upload."""
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer) / path.name  # errors name it
        folder.mkdir()
        try:
            with path.open("rb") as file:
                for name, piece in pieces(file, largest):
                    with (folder / Path(name).name).open("ab" if piece else "wb") as target:
                        target.write(piece)
        except TooLargeError:
            raise DeskError(
                f"{path.name} unpacks to more than {largest / 1e6:,.0f} MB or {MOST_MEMBERS:,} files: upload a smaller "
                "run"
            ) from None
        except (OSError, ValueError):
            raise DeskError(f"{path.name} is not a readable .zip: pack the folder of a run") from None
        yield folder


def _read_by(path: Path, largest: int, picked: Picked | None = None) -> Dataset:
    dataset = fitting(read(path, labelled=False, largest=largest, columns=picked))
    return replace(dataset, source=source.source_of(dataset, path, picked))


def _counted_as(dataset: Dataset, classes: tuple[str, ...], positive: str | None) -> dict[str, list[str]]:
    """The form that maps the file's labels to these classes of models, for all labels that match none of them or may
    stand for several. Defaults are their meanings, if certain."""
    labels = dataset.labels
    if graded(labels) or (len(classes) == 1 and all(map(is_number, labels))):  # scored by correlation
        return {}
    unknown = Scale(classes, {}, positive).unknown(labels)
    grades = positive is not None and graded(labels, unknown)
    guesses = {label: proposed(label, labels, classes) for label in labels}
    asked = [label for label in labels if label in unknown or (unknown and len(guesses[label]) > 1)][:_MAPPED]
    if not asked:
        return {}
    note = "Map these labels of the file to the model’s classes; several classes may count as one label."
    page_style.note(f"{note} If they are grades, leave them unmapped." if grades else note)
    spelled = {row.label: row.shown_label for row in reversed(dataset.rows)}
    counts_as: dict[str, list[str]] = {}
    for label, column in zip(asked, itertools.cycle(st.columns(min(3, len(asked)))), strict=False):
        chosen = column.multiselect(
            page_style.plain(f"“{spelled[label]}” is"),
            [*classes, _UNSCORED],
            guesses[label],
            key=f"desk label {label} {dataset.sha256} {classes}",
        )
        if chosen:
            counts_as[label] = [] if _UNSCORED in chosen else chosen
    left = [spelled[label] for label in asked if label in unknown and label not in counts_as]
    if left and grades and not counts_as:
        page_style.note("Unmapped, the labels count as grades: their correlation with the model’s scores is shown.")
    elif left:
        page_style.notice([f"Without a class for {', '.join(left)} these predictions get no scores."])
    return counts_as


def _suited(dataset: Dataset, cards: Mapping[str, Card]) -> list[str]:
    """The models' names, those for the file's task first, then those whose classes match its labels."""
    task = task_of(dataset.labels, dataset.task)

    def place(name: str) -> tuple[bool, ...]:
        card = cards[name]
        unknown = Scale(tuple(card["labels"]), {}, ranked_by(card)).unknown(dataset.labels)
        ranks = card["task"] == ANSWERS
        scores = len(card["labels"]) == 1 or ranked_by(card) is not None
        other_task = bool(task) and card["task"] != task
        return other_task, graded(dataset.labels) and not scores, bool(unknown), ranks != dataset.ranking

    return sorted(cards, key=place)


def _begin_sample(suite: str) -> None:
    """Predicts a suite of hand-written pairs with the default entailment model."""

    def make() -> Job:
        name = next(iter(offered(suits)), None)
        if name is None:
            raise DeskError("no model of entailment is installed: train one with `python -m trainers train`")
        return _claimed(SUITES[suite].pairs, [name])

    jobs.start(_JOB, make)


def _claimed(dataset: Dataset, models: list[str], counts_as: Mapping[str, CountsAs] = NO_MAPPING) -> Job:
    """A prediction, whose run the visitor may delete."""
    annotator.claim(dataset.sha256)
    return prediction(dataset, models, counts_as)


def _models(dataset: Dataset, roles: Mapping[str, str]) -> None:
    """The choice between predicting the file and adapting a model to it, and its form. ``roles``: the file's names of
    the texts."""
    models = offered(lambda card: bool(card["roles"]["second"]) != dataset.single)
    cards = {name: model.card for name, model in models.items() if model.card}
    shown = titles(models)
    _label_form(dataset)
    if adapting.chosen(dataset, cards):
        adapting.form(dataset, roles, cards, shown)
    else:
        _prediction_form(dataset, cards, shown)


def _label_form(dataset: Dataset) -> None:
    """The offer to label the rows without predictions."""

    def keep() -> None:
        annotator.claim(dataset.sha256)
        store.keep_rows(dataset)
        source.keep(dataset)
        header = store.header(dataset.sha256)
        show_run(header.sha256, (model.sha256 for model in header.models), "labels")

    label = "Label its rows" if dataset.labels else "Label its rows, which have no labels yet"
    st.button(label, key="desk label rows", on_click=lambda: attempt(keep), icon=":material/label:")


def _prediction_form(dataset: Dataset, cards: Mapping[str, Card], shown: Mapping[str, str]) -> None:
    """The select box for checkpoints, the labels to map, and the start button."""
    suited = _suited(dataset, cards)
    picked = st.multiselect(
        "Checkpoints, one to four",
        suited,
        suited[:1],
        max_selections=MOST_MODELS,
        format_func=shown.__getitem__,
        key=f"desk checkpoints {dataset.sha256}",
    )
    task = task_of(dataset.labels, dataset.task)
    warnings = [mismatch(dataset.name, task, shown[name], str(cards[name]["task"])) for name in picked]
    page_style.notice([f"{warning}." for warning in warnings if warning])
    forms: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name in picked:
        classes = tuple(cards[name]["labels"])
        if classes not in forms:
            forms[classes] = _counted_as(dataset, classes, ranked_by(cards[name]))
    counts_as = {name: forms[tuple(cards[name]["labels"])] for name in picked}
    try:
        for name in picked:
            Scale(tuple(cards[name]["labels"]), counts_as[name])
    except DataError as error:
        page_style.notice([f"{page_style.capital(str(error))}."])
        return
    if st.button("Predict", type="primary", disabled=not picked or _JOB in st.session_state):
        jobs.start(_JOB, lambda: _claimed(dataset, picked, counts_as))
        st.rerun()
