"""Short word lists: groups of mutually exclusive nouns, colours, numbers, names and opposites."""

from __future__ import annotations

import functools
from pathlib import Path

from core.files import read_yaml
from core.json_types import JsonObject

LISTS = Path(__file__).with_name("word_lists.yaml")
IRREGULAR = {
    "child": "children", "person": "people", "foot": "feet", "mouse": "mice", "goose": "geese", "wolf": "wolves",
    "knife": "knives", "leaf": "leaves", "ox": "oxen", "deer": "deer", "sheep": "sheep", "salmon": "salmon",
    "moose": "moose", "fish": "fish", "bookshelf": "bookshelves", "reindeer": "reindeer", "human": "humans",
    "scarf": "scarves", "wife": "wives", "buffalo": "buffalo", "yo-yo": "yo-yos", "kangaroo": "kangaroos",
    "somebody": "", "shrimp": "shrimp", "thief": "thieves",
}  # fmt: skip


def plural(noun: str) -> str:
    """The plural of a count noun; a compound inflects its last word. Empty for nouns without one."""
    if " of " in noun:
        first, _, rest = noun.partition(" of ")
        return f"{plural(first)} of {rest}"
    *before, last = noun.split(" ")
    if last in IRREGULAR:
        ending = IRREGULAR[last]
    elif last.endswith("man") and last != "human":
        ending = f"{last[:-3]}men"
    elif last.endswith("y") and last[-2] not in "aeiou":
        ending = f"{last[:-1]}ies"
    elif last.endswith(("s", "x", "ch", "sh", "z")) or last in ("potato", "tomato", "mango", "mosquito"):
        ending = f"{last}es"
    else:
        ending = f"{last}s"
    return " ".join([*before, ending]) if ending else ""


def article(word: str) -> str:
    """ "a" or "an", depending on the sound at the start of the next word."""
    word = word.lower()
    sounds = word.startswith(("uni", "eu", "one", "use", "uku", "u-")) and not word.startswith(("unin", "unim"))
    silent = word.startswith(("hour", "honest", "heir", "8", "11", "18"))
    return "an" if silent or (word[:1] in ("a", "e", "i", "o", "u") and not sounds) else "a"


@functools.cache
def word_groups() -> JsonObject:
    """The lists by name."""
    return read_yaml(LISTS)
