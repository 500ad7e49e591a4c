"""The statements by which the store is read again and again; each is made once."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    Table,
    and_,
    bindparam,
    exists,
    false,
    func,
    or_,
    select,
)

from calibrant.core.study import Key
from calibrant.core.visible import is_whole
from calibrant.store import schema
from calibrant.store.dialect import Among

KEY = ("study", "round", "item", "rater", "occasion")
"""What names an assignment, a draft, and a rating's revisions."""
BATCH = 1000
"""Records fetched at a time where they are large."""


@cache
def at(table: Table) -> ColumnElement[bool]:
    """The rows of one key, which is ``bound`` when it is asked for."""
    return and_(*(table.c[name] == bindparam(f"_{name}") for name in KEY))


def bound(study: int, key: Key) -> dict[str, Any]:
    """A key, as statements ask for it."""
    names = (study, key.round, findable(key.item), findable(key.rater), key.occasion)
    return {f"_{name}": value for name, value in zip(KEY, names, strict=True)}


@cache
def of_study(table: Table, *order: str) -> Select[Any]:
    """The rows of a study, in some order."""
    wanted = select(table).where(table.c.study == bindparam("study"))
    return wanted.order_by(*(table.c[name] for name in order))


@cache
def named_member() -> Select[Any]:
    """One member."""
    table = schema.member
    this = (table.c.study == bindparam("study"), table.c.name == bindparam("name"))
    return select(table).where(*this)


@cache
def counted_assignments() -> Select[Any]:
    """One count at a time: an index holds all of it, and grouping would take twice as long."""
    table = schema.assignment
    these = [table.c[name] == bindparam(name) for name in ("study", "rater", "round", "state")]
    return select(func.count()).select_from(table).where(*these)


@cache
def repeats_ahead() -> Select[Any]:
    """Items that a rater has rated and is asked about once more, in that round or a later one.

    Rounds are few: in each open one an assignment is found by its key.
    """
    rated, again, round = schema.rating.alias("rated"), schema.assignment, schema.round
    these = [rated.c[name] == bindparam(name) for name in ("study", "rater")]
    opened = select(round.c.number).where(
        round.c.study == bindparam("study"), round.c.state == "open"
    )
    asked = exists().where(
        again.c.study == rated.c.study,
        again.c.round.in_(opened),
        again.c.item == rated.c.item,
        again.c.rater == rated.c.rater,
        or_(again.c.round != rated.c.round, again.c.occasion != rated.c.occasion),
        again.c.state.concat("") == "open",  # or SQLite walks through all that are open
    )
    return select(rated.c.item).where(*these, asked)


@cache
def nearest_open(*, after: bool) -> Select[Any]:
    """The next one or the one before; an index gives them by position."""
    table = schema.assignment
    here: BindParameter[int] = bindparam("position")
    these = [table.c[name] == bindparam(name) for name in ("study", "rater", "round")]
    beside = table.c.position > here if after else table.c.position < here
    order = table.c.position.asc() if after else table.c.position.desc()
    wanted = select(table).where(*these, table.c.state == "open", beside)
    return wanted.order_by(order).limit(1)


@cache
def some_items(among: Among) -> Select[Any]:
    """Items by id, then put in order: SQLite would walk through all of them in that order."""
    table = schema.item
    these = (table.c.study == bindparam("study"), among(table.c.id, "ids"))
    return select(table).where(*these).order_by(table.c.position + 0)


@cache
def items_part() -> Select[Any]:
    """Some items from a place on; an index gives them by position."""
    return of_study(schema.item, "position").limit(bindparam("limit")).offset(bindparam("start"))


@cache
def item_ids() -> Select[Any]:
    """Every id, by position."""
    table = schema.item
    wanted = select(table.c.id).where(table.c.study == bindparam("study"))
    return wanted.order_by(table.c.position)


def unplaced(study: int, rounds: Collection[int]) -> Select[Any]:
    """Counts items without an assignment that stands; each is looked up by its key."""
    table, item = schema.assignment, schema.item
    given = exists().where(
        table.c.study == item.c.study,
        table.c.round.in_(sorted(set(rounds))),
        table.c.item == item.c.id,
        table.c.state != "withdrawn",
    )
    return select(func.count()).select_from(item).where(item.c.study == study, ~given)


