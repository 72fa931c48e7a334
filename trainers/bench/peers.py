"""Models beside models that others have published, on the same batches in one run.

Whoever measures installs the other library and writes an adapter, a function without arguments that returns a
:class:`Peer`; ``PAIRLENS_PEERS=MODULE:FUNCTION`` names it, several with commas between them.
"""

from __future__ import annotations

import copy
import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from core.checkpoint import load_named
from core.data import Dataset, Example, read
from core.errors import RunError
from core.evaluation.predict import classify, prepare_rows
from trainers.bench.row import Row, medians
from trainers.bench.tokens import sentences

SETTING = "PAIRLENS_PEERS"
OURS = ("nli-two-sided", "nli-esim", "nli-decomposable")
LABELS = ("entailment", "neutral", "contradiction")
BATCH, BATCHES = 64, 20
DEV = Path("snli", "snli_1.0_dev.jsonl")
"""Under ``PAIRLENS_DATA``: its first pairs are measured on, or made-up sentences where it is not there."""
Pairs = Sequence[tuple[str, str]]


class Peer(Protocol):
    """A model of pairs of sentences as it is measured: all but making its inputs counts.

    ``name``: what it is called; ``model``: with all of its weights, on the processor. Where it is trained it may also
    have ``predictions(pairs)``, one of ``LABELS`` for each pair, by which its accuracy on SNLI dev is told; they are
    asked for before any training step.
    """

    name: str
    model: nn.Module

    def inputs(self, pairs: Pairs) -> Any:
        """A batch of pairs (premise, hypothesis) as :meth:`logits` takes it: tokens, numbers, masks."""

    def logits(self, inputs: Any) -> Tensor:
        """What the model says, ``[B, C]``, with gradients where they are on."""


class Own:
    """A shipped checkpoint as a peer; its weights are a copy. Vectors of words are looked up with the inputs."""

    def __init__(self, name: str) -> None:
        self.name, self._checkpoint = name, load_named(name)
        self.model: nn.Module = copy.deepcopy(self._checkpoint.model)

    def inputs(self, pairs: Pairs) -> Any:
        ready = prepare_rows(self._checkpoint, _dataset(pairs))
        assert ready.data is not None, "a shipped checkpoint is no guest"
        return ready.data.batch(torch.arange(len(pairs)).numpy(), ready.vectors)[0]

    def logits(self, inputs: Any) -> Tensor:
        return self.model(inputs).logits

    def predictions(self, pairs: Pairs) -> list[str]:
        chances = classify(self._checkpoint, _dataset(pairs), torch.device("cpu"))
        return [self._checkpoint.labels[best] for best in chances.argmax(axis=1)]


def _dataset(pairs: Pairs) -> Dataset:
    return Dataset("pairs", "", tuple(Example(str(i), *pair, None) for i, pair in enumerate(pairs)))


def peers(quick: bool) -> list[Row]:
    """Each model's pairs a second, forward and in a training step, measured in turns, its weights, and its accuracy."""
    all_peers: list[Peer] = [*(Own(name) for name in OURS), *named()]
    labelled, dev = _pairs(BATCH * (3 if quick else BATCHES))
    batches = [labelled[i : i + BATCH] for i in range(0, len(labelled), BATCH)]
    dev = dev[:500] if quick else dev
    right = [_accuracy(peer, dev) for peer in all_peers]
    inputs = [[_asked(peer, lambda p=peer, b=batch: p.inputs(b)) for batch in batches] for peer in all_peers]  # type: ignore[misc]
    repeats = 1 if quick else 5
    forward = medians([_forward(peer, own) for peer, own in zip(all_peers, inputs, strict=True)], repeats)
    trained = medians([_training(peer, own) for peer, own in zip(all_peers, inputs, strict=True)], repeats)
    rows = []
    for peer, forwards, steps, accuracy in zip(all_peers, forward, trained, right, strict=True):
        count = sum(weight.numel() for weight in peer.model.parameters())
        tables = sum(weight.numel() for weight in _word_tables(peer.model))
        rows += [
            Row(f"{peer.name}: inference", len(labelled) / forwards * 1000, "pairs/s", None),
            Row(f"{peer.name}: training step, batch {BATCH}", len(labelled) / steps * 1000, "pairs/s", None),
            Row(f"{peer.name}: weights", count / 1e6, "million", None, note=f"{tables / 1e6:.3g} in tables of words"),
        ]
        if accuracy is not None:
            rows.append(Row(f"{peer.name}: SNLI dev", 100 * accuracy, "%", None, note=f"{len(dev):,} pairs"))
    return rows


