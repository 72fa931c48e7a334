"""Convolutional models whose pooling attends to the other sentence: APCNN (dos Santos et al. 2016), ABCNN (Yin et al.
2016).

Both sentences share one convolution of width 3 (the width in AttConv's comparison; AttConv's table counts 360k weights
for APCNN: 270k for W and 90k for U).

Where we differ from both: the convolution keeps the sentence length and pads with zeros, as everywhere in this project,
so that each state belongs to a word and attention can be drawn over words; dos Santos et al. do the same, while Yin et
al. use a wide convolution (T + 2 states) and return to T by pooling.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.evidence import PooledAttention
from core.layers.attention import Match, attention_weights, put_in_place
from core.layers.convolution import windows
from core.layers.pooling import masked_mean
from core.models.base import Evidence, Output, Settings, Wanted, register, setting
from core.models.baselines import LookingBaseline, PoolingConfig
from core.models.features import extra_route
from core.models.intervention import AttentionLinks
from core.models.routes import POOLING, STATES, UNPATCHED, Patching, Route
from core.reading.batch import Batch
from core.reading.reader import Reading

WIDTH = 3
"""Words per filter window, and states per pooling window (w-ap)."""

POSITIONS = 200
"""Number of words of a sentence with a row in ABCNN's attention feature maps."""


class AttentivePooling(LookingBaseline):
    """Evidence shared by both: each word's weight in pooling, for either sentence or a single text."""

    config: PoolingConfig

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        return POOLING, STATES, *extra_route(config)

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        if PooledAttention in wanted:
            shown = dict(zip(self.roles(reading), (output.trace.y_weights, output.trace.x_weights), strict=True))
            for role, weights in shown.items():
                yield PooledAttention("attentive pooling", role, tuple(weights[0].tolist()))

    def links(self, reading: Reading, output: Output) -> tuple[AttentionLinks, ...]:
        columns, rows = self.roles(reading)
        return (AttentionLinks(rows, columns, output.trace.scores[0], least=self.least_score),)


@dataclass(frozen=True)
class APCNNTrace:
    """Rows belong to words of the second sentence (x), columns to words of the first (y)."""

    scores: Tensor
    """G, or the caller's override, [B, T_x, T_y]; undefined on padding."""
    x_weights: Tensor
    """σ_x, [B, T_x], adds up to 1 over real words, 0 on padding."""
    y_weights: Tensor
    """σ_y, [B, T_y]."""


@register("apcnn", title="AP-CNN", paper="dos Santos et al. 2016", section="4")
class APCNN(AttentivePooling):
    r"""Attentive pooling: each sentence's states are weighted by their best match in the other sentence.

    H = W [w_{i-1}; w_i; w_{i+1}] + b, N = H with columns normalised to length 1, G = tanh(N_x^T U N_y), σ_x =
    softmax(row-wise max G), σ_y = softmax(column-wise max G), r = H σ, features = [r_y; r_x; cos(r_y, r_x)], H = 2d + 1
    (4d + 1 with ``compare``).

    | here | paper | space |
    |---|---|---|
    | convolution | W^1, b^1 | R^{d×3d}, R^d |
    | match.w | U | R^{d×d} |

    Where we differ: the paper matches the states themselves, G = tanh(H_x^T U H_y). States grow during training until
    every row's largest G is 1 and all words have the same weight; normalising them prevents this. The paper ranks by
    cosine with a hinge loss; here pairs are classified, so the classifier reads both vectors and the cosine. U is
    initialised to the identity.
    """

    least_score = -1.0

    def __init__(self, config: PoolingConfig) -> None:
        super().__init__(config, config.joined_size(config.hidden) + 1)
        self.convolution = nn.Linear(WIDTH * config.hidden, config.hidden)
        self.match = Match("bilinear", config.hidden)

    def forward(self, batch: Batch, override: Tensor | None = None, patching: Patching = UNPATCHED) -> Output:
        """``override [B, T_x, T_y]`` replaces G.

        Raises ValueError if its shape differs or linguistic features do not fit.
        """
        y_side, x_side = self.sides(batch)
        x_mask, y_mask = x_side.mask, y_side.mask
        x: Tensor = self.convolution(windows(self.words(x_side), WIDTH))
        y: Tensor = self.convolution(windows(self.words(y_side), WIDTH))
        scores = torch.tanh(self.match(F.normalize(x, dim=-1), F.normalize(y, dim=-1)))
        if override is not None:
            scores = put_in_place(override, scores, _both(x_mask, y_mask))
        x_weights = _pooling_weights(scores, x_mask, y_mask)
        y_weights = _pooling_weights(scores.transpose(1, 2), y_mask, x_mask)
        first, second = (
            (patching(POOLING, weights)[:, None] @ patching(STATES, states))[:, 0]
            for weights, states in ((y_weights, y), (x_weights, x))
        )
        own = torch.cat([self.config.joined(first, second), F.cosine_similarity(first, second)[:, None]], dim=1)
        return self.classify(own, own.shape[1] - 1, batch, APCNNTrace(scores, x_weights, y_weights), patching)


