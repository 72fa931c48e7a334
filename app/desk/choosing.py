"""Choosing a run: one that is kept, or a file and checkpoints to predict it with in the background."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import streamlit as st

from app import page_style
from app.desk import jobs
from app.desk.open_run import PAGE, attempt, notice_next
from app.model_choice import offered, titles
from app.pair_form import once
from core.card import Card, ranked_by
from core.data import DataError, Dataset, read
from core.data.labels import ANSWERS, CountsAs, Scale, mismatch, proposed, task_of
from core.data.lines import LARGEST
from core.data.picked import Picked, columns_of, read_picked
from core.desk import parts, store
from core.desk.folders import SUFFIXES, data_file, data_files, datasets_folder
from core.desk.jobs import Job
from core.desk.prediction import PredictionJob
from core.desk.queue import QUEUE
from core.desk.run import MOST_MODELS, Run, fitting, load
from core.errors import MendableError

_UNPACKED = 10
"""How many times its own limit an upload may grow when it is unpacked."""
_NONE = "(none)"
_UNSCORED = "no class: its rows get no scores"
_MAPPED = 12
"""Labels that can be mapped on screen."""


def run_choice() -> None:
    """The chooser of a run and its models, in the sidebar, and the way to a new one."""
    runs = {store.short(run.sha256): run for run in store.runs()}
    state = PAGE.state
    st.selectbox(
        "Run",
        list(runs),
        list(runs).index(state.file) if state.file in runs else None,
        placeholder="A new run" if runs else "No run yet",
        format_func=lambda file: f"{runs[file].name} ({runs[file].rows:,})",
        **PAGE.widget("file", lambda file: _open(file, [model.sha256 for model in runs[file].models])),
    )
    if state.file in runs:
        models = {store.short(model.sha256): model.title for model in runs[state.file].models}
        st.multiselect(
            "Models, A first",
            list(models),
            [model for model in state.models if model in models],
            format_func=models.__getitem__,
            max_selections=MOST_MODELS,
            **PAGE.widget("models", _choose_models),
        )
        st.button(
            "New run",
            key="desk new",
            on_click=lambda: PAGE.anew(file=None, models=()),
            type="tertiary",
            icon=":material/add:",
        )


def _open(file: str, models: Iterable[str]) -> None:
    """Show the run of these checksums."""
    first = itertools.islice(map(store.short, models), MOST_MODELS)
    PAGE.set(PAGE.state.anew(file=store.short(file), models=tuple(first)))


def _choose_models(models: list[str]) -> None:
    if models:
        PAGE.anew(models=tuple(models))
    else:  # the chooser shows the old ones again
        PAGE.set(PAGE.state)


def new_run() -> None:
    """The form of a new run, with the predictions that go on."""
    page_style.heading("New run")
    page_style.note(
        "A data file and one to four checkpoints: what they say of every row is kept, and opened again here."
    )
    for job in jobs.running(Job):
        jobs.draw(job)
    _finish()
    dataset = _file()
    if isinstance(dataset, Run):
        try:
            store.keep(dataset)
        except MendableError as error:
            page_style.notice([f"{error}."])
            return
        _open(dataset.dataset.sha256, (model.sha256 for model in dataset.models))
        st.rerun()
    elif dataset is not None:
        _models(dataset)


def _finish() -> None:
    """What became of the session's own prediction."""
    kept = "The prediction was stopped; what the finished checkpoints predicted is kept."
    prediction = jobs.own("desk prediction", kept)
    if not isinstance(prediction, PredictionJob):
        return
    if prediction.replaced:
        notice_next(f"The kept run of {', '.join(prediction.replaced)} could not be read: it was predicted again.")
    if prediction.checksums and not prediction.cancelled and not prediction.problem:
        _open(prediction.dataset.sha256, prediction.checksums)
        st.rerun()


def _file() -> Dataset | Run | None:
    """The data set that a person uploads or picks, read; None before they did, or where it cannot be read."""
    limit, names = int(st.get_option("server.maxUploadSize")), data_files()
    uploaded = st.file_uploader(
        f"Upload a file (up to {limit} MB)",
        [suffix[1:] for suffix in SUFFIXES],
        key="desk upload",
        help="SNLI, MultiNLI, SICK, WikiQA, TrecQA, SelQA, MSRP, Quora, TaxiNLI, documents, or CSV, TSV or JSON lines "
        "with named columns; or a run that `python -m trainers predict … --out run.parquet` wrote.",
        max_upload_size=limit,
    )
    name = None
    if datasets_folder() is not None:
        name = st.selectbox("or choose a file on the server", names, None, placeholder="Files under PAIRLENS_DATASETS")
    try:
        if uploaded is not None:
            largest = limit * _UNPACKED * 1_000_000
            return _read(uploaded.file_id, lambda: _as_file(uploaded.name, uploaded.getvalue()), largest)
        if name:
            path = data_file(name)
            changed = max(file.stat().st_mtime_ns for file in (path, *(path.iterdir() if path.is_dir() else ())))
            return _read(f"{name} {changed}", lambda: nullcontext(path), LARGEST)
    except (MendableError, OSError) as error:
        page_style.notice([f"{error}."])
    return None