def _word_tables(model: nn.Module) -> Iterator[Tensor]:
    yield from (module.weight for module in model.modules() if isinstance(module, nn.Embedding | nn.EmbeddingBag))


def named() -> Iterator[Peer]:
    """Those that ``PAIRLENS_PEERS`` names. Raises RunError for what cannot be imported or is none."""
    for place in filter(None, (part.strip() for part in os.environ.get(SETTING, "").split(","))):
        module, _, function = place.partition(":")
        try:
            peer = getattr(importlib.import_module(module), function)()
        except Exception as error:  # whatever another's code raises
            raise RunError(f"{SETTING}: {place} cannot be made ({type(error).__name__}: {error})") from error
        if not (isinstance(getattr(peer, "model", None), nn.Module) and hasattr(peer, "logits")):
            raise RunError(f"{SETTING}: what {place} returns has no model and logits: see trainers/bench/peers.py")
        yield peer


def _pairs(count: int) -> tuple[Pairs, list[tuple[tuple[str, str], str]]]:
    """So many pairs, and all labelled ones of SNLI dev where it is there."""
    folder = os.environ.get("PAIRLENS_DATA")
    if folder and (Path(folder) / DEV).is_file():
        rows = read(Path(folder) / DEV).rows
        dev = [((row.first, row.second), row.label or "") for row in rows]
        return [pair for pair, _ in dev[:count]], dev
    texts = sentences(2 * count + 100)
    return list(zip(texts[:count], texts[count : 2 * count], strict=True)), []


def _accuracy(peer: Peer, dev: Sequence[tuple[tuple[str, str], str]]) -> float | None:
    """Of its predictions; None where it gives none or there is no SNLI dev."""
    predictions = getattr(peer, "predictions", None)
    if not dev or predictions is None:
        return None
    said = _asked(peer, lambda: list(predictions([pair for pair, _ in dev])))
    if len(said) != len(dev):
        raise RunError(f"{peer.name} gives {len(said)} predictions for {len(dev)} pairs: give one for each")
    right = [bool(one == label) for one, (_, label) in zip(said, dev, strict=True)]
    return sum(right) / len(right)


def _forward(peer: Peer, batches: Sequence[Any]) -> Callable[[], None]:
    @torch.inference_mode()
    def once() -> None:
        peer.model.eval()
        for inputs in batches:
            _asked(peer, lambda inputs=inputs: _checked(peer, peer.logits(inputs)))  # type: ignore[misc]

    return once


def _training(peer: Peer, batches: Sequence[Any]) -> Callable[[], None]:
    """A step of Adam for each batch, by cross-entropy to one class."""
    weights = [weight for weight in peer.model.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(weights, lr=1e-4)

    def step(inputs: Any) -> None:
        logits = _checked(peer, peer.logits(inputs))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    def once() -> None:
        peer.model.train()
        for inputs in batches:
            _asked(peer, lambda inputs=inputs: step(inputs))  # type: ignore[misc]

    return once


def _checked(peer: Peer, logits: Tensor) -> Tensor:
    if not isinstance(logits, Tensor) or logits.ndim != 2:
        raise RunError(f"the logits of {peer.name} are no [B, C] of torch: see trainers/bench/peers.py")
    return logits


def _asked(peer: Peer, call: Callable[[], Any]) -> Any:
    """What an adapter returns. Raises RunError for whatever it raises."""
    try:
        return call()
    except RunError:
        raise
    except Exception as error:
        raise RunError(f"the adapter of {peer.name} failed ({type(error).__name__}: {error})") from error
