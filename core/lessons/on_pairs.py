"""Aggregates over a lesson's set of pairs: the phrases that pooling keeps, the words attended to, generated filters."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from heapq import nlargest
from typing import cast

import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.evidence import AttentionMap
from core.explain import check_words, explained
from core.lessons.lesson import Pairs, Values
from core.lessons.sources import Evaluated
from core.models.acnn.pair import AdaQA
from core.models.base import Output
from core.models.phrases.alignment import LONGEST, keep, span
from core.models.phrases.model import PhraseConfig
from core.reading.reader import Reading

SHOWN = 6
"""Number of phrases, links, and words per side that a lesson lists."""


def _outputs(checkpoint: Checkpoint, pairs: Pairs) -> Iterator[tuple[Reading, Output]]:
    """Each pair as the model reads it, and its output. Raises PairError for a text without words."""
    for pair in pairs:
        reading = checkpoint.read(*pair)
        check_words(reading)
        yield reading, checkpoint.model(checkpoint.reader.batch(reading))


def kept_phrases(checkpoint: Checkpoint, pairs: Pairs) -> Evaluated:
    """How often k-min (``least``) and k-max (``most``) keep a phrase of each length in the second sentences, and the
    phrases that each keeps most often, with the trained k."""
    config = cast(PhraseConfig, checkpoint.model.config)
    phrases: dict[str, list[str]] = {"least": [], "most": []}
    lengths: dict[str, list[int]] = {"least": [], "most": []}
    for reading, output in _outputs(checkpoint, pairs):
        slots, words = output.trace.second, [token.text.lower() for token in reading.second.tokens]
        for name, pooling in (("least", "kmin"), ("most", "kmax")):
            chosen = keep(slots.score, slots.mask, pooling, config.k)
            for start, end in (span(slot) for slot in chosen.slots[chosen.mask].tolist()):
                phrases[name].append(" ".join(words[start:end]))
                lengths[name].append(end - start)
    values: Values = {"class": float(len(pairs)), "all_kept": float(len(phrases["least"]))}
    names = {"lengths": [str(words) for words in range(1, LONGEST + 1)]}
    for name in phrases:
        values[f"length_{name}"] = [float(lengths[name].count(words)) for words in range(1, LONGEST + 1)]
        values[f"mean_{name}"] = sum(lengths[name]) / len(lengths[name])
        top = Counter(phrases[name]).most_common(SHOWN)
        values[f"top_{name}"] = [float(count) for _, count in top]
        names[f"top_{name}"] = [phrase for phrase, _ in top]
    return Evaluated(values, names)


def who_looks_at_what(checkpoint: Checkpoint, pairs: Pairs) -> Evaluated:
    """The attention from each word of the judged sentences to each word of the others, summed over all pairs without
    punctuation: ``gives`` among the words with the largest sums, the ``top`` links overall, and the top links between
    different words."""
    sums: defaultdict[tuple[str, str], float] = defaultdict(float)
    for pair in pairs:
        explanation = explained(checkpoint, *pair)
        record = explanation.find(AttentionMap)
        assert record is not None, "the lesson's models have attention"
        rows, columns = (
            [token.text.lower() for token in explanation.sentence(role).tokens]
            for role in (record.rows, record.columns)
        )
        for word, weights in zip(rows, record.weights, strict=True):
            for other, weight in zip(columns, weights, strict=True):
                if any(map(str.isalnum, word)) and any(map(str.isalnum, other)):
                    sums[word, other] += weight
    unlike = {link: weight for link, weight in sums.items() if link[0] != link[1]}
    tops = {name: nlargest(SHOWN, of, key=of.__getitem__) for name, of in (("top", sums), ("top_unlike", unlike))}
    looking, looked_at = ([*dict.fromkeys(link[side] for link in tops["top"])] for side in (0, 1))
    values: Values = {
        "class": float(len(pairs)),
        "gives": [[sums[word, other] for other in looked_at] for word in looking],
        **{name: [sums[link] for link in links] for name, links in tops.items()},
        "unlike_sum": sum(unlike.values()),
        "all_sum": sum(sums.values()),
        "unlike_percent": 100 * sum(unlike.values()) / sum(sums.values()),
    }
    names = {name: [" → ".join(link) for link in links] for name, links in tops.items()}
    return Evaluated(values, names | {"looking": looking, "looked_at": looked_at})


def nearest_filters(checkpoint: Checkpoint, pairs: Pairs, k: int) -> Evaluated:
    """The distances from filter ``k`` (from 0) of each text to the nearest one of another text, largest first, and the
    mean norm of such a filter; percentages, rounded, are relative to that norm. ``same``: the norm of the component
    shared by all texts."""
    model = checkpoint.model
    assert isinstance(model, AdaQA)
    made: dict[str, Tensor] = {}
    for pair, (_, output) in zip(pairs, _outputs(checkpoint, pairs), strict=True):
        for text, side in zip(pair, (output.trace.q, output.trace.a), strict=True):
            made[text] = side.filters[0, k].flatten()
    x = torch.stack([*made.values()])
    distances = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")  # type: ignore[no-untyped-call]
    nearest = distances.fill_diagonal_(torch.inf).amin(1).sort(descending=True).values.tolist()
    length = x.norm(dim=1).mean().item()
    values: Values = {
        "texts": float(len(made)),
        "nearest": nearest,
        "mean_length": length,
        "closest_percent": round(100 * nearest[-1] / length, 0),
        "farthest_percent": 100 * nearest[0] / length,
        "same_percent": round(100 * model.linear_map(k)[-1].norm().item() / length, 0),
    }
    return Evaluated(values)
