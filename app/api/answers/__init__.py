"""The API's answers: each module of this package registers its own endpoints (:func:`app.api.endpoint.endpoint`)."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Hashable
from typing import NamedTuple

from app.api.endpoint import ENDPOINTS, PairRequest
from app.api.executor import Compute, Lane, Report
from app.api.refusals import Refused, sentence
from core.checkpoint import available, listed_once
from core.checkpoint.files import files_state
from core.checkpoint.memory import is_loaded
from core.errors import UserError
from core.evidence.as_json import to_dict
from core.json_types import JsonObject, checked
from core.wording import hint

__path__: list[str]
for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)


class Asked(NamedTuple):
    """A question: a key, equal for equal answers; the function that computes its answer as JSON; the lane in which that
    starts; and the number of characters of its texts."""

    key: Hashable
    compute: Compute
    lane: Lane
    size: int


def as_json(answer: object) -> bytes:
    """An answer as JSON."""
    return json.dumps(to_dict(answer), ensure_ascii=False, allow_nan=False).encode()


QUICK_TEXTS = 5_000
"""Maximum number of characters of a pair for a quick answer."""


def question(name: str, body: JsonObject) -> Asked:
    """The question of a request. Raises Refused for an unknown kind of answer or model, and UserError for other invalid
    requests."""
    if name not in ENDPOINTS:
        raise Refused(404, sentence(f"there is no answer {name[:100]!r}{hint(name, ENDPOINTS)}"))
    endpoint = ENDPOINTS[name]
    try:
        asked = checked(body, endpoint.request)
    except ValueError as error:
        raise UserError(str(error)) from None
    key: list[Hashable] = [name, asked]
    size, cold = 0, False
    folders = available()
    if isinstance(asked, PairRequest):
        if asked.model not in folders:
            raise Refused(404, sentence(f"there is no model {asked.model[:100]!r}{hint(asked.model, folders)}"))
        key.append(tuple(map(files_state, folders.values() if endpoint.others else [folders[asked.model]])))
        size, cold = len(asked.first) + len(asked.second), not is_loaded(folders[asked.model])

    def compute(report: Report) -> bytes:
        so_far = [lambda part: report.part(as_json(part))] if endpoint.parts else []
        with listed_once(folders):
            return as_json(endpoint.compute(asked, report, *so_far))

    lane = Lane.QUICK if endpoint.quick and size <= QUICK_TEXTS else Lane.FIRST
    return Asked(tuple(key) if endpoint.kept else object(), compute, Lane.COLD if cold else lane, size)
