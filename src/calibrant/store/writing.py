"""Writing the store within one transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    Select,
    Table,
    Text,
    Update,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from calibrant.core.errors import Doubled, StoreError, VersionError
from calibrant.core.study import (
    Assignment,
    AssignmentState,
    Draft,
    Entry,
    ItemRecord,
    Key,
    Member,
    Rating,
    Round,
    RubricRecord,
    StudyRecord,
)
from calibrant.ports.store import AnswerRow
from calibrant.store import rows, schema
from calibrant.store.dialect import Among, Dialect, refusal
from calibrant.store.reading import KEY, SqlReading, at, bound
from calibrant.store.rows import answer_row
from calibrant.store.trouble import driver_error, is_refused_row

T = TypeVar("T")


class SqlWriting(SqlReading):
    """What can be written while one transaction lasts.

    A record that is refused leaves the transaction as it was before it, so work may go on.
    """

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        super().__init__(connection, dialect)
        self.redacted = False
        """Whether words were emptied."""
        self.loaded: Counter[str] = Counter()
        """How many rows were added, by table."""

    @property
    def connection(self) -> Connection:
        """On which the transaction runs: for the store's own tables beside those of studies."""
        return self._connection

    def apart(self, work: Callable[[Any], T]) -> T:
        """Run work so that it leaves nothing where it raises, and the transaction goes on."""
        saved = self._connection.begin_nested()
        try:
            result = work(self)
        except BaseException:
            saved.rollback()  # where this fails too, the transaction is gone
            raise
        self.end()
        saved.commit()
        return result

    def add_study(self, record: StudyRecord) -> int:
        """A study of a name that is free; its number."""
        row = rows.study_row(record)
        statement = schema.study.insert().values(row).returning(schema.study.c.id)
        with self._whole(), self._telling(schema.study, tuple(row.values())):
            return int(self._connection.execute(statement).scalar_one())

    def hold_study(self, study: int, *, alone: bool) -> None:
        """Keep others from writing to a study alone, or at all, until the transaction ends."""
        self._dialect.hold(self._connection, study, alone=alone)

    def add_rubric(self, record: RubricRecord) -> None:
        """A version; raises ``VersionError`` where its number stands for another content."""
        if self._has_rubric(record):
            return
        last = select(func.max(schema.rubric.c.position)).where(schema.rubric.c.id == record.id)
        row = rows.rubric_row(record, (self._connection.execute(last).scalar() or 0) + 1)
        try:
            self._load(schema.rubric, [row])
        except Doubled:  # somebody else was adding it
            if not self._has_rubric(record):
                raise

    def add_items(self, study: int, items: Iterable[ItemRecord]) -> int:
        """Items of ids that are free, loaded in bulk; how many."""
        return self._load(schema.item, (rows.item_row(study, item) for item in items))

    def redact_item(self, study: int, id: str) -> None:
        """Empty every word of an item: content, source, drafts, words of ratings and entries."""
        item, draft = schema.item, schema.draft
        this = (item.c.study == study, item.c.id == rows.named(id, "item"))
        found = self._connection.execute(
            update(item).where(*this).values(content=None, source=None)
        )
        if not found.rowcount:
            raise StoreError(f"there is no item {id}")
        self._connection.execute(delete(draft).where(draft.c.study == study, draft.c.item == id))
        for table in (schema.rating, schema.journal):
            of_it = (table.c.study == study, table.c.item == id, table.c.words.is_not(None))
            self._connection.execute(update(table).where(*of_it).values(words=None))
        self.redacted = True

    def add_member(self, study: int, member: Member) -> None:
        """Somebody of a name that is free."""
        self._lock(study)
        table = schema.member
        last = select(func.max(table.c.position)).where(table.c.study == study)
        position = (self._connection.execute(last).scalar() or 0) + 1
        self._load(table, [rows.member_row(study, member, position)])

    def set_member_left(self, study: int, name: str, at: str | None) -> None:
        """Somebody leaves, or comes back."""
        self._set_member(study, name, left_at=at)

    def set_member_roles(self, study: int, name: str, roles: Sequence[str]) -> None:
        """Somebody gets other roles."""
        self._set_member(study, name, roles=rows.document(list(roles)))

    def add_round(self, study: int, round: Round) -> None:
        """A round of the next number."""
        self._lock(study)
        table = schema.round
        last = select(func.max(table.c.number)).where(table.c.study == study)
        following = (self._connection.execute(last).scalar() or 0) + 1
        if round.number > following:
            raise StoreError(f"round {round.number}: the next round is number {following}")
        self._load(table, [rows.round_row(study, round)])

    def hold_round(self, study: int, number: int) -> Round | None:
        """One round, which stays as it is until the transaction ends."""
        found = self._connection.execute(_held_round(), {"study": study, "number": number})
        row = found.first()
        return None if row is None else rows.round_record(tuple(row))

    def set_round_state(self, study: int, number: int, state: str, at: str) -> None:
        """A round is opened or closed."""
        table = schema.round
        times: dict[str, dict[str, str | None]] = {
            "open": {"opened_at": at, "closed_at": None},
            "closed": {"closed_at": at},
        }
        values = {"state": state, **times.get(state, {})}
        this = (table.c.study == study, table.c.number == number)
        with self._whole(), self._telling(table, (study, number)):
            found = self._connection.execute(update(table).where(*this).values(values))
        if not found.rowcount:
            raise StoreError(f"there is no round {number}")

    def add_assignments(self, study: int, assignments: Iterable[Assignment]) -> int:
        """Assignments of keys that are free, loaded in bulk; how many."""
        return self._load(schema.assignment, (rows.assignment_row(study, a) for a in assignments))

    def hold_assignment(self, study: int, key: Key) -> Assignment | None:
        """One assignment, which nobody else changes until the transaction ends."""
        row = self._connection.execute(_held_assignment(), bound(study, key)).first()
        return None if row is None else rows.assignment_record(tuple(row))

    def hold_assignments(self, study: int, keys: Collection[Key]) -> list[Assignment]:
        """Those of these that there are, locked by round, rater, occasion and item."""
        held = _held_together(self._dialect.among)
        found = [
            self._all(held, rows.assignment_record, some) for some in self._together(study, keys)
        ]
        return [one for some in found for one in some]

    def lease(
        self,
        study: int,
        *,
        rater: str,
        token: str,
        now: str,
        until: str,
        limit: int = 1,
        key: Key | None = None,
    ) -> list[Assignment]:
        """Take open assignments of open rounds, by round and position, for a while.

        Rows that somebody else is taking at this moment are passed over, not waited for.
        """
        asked: dict[str, Any] = {"study": study, "rater": rater, "now": now}
        asked |= {"token": rows.named(token, "lease")}
        asked |= bound(study, key) if key is not None else {}
        rounds = list(self._connection.execute(_open_rounds(), asked).scalars())
        held: list[Assignment] = []
        for which, number in product(("held", "free"), rounds):
            if len(held) < limit:
                wanted = _takeable(which, keyed=key is not None)
                some = asked | {"number": number, "most": limit - len(held)}
                held += self._all(wanted, rows.assignment_record, some)
        leasing = _leasing(self._dialect.among)
        for some in self._together(study, [one.key for one in held]):
            self._connection.execute(leasing, some | {"_token": token, "_until": until})
        return [replace(one, lease=token, leased_until=until) for one in held]

    def release(self, study: int, key: Key, token: str) -> bool:
        """Give a lease back; False where this token does not hold it."""
        table = schema.assignment
        this = (at(table), table.c.lease == rows.named(token, "lease"))
        given = update(table).where(*this).values(lease=None, leased_until=None)
        return self._connection.execute(given, bound(study, key)).rowcount == 1

    def set_assignment_state(
        self, study: int, keys: Collection[Key], state: AssignmentState
    ) -> int:
        """Mark assignments, ending their leases and raising their versions; how many."""
        if not keys:
            return 0
        marking = _marking(self._dialect.among)
        with self._whole(), self._telling(schema.assignment, ()):
            return sum(
                self._connection.execute(marking, some | {"_state": state}).rowcount
                for some in self._together(study, keys)
            )

    def save_draft(self, study: int, draft: Draft) -> None:
        """Keep a draft in the place of the one before, and its version as the assignment's."""
        table = schema.assignment
        raised = update(table).where(at(table)).values(version=draft.version)
        row = rows.without_nul(rows.draft_row(study, draft))
        if not self._connection.execute(raised, bound(study, draft.key)).rowcount:
            raise StoreError(f"there is no {rows.described('assignment', row)}")
        self.drop_draft(study, draft.key)
        self._load(schema.draft, [row])

    def drop_draft(self, study: int, key: Key) -> None:
        """Forget a draft."""
        this = delete(schema.draft).where(at(schema.draft))
        self._connection.execute(this, bound(study, key))

    def drop_drafts(self, study: int, keys: Collection[Key]) -> None:
        """Forget several."""
        raters = sorted({key.rater for key in keys})
        gone = set(keys)
        saved = [one.key for rater in raters for one in self.drafts(study, rater)]
        for key in saved:
            if key in gone:
                self.drop_draft(study, key)

    def add_ratings(self, study: int, ratings: Iterable[Rating]) -> int:
        """Append ratings, loaded in bulk; how many.

        Raises ``Doubled`` where a key and revision, or a request, is there already.
        """
        return self._load(schema.rating, (rows.rating_row(study, rating) for rating in ratings))

    def add_answer_rows(self, study: int, rows: Iterable[AnswerRow]) -> int:
        """Append ratings without words that come from a table, loaded in bulk; how many.

        Their requests are made from their keys, so that the same table twice is ``Doubled``.
        """
        hashes = dict(self.item_keys(study))
        return self._load(
            schema.rating, (answer_row(study, row, hashes.get(row.item, "")) for row in rows)
        )

    def log(self, study: int, entries: Iterable[Entry]) -> None:
        """Append entries to the journal, numbered on from the last one."""
        self._lock(study)
        table = schema.journal
        asked = select(func.max(table.c.number)).where(table.c.study == study)
        last = self._connection.execute(asked).scalar() or 0
        numbered = enumerate(entries, last + 1)
        self._load(table, (rows.entry_row(study, number, entry) for number, entry in numbered))

    def _together(self, study: int, keys: Collection[Key]) -> Iterator[dict[str, Any]]:
        """Keys as statements ask for them: of a round, a rater and an occasion all at once."""
        alike: defaultdict[tuple[int, str, int], list[Key]] = defaultdict(list)
        for key in keys:
            alike[key.round, key.rater, key.occasion].append(key)
        for same in sorted(alike):
            asked = bound(study, alike[same][0])
            del asked["_item"]
            yield asked | {"_items": self.listed([key.item for key in alike[same]])}

    def _lock(self, study: int) -> None:
        """Let nobody else number anything in this study until the transaction ends."""
        table = schema.study
        this = select(table.c.id).where(table.c.id == study).with_for_update(key_share=True)
        if self._connection.execute(this).first() is None:
            raise StoreError(f"there is no study number {study}")

    def _load(self, table: Table, rows: Iterable[rows.Row]) -> int:
        with self._whole():
            count = self._dialect.load(self._connection, table, rows)
        self.loaded[table.name] += count
        return count

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """All of it, or none of it and the transaction as it was."""
        saved = self._connection.begin_nested()
        try:
            yield
        except BaseException:
            with suppress(SQLAlchemyError):  # nothing to roll back to where the connection is gone
                saved.rollback()
            raise
        saved.commit()

    @contextmanager
    def _telling(self, table: Table, row: rows.Row) -> Iterator[None]:
        """Say of a refused row what is wrong with it."""
        try:
            yield
        except (SQLAlchemyError, OverflowError, UnicodeEncodeError) as error:
            if is_refused_row(error):
                raise refusal(driver_error(error), table, row) from error
            raise

    def _has_rubric(self, record: RubricRecord) -> bool:
        """Whether this version is there; raises where its number is another content's."""
        table = schema.rubric
        numbered = (table.c.id == record.id) & (table.c.version == record.version)
        wanted = select(table.c.hash).where(or_(table.c.hash == record.hash, numbered))
        found = set(self._connection.execute(wanted).scalars())
        if found and record.hash not in found:
            raise VersionError(
                f"rubric {record.id} {record.version} is kept with another content; "
                "a changed rubric gets a new version"
            )
        return bool(found)

    def _set_member(self, study: int, name: str, **values: object) -> None:
        table = schema.member
        this = (table.c.study == study, table.c.name == rows.named(name, "member"))
        if not self._connection.execute(update(table).where(*this).values(values)).rowcount:
            raise StoreError(f"there is no member {name}")


