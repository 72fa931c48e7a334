"""WordNet's synonyms, hypernyms and antonyms of a word, read from Debian's files without a download.

Importing this module imports nltk, which takes more than a second: import it lazily.
"""

from __future__ import annotations

import functools
import io
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import nltk
from nltk.corpus.reader.wordnet import Synset, WordNetCorpusReader, WordNetError

from core.linguistics import LinguisticsError

DEFAULT_FOLDER = "/usr/share/wordnet"
HYPERNYM_LEVELS = 3
"""Upward steps that still count as "is a kind of": from dog over domestic animal to animal are two. Further steps add
hardly any pairs in SICK or SNLI."""
_PARTS = ("noun", "verb", "adj", "adv")
_FILES = tuple(f"{kind}.{part}" for kind in ("index", "data") for part in _PARTS) + tuple(f"{p}.exc" for p in _PARTS)
_REMEDY = "run 'sudo apt-get install wordnet-base', or set PAIRLENS_WORDNET to a folder with WordNet's files"


@dataclass(frozen=True)
class Entry:
    """WordNet's information on one word, over all its senses and parts of speech.

    ``forms`` are the word itself and its base forms (WordNet's morphy); ``synsets`` the names of its synsets; ``above``
    the names of the synsets up to ``HYPERNYM_LEVELS`` steps above these; ``opposites`` the forms of its antonyms.
    """

    forms: frozenset[str]
    synsets: frozenset[str]
    above: frozenset[str]
    opposites: frozenset[str]


class Lexicon(WordNetCorpusReader):  # type: ignore[misc]
    """nltk's WordNet reader on a folder of WordNet 3's database files, safe to share between threads.

    Raises LinguisticsError if a file is missing or damaged. It differs from nltk's in the files it opens: Debian's
    folder has no ``lexnames`` and no ``index.sense``, and nltk opens nothing outside its own data folders.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.RLock()
        missing = [name for name in _FILES if not (folder / name).is_file()]
        if missing:
            raise LinguisticsError(f"WordNet's file {missing[0]} is not in {folder}: {_REMEDY}")
        # nltk rejects a reader whose root is not registered; appended, so that its own folders take precedence.
        if str(folder) not in nltk.data.path:
            nltk.data.path.append(str(folder))
        try:
            # False means "no other languages"; None would print a warning.
            super().__init__(str(folder), omw_reader=False)
            self.synsets("entity")
        except (WordNetError, OSError, ValueError, LookupError, StopIteration) as error:
            raise LinguisticsError(f"WordNet's files in {folder} are damaged ({error}): {_REMEDY}") from error

    def open(self, file: str) -> TextIO:
        """One of the database files; its offsets count bytes, so the encoding must use one byte per character."""
        if file == "lexnames":
            # Nothing here reads the names of the lexicographer files, so numbers replace them.
            return io.StringIO("".join(f"{i:02d} {i:02d} 0\n" for i in range(45)))
        return (self._folder / file).open(encoding="latin-1", newline="\n")

    def map_wn(self, version: str = "wordnet") -> None:
        """No mapping to other versions, which only WordNets of other languages need."""

    def synset_from_pos_and_offset(self, pos: str, offset: int) -> Synset:
        """The synset at a byte offset. All threads share one file handle, so only one reads at a time."""
        with self._lock:
            return super().synset_from_pos_and_offset(pos, offset)

    @functools.lru_cache(maxsize=20_000)  # noqa: B019 (one lexicon per process)
    def entry(self, word: str) -> Entry:
        """WordNet's entry for a normalised word (``Token.norm``); for an unknown word, only its form."""
        forms = {word} | {form for pos in "nvar" for form in self._morphy(word, pos)}
        synsets: list[Synset] = self.synsets(word)
        lemmas = (lemma for synset in synsets for lemma in synset.lemmas() if lemma.name().lower() in forms)
        return Entry(
            frozenset(forms),
            frozenset(synset.name() for synset in synsets),
            frozenset(synset.name() for synset in _above(synsets)),
            frozenset(other.name().lower() for lemma in lemmas for other in lemma.antonyms()),
        )


def _above(synsets: Iterable[Synset]) -> Iterator[Synset]:
    level = list(synsets)
    for _ in range(HYPERNYM_LEVELS):
        level = [upper for synset in level for upper in synset.hypernyms() + synset.instance_hypernyms()]
        yield from level


_LOADING = threading.Lock()
_LOADED: dict[Path, Lexicon] = {}


def lexicon() -> Lexicon:
    """WordNet from the folder ``PAIRLENS_WORDNET`` (or else Debian's), read once per process.

    Raises LinguisticsError, with the remedy, if the folder lacks one of WordNet's database files.
    """
    folder = Path(os.environ.get("PAIRLENS_WORDNET") or DEFAULT_FOLDER).resolve()
    with _LOADING:
        if folder not in _LOADED:
            _LOADED[folder] = Lexicon(folder)
        return _LOADED[folder]
