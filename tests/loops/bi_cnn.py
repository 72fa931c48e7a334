"""Bi-CNN (Yin & Schütze 2018, section 4): each sentence is encoded separately."""

from tests.loops.arithmetic import affine, centred, classified, joined, largest, projected, tanh


def bi_cnn(model, first, contexts, judged, extra):
    texts = first, contexts[0]
    if model.config.context == "none":
        texts = (contexts[0] if judged == "second" else first,)
    vectors = []
    for text in texts:
        words = projected(model, text)
        states = [tanh(affine(model.convolution, centred(words, i, model.config.width))) for i in range(len(words))]
        vectors.append(largest(states))
    return classified(model, vectors[0] if len(vectors) == 1 else joined(model, *vectors), extra)


LOOPS = {"bi-cnn": bi_cnn}
CHOICES = {"bi-cnn": [{"context": "none"}, {"compare": True}, {"width": 5}, {"extra": "entailment"}]}
