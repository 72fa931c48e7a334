"""The state of a page over texts: its model, its texts (all pages share the first), and their URL."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from app.examples import SINGLE_KINDS, ExampleTexts, Gold, example_of, shown_with, suiting
from app.page_state.codec import PageState, parameter, whole_number
from app.pairs import SIDES, Pair, Version
from core.checkpoint import available
from core.checkpoint.epochs import name_of
from core.checkpoint.unlisted import base_of
from core.json_types import JsonObject
from core.tasks import ENTAILMENT


@dataclass(frozen=True)
class TextState(PageState):
    """The state of a page over up to ``most`` pairs or single texts. ``model`` is None if none is available; ``epoch``:
    the epoch of its training after which it is shown, None for the model as it was kept.

    A text's parameters are ``first`` and, for a pair, ``second``; further texts are ``first2``, ``second2`` and so on.
    Up to ``trail`` earlier versions of a text are ``first.1`` (the oldest), ``first.2`` … Empty texts are omitted,
    except ``first`` of the first and the last text, so that as many texts are opened as were shown. An example's texts
    are written as ``example``, its name.
    """

    all_examples: ClassVar[tuple[ExampleTexts, ...]] = ()
    across: ClassVar[bool] = True
    """Whether examples for other kinds of models are offered too, and switch to a matching model."""
    most: ClassVar[int] = 1
    trail: ClassVar[int] = 0
    model: str | None = parameter(None)
    epoch: int | None = parameter(None, whole_number(1), belongs_to=("model",), kw_only=True)
    texts: tuple[Pair, ...] = (Pair(),)

    @classmethod
    def _text_names(cls) -> frozenset[str]:
        ages = (None, *range(1, cls.trail + 1))
        return frozenset({"example"} | {_name(side, k, age) for side in SIDES for k in range(cls.most) for age in ages})

    @classmethod
    def names(cls) -> frozenset[str]:
        return super().names() | cls._text_names()

    @classmethod
    def names_texts(cls, parameters: Mapping[str, str]) -> bool:
        return not parameters.keys().isdisjoint(cls._text_names())

    @classmethod
    def _read(cls, given: Mapping[str, str], models: Mapping[str, str]) -> tuple[JsonObject, list[str]]:
        """An example without a model is shown with the one it refers to, or with one of its kind; without texts and
        example, the model's first example is shown."""
        values, unusable = super()._read(given, models)
        model, slug = values.get("model"), given.get("example")
        if model is None:
            about = next(
                (example for example in cls._offered(next(iter(models), None), models) if example.slug == slug), None
            )
            values["model"] = model = (about and shown_with(about, models)) or next(iter(models), None)
        examples = cls._offered(model if model in models else next(iter(models), None), models)
        example = next((example for example in examples if example.slug == slug), None)
        texts = [cls._text(given, place) for place in range(cls.most)]
        while texts and texts[-1] is None:
            texts.pop()
        if texts:  # an empty text box between others has no parameter, but keeps its position
            values["texts"] = tuple(text or Pair() for text in texts)
            return values, unusable
        if shown := example or next(iter(examples), None):
            values["texts"] = shown.texts
        return values, [*unusable, "example"] if slug and example is None else unusable

    @classmethod
    def _text(cls, given: Mapping[str, str], place: int) -> Pair | None:
        """The text at this position, None if none of its versions is given. A text whose words were deleted has only
        earlier versions: none of them is the current one."""
        versions = {
            age: (given.get(_name("first", place, age), ""), given.get(_name("second", place, age), ""))
            for age in (*range(1, cls.trail + 1), None)
        }
        now = versions.pop(None)
        earlier = tuple(version for version in versions.values() if any(version))
        here = any(_name(side, place) in given for side in SIDES)
        return Pair(*now, earlier) if here or earlier else None

    def to_parameters(self, examples: bool = True) -> dict[str, str]:
        written = super().to_parameters(examples)
        example = example_of(self.texts, self.all_examples)
        if examples and example is not None:
            return written | {"example": example.slug}
        for place, text in enumerate(self.texts):
            for age, version in enumerate(text.versions, start=1):
                now = age > len(text.earlier)
                for side, words in zip(SIDES, version, strict=True):
                    if words or (now and side == "first" and place in (0, len(self.texts) - 1)):
                        written[_name(side, place, None if now else age)] = words
        return written

    def shortened(self) -> Self:
        return replace(super().shortened(), texts=tuple(Pair(*text.now) for text in self.texts))

    @classmethod
    def _offered(cls, model: str | None, models: Mapping[str, str]) -> list[ExampleTexts]:
        """The examples for this model before those for others; any pair model can read a pair of the most common
        kind."""
        fitting = suiting(models.get(model or ""), cls.all_examples)
        others = {ENTAILMENT, *models.values()} if cls.across else ()
        return fitting + [example for example in cls.all_examples if example not in fitting and example.kind in others]

    @classmethod
    def takes(cls, shared: Version, parameters: Mapping[str, str], models: Mapping[str, str]) -> bool:
        """Not if the URL names a model and the pair is an example for another kind: a dog with its Frisbee is not a
        claim with its evidence."""
        example = example_of((Pair(*shared),), cls.all_examples)
        return example is None or models.get(parameters.get("model", "")) in (None, example.kind)

    @property
    def example(self) -> ExampleTexts | None:
        """The example shown, None for the user's own texts."""
        return example_of(self.texts, self.all_examples)

    def gold(self, labels: Collection[str]) -> Gold | None:
        """The gold label of the example shown, and its source; None if the model has no such class."""
        example = self.example
        return None if example is None or example.gold not in labels else Gold(example.gold, example.source)

    def examples(self, models: Mapping[str, str]) -> list[ExampleTexts]:
        """The examples for this model, then those that bring their own."""
        return self._offered(self.model, models)

    def first_example(self, models: Mapping[str, str]) -> ExampleTexts | None:
        """The example that this model opens with; None if there is none of its kind."""
        return next(iter(suiting(models.get(self.model or ""), self.all_examples)), None)

    @property
    def shown_model(self) -> str:
        """The name of the model shown: ``model``, or its weights after an ``epoch``."""
        return name_of(self.model, self.epoch) if self.model and self.epoch else self.model or ""

    @property
    def pair(self) -> Pair:
        """The pair that all pages share."""
        return self.texts[0]

    def _single(self, models: Mapping[str, str]) -> bool:
        return models.get(self.model or "") in SINGLE_KINDS

    def with_model(self, model: str, models: Mapping[str, str]) -> Self:
        """A copy with a model of another task."""
        return self.updated(model=model)

    def give_pair(self, shared: Version | None, models: Mapping[str, str]) -> Version:
        """The first pair; for a model of single texts, replaces only the first text."""
        first, second = self.pair.now
        return first, shared[1] if self._single(models) and shared is not None else second

    def take_pair(self, shared: Version, models: Mapping[str, str]) -> Self:
        """A copy with another page's pair. It replaces a whole example, but keeps the user's further texts."""
        if shared == self.pair.now or (shared[0] == self.pair.first and self._single(models)):
            return self
        return self.updated(texts=(Pair(*shared), *(self.texts[1:] if self.example is None else ())))

    def suited(self, models: Mapping[str, str]) -> Self:
        """A missing model becomes the default one, and an example for another kind becomes the model's first one. An
        epoch that was not kept is dropped."""
        base = base_of(self.model or "")  # of an adapted model that was removed
        usual = base if base in models else next(iter(models), None)
        state = self if self.model in models else self.updated(model=usual)
        if state.epoch and state.shown_model not in available():
            state = replace(state, epoch=None)
        first = state.first_example(models)
        fits = state.example is None or first is None or state.example in state.examples(models)
        return state if fits or first is None else state.updated(texts=first.texts)


def _name(side: str, place: int, age: int | None = None) -> str:
    return side + (str(place + 1) if place else "") + ("" if age is None else f".{age}")
