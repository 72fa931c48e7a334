"""The inputs of every page over typed text: model and example in the sidebar, sentences, and saved page files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import streamlit as st

from app import own_models, page_style
from app.examples import shown_with
from app.model_choice import RECOMMENDED, Listed, size_said
from app.page_state.session import PageSession
from app.page_state.widgets import choice, folded
from app.pairs import SIDES, Pair
from core.checkpoint import CheckpointError, available, epochs, read_card
from core.checkpoint.unlisted import base_of
from core.errors import UnnamedClassesError
from core.evidence import BOTH
from core.reading.reader import PairError

Answer = TypeVar("Answer")
SEVERAL = "evidence"
"""The role of a text that may be several sentences, typed one per line (FEVER)."""
SHOWN_LETTERS = 22
"""Maximum characters of an example's name in the closed select box; a longer name is repeated below it."""
_KEPT = "kept"
"""On the slider of epochs: the model itself."""
_ROLES = {"first": "premise", "second": "hypothesis", "judged": "hypothesis"}


@dataclass(frozen=True)
class ModelForm:
    """The widgets of ``page`` that do not depend on its number of texts. ``saved``: a description of its page file;
    ``own``: the select box's entry for the user's texts."""

    page: PageSession[Any]
    saved: str = "pair"
    own: str = "Words of your own"

    def answer(self, compute: Callable[[Any], Answer], none_installed: str, empty: str = "") -> Answer | None:
        """Computes the page's answer, or shows one sentence on why there is none; ``empty``: the hint while nothing is
        typed. Shows a spinner while the model is being loaded."""
        state, problems = self.page.state, self.page.problems
        if state.model is None:
            problems.append(f"{none_installed}, and name its parent folder in PAIRLENS_CHECKPOINTS.")
        elif empty:
            page_style.notice(problems)
            page_style.hint(empty)
            return None
        elif state.model not in available():  # since the whole page ran: typing runs only a part of it
            self.page.refuse(f"The model “{state.model}” has been deleted: choose another in the sidebar.")
            st.rerun()
        else:
            try:
                with page_style.patience(lambda: f"Loading the model{size_said(state.model)} …", [state.model]):
                    return compute(state)
            except UnnamedClassesError as error:
                page_style.notice([*problems, f"This model cannot be used yet: {error}."])
                page_style.page_link("models", {"model": state.model}, "Name its classes")
                return None
            except CheckpointError as error:
                problems.append(f"This model cannot be used: {error}.")
            except PairError as error:
                problems.append(f"{str(error).rstrip('.')}.")
        page_style.notice(problems)
        return None

    def task_and_model(self, groups: Mapping[str, Sequence[str]], models: Mapping[str, str]) -> Sequence[str]:
        """The select boxes for the task and a model; a new task starts with its first model. Returns the task's
        models."""
        tasks = list(groups)
        shown = next((task for task, names in groups.items() if self.page.state.model in names), None)
        st.selectbox(
            "Task",
            tasks,
            tasks.index(shown) if shown else None,
            format_func=page_style.capital,
            placeholder="No model is installed",
            **self.page.widget("task", lambda task: self._take_task(groups[task][0])),
        )
        names = {name: models[name] for name in groups.get(shown or "", ())}
        if len(names) > 2 * RECOMMENDED:
            shipped = [name for name in names if not base_of(name)]
            names |= {name: f"{names[name]} · recommended" for name in shipped[:RECOMMENDED]}
        choice(self.page, "model", "Model", names, opens=True)
        return list(names)

    def epoch(self) -> None:
        """A slider over the epochs that were kept of the model's training, if there are any."""
        folder = available().get(self.page.state.model or "")
        kept = [] if folder is None else epochs.kept(folder)
        if folder is None or not kept:
            return
        best = read_card(folder).get("best_epoch")
        st.select_slider(
            "After epoch",
            [*kept, _KEPT],
            self.page.state.epoch or _KEPT,
            help=f"The model is the best of its training's epochs on dev: {best}." if best else None,
            **self.page.widget("epoch", lambda epoch: self.page.update(epoch=None if epoch == _KEPT else epoch)),
        )

    def _take_task(self, model: str) -> None:
        """After a change of task, replaces an example with one for the new task; the user's texts stay."""
        state = self.page.state
        other = state.with_model(model, self.page.models)
        example = None if state.example is None else other.first_example(self.page.models)
        self.page.set(other if example is None else other.updated(texts=example.texts))

    def key_of_texts(self, widget: str, *more: object) -> str:
        """The key of a widget that belongs to the displayed texts: with other texts it is a new widget."""
        state = self.page.state
        return f"{self.page.key(widget)} {digest([state.model, [text.versions for text in state.texts], *more])}"

    def example(self) -> None:
        """The example's select box belongs to the displayed texts: typing others creates a new select box."""
        state = self.page.state
        examples, shown = state.examples(self.page.models), state.example
        titles = {example.slug: example.title for example in examples}
        st.selectbox(
            "Example",
            list(titles),
            examples.index(shown) if shown in examples else None,
            format_func=titles.__getitem__,
            placeholder=self.own,
            **self.page.widget("example", self._take_example, self.key_of_texts),
        )
        if shown in examples and len(shown.title) > SHOWN_LETTERS:
            page_style.note(shown.title)

    def _take_example(self, slug: str | None) -> None:
        state = self.page.state
        example = next((example for example in state.examples(self.page.models) if example.slug == slug), None)
        if example is not None:
            model = shown_with(example, self.page.models, state.model)
            self.page.set(
                (state if model in (None, state.model) else state.updated(model=model)).updated(texts=example.texts)
            )

    def files(self, more: Callable[[], None] | None = None) -> None:
        """Saves the texts as a file and opens one, for texts too long for a link; ``more`` draws other downloads."""
        with folded("Save and open", "save and open") as is_open:
            if not is_open:
                return
            page_style.download(
                f"Save this {self.saved}",
                self.page.state.to_file,
                f"pairlens-{self.saved.split()[-1]}.json",
                framed=True,
                explained=f"A small file with this {self.saved} and all choices, for texts too long for a link.",
            )
            st.file_uploader(
                f"Open a saved {self.saved}", key="opened", on_change=self._open_file, type="json", max_upload_size=5
            )
            if more is not None:
                more()

    def _open_file(self) -> None:
        self.page.touch()
        opened = st.session_state["opened"]
        if opened is not None:
            text = opened.getvalue().decode("utf-8", "replace")
            self.page.open_file(text, own_models.recall(text))


