"""The files of an external model: lists and reads them without trusting any of them.

Only regular files of plausible size are opened, so that a FIFO, a device or a huge linked file does no harm. All errors
are CheckpointErrors of one sentence.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from core.errors import CheckpointError
from core.external.installed import installed_folder
from core.external.names import called
from core.files import parse_json, read_bounded
from core.json_types import JsonObject

MODULES = "modules.json"
"""The list of a model's modules in sentence-transformers' format."""
ST_SETTINGS, POOLING = "config_sentence_transformers.json", "1_Pooling"
"""The settings of such a model, and its second module's usual folder."""
HEAD = "pairlens-head.safetensors"
"""A classifier for a bi-encoder that was trained with PairLens."""
SETTINGS = "pairlens.json"
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
ADAPTER = "adapter_config.json"
CONFIG = "config.json"
CLASSIFIER = "ForSequenceClassification"
"""How the names of architectures for pairs end."""
LARGEST_CONFIG = 4 << 20
"""Size limit of a configuration, in bytes."""
LARGEST_VOCABULARY = 256 << 20
"""Size limit of other non-weight files, such as a tokeniser's, in bytes."""
MOST_FILES = 1000
"""Maximum number of files examined per folder."""
_READ = (".json", ".txt", ".model", ".jinja", ".safetensors", ".tiktoken")
"""Suffixes of the files that transformers or PairLens reads."""
_PICKLES = (".bin", ".pt", ".pth", ".ckpt")
_OTHER_WEIGHTS = {
    ".gguf": "a GGUF file of llama.cpp",
    ".onnx": "an ONNX graph",
    "openvino_model.xml": "an OpenVINO graph",
    ".tflite": "a TensorFlow Lite graph",
    ".h5": "TensorFlow weights",
    ".msgpack": "Flax weights",
}
_FOREIGN = (*_PICKLES, *_OTHER_WEIGHTS)
_NAMES = ("model", "pytorch_model", "tf_model", "flax_model", "adapter_model", "openvino_model")
_MARKS = (CONFIG, MODULES, ADAPTER, WEIGHTS, INDEX)
"""File names that identify a model folder."""


def names_in(folder: Path) -> list[str]:
    """Names of the entries in a folder, including broken links, at most :data:`MOST_FILES`. Raises OSError."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry, _ in zip(entries, range(MOST_FILES), strict=False))


def is_external(folder: Path) -> bool:
    """Whether a folder looks like another library's model, judged by file names alone, so that an unusable one is
    listed with its problem."""
    if has(folder, "card.json"):
        return False
    if any(has(folder, name) for name in _MARKS) or files_of(folder) != folder:
        return True
    try:
        names = names_in(folder)
    except (OSError, ValueError):  # reading its card reports the problem
        return False
    return any(name.endswith(".gguf") or (name.startswith(_NAMES) and name.endswith(_FOREIGN)) for name in names)


def files_of(folder: Path) -> Path:
    """The folder with a model's files: this one, or the installed package's named in its ``pairlens.json``."""
    with contextlib.suppress(CheckpointError):
        package = object_of(folder, SETTINGS).get("package")
        name = package.get("name") if isinstance(package, dict) else None
        return (installed_folder(name) if isinstance(name, str) else None) or folder
    return folder


def has(folder: Path, name: str) -> bool:
    """Whether there is an entry with this name, even a broken link."""
    return os.path.lexists(folder / name)  # false, not an error, if the folder is not readable


def contents(folder: Path, name: str, largest: int = LARGEST_CONFIG) -> bytes:
    """The contents of a regular file."""
    with reading(folder, name):
        return read_bounded(folder / name, largest)


@contextlib.contextmanager
def reading(folder: Path, name: str) -> Iterator[None]:
    """Turns any error while a file is read into one sentence."""
    try:
        yield
    except (OSError, SafetensorError, ValueError) as error:
        what = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else str(error)
        if isinstance(error, FileNotFoundError):
            what = "is a link to nowhere" if has(folder, name) else "is missing"
        elif isinstance(error, SafetensorError):
            what = "is truncated or no file of weights"
        raise CheckpointError(f"{_named(folder, name)} {what}: copy the model again") from error


def json_of(folder: Path, name: str, kind: str = "readable JSON") -> Any:
    """The value of a JSON file; ``kind``: the expected kind of value, for the message."""
    try:
        return parse_json(contents(folder, name).decode("utf-8-sig"))
    except CheckpointError:
        raise
    except ValueError:
        raise CheckpointError(f"{_named(folder, name)} is not {kind}: copy the model again") from None


def object_of(folder: Path, name: str) -> JsonObject:
    """The object in a JSON file; empty if the file does not exist."""
    if not has(folder, name):
        return {}
    found = json_of(folder, name)
    if not isinstance(found, dict):
        raise CheckpointError(f"{_named(folder, name)} is not a JSON object: copy the model again")
    return found


def config_of(home: Path) -> JsonObject:
    """The transformer's ``config.json``."""
    if not has(home, CONFIG):
        raise CheckpointError(f"{called(home)} has no config.json: copy the model again, all its files")
    return object_of(home, CONFIG)


