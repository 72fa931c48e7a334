"""Server start-up: imports the pages' modules, loads the first model, and from then on returns unused memory."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.allocator import return_freed_memory, share_arenas

HAND_BACK = 20.0
"""Seconds between returns of unused memory; each traverses all objects created since the start."""
BETWEEN_DELETIONS = 600.0
"""Seconds between deletions of data that is kept for a day."""
UNDISTURBED = 60.0
"""Seconds for the first visitors' pages before WordNet and the second-opinion model are read: that takes three times as
long as everything before, and a page that needs them sooner reads them."""

MODULES = (
    "app.api.answers",
    "app.panels",
    "app.pair_form",
    "app.components",
    "app.explore.candidates",
    "app.explore.pairs_tried",
)
LATER = ("alembic.command",)
"""Modules that only some pages need, and would wait for."""


@asynccontextmanager
async def preloaded(app: object) -> AsyncIterator[None]:
    """A lifespan of the server: models load in a separate thread while the first browser loads Streamlit's files."""
    share_arenas()
    # Every visitor's page runs in a separate thread: with tensors as small as a pair's, more threads only wait for each
    # other. Read when torch is imported.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # The time a thread waits for another one's Python code, once more after each matrix product.
    sys.setswitchinterval(0.001)
    threading.Thread(target=return_memory, name="returning memory", daemon=True).start()
    threading.Thread(target=prepare, name="preloading", daemon=True).start()
    threading.Thread(target=forget_regularly, name="forgetting", daemon=True).start()
    yield


def return_memory() -> None:
    """Periodically returns unused memory to the system. Ended sessions are garbage that Python finds only by traversing
    all objects, which it does less often the more there are, and memory freed by visitors' threads is fragmented."""
    while True:
        time.sleep(HAND_BACK)
        gc.collect()
        return_freed_memory()


def forget_regularly() -> None:
    """Deletes data that is kept for a day, even if there are no visitors."""
    while True:
        time.sleep(BETWEEN_DELETIONS)
        forget()


def forget() -> None:
    """Deletes rooms, and unlisted models, that are more than a day old."""
    from core.checkpoint.unlisted import remove_old
    from core.desk.database import database_exists
    from core.errors import DeskError

    remove_old()
    with contextlib.suppress(DeskError):  # a page that needs the database says so
        if database_exists():
            from app.rooms.database import rooms
            from core.rooms.room import delete_old

            delete_old(rooms().engine)


def prepare() -> None:
    """Names the folder where features are kept from one start of the server to the next, and calls :func:`load`."""
    from core.adaptation.stored_features import STORE
    from core.desk.folders import shared_folder
    from core.errors import DeskError

    with contextlib.suppress(DeskError):  # a page that needs the folder shows the error
        STORE.folder = shared_folder() / "features"
    load()


def load() -> None:
    """Imports the pages' modules and lets the model that Explore opens with read a pair once; a little later reads
    WordNet, lets the second-opinion model read a pair, too, and reads ahead for the first model's adaptation.

    A model that cannot be read here is reported by the page that needs it.
    """
    from app.model_choice import offered, reads_pairs, second_opinion
    from core.adaptation.reading_ahead import read_ahead
    from core.card import is_external
    from core.checkpoint import CheckpointError, load_named
    from core.explain import explain
    from core.linguistics import LinguisticsError, import_nltk

    for module in MODULES:
        importlib.import_module(module)

    def read_once(name: str | None) -> None:
        with contextlib.suppress(CheckpointError):
            if name is not None:
                explain(load_named(name), "A sentence.", "A sentence.")

    cards = {name: model.card for name, model in offered(reads_pairs).items() if model.card is not None}
    name = next(iter(cards), None)
    read_once(name)
    # While Python traverses all objects for garbage, every thread waits, including those that send pages. The existing
    # objects are never garbage, but made this eight times slower: a third of a million belong to WordNet, and two
    # hundred thousand to transformers.
    gc.freeze()
    time.sleep(UNDISTURBED)
    for module in LATER:
        importlib.import_module(module)
    with contextlib.suppress(LinguisticsError):
        import_nltk()
        from core.linguistics.wordnet import lexicon

        lexicon()
    read_once(name and second_opinion(name, cards[name], cards))
    if name is not None and not is_external(cards[name]):  # an external model may take minutes
        with contextlib.suppress(CheckpointError):
            read_ahead(load_named(name))
    gc.freeze()
