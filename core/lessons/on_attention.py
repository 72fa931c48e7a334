"""Sources for the lessons on attention in trained models: local attention's windows, a transformer's heads, and the
agreement of attention with people."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from core.data.alignments import AlignedPair
from core.evaluation.alignment import above, agreement, none_of, strengths
from core.evidence import AttentionMap
from core.explain import explain
from core.external.between import between
from core.external.model import CrossEncoder
from core.external.pieces import Pieces
from core.json_types import JsonMapping
from core.layers.heads import Head, parse_head
from core.lessons.lesson import Lesson, LessonError, Values
from core.lessons.on_cards import accuracies, alignment, figures, people_words
from core.lessons.on_checkpoints import checkpoint_of, read
from core.lessons.on_pairs import who_looks_at_what
from core.lessons.sources import Evaluated, source
from core.models.intervention import Intervention
from core.models.rnn.attention import LookingBack
from core.models.rnn.chained import ChainedRNN

ENDS = 0.1
"""A predicted position within this share of the premise's length from an end counts as an end."""
MOST_LINKS = 12
"""Maximum number of hypothesis words whose alignments can be entered."""


@source("local attention")
@torch.inference_mode()
def local_attention(lesson: Lesson) -> Evaluated:
    """Input ``word``: number of the hypothesis word to follow, from 1. Requires a model with a predicted window.
    Positions in the premise count from 0, as in the model."""
    pair = read(lesson)
    model, trace, batch = pair.checkpoint.model, pair.output.trace, pair.batch
    layer = model.attention if isinstance(model, ChainedRNN) else None
    if not isinstance(layer, LookingBack) or layer.place is None:
        raise LessonError(f"{pair.checkpoint.name} predicts no window: name another checkpoint in the lesson")
    asking, premise = trace.hypothesis, trace.premise
    words = premise.shape[1]
    t = lesson.position("word", asking.shape[1])
    places = layer.centres(asking, batch.first.mask)[0]
    match, scores = layer.match(asking, premise)[0, t], trace.scores[0, t]
    inside = trace.reach[0, t].nonzero()[:, 0].tolist()
    weights = trace.weights[0, t]
    best = int(weights.argmax())
    shares = (places / words).tolist()
    names, accuracy = accuracies(lesson.compared)
    values: Values = {
        "word": float(t + 1),
        "S": float(words),
        "D": float(layer.half_width),
        "share": shares[t],
        "places": places.tolist(),
        "first": float(inside[0]),
        "last": float(inside[-1]),
        "inside": float(len(inside)),
        "match": match[inside].tolist(),
        "at": float(best),
        "top": float(inside.index(best) + 1),
        "nearness": (scores - match)[best].item(),
        "score": scores[inside].tolist(),
        "alpha": weights[inside].tolist(),
        "h_1": premise[0, inside, 0].tolist(),
        "c": trace.contexts[0, t].tolist(),
        "ends": float(sum(min(share, 1 - share) < ENDS for share in shares)),
        "words": float(len(shares)),
        **accuracy,
    }
    inside_words = [pair.words["y"][i] for i in inside]
    return Evaluated(values, pair.words | {"window": inside_words, "models": names}, pair.checkpoint.name)


@source("transformer heads")
@torch.inference_mode()
def transformer_heads(lesson: Lesson) -> Evaluated:
    """Input ``word``: number of the second sentence's word to follow, from 1. Follows the head named on the model's
    card, the one that attends most within the sentence and the one that attends most to special tokens. Requires a
    transformer that reads both texts together."""
    checkpoint = checkpoint_of(lesson)
    model = checkpoint.model
    scores = checkpoint.card.get("alignment")
    by_head = scores.get("heads") if scores else None
    shown = parse_head(by_head["head"]) if by_head else None
    if not isinstance(model, CrossEncoder) or not scores or not by_head or not isinstance(shown, Head):
        raise LessonError(f"{checkpoint.name} has no measured head: name another checkpoint in the lesson")
    pair = read(lesson)
    pieces = cast(Pieces, pair.batch)
    layers = model.under(pieces, Intervention(head=str(shown))).trace.layers
    every = torch.stack([layer[0] for layer in layers]).double()  # [layers, heads, P, P]
    _, second = between(every, pieces)
    i = lesson.position("word", len(pair.words["x"]))
    across, own, special = second.weights.sum(-1), second.own, second.special  # [layers, heads, words] each
    within, at_special = (_largest(values.mean(-1)) for values in (own, special))
    of_words = pieces.of_words[len(pair.words["y"]) : -1].to(every)  # [words, P]
    row = of_words[i] @ every[within.layer, within.number] @ of_words.T / of_words[i].sum()
    best = second.weights[shown.layer, shown.number]
    measured = scores["results"][scores["fixed_on"]]
    ranked = sorted(by_head["f1"], key=by_head["f1"].__getitem__, reverse=True)
    names, accuracy = accuracies(lesson.compared)
    values: Values = {
        "word": float(i + 1),
        "layers": float(every.shape[0]),
        "heads": float(every.shape[1]),
        "matrices": float(every.shape[0] * every.shape[1]),
        "pieces": float(every.shape[-1]),
        "cells": float(every.shape[-1] ** 2),
        "layer": float(shown.layer + 1),
        "head": float(shown.number + 1),
        "alpha": best.tolist(),
        "looks": [float(n + 1) for n in best.argmax(-1).tolist()],
        "kinds": [part[shown.layer, shown.number, i].item() for part in (across, own, special)],
        "across": across[shown.layer, shown.number].mean().item(),
        "layer_sum": across[0].mean(-1).sum().item(),
        "by_layer": across.mean((1, 2)).tolist(),
        "all_across": across.mean().item(),
        **_followed("within", within, own),
        "own_row": row.tolist(),
        "own_sum": row.sum().item(),
        **_followed("special", at_special, special),
        "special_words": special[at_special.layer, at_special.number].tolist(),
        "pairs": float(measured["pairs"]),
        "same_words": measured["identical_words"]["f1"],
        "all_f1": [by_head["f1"][head] for head in ranked],
        "both": measured["precision"] * measured["links"],
        "links": float(measured["links"]),
        "sure": float(measured["sure"]),
        **accuracy,
    }
    words = pair.words | {
        "kinds": ["the other", "its own", "special"],
        "layers": [str(n + 1) for n in range(len(every))],
        "ranked": ranked,
        "models": names,
    }
    return Evaluated(values, words, checkpoint.name)


