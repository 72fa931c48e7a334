"""A group's server from Debian's packages, by the files of deploy/: nginx, its login, two app servers, PostgreSQL."""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest
import yaml
from playwright.sync_api import expect

from core.desk import store
from core.desk.annotations import Annotations
from core.desk.database import open_database
from core.desk.labelling import Labelling
from core.rooms.room import open_room, rooms_of
from tests.app.pages import PATIENCE, come_to_rest
from tests.app.servers import ROOT, wait_for
from tests.app.visitors import ASKED
from tests.core.databases import postgresql  # noqa: F401 (a fixture)
from tests.core.made_up_runs import ONE, TWO, keep, made_up_run
from tests.shared import free_port
from trainers.bench.visitors import Visitor, pairs

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PEOPLE, VISITORS = ("ann", "bob", "zoë"), 6
DEPLOY = ROOT / "deploy"


def app_settings(service, **own):
    """An app server's environment from compose.yaml, with this machine's values."""
    text = re.sub(r"\$\{COOKIE_SECRET:[^}]*\}", "0123456789abcdef", (DEPLOY / "compose.yaml").read_text())
    settings = yaml.safe_load(re.sub(r"\$\{JOBS:-1\}", "1", text))["services"][service]["environment"]
    return {name: str(value) for name, value in settings.items()} | own


def nginx(folder, address, ports):
    """deploy/nginx.conf with these ports, and files in a folder of the tests' own."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.fail("These tests need nginx: install it with `apt-get install nginx-light`.", pytrace=False)
    (folder / "users").write_text("".join(f"{name}:{{PLAIN}}secret of {name}\n" for name in PEOPLE))
    text = (DEPLOY / "nginx.conf").read_text()
    parts = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    scratch = "".join(f"{part}_temp_path {folder}/{part};" for part in parts)
    for known, own in {
        "/etc/nginx/users": str(folder / "users"),
        "/run/nginx.pid": str(folder / "pid"),
        "http {": f"http {{ {scratch}",
        "listen 8080": f"listen {address}",
        "127.0.0.1:8501": f"127.0.0.1:{ports[0]}",
        "127.0.0.1:8502": f"127.0.0.1:{ports[1]}",
    }.items():
        assert text.count(known) == 1, known
        text = text.replace(known, own)
    (folder / "nginx.conf").write_text(text)
    more = "daemon off;" + (" user root;" if os.geteuid() == 0 else "")
    command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", more]
    process = subprocess.Popen(command, stderr=(folder / "nginx.log").open("wb"))
    while process.poll() is None:
        try:
            socket.create_connection(address.split(":"), timeout=1).close()
            return process
        except OSError:
            time.sleep(0.05)
    raise RuntimeError((folder / "nginx.log").read_text())


class Group:
    """Both servers and nginx, whose files lie in a folder of their own."""

    def __init__(self, folder, **settings):
        self.folder, self.settings = folder, settings
        front, *self.ports = (free_port() for _ in range(3))
        self.address, self.servers = f"http://127.0.0.1:{front}", [None, None]
        self.proxy = nginx(folder, f"127.0.0.1:{front}", self.ports)

    def start(self):
        """The servers that are down."""
        stopped = [n for n, server in enumerate(self.servers) if server is None or server.poll() is not None]
        logs = [self.folder / f"app{number + 1}.log" for number in range(2)]
        for number in stopped:
            port = str(self.ports[number])
            settings = app_settings(f"app{number + 1}", STREAMLIT_SERVER_PORT=port, **self.settings)
            command = [sys.executable, "-m", "streamlit", "run", "streamlit_app.py"]
            with logs[number].open("wb") as log:
                self.servers[number] = subprocess.Popen(
                    command, cwd=ROOT, env=os.environ | settings, stdout=log, stderr=log
                )
        for number in stopped:
            wait_for(f"http://127.0.0.1:{self.ports[number]}", self.servers[number], logs[number])

    def stop(self):
        processes = [process for process in (self.proxy, *self.servers) if process is not None]
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(PATIENCE)


@pytest.fixture(scope="module")
def group(checkpoints, postgresql):  # noqa: F811
    """All of it, with the made-up run on the desk."""
    folder = Path(tempfile.mkdtemp(prefix="pairlens-group-"))
    name = f"group_{secrets.token_hex(4)}"
    with psycopg.connect(f"{postgresql.replace('+psycopg', '')}postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    own = Group(
        folder,
        PAIRLENS_DB=f"{postgresql}{name}",
        PAIRLENS_DESK=str(folder / "desk"),
        PAIRLENS_DATASETS="",
        PAIRLENS_DATA="",
        PAIRLENS_CHECKPOINTS=str(checkpoints),
        PAIRLENS_NEIGHBOURS=str(folder / "none"),
        PAIRLENS_SECOND="off",
        PAIRLENS_WORDNET=str(folder / "none"),  # not read, as no test here needs it
    )
    own.run = made_up_run(folder)
    keep(own.run, folder / "desk")
    try:
        own.start()
        yield own
    finally:
        own.stop()
        shutil.rmtree(folder, ignore_errors=True)


def login(name, password=None):
    known = f"{name}:{password or f'secret of {name}'}".encode()
    return {"Authorization": f"Basic {base64.b64encode(known).decode()}"}


def fetch(address, body=None, **headers):
    try:
        return urllib.request.urlopen(urllib.request.Request(address, body, headers=headers), timeout=PATIENCE)
    except urllib.error.HTTPError as error:
        return error


def test_only_a_right_password_comes_in_and_a_visitor_stays_with_one_server(group):
    for headers in ({}, login("ann", "secret of bob"), login("eve")):
        refused = fetch(group.address, **headers)
        assert refused.code == 401 and "pairlens=" not in str(refused.headers)
    page = fetch(group.address, **login("ann"))
    (cookie,) = (text for text in page.headers.get_all("Set-Cookie") if text.startswith("pairlens="))
    assert page.code == 200 and re.fullmatch(r"pairlens=[0-9a-f]{32}; Path=/; HttpOnly; SameSite=Lax", cookie)
    again = fetch(f"{group.address}/_stcore/health", **login("ann"), Cookie=cookie.partition(";")[0])
    assert again.read() == b"ok" and "pairlens=" not in str(again.headers)


def test_the_api_answers_behind_the_login_and_ends_with_its_client(group):
    """To pages of the proxy's address alone; lines come as they are computed, through the proxy too."""
    texts, ann = " ".join(["a man is outside"] * 45), login("ann") | {"Origin": group.address}
    question = json.dumps({"model": "test-light", "first": texts, "second": texts}).encode()
    for headers, status in (({}, 401), (ann | {"Origin": "http://evil.example"}, 403)):
        assert fetch(f"{group.address}/api/why", question, **headers).code == status
    models = json.load(fetch(f"{group.address}/api/models", **ann))["answer"]
    assert models["test-light"]["task"] == "entailment"
    until(lambda: not any(connections(group, number) for number in range(2)))
    with fetch(f"{group.address}/api/why", question, **ann) as response:
        assert response.code == 200 and "progress" in json.loads(response.readline())
        assert any(connections(group, number) for number in range(2))
    until(lambda: not any(connections(group, number) for number in range(2)))


