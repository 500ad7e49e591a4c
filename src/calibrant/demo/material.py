"""What the demo's studies are made of: items, and what a steady reader would say of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from calibrant.core.criterion import ItemType
from calibrant.core.errors import RecordError
from calibrant.core.item import Item
from calibrant.formats.items import read_items

FOLDER = Path(__file__).parent
Leaning: TypeAlias = float | str | Mapping[str, float]
"""Where answers to a criterion lie: a place on an ordinal scale, a share of YES, one answer that
nearly everybody gives, or answers with their weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something a rater may write about a criterion, with the words it rests on."""

    note: str
    quote: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Warrant:
    """A red flag that the item gives reason for, and how likely a rater is to see it."""

    flag: str
    evidence: tuple[str, ...]
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What raters make of an item, but for their own severity and luck."""

    quality: Mapping[str, Leaning]
    remarks: Mapping[str, Remark] = field(default_factory=dict)
    flags: tuple[Warrant, ...] = ()
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    edge_case: str = ""
    review: str = ""


@dataclass(frozen=True, slots=True)
class Material:
    """The items of a study in their order, and the truth about each."""

    items: tuple[Item, ...]
    truths: Mapping[str, Truth]


@cache
def material(name: str, kind: ItemType) -> Material:
    """The material of that name; raises ``RecordError`` where a record is bad."""
    read = read_items(FOLDER / f"{name}.jsonl", kind)
    if read.faults:
        raise RecordError(read.faults)
    lines = (FOLDER / f"{name}_answers.jsonl").read_text(encoding="utf-8").splitlines()
    told = [json.loads(line) for line in lines]
    return Material(tuple(read.items), {one["id"]: _truth(one) for one in told})


def _truth(told: Mapping[str, Any]) -> Truth:
    return Truth(
        quality=told["quality"],
        remarks={name: Remark(**one) for name, one in told.get("remarks", {}).items()},
        flags=tuple(
            Warrant(flag=one["flag"], evidence=tuple(one["evidence"]), chance=one["chance"])
            for one in told.get("flags", ())
        ),
        tags={name: tuple(given) for name, given in told.get("tags", {}).items()},
        edge_case=told.get("edge_case", ""),
        review=told.get("review", ""),
    )
