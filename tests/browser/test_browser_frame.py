"""The frame in a real browser: coming in, the sheet of keys, light and dark."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.browser.conftest import Served


def test_somebody_comes_in_and_leaves(
    serve: Callable[..., Served], visit: Callable[..., Page]
) -> None:
    served = serve()
    page = visit(served, "ada")
    page.goto("/")
    expect(page.get_by_role("heading", name="My studies")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Light or dark").click()
    assert page.locator("html").get_attribute("data-theme") in ("dark", "light")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