def _largest(values: Tensor) -> Head:
    """The head with the largest of ``values [layers, heads]``."""
    layer, number = divmod(int(values.argmax()), values.shape[1])
    return Head(layer, number)


def _followed(name: str, head: Head, given: Tensor) -> Values:
    """A head and its mean over the words; ``given [layers, heads, words]``."""
    mean = given[head.layer, head.number].mean().item()
    return {f"{name}_layer": head.layer + 1.0, f"{name}_head": head.number + 1.0, f"{name}_share": mean}


@source("agreement with people")
@torch.inference_mode()
def agreement_with_people(lesson: Lesson) -> Evaluated:
    """Inputs ``people``: for each of the first :data:`MOST_LINKS` words of the second sentence, the number of the first
    sentence's word that people link it to, 0 for none; ``threshold``: the smallest weight that makes a link."""
    checkpoint = checkpoint_of(lesson)
    texts = lesson.texts["first"], lesson.texts["second"]
    explanation = explain(checkpoint, *texts, records=(AttentionMap,))
    record = explanation.find(AttentionMap)
    if record is None or "alignment" not in checkpoint.card:
        raise LessonError(f"{checkpoint.name} was not compared with people: name another checkpoint in the lesson")
    looking, looked_at = (explanation.sentence(role) for role in (record.rows, record.columns))
    rows, columns = ([token.text for token in side.tokens] for side in (looking, looked_at))
    inputs: JsonMapping = lesson.inputs
    typed = [*inputs["people"][:MOST_LINKS], *[0] * len(rows)][: len(rows)]
    people = [min(len(columns), max(0, int(number))) for number in typed]
    threshold = float(inputs["threshold"])
    each = [[[i] for i in range(len(words))] for words in (rows, columns)]
    links = above(strengths(record.weights, none_of(record), *each), threshold)
    sure = frozenset((number - 1, i) for i, number in enumerate(people) if number)
    scores = agreement([links], [AlignedPair("", *texts, sure)])
    by_word = {i: j for j, i in links}
    card = checkpoint.card["alignment"]
    measured = card["results"][card["fixed_on"]]
    same = measured["identical_words"]
    names, found = figures(lesson.compared, alignment(card["fixed_on"]))
    methods, with_people = people_words(checkpoint.card, (looked_at.role, looking.role))
    values: Values = {
        "alpha": [list(row) for row in record.weights],
        "people": [float(number) for number in people],
        "threshold": threshold,
        "chosen": card["threshold"],
        "model": [by_word.get(i, -1) + 1.0 for i in range(len(rows))],
        "both": float(len(links & sure)),
        "links": float(scores["links"]),
        "sure": float(scores["sure"]),
        "links_or_sure": float(scores["links"] + scores["sure"]),
        "precision": scores["precision"],
        "recall": scores["recall"],
        "f1": scores["f1"],
        "all_f1": [same["f1"], *found],
        "same_both": same["precision"] * same["links"],
        "same_links": float(same["links"]),
        "all_sure": float(same["sure"]),
        "pairs": float(measured["pairs"]),
        **with_people,
    }
    several = who_looks_at_what(checkpoint, lesson.pairs)
    words = several.words | {
        "x": rows,
        "y": columns,
        "models": ["same words", *names],
        "methods": methods,
        "sides": [looked_at.role, looking.role],
    }
    return Evaluated(values | several.values, words, checkpoint.name)
