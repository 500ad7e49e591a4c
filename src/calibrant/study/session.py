"""Who acts in which study, and which verbs are theirs.

Every verb of a study is registered here with the roles that may use it and with what it can show
of ratings. A test walks the register: a verb that nobody has classified fails it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, TypeAlias, TypeVar, cast

from calibrant.core.errors import Refused, StudyError, UnknownName
from calibrant.core.rubric import Rubric
from calibrant.core.study import Entry, Member, Role, Round, StudyRecord, time_text
from calibrant.ports.clock import Clock
from calibrant.ports.store import Reading, Store, Writing

Shows: TypeAlias = Literal["nothing", "own", "seen", "all"]
"""What of ratings a verb can show: none; the actor's own; what they may see by now; everything."""
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Session:
    """A study, and the person, judge or check that acts in it."""

    store: Store
    number: int
    record: StudyRecord
    actor: str
    clock: Clock

    @property
    def name(self) -> str:
        """Of the study."""
        return self.record.name

    def now(self) -> str:
        """The present moment, as records keep it."""
        return time_text(self.clock())

    def alone(self, work: Callable[[Writing], T]) -> T:
        """Write with nobody else writing to this study: for moves that rest on what they read."""

        def act(tx: Writing) -> T:
            tx.hold_study(self.number, alone=True)
            return work(tx)

        return self.store.write(act)

    def among(self, work: Callable[[Writing], T]) -> T:
        """Write beside others who do the same, and while nobody writes alone."""

        def act(tx: Writing) -> T:
            tx.hold_study(self.number, alone=False)
            return work(tx)

        return self.store.write(act)

    def entry(self, kind: str, **fields: Any) -> Entry:
        """A line of the journal by this actor, now."""
        return Entry(kind=kind, actor=self.actor, at=self.now(), **fields)


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of studies: who may use it, and what it can show of ratings."""

    name: str
    roles: tuple[Role, ...]
    shows: Shows


VERBS: dict[str, Verb] = {}


def verb(*roles: Role, shows: Shows) -> Callable[[F], F]:
    """Register a verb; whoever has none of its roles is refused before anything happens."""

    def register(work: F) -> F:
        VERBS[work.__name__] = Verb(work.__name__, roles, shows)

        @wraps(work)
        def run(session: Session, *args: Any, **named: Any) -> Any:
            require(session, *roles)
            return work(session, *args, **named)

        return cast("F", run)

    return register


def require(session: Session, *roles: Role) -> Member:
    """The actor, who has one of these roles; raises ``Refused``."""
    member = session.store.read(lambda tx: find_member(tx, session, session.actor))
    if member is None or member.left_at is not None:
        raise Refused(f"{session.actor!r} is not a member of study {session.name!r}")
    if not set(roles) & set(member.roles):
        wanted = " or ".join(roles)
        raise Refused(f"{session.actor!r} is {', '.join(member.roles)}: this takes a {wanted}")
    return member


def find_member(tx: Reading, session: Session, name: str) -> Member | None:
    """The member of that name, gone or not."""
    return tx.member(session.number, name)


def member_named(tx: Reading, session: Session, name: str) -> Member:
    """The member of that name; raises ``UnknownName``."""
    found = find_member(tx, session, name)
    if found is None:
        raise UnknownName("member", name, [one.name for one in tx.members(session.number)])
    return found


def round_numbered(tx: Reading, session: Session, number: int) -> Round:
    """The round of that number; raises ``StudyError``."""
    rounds = {one.number: one for one in tx.rounds(session.number)}
    if number not in rounds:
        known = f"there are: {', '.join(map(str, rounds))}" if rounds else "plan one first"
        raise StudyError(f"study {session.name!r} has no round {number}; {known}")
    return rounds[number]


_READ: dict[str, Rubric] = {}


def rubric_of(tx: Reading, hash: str) -> Rubric:
    """The rubric version with that content; versions never change, so each is read once."""
    if hash not in _READ:
        record = tx.rubric(hash)
        if record is None:
            raise StudyError(f"the rubric {hash} is not in this database")
        _READ[hash] = Rubric.model_validate_json(record.document)
    return _READ[hash]


def rubric_text(rubric: Rubric) -> str:
    """The document as the store keeps it."""
    return rubric.model_dump_json(exclude_defaults=True)


def current_rubric(tx: Reading, session: Session) -> Rubric:
    """The version in force: the last one that the study adopted."""
    adopted = list(tx.journal(session.number, kinds=("rubric",)))
    return rubric_of(tx, str(adopted[-1].body["hash"]))


def reason_of(text: str, what: str) -> str:
    """A reason that somebody has to give; raises ``StudyError`` where there is none."""
    if not text.strip():
        raise StudyError(f"{what} needs a few words: say why")
    return text.strip()
