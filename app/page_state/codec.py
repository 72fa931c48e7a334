"""How a page's state goes into its address and into a saved file, and back, by the metadata of its fields.

A page declares a frozen dataclass derived from :class:`PageState` whose fields are made by :func:`parameter`;
it writes no reader and no writer of its own. Wrong values each give one sentence and the default; nothing here raises
for what a person may have typed into an address or put into a file.
"""

# Streamlit 1.67 can bind a widget to a query parameter (`bind="query-params"`). Tried, and not enough here: a wrong
# value is dropped without a word; a choice is written as the title that people read, not as the model's name; the value
# is the widget's, whose only key is the parameter's name, so a late answer of the browser passes for a new choice, and
# the page cannot set the parameter itself; and what is no widget (a selected cell or phrase, a text's trail, an
# example's name in place of its texts, a state too long for a link, a saved file) has nothing to be bound to.

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, ClassVar, Self
from urllib.parse import urlencode

from app.pairs import SIDES, Version
from core.json_types import JsonObject

LINK_LIMIT = 2000
"""Characters of a query string that browsers, mail and chat programs pass on whole."""


@dataclass(frozen=True)
class Address:
    """An address that is being read. ``models``: those available, the default one first, each with the kind of its
    examples; ``values``: the fields read so far; ``problems``: one sentence for each value that could not be used."""

    parameters: Mapping[str, str]
    models: Mapping[str, str]
    values: JsonObject = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Codec:
    """A field that is the parameter ``name``. ``value``: reads a text, None where it has no meaning;
    ``problem``: the sentence for such a text, which is quoted at its {}; ``text``: writes a value."""

    name: str
    problem: str = ""
    value: Callable[[str], Any] = str
    text: Callable[[Any], str] = str

    def parse(self, text: str, address: Address) -> Any:
        """The value of a text that is not empty, or None."""
        return self.value(text)

    def sentence(self, text: str, address: Address) -> str:
        """What is wrong with the text."""
        return self.problem.format(short(text))

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters that may hold the field."""
        return (self.name,)

    def read(self, address: Address, default: Any) -> Any:
        """The field's value. An empty parameter counts as absent."""
        text = address.parameters.get(self.name)
        if not text:
            return default
        value = self.parse(text, address)
        if value is None:
            address.problems.append(self.sentence(text, address))
        return default if value is None else value

    def write(self, value: Any, default: Any, examples: bool = True) -> dict[str, str]:
        """The field's parameters; the default value is left out. ``examples``: an example may be named by its slug."""
        text = "" if value is None or value == default else self.text(value)
        return {self.name: text} if text else {}

    def shortened(self, value: Any) -> Any:
        """What of the value a link holds that is too long with all of it."""
        return value


def one_of(known: Collection[str]) -> Callable[[str], str | None]:
    """Reads one of the ``known`` words."""
    return lambda text: text if text in known else None


def whole_number(least: int = 0, most: int = 9999) -> Callable[[str], int | None]:
    """Reads a whole number from ``least`` to ``most``, both of at most four digits."""
    return lambda text: int(text) if re.fullmatch(r"\d{1,4}", text, re.ASCII) and least <= int(text) <= most else None


def switch(name: str, problem: str, word: str = "on") -> Codec:
    """A field of yes or no, which stands as ``word`` (on or off) where it is not as usual."""
    return Codec(name, problem, lambda text: word == "on" if text == word else None, lambda value: word)


def parameter(
    default: Any, codec: Codec, *, belongs_to: tuple[str, ...] = (), kw_only: bool = False, asked: bool = False
) -> Any:
    """A field. It goes back to its default when one of the fields that it ``belongs_to`` is changed. ``asked``: the
    browser asks for it without a new drawing, and adds it to the link itself."""
    metadata = {"codec": codec, "belongs_to": belongs_to, "asked": asked}
    return field(default=default, kw_only=kw_only, metadata=metadata)


_PROJECTOR = switch("projector", "The link says “{}” of the projector, which is on or left out: it is off.")


