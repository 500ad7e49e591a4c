"""Reading the store within one transaction, as of one moment."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import (
    Connection,
    Select,
    func,
    select,
)
from sqlalchemy.sql.dml import ReturningUpdate

from calibrant.core.audit import Sought
from calibrant.core.errors import StoreError
from calibrant.core.study import (
    Assignment,
    AssignmentState,
    Draft,
    Entry,
    ItemRecord,
    Key,
    Member,
    Progress,
    Rating,
    Round,
    RubricRecord,
    StudyRecord,
)
from calibrant.ports.store import AnswerRow
from calibrant.store import rows, schema
from calibrant.store.audit import Log
from calibrant.store.dialect import PART, Dialect
from calibrant.store.lookups import (
    BATCH,
    anything_of,
    bound,
    by_request,
    by_requests,
    counted_assignments,
    drafts_of,
    entries_after,
    findable,
    in_a_round,
    is_last,
    item_ids,
    items_part,
    last_revision,
    named_member,
    narrowed,
    nearest_open,
    of_study,
    own_ratings,
    repeats_ahead,
    selected_at,
    some_items,
    undone,
    unplaced,
)
from calibrant.store.quick import fetched

R = TypeVar("R")
Finding: TypeAlias = Select[Any] | ReturningUpdate[Any]
"""A statement that finds rows."""
Asked: TypeAlias = Mapping[str, Any] | None
"""What is bound to the names in a statement."""
_answer_row: Callable[[rows.Row], AnswerRow] = partial(tuple.__new__, AnswerRow)
"""As ``AnswerRow._make``, without counting the fields again for every row."""


class SqlReading:
    """What can be read while one transaction lasts; of no use when it has ended."""

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self._dialect = dialect
        self._streams: list[Any] = []
        self._ended = False

    def end(self) -> None:
        """Close whatever was not read to its end."""
        self._ended = True
        for stream in self._streams:
            with suppress(Exception):  # a broken connection has told its own story
                stream.close()
        self._streams.clear()

    def studies(self) -> list[tuple[int, StudyRecord]]:
        """All studies, by name."""
        return self._all(select(schema.study).order_by(schema.study.c.name), rows.study_record)

    def study(self, name: str) -> tuple[int, StudyRecord] | None:
        """The study of that name."""
        return self._one(
            select(schema.study).where(schema.study.c.name == findable(name)), rows.study_record
        )

    def rubric(self, hash: str) -> RubricRecord | None:
        """The version with that content."""
        table = schema.rubric
        return self._one(select(table).where(table.c.hash == findable(hash)), rows.rubric_record)

    def rubrics(self, id: str) -> list[RubricRecord]:
        """All versions of a rubric, in the order of coming in."""
        table = schema.rubric
        wanted = select(table).where(table.c.id == findable(id))
        return self._all(
            wanted.order_by(table.c.position, table.c.added_at, table.c.version),
            rows.rubric_record,
        )

    def count_items(self, study: int) -> int:
        """How many items there are."""
        counted = select(func.count()).where(schema.item.c.study == study)
        return self._connection.execute(counted).scalar_one()

    def item(self, study: int, id: str) -> ItemRecord | None:
        """One item."""
        table = schema.item
        wanted = select(table).where(table.c.study == study, table.c.id == findable(id))
        return self._one(wanted, rows.item_record)

    def items(self, study: int, ids: Collection[str] | None = None) -> Iterator[ItemRecord]:
        """These items, or all, by position; read as they are asked for."""
        asked: dict[str, Any] = {"study": study}
        if ids is None:
            return self._stream(of_study(schema.item, "position"), rows.item_record, asked)
        asked |= {"ids": self.listed(ids)}
        wanted = some_items(self._dialect.among)
        if len(ids) <= BATCH:  # a cursor of its own would take longer than they do
            return iter(self._all(wanted, rows.item_record, asked))
        return self._stream(wanted, rows.item_record, asked)

    def find_items(
        self, study: int, find: str = "", *, start: int, limit: int
    ) -> tuple[list[ItemRecord], int]:
        """A part of the items by position, and how many there are; perhaps by a part of the id."""
        if not find:
            asked = {"study": study, "start": start, "limit": limit}
            return self._all(items_part(), rows.item_record, asked), self.count_items(study)
        wanted = find.casefold()  # which databases do each in their own way
        ids = (row[0] for row in fetched(self._connection, item_ids(), {"study": study}))
        matching = [id for id in ids if wanted in id.casefold()]
        part = matching[start : start + limit]
        return list(self.items(study, part)) if part else [], len(matching)

    def count_unplaced(self, study: int, rounds: Collection[int]) -> int:
        """How many items nobody was given in these rounds; what was withdrawn does not count."""
        return int(self._connection.execute(unplaced(study, rounds)).scalar_one())

    def item_keys(self, study: int) -> list[tuple[str, str]]:
        """Id and hash of every item, by position."""
        table = schema.item
        wanted = select(table.c.id, table.c.hash).where(table.c.study == study)
        found = self._connection.execute(wanted.order_by(table.c.position))
        return [(id, hash) for id, hash in found]

    def measures(self, study: int) -> dict[str, Mapping[str, int]]:
        """What code counted in each item."""
        table = schema.item
        wanted = select(table.c.id, table.c.measures).where(table.c.study == study)
        counted: dict[str, Mapping[str, int]] = {}
        for part in self._parts(wanted.order_by(table.c.position), PART):
            counted.update((id, json.loads(text)) for id, text in part)
        return counted

    def members(self, study: int) -> list[Member]:
        """Everybody, in the order of joining."""
        wanted = of_study(schema.member, "position", "name")
        return self._all(wanted, rows.member_record, {"study": study})

    def member(self, study: int, name: str) -> Member | None:
        """Somebody, gone or not."""
        asked = {"study": study, "name": findable(name)}
        return self._one(named_member(), rows.member_record, asked)

    def rounds(self, study: int) -> list[Round]:
        """All rounds, by number."""
        return self._all(of_study(schema.round, "number"), rows.round_record, {"study": study})

    def assignment(self, study: int, key: Key) -> Assignment | None:
        """One assignment."""
        wanted = selected_at(schema.assignment)
        return self._one(wanted, rows.assignment_record, bound(study, key))

    def assignments(
        self,
        study: int,
        *,
        round: int | None = None,
        rater: str | None = None,
        item: str | None = None,
        state: AssignmentState | None = None,
    ) -> Iterator[Assignment]:
        """Assignments by round, rater and position; read as they are asked for."""
        table = schema.assignment
        wanted = select(table).where(table.c.study == study)
        wanted = narrowed(wanted, table, round=round, rater=rater, item=item, state=state)
        if item is not None and round is None:
            wanted = wanted.where(in_a_round(table, study))
        order = [table.c[name] for name in ("round", "rater", "position", "item", "occasion")]
        return self._stream(wanted.order_by(*order), rows.assignment_record)

    def assignment_rows(self, study: int) -> Iterator[Sequence[tuple[int, str, str, str]]]:
        """Round, item, rater and state of every assignment, in large parts and in no order."""
        table = schema.assignment
        names = ("round", "item", "rater", "state")
        wanted = select(*(table.c[name] for name in names)).where(table.c.study == study)
        for part in self._parts(wanted, PART):
            yield [(number, item, rater, state) for number, item, rater, state in part]

    def progress(self, study: int) -> list[Progress]:
        """Counts of assignments by round, rater and state."""
        table = schema.assignment
        parts = (table.c.round, table.c.rater, table.c.state)
        wanted = select(*parts, func.count()).where(table.c.study == study)
        found = self._connection.execute(wanted.group_by(*parts).order_by(*parts))
        return [Progress(*row) for row in found]

    def count_assignments(
        self, study: int, *, rater: str, round: int, state: AssignmentState
    ) -> int:
        """How many assignments of a rater in a round are in a state."""
        asked = {"study": study, "rater": findable(rater), "round": round, "state": state}
        return int(fetched(self._connection, counted_assignments(), asked)[0][0])

    def is_assigned(self, study: int, rater: str) -> bool:
        """Whether a rater was ever given anything."""
        asked = {"study": study, "rater": findable(rater)}
        return bool(fetched(self._connection, anything_of(), asked))

    def undone_items(self, study: int, rater: str) -> set[str]:
        """Items that a rater was given and has not handed in each time."""
        asked = {"study": study, "rater": findable(rater)}
        return {row[0] for row in fetched(self._connection, undone(), asked)}

    def coming_again(self, study: int, rater: str) -> set[str]:
        """Items that a rater has rated and has before them for another time."""
        asked = {"study": study, "rater": findable(rater)}
        return {row[0] for row in fetched(self._connection, repeats_ahead(), asked)}

    def nearest_open(
        self, study: int, *, rater: str, round: int, position: int, after: bool
    ) -> Key | None:
        """A rater's open assignment in a round that comes next after a position, or before it."""
        asked = {"study": study, "rater": findable(rater), "round": round, "position": position}
        found = self._one(nearest_open(after=after), rows.assignment_record, asked)
        return None if found is None else found.key

    def draft(self, study: int, key: Key) -> Draft | None:
        """What is saved of a rating not yet handed in."""
        return self._one(selected_at(schema.draft), rows.draft_record, bound(study, key))

    def drafts(self, study: int, rater: str) -> list[Draft]:
        """All that a rater has saved and not handed in."""
        asked = {"study": study, "rater": findable(rater)}
        return self._all(drafts_of(), rows.draft_record, asked)

    def rating(self, study: int, key: Key) -> Rating | None:
        """The revision that counts."""
        wanted = last_revision()
        return self._one(wanted, rows.rating_record, bound(study, key))

    def rating_by_request(self, study: int, request: str) -> Rating | None:
        """What an act of handing in became."""
        asked = {"study": study, "request": findable(request)}
        return self._one(by_request(), rows.rating_record, asked)

    def ratings_by_request(self, study: int, requests: Collection[str]) -> list[Rating]:
        """What these acts of handing in became, as far as they came to anything."""
        asked = {"study": study, "requests": self.listed(requests)}
        return self._all(by_requests(self._dialect.among), rows.rating_record, asked)

    def ratings(
        self,
        study: int,
        *,
        round: int | None = None,
        item: str | None = None,
        rater: str | None = None,
        all_revisions: bool = False,
    ) -> Iterator[Rating]:
        """Ratings by key and revision, the one that counts of each unless all are asked for."""
        table = schema.rating
        wanted = select(table).where(table.c.study == study)
        wanted = narrowed(wanted, table, round=round, rater=rater, item=item)
        if not all_revisions:
            wanted = wanted.where(is_last(table))
        return self._stream(wanted.order_by(*schema.key_columns(table)), rows.rating_record)

    def latest_ratings(
        self, study: int, rater: str, *, start: int, limit: int
    ) -> tuple[list[Rating], int]:
        """A part of a rater's ratings that count, the latest first, and how many there are."""
        asked = {"study": study, "rater": findable(rater)}
        part = asked | {"start": start, "limit": limit}
        counted = fetched(self._connection, own_ratings(counted=True), asked)
        return self._all(own_ratings(counted=False), rows.rating_record, part), int(counted[0][0])

    def answer_rows(
        self, study: int, rounds: Collection[int] | None = None
    ) -> Iterator[Sequence[AnswerRow]]:
        """Ratings that count, for tables, in large parts and in no order."""
        table = schema.rating
        wanted = select(*(table.c[name] for name in AnswerRow._fields))
        wanted = wanted.where(table.c.study == study, is_last(table))
        if rounds is not None:
            wanted = wanted.where(table.c.round.in_(sorted(set(rounds))))
        text = str(
            wanted.compile(self._connection, compile_kwargs={"literal_binds": True})
        )  # nothing but numbers is asked for
        self._look()
        cursor = self._dialect.cursor(self._connection)
        self._streams.append(cursor)
        cursor.execute(text)
        while part := cursor.fetchmany(PART):
            yield list(map(_answer_row, part))
            self._look()
        cursor.close()

    def journal(
        self,
        study: int,
        *,
        kinds: Collection[str] | None = None,
        but: Collection[str] = (),
        item: str | None = None,
        actor: str | None = None,
        after: int = 0,
        until: int | None = None,
    ) -> Iterator[Entry]:
        """Entries in the order of happening."""
        some = None if kinds is None else tuple(sorted({findable(kind) for kind in kinds}))
        wanted = entries_after(
            some,
            tuple(sorted(but)),
            of_item=item is not None,
            by_actor=actor is not None,
            ends=until is not None,
        )
        asked: dict[str, Any] = {"study": study, "until": until}
        asked |= {"item": findable(item or ""), "actor": findable(actor or "")}
        full = True
        while full:  # most are a few: numbers go on where a cursor would have to be kept
            self._look()
            part = self._all(wanted, rows.entry_record, asked | {"after": after})
            yield from part
            full = len(part) == BATCH
            after = part[-1].number if full else after

    def lines(
        self,
        study: int,
        sought: Sought,
        *,
        start: Entry | None = None,
        newest_first: bool = False,
        limit: int,
    ) -> list[Entry]:
        """The next lines of the audit log after ``start``: of the journal, and ratings, by time."""
        log = Log(self._connection, self._dialect, study, sought)
        return log.page(start, newest_first=newest_first, limit=limit)

    def count_lines(self, study: int, sought: Sought) -> int:
        """How many lines of the audit log there are."""
        return Log(self._connection, self._dialect, study, sought).count()

    def listed(self, names: Collection[str]) -> Any:
        """Names as statements ask for any of them; those that cannot be kept are left out."""
        return self._dialect.listed(sorted({name for name in names if findable(name) == name}))

    def _all(
        self,
        wanted: Select[Any] | ReturningUpdate[Any],
        record: Callable[[rows.Row], R],
        asked: Asked = None,
    ) -> list[R]:
        if asked is None:
            return [record(tuple(row)) for row in self._connection.execute(wanted).all()]
        return [record(row) for row in fetched(self._connection, wanted, asked)]

    def _one(
        self,
        wanted: Select[Any] | ReturningUpdate[Any],
        record: Callable[[rows.Row], R],
        asked: Asked = None,
    ) -> R | None:
        if asked is not None:
            found = fetched(self._connection, wanted, asked)
            return record(found[0]) if found else None
        row = self._connection.execute(wanted).first()
        return None if row is None else record(tuple(row))

    def _stream(
        self, wanted: Select[Any], record: Callable[[rows.Row], R], asked: Asked = None
    ) -> Iterator[R]:
        for part in self._parts(wanted, BATCH, asked):
            for row in part:
                yield record(row)

    def _parts(
        self, wanted: Select[Any], size: int, asked: Asked = None
    ) -> Iterator[Sequence[rows.Row]]:
        """Rows a part at a time; the database keeps the rest until it is asked for."""
        self._look()
        options = {"stream_results": True, "max_row_buffer": size}
        result = self._connection.execute(wanted, asked, execution_options=options)
        self._streams.append(result)
        for part in result.partitions(size):
            yield part
            self._look()
        self._streams.remove(result)

    def _look(self) -> None:
        if self._ended:
            raise StoreError("what a transaction reads is read before it ends; make a list of it")
