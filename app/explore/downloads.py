"""Explore's numbers as files, each computed on download, because effects may take longer than the page."""

from __future__ import annotations

import functools
import re
from dataclasses import replace

from app import page_style
from app.api.answers.effects import cut_links
from app.explore import asking, drawing, what_if
from app.explore.answering import Answered
from core.effects.jacobians import has_jacobians
from core.errors import UserError
from core.evidence.edges import link_edges
from core.evidence.effects import Effects, LinkEffects, links_csv


def draw(answered: Answered) -> None:
    """Draws the download links."""
    page, stem, explanation = answered.page, drawing.stem(answered), answered.shown
    method = asking.shown_method(answered)
    page_style.download("All numbers (JSON)", lambda: _everything(answered), f"pairlens-{stem}.json")
    file = f"pairlens-effects-{method}-{stem}.csv"
    page_style.download("Effects of words (CSV)", lambda: _words(answered).to_csv(), file)
    if page.links:
        page_style.download(
            "Effects of links (CSV)", lambda: _links_csv(answered), f"pairlens-links-{page.links}-{stem}.csv"
        )
    if page.believed:
        measured = f"pairlens-faithfulness-{stem}.csv"
        page_style.download("Faithfulness (CSV)", lambda: answered.question.faithfulness().to_csv(), measured)
    if page.jacobians and has_jacobians(answered.checkpoint):
        integrated = f"pairlens-integrated-jacobians-{stem}.csv"
        page_style.download(
            "Integrated Jacobians (CSV)", lambda: answered.question.shares().to_csv(answered.trained), integrated
        )
    for record in (record for record in explanation.evidence if record.tabular):
        make = functools.partial(record.to_csv, explanation)
        file = re.sub(r"\W+", "-", f"pairlens {record.title.lower()}") + f"-{stem}.csv"
        page_style.download(f"{page_style.capital(record.title)} (CSV)", make, file)
    if len(answered.steps) > 1:
        make_list = functools.partial(what_if.to_csv, answered.checkpoint, answered.steps)
        page_style.download("What if (CSV)", make_list, f"pairlens-what-if-{stem}.csv")


def _everything(answered: Answered) -> str:
    page, explanation = answered.page, answered.shown
    try:
        effects = _words(answered).with_links(_links(answered) if page.links else ())
        evidence = (*explanation.evidence, effects, *([answered.question.faithfulness()] if page.believed else []))
    except UserError:  # shown on the page
        evidence = explanation.evidence
    return replace(explanation, evidence=evidence).to_json(indent=1)


def _words(answered: Answered) -> Effects:
    return answered.question.words(asking.shown_method(answered))


def _links(answered: Answered) -> tuple[LinkEffects, ...]:
    return cut_links(answered.question, answered.page.links)


def _links_csv(answered: Answered) -> str:
    cut = _links(answered)
    return links_csv(cut, [link_edges(one, answered.trained) for one in cut])
