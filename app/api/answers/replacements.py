"""Replacements for words."""

from __future__ import annotations

from itertools import groupby

from app.api.endpoint import PairRequest, endpoint
from core.effects.offers import offers_for
from core.explain import explained
from core.json_types import JsonObject
from core.progress import Progress


@endpoint("offers", PairRequest)
def offers(asked: PairRequest, progress: Progress) -> JsonObject:
    """Replacement candidates for each word of each text, grouped by their relation to the word."""
    sides, note, done = explained(*asked.pair).sentences, "", 0
    words: list[list[dict[str, list[str]]]] = []
    for side in sides:
        of_side: list[dict[str, list[str]]] = []
        for token in asked.checkpoint.reader.tokens(side.text)[: len(side.tokens)]:
            progress(done, sum(len(each.tokens) for each in sides))
            done += 1
            found = offers_for(token.norm) if token.is_word else None
            listed = sorted(found.offers, key=lambda offer: offer.relation) if found else []
            groups = groupby(listed, key=lambda offer: offer.relation)
            of_side.append({relation: [offer.word for offer in group] for relation, group in groups})
            note = found.note if found else note
        words.append(of_side)
    return {"words": words, "note": note}
