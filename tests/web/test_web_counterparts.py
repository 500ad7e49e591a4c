"""Whatever a page shows or does, a program can ask for, or it is said why not."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI
from tests.web.conftest import Signed
from tests.web.test_web_access import ROLES, STRANGERS, Way, expected, ways

from calibrant.web.access import Anybody
from calibrant.web.counterparts import COUNTERPARTS, ROOT, Calls, in_person

EVERYBODY = (None, *STRANGERS, *ROLES)


def named(app: FastAPI) -> tuple[dict[str, Way], dict[str, Way]]:
    """Pages and calls, by method and path."""
    found = {f"{one.method} {one.path}": one for one in ways(app) if one.access != "static"}
    calls = {name: one for name, one in found.items() if one.path.startswith(f"{ROOT}/")}
    return {name: one for name, one in found.items() if name not in calls}, calls


def let_in(way: Way) -> set[str | None]:
    return {name for name in EVERYBODY if expected(way, name) is None}


def test_every_page_has_its_call_or_a_reason(app: FastAPI) -> None:
    """A new page fails here until it is said what a program calls instead."""
    pages, calls = named(app)
    assert sorted(pages.keys() - COUNTERPARTS.keys()) == []
    assert sorted(COUNTERPARTS.keys() - pages.keys()) == []
    asked = {way for one in COUNTERPARTS.values() if isinstance(one, Calls) for way in one.ways}
    assert sorted(asked - calls.keys()) == []
    assert sorted(calls.keys() - asked) == [], "calls that no page is named for"


def test_what_is_left_to_people_is_little_and_has_reasons(app: FastAPI) -> None:
    """Coming in, passwords, and what shows nothing of anybody."""
    pages, _ = named(app)
    for name, why in in_person().items():
        assert len(why) > 20, name
        public = isinstance(pages[name].access, Anybody)
        assert public or name in ("POST /account/password", "GET /components", "GET /api"), name


def test_calls_are_for_whom_the_pages_are(app: FastAPI) -> None:
    """What changes something takes the roles of its pages; what shows it is for all it was."""
    pages, calls = named(app)
    people: dict[str, set[str | None]] = {}
    for name, one in COUNTERPARTS.items():
        if isinstance(one, Calls):
            for way in one.ways:
                people.setdefault(way, set()).update(let_in(pages[name]))
            assert let_in(pages[name]) <= set().union(*(let_in(calls[way]) for way in one.ways))
    for way, them in people.items():
        if not way.startswith("GET"):
            assert let_in(calls[way]) == them, way


def test_the_document_tells_of_every_subject_and_how_to_come_in(app: FastAPI) -> None:
    made = app.openapi()
    used = {tag for ways in made["paths"].values() for way in ways.values() for tag in way["tags"]}
    assert {one["name"] for one in made["tags"]} == used
    assert made["security"] == [{name: []} for name in made["components"]["securitySchemes"]]


def test_the_page_about_the_api_says_what_is_left_to_people(client: Callable[..., Signed]) -> None:
    text = client("ann").get("/api").text
    assert "POST /account/password" in text and "typed by its person" in text
