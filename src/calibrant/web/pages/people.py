"""People of a study: added, invited by a link that is shown once, given roles, leaving."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response

from calibrant.accounts.links import LINK_DAYS
from calibrant.core.errors import AccountError, StudyError
from calibrant.core.study import ROLES, Member
from calibrant.web.access import NOT_FOUND, Routes, Seat, member, workspace_of
from calibrant.web.form_fields import sentence, text_of, texts_of
from calibrant.web.kept import comes_later, kept_for
from calibrant.web.pages.results import waiting_page
from calibrant.web.people import (
    invitation,
    panel,
    read_group,
    read_people,
    read_roles,
    take_back_links,
)
from calibrant.web.refs import read_item
from calibrant.web.render import page, redirect
from calibrant.web.setup import steps_of

routes = Routes()
LEAD = member("lead")
USUAL_GROUPS = ("adviser", "annotator")


@routes.get("/s/{study}/people", access=LEAD)
def people(request: Request, seat: Seat) -> Response:
    """Everybody who takes part, and forms to add more."""
    return _people(request, seat)


def _people(request: Request, seat: Seat, wrong: tuple[str, ...] = (), **typed: Any) -> Response:
    persons, machines = panel(workspace_of(request), seat.study)
    stated = {one.group for one in (each.member for each in persons) if one.group}
    values = {"name": "", "group": "", "roles": ["reviewer"], "lines": ""} | typed
    return page(
        request,
        "people.html",
        seat=seat,
        status=422 if wrong else 200,
        people=persons,
        machines=machines,
        groups=sorted(stated | set(USUAL_GROUPS)),
        all_roles=ROLES,
        steps=steps_of(seat),
        wrong=wrong,
        typed=values,
    )


@routes.post("/s/{study}/people", access=LEAD)
def add_one(request: Request, seat: Seat, form: FormData) -> Response:
    """Add a person; with a link right away, where that was asked for."""
    name, group, roles = text_of(form, "name"), text_of(form, "group"), texts_of(form, "roles")
    try:
        added = seat.study.add_member(name, group=read_group(group), roles=read_roles(roles))
    except StudyError as error:
        return _people(request, seat, (sentence(error),), name=name, group=group, roles=roles)
    if form.get("invite"):
        return _invited(request, seat, [added.name])
    return redirect(request, f"{seat.path}/people", f"{added.name} takes part now.")


@routes.post("/s/{study}/people/many", access=LEAD)
def add_many(request: Request, seat: Seat, form: FormData) -> Response:
    """Add everybody of a list, or nobody while a line of it is wrong."""
    lines = text_of(form, "lines")
    wanted, wrong = read_people(lines)
    here = {one.name for one in seat.study.members()}
    wrong += [f"{one.name!r} takes part already." for one in wanted if one.name in here]
    if not wanted and not wrong:
        wrong = ["Write one person a line first."]
    if wrong:
        return _people(request, seat, tuple(wrong), lines=lines)
    for one in wanted:
        seat.study.add_member(one.name, group=one.group, roles=one.roles)
    if form.get("invite"):
        return _invited(request, seat, [one.name for one in wanted])
    said = f"{len(wanted)} {'person takes' if len(wanted) == 1 else 'people take'} part now."
    return redirect(request, f"{seat.path}/people", said)


# -- invitations


@routes.post("/s/{study}/people/{ref}/invite", access=LEAD)
def invite(request: Request, seat: Seat, ref: str) -> Response:
    """Make a link for somebody; one made before ends."""
    return _invited(request, seat, [_member(seat, ref).name])


def _invited(request: Request, seat: Seat, names: list[str]) -> Response:
    """The links, shown this once: they are not kept anywhere."""
    made: list[tuple[str, str]] = []
    wrong: list[tuple[str, str]] = []
    for name in names:
        try:
            made.append((name, invitation(request, seat, name)))
        except AccountError as error:
            wrong.append((name, sentence(error)))
    return page(
        request,
        "people_links.html",
        seat=seat,
        status=200 if made or not wrong else 422,
        made=made,
        wrong=wrong,
        days=LINK_DAYS,
    )


@routes.post("/s/{study}/people/{ref}/take-back", access=LEAD)
def take_back(request: Request, seat: Seat, ref: str) -> Response:
    """End the invitation of somebody."""
    name = _member(seat, ref).name
    ended = take_back_links(workspace_of(request), seat, name)
    said = f"The invitation of {name} is taken back." if ended else f"{name} has none."
    return redirect(request, f"{seat.path}/people", said)


# -- roles and leaving


def _member(seat: Seat, ref: str) -> Member:
    """A person of the study whom an address names."""
    name = read_item(ref)
    for one in seat.study.members():
        if one.name == name:
            return one
    raise HTTPException(404, NOT_FOUND)


@routes.get("/s/{study}/people/{ref}", access=LEAD)
def one_person(request: Request, seat: Seat, ref: str) -> Response:
    """One member: roles, and leaving."""
    return _person(request, seat, ref)


def _person(
    request: Request, seat: Seat, ref: str, wrong: str = "", roles: list[str] | None = None
) -> Response:
    found = _member(seat, ref)
    persons, machines = panel(workspace_of(request), seat.study)
    mine = [one for one in persons if one.member.name == found.name]
    card = [one.card for one in machines if one.member.name == found.name]
    return page(
        request,
        "people_one.html",
        seat=seat,
        status=422 if wrong else 200,
        ref=ref,
        one=found,
        person=mine[0] if mine else None,
        card=card[0] if card else None,
        others=[
            one.member.name
            for one in persons
            if one.member.name != found.name
            and one.member.left_at is None
            and "reviewer" in one.member.roles
        ],
        all_roles=ROLES,
        roles=roles if roles is not None else found.roles,
        wrong=wrong,
    )


@routes.post("/s/{study}/people/{ref}/roles", access=LEAD)
def set_roles(request: Request, seat: Seat, ref: str, form: FormData) -> Response:
    """Give somebody other roles."""
    found, words = _member(seat, ref), texts_of(form, "roles")
    try:
        roles = read_roles(words)
        seat.study.set_roles(found.name, roles)
    except StudyError as error:
        return _person(request, seat, ref, sentence(error), words)
    if found.name == seat.visitor.name and "lead" not in roles:
        return redirect(request, seat.path, "You do not lead this study any more.")
    return redirect(request, f"{seat.path}/people", f"{found.name} is {', '.join(roles)} now.")


@routes.get("/s/{study}/people/{ref}/leave", access=LEAD)
def leave_first(request: Request, seat: Seat, ref: str, now: bool = False) -> Response:
    """What would become of somebody's work."""
    name = _member(seat, ref).name
    if not now and comes_later(request, seat, f"leave {name}"):
        return waiting_page(request, seat, f"{name} leaves the study?", "people", whole=True)
    return _leaving(request, seat, ref)


