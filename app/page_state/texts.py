"""The state of a page over texts: its model, its texts, of which all pages share the first, and the address of both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Self

from app.examples import ENTAILMENT, SINGLE_KINDS, Example, Gold, example_of, shown_with, suiting
from app.page_state.codec import Address, Codec, PageState, parameter, short, whole_number
from app.pairs import SIDES, Pair, Version
from core.checkpoint import available


@dataclass(frozen=True)
class Model(Codec):
    """The model's name, by default the first available; None where none is. ``noun``: what kind of model it is."""

    name: str = "model"
    noun: str = "model"

    def parse(self, text: str, address: Address) -> str | None:
        return text if text in address.models else None

    def sentence(self, text: str, address: Address) -> str:
        default = next(iter(address.models), None)
        instead = f"no {self.noun} is installed" if default is None else f"{default} is shown instead"
        why = "this page does not show (Models names those that do)" if text in available() else "is not here"
        return f"The link asks for the {self.noun} “{short(text)}”, which {why}: {instead}."

    def read(self, address: Address, default: str | None) -> str | None:
        model: str | None = super().read(address, next(iter(address.models), default))
        return model


@dataclass(frozen=True)
class Texts(Codec):
    """Up to ``most`` pairs or single texts, by default the first example for the model. An example's are named by its
    slug, which keeps the link short.

    A text's parameters are ``first`` and, of a pair, ``second``; further texts are ``first2``, ``second2`` and so on.
    Up to ``trail`` earlier versions of a text are ``first.1`` (the oldest), ``first.2`` … What has no words is left
    out, but for ``first`` of the first and the last text: so as many texts are opened as were shown. ``across``:
    examples for other kinds of models are offered, too, and bring a model of theirs.
    """

    name: str = "example"
    examples: tuple[Example, ...] = ()
    most: int = 1
    trail: int = 0
    across: bool = True

    def offered(self, model: str | None, models: Mapping[str, str]) -> list[Example]:
        """The examples for this model (``models`` as :class:`Address` has them) before those for others; a pair of the
        commonest kind is one that any model of pairs can read."""
        own = suiting(models.get(model or ""), self.examples)
        others = {ENTAILMENT, *models.values()} if self.across else ()
        return own + [example for example in self.examples if example not in own and example.kind in others]

    @property
    def names(self) -> tuple[str, ...]:
        ages = (None, *range(1, self.trail + 1))
        places = range(self.most)
        return (self.name, *(_name(side, place, age) for side in SIDES for place in places for age in ages))

    def read(self, address: Address, default: tuple[Pair, ...]) -> tuple[Pair, ...]:
        texts = [self._text(address.parameters, place) for place in range(self.most)]
        while texts and texts[-1] is None:
            texts.pop()
        if texts:
            # An empty box between others has no name in the address, but it has its place.
            return tuple(text or Pair() for text in texts)
        examples = self.offered(address.values["model"], address.models)
        slug = address.parameters.get(self.name)
        example = next((example for example in examples if example.slug == slug), None)
        if slug and example is None:
            address.problems.append(
                f"The link asks for the example “{short(slug)}”, which is not offered here: the first is shown."
            )
        shown = example or next(iter(examples), None)
        return default if shown is None else shown.texts

    def _text(self, parameters: Mapping[str, str], place: int) -> Pair | None:
        """The text at this place, None where none of its versions is named. A text whose words were deleted has earlier
        versions alone: none of them is the present one."""
        versions: dict[int | None, Version] = {}
        for age in (*range(1, self.trail + 1), None):
            first, second = (_name(side, place, age) for side in SIDES)
            version = (parameters.get(first, ""), parameters.get(second, ""))
            if any(version) or (age is None and (first in parameters or second in parameters)):
                versions[age] = version
        if not versions:
            return None
        now = versions.pop(None, ("", ""))
        return Pair(*now, tuple(versions.values()))

    def write(self, value: tuple[Pair, ...], default: tuple[Pair, ...], examples: bool = True) -> dict[str, str]:
        example = example_of(value, self.examples)
        if examples and example is not None:
            return {self.name: example.slug}
        out = {}
        for place, text in enumerate(value):
            at_the_edge = place in (0, len(value) - 1)
            for age, version in enumerate(text.versions, start=1):
                now = age > len(text.earlier)
                for side, words in zip(SIDES, version, strict=True):
                    if words or (now and at_the_edge and side == "first"):
                        out[_name(side, place, None if now else age)] = words
        return out

    def shortened(self, value: tuple[Pair, ...]) -> tuple[Pair, ...]:
        return tuple(Pair(*text.now) for text in value)


