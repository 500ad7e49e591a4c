"""Begin a study, or enter one."""

from __future__ import annotations

from datetime import date

from calibrant.core.errors import StudyError, UnknownName
from calibrant.core.ids import NAME_RULE, read_name
from calibrant.core.rubric import Rubric
from calibrant.core.study import Entry, Member, RubricRecord, StudyRecord, time_text
from calibrant.ports.clock import Clock
from calibrant.ports.store import Reading, Store, Writing
from calibrant.study.session import Session, rubric_text
from calibrant.study.sight import MASK_KEY


def create(
    store: Store,
    name: str,
    rubric: Rubric,
    *,
    lead: str,
    clock: Clock,
    start_on: date | None = None,
    title: str = "",
    seed: int = 0,
    mask_key: str | None = None,
) -> Session:
    """A new study led by ``lead``; week 1 begins on ``start_on``, today unless said otherwise.

    ``mask_key``, drawn by chance, keeps anybody from working out who is behind a mask.
    """
    named, leading = _name(name, "study"), _name(lead, "lead")
    now = clock()
    record = StudyRecord(
        name=named,
        title=title.strip() or named,
        rubric_id=rubric.id,
        item_type=rubric.item_type,
        start_on=(start_on or now.date()).isoformat(),
        seed=seed,
        created_at=time_text(now),
    )

    def work(tx: Writing) -> int:
        if tx.study(record.name) is not None:
            raise StudyError(f"there is a study {record.name!r} already; choose another name")
        tx.add_rubric(rubric_record(rubric, record.created_at))
        number = tx.add_study(record)
        member = Member(name=leading, kind="HUMAN", roles=("lead",), joined_at=record.created_at)
        tx.add_member(number, member)
        body = {"rubric": rubric.name} | ({MASK_KEY: mask_key} if mask_key else {})
        began = Entry(kind="study", actor=leading, at=record.created_at, body=body)
        tx.log(number, [began, adoption(rubric, leading, record.created_at)])
        return number

    return Session(store, store.write(work), record, leading, clock)


def enter(store: Store, name: str, *, actor: str | None, clock: Clock) -> Session:
    """The study of that name, for ``actor``; unless one is named, the first lead still there."""

    def work(tx: Reading) -> tuple[int, StudyRecord, str]:
        found = tx.study(name)
        if found is None:
            known = [record.name for _, record in tx.studies()]
            raise UnknownName("study", name, known)
        number, record = found
        return number, record, actor or _lead(tx, number, record)

    number, record, acting = store.read(work)
    return Session(store, number, record, acting, clock)


def _lead(tx: Reading, number: int, record: StudyRecord) -> str:
    for one in tx.members(number):
        if "lead" in one.roles and one.left_at is None:
            return one.name
    raise StudyError(f"nobody leads study {record.name!r} by now: say who acts")


def names(store: Store) -> list[str]:
    """The studies of a store."""
    return [record.name for _, record in store.read(lambda tx: tx.studies())]


def rubric_record(rubric: Rubric, at: str) -> RubricRecord:
    """A version as the store keeps it."""
    return RubricRecord(
        hash=rubric.hash,
        id=rubric.id,
        version=rubric.version,
        document=rubric_text(rubric),
        added_at=at,
    )


def adoption(rubric: Rubric, actor: str, at: str, **more: object) -> Entry:
    """The entry that puts a version in force."""
    body = {"hash": rubric.hash, "version": rubric.version, **more}
    return Entry(kind="rubric", actor=actor, at=at, body=body)


def _name(raw: str, what: str) -> str:
    name = read_name(raw)
    if not name:
        raise StudyError(f"the name of a {what} {NAME_RULE}")
    return name
