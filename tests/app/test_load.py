"""Visitors without a browser, as the benchmark of load has them, on a real server."""

from contextlib import closing

import psutil
import pytest

from core.checkpoint import load_named
from core.errors import RunError
from trainers.bench.visitors import Phase, TimedVerdict, Visitor, pairs, phase


def test_simultaneous_visitors_get_the_same_answers_as_a_single_one(server):
    """Each of three opens two pairs, as fast as they are answered."""
    process = next(one.pid for one in psutil.net_connections("tcp") if one.laddr and one.laddr.port == port(server))
    own = phase(server, "test-light", 3, 2, pairs(), every=0, process=psutil.Process(process))
    assert own.errors == [] and own.apart < 1e-6
    assert len(own.seconds) == 6 and 0 < max(own.seconds) < 60
    assert len(own.effects) == 6 and 0 < max(own.effects) < 60
    for row, seconds in zip(own.rows(), (own.seconds, own.effects), strict=True):
        assert min(seconds) <= row.value <= max(seconds)
    assert own.memory > 100e6


def port(address):
    return int(address.rpartition(":")[2])


def test_a_wrong_answer_is_an_error(checkpoints):
    own = Phase(1)
    own.check(load_named("test-light"), [TimedVerdict("a dog", "a cat", (0.2, 0.3, 0.5), 0.1)])
    assert len(own.errors) == 1 and "instead of" in own.errors[0]


def test_a_missing_app_is_reported():
    own = phase("http://127.0.0.1:9", "test-light", 2, 1, pairs(), every=0)
    assert len(own.errors) == 2 and "check that the app runs there" in own.errors[0]


def test_a_server_that_stops_answering_is_reported(server):
    with closing(Visitor(server, patience=0.01)) as visitor, pytest.raises(RunError, match="did not answer"):
        visitor.open(model="test-light", first="a dog", second="a cat")


def test_many_pairs_are_all_different():
    assert len(set(pairs())) == len(list(pairs())) > 1_000
