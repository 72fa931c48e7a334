"""Styles beyond Streamlit's theme settings: a tighter first screen, and sentences shown verbatim."""

from __future__ import annotations

import functools
import html
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from app.page_state.session import PageSession
from app.pages import VIEWS, address, pages
from app.palette import css_variables
from core.checkpoint import in_memory
from core.errors import UserError
from core.wording import capital as capital

_STYLE = (
    f"<style>:root {{ {css_variables('--pl-')} }}</style>"
    """<style>
.stMainBlockContainer { padding: 1.1rem 1.75rem 2.5rem; max-width: 1240px; }
.stAppHeader { background: transparent; height: 2.6rem; min-height: 2.6rem; pointer-events: none; }
.stAppHeader > * , .stAppToolbar > * { pointer-events: none; }
.stAppHeader button { pointer-events: auto; }
.stMain [data-testid="stVerticalBlock"] { gap: 0.7rem; }
.stMain [data-testid="stWidgetLabel"] { min-height: 0; margin-bottom: 0.15rem; }
.stApp [data-testid="stWidgetLabel"] { color: var(--pl-ink) !important; }
.stMain [data-testid="stWidgetLabel"] p, [data-testid="stSidebarContent"] [data-testid="stWidgetLabel"] p {
  font-size: 0.86rem; opacity: 0.78; }
.stMain [data-testid="stCaptionContainer"] { color: inherit; opacity: 0.78; }
[data-testid="InputInstructions"] { display: none; }
[data-testid="stSidebarNav"]::before { content: "PairLens"; display: block; font-size: 1.3rem; font-weight: 700;
  padding: 0 0.6rem 0.6rem; }
[data-testid="stSidebarHeader"] { height: 2.2rem; padding-block: 0.4rem; margin-bottom: 0; }
[data-testid="stSidebarContent"] [data-testid="stSidebarUserContent"] { padding-top: 0.6rem; }
[data-testid="stSidebarContent"] [data-testid="stVerticalBlock"] { gap: 0.9rem; }
:is([data-testid="stSidebar"] :is(a, button), [data-testid="stPageLink-NavLink"]):focus-visible {
  outline: 2px solid var(--pl-accent); outline-offset: 1px; }
:is([data-testid="stRadioOption"], [data-testid="stCheckbox"] label):has(input:focus-visible) {
  outline: 2px solid var(--pl-accent); outline-offset: 2px; border-radius: 4px; }
/* Unselected options are visible, too. */
[data-testid="stRadioOption"]:not([data-selected="true"]) > div > div:first-child,
[data-testid="stCheckbox"] label:not([data-selected="true"]) > div:nth-of-type(1) {
  box-shadow: inset 0 0 0 1.5px var(--pl-soft); }
.stMain:focus-visible { outline: 2px solid var(--pl-accent); outline-offset: -2px; }
[data-testid="stBaseButton-primary"]:not(:disabled) { color: var(--pl-paper) !important; }
.stMain :is(input, textarea) { unicode-bidi: plaintext; text-align: start; }
.stElementContainer[data-stale="true"]:has(.stBidiComponent) { opacity: 1 !important; }
.st-key-swap button [data-testid="stMarkdownContainer"],
:is([class*="st-key-filter-map-remove"], [class*="st-key-desk-step"]) button [data-testid="stMarkdownContainer"] {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
[class*="st-key-unseen-"], [data-testid="stLayoutWrapper"]:has(> [class*="st-key-unseen-"]) { display: none; }
/* The table's own CSV would contain active formulas: the Error desk has a safe export. */
[data-testid="stElementToolbarButton"]:has([aria-label*="ownload"]) { display: none; }
.stApp input[role="combobox"] { text-overflow: ellipsis; }
/* A list that opens is as wide as its longest name. */
[data-testid="stSelectboxVirtualDropdown"] { width: max-content !important; min-width: var(--trigger-width);
  max-width: 94vw; }
/* Values that a box holds are not "selected": no accent behind them, and their names are whole. */
[data-testid="stMultiSelectTagsContainer"] [data-tag] { background: var(--pl-wash) !important; height: auto;
  color: inherit !important; border: 1px solid rgba(128, 140, 152, 0.5); max-width: 100%; }
[data-testid="stMultiSelectTagsContainer"] [data-tag] > span { white-space: normal; max-width: none; }
[data-testid="stMultiSelectTagsContainer"] input { flex: 1 1 1.5rem; min-width: 1.5rem; }
[data-selected="true"] > div { color: var(--pl-ink); font-weight: 600; }
[data-testid="stWidgetLabel"] code { font-size: 1em; }
.pl-notice { border-left: 3px solid; padding: 0.1rem 0 0.1rem 0.8rem; margin: 0.2rem 0; overflow-wrap: anywhere; }
.pl-note { font-size: 0.86rem; line-height: 1.4; opacity: 0.78; margin: -0.4rem 0 0; overflow-wrap: anywhere; }
[class*="st-key-tried-"] button { text-align: start; font-size: 0.86rem; justify-content: start; }
[class*="st-key-tried-"] { gap: 0 !important; border-bottom: 1px solid rgba(128, 140, 152, 0.28); }
.pl-heading { font-size: 1.05rem !important; font-weight: 600 !important; padding: 0 !important; margin: 0 !important;
  overflow-wrap: anywhere; }
.pl-terms dt { font-weight: 600; }
.pl-terms dd { margin: 0 0 0.5rem; font-size: 0.9rem; opacity: 0.85; }
.pl-hint { opacity: 0.78; margin: 1.2rem 0; }
/* The button that opens the sidebar lies over the page: what scrolls below it must not show through. */
.stApp:has([data-testid="stExpandSidebarButton"]) .stAppHeader { background: var(--pl-paper); }
.stApp:has([data-testid="stExpandSidebarButton"]) .stMainBlockContainer { padding-top: 2.9rem; }
@media (max-width: 760px) {
  .stMainBlockContainer { padding: 2.9rem 1rem 2.5rem; }
  .st-key-swap, .st-key-swap button { width: 3.5rem !important; }
}
/* On a low screen all controls of the figures are visible. */
@media (min-width: 769px) and (max-height: 900px) {
  [data-testid="stSidebarNavItems"] :is(li, a) { margin-block: 0; }
  [data-testid="stSidebarNav"]::before { padding-bottom: 0.2rem; }
  [data-testid="stSidebarNavSeparator"] { padding-top: 0.4rem; }
  [data-testid="stSidebarContent"] [data-testid="stSidebarUserContent"] { padding-top: 0.2rem; }
  [data-testid="stSidebarContent"] [data-testid="stVerticalBlock"] { gap: 0.65rem; }
}
@media print { [data-testid="stSidebar"], .stAppHeader, .stButton, .stDownloadButton { display: none !important; } }
</style>"""
)

