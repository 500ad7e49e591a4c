"""A study that comes from elsewhere is put into a store: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from calibrant.core.errors import Doubled, Fault, RecordError, StudyError
from calibrant.core.ids import NAME_RULE, read_name
from calibrant.ports.store import Store, Writing
from calibrant.study.contents import Contents


def restore(
    store: Store,
    contents: Contents,
    *,
    name: str | None = None,
    unchanged: Callable[[], None] = lambda: None,
) -> str:
    """Keep everything in one transaction, under its own name or another; that name.

    ``unchanged`` is asked last, before anything is committed: it raises where what was read is
    not what was looked at before. The records have been looked at (``study.soundness``).
    """
    named = read_name(name) if name is not None else contents.study.name
    if not named:
        raise StudyError(f"the name of a study {NAME_RULE}")
    record = replace(contents.study, name=named)
    begun = False

    def work(tx: Writing) -> None:
        nonlocal begun
        found = tx.study(named)
        if found is not None:
            if begun and found[1] == record:
                return  # committed before the connection broke: it is there, and whole
            raise StudyError(f"there is a study {named!r} already; give this one another name")
        begun = True
        for rubric in contents.rubrics:
            tx.add_rubric(rubric)
        number = tx.add_study(record)
        tx.add_items(number, contents.items())
        for member in contents.members:
            tx.add_member(number, member)
        for round in contents.rounds:
            tx.add_round(number, round)
        tx.add_assignments(number, contents.assignments())
        tx.add_ratings(number, contents.ratings())
        tx.log(number, contents.journal())
        unchanged()

    try:
        store.write(work)
    except Doubled as error:
        raise RecordError([Fault(str(error))]) from error
    return named
