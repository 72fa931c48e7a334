"""Jobs of this server, whoever started them: how far one is, and a way to stop it."""

from __future__ import annotations

from typing import TypeVar

import streamlit as st

from app import page_style
from core.desk.jobs import Job
from core.wording import counted

J = TypeVar("J", bound=Job)


@st.cache_resource(show_spinner=False)
def _jobs() -> list[Job]:
    return []


def begin(job: Job) -> None:
    """Start it, for all to see."""
    _jobs().append(job)
    job.start()


def running(kind: type[J]) -> list[J]:
    """Those of a kind that go on."""
    _jobs()[:] = [job for job in _jobs() if not job.finished]
    return [job for job in _jobs() if isinstance(job, kind)]


@st.fragment(run_every=0.5)
def draw(job: Job) -> None:
    """Rows done, speed, time left, and a way to stop."""
    if job.finished:
        st.rerun()
    line = f"{job.name}: {job.done:,} of {counted(job.rows, 'row')}"
    if job.speed and job.left is not None:
        line += f", {counted(round(job.speed), 'row')} a second, {job.left:,.0f} s left"
    elif not job.done:
        line += ", reading the texts …"
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    left.progress(job.done / max(1, job.rows), page_style.plain(line))
    right.button("Cancel", key=f"cancel {id(job)}", on_click=job.cancel, disabled=job.cancelled)
