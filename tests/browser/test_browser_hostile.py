"""Hostile words in a real browser: read as text, run nowhere, and nobody abroad is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.request import urlopen

from playwright.sync_api import Page
from tests.browser.conftest import Served
from tests.study.study_kit import as_
from tests.web.hostile_study import Hostile, Speech, furnish
from tests.web.payloads import EVALUATED, HIT, LARGE

from calibrant import Study
from calibrant.compose import now
from calibrant.core.item import Response
from calibrant.web.refs import item_ref

Serve = Callable[..., Served]
Visit = Callable[..., Page]


def unharmed(page: Page) -> str:
    """Fail where a payload did anything; gives what one reads."""
    assert page.evaluate("window.__hit") is None, page.url
    strange = page.evaluate(
        """() => [...document.querySelectorAll('*')].filter((one) =>
            ['IFRAME', 'OBJECT', 'EMBED', 'BASE', 'VIDEO', 'STYLE'].includes(one.tagName)
            || (one.tagName === 'SCRIPT' && !one.src.startsWith(location.origin))
            || [...one.attributes].some((each) => each.name.startsWith('on')
                || /^\\s*(javascript|data|vbscript):/i.test(each.value) && each.name !== 'value'
                && each.name !== 'title' && !each.name.startsWith('data-')
                && !each.name.startsWith('aria-'))
        ).map((one) => one.outerHTML.slice(0, 200))"""
    )
    assert strange == [], page.url
    words = page.evaluate("document.body.textContent")
    assert EVALUATED not in words, page.url
    return str(words)


def places(who: Hostile) -> list[tuple[str, str]]:
    """Who goes where."""
    plan, response = (f"/s/{who.studies[kind].number}" for kind in ("plan", "response"))
    talk, free = (f"/s/{who.studies[kind].number}" for kind in ("conversation", "free"))
    item = who.studies["plan"].disputes(1)[0]
    case = f"{item_ref(item.item)}?criterion={item.criterion}"
    rater, judge = who.raters[0], who.adjudicator
    return [
        (rater, f"{response}/rate"), (rater, f"{talk}/rate"), (rater, f"{free}/rate"),
        (rater, f"{plan}/past"), (rater, f"{plan}/discuss/1/{case}"), (rater, f"{plan}/questions"),
        (judge, f"{plan}/adjudicate/{case}"), (judge, f"{plan}/adjudicate"),
        (judge, f"{plan}/flags?what=edge_case"), (who.lead, plan), (who.lead, "/"),
        (who.lead, f"{plan}/journal"), (who.lead, f"{plan}/people"), (who.lead, f"{plan}/rubric"),
        (who.lead, f"{plan}/rubric/history"), (who.lead, f"{plan}/rubric/next"),
        (who.lead, f"{plan}/report"), (who.lead, f"{plan}/check-ins"),
    ]  # fmt: skip


def test_words_do_nothing_in_a_browser(serve: Serve, visit: Visit) -> None:
    served = serve()
    assert served.opened is not None
    who = furnish(served.opened.plain, Speech(True), now)
    pages: dict[str, Page] = {}
    dialogs: list[str] = []
    for name, address in places(who):
        if name not in pages:
            pages[name] = visit(served, name)
            pages[name].on("dialog", lambda one: dialogs.append(one.message))
        page = pages[name]
        answer = page.goto(address)
        assert answer is not None and answer.status == 200, (address, answer and answer.status)
        page.wait_for_function("() => !document.querySelector('[aria-busy=true]')")
        assert HIT in unharmed(page), address
    rating = pages[who.raters[0]]
    rating.goto(f"/s/{who.studies['response'].number}/rate")
    for key in ("?", "Escape", "ArrowDown", "3", "ArrowDown", "n"):
        rating.keyboard.press(key)
    rating.mouse.move(300, 300)
    unharmed(rating)
    assert dialogs == []


def test_five_megabytes_can_be_rated(serve: Serve, visit: Visit) -> None:
    served = serve()
    assert served.opened is not None
    study = _large(furnish(served.opened.plain, Speech(False), now).studies["response"])
    page = visit(served, "max")
    page.goto(f"/s/{study.number}/rate")
    assert len(unharmed(page)) > 5 * 2**20
    page.keyboard.press("3")
    page.locator("input[type=radio]:checked").first.wait_for(state="attached")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


def _large(study: Study) -> Study:
    """One item of five megabytes, for somebody who has nothing else to rate."""
    study.close_round(1, reason="for the test")
    study.add_items([Response(id="large", question="Is it long?", response=LARGE)])
    study.add_member("max", group="adviser")
    planned = study.plan_round("calibration", items=["large"], raters=["max"])
    study.open_round(planned.round.number, override="for the test")
    as_(study, "max").acknowledge()
    return study


def test_the_server_names_no_machinery(serve: Serve) -> None:
    with urlopen(f"{serve().url}/sign-in", timeout=20) as found:
        names = {name.lower() for name in found.headers}
        assert not names & {"server", "x-powered-by", "via"}
        assert not re.search(r"(?i)uvicorn|fastapi|starlette|python", str(found.headers))
