"""A recipe: everything that decides a training, in one YAML file; it travels inside the checkpoint's card."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import yaml

from core.card import right_class
from core.errors import RecipeError
from core.evidence import BOTH
from core.models import ConfigError, spec_of
from core.models.base import ModelConfig, check_sides, hint

FOLDERS = tuple(Path(__file__).resolve().parent / name for name in ("recipes", "paper/table"))
"""Where recipes lie: by their task, and beside the table that alone needs them."""

_CHOICES = {
    "optimizer": ("adagrad", "adam", "adamw"),
    "schedule": ("constant", "cosine"),
    "class_weights": ("balanced", "none"),
    "keep": ("best", "last"),
    "task": ("entailment", "fact checking", "answer selection", "paraphrase", "text classification"),
}


@dataclass(frozen=True)
class DataSource:
    """One data file of a recipe, relative to the data folder (``--data``)."""

    name: str
    """As in the results; that of a sample shows it ("SNLI-86k")."""
    path: str
    licence: str = "not stated"
    layout: str = "auto"
    rows: int = 0
    """Take a sample of so many rows, the same ones whatever the recipe's seed; 0: all."""
    block: int = 0
    """Read FEVER's file in blocks of so many lines, each as a file of its own, see :func:`core.data.read`; 0: at
    once."""
    weight: float = 1.0
    """Weight of a row in the training loss; rows of weight 0 are left out before a sample is taken."""
    part_weights: dict[str, float] = field(default_factory=dict)
    """Weight of the rows whose id is this name, a hyphen and a number, in place of ``weight``: SNLI-86k is made of
    parts that were picked in different ways, and their ids say so."""

    def weight_of(self, row_id: str) -> float:
        """The weight of the row with this id."""
        return self.part_weights.get(row_id.rpartition("-")[0], self.weight)


