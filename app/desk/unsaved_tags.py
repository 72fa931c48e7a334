"""Clicks on tags that a server did not live to save: the browser keeps each until a drawing shows it, and a server that
takes over reports those that are not in the log."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import streamlit as st

from app.browser import component, unseen
from app.desk import annotator
from app.desk.open_run import OpenRun, attempt, notice_next

_KEY = "desk unsaved tags"
_SCRIPT = """
const KEY = "pairlens unsaved tags";
const EDITED = "input, textarea, [contenteditable=true]";

export default function ({ data, setTriggerValue }) {
  const { session, file, row, tags, given } = data;
  const kept = () => JSON.parse(sessionStorage.getItem(KEY)) ?? [];
  const keep = (clicks) => sessionStorage.setItem(KEY, JSON.stringify(clicks));
  const here = (click) => click.file === file && click.row === row;
  const left = new AbortController();
  const listen = (event, act) => document.addEventListener(event, act, { capture: true, signal: left.signal });
  const clicked = (tag, on) => {
    if (!tag) return;
    const others = kept().filter((click) => !here(click) || click.tag !== tag);
    keep([...others, { session, file, row, tag, on }]);
  };
  try {
    const clicks = kept();
    const lost = clicks.filter((click) => click.session !== session);
    keep(clicks.filter((click) => click.session === session && here(click) && given.includes(click.tag) !== click.on));
    if (lost.length) setTriggerValue("lost", lost);
  } catch {
    return; // storage is switched off
  }
  listen("click", ({ target }) => {
    const pill = target.closest?.(`.${data.pills} button`);
    if (!pill) return;
    const place = [...pill.parentElement.querySelectorAll("button")].indexOf(pill);
    clicked(tags[place], pill.ariaPressed !== "true");
  });
  listen("keydown", (event) => {
    const typed = event.composedPath()[0].closest?.(EDITED);
    if (typed || event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
    const tag = tags[event.key - 1];
    clicked(tag, !given.includes(tag));
  });
  // Streamlit connects again without a new drawing: request it.
  const app = document.querySelector("[data-test-connection-state]");
  const connection = new MutationObserver(() => {
    if (app.dataset.testConnectionState === "CONNECTED" && kept().length) setTriggerValue("connected", true);
  });
  connection.observe(app, { attributeFilter: ["data-test-connection-state"] });
  return () => {
    left.abort();
    connection.disconnect();
  };
}
"""


def session() -> str:
    """A random name for this session."""
    return str(st.session_state.setdefault("desk session", secrets.token_hex(8)))


def draw(opened: OpenRun, row: str, tags: Sequence[str], given: Sequence[str], pills: str) -> None:
    """Keep the clicks on the open row's tags in the browser. ``pills``: the key of the tags' widget."""

    def report() -> None:
        sentences = []
        for click in st.session_state[_KEY].lost or ():
            people = opened.annotations.state(str(click["file"])).row(str(click["row"]))
            held = annotator.name() in people.tags.get(str(click["tag"]), ())
            if held != click["on"]:
                wanted = "saved: set it again" if click["on"] else "taken away: take it away again"
                sentences.append(f"The tag “{click['tag']}” on row {click['row']} was not {wanted}.")
        if sentences:
            notice_next(" ".join(sentences))

    data = {"session": session(), "file": opened.file, "row": row, "tags": tags, "given": given}
    with unseen("unsaved tags"):
        component("pairlens_unsaved_tags", _SCRIPT)(
            key=_KEY, data=data | {"pills": f"st-key-{pills.replace(' ', '-')}"}, on_lost_change=lambda: attempt(report)
        )
