"""Sources for the lessons on trained models: intermediate values of a forward pass over a pair."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from core.checkpoint import Checkpoint, available, load_named
from core.evidence import PhraseSelection
from core.explain import check_words, explain
from core.layers.convolution import windows
from core.layers.projection import read_words
from core.lessons.lesson import Lesson, Values
from core.lessons.on_cards import by_k
from core.lessons.on_pairs import kept_phrases, nearest_filters
from core.lessons.on_two_dimensions import shares
from core.lessons.sources import Evaluated, source
from core.models.acnn.pair import AdaQA
from core.models.attconv import AttConv, AttConvAdvanced
from core.models.base import Output
from core.models.phrases.model import KS
from core.reading.batch import Batch
from core.reading.reader import Reading


class ReadPair(NamedTuple):
    """A pair as read by a checkpoint."""

    checkpoint: Checkpoint
    batch: Batch
    output: Output
    words: dict[str, list[str]]
    """The result of :func:`words_of`."""


def checkpoint_of(lesson: Lesson) -> Checkpoint:
    """The first of the lesson's checkpoints that is available. Raises CheckpointError if none is."""
    names = available()
    with torch.inference_mode(False):  # other lessons and pages share the model, and some need gradients
        return load_named(next((name for name in lesson.checkpoints if name in names), lesson.checkpoints[0]))


def read(lesson: Lesson) -> ReadPair:
    """The lesson's pair, read by its first available checkpoint. Raises CheckpointError if none is available, and
    PairError for a text without words."""
    checkpoint = checkpoint_of(lesson)
    reading = checkpoint.read(lesson.texts["first"], lesson.texts["second"])
    check_words(reading)
    batch = checkpoint.reader.batch(reading)
    return ReadPair(checkpoint, batch, checkpoint.model(batch), words_of(checkpoint, reading))


def words_of(checkpoint: Checkpoint, reading: Reading) -> dict[str, list[str]]:
    """The words of the judged sentence (x) and of its context (y), the classes, and the names of both sides."""
    return {
        "x": [token.text for token in reading.x.tokens],
        "y": [token.text for token in reading.y.tokens],
        "classes": list(checkpoint.labels),
        "sides": [reading.first.role, reading.second.role],
    }


def _attentive(lesson: Lesson, pair: ReadPair) -> tuple[Values, int]:
    """Values shared by light and advanced: the attention of one word of t_x, one filter, max-pooling and the decision;
    and the word's index."""
    model, trace = pair.checkpoint.model, pair.output.trace
    assert isinstance(model, AttConv)
    x, y = (read_words(model.projection, side, 0.0)[0] for side in (pair.batch.x, pair.batch.y))
    i, k = lesson.position("word", len(x)), lesson.position("filter", trace.winners.shape[1])
    here = torch.full_like(trace.winners[0], i)
    parts = model.convolution.parts(trace.beneficiary[0], trace.context[0], here)
    pooled, logits = pair.output.features[0], pair.output.logits[0]
    values: Values = {
        "word": float(i + 1),
        "left": float(i),
        "right": float(i + 2),
        "filter": float(k + 1),
        "x": x.tolist(),
        "y": y.tolist(),
        "own": x[i].tolist(),
        "score": trace.scores[0, i].tolist(),
        **shares(trace.scores[0, i].tolist()),
        "alpha": trace.weights[0, i].tolist(),
        "c": trace.context[0, i].tolist(),
        "parts": [*parts["offsets"][k].tolist(), parts["context"][k].item(), parts["bias"][k].item()],
        "z": trace.preactivations[0, i, k].item(),
        "over_words": torch.tanh(trace.preactivations[0, :, k]).tolist(),
        "largest": pooled[k].item(),
        "winner": float(trace.winners[0, k].item() + 1),
        "pooled": pooled.tolist(),
        "logit": logits.tolist(),
        "of_class": model.classifier.weight[0].tolist(),
        "class_bias": model.classifier.bias[0].item(),
        "verdict": torch.softmax(logits, 0).tolist(),
    }
    return values, i


PARTS = {"parts": ["left", "itself", "right", "context", "bias"]}
"""The terms of a filter's value."""


@source("attconv light")
@torch.inference_mode()
def light(lesson: Lesson) -> Evaluated:
    """Inputs ``word`` and ``filter``: numbers of the hypothesis word and the filter to follow, from 1."""
    pair = read(lesson)
    values, _ = _attentive(lesson, pair)
    return Evaluated(values, pair.words | PARTS, pair.checkpoint.name)


@source("attconv advanced")
@torch.inference_mode()
def advanced(lesson: Lesson) -> Evaluated:
    """Like :func:`light`, with the ``word``'s source, focus and beneficiary."""
    pair = read(lesson)
    values, i = _attentive(lesson, pair)
    model = pair.checkpoint.model
    assert isinstance(model, AttConvAdvanced)
    x = read_words(model.projection, pair.batch.x, 0.0)
    y = read_words(model.projection, pair.batch.y, 0.0)
    x_mask, y_mask = pair.batch.x.mask, pair.batch.y.mask
    phrase = windows(x, model.trigram.width)[0, i]
    inner, opening = model.trigram.hidden, model.trigram.gate
    values |= {
        "hidden": torch.tanh(inner(phrase)).tolist(),
        "gate": torch.sigmoid(opening(phrase)).tolist(),
        "o_1": _terms(inner, phrase, model.trigram.width),
        "g_1": _terms(opening, phrase, model.trigram.width),
        "phrase": model.trigram(x, x_mask)[0, i].tolist(),
        "single": model.unigram(x, x_mask)[0, i].tolist(),
        "source": model.source(x, x_mask)[0, i].tolist(),
        "focus": model.source(y, y_mask)[0].tolist(),
        "f_1": model.source(y, y_mask)[0, :, 0].tolist(),
        "beneficiary": model.beneficiary(x, x_mask)[0, i].tolist(),
    }
    return Evaluated(values, pair.words | PARTS, pair.checkpoint.name)


