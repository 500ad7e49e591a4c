"""Dawid–Skene by crowd-kit: ``crowdkit_dawid_skene.py IN.npy OUT.json ROUNDS``.

IN holds codes of one byte, a row a rater and a column an item, 255 where there is none. They are
put into the table that the package wants before the clock starts. ROUNDS 0 leaves the package its
own rule to stop; otherwise it does that many. OUT tells seconds, shares, and the best answer of
each item that has any.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene  # type: ignore[import-not-found]


def main(source: str, target: str, rounds: str) -> None:
    """Fit once."""
    codes = np.load(source)
    rater, item = np.nonzero(codes != 255)
    table = pd.DataFrame({"task": item, "worker": rater, "label": codes[rater, item]})
    model = DawidSkene(n_iter=int(rounds), tol=-1e9) if int(rounds) else DawidSkene()
    before_cpu, before = time.process_time(), time.perf_counter()
    model.fit(table)
    told = {
        "seconds": time.perf_counter() - before,
        "cpu": time.process_time() - before_cpu,
        "shares": [float(one) for one in model.priors_.sort_index()],
        "items": [int(one) for one in model.labels_.sort_index().index],
        "labels": [int(one) for one in model.labels_.sort_index()],
        "rounds": len(model.loss_history_),
    }
    Path(target).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
