"""Two-sided attentive convolution (the equations of core/models/two_sided.py)."""

import math

from tests.loops.arithmetic import (
    affine,
    centred,
    dot,
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


def crossings(weights, i):
    """q_i."""
    places = [sum(j * w for j, w in enumerate(row[:-1])) / (1 - row[-1]) for row in weights]
    total = 0.0
    for k, row in enumerate(weights):
        if k != i:
            beyond = places[k] - places[i] if k < i else places[i] - places[k]
            total += (1 - weights[i][-1]) * (1 - row[-1]) * sigmoid([4 * beyond - 2])[0]
    return total / max(1, len(weights) - 1)


def compared_words(model, texts):
    """Of each text, for each word what is compared, [x; c; x ∘ c; |x - c|; 5 q] as five lists, and g."""
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
        ours, theirs, weights = words[x], words[1 - x], []
        for i in range(len(ours)):
            scores = []
            for j in range(len(theirs)):
                rivals = null + sum(math.exp(s(x, k, j)) for k in range(len(ours)))
                scores.append(s(x, i, j) - config.rivalry * (math.log(rivals) - tau * config.null_match))
            weights.append(softmax([*scores, tau * config.null_match]))
        states = []
        for i, word in enumerate(ours):
            context = scaled(weights[i], [*theirs, model.null_word.tolist()])
            product = [a * b for a, b in zip(word, context, strict=True)]
            difference = [abs(a - b) for a, b in zip(word, context, strict=True)]
            seen = word, context, product, difference, [5 * crossings(weights, i)]
            states.append((seen, relu(affine(model.compare, [v for part in seen for v in part]))))
        return states

    return side(0), side(1)


def two_sided(model, first, contexts, judged, extra):
    def filters(states):
        words, width = [g for _, g in states], model.config.width
        return largest([tanh(affine(model.convolution, centred(words, i, width))) for i in range(len(words))])

    of_first, of_second = compared_words(model, (first, contexts[0]))
    pooled = filters(of_first) + filters(of_second)
    features = pooled if model.layer is None else relu(affine(model.layer, pooled))
    return {"logits": affine(model.classifier, features), "features": features, "pooled": pooled}


LOOPS = {"two-sided": two_sided}
CHOICES = {
    "two-sided": [
        {"layer": 4},
        {"width": 5, "neighbours": 0.0, "place": 1.0, "rivalry": 0.0, "null_match": -0.3},
    ]
}
