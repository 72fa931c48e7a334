"""A model from elsewhere as a checkpoint: loaded by Hugging Face's library, nothing unpickled, no code of its own."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from core.card import Card
from core.checkpoint.checkpoint import Checkpoint, FilesState
from core.errors import CheckpointError, MendableError, UnnamedClassesError, said
from core.guests.base import GuestBatch, GuestReader
from core.guests.between import chosen_attention
from core.guests.bi_encoder import BiEncoder, BiEncoderConfig, TowerReader, head_of
from core.guests.card import BI_ENCODER, guest_card, named
from core.guests.functions import FunctionConfig, FunctionModel, PairFunction, TextReader, card_of
from core.guests.heads import HeadError
from core.guests.hub import called
from core.guests.loading import body_of, check_vocabulary, longest_of, names_of, tokenizer_of
from core.guests.model import CrossEncoder, GuestConfig
from core.guests.pieces import PieceReader
from core.guests.settings import SETTINGS
from core.guests.towers import tower_of
from core.json_types import checked
from core.models.base import Intervention
from core.reading.reader import PairError, Reading, ReadText
from core.reading.word_table import default_table

TYPICAL = ("A man in a blue shirt is playing a guitar on a small stage.", "A man plays music outside.")
"""A pair of usual length, by which a pass is timed."""
SECONDS_A_CALL = 0.3
"""About how long one call may take for a progress bar to move smoothly and a cancel to take effect soon."""
LONGEST_TRIAL = 2.0
"""Once timing has taken so many seconds, no further pass is timed."""
PARTS_OF_BATCH = 4_000
"""Most pieces of one call."""


@dataclass(frozen=True)
class Guest(Checkpoint):
    """A model from elsewhere ready to use. ``words`` is the shared word table, which replacements are drawn from.

    ``seconds``: of one pass over a pair of usual length, measured when it was loaded.
    """

    own_reader: GuestReader[GuestBatch]
    seconds: float = 0.0  # type: ignore[misc]

    @property
    def reader(self) -> GuestReader[GuestBatch]:  # type: ignore[override]
        return self.own_reader

    def reading(self, sides: Sequence[ReadText], extra: Sequence[float] | None = None) -> Reading:
        first, second = self.own_reader.fitting(sides)
        return Reading(first, (second,), self.judged)

    @property
    def rows_a_call(self) -> int:
        """Rows that this machine's processor computes in about :data:`SECONDS_A_CALL`."""
        return max(4, int(SECONDS_A_CALL / self.seconds)) if self.seconds else 256

    def batches(self, readings: Sequence[Reading], most: int = 256) -> Iterator[tuple[torch.Tensor, GuestBatch]]:
        """The readings as the model is called with them, in batches of like length and of at most so many rows, each
        with the numbers of its rows."""
        lengths = [sum(len(side.text) for side in reading.texts()) for reading in readings]
        order = sorted(range(len(readings)), key=lengths.__getitem__)
        start = 0
        while start < len(order):
            # The longest of a batch decides what it costs; a piece has three letters at least, on average.
            longest = max(16, lengths[order[min(start + 255, len(order) - 1)]] // 3)
            rows = order[start : start + max(1, min(most, PARTS_OF_BATCH // longest))]
            yield torch.tensor(rows), self.own_reader.batch_of([readings[row] for row in rows])
            start += len(rows)


def load_guest(folder: Path, state: FilesState, *, numbered: bool = False, class_names: Sequence[str] = ()) -> Guest:
    """A folder in Hugging Face's format as a checkpoint, one whose classes are only ``numbered`` where that is asked
    for, or with these ``class_names``. Raises CheckpointError with one sentence that says what is wrong and what to
    do."""
    card = named(guest_card(folder), class_names) if class_names else guest_card(folder)
    if card.get("asked") and not numbered:
        names = ", ".join(card["labels"])
        only_numbers = all(label.startswith("LABEL_") for label in card["labels"])
        unclear = f"are only numbered ({names})" if only_numbers else f"({names}) are of no task that is known here"
        raise UnnamedClassesError(
            f"the classes of {called(folder)} {unclear}: give --class-names, say on the page Models what they mean, or "
            f"write it into its {SETTINGS}"
        )
    try:
        return _of_pair(folder, state, card) if card["architecture"] == BI_ENCODER else _of_cross(folder, state, card)
    except MendableError:
        raise
    except Exception as error:  # whatever a stranger's files make a library raise
        raise CheckpointError(f"{called(folder)} cannot be loaded ({said(error)}): copy the model again") from error


def _of_cross(folder: Path, state: FilesState, card: Card) -> Guest:
    tokenizer, body = tokenizer_of(folder), body_of(folder)
    check_vocabulary(folder, tokenizer, body)
    second_first = bool(card.get("second_first"))
    reader = PieceReader(tokenizer, names_of(tokenizer), longest_of(tokenizer, body), second_first)
    model = CrossEncoder(checked(card["config"], GuestConfig), body).eval()
    return _counted(_tried(Guest(card["name"], folder, model, card, default_table(), state, reader)), model, reader)


def _of_pair(folder: Path, state: FilesState, card: Card) -> Guest:
    tower = tower_of(folder)
    check_vocabulary(folder, tower.tokenizer, tower.body)
    reader = TowerReader(
        tower.tokenizer, names_of(tower.tokenizer), tower.longest, prompt=tower.prompt, lower=tower.lower
    )
    model = BiEncoder(checked(card["config"], BiEncoderConfig), tower, head_of(folder, card)).eval()
    return _tried(Guest(card["name"], folder, model, card, default_table(), state, reader))


@torch.inference_mode()
def _counted(guest: Guest, model: CrossEncoder, reader: PieceReader) -> Guest:
    """The guest with the layers and heads that one pass used: configurations name them in many ways. Raises
    CheckpointError for a head that it does not have."""
    layers = model.under(reader.batch(guest.read(*TYPICAL)), Intervention(head="")).trace.layers
    seen = {"layers": len(layers), "heads": layers[0].shape[1] if layers else 0}
    model.config = replace(model.config, **seen)
    if layers:
        try:
            chosen_attention(layers, model.config.head)
        except HeadError as error:
            raise CheckpointError(f"{SETTINGS} of {guest.name}: {error}") from error
    return replace(guest, card={**guest.card, "config": {**guest.card["config"], **seen}})


def guest_of(function: PairFunction, name: str = "function", state: FilesState = ()) -> Guest:
    """An object with ``labels`` and ``probabilities``, as a notebook has it or ``PAIRLENS_GUESTS`` names it, as a
    checkpoint. ``state``: what tells it from others of its name, unless it is one of its own. Raises CheckpointError as
    :func:`load_guest` does."""
    card = card_of(function, name)
    model = FunctionModel(checked(card["config"], FunctionConfig), name, function).eval()
    own = state or ((next(_NUMBERS),),)
    return _tried(Guest(name, Path(name), model, card, default_table(), own, TextReader()))


_NUMBERS = itertools.count()
"""They tell functions of one name apart where their answers are cached."""


def _tried(guest: Guest) -> Guest:
    """The guest with the time of a pass, after a first pass has shown that it answers as its card says."""
    batch = guest.reader.batch(guest.read(*TYPICAL))
    with torch.inference_mode():
        start = time.perf_counter()
        try:
            logits = guest.model(batch).logits
        except PairError as error:
            raise CheckpointError(str(error)) from error
        except Exception as error:
            reason = str(error).split("\n")[0][:200]
            raise CheckpointError(f"{guest.name} cannot be run ({reason}): choose another model") from error
        if tuple(logits.shape) != (1, len(guest.labels)):
            raise CheckpointError(
                f"{guest.name} answers with {logits.shape[-1]} numbers for {len(guest.labels)} classes: mend the "
                "id2label of its config.json"
            )
        passes = [time.perf_counter() - start]
        while len(passes) < 3 and sum(passes) < LONGEST_TRIAL:
            start = time.perf_counter()
            guest.model(batch)
            passes.append(time.perf_counter() - start)
    return replace(guest, seconds=min(passes))
