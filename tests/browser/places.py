"""Every page of the application, in a furnished workspace, with somebody who should look at it.

Pages are found from the application's own routes. One whose address has a part that nobody here
can fill is in no list, and ``test_browser_axe.py`` fails: no page is forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from fastapi.routing import APIRoute
from playwright.sync_api import Page

from calibrant.compose import Opened, now
from calibrant.core.study import Key
from calibrant.demo.workspace import furnish
from calibrant.formats.rubric_file import load_rubric
from calibrant.study.handle import Study
from calibrant.study.open import create
from calibrant.web.access import Anybody, Of
from calibrant.web.app import make_app
from calibrant.web.refs import item_ref, task_ref
from calibrant.web.workspace import Workspace

LEAD, REVIEWER, ADJUDICATOR, VIEWER = "Dana", "Robin", "Alex", "Noor"
"""Who looks; the lead owns the workspace as well."""
NEWCOMER, TALKER = "Sasha", "Mei"
"""Somebody with a plan to rate, who has read the handbook; and one who has talked things over."""
PLANS, RESPONSES, CONVERSATIONS, EMPTY = 1, 2, 3, 4
"""Studies: calibrating, rating, adjudicating, and one that has just been begun."""
BY_ROLE = {"lead": LEAD, "reviewer": REVIEWER, "adjudicator": ADJUDICATOR, "viewer": VIEWER}
NO_PAGES = {
    "/report.css",
    "/static/{mark}/{path:path}",
    "/s/{study}/exports/{job}/file",
    "/s/{study}/items/uploads/{token}/progress.json",
    "/s/{study}/report/file",
    "/s/{study}/report/frozen/{number}/file",
}
"""Routes that give a file, not a page."""
STUDY_FOR = {
    "/s/{study}/adjudicate": CONVERSATIONS,
    "/s/{study}/agreement": CONVERSATIONS,
    "/s/{study}/discuss": PLANS,
    "/s/{study}/judges": CONVERSATIONS,
    "/s/{study}/judges/run": EMPTY,
    "/s/{study}/report": CONVERSATIONS,
    "/s/{study}/results": CONVERSATIONS,
}
"""The study in which a page has most to show; the one that is rating where nothing is said."""
JUDGE = "small-judge"
SHEET = (
    "plan no;aim;weekly hours;what to do;until\n"
    "u-1;Work as a baker;6;Visit two bakeries and ask about trial days;week 1\n"
    "u-1;;;Write an application;week 2\n"
    "u-2;Learn to weld;many;Book a taster course;week 3\n"
)
"""Columns under names of their own, and a row that is not right."""


@dataclass(frozen=True)
class Place:
    """A page as somebody sees it."""

    route: str
    address: str
    who: str | None
    then: Callable[[Page], None] | None = None
    """What is done there to come to the state that is looked at."""
    state: str = ""
    """A word for that state."""
    status: int = 200

    @property
    def name(self) -> str:
        """As files and messages call it: the address without what is opaque in it, and who."""
        words = re.sub(r"{(?!study)\w+}", "one", self.route).replace("{study}", self._study)
        plain = re.sub(r"\W+", "-", f"{words}-{self.state}").strip("-").lower()
        return f"{plain or 'home'}-{(self.who or 'nobody').lower()}"

    @property
    def _study(self) -> str:
        found = re.match(r"/s/(\d+)", self.address)
        return found[1] if found else ""

    def arrive(self, page: Page) -> None:
        """Go there and wait until what loads by itself is there."""
        page.goto(self.address)
        if self.then is not None:
            self.then(page)
        page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")


def page_routes(app: FastAPI) -> Iterator[APIRoute]:
    """Every route that shows a page."""
    for route in app.routes:
        if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
            is_file = route.path.startswith("/api/v1/") or route.path in NO_PAGES
            if not is_file:
                yield route


def application(opened: Opened) -> FastAPI:
    """The application, to ask it for its routes."""
    return make_app(Workspace(opened=opened, hosts=()))


def fill(opened: Opened) -> None:
    """Furnish an empty workspace: the demo's studies, one without anything, and accounts."""
    made = furnish(opened.plain, clock=now)
    for name in (*made.people, NEWCOMER):
        opened.owners.add(name, owner=name == LEAD, by="places")
    create(
        opened.plain,
        "first-steps",
        load_rubric("smart-action-plan"),
        lead=LEAD,
        clock=now,
        title="Just begun",
    )
    lead = seat(opened, PLANS, LEAD)
    lead.add_member(NEWCOMER, group="adviser")
    first = lead.store.read(lambda tx: [one for one, _ in tx.item_keys(PLANS)][:3])
    planned = lead.plan_round("calibration", items=first, raters=[NEWCOMER])
    lead.open_round(planned.round.number, override="To see a plan on the page where it is rated.")
    seat(opened, PLANS, NEWCOMER).acknowledge()


