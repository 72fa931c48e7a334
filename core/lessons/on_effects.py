"""Sources for the lessons on explaining a verdict: several methods applied to a trained model's verdict on a pair."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np
import torch
from scipy.spatial.distance import jensenshannon
from torch import Tensor

from core.effects import gradients
from core.effects.adversary import adversary
from core.effects.faithfulness import logits_under, moved, own_maps, permutations, uniform
from core.effects.links import Taken, link_effects, without
from core.effects.methods import METHODS
from core.effects.methods.removal import MIX
from core.effects.question import Question
from core.effects.words import SAMPLING, TAKEN_AWAY, places
from core.evaluation.suites import CLASSES, SUITES
from core.evidence import AttentionMap
from core.evidence.effects import LinkEffects, WordEffect
from core.evidence.matrix import matrix
from core.json_types import JsonMapping
from core.lessons.lesson import Lesson, LessonError, Values
from core.lessons.on_cards import by_looking, figures, people_words
from core.lessons.on_checkpoints import checkpoint_of, words_of
from core.lessons.sources import Evaluated, source
from core.shared_cache import SharedCache

_KEPT: SharedCache[Evaluated] = SharedCache(32)
"""Slow results by pair, shared by all steps of a lesson and all sessions."""


def _asked(lesson: Lesson) -> Question:
    texts = lesson.texts["first"], lesson.texts["second"]
    return Question(checkpoint_of(lesson), *texts, SAMPLING)


def _known(compute: Callable[[Question], Evaluated], asked: Question) -> Evaluated:
    key = (compute, asked.checkpoint.folder, asked.checkpoint.state, asked.first, asked.second)
    return _KEPT(key, lambda: compute(asked))


def _probabilities(asked: Question, rows: Tensor) -> list[float]:
    """Class probabilities with this attention in the model."""
    with torch.inference_mode():
        shares: list[float] = torch.softmax(logits_under(asked, [[rows]]).double(), dim=1)[0].tolist()
    return shares


@source("moved attention")
def moved_attention(lesson: Lesson) -> Evaluated:
    """Inputs ``word`` and ``link``: numbers of the second sentence's word to follow and of its link, from 1; the
    lesson's ``pairs`` are measured as well. Requires a model with a single map, with the second sentence's words as
    rows."""
    asked = _asked(lesson)
    known = _known(_moved, asked)
    i = lesson.position("word", len(known.words["x"]))
    j = lesson.position("link", len(known.words["y"]))
    (links,) = own_maps(asked)
    cell = torch.tensor([i * links.values.shape[-1] + j])
    rows = {"permuted_row": known.values["permuted"][i], "order": known.values["orders"][i]}  # type: ignore[index]
    values = known.values | rows | {"word": float(i + 1), "link": float(j + 1)}
    for taken in Taken:
        (cut,) = without(links, cell, taken)
        after = _probabilities(asked, cut)
        name = taken.value
        values[f"{name}_row"] = cut[i].tolist()
        values[f"{name}_y"] = after
        values[f"{name}_log"] = math.log(after[asked.target])
        values[f"{name}_effect"] = math.log(asked.explanation.probabilities[asked.target] / after[asked.target])
    several = [_known(_moved, Question(asked.checkpoint, *pair, SAMPLING)) for pair in lesson.pairs]
    names, looks = figures(lesson.compared, by_looking)
    values |= _over_pairs(several) | {"looks": list(looks)}
    return Evaluated(values, known.words | _named_pairs(several) | {"models": names}, known.checkpoint)


def _over_pairs(several: Sequence[Evaluated]) -> Values:
    """The effect of moved attention on each pair, and the mean."""
    rows = [one.values for one in several]
    by_pair = {
        f"class_{name}": [float(row[name]) for row in rows]  # type: ignore[arg-type]
        for name in ("changed", "flat_moves", "apart", "found")
    }
    means: Values = {f"{name}_mean": fmean(numbers) for name, numbers in by_pair.items()}
    kept = sum(row["flat_stays"] for row in rows)  # type: ignore[misc]
    return {
        **by_pair,
        **means,
        "class_found": sum(by_pair["class_found"]),
        "class_kept": kept,
        "class": float(len(rows)),
    }


def _named_pairs(several: Sequence[Evaluated]) -> dict[str, list[str]]:
    """The pairs' numbers with the first letter of each verdict."""
    verdicts = [one.words["classes"][int(one.values["target"]) - 1] for one in several]  # type: ignore[arg-type]
    return {"pairs": [f"{number} {verdict}" for number, verdict in enumerate(verdicts, 1)]}


