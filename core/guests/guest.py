"""A model from elsewhere as a checkpoint: loaded by Hugging Face's library, nothing unpickled, no code of its own."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from core.checkpoint.checkpoint import Checkpoint, FilesState
from core.checkpoint.errors import CheckpointError
from core.guests.card import SETTINGS, guest_card, weights_of
from core.guests.model import CrossEncoder, GuestConfig
from core.guests.pieces import PieceReader
from core.json_types import checked
from core.reading.reader import Reading, ReadText
from core.reading.tokens import MAX_TOKENS
from core.reading.word_table import default_table

INSTALL = "install them with `make guests`, or `pip install -r requirements-guests.txt`"
TYPICAL = ("A man in a blue shirt is playing a guitar on a small stage.", "A man plays music outside.")
"""A pair of usual length, by which a pass is timed."""
PARTS_OF_BATCH = 4_000
"""Pieces of one call: more take long before a progress is heard."""


@dataclass(frozen=True)
class Guest(Checkpoint):
    """A transformer ready to use. ``words`` is the shared word table, which replacements are drawn from.

    ``seconds``: of one pass over a pair of usual length, measured when it was loaded.
    """

    pieces: PieceReader
    seconds: float = 0.0

    @property
    def reader(self) -> PieceReader:  # type: ignore[override]
        return self.pieces

    def reading(self, sides: Sequence[ReadText], extra: Sequence[float] | None = None) -> Reading:
        first, second = self.pieces.fitting(sides)
        return Reading(first, (second,), self.judged)

    def batches(self, readings: Sequence[Reading]) -> Iterator[tuple[torch.Tensor, Any]]:
        """The readings in pieces, in batches of like length, each with the numbers of its rows."""
        lengths = [sum(len(side.text) for side in reading.texts()) for reading in readings]
        order = sorted(range(len(readings)), key=lengths.__getitem__)
        start = 0
        while start < len(order):
            # The longest of a batch decides what it costs; a piece has three letters at least, on average.
            longest = max(16, lengths[order[min(start + 255, len(order) - 1)]] // 3)
            rows = order[start : start + max(1, min(256, PARTS_OF_BATCH // longest))]
            yield torch.tensor(rows), self.pieces.batch_of([readings[row] for row in rows])
            start += len(rows)


def load_guest(folder: Path, state: FilesState) -> Guest:
    """A folder in Hugging Face's format as a checkpoint. Raises CheckpointError with one sentence that says what is
    wrong and what to do."""
    card = guest_card(folder)
    if card.get("asked"):
        raise CheckpointError(
            f"the classes of {folder.name} are only numbered ({', '.join(card['labels'])}): say on the page Models "
            f"what they mean, or write it into its {SETTINGS}"
        )
    tokenizer, body = _tokenizer(folder), _body(folder)
    pieces = PieceReader(tokenizer, _names(tokenizer), _longest(tokenizer, body), bool(card.get("second_first")))
    model = CrossEncoder(checked(card["config"], GuestConfig), body).eval()
    guest = Guest(card["name"], folder, model, card, default_table(), state, pieces)
    return _tried(guest)


def _tried(guest: Guest) -> Guest:
    """The guest with the time of a pass, after one that shows that it answers as its card says."""
    batch = guest.pieces.batch(guest.read(*TYPICAL))
    with torch.inference_mode():
        try:
            logits = guest.model(batch).logits
        except Exception as error:
            reason = str(error).split("\n")[0][:200]
            raise CheckpointError(f"{guest.name} cannot be run ({reason}): choose another model") from error
        if tuple(logits.shape) != (1, len(guest.labels)):
            raise CheckpointError(
                f"{guest.name} answers with {logits.shape[-1]} numbers for {len(guest.labels)} classes: mend the "
                "id2label of its config.json"
            )
        passes = []
        for _ in range(2):
            start = time.perf_counter()
            guest.model(batch)
            passes.append(time.perf_counter() - start)
    return replace(guest, seconds=min(passes))


@contextlib.contextmanager
def _told(folder: Path, what: str) -> Iterator[Any]:
    """Hugging Face's library, its errors told in one sentence."""
    try:
        import transformers
    except ImportError:
        raise CheckpointError(f"{folder.name} needs transformers and tokenizers: {INSTALL}") from None
    transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield transformers
    except CheckpointError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise CheckpointError(f"{folder.name}: {what} cannot be read ({reason}): copy the model again") from error


def _tokenizer(folder: Path) -> Any:
    with _told(folder, "its tokeniser") as transformers:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        if not tokenizer.is_fast:
            raise CheckpointError(
                f"{folder.name} has a tokeniser that does not say where its pieces stand: save it as a fast one "
                "(tokenizer.json)"
            )
        if len(tokenizer) <= len(tokenizer.all_special_tokens):
            raise CheckpointError(
                f"the tokeniser of {folder.name} has no vocabulary: copy the model again, all its files"
            )
        return tokenizer


def _body(folder: Path) -> torch.nn.Module:
    if not weights_of(folder):
        guest_card(folder)  # says what is wrong
    with _told(folder, "its weights") as transformers:
        body, report = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            attn_implementation="eager",
            dtype=torch.float32,
            output_loading_info=True,
        )
    lacking = sorted({*report["missing_keys"], *(str(key) for key in report.get("mismatched_keys", ()))})
    if lacking:
        raise CheckpointError(
            f"the weights of {folder.name} do not fit its config.json (without {lacking[0][:80]}): copy the model again"
        )
    return body.eval()  # type: ignore[no-any-return]


def _names(tokenizer: Any) -> tuple[str, ...]:
    """What the model is called with beside the mask."""
    return tuple(name for name in tokenizer.model_input_names if name != "attention_mask")


def _longest(tokenizer: Any, body: Any) -> int:
    """Pieces that the model can read: the tokeniser's limit, and no more than it has positions for."""
    places = getattr(body.config, "max_position_embeddings", None) or MAX_TOKENS * 4
    for module in body.modules():
        if isinstance(module, torch.nn.Embedding) and module.num_embeddings == places and module.padding_idx:
            places -= module.padding_idx + 1  # RoBERTa counts positions from behind the padding's
            break
    return int(min(tokenizer.model_max_length, places))