def seat(opened: Opened, study: int, name: str) -> Study:
    """A study in the hands of one of its members."""
    found = Workspace(opened=opened, hosts=()).enter(study, name)
    assert found is not None, (study, name)
    return found[0]


def places(opened: Opened, folder: Path) -> list[Place]:
    """All places of a workspace that ``fill`` furnished; files to upload go into ``folder``."""
    found = [_usual(route) for route in page_routes(application(opened)) if _is_plain(route.path)]
    return [*found, *_taught(opened), *_uploads(folder), *_others(opened), *_without_anything()]


def _is_plain(path: str) -> bool:
    return "{" not in path.replace("{study}", "")


def _usual(route: APIRoute) -> Place:
    """A page without anything opaque in its address, for the first role it is meant for."""
    access = getattr(route.endpoint, "access", None)
    who: str | None = LEAD
    if isinstance(access, Anybody):
        who = None
    elif isinstance(access, Of) and access.roles:
        who = BY_ROLE[access.roles[0]]
    study = STUDY_FOR.get(route.path, RESPONSES)
    query = f"?model={JUDGE}" if route.path.endswith("/judges/run") else ""
    return Place(route.path, route.path.replace("{study}", str(study)) + query, who)


def _taught(opened: Opened) -> Iterator[Place]:
    """Pages about one thing, each filled with one that is there."""
    plan, talk = "/s/1", "/s/3"
    item = item_ref(seat(opened, PLANS, LEAD).disputes(1)[0].item)
    secret = opened.links.invite("Kim", PLANS, by=LEAD)
    person, judge = item_ref("Amara"), item_ref(_machine(opened))
    rounds = "/s/{study}/rounds/{number}"
    people = "/s/{study}/people/{ref}"
    items = "/s/{study}/items/{ref}"
    case = next(one for one in seat(opened, CONVERSATIONS, LEAD).queue() if one.criterion)
    settled = f"/s/3/adjudicate/{item_ref(case.item)}?criterion={case.criterion}"
    yield Place("/enter/{secret}", "/enter/any", None)
    yield Place("/invite/{secret}", f"/invite/{secret}", None)
    yield Place("/invite/{secret}", "/invite/over", None, state="used up", status=404)
    yield Place("/rubrics/{name}", "/rubrics/coaching-conversation", REVIEWER)
    yield Place(items, f"{plan}/items/{item}", LEAD)
    yield Place(items, f"{talk}/items/{item_ref(case.item)}", LEAD)
    yield Place(f"{items}/redact", f"{plan}/items/{item}/redact", LEAD)
    yield Place(people, f"{plan}/people/{person}", LEAD)
    yield Place(people, f"{talk}/people/{judge}", LEAD, state="judge")
    yield Place(f"{people}/leave", f"{plan}/people/{person}/leave", LEAD)
    yield Place(rounds, f"{plan}/rounds/3", LEAD, state="held back")
    yield Place(rounds, "/s/2/rounds/3", LEAD, state="open")
    yield Place(rounds, f"{talk}/rounds/2", LEAD, state="ready")
    yield Place(f"{rounds}/close", "/s/2/rounds/3/close", LEAD)
    yield Place(f"{rounds}/drop", f"{plan}/rounds/3/drop", LEAD)
    for study, round, who in ((PLANS, 1, LEAD), (RESPONSES, 2, TALKER)):
        one = seat(opened, study, who).disputes(round)[0]
        address = f"/s/{study}/discuss/{round}/{item_ref(one.item)}?criterion={one.criterion}"
        yield Place("/s/{study}/discuss/{round}/{item}", address, who)
    yield Place("/s/{study}/adjudicate/{item}", settled, ADJUDICATOR)
    kept = seat(opened, RESPONSES, LEAD).frozen_reports()[-1].number
    yield Place("/s/{study}/report/frozen/{number}", f"/s/2/report/frozen/{kept}", LEAD)
    task = "/s/{study}/rate/{task}"
    for study, who, kind in ((PLANS, NEWCOMER, "plan"), (RESPONSES, REVIEWER, "response")):
        key = _first(opened, study, who, "open")
        yield Place(task, f"/s/{study}/rate/{task_ref(key)}", who, state=kind)
    for study, kind in ((RESPONSES, "response"), (CONVERSATIONS, "conversation")):
        key = _first(opened, study, REVIEWER, "done")
        yield Place(
            "/s/{study}/past/{task}", f"/s/{study}/past/{task_ref(key)}", REVIEWER, state=kind
        )
    yield Place(
        "/s/{study}/judges/runs/{job}", f"/s/4/judges/run?model={JUDGE}", LEAD, then=_let_join
    )


