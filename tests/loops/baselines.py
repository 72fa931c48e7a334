"""Addition and the CNN of CNN-Cnt (Yin & Schütze 2017, section 4)."""

from tests.loops.arithmetic import add, affine, classified, dot, matvec, mean, projected, tanh, window


def addition(model, first, contexts, judged, extra):
    return classified(model, add(*first.tolist()) + add(*contexts[0].tolist()), extra)


def cnn(model, first, contexts, judged, extra):
    sentences = []
    for side in (first, contexts[0]):
        words = projected(model, side)
        sentences.append(mean([tanh(affine(model.convolution, window(words, (i, i + 1)))) for i in range(len(words))]))
    q, a = sentences
    return classified(model, [dot(q, matvec(m, a)) for m in model.similarity], extra)


LOOPS = {"addition": addition, "cnn": cnn}
LINGUISTIC = [{"extra": "answer"}, {"extra": "entailment"}]
BASELINE = [{"classes": 2}, {"hidden": 6}, *LINGUISTIC]  # 6 is the width of the words: no projection
CHOICES = dict.fromkeys(LOOPS, BASELINE)
