"""The filter map: places a text's generated filters among the filters of a reference collection (Shen et al. 2018,
section 5.3, figure 3c; there one filter per text, here one or all of them).

A text's filters are K·h·d numbers (25,000 and more), but they are an affine function of its code z ∈ R^l: f = [z; 1] M.
With R, the symmetric root of M Mᵀ, y = [z; 1] R has l + 1 numbers, and all inner products of the y, and hence all
angles and Euclidean distances, equal those between the filters (:func:`isometry`). A map therefore stores only codes
and coordinates and computes with y.

t-SNE is openTSNE's (Poličar, Stražar & Zupan 2024): the map is fitted once, and ``TSNEEmbedding.transform`` places a
new text into it by optimisation (van der Maaten's objective over the reference points alone). Positions in the plane
are approximate; :meth:`FilterMap.neighbours` returns exact distances in filter space.

Texts are encoded and placed independently, so no result depends on the other texts or on their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import cast

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from core.checkpoint import Checkpoint
from core.errors import UserError
from core.files import json_text, read_json, whole_folder
from core.filter_map.card import MapCard, Weights
from core.json_types import LENIENT, JsonObject, checked, setting
from core.models.base import FilterMaker
from core.progress import Progress
from core.reading.reader import read_text
from core.reading.word_table import file_sha256

SCHEMA_VERSION = 1
METRICS = ("cosine", "euclid")
QUALITY = ("knn_filters", "knn_plane", "majority", "trustworthiness")
"""The quality measures of every layout (see :class:`Layout`)."""
QUALITY_NEIGHBOURS = 10
"""k of the k-NN accuracies and of trustworthiness."""
ITERATIONS = (250, 500)
"""Iterations with early exaggeration and after it: openTSNE's defaults, like all settings not listed here."""
_AGAIN = "make it again with `python -m trainers map`"


class FilterMapError(UserError):
    """A map cannot be made, read or queried; the message is one sentence with the remedy."""


_START: JsonObject = {"perplexity": 5, "initialization": "median"}
"""How a new text is placed: it starts at the median of the 15 neighbours (3 · perplexity) that then attract it."""
_STEPS: JsonObject = {
    "n_iter": 250, "learning_rate": 0.1, "exaggeration": 1.5, "momentum": 0.8, "max_grad_norm": 0.25,
    "max_step_norm": None,
}  # fmt: skip
"""The defaults of ``TSNEEmbedding.transform``."""


@dataclass(frozen=True)
class MapItem:
    """A text of the reference collection. Its words are not stored: ``id`` identifies its row in the data file."""

    id: str
    label: str
    title: str = ""
    side: str = ""
    """The text's role in its row, such as "question", on a pair model's map; empty for single texts."""


@dataclass(frozen=True, kw_only=True)
class LayoutCard:
    """Metadata of one layout, for all filters of a text together or for a single filter."""

    name: str
    """"all filters" or "filter 12"."""
    filter: int | None
    """Index of the filter, from 0."""
    metric: str = setting(one_of=METRICS)
    """"cosine" (1 - cos) or "euclid"."""
    quality: dict[str, float]
    """k-NN accuracy over the classes in filter space (``knn_filters``) and in the plane (``knn_plane``), leave-one-out;
    the share of the largest class (``majority``) as a baseline; ``trustworthiness`` of the plane. ``knn_held_out``: the
    accuracy for held-out texts in filter space, if there are any."""

    def __post_init__(self) -> None:
        missing = [name for name in QUALITY if name not in self.quality]
        if missing:
            raise ValueError(f"quality lacks {', '.join(missing)}")


@dataclass(frozen=True, kw_only=True)
class Layout(LayoutCard):
    """One layout in the plane."""

    coordinates: np.ndarray
    """[N, 2] float32, read-only."""


@dataclass(frozen=True)
class Neighbour:
    """An item and its distance in filter space, by the layout's metric."""

    index: int
    distance: float


def filter_sides(checkpoint: Checkpoint) -> tuple[str, ...]:
    """The sides whose texts the model generates filters from: ``("",)`` for single texts, one or both roles for a pair
    model. Raises FilterMapError for a model that generates none."""
    maker = maker_of(checkpoint)
    return ("",) if checkpoint.single else tuple(checkpoint.roles[side] for side in maker.made_from)


def maker_of(checkpoint: Checkpoint) -> FilterMaker:
    """The model as a filter generator. Raises FilterMapError for a model that generates no filters."""
    maker = checkpoint.model.filter_maker
    if maker is None:
        raise FilterMapError(
            f"{checkpoint.name} makes no filters from its texts: choose a model that does, such as an adaptive CNN"
        )
    return maker


