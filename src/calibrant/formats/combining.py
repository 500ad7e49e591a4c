"""Combined answers of dataframes, and final answers from files to hold beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.compare.combined import CombinedReport, combined_of_frames
from calibrant.compare.rating_columns import Reading
from calibrant.compare.rating_tables import RatingTable, rating_table

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.stats.weights import Level


def combine(
    frame: Any,
    *,
    rubric: Rubric | None = None,
    level: Level | None = None,
    order: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    wide: bool = False,
    anonymous_raters: bool = False,
    finals: Any = None,
    every_rater: bool = False,
    smoothing: float = 0.0,
    seed: int = 0,
) -> CombinedReport:
    """One answer an item from several raters: majority, median, Dawid–Skene and MACE.

    ``frame`` is a polars or pandas frame or any Arrow table, read as ``agreement`` reads it;
    ``finals`` another one, with the final answers. Nothing is decided: what methods say stands
    side by side, with the items where they differ.
    """
    from calibrant.formats.frames import to_polars

    how = Reading(
        rubric=rubric,
        level=level,
        order=tuple(order),
        columns=columns or {},
        wide=wide,
        anonymous=anonymous_raters,
    )
    settled = None
    if finals is not None:
        settled = rating_table([to_polars(finals)[0]], final_reading(how), "finals")
    return combined_of_frames(
        [to_polars(frame)[0]],
        how,
        "frame",
        finals=settled,
        every_rater=every_rater,
        smoothing=smoothing,
        seed=seed,
    )


def final_reading(how: Reading) -> Reading:
    """How to read final answers beside a table: the same scale, and nobody's name."""
    return Reading(rubric=how.rubric, level=how.level, order=how.order, anonymous=True)


def read_finals(path: Path, how: Reading, encoding: str | None = None) -> RatingTable:
    """Final answers from a file, such as ``calibrant study finals -o`` writes."""
    from calibrant.formats.rating_files import frames_of

    return rating_table(frames_of(path, encoding), final_reading(how), str(path))
