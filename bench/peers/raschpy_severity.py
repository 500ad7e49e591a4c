"""Severities by RaschPy: ``raschpy_severity.py IN.npy OUT.json``.

IN holds steps of one byte, shape (criteria, raters, items), 255 where there is none. The table is
made before the clock starts. OUT tells the seconds, and the severities with mean 0.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from raschpy import MFRM

ABSENT = 255


def main(source: str, target: str) -> None:
    """One calibration with one severity a rater."""
    warnings.simplefilter("ignore")
    codes = np.load(source)
    criteria, raters, items = codes.shape
    index = pd.MultiIndex.from_product([range(raters), range(items)], names=["Rater", "Person"])
    cells = codes.reshape(criteria, -1).T.astype(float)
    cells[cells == ABSENT] = np.nan
    frame = pd.DataFrame(cells, index=index, columns=[f"Q{at}" for at in range(criteria)])
    most = int(codes[codes != ABSENT].max())
    before_cpu, before = time.process_time(), time.perf_counter()
    model = MFRM(frame, max_score=most, validate=False)
    model.calibrate_global()
    seconds, used = time.perf_counter() - before, time.process_time() - before_cpu
    effects = model.facet_effects_global
    found = np.array([float(effects[rater]) for rater in range(raters)])
    told = {"seconds": seconds, "cpu": used, "found": list(found - found.mean())}
    Path(target).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