def _name(side: str, place: int, age: int | None = None) -> str:
    return side + (str(place + 1) if place else "") + ("" if age is None else f".{age}")


@dataclass(frozen=True)
class Place(Codec):
    """The place of one of the state's texts, from 0; in an address from 1."""

    def parse(self, text: str, address: Address) -> int | None:
        place = whole_number(1, len(address.values["texts"]))(text)
        return None if place is None else place - 1

    text: Callable[[int], str] = lambda place: str(place + 1)


@dataclass(frozen=True)
class TextState(PageState):
    """The state of a page over texts, of which all pages share the first. ``model`` is None where none is available."""

    model: str | None = parameter(None, Model())
    texts: tuple[Pair, ...] = parameter((Pair(),), Texts())

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, str], models: Mapping[str, str]) -> tuple[Self, list[str]]:
        """An example without a model is shown with the one that it is about, or with one of its kind."""
        slug, offered = parameters.get(Texts.name), cls._texts().offered(next(iter(models), None), models)
        example = next((example for example in offered if example.slug == slug), None)
        model = None if example is None else shown_with(example, models)
        if model is not None and not parameters.get(Model.name):
            parameters = {**parameters, Model.name: model}
        return super().from_parameters(parameters, models)

    @classmethod
    def names_texts(cls, parameters: Mapping[str, str]) -> bool:
        """Whether an address says which texts are shown."""
        return not parameters.keys().isdisjoint(cls._texts().names)

    @classmethod
    def takes(cls, shared: Version, parameters: Mapping[str, str], models: Mapping[str, str]) -> bool:
        """Not where the address names a model, and the pair is an example for another kind: a dog with its Frisbee is
        no claim with its evidence."""
        example = example_of((Pair(*shared),), cls._texts().examples)
        return example is None or models.get(parameters.get(Model.name, "")) in (None, example.kind)

    @classmethod
    def _texts(cls) -> Texts:
        codec: Texts = cls.__dataclass_fields__["texts"].metadata["codec"]
        return codec

    @property
    def example(self) -> Example | None:
        """The example that is shown, None for texts of a person's own."""
        return example_of(self.texts, self._texts().examples)

    def gold(self, labels: Collection[str]) -> Gold | None:
        """The gold label of the example that is shown, and where it is from; None where the model has no such class."""
        example = self.example
        return None if example is None or example.gold not in labels else Gold(example.gold, example.source)

    def examples(self, models: Mapping[str, str]) -> list[Example]:
        """The examples for this model (``models`` as :class:`Address` has them), then those that bring their own."""
        return self._texts().offered(self.model, models)

    def first_example(self, models: Mapping[str, str]) -> Example | None:
        """What this model opens with; None where there is no example of its kind."""
        return next(iter(suiting(models.get(self.model or ""), self._texts().examples)), None)

    @property
    def pair(self) -> Pair:
        """The pair that all pages share."""
        return self.texts[0]

    def _single(self, models: Mapping[str, str]) -> bool:
        return models.get(self.model or "") in SINGLE_KINDS

    def with_model(self, model: str, models: Mapping[str, str]) -> Self:
        """The same with a model of another task."""
        return self.anew(model=model)

    def give_pair(self, shared: Version | None, models: Mapping[str, str]) -> Version:
        """The first pair; a model of single texts gives the first text and leaves the second."""
        first, second = self.pair.now
        if self._single(models) and shared is not None:
            second = shared[1]
        return first, second

    def take_pair(self, shared: Version, models: Mapping[str, str]) -> Self:
        """The same with another page's pair. An example gives way as a whole; further texts of a person's own stay."""
        if shared == self.pair.now or (shared[0] == self.pair.first and self._single(models)):
            return self
        return self.anew(texts=(Pair(*shared), *(self.texts[1:] if self.example is None else ())))

    def address(self) -> dict[str, str]:
        """The model alone where the texts are too long for a link."""
        return self.link_parameters() or ({} if self.model is None else {"model": self.model})

    def suited(self, models: Mapping[str, str]) -> Self:
        """The same where these are the models: one that is gone gives way to the default one, and an example for
        another kind of model to one for this."""
        state = self if self.model in models else self.anew(model=next(iter(models), None))
        first = state.first_example(models)
        fits = state.example is None or state.example in state.examples(models) or first is None
        return state if fits or first is None else state.anew(texts=first.texts)