def test_a_room_needs_no_login_and_is_the_same_on_both_servers(group, monkeypatch):
    """Nothing else than the phones' paths is without a login, and a name that a phone sends is not passed on."""
    monkeypatch.setenv("PAIRLENS_DB", group.settings["PAIRLENS_DB"])
    room = open_room(open_database(), "ann", "test-light")
    place = f"/room/{room.shown}"
    page = fetch(f"{group.address}{place}")
    cookies = "; ".join(text.partition(";")[0] for text in page.headers.get_all("Set-Cookie"))
    assert page.code == 200 and b"phone.js" in page.read() and "pairlens_client=" in cookies
    assert fetch(f"{group.address}/room").url == f"{group.address}/room/"
    assert fetch(f"{group.address}/room/static/phone.js").code == 200
    for other in (
        "/",
        "/rooms",
        "/roomful/static/phone.js",
        "/api/models",
        "/room/../api/models",
        "/room/%2e%2e/explore",
    ):
        assert fetch(f"{group.address}{other}").code == 401, other
    assert fetch(f"{group.address}{place}/join", b"x" * 33_000, Cookie=cookies).code == 413

    def ask(path, body=None, **headers):
        body = None if body is None else json.dumps(body).encode()
        return json.load(fetch(f"{group.address}{place}/{path}", body, Cookie=cookies, **headers))

    assert ask("state")["phase"] == "join"
    assert ask("join", {"nickname": "zoë"}, **login("mallory"))["nickname"] == "zoë"
    shown = [json.load(fetch(f"http://127.0.0.1:{port}{place}/state", Cookie=cookies)) for port in group.ports]
    assert shown[0] == shown[1] and shown[0]["phase"] == "open"


def connections(group, number):
    """How many of a server are open: of nginx, one a session."""
    open_ones = psutil.Process(group.servers[number].pid).net_connections("tcp")
    return sum(one.status == "ESTABLISHED" and one.laddr.port == group.ports[number] for one in open_ones)


