"""Explore: one pair, one model, its verdict, and by what road it came to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from app import look
from app.components.pair_view import KEY, pair_view
from app.examples import EXAMPLES, by_slug, matching
from app.linked import LinkedPage
from app.panels import attention, filters, tables, verdict
from app.state import SHOWN, PageState, Selection, default_model, from_file, from_parameters
from core.checkpoint import Checkpoint, CheckpointError, available, load_named, read_card
from core.evidence import Explanation
from core.explain import PairError, explain, with_nearest

ALONE = "nli-hypothesis-only"
"""The checkpoint that reads the judged sentence only, for the comparison beside the verdict."""

PAGE: LinkedPage[PageState] = LinkedPage("explore", ("model", "example", "first", "second", "show", "select"))
_OWN_PAIR = "A pair of your own"


def main() -> None:
    """Draw the page."""
    look.apply()
    models = available()
    page = PAGE.open(lambda address: from_parameters(address, list(models)))
    if page.model not in models:
        PAGE.set(replace(page, model=default_model(list(models))), PAGE.problems)
    _sidebar(models)
    _inputs()
    page = PAGE.state
    link = page.link_parameters()
    PAGE.write_link(link if link is not None else {} if page.model is None else {"model": page.model})
    problems = PAGE.problems
    if page.model is None:
        look.notice([*problems, "No model is installed: train one with `python -m trainers train`, and name its parent "
                     "folder in PAIRLENS_CHECKPOINTS."])  # fmt: skip
        return
    if not page.first.strip() and not page.second.strip():
        look.notice(problems)
        look.hint("Type a sentence into each box above, or choose an example in the sidebar.")
        return
    try:
        checkpoint, explanation, alone = _explained(page)
    except CheckpointError as error:
        look.notice([*problems, f"This model cannot be used: {error}."])
        return
    except PairError as error:
        look.notice([*problems, str(error)])
        return
    _show(page, checkpoint, explanation, alone, problems)


def _new_text(side: str, key: str) -> None:
    PAGE.take(side, key)
    PAGE.change(selection=None)


def _swap() -> None:
    page = PAGE.state
    PAGE.set(replace(page, first=page.second, second=page.first, selection=None))


def _take_example(key: str) -> None:
    example = by_slug(st.session_state[key] or "")
    if example is not None and key == _example_key():
        PAGE.set(replace(PAGE.state, first=example.first, second=example.second, selection=None))


def _open_file() -> None:
    PAGE.touch()
    opened = st.session_state["opened"]
    if opened is not None:
        PAGE.set(*from_file(opened.getvalue().decode("utf-8", "replace"), list(available())))


def _selected() -> None:
    """The browser's selection, unless it belongs to a pair that is no longer shown."""
    PAGE.touch()
    session = st.session_state
    picked = session[KEY].get("selection") or {}
    session["turn"] = picked.get("turn", 0)
    if picked.get("id") == session.get("drawn"):
        PAGE.change(selection=Selection(picked.get("row"), picked.get("column")))


def _sidebar(models: Mapping[str, Path]) -> None:
    page = PAGE.state
    with st.sidebar:
        names = list(models)
        st.selectbox(
            "Model", names, names.index(page.model) if page.model else None, key=PAGE.key("model"),
            on_change=PAGE.take, args=("model", PAGE.key("model")), format_func=_titles(models).__getitem__,
            placeholder="No model is installed",
        )  # fmt: skip
        _examples(page)
        shown = list(SHOWN)
        st.radio(
            "Matrix shows", shown, shown.index(page.show), key=PAGE.key("show"), on_change=PAGE.take,
            args=("show", PAGE.key("show")), format_func=SHOWN.__getitem__,
        )  # fmt: skip
        with st.expander("Save and open"):
            st.download_button(
                "Save this pair", page.to_file(), "pairlens-pair.json", "application/json", on_click="ignore",
                help="A small file with both sentences and all choices, for pairs too long for a link.",
            )  # fmt: skip
            st.file_uploader("Open a saved pair", key="opened", on_change=_open_file, type="json")


def _examples(page: PageState) -> None:
    """The chooser belongs to the pair that is shown: typing another one makes it another chooser."""
    slugs, here = [example.slug for example in EXAMPLES], matching(page.first, page.second)
    key = _example_key()
    st.selectbox(
        "Example", slugs, None if here is None else slugs.index(here.slug), key=key, on_change=_take_example,
        args=(key,), format_func=lambda slug: next(e.title for e in EXAMPLES if e.slug == slug), placeholder=_OWN_PAIR,
    )  # fmt: skip


def _example_key() -> str:
    return f"{PAGE.key('example')} {_digest([PAGE.state.first, PAGE.state.second])}"


def _titles(models: Mapping[str, Path]) -> dict[str, str]:
    """Names for people; a folder whose card cannot be read keeps its own."""
    out = {}
    for name, folder in models.items():
        try:
            out[name] = str(read_card(folder)["title"])
        except CheckpointError:
            out[name] = name
    doubled = [name for name, title in out.items() if list(out.values()).count(title) > 1]
    return out | {name: f"{out[name]} ({name})" for name in doubled}