@cache
def _open_rounds() -> Select[Any]:
    table = schema.round
    this = (table.c.study == bindparam("study"), table.c.state == "open")
    return select(table.c.number).where(*this).order_by(table.c.number)


@cache
def _held_round() -> Select[Any]:
    table = schema.round
    this = (table.c.study == bindparam("study"), table.c.number == bindparam("number"))
    return select(table).where(*this).with_for_update(read=True)


@cache
def _held_assignment() -> Select[Any]:
    return select(schema.assignment).where(at(schema.assignment)).with_for_update()


def _at_all(among: Among) -> list[ColumnElement[bool]]:
    """The assignments of keys that are asked for together."""
    table = schema.assignment
    same = [table.c[name] == bindparam(f"_{name}") for name in KEY if name != "item"]
    return [*same, among(table.c.item, "_items")]


@cache
def _held_together(among: Among) -> Select[Any]:
    table = schema.assignment
    return select(table).where(*_at_all(among)).order_by(table.c.item).with_for_update()


@cache
def _takeable(which: str, *, keyed: bool) -> Select[Any]:
    """Open assignments of a round: those a token holds, or those that nobody else does.

    Each way has an index that gives them by position, so that the first ones are found without
    looking at the rest. What others are taking at this moment is passed over.
    """
    table, token = schema.assignment, bindparam("token", type_=Text)
    wanted = select(table).where(
        table.c.study == bindparam("study"),
        table.c.rater == bindparam("rater"),
        table.c.state == "open",
        table.c.round == bindparam("number"),
    )
    if which == "held":
        wanted = wanted.where(table.c.lease == token)
    else:
        over = (table.c.lease != token) & (table.c.leased_until <= bindparam("now"))
        wanted = wanted.where(or_(table.c.lease.is_(None), over))
    if keyed:
        wanted = wanted.where(at(table))
    wanted = wanted.order_by(table.c.position).limit(bindparam("most", type_=Integer))
    return wanted.with_for_update(skip_locked=True)


@cache
def _leasing(among: Among) -> Update:
    values: dict[str, Any] = {"lease": bindparam("_token"), "leased_until": bindparam("_until")}
    return update(schema.assignment).where(*_at_all(among)).values(values)


@cache
def _marking(among: Among) -> Update:
    table = schema.assignment
    values: dict[str, Any] = {
        "lease": None,
        "leased_until": None,
        "version": table.c.version + 1,
    }
    return update(table).where(*_at_all(among)).values(state=bindparam("_state"), **values)
