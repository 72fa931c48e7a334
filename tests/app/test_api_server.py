"""The API of a running server, under a base path: streamed lines, clients that leave, and clients that share."""

import http.client
import json
import socket
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from itertools import cycle, islice
from urllib.parse import urlsplit

import psutil
import pytest
import websockets
from websockets.sync.client import connect

from app.api.executor import OPEN
from tests.app.pages import PATIENCE
from tests.app.servers import Server
from tests.guests import TEXTS
from trainers.bench.visitors import headers_of

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
    # A server that preloads neither a second model nor WordNet is quiet sooner.
    settings = {"STREAMLIT_SERVER_BASE_URL_PATH": "lens", "PAIRLENS_SECOND": "off", "PAIRLENS_WORDNET": str(folder)}
    started = Server.start("streamlit_app.py", folder, folder / "checkpoints", **settings)
    yield started
    started.end()


@contextmanager
def asked(server, body, client, kind="why"):
    """The response to a question of a client with these headers, whose connection is closed afterwards. It is there
    once the server has counted the question and computes."""
    connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=PATIENCE)
    connection.request("POST", f"/lens/api/{kind}", json.dumps(body), client | {"Accept-Encoding": "gzip"})
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
    with asked(server, long(1), headers_of(server.address)) as second:
        with asked(server, long(1), headers_of(server.address)) as first:
            assert first.headers["Content-Type"] == "application/x-ndjson" and "progress" in line(first)
        done, of = line(second)["progress"]
        while line(second)["progress"][0] < done + of / 100:
            pass
    assert quiet(server, 20)


def test_a_third_client_is_answered_while_two_others_keep_the_server_busy(server):
    alone = answered(server, SHORT | {"method": "dropped"}, headers_of(server.address))
    with ExitStack() as others:
        for client in range(2):
            headers = headers_of(server.address)
            for number in range(2):
                busy = others.enter_context(asked(server, long(10 + 2 * client + number), headers))
                assert "progress" in line(busy)
        started = time.monotonic()
        assert len(answered(server, SHORT, headers_of(server.address))["words"]) == len(alone["words"])
        assert time.monotonic() - started < 20, "each of the others takes more than a minute"
    assert quiet(server, 20)


def test_requests_beyond_a_few_are_refused_whatever_their_client_calls_itself(server):
    """All of an address without a token are one client; a quick answer is still given."""
    with ExitStack() as others:
        for number in range(OPEN):
            client = {"X-PairLens-Client": f"client {number}"}
            assert "progress" in line(others.enter_context(asked(server, long(20 + number), client)))
        refused = others.enter_context(asked(server, long(20 + OPEN), {"X-PairLens-Client": "yet another"}))
        assert refused.status == 429 and refused.headers["Retry-After"] == "1"
        assert line(refused)["error"] == f"You have {OPEN} open requests here: wait until one of them is answered."
        assert line(others.enter_context(asked(server, SHORT, {}, "preview")))["answer"]["model"] == "test-light"
    assert quiet(server, 20)


def test_a_name_that_leads_here_reaches_neither_pages_nor_their_websocket(server):
    port = urlsplit(server.address).port
    for headers, status in (
        ({"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"}, 403),
        ({"Host": f"localhost:{port}", "Origin": "http://localhost:1"}, 403),
        ({"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}, 200),
    ):
        for path in ("/lens/", "/lens/error-desk", "/lens/api/models"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", path, headers=headers)
            assert connection.getresponse().status == status
            connection.close()
        try:
            with page_socket(port, headers):
                reached = 200
        except websockets.InvalidStatus as refused:
            reached = refused.response.status_code
        assert reached == status


def page_socket(port, headers):
    """The websocket of a page, as a browser opens it under the name in its headers."""
    at, origin = f"ws://{headers['Host']}/lens/_stcore/stream", headers["Origin"]
    here = socket.create_connection(("127.0.0.1", port))
    return connect(at, sock=here, origin=websockets.Origin(origin), proxy=None, open_timeout=60)
