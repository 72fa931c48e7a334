"""What a checkpoint's card must hold to be used: its fields and their types. Whatever else it holds is for people."""

from __future__ import annotations

import sys
from dataclasses import MISSING, dataclass, fields
from typing import Any

import cattrs

from core.evidence import BOTH


@dataclass(frozen=True)
class Roles:
    """Names of the sides in the words of the task; ``second`` is empty for a model of single texts."""

    first: str
    second: str
    judged: str

    def __post_init__(self) -> None:
        if not self.first or self.first == self.second:
            raise ValueError("must name two different sides")
        if self.judged not in ((self.first, self.second, BOTH) if self.second else (self.first,)):
            raise ValueError(f"must judge one of the sides, or {BOTH}")


@dataclass(frozen=True)
class Words:
    """The word table that the model reads, by its checksum; ``own``: it lies beside the card."""

    sha256: str
    name: str = ""
    own: bool = False


@dataclass(frozen=True)
class Card:
    """The fields of ``card.json`` that this program computes or chooses with."""

    name: str
    title: str
    architecture: str
    config: dict[str, Any]
    task: str
    labels: list[str]
    roles: Roles
    words: Words
    licence: str
    sha256: str
    token_limits: dict[str, int] | None = None
    typical_length: dict[str, float] | None = None
    results: dict[str, dict[str, float]] | None = None

    def __post_init__(self) -> None:
        if not self.labels or len(set(self.labels)) < len(self.labels):
            raise ValueError("labels must be different names, one at least")
        if any(limit < 1 for limit in (self.token_limits or {}).values()):
            raise ValueError("token_limits must be at least 1")


REQUIRED = tuple(field.name for field in fields(Card) if field.default is MISSING)


def is_number(value: object) -> bool:
    """Whether this is a finite number that fits a float; true and false, which Python counts with, are not."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def problems(value: Any) -> list[str]:
    """What keeps a JSON value from being a card, in a few words each; empty for a card."""
    try:
        _CONVERTER.structure(value, Card)
    except cattrs.ClassValidationError as error:
        lines = [line.rpartition(" @ ") for line in cattrs.transform_error(error, format_exception=_in_words)]
        return [f"{where.removeprefix('$').removeprefix('.')} {what}".strip() for what, _, where in lines]
    return []


_KINDS = {str: "text", int: "a whole number", bool: "true or false", float: "a number", list[str]: "a list of texts"}


def _in_words(error: BaseException, kind: Any) -> str:
    if isinstance(error, KeyError):
        return "is missing"
    if isinstance(error, ValueError):
        return str(error)
    return f"must be {_KINDS.get(kind, 'keys and values')}"


def _exactly(value: Any, kind: type) -> Any:
    """A value of just this type: cattrs would make text of a number."""
    if not (is_number(value) if kind is float else type(value) is kind):
        raise TypeError
    return value


def _texts(value: Any, kind: type) -> Any:
    """A list of texts: cattrs would make one of a text's characters."""
    if type(value) is not list or not all(type(item) is str for item in value):
        raise TypeError
    return value


_CONVERTER = cattrs.Converter()
for _kind in (str, int, bool, float):
    _CONVERTER.register_structure_hook(_kind, _exactly)
_CONVERTER.register_structure_hook_func(lambda kind: kind == list[str], _texts)
