"""Converts explanations to JSON and back, following the types of the records' fields (cattrs)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from core import json_types
from core.json_types import JsonObject, T, told

LATER = {"later": True}
"""Metadata of a field added after records had been saved: JSON leaves it out while it holds its default."""


_CONVERTER = json_types.converter(unstruct_collection_overrides={tuple: list}, forbid_extra_keys=True)
_BASES: list[type] = []


def any_of(base: Any, kinds: Callable[[], Mapping[str, type]]) -> None:
    """Converts a value of type ``base`` by the one of its ``kinds`` that it has; JSON names it as ``kind``."""

    def to_json(value: Any) -> JsonObject:
        return {"kind": value.kind, **_CONVERTER.unstructure(value, type(value))}

    def from_json(data: Any, _: type) -> object:
        name = data.get("kind") if isinstance(data, dict) else None
        if not isinstance(name, str) or name not in kinds():
            raise ValueError(f"unknown kind of evidence {name!r}; known: {', '.join(kinds())}")
        return _CONVERTER.structure({key: value for key, value in data.items() if key != "kind"}, kinds()[name])

    _BASES.append(base)
    _CONVERTER.register_unstructure_hook_func(lambda kind: kind is base, to_json)
    _CONVERTER.register_structure_hook_func(lambda kind: kind is base, from_json)


def _told(kind: type) -> list[str]:
    return [name for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, told)]


def _tells(kind: Any) -> bool:
    return isinstance(kind, type) and is_dataclass(kind) and bool(_told(kind))


def _is_one(kind: Any) -> bool:
    """Whether it is a kind of one of the bases."""
    return isinstance(kind, type) and is_dataclass(kind) and issubclass(kind, tuple(_BASES))


def _unstructurer(kind: type) -> Callable[[Any], JsonObject]:
    """Leaves out the fields marked LATER that hold their default, and adds the properties marked ``told`` that are not
    None."""
    known, more = fields(kind), _told(kind)  # type: ignore[arg-type]
    later = {field.name: override(omit_if_default=True) for field in known if LATER.items() <= field.metadata.items()}
    own = make_dict_unstructure_fn(kind, _CONVERTER, **later)  # type: ignore[arg-type]

    def to_json(value: Any) -> JsonObject:
        known = {name: getattr(value, name) for name in more}
        return own(value) | {name: _CONVERTER.unstructure(told) for name, told in known.items() if told is not None}

    return to_json


def _structurer(kind: type[T]) -> Callable[[Any, type[T]], T]:
    """Skips the properties marked ``told``, which follow from the fields."""
    known, more = make_dict_structure_fn(kind, _CONVERTER, _cattrs_forbid_extra_keys=True), _told(kind)

    def structured(data: Any, _: type[T]) -> T:
        return known({name: value for name, value in data.items() if name not in more}, kind)

    return structured


_CONVERTER.register_unstructure_hook_factory(lambda kind: _is_one(kind) or _tells(kind), _unstructurer)
_CONVERTER.register_structure_hook_factory(_tells, _structurer)


def to_dict(value: object) -> JsonObject:
    """A record or explanation as plain dicts, lists, strings and numbers; each evidence record carries its ``kind``."""
    base = next((base for base in _BASES if isinstance(value, base)), None)
    return _CONVERTER.unstructure(value, base)


def from_dict(data: object, kind: type[T]) -> T:
    """The inverse of :func:`to_dict`. Raises ValueError, in one sentence, for data of another shape."""
    try:
        return json_types.checked(data, kind, by=_CONVERTER)
    except ValueError as error:
        raise ValueError(f"this is not an explanation of PairLens: {error}") from error
