"""Tiny models of any registered architecture, and made-up texts for them."""

import dataclasses

import torch

from core.evidence import (
    AttentionMap,
    AttentiveContext,
    FilterProvenance,
    GeneratedFilters,
    PhraseSelection,
    PooledAttention,
)
from core.evidence.attention_map import FINAL_STATE
from core.models import REGISTRY, build
from core.models.features import EXTRA_SIZES
from core.models.phrases.alignment import LONGEST
from core.reading.batch import Batch, Side
from tests.loops import CHOICES

LENGTHS = ((5, 2), (1, 6), (9, 8), (1, 1), (2, 3))
SIZES = {"input_size": 6, "hidden": 5, "compared": 5, "filters": 4, "width": 3, "code": 5, "perspectives": 3, "k": 3}
SIZES |= {"embedding_dropout": 0.0, "dropout": 0.0}


def tiny(architecture, **settings):
    """Settings of a small model without dropout, as far as the architecture has them."""
    known = {field.name for field in dataclasses.fields(REGISTRY[architecture].config)}
    return {name: value for name, value in SIZES.items() if name in known} | settings


def make(architecture, **settings):
    """A tiny model in double precision; no bias of it is zero and no matrix the identity."""
    torch.manual_seed(11)
    model = build(architecture, tiny(architecture, **settings)).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model


def sentence(length, seed, size=SIZES["input_size"]):
    """Word vectors ``[T, D]``."""
    return torch.randn(length, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def every_settings():
    """(architecture, settings) of all models, under each choice that changes their equations."""
    return [(name, settings) for name in REGISTRY for settings in ({}, *CHOICES.get(name, ()))]


def single(architecture):
    """Whether it reads one text, not a pair."""
    return REGISTRY[architecture].model.reads({}).contexts == (0,)


def several(model):
    """Whether it reads several contexts of a judged first text."""
    return model.reads(dataclasses.asdict(model.config)).lines


def batch_of(model, lengths, judged=None, seed=1):
    """Made-up texts of these lengths (first, second), with linguistic features for a model that reads them. The second
    text is judged, unless the model reads several contexts: then the first text is judged and there are two contexts,
    the second a word longer."""
    judged = judged or ("first" if several(model) else "second")
    first, second = (
        [sentence(row[side], 100 * seed + 2 * k + side, model.config.input_size) for k, row in enumerate(lengths)]
        for side in (0, 1)
    )
    size = EXTRA_SIZES[model.config.linguistic]
    extra = sentence(len(lengths), seed + 50, size) if size else None
    contexts = [] if single(model.spec.name) else [second]
    if several(model) and judged == "first":
        more = enumerate(lengths)
        contexts.append([sentence(row[1] + 1, 1000 * seed + k, model.config.input_size) for k, row in more])
    return Batch.of(first, *contexts, judged="first" if not contexts else judged, extra=extra)


def part_float(part):
    """A side, or several, in float32, with word vectors of about the table's length."""
    return Side(0.4 * part.words.float(), part.mask) if isinstance(part, Side) else tuple(map(part_float, part))


def row(batch, k):
    """Row k of a batch, without pads."""
    sides = [[side.words[k, side.mask[k]]] for side in (batch.first, *batch.contexts)]
    return Batch.of(*sides, judged=batch.judged, extra=None if batch.extra is None else batch.extra[k : k + 1])


def own_attention(output):
    """The override that leaves a model's output unchanged, None without attention: its trace's ``weights``, or its
    ``scores`` if they feed a selection or two softmaxes; all maps of a model with several, with a null word in the
    last column."""
    trace = getattr(output.trace, "matched", output.trace)
    if hasattr(trace, "maps"):
        return trace.maps
    weights = getattr(trace, "weights", None)
    return getattr(trace, "scores", None) if weights is None else weights


def bfloat16_error(architecture, settings):
    """How far the logits are from float32's under mixed precision on the CPU, relative to max(1, |logit|)."""
    torch.manual_seed(2)
    model = build(architecture, tiny(architecture, **settings)).eval()
    batch = batch_of(model, LENGTHS)
    batch = Batch(
        *map(part_float, (batch.first, batch.contexts)),
        batch.judged,
        None if batch.extra is None else batch.extra.float(),
    )
    full = model(batch)
    with torch.autocast("cpu", torch.bfloat16):
        # Which phrases are pooled is a choice, and a choice may fall otherwise: it is made in float32.
        mixed = model(batch, own_attention(full) if PhraseSelection in model.shows(settings) else None)
    assert mixed.logits.shape == full.logits.shape
    apart = (mixed.logits.float() - full.logits).abs() / full.logits.abs().clamp_min(1)
    return apart.max().item()


def learns_by_heart(architecture, **settings):
    """Whether it gives 32 made-up rows their labels within 200 steps."""
    sizes = tiny(architecture)
    larger = {"input_size": 20, "hidden": 40, "filters": 20, "code": 20}
    sizes |= {name: size for name, size in larger.items() if name in sizes}
    torch.manual_seed(0)
    model = build(architecture, sizes | settings).double().train()
    batch = batch_of(model, [(2 + k % 7, 3 + k % 5) for k in range(32)])
    labels = torch.arange(32) % model.config.classes
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(200):
        logits = model(batch).logits
        if torch.equal(logits.argmax(1), labels):
            return True
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, labels).backward()
        optimizer.step()
    return False


