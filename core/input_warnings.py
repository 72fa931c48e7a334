"""One-sentence warnings about input that the model cannot read as intended, or that is unlike its training data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.checkpoint import Checkpoint
from core.linguistics.features import NEGATIONS
from core.linguistics.languages import foreign_language
from core.reading.reader import ReadText
from core.reading.tokens import AUXILIARIES, Token, as_typed
from core.wording import capital, counted, the

_LONG = 4
"""Minimum number of letters in a long word."""
_GUESS = "treat the verdict as a guess"
_NAMED = 4
"""Maximum number of words named in one sentence."""
_MISSPELT_NEGATION = re.compile(
    rf"(?<![\w'-])(?:{'|'.join(sorted(AUXILIARIES))})(?:nt|[^\w\s]nt|n[^\w\s'-]t|n\s*[^\w\s.!?-]\s+t)(?![\w'])",
    re.IGNORECASE,
)
"""doesnt, does'nt, doesn;t and doesn ' t; the tokeniser itself reads doesn't, does n't and doesn 't."""
_SPACED_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?![\w,]|\.\d)")
_QUESTION = re.compile(r"""[?？]["'”’)\]!?.\s]*$""")
_END = re.compile(r"[.!?](?=[\s\"'”’)\]])|[。！？؟।\n]")
_ASKING = re.compile(
    r"\W*(?:(?:who|what|which|whose|where|when|why|how)\W+(?:is|are|was|were|do|does|did|can|could|will|would|should|has|"
    r"have|many|much)|(?:is|are|was|were|do|does|did|can|could|will|would|should|has)\W+"
    r"(?:the|an?|this|that|these|those|there|he|she|it|they|we|you|i|any|some|his|her|their|your|my|anyone|someone))\b",
    re.IGNORECASE,
)


def input_warnings(checkpoint: Checkpoint, side: ReadText) -> list[str]:
    """Warnings about one text of a pair, or a single text."""
    unreadable = _unreadable if checkpoint.of_vectors else _unknown_to_tokeniser
    out = [*_cut(side), *_asked(checkpoint, side), *unreadable(checkpoint, side)]
    longest = checkpoint.card.get("typical_length", {}).get(side.role)
    if longest and not side.truncated and len(side.tokens) > longest:
        name, count = capital(the(side.role)), counted(len(side.tokens), "word")
        out.append(f"{name} has {count}; 99 % of those the model was trained on had at most {longest}.")
    return out


def pair_warnings(checkpoint: Checkpoint, sides: Sequence[ReadText]) -> list[str]:
    """The warnings about all texts; one that holds for each of them is given once."""
    everywhere = "both texts" if len(sides) == 2 else "all texts"
    warned = [(the(side.role), input_warnings(checkpoint, side)) for side in sides]
    general = [{warning.replace(role, everywhere) for warning in some} for role, some in warned]
    shared: set[str] = set.intersection(*general) if len(sides) > 1 else set()
    out: dict[str, None] = {}
    for role, some in warned:
        for warning in some:
            said = warning.replace(role, everywhere)
            out[said if said in shared else warning] = None
    return list(out)


def is_unlike(checkpoint: Checkpoint, side: ReadText) -> bool:
    """Whether a text is so unlike the training data that its verdict is a guess: not if it only might be (a name is an
    unknown word too), and not for its length alone, which a hundredth of the training data exceeds."""
    return any(warning.endswith(f": {_GUESS}.") for warning in input_warnings(checkpoint, side))


def _cut(side: ReadText) -> Iterator[str]:
    if side.cut:
        yield f"{capital(the(side.role))} was cut after {counted(len(side.tokens), 'word')}; the rest was not read."


def _asked(checkpoint: Checkpoint, side: ReadText) -> Iterator[str]:
    """A question neither entails nor contradicts anything."""
    stated = side.role == "premise" or (side.role in ("hypothesis", "claim") and len(checkpoint.labels) == 3)
    text = _read(side)
    if stated and (_QUESTION.search(text) or _ASKING.match(text)):
        yield f"{capital(the(side.role))} is a question, and the model compares statements: {_GUESS}."