def until(true):
    """Wait patiently: the machine may be training at the same time."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def visitor(group, number):
    """One with a login and a cookie of their own."""
    headers = login(PEOPLE[number % len(PEOPLE)]) | {"Cookie": f"pairlens=visitor-{number}"}
    return Visitor(group.address, headers)


def arrived(group, link):
    """Visitors with the server that each came to, and what was answered there. Both servers have some: where a cookie
    leads to depends on the servers' ports, and six may well lead to one."""
    visitors, places, answers = [], [], []
    for number in range(10 * VISITORS):
        if number >= VISITORS and len(set(places)) == 2:
            break
        before = connections(group, 0)
        visitors.append(visitor(group, number))
        answers.append(visitors[-1].open(**link(number)))
        places.append(0 if connections(group, 0) > before else 1)
    assert 0 < sum(places) < len(places), "the cookies spread them over both"
    return visitors, places, answers


def opened(browser, group, name, cookie, row, view="rows"):
    """The desk in a browser whose visitor pretends to be somebody else."""
    context = browser.new_context(
        http_credentials={"username": name, "password": f"secret of {name}"},
        extra_http_headers={"X-Remote-User": "mallory"},
        viewport={"width": 1280, "height": 800},
    )
    context.add_cookies([{"name": "pairlens", "value": cookie, "url": group.address}])
    context.add_init_script(ASKED)
    page = context.new_page()
    link = f"file={group.run.dataset.sha256[:16]}&models={ONE[:16]}.{TWO[:16]}&row={row}"
    link += f"&filter=gold%20=%20neutral&view={view}"
    page.goto(f"{group.address}/error-desk?{link}")
    expect(page.get_by_role("heading", name=f"Row {row}")).to_be_visible()
    expect(page.locator(".pl-terms").first).to_have_text(f"Signed in as{name}")
    come_to_rest(page)
    return page


def pressed(page, tag):
    """Whether a tag is set on the page; clicks it if not, because clicks during a redraw are lost."""
    button = page.get_by_role("button", name=tag)
    come_to_rest(page)
    expect(button).to_have_count(1)
    given = button.get_attribute("aria-pressed") == "true"
    if not given:
        button.click()
        with suppress(AssertionError):  # the click was lost
            expect(button).to_have_attribute("aria-pressed", "true", timeout=10_000)
    return given


