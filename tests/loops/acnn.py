"""Adaptive CNNs (Shen et al. 2018, section 3) and multi-perspective matching (Wang et al. 2017)."""

from tests.loops.arithmetic import affine, classified, cosine, dot, largest, projected, relu, scaled, softmax, window
from tests.loops.baselines import LINGUISTIC


def convolution(words, filters, bias):
    """Equation 1 before the ReLU, [T'][K], with filters [K][h][d]; a text shorter than h is padded to h."""
    width = len(filters[0])
    flat = [[v for row in one for v in row] for one in filters]
    starts = range(max(len(words) - width + 1, 1))
    windows = [window(words, range(i, i + width)) for i in starts]
    return [[dot(one, seen) + b for one, b in zip(flat, bias, strict=True)] for seen in windows]


def pooled(values):
    return relu(largest(values))


def generated(generator, words):
    """Equations 2 and 3."""
    encoder = generator.encoder
    code = pooled(convolution(words, encoder.filters.tolist(), encoder.bias.tolist()))
    filters, width, size = generator.shape
    made = generator.constant.tolist()
    if generator.rank:
        mix, directions = generator.mix.tolist(), generator.directions.tolist()
    else:
        weight = generator.weight.tolist()
    for k in range(filters):
        for j in range(width):
            for n in range(size):
                for c, z in enumerate(code):
                    if generator.rank:
                        made[k][j][n] += z * sum(mix[c][k][r] * directions[k][r][j][n] for r in range(generator.rank))
                    else:
                        made[k][j][n] += z * weight[c][k][j][n]
    return made


def matching(w, u, own, other):
    """The four kinds of one side, each l numbers, pooled over positions by max and by the mean that u weighs."""

    def m(kind, a, b):
        out = []
        for row in w[kind].tolist():
            x, y = ([weight * v for weight, v in zip(row, state, strict=True)] for state in (a, b))
            # Lengths are at least 1e-4: a root has no slope at 0.
            out.append(dot(x, y) / max(dot(x, x) ** 0.5, 1e-4) / max(dot(y, y) ** 0.5, 1e-4))
        return out

    rows = []
    for state in own:
        scores = [cosine(state, o) for o in other]
        total = sum(scores)
        mean = scaled([s / total if total else 0.0 for s in scores], other)
        most = other[max(range(len(other)), key=scores.__getitem__)]
        rows.append(
            m(0, state, largest(other))
            + largest([m(1, state, o) for o in other])
            + m(2, state, mean)
            + m(3, state, most)
        )
    return largest(rows) + scaled(softmax([dot(u.tolist(), state) for state in own]), rows)


def static(model, words):
    return convolution(words, model.static.filters.tolist(), model.static.bias.tolist())


def acnn(model, first, contexts, judged, extra):
    """Section 3.2."""
    words = projected(model, first)
    if model.config.adaptivity == "none":
        values = static(model, words)
    else:
        values = convolution(words, generated(model.generator, words), [0.0] * model.config.filters)
    features = pooled(values)
    return {"logits": affine(model.classifier, features), "features": features}


def adaqa(model, first, contexts, judged, extra):
    """Section 3.3."""
    q, a = projected(model, first), projected(model, contexts[0])
    makers = {"none": (None, None), "self": (q, a), "one-way": (None, q), "two-way": (a, q)}[model.config.adaptivity]
    states = [
        static(model, words) if maker is None else convolution(words, generated(model.generator, maker), psi.tolist())
        for words, maker, psi in zip((q, a), makers, (model.bias_q, model.bias_a), strict=True)
    ]
    h_q, h_a = map(pooled, states)
    t = h_q + h_a + [p - r for p, r in zip(h_q, h_a, strict=True)] + [p * r for p, r in zip(h_q, h_a, strict=True)]
    if model.matching is not None:
        q_active, a_active = ([relu(state) for state in side] for side in states)
        for own, other in ((a_active, q_active), (q_active, a_active)):
            t += matching(model.matching.w, model.matching.u, own, other)
    return classified(model, t, extra)


LOOPS = {"acnn": acnn, "adaqa": adaqa}
CHOICES = {
    "acnn": [{"adaptivity": "none"}, {"rank": 2}, {"projection": 4}],
    "adaqa": [
        *(
            {"adaptivity": adaptivity, "matching": match}
            for adaptivity in ("none", "self", "one-way", "two-way")
            for match in ("none", "multi-perspective")
        ),
        {"rank": 2, "matching": "multi-perspective"},
        {"projection": 4},
        *LINGUISTIC,
    ],
}