@contextmanager
def _as_file(name: str, data: bytes) -> Iterator[Path]:
    """The uploaded bytes as a file, which is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (Path(name.replace("\\", "/")).name[-100:] or "upload")
        path.write_bytes(data)
        yield path


def _read(token: str, file: Callable[[], AbstractContextManager[Path]], largest: int) -> Dataset | Run | None:
    """The file by the layout that is recognised, or by columns that a person picks; it may unpack to ``largest``
    bytes."""

    def read_by(read: Callable[[Path], Dataset | Run | list[str]]) -> Dataset | Run | list[str]:
        with file() as path:
            return read(path)

    known = once("desk file", token, lambda: read_by(lambda path: _recognised(path, largest)))
    if isinstance(known, list):
        names = [_NONE, *known]
        page_style.note("This layout is not known. Which columns hold what?")
        columns = zip(st.columns(5), ("First text", "Second text", "Label", "Id", "Question"), strict=True)
        chosen = [column.selectbox(what, names, key=f"desk pick {what} {token}") for column, what in columns]
        if chosen[0] == _NONE:
            return None
        picked = Picked(*("" if name == _NONE else name for name in chosen))
        key = token, picked
        known = once("desk picked", key, lambda: read_by(lambda path: fitting(read_picked(path, picked, largest))))
    assert not isinstance(known, list), "picked columns are read"
    if isinstance(known, Dataset):
        page_style.note(known.summary())
    return known


def _recognised(path: Path, largest: int) -> Dataset | Run | list[str]:
    """The data set or run, or the names of columns to pick from. Raises DataError where there are none, and for what
    unpacks to more than ``largest`` bytes."""
    if path.is_dir():
        return parts.load(path, largest)
    if path.suffix == ".parquet":
        return load(path, largest)
    try:
        return fitting(read(path, labelled=False, largest=largest))
    except DataError as unknown:
        try:
            return columns_of(path, largest)
        except DataError:
            raise unknown from None


def _counted_as(dataset: Dataset, classes: tuple[str, ...], positive: str | None) -> dict[str, list[str]]:
    """The form that maps labels of the file to these classes of models, of all labels that match none of them, or that
    perhaps stand for several. It begins with what they mean, if that is certain."""
    labels = dataset.labels
    unknown = Scale(classes, {}, positive).unknown(labels)
    guesses = {label: proposed(label, labels, classes) for label in labels}
    asked = [label for label in labels if label in unknown or (unknown and len(guesses[label]) > 1)][:_MAPPED]
    if not asked:
        return {}
    page_style.note("Map these labels of the file to the model’s classes; several classes may count as one label.")
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
    if left:
        page_style.notice([f"Without a class for {', '.join(left)} these predictions get no scores."])
    return counts_as


def _suited(dataset: Dataset, cards: Mapping[str, Card]) -> list[str]:
    """The names of models, those for the file's task first, then those whose classes its labels are."""
    task = task_of(dataset.labels, dataset.task)

    def place(name: str) -> tuple[bool, ...]:
        card = cards[name]
        unknown = Scale(tuple(card["labels"]), {}, ranked_by(card)).unknown(dataset.labels)
        ranks = card["task"] == ANSWERS
        return bool(task) and card["task"] != task, bool(unknown), ranks != dataset.ranking

    return sorted(cards, key=place)


def _models(dataset: Dataset) -> None:
    """The chooser of the checkpoints, the labels to map, and the button that begins."""
    models = offered(lambda card: bool(card["roles"]["second"]) != dataset.single)
    cards = {name: model.card for name, model in models.items() if model.card}
    suited, shown = _suited(dataset, cards), titles(models)
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
    if any(_clashes(tuple(cards[name]["labels"]), counts_as[name]) for name in picked):
        return
    if st.button("Predict", type="primary", disabled=not picked or "desk prediction" in st.session_state):
        attempt(lambda: _begin(PredictionJob(dataset, picked, counts_as)))
        st.rerun()


def _clashes(classes: tuple[str, ...], counts_as: CountsAs) -> bool:
    """Whether labels cannot be mapped like this, which is said."""
    try:
        Scale(classes, counts_as)
    except DataError as error:
        page_style.notice([f"{page_style.capital(str(error))}."])
        return True
    return False


def _begin(prediction: PredictionJob) -> None:
    QUEUE.add(prediction)
    st.session_state["desk prediction"] = prediction
