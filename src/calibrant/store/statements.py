"""The statements by which the store is written again and again; each is made once."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Delete,
    Insert,
    Integer,
    Select,
    Text,
    TextClause,
    Update,
    bindparam,
    delete,
    exists,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from calibrant.store import schema
from calibrant.store.dialect import Among
from calibrant.store.lookups import KEY, at


@cache
def keeping() -> TextClause:
    """Both databases have the same words for a row that takes the place of another."""
    names = schema.names(schema.draft)
    rest = ", ".join(f"{name} = excluded.{name}" for name in names if name not in KEY)
    return text(
        f"INSERT INTO draft ({', '.join(names)}) "  # noqa: S608 - names of the schema
        f"VALUES ({', '.join(f':{name}' for name in names)}) "
        f"ON CONFLICT ({', '.join(KEY)}) DO UPDATE SET {rest}"
    )


@cache
def going_on_keeping() -> Insert:
    """Both at one stroke, where a statement can hold another that writes."""
    from sqlalchemy.dialects.postgresql import insert

    table = schema.draft
    taken = going_on().returning(schema.assignment.c.study).cte("taken")
    values = [bindparam(column.name, type_=column.type) for column in table.columns]
    put = insert(table).from_select(schema.names(table), select(*values).select_from(taken))
    rest = {name: put.excluded[name] for name in schema.names(table) if name not in KEY}
    return put.on_conflict_do_update(index_elements=KEY, set_=rest)


@cache
def dropping() -> Delete:
    """A draft goes."""
    return delete(schema.draft).where(at(schema.draft))


@cache
def last_entry() -> Select[Any]:
    """The number of the last entry of a study."""
    table = schema.journal
    return select(func.max(table.c.number)).where(table.c.study == bindparam("study"))


@cache
def locked_study() -> Select[Any]:
    """A study, so that nobody else numbers anything in it."""
    table = schema.study
    this = select(table.c.id).where(table.c.id == bindparam("study"))
    return this.with_for_update(key_share=True)


@cache
def open_rounds() -> Select[Any]:
    """The rounds in which assignments can be taken."""
    table = schema.round
    this = (table.c.study == bindparam("study"), table.c.state == "open")
    return select(table.c.number).where(*this).order_by(table.c.number)


@cache
def held_round() -> Select[Any]:
    """A round that stays as it is."""
    table = schema.round
    this = (table.c.study == bindparam("study"), table.c.number == bindparam("number"))
    return select(table).where(*this).with_for_update(read=True)


@cache
def held_assignment() -> Select[Any]:
    """An assignment that nobody else changes."""
    return select(schema.assignment).where(at(schema.assignment)).with_for_update()


def _at_all(among: Among) -> list[ColumnElement[bool]]:
    """The assignments of keys that are asked for together."""
    table = schema.assignment
    same = [table.c[name] == bindparam(f"_{name}") for name in KEY if name != "item"]
    return [*same, among(table.c.item, "_items")]


@cache
def held_together(among: Among) -> Select[Any]:
    """Assignments that nobody else changes, always locked in the same order."""
    table = schema.assignment
    return select(table).where(*_at_all(among)).order_by(table.c.item).with_for_update()


@cache
def takeable(which: str) -> Select[Any]:
    """Open assignments of a round: those a token holds, or those that nobody else does.

    Each way has an index that gives them by position, so that the first ones are found without
    looking at the rest. What others are taking at this moment is passed over.
    """
    table = schema.assignment
    wanted = select(table).where(
        table.c.study == bindparam("study"),
        table.c.rater == bindparam("rater"),
        table.c.state == "open",
        table.c.round == bindparam("number"),
    )
    if which == "held":
        wanted = wanted.where(table.c.lease == _token())
    else:
        wanted = wanted.where(or_(table.c.lease.is_(None), _over()))
    wanted = wanted.order_by(table.c.position).limit(bindparam("most", type_=Integer))
    return wanted.with_for_update(skip_locked=True)


@cache
def taking() -> ReturningUpdate[Any]:
    """One assignment by its key, if it can be taken, in one step."""
    table = schema.assignment
    mine = table.c.rater == bindparam("rater")
    taken = update(table).where(at(table), mine, *_free()).values(_held())
    return taken.returning(*table.columns)


@cache
def going_on() -> Update:
    """The same for one of a known version, which becomes the next."""
    table = schema.assignment
    known = table.c.version == bindparam("_version", type_=Integer) - 1
    return (
        update(table)
        .where(at(table), known, *_free())
        .values(version=bindparam("_version", type_=Integer), **_held())
    )


def _free() -> list[ColumnElement[bool]]:
    """Whether an assignment is open, in an open round, and held by nobody else."""
    table, round = schema.assignment, schema.round
    is_open = exists().where(
        round.c.study == table.c.study, round.c.number == table.c.round, round.c.state == "open"
    )
    free = or_(table.c.lease.is_(None), table.c.lease == _token(), _over())
    return [table.c.state == "open", free, is_open]


def _held() -> dict[str, Any]:
    return {"lease": _token(), "leased_until": bindparam("until", type_=Text)}


def _token() -> BindParameter[str]:
    return bindparam("token", type_=Text)


def _over() -> ColumnElement[bool]:
    """Whether the time of another's lease is over."""
    table = schema.assignment
    return (table.c.lease != _token()) & (table.c.leased_until <= bindparam("now"))


@cache
def leasing(among: Among) -> Update:
    """Assignments are held by a token for a while."""
    values: dict[str, Any] = {"lease": bindparam("_token"), "leased_until": bindparam("_until")}
    return update(schema.assignment).where(*_at_all(among)).values(values)


@cache
def marking(among: Among) -> Update:
    """Assignments get another state, and are held by nobody."""
    table = schema.assignment
    values: dict[str, Any] = {
        "lease": None,
        "leased_until": None,
        "version": table.c.version + 1,
    }
    return update(table).where(*_at_all(among)).values(state=bindparam("_state"), **values)
