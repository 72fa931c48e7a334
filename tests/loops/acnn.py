"""Adaptive CNNs (Shen et al. 2018, section 3) and multi-perspective matching (Wang et al. 2017)."""

from tests.loops.arithmetic import (
    affine,
    classified,
    cosine,
    dot,
    filters,
    largest,
    linear_shares,
    projected,
    relu,
    scaled,
    softmax,
    window,
)
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
    """Equations 2 and 3: the code and the filters."""
    encoder = generator.encoder
    code = pooled(convolution(words, encoder.filters.tolist(), encoder.bias.tolist()))
    count, width, size = generator.shape
    made = generator.constant.tolist()
    if generator.rank:
        mix, directions = generator.mix.tolist(), generator.directions.tolist()
    else:
        weight = generator.weight.tolist()
    for k in range(count):
        for j in range(width):
            for n in range(size):
                for c, z in enumerate(code):
                    if generator.rank:
                        made[k][j][n] += z * sum(mix[c][k][r] * directions[k][r][j][n] for r in range(generator.rank))
                    else:
                        made[k][j][n] += z * weight[c][k][j][n]
    return code, made


def shares_of(scores):
    """Cosines divided by their sum."""
    total = sum(scores)
    return [s / total if total else 0.0 for s in scores]


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
        mean = scaled(shares_of(scores), other)
        most = other[max(range(len(other)), key=scores.__getitem__)]
        rows.append(
            m(0, state, largest(other))
            + largest([m(1, state, o) for o in other])
            + m(2, state, mean)
            + m(3, state, most)
        )
    return largest(rows) + scaled(softmax([dot(u.tolist(), state) for state in own]), rows)


def read(model, words, maker, made, psi):
    """The values of one text ``[T'][K]``, and its filters: the fixed ones, or those made from the side ``maker``."""
    weights = model.static.filters.tolist() if maker is None else made[maker][1]
    bias = model.static.bias.tolist() if maker is None else psi
    flat = [[v for row in one for v in row] for one in weights]
    return convolution(words, weights, bias), filters(words, flat, bias, centred=False, made_from=maker or "")


def acnn(model, first, contexts, judged, extra):
    """Section 3.2."""
    words, fixed = projected(model, first), model.config.adaptivity == "none"
    made = {} if fixed else {"first": generated(model.generator, words)}
    values, own = read(model, words, None if fixed else "first", made, [0.0] * model.config.filters)
    features = pooled(values)
    own["shares"] = linear_shares(model.classifier, features)
    records = {"filters": {"first": [own]}, "generated": made}
    return {"logits": affine(model.classifier, features), "features": features, "records": records}


def adaqa(model, first, contexts, judged, extra):
    """Section 3.3."""
    words, fixed = {"first": projected(model, first), "second": projected(model, contexts[0])}, (None, None)
    makers = {"none": fixed, "self": ("first", "second"), "one-way": (None, "first"), "two-way": ("second", "first")}
    made = {
        side: generated(model.generator, words[side])
        for side in words
        if side in makers[model.config.adaptivity]
    }  # fmt: skip
    psis = ([] if psi is None else psi.tolist() for psi in (model.bias_q, model.bias_a))
    sides = zip(words, makers[model.config.adaptivity], psis, strict=True)
    states, own = zip(*(read(model, words[side], maker, made, psi) for side, maker, psi in sides), strict=True)
    h_q, h_a = map(pooled, states)
    t = h_q + h_a + [p - r for p, r in zip(h_q, h_a, strict=True)] + [p * r for p, r in zip(h_q, h_a, strict=True)]
    if model.matching is not None:
        q_active, a_active = ([relu(state) for state in side] for side in states)
        for ours, other in ((a_active, q_active), (q_active, a_active)):
            t += matching(model.matching.w, model.matching.u, ours, other)
    out = classified(model, t, extra)
    records = {"filters": {side: [one] for side, one in zip(words, own, strict=True)}, "generated": made}
    if model.matching is not None:
        scores = [[cosine(state, o) for o in q_active] for state in a_active]
        records["maps"] = [("second", "first", scores, [shares_of(row) for row in scores])]
    else:
        records |= product_terms(model, out["features"], h_q, h_a, own)
    return {**out, "records": records}


def product_terms(model, features, h_q, h_a, own):
    """Equation 6 is linear in h_q, h_a and their products: sets the shares of both sides' filters, returns the rest."""
    rows, k = model.classifier.weight.tolist(), len(h_q)
    own[0]["shares"] = [[(row[i] + row[2 * k + i]) * h_q[i] for row in rows] for i in range(k)]
    own[1]["shares"] = [[(row[k + i] - row[2 * k + i]) * h_a[i] for row in rows] for i in range(k)]
    return {
        "products": [[row[3 * k + i] * h_q[i] * h_a[i] for row in rows] for i in range(k)],
        "linguistic": [dot(row[4 * k :], features[4 * k :]) for row in rows],
    }


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
