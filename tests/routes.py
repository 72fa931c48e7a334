"""What the routes of any model must satisfy."""

import torch

from core.models.intervention import Intervention
from core.models.routes import Patching, subsets
from core.reading.batch import Batch, Side


def versions(one, other):
    """Both versions of a pair as one batch, from batches of 1."""
    sides = [
        Side(torch.cat([own.words, theirs.words]), torch.cat([own.mask, theirs.mask]))
        for own, theirs in zip((one.first, *one.contexts), (other.first, *other.contexts), strict=True)
    ]
    extra = None if one.extra is None else torch.cat([one.extra, other.extra])
    return Batch(sides[0], tuple(sides[1:]), one.judged, extra)


def patched(model, one, other, routes, chosen):
    """Logits ``[N, C]`` of a patching, for two versions as batches of 1."""
    with torch.inference_mode():
        return model.under(versions(one, other), Intervention(patching=Patching.of(routes, chosen))).logits


def check(model, config, one, other, tolerance):
    """No route from the other version gives this one, all give the other, and a subset does not depend on its batch.
    Returns whether the model has routes."""
    routes = model.routes(config)
    if not routes:
        return False
    assert 2 <= len({*routes}) == len(routes) <= 4
    chosen = subsets(routes)
    logits = patched(model, one, other, routes, chosen)
    with torch.inference_mode():
        expected = model(one).logits[0], model(other).logits[0]
    assert not torch.allclose(*expected, atol=tolerance), "equal versions show nothing"
    assert torch.allclose(logits[0], expected[0], atol=tolerance), "none taken"
    assert torch.allclose(logits[-1], expected[1], atol=tolerance), "all taken"
    middle = len(chosen) // 2
    assert torch.allclose(patched(model, one, other, routes, [chosen[middle]])[0], logits[middle], atol=tolerance)
    return True
