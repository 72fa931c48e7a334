"""Loads models for Hugging Face's library from files alone: nothing is unpickled and none of the model's own code runs.

The library receives the weights as tensors, so it opens no weight file itself, whatever a configuration or an index
names.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from safetensors import safe_open

from core.errors import CheckpointError
from core.external.folder import CLASSIFIER, check_files, config_of, object_of, weights_of
from core.external.headers import HEADS, check_plausible, plain_name, shapes_of, without_classifier
from core.external.modules import LEAST_PIECES
from core.external.names import called
from core.reading.tokens import MAX_TOKENS

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

NO_CLASSIFIER = f"give one whose architecture ends in {CLASSIFIER}"
_ODD = "꙯ 🐶 ꧁ \U00010348 zebra 42 日本"
"""Characters that few vocabularies contain."""


_READING = threading.RLock()
"""The library imports its modules lazily and changes torch's settings while it reads weights: two threads must not do
this at once."""


@contextlib.contextmanager
def transformers_library(folder: Path, what: str) -> Iterator[ModuleType]:
    """Hugging Face's library, for one thread at a time; errors raised while it reads ``what`` become one sentence."""
    with _READING:
        import transformers  # takes seconds

        transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            yield transformers
        except CheckpointError:
            raise
        except Exception as error:
            reason = " ".join(str(error).replace(str(folder), called(folder)).split())[:200]
            raise CheckpointError(
                f"{called(folder)}: {what} cannot be read ({reason}): copy the model again"
            ) from error


def tokenizer_of(folder: Path) -> PreTrainedTokenizerFast:
    """A tokeniser that returns character offsets. Raises CheckpointError in one sentence."""
    check_files(folder)
    for key, value in object_of(folder, "tokenizer_config.json").items():
        # Otherwise the library would open whatever file is named here.
        if key.endswith("_file") and isinstance(value, str) and Path(value).name != value:
            raise CheckpointError(
                f"{called(folder)}/tokenizer_config.json names a file elsewhere ({key}): remove that line"
            )
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
        most = tokenizer.model_max_length
        if type(most) not in (int, float) or not most >= LEAST_PIECES:
            raise CheckpointError(
                f"the tokeniser of {called(folder)} reads at most {str(most)[:20]} pieces (model_max_length): fix its "
                "tokenizer_config.json"
            )
        tokenizer(_ODD, _ODD, return_offsets_mapping=True)  # raises if unknown characters map to no piece
        return tokenizer


def check_vocabulary(folder: Path, tokenizer: PreTrainedTokenizerFast, body: torch.nn.Module) -> None:
    """Raises CheckpointError if the tokeniser has pieces without a vector in the model."""
    try:
        rows = len(body.get_input_embeddings().weight)  # type: ignore[operator]
    except (AttributeError, NotImplementedError, TypeError):  # some architectures have no single embedding table
        return
    beyond = {piece: number for piece, number in tokenizer.get_vocab().items() if number >= rows}
    pad = tokenizer.pad_token_id
    if pad is not None and pad >= rows:
        beyond[str(tokenizer.pad_token)] = pad
    if beyond:
        piece, number = max(beyond.items(), key=lambda pair: pair[1])
        raise CheckpointError(
            f"the tokeniser of {called(folder)} has a piece {piece[:30]!r} of number {number:,}, but the model has "
            f"vectors for {rows:,}: copy the tokeniser that belongs to the model"
        )


def body_of(folder: Path, classifies: bool = True) -> torch.nn.Module:
    """A transformer, with its pair classifier if it has one. Raises CheckpointError in one sentence."""
    check_files(folder)
    files = weights_of(folder)
    shapes = shapes_of(files)
    check_plausible(folder, config_of(folder), shapes)
    with transformers_library(folder, "its weights") as transformers:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        auto = transformers.AutoModelForSequenceClassification if classifies else transformers.AutoModel
        kind = auto._model_mapping.get(type(config), None)
        if kind is None:
            raise CheckpointError(
                f"{called(folder)} is a {str(config.model_type)[:60]} model, for which transformers has no classifier "
                f"of texts: {NO_CLASSIFIER}"
            )
        kind = kind[0] if isinstance(kind, tuple) else kind
        if not classifies:  # of T5 and its relatives, sentence-transformers takes the encoder
            encoder = getattr(transformers, type(config).__name__.replace("Config", "EncoderModel"), None)
            if encoder is not None:
                kind, config.is_encoder_decoder = encoder, False
        body, report = kind.from_pretrained(
            None,
            config=config,
            state_dict=_tensors(files),
            attn_implementation="eager",
            dtype=torch.float32,
            output_loading_info=True,
        )
    lacking = sorted({*report["missing_keys"], *(str(key) for key in report.get("mismatched_keys", ()))})
    # The pooler is only used in pre-training; sentence encoders do not need it.
    lacking = [key for key in lacking if classifies or not key.startswith("pooler.")]
    if lacking:
        unused = sorted(map(str, report.get("unexpected_keys", ())))
        raise CheckpointError(_do_not_fit(folder, lacking, unused if len(unused) == len(shapes) else ()))
    strange = [name for name, value in body.state_dict().items() if not value.isfinite().all()]
    if strange:
        raise CheckpointError(
            f"the weights of {called(folder)} have numbers in {strange[0][:80]} that are not finite: copy it again"
        )
    return body.eval()


def _tensors(files: Sequence[Path]) -> dict[str, torch.Tensor]:
    """Slices of the files, which the library reads one at a time."""
    found = {}
    for file in files:
        opened: Any = safe_open(file, framework="pt")
        found.update({plain_name(name): opened.get_slice(name) for name in opened.keys()})  # noqa: SIM118 (no mapping)
    return found


def _do_not_fit(folder: Path, lacking: Sequence[str], names: Sequence[str]) -> str:
    """The message for weights that lack these tensors; ``names``: the names they have instead, if none is known."""
    if all(key.startswith(HEADS) for key in lacking):
        return without_classifier(folder, lacking[0])
    if names:
        return (
            f"the weights of {called(folder)} have other names ({names[0][:60]}) than the model in its config.json "
            f"({lacking[0][:60]}): save that model itself (save_pretrained), not a module around it"
        )
    return (
        f"the weights of {called(folder)} do not fit its config.json (without {lacking[0][:80]}): copy the model again"
    )


def longest_of(tokenizer: PreTrainedTokenizerFast, body: torch.nn.Module) -> int:
    """Maximum number of pieces the model can read: the tokeniser's limit, or the number of its positions if smaller."""
    places = getattr(body.config, "max_position_embeddings", None) or 0
    if places < 1:  # positions are not numbered, as in XLNet and T5
        places = MAX_TOKENS * 4
    for module in body.modules():
        if isinstance(module, torch.nn.Embedding) and module.num_embeddings == places and module.padding_idx:
            places -= module.padding_idx + 1  # RoBERTa numbers positions from after the padding index
            break
    return int(min(tokenizer.model_max_length, places))
