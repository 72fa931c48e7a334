"""Tables and sentences on a card's `python -m trainers align` results. Does not import torch, so pages open fast."""

from __future__ import annotations

from collections.abc import Mapping

from core.card import CardAlignment, CardWordScores, LinkScores
from core.layers.heads import title_of

CAPTION = (
    "Each word of the second sentence links to the word of the first with its largest weight, if that is above a "
    "threshold (fixed on {fixed_on}) and above the null word’s, where a model has one. F1, precision, recall and "
    "alignment error rate over people’s sure links. Last columns: the share of content words that look most at a "
    "function word or a sign, and the mean entropy of a word’s weights in nats. Identical words: equal words are "
    "linked; if several match, the nearest in relative position."
)
"""How to read :func:`table`."""

_HEAD = ("set", "links", "F1", "precision", "recall", "AER", "content words on function words", "entropy")


def table(results: Mapping[str, CardWordScores]) -> list[dict[str, str]]:
    """Table rows for the ``results`` of a card's ``alignment``: for each set the links from the target's words, and the
    identical-words baseline."""
    rows = []
    for name, scores in results.items():
        links = f"largest weight, above {_decimals(scores['threshold'], 2)}"
        apart = _decimals(scores["content_on_function"]), f"{scores['entropy']:.2f}"
        rows.append(dict(zip(_HEAD, (name, links, *_figures(scores), *apart), strict=True)))
        baseline = _figures(scores["identical_words"])
        rows.append(dict(zip(_HEAD, (name, "identical words", *baseline, "–", "–"), strict=True)))
    return rows


def _figures(scores: LinkScores) -> list[str]:
    return [_decimals(share) for share in (scores["f1"], scores["precision"], scores["recall"], scores["aer"])]


def in_one_line(stored: CardAlignment) -> str:
    """F1 on the set on which the card's ``alignment`` threshold was tuned. A transformer's head was also selected
    there, so for heads the next set is used if there is one."""
    name = stored["fixed_on"]
    if heads := stored.get("heads"):
        name = next((other for other in stored["results"] if other != name), name)
        f1 = _decimals(stored["results"][name]["f1"], 2)
        return f"{title_of(heads['head'])}: F1 {f1} against people’s word alignments ({name})"
    return f"F1 {_decimals(stored['results'][name]['f1'], 2)} against people’s word alignments ({name})"


def _decimals(share: float, digits: int = 3) -> str:
    """Formats as .754 or 1.000."""
    return f"{share:.{digits}f}".removeprefix("0")
