"""Verb forms for generated pairs: builds each tense from past, base and participle, for subjects of either number."""

from __future__ import annotations

import re
from dataclasses import dataclass

TENSES = {
    "past": ("past", "past progressive"),
    "present": ("present", "progressive"),
    "perfect": ("perfect",),
    "future": ("future",),
}
"""Tenses that may be combined in one sentence."""
CONTRACTED = re.compile(r"\b(is|are|was|were|do|does|did|has|have|had) not\b")


@dataclass(frozen=True)
class Verb:
    """Past, base and participle; for two-word verbs each form has both words."""

    past: str
    base: str
    participle: str

    @property
    def third(self) -> str:
        """The third person: "chases", "carries", "looks at"."""
        head, *rest = self.base.split(" ")
        if head.endswith("y") and head[-2] not in "aeiou":
            head = f"{head[:-1]}ies"
        else:
            head += "es" if head.endswith(("s", "x", "ch", "sh", "z", "o")) else "s"
        return " ".join([head, *rest])

    @property
    def progressive(self) -> str:
        """The form in -ing: "chasing", "hitting", "lying"."""
        head, *rest = self.base.split(" ")
        if head.endswith("ie"):
            head = f"{head[:-2]}y"
        elif head.endswith("e") and not head.endswith("ee"):
            head = head[:-1]
        elif re.fullmatch(r"[^aeiou]*(u?)[aeiou][^aeiouwxy]", head) or head in ("forget", "begin", "outrun", "kidnap"):
            head += head[-1]
        return " ".join([f"{head}ing", *rest])


def groups(verb: Verb, tense: str, plural: bool) -> dict[str, str]:
    """The verb group (``V``), its negation (``N``), its passive (``P``) and the passive's negation (``NP``)."""
    is_, was, has, does = ("are", "were", "have", "do") if plural else ("is", "was", "has", "does")
    present, done, doing = verb.base if plural else verb.third, verb.participle, verb.progressive
    table = {
        "past": (verb.past, f"did not {verb.base}", f"{was} {done}", f"{was} not {done}"),
        "past progressive": (f"{was} {doing}", f"{was} not {doing}", f"{was} being {done}", f"{was} not being {done}"),
        "present": (present, f"{does} not {verb.base}", f"{is_} {done}", f"{is_} not {done}"),
        "progressive": (f"{is_} {doing}", f"{is_} not {doing}", f"{is_} being {done}", f"{is_} not being {done}"),
        "perfect": (f"{has} {done}", f"{has} not {done}", f"{has} been {done}", f"{has} not been {done}"),
        "future": (f"will {verb.base}", f"will not {verb.base}", f"will be {done}", f"will not be {done}"),
    }  # fmt: skip
    return dict(zip(("V", "N", "P", "NP"), table[tense], strict=True))


def contracted(text: str) -> str:
    """Contracts "is not", "did not" and "will not" to "isn't", "didn't" and "won't"."""
    return CONTRACTED.sub(r"\1n't", text).replace("will not", "won't")