@cache
def undone() -> Select[Any]:
    """Items of a rater that are not handed in."""
    table = schema.assignment
    these = [table.c[name] == bindparam(name) for name in ("study", "rater")]
    return select(table.c.item).where(*these, table.c.state != "done")


@cache
def anything_of() -> Select[Any]:
    """One assignment of a rater, whichever."""
    table = schema.assignment
    these = [table.c[name] == bindparam(name) for name in ("study", "rater")]
    return select(table.c.round).where(*these).limit(1)


@cache
def own_ratings(*, counted: bool) -> Select[Any]:
    """A rater's ratings that count and may be shown, or how many; the latest first."""
    table = schema.rating
    these = [table.c[name] == bindparam(name) for name in ("study", "rater")]
    known = in_a_round(table, bindparam("study"))
    shown = (*these, known, is_last(table), table.c.item.not_in(repeats_ahead()))
    if counted:
        return select(func.count()).select_from(table).where(*shown)
    order = (table.c.submitted_at.desc(), *schema.key_columns(table))
    part = select(table).where(*shown).order_by(*order)
    return part.limit(bindparam("limit")).offset(bindparam("start"))


@cache
def drafts_of() -> Select[Any]:
    """All drafts of a rater."""
    table = schema.draft
    these = (table.c.study == bindparam("study"), table.c.rater == bindparam("rater"))
    return select(table).where(*these).order_by(*schema.key_columns(table))


@cache
def selected_at(table: Table) -> Select[Any]:
    """The rows of one key."""
    return select(table).where(at(table))


@cache
def last_revision() -> Select[Any]:
    """The revision of a rating that counts."""
    return selected_at(schema.rating).order_by(schema.rating.c.revision.desc()).limit(1)


@cache
def by_request() -> Select[Any]:
    """What an act of handing in became."""
    table = schema.rating
    this = (table.c.study == bindparam("study"), table.c.request == bindparam("request"))
    return select(table).where(*this)


@lru_cache(maxsize=100)
def entries_after(
    kinds: tuple[str, ...] | None,
    but: tuple[str, ...] = (),
    *,
    of_item: bool,
    by_actor: bool,
    ends: bool = False,
) -> Select[Any]:
    """The next entries of these kinds, and not of those, after a number and up to another."""
    table = schema.journal
    wanted = select(table).where(table.c.study == bindparam("study"))
    wanted = wanted.where(table.c.number > bindparam("after"))
    if ends:
        wanted = wanted.where(table.c.number <= bindparam("until"))
    if kinds is not None:
        wanted = wanted.where(or_(false(), *(table.c.kind == kind for kind in kinds)))
    for kind in but:
        wanted = wanted.where(table.c.kind != kind)
    if of_item:
        wanted = wanted.where(table.c.item == bindparam("item"))
    if by_actor:
        wanted = wanted.where(table.c.actor == bindparam("actor"))
    return wanted.order_by(table.c.number).limit(BATCH)


@cache
def by_requests(among: Among) -> Select[Any]:
    """What several acts of handing in became."""
    table = schema.rating
    these = (table.c.study == bindparam("study"), among(table.c.request, "requests"))
    return select(table).where(*these)


def is_last(table: Table) -> ColumnElement[bool]:
    """Whether a rating is the last revision; the few later ones have an index of their own."""
    later = table.alias("later")
    same = [later.c[name] == table.c[name] for name in KEY]
    return ~exists().where(*same, later.c.revision > 1, later.c.revision > table.c.revision)


def in_a_round(table: Table, study: int | BindParameter[int]) -> ColumnElement[bool]:
    """True of every row; with it SQLite looks rows up by their key, in which rounds come first."""
    numbers = select(schema.round.c.number).where(schema.round.c.study == study)
    return table.c.round.in_(numbers)


def narrowed(wanted: Select[Any], table: Table, **values: object) -> Select[Any]:
    """The same, where columns hold these values; None asks for nothing."""
    for name, value in values.items():
        if value is not None:
            asked = findable(value) if isinstance(value, str) else value
            wanted = wanted.where(table.c[name] == asked)
    return wanted


def findable(name: str) -> str:
    """A name to look for; one that cannot be kept is as good as one that is not there."""
    return "\N{REPLACEMENT CHARACTER}" if "\0" in name or not is_whole(name) else name
