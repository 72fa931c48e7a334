"""The downloadable data sets, their addresses and target files: registry.yaml, validated."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from core import json_types
from core.errors import RunError
from core.files import read_yaml

REGISTRY = Path(__file__).with_name("registry.yaml")


@dataclass(frozen=True)
class Archive:
    """A download from one address: a zip, from which ``files`` are extracted, or a single ``file``."""

    address: str
    files: dict[str, str] = field(default_factory=dict)
    """Path in the zip: path in the data folder."""
    file: str = ""
    """Path in the data folder, if the address is a plain file."""
    bytes: int | None = json_types.setting(None, least=1)
    """The size of the download, if known."""
    largest: int = json_types.setting(200_000_000, least=1)
    """Size limit in bytes of an extracted file."""

    def __post_init__(self) -> None:
        if bool(self.files) == bool(self.file):
            raise ValueError(f"{self.address} needs files of an archive, or one file")
        if urlsplit(self.address).scheme not in ("http", "https"):
            raise ValueError(f"{self.address} must begin with https:// or http://")
        for target in self.targets:
            path = PurePosixPath(target)
            if path.is_absolute() or ".." in path.parts or "\\" in target:
                raise ValueError(f"{target} leaves the data folder")

    @property
    def targets(self) -> tuple[str, ...]:
        """Paths in the data folder."""
        return tuple(self.files.values()) or (self.file,)


@dataclass(frozen=True)
class DataSet:
    """A data set under its name in the registry."""

    title: str
    page: str
    """Its official page, which states the licence."""
    archives: tuple[Archive, ...] = ()
    by_hand: str = ""
    """The reason why it cannot be downloaded automatically."""

    def missing(self, folder: Path) -> list[Archive]:
        """The archives with files missing from the data folder."""
        return [archive for archive in self.archives if not all((folder / name).is_file() for name in archive.targets)]


def load(path: Path = REGISTRY) -> dict[str, DataSet]:
    """The data sets by name. Raises RunError if the file is not a registry."""
    try:
        values = read_yaml(path)
        if not isinstance(values, dict):
            raise ValueError("it must hold data sets by name")
        return {str(name): json_types.checked(value, DataSet, str(name)) for name, value in values.items()}
    except (OSError, ValueError) as error:
        raise RunError(
            f"{path.name} is not a registry of data sets ({error}); fix it or leave --registry out"
        ) from None
