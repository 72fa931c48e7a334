"""Phrases of a sentence, their alignment, and the selection by pooling (Yin & Schütze 2017, EACL, sections 3.1 to 3.3).

A phrase is a sequence of up to L words. A sentence of T words has T · L slots, slot ``e · L + l - 1`` for the phrase of
l words that ends with word e: in this order they are (A)(B)(AB)(C)(BC)(ABC)…, the paper's sentence s*. No long phrase
ends at the first words, so those slots are masked.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.layers.recurrent import recurrent

LONGEST = 7
"""Words in the longest phrase (section 3.2)."""

POOLINGS = ("kmin", "kmax", "full")

TIE_DECIMALS = 5
"""Scores equal in this many decimals are tied: if a phrase occurs twice, the last bits of its scores depend on the
order of additions."""


class PhraseGRU(nn.Module):
    """States of all phrases from one GRU that restarts at every word.

    r = σ(x U_r + b_r + s W_r + c_r), z = σ(x U_z + b_z + s W_z + c_z), n = tanh(x U_h + b_h + r ∘ (s W_h + c_h)), s' =
    (1 - z) ∘ n + z ∘ s (torch.nn.GRU's form, whose weights load here; the paper's equation 3 has (s ∘ r) W and no
    biases). The paper runs T rotated copies of the sentence to the end; only the first L steps of each are phrases.
    Here a sentence of any length costs L steps, and x U is computed once per word, not once per phrase.
    """

    def __init__(self, input_size: int, hidden: int) -> None:
        super().__init__()
        cell = nn.GRUCell(input_size, hidden)
        self.weight_ih, self.weight_hh = cell.weight_ih, cell.weight_hh
        self.bias_ih, self.bias_hh = cell.bias_ih, cell.bias_hh

    @recurrent
    def forward(self, words: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """``[B, T, D], [B, T] -> states [B, T · L, h]`` and the mask of slots that hold a phrase ``[B, T · L]``.

        States in masked slots are zero. Sentences are left-aligned, so padding never comes before a real word.
        """
        count, length = mask.shape
        inputs = F.linear(words, self.weight_ih, self.bias_ih)  # [B, T, 3h]
        hidden = inputs.shape[2] // 3
        state = inputs.new_zeros(count, length, hidden)
        by_length = []
        for extra in range(LONGEST):
            starts = length - extra
            if starts < 1:
                by_length.append(inputs.new_zeros(count, length, hidden))
                continue
            if extra == 0:
                recurrent = self.bias_hh.to(inputs.dtype).expand(count, starts, -1)
            else:
                recurrent = F.linear(state[:, :starts], self.weight_hh, self.bias_hh)
            state = _step(inputs[:, extra:], recurrent, state[:, :starts])
            by_length.append(F.pad(state, (0, 0, extra, 0)))
        states = torch.stack(by_length, dim=2).flatten(1, 2)
        slots = phrase_mask(mask)
        return states.masked_fill(~slots[..., None], 0.0), slots


def _step(inputs: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
    two = 2 * state.shape[-1]
    gates = torch.sigmoid(inputs[..., :two] + recurrent[..., :two])  # [Yin17 eq. 1] [Yin17 eq. 2]
    reset, update = gates.chunk(2, dim=-1)
    new = torch.tanh(inputs[..., two:] + reset * recurrent[..., two:])  # [Yin17 eq. 3]
    return torch.lerp(new, state.to(new.dtype), update)  # [Yin17 eq. 4]


def phrase_mask(mask: Tensor) -> Tensor:
    """Mask of a sentence's slots that contain a phrase: ``[B, T] -> [B, T · L]``."""
    lengths = torch.arange(LONGEST, device=mask.device)
    ends = torch.arange(mask.shape[1], device=mask.device)
    return (mask[..., None] & (lengths[None] <= ends[:, None])).flatten(1, 2)


def span(slot: int) -> tuple[int, int]:
    """Words [first, last) of the phrase in this slot."""
    end, extra = divmod(slot, LONGEST)
    return end - extra, end + 1


