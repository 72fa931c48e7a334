"""One recurrent network reads the premise, then the hypothesis, with attention back to the premise (Potts, CS224u
slides).

A setting selects which states attend: none (the chain alone), the last state once (global attention), every state of
the hypothesis to a window of the premise (local attention), or every state, given what the previous one attended to
(word-by-word attention).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.evidence import AttentionMap, Record
from core.evidence.attention_map import FINAL_STATE
from core.evidence.matrix import matrix
from core.layers.attention import put_in_place, refuse
from core.layers.pooling import masked_max, states_at
from core.layers.projection import word_projection
from core.layers.recurrent import EndState, read_packed
from core.models.base import Evidence, ModelConfig, Output, Settings, Wanted, WordModel, register, setting
from core.models.rnn.attention import SCORES, Looking, LookingBack, WordByWord
from core.models.routes import ATTENTION, FIRST, OWN, SECOND, TEXT_BY_TEXT, UNPATCHED, Patching, Route
from core.reading.batch import Batch, Side
from core.reading.reader import Reading


@dataclass(frozen=True)
class ChainedConfig(ModelConfig):
    """Sizes and options.

    ``with_words``: a state is the sum of the network's state and the word just read, so that attention matches words
    from the start (a residual connection, as in He et al. 2016); the slides use the network's state alone.
    ``half_width``: words on either side in the window of local attention. ``context``: κ is the weighted sum of the
    states, or their mean as in the slides. ``combination``: "concat" and "sum" are the two in the slides, equally
    expressive; "compared" adds product and difference (Chen et al. 2017, section 3.2). ``readout``: the classifier
    reads the last step's h̃, or the maximum over all steps in each dimension. Dropout applies to the projected words
    (one mask per sentence) and to the classifier's input.
    """

    hidden: int = setting(150, least=1)
    attention: str = setting("global", one_of=("none", "global", "local", "word-by-word"))
    score: str = setting("dot", one_of=tuple(SCORES))
    half_width: int = setting(3, least=1)
    context: str = setting("sum", one_of=("sum", "mean"))
    combination: str = setting("concat", one_of=("concat", "sum", "compared"))
    with_words: bool = setting(False)
    readout: str = setting("last", one_of=("last", "max"))
    embedding_dropout: float = setting(0.1, least=0, below=1)
    dropout: float = setting(0.2, least=0, below=1)

    def __post_init__(self) -> None:
        if self.readout == "max" and self.attention == "global":
            raise ValueError("readout must be last with global attention, which looks back once")

    @classmethod
    def about(cls, settings: Settings) -> str:
        """Describes which states attend."""
        back = {
            "none": "without attention, so the premise reaches it only through its state",
            "global": "its last state attends to the premise's states (global attention)",
            "local": "each state attends to a window of the premise (local attention)",
            "word-by-word": "each state attends to the premise, given what the previous one attended to",
        }
        return f"An LSTM that reads the hypothesis after the premise; {back[settings.get('attention', 'global')]}."


@dataclass(frozen=True)
class ChainedTrace:
    """Trace of a forward pass; R rows attend: 1 with global attention, T_h (every state of the hypothesis) with local
    and word-by-word attention. Without attention the last four are None."""

    premise: Tensor
    """h_1 … h_n, ``[B, T_p, d]``, zero on padding."""
    hypothesis: Tensor
    """``[B, T_h, d]``; undefined on padding."""
    scores: Tensor | None
    """α̃, ``[B, R, T_p]``, including local attention's Gaussian; undefined on padding."""
    weights: Tensor | None
    """The weights used, ``[B, R, T_p]``; each row adds up to 1 over real words (unless the caller replaced it)."""
    contexts: Tensor | None
    """κ, ``[B, R, d]``."""
    combined: Tensor | None
    """h̃, ``[B, R, d]``."""
    reach: Tensor | None = None
    """For local attention, whether a position is within the window, ``[B, R, T_p]``; undefined on padding."""


