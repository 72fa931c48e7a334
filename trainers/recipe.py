"""A recipe: everything that determines a training run, in one YAML file; it is stored on the checkpoint's card."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from core import json_types
from core.card import right_class
from core.errors import RecipeError
from core.evidence import BOTH
from core.files import read_yaml
from core.json_types import JsonMapping, JsonObject, setting
from core.models import spec_of
from core.models.base import ModelConfig, check_sides
from core.wording import hint, together
from trainers.sources import DataSource

FOLDERS = tuple(Path(__file__).resolve().parent / name for name in ("recipes", "paper/table"))
"""The folders of recipes: by task, and those used only by a table."""
OPTIMIZERS = {"adagrad": "Adagrad", "adam": "Adam", "adamw": "AdamW"}
"""The classes of :mod:`torch.optim` by their names in recipes."""


@dataclass(frozen=True)
class Recipe:
    """A model, its data and its training. Every field is a key in the YAML file; unknown keys are rejected."""

    name: str
    title: str
    architecture: str
    train: tuple[DataSource, ...]
    dev: DataSource
    """The only data used to choose the best epoch and when to stop."""
    report: tuple[DataSource, ...] = ()
    """Evaluated once at the end."""
    model: JsonObject = field(default_factory=dict)
    """Settings of the architecture except ``input_size`` and ``classes``, which follow from words and labels."""
    task: str = "entailment"
    """``entailment``, ``fact checking``, ``answer selection``, ``paraphrase``, ``text classification``, or a name of
    your own. Data with questions are evaluated by MAP, all others by accuracy."""
    labels: tuple[str, ...] = ("entailment", "neutral", "contradiction")
    """Classes in the order of the logits."""
    roles: tuple[str, ...] = ("premise", "hypothesis")
    """The names of the data's first and second sentence; a single name for single texts."""
    judged: str = "hypothesis"
    """The role whose representation reaches the classifier (t_x)."""
    token_limits: dict[str, int] = field(default_factory=dict)
    """Maximum tokens of a role's sentence, if not 200."""
    answerable_only: bool = False
    """Drops training questions without a right answer, which cannot be ranked."""
    vectors: str = ""
    """Folder of word vectors (words.txt and vectors.npy) in the data folder that replace the shared word table; the
    rows for the data's words and for the first 50,000 are saved with the checkpoint."""
    train_words: int = setting(0, least=0)
    """Dimension of word vectors that are initialised randomly and trained with the model, instead of a table; 0: use a
    table. The vectors of the data's words are saved with the checkpoint."""
    tune_words: int = setting(0, least=0)
    """Trains the vectors of words that occur in at least this many training texts, starting from the shared table; 0:
    none. They are saved with the checkpoint; all other words use the shared table."""
    init: str = ""
    """Checkpoint from whose weights, except the classifier's, the model is initialised (pre-training). RECIPE@SEED is a
    run of that recipe with that seed, which `train` trains first."""
    init_classifier: bool = False
    """Whether the classifier is also initialised from ``init``, for a second stage on the same classes."""
    init_share: float = setting(0.0, least=0, below=1)
    """Share of ``init``'s weights in the weights that are kept, which are their weighted mean with the trained ones
    (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models", section 4): a second stage on few kinds of pairs
    then loses less of what the first one learnt. The dev scores by epoch are of the trained weights alone."""
    licence: str = "not stated"
    """Licence of the trained weights."""
    notes: str = ""
    paper: dict[str, float] = field(default_factory=dict)
    """The paper's accuracies by data set, shown next to ours."""
    optimizer: str = setting("adamw", one_of=tuple(OPTIMIZERS))
    lr: float = setting(2e-3, above=0)
    weight_decay: float = setting(0.0, least=0)
    schedule: str = setting("cosine", one_of=("constant", "cosine"))
    """``cosine`` decays to zero over all epochs; ``constant`` does not decay."""
    warmup: int = setting(300, least=0)
    """Steps over which the learning rate rises from zero; a third of all steps at most."""
    batch_size: int = setting(128, above=0)
    """Pairs per step, over all processes together."""
    epochs: int = setting(8, above=0)
    patience: int = setting(0, least=0)
    """Stop after this many epochs without a better dev accuracy; 0: never."""
    ema: float = setting(0.999, least=0, below=1)
    """Decay of the running mean of the weights, which is evaluated on dev and kept; 0: the weights themselves."""
    diversity: float = setting(0.0, least=0)
    """Weight of the diversity regularizer (Xie et al. 2015), for models that have one."""
    linear: bool = False
    """Also fits scikit-learn's logistic regression and linear SVM on the network's features, and keeps whichever of the
    three classifiers is best on dev."""
    linear_classifier: str = ""
    """Keeps this classifier (named as on the card) instead of choosing: for a final training that includes dev."""
    keep: str = setting("best", one_of=("best", "last"))
    """``best``: the weights from the best epoch on dev. ``last``: of the last epoch, for a final training with dev."""
    clip: float = setting(5.0, least=0)
    """Largest gradient norm; 0: unlimited."""
    class_weights: str = setting("balanced", one_of=("balanced", "none"))
    """``balanced`` weights a class by rows / (classes · rows of the class)."""
    drop_full_stops: float = setting(0.0, least=0, most=1)
    """Share of rows, sampled again for each epoch, whose texts lose their last full stop, since users often leave it
    out. The teacher's answer for the full texts is the target of both versions."""
    other_names: float = setting(0.0, least=0, most=1)
    """Share of the rare words common to both texts of a row, sampled again for each epoch, that are replaced by other
    rare words, the same in both: recognising that two texts mention the same thing must not depend on names seen in
    training. A teacher's answer for the original texts is the target."""
    teachers: tuple[str, ...] = ()
    """Checkpoints (as listed by `python -m core models`, or their folders) whose mean probabilities are mixed into the
    labels of the training pairs: knowledge distillation (Hinton et al. 2015), here to soften labels by single
    annotators. Two kinds are trained first by `train`: RECIPE@SEED is a run of that recipe (with its own name: of this
    one) with that seed and without teachers, MODEL@RECIPE a transformer that is fine-tuned on that recipe's data."""
    teacher_share: float = setting(0.5, least=0, most=1)
    """Weight of the teachers in the mix; the label has the rest."""
    transfer: int = setting(0, least=0)
    """Number of unlabelled pairs for the teachers, recombined from sentences in the taught training sets
    (:func:`trainers.teaching.recombined`)."""
    seed: int = setting(0, least=0)

    def __post_init__(self) -> None:
        if found := [text for _, text in self.contradictions()]:
            raise RecipeError(together(found))

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """All contradictions among the values, each after the keys it concerns."""
        if not self.task or not self.train:
            yield (
                "task train",
                "task is empty; name it"
                if self.train
                else ("train names no data; give at least one file with name and path"),
            )
        if not self.labels or len(set(self.labels)) < len(self.labels):
            yield "labels", f"labels must be different names, got {', '.join(self.labels) or 'none'}"
        for key, sources in (("train", self.train), ("dev", (self.dev,)), ("report", self.report)):
            for source in sources:
                yield from ((f"{key} labels", f"{key} {source.name}: {text}") for text in source.problems(self.labels))
        yield from (("architecture model labels", text) for text in self._of_model())
        if any(limit < 1 for limit in self.token_limits.values()):
            yield "token_limits", f"token_limits must be whole numbers from 1, got {self.token_limits}"
        if len(self.roles) not in (1, 2) or len({*self.roles, ""}) <= len(self.roles):
            yield "roles", f"roles must be two different names (one for single texts), got {self.roles}"
            return
        sides = (*self.roles, BOTH) if len(self.roles) == 2 else self.roles
        if self.judged not in sides:
            yield "judged roles", f"judged must be one of {', '.join(sides)}, got {self.judged!r}"
        for role in self.token_limits:
            if role not in self.roles:
                yield "token_limits roles", f"unknown key token_limits.{role}{hint(role, self.roles)}"
        yield from (("train_words tune_words init init_classifier linear", text) for text in self._of_stages())

    def _of_model(self) -> Iterator[str]:
        """Problems of the model's settings, or of the texts that it would read."""
        try:
            kind, given = spec_of(self.architecture).config, {"input_size": 1, "classes": len(self.labels)}
        except ValueError as error:
            yield str(error)
            return
        yield from (
            f"unknown key model.{key}: it follows from the words and the labels" for key in given if key in self.model
        )
        own = {key: value for key, value in self.model.items() if key not in given}
        wrong = json_types.all_problems({**own, **given}, kind, "model")
        yield from wrong
        if not wrong and len(self.roles) in (1, 2):
            try:
                check_sides(self.architecture, self.model, len(self.roles) - 1, self.judged)
            except ValueError as error:
                yield str(error)

    def _of_stages(self) -> Iterator[str]:
        """Settings that exclude or need each other."""
        if self.train_words and self.tune_words:
            yield "train_words starts from random vectors, tune_words from a table's; leave one of them out"
        if self.linear and self.transfer:
            yield "linear is fitted to labels: leave it, or the rows without labels (transfer), out"
        if self.init_classifier and not self.init:
            yield "init_classifier needs init, the checkpoint whose classifier is meant"
        if self.init_share and not self.init_classifier:
            yield "init_share needs init and init_classifier: a mean is taken of all weights"
        if self.trains_words and (self.vectors or self.linear):
            yield "train_words and tune_words go with neither vectors nor linear; leave those out"

    @property
    def sources(self) -> tuple[DataSource, ...]:
        """All its data."""
        return (*self.train, self.dev, *self.report)

    @property
    def right_class(self) -> int | None:
        """The index of the class that ranks answers (:func:`core.card.right_class`)."""
        return right_class({"labels": list(self.labels)})

    @property
    def trains_words(self) -> bool:
        """Whether word vectors are trained with the model, so that it reads word ids."""
        return bool(self.train_words or self.tune_words)

    def model_config(self) -> ModelConfig:
        """The model's settings, for any dimension of word vectors."""
        given = {"input_size": 1, "classes": len(self.labels)}
        return json_types.checked({**self.model, **given}, spec_of(self.architecture).config, "model")

    def to_dict(self) -> JsonObject:
        """Plain dicts, lists, strings and numbers; the inverse of :func:`from_dict`."""
        return json.loads(json.dumps(dataclasses.asdict(self)))


