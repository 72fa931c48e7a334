"""Converts plain values (from JSON, YAML or a model's settings) to dataclasses or TypedDicts with cattrs, without
coercing types: cattrs alone would convert a number to text, or a text to a list of characters."""

from __future__ import annotations

import dataclasses
import operator
import reprlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

import cattrs
from cattrs.errors import AttributeValidationNote

from core.wording import hint

T = TypeVar("T")
JsonObject = dict[str, Any]
"""A JSON or YAML object as Python has it."""
JsonMapping = Mapping[str, Any]
"""A read-only JsonObject."""


class told(property):
    """A property that is in the JSON like the fields, so that the pages' scripts need not derive it again."""


def is_number(value: object) -> bool:
    """Whether this is a finite number that fits a float; true and false, integers in Python, do not count."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


_BOUNDS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "least": ("at least", operator.ge),
    "above": ("larger than", operator.gt),
    "below": ("below", operator.lt),
    "most": ("at most", operator.le),
}


def setting(default: Any = dataclasses.MISSING, *, one_of: Sequence[str] = (), **bounds: float) -> Any:
    """A dataclass field whose value must be one of some words, or satisfy ``least`` ≤ value ≤ ``most`` or ``above`` <
    value < ``below``, unless it is None."""
    return dataclasses.field(default=default, metadata={"one_of": one_of, "bounds": bounds})


def _out_of_bounds(value: object, field: dataclasses.Field[object]) -> str:
    """The problem of a value of a :func:`setting`; empty if it is allowed."""
    words, bounds = field.metadata["one_of"], field.metadata["bounds"]
    if words and value not in words:
        return f"{field.name} must be one of {', '.join(map(str, words))}, got {value!r}"
    if value is not None and not all(_BOUNDS[name][1](value, bound) for name, bound in bounds.items()):
        wanted = " and ".join(f"{_BOUNDS[name][0]} {bound:g}" for name, bound in bounds.items())
        return f"{field.name} must be {wanted}, got {value!r}"
    return ""


def converter(checks: Mapping[type, Callable[[Any], None]] = {}, **options: Any) -> cattrs.Converter:
    """A converter (with cattrs' own ``options``) that accepts only values of exactly the declared types. ``checks``
    raise ValueError if the fields of a type contradict each other."""
    made = cattrs.Converter(**options)
    for kind in (str, int, bool, float):
        made.register_structure_hook(kind, _exactly)

    def as_tuple(value: Any, kind: Any) -> tuple[Any, ...]:
        if type(value) not in (list, tuple):
            raise TypeError
        kinds = get_args(kind)
        if kinds[-1] is not Ellipsis and len(value) != len(kinds):
            raise ValueError(f"must be a list of {len(kinds)}")
        return tuple(made.structure(value, list[kinds[0]]))  # type: ignore[valid-type]

    def with_keys(kind: Any) -> Callable[[Any, Any], Any]:
        keys = is_typeddict(kind)
        structure = made.gen_structure_typeddict(kind) if keys else made.gen_structure_attrs_fromdict(kind)
        settings = [] if keys else [field for field in dataclasses.fields(kind) if "bounds" in field.metadata]

        def from_dict(value: Any, _: Any) -> Any:
            if not isinstance(value, dict):
                raise TypeError
            structured = structure(value, kind)
            wrong = [text for field in settings if (text := _out_of_bounds(getattr(structured, field.name), field))]
            if wrong:
                raise ValueError(*wrong)
            if kind in checks:
                checks[kind](structured)
            return structured

        return from_dict

    made.register_structure_hook_factory(lambda kind: dataclasses.is_dataclass(kind) or is_typeddict(kind), with_keys)
    made.register_structure_hook_func(_is_tuple, as_tuple)
    made.register_structure_hook_func(lambda kind: kind == list[str], _texts)
    return made


def _is_tuple(kind: object) -> bool:
    return get_origin(kind) is tuple


def _exactly(value: Any, kind: type) -> Any:
    if not (is_number(value) if kind is float else type(value) is kind):
        raise TypeError
    return float(value) if kind is float else value


def _texts(value: object, kind: type) -> list[object]:
    if type(value) is not list or not all(type(item) is str for item in value):
        raise TypeError
    return value


STRICT = converter(forbid_extra_keys=True)
LENIENT = converter()
"""Ignores keys for which a dataclass has no field."""


def checked(values: object, kind: type[T], where: str = "", by: cattrs.Converter = STRICT) -> T:
    """Converts ``values`` to a dataclass that has a field for each key. Raises ValueError with the first problem;
    ``where`` is the key that contains the values."""
    try:
        return by.structure(values, kind)
    except Exception as error:  # cattrs collects anything that constructors raise
        raise ValueError(problems(error, values, kind, where)[0]) from error


def all_problems(values: object, kind: type[Any], where: str = "", by: cattrs.Converter = STRICT) -> list[str]:
    """All problems of these values, for which :func:`checked` raises the first; empty if there are none."""
    try:
        by.structure(values, kind)
    except Exception as error:  # cattrs collects anything that constructors raise
        return problems(error, values, kind, where)
    return []


def fields_of(values: JsonMapping, kind: type[Any], by: cattrs.Converter = STRICT) -> tuple[JsonObject, list[str]]:
    """Converts each value to the type of its field in a dataclass: the values that could be converted, and all problems
    of the others, unknown keys first. The dataclass itself is not made, so its own checks do not run."""
    fields, types = {field.name: field for field in dataclasses.fields(kind)}, get_type_hints(kind)
    good: JsonObject = {}
    wrong = [f"unknown key {key}{hint(str(key), fields)}" for key in values if key not in fields]
    for name, field in fields.items():
        if name not in values:
            if field.default is field.default_factory is dataclasses.MISSING:
                wrong.append(f"{name} is missing")
            continue
        try:
            good[name] = by.structure(values[name], types[name])
        except Exception as error:  # cattrs collects anything that constructors raise
            wrong += problems(error, values[name], types[name], name)
            continue
        if "bounds" in field.metadata and (text := _out_of_bounds(good[name], field)):
            wrong.append(text)
            del good[name]
    return good, wrong


def problems(error: BaseException, value: Any, kind: Any, where: str = "") -> list[str]:
    """The problems of a value that a converter rejected, in a few words each, unknown keys first."""
    if isinstance(error, cattrs.ClassValidationError | cattrs.IterableValidationError):
        parts, whole = error.group_exceptions()
        out = [problem for inner in whole for problem in problems(inner, value, kind, where)]
        for inner, note in parts:
            key = note.name if isinstance(note, AttributeValidationNote) else note.index
            place = f"{where}[{key}]" if isinstance(key, int) else f"{where}.{key}".lstrip(".")
            missing = isinstance(inner, KeyError)
            out += [f"{place} is missing"] if missing else problems(inner, value[key], note.type, place)
        return out
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        unknown = sorted(map(str, error.extra_fields))
        return [f"unknown key {f'{where}.{key}'.lstrip('.')}{hint(key, _fields(kind))}" for key in unknown]
    if isinstance(error, ValueError):
        # A constructor's message begins with the field it concerns, if there is one.
        return [
            f"{where}{'.' if str(text).partition(' ')[0] in _fields(kind) else ' '}{text}".lstrip(". ")
            for text in error.args or ("",)
        ]
    return [f"{where} must be {_in_words(kind)}, got {reprlib.repr(value)}".strip()]


def _fields(kind: object) -> list[str]:
    return [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []


_TYPES_IN_WORDS = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    float: "a number",
    list[str]: "a list of texts",
}


def _in_words(kind: Any) -> str:
    if get_origin(kind) in (Union, UnionType):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    return _TYPES_IN_WORDS.get(kind, "a list" if get_origin(kind) in (list, tuple) else "keys and values")
