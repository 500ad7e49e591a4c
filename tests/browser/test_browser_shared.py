"""One browser that several people use: what one of them typed is not the next one's to see."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.browser.conftest import Served
from tests.web.disagreeing import disagreeing

BACK = "Bring back what I wrote last time"


def test_what_one_person_typed_is_not_shown_to_the_next_in_the_same_tab(
    serve: Callable[..., Served], visit: Callable[..., Page]
) -> None:
    served = serve()
    assert served.opened is not None
    study = disagreeing(served.opened.plain)
    study.add_member("eve", roles=("adjudicator",))
    page = visit(served)

    def open_case() -> None:
        page.goto(f"/s/{study.number}/adjudicate")
        page.wait_for_load_state("networkidle")

    def is_now(name: str) -> None:
        page.context.add_cookies([served.cookie(name, owner=True)])  # type: ignore[list-item]

    is_now("ada")
    open_case()
    reason = page.locator("[data-settle] [name=reason]")
    reason.fill("Ada's own thought")
    page.goto("/studies/new/rubric")
    page.locator("#yaml").fill("id: adas_rubric")

    is_now("eve")
    open_case()
    expect(reason).to_have_value("")
    page.goto("/studies/new/rubric")
    expect(page.get_by_role("button", name=BACK)).to_have_count(0)

    is_now("ada")
    open_case()
    expect(reason).to_have_value("Ada's own thought")
    page.goto("/studies/new")
    page.get_by_role("button", name="Write a rubric").click()
    page.get_by_role("button", name=BACK).click()
    expect(page.locator("#yaml")).to_have_value("id: adas_rubric")

    is_now("lena")
    page.goto(f"/s/{study.number}/rubric/next")
    stood = page.locator("#yaml").input_value()
    page.locator("#yaml").fill("id: next_version")
    page.reload()
    expect(page.locator("#yaml")).to_have_value(stood)
    page.get_by_role("button", name=BACK).click()
    expect(page.locator("#yaml")).to_have_value("id: next_version")
    page.get_by_role("button", name="Put back what stood here").click()
    expect(page.locator("#yaml")).to_have_value(stood)
