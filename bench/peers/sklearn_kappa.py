"""Cohen's kappa by scikit-learn: ``sklearn_kappa.py IN.npy OUT.json``.

IN holds codes of one byte, shape (pairs, 2, items); an item that a rater left out has 255. What
either left out is taken away before the clock starts. OUT tells seconds and kappas.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import cohen_kappa_score

ABSENT = 255


def main(source: str, target: str) -> None:
    """One call a pair."""
    pairs = [pair[:, (pair != ABSENT).all(axis=0)] for pair in np.load(source)]
    cohen_kappa_score(pairs[0][0][:1000], pairs[0][1][:1000])
    before_cpu, before = time.process_time(), time.perf_counter()
    found = [float(cohen_kappa_score(first, second)) for first, second in pairs]
    told = {
        "seconds": time.perf_counter() - before,
        "cpu": time.process_time() - before_cpu,
        "found": found,
    }
    Path(target).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
