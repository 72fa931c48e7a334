"""The rooms in the desk's database, for pages and for phones."""

from __future__ import annotations

import functools
import os
from typing import NamedTuple

from sqlalchemy import Engine

from core.desk.database import open_database
from core.desk.folders import desk_folder
from core.rooms.phones import Phones


class Rooms(NamedTuple):
    """The database, and the phones' side of its rooms."""

    engine: Engine
    phones: Phones


def rooms() -> Rooms:
    """The rooms of the database that this server uses. Raises DeskError if it cannot be used."""
    return _rooms(f"{os.environ.get('PAIRLENS_DB')} {desk_folder()}")


@functools.lru_cache(maxsize=2)
def _rooms(address: str) -> Rooms:
    engine = open_database()
    return Rooms(engine, Phones(engine))
