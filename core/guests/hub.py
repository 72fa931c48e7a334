"""Models of Hugging Face's hub, ``hub:ORG/NAME``: from its own cache first, over the network only where they are asked
for by that name and it is there."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from core.errors import CheckpointError
from core.guests.names import HUB, INSTALL

FILES = (
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*",
    "merges.txt",
    "*.model",
    "*.safetensors",
    "*.safetensors.index.json",
    "[0-9]_*/*",
)
"""What is fetched: never a pickle, and no code."""
NEVER = ("*.bin", "*.py", "*.pt", "*.h5", "*.onnx", "*.msgpack", "onnx/*", "openvino/*")


def cached(name: str) -> Path | None:
    """The folder of a model in the cache; None where it is not there, and for what names no model."""
    try:
        folder = Path(_snapshot(name, local_files_only=True))
    except Exception:
        return None
    return folder if (folder / "config.json").is_file() or (folder / "modules.json").is_file() else None


def fetched(name: str) -> Path:
    """The folder of a model, which is fetched where the cache lacks it. Raises CheckpointError with one sentence where
    it cannot be."""
    known = cached(name)
    if known is not None:
        return known
    try:
        size = sum(one.file_size or 0 for one in _snapshot(name, dry_run=True))
        print(f"{name}: {size / 1e6:,.0f} MB to fetch", file=sys.stderr)
        folder = Path(_snapshot(name))
    except CheckpointError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise CheckpointError(
            f"{name} is not in Hugging Face’s cache and cannot be fetched ({reason}): fetch it where there is a "
            "network, or give the model’s folder"
        ) from error
    return folder


def check_fetched(folder: Path) -> None:
    """Raises CheckpointError for the name of a model in the place of its folder: it is not here yet."""
    if str(folder).startswith(HUB):
        raise CheckpointError(
            f"{folder} is not in Hugging Face’s cache: fetch it with `python -m core models --fetch {folder}`"
        )


def called(folder: Path) -> str:
    """What a model is called: its folder's name, of one in the cache its name on the hub; a part
    of one by both names."""
    owner = folder.parent.parent.name
    if folder.parent.name == "snapshots" and owner.startswith("models--"):
        return owner.removeprefix("models--").replace("--", "/")
    if re.match(r"\d+_", folder.name) and os.path.lexists(folder.parent / "modules.json"):
        return f"{called(folder.parent)}/{folder.name}"
    return folder.name


def _snapshot(name: str, **options: Any) -> Any:
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise CheckpointError(f"{name} needs transformers and tokenizers: {INSTALL}") from None
    repository = name.removeprefix(HUB)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository, re.ASCII):
        raise CheckpointError(f"{name[:80]} names no model: write hub:ORG/NAME")
    # The library reads its variables once, when it is imported.
    cache = os.environ.get("HF_HUB_CACHE") or None
    return snapshot_download(
        repository, cache_dir=cache, allow_patterns=list(FILES), ignore_patterns=list(NEVER), **options
    )
