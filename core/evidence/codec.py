"""Converts explanations to JSON and back, following the types of the records' fields (cattrs)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from core import json_types
from core.evidence.record import LATER, RECORDS, Record, told
from core.json_types import JsonObject, T

_CONVERTER = json_types.converter(unstruct_collection_overrides={tuple: list}, forbid_extra_keys=True)


def _record_to_dict(record: Record) -> JsonObject:
    return {"kind": record.kind, **_CONVERTER.unstructure(record, type(record))}


def _record_from_dict(data: Any, _: type) -> Record:
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in RECORDS:
        raise ValueError(f"unknown kind of evidence {kind!r}; known: {', '.join(RECORDS)}")
    fields = {name: value for name, value in data.items() if name != "kind"}
    return _CONVERTER.structure(fields, RECORDS[kind])


def _told(kind: type) -> list[str]:
    return [name for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, told)]


def _tells(kind: Any) -> bool:
    return isinstance(kind, type) and is_dataclass(kind) and bool(_told(kind))


def _unstructurer(kind: type) -> Callable[[Any], JsonObject]:
    """Leaves out the fields marked LATER that hold their default, and adds the properties marked ``told``."""
    known, more = fields(kind), _told(kind)  # type: ignore[arg-type]
    later = {field.name: override(omit_if_default=True) for field in known if LATER.items() <= field.metadata.items()}
    own = make_dict_unstructure_fn(kind, _CONVERTER, **later)  # type: ignore[arg-type]
    return lambda value: own(value) | {name: _CONVERTER.unstructure(getattr(value, name)) for name in more}


def _structurer(kind: type[T]) -> Callable[[Any, type[T]], T]:
    """Skips the properties marked ``told``, which follow from the fields."""
    known, more = make_dict_structure_fn(kind, _CONVERTER, _cattrs_forbid_extra_keys=True), _told(kind)

    def structured(data: Any, _: type[T]) -> T:
        return known({name: value for name, value in data.items() if name not in more}, kind)

    return structured


_CONVERTER.register_unstructure_hook_factory(lambda kind: kind in RECORDS.values() or _tells(kind), _unstructurer)
_CONVERTER.register_structure_hook_factory(_tells, _structurer)
_CONVERTER.register_unstructure_hook_func(lambda kind: kind is Record, _record_to_dict)
_CONVERTER.register_structure_hook_func(lambda kind: kind is Record, _record_from_dict)


def to_dict(value: object) -> JsonObject:
    """A record or explanation as plain dicts, lists, strings and numbers; each evidence record carries its ``kind``."""
    return _record_to_dict(value) if isinstance(value, Record) else _CONVERTER.unstructure(value)


def from_dict(data: object, kind: type[T]) -> T:
    """The inverse of :func:`to_dict`. Raises ValueError, in one sentence, for data of another shape."""
    try:
        return json_types.checked(data, kind, by=_CONVERTER)
    except ValueError as error:
        raise ValueError(f"this is not an explanation of PairLens: {error}") from error
