"""Blindness over HTTP: what others have done in an open round changes no answer at all.

Two workspaces differ only in what others did while the round was open. Whatever a reviewer can
ask for (every page, every route of the API) is the same in both: status, headers, length, words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from httpx2 import Response
from tests.study.study_kit import RESPONSES, as_, response_item
from tests.web.conftest import HOST, Signed
from tests.web.test_web_access import ways

from calibrant import Study, Submission, compose
from calibrant.core.plan import Plan
from calibrant.core.study import Key
from calibrant.study.open import create
from calibrant.web.access import Anybody, Holder, Of, SignedIn
from calibrant.web.app import make_app
from calibrant.web.refs import item_ref, task_ref
from calibrant.web.workspace import Workspace

NOTED, MARKED, DRAFTED, FLAGGED, ASKED = (
    f"zebra-{word}" for word in ["noted", "marked", "drafted", "flagged", "asked"]
)
Pair = tuple[Workspace, Workspace, Study, Study]
NAMES = ("ann", "bob", "cat", "dan", "lena", "ada")
QUERIES = {
    "/s/{study}/flags": ("what=edge_case", "what=review", "what=edge_case&state=decided"),
    "/s/{study}/past": ("round=1", "page=2"),
    "/s/{study}/discuss": ("round=1", "round=1&only=open"),
    "/api/v1/studies/{study}/ratings": ("round=1", "limit=1"),
    "/api/v1/studies/{study}/flags": ("state=raised", "state=confirmed", "after=1"),
    "/api/v1/studies/{study}/agreement": ("round=1",),
    "/api/v1/studies/{study}/finals": ("limit=1",),
}
"""What else can be asked for at an address."""
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def same_moment() -> datetime:
    """A clock that stands: times cannot make two answers differ."""
    return NOON


def built(place: Path) -> tuple[Workspace, Study]:
    """A study with an open round of four items; ann and lena, who leads and rates, began."""
    opened = compose.open_workspace(str(place), create=True)
    workspace = Workspace(opened=opened, hosts=(HOST,), clock=same_moment)
    made = create(workspace.plain, "blind", RESPONSES, lead="lena", clock=same_moment, seed=7)
    study = Study(made.store, made.number, made.record, made.actor, made.clock)
    study.add_items(response_item(number) for number in range(1, 5))
    for name in ("ann", "bob", "cat", "dan"):
        study.add_member(name, group="adviser")
    study.add_member("ada", roles=("adjudicator",))
    study.set_roles("lena", ("lead", "reviewer"))
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(1, override="for the test")
    for name in ("ann", "bob", "cat", "lena"):
        as_(study, name).acknowledge()
    for name in ("ann", "lena"):
        hand_in(study, name, "r-001", "3")
        as_(study, name).save_draft(
            Key(round=1, item="r-002", rater=name), {"answers": {}}, version=0, token="tab"
        )
    for name in NAMES:
        workspace.owners.add(name, owner=False, by="tests")
    return workspace, study


def hand_in(study: Study, rater: str, item: str, value: str, **form: object) -> None:
    answers = dict.fromkeys(RESPONSES.criterion_ids, value)
    key = Key(round=1, item=item, rater=rater)
    as_(study, rater).submit(
        Submission(key=key, form={"answers": answers, **form}, request=f"{rater}/{item}")
    )


def others_act(study: Study) -> None:
    """Bob rates everything, with notes and flags; cat drafts, flags and asks; dan leaves."""
    first = RESPONSES.criterion_ids[0]
    for number in range(1, 5):
        hand_in(
            study, "bob", f"r-{number:03}", "0",
            notes={first: NOTED}, evidence={first: ["It is"]}, edge_case=MARKED,
            flags=[{"flag": "dismissive", "evidence": ["It is"]}],
        )  # fmt: skip
    as_(study, "cat").save_draft(
        Key(round=1, item="r-001", rater="cat"),
        {"answers": {}, "notes": {first: DRAFTED}}, version=0, token="tab",
    )  # fmt: skip
    as_(study, "cat").raise_flag("r-001", what="edge_case", reason=FLAGGED)
    as_(study, "cat").raise_flag("r-002", reason=FLAGGED)
    as_(study, "cat").ask(ASKED, item="r-001", criterion=first)
    as_(study, "dan").acknowledge()


def signed(workspace: Workspace, name: str) -> Signed:
    found = Signed(make_app(workspace), base_url=f"http://{HOST}")
    secret = workspace.door.admit(name, by="tests")
    found.cookies.set(workspace.cookie, secret)
    found.csrf, found.name = workspace.door.csrf(secret), name
    found.headers["accept-encoding"] = "identity"  # packed pages are padded at random
    return found


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """A quiet workspace and one in which the others acted; then ann goes on in both."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    quiet, study = built(tmp_path / "a" / "work.db")
    busy, other = built(tmp_path / "b" / "work.db")
    others_act(other)
    for one in (study, other):
        as_(one, "ann").ask("Is a joke helpful?", criterion=RESPONSES.criterion_ids[0])
        as_(one, "ann").raise_flag("r-003", what="edge_case", reason="two questions in one")
        hand_in(one, "ann", "r-003", "2")
    yield quiet, busy, study, other
    quiet.opened.close()
    busy.opened.close()


