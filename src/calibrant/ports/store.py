"""What a study asks of the place where it is kept.

A store runs *work* in transactions: all of it is committed when ``write`` returns, or none of
it. Work may be run more than once (a database may ask for that), so it must not act on the world
outside the transaction. Nothing is acknowledged before it is committed.

Studies are named by the number that ``add_study`` gives; every other name is unique within its
study. Ratings and entries are appended, never changed; a store refuses anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from calibrant.core.audit import Sought
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

T = TypeVar("T")


class AnswerRow(NamedTuple):
    """A rating as tables need it: answers as the JSON text that is stored."""

    round: int
    item: str
    rater: str
    occasion: int
    revision: int
    rubric: str
    answers: str
    facts: str
    submitted_at: str


class Reading(Protocol):
    """What can be read within one transaction, as of one moment."""

    def studies(self) -> list[tuple[int, StudyRecord]]:
        """All studies, by name."""

    def study(self, name: str) -> tuple[int, StudyRecord] | None:
        """The study of that name."""

    def rubric(self, hash: str) -> RubricRecord | None:
        """The version with that content."""

    def rubrics(self, id: str) -> list[RubricRecord]:
        """All versions of a rubric, in the order of coming in."""

    def count_items(self, study: int) -> int:
        """How many items there are."""

    def item(self, study: int, id: str) -> ItemRecord | None:
        """One item."""

    def items(self, study: int, ids: Collection[str] | None = None) -> Iterator[ItemRecord]:
        """These items, or all, by position; read as they are asked for."""

    def find_items(
        self, study: int, find: str = "", *, start: int, limit: int
    ) -> tuple[list[ItemRecord], int]:
        """A part of the items by position, and how many there are.

        With ``find`` those alone whose id has these signs in it, whatever their case.
        """

    def count_unplaced(self, study: int, rounds: Collection[int]) -> int:
        """How many items nobody was given in these rounds; what was withdrawn does not count."""

    def item_keys(self, study: int) -> list[tuple[str, str]]:
        """Id and hash of every item, by position."""

    def measures(self, study: int) -> dict[str, Mapping[str, int]]:
        """What code counted in each item."""

    def members(self, study: int) -> list[Member]:
        """Everybody, in the order of joining."""

    def member(self, study: int, name: str) -> Member | None:
        """Somebody, gone or not."""

    def rounds(self, study: int) -> list[Round]:
        """All rounds, by number."""

    def assignment(self, study: int, key: Key) -> Assignment | None:
        """One assignment."""

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

    def assignment_rows(self, study: int) -> Iterator[Sequence[tuple[int, str, str, str]]]:
        """Round, item, rater and state of every assignment, in large parts and in no order."""

    def progress(self, study: int) -> list[Progress]:
        """Counts of assignments by round, rater and state."""

    def count_assignments(
        self, study: int, *, rater: str, round: int, state: AssignmentState
    ) -> int:
        """How many assignments of a rater in a round are in a state."""

    def is_assigned(self, study: int, rater: str) -> bool:
        """Whether a rater was ever given anything."""

    def undone_items(self, study: int, rater: str) -> set[str]:
        """Items that a rater was given and has not handed in each time."""

    def coming_again(self, study: int, rater: str) -> set[str]:
        """Items that a rater has rated and has before them for another time."""

    def nearest_open(
        self, study: int, *, rater: str, round: int, position: int, after: bool
    ) -> Key | None:
        """A rater's open assignment in a round that comes next after a position, or before it."""

    def draft(self, study: int, key: Key) -> Draft | None:
        """What is saved of a rating not yet handed in."""

    def drafts(self, study: int, rater: str) -> list[Draft]:
        """All that a rater has saved and not handed in."""

    def rating(self, study: int, key: Key) -> Rating | None:
        """The revision that counts."""

    def rating_by_request(self, study: int, request: str) -> Rating | None:
        """What an act of handing in became."""

    def ratings_by_request(self, study: int, requests: Collection[str]) -> list[Rating]:
        """What these acts of handing in became, as far as they came to anything."""

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

    def latest_ratings(
        self, study: int, rater: str, *, start: int, limit: int
    ) -> tuple[list[Rating], int]:
        """A part of a rater's ratings that count, the latest first, and how many there are.

        Those of items that come again are left out.
        """

    def answer_rows(
        self, study: int, rounds: Collection[int] | None = None
    ) -> Iterator[Sequence[AnswerRow]]:
        """Ratings that count, for tables, in large parts and in no order."""

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
        """Entries in the order of happening, of ``kinds`` or of all ``but`` some.

        They come ``after`` one number, and up to another.
        """

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

    def count_lines(self, study: int, sought: Sought) -> int:
        """How many lines of the audit log there are."""