def codes_of(
    checkpoint: Checkpoint, texts: Sequence[str], side: str = "", progress: Progress | None = None
) -> np.ndarray:
    """z of each text, float32 ``[M, l]``, from which its filters are generated.

    Each text is read alone and in float64, then rounded: the last bits of a float32 product depend on the batch and on
    the number of threads. ``side``: one of :func:`filter_sides`; the text is truncated at that side's token limit.
    Raises FilterMapError for a text without tokens, a side without filters, or a model that generates none.
    """
    sides = filter_sides(checkpoint)
    if side not in sides:
        raise FilterMapError(f"{checkpoint.name} makes filters from the {' and the '.join(sides) or 'text'} alone")
    limit = checkpoint.token_limits[side != "" and side == checkpoint.roles["second"]]
    maker, reader = maker_of(checkpoint), checkpoint.reader
    encode = maker.encoder()
    codes = np.empty((len(texts), maker.code_size), dtype=np.float32)
    for i, text in enumerate(texts):
        norms = read_text(reader, text, side, limit).norms
        if not norms:
            raise FilterMapError("a text without any word has no place on the map: type at least one word")
        codes[i] = encode(reader.vectors(norms)).numpy()
        if progress:
            progress(i + 1, len(texts))
    return codes


def available_map(checkpoint: Checkpoint) -> Path | None:
    """The folder of the checkpoint's own map; None if it has none."""
    folder = checkpoint.folder / "map"
    return folder if (folder / "map.json").is_file() else None


@torch.inference_mode()
def isometry(maker: FilterMaker, filter: int | None) -> np.ndarray:
    """R, float64 ``[l + 1, l + 1]``: y = [z; 1] R preserves all inner products of the texts' filters (None: all K as
    one vector).

    R is the symmetric root of G = M Mᵀ (f = [z; 1] M, ``FilterGenerator.linear_map``), since y·y' = [z; 1] R Rᵀ [z';
    1]ᵀ = f·f'. It is the only root that does not depend on which eigenvectors are computed. Directions in which the
    filters do not depend on the code have eigenvalues near rounding error and are dropped.
    """
    by_code = maker.linear_map(slice(None) if filter is None else filter).double()
    values, vectors = np.linalg.eigh((by_code @ by_code.T).numpy())
    values[values < values[-1] * len(values) * np.finfo(np.float64).eps] = 0
    return (vectors * np.sqrt(values)) @ vectors.T


class _Space:
    """Filters as low-dimensional points with the same pairwise distances; normalised to length 1 for cosine.

    ``points``: the reference collection, float64 ``[N, l + 1]``.
    """

    def __init__(self, maker: FilterMaker, filter: int | None, metric: str, codes: np.ndarray) -> None:
        self.root, self.metric = isometry(maker, filter), metric
        self.points = np.stack([self.point(code) for code in codes])

    def point(self, code: np.ndarray) -> np.ndarray:
        """y of one code ``[l]``: ``[l + 1]``."""
        point: np.ndarray = np.append(code.astype(np.float64), 1.0) @ self.root
        return point / np.linalg.norm(point) if self.metric == "cosine" else point

    def distances(self, points: np.ndarray) -> np.ndarray:
        """Distances of points ``[M, l + 1]`` to the reference points: ``[M, N]``."""
        from scipy.spatial.distance import cdist  # type: ignore[import-untyped]  # as below

        if self.metric == "cosine":
            # Half the squared chord is 1 - cos, and stays accurate for nearly equal filters.
            return np.asarray(cdist(points, self.points, "sqeuclidean")) / 2
        return np.asarray(cdist(points, self.points))