def modules_of(folder: Path) -> list[JsonObject]:
    """The modules listed in ``modules.json``, each with its ``type`` and ``path``, a folder inside this one."""
    steps = json_of(folder, MODULES, "a list of steps")
    plain = isinstance(steps, list) and all(
        isinstance(one, dict) and isinstance(one.get("type"), str) and isinstance(one.get("path"), str) for one in steps
    )
    if not plain or not steps or len(steps) > 100:
        raise CheckpointError(f"{_named(folder, MODULES)} is not a list of steps: copy the model again")
    for step in steps:
        _check_inside(folder, step["path"])
    return [{"type": step["type"], "path": step["path"]} for step in steps]


def _check_inside(folder: Path, path: str) -> None:
    parts = Path(path).parts
    try:
        odd = "\0" in path or len(path) > 200 or Path(path).is_absolute() or ".." in parts
        if not odd and (folder / path).resolve().is_relative_to(folder.resolve()):
            return
    except (OSError, ValueError, RuntimeError):  # a circular link
        pass
    raise CheckpointError(
        f"{_named(folder, MODULES)} names {path[:40]!r}, which is not a folder inside the model’s: copy the model again"
    )


def home_of(folder: Path) -> Path:
    """The transformer's folder, which in sentence-transformers' layout may be a subfolder."""
    files = files_of(folder)
    return files / str(modules_of(files)[0]["path"]) if has(files, MODULES) else files


def weights_of(folder: Path) -> list[Path]:
    """The transformer's weight files, sorted by name: ``model.safetensors``, or those in its index. Not opened, but
    checked to be regular files."""
    home = home_of(folder)
    if has(home, WEIGHTS):
        names = [WEIGHTS]
    elif has(home, INDEX):
        names = _indexed(home)
    else:
        raise CheckpointError(without_safetensors(home, f"transformers import {_class_of(home)}"))
    for name in names:
        check_regular(home, name)
    return [home / name for name in names]


def _class_of(home: Path) -> str:
    """The class of transformers that reads this folder's pickle."""
    named = object_of(home, CONFIG).get("architectures")
    encodes = isinstance(named, list) and named and not str(named[0]).endswith(CLASSIFIER)
    return "AutoModel" if encodes else f"AutoModel{CLASSIFIER}"


def _indexed(home: Path) -> list[str]:
    shards = object_of(home, INDEX).get("weight_map")
    values = list(shards.values()) if isinstance(shards, dict) else []
    if not values or not all(isinstance(name, str) for name in values):
        raise CheckpointError(f"{_named(home, INDEX)} names no files of weights: copy the model again")
    names = sorted(set(values))
    for name in names:
        plain = name.endswith(".safetensors") and Path(name).name == name and "\0" not in name and len(name) <= 200
        if not plain or "\\" in name:
            raise CheckpointError(
                f"{_named(home, INDEX)} names {name[:40]!r}, which is not a *.safetensors file in the model’s folder: "
                "save the model again as safetensors"
            )
    return names


def check_regular(folder: Path, name: str) -> os.stat_result:
    """The state of a regular file. Raises CheckpointError for a missing file or anything else."""
    with reading(folder, name):
        now = (folder / name).stat()
        if not stat.S_ISREG(now.st_mode):
            raise ValueError("is not a regular file")
    return now


def check_files(home: Path) -> None:
    """Raises CheckpointError if a file that transformers may open is not a regular file, or is too large."""
    for name in names_in(home):
        if name.endswith(_READ) and not (home / name).is_dir():
            size = check_regular(home, name).st_size
            if not name.endswith(".safetensors") and size > LARGEST_VOCABULARY:
                raise CheckpointError(
                    f"{_named(home, name)} is larger than {LARGEST_VOCABULARY >> 20} MB: copy the model again"
                )


def parts_of(folder: Path) -> list[Path]:
    """All files of the model, sorted by name, in its folder and the folders in ``modules.json``."""
    places = [files := files_of(folder)]
    if has(files, MODULES):
        with contextlib.suppress(CheckpointError):
            places += [files / step["path"] for step in modules_of(files) if step["path"] not in ("", ".")]
    out = []
    for place in dict.fromkeys(places):
        try:
            out += [place / name for name in names_in(place) if name.endswith(_READ)]
        except OSError:
            continue
    return out


def without_safetensors(folder: Path, opens: str = "transformers import AutoModelForSequenceClassification") -> str:
    """The message for a folder without readable weights. ``opens``: module and class that can convert a pickle."""
    names = names_in(folder)
    for name in [*names, *_exports(folder)]:
        for ending, what in _OTHER_WEIGHTS.items():
            if name.endswith(ending):
                return f"{called(folder)} is {what} ({name[:60]}): give the same model with its *.safetensors"
    if any(name.endswith(_PICKLES) for name in names):
        return (
            f"{called(folder)} has its weights in a pickle (*.bin), which could run any code when it is read: if "
            f"you trust it, let Hugging Face’s library convert it to safetensors with `python -c 'from {opens} as M; "
            'M.from_pretrained("FOLDER").save_pretrained("FOLDER")\'`'
        )
    if any(name.endswith(".safetensors") for name in names):
        return f"{called(folder)} has no {WEIGHTS} and no index of its parts: name its file of weights {WEIGHTS}"
    return f"{called(folder)} has no *.safetensors: copy the model again, with its weights"


def _exports(folder: Path) -> list[str]:
    """Files in the folders to which sentence-transformers and Optimum export models."""
    return [f"{name}/{file}" for name in ("onnx", "openvino") if (folder / name).is_dir()
            for file in names_in(folder / name)]  # fmt: skip


def _named(folder: Path, name: str) -> str:
    return f"{called(folder)}/{name[:80]}"
