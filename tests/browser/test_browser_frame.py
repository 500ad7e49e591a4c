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


PAPER = "getComputedStyle(document.documentElement).backgroundColor"
INK = "getComputedStyle(document.body).color"


def test_the_theme_that_was_chosen_is_the_one_that_is_seen(
    serve: Callable[..., Served], visit: Callable[..., Page]
) -> None:
    """The system's until somebody chooses, then theirs, on the next page too; paper is light."""
    page = visit(serve(), "ada", color_scheme="dark")
    page.goto("/")
    dark = page.evaluate(PAPER)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(PAPER)
    assert light != dark
    page.get_by_role("button", name="Light or dark").click()
    assert (page.locator("html").get_attribute("data-theme"), page.evaluate(PAPER)) == (
        "dark",
        dark,
    )
    ink = page.evaluate(INK)
    page.emulate_media(media="print", color_scheme="light")
    assert page.evaluate(PAPER) == "rgb(255, 255, 255)" and page.evaluate(INK) != ink
    page.emulate_media(media="screen", color_scheme="dark")
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(PAPER) == light
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert page.evaluate(PAPER) == light
