"""Two-sided attentive convolution (the equations of core/models/two_sided.py)."""

import math

from tests.loops.arithmetic import (
    affine,
    centred,
    dot,
    filters,
    largest,
    matvec,
    projected,
    relu,
    scaled,
    sigmoid,
    softmax,
    tanh,
)


def direction(model, word):
    """m."""
    return [v / math.sqrt(2 * dot(out, out)) for out in (word, matvec(model.match.weight, word)) for v in out]


def crossed_by(weights, i):
    """The terms of q_i, one per other word."""
    places = [sum(j * w for j, w in enumerate(row[:-1])) / (1 - row[-1]) for row in weights]
    terms = []
    for k, row in enumerate(weights):
        beyond = places[k] - places[i] if k < i else places[i] - places[k]
        terms.append(0.0 if k == i else (1 - weights[i][-1]) * (1 - row[-1]) * sigmoid([4 * beyond - 2])[0])
    return terms


def crossings(weights, i):
    """q_i."""
    return sum(crossed_by(weights, i)) / max(1, len(weights) - 1)


def compared_words(model, texts):
    """Of each text, for each word what is compared, [x; c; x ∘ c; |x - c|; 5 q] as five lists, and g; and of each text
    its scores and weights."""
    tau, config = model.temperature.exp().item(), model.config
    null = math.exp(tau * config.null_match)
    words = [projected(model, text) for text in texts]
    m = [[direction(model, word) for word in text.tolist()] for text in texts]

    def s(x, i, j):
        """The match of word i of side x with word j of the other side."""
        ours, theirs = m[x], m[1 - x]
        total = dot(ours[i], theirs[j])
        for k in (-2, -1, 1, 2):
            if 0 <= i + k < len(ours) and 0 <= j + k < len(theirs):
                total += config.neighbours / abs(k) * dot(ours[i + k], theirs[j + k])
        return tau * (total - config.place * abs((i + 0.5) / len(ours) - (j + 0.5) / len(theirs)))

    def side(x):
        ours, theirs, weights, matches = words[x], words[1 - x], [], []
        for i in range(len(ours)):
            scores = []
            for j in range(len(theirs)):
                rivals = null + sum(math.exp(s(x, k, j)) for k in range(len(ours)))
                scores.append(s(x, i, j) - config.rivalry * (math.log(rivals) - tau * config.null_match))
            matches.append(scores)
            weights.append(softmax([*scores, tau * config.null_match]))
        states = []
        for i, word in enumerate(ours):
            context = scaled(weights[i], [*theirs, model.null_word.tolist()])
            product = [a * b for a, b in zip(word, context, strict=True)]
            difference = [abs(a - b) for a, b in zip(word, context, strict=True)]
            seen = word, context, product, difference, [5 * crossings(weights, i)]
            states.append((seen, relu(affine(model.compare, [v for part in seen for v in part]))))
        return states, (matches, weights)

    (first, of_first), (second, of_second) = side(0), side(1)
    return (first, second), (of_first, of_second)


STEPS = 2000
"""Points on the straight path from no filters to all, for shares through a hidden layer."""


def shares_of(model, pooled):
    """Integrated gradients of each logit from filters that are all 0, ``[2K][C]``, summed over points of the path."""
    rows = model.classifier.weight.tolist()
    if model.layer is None:
        return [[row[k] * value for row in rows] for k, value in enumerate(pooled)]
    slopes, starts = matvec(model.layer.weight, pooled), model.layer.bias.tolist()
    on = [sum(b + (n + 0.5) / STEPS * s > 0 for n in range(STEPS)) / STEPS for s, b in zip(slopes, starts, strict=True)]
    units = [[row[k] * value for k, value in enumerate(pooled)] for row in model.layer.weight.tolist()]
    return [
        [sum(w * o * u[k] for w, o, u in zip(row, on, units, strict=True)) for row in rows] for k in range(len(pooled))
    ]


def compared_terms(model, seen, g):
    """For each filter the terms of the central word's part: from what is compared, and from the bias."""
    size, rows, half = len(g), model.compare.weight.tolist(), model.config.width // 2
    terms = [[] for _ in range(len(model.convolution.bias))]
    for k, weights in enumerate(model.convolution.weight.tolist()):
        own, start = weights[half * size : (half + 1) * size], 0
        for part in seen:
            inner = [dot(row[start : start + len(part)], part) for row in rows]
            terms[k].append(sum(w * v for w, v, on in zip(own, inner, g, strict=True) if on > 0))
            start += len(part)
        terms[k].append(sum(w * b for w, b, on in zip(own, model.compare.bias.tolist(), g, strict=True) if on > 0))
    return terms


def two_sided(model, first, contexts, judged, extra):
    def largest_of(states):
        words, width = [g for _, g in states], model.config.width
        return largest([tanh(affine(model.convolution, centred(words, i, width))) for i in range(len(words))])

    (of_first, of_second), maps = compared_words(model, (first, contexts[0]))
    pooled = largest_of(of_first) + largest_of(of_second)
    features = pooled if model.layer is None else relu(affine(model.layer, pooled))
    weights, bias, shares = model.convolution.weight.tolist(), model.convolution.bias.tolist(), shares_of(model, pooled)
    own = {"first": (of_first, shares[: len(bias)]), "second": (of_second, shares[len(bias) :])}
    made = {
        side: filters(
            [g for _, g in states],
            weights,
            bias,
            centred=True,
            shares=theirs,
            compared=[compared_terms(model, seen, g) for seen, g in states],
        )
        for side, (states, theirs) in own.items()
    }
    records = {
        "maps": [("second", "first", *maps[1]), ("first", "second", *maps[0])],
        "filters": {side: [one] for side, one in made.items()},
        "crossed_by": [[crossed_by(rows, i) for i in range(len(rows))] for _, rows in maps[::-1]],
    }
    out = {"logits": affine(model.classifier, features), "features": features, "pooled": pooled}
    return {**out, "records": records}


LOOPS = {"two-sided": two_sided}
CHOICES = {
    "two-sided": [
        {"layer": 4},
        {"width": 5, "neighbours": 0.0, "place": 1.0, "rivalry": 0.0, "null_match": -0.3},
    ]
}
