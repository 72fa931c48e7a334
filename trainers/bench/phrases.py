"""Speed of phrase states against the form that the paper describes, written with torch.nn.GRU."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from core.models.phrases.alignment import PhraseGRU
from trainers.bench.row import Row, times_faster

PAIRS, WORDS, WIDTH, HIDDEN = 64, 30, 300, 256


def rotated_copies(gru: nn.GRU, words: Tensor) -> Tensor:
    """Section 3.2 taken literally: T rotated copies of each sentence, each read to its end.

    ``[B, T, D] -> [B, T, T, h]``: the state after l words of the copy that starts at word s is that of the phrase of l
    words from s.
    """
    count, length, width = words.shape
    copies = torch.stack([words.roll(-start, dims=1) for start in range(length)], dim=1)
    states, _ = gru(copies.reshape(count * length, length, width))
    return states.reshape(count, length, length, -1)


@torch.inference_mode()
def phrase_states(quick: bool) -> list[Row]:
    """Phrase states of a batch against the paper's rotated copies. Raises AssertionError when the two do not compute
    the same."""
    torch.manual_seed(0)
    ours, theirs = PhraseGRU(WIDTH, HIDDEN), nn.GRU(WIDTH, HIDDEN, batch_first=True)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(theirs, f"{name}_l0").copy_(getattr(ours, name))
    words = torch.randn(2 * PAIRS, WORDS, WIDTH)
    mask = torch.ones(2 * PAIRS, WORDS, dtype=torch.bool)
    slow = rotated_copies(theirs, words)
    for extra, (end, start) in ((0, (4, 4)), (6, (20, 14))):
        torch.testing.assert_close(ours(words, mask)[0][:, end * ours.longest + extra], slow[:, start, extra])
    return [
        times_faster(
            f"phrase states, {PAIRS} pairs of {WORDS} words, times faster",
            5,
            (lambda: ours(words, mask), lambda: rotated_copies(theirs, words)),
            "rotated copies by nn.GRU",
            3 if quick else 15,
        )
    ]
