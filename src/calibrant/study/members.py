"""Who takes part: people, judges and checks, and what becomes of their work when they leave."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibrant.core.errors import StudyError
from calibrant.core.ids import NAME_RULE, canonical, read_name
from calibrant.core.plan import Placed, reassigned
from calibrant.core.rating import RATER_KINDS, RaterKind
from calibrant.core.study import ROLES, Assignment, Key, Member, Role, Round
from calibrant.ports.store import Reading, Writing
from calibrant.study.session import Session, find_member, member_named, reason_of, verb
from calibrant.study.sight import raters_of


@verb("lead", shows="nothing")
def add_member(
    session: Session,
    name: str,
    *,
    kind: RaterKind = "HUMAN",
    roles: Sequence[Role] = ("reviewer",),
    group: str | None = None,
    card: Mapping[str, Any] | None = None,
) -> Member:
    """A person with a kind of their own (adviser, annotator), a judge or a check.

    Judges and checks need a card: everything that shapes what they say.
    """
    named = read_name(name)
    if not named:
        raise StudyError(f"the name of a member {NAME_RULE}")
    if kind not in RATER_KINDS or not roles or not set(roles) <= set(ROLES):
        raise StudyError(f"kinds are {', '.join(RATER_KINDS)}; roles are {', '.join(ROLES)}")
    if (kind == "HUMAN") != (card is None):
        raise StudyError("judges and checks have a card, people have none")
    if kind != "HUMAN" and set(roles) != {"reviewer"}:
        raise StudyError(f"{kind} members rate; only people lead, adjudicate or view")
    member = Member(
        name=named,
        kind=kind,
        roles=tuple(role for role in ROLES if role in roles),
        group=group,
        card=None if card is None else canonical(card),
        joined_at=session.now(),
    )

    def work(tx: Writing) -> None:
        if find_member(tx, session, named) is not None:
            raise StudyError(f"{named!r} is a member already")
        tx.add_member(session.number, member)
        body = {"name": named, "kind": kind, "roles": list(member.roles), "group": group}
        tx.log(session.number, [session.entry("member", body=body)])

    session.alone(work)
    return member


@verb("lead", shows="nothing")
def set_roles(session: Session, name: str, roles: Sequence[Role]) -> None:
    """Somebody gets other roles; a study always keeps a lead."""

    def work(tx: Writing) -> None:
        member = member_named(tx, session, name)
        others = [one for one in tx.members(session.number) if one.name != name]
        if not set(roles) <= set(ROLES) or not roles:
            raise StudyError(f"roles are {', '.join(ROLES)}")
        if member.kind != "HUMAN":
            raise StudyError(f"{name!r} is a {member.kind} rater and stays one")
        if "lead" not in roles and not any(_leads(one) for one in others):
            raise StudyError(f"{name!r} is the only lead: name another first")
        if "reviewer" in member.roles and "reviewer" not in roles:
            _need_idle(tx, session, name)
        tx.set_member_roles(session.number, name, [one for one in ROLES if one in roles])
        body = {"name": name, "roles": list(roles), "before": list(member.roles)}
        tx.log(session.number, [session.entry("roles", body=body)])

    session.alone(work)


def _need_idle(tx: Reading, session: Session, name: str) -> None:
    """Somebody has nothing to rate, now or in a round to come; raises ``StudyError``."""
    ahead = sum(1 for _ in tx.assignments(session.number, rater=name, state="open"))
    if ahead:
        raise StudyError(
            f"{name!r} has {ahead:,} assignments to do, which nobody else would get: let them "
            "finish or leave first, or close the round"
        )


def _leads(member: Member) -> bool:
    return "lead" in member.roles and member.left_at is None


@dataclass(frozen=True, slots=True)
class Handover:
    """What became of the work of somebody who left."""

    moved: Mapping[str, int]
    """How many assignments each of the others took over."""
    left_over: tuple[str, ...]
    """Items that nobody else can take: all others rate them already."""


@dataclass(frozen=True, slots=True)
class _Moving:
    """What a round's open assignments of a leaver become."""

    round: int
    undone: list[Assignment]
    placed: list[Placed]
    nobody: list[str]


