"""Sources for the lessons with two-dimensional vectors: the models' own layers with the lesson's weights."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from core.json_types import JsonMapping
from core.layers.attention import attention_weights
from core.lessons.lesson import Lesson, Values
from core.lessons.sources import Evaluated, source
from core.models.rnn.attention import LookingBack, WordByWord
from core.models.rnn.chained import Combination
from core.models.rnn.transformer import places


def tensor(values: object) -> Tensor:
    """Double precision: a lesson shows the exact value, not one rounded to float32."""
    return torch.tensor(values, dtype=torch.float64)


def put(layer: nn.Linear | None, values: object) -> None:
    """Sets a layer's weights to a matrix in the slides' notation, to the right of the row vector it multiplies."""
    assert layer is not None
    with torch.no_grad():
        layer.weight.copy_(tensor(values).T)


@torch.no_grad()
def _look_back(score: str, given: JsonMapping, mean: bool = False) -> tuple[list[float], list[float], list[float]]:
    """Scores, weights and context of h_C over the premise's states, computed by the trained models' layer."""
    states, last = tensor(given["h"]), tensor(given["h_C"])
    layer = LookingBack(len(last), score, mean).double()
    if score == "general":
        layer.match.w.copy_(tensor(given["W_a"]))
    elif score == "concat":
        whole, size = tensor(given["W_s"]).T, len(last)
        layer.match.w.copy_(whole[:, :size])
        layer.match.u.copy_(whole[:, size:])
        layer.match.v.copy_(tensor(given["v"]))
    mask = torch.ones(1, len(states), dtype=torch.bool)
    looking = layer(last[None, None], states[None], mask)
    scores, weights, context = (part[0, 0].tolist() for part in (looking.scores, looking.weights, looking.contexts))
    return scores, weights, context


def _classes(combined: Tensor, given: JsonMapping) -> Values:
    logits = combined @ tensor(given["W"]) + tensor(given["b"])
    return {"logit": logits.tolist(), "y": torch.softmax(logits, 0).tolist()}


def shares(scores: list[float]) -> Values:
    """The exponentials in a softmax, and their sum."""
    exponents = [math.exp(score) for score in scores]
    return {"exp": exponents, "total": sum(exponents)}


@source("global attention")
@torch.no_grad()
def global_attention(lesson: Lesson) -> Evaluated:
    """``h`` and ``h_C``, with ``W_k`` of the combination, ``W`` and ``b`` of the classifier, ``W_a`` of the general
    score, ``W_s`` and ``v`` of the concat score."""
    inputs: JsonMapping = lesson.inputs
    scores, weights, mean = _look_back("dot", inputs, mean=True)
    _, _, context = _look_back("dot", inputs)
    combination = Combination("concat", len(mean)).double()
    assert combination.both is not None
    put(combination.both, inputs["W_k"])
    combined = combination(tensor(mean), tensor(inputs["h_C"]))
    inner = (combination.both(torch.cat([tensor(mean), tensor(inputs["h_C"])]))).tolist()
    general, general_weights, _ = _look_back("general", inputs)
    concat, concat_weights, _ = _look_back("concat", inputs)
    turned = (tensor(inputs["h_C"]) @ tensor(inputs["W_a"])).tolist()
    last = inputs["h_C"]
    joint = torch.tanh(torch.stack([tensor([*last, *state]) for state in inputs["h"]]) @ tensor(inputs["W_s"]))
    values = {
        **inputs, "score": scores, **shares(scores), "alpha": weights, "n": float(len(scores)),
        "times": math.exp(min(max(scores) - min(scores), 700)),
        "weighted": [[a * v for v in state] for a, state in zip(weights, inputs["h"], strict=True)],
        "kappa": mean, "kappa_sum": context, "inner": inner, "combo": combined.tolist(), **_classes(combined, inputs),
        "turned": turned, "general": general, "general_alpha": general_weights, "joint": joint.tolist(),
        "concat": concat, "concat_alpha": concat_weights,
    }  # fmt: skip
    return Evaluated(values)


@source("word by word")
@torch.no_grad()
def word_by_word(lesson: Lesson) -> Evaluated:
    """``h`` and the hypothesis' states ``h_A``, ``h_B``, ``h_C``, with ``W_h``, ``w``, ``W_a`` and ``W_k``."""
    inputs: JsonMapping = lesson.inputs
    states, size = tensor(inputs["h"]), len(inputs["h_A"])
    layer = WordByWord(size, "concat", mean=False).double()
    put(layer.state, inputs["W_h"][:size])
    put(layer.context, inputs["W_h"][size:])
    put(layer.match, [[number] for number in inputs["w"]])
    put(layer.carry, inputs["W_a"])
    asking = tensor([inputs[name] for name in ("h_A", "h_B", "h_C")])[None]
    mask = torch.ones(1, len(states), dtype=torch.bool)
    looking = layer(asking, states[None], mask)
    context_a, _, context_c = looking.contexts[0]
    query_input = torch.cat([tensor(inputs["h_B"]), context_a])
    asked = query_input @ tensor(inputs["W_h"])
    carried = context_a @ tensor(inputs["W_a"])
    combination = Combination("concat", size).double()
    assert combination.both is not None
    put(combination.both, inputs["W_k"])
    combined = combination(context_c, tensor(inputs["h_C"]))
    values: Values = {
        **inputs,
        "asked": asked.tolist(),
        "inner": (states + asked).tolist(),
        "M": torch.tanh(states + asked).tolist(),
        "score": looking.scores[0, 1].tolist(),
        "alpha": looking.weights[0].tolist(),
        **{f"alpha_{word}": row for word, row in zip("ABC", looking.weights[0].tolist(), strict=True)},
        "seen": (looking.weights[0, 1] @ states).tolist(),
        "carried": carried.tolist(),
        "left": torch.tanh(carried).tolist(),
        **{f"kappa_{word}": row for word, row in zip("ABC", looking.contexts[0].tolist(), strict=True)},
        "combo": combined.tolist(),
    }
    return Evaluated(values)


