"""ESIM (Chen et al. 2017, section 3)."""

from tests.loops.arithmetic import (
    add,
    affine,
    bilstm,
    classified,
    dot,
    largest,
    mean,
    projected,
    relu,
    scaled,
    softmax,
    tanh,
)


def esim(model, first, contexts, judged, extra):
    a, b = (bilstm(model.encoder, projected(model, side)) for side in (first, contexts[0]))
    scores = [[dot(word, other) for other in a] for word in b]  # equation 11
    second = [softmax(row) for row in scores]
    weights = [softmax(row) for row in zip(*scores, strict=True)]
    pooled = []
    for own, other, looks in ((a, b, weights), (b, a, second)):
        states = []
        for word, row in zip(own, looks, strict=True):
            c = scaled(row, other)  # equations 12 and 13
            difference, product = add(word, [-v for v in c]), [p * q for p, q in zip(word, c, strict=True)]
            states.append(relu(affine(model.compare, word + c + difference + product)))  # equations 14 and 15
        read = bilstm(model.composition, states)
        pooled += mean(read) + largest(read)  # equations 18 and 19
    turned = [list(row) for row in zip(*scores, strict=True)]
    maps = [("second", "first", scores, second), ("first", "second", turned, weights)]
    out = classified(model, tanh(affine(model.layer, pooled)), extra)
    return {**out, "scores": scores, "second": second, "first": weights, "records": {"maps": maps}}


LOOPS = {"esim": esim}
CHOICES = {"esim": [{"classes": 2}, {"extra": "entailment"}]}
