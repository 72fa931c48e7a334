"""Values of JSON as the types that a class asks for, and nothing made of another type: cattrs alone would make text of
a number, or a list of the characters of a text."""

from __future__ import annotations

import sys
from typing import Any, get_args, get_origin

import cattrs


def is_number(value: object) -> bool:
    """Whether this is a finite number that fits a float; JSON's true and false, which Python counts with, are none."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def converter(**options: Any) -> cattrs.Converter:
    """A converter (with cattrs' own ``options``) that takes values of just the types asked for."""
    made = cattrs.Converter(**options)
    for kind in (str, int, bool, float):
        made.register_structure_hook(kind, _exactly)

    def as_tuple(value: Any, kind: Any) -> tuple[Any, ...]:
        if type(value) not in (list, tuple):
            raise TypeError
        kinds = get_args(kind)
        if kinds[-1] is Ellipsis:
            return tuple(made.structure(value, list[kinds[0]]))  # type: ignore[valid-type]
        if len(value) != len(kinds):
            raise ValueError(f"must be a list of {len(kinds)}")
        return tuple(made.structure(part, one) for part, one in zip(value, kinds, strict=True))

    made.register_structure_hook_func(_is_tuple, as_tuple)
    made.register_structure_hook_func(lambda kind: kind == list[str], _texts)
    return made


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _exactly(value: Any, kind: type) -> Any:
    if not (is_number(value) if kind is float else type(value) is kind):
        raise TypeError
    return float(value) if kind is float else value


def _texts(value: Any, kind: type) -> Any:
    if type(value) is not list or not all(type(item) is str for item in value):
        raise TypeError
    return value


def problems(error: Exception) -> list[str]:
    """What was wrong with a value that a converter refused, in a few words each."""
    lines = [line.rpartition(" @ ") for line in cattrs.transform_error(error, format_exception=_in_words)]
    return [f"{where.removeprefix('$').removeprefix('.')} {what}".strip() for what, _, where in lines]


_KINDS = {str: "text", int: "a whole number", bool: "true or false", float: "a number", list[str]: "a list of texts"}


def _in_words(error: BaseException, kind: Any) -> str:
    if isinstance(error, KeyError):
        return "is missing"
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        return f"has the unknown keys {', '.join(sorted(map(str, error.extra_fields)))}"
    if isinstance(error, ValueError):
        return str(error)
    return f"must be {_KINDS.get(kind, 'a list' if get_origin(kind) in (list, tuple) else 'keys and values')}"