def _terms(layer: nn.Linear, phrase: Tensor, width: int) -> list[float]:
    """A layer's first output for a phrase ``[width * d]`` as a sum: one term per word, then the bias."""
    return [*(phrase * layer.weight[0]).view(width, -1).sum(1).tolist(), layer.bias[0].item()]


@source("phrases")
@torch.inference_mode()
def phrases(lesson: Lesson) -> Evaluated:
    """Input ``phrase``: number of the phrase of the second sentence to follow, from 1."""
    pair = read(lesson)
    checkpoint, trace = pair.checkpoint, pair.output.trace
    texts = lesson.texts["first"], lesson.texts["second"]
    explanation = explain(checkpoint, *texts, records=(PhraseSelection,))
    record: PhraseSelection | None = explanation.find(PhraseSelection)
    assert record is not None
    premise, hypothesis = (
        [explanation.sentence(side.role).words(one.span) for one in side.phrases] for side in record.sides
    )
    best = [one.score for one in record.sides[1].phrases]
    i = lesson.position("phrase", len(hypothesis))
    partner, cosines = record.sides[1].phrases[i].partner, trace.cosines[i].tolist()
    least, most = record.choice("kmin", record.k), record.choice("kmax", record.k)
    assert least is not None and most is not None
    states, others = (phrases.states[0][phrases.mask[0]] for phrases in (trace.second, trace.first))
    values: Values = {
        "phrase": float(i + 1),
        "partner": float(partner + 1),
        "k": float(record.k),
        "count": float(len(best)),
        "state": states[i].tolist(),
        "other": others[partner].tolist(),
        "cosine": cosines,
        "closest": [cosine for cosine in cosines if cosine >= sorted(cosines)[-5:][0]][:5],
        "best": best[i],
        "a": best,
        "kept_least": [j + 1.0 for j in least.kept[1]],
        "kept_most": [j + 1.0 for j in most.kept[1]],
        "least": [best[j] for j in least.kept[1]],
        "most": [best[j] for j in most.kept[1]],
        "by_least": list(least.probabilities),
        "by_most": list(most.probabilities),
    }
    several = kept_phrases(checkpoint, lesson.pairs)
    words = {
        "phrases": hypothesis,
        "premise": premise,
        "ks": [str(k) for k in KS],
        "least": [hypothesis[j] for j in least.kept[1]],
        "most": [hypothesis[j] for j in most.kept[1]],
        **{name: pair.words[name] for name in ("classes", "sides")},
    }
    return Evaluated(values | by_k() | several.values, words | several.words, checkpoint.name)


@source("generated filters")
@torch.inference_mode()
def generated_filters(lesson: Lesson) -> Evaluated:
    """Inputs ``filter`` and ``window``: numbers of the filter and of the second text's window to follow, from 1."""
    pair = read(lesson)
    model, trace = pair.checkpoint.model, pair.output.trace
    assert isinstance(model, AdaQA)
    read_text, maker = trace.a, trace.q
    windows_, filters = read_text.windows.values[0], read_text.applied[0]
    k, i = lesson.position("filter", len(filters)), lesson.position("window", len(windows_))
    height = filters.shape[1]
    window = windows_[i].view(height, -1)
    parts = (window * filters[k]).sum(1)
    columns = model.linear_map(k)[:, 0]
    own = maker.filters[0, k]
    other = read_text.filters[0, k]
    before = read_text.preactivations[0, :, k]
    # Most numbers of a code are 0: the largest come first.
    order = maker.code[0].argsort(descending=True)
    code = maker.code[0, order]
    values: Values = {
        "filter": float(k + 1),
        "window": float(i + 1),
        "z": code.tolist(),
        "made_by": columns[order].tolist(),
        "rest": (columns[order] * code)[1:].sum().item(),
        "start": columns[-1].item(),
        "F": filters[k].tolist(),
        "words": window.tolist(),
        "parts": parts.tolist(),
        "bias": read_text.bias[k].item(),
        "before": before[i].item(),
        "over_windows": torch.relu(before).tolist(),
        "largest": read_text.pooled[0, k].item(),
        "other": other.tolist(),
        "difference": (own - other).tolist(),
        "squares": (own - other).square().sum(1).tolist(),
        "norms": [(own - other).norm().item(), own.norm().item()],
        **nearest_filters(pair.checkpoint, lesson.pairs, k).values,
    }
    names = pair.words["x"] + (height - len(pair.words["x"])) * ["(nothing)"]
    words = {"of_window": names[i : i + height], "windows": names[: len(windows_)], "sides": pair.words["sides"]}
    return Evaluated(values, words, pair.checkpoint.name)
