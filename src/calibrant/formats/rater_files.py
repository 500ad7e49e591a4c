"""Reports on raters from dataframes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calibrant.compare.raters import RaterReport, raters_of_frames
from calibrant.compare.rating_columns import Reading

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.stats.weights import Level


def rater_report(
    frame: Any,
    *,
    rubric: Rubric | None = None,
    level: Level | None = None,
    order: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    wide: bool = False,
    in_order: bool = False,
    partial_credit: bool = False,
) -> RaterReport:
    """How each rater of a polars or pandas frame or any Arrow table rates: severity, halo, drift.

    With a ``rubric`` the level and the order come from it; without one ``level`` is required.
    Columns such as ``time``, ``position``, ``sitting`` and ``duration`` are used where they are;
    ``in_order`` says that rows stand in the order in which they were rated. Raters who share no
    items with the others are refused.
    """
    from calibrant.formats.frames import to_polars

    how = Reading(
        rubric=rubric, level=level, order=tuple(order), columns=columns or {}, wide=wide
    )  # fmt: skip
    return raters_of_frames(
        [to_polars(frame)[0]], how, "frame", in_order=in_order, partial_credit=partial_credit
    )