class FilterMap:
    """A fixed map of a reference collection into which new texts are placed. Immutable, so threads may share it.

    Attributes: ``items`` (N), ``codes`` float32 ``[N, l]``, ``layouts`` by name, ``card``: settings, data, versions,
    and the model.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        items: Sequence[MapItem],
        codes: np.ndarray,
        layouts: Sequence[Layout],
        card: MapCard,
    ) -> None:
        from core.filter_map import tsne  # here, because it imports SciPy: Explore starts without it

        self.items, self.codes, self.card = tuple(items), _fixed(codes), card
        self.layouts: Mapping[str, Layout] = MappingProxyType({layout.name: layout for layout in layouts})
        maker = maker_of(checkpoint)
        self._spaces = {layout.name: _Space(maker, layout.filter, layout.metric, codes) for layout in layouts}
        self._embeddings = {layout.name: tsne.reference(layout.coordinates) for layout in layouts}

    @classmethod
    def fit(
        cls,
        checkpoint: Checkpoint,
        items: Sequence[MapItem],
        codes: np.ndarray,
        *,
        filters: Sequence[int | None] = (None, 0),
        metric: str = "cosine",
        perplexity: float = 30,
        seed: int = 0,
        iterations: tuple[int, int] = ITERATIONS,
        about: MapCard | None = None,
        held_out: tuple[np.ndarray, Sequence[str]] | None = None,
        progress: Progress | None = None,
    ) -> FilterMap:
        """Lay out N items by the filters generated from their ``codes [N, l]``, once for each of ``filters`` (None:
        all). ``held_out``: codes ``[M, l]`` and classes of texts outside the training data, used only to measure
        quality.

        ``about`` is added to the card: the data and the command. ``progress`` counts iterations. Raises FilterMapError
        for impossible settings and for too few items.
        """
        from core.filter_map import tsne  # as above

        maker = maker_of(checkpoint)
        if codes.shape != (len(items), maker.code_size):
            raise ValueError(f"expected codes [{len(items)}, {maker.code_size}], got {list(codes.shape)}")
        _check(maker.bank_shape[0], len(items), filters, metric, perplexity)
        done, total = 0, sum(iterations) * len(filters)

        def count(steps: int) -> None:
            nonlocal done
            done += steps
            if progress:
                progress(done, total)

        layouts = []
        for number in filters:
            space = _Space(maker, number, metric, codes)
            distances = space.distances(space.points)
            coordinates = _fixed(tsne.lay_out(space.points, distances, perplexity, seed, iterations, count))
            labels = [item.label for item in items]
            quality = tsne.quality(distances, coordinates, labels, QUALITY_NEIGHBOURS)
            if held_out is not None:
                others = space.distances(np.stack([space.point(code) for code in held_out[0]]))
                quality["knn_held_out"] = tsne.knn_accuracy(others, held_out[1], labels, QUALITY_NEIGHBOURS)
            name = "all filters" if number is None else f"filter {number}"
            layouts.append(Layout(name=name, filter=number, metric=metric, quality=quality, coordinates=coordinates))
        card = {
            "schema_version": SCHEMA_VERSION,
            "checkpoint": {"name": checkpoint.name, "sha256": checkpoint.card["sha256"]},
            "metric": metric,
            "perplexity": perplexity,
            "seed": seed,
            "iterations": list(iterations),
            "quality_neighbours": QUALITY_NEIGHBOURS,
            "versions": {name: version(name) for name in ("openTSNE", "numpy", "scikit-learn")},
            **(about or {}),
        }
        return cls(checkpoint, items, codes, layouts, cast(MapCard, card))

    def place(self, codes: np.ndarray, layout: str) -> np.ndarray:
        """Coordinates of new texts, float32 ``[M, 2]``, from their ``codes [M, l]``; each is placed independently."""
        space = self._space(layout)
        places = np.empty((len(codes), 2), dtype=np.float32)
        for i, code in enumerate(codes):
            # Not ``transform``: it starts by centring the reference points.
            one = self._embeddings[layout].prepare_partial(space.distances(space.point(code)[None]), **_START)
            one.optimize(inplace=True, **_STEPS)
            places[i] = one[0]
        return places

    def neighbours(self, code: np.ndarray, layout: str, k: int = 8) -> tuple[Neighbour, ...]:
        """The k items nearest to ``code [l]`` in filter space, nearest first. A text of the collection is its own first
        neighbour, at distance 0."""
        space = self._space(layout)
        distances = space.distances(space.point(code)[None])[0]
        return tuple(Neighbour(int(i), float(distances[i])) for i in np.argsort(distances, kind="stable")[:k])

    def save(self, folder: Path) -> None:
        """Write ``map.safetensors`` (codes, and coordinates of each layout) and ``map.json`` (everything else). Raises
        FileError, leaving an older map in place, if the operating system refuses."""
        coordinates = {f"coordinates of {layout.name}": layout.coordinates for layout in self.layouts.values()}
        with whole_folder(folder, last="map.json") as scratch:
            tensors = scratch / "map.safetensors"
            save_file({"codes": self.codes, **coordinates}, tensors)
            tensors.chmod(0o644)  # safetensors makes the file readable only by its owner
            record: JsonObject = {
                **self.card,
                "sha256": file_sha256(tensors),
                "layouts": [_card_of(layout) for layout in self.layouts.values()],
                "items": [astuple(item) for item in self.items],
            }
            (scratch / "map.json").write_text(json_text(record, indent=None), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, checkpoint: Checkpoint) -> FilterMap:
        """Read and check a map: its version, its model, the checksum and the shapes.

        Raises FilterMapError with one sentence: the problem and its fix.
        """
        where = f"{checkpoint.name}'s {folder.name}"
        record = _read_record(folder, where)
        if record["checkpoint"]["sha256"] != checkpoint.card["sha256"]:
            raise FilterMapError(f"{where} shows the filters of other weights than {checkpoint.name}'s: {_AGAIN}")
        tensors = folder / "map.safetensors"
        try:
            checksum = file_sha256(tensors)
        except OSError:
            checksum = ""
        if checksum != record["sha256"]:
            raise FilterMapError(f"{where}/map.safetensors is missing, truncated or changed: copy it again or {_AGAIN}")
        try:
            arrays = load_file(tensors)
            codes, items = arrays["codes"], [MapItem(*row) for row in record.pop("items")]
            layouts = [
                Layout(**fields, coordinates=_fixed(arrays[f"coordinates of {fields['name']}"]))
                for fields in record.pop("layouts")
            ]
        except (SafetensorError, KeyError, TypeError) as error:
            raise FilterMapError(f"{where} lacks a part ({error}): copy it again or {_AGAIN}") from error
        count = maker_of(checkpoint).bank_shape[0]
        if any(layout.filter is not None and not 0 <= layout.filter < count for layout in layouts):
            raise FilterMapError(f"{where} has another filter than 0 to {count - 1}: copy it again or {_AGAIN}")
        if codes.shape != (len(items), maker_of(checkpoint).code_size) or any(
            la.coordinates.shape != (len(items), 2) for la in layouts
        ):
            raise FilterMapError(f"{where} has tensors of other sizes than its {len(items)} items need: {_AGAIN}")
        return cls(checkpoint, items, codes, layouts, cast(MapCard, record))

    def _space(self, layout: str) -> _Space:
        if layout not in self._spaces:
            raise FilterMapError(f"the map has no layout {layout!r}: choose one of {', '.join(self._spaces)}")
        return self._spaces[layout]


def _card_of(layout: Layout) -> JsonObject:
    return {name: value for name, value in vars(layout).items() if name != "coordinates"}


def _fixed(values: np.ndarray) -> np.ndarray:
    fixed = np.array(values, dtype=np.float32, order="C")
    fixed.setflags(write=False)
    return fixed


def _check(count: int, items: int, filters: Sequence[int | None], metric: str, perplexity: float) -> None:
    if metric not in METRICS:
        raise FilterMapError(f"unknown metric {metric!r}: choose one of {', '.join(METRICS)}")
    strange = [number for number in filters if number is not None and not 0 <= number < count]
    if strange or not filters or len(set(filters)) < len(filters):
        raise FilterMapError(f"a map needs different filters of 0 to {count - 1}, or all, got {list(filters)}")
    # openTSNE would silently lower the perplexity; trustworthiness needs more than 2 k items.
    needed = max(3 * perplexity, 2 * QUALITY_NEIGHBOURS) + 1
    if not (perplexity >= 1 and items >= needed):
        raise FilterMapError(
            f"a map of perplexity {perplexity:g} needs at least {needed:g} different texts, got {items}: give more, "
            "or a smaller perplexity (at least 1)"
        )


def _read_record(folder: Path, where: str) -> JsonObject:
    try:
        record = read_json(folder / "map.json")
    except (FileNotFoundError, NotADirectoryError):
        raise FilterMapError(f"there is no map.json in {where}: make a map with `python -m trainers map`") from None
    except OSError as error:
        raise FilterMapError(f"{where}/map.json cannot be read ({error.strerror}): correct its permissions") from error
    except ValueError as error:
        raise FilterMapError(f"{where}/map.json is not readable JSON: copy it again or {_AGAIN}") from error
    if not isinstance(record, dict) or record.get("schema_version") != SCHEMA_VERSION:
        raise FilterMapError(f"{where}/map.json is of another version than {SCHEMA_VERSION}: {_AGAIN}")
    try:
        checked(record, _Record, by=LENIENT)
    except ValueError as error:
        raise FilterMapError(f"{where}/map.json is damaged ({error}): copy it again or {_AGAIN}") from error
    return record


@dataclass(frozen=True)
class _Record:
    """Required keys of ``map.json``; others are informational."""

    checkpoint: Weights
    sha256: str
    perplexity: float
    layouts: tuple[LayoutCard, ...]
    items: tuple[list[str], ...]

    def __post_init__(self) -> None:
        for name in ("layouts", "items"):
            if not getattr(self, name):
                raise ValueError(f"it has no {name}")
