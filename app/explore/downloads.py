"""Explore's numbers as files, each computed on download, because effects may take longer than the page."""

from __future__ import annotations

import functools
import re
from dataclasses import replace

from app import page_style
from app.api.answers.effects import cut_links
from app.explore import asking, drawing, what_if
from app.explore.reading import Read
from core.effects.jacobians import has_jacobians
from core.errors import UserError
from core.evidence.edges import link_edges
from core.evidence.effects import Effects, LinkEffects, links_csv


def draw(read: Read) -> None:
    """Draws the download links."""
    page, stem, explanation = read.page, drawing.stem(read), read.shown
    method = asking.shown_method(read)
    page_style.download("All numbers (JSON)", lambda: _everything(read), f"pairlens-{stem}.json")
    file = f"pairlens-effects-{method}-{stem}.csv"
    page_style.download("Effects of words (CSV)", lambda: _words(read).to_csv(), file)
    if page.links:
        page_style.download(
            "Effects of links (CSV)", lambda: _links_csv(read), f"pairlens-links-{page.links}-{stem}.csv"
        )
    if page.believed:
        measured = f"pairlens-faithfulness-{stem}.csv"
        page_style.download("Faithfulness (CSV)", lambda: read.question.faithfulness().to_csv(), measured)
    if page.jacobians and has_jacobians(read.checkpoint):
        integrated = f"pairlens-integrated-jacobians-{stem}.csv"
        page_style.download(
            "Integrated Jacobians (CSV)", lambda: read.question.shares().to_csv(read.trained), integrated
        )
    for record in (record for record in explanation.evidence if record.tabular):
        make = functools.partial(record.to_csv, explanation)
        file = re.sub(r"\W+", "-", f"pairlens {record.title.lower()}") + f"-{stem}.csv"
        page_style.download(f"{page_style.capital(record.title)} (CSV)", make, file)
    if len(read.steps) > 1:
        make_list = functools.partial(what_if.to_csv, read.checkpoint, read.steps)
        page_style.download("What if (CSV)", make_list, f"pairlens-what-if-{stem}.csv")


def _everything(read: Read) -> str:
    page, explanation = read.page, read.shown
    try:
        effects = _words(read).with_links(_links(read) if page.links else ())
        evidence = (*explanation.evidence, effects, *([read.question.faithfulness()] if page.believed else []))
    except UserError:  # shown on the page
        evidence = explanation.evidence
    return replace(explanation, evidence=evidence).to_json(indent=1)


def _words(read: Read) -> Effects:
    return read.question.words(asking.shown_method(read))


def _links(read: Read) -> tuple[LinkEffects, ...]:
    return cut_links(read.question, read.page.links)


def _links_csv(read: Read) -> str:
    cut = _links(read)
    return links_csv(cut, [link_edges(one, read.trained) for one in cut])
