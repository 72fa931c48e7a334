"""Attentive LSTM, A-LSTM in the tables of Yin & Schütze 2017 (Rocktäschel et al. 2016, sections 2.2 and 2.3)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.evidence import PooledAttention
from core.evidence.attention_map import FINAL_STATE
from core.layers.attention import attention_weights, put_in_place
from core.layers.recurrent import read_packed
from core.models.base import Evidence, Output, Settings, Wanted, register
from core.models.baselines import LookingBaseline, LookingConfig
from core.models.features import extra_route
from core.models.intervention import AttentionLinks
from core.models.routes import ATTENDED, ATTENTION, OWN, UNPATCHED, WEIGHTS, Patching, Route
from core.reading.batch import Batch
from core.reading.reader import Reading


@dataclass(frozen=True)
class AttentiveLSTMTrace:
    """The T_y words of the first sentence are attended to once, from the last state of the second."""

    scores: Tensor
    """w^T M, [B, T_y]; undefined on padding."""
    weights: Tensor
    """α, [B, T_y], adds up to 1 over real words (unless the caller replaced it), 0 on padding."""
    states: Tensor
    """Y, the first LSTM's outputs, [B, T_y, d], zero on padding."""


@register("attentive-lstm", title="A-LSTM", paper="Rocktäschel et al. 2016", section="2.3")
class AttentiveLSTM(LookingBaseline):
    r"""Two LSTMs, the second initialised with the first one's final state (conditional encoding), and attention over
    the first one's outputs.

    Y = LSTM_1(first), h_N = last state of LSTM_2(second), M = tanh(W_y Y + W_h h_N ⊗ e), α = softmax(w^T M),
    r = Y α^T, h* = tanh(W_p r + W_x h_N), features = h* (H = d).

    | here | paper | space |
    |---|---|---|
    | first, second | LSTM of premise, of hypothesis | d -> d |
    | match_states, match_last | W_y, W_h | R^{d×d} |
    | match | w | R^d |
    | combine_context, combine_last | W_p, W_x | R^{d×d} |

    Where we differ: the paper passes on only the cell state and has the second LSTM read a delimiter first. The word
    table has no delimiter, so the hidden state is passed on as well: LSTM_2's first gates then see the first sentence,
    as they do after the delimiter.
    """

    def __init__(self, config: LookingConfig) -> None:
        size = config.hidden
        super().__init__(config, size)
        self.first = nn.LSTM(size, size, batch_first=True)
        self.second = nn.LSTM(size, size, batch_first=True)
        self.match_states = nn.Linear(size, size, bias=False)
        self.match_last = nn.Linear(size, size, bias=False)
        self.match = nn.Linear(size, 1, bias=False)
        self.combine_context = nn.Linear(size, size, bias=False)
        self.combine_last = nn.Linear(size, size, bias=False)

    def forward(self, batch: Batch, override: Tensor | None = None, patching: Patching = UNPATCHED) -> Output:
        """``override [B, T_y]`` replaces α.

        Raises ValueError if its shape differs or linguistic features do not fit.
        """
        first, second = self.sides(batch)
        states, end = read_packed(self.first, self.words(first), first.mask)
        _, (last, _) = read_packed(self.second, self.words(second), second.mask, end)
        last = last[0]
        scores = self.match(torch.tanh(self.match_states(states) + self.match_last(last)[:, None]))[..., 0]
        own = attention_weights(scores[:, None], first.mask)[:, 0]
        weights = own if override is None else put_in_place(override, own, first.mask)
        context = (patching(WEIGHTS, weights)[:, None] @ patching(ATTENDED, states))[:, 0]
        own = torch.tanh(self.combine_context(context) + self.combine_last(patching(OWN, last)))
        return self.classify(own, own.shape[1], batch, AttentiveLSTMTrace(scores, weights, states), patching)

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        return *ATTENTION, *extra_route(config)

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        if PooledAttention in wanted:
            weights = tuple(output.trace.weights[0].tolist())
            yield PooledAttention("attention of the last state", self.roles(reading)[0], weights)

    def links(self, reading: Reading, output: Output) -> tuple[AttentionLinks, ...]:
        columns, rows = self.roles(reading)
        return (AttentionLinks(rows, columns, output.trace.weights[0], FINAL_STATE),)