@dataclass(frozen=True)
class PageState:
    """All that decides what a page shows. ``page`` names the page in its session and in its files; ``projector``:
    whether type and cells are large."""

    page: ClassVar[str]
    follows: ClassVar[bool] = False
    """Whether the page opens with the pair of the page before it, even where nobody chose that."""
    projector: bool = parameter(False, _PROJECTOR, kw_only=True)

    @classmethod
    def _fields(cls) -> Iterator[tuple[Field[Any], Codec]]:
        return ((one, one.metadata["codec"]) for one in fields(cls))

    @classmethod
    def names(cls) -> frozenset[str]:
        """All parameters that an address of this page may hold."""
        return frozenset(name for _, codec in cls._fields() for name in codec.names)

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str], models: Mapping[str, str]) -> tuple[Self, list[str]]:
        """State of an address and one sentence for each value that could not be used (see :class:`Address`)."""
        whole = {name: re.sub("[\ud800-\udfff]", "\ufffd", text) for name, text in parameters.items()}
        address = Address(whole, models)
        if any(whole[name] != parameters[name] for name in cls.names() & whole.keys()):
            address.problems.append("A broken character, which no keyboard writes, is shown as “\ufffd”.")
        for one, codec in cls._fields():
            address.values[one.name] = codec.read(address, one.default)
        return cls(**address.values), address.problems

    def to_parameters(self) -> dict[str, str]:
        """Query parameters that :meth:`from_parameters` reads again."""
        return self._written(examples=True)

    def _written(self, *, examples: bool) -> dict[str, str]:
        out: dict[str, str] = {}
        for one, codec in self._fields():
            out |= codec.write(getattr(self, one.name), one.default, examples)
        return out

    def link_parameters(self) -> dict[str, str] | None:
        """:meth:`to_parameters`, without trails and candidates where it is too long for a link, or None where it still
        is."""
        shorter = replace(self, **{one.name: codec.shortened(getattr(self, one.name)) for one, codec in self._fields()})
        return next(filter(fits_a_link, (self.to_parameters(), shorter.to_parameters())), None)

    def to_file(self) -> str:
        """JSON text that :meth:`from_file` opens again."""
        return json.dumps(
            {"pairlens": self.page, "version": 1, **self._written(examples=False)}, ensure_ascii=False, indent=1
        )

    @classmethod
    def from_file(cls, text: str, models: Mapping[str, str]) -> tuple[Self | None, list[str]]:
        """State of a saved file (of another page's file its first pair alone), or None and one sentence when it is no
        such file."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        page = data.get("pairlens") if isinstance(data, dict) and data.get("version") == 1 else None
        if page != cls.page and (not isinstance(page, str) or "first" not in data):
            return None, ["This file was not saved by this page: choose one that “Save and open” wrote."]
        names = cls.names() if page == cls.page else SIDES
        return cls.from_parameters({k: v for k, v in data.items() if isinstance(v, str) and k in names}, models)

    def anew(self, **values: Any) -> Self:
        """The same with other values, and without what belonged to the old ones."""
        dropped: JsonObject = {
            one.name: one.default for one in fields(self) if values.keys() & set(one.metadata["belongs_to"])
        }
        return replace(self, **dropped | values)

    @property
    def asked(self) -> dict[str, str]:
        """What the browser asks for, as a link has it; empty where a link leaves it out."""
        return {
            codec.name: codec.write(getattr(self, one.name), one.default).get(codec.name, "")
            for one, codec in self._fields()
            if one.metadata["asked"]
        }

    @classmethod
    def heard(cls, asked: Mapping[str, Any]) -> JsonObject:
        """The values of what the browser says that it asks for."""
        address = Address({name: str(text or "") for name, text in asked.items()}, {})
        fields = ((one, codec) for one, codec in cls._fields() if one.metadata["asked"])
        return {one.name: codec.read(address, one.default) for one, codec in fields}

    # What a page over texts (TextState) does otherwise.

    @classmethod
    def names_texts(cls, parameters: Mapping[str, str]) -> bool:
        """Whether an address says which texts are shown."""
        return False

    @classmethod
    def takes(cls, shared: Version, parameters: Mapping[str, str], models: Mapping[str, str]) -> bool:
        """Whether an address that does not say its texts shows the pair of all pages."""
        return True

    def suited(self, models: Mapping[str, str]) -> Self:
        """The same where these are the models (as :class:`Address` has them)."""
        return self

    def give_pair(self, shared: Version | None, models: Mapping[str, str]) -> Version | None:
        """The pair of all pages after a change to this state, where ``shared`` was theirs before."""
        return shared

    def take_pair(self, shared: Version, models: Mapping[str, str]) -> Self:
        """The same with the pair that another page gave."""
        return self

    def address(self) -> dict[str, str]:
        """:meth:`link_parameters`, or what of them fits an address at any rate."""
        return self.link_parameters() or {}


def fits_a_link(parameters: Mapping[str, str]) -> bool:
    """Whether the parameters are short enough for a link."""
    return len(urlencode(parameters, errors="replace")) <= LINK_LIMIT


def short(text: str, limit: int = 40) -> str:
    """The beginning of a text, to quote it in a sentence."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
