"""Polars groups a long table of ratings three times: ``group_three_times.py IN.parquet OUT.json``.

Nothing is computed from the groups but their sizes. OUT tells how many groups there are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl


def main(source: str, target: str) -> None:
    """Items by criterion, raters by criterion, answers by criterion."""
    ratings = pl.read_parquet(source)
    keys = (("item", "criterion"), ("rater", "criterion"), ("criterion", "answer"))
    sizes = [ratings.group_by(key).len().height for key in keys]
    Path(target).write_text(json.dumps(sizes), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