def _moved(asked: Question) -> Evaluated:
    maps = own_maps(asked)
    if len(maps) != 1 or maps[0].values.dim() != 2:
        raise LessonError(f"{asked.checkpoint.name} has no single map of words: name another checkpoint in the lesson")
    (links,) = maps
    own = asked.explanation.probabilities
    of_permuted = moved(asked, maps, seed=0)
    first = permutations(maps, seed=0)[0][0]
    orders = links.values.argsort(1).gather(1, first.argsort(1).argsort(1)) + 1.0
    # Without a time limit, so that a lesson shows the same numbers on every machine.
    found = adversary(asked, seconds=math.inf)
    other = found.maps[0] if found is not None and found.maps else matrix(links.values)
    after = list(found.probabilities) if found is not None and found.maps else list(own)
    effects = link_effects(asked.checkpoint, asked.reading, asked.target, Taken.RENORMALISED)
    apart = jensenshannon(links.values.double(), other, axis=1) ** 2
    values: Values = {
        "alpha": links.values.tolist(),
        "y": list(own),
        "target": float(asked.target + 1),
        "log": math.log(own[asked.target]),
        "permuted": first.tolist(),
        "orders": orders.tolist(),
        "permuted_y": _probabilities(asked, first),
        "changed": float(of_permuted.changed),
        "of": float(of_permuted.permutations),
        "mean_y": list(of_permuted.mean),
        "moves": of_permuted.total_variation,
        "flat": uniform(links).tolist(),
        "flat_y": list(of_permuted.uniform),
        "flat_moves": _total_variation(own, of_permuted.uniform),
        "flat_stays": float(of_permuted.uniform.index(max(of_permuted.uniform)) == asked.target),
        "other": [list(row) for row in other],
        "other_y": after,
        "variation": _total_variation(own, after),
        "found": float(found is not None and bool(found.maps)),
        "apart_rows": apart.tolist(),
        "apart": 0.0 if found is None else found.divergence,
        "most_apart": math.log(2),
        **_order(effects[0]),
    }
    return Evaluated(values, words_of(asked.checkpoint, asked.reading), asked.checkpoint.name)


def _order(effects: LinkEffects) -> Values:
    """Kendall's τ-b of weight and size of effect, 0 if undefined, and its terms: the numbers of pairs of links that
    both order in the same way, in the opposite way, and that are ``untied`` in weight and in effect."""
    weights, sizes = (np.ravel(rows) for rows in (effects.before, np.abs(np.array(effects.effects, dtype=float))))
    by_weight, by_size = (np.sign(np.subtract.outer(numbers, numbers)) for numbers in (weights, sizes))
    both = by_weight * by_size
    return {
        "same_order": float((both > 0).sum() / 2),
        "opposite_order": float((both < 0).sum() / 2),
        "untied": [np.count_nonzero(signs) / 2 for signs in (by_weight, by_size)],
        "tau_b": effects.tau_b or 0.0,
    }


