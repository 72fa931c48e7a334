"""The data files that a recipe names."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.data.picked import PARTS, Picked
from core.json_types import setting
from core.wording import hint


@dataclass(frozen=True)
class DataSource:
    """One data file of a recipe, relative to the data folder (``--data``)."""

    name: str
    """The name in results; a sample's name includes its size ("SNLI-86k")."""
    path: str
    licence: str = "not stated"
    rows: int = 0
    """Sample size, with the same rows whatever the recipe's seed; 0: all."""
    block: int = 0
    """Reads FEVER's file in blocks of this many lines, each like a separate file, see :func:`core.data.read`; 0: all at
    once."""
    weight: float = 1.0
    """Weight of a row in the training loss; rows with weight 0 are removed before sampling."""
    part_weights: dict[str, float] = field(default_factory=dict)
    """Weights that replace ``weight`` for rows whose id is this name, a hyphen and a number: SNLI-86k consists of parts
    that were selected in different ways and are named in the ids."""
    columns: dict[str, str] = field(default_factory=dict)
    """The file's columns by the part of a row, if its layout is not recognised: ``{premise: claim, hypothesis: text,
    label: verdict}``, as in --columns (:data:`core.data.picked.PARTS`)."""
    counts_as: dict[str, str] = field(default_factory=dict)
    """The class for a label that is not the name of one: ``{entails: entailment}``; empty: its rows are left out."""
    part: str = setting("", one_of=("", "train", "held out"))
    """Reads only this part of the file, divided so that no text is in both (:func:`core.data.split.parts`)."""
    share: float = setting(0.2, above=0, below=1)
    """Share of the rows that are held out, if the file is divided."""
    taught: bool = True
    """Whether the recipe's teachers are applied to these rows. Labels that hold by construction need no teacher, and a
    teacher that never saw such pairs would pass on its mistakes."""

    @property
    def picked(self) -> Picked | None:
        """Its ``columns`` for :func:`core.data.read`."""
        return (
            Picked.of({PARTS[part.lower()]: column for part, column in self.columns.items()}) if self.columns else None
        )

    def naming(self, classes: Sequence[str]) -> DataSource:
        """This source with the class of every label that is the name of one, in any spelling."""
        return dataclasses.replace(self, counts_as={**{name: name for name in classes}, **self.counts_as})

    def problems(self, classes: Sequence[str]) -> Iterator[str]:
        """Problems of ``columns`` and ``counts_as`` in a recipe with these classes."""
        yield from (
            f"columns.{part} is not a part of a row{hint(part, PARTS)}"
            for part in self.columns
            if part.lower() not in PARTS
        )
        if self.columns and not {"first"} & {PARTS.get(part.lower()) for part in self.columns}:
            yield "columns names no text; give premise and hypothesis for pairs or text for single texts"
        for label, name in self.counts_as.items():
            if name and name not in classes:
                yield f"counts_as.{label} is {name!r}, which is none of the labels{hint(name, classes)}"

    def weight_of(self, row_id: str) -> float:
        """The weight of the row with this id."""
        return self.part_weights.get(kind_of(row_id), self.weight)


def kind_of(row_id: str) -> str:
    """The part of a data set named in a row's id: the text before its last hyphen, empty if there is none."""
    return row_id.rpartition("-")[0]
