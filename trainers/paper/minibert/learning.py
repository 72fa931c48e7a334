"""The model, its two trainings (masked words, then verdicts), and its folder."""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from core.checkpoint.files import round_weights
from core.data import Dataset
from core.evaluation.scores import summary
from core.external.settings import add_settings
from core.files import whole_folder
from core.json_types import JsonObject
from core.reading.tokens import normalise
from core.reading.word_table import default_table
from trainers.paper.minibert.rows import LONGEST, Rows
from trainers.recipe import Recipe

MASKED = 0.15
"""Share of the pieces that are masked (Devlin et al. 2019, section 3.1)."""
WARMUP = 500
"""Steps in which the learning rate rises."""
EMA = 0.999
TITLE = "MiniBERT"
SPREAD = 0.05
"""Standard deviation of the embeddings at the beginning."""


def new_model(recipe: Recipe, tokenizer: Any, layers: int, width: int) -> Any:
    """A fresh BERT with heads for masked words and for the recipe's classes.

    Where it starts decides much with so few pairs: words that the word table has start as its principal components, and
    the keys' weights as the queries', so that equal words look at each other from the first step on.
    """
    from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // 32),
        intermediate_size=4 * width,
        max_position_embeddings=256,
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.0,
        id2label=dict(enumerate(recipe.labels)),
        label2id={label: number for number, label in enumerate(recipe.labels)},
    )
    model: Any = BertForSequenceClassification(config)
    model.masked_words = BertForMaskedLM(config).cls
    model.masked_words.predictions.decoder.weight = model.bert.embeddings.word_embeddings.weight
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight.copy_(_first_embeddings(tokenizer, width))
        for layer in model.bert.encoder.layer:
            layer.attention.self.key.weight.copy_(layer.attention.self.query.weight)
    return model


def _first_embeddings(tokenizer: Any, width: int) -> Tensor:
    """``[pieces, width]``: the word table's vectors on their first principal axes; random for pieces of words."""
    table = default_table()
    embeddings = torch.randn(len(tokenizer), width) * SPREAD
    pieces = {normalise(piece): number for piece, number in tokenizer.vocab.items()}
    words = [piece for piece in pieces if table.known(piece)]
    vectors = table.vectors(words)
    vectors = vectors - vectors.mean(0)
    _, _, axes = torch.linalg.svd(vectors, full_matrices=False)
    reduced = vectors @ axes[:width].T
    embeddings[[pieces[word] for word in words]] = reduced / reduced.std() * SPREAD
    embeddings[tokenizer.pad_token_id] = 0
    return embeddings


class Steps:
    """An optimiser's steps: the learning rate rises, then falls to zero in a straight line."""

    def __init__(self, parameters: Sequence[nn.Parameter], lr: float, steps: int) -> None:
        decayed = [one for one in parameters if one.ndim > 1]
        others = [one for one in parameters if one.ndim <= 1]
        groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
        self.parameters = parameters
        self.optimizer = torch.optim.AdamW(groups, lr=lr, fused=True)
        rise = min(WARMUP, max(1, steps // 10))
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min((step + 1) / rise, max(0.0, (steps - step) / max(1, steps - rise)))
        )

    def take(self, loss: Tensor) -> float:
        """One step down this loss, which is returned as a number."""
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        self.schedule.step()
        return float(loss.detach())


def learn_masked_words(
    model: Any, rows: Rows, tokenizer: Any, args: argparse.Namespace, generator: np.random.Generator
) -> None:
    """Learn to guess masked words of the training pairs (Devlin et al. 2019, section 3.1; every piece that is guessed
    is masked, none is replaced or left)."""
    if not args.mask_epochs:
        return
    parameters = list({id(one): one for one in (*model.bert.parameters(), *model.masked_words.parameters())}.values())
    steps = Steps(parameters, args.lr, args.mask_epochs * _steps(rows, args.batch))
    model.train()
    for epoch in range(args.mask_epochs):
        started, losses = time.perf_counter(), []
        for batch in rows.batches(args.batch, generator):
            inputs = rows.inputs(batch)
            pieces = inputs["input_ids"]
            special = (pieces == tokenizer.cls_token_id) | (pieces == tokenizer.sep_token_id)
            masked = (torch.rand(pieces.shape) < MASKED) & ~special & (inputs["attention_mask"] == 1)
            if not masked.any():
                continue
            inputs["input_ids"] = pieces.masked_fill(masked, tokenizer.mask_token_id)
            states = model.bert(**inputs).last_hidden_state[masked]
            losses.append(steps.take(F.cross_entropy(model.masked_words(states), pieces[masked])))
        _say(f"masked words {epoch + 1}: loss {np.mean(losses[-500:]):.3f}", started)


def learn(
    model: Any,
    rows: Rows,
    dev: tuple[Any, Dataset],
    args: argparse.Namespace,
    generator: np.random.Generator,
) -> tuple[Any, list[dict[str, float]]]:
    """Learn the verdicts; returns the running mean of the weights from the epoch that was best on dev (with its
    tokeniser), rounded to float16, and the curve."""
    parameters = [one for name, one in model.named_parameters() if not name.startswith("masked_words")]
    steps = Steps(parameters, args.lr, args.epochs * _steps(rows, args.batch))
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(EMA))  # type: ignore[no-untyped-call]
    best, curve = None, []
    for epoch in range(args.epochs):
        model.train()
        started, losses = time.perf_counter(), []
        for batch in rows.batches(args.batch, generator):
            losses.append(steps.take(F.cross_entropy(model(**rows.inputs(batch)).logits, rows.targets[batch])))
            average.update_parameters(model)
        candidate = copy.deepcopy(average.module)
        round_weights(candidate)
        curve.append({"loss": float(np.mean(losses)), "dev": score(candidate, *dev)["accuracy"]})
        if best is None or curve[-1]["dev"] >= max(point["dev"] for point in curve):
            best = candidate
        _say(f"epoch {epoch + 1}: loss {curve[-1]['loss']:.4f}, dev {curve[-1]['dev']:.2%}", started)
    return best, curve


