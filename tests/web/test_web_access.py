"""Every route, for everybody: nobody gets where they do not belong, whatever is sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from tests.study.study_kit import as_, new_study, panel, plan_item
from tests.web.conftest import Signed

from calibrant.core.study import Key, Role
from calibrant.web.access import Anybody, Creator, Holder, Of, Owner, SignedIn
from calibrant.web.app import make_app
from calibrant.web.refs import item_ref, task_ref
from calibrant.web.security import SAFE
from calibrant.web.workspace import Workspace

ROLES: dict[str, tuple[Role, ...]] = {
    "lena": ("lead",),
    "rita": ("reviewer",),
    "adam": ("adjudicator",),
    "vera": ("viewer",),
}
"""Members of the study, each with one role."""
STRANGERS = ("otto", "owen")
"""Somebody with an account and no study, and the owner of the workspace with none either."""


@dataclass(frozen=True)
class Way:
    """A route and a method of it."""

    path: str
    method: str
    access: object

    def filled(self, study: int, item: str, task: str) -> str:
        known = {"study": str(study), "item": item, "ref": item, "task": task, "hash": "0" * 64}
        return re.sub(r"{(\w+)(?::\w+)?}", lambda found: known.get(found[1], "1"), self.path)


def ways(app: FastAPI) -> Iterator[Way]:
    for route in app.routes:
        if isinstance(route, APIRoute):
            for method in sorted(route.methods or ()):
                yield Way(route.path, method, getattr(route.endpoint, "access", None))


@pytest.fixture
def study(workspace: Workspace, client: Callable[..., Signed]) -> int:
    """A study with somebody in each role, a round open, and an item."""
    made = new_study(workspace.plain)
    made.add_items([plan_item(1), plan_item(2)])
    panel(made, "rita", "rob")
    for name in ("adam", "vera"):
        made.add_member(name, roles=ROLES[name])
    made.plan_round("calibration", items=["plan-001", "plan-002"])
    made.open_round(1, override="for tests")
    as_(made, "rita").acknowledge()
    for name in (*ROLES, "otto"):
        client(name)
    client("owen", owner=True)
    return made.number


def test_every_route_says_whom_it_is_for(app: FastAPI) -> None:
    unsaid = [
        f"{one.method} {one.path}"
        for one in ways(app)
        if not isinstance(one.access, Anybody | SignedIn | Holder | Owner | Creator | Of)
        and one.access != "static"
    ]
    assert unsaid == []
    others = [one for one in app.routes if not isinstance(one, APIRoute)]
    assert [getattr(one, "path", "?") for one in others] == ["/api/v1/openapi.json"]


def test_routes_of_a_study_are_for_its_members(app: FastAPI) -> None:
    for one in ways(app):
        assert ("{study}" in one.path) == isinstance(one.access, Of), one


def expected(way: Way, name: str | None) -> set[int] | None:
    """The refusals that are due; None where somebody may come in."""
    access, is_api = way.access, way.path.startswith("/api/")
    if isinstance(access, Anybody) or access == "static":
        return None
    if name is None:
        return {401} if is_api else {303}
    if isinstance(access, Owner):
        return None if name == "owen" else {403}
    if isinstance(access, Creator):
        return None if name in ("owen", "lena") else {403}
    if isinstance(access, Of):
        if name in STRANGERS:
            return {404}
        return None if not access.roles or set(access.roles) & set(ROLES[name]) else {403}
    return None


def test_nobody_gets_where_they_do_not_belong(
    workspace: Workspace, client: Callable[..., Signed], study: int
) -> None:
    app = make_app(workspace)
    task = task_ref(_a_task(workspace, study))
    before = workspace.store.read(lambda tx: len(list(tx.journal(study))))
    for name in (None, *STRANGERS, *ROLES):
        browser = client(name)
        for way in ways(app):
            due = expected(way, name)
            if due is None:
                continue
            address = way.filled(study, item_ref("plan-001"), task)
            headers = {"x-calibrant-csrf": browser.csrf}
            got = browser.request(way.method, address, headers=headers, follow_redirects=False)
            assert got.status_code in due, (name, way, got.status_code, got.text[:200])
            if got.status_code == 303:
                assert got.headers["location"].startswith("/sign-in"), way
            assert "plan-001" not in got.text and "gardener" not in got.text, way
    assert workspace.store.read(lambda tx: len(list(tx.journal(study)))) == before


def test_whoever_may_come_in_breaks_nothing(
    workspace: Workspace, client: Callable[..., Signed], study: int
) -> None:
    """Empty forms, and addresses of things that are not there: told in words, never a 5xx."""
    app = make_app(workspace)
    task = task_ref(_a_task(workspace, study))
    for name in (None, *STRANGERS, *ROLES):
        browser = client(name)
        for way in ways(app):
            if expected(way, name) is not None or "sign-out" in way.path:
                continue
            for item in (item_ref("plan-001"), item_ref("not there"), "!"):
                address = way.filled(study, item, task)
                data = {"csrf": browser.csrf} if way.method not in SAFE else None
                got = browser.request(way.method, address, data=data, follow_redirects=False)
                assert got.status_code < 500, (name, way, got.status_code, got.text[:400])


def test_changing_something_takes_our_own_page(
    workspace: Workspace, client: Callable[..., Signed], study: int
) -> None:
    app = make_app(workspace)
    task = task_ref(_a_task(workspace, study))
    for name in ("owen", *ROLES):
        browser = client(name)
        for way in ways(app):
            if way.method in SAFE or expected(way, name) is not None:
                continue
            address = way.filled(study, item_ref("plan-001"), task)
            got = browser.request(way.method, address, follow_redirects=False)
            assert got.status_code in (403, 422), (name, way, got.status_code)


def _a_task(workspace: Workspace, study: int) -> Key:
    (first, *_) = workspace.store.read(lambda tx: list(tx.assignments(study, rater="rita")))
    return first.key
