"""Decomposable Attention (Parikh et al. 2016, section 3)."""

from tests.loops.arithmetic import add, affine, classified, dot, projected, relu, scaled, softmax


def two_layers(layers, vector):
    return relu(affine(layers.outer, relu(affine(layers.inner, vector))))


def own_attention(model, words):
    """Each word joined with its context in its own sentence (section 3.4), and its weights."""
    keys, bias, weights = [two_layers(model.own, word) for word in words], model.distance.tolist(), []
    for i, key in enumerate(keys):
        weights.append(softmax([dot(key, other) + bias[min(abs(i - j), 11)] for j, other in enumerate(keys)]))
    return [word + scaled(row, words) for word, row in zip(words, weights, strict=True)], weights


def decomposable(model, first, contexts, judged, extra):
    sides, values = [projected(model, side) for side in (first, contexts[0])], {}
    if model.config.intra:
        (a, values["intra_first"]), (b, values["intra_second"]) = (own_attention(model, words) for words in sides)
    else:
        a, b = sides
    keys = [[two_layers(model.attend, word) for word in side] for side in (a, b)]
    scores = [[dot(own, other) for other in keys[0]] for own in keys[1]]  # equation 1
    second = [softmax(row) for row in scores]
    weights = [softmax(row) for row in zip(*scores, strict=True)]
    sums = []
    for own, other, looks in ((a, b, weights), (b, a, second)):
        aligned = [scaled(row, other) for row in looks]  # equation 2
        sums += add(*(two_layers(model.compare, word + c) for word, c in zip(own, aligned, strict=True)))
    turned = [list(row) for row in zip(*scores, strict=True)]
    maps = [("second", "first", scores, second), ("first", "second", turned, weights)]
    out = classified(model, two_layers(model.aggregate, sums), extra)
    return {**out, **values, "scores": scores, "second": second, "first": weights, "records": {"maps": maps}}


LOOPS = {"decomposable": decomposable}
CHOICES = {"decomposable": [{"intra": True}, {"extra": "entailment"}]}
