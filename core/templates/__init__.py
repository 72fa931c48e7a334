"""HTML by Jinja2: values in this folder's templates are escaped, unless they are Markup."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from core.wording import counted, percent, score_percent, shown

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters.update(
    {
        "counted": counted,
        "percent": percent,
        "shown": shown,
        "score_percent": score_percent,
        "thousands": "{:,}".format,
    }
)


def render(template: str, **values: object) -> Markup:
    """The template of this name with these values."""
    return Markup(_ENVIRONMENT.get_template(template).render(values))