@source("softmax")
@torch.no_grad()
def softmax(lesson: Lesson) -> Evaluated:
    """``score`` (several numbers), the ``scale`` that multiplies and the ``tau`` that divides them, and ``added``."""
    inputs: JsonMapping = lesson.inputs

    def weights(scores: list[float]) -> list[float]:
        mask = torch.ones(1, len(scores), dtype=torch.bool)
        return attention_weights(tensor(scores)[None, None], mask)[0, 0].tolist()

    scores = [float(score) for score in inputs["score"]]
    changed = {
        "scaled": [inputs["scale"] * score for score in scores],
        "cooled": [score / inputs["tau"] for score in scores],
        "shifted": [score + inputs["added"] for score in scores],
    }
    best, *others = sorted(scores, reverse=True)
    lead = best - others[0]
    values: Values = {
        **inputs,
        **shares(scores),
        "alpha": weights(scores),
        "factor": math.exp(inputs["added"]),
        "lead": lead,
        "times": math.exp(lead),
        **changed,
        **{f"{name}_alpha": weights(own) for name, own in changed.items()},
        "scaled_times": math.exp(inputs["scale"] * lead),
    }
    return Evaluated(values)


@source("transformer step")
@torch.no_grad()
def transformer_step(lesson: Lesson) -> Evaluated:
    """Self-attention over words ``x`` with two numbers each, for the last word: inputs plus positions, scores divided
    by √d, weights and the weighted sum; and the weights of every word over all words."""
    inputs: JsonMapping = lesson.inputs
    words = tensor(inputs["x"])
    at = places(len(words), words)
    placed = words + at
    size = words.shape[1]
    *before, own = placed
    others = torch.stack(before)
    products = others @ own
    scores = products / math.sqrt(size)
    weights = attention_weights(scores[None, None], torch.ones(1, len(before), dtype=torch.bool))[0, 0]
    everyone = torch.ones(1, len(placed), dtype=torch.bool)
    values: Values = {
        **inputs,
        "all": attention_weights((placed @ placed.T / math.sqrt(size))[None], everyone)[0].tolist(),
        "p": at.tolist(),
        "input": placed.tolist(),
        "product": products.tolist(),
        "root": math.sqrt(size),
        "d": float(size),
        "score": scores.tolist(),
        "alpha": weights.tolist(),
        "weighted": (weights[:, None] * others).tolist(),
        "c": (weights @ others).tolist(),
    }
    return Evaluated(values)
