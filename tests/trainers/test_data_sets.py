"""Data sets are brought from a server of this machine: on after a cut, checked, unpacked to their places alone."""

from __future__ import annotations

import io
import re
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from trainers import recipe as recipes
from trainers.__main__ import main
from trainers.data import download
from trainers.data.registry import load

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/data.md").read_text(encoding="utf-8")
TEXT = b"".join(b'{"pairID": "%d"}\n' % i for i in range(20_000))


def zipped(how: int = zipfile.ZIP_STORED, **members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return out.getvalue()


@dataclass
class FileServer:
    """Files by path, what was asked for, and how many bytes it sends of a path before it breaks off, once."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    cuts: dict[str, int] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Path and range of each request."""


class Handler(BaseHTTPRequestHandler):
    told: FileServer

    def do_GET(self) -> None:
        told, wanted = self.told, self.headers.get("Range", "")
        told.asked.append((self.path, wanted))
        if self.path in told.moved:
            self.send_response(302)
            self.send_header("Location", told.moved[self.path])
            self.end_headers()
            return
        content = told.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        tag = f'"{len(content)}"'
        begin = int(re.sub(r"\D", "", wanted) or 0) if self.headers.get("If-Range") == tag else 0
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        self.wfile.write(content[begin:][: told.cuts.pop(self.path, None)])

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@pytest.fixture
def server() -> Iterator[FileServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        Handler.told = FileServer(f"http://127.0.0.1:{running.server_port}")
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield Handler.told
        running.shutdown()
        thread.join()


@pytest.fixture
def call(server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """``python -m trainers data some`` from this archive of the server: its status, and what it says."""
    monkeypatch.setattr(download, "PAUSE", 0.0)

    def called(path: str, **archive: object) -> tuple[int, str]:
        archives = [{"address": server.address + path, **archive}]
        registry = tmp_path / "registry.yaml"
        registry.write_text(yaml.safe_dump({"some": {"title": "Some", "page": "its page", "archives": archives}}))
        status = main(["data", "some", "--to", str(tmp_path / "data"), "--registry", str(registry)])
        out, err = capsys.readouterr()
        return status, out + err

    return called


def test_an_interrupted_download_resumes_where_it_stopped(server: FileServer, call, tmp_path: Path) -> None:
    """Even after a redirect; existing files are not fetched again."""
    server.moved["/some.zip"] = "/elsewhere/some.zip"
    content = server.files["/elsewhere/some.zip"] = zipped(**{"in/a.jsonl": TEXT, "in/b.jsonl": b"b"})
    server.cuts["/elsewhere/some.zip"] = 200_000
    files = {"in/a.jsonl": "snli/a.jsonl", "in/b.jsonl": "snli/b.jsonl"}
    status, said = call("/some.zip", files=files, bytes=len(content))
    assert status == 0 and "snli/a.jsonl: " in said
    assert [wanted for path, wanted in server.asked if path in server.files] == ["", "bytes=196608-"]
    data = tmp_path / "data"
    assert (data / "snli/a.jsonl").read_bytes() == TEXT and (data / "snli/b.jsonl").read_bytes() == b"b"
    asked = len(server.asked)
    assert call("/some.zip", files=files) == (0, "some: all there already\n") and len(server.asked) == asked
    assert not [path for path in data.rglob("*") if path.suffix in (".zip", ".part", ".version")]


def test_a_stopped_command_resumes_later_but_not_with_another_file(
    server: FileServer, call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    server.files["/some.tsv"], server.cuts["/some.tsv"] = TEXT, 70_000
    status, said = call("/some.tsv", file="quora/some.tsv")
    assert status == 2 and "run the same command again" in said
    part = next((tmp_path / "data/.downloads").glob("*.part"))
    assert part.stat().st_size == 65_536 and not (tmp_path / "data/quora").exists()
    server.files["/some.tsv"] = b"new" + TEXT
    assert call("/some.tsv", file="quora/some.tsv")[0] == 0
    assert server.asked[-1] == ("/some.tsv", "bytes=65536-")
    assert (tmp_path / "data/quora/some.tsv").read_bytes() == b"new" + TEXT


def test_an_untrusted_zip_only_writes_the_requested_files(server: FileServer, call, tmp_path: Path) -> None:
    server.files["/some.zip"] = zipped(**{"../evil": b"out", "/evil": b"out", "a": b"a"})
    assert call("/some.zip", files={"../evil": "x/named", "a": "x/a"})[0] == 0
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"registry.yaml", "data/x/named", "data/x/a", "data/.downloads/some.lock"}
    for target in ("../out", "/tmp/out", "x/../../out", "x\\..\\out"):
        status, said = call("/some.zip", files={"a": target})
        assert status == 2 and "leaves the data folder" in said


@pytest.mark.parametrize(
    ("content", "archive", "says"),
    [
        (
            zipped(zipfile.ZIP_DEFLATED, a=b"\0" * 3_000_000),
            {"largest": 2_000_000},
            "a has more than the 2,000,000 bytes that it may have",
        ),
        (zipped(a=b"a"), {"bytes": 7}, "bytes and 7 were expected"),
        (zipped(b=b"b"), {}, "has no a; its layout has changed"),
        (b"<html>no zip</html>", {}, "is not a readable zip"),
        (None, {}, "answers 404"),
    ],
)
def test_an_error_is_one_sentence(content, archive, says, server: FileServer, call, tmp_path: Path) -> None:
    if content is not None:
        server.files["/some.zip"] = content
    status, said = call("/some.zip", files={"a": "x/a"}, **archive)
    assert status == 2 and says in said and not (tmp_path / "data/x/a").exists()
    assert said.splitlines()[-1].startswith("python -m trainers data: ") and "Traceback" not in said


def test_names_that_cannot_be_brought(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, says in (("snil", "snli"), ("msrp", "by hand"), ("yelp", "consent")):
        assert main(["data", name, "--to", str(tmp_path / "data")]) == 2
        assert says in capsys.readouterr().err and not (tmp_path / "data").exists()
    assert main(["data"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{name} " in listed and data_set.page in listed for name, data_set in load().items())


def test_the_page_of_data_has_every_file_that_a_recipe_names_and_every_address() -> None:
    named = re.compile(r"\b(?:path|vectors): ([\w./-]+)")
    for name, path in recipes.files().items():
        for file in named.findall(path.read_text(encoding="utf-8")):
            assert f"`{file}`" in PAGE, f"{file} of {name} is not in docs/data.md"
    for data_set in load().values():
        assert data_set.page in PAGE
        for archive in data_set.archives:
            assert all(f"`{target}`" in PAGE for target in archive.targets), archive.targets