@dataclass(frozen=True)
class Recipe:
    """A model, its data and its training. Every field is a key of the YAML file; unknown keys are refused."""

    name: str
    title: str
    architecture: str
    train: tuple[DataSource, ...]
    dev: DataSource
    """Decides which epoch is kept and when to stop; nothing else may."""
    report: tuple[DataSource, ...] = ()
    """Scored once at the end."""
    model: dict[str, Any] = field(default_factory=dict)
    """Settings of the architecture beside ``input_size`` and ``classes``, which follow from words and labels."""
    task: str = "entailment"
    """``answer selection`` is scored by MAP on dev, over questions; the others by accuracy."""
    labels: tuple[str, ...] = ("entailment", "neutral", "contradiction")
    """Classes in the order of the logits."""
    roles: tuple[str, ...] = ("premise", "hypothesis")
    """What the first and second sentence of the data are called; one name for data of single texts."""
    judged: str = "hypothesis"
    """The role whose representation reaches the classifier (t_x)."""
    token_limits: dict[str, int] = field(default_factory=dict)
    """Tokens read of a role's sentence, where not 200."""
    answerable_only: bool = False
    """Leave training questions without a right answer out: they rank nothing."""
    vectors: str = ""
    """Folder of word vectors (words.txt and vectors.npy) in the data folder that take the place of the shared word
    table; the rows of the data's words and of the 50,000 first ones travel with the checkpoint."""
    train_words: int = 0
    """Width of word vectors that start at random and are trained with the model, in place of a table; 0: a table. Those
    of the data's words travel with the checkpoint."""
    tune_words: int = 0
    """Train the vectors of the words that stand in at least so many training texts with the model, from the shared
    table's; 0: none. They travel with the checkpoint; all other words are read in the shared table."""
    init: str = ""
    """Checkpoint whose weights the model starts from, all but those of its classifier: pre-training."""
    licence: str = "not stated"
    """Under which the trained weights may be used."""
    notes: str = ""
    paper: dict[str, float] = field(default_factory=dict)
    """The paper's own accuracies by data set, shown beside ours."""
    optimizer: str = "adamw"
    lr: float = 2e-3
    weight_decay: float = 0.0
    schedule: str = "cosine"
    """``cosine`` falls to zero over all epochs; ``constant`` stays."""
    warmup: int = 300
    """Steps over which the learning rate rises from zero."""
    batch_size: int = 128
    """Pairs of one step, of all processes together."""
    epochs: int = 8
    patience: int = 0
    """Stop after so many epochs without a better dev accuracy; 0: never."""
    ema: float = 0.999
    """Decay of the running mean of the weights, which is what dev sees and what is kept; 0: the weights themselves."""
    diversity: float = 0.0
    """Weight of the diversity regularizer (Xie et al. 2015), for models that have one."""
    linear: bool = False
    """Fit scikit-learn's logistic regression and linear SVM on the network's features as well, and keep whichever of
    the three classifiers is best on dev."""
    linear_classifier: str = ""
    """Keep this one (as the card names it) instead of choosing: for a final training on dev too."""
    keep: str = "best"
    """``best``: the weights of the best epoch on dev. ``last``: of the last one, for a final training on dev too."""
    clip: float = 5.0
    """Largest norm of the gradient; 0: any."""
    class_weights: str = "balanced"
    """``balanced`` weighs a class by rows / (classes · rows of the class)."""
    label_smoothing: float = 0.0
    teachers: tuple[str, ...] = ()
    """Checkpoints (as `python -m core models` lists them, or their folders) whose mean probabilities are mixed into the
    labels of the training pairs: knowledge distillation (Hinton et al. 2015), here against labels of one annotator
    each."""
    teacher_share: float = 0.5
    """Share of the teachers in the mix; the label has the rest."""
    seed: int = 0

    def __post_init__(self) -> None:
        for key, choices in _CHOICES.items():
            if getattr(self, key) not in choices:
                raise RecipeError(f"{key} must be one of {', '.join(choices)}, got {getattr(self, key)!r}")
        self._check_model()
        if not self.train:
            raise RecipeError("train names no data; give at least one file with name and path")
        if not self.labels or len(set(self.labels)) < len(self.labels):
            raise RecipeError(f"labels must be different names, got {', '.join(self.labels) or 'none'}")
        if any(limit.__class__ is not int or limit < 1 for limit in self.token_limits.values()):
            raise RecipeError(f"token_limits must be whole numbers from 1, got {self.token_limits}")
        if len(self.roles) not in (1, 2) or len({*self.roles, ""}) <= len(self.roles):
            raise RecipeError(f"roles must be two different names (one for single texts), got {self.roles}")
        sides = (*self.roles, BOTH) if len(self.roles) == 2 else self.roles
        if self.judged not in sides:
            raise RecipeError(f"judged must be one of {', '.join(sides)}, got {self.judged!r}")
        strange = [role for role in self.token_limits if role not in self.roles]
        if strange:
            raise RecipeError(f"unknown key token_limits.{strange[0]}{hint(strange[0], self.roles)}")
        try:
            check_sides(self.architecture, self.model, len(self.roles) - 1, self.judged)
        except ConfigError as error:
            raise RecipeError(str(error)) from None
        for key, low in (("lr", 0.0), ("batch_size", 1), ("epochs", 1)):
            if getattr(self, key) < low or getattr(self, key) <= 0:
                raise RecipeError(f"{key} must be larger than 0, got {getattr(self, key)}")
        for key, high in (("ema", 1.0), ("label_smoothing", 1.0), ("teacher_share", 1.0)):
            if not 0 <= getattr(self, key) < high:
                raise RecipeError(f"{key} must be at least 0 and below {high:g}, got {getattr(self, key)}")
        if self.train_words and self.tune_words:
            raise RecipeError(
                "train_words starts from random vectors, tune_words from a table's; leave one of them out"
            )
        if self.trains_words and (self.vectors or self.linear):
            raise RecipeError("train_words and tune_words go with neither vectors nor linear; leave those out")
        for key in ("weight_decay", "warmup", "patience", "clip", "seed", "diversity", "train_words", "tune_words"):
            if getattr(self, key) < 0:
                raise RecipeError(f"{key} must not be negative, got {getattr(self, key)}")

    def _check_model(self) -> None:
        """Refuse settings that the model cannot have, before any data is read."""
        try:
            spec = spec_of(self.architecture)
        except ConfigError as error:
            raise RecipeError(str(error)) from None
        known = {f.name for f in dataclasses.fields(spec.config)} - {"input_size", "classes"}
        for key in self.model:
            if key not in known:
                raise RecipeError(f"unknown key model.{key}{hint(key, known)}")
        try:
            self.model_config()
        except ValueError as error:
            raise RecipeError(f"model.{error}") from None

    @property
    def right_class(self) -> int | None:
        """The number of the class that ranks answers (:func:`core.card.right_class`)."""
        return right_class({"labels": self.labels})

    @property
    def trains_words(self) -> bool:
        """Whether word vectors are trained with the model, so that it reads the words' numbers."""
        return bool(self.train_words or self.tune_words)

    def model_config(self) -> ModelConfig:
        """The model's settings, for any width of word vectors. Raises ValueError for an impossible value."""
        return spec_of(self.architecture).config(input_size=1, classes=len(self.labels), **self.model)

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts, lists, strings and numbers: :func:`from_dict` takes it back."""
        plain: dict[str, Any] = json.loads(json.dumps(_plain(dataclasses.asdict(self))))
        return plain


def files() -> dict[str, Path]:
    """The recipes that come with the trainers, by name."""
    return {path.stem: path for folder in FOLDERS for path in folder.rglob("*.yaml")}


def names() -> list[str]:
    """Their names, in order."""
    return sorted(files())


def load(recipe: str, changes: Sequence[str] = ()) -> Recipe:
    """A recipe by name or path of a YAML file, with ``key=value`` changes on top (``model.match=bilinear``; of a data
    set by its name: ``train.SNLI-86k.weight=0.5``).

    Raises RecipeError for a recipe that does not exist, a broken file, an unknown key or a value of a wrong type.
    """
    path = files().get(recipe, Path(recipe))
    if not path.is_file():
        raise RecipeError(f"there is no recipe {recipe!r}{hint(recipe, names())} (or give the path of a YAML file)")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where else ""
        raise RecipeError(f"{path.name} is no readable YAML{line}; mend it there") from None
    if not isinstance(values, dict):
        raise RecipeError(f"{path.name} must hold keys and values, such as `lr: 0.002`")
    try:
        return from_dict(_changed(values, changes))
    except RecipeError as error:
        raise RecipeError(f"recipe {path.stem}: {error}") from None


def from_dict(values: Mapping[str, Any]) -> Recipe:
    """A recipe from plain values; keys and types are checked."""
    recipe: Recipe = _build(Recipe, values, "")
    return recipe


def _changed(values: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    values = dict(values)
    for change in changes:
        key, sign, text = change.partition("=")
        if not sign or not key:
            raise RecipeError(f"--set wants key=value, such as lr=0.001, got {change!r}")
        try:
            value = yaml.safe_load(text)
        except (yaml.YAMLError, RecursionError):
            raise RecipeError(f"--set {key}: {text!r} is no readable value") from None
        *parents, last = key.split(".")
        inner: Any = values
        for parent in parents:
            at = _place(inner, parent, key)
            below = inner.get(at, {}) if isinstance(inner, dict) else inner[at]
            if not isinstance(below, dict | list):
                raise RecipeError(f"--set {key}: {parent} has no parts")
            inner[at] = inner = copy.copy(below)
        inner[_place(inner, last, key)] = value
    return values


def _place(values: dict[str, Any] | list[Any], part: str, key: str) -> str | int:
    """Where ``part`` of a key is found: data sets of a list go by their names."""
    if isinstance(values, dict):
        return part
    listed = [item.get("name") if isinstance(item, dict) else None for item in values]
    if part not in listed:
        raise RecipeError(f"--set {key}: nothing there is named {part!r}{hint(part, [*filter(None, listed)])}")
    return listed.index(part)


def _build(cls: type[Any], values: Mapping[str, Any], where: str) -> Any:
    fields = {f.name: f for f in dataclasses.fields(cls)}
    hints = get_type_hints(cls)
    for key in values:
        if key not in fields:
            raise RecipeError(f"unknown key {where}{key}{hint(str(key), fields)}")
    for name, f in fields.items():
        if name not in values and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
            raise RecipeError(f"the key {where}{name} is missing")
    return cls(**{key: _value(hints[key], value, where + key) for key, value in values.items()})


def _value(kind: Any, value: Any, where: str) -> Any:
    """``value`` as ``kind``: a data class, a tuple of things, a dict or a scalar. Raises RecipeError."""
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            raise RecipeError(f"{where} must be keys and values, got {value!r}")
        return _build(kind, value, f"{where}.")  # type: ignore[arg-type]
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise RecipeError(f"{where} must be a list, got {value!r}")
        return tuple(_value(get_args(kind)[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if get_origin(kind) is dict:
        inner, kind = get_args(kind)[1], dict
        if inner is float and isinstance(value, dict):
            return {key: _value(float, item, f"{where}.{key}") for key, item in value.items()}
    if kind is float and isinstance(value, str):
        # YAML 1.1 reads 2e-3 as text.
        with contextlib.suppress(ValueError):
            value = float(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        names = {int: "a whole number", float: "a number", str: "text", dict: "keys and values", bool: "true or false"}
        raise RecipeError(f"{where} must be {names[kind]}, got {value!r}")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