class Combination(nn.Module):
    """h̃ from a context and a state: tanh([κ; h] W_κ), tanh(κ W_κ + h W_h), or tanh([κ; h; κ ∘ h; κ - h] W_κ)."""

    def __init__(self, kind: str, size: int) -> None:
        super().__init__()
        self.both = nn.Linear(2 * size, size, bias=False) if kind == "concat" else None
        self.context = nn.Linear(size, size, bias=False) if kind == "sum" else None
        self.state = nn.Linear(size, size, bias=False) if kind == "sum" else None
        self.compared = nn.Linear(4 * size, size, bias=False) if kind == "compared" else None

    def forward(self, context: Tensor, state: Tensor) -> Tensor:
        """``[…, d], […, d] -> […, d]``."""
        if self.context is not None and self.state is not None:
            return torch.tanh(self.context(context) + self.state(state))  # [Potts combo-sum]
        if self.compared is not None:
            joined = torch.cat([context, state, context * state, context - state], dim=-1)
            return torch.tanh(self.compared(joined))
        assert self.both is not None
        # Word-by-word attention uses the slides' tanh([κ_T; h_T] W) too.
        return torch.tanh(self.both(torch.cat([context, state], dim=-1)))  # [Potts combo-concat] [Potts word-combo]


@register("chained-rnn", title="Chained RNN", paper="Potts, CS224u slides", section="Global attention")
class ChainedRNN(WordModel):
    r"""A recurrent network that reads the hypothesis after the premise, with attention over the premise's states.

    h_1 … h_n are the states of the premise; the same network continues over the hypothesis from h_n, ending at h_C.

    - global: α̃_i = score(h_C, h_i), α = softmax(α̃), κ = Σ_i α_i h_i (or the mean), h̃ = tanh([κ; h_C] W_κ);
    - local (Luong et al. 2015, section 3.2): the same for every state h_t of the hypothesis, over a window of the
      premise (:class:`core.models.rnn.attention.LookingBack`);
    - word by word: every state, given the previous context (:class:`core.models.rnn.attention.WordByWord`);
    - y = softmax(h̃ W + b).

    | here | slides | space |
    |---|---|---|
    | rnn | the RNN | d -> d |
    | attention | W_α; w, W_h, W_α word by word | |
    | combination | W_κ | R^{d×2d} |

    *Choices*: an LSTM passes on its cell state with h_n, as a single network reading on would; recurrent weights start
    orthogonal and an LSTM's forget gate open, because otherwise gradients explode or vanish along the chain.
    """

    config: ChainedConfig

    def __init__(self, config: ChainedConfig) -> None:
        super().__init__(config)
        size = config.hidden
        self.projection = word_projection(config.input_size, size)
        self.rnn = nn.LSTM(size, size, batch_first=True)
        _start(self.rnn)
        self.attention: nn.Module | None = None
        if config.attention == "word-by-word":
            self.attention = WordByWord(size, config.score, config.context == "mean")
        elif config.attention != "none":
            half_width = config.half_width if config.attention == "local" else 0
            self.attention = LookingBack(size, config.score, config.context == "mean", half_width)
        self.combination = Combination(config.combination, size) if self.attention is not None else None
        self.classifier = nn.Linear(size, config.classes)

    def forward(
        self,
        batch: Batch,
        override: Tensor | None = None,
        reach: Tensor | None = None,
        patching: Patching = UNPATCHED,
    ) -> Output:
        """``override [B, R, T_p]`` replaces α: R is 1 with global attention, T_h otherwise. ``reach``, of the same
        shape, marks the words inside the windows of local attention.

        Raises ValueError if its shape differs, or without attention.
        """
        first, second = batch.first, batch.second
        premise, end = self._read(self.words(first), first, None)
        # The first dimension of an end state is the network's layer.
        end = tuple(patching(FIRST, state[0])[None] for state in end)  # type: ignore[assignment]
        hypothesis, _ = self._read(patching(SECOND, self.words(second)), second, end)
        last = second.mask.sum(1) - 1
        if self.attention is None or self.combination is None:
            refuse(override)
            features = self._read_out(hypothesis, last, second.mask)
            return self._output(features, ChainedTrace(premise, hypothesis, None, None, None, None))
        mask = first.mask
        if override is not None:
            rows = 1 if self.config.attention == "global" else second.mask.shape[1]
            override = put_in_place(override, premise.new_empty(len(premise), rows, mask.shape[1]), mask[:, None])
        asking = states_at(hypothesis, last)[:, None] if self.config.attention == "global" else hypothesis
        looking: Looking = self.attention(asking, premise, mask, override, reach, patching)
        combined = self.combination(looking.contexts, patching(OWN, asking))
        features = combined[:, 0] if combined.shape[1] == 1 else self._read_out(combined, last, second.mask)
        trace = ChainedTrace(
            premise, hypothesis, looking.scores, looking.weights, looking.contexts, combined, looking.reach
        )
        return self._output(features, trace)

    def _output(self, features: Tensor, trace: ChainedTrace) -> Output:
        return Output(self.classifier(self.dropped(features)), features, trace)  # [Potts classifier]

    def _read_out(self, states: Tensor, last: Tensor, mask: Tensor) -> Tensor:
        """The classifier's input from the steps ``[B, T, d]``: ``[B, d]``."""
        return states_at(states, last) if self.config.readout == "last" else masked_max(states, mask)[0]

    def _read(self, words: Tensor, side: Side, start: EndState | None) -> tuple[Tensor, EndState]:
        """States ``[B, T, d]`` of a side's projected words, zero on padding, and the last real one in the form torch's
        networks accept."""
        states, end = read_packed(self.rnn, words, side.mask, start)
        return states + words if self.config.with_words else states, end

    def choices(self, output: Output) -> dict[str, Tensor]:
        """The windows of local attention."""
        reach: Tensor | None = output.trace.reach
        return {} if reach is None else {"reach": reach}

    @classmethod
    def routes(cls, config: Settings) -> tuple[Route, ...]:
        """Without attention, the state after the first text and the words of the second."""
        return TEXT_BY_TEXT if config.get("attention") == "none" else ATTENTION

    @classmethod
    def shows(cls, config: Settings) -> tuple[type[Record], ...]:
        """Without attention it has no records."""
        return () if config.get("attention") == "none" else (AttentionMap,)

    def evidence(self, reading: Reading, output: Output, wanted: Wanted, overridden: bool = False) -> Evidence:
        trace: ChainedTrace = output.trace
        if AttentionMap in wanted and trace.scores is not None and trace.weights is not None:
            units = FINAL_STATE if self.config.attention == "global" else "words"
            roles = reading.second.role, reading.first.role
            numbers = matrix(trace.scores[0]), matrix(trace.weights[0])
            reach = () if trace.reach is None else tuple(map(_span, trace.reach[0]))
            yield AttentionMap("attention", *roles, *numbers, overridden, units, reach=reach)


def _span(within: Tensor) -> tuple[int, int]:
    """The first position of a row's window, and the one after its last."""
    places = within.nonzero()[:, 0].tolist()
    return (places[0], places[-1] + 1) if places else (0, 0)


def _start(rnn: nn.LSTM) -> None:
    """Orthogonal recurrent weights, gate by gate; zero biases, except 1 for an LSTM's forget gate."""
    size = rnn.hidden_size
    for name, weight in rnn.named_parameters():
        if name.startswith("weight_hh"):
            for gate in torch.split(weight.data, size):
                nn.init.orthogonal_(gate)
        elif name.startswith("weight_ih"):
            nn.init.xavier_uniform_(weight)
        else:
            nn.init.zeros_(weight)
            if name.startswith("bias_ih"):
                weight.data[size : 2 * size] = 1.0
