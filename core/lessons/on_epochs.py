"""The source for the lesson on training: a word's attention after each epoch."""

from __future__ import annotations

import torch

from core.checkpoint import epochs, load_named
from core.explain import check_words
from core.lessons.lesson import Lesson, LessonError, Values
from core.lessons.on_cards import dev
from core.lessons.on_checkpoints import checkpoint_of, words_of
from core.lessons.on_two_dimensions import shares
from core.lessons.sources import Evaluated, source


@source("epochs of attconv light")
@torch.inference_mode()
def of_epochs(lesson: Lesson) -> Evaluated:
    """Inputs ``word`` and ``epoch``: numbers of the hypothesis word and the epoch to follow, from 1. ``alphas``: the
    word's weights by epoch; ``largest``: the largest of each; ``moved``: the share of the weight that lies on other
    words than after the first epoch."""
    final = checkpoint_of(lesson)
    kept = epochs.kept(final.folder)
    if not kept:
        raise LessonError(f"No epoch of {final.name} was kept: train it with `--keep-epochs 10`")
    models = [load_named(epochs.name_of(final.name, epoch)) for epoch in kept]
    reading = final.read(lesson.texts["first"], lesson.texts["second"])
    check_words(reading)
    outputs = [model.model(model.reader.batch(reading)) for model in models]
    words = words_of(final, reading)
    i, t = lesson.position("word", len(words["x"])), lesson.position("epoch", len(kept))
    weights = torch.stack([output.trace.weights[0, i] for output in outputs])
    score = outputs[t].trace.scores[0, i].tolist()
    values: Values = {
        "word": float(i + 1),
        "epoch": float(t + 1),
        "last": float(len(kept)),
        "alphas": weights.tolist(),
        "largest": weights.amax(1).tolist(),
        "moved": [0.5 * (row - weights[0]).abs().sum().item() for row in weights],
        "score": score,
        **shares(score),
        "verdicts": [torch.softmax(output.logits[0], 0).tolist() for output in outputs],
        "dev": [dev(model.card) for model in models],
    }
    return Evaluated(values, words | {"epochs": [f"epoch {epoch}" for epoch in kept]}, final.name)
