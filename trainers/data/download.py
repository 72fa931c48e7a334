"""Downloads a file atomically, with progress, resuming after interruptions."""

from __future__ import annotations

import re
import time
from pathlib import Path
from urllib.parse import urlsplit

import requests
from tqdm import tqdm

from core.errors import UserError

ATTEMPTS = 5
"""Number of consecutive connections that may fail without receiving any data."""
PAUSE = 2.0
"""Seconds before the next attempt, increasing each time."""
_PIECE = 1 << 16
"""Chunk size in bytes: a partly received chunk is lost if the connection breaks."""


class DownloadError(UserError):
    """The download failed; the message is one sentence with the remedy."""


def fetch(address: str, path: Path, size: int | None = None) -> None:
    """Downloads the file at ``address`` to ``path``; its beginning may already exist as ``path.part``.

    Raises DownloadError if the address is unreachable, the file changes between two connections, is not ``size`` bytes
    long, or continues past its announced end.
    """
    part, failures = path.with_name(f"{path.name}.part"), 0
    while True:
        before = _length(part)
        try:
            _go_on(address, part, size)
            break
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
            failures = 1 if _length(part) > before else failures + 1
            if failures >= ATTEMPTS:
                raise DownloadError(
                    f"{_host(address)} cannot be reached, or the connection breaks ({type(error).__name__}); what has "
                    "arrived is kept: run the same command again to continue, or see the page of the data set"
                ) from None
            time.sleep(PAUSE * failures)
        except requests.RequestException as error:
            raise DownloadError(f"{_host(address)} gave an unknown answer ({type(error).__name__})") from None
    part.replace(path)
    _mark(part).unlink(missing_ok=True)


def _go_on(address: str, part: Path, size: int | None) -> None:
    """One connection: downloads the missing rest of ``part``. Raises DownloadError, and exceptions from requests."""
    have, mark = _length(part), _mark(part)
    # Uncompressed bytes, and only from the same version of the file as the first ones.
    headers = {"Accept-Encoding": "identity"}
    same = mark.read_text(encoding="utf-8") if mark.is_file() else ""
    if have and same:
        headers |= {"Range": f"bytes={have}-", "If-Range": same}
    with requests.get(address, headers=headers, stream=True, timeout=60) as answer:
        if answer.status_code == 416:  # nothing follows these bytes
            if not answer.headers.get("Content-Range", "").endswith(f"/{have}"):
                part.unlink()
                raise requests.ConnectionError("restarts")
            return
        _check_answer(address, answer)
        have = have if answer.status_code == 206 else 0
        whole = _announced(answer, have)
        if size and whole and whole != size:
            raise DownloadError(
                f"{_host(address)} has {whole:,} bytes and {size:,} were expected; the file has changed or was "
                "replaced: see the page of the data set"
            )
        # Without a validator the next connection starts over, as the file may have changed.
        mark.write_text(_validator(answer), encoding="utf-8")
        _write(answer, part, have, whole or size)
    if (whole or size) not in (None, _length(part)):
        raise requests.ConnectionError("cut off")


def _check_answer(address: str, answer: requests.Response) -> None:
    if urlsplit(address).scheme == "https" and urlsplit(answer.url).scheme != "https":
        raise DownloadError(f"{_host(address)} redirects to an address without https; see the page of the data set")
    if answer.status_code not in (200, 206):
        raise DownloadError(
            f"{_host(address)} answers {answer.status_code} ({answer.reason}); see the page of the data set for "
            "another address, or bring the file by hand"
        )


def _validator(answer: requests.Response) -> str:
    """The value for If-Range: a strong ETag, or the file's date; empty if there is neither."""
    tag: str = answer.headers.get("ETag", "W/")
    return answer.headers.get("Last-Modified", "") if tag.startswith("W/") else tag


def _announced(answer: requests.Response, have: int) -> int | None:
    """The total size of the file, as announced by the server. Raises DownloadError for another range."""
    if answer.status_code == 200:
        length = answer.headers.get("Content-Length", "")
        return int(length) if length.isdigit() else None
    told = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
    if not told or int(told[1]) != have:
        raise DownloadError(f"{_host(answer.url)} sent another part than was asked for; delete the part file")
    return int(told[2])


def _write(answer: requests.Response, part: Path, have: int, whole: int | None) -> None:
    """Appends the response's bytes. Raises DownloadError if there are more than ``whole``, or the disk is full."""
    name = part.name.removesuffix(".part")
    bar = tqdm(total=whole, initial=have, unit="B", unit_scale=True, unit_divisor=1024, desc=name, leave=False)
    try:
        with bar, part.open("ab" if have else "wb") as file:
            for piece in answer.iter_content(_PIECE):
                have += len(piece)
                if whole is not None and have > whole:
                    raise DownloadError(f"{_host(answer.url)} sends more than the {whole:,} bytes that were expected")
                file.write(piece)
                bar.update(len(piece))
    except OSError as error:
        if isinstance(error, requests.RequestException):
            raise
        raise DownloadError(f"{name} cannot be written ({error.strerror}); free space and run it again") from None


def _length(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _mark(part: Path) -> Path:
    """The file with the validator of a partial download."""
    return part.with_name(f"{part.name}.version")


def _host(address: str) -> str:
    return urlsplit(address).netloc or address
