"""A measured value beside its bar."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measured value against its bar."""

    name: str
    value: float | None
    """None when it could not be measured; ``note`` says why."""
    unit: str
    bar: float
    at_most: bool = True
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None when nothing was measured."""
        if self.value is None:
            return None
        return self.value <= self.bar if self.at_most else self.value >= self.bar

    @property
    def measured(self) -> str:
        """The value with its unit."""
        return "-" if self.value is None else f"{self.value:.3g} {self.unit}"

    @property
    def required(self) -> str:
        """The bar with its unit."""
        return f"{'≤' if self.at_most else '≥'} {self.bar:g} {self.unit}"

    @property
    def outcome(self) -> str:
        """Whether the bar is met, in words."""
        return {True: "yes", False: "no", None: "not measured"}[self.met]
