"""Two-sided attentive convolution (the equations of core/models/two_sided.py)."""

import math

from tests.loops.arithmetic import add, affine, centred, dot, largest, matvec, projected, relu, scaled, softmax, tanh


def direction(model, word):
    """m."""
    out = matvec(model.match.weight, word)
    return [v / math.sqrt(dot(out, out)) for v in out]


def two_sided(model, first, contexts, judged, extra):
    tau, place, u = model.temperature.exp().item(), model.place.item(), model.null_match.tolist()
    gamma = 1 / (1 + math.exp(-model.rivalry.item()))
    beside = dict(zip((-1, 1, -2, 2), model.beside.tolist(), strict=True))
    texts = first, contexts[0]
    words = [projected(model, text) for text in texts]
    m = [[direction(model, word) for word in text.tolist()] for text in texts]
    n = [[tau * (dot(u, v) + model.null_bias.item()) for v in side] for side in m]

    def s(x, i, j):
        """The match of word i of side x with word j of the other side."""
        ours, theirs = m[x], m[1 - x]
        total = dot(ours[i], theirs[j])
        for k, weight in beside.items():
            if 0 <= i + k < len(ours) and 0 <= j + k < len(theirs):
                total += weight * dot(ours[i + k], theirs[j + k])
        return tau * (total - place * abs((i + 0.5) / len(ours) - (j + 0.5) / len(theirs)))

    def compared(x):
        ours, theirs, states = words[x], words[1 - x], []
        for i, word in enumerate(ours):
            scores = []
            for j in range(len(theirs)):
                rivals = math.exp(n[1 - x][j]) + sum(math.exp(s(x, k, j)) for k in range(len(ours)))
                scores.append(s(x, i, j) - gamma * (math.log(rivals) - n[1 - x][j]))
            weights = softmax([*scores, n[x][i]])
            context = scaled(weights, [*theirs, model.null_word.tolist()])
            product = [a * b for a, b in zip(word, context, strict=True)]
            difference = [abs(a - b) for a, b in zip(word, context, strict=True)]
            seen = centred(ours, i, model.config.width) + context + product + difference
            states.append(tanh(affine(model.convolution, seen)))
        return largest(states)

    pooled = add(compared(0) + compared(1))
    features = pooled if model.layer is None else relu(affine(model.layer, pooled))
    return {"logits": affine(model.classifier, features), "features": features, "pooled": pooled}


LOOPS = {"two-sided": two_sided}
CHOICES = {"two-sided": [{"layer": 4}, {"width": 5}]}
