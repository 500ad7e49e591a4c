"""Reading the audit log: lines of the journal and ratings, woven together a page at a time.

Each has an index by time, so that the next lines of both are found without looking at the rest;
of the two handfuls the first ones are the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    func,
    or_,
    select,
    text,
    tuple_,
)

from calibrant.core.audit import RATED, Sought, is_rating, order_of, rated
from calibrant.core.study import FROZEN_DATA, Entry
from calibrant.store import rows, schema
from calibrant.store.dialect import Dialect
from calibrant.store.lookups import findable

_HANDED_IN = "rating.revision = 1"
"""Spelt out, as the index is: a correction is a line of the journal already."""
_BY = {
    "journal": ("at", "number"),
    "rating": ("submitted_at", "round", "item", "rater", "occasion"),
}
"""In which order the lines of a table are read."""
_ACTOR = {"journal": "actor", "rating": "rater"}


@dataclass(frozen=True, slots=True)
class Log:
    """The audit log of a study, as far as it is sought."""

    connection: Connection
    dialect: Dialect
    study: int
    sought: Sought

    def page(self, start: Entry | None, *, newest_first: bool, limit: int) -> list[Entry]:
        """The next lines after one, or from the first on."""
        found: list[Entry] = []
        for name in self._tables():
            order = [schema.metadata.tables[name].c[one] for one in _BY[name]]
            wanted = select(*_columns(name)).where(*self._these(name))
            if start is not None:
                wanted = wanted.where(_beyond(name, order, start, before=newest_first))
            sorted_ = (one.desc() if newest_first else one.asc() for one in order)
            found += map(_RECORDS[name], self._run(wanted.order_by(*sorted_).limit(limit)))
        return sorted(found, key=order_of, reverse=newest_first)[:limit]

    def count(self) -> int:
        """How many lines there are."""
        counts = (
            select(func.count()).select_from(schema.metadata.tables[name]).where(*self._these(name))
            for name in self._tables()
        )
        return sum(int(self._run(one)[0][0]) for one in counts)

    def _tables(self) -> list[str]:
        kind, tables = self.sought.kind, list(_BY) if self.sought.ratings else ["journal"]
        return [name for name in tables if kind is None or (kind == RATED) == (name == "rating")]

    def _run(self, wanted: Select[Any]) -> Sequence[rows.Row]:
        asked = {"hidden": self.dialect.listed(sorted(self.sought.hidden))}
        return [tuple(row) for row in self.connection.execute(wanted, asked)]

    def _these(self, name: str) -> list[ColumnElement[bool]]:
        """The lines of a table that are sought and may be told."""
        table, sought = schema.metadata.tables[name].c, self.sought
        these = [table.study == self.study]
        if name == "rating":
            these.append(text(_HANDED_IN))  # type: ignore[arg-type]
            if sought.elsewhere:
                these.append(table.round.not_in(sorted(sought.elsewhere)))
        else:
            these.append(table.kind != FROZEN_DATA)
            if sought.kind is not None:
                these.append(table.kind == findable(sought.kind))
        actor = table[_ACTOR[name]]
        if sought.actor is not None:
            these.append(actor == findable(sought.actor))
        if sought.item is not None:
            these.append(table.item == findable(sought.item))
        if sought.rounds is not None:
            shown = [or_(table.round.is_(None), table.round.in_(sorted(sought.rounds)))]
            if sought.hidden:
                shown.append(~self.dialect.among(table.item, "hidden"))
            these.append(or_(table.item.is_(None), actor == findable(sought.me), and_(*shown)))
        return these


def _columns(name: str) -> list[ColumnElement[Any]]:
    """What is read: of a rating only what the index holds."""
    table = schema.metadata.tables[name]
    return list(table.columns) if name == "journal" else [table.c[one] for one in _BY[name]]


def _beyond(
    name: str, order: Sequence[ColumnElement[Any]], start: Entry, *, before: bool
) -> ColumnElement[bool]:
    """What comes after a line, or before it; ratings come first where the moment is the same."""
    at, rates = findable(start.at), is_rating(start)
    if rates == (name == "rating"):
        _, _, *rest = order_of(start)
        here = [at, *(findable(one) if isinstance(one, str) else one for one in rest)]
        return tuple_(*order) < tuple_(*here) if before else tuple_(*order) > tuple_(*here)
    if before:
        return order[0] < at if rates else order[0] <= at
    return order[0] >= at if rates else order[0] > at


_RECORDS = {"journal": rows.entry_record, "rating": lambda row: rated(*row)}
