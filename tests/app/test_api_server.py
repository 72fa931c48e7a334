"""The API of a running server, under a base path: streamed lines, clients that leave, and clients that share."""

import http.client
import json
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from itertools import cycle, islice
from urllib.parse import urlsplit

import psutil
import pytest

from tests.app.servers import Server
from tests.guests import TEXTS

SHORT = {"model": "test-light", "first": "A dog is outside", "second": "A cat is cold"}
QUIET = 0.15
"""Seconds of processor time per second that a server uses which computes nothing."""


def long(number):
    """A question that takes a minute at least."""
    words = list(islice(cycle(" ".join(TEXTS[:3]).split()), number, number + 190))
    text = " ".join(words)
    return {"model": "small-bert", "first": text, "second": text, "all": True}


@pytest.fixture(scope="module")
def server(tmp_path_factory, checkpoints, guests):
    folder = tmp_path_factory.mktemp("server")
    (folder / "checkpoints").mkdir()
    for model in (checkpoints / "test-light", guests / "small-bert"):
        (folder / "checkpoints" / model.name).symlink_to(model)
    # A server that preloads no second model is quiet sooner.
    settings = {"STREAMLIT_SERVER_BASE_URL_PATH": "lens", "PAIRLENS_SECOND": "off"}
    started = Server.start("streamlit_app.py", folder, folder / "checkpoints", **settings)
    yield started
    started.end()


@contextmanager
def asked(server, body, client, kind="why"):
    """The response to a question, whose connection is closed afterwards."""
    connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=60)
    headers = {"X-PairLens-Client": client, "Accept-Encoding": "gzip"}
    connection.request("POST", f"/lens/api/{kind}", json.dumps(body), headers)
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def line(response):
    return json.loads(response.readline())


def answered(server, body, client):
    with asked(server, body, client) as response:
        while "progress" in (last := line(response)):
            pass
    return last["answer"]


def quiet(server, seconds):
    """Whether the server stops computing within ``seconds``."""
    process, until = psutil.Process(server.pid), time.monotonic() + seconds
    while time.monotonic() < until:
        before = sum(process.cpu_times()[:2])
        time.sleep(0.5)
        if sum(process.cpu_times()[:2]) - before < QUIET / 2:
            return True
    return False


def test_the_routes_are_there_with_and_without_the_base_path(server):
    for address in (server.address, server.address.removesuffix("/lens")):
        with urllib.request.urlopen(f"{address}/api/models") as response:
            assert "test-light" in json.load(response)["answer"]
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{server.address}/api/model")


def test_progress_arrives_while_an_answer_is_computed_and_leaving_ends_it(server):
    """Another client that waits for the same answer keeps it going."""
    with asked(server, long(1), "two") as second:
        with asked(server, long(1), "one") as first:
            assert first.headers["Content-Type"] == "application/x-ndjson" and "progress" in line(first)
        done, of = line(second)["progress"]
        while line(second)["progress"][0] < done + of / 100:
            pass
    assert quiet(server, 20)


def test_a_third_client_is_answered_while_two_others_keep_the_server_busy(server):
    alone = answered(server, SHORT | {"method": "dropped"}, "three")
    with ExitStack() as others:
        for number in range(4):
            busy = others.enter_context(asked(server, long(10 + number), f"heavy {number % 2}"))
            assert "progress" in line(busy)
        started = time.monotonic()
        assert len(answered(server, SHORT, "three")["words"]) == len(alone["words"])
        assert time.monotonic() - started < 20, "each of the others takes more than a minute"
    assert quiet(server, 20)