def _both(x_mask: Tensor, y_mask: Tensor) -> Tensor:
    return x_mask[:, :, None] & y_mask[:, None]


def _pooling_weights(scores: Tensor, mask: Tensor, others: Tensor) -> Tensor:
    best = scores.masked_fill(~others[:, None], float("-inf")).amax(dim=2)
    return attention_weights(best[:, None], mask)[:, 0]


@dataclass(frozen=True)
class ABCNNConfig(PoolingConfig):
    """``attention``: on the words before the convolution (ABCNN-1), on its states in pooling (ABCNN-2), or both
    (ABCNN-3). ``means``: pooling averages instead of summing, so that a sentence's vector does not grow with the other
    sentence's length; the paper pads all sentences to one length, which makes both equal up to a constant."""

    attention: str = setting("both", one_of=("words", "states", "both"))
    means: bool = setting(False)


@dataclass(frozen=True)
class ABCNNTrace:
    """Rows of both matrices belong to words of the second sentence (x), columns to words of the first (y)."""

    scores: Tensor
    """A over words (A' for ABCNN-2), or the caller's override, [B, T_x, T_y], 0 on padding."""
    output_scores: Tensor
    """A' over the convolution's outputs, [B, T_x, T_y], 0 on padding; A for ABCNN-1, which has no A'."""
    x_weights: Tensor
    """Row sums (means with ``means``) of ``output_scores``, [B, T_x]: the weight of each state of the second sentence
    in pooling (for ABCNN-1, how similar its words are to the other sentence's)."""
    y_weights: Tensor
    """The same for its columns, [B, T_y]."""


