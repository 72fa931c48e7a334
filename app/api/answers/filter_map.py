"""The texts' positions in the filter map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.api.endpoint import PairRequest, endpoint
from core.checkpoint import Checkpoint
from core.evidence.as_json import to_dict
from core.filter_map.map import FilterMap, FilterMapError, available_map, codes_of, filter_sides
from core.json_types import JsonObject, setting
from core.progress import Progress
from core.shared_cache import SharedCache


@dataclass(frozen=True)
class MapRequest(PairRequest):
    """``layout``: by default the map's first one; ``count``: number of nearest reference texts to list."""

    layout: str = ""
    count: int = setting(8, least=1, most=100)


@endpoint("map", MapRequest, kept=False)  # maps are built again without their models
def places(asked: MapRequest, progress: Progress) -> list[JsonObject]:
    """The coordinates of each text on the filter map, and the reference texts with the nearest filters."""
    checkpoint, *texts = asked.pair
    filter_map = _map_of(checkpoint)
    layout = asked.layout or next(iter(filter_map.layouts))
    return [_placed(checkpoint, filter_map, layout, side, text, asked.count) for side, text in _made(checkpoint, texts)]


def _made(checkpoint: Checkpoint, texts: list[str]) -> Iterator[tuple[str, str]]:
    """The texts that generate filters, each with its side's name on the map."""
    names = [""] if checkpoint.single else [checkpoint.roles[side] for side in ("first", "second")]
    made = filter_sides(checkpoint)
    return ((name, text) for name, text in zip(names, texts, strict=False) if name in made and text.strip())


def _placed(checkpoint: Checkpoint, filter_map: FilterMap, layout: str, side: str, text: str, count: int) -> JsonObject:
    (code,) = codes_of(checkpoint, [text], side)
    near = filter_map.neighbours(code, layout, count)
    x, y = filter_map.place(code[None], layout)[0].tolist()
    nearest = [{**to_dict(filter_map.items[item.index]), **to_dict(item)} for item in near]
    return {"side": side, "text": text, "layout": layout, "x": x, "y": y, "nearest": nearest}


def _map_of(checkpoint: Checkpoint) -> FilterMap:
    folder = available_map(checkpoint)
    if folder is None:
        raise FilterMapError(f"{checkpoint.name} has no map: make one with `python -m trainers map {checkpoint.name}`")
    changed = (folder / "map.json").stat().st_mtime_ns
    return _MAPS((checkpoint.folder, checkpoint.state, changed), lambda: FilterMap.load(folder, checkpoint))


_MAPS: SharedCache[FilterMap] = SharedCache(2)
