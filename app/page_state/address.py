"""What the addresses of all pages over one pair have in common: the model, the sentences, and what is too long.

Wrong values each give one sentence and a fallback; nothing here raises for what a person may have typed into an
address.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from app.examples import Example, by_slug, matching
from core.files import parse_json

LINK_LIMIT = 2000
"""Characters of a query string that browsers, mail and chat programs pass on whole."""

PAGES = ("explore", "phrases", "filter map")
"""The pages that save their texts as a file; each opens the first pair of the others'."""


def asked_model(
    parameters: Mapping[str, str], models: Sequence[str], default: str | None, problems: list[str], kind: str = "model"
) -> str | None:
    """The model of this address, or ``default`` where it names none of ``models``."""
    asked = parameters.get("model")
    if asked is None or asked in models:
        return asked or default
    instead = f"no {kind} is installed" if default is None else f"{default} is shown instead"
    problems.append(f"The link asks for the {kind} “{short(asked)}”, which is not here: {instead}.")
    return default


def asked_pair(parameters: Mapping[str, str], examples: Sequence[Example], problems: list[str]) -> tuple[str, str]:
    """Both sentences of this address: its own, those of the example that it names, or of the first example."""
    if "first" in parameters or "second" in parameters:
        return parameters.get("first", ""), parameters.get("second", "")
    slug = parameters.get("example", examples[0].slug)
    example = by_slug(slug, examples)
    if example is None:
        problems.append(f"The link asks for the example “{short(slug)}”, which does not exist: the first is shown.")
        example = examples[0]
    return example.first, example.second


def pair_parameters(first: str, second: str, examples: Sequence[Example]) -> dict[str, str]:
    """A pair's part of an address; an example's pair is named by its slug, which keeps the link short."""
    example = matching(first, second, examples)
    return {"first": first, "second": second} if example is None else {"example": example.slug}


def short_enough(parameters: dict[str, str]) -> dict[str, str] | None:
    """The parameters, or None when they are too long for a link."""
    return parameters if len(urlencode(parameters, errors="replace")) <= LINK_LIMIT else None


def to_file(page: str, first: str, second: str, parameters: Mapping[str, str]) -> str:
    """JSON text that :func:`read_file` opens again."""
    rest = {name: value for name, value in parameters.items() if name not in ("example", "first", "second")}
    saved = {"pairlens": page, "version": 1, "first": first, "second": second, **rest}
    return json.dumps(saved, ensure_ascii=False, indent=1)


def read_file(page: str, text: str) -> tuple[dict[str, str] | None, list[str]]:
    """Parameters of a saved file (of another page's file the pair alone), or None and one sentence when it is none."""
    try:
        data = parse_json(text)
    except ValueError:
        data = None
    if not isinstance(data, dict) or data.get("pairlens") not in PAGES or data.get("version") != 1:
        return None, ["This file was not saved by this page: choose one that “Save and open” wrote."]
    mine = data["pairlens"] == page
    return {k: v for k, v in data.items() if isinstance(v, str) and (mine or k in ("first", "second"))}, []


def short(text: str, limit: int = 40) -> str:
    """The beginning of a text, to quote it in a sentence."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
