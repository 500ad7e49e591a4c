"""Alphas by the krippendorff package, alone or in a loop over resampled items.

    krippendorff_alpha.py alphas IN.npy OUT.json LEVEL…        each level once, timed together
    krippendorff_alpha.py loop IN.npy OUT.json TIMES LEVEL…    resample the items, TIMES times

IN holds numbers, a row a rater and a column an item, nan where there is none. OUT tells the
seconds and what was found.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from krippendorff import alpha

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]


def alphas(source: str, target: str, *levels: Level) -> None:
    """Every level once."""
    ratings = np.load(source)
    domain = np.unique(ratings[np.isfinite(ratings)])

    def work() -> list[float]:
        return [
            float(alpha(ratings, value_domain=domain, level_of_measurement=one)) for one in levels
        ]

    _time(work, target)


def loop(source: str, target: str, times: str, *levels: Level) -> None:
    """Resampled items: the values of every resample."""
    ratings = np.load(source)
    domain = np.unique(ratings[np.isfinite(ratings)])
    random, items = np.random.default_rng(0), ratings.shape[1]

    def work() -> list[list[float]]:
        found = []
        for _ in range(int(times)):
            drawn = ratings[:, random.integers(0, items, items)]
            found.append(
                [
                    float(alpha(drawn, value_domain=domain, level_of_measurement=one))
                    for one in levels
                ]
            )
        return found

    _time(work, target)


def _time(work: Callable[[], Any], target: str) -> None:
    before_cpu, before = time.process_time(), time.perf_counter()
    found = work()
    told = {
        "seconds": time.perf_counter() - before,
        "cpu": time.process_time() - before_cpu,
        "found": found,
    }
    Path(target).write_text(json.dumps(told), encoding="utf-8")


PROGRAMS: dict[str, Callable[..., None]] = {"alphas": alphas, "loop": loop}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
