"""Every page as somebody sees it: axe finds nothing serious, and nothing fails or goes abroad."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, Response
from tests.browser.conftest import Served, free_port
from tests.browser.places import (
    ADJUDICATOR,
    LEAD,
    NEWCOMER,
    REVIEWER,
    TALKER,
    VIEWER,
    Place,
    application,
    fill,
    page_routes,
    places,
)

from calibrant import compose

FIRST, SECOND = pytest.mark.xdist_group("axe"), pytest.mark.xdist_group("axe of a lead")
SOME = 20
"""Two workers share the pages, each with a workspace of its own. Of a lead's, who has two in three
of all, the first look at this many."""
LEVELS = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""What can differ between light and dark."""
RUN = """async options => {
  const kin = (one, other) => one.tagName === other.tagName && one.className === other.className;
  const again = [...document.querySelectorAll("main :is(tr, li, article, section, div, dt, dd)")]
    .filter(one => {
      let seen = 0;
      for (let at = one; seen < 12 && (at = at.previousElementSibling);) seen += kin(at, one);
      return seen >= 12;
    });
  const about = again.length ? { include: document, exclude: again } : document;
  return axe.run(about, { ...options, resultTypes: ["violations"], preload: false });
}"""
"""Of what is alike, row after row, a dozen are looked at: a report has thousands."""
SERIOUS = ("serious", "critical")


@dataclass
class House:
    """A furnished workspace that is served, and its places."""

    served: Served
    places: list[Place] = field(default_factory=list)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    served = Served(str(folder / "house.db"), folder, free_port())
    # Judges are asked at a port where nobody listens; the pages about them show that one is set.
    served.env["CALIBRANT_BASE_URL"] = "http://127.0.0.1:9/v1"
    served.opened = compose.open_workspace(served.place, create=True)
    fill(served.opened)
    served.start()
    yield House(served, places(served.opened, folder))
    served.stop()
    served.opened.close()


@FIRST
def test_no_page_is_forgotten(house: House) -> None:
    assert house.served.opened is not None
    known = {one.route for one in house.places}
    routes = [one.path for one in page_routes(application(house.served.opened))]
    assert [path for path in routes if path not in known] == []
    names = [one.name for one in house.places]
    assert sorted(names) == sorted(set(names))


SHARES: dict[str, tuple[str | None, slice, pytest.MarkDecorator]] = {
    "a lead, some": (LEAD, slice(SOME), FIRST),
    "a lead, the rest": (LEAD, slice(SOME, None), SECOND),
} | {
    str(one): (one, slice(None), FIRST)
    for one in (None, REVIEWER, ADJUDICATOR, VIEWER, NEWCOMER, TALKER)
}
"""Whose pages, and which of them, are looked at by one worker."""


@pytest.mark.parametrize(
    ("who", "which"),
    [pytest.param(who, which, marks=mark) for who, which, mark in SHARES.values()],
    ids=list(SHARES),
)
def test_pages_are_for_everybody(
    house: House, browser: Browser, who: str | None, which: slice
) -> None:
    mine = [one for one in house.places if one.who == who][which]
    assert mine
    context = browser.new_context(
        base_url=house.served.url, color_scheme="light", reduced_motion="reduce"
    )
    if who is not None:
        context.add_cookies([house.served.cookie(who)])  # type: ignore[list-item]
    context.add_init_script(AXE_SCRIPT)
    page = context.new_page()
    watch = Watch(page, f"{house.served.url}/")
    wrong: dict[str, list[str]] = {}
    for place in mine:
        watch.begin(place)
        page.emulate_media(color_scheme="light")
        place.arrive(page)
        watch.found += serious(page, LEVELS, "light")
        page.emulate_media(color_scheme="dark")
        watch.found += serious(page, CONTRAST, "dark")
        if watch.found:
            wrong[f"{place.name} {place.address}"] = watch.found
    context.close()
    assert wrong == {}


class Watch:
    """What goes wrong on a page, as it happens: messages, failed requests, other hosts."""

    def __init__(self, page: Page, home: str) -> None:
        self.home = home
        page.on("console", lambda message: self._told(message.type, message.text))
        page.on("pageerror", lambda error: self.found.append(f"script: {error}"))
        page.on("response", self._answered)
        page.on("request", lambda request: self._asked(request.url))

    def begin(self, place: Place) -> None:
        """From now on it happens at this place."""
        self.expected = place.status
        self.found: list[str] = []

    def _told(self, kind: str, text: str) -> None:
        refused = re.search(r"the server responded with a status of (\d+)", text)
        is_expected = refused is not None and int(refused[1]) == self.expected
        if kind in ("error", "warning") and not is_expected:
            self.found.append(f"{kind}: {text}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400 and response.status != self.expected:
            self.found.append(f"{response.status}: {response.url}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.home, "data:", "blob:")):
            self.found.append(f"request to {url}")


def serious(page: Page, options: dict[str, Any], scheme: str) -> list[str]:
    """What axe holds against a page, in one line each."""
    result = page.evaluate(RUN, options)
    return [
        f"{scheme} {one['id']} ({one['impact']}): {node['target']} {_why(node)}"
        for one in result["violations"]
        if one["impact"] in SERIOUS
        for node in one["nodes"][:3]
    ]


def _why(node: dict[str, Any]) -> str:
    return " ".join(node["failureSummary"].split())[:300]
