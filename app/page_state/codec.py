"""Stores a page's state in its URL and in a saved file.

A page declares a frozen dataclass derived from :class:`PageState`, with fields from :func:`parameter`; this module
reads and writes them. Links outlive the program that wrote them: settings that are unknown, unreadable or inconsistent
are ignored, and one sentence lists them all. User input never raises.
"""

# Streamlit can bind a widget to a query parameter (`bind="query-params"`). This was tried with version 1.67 but is
# insufficient: it silently drops an invalid value, writes a choice as its title, mistakes a late browser message for a
# new choice, and has no place for other state (a selection, a text's trail, an example's name, a saved file).

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Self
from urllib.parse import urlencode

from app.pairs import SIDES, Version
from core.checkpoint.unlisted import base_of
from core.json_types import JsonObject

LINK_LIMIT = 2000
"""Length of a query string that browsers, mail and chat programs transmit in full."""
LISTED = 8
"""Maximum number of setting names listed in the sentence about unusable ones."""


@dataclass(frozen=True)
class Codec:
    """How a field is read from its parameter and written to it. ``read`` returns None for unusable text; an empty
    ``name`` means the field's own."""

    read: Callable[[str], Any]
    write: Callable[[Any], str]
    name: str
    belongs_to: tuple[str, ...]
    asked: bool
    long: bool


def parameter(
    default: Any,
    read: Callable[[str], Any] = str,
    write: Callable[[Any], str] = str,
    *,
    name: str = "",
    belongs_to: tuple[str, ...] = (),
    asked: bool = False,
    long: bool = False,
    kw_only: bool = False,
) -> Any:
    """Declares a field. It is reset to its default when one of the fields it ``belongs_to`` changes. ``asked``: the
    browser requests it without redrawing, and adds it to the link itself; ``long``: omitted if the link would otherwise
    be too long."""
    codec = Codec(read, write, name, belongs_to, asked, long)
    return field(default=default, kw_only=kw_only, metadata={"codec": codec})


def switch(default: bool, **options: Any) -> Any:
    """A boolean field, written to a link only if it differs from the default."""
    word = "off" if default else "on"
    return parameter(default, {word: not default}.get, lambda _: word, **options)


def one_of(known: Mapping[str, Any] | tuple[str, ...]) -> Callable[[str], str | None]:
    """Reads one of the ``known`` words."""
    return lambda text: text if text in known else None


def whole_number(least: int = 0, most: int = 9999) -> Callable[[str], int | None]:
    """Reads an integer from ``least`` to ``most``, both of at most four digits."""
    return lambda text: int(text) if re.fullmatch(r"\d{1,4}", text, re.ASCII) and least <= int(text) <= most else None


def matching(pattern: str) -> Callable[[str], str | None]:
    """Reads text that matches the whole ``pattern``."""
    return lambda text: text if re.fullmatch(pattern, text, re.ASCII) else None


