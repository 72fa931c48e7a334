"""Models that encode each sentence separately."""

from tests.loops.arithmetic import (
    add,
    affine,
    bilstm,
    centred,
    classified,
    joined,
    largest,
    matvec,
    mean,
    projected,
    relu,
    scaled,
    softmax,
    tanh,
    window,
)


def sentences(model, first, contexts, judged):
    """The texts that are read."""
    if model.config.context == "extra":
        return first, contexts[0]
    return (contexts[0] if judged == "second" else first,)


def encoder(encode):
    """The loop of a model whose sentences get the vector ``encode(model, text)``, or that and the weights of its
    words."""

    def loop(model, first, contexts, judged, extra):
        texts = sentences(model, first, contexts, judged)
        encoded = [encode(model, text) for text in texts]
        vectors = [one[0] if isinstance(one, tuple) else one for one in encoded]
        out = classified(model, vectors[0] if len(vectors) == 1 else joined(model, *vectors), extra)
        sides = ("first", "second") if model.config.context == "extra" else (judged,)
        weights = {side: one[1] for side, one in zip(sides, encoded, strict=True) if isinstance(one, tuple)}
        return {**out, "records": {"pooled": weights}}

    return loop


def convolved(model, text):
    words = projected(model, text)
    return [tanh(affine(model.convolution, centred(words, i, model.config.width))) for i in range(len(words))]


def bi_cnn(model, text):
    return largest(convolved(model, text))


def internal_attention(model, text):
    states = convolved(model, text)
    hidden = [tanh(matvec(model.hidden_layer.weight, state)) for state in states]
    weights = softmax([matvec(model.score.weight, inner)[0] for inner in hidden])
    return largest(states) + scaled(weights, states), weights


def multichannel(model, text):
    words, out = text.tolist(), []
    summed = [add(word, matvec(model.tuned.weight, word)) for word in words]
    for width, filters in zip((3, 4, 5), model.filters, strict=True):
        before = (width - 1) // 2
        out += largest(
            [relu(affine(filters, window(summed, range(i - before, i - before + width)))) for i in range(len(words))]
        )
    return out


def bi_lstm(model, text):
    states, size = bilstm(model.encoder, projected(model, text)), model.config.hidden
    return states[-1][:size] + states[0][size:]


def self_attention(model, text):
    states = bilstm(model.encoder, projected(model, text))
    scores = [matvec(model.score.weight, tanh(matvec(model.inner.weight, state))) for state in states]
    hops = [softmax(hop) for hop in zip(*scores, strict=True)]
    return [number for hop in hops for number in scaled(hop, states)], mean(hops)


LOOPS = {
    "bi-cnn": encoder(bi_cnn),
    "internal-attention-cnn": encoder(internal_attention),
    "multichannel-cnn": encoder(multichannel),
    "bi-lstm": encoder(bi_lstm),
    "self-attention": encoder(self_attention),
}
CHOICES = {name: [{"context": "none"}, {"compare": True}] for name in LOOPS}
CHOICES["bi-cnn"] += [{"width": 5}, {"extra": "entailment"}]
CHOICES["self-attention"] += [{"hops": 1}]