def files() -> dict[str, Path]:
    """The recipes shipped with the trainers, by name."""
    return {path.stem: path for folder in FOLDERS for path in folder.rglob("*.yaml")}


def names() -> list[str]:
    """Their names, in order."""
    return sorted(files())


def load(recipe: str, changes: Sequence[str] = ()) -> Recipe:
    """A recipe by name or path of a YAML file, with ``key=value`` changes applied (``model.match=bilinear``; for a data
    set by its name: ``train.SNLI-86k.weight=0.5``). A recipe with ``like: NAME`` inherits all keys it does not set from
    that recipe.

    Raises RecipeError for a missing recipe, a broken file, an unknown key or a value of the wrong type.
    """
    path = files().get(recipe, Path(recipe))
    if not path.is_file():
        raise RecipeError(f"unknown recipe {recipe!r}{hint(recipe, names())} (or give the path of a YAML file)")
    try:
        values, wrong = changed(_with_its_model(path), changes)
        return from_dict(values, wrong)
    except RecipeError as error:
        raise RecipeError(f"recipe {path.stem}: {error}") from None


def _with_its_model(path: Path) -> JsonObject:
    """The keys of a recipe, which override the keys of the recipe named in ``like``."""
    values = _keys(path)
    like = values.pop("like", None)
    if like is None:
        return values
    if not isinstance(like, str) or like not in files():
        raise RecipeError(f"like must name a recipe{hint(str(like), names())}")
    return _with_its_model(files()[like]) | values