_WIDE = "<style>.stMainBlockContainer { max-width: 1600px; }</style>"
_PROJECTOR = """<style>
html { font-size: 22.5px !important; }
@media (max-width: 1599px) { html { font-size: 18.75px !important; } }
.stMainBlockContainer { max-width: 1600px; }
.stApp :is([data-testid="stWidgetLabel"] p, .pl-note, .pl-terms dd, code, small) { font-size: 0.9rem !important; }
@media (min-width: 769px) { [data-testid="stSidebar"][data-collapsed="false"] { min-width: 330px; } }
@media (min-width: 1500px) { [data-testid="stSidebar"][data-collapsed="false"] { min-width: 400px; } }
@media (max-width: 1500px) { [class*="st-key-side-by-side"] > * > * > [data-testid="stColumn"] { min-width: 100%; } }
</style>"""


def apply(page: PageSession[Any], *, wide: bool = False) -> None:
    """Call at the top of every page, before the rest of its sidebar: adds the projector switch, shared by all pages,
    which enlarges type by half and widens the page. ``wide``: a page of tables that uses the full width of a large
    screen."""
    st.html(_STYLE + (_WIDE if wide else "") + (_PROJECTOR if page.state.projector else ""))
    st.sidebar.toggle("Projector", page.state.projector, **page.widget("projector"))


def enlarged(projector: bool) -> float:
    """The scale of type relative to normal."""
    return 1.5 if projector else 1.0


