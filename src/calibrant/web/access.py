"""Who asks, what a route is for, and whether the two fit.

Every route is registered here with its *access*; a test walks all routes of the application, and
one without fails it. Somebody who is no member of a study is told that there is nothing there;
a member without the role is refused. What a member may see is decided by the study itself.
"""

from __future__ import annotations

import hmac
import inspect
from asyncio import wrap_future
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, TypeAlias, TypeVar, cast, get_type_hints
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Request
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from calibrant.core.study import Member as Joined
from calibrant.core.study import Role
from calibrant.ports.store import Store
from calibrant.study.handle import Study
from calibrant.web.quick_route import QuickRoute
from calibrant.web.security import SAFE, UPLOADS
from calibrant.web.workspace import Visitor, Workspace

F = TypeVar("F", bound=Callable[..., Any])
NOT_FOUND = "There is nothing at this address, or it is not for you."
WORKS = "This token does the work of studies: accounts take a browser, or a token made for them."
CSRF_HEADER = "x-calibrant-csrf"


@dataclass(frozen=True, slots=True)
class Seat:
    """A visitor in a study: what they do there goes through ``study``."""

    visitor: Visitor
    study: Study
    member: Joined

    @property
    def roles(self) -> tuple[Role, ...]:
        """What they are in this study."""
        return self.member.roles

    def has(self, *roles: Role) -> bool:
        """Whether they have one of these roles."""
        return bool(set(roles) & set(self.member.roles))

    @property
    def path(self) -> str:
        """Where the pages of the study are."""
        return f"/s/{self.study.number}"


