"""From a model and a pair of sentences to the records that every screen draws."""

from __future__ import annotations

import time
from dataclasses import replace

import torch
from torch import Tensor

from core.checkpoint import Checkpoint
from core.evidence import (
    AttentiveContext,
    ContextWord,
    Explanation,
    FilterProvenance,
    GeneratedFilters,
    Sentence,
    TokenRecord,
)
from core.models.acnn.model import ACNN, AdaQA
from core.models.phrases.alignment import into_slots
from core.models.phrases.model import PhraseMatcher
from core.reading.batch import Batch
from core.reading.tokens import MAX_CHARACTERS, MAX_TOKENS, Token, tokenize, well_formed
from core.reading.word_table import WordTable, default_table
from core.records import evidence_of


class PairError(ValueError):
    """A pair that no model can read; the message is one sentence with the remedy."""


def read_sentence(text: str, role: str, words: WordTable, limit: int = MAX_TOKENS) -> tuple[Sentence, list[Token]]:
    """Split one side, cut it after ``limit`` tokens and mark unknown words. Raises PairError when it holds no word."""
    text = well_formed(text)
    tokens = tokenize(text)
    if not any(token.is_word for token in tokens):
        what = "is empty" if not text.strip() else "has no word in it"
        raise PairError(f"The {role} {what}: type a sentence with at least one word.")
    kept = tokens[:limit]
    records = tuple(TokenRecord(t.text, t.start, t.end, t.is_word and not words.known(t.norm)) for t in kept)
    return Sentence(role, text, records, len(tokens) - len(kept)), kept


@torch.inference_mode()
def explain(
    checkpoint: Checkpoint,
    first: str,
    second: str = "",
    *,
    attention: Tensor | None = None,
    nearest_for: int | None = None,
) -> Explanation:
    """Run the model on one pair and tell what it did.

    ``first`` and ``second`` stand in the data set's order (premise, hypothesis). A model of single texts reads
    ``first`` alone: ``second`` is not looked at, and the explanation's second sentence has no role and no words.
    ``attention [T_x, T_y]`` takes the place of the model's own weights (what-if editing); for a phrase model it is the
    alignment of phrases, rows and columns as its :class:`PhraseSelection` numbers them, for AdaQA's matching ``[T'_x,
    T'_y]`` over windows. ``nearest_for`` names the
    judged word whose attentive context is also told in words. Raises PairError for a side without a word, ValueError
    for an attention of another shape.
    """
    start = time.perf_counter()
    roles, words = checkpoint.roles, checkpoint.words
    first_limit, second_limit = checkpoint.token_limits
    first_sentence, first_tokens = read_sentence(first, roles["first"], words, first_limit)
    if checkpoint.single:
        second_sentence, second_tokens = Sentence("", "", ()), first_tokens
    else:
        second_sentence, second_tokens = read_sentence(second, roles["second"], words, second_limit)
    first_is_judged = roles["judged"] == roles["first"]
    judged, context = (first_tokens, second_tokens) if first_is_judged else (second_tokens, first_tokens)
    judged_vectors, context_vectors = (words.vectors([t.norm for t in side]) for side in (judged, context))
    extra = _linguistic(checkpoint, first_tokens, second_tokens)
    batch = Batch.from_vectors([judged_vectors], [context_vectors], extra)
    model = checkpoint.model
    if attention is not None and isinstance(model, PhraseMatcher):
        attention = into_slots(attention, len(judged_vectors), len(context_vectors), model.config.longest)
    logits, trace = model(batch, None if attention is None else attention[None])
    probabilities = torch.softmax(logits[0].double(), 0)
    result = Explanation(
        model=checkpoint.name,
        title=checkpoint.card["title"],
        first=first_sentence,
        second=second_sentence,
        judged=roles["judged"],
        labels=checkpoint.labels,
        logits=tuple(logits[0].tolist()),
        probabilities=tuple(probabilities.tolist()),
        evidence=evidence_of(model, trace, roles, extra, overridden=attention is not None),
        warnings=_warnings(checkpoint, first_sentence, second_sentence),
    )
    if nearest_for is not None:
        result = with_nearest(checkpoint, result, nearest_for)
    return replace(result, milliseconds=(time.perf_counter() - start) * 1000)


