"""Many lines of text from few ready-made pieces.

A line that is made of *digits*, each with few values, is a look-up: the text of every value is
written once, neighbouring digits are joined while their combinations are few, and all the lines
of a batch are put together in one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

MOST_TEXTS = 4096
"""How many ready-made texts digits are joined to."""
MOST_VALUES = 65_536
"""How many values one digit may have."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """For each line the place of its text among all texts."""

    texts: pl.Series
    places: NDArray[Any]


class Pieces:
    """Digits joined to pieces, each with a text for every combination of their values."""

    def __init__(self, digits: Sequence[Sequence[str]]) -> None:
        groups: list[list[Sequence[str]]] = []
        most = 1
        for texts in digits:
            most *= len(texts)
            if not groups or most > MOST_TEXTS:
                groups.append([])
                most = len(texts)
            groups[-1].append(texts)
        self._groups = [
            (_weights([len(texts) for texts in group]), pl.Series(map("".join, product(*group))))
            for group in groups
        ]

    def found(self, digits: Sequence[NDArray[Any]]) -> list[LookUp]:
        """Where the text of each piece stands, line by line, given the values of all digits."""
        out, start = [], 0
        for weights, texts in self._groups:
            chosen = digits[start : start + len(weights)]
            stacked = np.stack(chosen, dtype=np.uint16, casting="unsafe")
            out.append(LookUp(texts, np.einsum("i,ij->j", weights, stacked)))
            start += len(weights)
        return out


def _weights(radixes: Sequence[int]) -> NDArray[np.uint16]:
    """What each digit counts in the number of a combination; the last one counts single."""
    return np.cumprod([1, *radixes[:0:-1]])[::-1].astype(np.uint16)


class Line:
    """The parts of a line in their order: the same text in all lines, or one for each."""

    def __init__(self) -> None:
        self._parts: list[str | pl.Series | LookUp] = []

    def __bool__(self) -> bool:
        return bool(self._parts)

    def add(self, *parts: str | pl.Series | LookUp) -> None:
        """Go on with these; a text of all lines joins the ready-made texts beside it."""
        for part in parts:
            last = self._parts[-1] if self._parts else None
            match last, part:
                case str(), str():
                    self._parts[-1] = last + part
                case str(), LookUp(texts, places) if len(texts) <= MOST_TEXTS:
                    self._parts[-1] = LookUp(last + texts, places)
                case LookUp(texts, places), str() if len(texts) <= MOST_TEXTS:
                    self._parts[-1] = LookUp(texts + part, places)
                case _:
                    self._parts.append(part)

    def texts(self) -> pl.Series:
        """The lines; all of the work is one call, so that other threads can do theirs."""
        columns: dict[str, pl.Series] = {}
        exprs: list[pl.Expr] = []
        for at, part in enumerate(self._parts):
            match part:
                case str():
                    exprs.append(pl.lit(part))
                case LookUp(texts, places):
                    columns[str(at)] = pl.Series(places)
                    exprs.append(pl.lit(texts).gather(pl.col(str(at))))
                case _:
                    columns[str(at)] = part
                    exprs.append(pl.col(str(at)))
        return pl.DataFrame(columns).select(pl.concat_str(exprs)).to_series()
