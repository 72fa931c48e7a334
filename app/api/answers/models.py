"""The list of models."""

from __future__ import annotations

import contextlib

from app.api.endpoint import AnyRequest, endpoint
from app.model_choice import Listed, offered
from app.palette import class_colours
from core.card import is_external, ranked_by
from core.checkpoint import CheckpointError, available, in_memory, listed_once, load_named, records_of
from core.evidence import BOTH
from core.evidence.explanation import kinds_of_every_model
from core.json_types import JsonObject
from core.progress import Progress
from core.wording import class_names


@endpoint("models", AnyRequest, kept=False, quick=True)
def models(asked: AnyRequest, progress: Progress) -> dict[str, JsonObject]:
    """All models by name, in the order of the pages' lists."""
    with listed_once(available()):
        return {name: _model(name, listed) for name, listed in offered(lambda card: True, unreadable=True).items()}


def _model(name: str, listed: Listed) -> JsonObject:
    card = listed.card
    if card is None:
        return {"problem": listed.problem}
    roles, labels = card["roles"], card["labels"]
    names = class_names(labels, roles["second"] if roles["judged"] == BOTH else roles["judged"])
    classes = zip(labels, names, class_colours(names), strict=True)
    return {
        "title": card["title"],
        "task": card["task"],
        "roles": roles,
        "classes": [
            {"label": label, "name": name, "light": light, "dark": dark} for label, name, (light, dark) in classes
        ],
        "records": [record.kind for record in (*records_of(card), *kinds_of_every_model())],
        "external": is_external(card),
        "ranks": ranked_by(card) is not None,
        "map": (listed.folder / "map" / "map.json").is_file(),
        "seconds": _seconds(name),
    }


def _seconds(name: str) -> float | None:
    """Seconds for one forward pass over a pair of typical length, once the model is loaded."""
    with contextlib.suppress(CheckpointError):
        return load_named(name).seconds if in_memory(name) else None
    return None
