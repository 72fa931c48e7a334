"""Explains a model's prediction for a pair, as evidence records for the screens."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable
from dataclasses import replace

import torch

from core.checkpoint import Checkpoint
from core.checkpoint.checkpoint import check_finite
from core.evidence import AttentiveContext, ContextWord, Explanation, FilterProvenance, Record
from core.evidence.explanation import LABELS, SCORE, UNFITTED, records_of_every_model
from core.input_warnings import pair_warnings
from core.layers.attention import Override
from core.models.answers import SIGMOID
from core.models.intervention import Intervention
from core.reading.reader import PairError, Reading, ReadText
from core.shared_cache import SharedCache
from core.wording import capital, the


@torch.inference_mode()
def explain(
    checkpoint: Checkpoint,
    first: str,
    second: str = "",
    *,
    override: Override | None = None,
    crossings: bool = True,
    records: Collection[type[Record]] | None = None,
    nearest_for: int | None = None,
    head: str = "",
) -> Explanation:
    """Run the model on one pair and return its verdict with the evidence.

    ``first`` and ``second`` are in the data set's order (premise, hypothesis). A model of single texts reads ``first``
    alone and ignores ``second``. ``override`` replaces the model's attention (what-if editing), indexed like the
    model's record: ``[T_x, T_y]`` over words, phrases or windows, with an extra column if the record has a null word;
    for a model with two attention maps a pair of them, in the records' order (None keeps the model's map). Without
    ``crossings`` the model ignores crossing words (q = 0). ``records`` names the record types to build, None for all.
    ``nearest_for``: index of the judged word whose attentive context is also described by its nearest words. ``head``:
    the transformer head whose attention is shown (:mod:`core.layers.heads`), empty for the card's. Raises PairError
    for a side without words and for NaN or infinite logits, ValueError for an override of another shape and, without
    crossings, for a model that does not use them.
    """
    start = time.perf_counter()
    reading = checkpoint.read(first, second)
    check_words(reading)
    model = checkpoint.model
    laid_out = None if override is None else model.lay_out(override, reading)
    output = model.under(checkpoint.reader.batch(reading), Intervention(laid_out, crossings, head))
    check_finite(checkpoint, output.logits)
    texts = reading.texts()
    sides = [side.sentence(checkpoint.reader) for side in texts]
    wanted = model.shows(checkpoint.card["config"]) if records is None else records
    result = Explanation(
        model=checkpoint.name,
        title=checkpoint.card["title"],
        first=sides[0],
        contexts=tuple(sides[1:]),
        judged=checkpoint.roles["judged"],
        labels=checkpoint.labels,
        logits=tuple(output.logits[0].tolist()),
        probabilities=tuple(model.answers.chances(output.logits[0]).tolist()),
        answer=answer_of(checkpoint),
        evidence=tuple(model.evidence(reading, output, wanted, overridden=override is not None)),
        warnings=tuple(pair_warnings(checkpoint, texts)),
    )
    result = replace(result, evidence=(*result.evidence, *records_of_every_model(texts, result, records)))
    if nearest_for is not None:
        result = with_nearest(checkpoint, result, nearest_for)
    return replace(result, milliseconds=(time.perf_counter() - start) * 1000)


def answer_of(checkpoint: Checkpoint) -> str:
    """The kind of a checkpoint's verdict (:attr:`core.evidence.Explanation.answer`)."""
    if len(checkpoint.labels) > 1:
        return LABELS if checkpoint.model.answers.activation == SIGMOID else ""
    return UNFITTED if checkpoint.model.answers.unfitted else SCORE


def explained(
    checkpoint: Checkpoint,
    first: str,
    second: str = "",
    head: str = "",
) -> Explanation:
    """The explanation of a pair, cached for all threads; ``head`` as in :func:`explain`. A checkpoint whose files have
    changed counts as a different one. Raises PairError and HeadError as :func:`explain` does."""
    version = checkpoint.folder, checkpoint.state

    def compute() -> Explanation:
        # A warm-up, because a model's first run is slower and times are compared; external models run once when loaded.
        if not checkpoint.seconds:
            _FIRST_RUNS(version, lambda: explain(checkpoint, "A sentence.", "A sentence."))
        return explain(checkpoint, first, second, head=head)

    return kept(checkpoint, (first, second, head), compute)


