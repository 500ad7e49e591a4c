"""The card of checks as a rater: everything that shapes what they say, written down and hashed.

Change a check, a parameter, a lexicon or the rubric, and it is another rater.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from calibrant.core.criterion import ItemType
from calibrant.core.ids import content_hash
from calibrant.core.rating import RaterKind
from calibrant.core.rubric import Rubric
from calibrant.raters.checks.registry import Chosen, Value

KIND: RaterKind = "CODE"


@dataclass(frozen=True, slots=True)
class CheckOnCard:
    """One check as it ran."""

    name: str
    version: str
    parameters: Mapping[str, Value]
    criteria: Mapping[str, str]
    lexicons: Mapping[str, str]
    """Content hashes by id."""
    shown_while_rating: bool

    def to_dict(self) -> dict[str, Any]:
        """For JSON and for the hash; a share of 1 and of 1.0 are one."""
        return {
            "name": self.name,
            "version": self.version,
            "parameters": {name: _plain(value) for name, value in self.parameters.items()},
            "criteria": dict(self.criteria),
            "lexicons": dict(self.lexicons),
            "shown_while_rating": self.shown_while_rating,
        }


@dataclass(frozen=True)
class Card:
    """The checks for one kind of item under one rubric."""

    item_type: ItemType
    rubric: str | None
    """Name of the rubric, ``id@version``."""
    rubric_hash: str | None
    checks: tuple[CheckOnCard, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON and for the hash."""
        return {
            "kind": KIND,
            "item_type": self.item_type,
            "rubric": self.rubric,
            "rubric_hash": self.rubric_hash,
            "checks": [one.to_dict() for one in self.checks],
        }

    @cached_property
    def hash(self) -> str:
        """Content hash of the whole card."""
        return content_hash(self.to_dict())

    @cached_property
    def name(self) -> str:
        """The rater's name: two cards never share one."""
        return f"checks-{self.hash.partition(':')[2][:12]}"


def card_of(item_type: ItemType, chosen: tuple[Chosen, ...], rubric: Rubric | None) -> Card:
    """The card of the chosen checks."""
    checks = tuple(
        CheckOnCard(
            one.definition.name,
            one.definition.version,
            dict(one.values),
            dict(one.criteria),
            {lexicon.id: lexicon.hash for lexicon in one.definition.lexicons},
            one.shown,
        )
        for one in chosen
    )
    if rubric is None:
        return Card(item_type, None, None, checks)
    return Card(item_type, rubric.name, rubric.hash, checks)


def _plain(value: Value) -> str | list[str]:
    if isinstance(value, tuple):
        return list(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
