"""Access to the app: only from this machine, unless the user allows more."""

import gc
import subprocess
import tomllib
import urllib.request
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest
from streamlit.runtime.context import ContextProxy, StreamlitHeaders

from app import login, preloading
from app.model_choice import offered, reads_pairs
from core.checkpoint import memory
from core.shared_cache import SharedCache

ROOT = Path(__file__).resolve().parents[2]


def test_the_server_listens_only_on_this_machine(server):
    port = int(server.rpartition(":")[2])
    listening = {c.laddr.ip for c in psutil.net_connections("tcp") if c.status == "LISTEN" and c.laddr.port == port}
    assert listening and listening <= {"127.0.0.1", "::1"}


def test_make_app_opens_the_app_to_others_when_asked():
    assert tomllib.loads((ROOT / ".streamlit/config.toml").read_text())["server"]["address"] == "localhost"
    for more, address in (([], "localhost"), (["HOST=0.0.0.0"], "0.0.0.0")):
        made = subprocess.run(["make", "-n", "app", *more], cwd=ROOT, capture_output=True, text=True, check=True)
        assert f"--server.address {address} " in made.stdout


def test_objects_loaded_at_startup_are_frozen_for_the_garbage_collector(monkeypatch):
    done = []
    monkeypatch.setattr(memory, "_CHECKPOINTS", SharedCache(1 << 40, memory._size))
    monkeypatch.setattr(gc, "freeze", lambda: done.append(("frozen", len(memory._CHECKPOINTS))))
    monkeypatch.setattr("time.sleep", lambda seconds: done.append(("left to visitors", seconds)))
    monkeypatch.setenv("PAIRLENS_SECOND", "test-two-sided")
    ahead = []
    monkeypatch.setattr("core.adaptation.reading_ahead.read_ahead", ahead.append)
    preloading.load()
    waited = ("left to visitors", preloading.UNDISTURBED)
    assert done == [("frozen", 1), waited, ("frozen", 2)], "the first model, and later the second opinion"
    assert [base.name for base in ahead] == [next(iter(offered(reads_pairs)))], "the first adaptation should not wait"


def test_nltk_is_imported_by_one_thread_at_a_time(monkeypatch):
    imported = []
    monkeypatch.setattr("core.linguistics.import_nltk", lambda: imported.append(True))
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr("core.adaptation.reading_ahead.read_ahead", lambda base: None)
    preloading.load()
    assert imported


def test_freed_memory_is_returned_again_and_again(monkeypatch):
    collected, returned = Mock(), Mock()
    monkeypatch.setattr(gc, "collect", collected)
    monkeypatch.setattr(preloading, "return_freed_memory", returned)
    monkeypatch.setattr("time.sleep", Mock(side_effect=[None, None, KeyboardInterrupt]))
    with pytest.raises(KeyboardInterrupt):
        preloading.return_memory()
    assert collected.call_count == returned.call_count == 2


def test_the_server_tells_its_sessions_to_a_monitor(server):
    with urllib.request.urlopen(f"{server}/_stcore/metrics", timeout=60) as answer:
        assert b"\nactive_sessions " in answer.read()


def visited_with(monkeypatch, address, *headers):
    """The name of a login on a server at this address, from these headers of the visit."""
    monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders(headers))
    monkeypatch.setattr("streamlit.get_option", {"server.address": address}.get)
    return login.name()


def test_a_logins_name_counts_only_where_a_setting_names_its_header_and_the_server_is_behind_its_proxy(
    monkeypatch, capsys
):
    ann = ("x-remote-user", "Ann")
    assert visited_with(monkeypatch, "127.0.0.1", ann) == "", "no setting names it"
    monkeypatch.setenv("PAIRLENS_USER_HEADER", "X-Remote-User")
    for address in ("localhost", "127.0.0.1", "127.8.9.1", "::1"):
        assert visited_with(monkeypatch, address, ann) == "Ann"
    assert visited_with(monkeypatch, "localhost", ("x-remote-user", "Zo\u00c3\u00ab")) == "Zoë"
    assert visited_with(monkeypatch, "localhost", ("x-remote-user", "\u00eb" + 90 * "b")) == "ë" + 79 * "b"
    assert visited_with(monkeypatch, "localhost", ("x-remote-user", "Mallory"), ann) == "", "two of them"
    assert visited_with(monkeypatch, "localhost", ("x_remote_user", "Mallory")) == ""
    assert capsys.readouterr().err == ""
    login._say_once.cache_clear()
    for _ in range(2):
        for address in (None, "", "0.0.0.0", "::", "192.0.2.7", "localhost.example.org"):
            assert visited_with(monkeypatch, address, ann) == ""
    told = capsys.readouterr().err
    assert told.count("X-Remote-User is ignored") == 5 and "listens on all addresses" in told
