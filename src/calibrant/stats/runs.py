"""Arithmetic on arrays of codes: which sheets lie in a run of codes, and what that adds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.uint8]
Mask: TypeAlias = NDArray[np.bool_]
Run: TypeAlias = tuple[int, int]
"""Consecutive codes, both ends included."""


def runs(codes: Iterable[int]) -> tuple[Run, ...]:
    """Consecutive codes gathered to runs."""
    runs: list[Run] = []
    for code in sorted(codes):
        if runs and runs[-1][1] == code - 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return tuple(runs)


def worth_runs(table: Mapping[int, Fraction], grain: int) -> tuple[tuple[Run, int], ...]:
    """Runs of codes with equal worth, in 1/grain; codes worth nothing are left out."""
    worths = {int(worth * grain) for worth in table.values()} - {0}
    return tuple(
        (run, worth)
        for worth in sorted(worths)
        for run in runs(code for code, value in table.items() if value * grain == worth)
    )


def smallest(most: int) -> np.dtype[Any]:
    """The smallest unsigned type that holds ``most``; Python integers where none does."""
    for kind in (np.uint8, np.uint16, np.uint32, np.uint64):
        if most <= np.iinfo(kind).max:
            return np.dtype(kind)
    return np.dtype(object)


def within(codes: Codes, run: Run, top: int, out: Mask) -> None:
    """Where codes lie in a run; ``top`` is the highest code there is, to save a comparison."""
    low, high = np.uint8(run[0]), np.uint8(run[1])
    if run[1] >= top:
        np.greater_equal(codes, low, out=out)
    elif low == high:
        np.equal(codes, low, out=out)
    elif low == 0:
        np.less_equal(codes, high, out=out)
    else:  # unsigned subtraction turns two comparisons into one
        np.less_equal(codes - low, high - low, out=out)


def among(codes: Codes, runs: Sequence[Run], top: int, out: Mask) -> None:
    """Where codes lie in any of the runs."""
    reached = [run for run in runs if run[0] <= top]
    if not reached:
        out[:] = False
        return
    if len(reached) == 2 and reached[0] == (0, reached[1][0] - 2) and reached[1][1] >= top:
        np.not_equal(codes, np.uint8(reached[1][0] - 1), out=out)  # all but one code
        return
    within(codes, reached[0], top, out)
    for run in reached[1:]:
        other = np.empty(len(codes), bool)
        within(codes, run, top, other)
        out |= other


def count_hits(hits: Mask, rows: tuple[int, ...]) -> NDArray[Any]:
    """How many of these rows, at least one, are hit, sheet by sheet."""
    in_order = rows == tuple(range(rows[0], rows[-1] + 1))
    chosen = hits[rows[0] : rows[-1] + 1] if in_order else hits[list(rows)]
    total: NDArray[Any] = np.add.reduce(chosen.view(np.uint8), axis=0, dtype=smallest(len(rows)))
    return total


def add(total: NDArray[Any], hit: Mask, amount: int) -> None:
    """Add ``amount`` where ``hit``."""
    if amount == 1 and total.dtype != object:
        total += hit.view(np.uint8)
    else:
        add_scaled(total, hit.view(np.uint8), amount)


def add_scaled(total: NDArray[Any], counts: NDArray[Any], factor: int) -> None:
    """``total += counts * factor`` in the type of ``total``."""
    total += counts.astype(total.dtype, copy=False) * total.dtype.type(factor)
