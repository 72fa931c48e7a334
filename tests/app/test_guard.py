"""Who is answered: one rule for pages, their websocket and the API, and a token for each browser."""

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from app.api import guard, limits
from app.api.guard import TOKEN, Guard, client_of
from app.api.limits import Limit
from app.api.refusals import Refused


async def page(request):
    return HTMLResponse("<p>Explore</p>")


async def asks(request):
    return JSONResponse({"client": client_of(request)})


async def stream(websocket):
    await websocket.accept()
    await websocket.close()


ROUTES = [Route("/", page), Route("/api/models", asks, methods=["GET", "POST"]), WebSocketRoute("/stream", stream)]


@pytest.fixture
def settings(monkeypatch):
    """Streamlit's settings, which a test changes."""
    own = {
        "server.address": "localhost",
        "browser.serverAddress": "localhost",
        "server.allowedHosts": [],
        "server.cookieSecret": "secret",
    }
    monkeypatch.setattr(st, "get_option", own.get)
    monkeypatch.setattr("streamlit.config.get_option", own.get)
    monkeypatch.setattr(guard, "is_manually_set", lambda name: bool(own.get(name)))
    guard._secret.cache_clear()
    monkeypatch.delenv("PAIRLENS_USER_HEADER", raising=False)
    return own


def visitor(address="203.0.113.9"):
    app = Starlette(routes=ROUTES, middleware=[Middleware(Guard)])
    return TestClient(app, base_url="http://localhost:8501", client=(address, 50_000))


@pytest.fixture(scope="module")
def client():
    with visitor() as client:
        yield client


@pytest.fixture
def statuses(settings, client):
    """Of a page, the API and the websocket, for a request with these headers."""

    def of(**headers):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        got = [client.get("/", headers=sent).status_code, client.post("/api/models", headers=sent).status_code]
        try:
            with client.websocket_connect("/stream", headers=sent):
                got.append(101)
        except WebSocketDisconnect as closed:
            assert closed.code == 1008
            got.append(403)
        return got

    return of


ANSWERED, REFUSED = [200, 200, 101], [403, 403, 403]


@pytest.mark.parametrize(
    ("address", "hosts", "others"),
    [
        ("localhost", ("localhost:8501", "127.0.0.1:8501", "[::1]:8501", "LOCALHOST.", "lens.example"), ("192.0.2.7",)),
        ("0.0.0.0", ("localhost:8501", "127.0.0.1", "192.0.2.7:8501", "[2001:db8::1]:8501", "lens.example"), ()),
        (None, ("192.0.2.7:8501", "lens.example:8501"), ()),
        ("192.0.2.7", ("192.0.2.7:8501", "lens.example:8501"), ()),
        ("server.example", ("server.example:8501", "lens.example:8501"), ()),
    ],
)
def test_a_server_is_reached_by_its_addresses_and_its_names(settings, statuses, address, hosts, others):
    settings |= {"server.address": address, "browser.serverAddress": "Lens.example"}
    for host in hosts:
        assert statuses(Host=host) == ANSWERED, host
        assert statuses(Host=host, Origin=f"http://{host}", Sec_Fetch_Site="same-origin") == ANSWERED, host
    for host in (
        *others,
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil@localhost",
        "[",
        "",
    ):
        assert statuses(Host=host, Origin=f"http://{host}") == REFUSED, host


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "http://127.0.0.1:8501"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"},
    ],
)
def test_scripts_of_other_sites_are_refused(statuses, headers):
    assert statuses(**headers) == REFUSED


def test_a_link_on_another_site_opens_a_page_and_sends_no_form(settings):
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert visitor().get("/", headers=followed).status_code == 200
    assert visitor().post("/api/models", headers=followed).status_code == 403


def test_streamlits_own_list_of_hosts_replaces_the_rule(settings, statuses):
    settings |= {"server.address": "0.0.0.0", "server.allowedHosts": ["*.uni.example"]}
    assert statuses(Host="lens.uni.example") == ANSWERED
    assert statuses(Host="192.0.2.7") == REFUSED


def test_behind_a_proxy_with_a_login_the_host_is_the_proxys(statuses, monkeypatch):
    monkeypatch.setenv("PAIRLENS_USER_HEADER", "X-Remote-User")
    assert statuses(Host="lens.example", Origin="https://lens.example") == ANSWERED
    assert statuses(Host="lens.example", Origin="https://evil.example") == REFUSED


