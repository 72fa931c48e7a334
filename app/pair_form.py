"""What every page over typed text asks for: model and example in the sidebar, sentences, and a saved file of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from app import page_style as look
from app.examples import Example, by_slug, matching
from app.page_state.linked_page import LinkedPage
from core.checkpoint import CheckpointError, read_card
from core.reading.reader import PairError

Found = TypeVar("Found")
_OWN_PAIR = "A pair of your own"
_ROLES = {"first": "premise", "second": "hypothesis", "judged": "hypothesis"}


@dataclass(frozen=True)
class ModelForm:
    """The widgets of ``page`` that do not depend on how many texts it has; its state has a ``model``, a ``to_file`` and
    ``link_parameters``. ``open_file``: the state of a saved file's text, or None and one sentence. ``saved``: what such
    a file holds, in words."""

    page: LinkedPage[Any]
    open_file: Callable[[str], tuple[Any | None, list[str]]]
    saved: str = "pair"

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

    def write_link(self) -> None:
        """Put the state into the address, or the model alone where the texts are too long for a link."""
        state = self.page.state
        link = state.link_parameters()
        self.page.write_link(link if link is not None else {} if state.model is None else {"model": state.model})

    def answer(self, compute: Callable[[Any], Found], none_installed: str, empty: str = "") -> Found | None:
        """Compute what the page shows, or say in one sentence why there is nothing to show; ``empty`` says what to do
        where nothing is typed yet."""
        state, problems = self.page.state, self.page.problems
        if state.model is None:
            problems.append(f"{none_installed}, and name its parent folder in PAIRLENS_CHECKPOINTS.")
        elif empty:
            look.notice(problems)
            look.hint(empty)
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

    def model(self, models: Mapping[str, str], **anew: Any) -> None:
        """The chooser of the model, by the names that people read. ``anew``: fields of the state that another model
        begins anew."""
        names, chosen = list(models), self.page.state.model
        key = self.page.key("model")
        st.selectbox(
            "Model", names, names.index(chosen) if chosen else None, key=key, on_change=self._take_model,
            args=(key, anew), format_func=models.__getitem__, placeholder="No model is installed",
        )  # fmt: skip

    def _take_model(self, key: str, anew: Mapping[str, Any]) -> None:
        if key == self.page.key("model"):
            self.page.change(model=st.session_state[key], **anew)

    def files(self) -> None:
        """Save the texts as a file and open one, for texts too long for a link."""
        with st.expander("Save and open"):
            st.download_button(
                f"Save this {self.saved}", self.page.state.to_file(), f"pairlens-{self.saved.split()[-1]}.json",
                "application/json", on_click="ignore", help=f"A small file with this {self.saved} and all choices, for "
                "texts too long for a link.",
            )  # fmt: skip
            st.file_uploader(f"Open a saved {self.saved}", key="opened", on_change=self._open_file, type="json")

    def _open_file(self) -> None:
        self.page.touch()
        opened = st.session_state["opened"]
        if opened is not None:
            self.page.set(*self.open_file(opened.getvalue().decode("utf-8", "replace")))


@dataclass(frozen=True)
class PairForm(ModelForm):
    """The same for a page over one pair, whose state also has the fields first, second and selection. A new pair drops
    the selection."""

    examples: Sequence[Example] = ()

    def explained(self, compute: Callable[[Any], Found], none_installed: str) -> Found | None:
        """Write the link and compute what the page shows, or say why there is nothing to show."""
        self.write_link()
        state = self.page.state
        typed = state.first.strip() or state.second.strip()
        hint = "" if typed else "Type a sentence into each box above, or choose an example in the sidebar."
        return self.answer(compute, none_installed, hint)

    def example(self) -> None:
        """The chooser of an example belongs to the pair that is shown: typing another makes it another chooser."""
        state, key = self.page.state, self._example_key()
        slugs, here = [example.slug for example in self.examples], matching(state.first, state.second, self.examples)
        titles = {example.slug: example.title for example in self.examples}
        st.selectbox(
            "Example", slugs, None if here is None else slugs.index(here.slug), key=key, on_change=self._take_example,
            args=(key,), format_func=titles.__getitem__, placeholder=_OWN_PAIR,
        )  # fmt: skip

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
            "Swap sides",
            icon=":material/swap_horiz:",
            key="swap",
            on_click=self._swap,
            help="Swap sides",
            width="stretch",
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