@dataclass(frozen=True, slots=True)
class Anybody:
    """A route for whoever comes; it tells nothing of anybody."""

    def enter(self, request: Request) -> Visitor | None:
        """The visitor, where there is one."""
        return visitor_of(request)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A route for everybody with an account, about themselves or about the workspace."""

    def enter(self, request: Request) -> Visitor:
        """The visitor."""
        return need_visitor(request)


@dataclass(frozen=True, slots=True)
class Holder:
    """A route by which somebody changes their own account: in person, as a browser shows.

    A token for the work of studies that leaked would sign its person out, or stay by making others.
    """

    def enter(self, request: Request) -> Visitor:
        """The visitor, in person or by a token that looks after accounts."""
        visitor = need_visitor(request)
        if visitor.token is not None and not visitor.may_administer:
            raise HTTPException(403, WORKS)
        return visitor


@dataclass(frozen=True, slots=True)
class Owner:
    """A route for the owners of the workspace: in person, or by a token that is made for it.

    Accounts lead to everything: by a link for a new password a token becomes a whole account.
    """

    def enter(self, request: Request) -> Visitor:
        """The visitor, an owner."""
        visitor = need_visitor(request)
        if not visitor.is_owner:
            raise HTTPException(403, "This is for the owner of the workspace.")
        if not visitor.may_administer:
            raise HTTPException(403, WORKS)
        return visitor


@dataclass(frozen=True, slots=True)
class Creator:
    """A route for those who may begin studies: owners, and whoever leads one."""

    def enter(self, request: Request) -> Visitor:
        """The visitor, who may begin studies."""
        visitor = need_visitor(request)
        if not may_create(workspace_of(request), visitor):
            raise HTTPException(
                403, "Studies are begun by the owner of the workspace, and by leads."
            )
        return visitor


@dataclass(frozen=True, slots=True)
class Of:
    """A route for members of the study in its path, with one of these roles; none named: all."""

    roles: tuple[Role, ...] = ()

    def enter(
        self, request: Request, visitor: Visitor | None = None, store: Store | None = None
    ) -> Seat:
        """The visitor in the study; one who is known, by way of a store in hand, where it is."""
        seat = seat_of(request, visitor or need_visitor(request), store)
        if self.roles and not seat.has(*self.roles):
            wanted = " or ".join(self.roles)
            have = ", ".join(seat.roles)
            raise HTTPException(403, f"You are {have} in this study: this takes a {wanted}.")
        return seat


Access: TypeAlias = Anybody | SignedIn | Holder | Owner | Creator | Of
PUBLIC, SIGNED_IN, HOLDER, OWNER, CREATOR = Anybody(), SignedIn(), Holder(), Owner(), Creator()


def member(*roles: Role) -> Of:
    """For members with one of these roles."""
    return Of(roles)


def workspace_of(request: Request) -> Workspace:
    """The workspace that is served."""
    return cast("Workspace", request.app.state.workspace)


def visitor_of(request: Request) -> Visitor | None:
    """Who asks; None where nobody has come in, or what they came in with is over."""
    workspace = workspace_of(request)
    bearer = request.headers.get("authorization", "")
    if bearer:
        return workspace.by_token(bearer)
    secret = request.cookies.get(workspace.cookie)
    return workspace.by_cookie(secret) if secret else None


class SignInNeeded(Exception):
    """Nobody has come in: pages send the visitor to the door, the API says 401."""


def need_visitor(request: Request) -> Visitor:
    """Who asks; raises where nobody has come in."""
    found = visitor_of(request)
    if found is None:
        raise SignInNeeded
    if request.method not in SAFE and not found.may_write:
        raise HTTPException(403, "This token may only read.")
    return found


def seat_of(request: Request, visitor: Visitor, store: Store | None = None) -> Seat:
    """A visitor in the study that the path names; not found for whoever is no member."""
    number = request.path_params.get("study")
    if not isinstance(number, int | str) or not str(number).isdigit() or int(number) >= 2**31:
        raise HTTPException(404, NOT_FOUND)
    found = workspace_of(request).enter(int(number), visitor.name, store)
    if found is None:
        raise HTTPException(404, NOT_FOUND)
    study, joined = found
    return Seat(visitor, study, joined)


def may_create(workspace: Workspace, visitor: Visitor) -> bool:
    """Whether somebody may begin studies."""
    return visitor.is_owner or workspace.leads(visitor.name)


async def read_form(request: Request) -> AsyncIterator[FormData]:
    """What a form sent; files too, though only from somebody who has come in.

    Files are closed, and with that deleted, once the request is answered.
    """
    if request.url.path.endswith(UPLOADS):
        need_visitor(request)
    async with request.form(max_files=4, max_fields=5_000, max_part_size=2 * 2**20) as form:
        yield form


class Routes:
    """Routes of one subject, each with its access."""

    def __init__(self, prefix: str = "", *, tags: list[str] | None = None) -> None:
        self.router = APIRouter(prefix=prefix)
        self.tags = tags

    def get(self, path: str, *, access: Access, **named: Any) -> Callable[[F], F]:
        """A route that only reads."""
        return self._add("GET", path, access, named)

    def post(self, path: str, *, access: Access, **named: Any) -> Callable[[F], F]:
        """A route that changes something."""
        return self._add("POST", path, access, named)

    def put(self, path: str, *, access: Access, **named: Any) -> Callable[[F], F]:
        """A route that puts something in its place.

        ``quick`` (here and in ``post``): small work of a member that is run within a transaction
        of the one writer, together with what others sent, and answered when that is on the disk.
        """
        return self._add("PUT", path, access, named)

    def delete(self, path: str, *, access: Access, **named: Any) -> Callable[[F], F]:
        """A route that takes something away."""
        return self._add("DELETE", path, access, named)

    def _add(
        self, method: str, path: str, access: Access, named: dict[str, Any]
    ) -> Callable[[F], F]:
        is_api = (self.router.prefix + path).startswith("/api/")
        if is_api and self.tags:
            named.setdefault("tags", self.tags)
        quick = named.pop("quick", False)
        named |= {"route_class_override": QuickRoute} if quick else {}

        def register(work: F) -> F:
            guarded = _guarded(work, access, method, is_api, quick=quick)
            self.router.add_api_route(
                path, guarded, methods=[method], include_in_schema=is_api, **named
            )
            return work

        return register


def _guarded(
    work: Callable[..., Any], access: Access, method: str, is_api: bool, *, quick: bool
) -> Any:
    """The handler behind its access: both run in the same thread, one after the other."""
    hints = get_type_hints(work, include_extras=True)
    signature = inspect.signature(work)
    given = {
        name: one.replace(annotation=hints[name]) for name, one in signature.parameters.items()
    }
    entrants = [name for name in given if hints[name] in (Seat, Visitor, Visitor | None)]
    forms = [name for name in given if hints[name] is FormData]
    has_request = [name for name in given if hints[name] is Request]
    shown = [one for name, one in given.items() if name not in (*entrants, *forms, *has_request)]
    keyword = inspect.Parameter.KEYWORD_ONLY
    extra = [inspect.Parameter("request", keyword, annotation=Request)]
    if is_api and isinstance(access, Of):  # read from the path by ``seat_of``; told to programs
        number = Annotated[int, Path(ge=1, lt=2**31, description="The number of the study.")]
        extra.append(inspect.Parameter("study", keyword, annotation=number))
    if method not in SAFE and not is_api:
        extra.append(
            inspect.Parameter("form", keyword, default=Depends(read_form), annotation=FormData)
        )

    def called(request: Request, entered: object, form: FormData | None, rest: Any) -> Any:
        rest.pop("study", None)
        filled = dict.fromkeys(entrants, entered) | dict.fromkeys(forms, form)
        return work(**rest, **filled, **dict.fromkeys(has_request, request))

    def in_turn(request: Request, form: FormData | None = None, **rest: Any) -> Any:
        entered = access.enter(request)
        if method not in SAFE:
            _need_csrf(request, entered, form)
        return called(request, entered, form, rest)

    async def together(request: Request, **rest: Any) -> Any:
        assert isinstance(access, Of)
        visitor = need_visitor(request)
        _need_csrf(request, visitor, None)  # before anything waits for the writer

        def act(store: Store) -> Any:
            return called(request, access.enter(request, visitor, store), None, rest)

        return await wrap_future(workspace_of(request).later(act))

    run: Any = wraps(work)(together if quick else in_turn)
    run.__signature__ = signature.replace(
        parameters=[*(one.replace(kind=keyword) for one in shown), *extra],
        return_annotation=hints.get("return", inspect.Signature.empty),
    )
    run.access = access
    run.__annotations__ = {}
    del run.__wrapped__
    return run


def _need_csrf(request: Request, entered: Visitor | Seat | None, form: FormData | None) -> None:
    """A page of ours sent this, for the person who is signed in; programs have a token."""
    visitor = entered.visitor if isinstance(entered, Seat) else entered
    if visitor is None or visitor.via == "token":
        return
    sent = request.headers.get(CSRF_HEADER) or (form.get("csrf") if form is not None else None)
    if not isinstance(sent, str) or not hmac.compare_digest(sent.encode(), visitor.csrf.encode()):
        raise HTTPException(403, "This page is out of date: go back, load it again, and repeat.")


def sign_in_address(request: Request) -> str:
    """Where somebody signs in, to come back to the page they asked for."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = wanted if request.method in SAFE else "/"
    return f"/sign-in?next={quote(back, safe='')}"