def test_a_refusal_explains_how_to_name_the_server(settings):
    for accepted, said in (("text/html,*/*", lambda response: response.text), ("*/*", lambda r: r.json()["error"])):
        response = visitor().get("/", headers={"Host": "lens.example", "Accept": accepted})
        assert "STREAMLIT_BROWSER_SERVER_ADDRESS set to the name." in said(response)
        assert response.headers["cache-control"] == "no-store"


def named(client, **headers):
    return client.get("/api/models", headers=headers).json()["client"]


def test_a_client_is_a_browser_with_the_servers_token_or_an_address(settings):
    one, another = visitor(), visitor()
    assert named(one) == named(another) == "203.0.113.9", "only pages give tokens"
    for client in (one, another):
        cookie = client.get("/").headers["set-cookie"]
        assert cookie.startswith(f"{TOKEN}=") and cookie.endswith("; HttpOnly; Max-Age=86400; Path=/; SameSite=Lax")
        assert client.get("/").headers["set-cookie"] == cookie, "a browser keeps its token, for another day"
    assert named(one) == named(one) == one.cookies[TOKEN] != named(another) == another.cookies[TOKEN]


def test_a_token_outlives_the_server_and_is_known_to_others_of_its_desk(settings, tmp_path, monkeypatch):
    """Unless a secret is set, one lies in the desk's folder: a lecturer and their class are known after a restart."""
    settings["server.cookieSecret"] = ""
    desks = [tmp_path / "desk", tmp_path / "other"]
    names = {}
    for folder in (*desks, desks[0]):
        monkeypatch.setenv("PAIRLENS_DESK", str(folder))
        guard._secret.cache_clear()
        header = {"Cookie": f"{TOKEN}={names.get(folder, '')}"}
        assert named(visitor(), **header) == names.get(folder, "203.0.113.9")
        names[folder] = visitor().get("/", headers=header).cookies[TOKEN]
    secrets = [(desk / "cookie-secret").read_bytes() for desk in desks]
    assert len({*secrets, b""}) == 3 and (desks[0] / "cookie-secret").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("forged", ["", "x", ".", "a.b", "é.é", "0123456789abcdef." + "0" * 64])
def test_a_client_cannot_choose_its_name(settings, forged):
    sent = {"Cookie": f"{TOKEN}={forged}".encode(), "X-PairLens-Client": "me"}
    assert visitor().get("/api/models", headers=sent).json() == {"client": "203.0.113.9"}
    address, other = (f"2001:db8:1:2::{last}" for last in "12")
    assert named(visitor(address)) == named(visitor(other)) != named(visitor("2001:db8:1:3::1"))


def test_an_address_comes_from_a_header_only_behind_the_login(settings, monkeypatch):
    """uvicorn believes the header of programs on this machine."""
    header = {"X-Forwarded-For": "198.51.100.1"}
    assert named(visitor("198.51.100.1"), **header) == named(visitor("198.51.100.2"), **header)
    monkeypatch.setenv("PAIRLENS_USER_HEADER", "X-Remote-User")
    assert named(visitor("198.51.100.1"), **header) == "198.51.100.1"
    assert named(visitor("198.51.100.1"), **header, **{"X-Remote-User": "ann"}) == "ann"


def test_without_an_address_there_is_one_client(settings):
    scope = {"type": "http", "headers": [], "client": None}
    assert client_of(HTTPConnection(scope)) == client_of(HTTPConnection(scope))


def test_a_client_saves_up_no_more_requests_than_it_may_send_at_once(monkeypatch):
    now = [0.0]
    limit = Limit(rate=0.5, burst=3, clock=lambda: now[0])

    def admitted(client):
        for count in range(9):
            try:
                limit.take(client)
            except Refused:
                return count
        return 9

    assert [admitted("one"), admitted("one"), admitted("another")] == [3, 0, 3]
    now[0] = 5.0
    assert admitted("one") == 2, "and half of the next"
    now[0] = 1000.0
    assert admitted("one") == 3
    monkeypatch.setattr(limits, "MOST_CLIENTS", 2)
    limit.take("third")
    assert [*limit._left] == ["one", "third"], "who has been silent longest is forgotten"
