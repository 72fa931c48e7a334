"""Who may open the app: this machine alone, unless a person asks for more."""

import gc
import subprocess
import tomllib
from pathlib import Path

import psutil

from app import preloading
from core.checkpoint import memory
from core.shared_memory import SharedMemory

ROOT = Path(__file__).resolve().parents[2]


def test_the_server_listens_on_this_machine_alone(server):
    port = int(server.rpartition(":")[2])
    listening = {c.laddr.ip for c in psutil.net_connections("tcp") if c.status == "LISTEN" and c.laddr.port == port}
    assert listening and listening <= {"127.0.0.1", "::1"}


def test_make_app_opens_the_app_to_others_when_asked():
    assert tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["server"]["address"] == "localhost"
    for more, address in (([], "localhost"), (["HOST=0.0.0.0"], "0.0.0.0")):
        made = subprocess.run(["make", "-n", "app", *more], cwd=ROOT, capture_output=True, text=True, check=True)
        assert f"--server.address {address} " in made.stdout


def test_what_a_new_server_reads_is_left_out_of_the_search_for_garbage(monkeypatch):
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(memory._CHECKPOINTS))
    monkeypatch.setattr(memory, "_CHECKPOINTS", SharedMemory(0, memory._size))
    preloading.load()
    assert [len(read) for read in frozen] == [1]
