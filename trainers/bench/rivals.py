"""Speed of AttConv's rivals against the same equations written plainly, and of what explains a pair with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from core.layers.recurrent import BiLSTM
from core.memory import keep_freed_memory
from core.models import PairModel, build
from core.models.attentive_pooling import ABCNN
from core.processor import native_bf16
from core.reading.batch import Batch
from trainers.bench.explaining import by_product
from trainers.bench.row import Row, times_faster

PAIRS, WORDS, LENGTHS = 128, 160, ((14, 15, 16), (8,))
"""A batch as training plans it: hypotheses of one length, premises of nearly one."""
MODELS = ("nli-abcnn", "nli-apcnn", "nli-bicnn", "nli-decomposable", "nli-esim", "sentiment-attconv", "fever-attconv")
FILTERS, LONG = 50, ((30,), (30,))
"""ABCNN's own number of filters (Yin et al. 2016, section 5), and sentences of the length that explanations are
measured on: where the work is that of the positions, not that of one large product."""


class PackedBiLSTM(BiLSTM):
    """The usual form: one bidirectional nn.LSTM over packed texts."""

    def __init__(self, own: BiLSTM) -> None:
        nn.Module.__init__(self)
        layer = own.forwards
        self.both = nn.LSTM(layer.input_size, layer.hidden_size, batch_first=True, bidirectional=True)
        for name, value in own.forwards.named_parameters():
            getattr(self.both, name).data.copy_(value)
        for name, value in own.backwards.named_parameters():
            getattr(self.both, f"{name}_reverse").data.copy_(value)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        packed = pack_padded_sequence(states, mask.sum(1), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.both(packed)[0], batch_first=True, total_length=states.shape[1])[0]


class LoopedABCNN(ABCNN):
    """ABCNN-3 with a loop over positions wherever its equations have an index: matches, windows and pooling."""

    def _convolve(self, *channels: Tensor) -> Tensor:
        states = torch.nn.functional.pad(torch.cat(channels, dim=-1), (0, 0, 1, 1))
        places = range(states.shape[1] - 2)
        return torch.stack([torch.tanh(self.convolution(states[:, i : i + 3].flatten(1))) for i in places], dim=1)

    def _near(self, x: Tensor, y: Tensor) -> Tensor:
        rows = [
            torch.stack([1 / (1 + (x[:, i] - y[:, j]).norm(dim=1)) for j in range(y.shape[1])], 1)
            for i in range(x.shape[1])
        ]
        return torch.stack(rows, dim=1)

    def _pooled(self, states: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        weighed = torch.nn.functional.pad(weights[..., None] * states, (0, 0, 1, 1))
        sums = [weighed[:, i : i + 3].sum(1) * mask[:, i, None] for i in range(states.shape[1])]
        return torch.stack(sums, dim=1).sum(1) / mask.sum(1, keepdim=True)


def batch(of: Sequence[Sequence[int]]) -> Batch:
    """Made-up words; the lengths of either side take turns."""
    torch.manual_seed(0)
    sides = [[torch.randn(lengths[k % len(lengths)], WORDS) * 0.1 for k in range(PAIRS)] for lengths in of]
    return Batch.of(*sides)


def rivals(quick: bool) -> list[Row]:
    """Training steps of ESIM and ABCNN against plain forms, and the rivals' explanations of a pair."""
    repeats = 5 if quick else 25
    return [_esim(repeats), _abcnn(repeats), *(by_product(model, 30, repeats) for model in MODELS)]


def _esim(repeats: int) -> Row:
    """A training step of ESIM against packed nn.LSTM, a call a side, both in what trainings here compute in."""
    ours, plain = (
        build("esim", {"input_size": WORDS, "hidden": 128, "dropout": 0.0, "embedding_dropout": 0.0}) for _ in range(2)
    )
    plain.load_state_dict(ours.state_dict())
    plain.encoder = PackedBiLSTM(plain.encoder)  # type: ignore[arg-type]
    plain.composition = PackedBiLSTM(plain.composition)  # type: ignore[arg-type]
    name, what = "step of ESIM, batch 128, times faster", "packed nn.LSTM, a call a side"
    precision = torch.bfloat16 if native_bf16() else torch.float32
    return times_faster(name, 1.3, _steps(ours, plain, batch(LENGTHS), precision), what, repeats)


def _abcnn(repeats: int) -> Row:
    """The same of ABCNN-3 against a loop over positions, in float32."""
    settings = {"input_size": WORDS, "hidden": FILTERS, "dropout": 0.0, "embedding_dropout": 0.0}
    ours = build("abcnn", settings)
    plain = LoopedABCNN(ours.config)
    plain.load_state_dict(ours.state_dict())
    name, what = "step of ABCNN, 30 x 30 words, times faster", "a loop over positions"
    return times_faster(name, 3, _steps(ours, plain, batch(LONG), torch.float32), what, repeats)


def _steps(ours: PairModel, plain: PairModel, data: Batch, precision: torch.dtype) -> list[Callable[[], None]]:
    """A step, forward and backward, of each. Raises AssertionError when the two do not compute the same."""
    keep_freed_memory()  # as every training does
    torch.testing.assert_close(ours(data).logits, plain(data).logits, rtol=1e-4, atol=1e-4)

    def step(model: PairModel) -> Callable[[], None]:
        def once() -> None:
            with torch.autocast("cpu", precision, enabled=precision is not torch.float32):
                loss = model(data).logits.float().logsumexp(1).sum()
            loss.backward()

        return once

    return [step(ours), step(plain)]
