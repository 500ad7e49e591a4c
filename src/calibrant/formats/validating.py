"""A judge beside people, from dataframes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calibrant.compare.judge_trust import JudgeTrust, People, judge_trust
from calibrant.compare.judged import Side
from calibrant.compare.rating_columns import Reading

if TYPE_CHECKING:
    from calibrant.core.item import Item
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
    items: Iterable[Item] | None = None,
    author: str | None = None,
    models: Mapping[str, str] | None = None,
    seed: int = 0,
) -> JudgeTrust:
    """Hold a judge beside people: agreement and its ceiling, bias, errors at gates, two tests.

    ``judged`` and ``labels`` are polars or pandas frames or any Arrow tables of ratings; one table
    may hold both where it tells judge and people apart by ``kind``, or ``judge`` names the judge.
    ``people`` says who they are, and so how far behind a person the judge may be; ``by`` names
    columns that its error may depend on, such as the length of an item.

    To see whether the judge favours its own, say with ``models`` which model each judge is, by its
    name as a rater, and who wrote the items: ``items`` say so, or ``author`` names a field of them
    or a column.
    """
    from calibrant.formats.authors import authorship
    from calibrant.formats.frames import to_polars

    how = Reading(rubric=rubric, level=level, order=tuple(order), columns=columns or {})
    more = None if labels is None else Side([to_polars(labels)[0]], "labels")
    side = Side([to_polars(judged)[0]], "judged")
    frames = [*side.frames, *(more.frames if more is not None else ())]
    wrote = authorship(
        None if items is None else list(items),
        frames,
        how,
        author=author,
        models={rater: (model,) for rater, model in (models or {}).items()},
    )
    return judge_trust(
        side, more, how, judge=judge, people=people, by=by, authorship=wrote, seed=seed
    )
