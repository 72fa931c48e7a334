"""The files of deploy/ agree with docs/server.md. Nothing is built here: tests/app/test_group_server.py
runs the same pieces from Debian's packages."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import torch
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text()
NGINX = (ROOT / "deploy/nginx.conf").read_text()
COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())

LARGEST = 1.8e9
CPU_TORCH = 0.63e9
"""Bytes that the image has of torch 2.13 for processors, counted where another one is installed here."""
LEFT_OUT = re.compile(r"/tests/|^torch/test/|^torch/include/|share/jupyter/|^pydeck/nbextension/static/")
"""Paths that the Dockerfile removes, below site-packages."""


def copied():
    """The repository files that the image contains."""
    lines = [line.split()[1:-1] for line in DOCKERFILE.splitlines() if re.match("COPY (?!--from)", line)]
    return sorted({name for line in lines for name in line})


def installed(name, extras=frozenset(), known=None):
    """Bytes of a package and of all that it needs, by name."""
    known = {} if known is None else known
    own = re.sub("[-_.]+", "-", name).lower()
    if own in known or re.match("nvidia-|cuda-|triton", own):
        return known
    found = metadata.distribution(name)
    files = [file for file in found.files or () if not LEFT_OUT.search(file.as_posix())]
    known[own] = sum(file.size if file.size is not None else size(file.locate()) for file in files)
    if own == "torch" and torch.version.cuda:
        known[own] = CPU_TORCH
    for text in found.requires or ():
        needed = Requirement(text)
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            installed(needed.name, needed.extras, known)
    return known


@cache
def needed_by(file):
    """Bytes of all packages that a file of requirements installs, by name."""
    packages = {}
    for line in (ROOT / file).read_text().splitlines():
        if line.strip() and not line.startswith(("#", "-")):
            wanted = Requirement(line)
            installed(wanted.name, wanted.extras, packages)
    return packages


def size(path):
    return path.stat().st_size if path.is_file() else 0


def test_the_image_copies_no_more_than_it_may():
    for removed in ("-name tests -exec rm", "torch/test", "torch/include", "share/jupyter", "nbextension/static"):
        assert removed in DOCKERFILE
    packages = needed_by("requirements.txt") | needed_by("requirements-trainers.txt")
    assert {"torch", "streamlit", "psycopg-binary"} <= packages.keys()
    tracked = subprocess.run(["git", "ls-files", *copied()], cwd=ROOT, capture_output=True, text=True, check=True)
    repository = sum(size(ROOT / name) for name in tracked.stdout.splitlines())
    assert repository > 50e6 and sum(packages.values()) + repository < LARGEST


def test_the_app_and_predictions_import_with_the_packages_of_requirements_alone():
    done = subprocess.run(
        [sys.executable, "-m", "tests.imports_without", *needed_by("requirements.txt")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert {"app.pages", "core.cluster", "trainers.predict", "app/views/explore.py"} <= set(done.stdout.split())
    last = done.stderr.splitlines()[-1]
    assert last.startswith("python -m trainers.paper words: lightning_fabric is not installed: run `make trainers`")


def test_all_that_the_app_is_made_of_is_copied_and_nothing_else_is_sent():
    assert set(copied()) == {
        *("requirements.txt", "requirements-encoder.txt", "requirements-trainers.txt", "LICENSE", "streamlit_app.py"),
        *(".streamlit", "pretrained", "core", "trainers", "app", "docs/teaching.md"),
    }
    ignored = (ROOT / "deploy/Dockerfile.dockerignore").read_text().splitlines()
    assert "*" in ignored and {line[1:] for line in ignored if line.startswith("!")} == set(copied())


def test_the_image_runs_without_privileges_and_reports_its_health():
    assert len(re.findall("^FROM ", DOCKERFILE, re.MULTILINE)) == 2 and "whl/cpu" in DOCKERFILE
    assert re.findall("^USER (.*)", DOCKERFILE, re.MULTILINE) == ["10001"]
    assert "HEALTHCHECK" in DOCKERFILE and "/_stcore/health" in DOCKERFILE


def test_only_the_proxy_reaches_the_servers_and_both_are_identical():
    services = COMPOSE["services"]
    one, two = services["app1"], services["app2"]
    ports = [service["environment"].pop("STREAMLIT_SERVER_PORT") for service in (one, two)]
    assert one == two and len(set(ports)) == 2
    assert all(NGINX.count(f"server 127.0.0.1:{port} ") == 1 for port in ports)
    settings = one["environment"]
    assert (
        settings["STREAMLIT_SERVER_ADDRESS"] == "127.0.0.1"
        and "COOKIE_SECRET" in settings["STREAMLIT_SERVER_COOKIE_SECRET"]
    )
    assert f"proxy_set_header {settings['PAIRLENS_USER_HEADER']} $remote_user;" in NGINX
    assert one["network_mode"] == "service:proxy"
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert "auth_basic_user_file" in NGINX and 'proxy_set_header Authorization "";' in NGINX