def _inputs() -> None:
    roles = {"first": "premise", "second": "hypothesis", "judged": "hypothesis"}
    page = PAGE.state
    try:
        if page.model:
            roles = read_card(available()[page.model])["roles"]
    except (CheckpointError, KeyError):
        pass
    left, middle, right = st.columns([1, 0.07, 1], vertical_alignment="bottom", gap="small")
    for column, key in ((left, "first"), (right, "second")):
        role = look.plain(str(roles[key]))
        meaning = "the sentence judged" if roles[key] == roles["judged"] else "the context"
        column.text_input(
            f"{role[:1].upper()}{role[1:]} ({meaning})", getattr(page, key), key=PAGE.key(key), on_change=_new_text,
            args=(key, PAGE.key(key)),
        )  # fmt: skip
    middle.button("", icon=":material/swap_horiz:", key="swap", on_click=_swap, help="Swap sides", width="stretch")


def _explained(page: PageState) -> tuple[Checkpoint, Explanation, Explanation | None]:
    """The model's explanation of the pair, computed once as long as pair and checkpoint stay the same."""
    assert page.model is not None
    session = st.session_state
    with st.spinner("Loading the model …"):
        checkpoint = load_named(page.model)
    key = (page.model, checkpoint.card["sha256"], page.first, page.second)
    if session.get("explained_key") != key:
        with st.spinner("Reading the pair …"):
            session["explained"] = explain(checkpoint, page.first, page.second)
            session["alone"] = _alone(checkpoint, page)
        session["explained_key"] = key
    return checkpoint, session["explained"], session["alone"]


def _alone(checkpoint: Checkpoint, page: PageState) -> Explanation | None:
    if checkpoint.name == ALONE or ALONE not in available() or checkpoint.card["task"] != "entailment":
        return None
    try:
        return explain(load_named(ALONE), page.first, page.second)
    except (CheckpointError, PairError):
        return None


def _show(
    page: PageState, checkpoint: Checkpoint, explanation: Explanation, alone: Explanation | None, problems: list[str]
) -> None:
    matrix = attention.payload(explanation, page.show)
    sides = _sides(explanation, matrix)
    lengths = {side["axis"]: len(side["tokens"]) for side in sides if side["axis"]}
    chosen = page.selection
    problems = list(problems)
    if chosen is not None and not chosen.fits(lengths.get("row", 0), lengths.get("column", 0)):
        problems.append(f"The link selects {chosen}, but this pair has no such word: nothing is selected.")
        chosen = None
    selection = chosen or Selection(attention.default_row(explanation))
    if selection.row is not None:
        explanation = with_nearest(checkpoint, explanation, selection.row)
    parameters = replace(page, selection=None).link_parameters()
    if parameters is None:
        problems.append("This pair is too long for a link: “Save and open” in the sidebar keeps it in a file.")
    drawing = {
        "id": _digest([page.model, page.first, page.second]),
        "sides": sides,
        "verdict": verdict.payload(explanation, alone),
        "attention": matrix,
        "filters": filters.payload(explanation),
        "notices": [*problems, *explanation.warnings],
        "footer": _footer(checkpoint, explanation),
        "link": parameters,
        "linkable": parameters is not None,
    }
    st.session_state["drawn"] = drawing["id"]
    data = drawing | {
        "drawing": _digest(drawing),
        "nearest": attention.nearest(explanation),
        "selection": {"row": selection.row, "column": selection.column},
        "chosen": chosen is not None,
        "turn": st.session_state.get("turn", 0),
    }
    pair_view(data, _selected)
    _downloads(explanation)


def _sides(explanation: Explanation, matrix: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Both sentences in reading order. ``axis``: the edge of the matrix a side stands on (None without attention)."""
    first, second = explanation.first, explanation.second
    if matrix is not None and matrix["rows"] == matrix["columns"]:
        first = second = explanation.sentence(matrix["rows"])
    out = [attention.sentence(first), attention.sentence(second)]
    for place, side in enumerate(out):
        side["judged"] = side["role"] == explanation.judged
        is_row = side["judged"] if first is not second else place == 1
        side["axis"] = "row" if is_row else "column"
    return out


def _footer(checkpoint: Checkpoint, explanation: Explanation) -> list[str]:
    card = checkpoint.card
    out = [explanation.title]
    if card.get("seed") is not None:
        out.append(f"seed {card['seed']}")
    for name, result in list((card.get("results") or {}).items())[:1]:
        if isinstance(result, dict) and isinstance(result.get("accuracy"), int | float):
            out.append(f"{name} {100 * result['accuracy']:.1f} %")
    return [*out, f"{explanation.milliseconds:.0f} ms"]


def _downloads(explanation: Explanation) -> None:
    with st.container(horizontal=True, gap="small"):

        def save(label: str, make: Any, name: str, kind: str) -> None:
            st.download_button(label, make, name, kind, type="tertiary", on_click="ignore", key=f"save {name}")

        save("All numbers (JSON)", lambda: explanation.to_json(indent=1), "pairlens.json", "application/json")
        if any(record.kind == "attention_map" for record in explanation.evidence):
            save("Attention (CSV)", lambda: tables.attention_csv(explanation), "pairlens-attention.csv", "text/csv")
        save("Filters (CSV)", lambda: tables.filters_csv(explanation), "pairlens-filters.csv", "text/csv")


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


main()
