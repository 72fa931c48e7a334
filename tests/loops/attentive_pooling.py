"""APCNN (dos Santos et al. 2016) and ABCNN (Yin et al. 2016)."""

import math

from tests.loops.arithmetic import (
    affine,
    centred,
    classified,
    cosine,
    dot,
    joined,
    looking,
    looking_sides,
    matvec,
    mean,
    nearness,
    projected,
    scaled,
    softmax,
    tanh,
)
from tests.loops.baselines import BASELINE

WIDTH = 3


def mean_of(numbers):
    return sum(numbers) / len(numbers)


def transposed(matrix):
    return list(zip(*matrix, strict=True))


def told(model, judged, y_weights, x_weights):
    return {"records": {"pooled": dict(zip(looking_sides(model, judged), (y_weights, x_weights), strict=True))}}


def apcnn(model, first, contexts, judged, extra):
    hy, hx = (
        [affine(model.convolution, centred(words, i, WIDTH)) for i in range(len(words))]
        for words in (projected(model, side) for side in looking(model, first, contexts, judged))
    )
    ny, nx = ([scaled([1 / math.sqrt(dot(h, h))], [h]) for h in side] for side in (hy, hx))
    g = [[math.tanh(dot(a, matvec(model.match.w, b))) for b in ny] for a in nx]
    x_weights, y_weights = (softmax([max(row) for row in rows]) for rows in (g, transposed(g)))
    r_x, r_y = scaled(x_weights, hx), scaled(y_weights, hy)
    out = classified(model, [*joined(model, r_y, r_x), cosine(r_y, r_x)], extra)
    return {
        **out,
        "scores": g,
        "x_weights": x_weights,
        "y_weights": y_weights,
        **told(model, judged, y_weights, x_weights),
    }


def abcnn(model, first, contexts, judged, extra):
    kind = model.config.attention
    y, x = (projected(model, side) for side in looking(model, first, contexts, judged))
    a = [[nearness(p, q) for q in y] for p in x]
    states = []
    for words, scores, rows in ((x, a, model.x_map), (y, transposed(a), model.y_map)):
        channels = words
        if kind != "states":
            maps = [scaled(row, rows.tolist()[: len(row)]) for row in scores]
            channels = [word + attended for word, attended in zip(words, maps, strict=True)]
        states.append([tanh(affine(model.convolution, centred(channels, i, WIDTH))) for i in range(len(words))])
    hx, hy = states
    out = a if kind == "words" else [[nearness(p, q) for q in hy] for p in hx]
    total = mean_of if model.config.means else sum
    x_weights, y_weights = [total(row) for row in out], [total(column) for column in transposed(out)]
    pooled = []
    for h, weights in ((hy, y_weights), (hx, x_weights)):
        if kind == "words":
            weights = [1 / WIDTH] * len(h)
        elif model.config.means:
            weights = [weight / WIDTH for weight in weights]
        near = [range(max(i - 1, 0), min(i + 2, len(h))) for i in range(len(h))]
        pooled.append(mean([scaled([weights[k] for k in places], [h[k] for k in places]) for places in near]))
    r_y, r_x = pooled
    return {
        **classified(model, [*joined(model, r_y, r_x), cosine(r_y, r_x), nearness(r_y, r_x)], extra),
        "scores": out if kind == "states" else a,
        "output_scores": out,
        "x_weights": x_weights,
        "y_weights": y_weights,
        **told(model, judged, y_weights, x_weights),
    }


LOOPS = {"apcnn": apcnn, "abcnn": abcnn}
VARIANTS = [*BASELINE, {"context": "intra"}, {"compare": True}]
CHOICES = {"apcnn": VARIANTS, "abcnn": [*VARIANTS, {"attention": "words"}, {"attention": "states"}, {"means": True}]}
