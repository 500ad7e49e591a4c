"""Where the rooms are put together: the only place that chooses a store and reads the clock."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.study.handle import Study


def now() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


def open_study(place: str, name: str, *, actor: str | None = None) -> Study:
    """The study ``name`` kept at ``place``, for one of its members.

    ``place`` is the path of a SQLite file or the address of a PostgreSQL database. ``actor`` is
    who looks and acts: what they may do and see follows from it. Without one it is the lead.
    """
    from calibrant.store.open import open_store
    from calibrant.study.handle import Study
    from calibrant.study.open import enter

    found = enter(open_store(place), name, actor=actor, clock=now)
    return Study(found.store, found.number, found.record, found.actor, found.clock)


def create_study(
    place: str,
    name: str,
    rubric: Rubric,
    *,
    lead: str,
    start_on: date | None = None,
    title: str = "",
    seed: int = 0,
) -> Study:
    """A new study at ``place``, which is made where it is not there yet."""
    from calibrant.store.open import open_store
    from calibrant.study.handle import Study
    from calibrant.study.open import create

    made = create(
        open_store(place, create=True),
        name,
        rubric,
        lead=lead,
        clock=now,
        start_on=start_on,
        title=title,
        seed=seed,
    )
    return Study(made.store, made.number, made.record, made.actor, made.clock)
