"""The jobs of this server, whoever started them: progress or position in the queue, and a cancel button."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import streamlit as st

from app import charts, page_style
from app.desk import learning_curve
from app.desk.open_run import PAGE, attempt, show_run
from core.desk import store
from core.desk.jobs import QUEUE, TRAININGS, Job
from core.desk.training import TrainingJob
from core.wording import counted, duration

_BELOW = "desk jobs below"


_LONG = 5.0
"""Seconds after which a part of a job shows its elapsed time."""


class _Below(NamedTuple):
    """The jobs drawn next to their buttons, and by key the outcomes of the session's jobs that are not drawn yet."""

    jobs: list[Job]
    told: dict[str, str]


def _unfinished() -> Sequence[Job]:
    return (*TRAININGS.jobs(), *QUEUE.jobs())


def draw_running(*about: Hashable) -> bool:
    """Draws the running and queued jobs about this; returns whether there are any."""
    found = [job for job in _unfinished() if job.about == about]
    for job in found:
        draw(job)
    return bool(found)


@contextmanager
def running_above() -> Iterator[None]:
    """Draws all running and queued jobs, and the outcomes of this session's jobs, above the block's contents, except
    those that :func:`button` draws within it."""
    above, below = st.container(), _Below([], {})
    st.session_state[_BELOW] = below
    try:
        yield
    finally:
        st.session_state[_BELOW] = None
    with above:
        page_style.notice([*below.told.values()])
        for job in _unfinished():
            if job not in below.jobs:
                draw(job)


def button(label: str, key: str, make: Callable[[], Job], **options: Any) -> None:
    """A button that queues a job under this ``key`` (:func:`start`). While the job is unfinished, its progress
    replaces the button; if it fails, the reason is shown below the button, since the top of a long page is out of
    sight."""
    job: Job | None = st.session_state.get(key)
    below: _Below = st.session_state[_BELOW]
    if job is not None and not job.finished:
        below.jobs.append(job)
        draw(job)
        return
    clicked = st.button(label, **options)
    if key in below.told:
        page_style.notice([below.told.pop(key)])
    if clicked:
        start(key, make)
        st.rerun()


def start(key: str, make: Callable[[], Job]) -> None:
    """Queues a job that :func:`finish` finds under this ``key``, or shows why it cannot be queued."""

    def begin() -> None:
        job = make()
        (TRAININGS if isinstance(job, TrainingJob) else QUEUE).add(job)
        st.session_state[key] = job

    attempt(begin)


def finish(key: str, kept: str, view: str = "") -> None:
    """Once the job that the session started under this ``key`` has ended: opens its run in this ``view``, or shows its
    error or, after a cancellation, ``kept``: a sentence on the results that were saved."""
    job: Job | None = st.session_state.get(key)
    if job is None or not job.finished:
        return
    del st.session_state[key]
    if job.problem or job.cancelled:
        below: _Below | None = st.session_state.get(_BELOW)
        if below is None:
            page_style.notice([job.problem or kept])
        else:
            below.told[key] = job.problem or kept
    elif job.written is not None:
        show_run(*job.written, view=view or PAGE.state.view)
        st.rerun()


@st.fragment(run_every=0.5)
def draw(job: Job) -> None:
    """Progress, speed and remaining time, or the position in the queue; a cancel button; and a training's epochs."""
    if job.finished:
        st.rerun()
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    left.progress(job.done / max(1, job.rows), page_style.plain(f"{job.what}: {_progress(job)}"))
    history = job.history if isinstance(job, TrainingJob) else ()
    label, why = ("Stop", "Keeps the best epoch so far, and tests it.") if history else ("Cancel", None)
    right.button(label, key=f"cancel {id(job)}", on_click=job.cancel, disabled=job.cancelled, help=why)
    if isinstance(job, TrainingJob) and job.history:
        for column, chart in zip(st.columns(2), learning_curve.epoch_charts(job.plan.title, job.history), strict=True):
            with column:
                charts.draw(chart, PAGE.state.projector)


def _progress(job: Job) -> str:
    rows = job.rows // job.passes
    if place := QUEUE.place(job):
        return f"{counted(rows, 'row')}, queued (position {place})"
    if place := TRAININGS.place(job):
        return f"queued (position {place}), because this server trains one model at a time"
    if job.doing:
        return f"{job.doing}, {duration(job.seconds)} so far" if job.seconds >= _LONG else job.doing
    number = min(job.done // max(1, rows), job.passes - 1)
    line = f"{job.done - number * rows:,} of {counted(rows, 'row')}"
    if job.passes > 1:
        line += f" by checkpoint {number + 1} of {job.passes}"
    if job.speed and job.left is not None:
        line += f", {counted(round(job.speed), 'row')} a second, {duration(job.left)} left"
        return f"{line} to read them, then {job.then}" if job.then else line
    return line if job.done else f"{line}, reading the texts …"


def draw_unfinished() -> None:
    """Lists predictions that stopped with their server or were cancelled, until they are resumed or deleted."""
    for parts, name in store.unfinished().items():
        left, right = st.columns([5, 1], vertical_alignment="center")
        with left:
            page_style.notice([f"The prediction of {name} is unfinished: start it again to resume it."])
        right.button("Delete", key=f"unfinished {parts.name}", on_click=store.delete_parts, args=(parts,))
