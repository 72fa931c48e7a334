"""The requests of phones, in the threads that may wait for the database."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from app.api.refusals import Refused, sentence
from app.palette import class_colours
from app.rooms.database import rooms
from core.checkpoint import available, listed_once, load_named
from core.checkpoint.unlisted import Folders
from core.desk.schema import clean
from core.errors import DeskError, UserError
from core.json_types import JsonObject, checked
from core.rooms import questions
from core.rooms.phones import Phones, shown_pair
from core.rooms.room import NoRoom, TooFast

R = TypeVar("R")

MOST_NUMBER = 2**31 - 1
"""The largest number of a round or a pair, in PostgreSQL."""
LISTED = 5.0
"""Seconds for which the list of checkpoints holds."""


@dataclass(frozen=True)
class Join:
    """A phone joins a room."""

    nickname: str = ""
    word: str = ""


@dataclass(frozen=True)
class GivenGuess:
    """A guess in a round."""

    round: int
    value: str


@dataclass(frozen=True)
class SentPair:
    """A pair with the class that its author thinks is right."""

    round: int
    first: str
    second: str
    label: str


@dataclass(frozen=True)
class OfPair:
    """Request for the sentence about one of the phone's own pairs."""

    pair: int


@dataclass(frozen=True)
class Check:
    """A classmate's label of a pair, or "unsure"."""

    pair: int
    label: str


def refusing(ask: Callable[[Phones], R]) -> R:
    """Asks the rooms. Raises Refused instead of a user's errors."""
    try:
        return ask(rooms().phones)
    except NoRoom as error:
        raise Refused(404, sentence(str(error))) from None
    except TooFast as error:
        raise Refused(429, sentence(str(error)), error.wait) from None
    except DeskError as error:
        raise Refused(503, sentence(str(error)), 5.0) from None
    except UserError as error:
        raise Refused(422, sentence(str(error))) from None


def state(phones: Phones, code: str, token: str) -> JsonObject:
    """What a phone shows, with the colours of the round's classes."""
    return _coloured(phones.state(code, token))


def join(phones: Phones, code: str, token: str, body: JsonObject) -> JsonObject:
    """Lets a phone in, and returns what it shows."""
    asked = _checked(body, Join)
    return _coloured(phones.join(code, token, asked.nickname, asked.word))


def guess(phones: Phones, code: str, token: str, body: JsonObject) -> JsonObject:
    """Takes a guess."""
    asked = _checked(body, GivenGuess)
    phones.guess(code, token, asked.round, asked.value)
    return {}


def check(phones: Phones, code: str, token: str, body: JsonObject) -> JsonObject:
    """Takes a classmate's label."""
    asked = _checked(body, Check)
    phones.check(code, token, asked.pair, asked.label)
    return {}


def pair(phones: Phones, code: str, token: str, body: JsonObject) -> JsonObject:
    """Puts a pair to the model, and stores it with the verdict; or returns it as it was answered before."""
    sent = _checked(body, SentPair)
    asked, author, known = phones.prepare(code, token, sent.round, sent.first, sent.second, sent.label)
    if known is None:
        with listed_once(_folders()):
            verdict, chance = questions.verdict(load_named(asked.model), sent.first, sent.second)
        known = phones.keep(asked, author, (sent.first, sent.second), sent.label, verdict, chance)
    return shown_pair(known)


def explain(phones: Phones, code: str, token: str, body: JsonObject) -> JsonObject | Callable[[Phones], JsonObject]:
    """The sentence about a phone's pair, which is found once; or a function that finds it, if that takes long."""
    asked, sent = phones.own_pair(code, token, _checked(body, OfPair).pair)
    if sent.sentence:
        return {"sentence": sent.sentence}

    def find(phones: Phones) -> JsonObject:
        with listed_once(_folders()):
            said = questions.sentence(load_named(asked.model), sent.first, sent.second)
        phones.explain(sent, said)
        return {"sentence": said}

    with listed_once(_folders()):
        quick = questions.is_quick(load_named(asked.model), sent.first, sent.second)
    return find(phones) if quick else find


ACTS = {"join": join, "guess": guess, "check": check, "pair": pair, "sentence": explain}
"""What a phone does, by the last part of the address."""


def _coloured(shown: JsonObject) -> JsonObject:
    asked = shown.get("round")
    if not asked or not asked.get("classes"):
        return shown
    colours = class_colours([one["name"] for one in asked["classes"]])
    classes = [{**one, "colours": shades} for one, shades in zip(asked["classes"], colours, strict=True)]
    return {**shown, "round": {**asked, "classes": classes}}


def _folders() -> Folders:
    """The checkpoint folders, read again only every few seconds, because listing them takes as long as a verdict."""
    return _listing(int(time.monotonic() // LISTED))


@functools.lru_cache(maxsize=1)
def _listing(moment: int) -> Folders:
    return available()


def _checked(body: JsonObject, kind: type[R]) -> R:
    """A phone's request, without characters that databases cannot store. Raises Refused, also for numbers too large for
    a database."""
    if any(isinstance(value, int) and abs(value) > MOST_NUMBER for value in body.values()):
        raise Refused(422, "No round and no pair has this number: load the page again.")
    try:
        return checked(
            {name: clean(text, len(text)) if isinstance(text, str) else text for name, text in body.items()}, kind
        )
    except ValueError as error:
        raise Refused(422, sentence(str(error))) from None