def test_six_visitors_and_two_browsers_survive_a_killed_server(group, browser, monkeypatch):
    """Both servers have visitors; one is killed after a mark and a label that it acknowledged, while tags by click, by
    key and in bulk, “Done”, a note and a label are on their way to it. Its visitors and its browsers reopen from their
    addresses on the other, which knows the mark and the label and lists the changes that were not saved."""
    monkeypatch.setenv("PAIRLENS_DB", group.settings["PAIRLENS_DB"])
    annotations, texts = Annotations(open_database()), list(itertools.islice(pairs(), VISITORS))

    group.start()
    row = "2n"

    def link(number):
        return {"model": "test-light", "first": texts[number % VISITORS][0], "second": texts[number % VISITORS][1]}

    def marks():
        return annotations.state(group.run.dataset.sha256).row(row).tags

    visitors, places, answers = arrived(group, link)
    ann = opened(browser, group, "ann", f"visitor-{places.index(0)}", row)
    bob = opened(browser, group, "bob", f"visitor-{places.index(1)}", row)
    bob.get_by_role("button", name="misled by noise").click()
    expect(bob.get_by_text("1 change", exact=True)).to_be_visible()
    Labelling(annotations._engine).add_classes("zoë", group.run.dataset.sha256, ["entailment", "neutral"])
    zoe = opened(browser, group, "zoë", f"visitor-{places.index(0)}", "1n", "labels")
    zoe.keyboard.press("1")
    with suppress(AssertionError):  # Streamlit loses a key while it draws its buttons again
        expect(zoe.get_by_role("heading", name="Row 2n")).to_be_visible(timeout=30_000)
    if zoe.get_by_role("heading", name="Row 1n").count():
        zoe.keyboard.press("1")
        expect(zoe.get_by_role("heading", name="Row 2n")).to_be_visible()
    come_to_rest(zoe)
    ann.get_by_role("button", name="misled by noise").click()
    expect(
        ann.get_by_text("1 change", exact=True)
    ).to_be_visible()  # her own: others' marks are hidden until she is done
    come_to_rest(ann)
    ann.get_by_role("button", name="Tag these rows").click()
    ann.get_by_role("button", name="Take yours back").wait_for()
    group.servers[0].send_signal(signal.SIGSTOP)
    ann.get_by_role("button", name="Give it to 2 rows").click()
    ann.keyboard.press("Escape")
    ann.get_by_role("button", name="other").click()
    ann.keyboard.press("1")
    ann.get_by_text("Done", exact=True).click()
    ann.get_by_label("Note").fill("why <b>")
    zoe.keyboard.press("2")
    group.servers[0].kill()
    assert marks() == {"misled by noise": {"ann", "bob"}}
    labels = {key: own.labels for key, own in annotations.state(group.run.dataset.sha256).rows.items() if own.labels}
    assert labels == {"1n": {"zoë": "entailment"}}

    come_to_rest(bob)
    bob.get_by_role("button", name="other").click()
    expect(bob.get_by_text("3 changes", exact=True)).to_be_visible()  # with making the run
    until(
        lambda: all(
            (one.socket.state.name == "CLOSED") == (not place) for one, place in zip(visitors, places, strict=True)
        )
    )
    for number, place in enumerate(places):
        if place:
            assert visitors[number].open(**link(number) | {"second": "a dog is outside"}).probabilities
        else:
            visitors[number] = visitor(group, number)
            assert visitors[number].open(**link(number)).probabilities == answers[number].probabilities
    ann.wait_for_selector("[data-testid=stApp][data-test-connection-state=CONNECTED]")
    for mark in ("The tag “other”", "The tag “language conventions”", "“Done”"):
        expect(ann.get_by_text(f"{mark} on row {row} was not saved: set it again.")).to_be_visible()
    expect(ann.get_by_text(f"Your note on row {row} was not saved: “why <b>”.")).to_be_visible()
    expect(zoe.get_by_text("Your label on row 2n was not saved: “neutral”.")).to_be_visible()
    everywhere = "The tag “language conventions” on filter gold = neutral was not saved: set it again."
    expect(ann.get_by_text(everywhere)).to_be_visible()
    come_to_rest(ann)
    until(lambda: pressed(ann, "other") and "ann" in marks().get("other", ()))
    expect(ann.get_by_text("2 changes", exact=True)).to_be_visible()
    expect(ann.locator(".pl-terms").first).to_have_text("Signed in asann")
    assert marks() == {"misled by noise": {"ann", "bob"}, "other": {"ann", "bob"}}
    assert connections(group, 1) >= VISITORS, "everybody is on the server that is left"
    for one in visitors:
        one.close()
    for page in (ann, bob, zoe):
        page.context.close()


def test_a_backup_restores_tags_and_predictions(group, monkeypatch):
    """Backup and restore with the scripts of deploy/, on the state left by the tests above."""
    monkeypatch.setenv("PAIRLENS_DB", group.settings["PAIRLENS_DB"])
    monkeypatch.setenv("PAIRLENS_DESK", group.settings["PAIRLENS_DESK"])
    file, backups = group.run.dataset.sha256, group.folder / "backups"
    backups.mkdir()
    annotations = Annotations(open_database())
    annotations.give("carol", file, "1e", "other")
    before, runs = annotations.state(file).rows, store.runs()
    open_room(open_database(), "carol", "test-light")
    (backups / "pairlens-20200101-000000.dump").write_text("an old one")
    os.utime(backups / "pairlens-20200101-000000.dump", (0, 0))
    made = subprocess.run([DEPLOY / "backup.sh", backups], capture_output=True, text=True, check=True)
    (name,) = {path.name.partition(".")[0] for path in backups.iterdir()}
    assert made.stdout.strip() == str(backups / name) and name != "pairlens-20200101-000000"

    annotations.give("carol", file, "1e", "other", False)
    annotations.note("mallory", file, "2n", "this was not there")
    shutil.rmtree(Path(group.settings["PAIRLENS_DESK"]) / "runs")
    assert store.runs() == []
    cut = backups / "pairlens-cut"
    cut.with_suffix(".dump").write_bytes((backups / f"{name}.dump").read_bytes())
    cut.with_suffix(".tar.gz").write_bytes((backups / f"{name}.tar.gz").read_bytes()[:-9])
    assert subprocess.run([DEPLOY / "restore.sh", cut], capture_output=True).returncode != 0
    assert annotations.state(file).row("2n").notes, "a backup that is cut off changes nothing"
    subprocess.run([DEPLOY / "restore.sh", backups / name], capture_output=True, check=True)
    assert Annotations(open_database()).state(file).rows == before and store.runs() == runs
    assert rooms_of(open_database(), "carol") == [], "a backup keeps no rooms"