@register("abcnn", title="ABCNN", paper="Yin et al. 2016", section="4")
class ABCNN(AttentivePooling):
    r"""ABCNN with one block: attention before the convolution (as a second channel), after it (in pooling), or both.

    A_ij = 1/(1 + ‖x_i - y_j‖) of the words; attention feature maps F_x = W_0 A^T, F_y = W_1 A; convolution over both
    channels h_i = tanh(W [w_{i-1}; f_{i-1}; w_i; f_i; w_{i+1}; f_{i+1}] + b). Then A' of the outputs h like A, weights
    a_i = Σ_j A'_ij (columns for y), w-ap p_i = Σ_{k = i-1 … i+1} a_k h_k, all-ap r = mean_i p_i. features = [r_y; r_x;
    cos(r_y, r_x); 1/(1 + ‖r_y - r_x‖)], H = 2d + 2 (4d + 2 with ``compare``). ABCNN-1 has no A': p_i is the mean over
    its window. ABCNN-2 has no feature maps: the convolution reads only words.

    | here | paper | space |
    |---|---|---|
    | x_map, y_map | W_0^T, W_1^T | R^{200×d} |
    | convolution | W, b | R^{d×6d} (ABCNN-2: R^{d×3d}), R^d |

    Where we differ: the paper pads all sentences to one length s and has W_0, W_1 ∈ R^{d×s}; here sentences keep their
    lengths, and the maps have 200 positions, of which the first T_y (T_x) are used. Words beyond the 200th are missing
    only from the other sentence's feature map. Pooling windows are centred, with zeros beyond the ends. The sums in
    w-ap follow the paper: they are not divided by the window or the lengths, unless ``means`` is set.
    """

    least_score = 0.0
    config: ABCNNConfig
    x_map: Tensor | None
    y_map: Tensor | None

    def __init__(self, config: ABCNNConfig) -> None:
        size, channels = config.hidden, 1 if config.attention == "states" else 2
        super().__init__(config, config.joined_size(size) + 2)
        # Rows have norms of about 1, so with A near 1/5 and twenty words, a row of a feature map has about the norm of
        # a word.
        for name in ("x_map", "y_map"):
            rows = nn.Parameter(nn.init.normal_(torch.empty(POSITIONS, size), std=size**-0.5))
            self.register_parameter(name, rows if channels == 2 else None)
        self.convolution = nn.Linear(WIDTH * channels * size, size)

    def forward(self, batch: Batch, override: Tensor | None = None, patching: Patching = UNPATCHED) -> Output:
        """``override [B, T_x, T_y]`` replaces A over words, or A' for ABCNN-2.

        Raises ValueError if its shape differs or linguistic features do not fit.
        """
        y_side, x_side = self.sides(batch)
        x_mask, y_mask = x_side.mask, y_side.mask
        both = _both(x_mask, y_mask)
        x, y = self.words(x_side), self.words(y_side)
        kind = self.config.attention

        def matched(own: Tensor) -> Tensor:
            return own * both if override is None else put_in_place(override, own, both)

        if kind == "states":
            x, y = self._convolve(x), self._convolve(y)
            scores = output_scores = matched(self._near(x, y))
            x, y = patching(STATES, x), patching(STATES, y)
        else:
            scores = matched(self._near(x, y))
            mapped = patching(POOLING, scores)
            x = self._convolve(patching(STATES, x), _feature_map(mapped, self.x_map))
            y = self._convolve(patching(STATES, y), _feature_map(mapped.mT, self.y_map))
            output_scores = self._near(x, y) * both if kind == "both" else scores
        x_weights, y_weights = output_scores.sum(2), output_scores.sum(1)
        if self.config.means:
            x_weights, y_weights = x_weights / y_mask.sum(1, keepdim=True), y_weights / x_mask.sum(1, keepdim=True)
        x_weights, y_weights = patching(POOLING, x_weights), patching(POOLING, y_weights)
        # The bias makes states on padding non-zero; a weight of 0 keeps them out of the pooling windows of real words.
        pooling = (y_mask.to(y), x_mask.to(x)) if kind == "words" else (y_weights, x_weights)
        if kind == "words" or self.config.means:
            pooling = (pooling[0] / WIDTH, pooling[1] / WIDTH)
        first, second = self._pooled(y, pooling[0], y_mask), self._pooled(x, pooling[1], x_mask)
        similarities = [F.cosine_similarity(first, second), nearness(first[:, None], second[:, None])[:, 0, 0]]
        own = torch.cat([self.config.joined(first, second), torch.stack(similarities, dim=1)], dim=1)
        trace = ABCNNTrace(scores, output_scores, x_weights, y_weights)
        return self.classify(own, own.shape[1] - 2, batch, trace, patching)

    def _convolve(self, *channels: Tensor) -> Tensor:
        return torch.tanh(self.convolution(windows(torch.cat(channels, dim=-1), WIDTH)))

    def _near(self, x: Tensor, y: Tensor) -> Tensor:
        return nearness(x, y)

    def _pooled(self, states: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        weighed = windows(weights[..., None] * states, WIDTH)
        return masked_mean(weighed.view(*states.shape[:2], WIDTH, -1).sum(2), mask)


def nearness(x: Tensor, y: Tensor) -> Tensor:
    """ABCNN's match score 1/(1 + ‖x_i - y_j‖): ``[B, T_x, d], [B, T_y, d] -> [B, T_x, T_y]``, 1 for equal vectors."""
    # Computed as ‖x‖² + ‖y‖² - 2xy, equal vectors could be a thousandth apart; the gradient of cdist at 0 is 0, not
    # infinite.
    return 1 / (1 + torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist"))  # type: ignore[no-untyped-call]


def _feature_map(scores: Tensor, rows: Tensor | None) -> Tensor:
    assert rows is not None
    return scores[:, :, : len(rows)] @ rows[: scores.shape[2]]