@verb("lead", shows="nothing")
def leave(session: Session, name: str, *, reason: str, dry_run: bool = False) -> Handover:
    """Somebody leaves: their ratings stay, their open assignments go to the others.

    With ``dry_run`` they stay, and nothing but what would become of their work is told.
    """
    why = "" if dry_run else reason_of(reason, "leaving")

    def look(tx: Reading) -> list[_Moving]:
        member = member_named(tx, session, name)
        others = [one for one in tx.members(session.number) if one.name != name]
        if member.left_at is not None:
            raise StudyError(f"{name!r} has left already")
        if _leads(member) and not any(_leads(one) for one in others):
            raise StudyError(f"{name!r} is the only lead: name another first")
        return list(_moving(tx, session, member))

    def work(tx: Writing) -> Handover:
        moving = look(tx)
        for one in moving:
            tx.set_assignment_state(session.number, [each.key for each in one.undone], "withdrawn")
            tx.add_assignments(session.number, (assigned(one.round, each) for each in one.placed))
        handover = _handover(moving)
        tx.set_member_left(session.number, name, session.now())
        body = {"name": name, "moved": dict(handover.moved), "left_over": len(handover.left_over)}
        tx.log(session.number, [session.entry("left", body=body, words={"reason": why})])
        return handover

    return _handover(session.store.read(look)) if dry_run else session.alone(work)


def _handover(moving: Sequence[_Moving]) -> Handover:
    moved = Counter(each.rater for one in moving for each in one.placed)
    left_over = dict.fromkeys(item for one in moving for item in one.nobody)
    return Handover(dict(moved), tuple(left_over))


def _moving(tx: Reading, session: Session, leaver: Member) -> Iterator[_Moving]:
    panel = [one.name for one in raters_of(tx.members(session.number)) if one.kind == leaver.kind]
    for round in tx.rounds(session.number):
        if round.state == "closed":
            continue
        theirs = list(tx.assignments(session.number, round=round.number, rater=leaver.name))
        undone = [one for one in theirs if one.state == "open"]
        if not undone:
            continue
        looked = _looked_on(tx, session, round)
        others = [one for one in panel if one != leaver.name and one not in looked]
        placed, nobody = _taken_over(tx, session, round.number, undone, others)
        yield _Moving(round.number, undone, placed, nobody)


def _looked_on(tx: Reading, session: Session, round: Round) -> set[str]:
    """Who led and did not rate at some time since a round opened: they could see its answers."""
    if round.opened_at is None:
        return set()
    return {
        str(one.body["name"])
        for one in tx.journal(session.number, kinds=("roles",))
        if one.at >= round.opened_at
        and "lead" in one.body["before"]
        and "reviewer" not in one.body["before"]
    }


def _taken_over(
    tx: Reading, session: Session, round: int, undone: list[Assignment], others: list[str]
) -> tuple[list[Placed], list[str]]:
    rating: dict[str, set[str]] = defaultdict(set)
    loads: Counter[str] = Counter()
    last: dict[str, int] = defaultdict(int)
    for one in tx.assignments(session.number, round=round):
        rating[one.key.item].add(one.key.rater)
        loads[one.key.rater] += one.state == "open"
        last[one.key.rater] = max(last[one.key.rater], one.position)
    return reassigned(
        [(one.key.item, one.key.occasion) for one in undone],
        rating,
        others,
        loads={name: loads[name] for name in others},
        seed=session.record.seed,
        first_position={name: last[name] + 1 for name in others},
    )


def assigned(round: int, placed: Placed) -> Assignment:
    """A place in the plan as an assignment of a round."""
    key = Key(round=round, item=placed.item, rater=placed.rater, occasion=placed.occasion)
    return Assignment(key=key, position=placed.position)


@verb("lead", "reviewer", "adjudicator", "viewer", shows="nothing")
def members(session: Session) -> list[Member]:
    """Who takes part. Raters are told of nobody but themselves and the leads."""

    def work(tx: Reading) -> list[Member]:
        everybody = tx.members(session.number)
        me = member_named(tx, session, session.actor)
        if "lead" in me.roles:
            return everybody
        return [one for one in everybody if one.name == me.name or "lead" in one.roles]

    return session.store.read(work)