class Writing(Reading, Protocol):
    """What can be written within one transaction."""

    def add_study(self, record: StudyRecord) -> int:
        """A study of a name that is free; its number."""

    def hold_study(self, study: int, *, alone: bool) -> None:
        """Keep others from writing to a study alone until the transaction ends.

        With ``alone``, from writing to it at all. Asked for before anything else is.
        """

    def add_rubric(self, record: RubricRecord) -> None:
        """A version; raises ``VersionError`` where its number stands for another content.

        The same content twice is one record.
        """

    def add_items(self, study: int, items: Iterable[ItemRecord]) -> int:
        """Items of ids that are free, loaded in bulk; how many."""

    def redact_item(self, study: int, id: str) -> None:
        """Empty every word of an item: content, source, drafts, words of ratings and entries."""

    def add_member(self, study: int, member: Member) -> None:
        """Somebody of a name that is free."""

    def set_member_left(self, study: int, name: str, at: str | None) -> None:
        """Somebody leaves, or comes back."""

    def set_member_roles(self, study: int, name: str, roles: Sequence[str]) -> None:
        """Somebody gets other roles."""

    def add_round(self, study: int, round: Round) -> None:
        """A round of the next number."""

    def hold_round(self, study: int, number: int) -> Round | None:
        """One round, which stays as it is until the transaction ends."""

    def set_round_state(self, study: int, number: int, state: str, at: str) -> None:
        """A round is opened or closed."""

    def add_assignments(self, study: int, assignments: Iterable[Assignment]) -> int:
        """Assignments of keys that are free, loaded in bulk; how many."""

    def hold_assignment(self, study: int, key: Key) -> Assignment | None:
        """One assignment, which nobody else changes until the transaction ends."""

    def hold_assignments(self, study: int, keys: Collection[Key]) -> list[Assignment]:
        """Those of these that there are; nobody else changes them until the transaction ends."""

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

        Those that this token holds already come first, with their time made longer; those that
        another token holds and whose time is not over are passed over. ``key`` asks for that one
        alone. Two callers at once never get the same one, and neither waits for the other longer
        than its transaction takes.
        """

    def release(self, study: int, key: Key, token: str) -> bool:
        """Give a lease back; False where this token does not hold it."""

    def set_assignment_state(
        self, study: int, keys: Collection[Key], state: AssignmentState
    ) -> int:
        """Mark assignments, ending their leases and raising their versions; how many."""

    def keep_draft(self, study: int, draft: Draft, *, token: str, now: str, until: str) -> bool:
        """Lease an assignment and save its next draft at one stroke.

        The version of the draft is one above that of the assignment, which is open, in an open
        round and not held by another token; where any of it is not so, nothing is done: False.
        """

    def drop_draft(self, study: int, key: Key) -> None:
        """Forget a draft."""

    def drop_drafts(self, study: int, keys: Collection[Key]) -> None:
        """Forget several."""

    def add_ratings(self, study: int, ratings: Iterable[Rating]) -> int:
        """Append ratings, loaded in bulk; how many.

        Raises ``Doubled`` where a key and revision, or a request, is there already.
        """

    def add_answer_rows(self, study: int, rows: Iterable[AnswerRow]) -> int:
        """Append ratings without words that come from a table, loaded in bulk; how many.

        Their requests are made from their keys, so that the same table twice is ``Doubled``.
        """

    def log(self, study: int, entries: Iterable[Entry]) -> None:
        """Append entries to the journal; the store numbers them."""


class Store(Protocol):
    """A place where studies are kept."""

    @property
    def place(self) -> str:
        """Where it is, fit to be printed: a path, or an address without its password."""

    def read(self, work: Callable[[Reading], T]) -> T:
        """Run work that only reads, all of it as of one moment."""

    def write(self, work: Callable[[Writing], T]) -> T:
        """Run work in one transaction; when this returns, it is committed and durable.

        Trouble that passes (a lock, a server that restarts) is waited out and the work run again;
        what lasts raises ``StoreError`` with a sentence on what to do.
        """

    def doctor(self) -> list[str]:
        """Whether everything is in order: one sentence for each thing that is not."""

    def backup(self, path: Any) -> None:
        """A consistent copy of the whole database into a file, while others go on writing."""

    def close(self) -> None:
        """Let go of it."""