@dataclass(frozen=True)
class PageState:
    """Everything that determines what a page shows. ``page`` names the page in its session and its files;
    ``projector``: whether type and cells are large. ``models`` below are the available ones, the default one first,
    each with the kind of its examples."""

    page: ClassVar[str]
    follows: ClassVar[bool] = False
    """Whether the page opens with the previous page's pair, even if the user did not choose that pair."""
    projector: bool = switch(False, kw_only=True)

    @classmethod
    def _codecs(cls) -> Iterator[tuple[Field[Any], str, Codec]]:
        """Each field that has a parameter, with the parameter's name."""
        for of_page in fields(cls):
            codec: Codec | None = of_page.metadata.get("codec")
            if codec is not None:
                yield of_page, codec.name or of_page.name, codec

    @classmethod
    def names(cls) -> frozenset[str]:
        """All parameters that a URL of this page may have."""
        return frozenset(name for _, name, _ in cls._codecs())

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str], models: Mapping[str, str]) -> tuple[Self, list[str]]:
        """The state in a URL, and sentences about unusable settings. An empty parameter counts as missing; an unpaired
        surrogate becomes U+FFFD."""
        given = {name: re.sub("[\ud800-\udfff]", "\ufffd", text) for name, text in parameters.items()}
        values, unusable = cls._read(given, models)
        read = cls(**values)
        state = read.suited(models)
        unusable += [
            name
            for of_page, name, _ in cls._codecs()
            if of_page.name in values and getattr(state, of_page.name) != getattr(read, of_page.name)
        ]
        return state, _unusable(unusable, given.get("model", ""), getattr(state, "model", None))

    @classmethod
    def _read(cls, given: Mapping[str, str], models: Mapping[str, str]) -> tuple[JsonObject, list[str]]:
        """The fields' values, and the names of the unusable parameters."""
        values: JsonObject = {}
        unusable = [name for name in given if name not in cls.names()]
        for of_page, name, codec in cls._codecs():
            if text := given.get(name):
                value = codec.read(text)
                if value is None:
                    unusable.append(name)
                else:
                    values[of_page.name] = value
        return values, unusable

    def to_parameters(self, examples: bool = True) -> dict[str, str]:
        """The parameters that :meth:`from_parameters` reads again, without defaults. ``examples``: writes an example's
        name instead of its texts."""
        shown = ((name, codec, getattr(self, of_page.name), of_page.default) for of_page, name, codec in self._codecs())
        return {name: codec.write(value) for name, codec, value, usual in shown if value not in (None, usual)}

    def shortened(self) -> Self:
        """A copy without the long values, which a link omits first."""
        usual: JsonObject = {of_page.name: of_page.default for of_page, _, codec in self._codecs() if codec.long}
        return replace(self, **usual)

    def link_parameters(self) -> dict[str, str] | None:
        """:meth:`to_parameters`, :meth:`shortened` if they are too long for a link; None if they still are."""
        return next(filter(fits_a_link, (self.to_parameters(), self.shortened().to_parameters())), None)

    def address(self) -> dict[str, str]:
        """:meth:`link_parameters`, or only the model if they are too long."""
        whole = self.to_parameters()
        return self.link_parameters() or {name: whole[name] for name in whole if name == "model"}

    def to_file(self) -> str:
        """The parameters as JSON text for :meth:`from_file`."""
        whole = {"pairlens": self.page, "version": 1, **self.to_parameters(examples=False)}
        return json.dumps(whole, ensure_ascii=False, indent=1)

    @classmethod
    def from_file(cls, text: str, models: Mapping[str, str]) -> tuple[Self | None, list[str]]:
        """The state in a saved file (only the first pair of another page's file), or None and one sentence for any
        other file."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        page = data.get("pairlens") if isinstance(data, dict) and data.get("version") == 1 else None
        if page != cls.page and (not isinstance(page, str) or "first" not in data):
            return None, ["This file was not saved by this page: choose one that “Save and open” wrote."]
        names = data.keys() - {"pairlens", "version"} if page == cls.page else SIDES
        return cls.from_parameters({name: data[name] for name in names if isinstance(data.get(name), str)}, models)

    def updated(self, **values: Any) -> Self:
        """A copy with other values; fields that depend on the old values are reset."""
        dropped: JsonObject = {
            of_page.name: of_page.default for of_page, _, codec in self._codecs() if values.keys() & {*codec.belongs_to}
        }
        return replace(self, **dropped | values)

    @property
    def asked(self) -> dict[str, str]:
        """The browser's requests as link parameters; empty if a link omits them."""
        written = self.to_parameters()
        return {name: written.get(name, "") for _, name, codec in self._codecs() if codec.asked}

    @classmethod
    def received(cls, asked: Mapping[str, Any]) -> JsonObject:
        """Field values from the browser's requests."""
        given = {name: str(asked.get(name) or "") for _, name, codec in cls._codecs() if codec.asked}
        values, _ = cls._read(given, {})
        return {of_page.name: values.get(of_page.name, of_page.default) for of_page, _, c in cls._codecs() if c.asked}

    def suited(self, models: Mapping[str, str]) -> Self:
        """A copy in which values that do not fit the models or each other are reset to their defaults."""
        return self

    # Overridden by pages over texts (TextState).

    @classmethod
    def names_texts(cls, parameters: Mapping[str, str]) -> bool:
        """Whether a URL contains texts."""
        return False

    @classmethod
    def takes(cls, shared: Version, parameters: Mapping[str, str], models: Mapping[str, str]) -> bool:
        """Whether a URL without texts shows the shared pair."""
        return True

    def give_pair(self, shared: Version | None, models: Mapping[str, str]) -> Version | None:
        """The shared pair after a change to this state; ``shared``: the pair before it."""
        return shared

    def take_pair(self, shared: Version, models: Mapping[str, str]) -> Self:
        """A copy with another page's pair."""
        return self


def _unusable(names: list[str], asked: str, shown: str | None) -> list[str]:
    """One sentence about an unavailable model, and one about all other unusable settings."""
    instead = "" if shown is None else f"; showing {shown}"
    which = "The unlisted model of this link" if base_of(asked) else f"Model “{short(asked)}”"
    why = "was only kept for a day" if base_of(asked) else "isn’t available on this page"
    gone = [f"{which} {why}{instead}."] if "model" in names else []
    return gone + unusable(name for name in names if name != "model")


def unusable(names: Iterable[str]) -> list[str]:
    """The sentence about settings that the page is shown without; none without names."""
    known = [short(name) for name in dict.fromkeys(names)]
    listed = ", ".join(known[:LISTED]) + (" …" if len(known) > LISTED else "")
    sentence = f"Some settings of this link can’t be used here, so the page is shown without them: {listed}."
    return [sentence] if known else []


def fits_a_link(parameters: Mapping[str, str]) -> bool:
    """Whether the parameters are short enough for a link."""
    return len(urlencode(parameters, errors="replace")) <= LINK_LIMIT


def short(text: str, limit: int = 40) -> str:
    """The beginning of a text, for quoting in a sentence."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
