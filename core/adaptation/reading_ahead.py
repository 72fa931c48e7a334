"""Computes in the background the features that the first adaptation of a base would wait for: its features of the
suites and of the pairs to keep, which take seconds."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Hashable, Sequence

from core.adaptation.features import GradualFeatures, gradual_kept_features
from core.adaptation.what_changed import gradual_suites
from core.checkpoint import Checkpoint
from core.evaluation.probe import suits
from core.lazy import import_alone

_LOG = logging.getLogger(__name__)
_LOCK, _TURN = threading.Lock(), threading.Lock()
"""Guards :data:`_STARTED`; held by the thread that reads, because several at once would slow the pages."""
_STARTED = set[Hashable]()
"""The bases that are being read or are queued."""


def read_ahead(base: Checkpoint) -> None:
    """Starts reading in the background, unless everything has been read or a thread is already reading. It pauses after
    each block, so that pages stay responsive; an adaptation that needs the features reads the rest at once."""
    key = base.folder, base.state
    with _LOCK:
        if key in _STARTED or all(features.complete for features in _needed(base)):
            return
        _STARTED.add(key)
    threading.Thread(target=_read, args=(base, key), name="reading ahead", daemon=True).start()


def _needed(base: Checkpoint) -> Sequence[GradualFeatures]:
    return [*([gradual_suites(base)] if suits(base.card) else ()), gradual_kept_features(base)]


def _read(base: Checkpoint, key: Hashable) -> None:
    try:
        with _TURN:
            for features in _needed(base):
                started = time.thread_time()
                while features.read_block():
                    time.sleep((time.thread_time() - started) / 2)
                    started = time.thread_time()
            # scipy to fit the classifier, pandas to show what changed by it
            for package in ("scipy.sparse.csgraph", "scipy.optimize", "scipy.stats", "pandas"):
                import_alone(package)
    except Exception:  # the adaptation will run into the error again, and report it on the page
        _LOG.warning("%s could not be read ahead", base.name, exc_info=True)
    finally:
        with _LOCK:
            _STARTED.discard(key)
