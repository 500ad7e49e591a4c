"""Warnings about relatives: judges of one family err alike, and may favour what it wrote.

A name is a hint and no proof, so nothing here refuses anything; it warns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calibrant.core.model_names import UNKNOWN, family_of, generator_of


@dataclass(frozen=True, slots=True)
class Kinship:
    """Models of one family where it matters that they are not."""

    family: str
    models: tuple[str, ...]
    """Judges of the family."""
    wrote: int = 0
    """Items that a model of the family wrote; 0: the judges are each other's relatives."""

    def __str__(self) -> str:
        names = ", ".join(self.models)
        if self.wrote:
            items = f"{self.wrote} item" if self.wrote == 1 else f"{self.wrote} items"
            was = "was" if self.wrote == 1 else "were"
            return (
                f"{items} {was} written by a model of the {self.family} family, as {names} is: "
                "judges may favour their own family"
            )
        return (
            f"{names} are of one family ({self.family}): they may err alike, so the panel is worth "
            "less than their number"
        )


def kin_judges(models: Iterable[str]) -> Iterator[Kinship]:
    """Families with two different judges or more; samples of one model are no second judge."""
    by_family: dict[str, list[str]] = {}
    for model in dict.fromkeys(models):
        by_family.setdefault(family_of(model), []).append(model)
    for family, some in by_family.items():
        if family != UNKNOWN and len(some) > 1:
            yield Kinship(family, tuple(some))


class Authors:
    """Which families wrote the items, counted as they go by."""

    def __init__(self) -> None:
        self.families: Counter[str] = Counter()
        self.unnamed = 0
        """Items that do not say what wrote them."""

    def add(self, more: Mapping[str, Any]) -> None:
        """Count one item in."""
        name = generator_of(more)
        if name is None:
            self.unnamed += 1
        else:
            self.families[family_of(name)] += 1

    def kin(self, models: Iterable[str]) -> Iterator[Kinship]:
        """Judges who are relatives of what wrote items."""
        by_family: dict[str, list[str]] = {}
        for model in dict.fromkeys(models):
            by_family.setdefault(family_of(model), []).append(model)
        for family, some in by_family.items():
            if family != UNKNOWN and self.families[family]:
                yield Kinship(family, tuple(some), self.families[family])
