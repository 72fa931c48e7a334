"""Models on processors of another kind than this one, and how the threads of a process wait."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from core import processor
from core.layers.recurrent import BiLSTM, read_packed, recurrent
from core.models.phrases.alignment import PhraseGRU
from core.openmp import SPINS
from core.processor import native_bf16
from tests.models import every_settings

ROOT = Path(__file__).resolve().parents[1]
AVX2 = {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
"""Environment that makes oneDNN and torch treat any x86 processor like a typical laptop's."""


def fresh(command, **more):
    """A separate process, without settings of how threads wait."""
    environment = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT",)}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env={**environment, **more}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done


def test_every_model_runs_in_mixed_precision_on_a_processor_with_avx2_alone():
    done = fresh(["-m", "tests.emulated_bf16"], **AVX2, OMP_NUM_THREADS="1", OMP_DISPLAY_ENV="VERBOSE")
    told = json.loads(done.stdout)
    assert not told["native"] and len(told["errors"]) == len(every_settings())
    assert [line for line in told["errors"] if not line[2] <= 0.05] == []
    if sys.platform.startswith("linux"):  # libgomp prints what it has read of its environment
        assert f"GOMP_SPINCOUNT = '{SPINS}'" in done.stderr


def test_threads_wait_asleep_at_every_entry_point_but_not_after_a_plain_import():
    """An entry point leaves alone what the user has set."""
    told = json.loads(fresh(["-m", "tests.entry_points"]).stdout)
    assert told.pop("import core") == [{}, {"GOMP_SPINCOUNT": "7"}, {"OMP_WAIT_POLICY": "7"}]
    assert len(told) == 6
    for name, seen in told.items():
        assert seen == [{"GOMP_SPINCOUNT": SPINS}, {"GOMP_SPINCOUNT": "7"}, {"OMP_WAIT_POLICY": "7"}], name


@pytest.fixture
def emulating(monkeypatch):
    """This processor, whatever it is, as one that has no products in bf16."""
    monkeypatch.setattr("core.layers.recurrent.native_bf16", lambda: False)


def last_states(network):
    """A function of words and mask, as BiLSTM and PhraseGRU are, that reads them packed."""
    return lambda words, mask: read_packed(network, words, mask)


@pytest.mark.parametrize(
    "made",
    [
        lambda: BiLSTM(6, 5),
        lambda: PhraseGRU(6, 5),
        lambda: last_states(nn.LSTM(6, 5, batch_first=True)),
        lambda: last_states(nn.GRU(6, 5, batch_first=True)),
    ],
    ids=["BiLSTM", "phrases", "LSTM", "GRU"],
)
def test_recurrent_cells_stay_in_float32_where_bf16_is_emulated(made, emulating):
    torch.manual_seed(0)
    read, words, mask = made(), torch.randn(3, 7, 6), torch.arange(7) < torch.tensor([[7], [2], [5]])
    words = words.bfloat16()  # as a projection under autocast hands them over
    expected, _ = states_and_rest(read(words.float(), mask))
    with torch.autocast("cpu", torch.bfloat16):
        states, _ = states_and_rest(read(words, mask))
    assert states.dtype == torch.float32 and torch.equal(states, expected)


def states_and_rest(out):
    return out if isinstance(out, tuple) else (out, None)


def test_recurrent_cells_take_mixed_precision_where_bf16_is_native(monkeypatch):
    monkeypatch.setattr("core.layers.recurrent.native_bf16", lambda: True)
    layer = nn.Linear(4, 4)
    with torch.autocast("cpu", torch.bfloat16):
        assert recurrent(layer)(torch.randn(2, 4)).dtype == torch.bfloat16


@pytest.fixture
def undetermined():
    native_bf16.cache_clear()
    yield
    native_bf16.cache_clear()


@pytest.mark.parametrize(("single", "half", "native"), [(0.002, 0.001, True), (0.001, 0.003, False)])
def test_a_processor_reported_to_have_bf16_is_tested(single, half, native, undetermined, monkeypatch):
    """AVX-512 without BF16 is one that oneDNN takes it from and emulates."""
    asked = []

    def seconds(product):
        asked.append(product().dtype)
        return half if asked[-1] == torch.bfloat16 else single

    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    monkeypatch.setattr(processor, "fastest", seconds)
    with torch.autocast("cpu", torch.bfloat16):  # as a model's first step may ask
        assert native_bf16() is native
    assert native_bf16() is native and sorted(map(str, asked)) == ["torch.bfloat16", "torch.float32"]


def test_a_processor_reported_without_bf16_has_none(undetermined, monkeypatch):
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    monkeypatch.setattr(processor, "fastest", lambda product: pytest.fail("measured"))
    assert native_bf16() is False
