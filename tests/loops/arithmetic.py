"""Building blocks of the slow loops. Vectors are lists of numbers; weights are the model's tensors, read by row."""

import math


def dot(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


def matvec(matrix, vector):
    return [dot(row, vector) for row in matrix.tolist()]


def add(*vectors):
    return [sum(values) for values in zip(*vectors, strict=True)]


def scaled(weights, vectors):
    """Σ_i weights_i vectors_i."""
    return add(*([w * v for v in vector] for w, vector in zip(weights, vectors, strict=True)))


def mean(vectors):
    return [v / len(vectors) for v in add(*vectors)]


def largest(vectors):
    """Element-wise max."""
    return [max(values) for values in zip(*vectors, strict=True)]


def affine(layer, vector):
    return add(matvec(layer.weight, vector), layer.bias.tolist())


def projected(model, words):
    """Words ``[T, D]`` as the model reads them."""
    return words.tolist() if model.projection is None else [affine(model.projection, word) for word in words.tolist()]


def tanh(vector):
    return [math.tanh(v) for v in vector]


def sigmoid(vector):
    return [1 / (1 + math.exp(-v)) for v in vector]


def relu(vector):
    return [max(0.0, v) for v in vector]


def softmax(values):
    exponents = [math.exp(v) for v in values]
    return [e / sum(exponents) for e in exponents]


def cosine(a, b):
    lengths = math.sqrt(dot(a, a) * dot(b, b))
    return dot(a, b) / lengths if lengths else 0.0


def nearness(a, b):
    return 1 / (1 + math.dist(a, b))


def window(states, positions):
    """The states at these positions side by side, zeros beyond the ends."""
    zero = [0.0] * len(states[0])
    return [v for k in positions for v in (states[k] if 0 <= k < len(states) else zero)]


def centred(states, i, width):
    """The window of odd ``width`` around position i."""
    return window(states, range(i - width // 2, i + width // 2 + 1))


def filters(states, weights, bias, *, centred, shares=(), context=None, made_from="", compared=()):
    """A convolution: the states ``[T][G]`` that its filters ``weights [K][h·G]`` read, whether a window is named by its
    central word or by its first one, each word's part from its attentive context ``[T][K]``, each filter's shares in
    the logits ``[K][C]``, the side that made the filters, and the terms of each word's part for each filter."""
    size = len(states[0])
    split = [[row[j : j + size] for j in range(0, len(row), size)] for row in weights]
    return {"states": states, "weights": split, "bias": bias, "centred": centred, "shares": shares, "context": context,
            "made_from": made_from, "compared": compared}  # fmt: skip


def linear_shares(layer, activations):
    """Each activation's share in each logit of a linear classifier, ``[K][C]``."""
    return [[w * a for w in column] for column, a in zip(layer.weight.T.tolist(), activations, strict=True)]


def gru(weights, words):
    """The last state of torch's GRU (gates in the order r, z, n); ``weights`` are W_ih, W_hh, b_ih, b_hh."""
    w_ih, w_hh, b_ih, b_hh = weights
    size = w_hh.shape[1]
    state = [0.0] * size
    for word in words:
        own, past = add(matvec(w_ih, word), b_ih.tolist()), add(matvec(w_hh, state), b_hh.tolist())
        gates = sigmoid(add(own[: 2 * size], past[: 2 * size]))
        r, z = gates[:size], gates[size:]
        n = [math.tanh(own[2 * size + i] + r[i] * past[2 * size + i]) for i in range(size)]
        state = [(1 - z[i]) * n[i] + z[i] * state[i] for i in range(size)]
    return state


def lstm(layer, words, h, c):
    """All outputs and the last cell state of torch's LSTM (gates in the order i, f, g, o)."""
    size, outputs = layer.hidden_size, []
    for word in words:
        gates = add(
            matvec(layer.weight_ih_l0, word),
            layer.bias_ih_l0.tolist(),
            matvec(layer.weight_hh_l0, h),
            layer.bias_hh_l0.tolist(),
        )
        i, f, o = (sigmoid(gates[k * size : (k + 1) * size]) for k in (0, 1, 3))
        g = tanh(gates[2 * size : 3 * size])
        c = [f[k] * c[k] + i[k] * g[k] for k in range(size)]
        h = [o[k] * math.tanh(c[k]) for k in range(size)]
        outputs.append(h)
    return outputs, c


def bilstm(layer, words):
    """Outputs of both directions side by side."""
    zero = [0.0] * layer.forwards.hidden_size
    ahead, back = lstm(layer.forwards, words, zero, zero)[0], lstm(layer.backwards, words[::-1], zero, zero)[0][::-1]
    return [f + b for f, b in zip(ahead, back, strict=True)]


def judged_and_context(first, contexts, judged):
    return (first, contexts[0]) if judged == "first" else (contexts[0], first)


def looking_sides(model, judged):
    """The names of the sides of :func:`looking`."""
    return (judged, judged) if model.config.context == "intra" else ("first", "second")


def looking(model, first, contexts, judged):
    """The text that is looked at and the one that looks: the judged one twice where it looks at itself."""
    own, _ = judged_and_context(first, contexts, judged) if contexts else (first, None)
    return (own, own) if model.config.context == "intra" else (first, contexts[0])


def joined(model, first, second):
    """Both sentence vectors, and with ``compare`` their difference and their product."""
    if not model.config.compare:
        return first + second
    pairs = list(zip(first, second, strict=True))
    return first + second + [abs(a - b) for a, b in pairs] + [a * b for a, b in pairs]


def classified(model, own, extra):
    """Logits and feature vector: own features, then the standardised linguistic ones (Yin & Schütze 2017, 4.2.1)."""
    scales = zip(extra or [], model.extra_mean.tolist(), model.extra_scale.tolist(), strict=True)
    features = own + [(value - mean) / scale for value, mean, scale in scales]
    return {"logits": affine(model.classifier, features), "features": features}