class PairForm(ModelForm):
    """The form of a page over one pair, which a component draws in the browser."""

    @property
    def id(self) -> str:
        """Identifies the drawing: the model and the pair shown."""
        return digest([self.page.state.shown_model, *self.page.state.pair.now])

    def answer(self, compute: Callable[[Any], Answer], none_installed: str, empty: str = "") -> Answer | None:
        """Like the base method; an empty pair has nothing to show yet."""
        if self.page.state.pair.empty:
            empty = "Type a sentence into each box above, or choose an example in the sidebar."
        return super().answer(compute, none_installed, empty)

    def sentences(self, models: Mapping[str, Listed]) -> None:
        """Inputs for both sentences, labelled with the roles on the model's card, and a swap button; a single input for
        a model of single texts."""
        pair, roles = self.page.state.pair, roles_of(self.page.state.model, models)
        if not roles["second"]:
            role = page_style.plain(page_style.capital(str(roles["first"])))
            st.text_input(role, pair.first, **self._text_box("first"))
            return
        left, middle, right = st.columns([1, 0.07, 1], vertical_alignment="bottom", gap="small")
        for column, side, text in zip((left, right), SIDES, pair.now, strict=True):
            role = page_style.plain(page_style.capital(str(roles[side])))
            meaning = "the sentence judged" if roles["judged"] == roles[side] else "the context"
            label = role if roles["judged"] == BOTH else f"{role} ({meaning})"
            if roles[side] == SEVERAL:
                column.text_area(f"{label}, one sentence per line", text, **self._text_box(side))
            else:
                column.text_input(label, text, **self._text_box(side))
        middle.button("Swap sides", icon=":material/swap_horiz:", key="swap", on_click=self._swap, width="stretch")

    def _text_box(self, side: str) -> dict[str, Any]:
        def take(text: str) -> None:
            state = self.page.state
            self.page.update(texts=(replace(state.pair, **{side: text}), *state.texts[1:]))

        return self.page.widget(side, take)

    def _swap(self) -> None:
        state = self.page.state
        self.page.set(state.updated(texts=tuple(Pair(*text.now[::-1]) for text in (state.pair, *state.texts[1:]))))


def roles_of(name: str | None, models: Mapping[str, Listed]) -> Mapping[str, str]:
    """The sentences' labels for this model."""
    card = models[name].card if name is not None and name in models else None
    return _ROLES if card is None else card["roles"]


def once(name: str, key: object, compute: Callable[[], Answer]) -> Answer:
    """The session's cached value of this name, recomputed when ``key`` changes."""
    if st.session_state.get(name, (None, None))[0] != key:
        st.session_state[name] = key, compute()
    answer: Answer = st.session_state[name][1]
    return answer


def digest(value: object) -> str:
    """A short name for JSON-like data: equal data have equal names."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