def kept(checkpoint: Checkpoint, key: Hashable, make: Callable[[], Explanation]) -> Explanation:
    """The result of ``make``, cached for all threads by the version of the checkpoint's files and by ``key``."""
    return _EXPLANATIONS((checkpoint.folder, checkpoint.state, key), make)


def _size(explanation: Explanation) -> int:
    """The approximate memory of an explanation in bytes (measured on short and long pairs, 2026-11-29)."""
    cells = len(explanation.first.tokens) * sum(len(side.tokens) for side in explanation.contexts)
    filters = sum(len(record.filters) for record in explanation.evidence if isinstance(record, FilterProvenance))
    return 10_000 + 150 * cells + 900 * filters


_EXPLANATIONS: SharedCache[Explanation] = SharedCache(64_000_000, _size)
_FIRST_RUNS: SharedCache[Explanation] = SharedCache(100)


def check_words(reading: Reading) -> None:
    """Raises PairError if a side has no word."""
    for side in reading.texts():
        if not side.has_word:
            what = "is empty" if not side.text.strip() else "has no word in it"
            raise PairError(f"{capital(the(side.role))} {what}: type a sentence with at least one word.")


def reading_of(checkpoint: Checkpoint, explanation: Explanation, role: str) -> ReadText:
    """The tokens behind a sentence in an explanation."""
    sentence = explanation.sentence(role)
    tokens = checkpoint.reader.tokens(sentence.text)[: len(sentence.tokens)]
    return ReadText(role, sentence.text, tuple(tokens), sentence.truncated)


def nearest_to_context(checkpoint: Checkpoint, explanation: Explanation, row: int, rows: str = "") -> ContextWord:
    """The vocabulary words nearest to word ``row``'s attentive context, as the sum of input vectors Σ_j weights_ij x_j.

    ``rows``: the role of the sentence with the word, by default the rows of the first contexts. The model's own context
    vector is in its hidden space, which has no word vectors; the same weights applied to input vectors give a vector in
    the word table's space. Empty if most of the sum (more than half of its squared length) comes from out-of-vocabulary
    words. Raises IndexError for a context that does not exist.
    """
    record = _contexts(explanation, row, rows)
    if record is None:
        raise IndexError(f"this explanation has no attentive context for word {row}")
    norms = reading_of(checkpoint, explanation, record.columns).norms
    parts = torch.tensor(record.weights[row])[:, None] * checkpoint.reader.vectors(norms)
    mix = parts.sum(0)
    if parts[[checkpoint.words.spelt(norm) for norm in norms]].sum(0) @ mix > mix @ mix / 2:
        return ContextWord((), ())
    nearest = checkpoint.words.nearest(mix)
    return ContextWord(tuple(word for word, _ in nearest), tuple(cosine for _, cosine in nearest))


def with_nearest(checkpoint: Checkpoint, explanation: Explanation, row: int, rows: str = "") -> Explanation:
    """A copy with the nearest words for one row's attentive context filled in (if it has contexts); ``rows`` as in
    :func:`nearest_to_context`."""
    record = _contexts(explanation, row, rows)
    if record is None:
        return explanation
    nearest = list(record.nearest)
    nearest[row] = nearest_to_context(checkpoint, explanation, row, rows)
    filled = replace(record, nearest=tuple(nearest))
    evidence = tuple(filled if item is record else item for item in explanation.evidence)
    return replace(explanation, evidence=evidence)


def _contexts(explanation: Explanation, row: int, rows: str) -> AttentiveContext | None:
    records = (record for record in explanation.evidence if isinstance(record, AttentiveContext))
    record = next((record for record in records if rows in ("", record.rows)), None)
    return record if record is not None and 0 <= row < len(record.weights) else None
