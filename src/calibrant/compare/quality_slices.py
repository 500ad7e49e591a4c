"""Slices: the items that have something in common, by what a field says of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from calibrant.compare.rulers import number_of

Words: TypeAlias = Mapping[str, tuple[str, ...]]
"""What a field says of each item; several words where an item has several tags."""
MOST_VALUES = 12
"""Different numbers from which they are taken in quarters, and words from which a field is no
slice that anybody would choose unasked."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Some items, and those that they are held against."""

    field: str
    value: str
    inside: NDArray[np.bool_]
    rest: NDArray[np.bool_]
    """Other items of which the field says anything."""
    halves: bool = False
    """Whether the rest is the only other slice: both say the same."""


def slices_of(field: str, words: Words, items: Sequence[str]) -> list[Slice]:
    """One slice a word, or quarters of many different numbers, in order."""
    said = [words.get(item, ()) for item in items]
    known = np.array([bool(one) for one in said], bool)
    told = dict.fromkeys(word for one in said for word in one)
    numbers = {word: number_of(word) for word in told}
    in_order = all(number is not None for number in numbers.values())
    if in_order and len(told) > MOST_VALUES and all(len(one) <= 1 for one in said):
        values = np.array([numbers[one[0]] if one else np.nan for one in said], np.float64)
        parts = _quarters(values)
    else:
        order = sorted(told, key=lambda word: (numbers[word] or 0, word) if in_order else (0, word))
        parts = [(word, np.array([word in one for one in said], bool)) for word in order]
    halves = len(parts) == 2 and not (parts[0][1] & parts[1][1]).any()
    return [Slice(field, name, inside, known & ~inside, halves) for name, inside in parts]


def _quarters(values: NDArray[np.float64]) -> list[tuple[str, NDArray[np.bool_]]]:
    """Four parts of about as many items, named by their lowest and highest number."""
    cuts = np.unique(np.nanquantile(values, (0.25, 0.5, 0.75), method="lower"))
    place = np.searchsorted(cuts, values, side="left")
    out = []
    for at in range(len(cuts) + 1):
        inside = (place == at) & ~np.isnan(values)
        if inside.any():
            low, high = values[inside].min(), values[inside].max()
            out.append((f"{low:g}" if low == high else f"{low:g} to {high:g}", inside))
    return out


def worth_a_look(words: Words) -> bool:
    """Whether a field would be chosen unasked: it says few different things, and not only one."""
    return 2 <= len({word for one in words.values() for word in one}) <= MOST_VALUES
