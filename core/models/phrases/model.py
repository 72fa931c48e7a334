"""Attentive pooling of phrase alignments: GRU k-min-max, k-max-max and full (Yin & Schütze 2017, EACL, sections 3, 4).

    words -> phrase states (GRU 1) -> A_ij = cosine -> a_i = max_j A_ij -> k-min | k-max | full, in the text's order
          -> GRU 2 over the kept phrases of s_1, of s_2, and of both in turn -> s_1, s_2, s_p
    features = [rep, simi, extra] -> logistic regression

rep = [s_1; s_2; s_p; Σ words of s_1; Σ words of s_2], simi = cosine (and 1/(1 + euclid)) of (s_1, s_2) and of the two
sums, extra = the linguistic features of :mod:`core.linguistics.features`.

s_1 is the first sentence in the data set's order (premise, question), s_2 the second, whichever is judged.

Where we differ: an optional learned projection of the words (``projection`` > 0; counted separately), optional dropout
(none in the paper), and standardised extra features.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.evidence import AttentionMap, PhraseChoice, PhraseRecord, PhraseSelection, PhraseSide
from core.evidence.matrix import matrix
from core.layers.attention import Override
from core.layers.pooling import states_at
from core.layers.projection import word_projection
from core.layers.recurrent import recurrent
from core.models.base import Evidence, Output, ProjectedConfig, Settings, Wanted, register, setting
from core.models.features import EXTRA_SIZES, PairFeatures, extra_route
from core.models.phrases.alignment import (
    POOLINGS,
    KeptPhrases,
    PhraseGRU,
    alignment,
    best,
    diversity,
    into_slots,
    keep,
    span,
)
from core.models.routes import CHOICE, PHRASES, SUMS, UNPATCHED, Patching, Route
from core.reading.batch import Batch
from core.reading.reader import Reading

SIMILARITIES = ("cosine+euclid", "cosine")
PARTS = ("rep", "simi", "interaction")


KS = tuple(range(1, 11))
"""Values of k for which selections are recorded (the paper's figure 6)."""

MAP_WORDS = 60
"""Longest sentence for which the phrase map is recorded: with 60 words per side it has 420 x 420 entries."""


@dataclass(frozen=True)
class PhraseConfig(ProjectedConfig):
    """Sizes and options. ``features``: rep, simi or rep+simi. ``similarities``: with euclid (section 4.2.1) or cosines
    alone (4.3.1). ``extra``: the set of linguistic features, or none. Dropout applies to the words (one mask per
    sentence) and to the rep part of the feature vector."""

    hidden: int = setting(256, least=1)
    pooling: str = setting("kmin", one_of=POOLINGS)
    k: int = setting(5, least=1)
    features: str = "rep+simi"
    similarities: str = setting("cosine+euclid", one_of=SIMILARITIES)
    extra: str = setting("none", one_of=tuple(EXTRA_SIZES))
    embedding_dropout: float = setting(0.0, least=0, below=1)
    dropout: float = setting(0.0, least=0, below=1)

    def __post_init__(self) -> None:
        if not self.parts or any(part not in PARTS for part in self.parts):
            raise ValueError(f"features must be {', '.join(PARTS)} or some of them joined by +, got {self.features!r}")

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the feature vector other than ``extra``."""
        return tuple(self.features.split("+"))

    @property
    def similarity_count(self) -> int:
        """Number of features in simi."""
        return 4 if self.similarities == "cosine+euclid" else 2


@dataclass(frozen=True)
class PhraseSlots:
    """The phrases of one sentence in P slots, see alignment.py."""

    states: Tensor
    """[B, P, h], zero in empty slots."""
    mask: Tensor
    """[B, P], true in slots that contain a phrase."""
    score: Tensor
    """a, [B, P]."""
    partner: Tensor
    """The slot of each phrase's best partner in the other sentence, [B, P]."""
    selection: KeptPhrases


@dataclass(frozen=True)
class PhraseTrace:
    """Trace of a forward pass: P slots for the first sentence (s_1), Q for the second (s_2)."""

    first: PhraseSlots
    second: PhraseSlots
    sums: Tensor
    """Sums of the word vectors of s_1 and of s_2, [B, 2, D]."""
    scores: Tensor
    """A, or the caller's override, [B, Q, P]: rows are the judged sentence's phrases (s_2)."""

    @property
    def cosines(self) -> Tensor:
        """A for the first row of the batch without empty slots."""
        return self.scores[0][self.second.mask[0]][:, self.first.mask[0]]


@register("phrases", title="GRU phrases", paper="Yin & Schütze 2017", section="3")
class PhraseMatcher(PairFeatures):
    """GRU phrase states with attentive pooling of their alignments: the worst aligned phrases for entailment, the best
    aligned for answer selection (sections 3.2 to 3.4)."""

    records = (PhraseSelection, AttentionMap)
    least_score = -1.0

    def __init__(self, config: PhraseConfig) -> None:
        width, hidden = config.words, config.hidden
        rep = 3 * hidden + 2 * width
        sizes = {"rep": rep, "interaction": 2 * (hidden + width), "simi": config.similarity_count}
        super().__init__(config, sum(sizes[part] for part in config.parts))
        self.projection = word_projection(config.input_size, width) if config.projection else None
        self.phrases = PhraseGRU(width, hidden)
        self.reader = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, batch: Batch, override: Tensor | None = None, patching: Patching = UNPATCHED) -> Output:
        """``override [B, Q, P]`` replaces the alignment scores A; its rows are the slots of s_2.

        Raises ValueError if its shape differs or linguistic features do not fit.
        """
        config = self.config
        first_words, second_words = self.words(batch.first), self.words(batch.second)
        first, first_mask = self.phrases(first_words, batch.first.mask)
        second, second_mask = self.phrases(second_words, batch.second.mask)
        if override is None:
            scores = alignment(second, first)
        else:
            expected = [len(first), second.shape[1], first.shape[1]]
            if list(override.shape) != expected:
                raise ValueError(f"an override of the alignment must be {expected}, got {list(override.shape)}")
            scores = override.float()

        def matched(states: Tensor, mask: Tensor, scores: Tensor, others: Tensor) -> PhraseSlots:
            """One sentence's phrases (rows of the scores) with their best partners and the pooled selection."""
            partners = best(scores, mask, others)
            return PhraseSlots(states, mask, *partners, keep(partners.score, mask, config.pooling, config.k))

        s_1 = matched(first, first_mask, scores.mT, second_mask)
        s_2 = matched(second, second_mask, scores, first_mask)
        sums = torch.stack([first_words.sum(1), second_words.sum(1)], dim=1)
        kept_1, kept_2 = (KeptPhrases(*(patching(CHOICE, part) for part in side.selection)) for side in (s_1, s_2))
        read = self.read(patching(PHRASES, first), kept_1, patching(PHRASES, second), kept_2)
        own = self.features_of(patching(SUMS, sums), *read)
        # Similarities and linguistic features are few and not redundant, so dropout skips them.
        rep = own.shape[1] - ("simi" in config.parts) * config.similarity_count
        return self.classify(own, rep, batch, PhraseTrace(s_1, s_2, sums, scores), patching)

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        return CHOICE, PHRASES, SUMS, *extra_route(config)

    def lay_out(self, override: Override, reading: Reading) -> Tensor:
        """Converts a phrase alignment indexed as in :class:`PhraseSelection` to slots; rows are phrases of the second
        sentence."""
        assert isinstance(override, Tensor), "there is one alignment"
        rows, columns = len(reading.second.tokens), len(reading.first.tokens)
        return into_slots(override, rows, columns)[None]

    def choices(self, output: Output) -> dict[str, Tensor]:
        """The alignment scores, whose only use is to select phrases."""
        return {"override": output.trace.scores}

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        trace: PhraseTrace = output.trace
        if PhraseSelection in wanted:
            yield self._selection(reading, trace)
        if AttentionMap in wanted and max(len(side.tokens) for side in reading.texts()) <= MAP_WORDS:
            roles = reading.second.role, reading.first.role
            yield AttentionMap("alignment", *roles, matrix(trace.cosines), (), overridden, "phrases")

    def _selection(self, reading: Reading, trace: PhraseTrace) -> PhraseSelection:
        config = self.config
        extra = None if reading.extra is None else torch.tensor([reading.extra], dtype=trace.sums.dtype)
        trained = (config.pooling, 0 if config.pooling == "full" else config.k)
        methods = [(pooling, k) for pooling in ("kmin", "kmax") for k in KS] + [("full", 0)]
        methods += [trained] if trained not in methods else []
        verdicts = torch.softmax(torch.stack(self.decide(trace, methods, extra)).double(), 1).tolist()
        both = trace.first, trace.second
        # Records index phrases without the empty slots.
        numbers = [(phrases.mask[0].cumsum(0) - 1).tolist() for phrases in both]
        choices = []
        for (pooling, k), probabilities in zip(methods, verdicts, strict=True):
            kept = []
            for phrases, number in zip(both, numbers, strict=True):
                choice = keep(phrases.score, phrases.mask, pooling, k)
                kept.append(tuple(number[slot] for slot in choice.slots[0][choice.mask[0]].tolist()))
            trained_so = (pooling, k) == trained
            choices.append(PhraseChoice(pooling, k, (kept[0], kept[1]), tuple(probabilities), trained_so))

        def side(role: str, phrases: PhraseSlots, other: list[int]) -> PhraseSide:
            columns = (values[0].tolist() for values in (phrases.mask, phrases.partner, phrases.score))
            records = (
                PhraseRecord(span(slot), other[partner], score)
                for slot, (real, partner, score) in enumerate(zip(*columns, strict=True))
                if real
            )
            return PhraseSide(role, tuple(records))

        sides = (
            side(reading.first.role, trace.first, numbers[1]),
            side(reading.second.role, trace.second, numbers[0]),
        )
        return PhraseSelection("phrases", sides, tuple(choices), config.pooling, config.k)

    @recurrent
    def read(
        self, first: Tensor, first_selection: KeptPhrases, second: Tensor, second_selection: KeptPhrases
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Runs GRU 2 over the kept phrases: last states s_1, s_2 and s_p, each ``[B, h]``.

        The joint sequence starts with the first sentence, so s_p continues from s_1.
        """
        sequences = [_selected(first, first_selection), _selected(second, second_selection)]
        longest = max(c.shape[1] for c in sequences)
        both = torch.cat([F.pad(c, (0, 0, 0, longest - c.shape[1])) for c in sequences])
        ends = torch.cat([first_selection.mask.sum(1), second_selection.mask.sum(1)]) - 1
        s_1, s_2 = states_at(self.reader(both)[0], ends).chunk(2)
        s_p = states_at(self.reader(sequences[1], s_1[None])[0], ends[len(first) :])
        return s_1, s_2, s_p

    def features_of(self, sums: Tensor, s_1: Tensor, s_2: Tensor, s_p: Tensor) -> Tensor:
        """rep and simi, as selected in the configuration, concatenated."""
        parts = []
        if "rep" in self.config.parts:
            parts.append(torch.cat([s_1, s_2, s_p, sums.flatten(1)], dim=1))
        pairs = ((s_1, s_2), (sums[:, 0], sums[:, 1]))
        if "interaction" in self.config.parts:
            parts.append(torch.cat([value for a, b in pairs for value in ((a - b).abs(), a * b)], dim=1))
        if "simi" in self.config.parts:
            columns = [F.cosine_similarity(a, b, dim=1) for a, b in pairs]
            if self.config.similarities == "cosine+euclid":
                columns += [1 / (1 + _distance(a, b)) for a, b in pairs]
            parts.append(torch.stack(columns, dim=1))
        return torch.cat(parts, dim=1)

    def decide(self, trace: PhraseTrace, choices: list[tuple[str, int]], extra: Tensor | None = None) -> list[Tensor]:
        """Logits ``[C]`` for one pair (batch of 1) under each (pooling, k), from the states and alignments in a trace.

        Phrases and scores are reused; all k-min and k-max selections run in one batch, full in a separate one, because
        it is many times longer.
        """
        out: dict[int, Tensor] = {}
        for full in (True, False):
            places = [i for i, (pooling, _) in enumerate(choices) if (pooling == "full") is full]
            if not places:
                continue
            count = len(places)
            first, second = (
                (
                    phrases.states.expand(count, -1, -1),
                    _stack([keep(phrases.score, phrases.mask, *choices[i]) for i in places]),
                )
                for phrases in (trace.first, trace.second)
            )
            own = self.features_of(trace.sums.expand(count, -1, -1), *self.read(*first, *second))
            logits = self.classifier(self.feature_vector(own, None if extra is None else extra.expand(count, -1)))
            out |= dict(zip(places, logits, strict=True))
        return [out[i] for i in range(len(choices))]

    def regulariser(self) -> Tensor:
        """The diversity regularizer (Xie et al. 2015), averaged over the gate matrices of both GRUs."""
        phrases, reader = self.phrases, self.reader.get_parameter
        stacked = [phrases.weight_ih, phrases.weight_hh, reader("weight_ih_l0"), reader("weight_hh_l0")]
        return torch.stack([diversity(gate) for weight in stacked for gate in weight.chunk(3)]).mean()


def _selected(states: Tensor, selection: KeptPhrases) -> Tensor:
    selected = states.gather(1, selection.slots[..., None].expand(-1, -1, states.shape[2]))
    return selected.masked_fill(~selection.mask[..., None], 0.0)


def _distance(a: Tensor, b: Tensor) -> Tensor:
    # The gradient of the square root is infinite at 0, where the sentences are equal.
    return (a - b).square().sum(1).clamp_min(1e-12).sqrt()


def _stack(selections: list[KeptPhrases]) -> KeptPhrases:
    width = max(k.slots.shape[1] for k in selections)
    slots = torch.cat([F.pad(k.slots, (0, width - k.slots.shape[1])) for k in selections])
    return KeptPhrases(slots, torch.cat([F.pad(k.mask, (0, width - k.mask.shape[1])) for k in selections]))
