"""Fine-tune a pretrained transformer on a recipe's data: a cross-encoder in Hugging Face's format.

    python -m trainers finetune all-MiniLM-L6-v2 --recipe nli-wide --data DATA --out runs/guest-minilm
    python -m trainers finetune all-MiniLM-L6-v2 --file FILE --columns premise=s1,hypothesis=s2,label=gold --out mine

MODEL is a listed transformer, an installed package's, or a folder in Hugging Face's format. The recipe, or your own
file (as in `train`), determines data, classes and roles; a row with weight below 1 is sampled with that probability.
``transformers.Trainer`` trains with cross-entropy, a linearly decaying learning rate and, if the processor supports it,
bfloat16, and keeps the state that is best on dev. The output folder can be read by
``AutoModelForSequenceClassification`` and has float16 weights.

After an interruption --resume continues from the last saved state, kept in the folder OUT.training until training ends.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from core.checkpoint import available, load
from core.data import Dataset
from core.data.labels import key
from core.errors import RunError
from core.evaluation.predict import classify
from core.evaluation.scores import summary
from core.external.installed import installed_folder
from core.external.settings import add_settings, settings_of
from core.files import check_writable, whole_folder
from core.json_types import JsonObject
from trainers import own_file
from trainers import recipe as recipes
from trainers.commands import as_typed, given
from trainers.options import add_options, data_folder, use_threads
from trainers.precision import add_precision, used_precision
from trainers.training_data import read_all

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from trainers.recipe import Recipe
    from trainers.sources import DataSource

_LEARNT = (
    "all-MiniLM-L6-v2 was pre-trained on about 1.17 billion pairs, including the training pairs of SNLI and MNLI and "
    "captions of Flickr30k; the premises of SNLI, dev and test included, are Flickr30k captions."
)
LEARNT_BEFORE = {"all-MiniLM-L6-v2": _LEARNT, "guest-minilm": f"guest-minilm was all-MiniLM-L6-v2. {_LEARNT}"}
"""How a pretrained model's training data overlap with ours, for the cards of models derived from it."""
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m trainers finetune`."""
    parser.add_argument(
        "model", metavar="MODEL", help="a listed or installed transformer, or a folder in Hugging Face's format"
    )
    parser.add_argument("--recipe", metavar="RECIPE", help="whose data, classes and roles are used")
    own_file.add_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.add_argument("--title", default="", help="the model's display name (default: MODEL's)")
    parser.add_argument("--epochs", type=float, default=3.0, metavar="N", help="passes over the data (default: 3)")
    parser.add_argument("--lr", type=float, default=8e-5, help="peak learning rate (default: 8e-5)")
    parser.add_argument("--batch", type=int, default=32, metavar="N", help="pairs per step (default: 32)")
    parser.add_argument("--smoothing", type=float, default=0.05, metavar="S", help="label smoothing (default: 0.05)")
    parser.add_argument("--longest", type=int, default=128, metavar="N", help="pieces read of a pair (default: 128)")
    parser.add_argument(
        "--piece-texts", type=int, default=0, metavar="N",
        help="keep the vocabulary's pieces that occur in N training texts, and single characters (0: all)",
    )  # fmt: skip
    parser.add_argument(
        "--freeze-embeddings", action="store_true", help="keep word embeddings fixed (a quarter faster on CPU)"
    )
    add_precision(parser, ("32", "bf16"))
    parser.add_argument("--evaluate-every", type=int, default=1000, metavar="N", help="steps between scores on dev")
    parser.add_argument("--rows", type=int, default=0, metavar="N", help="a sample of N rows per data set (0: all)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default: 1")
    parser.add_argument("--resume", action="store_true", help="continue from the last saved state")
    parser.add_argument("--overwrite", action="store_true", help="replace OUT and discard an unfinished training")
    add_options(parser, "--data", "--threads")


def run(args: argparse.Namespace) -> int:
    """Read the data, train, write and evaluate. Raises RunError before any time is spent on training."""
    own_file.check(args, "--recipe RECIPE")
    _check(args)
    use_threads(args.threads)
    if args.file:
        tune(own_file.of_file(args, architecture="two-sided"), args.file.parent, args)
    else:
        tune(recipes.load(args.recipe), data_folder(args.data), args)
    return 0


TEACHING = ("--epochs", "2", "--lr", "2e-4", "--batch", "128", "--longest", "256")
"""The options for fine-tuning a teacher MODEL@RECIPE: a short training, since it only teaches, and long evidence."""


def as_teacher(model: str, recipe: Recipe, data: Path, out: Path) -> None:
    """Fine-tunes a transformer as a teacher (:data:`TEACHING`), resuming an interrupted training. Raises RunError."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    resume = ["--resume"] if _scratch(out).exists() else []
    args = parser.parse_args([model, "--recipe", recipe.name, "--out", str(out), *TEACHING, *resume])
    args.given = given(parser, args)
    _check(args)
    tune(recipe, data, args)


def finished(out: Path) -> bool:
    """Whether a fine-tuned model lies in ``out``."""
    return (out / "config.json").is_file()


def tune(recipe: Recipe, data: Path, args: argparse.Namespace) -> None:
    """Trains on the recipe's data, writes the folder and evaluates it. Raises RunError before any time is spent on
    training."""
    datasets = [*read_all(recipe, data, limit=args.rows)]
    train = training_rows(recipe, datasets[: len(recipe.train)], args.seed)
    dev, *report = (dataset for _, dataset in datasets[len(recipe.train) :])
    folder = installed_folder(args.model) or available().get(args.model) or Path(args.model)
    if not (folder / "config.json").is_file():
        raise RunError(f"{args.model} is not a model folder: give one that holds config.json and model.safetensors")
    model, tokenizer = opened(folder, recipe, [text for row in train for text in row[:2]], args.piece_texts)
    if args.freeze_embeddings:
        model.get_input_embeddings().requires_grad_(False)
    curve = trained(model, tokenizer, recipe, train, dev, _scratch(args.out), args)
    with whole_folder(args.out, last="config.json") as target:
        model.half().save_pretrained(target)
        tokenizer.save_pretrained(target)
        describe(target, args, recipe, curve, [])
    scores = scored(args.out, [dev, *report])
    describe(args.out, args, recipe, curve, scores)
    shutil.rmtree(_scratch(args.out), ignore_errors=True)
    for name, figures in scores:
        print(f"{name}: {figures['accuracy']:.2%} of {figures['items']:,}")


def _scratch(out: Path) -> Path:
    return out.with_name(out.name + ".training")


def _check(args: argparse.Namespace) -> None:
    scratch = _scratch(args.out)
    if min(args.batch, args.longest, args.evaluate_every) < 1 or args.epochs <= 0:
        raise RunError("--epochs, --batch, --longest and --evaluate-every must be above 0")
    if args.out.exists() and not args.overwrite:
        raise RunError(f"{args.out} exists; give another --out, or --overwrite to replace it")
    if scratch.exists() and not args.resume:
        if not args.overwrite:
            raise RunError(f"{scratch} holds an unfinished training; add --resume, or --overwrite to discard it")
        shutil.rmtree(scratch)
    if args.resume and not scratch.exists():
        raise RunError(f"{scratch} holds no unfinished training to resume")
    check_writable(args.out, "--out")


Row = tuple[str, str, int]
"""Both texts and the class index."""


def training_rows(recipe: Recipe, datasets: Sequence[tuple[DataSource, Dataset]], seed: int) -> list[Row]:
    """The labelled rows of these training sets, each sampled with its weight; in the share ``drop_full_stops`` of them
    both texts lose their final full stop. Raises RunError if a class has no row."""
    generator = np.random.default_rng(seed)
    rows: list[Row] = []
    for source, dataset in datasets:
        print(dataset.summary(), flush=True)
        for row in dataset.rows:
            if not row.label or generator.random() >= source.weight_of(row.id):
                continue
            texts = [row.first, row.second]
            if generator.random() < recipe.drop_full_stops:
                texts = [text.rstrip().removesuffix(".") or text for text in texts]
            rows.append((texts[0], texts[1], recipe.labels.index(row.label or "")))
    missing = set(range(len(recipe.labels))) - {row[2] for row in rows}
    if missing:
        names = ", ".join(recipe.labels[number] for number in sorted(missing))
        raise RunError(f"no training row has the class {names}: choose another --recipe or check its data")
    return rows


def opened(folder: Path, recipe: Recipe, texts: Sequence[str], piece_texts: int) -> tuple[Any, Any]:
    """The pretrained model, with a new classifier unless it has as many classes, and its tokenizer. Raises RunError for
    a folder without one."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    names = dict(enumerate(recipe.labels))
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
        model = AutoModelForSequenceClassification.from_pretrained(
            folder, id2label=names, label2id={name: number for number, name in names.items()}, trust_remote_code=False,
            use_safetensors=True, ignore_mismatched_sizes=True, dtype=torch.float32,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise RunError(f"{folder.name} cannot be opened for training: {str(error).splitlines()[0]}") from error
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):
        raise RunError(f"{folder.name} has no tokenizer files: copy the model again, with all its files")
    if piece_texts:
        tokenizer = cut_vocabulary(model, tokenizer, texts, piece_texts)
    return model, tokenizer


def cut_vocabulary(model: Any, tokenizer: Any, texts: Sequence[str], least: int) -> PreTrainedTokenizerFast:
    """A WordPiece tokenizer without the tokens that occur in fewer than ``least`` texts, except single characters and
    special tokens; the model's embeddings are reduced to match. Raises RunError for any other kind of tokenizer."""
    from transformers import BertTokenizerFast  # type: ignore[attr-defined]

    parts = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    if parts["type"] != "WordPiece":
        raise RunError("--piece-texts needs a WordPiece tokenizer; leave it out for this model")
    vocabulary: dict[str, int] = parts["vocab"]
    counts: Counter[int] = Counter()
    for start in range(0, len(texts), 10_000):
        part = list(texts[start : start + 10_000])
        for pieces in tokenizer(part, add_special_tokens=False)["input_ids"]:
            counts.update(set(pieces))
    ordered = sorted(vocabulary, key=vocabulary.__getitem__)
    kept = [
        piece
        for piece in ordered
        if piece in SPECIAL or len(piece.removeprefix("##")) == 1 or counts[vocabulary[piece]] >= least
    ]
    old = model.get_input_embeddings().weight.data[[vocabulary[piece] for piece in kept]]
    model.resize_token_embeddings(len(kept))
    model.get_input_embeddings().weight.data.copy_(old)
    numbers = {piece: number for number, piece in enumerate(kept)}
    model.config.pad_token_id = numbers["[PAD]"]
    return BertTokenizerFast(vocab=numbers, do_lower_case=True)


class Pairs(torch.utils.data.Dataset[dict[str, Any]]):
    """Encoded pairs with their class indices."""

    def __init__(self, tokenizer: Any, rows: Sequence[Row], longest: int) -> None:
        firsts, seconds, self.labels = zip(*rows, strict=True)
        self.inputs = tokenizer(list(firsts), list(seconds), truncation=True, max_length=longest)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return {name: values[number] for name, values in self.inputs.items()} | {"labels": self.labels[number]}


def trained(
    model: Any, tokenizer: Any, recipe: Recipe, train: Sequence[Row], dev: Dataset, scratch: Path,
    args: argparse.Namespace,
) -> list[JsonObject]:  # fmt: skip
    """Trains the model in place and restores the state that is best on dev; returns each evaluation's step, loss and
    accuracy."""
    from transformers import DataCollatorWithPadding, Trainer, TrainingArguments

    labelled = [(row.first, row.second, recipe.labels.index(row.label)) for row in dev.rows if row.label]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    every = min(args.evaluate_every, math.ceil(len(train) * args.epochs / args.batch))
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=str(scratch),
            num_train_epochs=args.epochs,
            per_device_train_batch_size=args.batch,
            per_device_eval_batch_size=128,
            learning_rate=args.lr,
            warmup_steps=0.06,
            weight_decay=0.01,
            label_smoothing_factor=args.smoothing,
            train_sampling_strategy="group_by_length",
            bf16=used_precision(args.precision, device) == "bf16",
            use_cpu=device == "cpu",
            eval_strategy="steps",
            save_strategy="steps",
            eval_steps=every,
            save_steps=every,
            logging_steps=every,
            save_total_limit=2,
            load_best_model_at_end=True,
            metric_for_best_model="accuracy",
            dataloader_pin_memory=False,
            report_to=[],
            disable_tqdm=False,
            seed=args.seed,
        ),
        train_dataset=Pairs(tokenizer, train, args.longest),
        eval_dataset=Pairs(tokenizer, labelled, args.longest),
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=lambda output: {"accuracy": float((output[0].argmax(1) == output[1]).mean())},
    )
    trainer.train(resume_from_checkpoint=args.resume)
    losses = {entry["step"]: entry["loss"] for entry in trainer.state.log_history if "loss" in entry}
    return [
        {"step": entry["step"], "loss": losses[entry["step"]], "dev": entry["eval_accuracy"]}
        for entry in trainer.state.log_history
        if "eval_accuracy" in entry and entry["step"] in losses
    ]


def scored(folder: Path, datasets: Sequence[Dataset]) -> list[tuple[str, JsonObject]]:
    """The saved model's figures on each data set, read and predicted as in `trainers evaluate`."""
    checkpoint, device = load(folder), torch.device("cuda" if torch.cuda.is_available() else "cpu")
    numbers, out = {key(name): number for number, name in enumerate(checkpoint.labels)}, []
    for dataset in datasets:
        gold = np.array([numbers[key(row.label)] for row in dataset.rows if row.label])
        labelled = [number for number, row in enumerate(dataset.rows) if row.label]
        probabilities = classify(checkpoint, dataset, device)[labelled]
        out.append((dataset.name, summary(gold, probabilities)))
    return out


def own_title(model: str) -> str:
    """The display name of a model, its folder's name if it has no other."""
    folder = installed_folder(model) or available().get(model) or Path(model)
    return settings_of(folder).title or folder.name


def describe(
    folder: Path, args: argparse.Namespace, recipe: Recipe, curve: Sequence[JsonObject],
    scores: Sequence[tuple[str, JsonObject]],
) -> None:  # fmt: skip
    """Writes README.md for readers and ``pairlens.json`` for the app."""
    data = ", ".join(source.name for source in recipe.train)
    options = {"out": args.out.name} if args.file else {"recipe": args.recipe, "data": "DATA", "out": args.out.name}
    command = as_typed("trainers finetune", Path(args.model).name, **options | args.given)
    title, before = args.title or own_title(args.model), LEARNT_BEFORE.get(Path(args.model).name, "")
    lines = [
        f"# {title}\n",
        f"{Path(args.model).name}, fine-tuned as a cross-encoder for {recipe.task} by\n\n    {command}\n",
        f"Trained on {data}; licence of the weights: {recipe.licence}. {before}\n",
        *(f"- {name}: {figures['accuracy']:.2%} of {figures['items']:,}" for name, figures in scores),
        f"\n| step | loss | {recipe.dev.name} |\n|---|---|---|",
        *(f"| {point['step']:,} | {point['loss']:.4f} | {point['dev']:.2%} |" for point in curve),
    ]
    (folder / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    notes = f"{Path(args.model).name} fine-tuned by `{command}` on {data}. {before}".rstrip()
    settings = {"title": title, "task": recipe.task, "roles": list(recipe.roles), "licence": recipe.licence}
    add_settings(folder, **settings, notes=notes, results=dict(scores))