def _keys(path: Path) -> JsonObject:
    """The keys and values in a YAML file. Raises RecipeError for any other file."""
    try:
        values = read_yaml(path)
    except ValueError as error:
        raise RecipeError(f"{error}; fix it there") from None
    if isinstance(values, dict) and isinstance(values.get("recipe"), dict):  # a checkpoint's card
        values = values["recipe"]
    if not isinstance(values, dict):
        raise RecipeError(f"{path.name} must hold keys and values, such as `lr: 0.002`")
    return values


def from_dict(values: JsonMapping, wrong: Sequence[str] = ()) -> Recipe:
    """A recipe from plain values. Raises RecipeError with all problems at once, those in ``wrong`` first."""
    good, found = json_types.fields_of(values, Recipe, _CONVERTER)
    found = [*wrong, *found]
    if not found:
        return Recipe(**good)
    broken = {field.name for field in dataclasses.fields(Recipe)} - good.keys() & values.keys()
    unchecked = object.__new__(Recipe)
    for each in dataclasses.fields(Recipe):
        default = each.default_factory() if each.default_factory is not dataclasses.MISSING else each.default
        if default is dataclasses.MISSING and each.name not in good:
            broken.add(each.name)
            default = _STANDS_IN.get(each.name, "")
        object.__setattr__(unchecked, each.name, good.get(each.name, default))
    found += [text for keys, text in unchecked.contradictions() if not broken & {*keys.split()}]
    raise RecipeError(together(found))


_STANDS_IN = {"architecture": "attconv-light", "train": (DataSource("", ""),), "dev": DataSource("", "")}
"""Values for keys that are missing or broken, while the others are checked."""


def changed(values: JsonObject, changes: Sequence[str]) -> tuple[JsonObject, list[str]]:
    """The values with these changes, and the problems of those that cannot be made."""
    wrong = list[str]()
    for change in changes:
        try:
            values = _with(values, change)
        except RecipeError as error:
            wrong.append(str(error))
    return values, wrong


def _with(values: JsonObject, change: str) -> JsonObject:
    values = dict(values)
    key, sign, text = change.partition("=")
    if not sign or not key:
        raise RecipeError(f"--set wants key=value, such as lr=0.001, got {change!r}")
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        raise RecipeError(f"--set {key}: {text!r} is not a readable value") from None
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


def _place(values: JsonObject | list[object], part: str, key: str) -> str | int:
    """The index of ``part`` in a key: data sets in a list are addressed by name."""
    if isinstance(values, dict):
        return part
    listed = [item.get("name") if isinstance(item, dict) else None for item in values]
    if part not in listed:
        raise RecipeError(f"--set {key}: nothing there is named {part!r}{hint(part, [*filter(None, listed)])}")
    return listed.index(part)


def _number(value: Any, kind: type) -> float:
    if isinstance(value, str):  # YAML 1.1 reads 2e-3 as text
        with contextlib.suppress(ValueError):
            value = float(value)
    if not json_types.is_number(value):
        raise TypeError
    return float(value)


_CONVERTER = json_types.converter(forbid_extra_keys=True)
_CONVERTER.register_structure_hook(float, _number)
