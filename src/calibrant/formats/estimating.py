"""Corrected figures of dataframes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calibrant.compare.estimate_report import EstimateReport, Wish
from calibrant.compare.estimated import estimated
from calibrant.compare.judged import Side
from calibrant.compare.rating_columns import Reading

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.stats.weights import Level


def estimate(
    judged: Any,
    labels: Any = None,
    *,
    rubric: Rubric | None = None,
    level: Level | None = None,
    order: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    judge: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    probability: str | None = None,
    system: str | None = None,
    shifted: bool = False,
    label_next: int = 0,
    about: str | None = None,
    seed: int = 0,
) -> EstimateReport:
    """Pass rates and means of a large judged set, corrected by people's labels of a part of it.

    ``judged`` and ``labels`` are polars or pandas frames or any Arrow tables, of ratings or of
    verdicts; one table may hold both where it tells judge and people apart by ``kind``. Labels
    must be a random sample of the judged items, or ``strata`` or ``probability`` must say how they
    were drawn; with ``shifted`` they only tell the judge's error rates.
    """
    from calibrant.formats.frames import to_polars

    how = Reading(rubric=rubric, level=level, order=tuple(order), columns=columns or {})
    wish = Wish(
        judge=judge,
        strata=strata,
        cluster=cluster,
        probability=probability,
        system=system,
        shifted=shifted,
        next=label_next,
        about=about,
        seed=seed,
    )
    more = None if labels is None else Side([to_polars(labels)[0]], "labels")
    side = Side([to_polars(judged)[0]], "judged")
    return estimated(side, more, how, wish)
