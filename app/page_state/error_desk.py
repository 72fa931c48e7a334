"""What the Error desk shows: everything but who looks at it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from app.page_state.codec import Codec, PageState, fits_a_link, one_of, parameter, whole_number
from core.desk.filters import LONGEST
from core.desk.run import MOST_MODELS
from core.desk.strongest_words import SAID
from core.effects.words import DROPPED

VIEWS = {
    "rows": "Rows",
    "scores": "Scores",
    "slices": "Slices",
    "words": "Strongest words",
    "against": "A against B",
    "tags": "Tags",
    "files": "Export and import",
}
"""Parts of the page by their name in a link."""

_CHECKSUM = re.compile(r"[0-9a-f]{16}")


def _file(text: str) -> str | None:
    return text if _CHECKSUM.fullmatch(text) else None


def _models(text: str) -> tuple[str, ...] | None:
    models = tuple(text.split("."))
    return models if len(models) <= MOST_MODELS and all(map(_CHECKSUM.fullmatch, models)) else None


_NO_FILE = "The link names the file “{}”, which is no checksum: choose a run."
_NO_MODELS = "The link names the models “{}”, which are no checksums: choose a run."
_NO_VIEW = f"The link asks for “{{}}”; known are {', '.join(VIEWS)}: the rows are shown."
_NO_WAY = f"The link takes words away by “{{}}”; known are {' and '.join(SAID)}: they are dropped."
_NO_MODEL = "The link asks for model “{}”; a run has one to four: the first is shown."


@dataclass(frozen=True)
class DeskState(PageState):
    """All that decides what the Error desk shows. ``file`` and ``models`` are beginnings of checksums, ``row`` the key
    of the open row, ``way`` how words are taken away whose effects are the strongest, ``of`` the place, from 1, of the
    model that figures are about; ``sort`` a column, with a - before it for descending."""

    page = "error desk"
    file: str | None = parameter(None, Codec("file", _NO_FILE, _file))
    models: tuple[str, ...] = parameter((), Codec("models", _NO_MODELS, _models, ".".join))
    view: str = parameter("rows", Codec("view", _NO_VIEW, one_of(VIEWS)), belongs_to=("file",))
    filter: str = parameter("", Codec("filter", value=lambda text: text[:LONGEST]), belongs_to=("file",))
    sort: str = parameter("", Codec("sort"), belongs_to=("file",))
    row: str = parameter("", Codec("row"), belongs_to=("file",))
    of: int = parameter(1, Codec("of", _NO_MODEL, whole_number(1, MOST_MODELS)), belongs_to=("file", "models"))
    way: str = parameter(DROPPED, Codec("way", _NO_WAY, one_of(SAID)), belongs_to=("file",))

    def address(self) -> dict[str, str]:
        """A filter that is too long for a link stays out of the address."""
        whole = self.to_parameters()
        return whole if fits_a_link(whole) else replace(self, filter="").to_parameters()
