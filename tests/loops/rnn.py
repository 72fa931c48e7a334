"""Attention over the states of a chained reader, and the Transformer's step (Potts, CS224u slides)."""

import math

from tests.loops.arithmetic import (
    add,
    affine,
    dot,
    largest,
    lstm,
    matvec,
    mean,
    projected,
    relu,
    scaled,
    sigmoid,
    softmax,
    tanh,
)


def step(model, word, state):
    """The next state (h, c)."""
    outputs, c = lstm(model.rnn, [word], *state)
    return outputs[0], c


def score(model, h_t, h_i):
    match, kind = model.attention.match, model.config.score
    if kind == "dot":
        return dot(h_t, h_i)
    if kind == "general":
        return dot(h_t, matvec(match.w, h_i))
    return dot(match.v.tolist(), tanh(add(matvec(match.w, h_t), matvec(match.u, h_i))))


def look_back(model, h_t, premise):
    """(scores, weights) of global and local attention."""
    scores = [score(model, h_t, h_i) for h_i in premise]
    if model.config.attention == "global":
        return scores, softmax(scores)
    width, inner = model.config.half_width, tanh(matvec(model.attention.place.weight, h_t))
    place = len(premise) * sigmoid(matvec(model.attention.place_out.weight, inner))[0]
    scores = [s - (i - place) ** 2 / (2 * (width / 2) ** 2) for i, s in enumerate(scores)]
    near = [i for i in range(len(premise)) if abs(i - place) <= width]
    inside = dict(zip(near, softmax([scores[i] for i in near]), strict=True))
    return scores, [inside.get(i, 0.0) for i in range(len(premise))]


def word_by_word(model, h_t, before, premise):
    """(scores, weights, what is left of the last context)."""
    attention, kind = model.attention, model.config.score
    own = h_t if kind == "dot" else matvec(attention.state.weight, h_t)
    asked = add(own, matvec(attention.context.weight, before))
    if kind == "concat":
        scores = [matvec(attention.match.weight, tanh(add(y, asked)))[0] for y in premise]
    else:
        scores = [dot(y, asked) for y in premise]
    return scores, softmax(scores), tanh(matvec(attention.carry.weight, before))


def combine(model, context, state):
    layer = model.combination
    if model.config.combination == "concat":
        return tanh(matvec(layer.both.weight, context + state))
    if model.config.combination == "compared":
        pairs = list(zip(context, state, strict=True))
        compared = [c * h for c, h in pairs] + [c - h for c, h in pairs]
        return tanh(matvec(layer.compared.weight, context + state + compared))
    return tanh(add(matvec(layer.context.weight, context), matvec(layer.state.weight, state)))


def chained_rnn(model, first, contexts, judged, extra):
    config, zero = model.config, [0.0] * model.config.hidden
    state, premise = (zero, zero), []
    for word in projected(model, first):
        state = step(model, word, state)
        premise.append(add(state[0], word) if config.with_words else state[0])
    hypothesis, rows, before = [], [], zero
    words = projected(model, contexts[0])
    for t, word in enumerate(words):
        state = step(model, word, state)
        own = add(state[0], word) if config.with_words else state[0]
        hypothesis.append(own)
        if config.attention == "none" or (config.attention == "global" and t < len(words) - 1):
            continue
        carried = zero
        if config.attention == "word-by-word":
            scores, weights, carried = word_by_word(model, own, before, premise)
        else:
            scores, weights = look_back(model, own, premise)
        seen = scaled(weights, premise)
        if config.context == "mean":
            seen = mean([[w * v for v in h] for w, h in zip(weights, premise, strict=True)])
        before = add(seen, carried)
        rows.append((scores, weights, before, combine(model, before, own)))
    steps = [row[3] for row in rows] or hypothesis
    features = largest(steps) if config.readout == "max" else steps[-1]
    out = {
        "logits": affine(model.classifier, features),
        "features": features,
        "premise": premise,
        "hypothesis": hypothesis,
    }
    if rows:
        names = ("scores", "weights", "contexts", "combined")
        out |= {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
        out["records"] = {"maps": [("second", "first", out["scores"], out["weights"])]}
    return out


def normalised(layer, vector):
    centre = sum(vector) / len(vector)
    spread = math.sqrt(sum((v - centre) ** 2 for v in vector) / len(vector) + layer.eps)
    scales = zip(layer.weight.tolist(), layer.bias.tolist(), vector, strict=True)
    return [weight * (v - centre) / spread + bias for weight, bias, v in scales]


def placed(model, words):
    """x + s p."""
    size = model.config.hidden
    angles = [[t / 10_000 ** ((k - k % 2) / size) for k in range(size)] for t in range(len(words))]
    places = [[math.cos(a) if k % 2 else math.sin(a) for k, a in enumerate(row)] for row in angles]
    scale = model.place_scale.item()
    return [add(word, [scale * p for p in row]) for word, row in zip(projected(model, words), places, strict=True)]


def transformer_reader(model, first, contexts, judged, extra):
    premise, hypothesis = placed(model, first), placed(model, contexts[0])
    root = math.sqrt(model.config.hidden)
    out = {"scores": [], "weights": [], "contexts": [], "states": []}
    for word in hypothesis:
        query = matvec(model.query.weight, word)
        scores = [dot(query, matvec(model.key.weight, other)) / root for other in premise]
        weights = softmax(scores)
        context = scaled(weights, premise)
        attended = normalised(model.attended, add(word, matvec(model.out.weight, context)))
        inner = affine(model.outer, relu(affine(model.inner, attended)))
        state = normalised(model.finished, add(attended, inner))
        for name, value in zip(out, (scores, weights, context, state), strict=True):
            out[name].append(value)
    features = largest(out["states"])
    records = {"maps": [("second", "first", out["scores"], out["weights"])]}
    return {"logits": affine(model.classifier, features), "features": features, **out, "records": records}


LOOPS = {"chained-rnn": chained_rnn, "transformer-reader": transformer_reader}
CHOICES = {
    "chained-rnn": [
        {"attention": "none"},
        {"attention": "none", "readout": "max"},
        {"score": "general"},
        {"score": "concat", "context": "mean", "combination": "sum"},
        {"attention": "local", "half_width": 1, "with_words": True},
        {"attention": "local", "score": "general", "readout": "max"},
        {"attention": "word-by-word", "score": "concat", "context": "mean"},
        {"attention": "word-by-word", "score": "concat", "combination": "sum", "readout": "max"},
        {"attention": "word-by-word", "score": "general", "with_words": True, "combination": "compared"},
    ],
    "transformer-reader": [{"inner": 3}],
}