def close(ours, expected, bound=1e-9):
    """Relative to max(1, |expected|)."""
    expected = torch.as_tensor(expected, dtype=ours.dtype)
    return ours.shape == expected.shape and bool(((ours - expected).abs() <= bound * expected.abs().clamp_min(1)).all())


def with_pads(batch, noise):
    """A copy with three more pads per side, and noise on every pad."""

    def padded(side):
        words = torch.nn.functional.pad(side.words, (0, 0, 0, 3))
        mask = torch.nn.functional.pad(side.mask, (0, 3))
        return Side(words.masked_fill(~mask[..., None], noise), mask)

    return Batch(padded(batch.first), tuple(map(padded, batch.contexts)), batch.judged, batch.extra)


def tensors(trace, name="trace"):
    """(name, tensor) of all tensors of a trace, however deep."""
    if isinstance(trace, torch.Tensor):
        yield name, trace
    elif dataclasses.is_dataclass(trace):
        for field in dataclasses.fields(trace):
            yield from tensors(getattr(trace, field.name), f"{name}.{field.name}")
    elif isinstance(trace, tuple):
        for place, value in enumerate(trace):
            yield from tensors(value, f"{name}[{place}]")


def units(record, role, checkpoint, explanation):
    """How many rows or columns a record has for the sentence with this role."""
    words, kind = len(explanation.sentence(role).tokens), getattr(record, "units", "words")
    if kind == "phrases" or isinstance(record, PhraseSelection):
        return sum(min(LONGEST, end) for end in range(1, words + 1))
    if kind == FINAL_STATE and role == record.rows:
        return 1
    return max(1, words - checkpoint.model.config.width + 1) if kind == "windows" else words


def fits(record, checkpoint, explanation):
    """Whether every role that a record names is one of the pair's, and its numbers have that sentence's size."""
    if isinstance(record, AttentionMap | AttentiveContext):
        shape = [units(record, role, checkpoint, explanation) for role in (record.rows, record.columns)]
        matrices = [m for m in (getattr(record, "scores", ()), record.weights) if m]
        assert len(getattr(record, "null", ())) in (0, shape[0])
        return matrices and all([len(m), *{len(row) for row in m}] == shape for m in matrices)
    if isinstance(record, PooledAttention):
        return len(record.weights) == units(record, record.role, checkpoint, explanation)
    if isinstance(record, PhraseSelection):
        assert [side.role for side in record.sides] == [explanation.first.role, explanation.second.role]
        return all(len(side.phrases) == units(record, side.role, checkpoint, explanation) for side in record.sides)
    if isinstance(record, FilterProvenance):
        count = len(explanation.sentence(record.rows).tokens)
        return all(0 <= f.window[0] <= f.position < f.window[1] <= count for f in record.filters)
    if isinstance(record, GeneratedFilters):
        return explanation.sentence(record.made_from).tokens and explanation.sentence(record.applied_to).tokens
    return True