def _leaving(request: Request, seat: Seat, ref: str, wrong: str = "", why: str = "") -> Response:
    found, status = _member(seat, ref), 422 if wrong else 200
    rounds = [
        (one, *one.raters[found.name])
        for one in seat.study.progress()
        if found.name in one.raters and one.state != "closed"
    ]
    handover = None
    try:
        handover = kept_for(
            request,
            seat,
            f"leave {found.name}",
            lambda study: study.leave(found.name, reason="", dry_run=True),
        )
    except StudyError as error:
        wrong = wrong or sentence(error)
    return page(
        request,
        "people_leave.html",
        seat=seat,
        status=status,
        ref=ref,
        one=found,
        rounds=[(one, done, total - done) for one, done, total in rounds],
        handover=handover,
        wrong=wrong,
        reason=why,
    )


@routes.post("/s/{study}/people/{ref}/leave", access=LEAD)
def leave(request: Request, seat: Seat, ref: str, form: FormData) -> Response:
    """Somebody leaves; their open work goes to the others."""
    found, why = _member(seat, ref), text_of(form, "reason")
    try:
        handover = seat.study.leave(found.name, reason=why)
    except StudyError as error:
        return _leaving(request, seat, ref, sentence(error), why)
    take_back_links(workspace_of(request), seat, found.name)
    moved = ", ".join(f"{name} {count}" for name, count in sorted(handover.moved.items()))
    said = f"{found.name} has left."
    said += f" Their open work was taken over: {moved}." if moved else ""
    if handover.left_over:
        said += f" Nobody else can take {len(handover.left_over)} of their items."
    to = "/" if found.name == seat.visitor.name else f"{seat.path}/people"
    return redirect(request, to, said)
