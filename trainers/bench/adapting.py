"""Adapting a model: time by the number of pairs, and memory for many."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from trainers.__main__ import main
from trainers.bench.models import LABELS, Measurement, Unmeasured, pairs_file

BASE = "nli-two-sided"
SECONDS = {200: 1.0, 3_000: 10.0}
"""Thresholds by the number of pairs, for reading them and fitting, on two quiet cores."""
MANY, FEATURES = 50_000, 800

_FIT = """
import re, sys, time, torch
from pathlib import Path
from core.adaptation.fits import Linear, fresh, pulled
count, features, new = map(int, sys.argv[1:])
torch.manual_seed(0)
x, y = torch.randn(count, features), torch.arange(count) % 3
x[:, 0] += y
started = time.perf_counter()
if new:
    fresh(x, y, (torch.arange(count) // 3 % 4).numpy())
else:
    pulled(Linear(torch.zeros(3, features), torch.zeros(3)), x, y, pull=count / 50)
seconds = time.perf_counter() - started
print(seconds, int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""


def adapting(quick: bool) -> Sequence[Measurement]:
    """Time of `adapt` after loading, and memory of a fit to many feature vectors, more than to a few."""
    _timed(25, 0)  # loads the model, its word vectors and SciPy
    rows = [_timed(count, bar) for count, bar in SECONDS.items()]
    for what, new in (("new classes", 1), ("the same classes", 0)):
        (_, few), (seconds, many) = (_fit(count, new) for count in (200, MANY // 10 if quick else MANY))
        name = f"fit to {MANY:,} x {FEATURES} features, {what}: memory more than for 200"
        rows.append(Measurement(name, many - few, "MB", 1000, note=f"{seconds:.0f} s"))
    return rows


def _timed(count: int, bar: float) -> Measurement:
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()) as told:
        file = pairs_file(Path(name, "pairs.jsonl"), count)
        labels = [part for label in LABELS for part in ("--label", f"{label}=own {label}")]
        status = main(["adapt", BASE, str(file), *labels, "--out", f"{name}/adapted"])
    found = re.search(r"([\d.]+) s;", told.getvalue())
    if status or found is None:
        raise Unmeasured(f"{BASE} could not be adapted")
    return Measurement(f"adapt {BASE} to {count:,} pairs, after loading", float(found[1]), "s", bar)


def _fit(count: int, new: int) -> tuple[float, float]:
    """Seconds and peak MB of a process that fits a classifier to made-up features."""
    command = [sys.executable, "-c", _FIT, str(count), str(FEATURES), str(new)]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, env=os.environ, cwd=root, capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes
