"""Writing the store within one transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import product
from typing import Any, TypeVar

from sqlalchemy import (
    Connection,
    Table,
    delete,
    func,
    or_,
    select,
    update,
)

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
from calibrant.store import rows, schema, statements
from calibrant.store.dialect import Dialect, refusal
from calibrant.store.lookups import at, bound
from calibrant.store.quick import changed, fetched, told
from calibrant.store.reading import SqlReading
from calibrant.store.rows import answer_row
from calibrant.store.trouble import driver_error, is_refused_row, is_trouble

T = TypeVar("T")
_APART = "calibrant_apart"


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
        self._depth = 0
        """How many parts of the work must each be whole at this moment, one within the other."""

    @property
    def connection(self) -> Connection:
        """On which the transaction runs: for the store's own tables beside those of studies."""
        return self._connection

    def apart(self, work: Callable[[Any], T]) -> T:
        """Run work so that it leaves nothing where it raises, and the transaction goes on."""
        told(self._connection, f"SAVEPOINT {_APART}")
        try:
            result = work(self)
            self.end()
        except BaseException as error:
            try:
                told(self._connection, f"ROLLBACK TO SAVEPOINT {_APART}")
            except Exception as gone:  # the whole transaction is, which must not pass unheard
                raise (error if is_trouble(error) else gone) from error
            raise
        finally:
            self._depth = 0
        told(self._connection, f"RELEASE SAVEPOINT {_APART}")
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
        return self._one(
            statements.held_round(), rows.round_record, {"study": study, "number": number}
        )

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
        return self._one(statements.held_assignment(), rows.assignment_record, bound(study, key))

    def hold_assignments(self, study: int, keys: Collection[Key]) -> list[Assignment]:
        """Those of these that there are, locked by round, rater, occasion and item."""
        held = statements.held_together(self._dialect.among)
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
        if key is not None:
            asked |= bound(study, key) | {"until": until}
            return self._all(statements.taking(), rows.assignment_record, asked)
        rounds = [one for (one,) in fetched(self._connection, statements.open_rounds(), asked)]
        held: list[Assignment] = []
        for which, number in product(("held", "free"), rounds):
            if len(held) < limit:
                wanted = statements.takeable(which)
                some = asked | {"number": number, "most": limit - len(held)}
                held += self._all(wanted, rows.assignment_record, some)
        leasing = statements.leasing(self._dialect.among)
        for some in self._together(study, [one.key for one in held]):
            changed(self._connection, leasing, some | {"_token": token, "_until": until})
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
        marking = statements.marking(self._dialect.among)
        with self._whole(), self._telling(schema.assignment, ()):
            return sum(
                changed(self._connection, marking, some | {"_state": state})
                for some in self._together(study, keys)
            )

    def keep_draft(self, study: int, draft: Draft, *, token: str, now: str, until: str) -> bool:
        """Lease an assignment and save its next draft; False where it is not as it should be."""
        row = rows.without_nul(rows.draft_row(study, draft))
        this = bound(study, draft.key) | {"_version": draft.version, "now": now, "until": until}
        this |= {"token": rows.named(token, "lease")}
        kept = dict(zip(schema.names(schema.draft), row, strict=True))
        with self._whole(single=True), self._telling(schema.draft, row):
            if self._dialect.nests_writing:
                return bool(changed(self._connection, statements.going_on_keeping(), this | kept))
            if not changed(self._connection, statements.going_on(), this):
                return False
            changed(self._connection, statements.keeping(), kept)
        return True

    def drop_draft(self, study: int, key: Key) -> None:
        """Forget a draft."""
        changed(self._connection, statements.dropping(), bound(study, key))

    def drop_drafts(self, study: int, keys: Collection[Key]) -> None:
        """Forget several."""
        if len(keys) == 1:
            self.drop_draft(study, *keys)
            return
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
        last = fetched(self._connection, statements.last_entry(), {"study": study})[0][0] or 0
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
        if not fetched(self._connection, statements.locked_study(), {"study": study}):
            raise StoreError(f"there is no study number {study}")

    def _load(self, table: Table, rows: Iterable[rows.Row]) -> int:
        with self._whole():
            count = self._dialect.load(self._connection, table, rows)
        self.loaded[table.name] += count
        return count

    @contextmanager
    def _whole(self, *, single: bool = False) -> Iterator[None]:
        """All of it, or none of it and the transaction as it was; ``single`` is one statement."""
        if single and self._dialect.goes_on:
            yield
            return
        self._depth += 1
        name = f"calibrant_{self._depth}"
        told(self._connection, f"SAVEPOINT {name}")
        try:
            yield
        except BaseException:
            with suppress(Exception):  # nothing to come back to where the connection is gone
                told(self._connection, f"ROLLBACK TO SAVEPOINT {name}")
                told(self._connection, f"RELEASE SAVEPOINT {name}")
            raise
        else:
            told(self._connection, f"RELEASE SAVEPOINT {name}")
        finally:
            self._depth -= 1

    @contextmanager
    def _telling(self, table: Table, row: rows.Row) -> Iterator[None]:
        """Say of a refused row what is wrong with it."""
        try:
            yield
        except Exception as error:
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
