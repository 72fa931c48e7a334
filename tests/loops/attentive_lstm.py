"""Attentive LSTM (Rocktäschel et al. 2016, sections 2.2 and 2.3)."""

from tests.loops.arithmetic import (
    add,
    classified,
    looking,
    looking_sides,
    lstm,
    matvec,
    projected,
    scaled,
    softmax,
    tanh,
)
from tests.loops.baselines import BASELINE


def attentive_lstm(model, first, contexts, judged, extra):
    zero = [0.0] * model.config.hidden
    read, looks = (projected(model, side) for side in looking(model, first, contexts, judged))
    states, cell = lstm(model.first, read, zero, zero)
    last = lstm(model.second, looks, states[-1], cell)[0][-1]
    from_last = matvec(model.match_last.weight, last)
    scores = [
        matvec(model.match.weight, tanh(add(matvec(model.match_states.weight, state), from_last)))[0]
        for state in states
    ]
    weights = softmax(scores)
    r = scaled(weights, states)
    own = tanh(add(matvec(model.combine_context.weight, r), matvec(model.combine_last.weight, last)))
    records = {"pooled": {looking_sides(model, judged)[0]: weights}}
    return {**classified(model, own, extra), "scores": scores, "weights": weights, "states": states, "records": records}


LOOPS = {"attentive-lstm": attentive_lstm}
CHOICES = {"attentive-lstm": [*BASELINE, {"context": "intra"}]}
