"""A judge beside people, from dataframes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calibrant.compare.judge_trust import JudgeTrust, People, judge_trust
from calibrant.compare.judged import Side
from calibrant.compare.rating_columns import Reading

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.stats.weights import Level


def validate_judge(
    judged: Any,
    labels: Any = None,
    *,
    rubric: Rubric | None = None,
    level: Level | None = None,
    order: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    judge: str | None = None,
    people: People = "skilled",
    by: Sequence[str] = (),
    seed: int = 0,
) -> JudgeTrust:
    """Hold a judge beside people: agreement and its ceiling, bias, errors at gates, two tests.

    ``judged`` and ``labels`` are polars or pandas frames or any Arrow tables of ratings; one table
    may hold both where it tells judge and people apart by ``kind``, or ``judge`` names the judge.
    ``people`` says who they are, and so how far behind a person the judge may be; ``by`` names
    columns that its error may depend on, such as the length of an item.
    """
    from calibrant.formats.frames import to_polars

    how = Reading(rubric=rubric, level=level, order=tuple(order), columns=columns or {})
    more = None if labels is None else Side([to_polars(labels)[0]], "labels")
    side = Side([to_polars(judged)[0]], "judged")
    return judge_trust(side, more, how, judge=judge, people=people, by=by, seed=seed)