def addresses(browser: Signed, study: int, rater: str) -> Iterator[str]:
    """Everything there is to get, for each item of the study and for some that are not."""
    for way in ways(browser.app):  # type: ignore[arg-type]
        if way.method != "GET" or way.access == "static":
            continue
        if not isinstance(way.access, Anybody | SignedIn | Holder | Of):
            continue
        seen = set()
        for item in ("r-001", "r-002", "r-003", "r-004", "r-009"):
            task = task_ref(Key(round=1, item=item, rater=rater))
            seen.add(way.filled(study, item_ref(item), task))
        for one in sorted(seen):
            yield one
            yield from (f"{one}?{query}" for query in QUERIES.get(way.path, ()))


def told(browser: Signed, found: Response) -> tuple[object, ...]:
    """An answer without what is new each time: the token of the page, leases, this login."""
    text = found.text.replace(browser.csrf, "CSRF")
    text = re.sub(r"((?:lease|token|request)\W{1,4}(?:value\W{1,3})?)[\w-]{16,}", r"\1NEW", text)
    text = re.sub(r"/(sessions|tokens)/[0-9a-f]{64}", r"/\1/HASH", text)
    text = re.sub(r'"id":"[0-9a-f]{64}"', "HASH", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z?|\d+ \w{3} \d{4}, \d\d:\d\d", "TIME", text)
    headers = {name: value for name, value in found.headers.items() if name != "set-cookie"}
    cookies = re.sub(r"=[^;]*", "", found.headers.get("set-cookie", ""))
    return found.status_code, headers, cookies, text


def test_nothing_a_reviewer_can_get_tells_of_the_others(pair: Pair) -> None:
    quiet, busy, study, other = pair
    assert study.number == other.number
    here, there = signed(quiet, "ann"), signed(busy, "ann")
    seen = 0
    for path in addresses(here, study.number, "ann"):
        one, two = (who.get(path, follow_redirects=False) for who in (here, there))
        assert told(here, one) == told(there, two), path
        assert "zebra" not in two.text, path
        seen += one.status_code == 200
    assert seen > 40, "the reviewer got next to nothing: this proves little"


def test_nor_does_what_comes_back_when_a_reviewer_works(pair: Pair) -> None:
    quiet, busy, study, _ = pair
    here, there = signed(quiet, "ann"), signed(busy, "ann")
    for method, path, body in works(study.number):
        sent = [
            who.request(method, path, json=body, headers={"x-calibrant-csrf": who.csrf})
            for who in (here, there)
        ]
        assert told(here, sent[0]) == told(there, sent[1]), path
        assert sent[0].status_code < 300, (path, sent[0].text)


def works(study: int) -> Iterator[tuple[str, str, dict[str, object]]]:
    """A reviewer saves, hands in, corrects, asks and flags."""
    at = f"/api/v1/studies/{study}"
    answers = {"answers": dict.fromkeys(RESPONSES.criterion_ids, "3")}
    task = f"{at}/tasks/{task_ref(Key(round=1, item='r-004', rater='ann'))}"
    form = {"form": answers}
    yield "PUT", f"{task}/draft", {**form, "version": 0}
    yield "POST", f"{task}/rating", {**form, "version": 1, "request": "ann-hands-in-r-004"}
    yield "POST", f"{task}/question", {"text": "Is it helpful?"}
    yield "POST", f"{at}/questions", {"text": "Is a pun helpful?"}
    yield "POST", f"{at}/flags", {"item": "r-004", "what": "review", "reason": "odd"}


def test_a_lead_who_rates_reads_no_more_of_answers_than_any_rater(pair: Pair) -> None:
    """They see how far everybody is and what is asked of them, but nobody's words or values."""
    _, busy, study, _ = pair
    lena = signed(busy, "lena")
    seen = 0
    for path in addresses(lena, study.number, "lena"):
        found = lena.get(path, follow_redirects=False)
        for word in (NOTED, MARKED, DRAFTED, FLAGGED):
            assert word not in found.text, (path, word)
        seen += found.status_code == 200
    assert seen > 60
    ratings = lena.get(f"/api/v1/studies/{study.number}/ratings").json()
    assert ratings["rows"] == []
