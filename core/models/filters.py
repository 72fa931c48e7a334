"""Evidence records for the filters of a convolution, fixed or generated."""

from __future__ import annotations

from torch import Tensor

from core.evidence import FilterRecord


def filter_records(
    length: int,
    first: Tensor,
    offsets: Tensor,
    bias: Tensor,
    preactivation: Tensor,
    activation: Tensor,
    *,
    context: Tensor | None = None,
    shares: Tensor | None = None,
    contexts: Tensor | None = None,
) -> tuple[FilterRecord, ...]:
    """K filters over a sentence of ``length`` words.

    ``first [K]``: where their winning windows begin, negative if before the start of the sentence. ``offsets [K, h]``,
    ``context [K]`` (0 without) and ``bias [K]`` add up to the ``preactivation [K]``; ``shares [K, C]`` in the logits,
    None if they have none; ``contexts [K]``: the number of the winning context, if there are several.
    """
    count, width = offsets.shape
    half = width // 2
    columns = (  # in the order of a record's fields
        range(count),
        (first + half).clamp(max=length - 1).tolist(),
        zip(first.clamp(min=0).tolist(), (first + width).clamp(max=length).tolist(), strict=True),
        offsets[:, :half].sum(dim=1).tolist(),
        offsets[:, half].tolist(),
        offsets[:, half + 1 :].sum(dim=1).tolist(),
        [0.0] * count if context is None else context.tolist(),
        bias.tolist(),
        preactivation.tolist(),
        activation.tolist(),
        [()] * count if shares is None else map(tuple, shares.tolist()),
        map(tuple, offsets.tolist()),
        [None] * count if contexts is None else contexts.tolist(),
    )
    return tuple(map(FilterRecord, *columns))
