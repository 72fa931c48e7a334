"""Knowledge distillation (Hinton et al. 2015): teachers' predictions for training pairs, and unlabelled pairs for them.

A row's target is a mix of its label and the mean of the teachers' probabilities; for a row without a label, only the
latter. Unlabelled pairs are recombined from the training sentences: premises with hypotheses from other pairs that
share a content word, since only such pairs resemble those that users type. Pairs and predictions, which take minutes,
are cached in the user's cache folder.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from core.checkpoint import Checkpoint, open_checkpoint
from core.data import Dataset, Example
from core.errors import RunError
from core.evaluation.predict import classify
from core.external.installed import installed_folder
from core.kept_arrays import kept
from core.linguistics.content_words import norms, stop_words
from core.progress import bar
from core.reading.tokens import tokenize
from trainers.recipe import Recipe, load

ENCODER = "all-MiniLM-L6-v2"
"""The sentence encoder whose cosine determines which texts are near."""
CHOICES = 64
"""Number of texts with a shared content word among which the nearest is chosen: among all, it would often be a copy."""
SWAPPED = 0.25
"""Share of recombined pairs with premise and hypothesis swapped."""


def teachers_of(recipe: Recipe, out: Path) -> list[Checkpoint]:
    """The teachers of a run in ``out``."""
    return [needed(name, out) for name in recipe.teachers]


def needed(name: str, out: Path) -> Checkpoint:
    """A checkpoint that a run in ``out`` needs; one that is trained first lies next to it."""
    return open_checkpoint(str(out.with_name(name)) if "@" in name else name)


def trained_first(recipe: Recipe, out: Path) -> dict[Path, Recipe]:
    """The recipes of the teachers RECIPE@SEED of a run in ``out``, which have no teachers themselves, and of an
    ``init`` RECIPE@SEED, which may also teach, by their runs' folders next to it."""
    runs = {}
    for needs in (*recipe.teachers, recipe.init):
        name, at, seed = needs.rpartition("@")
        if at and seed.isdecimal():
            base = recipe if name == recipe.name else load(name)
            base = dataclasses.replace(base, seed=int(seed))
            if needs != recipe.init:
                base = dataclasses.replace(base, teachers=(), transfer=0)
            if name == recipe.name:
                base = dataclasses.replace(base, init="", init_classifier=False, init_share=0.0)
            runs[out.with_name(needs)] = base
    return runs


def finetuned_first(recipe: Recipe, out: Path) -> dict[Path, tuple[str, Recipe]]:
    """The transformers of the teachers MODEL@RECIPE of a run in ``out``, and the recipes on whose data they are
    fine-tuned, by their folders next to it."""
    tuned = {}
    for teacher in recipe.teachers:
        model, at, data = teacher.rpartition("@")
        if at and not data.isdecimal():
            tuned[out.with_name(teacher)] = model, recipe if data == recipe.name else load(data)
    return tuned


def targets(recipe: Recipe, rows: Sequence[Example], taught: Tensor, teachers: Sequence[Checkpoint]) -> Tensor:
    """The target of each training pair, float ``[N, C]``.

    ``taught [N]``: rows to which the teachers are applied; unlabelled ones use only their answer, others mix it in with
    weight ``teacher_share``; unlike Hinton et al. (2015, section 2) we do not raise the temperature. Raises RunError
    for a teacher with other classes, and for unlabelled rows without a teacher.
    """
    numbers = {label: number for number, label in enumerate(recipe.labels)}
    labels = torch.tensor([numbers.get(row.label or "", -1) for row in rows])
    known = labels >= 0
    hard = F.one_hot(labels.clamp_min(0), len(numbers)).float() * known[:, None]
    if not teachers:
        if not bool(known.all()):
            raise RunError("rows without labels need teachers: name them in the recipe, or leave such data out")
        return hard
    for teacher in teachers:
        if teacher.labels != recipe.labels:
            raise RunError(f"the teacher {teacher.name} has other classes; choose another one")
    asked = (taught | ~known).nonzero().flatten().tolist()
    mean = np.mean([answers(teacher, [rows[row] for row in asked]) for teacher in teachers], axis=0)
    soft = torch.zeros_like(hard)
    soft[asked] = torch.from_numpy(mean).float()
    share = torch.where(known, recipe.teacher_share * taught.float(), 1.0)[:, None]
    return (1 - share) * hard + share * soft


