"""Pictures of every page, in light and dark, on a desk and on a phone: ``make screenshots``.

A furnished workspace is served on this machine alone. The pages are those that the tests look at
(``tests/browser/places.py``).
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from tests.browser.conftest import CHROMIUM, Served, free_port
from tests.browser.places import Place, fill, places

from calibrant import compose

FOLDER = Path(".screenshots")
SIZES = {"desk": (1280, 900), "phone": (360, 780)}
SCHEMES = ("light", "dark")


def main() -> None:
    """Take them all, or those whose name has one of the words that were given."""
    if not CHROMIUM:
        sys.exit("Chromium is missing: sh scripts/browser.sh installs it")
    with tempfile.TemporaryDirectory() as folder:
        served = Served(str(Path(folder) / "house.db"), Path(folder), free_port())
        served.env["CALIBRANT_BASE_URL"] = "http://127.0.0.1:9/v1"
        served.opened = compose.open_workspace(served.place, create=True)
        try:
            fill(served.opened)
            served.start()
            wanted = [one for one in places(served.opened, Path(folder)) if is_wanted(one)]
            taken = take(served, wanted)
        finally:
            served.stop()
            served.opened.close()
    sys.stdout.write(f"{taken} pictures of {len(wanted)} pages in {FOLDER.resolve()}\n")


def is_wanted(place: Place) -> bool:
    """Whether a place was asked for."""
    return not sys.argv[1:] or any(word in place.name for word in sys.argv[1:])


def take(served: Served, wanted: list[Place]) -> int:
    """Every page in every size and scheme; how many pictures that made."""
    mine: dict[str | None, list[Place]] = defaultdict(list)
    for place in wanted:
        mine[place.who].append(place)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        for who, listed in mine.items():
            context = entered(browser, served, who)
            page = context.new_page()
            for place in listed:
                place.arrive(page)
                shoot(page, place)
            context.close()
        browser.close()
    return len(wanted) * len(SIZES) * len(SCHEMES)


def entered(browser: Browser, served: Served, who: str | None) -> BrowserContext:
    """A browser in which somebody has come in."""
    context = browser.new_context(base_url=served.url, reduced_motion="reduce")
    if who is not None:
        context.add_cookies([served.cookie(who)])  # type: ignore[list-item]
    return context


def shoot(page: Page, place: Place) -> None:
    """The whole page as it stands, resized and recoloured without loading it again."""
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            folder = FOLDER / f"{size}-{scheme}"
            folder.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=folder / f"{place.name}.png", full_page=True)
    page.set_viewport_size({"width": SIZES["desk"][0], "height": SIZES["desk"][1]})


if __name__ == "__main__":
    main()
