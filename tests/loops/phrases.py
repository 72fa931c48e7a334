"""Attentive pooling of phrase alignments (Yin & Schütze 2017, sections 3 and 4.2.1)."""

from core.models.phrases.alignment import LONGEST
from tests.loops.arithmetic import add, classified, cosine, gru, nearness, projected
from tests.loops.baselines import LINGUISTIC


def phrase_states(net, words):
    """[((first, last), state)] in the order (A)(B)(AB)(C)(BC)(ABC)…"""
    weights = (net.weight_ih, net.weight_hh, net.bias_ih, net.bias_hh)
    spans = [(end - length, end) for end in range(1, len(words) + 1) for length in range(1, min(LONGEST, end) + 1)]
    return [(span, gru(weights, words[slice(*span)])) for span in spans]


def phrases(model, first, contexts, judged, extra, pooling=None, k=None):
    """``pooling`` and ``k``: others than the model's."""
    config, reader = model.config, model.reader
    pooling, k = pooling or config.pooling, k or config.k
    sentences = [projected(model, side) for side in (first, contexts[0])]
    named = [phrase_states(model.phrases, words) for words in sentences]
    states = [[state for _, state in of_text] for of_text in named]
    pooled = []
    for own, other in (states, states[::-1]):
        scores = [round(max(cosine(state, partner) for partner in other), 5) for state in own]
        order = sorted(range(len(own)), key=lambda i: (scores[i] if pooling == "kmin" else -scores[i], i))
        pooled.append([own[i] for i in (range(len(own)) if pooling == "full" else sorted(order[:k]))])
    weights = (reader.weight_ih_l0, reader.weight_hh_l0, reader.bias_ih_l0, reader.bias_hh_l0)
    s_1, s_2, s_p = (gru(weights, sequence) for sequence in (pooled[0], pooled[1], pooled[0] + pooled[1]))
    pairs = [(s_1, s_2), tuple(add(*words) for words in sentences)]
    parts = {
        "rep": [*s_1, *s_2, *s_p, *pairs[1][0], *pairs[1][1]],
        "interaction": [
            value
            for a, b in pairs
            for value in [abs(p - q) for p, q in zip(a, b, strict=True)] + [p * q for p, q in zip(a, b, strict=True)]
        ],
        "simi": [cosine(a, b) for a, b in pairs]
        + [nearness(a, b) for a, b in pairs if config.similarities == "cosine+euclid"],
    }
    order = [part for part in parts if part in config.parts]
    records = {"phrases": dict(zip(("first", "second"), named, strict=True))}
    return {**classified(model, [value for part in order for value in parts[part]], extra), "records": records}


LOOPS = {"phrases": phrases}
CHOICES = {
    "phrases": [
        {"pooling": "kmax"},
        {"pooling": "full"},
        {"projection": 4},
        {"features": "interaction+simi"},
        {"similarities": "cosine", **LINGUISTIC[0]},
        LINGUISTIC[1],
    ]
}
