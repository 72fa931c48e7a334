"""Loading what Hugging Face's library made: from files alone, nothing unpickled, no code of the model's own run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import torch

from core.errors import CheckpointError
from core.guests.card import weights_of, without_safetensors
from core.guests.hub import called
from core.guests.names import INSTALL
from core.reading.tokens import MAX_TOKENS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


@contextlib.contextmanager
def transformers_library(folder: Path, what: str) -> Iterator[ModuleType]:
    """Hugging Face's library; errors raised while it reads ``what`` become one sentence."""
    try:
        import transformers
    except ImportError:
        raise CheckpointError(f"{called(folder)} needs transformers and tokenizers: {INSTALL}") from None
    transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield transformers
    except CheckpointError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise CheckpointError(f"{called(folder)}: {what} cannot be read ({reason}): copy the model again") from error


def tokenizer_of(folder: Path) -> PreTrainedTokenizerFast:
    """A tokeniser that says where its pieces stand. Raises CheckpointError in one sentence."""
    with transformers_library(folder, "its tokeniser") as transformers:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        if not tokenizer.is_fast:
            raise CheckpointError(
                f"{called(folder)} has a tokeniser that does not say where its pieces stand: save it as a fast one "
                "(tokenizer.json)"
            )
        if len(tokenizer) <= len(tokenizer.all_special_tokens):
            raise CheckpointError(
                f"the tokeniser of {called(folder)} has no vocabulary: copy the model again, all its files"
            )
        return tokenizer


def body_of(folder: Path, classifies: bool = True) -> torch.nn.Module:
    """A transformer, with the classifier of pairs on top where it has one. Raises CheckpointError in one sentence."""
    if not weights_of(folder):
        raise CheckpointError(without_safetensors(folder))
    with transformers_library(folder, "its weights") as transformers:
        kind = transformers.AutoModelForSequenceClassification if classifies else transformers.AutoModel
        body, report = kind.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            attn_implementation="eager",
            dtype=torch.float32,
            output_loading_info=True,
        )
    lacking = sorted({*report["missing_keys"], *(str(key) for key in report.get("mismatched_keys", ()))})
    # The pooler is used in pre-training alone; a model of sentences does without it.
    lacking = [key for key in lacking if classifies or not key.startswith("pooler.")]
    if lacking:
        raise CheckpointError(
            f"the weights of {called(folder)} do not fit its config.json (without {lacking[0][:80]}): copy the model "
            "again"
        )
    return body.eval()


def names_of(tokenizer: PreTrainedTokenizerFast) -> tuple[str, ...]:
    """Names of the model's inputs, besides the mask."""
    return tuple(name for name in tokenizer.model_input_names if name != "attention_mask")


def longest_of(tokenizer: PreTrainedTokenizerFast, body: torch.nn.Module) -> int:
    """The most pieces that the model can read: the tokeniser's limit, or the number of its positions where that is
    less."""
    places = getattr(body.config, "max_position_embeddings", None) or 0
    if places < 1:  # places are not numbered, as in XLNet and T5
        places = MAX_TOKENS * 4
    for module in body.modules():
        if isinstance(module, torch.nn.Embedding) and module.num_embeddings == places and module.padding_idx:
            places -= module.padding_idx + 1  # RoBERTa counts positions from behind the padding's
            break
    return int(min(tokenizer.model_max_length, places))
