"""Who may open the app: this machine alone, unless a person asks for more."""

import subprocess
import tomllib
from pathlib import Path

import psutil

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