def _machine(opened: Opened) -> str:
    members = seat(opened, CONVERSATIONS, LEAD).members()
    return next(one.name for one in members if one.kind == "LLM")


def _first(opened: Opened, study: int, rater: str, state: str) -> Key:
    """An assignment of somebody's."""
    found = opened.plain.read(
        lambda tx: [one.key for one in tx.assignments(study, rater=rater) if one.state == state]
    )
    return found[0]


def _let_join(page: Page) -> None:
    """Nothing is asked: the model joins a study without rounds."""
    page.get_by_role("button", name="Let it join").click()
    page.wait_for_url("**/judges/runs/*")


def _uploads(folder: Path) -> Iterator[Place]:
    """The screen on which columns are told apart, for a file with a row that is wrong."""
    file = folder / "plans.csv"
    file.write_text(SHEET)

    def send(page: Page) -> None:
        page.set_input_files("input[type=file]", file)
        page.get_by_role("button", name="Read the file").click()
        page.wait_for_url("**/items/uploads/*")

    yield Place("/s/{study}/items/uploads/{token}", "/s/4/items", LEAD, then=send)


def _others(opened: Opened) -> Iterator[Place]:
    """Pages that show something else to others, or after something was done."""
    over = "/s/{study}"
    for study in (PLANS, CONVERSATIONS):
        yield Place(over, f"/s/{study}", LEAD)
    for who in (REVIEWER, ADJUDICATOR, VIEWER):
        yield Place(over, "/s/2", who)
    yield Place("/", "/", REVIEWER)
    yield Place("/s/{study}/rate", "/s/1/rate", REVIEWER, state="to read first")
    yield Place("/s/{study}/rate", "/s/3/rate", REVIEWER, state="nothing to do")
    yield Place("/s/{study}/adjudicate", "/s/2/adjudicate", ADJUDICATOR, state="flag")
    yield Place("/s/{study}/rubric", "/s/3/rubric", REVIEWER)
    yield Place("/s/{study}/flags", "/s/2/flags", REVIEWER)
    yield Place("/s/{study}/questions", "/s/2/questions", REVIEWER)
    yield Place("/s/{study}/report", "/s/3/report", VIEWER)
    yield Place("/s/{study}/report", "/s/2/report", LEAD, _other_days, "other days")
    yield Place(
        "/s/{study}/rounds/plan", "/s/3/rounds/plan?kind=calibration", LEAD, _preview, "workload"
    )
    yield Place("/studies/new/rubric", "/studies/new/rubric", LEAD, _write, "written")
    yield Place("/s/{study}/people", "/s/4/people", LEAD, _invite, "invited")
    yield Place("/s/{study}/rate", "/s/2/rate", REVIEWER, _hand_in_nothing, "faults", 422)
    yield Place("/s/{study}/rate", "/s/2/rate", REVIEWER, _keys, "keys")
    yield Place("/nothing", "/nothing/here", REVIEWER, state="not found", status=404)
    yield Place("/s/{study}/rounds", "/s/2/rounds", VIEWER, state="refused", status=403)


def _other_days(page: Page) -> None:
    page.get_by_text("As it was on other days").click()


def _preview(page: Page) -> None:
    page.get_by_role("button", name="Show the workload").click()
    page.get_by_role("button", name="Keep this round").wait_for()


def _write(page: Page) -> None:
    page.get_by_label("Start from").select_option("ai-response")
    page.get_by_role("button", name="Start from it").click()
    page.get_by_text("The form, as raters will see it").wait_for()


def _invite(page: Page) -> None:
    page.get_by_label("Name", exact=True).fill("Lee")
    page.get_by_role("button", name="Add and invite", exact=True).click()
    page.get_by_role("heading", name="Invitation").wait_for()


def _hand_in_nothing(page: Page) -> None:
    page.get_by_role("button", name="Hand in, next").click()
    page.get_by_text("Not handed in").first.wait_for()


def _keys(page: Page) -> None:
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("dialog").wait_for()


def _without_anything() -> Iterator[Place]:
    """A study that has just been begun: what stands where nothing is yet."""
    words = (
        "", "discuss", "adjudicate", "items", "rounds", "flags", "questions", "check-ins",
        "report", "results", "agreement", "raters", "judges", "journal", "rubric/history",
    )  # fmt: skip
    for word in words:
        tail = f"/{word}" if word else ""
        yield Place(f"/s/{{study}}{tail}", f"/s/4{tail}", LEAD)
