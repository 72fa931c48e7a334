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
    columns = [column.tolist() for column in (first, offsets, bias, preactivation, activation)]
    columns.append([0.0] * count if context is None else context.tolist())
    columns.append([()] * count if shares is None else shares.tolist())
    columns.append([None] * count if contexts is None else contexts.tolist())
    return tuple(
        FilterRecord(
            index=k,
            position=min(start + half, length - 1),
            window=(max(0, start), min(start + width, length)),
            left=sum(parts[:half]),
            self_=parts[half],
            right=sum(parts[half + 1 :]),
            context=from_context,
            bias=added,
            preactivation=before,
            activation=after,
            logit_shares=tuple(in_logits),
            offsets=tuple(parts),
            beside=number,
        )
        for k, (start, parts, added, before, after, from_context, in_logits, number) in enumerate(
            zip(*columns, strict=True)
        )
    )