def _unreadable(checkpoint: Checkpoint, side: ReadText) -> Iterator[str]:
    """Words that the word vectors lack or map to other words."""
    role, text, known = the(side.role), _read(side), checkpoint.reader.known
    words = [token for token in side.tokens if token.is_word]
    unknown = [token for token in words if not known(token.norm)]
    yield from _negations(role, text, unknown)
    numbers = [token for token in unknown if token.norm[0].isdigit() and checkpoint.words.spelt(token.norm)]
    if numbers:
        yield f"{_missing('number', numbers, role)}: {_GUESS}."
    spaced = _SPACED_NUMBER.search(text)
    if spaced:
        yield f"“{spaced.group()}” in {role} is read as several numbers: write it without spaces."
    yield from _another_script_or_language(side, words) or _unknown(side, words, unknown, "the word vectors")


def _another_script_or_language(side: ReadText, words: Sequence[Token]) -> list[str]:
    """A warning if a sentence of the text is not written in our letters, or not in English; our models know no other
    language."""
    role = the(side.role)
    for sentence in _sentences(side.text, words):
        letters = [c for token in sentence for c in token.text if c.isalpha()]
        whole = role if len(sentence) == len(words) else f"a sentence of {role}"
        if 2 * sum(not _latin(c) for c in letters) > max(len(letters), 1):
            return [f"The model was not trained on the script of {whole}: {_GUESS}."]
        language = foreign_language([token.norm for token in sentence])
        if language:
            return [f"{capital(whole)} seems to be {language}, and the model was trained on English: {_GUESS}."]
    return []


def _sentences(text: str, words: Sequence[Token]) -> Iterator[list[Token]]:
    """The words of each sentence. Here, abbreviations end sentences too, which does no harm."""
    sentence: list[Token] = []
    for word in words:
        if sentence and _END.search(text, sentence[-1].end, word.start):
            yield sentence
            sentence = []
        sentence.append(word)
    yield sentence


def _unknown_to_tokeniser(checkpoint: Checkpoint, side: ReadText) -> Iterator[str]:
    """Words for which the model's own tokeniser has no pieces; its languages are unknown."""
    lacking = checkpoint.unknown(side.sentence(checkpoint.reader))
    words = [token for token, lacks in zip(side.tokens, lacking, strict=True) if lacks or token.is_word]
    unknown = [token for token, lacks in zip(side.tokens, lacking, strict=True) if lacks]
    yield from _unknown(side, words, unknown, "the model’s tokeniser")


def _unknown(side: ReadText, words: Sequence[Token], unknown: Sequence[Token], to: str) -> Iterator[str]:
    role = the(side.role)
    if 2 * len(unknown) > len(words):
        yield f"Most words of {role} are unknown to {to}: {_GUESS}."
    elif _misspelt(side, unknown):
        odd = ", ".join(token.text for token in unknown[:_NAMED])
        yield f"Words of {role} are unknown to {to} ({odd}): if they are misspelt or not English, {_GUESS}."


def _negations(role: str, text: str, unknown: Sequence[Token]) -> Iterator[str]:
    missing = [token for token in unknown if token.norm in NEGATIONS]
    if missing:
        yield f"{_missing('negation', missing, role)}: {_GUESS}."
    misspelt = _MISSPELT_NEGATION.search(as_typed(text))
    if misspelt:
        word = text[misspelt.start() : misspelt.end()]
        yield f"“{word}” in {role} is not read as a negation: if it is one, write “not”."


def _read(side: ReadText) -> str:
    """The part of a text that was not truncated."""
    return side.text[: side.tokens[-1].end] if side.tokens else ""


def _missing(what: str, tokens: Sequence[Token], role: str) -> str:
    named = ", ".join(f"“{text}”" for text in list(dict.fromkeys(token.text for token in tokens))[:_NAMED])
    these, are = (f"The {what}", "is") if named.count("“") == 1 else (f"The {what}s", "are")
    return f"{these} {named} in {role} {are} missing from the word vectors"


def _misspelt(side: ReadText, unknown: Sequence[Token]) -> bool:
    """Whether too many long words are unknown to all be names: at least two, and a third of them (short words are
    mostly known even when misspelt)."""
    long = [sum(c.isalpha() for c in token.text) >= _LONG for token in side.tokens]
    odd = sum(sum(c.isalpha() for c in token.text) >= _LONG for token in unknown)
    return odd > 1 and 3 * odd >= sum(long)


def _latin(character: str) -> bool:
    return character < "ɐ" or "Ḁ" <= character <= "ỿ"
