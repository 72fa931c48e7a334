"""Attentive pooling of phrase alignments: GRU k-min-max, k-max-max and full (Yin & Schütze 2017, EACL, sections 3, 4).

    words -> phrase states (GRU 1) -> A_ij = cosine -> a_i = max_j A_ij -> k-min | k-max | full, in the text's order
          -> GRU 2 over the kept phrases of s_1, of s_2, and of both in turn -> s_1, s_2, s_p
    features = [rep, simi, extra] -> logistic regression

rep = [s_1; s_2; s_p; Σ words of s_1; Σ words of s_2], simi = cosine (and 1/(1 + euclid)) of (s_1, s_2) and of the two
sums, extra = the linguistic features of :mod:`core.linguistics.features`.

s_1 is the first sentence of the data set's order (premise, question): ``batch.y``. s_2 is ``batch.x``.

Where we differ: words may pass a learned projection (``projection`` > 0; counted apart), dropout is an option (none in
the paper), and extra features are standardised.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.layers.projection import read_words, word_projection
from core.models.features import EXTRA_SIZES, PairFeatures
from core.models.phrases.alignment import LONGEST, POOLINGS, Kept, PhraseGRU, alignment, best, diversity, keep
from core.reading.batch import Batch

SIMILARITIES = ("cosine+euclid", "cosine")
PARTS = ("rep", "simi", "interaction")


@dataclass(frozen=True)
class PhraseConfig:
    """Sizes and choices. ``projection``: width of a learned map of the word vectors, 0 for none. ``features``: rep,
    simi or rep+simi. ``similarities``: with euclid (section 4.2.1) or cosines alone (4.3.1). ``extra``: the set of
    linguistic features, or none. Dropout runs on the words (one mask a sentence) and on the feature vector's rep."""

    input_size: int
    classes: int = 3
    hidden: int = 256
    projection: int = 0
    longest: int = LONGEST
    pooling: str = "kmin"
    k: int = 5
    features: str = "rep+simi"
    similarities: str = "cosine+euclid"
    extra: str = "none"
    embedding_dropout: float = 0.0
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for name, value, known in (
            ("pooling", self.pooling, POOLINGS),
            ("similarities", self.similarities, SIMILARITIES),
            ("extra", self.extra, tuple(EXTRA_SIZES)),
        ):
            if value not in known:
                raise ValueError(f"unknown {name} {value!r}; known: {', '.join(known)}")
        if not self.parts or any(part not in PARTS for part in self.parts):
            raise ValueError(f"features must be {', '.join(PARTS)} or some of them joined by +, got {self.features!r}")
        if min(self.input_size, self.hidden, self.classes, self.longest, self.k) < 1 or self.projection < 0:
            raise ValueError("input_size, hidden, classes, longest and k must be at least 1, projection at least 0")

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the feature vector beside extra."""
        return tuple(self.features.split("+"))

    @property
    def words(self) -> int:
        """Width of a word as GRU 1 reads it."""
        return self.projection or self.input_size


@dataclass(frozen=True)
class PhraseTrace:
    """What a forward pass computed. P slots of the first sentence (s_1), Q of the second (s_2), see alignment.py."""

    first: Tensor
    """Phrase states of s_1, [B, P, h], zero in empty slots."""
    second: Tensor
    """[B, Q, h]."""
    first_mask: Tensor
    second_mask: Tensor
    sums: Tensor
    """Sums of the words of s_1 and of s_2, [B, 2, D]."""
    scores: Tensor
    """A, or what the caller put in its place, [B, Q, P]: rows are the judged sentence's phrases (s_2)."""
    first_score: Tensor
    """a_1, [B, P]."""
    first_partner: Tensor
    second_score: Tensor
    second_partner: Tensor
    first_kept: Kept
    second_kept: Kept
    features: Tensor
    """The vector that the classifier reads, [B, F]."""


