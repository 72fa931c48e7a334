"""The shared word table: one frozen int8 vector per word with a scale per row, and n-gram vectors for all other words.

The table is built by ``python -m trainers.paper words`` (trained on the inference loss, from ConceptNet Numberbatch and
GloVe) and never changes afterwards, so that checkpoints trained at different times read the same inputs.

Vectors of out-of-vocabulary words:

1. a hyphenated compound whose parts are all in the table ("red-haired") is the mean of its parts;
2. any other word is the sum of its hashed character n-grams (:func:`ngram_vector`), which need no storage. Words that
   only GloVe has include the same n-gram vector as a summand, so that an inflected or misspelt name lies near the name.

Both kinds count as unknown, and the page marks them.

A checkpoint whose training changed the vectors of some words has an overlay table with just these rows; all other words
are read from the shared table beneath it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from core.errors import UserError
from core.files import parse_json
from core.reading.tokens import normalise

FORMAT = "words-1"
NGRAM_SIZES = (3, 4, 5, 6)
FREQUENT = 40_000
"""Rows searched for nearest words: rare ones mean nothing to users."""
_AGAIN = "get it again from the repository"
DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "pretrained" / "words"


class WordTableError(UserError):
    """The folder has no readable word table; the message contains the remedy."""


def ngram_vector(word: str, width: int) -> np.ndarray:
    """Sum of one fixed random sign vector per character n-gram, normalised to length 1: ``float32 [width]``.

    n-grams of 3 to 6 characters of ``<word>`` (bounds as in fastText, Bojanowski et al. 2017). Each n-gram's vector is
    the bits of its BLAKE2b digest read as -1/+1, so it is the same in every process and on every machine, unlike
    Python's own ``hash``. The cosine of two words is then about the cosine of their n-gram counts.
    """
    bounded = f"<{word[:64]}>"
    ngrams = [bounded[i : i + n] for n in NGRAM_SIZES for i in range(max(1, len(bounded) - n + 1))]
    blocks = [_digests(ngrams, bytes([block])) for block in range(-(-width // 512))]
    bits = np.unpackbits(np.concatenate(blocks, axis=1), axis=1)[:, :width]
    total: np.ndarray = (2 * bits.sum(axis=0, dtype=np.int32) - len(ngrams)).astype(np.float32)
    length = float(np.linalg.norm(total))
    return total / length if length else total


def _digests(ngrams: Sequence[str], salt: bytes) -> np.ndarray:
    """The digest bytes of each n-gram, ``[n, 64]``."""
    digests = (hashlib.blake2b(n.encode("utf-8", "surrogatepass"), digest_size=64, salt=salt).digest() for n in ngrams)
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, 64)


class WordTable:
    """Word vectors in int8 with one scale per row, ordered by frequency if known.

    Attributes: ``words`` (list of normalised forms), ``codes`` int8 ``[V, D]``, ``scales`` float32 ``[V]``,
    ``unknown_scale`` (norm of an unknown word's vector), ``name``, ``sha256`` (of the file it was read from) and
    ``beneath``, the table that holds all words without a row here. Immutable, so threads may share it.
    """

    def __init__(
        self,
        words: Sequence[str],
        codes: Tensor,
        scales: Tensor,
        unknown_scale: float,
        name: str,
        sha256: str = "",
        beneath: WordTable | None = None,
    ) -> None:
        if codes.ndim != 2 or codes.shape[0] != len(words) or scales.shape != (len(words),):
            raise WordTableError(
                f"a word table of {len(words)} words needs codes [{len(words)}, D] and scales [{len(words)}], "
                f"got {list(codes.shape)} and {list(scales.shape)}"
            )
        if beneath is not None and beneath.width != codes.shape[1]:
            raise WordTableError(f"{name} has rows of {codes.shape[1]} numbers, the table beneath it {beneath.width}")
        self.words = list(words)
        self.codes, self.scales, self.unknown_scale = codes, scales, unknown_scale
        self.name, self.sha256, self.beneath = name, sha256, beneath
        self._row = {word: i for i, word in enumerate(self.words)}
        for word in [word for word in self.words if "," in word]:  # "1,000" is looked up as "1000"
            self._row.setdefault(normalise(word), self._row[word])

    @classmethod
    def from_vectors(
        cls, words: Sequence[str], vectors: Tensor, unknown_scale: float, name: str, beneath: WordTable | None = None
    ) -> WordTable:
        """Quantise float vectors ``[V, D]``: codes = round(v / s) with s = max|v| / 127 per row."""
        scales = vectors.abs().amax(1).clamp_min(1e-12) / 127
        codes = torch.round(vectors / scales[:, None]).clamp(-127, 127).to(torch.int8)
        return cls(words, codes, scales.to(torch.float32), unknown_scale, name, beneath=beneath)

    @property
    def width(self) -> int:
        """D, the number of dimensions."""
        return int(self.codes.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def known(self, norm: str) -> bool:
        """Whether this table, or the one beneath it, has a row for this normalised form."""
        return norm in self._row or (self.beneath is not None and self.beneath.known(norm))

    def rank(self, norm: str) -> int | None:
        """The rank of this normalised form among the table's own words, from 1; None if it is not one of them."""
        return self._row[norm] + 1 if norm in self._row else None

    def spelt(self, norm: str) -> bool:
        """Whether the vector of this normalised form is built from character n-grams: neither the form nor all parts of
        a compound have rows."""
        if self.beneath is not None:
            return norm not in self._row and self.beneath.spelt(norm)
        return norm not in self._row and not self._parts(norm)

    def vectors(self, norms: Sequence[str]) -> Tensor:
        """Vectors of normalised forms (``Token.norm``): float32 ``[T, D]``, unknown words included."""
        out = torch.zeros(len(norms), self.width) if self.beneath is None else self.beneath.vectors(norms)
        rows = [self._row.get(norm, -1) for norm in norms]
        here = [i for i, row in enumerate(rows) if row >= 0]
        if here:
            numbers = torch.tensor([rows[i] for i in here])
            out[here] = self.codes[numbers].to(torch.float32) * self.scales[numbers][:, None]
        for i, row in enumerate(rows):
            if row < 0 and self.beneath is None:
                out[i] = self._unknown(norms[i])
        return out

    def _unknown(self, norm: str) -> Tensor:
        parts = self._parts(norm)
        if parts:
            return self.vectors(parts).mean(0)
        return torch.from_numpy(ngram_vector(norm, self.width)) * self.unknown_scale

    def _parts(self, norm: str) -> list[str]:
        """The parts of a compound if all of them have rows, else none."""
        parts = [part for part in norm.split("-") if part]
        return parts if len(parts) > 1 and all(part in self._row for part in parts) else []

    def nearest(self, vector: Tensor, k: int = 5) -> list[tuple[str, float]]:
        """The k words with the largest cosine to ``vector [D]`` among the first ``FREQUENT`` rows, best first; with a
        table beneath, among both tables' rows."""
        return self.nearest_to_each(vector[None], k)[0]

    def nearest_to_each(self, vectors: Tensor, k: int = 5) -> list[list[tuple[str, float]]]:
        """:meth:`nearest` of each of ``vectors [n, D]``, in one pass over the table."""
        if self.beneath is None:
            return self._nearest(vectors, k)
        # At most all of this table's words are overridden among the nearest ones beneath.
        below = self.beneath.nearest_to_each(vectors, k + len(self))
        both = (
            own + [pair for pair in other if pair[0] not in self._row]
            for own, other in zip(self._nearest(vectors, k), below, strict=True)
        )
        return [sorted(pairs, key=lambda pair: -pair[1])[:k] for pairs in both]

    def _nearest(self, vectors: Tensor, k: int) -> list[list[tuple[str, float]]]:
        vectors = vectors.to(torch.float32)
        # Block by block: converted to 32 bits, all rows together do not fit into a processor's cache.
        blocks = torch.split(self.codes[:FREQUENT], 4096)
        products = torch.cat([vectors @ rows.to(torch.float32).T for rows in blocks], dim=1)  # [n, FREQUENT]
        cosines = products / (self._lengths * vectors.norm(dim=1, keepdim=True)).clamp_min(1e-9)
        best = torch.topk(cosines, min(k, cosines.shape[1]))
        return [
            [(self.words[i], c) for c, i in zip(values, places, strict=True)]
            for values, places in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]

    @functools.cached_property
    def _lengths(self) -> Tensor:
        """Norms of the codes searched by :meth:`nearest`."""
        return torch.linalg.vector_norm(self.codes[:FREQUENT].to(torch.float32), dim=1)

    def save(self, folder: Path) -> str:
        """Write ``words.safetensors`` into ``folder`` and return its SHA-256 (words are UTF-8, one per line)."""
        folder.mkdir(parents=True, exist_ok=True)
        text = torch.frombuffer(bytearray("\n".join(self.words).encode()), dtype=torch.uint8)
        # A single key: safetensors writes several in random order, and equal tables must have equal checksums.
        meta = {"format": FORMAT, "name": self.name, "unknown_scale": self.unknown_scale}
        path = folder / "words.safetensors"
        tensors = {"codes": self.codes, "scales": self.scales, "words": text}
        save_file(tensors, path, metadata={"pairlens": json.dumps(meta, sort_keys=True)})
        path.chmod(0o644)
        return file_sha256(path)

    @classmethod
    def load(cls, folder: Path, beneath: WordTable | None = None) -> WordTable:
        """Read ``folder/words.safetensors``. Raises WordTableError if it is missing, truncated, in another format, or
        incompatible with the table ``beneath``."""
        path = folder / "words.safetensors"
        if not path.is_file():
            raise WordTableError(f"no word table at {folder.name}/words.safetensors; {_AGAIN}")
        try:
            with safe_open(path, framework="pt") as file:
                meta = parse_json((file.metadata() or {}).get("pairlens", "{}"))
                if not isinstance(meta, dict) or meta.get("format") != FORMAT:
                    raise WordTableError(f"{folder.name}/words.safetensors is not a PairLens word table")
                words = bytes(file.get_tensor("words").numpy()).decode().split("\n")
                codes, scales = file.get_tensor("codes"), file.get_tensor("scales")
            length, name = float(meta["unknown_scale"]), str(meta["name"])
            if codes.dtype != torch.int8 or not scales.isfinite().all() or not math.isfinite(length):
                raise WordTableError(f"{folder.name}/words.safetensors has vectors that are not finite; {_AGAIN}")
            return cls(words, codes, scales, length, name, file_sha256(path), beneath)
        except WordTableError:
            raise
        except (SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
            raise WordTableError(f"{folder.name}/words.safetensors is damaged ({error}); {_AGAIN}") from error


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes as hexadecimal text."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def default_table() -> WordTable:
    """The table shipped in ``pretrained/words``, read once per process and checked against the checksum in its card."""
    with _READING:  # otherwise concurrent threads would each load a copy
        return _default_table()


_READING = threading.Lock()


@functools.cache
def _default_table() -> WordTable:
    table = WordTable.load(DEFAULT_FOLDER)
    card = json.loads((DEFAULT_FOLDER / "card.json").read_text())
    if card.get("sha256") != table.sha256:
        raise WordTableError(f"pretrained/words does not match its card's checksum; {_AGAIN}")
    return table