def nearest_to_context(checkpoint: Checkpoint, explanation: Explanation, row: int, k: int = 5) -> ContextWord:
    """The table's words nearest to word ``row``'s attentive context, as a mix of input vectors Σ_j weights_ij x_j.

    The model's own context vector lives in its hidden space, where no word has a place; the same weights over the input
    word vectors give a vector that the word table can name.
    """
    record = explanation.find(AttentiveContext)
    if record is None or not 0 <= row < len(record.weights):
        raise IndexError(f"this explanation has no attentive context for word {row}")
    side = explanation.sentence(record.columns)
    tokens = tokenize(side.text)[: len(side.tokens)]
    mix = torch.tensor(record.weights[row]) @ checkpoint.words.vectors([t.norm for t in tokens])
    found = checkpoint.words.nearest(mix, k)
    return ContextWord(tuple(word for word, _ in found), tuple(cosine for _, cosine in found))


def with_nearest(checkpoint: Checkpoint, explanation: Explanation, row: int) -> Explanation:
    """The same explanation with the nearest words of one row's attentive context filled in (if it has contexts)."""
    record = explanation.find(AttentiveContext)
    if record is None or not 0 <= row < len(record.weights):
        return explanation
    nearest = list(record.nearest)
    nearest[row] = nearest_to_context(checkpoint, explanation, row)
    filled = replace(record, nearest=tuple(nearest))
    evidence = tuple(filled if item is record else item for item in explanation.evidence)
    return replace(explanation, evidence=evidence)


@torch.inference_mode()
def window_values(checkpoint: Checkpoint, explanation: Explanation, bank: GeneratedFilters, filter: int) -> list[float]:
    """What one generated filter gives for every window of the text that it convolves, before the ReLU, bias included.

    Its :class:`FilterProvenance` tells the largest of them alone.
    """
    sentence = explanation.sentence(bank.applied_to)
    model = checkpoint.model
    assert isinstance(model, ACNN | AdaQA), "only these models make filters"
    norms = [token.norm for token in tokenize(sentence.text)[: len(sentence.tokens)]]
    windows = model.windows(checkpoint.words.vectors(norms)[None], torch.ones(1, len(norms), dtype=torch.bool))
    values = windows.values[0] @ torch.tensor(bank.bank[filter]).flatten()
    won = next(r for r in explanation.evidence if isinstance(r, FilterProvenance) and r.rows == bank.applied_to)
    return (values + won.filters[filter].bias).tolist()  # type: ignore[no-any-return]


def _linguistic(checkpoint: Checkpoint, first: list[Token], second: list[Token]) -> Tensor | None:
    """The pair's linguistic features ``[1, F]``, for models that read them. Raises PairError without WordNet."""
    kind = str(getattr(checkpoint.model, "extra", "none"))
    if kind == "none":
        return None
    from core.linguistics.features import LinguisticsError, extra_features

    try:
        return torch.tensor([extra_features(kind, first, second, default_table())])
    except LinguisticsError as error:
        raise PairError(str(error)) from error


def _warnings(checkpoint: Checkpoint, *sides: Sentence) -> tuple[str, ...]:
    """What is unlike the training data, one sentence each."""
    out: list[str] = []
    typical = checkpoint.card.get("typical_length", {})
    for side in sides:
        if not side.role:
            continue
        words = [t for t in side.tokens if any(c.isalnum() for c in t.text)]
        unknown = sum(t.unknown for t in words)
        foreign = sum(1 for t in words for c in t.text if c.isalpha() and not _latin(c))
        letters = sum(1 for t in words for c in t.text if c.isalpha())
        if side.truncated or len(side.text) > MAX_CHARACTERS:
            out.append(f"The {side.role} was cut after {len(side.tokens)} words; the rest was not read.")
        if foreign * 2 > max(letters, 1):
            out.append(
                f"The {side.role} is in a script that the model was not trained on: read its verdict as a guess."
            )
        elif unknown * 2 > len(words):
            out.append(f"Most words of the {side.role} are unknown to the word table: read its verdict as a guess.")
        longest = typical.get(side.role)
        if longest and not side.truncated and len(side.tokens) > longest:
            out.append(
                f"The {side.role} has {len(side.tokens)} words; 99 % of those the model was trained on had at most "
                f"{longest}."
            )
    return tuple(out)


def _latin(character: str) -> bool:
    return character < "ɐ" or "Ḁ" <= character <= "ỿ"
