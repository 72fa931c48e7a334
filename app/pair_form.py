"""What every page over one pair asks for: model and example in the sidebar, two sentences, and a saved pair."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from app import look
from app.examples import Example, by_slug, matching
from app.linked import LinkedPage
from core.checkpoint import CheckpointError, read_card
from core.explain import PairError

Found = TypeVar("Found")
_OWN_PAIR = "A pair of your own"
_ROLES = {"first": "premise", "second": "hypothesis", "judged": "hypothesis"}


@dataclass(frozen=True)
class PairForm:
    """The widgets of ``page``, whose state has the fields model, first, second and selection, and a ``to_file``.

    A new pair drops the selection. ``open_file``: the state of a saved file's text, or None and one sentence.
    """

    page: LinkedPage[Any]
    examples: Sequence[Example]
    open_file: Callable[[str], tuple[Any | None, list[str]]]

    def open(
        self,
        models: Mapping[str, Path],
        read: Callable[[Mapping[str, str], Sequence[str]], tuple[Any, list[str]]],
        default: Callable[[Sequence[str]], str | None],
    ) -> None:
        """Take the page's state from the address or keep it; a model that is gone gives way to the default one."""
        names = list(models)
        state = self.page.open(lambda address: read(address, names))
        if state.model not in models:
            self.page.set(replace(state, model=default(names)), self.page.problems)

    def answer(self, compute: Callable[[Any], Found], none_installed: str) -> Found | None:
        """Write the link and compute what the page shows, or say in one sentence why there is nothing to show."""
        state, problems = self.page.state, self.page.problems
        link = state.link_parameters()
        self.page.write_link(link if link is not None else {} if state.model is None else {"model": state.model})
        if state.model is None:
            problems.append(f"{none_installed}, and name its parent folder in PAIRLENS_CHECKPOINTS.")
        elif not state.first.strip() and not state.second.strip():
            look.notice(problems)
            look.hint("Type a sentence into each box above, or choose an example in the sidebar.")
            return None
        else:
            try:
                return compute(state)
            except CheckpointError as error:
                problems.append(f"This model cannot be used: {error}.")
            except PairError as error:
                problems.append(str(error))
        look.notice(problems)
        return None

    def model(self, models: Mapping[str, str]) -> None:
        """The chooser of the model, by the names that people read."""
        names, chosen = list(models), self.page.state.model
        key = self.page.key("model")
        st.selectbox(
            "Model", names, names.index(chosen) if chosen else None, key=key, on_change=self.page.take,
            args=("model", key), format_func=models.__getitem__, placeholder="No model is installed",
        )  # fmt: skip

    def example(self) -> None:
        """The chooser of an example belongs to the pair that is shown: typing another makes it another chooser."""
        state, key = self.page.state, self._example_key()
        slugs, here = [example.slug for example in self.examples], matching(state.first, state.second, self.examples)
        titles = {example.slug: example.title for example in self.examples}
        st.selectbox(
            "Example", slugs, None if here is None else slugs.index(here.slug), key=key, on_change=self._take_example,
            args=(key,), format_func=titles.__getitem__, placeholder=_OWN_PAIR,
        )  # fmt: skip

    def files(self) -> None:
        """Save the pair as a file and open one, for pairs too long for a link."""
        with st.expander("Save and open"):
            st.download_button(
                "Save this pair", self.page.state.to_file(), "pairlens-pair.json", "application/json",
                on_click="ignore", help="A small file with both sentences and all choices, for pairs too long for a "
                "link.",
            )  # fmt: skip
            st.file_uploader("Open a saved pair", key="opened", on_change=self._open_file, type="json")

    def sentences(self, folder: Path | None) -> None:
        """Both sentences, labelled with the roles on the card in ``folder``, and the button that swaps them."""
        state, roles = self.page.state, _roles(folder)
        left, middle, right = st.columns([1, 0.07, 1], vertical_alignment="bottom", gap="small")
        for column, side in ((left, "first"), (right, "second")):
            role = look.plain(str(roles[side]))
            meaning = "the sentence judged" if roles[side] == roles["judged"] else "the context"
            column.text_input(
                f"{role[:1].upper()}{role[1:]} ({meaning})", getattr(state, side), key=self.page.key(side),
                on_change=self._new_text, args=(side, self.page.key(side)),
            )  # fmt: skip
        middle.button(
            "", icon=":material/swap_horiz:", key="swap", on_click=self._swap, help="Swap sides", width="stretch"
        )

    def _new_text(self, side: str, key: str) -> None:
        self.page.take(side, key)
        self.page.change(selection=None)

    def _swap(self) -> None:
        state = self.page.state
        self.page.set(replace(state, first=state.second, second=state.first, selection=None))

    def _example_key(self) -> str:
        return f"{self.page.key('example')} {digest([self.page.state.first, self.page.state.second])}"

    def _take_example(self, key: str) -> None:
        example = by_slug(st.session_state[key] or "", self.examples)
        if example is not None and key == self._example_key():
            self.page.set(replace(self.page.state, first=example.first, second=example.second, selection=None))

    def _open_file(self) -> None:
        self.page.touch()
        opened = st.session_state["opened"]
        if opened is not None:
            self.page.set(*self.open_file(opened.getvalue().decode("utf-8", "replace")))


def titles(models: Mapping[str, Path]) -> dict[str, str]:
    """Names for people; a folder whose card cannot be read keeps its own."""
    out = {}
    for name, folder in models.items():
        try:
            out[name] = str(read_card(folder)["title"])
        except CheckpointError:
            out[name] = name
    doubled = [name for name, title in out.items() if list(out.values()).count(title) > 1]
    return out | {name: f"{out[name]} ({name})" for name in doubled}


def digest(value: Any) -> str:
    """A short name for JSON-like data: equal data have equal names."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _roles(folder: Path | None) -> Mapping[str, Any]:
    if folder is None:
        return _ROLES
    try:
        roles = read_card(folder)["roles"]
    except CheckpointError:
        return _ROLES
    return roles if isinstance(roles, Mapping) and _ROLES.keys() <= roles.keys() else _ROLES
