"""Light and advanced attentive convolution (Yin & Schütze 2018, section 3)."""

from itertools import chain

from tests.loops.arithmetic import (
    add,
    affine,
    centred,
    dot,
    filters,
    judged_and_context,
    largest,
    linear_shares,
    matvec,
    projected,
    scaled,
    sigmoid,
    softmax,
    tanh,
)


def gated(layer, states, i):
    """Equations 7 to 9."""
    phrase = centred(states, i, layer.width)
    out, gate = tanh(affine(layer.hidden, phrase)), sigmoid(affine(layer.gate, phrase))
    return [g * u + (1 - g) * o for g, u, o in zip(gate, states[i], out, strict=True)]


def match(layer, source, focus):
    """Equations 1 to 3."""
    if layer.kind == "dot":
        return dot(source, focus)
    if layer.kind == "bilinear":
        return dot(source, matvec(layer.w, focus))
    return dot(layer.v.tolist(), tanh(add(matvec(layer.w, source), matvec(layer.u, focus))))


def several(model, first, contexts, judged, extra, loop):
    """One pass per context, and the largest value of each feature."""
    passes = [loop(model, first, [context], judged, extra) for context in contexts]
    alone = [one["features"] for one in passes]
    pooled = largest(alone)
    won = [values.index(max(values)) for values in zip(*alone, strict=True)]
    maps = [one["records"]["maps"][0] for one in passes]
    scores, weights = ([[*chain(*rows)] for rows in zip(*(one[k] for one in maps), strict=True)] for k in (2, 3))
    records = {"maps": [(*maps[0][:2], scores, weights)]}
    if "filters" in passes[0]["records"]:
        each = [one["records"]["filters"][judged][0] for one in passes]
        shares = linear_shares(model.classifier, pooled)
        records["filters"] = {judged: [{**one, "shares": shares} for one in each]}
    return {"logits": affine(model.classifier, pooled), "features": pooled, "won": won, "records": records}


def attended(model, judged, scores, weights):
    """The map of a model that judges one side."""
    columns = judged if model.config.context == "intra" else {"first": "second", "second": "first"}[judged]
    return (judged, columns, scores, weights)


def attconv(model, first, contexts, judged, extra):
    if model.config.context == "each" and len(contexts) > 1:
        return several(model, first, contexts, judged, extra, attconv)
    x, y = (projected(model, side) for side in judged_and_context(first, contexts, judged))
    source, focus, beneficiary = x, x if model.config.context == "intra" else y, x
    if hasattr(model, "own"):
        beneficiary = [gated(model.own, x, i) for i in range(len(x))]  # equation 13
    if hasattr(model, "trigram"):  # equations 10 to 12
        source, focus = (
            [gated(model.unigram, side, i) + gated(model.trigram, side, i) for i in range(len(side))]
            for side in (source, focus)
        )
    values, states, terms = {"scores": [], "weights": [], "context": []}, [], []
    for i in range(len(x)):
        z = affine(model.convolution.local, centred(beneficiary, i, model.config.width))
        if model.match is not None:
            scores = [match(model.match, source[i], state) for state in focus]
            weights = softmax(scores)
            context = scaled(weights, focus)  # equation 4
            terms.append(matvec(model.convolution.attentive.weight, context))
            z = add(z, terms[-1])  # equation 6
            for name, row in (("scores", scores), ("weights", weights), ("context", context)):
                values[name].append(row)
        states.append(tanh(z))
    pooled = largest(states)
    trace = values if model.match is not None and model.config.context != "each" else {}
    local, shares = model.convolution.local, linear_shares(model.classifier, pooled)
    made = filters(
        beneficiary, local.weight.tolist(), local.bias.tolist(), centred=True, shares=shares, context=terms or None
    )
    records = {"filters": {judged: [made]}}
    if model.match is not None:
        records["maps"] = [attended(model, judged, values["scores"], values["weights"])]
    return {"logits": affine(model.classifier, pooled), "features": pooled, **trace, "records": records}


def feedforward(model, first, contexts, judged, extra):
    """ "w/o convolution": four layers over the sum of a word and its context (section 4)."""
    if model.config.context == "each" and len(contexts) > 1:
        return several(model, first, contexts, judged, extra, feedforward)
    x, y = (projected(model, side) for side in judged_and_context(first, contexts, judged))
    focus, states = x if model.config.context == "intra" else y, []
    scores = [[match(model.match, word, other) for other in focus] for word in x]
    weights = [softmax(row) for row in scores]
    for word, row in zip(x, weights, strict=True):
        values = add(word, scaled(row, focus))
        for layer in model.convolution.layers:
            values = tanh(affine(layer, values))
        states.append(values)
    pooled, records = largest(states), {"maps": [attended(model, judged, scores, weights)]}
    return {"logits": affine(model.classifier, pooled), "features": pooled, "records": records}


LOOPS = {"attconv-light": attconv, "attconv-advanced": attconv}
VARIANTS = [{"match": "bilinear"}, {"match": "additive"}, {"context": "intra"}, {"context": "none"}, {"width": 5}]
VARIANTS += [{"context": "each"}]
CHOICES = dict.fromkeys(LOOPS, VARIANTS) | {
    "attconv-feedforward": [{"match": "additive"}, {"context": "intra"}, {"context": "each"}]
}
LOOPS |= {"attconv-feedforward": feedforward}