class PhraseMatcher(PairFeatures):
    """GRU phrases with attentive pooling of their alignments: the worst aligned for entailment, the best aligned for
    answer selection (sections 3.2 to 3.4)."""

    def __init__(self, config: PhraseConfig) -> None:
        width, hidden = config.words, config.hidden
        rep = 3 * hidden + 2 * width
        simi = 4 if config.similarities == "cosine+euclid" else 2
        sizes = {"rep": rep, "interaction": 2 * (hidden + width), "simi": simi}
        super().__init__(sum(sizes[part] for part in config.parts), config.classes, config.extra)
        self.config = config
        self.projection = word_projection(config.input_size, width) if config.projection else None
        self.phrases = PhraseGRU(width, hidden, config.longest)
        self.reader = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, batch: Batch, attention: Tensor | None = None) -> tuple[Tensor, PhraseTrace]:
        """Logits ``[B, C]`` and the trace. ``attention [B, Q, P]`` takes the place of the alignment scores A.

        Nothing is kept on the module, so threads may share it. Raises ValueError when ``attention`` has another shape.
        """
        config = self.config
        first_words, second_words = self._words(batch.y, batch.y_mask), self._words(batch.x, batch.x_mask)
        first, first_mask = self.phrases(first_words, batch.y_mask)
        second, second_mask = self.phrases(second_words, batch.x_mask)
        if attention is None:
            scores = alignment(second, first)
        else:
            expected = [len(first), second.shape[1], first.shape[1]]
            if list(attention.shape) != expected:
                raise ValueError(f"the alignment put in place must be {expected}, got {list(attention.shape)}")
            scores = attention.float()
        a_second, a_first = best(scores, second_mask, first_mask), best(scores.mT, first_mask, second_mask)
        first_kept = keep(a_first.score, first_mask, config.pooling, config.k)
        second_kept = keep(a_second.score, second_mask, config.pooling, config.k)
        sums = torch.stack([first_words.sum(1), second_words.sum(1)], dim=1)
        own = self.features_of(sums, *self.read(first, first_kept, second, second_kept))
        features = self.feature_vector(own, batch.extra)
        dropped = features
        if self.training and config.dropout:
            # Similarities and linguistic features are few and each says something of its own: they stay.
            rep = own.shape[1] - self._similarity_count()
            dropped = torch.cat([F.dropout(features[:, :rep], config.dropout), features[:, rep:]], dim=1)
        trace = PhraseTrace(
            first, second, first_mask, second_mask, sums, scores, a_first.score, a_first.partner, a_second.score,
            a_second.partner, first_kept, second_kept, features,
        )  # fmt: skip
        logits: Tensor = self.classifier(dropped)
        return logits, trace

    def read(self, first: Tensor, first_kept: Kept, second: Tensor, second_kept: Kept) -> tuple[Tensor, Tensor, Tensor]:
        """GRU 2 over the kept phrases: last states s_1, s_2 and s_p, each ``[B, h]``.

        The sequence of both sentences begins with that of the first, so s_p goes on from s_1.
        """
        chosen = [_chosen(first, first_kept), _chosen(second, second_kept)]
        longest = max(c.shape[1] for c in chosen)
        both = torch.cat([F.pad(c, (0, 0, 0, longest - c.shape[1])) for c in chosen])
        ends = torch.cat([first_kept.mask.sum(1), second_kept.mask.sum(1)]) - 1
        s_1, s_2 = _at(self.reader(both)[0], ends).chunk(2)
        s_p = _at(self.reader(chosen[1], s_1[None])[0], ends[len(first) :])
        return s_1, s_2, s_p

    def features_of(self, sums: Tensor, s_1: Tensor, s_2: Tensor, s_p: Tensor) -> Tensor:
        """rep and simi, as the configuration names them, side by side."""
        parts = []
        if "rep" in self.config.parts:
            parts.append(torch.cat([s_1, s_2, s_p, sums.flatten(1)], dim=1))
        pairs = ((s_1, s_2), (sums[:, 0], sums[:, 1]))
        if "interaction" in self.config.parts:
            parts.append(torch.cat([f(a, b) for a, b in pairs for f in (_difference, torch.mul)], dim=1))
        if "simi" in self.config.parts:
            columns = [F.cosine_similarity(a, b, dim=1) for a, b in pairs]
            if self.config.similarities == "cosine+euclid":
                columns += [1 / (1 + _distance(a, b)) for a, b in pairs]
            parts.append(torch.stack(columns, dim=1))
        return torch.cat(parts, dim=1)

    def decide(self, trace: PhraseTrace, choices: list[tuple[str, int]], extra: Tensor | None = None) -> list[Tensor]:
        """Logits ``[C]`` of one pair (batch of 1) under each (pooling, k), from the states and alignments of a trace.

        Phrases and scores are not computed again; all k-min and k-max choices are read in one batch, full in another,
        because it is many times as long.
        """
        out: dict[int, Tensor] = {}
        for wanted in (True, False):
            places = [i for i, (pooling, _) in enumerate(choices) if (pooling == "full") is wanted]
            if not places:
                continue
            sides = []
            for score, mask in ((trace.first_score, trace.first_mask), (trace.second_score, trace.second_mask)):
                sides.append(_stack([keep(score, mask, *choices[i]) for i in places]))
            count = len(places)
            own = self.features_of(
                trace.sums.expand(count, -1, -1),
                *self.read(trace.first.expand(count, -1, -1), sides[0], trace.second.expand(count, -1, -1), sides[1]),
            )
            logits = self.classifier(self.feature_vector(own, None if extra is None else extra.expand(count, -1)))
            out |= dict(zip(places, logits, strict=True))
        return [out[i] for i in range(len(choices))]

    def diversity(self) -> Tensor:
        """The diversity regularizer (Xie et al. 2015), mean over the gates' matrices of both GRUs."""
        phrases, reader = self.phrases, self.reader.get_parameter
        stacked = [phrases.weight_ih, phrases.weight_hh, reader("weight_ih_l0"), reader("weight_hh_l0")]
        return torch.stack([diversity(gate) for weight in stacked for gate in weight.chunk(3)]).mean()

    def _similarity_count(self) -> int:
        if "simi" not in self.config.parts:
            return 0
        return 4 if self.config.similarities == "cosine+euclid" else 2

    def _words(self, vectors: Tensor, mask: Tensor) -> Tensor:
        return read_words(self.projection, vectors, mask, self.config.embedding_dropout if self.training else 0.0)


def _chosen(states: Tensor, kept: Kept) -> Tensor:
    chosen = states.gather(1, kept.slots[..., None].expand(-1, -1, states.shape[2]))
    return chosen.masked_fill(~kept.mask[..., None], 0.0)


def _at(states: Tensor, place: Tensor) -> Tensor:
    return states.gather(1, place[:, None, None].expand(-1, 1, states.shape[2]))[:, 0]


def _difference(a: Tensor, b: Tensor) -> Tensor:
    return (a - b).abs()


def _distance(a: Tensor, b: Tensor) -> Tensor:
    # The slope of a root is infinite at 0, where two sentences are one.
    return (a - b).square().sum(1).clamp_min(1e-12).sqrt()


def _stack(kept: list[Kept]) -> Kept:
    width = max(k.slots.shape[1] for k in kept)
    slots = torch.cat([F.pad(k.slots, (0, width - k.slots.shape[1])) for k in kept])
    return Kept(slots, torch.cat([F.pad(k.mask, (0, width - k.mask.shape[1])) for k in kept]))