def _total_variation(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2


@source("ways to ask why")
def ways(lesson: Lesson) -> Evaluated:
    """Inputs ``word``: number of the second sentence's word to follow, from 1; ``votes``: how many students chose each
    of its words (0 for words beyond the list); ``class_votes``: how many chose each class. The ``label`` of a pair from
    our suites has a 1 at its class."""
    inputs: JsonMapping = lesson.inputs
    asked = _asked(lesson)
    known = _known(_ways, asked)
    words = len(known.words["x"])
    i = lesson.position("word", words)
    votes = [max(0.0, float(number)) for number in [*inputs["votes"], *[0] * words][:words]]
    of_class = [max(0.0, float(number)) for number in inputs["class_votes"]]
    decides = int(known.values["decides"])  # type: ignore[arg-type]
    label = _labels().get((_plain(asked.first), _plain(asked.second)))
    poll: Values = {
        "word": float(i + 1),
        "votes": votes,
        "votes_all": sum(votes),
        "votes_for": votes[decides - 1],
        "class_votes": of_class,
        "class_votes_all": sum(of_class),
        "class_shares": [number / (sum(of_class) or 1) for number in of_class],
        "label": [float(name == label) for name in known.words["classes"]],
        "labelled": float(label in known.words["classes"]),
    }
    return Evaluated(known.values | poll, known.words, known.checkpoint)


@functools.cache
def _labels() -> dict[tuple[str, str], str]:
    """The labels of the pairs in our hand-written suites."""
    rows = [row for suite in SUITES.values() for row in suite.pairs.rows if row.label in CLASSES]
    return {(_plain(row.first), _plain(row.second)): row.label or "" for row in rows}


def _plain(text: str) -> str:
    return text.casefold().strip(" .")


def _ways(asked: Question) -> Evaluated:
    second = len(asked.sides) - 1
    role = asked.sides[second].role
    words = METHODS[TAKEN_AWAY].effects(asked, places(asked.sides, second)).words
    by_way = {way: [word.by_way.get(way, 0.0) for word in words] for way in MIX}
    taken = _numbers(words)
    by_gradient, completeness = {}, (0.0, 0.0)
    for method in _GRADIENTS:
        effects, whole, _ = gradients.word_effects(asked.checkpoint, asked.reading, asked.target, method)
        by_gradient[method] = _numbers([word for word in effects if word.role == role])
        completeness = whole or completeness
    maps = [
        np.array(record.weights)
        for record in asked.explanation.evidence
        if isinstance(record, AttentionMap) and record.columns == role
    ]
    rows = np.vstack(maps) if maps else np.zeros((1, len(words)))
    received = rows.sum(0).tolist()
    answers = [taken, *by_way.values(), *(by_gradient[method] for method in _GRADIENTS), received]
    named = [float(numbers.index(max(numbers)) + 1) for numbers in answers]
    own = asked.explanation.probabilities
    with_people, people = people_words(asked.checkpoint.card, [side.role for side in asked.sides])
    values: Values = {
        "y": list(own),
        "log": math.log(own[asked.target]),
        **people,
        **by_way,
        "taken": taken,
        **{f"{way}_logs": [math.log(own[asked.target]) - effect for effect in by_way[way]] for way in MIX},
        "share": [MIX[way] for way in MIX],
        **{name: by_gradient[method] for method, name in _GRADIENTS.items()},
        "squares": [norm**2 for norm in by_gradient[gradients.NORM]],
        "path_sum": sum(by_gradient[gradients.INTEGRATED]),
        "path_premise": completeness[0] - sum(by_gradient[gradients.INTEGRATED]),
        "sum": completeness[0],
        "whole": completeness[1],
        "received": received,
        "received_from": rows.T.tolist(),
        "decides": named[0],
        "named": named,
        "agree": float(sum(place == named[0] for place in named[1:])),
        "others": float(len(named) - 1),
    }
    names = words_of(asked.checkpoint, asked.reading) | {"ways": list(_WAYS), "methods": with_people}
    return Evaluated(values, names, asked.checkpoint.name)


_GRADIENTS = {gradients.NORM: "norm", gradients.INTEGRATED: "path"}
"""Their names in lessons."""
_WAYS = ("taken away", "dropped", "frequent", "related", "nudged", "gradient", "integrated", "attention")
"""In the order of the values they label."""


def _numbers(words: Sequence[WordEffect]) -> list[float]:
    return [0.0 if word.effect is None else word.effect for word in words]
