"""A client of the HTTP API, for measurements."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from core.errors import RunError
from core.json_types import JsonObject


@contextmanager
def asked(address: str, kind: str, body: JsonObject, client: str) -> Iterator[http.client.HTTPResponse]:
    """The response to a question, whose connection is closed afterwards. Raises RunError where there is none."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=300)
    try:
        connection.request("POST", f"/api/{kind}", json.dumps(body), {"X-PairLens-Client": client})
        yield connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        raise RunError(f"{address}/api/{kind} did not answer ({error}): is the app running?") from error
    finally:
        connection.close()


def seconds_until_answered(address: str, kind: str, body: JsonObject, client: str) -> float:
    """Time from the request to the complete answer. Raises RunError if the answer is an error."""
    started = time.perf_counter()
    with asked(address, kind, body, client) as response:
        last = json.loads(response.read().splitlines()[-1])
    if "answer" not in last:
        raise RunError(f"{address}/api/{kind} answered: {last['error']}")
    return time.perf_counter() - started