def answers(teacher: Checkpoint, rows: Sequence[Example]) -> np.ndarray:
    """The teacher's probabilities for rows, float32 ``[N, C]``."""

    def ask() -> np.ndarray:
        dataset = Dataset("training rows", "", tuple(rows))
        with bar(len(rows), "pair", f"asking {teacher.name}") as shown:

            def progress(done: int) -> None:
                shown.update(done - shown.n)

            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
            return classify(teacher, dataset, device, progress).astype(np.float32)

    texts = (text for row in rows for text in (row.first, row.second))
    return kept("teaching", ["answers", teacher.card["sha256"], *texts], len(teacher.labels), ask)


def recombined(rows: Sequence[Example], count: int, seed: int) -> list[Example]:
    """``count`` unlabelled pairs, or as many as exist: each combines a first text with another row's second text that
    shares a content word and, among :data:`CHOICES` such texts, is nearest by the encoder's cosine. Raises RunError if
    the encoder is not installed."""
    firsts, seconds = (list(dict.fromkeys(texts)) for texts in zip(*((r.first, r.second) for r in rows), strict=True))
    texts = (text for row in rows for text in (row.first, row.second))
    pairs = kept(
        "teaching",
        ["recombined", str(count), str(seed), *texts],
        3,
        lambda: np.array(list(_pairs(rows, firsts, seconds, count, seed)), dtype=np.int32).reshape(-1, 3),
    )
    out = []
    for number, (first, second, swapped) in enumerate(pairs.tolist()):
        both = firsts[first], seconds[second]
        out.append(Example(f"recombined-{number}", *(both[::-1] if swapped else both), None))
    return out


def _pairs(
    rows: Sequence[Example], firsts: Sequence[str], seconds: Sequence[str], count: int, seed: int
) -> Iterator[tuple[int, int, bool]]:
    """Indices of a first and a second text, and whether they are swapped."""
    of_first, of_second = ({text: number for number, text in enumerate(texts)} for texts in (firsts, seconds))
    taken = {(of_first[row.first], of_second[row.second]) for row in rows}
    with_word: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(seconds):
        for word in _content_words(text):
            with_word[word].append(number)
    words = [[word for word in _content_words(text) if word in with_word] for text in firsts]
    first_vectors, second_vectors = sentence_vectors(firsts), sentence_vectors(seconds)
    generator, made, idle = np.random.default_rng(seed), 0, 0
    while made < count and idle < len(firsts):
        for first in generator.permutation(len(firsts)):
            if made == count or not words[first]:
                idle += 1
                continue
            options = np.array(with_word[words[first][generator.integers(len(words[first]))]])
            some = generator.choice(options, min(CHOICES, len(options)), replace=False)
            near = some[np.argsort(-(second_vectors[some] @ first_vectors[first]), kind="stable")]
            second = next((int(n) for n in near if (int(first), int(n)) not in taken), None)
            if second is None:
                idle += 1
                continue
            taken.add((int(first), second))
            made, idle = made + 1, 0
            yield int(first), second, bool(generator.random() < SWAPPED)


def _content_words(text: str) -> list[str]:
    """The distinct content words of a text, in order."""
    return [word for word in dict.fromkeys(norms(tokenize(text))) if word not in stop_words()]


def sentence_vectors(texts: Sequence[str]) -> np.ndarray:
    """The encoder's unit vectors of texts, float32 ``[N, 384]``. Raises RunError if it is missing."""
    from transformers import AutoModel, AutoTokenizer

    folder = installed_folder(ENCODER)
    if folder is None:
        raise RunError(f"{ENCODER} is not installed, which recombined pairs need: run `make app`, or set transfer=0")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval().to(device)
    out = np.empty((len(texts), model.config.hidden_size), dtype=np.float32)
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    with bar(len(texts), "text", "encoding") as shown, torch.inference_mode():
        for start in range(0, len(order), 128):
            some = order[start : start + 128]
            inputs = tokenizer([texts[n] for n in some], padding=True, truncation=True, return_tensors="pt").to(device)
            states, mask = model(**inputs).last_hidden_state, inputs["attention_mask"][:, :, None]
            out[some] = F.normalize((states * mask).sum(1) / mask.sum(1), dim=1).cpu().numpy()
            shown.update(len(some))
    return out
