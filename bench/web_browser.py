"""The rating page in a browser, for the benchmark: what comes over the wire, and how soon."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from bench.harness import ROOT, BenchError
from bench.web_servers import Served
from bench.web_studies import Prepared

PATIENCE_MS = 15_000
WATCH = """
(() => {
  const pressed = "bench-pressed", before = "bench-before", took = "bench-took";
  const now = () => performance.timeOrigin + performance.now();
  const item = () => document.querySelector(".item-pane")?.textContent ?? "";
  const shown = () => /Case \\d+:/.exec(item())?.[0];
  addEventListener("keydown", (event) => {
    if (!event.ctrlKey || event.key !== "Enter") return;
    sessionStorage.setItem(before, shown() ?? "");
    sessionStorage.setItem(pressed, String(now()));
  }, { capture: true });
  const look = () => {
    const since = sessionStorage.getItem(pressed), text = shown();
    if (since && text && text !== sessionStorage.getItem(before)) {
      sessionStorage.removeItem(pressed);
      const all = JSON.parse(sessionStorage.getItem(took) || "[]");
      sessionStorage.setItem(took, JSON.stringify([...all, now() - Number(since)]));
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""
"""In every document: from Ctrl+Enter to the first frame that has another item's text; the moment
of pressing outlives the document, should the next item come as one of its own."""
ANSWER = """
() => {
  const groups = new Set();
  const found = "#rating input[type=radio][value=YES]:not(:disabled)";
  for (const one of document.querySelectorAll(found)) {
    groups.add(one.name);
    if (!one.checked) one.click();
  }
  return groups.size;
}
"""


@contextlib.contextmanager
def visiting(server: Served, made: Prepared, name: str) -> Iterator[BrowserContext]:
    """A browser that keeps nothing yet, in which somebody is signed in."""
    subprocess.run(["sh", ROOT / "scripts" / "browser.sh"], capture_output=True, check=False)
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise BenchError("there is no Chromium here: install the package chromium")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
        except PlaywrightError as error:
            raise BenchError(f"Chromium did not start: {str(error).splitlines()[0]}") from None
        try:
            context = browser.new_context(base_url=server.url)
            context.set_default_timeout(PATIENCE_MS)
            cookie = {"name": made.cookie, "value": made.secrets[name], "url": server.url}
            context.add_cookies([cookie])  # type: ignore[list-item]
            yield context
        finally:
            browser.close()


def first_visit(context: BrowserContext, address: str) -> dict[str, int]:
    """Bytes over the wire, heads and bodies, by kind of file, of a page that was never visited."""
    page = context.new_page()
    wire = context.new_cdp_session(page)
    kinds: dict[str, str] = {}
    sizes: Counter[str] = Counter()

    def arrived(told: dict[str, Any]) -> None:
        sizes[kinds.get(told["requestId"], "other")] += int(told["encodedDataLength"])

    wire.on("Network.responseReceived", lambda one: kinds.update({one["requestId"]: one["type"]}))
    wire.on("Network.loadingFinished", arrived)
    wire.send("Network.enable")
    try:
        page.goto(address, wait_until="networkidle")
        page.wait_for_timeout(300)
    except PlaywrightError as error:
        raise BenchError(f"the page did not load: {str(error).splitlines()[0]}") from None
    finally:
        page.close()
    return {name.lower(): size for name, size in sizes.most_common()}


def next_items(context: BrowserContext, address: str, number: int) -> list[float]:
    """Seconds from Ctrl+Enter to the next item's text, for so many items, one after the other."""
    context.add_init_script(WATCH)
    page = context.new_page()
    try:
        page.goto(address)
        took: list[float] = []
        for _ in range(number):
            took.append(_handed_in(page, len(took)))
    except PlaywrightError as error:
        said = page.locator("#save-state, .notice").all_text_contents()
        last = str(error).splitlines()[0]
        raise BenchError(f"the page did not go on after {len(took)} items: {last} {said}") from None
    finally:
        page.close()
    return took


def _handed_in(page: Page, so_far: int) -> float:
    """Answer everything, wait until that is saved, hand in, and wait for what comes next."""
    page.wait_for_function("() => document.querySelector('#rating') !== null")
    if not page.evaluate(ANSWER):
        raise BenchError("the rating page has no form that could be filled in")
    page.wait_for_function("() => document.querySelector('#save-state').dataset.state === 'saved'")
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        "n => JSON.parse(sessionStorage.getItem('bench-took') || '[]').length > n", arg=so_far
    )
    found: list[float] = page.evaluate("() => JSON.parse(sessionStorage.getItem('bench-took'))")
    return found[so_far] / 1_000
