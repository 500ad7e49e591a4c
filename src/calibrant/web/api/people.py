"""People, for programs: who takes part, invitations, roles, leaving."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Request
from starlette.exceptions import HTTPException

from calibrant.accounts.links import LINK_DAYS
from calibrant.core.errors import Fault, RecordError
from calibrant.core.ids import NAME_RULE, read_name
from calibrant.core.study import Member
from calibrant.web.access import NOT_FOUND, Routes, Seat, member, workspace_of
from calibrant.web.lead_models import (
    TROUBLE,
    Done,
    HandoverOut,
    InvitationOut,
    MemberIn,
    MemberOut,
    MembersIn,
    MembersOut,
    ReasonIn,
    RolesIn,
)
from calibrant.web.people import Machine, Person, invitation, panel, read_group, take_back_links
from calibrant.web.refs import item_ref, read_item

routes = Routes("/api/v1/studies/{study}", tags=["people"])
LEAD = member("lead")
Ref = Annotated[str, Path(description="A member, as the list names it.", max_length=4000)]


@routes.get("/members", access=LEAD, response_model=MembersOut, responses=TROUBLE)
def members(request: Request, seat: Seat) -> Any:
    """Everybody who takes part, judges and checks too."""
    return MembersOut(members=[_out(one) for one in _all(request, seat)])


def _all(request: Request, seat: Seat) -> list[Person | Machine]:
    people, machines = panel(workspace_of(request), seat.study)
    return [*people, *machines]


def _out(one: Person | Machine) -> MemberOut:
    person = one if isinstance(one, Person) else None
    link = person.link if person is not None else None
    return MemberOut(
        ref=item_ref(one.member.name),
        name=one.member.name,
        kind=one.member.kind,
        roles=list(one.member.roles),
        group=one.member.group,
        joined_at=one.member.joined_at,
        left_at=one.member.left_at,
        has_account=person is not None and person.has_account,
        invited_until=link.ends_at if link is not None else None,
        card=one.card if isinstance(one, Machine) else None,
        open=person.open if person is not None else 0,
        done=person.done if person is not None else 0,
    )


def _named(request: Request, seat: Seat, name: str) -> MemberOut:
    return next(_out(one) for one in _all(request, seat) if one.member.name == name)


def _member(seat: Seat, ref: str) -> Member:
    name = read_item(ref)
    for one in seat.study.members():
        if one.name == name:
            return one
    raise HTTPException(404, NOT_FOUND)


@routes.post("/members", access=LEAD, response_model=MemberOut, responses=TROUBLE, status_code=201)
def add_member(request: Request, seat: Seat, body: MemberIn) -> Any:
    """Add a person; judges join where they are admitted."""
    group = read_group(body.group or "")
    added = seat.study.add_member(body.name, group=group, roles=body.roles)
    return _named(request, seat, added.name)


@routes.post(
    "/members/many",
    access=LEAD,
    response_model=MembersOut,
    responses=TROUBLE,
    status_code=201,
)
def add_many(request: Request, seat: Seat, body: MembersIn) -> Any:
    """Add everybody of a list, or nobody while one of them does not fit."""
    names = [read_name(one.name) for one in body.members]
    taken = {one.name for one in seat.study.members()}
    faults = []
    for number, name in enumerate(names, 1):
        if not name:
            faults.append(Fault(f"a name {NAME_RULE}", "name", record=number))
        elif name in taken:
            faults.append(Fault(f"{name!r} takes part already", "name", record=number))
        taken.add(name)
    groups = [read_group(one.group or "") for one in body.members]
    if faults:
        raise RecordError(faults)
    for name, group, one in zip(names, groups, body.members, strict=True):
        seat.study.add_member(name, group=group, roles=one.roles)
    added = [one for one in _all(request, seat) if one.member.name in names]
    return MembersOut(members=[_out(one) for one in added])


@routes.get("/members/{ref}", access=LEAD, response_model=MemberOut, responses=TROUBLE)
def one_member(request: Request, seat: Seat, ref: Ref) -> Any:
    """One member."""
    return _named(request, seat, _member(seat, ref).name)


@routes.put("/members/{ref}/roles", access=LEAD, response_model=MemberOut, responses=TROUBLE)
def set_roles(request: Request, seat: Seat, ref: Ref, body: RolesIn) -> Any:
    """Give somebody other roles; a study always keeps a lead."""
    found = _member(seat, ref)
    given = _named(request, seat, found.name)
    seat.study.set_roles(found.name, body.roles)
    return given.model_copy(update={"roles": body.roles})


@routes.get("/members/{ref}/leave", access=LEAD, response_model=HandoverOut, responses=TROUBLE)
def leave_first(request: Request, seat: Seat, ref: Ref) -> Any:
    """What would become of somebody's open work if they left; nothing is changed."""
    name = _member(seat, ref).name
    study = workspace_of(request).unhurried(seat.study)
    handover = study.leave(name, reason="", dry_run=True)
    return HandoverOut(moved=dict(handover.moved), left_over=list(handover.left_over))


@routes.post("/members/{ref}/leave", access=LEAD, response_model=HandoverOut, responses=TROUBLE)
def leave(request: Request, seat: Seat, ref: Ref, body: ReasonIn) -> Any:
    """Somebody leaves: ratings stay, open work goes to the others."""
    found = _member(seat, ref)
    handover = seat.study.leave(found.name, reason=body.reason)
    take_back_links(workspace_of(request), seat, found.name)
    return HandoverOut(moved=dict(handover.moved), left_over=list(handover.left_over))


@routes.post(
    "/members/{ref}/invitation",
    access=LEAD,
    response_model=InvitationOut,
    responses=TROUBLE,
    status_code=201,
)
def invite(request: Request, seat: Seat, ref: Ref) -> Any:
    """A link for somebody without an account; one made before ends. It is told once."""
    name = _member(seat, ref).name
    return InvitationOut(name=name, address=invitation(request, seat, name), days=LINK_DAYS)


@routes.delete("/members/{ref}/invitation", access=LEAD, response_model=Done, responses=TROUBLE)
def take_back(request: Request, seat: Seat, ref: Ref) -> Any:
    """End the invitation of somebody."""
    name = _member(seat, ref).name
    ended = take_back_links(workspace_of(request), seat, name)
    return Done(said="it is taken back" if ended else "there was none")
