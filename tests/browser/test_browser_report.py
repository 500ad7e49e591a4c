"""A report in a real browser: no message, no request, nothing that keeps anybody from reading."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.report.report_kit import HOSTILE, known, rubric

from calibrant.report.findings import findings
from calibrant.report.html import report_html

BIDI = "\u202e"


@pytest.fixture(scope="module")
def report_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A plain report, its short version, and one full of hostile words."""
    folder = tmp_path_factory.mktemp("report")
    plain = findings(known())
    first = [text for text in HOSTILE if BIDI in text]  # quotations are cut
    words = "\n".join([*first, *(text for text in HOSTILE if len(text) < 200)])
    named = " ".join(words.split())[:200]
    hostile = findings(known(words=words, rubric_=rubric(title=named, criterion_title=named)))
    pages = {
        "whole": report_html(plain),
        "short": report_html(plain, short=True),
        "hostile": report_html(hostile),
    }
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, "utf-8")
    return {name: folder / f"{name}.html" for name in pages}


def opened(browser: Browser, path: Path, scheme: str, heard: list[str], width: int = 1200) -> Page:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})  # type: ignore[arg-type]
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: heard.append(dialog.message))
    page.on("request", lambda request: heard.append(request.url))
    page.goto(path.as_uri())
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["whole", "short", "hostile"])
def test_a_report_opens_in_peace_and_can_be_read_by_all(
    browser: Browser, report_pages: dict[str, Path], name: str, scheme: str
) -> None:
    heard: list[str] = []
    page = opened(browser, report_pages[name], scheme, heard)
    assert heard == [report_pages[name].as_uri()]  # the page itself, and nothing else
    for summary in page.locator("summary").all():
        summary.click()
    # a debugger's world: the policy of the page keeps scripts out of it
    page.evaluate(
        resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    )
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    page.close()


@pytest.mark.parametrize("name", ["whole", "hostile"])
def test_a_report_fits_a_phone(browser: Browser, report_pages: dict[str, Path], name: str) -> None:
    page = opened(browser, report_pages[name], "light", [], width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()


def test_hostile_words_are_read_and_not_run(
    browser: Browser, report_pages: dict[str, Path]
) -> None:
    page = opened(browser, report_pages["hostile"], "light", [])
    text = page.locator("main").inner_text()
    assert "<script>alert(1)</script>" in text
    assert "\\u202e" in text and BIDI not in text
    assert page.locator("main script, main img, main iframe, main b").count() == 0
    page.close()


def test_paper_is_white_whatever_the_screen(
    browser: Browser, report_pages: dict[str, Path]
) -> None:
    page = opened(browser, report_pages["whole"], "dark", [])
    page.emulate_media(media="print", color_scheme="dark")
    colours = page.evaluate(
        "[getComputedStyle(document.documentElement).backgroundColor,"
        " getComputedStyle(document.querySelector('.tile')).backgroundColor,"
        " getComputedStyle(document.querySelector('.report')).color]"
    )
    assert colours == ["rgb(255, 255, 255)", "rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    assert not page.locator("nav").is_visible()
    # what is folded on the screen is on the paper
    assert page.locator("details table").first.evaluate("one => one.getClientRects().length") > 0
    assert page.pdf(format="A4")[:5] == b"%PDF-"
    page.close()
