"""Who takes part in a study, as its lead sees them: members, accounts, invitations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from calibrant.core.account import Link
from calibrant.core.errors import Refused, StudyError
from calibrant.core.ids import NAME_RULE, read_name
from calibrant.core.study import ROLES, Member, Role
from calibrant.study.handle import Study
from calibrant.web.access import Seat, workspace_of
from calibrant.web.workspace import Visitor, Workspace

MOST_AT_ONCE = 200
MOST_GROUP = 60


@dataclass(frozen=True, slots=True)
class Person:
    """A member who is a person."""

    member: Member
    has_account: bool
    link: Link | None
    """An invitation that still lets in."""
    open: int
    """Ratings still to be made, in rounds that are planned or open."""
    done: int


@dataclass(frozen=True, slots=True)
class Machine:
    """A judge or a check."""

    member: Member
    card: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Somebody to be added."""

    name: str
    group: str | None
    roles: tuple[Role, ...]


def panel(workspace: Workspace, study: Study) -> tuple[list[Person], list[Machine]]:
    """People, those who are here first; and judges and checks with their cards."""
    links = {one.account: one for one in workspace.links.waiting(study.number)}
    accounts = workspace.door.means.accounts
    loads: dict[str, list[int]] = {}
    for one in study.progress():
        for name, (done, total) in one.raters.items():
            load = loads.setdefault(name, [0, 0])
            load[0] += done
            load[1] += total - done if one.state != "closed" else 0
    people: list[Person] = []
    machines: list[Machine] = []
    for member in study.members():
        if member.kind != "HUMAN":
            machines.append(Machine(member, json.loads(member.card or "{}")))
            continue
        account = accounts.account(member.name)
        is_open = account is not None and account.closed_at is None
        done, ahead = loads.get(member.name, (0, 0))
        people.append(Person(member, is_open, links.get(member.name), ahead, done))
    people.sort(key=lambda one: one.member.left_at is not None)
    return people, machines


def invitation(request: Request, seat: Seat, name: str) -> str:
    """The address of a new link for somebody.

    A link to a name is a way to be that name in all its studies: an owner may open it to anybody,
    but not by a token that does the work of studies.
    """
    visitor, links = seat.visitor, workspace_of(request).links
    secret = links.invite(name, seat.study.number, by=visitor.name, as_owner=visitor.may_administer)
    return invitation_address(request, secret)


def invitation_address(request: Request, secret: str) -> str:
    """Where a link leads, as the browser that asks has this server.

    Behind a server with HTTPS we are asked by HTTP: a secret must not go out that way.
    """
    scheme = "https" if workspace_of(request).secure else request.url.scheme
    return f"{scheme}://{request.url.netloc}/invite/{secret}"


def reset_address(request: Request, visitor: Visitor, name: str) -> str:
    """The address of a link by which somebody chooses a new password.

    Not for its own account by a token: with the password it would be the account, and stay it.
    """
    if visitor.token is not None and visitor.name == name:
        raise Refused("a new password for your own account is chosen in a browser, by you")
    return invitation_address(request, workspace_of(request).links.reset(name, by=visitor.name))


def take_back_links(workspace: Workspace, seat: Seat, name: str) -> bool:
    """End the invitations of somebody to this study; False where there was none."""
    number, by = seat.study.number, seat.visitor.name
    waiting = [one for one in workspace.links.waiting(number) if one.account == name]
    ended = [workspace.links.take_back(one.hash, number, by=by) for one in waiting]
    return any(ended)


def read_people(text: str) -> tuple[list[Wanted], list[str]]:
    """People from lines ``name, group, roles``; what is wrong with a line is told with its number.

    Of a line, only the name is needed; several roles stand between spaces, slashes or plus signs.
    """
    wanted: list[Wanted] = []
    wrong: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if len(wanted) >= MOST_AT_ONCE:
            wrong.append(f"Line {number}: at most {MOST_AT_ONCE} people at once.")
            break
        try:
            one = _person(line)
        except StudyError as error:
            wrong.append(f"Line {number}: {error}.")
            continue
        if any(one.name == other.name for other in wanted):
            wrong.append(f"Line {number}: {one.name!r} stands on an earlier line already.")
        else:
            wanted.append(one)
    return wanted, wrong


def _person(line: str) -> Wanted:
    parts = [part.strip() for part in line.replace("\t", ",").replace(";", ",").split(",")]
    name = read_name(parts[0])
    if not name:
        raise StudyError(f"a name {NAME_RULE}")
    if len(parts) > 3:
        raise StudyError("a line is: name, group, role")
    group = parts[1] if len(parts) > 1 else ""
    roles = parts[2] if len(parts) > 2 else ""
    if group.lower() in ROLES and not roles:  # "ann, reviewer": the group was left out
        group, roles = "", group
    words = roles.replace("/", " ").replace("+", " ").split() or ["reviewer"]
    return Wanted(name, read_group(group), read_roles(words))


def read_group(text: str) -> str | None:
    """The kind of person, in the lead's own word; None where nothing is said."""
    group = " ".join(text.split())
    if len(group) > MOST_GROUP or not group.isprintable():
        raise StudyError(f"a group is a word or two, of at most {MOST_GROUP} characters")
    return group or None


def read_roles(words: Sequence[str]) -> tuple[Role, ...]:
    """Roles by their names."""
    folded = [word.strip().lower() for word in words]
    for word in folded:
        if word not in ROLES:
            raise StudyError(f"{word[:40]!r} is no role: there are {', '.join(ROLES)}")
    if not folded:
        raise StudyError("somebody without a role takes no part: choose one")
    return tuple(role for role in ROLES if role in folded)