def notice(sentences: Iterable[str]) -> None:
    """One line per sentence, shown verbatim: no HTML or Markdown is interpreted."""
    lines = "".join(f'<p class="pl-notice" role="status">{html.escape(sentence)}</p>' for sentence in sentences)
    if lines:
        st.html(lines)


def heading(text: str) -> None:
    """A section heading."""
    st.html(f'<h2 class="pl-heading">{html.escape(text)}</h2>')


def hint(sentence: str) -> None:
    """A hint for the user while the page is empty."""
    st.html(f'<p class="pl-hint">{html.escape(sentence)}</p>')


def note(sentence: str) -> None:
    """A line under a widget."""
    st.html(f'<div class="pl-note">{html.escape(sentence)}</div>')


@contextmanager
def patience(what: Callable[[], str], models: Iterable[str]) -> Iterator[None]:
    """Shows ``what`` as a spinner while one of these models is being loaded. Its space is always reserved, so that
    elements below do not move."""
    place = st.empty()
    if all(map(in_memory, models)):
        yield
    else:
        with place, st.spinner(what()):
            yield


def terms(rows: Iterable[tuple[str, str]]) -> None:
    """Terms, each with a sentence."""
    lines = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(sentence)}</dd>" for name, sentence in rows)
    st.html(f'<dl class="pl-terms">{lines}</dl>')


_REPLACED = re.compile(r"(?m)^(?=[ \t])|(?<=:)(?=\S)|(?i:(?<=www))(?=\.)|(?=@)|(?<=[-<>=!~])(?=[-<>=])")
"""Places in links, addresses, icons, arrows and indented code, which Streamlit replaces even if they are escaped."""


def plain(text: str) -> str:
    """Text escaped for Streamlit's Markdown (labels, options, captions, help), so that it is shown verbatim."""
    joined = _REPLACED.sub("\N{WORD JOINER}", text)  # invisible
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~$:<>&^=])", r"\\\1", joined)


def page_link(name: str, query: Mapping[str, str], label: str = "", arrow: str = "forward") -> None:
    """A link to the page ``app/views/{name}.py`` with these query parameters. ``label``: by default the page's
    title."""
    title = pages()[name]
    there = st.Page(VIEWS / f"{name}.py", title=title, url_path=address(name))
    st.page_link(there, label=label or title, icon=f":material/arrow_{arrow}:", query_params=query)


_CSV = "text/csv"
_MEDIA_TYPES = {
    "csv": _CSV,
    "json": "application/json",
    "jsonl": "application/jsonl",
    "html": "text/html",
    "tsv": "text/tab-separated-values",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""The types of downloaded files by ending; others are CSV."""


def download(
    label: str,
    text: Callable[[], str] | bytes,
    file: str,
    icon: str | None = None,
    *,
    framed: bool = False,
    explained: str | None = None,
) -> None:
    """A link, or a ``framed`` button, that saves text as this .json, .csv or .html file; a callable is called on click.
    If it fails, the file contains the error's sentence. ``explained``: the button's help."""
    kind = _MEDIA_TYPES.get(file.rsplit(".", 1)[-1], "text/plain")
    made = functools.partial(_made, text, kind, file, get_script_run_ctx()) if callable(text) else text
    look: Literal["secondary", "tertiary"] = "secondary" if framed else "tertiary"
    st.download_button(label, made, file, kind, f"save {file}", explained, type=look, icon=icon, on_click="ignore")


def _made(text: Callable[[], str], kind: str, file: str, session: ScriptRunContext | None) -> str:
    try:
        made = text()
    except UserError as error:
        made = f"{str(error).rstrip('.')}.\n"
    if kind == _CSV:
        made = f"\ufeff{made}"  # the mark by which Excel reads it as UTF-8
    # Streamlit deletes a file made on click once two runs (of any visitors) have ended, unless a session holds it.
    add = get_instance().media_file_mgr.add
    held = threading.Thread(target=add, args=(made.encode(), kind, f"made {file}", file, True))
    add_script_run_ctx(held, session)
    held.start()
    held.join()
    return made