@torch.no_grad()
def alignment(first: Tensor, second: Tensor) -> Tensor:
    """A_ij, the cosines between all phrases of one sentence and all of the other: ``[B, P, h], [B, Q, h] -> [B, P, Q]``
    in float32 (section 3.3).

    The scores only select phrases, so no gradient flows through them.
    """
    with torch.autocast(first.device.type, enabled=False):
        return F.normalize(first.float(), dim=-1) @ F.normalize(second.float(), dim=-1).transpose(1, 2)


def into_slots(scores: Tensor, rows: int, columns: int) -> Tensor:
    """Moves scores between the phrases of two sentences, indexed as in records (without empty slots), into slots
    (``rows`` and ``columns``: words of the sentences): ``[n, m] -> [rows · L, columns · L]``, zero elsewhere. Raises
    ValueError for another n or m."""
    masks = [phrase_mask(torch.ones(1, words, dtype=torch.bool))[0] for words in (rows, columns)]
    expected = [int(mask.sum()) for mask in masks]
    if list(scores.shape) != expected:
        raise ValueError(f"an override of the alignment must be {expected}, got {list(scores.shape)}")
    out = scores.new_zeros(rows * LONGEST, columns * LONGEST)
    at_rows, at_columns = (mask.nonzero()[:, 0] for mask in masks)
    out[at_rows[:, None], at_columns[None]] = scores
    return out


class BestPartners(NamedTuple):
    """Each phrase's best partner: ``score [B, P]`` (a_i of equation 5, -inf in empty slots), its slot ``partner``."""

    score: Tensor
    partner: Tensor


def best(scores: Tensor, mask: Tensor, others: Tensor) -> BestPartners:
    """Row-wise max of A over the other sentence's phrases: ``[B, P, Q]``, masks ``[B, P]`` and ``[B, Q]``.

    On ties the earliest partner is returned.
    """
    rounded = scores.round(decimals=TIE_DECIMALS).masked_fill(~others[:, None], float("-inf"))
    largest = rounded.amax(dim=2, keepdim=True)  # [Yin17 eq. 5]
    partner = (rounded == largest).to(torch.uint8).argmax(dim=2)
    return BestPartners(scores.gather(2, partner[..., None])[..., 0].masked_fill(~mask, float("-inf")), partner)


class KeptPhrases(NamedTuple):
    """The phrases that pooling keeps, in text order: ``slots [B, n]``, and ``mask`` for those that are real.

    A sentence with fewer than k phrases keeps them all; the remaining slots are masked zeros at the end.
    """

    slots: Tensor
    mask: Tensor


@torch.no_grad()
def keep(score: Tensor, mask: Tensor, pooling: str, k: int) -> KeptPhrases:
    """Selects phrases ``[B, P]`` by their best alignment (section 3.3): ``kmin`` keeps the k worst aligned, ``kmax``
    the k best, ``full`` all. On ties (to five decimals) the earlier phrase ranks first."""
    count, slots = mask.shape
    if pooling == "full":
        order = torch.arange(slots, device=mask.device).expand(count, slots).masked_fill(~mask, slots)
        width = int(mask.sum(1).max())
    else:
        rounded = score.round(decimals=TIE_DECIMALS)
        width = min(k, slots)
        if pooling == "kmin":
            ranks = rounded.masked_fill(~mask, torch.inf).argsort(stable=True)  # [Yin17 k-min]
        else:
            ranks = rounded.masked_fill(~mask, -torch.inf).argsort(stable=True, descending=True)  # [Yin17 k-max]
        ranks = ranks[:, :width]
        order = ranks.masked_fill(~mask.gather(1, ranks), slots)
    order = order.sort(dim=1).values[:, :width]
    real = order < slots
    return KeptPhrases(order.masked_fill(~real, 0), real)


def diversity(weight: Tensor) -> Tensor:
    """Diversity regularizer of a weight matrix ``[R, C]`` (Xie et al. 2015): the variance of the angles between its
    rows minus their mean, so that small values mean evenly spread directions. Angles are the non-obtuse ones, arccos
    |cos|, in radians."""
    rows = F.normalize(weight, dim=1)
    above = torch.triu_indices(len(rows), len(rows), 1, device=weight.device)
    # The gradient of arccos is infinite at cosine 1; the bound keeps it finite.
    cosines = (rows @ rows.T)[above[0], above[1]].abs().clamp(max=1 - 1e-6)
    angles = torch.arccos(cosines)
    return angles.var(correction=0) - angles.mean()