def _steps(rows: Rows, batch: int) -> int:
    """Steps of an epoch, about."""
    return max(1, round(float(rows.chances.sum()) / batch))


@torch.inference_mode()
def score(model: Any, tokenizer: Any, dataset: Dataset) -> JsonObject:
    """The card's scores of the model on a data set (:func:`core.evaluation.scores.summary`)."""
    model.eval()
    labelled = sorted((row for row in dataset.rows if row.label), key=lambda row: len(row.first) + len(row.second))
    probabilities = []
    for start in range(0, len(labelled), 256):
        part = labelled[start : start + 256]
        texts = [row.first for row in part], [row.second for row in part]
        inputs = tokenizer(*texts, truncation=True, max_length=LONGEST, padding=True, return_tensors="pt")
        probabilities.append(torch.softmax(model(**inputs).logits, 1))
    gold = [model.config.label2id[row.label] for row in labelled]
    return summary(np.array(gold), torch.cat(probabilities).numpy())


def write(
    folder: Path,
    model: Any,
    tokenizer: Any,
    recipe: Recipe,
    curve: list[dict[str, float]],
    scores: Mapping[str, JsonObject],
    command: str,
) -> None:
    """The folder in Hugging Face's format: float16 weights, configuration, tokeniser, and how it was made."""
    del model.masked_words
    with whole_folder(folder, last="config.json") as scratch:
        model.half().save_pretrained(scratch)
        tokenizer.save_pretrained(scratch)
        describe(scratch, recipe, curve, scores, command)


def describe(
    folder: Path, recipe: Recipe, curve: list[dict[str, float]], scores: Mapping[str, JsonObject], command: str
) -> None:
    """Write README.md, for people, and ``pairlens.json``, for the pages."""
    data = ", ".join(source.name for source in recipe.train)
    epochs = [f"| {number} | {one['loss']:.4f} | {one['dev']:.2%} |" for number, one in enumerate(curve, 1)]
    found = [f"- {name}: {score['accuracy']:.2%} of {score['items']:,}" for name, score in scores.items()]
    card = [
        f"# {TITLE}\n",
        f"A small BERT for pairs of sentences, made by\n\n    {command}\n",
        f"Trained on {data}; licence of the weights: {recipe.licence}.\n",
        *found,
        f"\n| epoch | loss | {recipe.dev.name} |\n|---|---|---|",
        *epochs,
    ]
    (folder / "README.md").write_text("\n".join(card) + "\n", encoding="utf-8")
    notes = f"Made by `{command}`; trained on {data}."
    add_settings(folder, title=TITLE, licence=recipe.licence, notes=notes, results=dict(scores))


def _say(text: str, started: float) -> None:
    print(f"{text}, {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
