"""Hands that only ever touch the keyboard: they tab to a control by its name, and press keys."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

MOST_TABS = 400
WAY_TO = """one => {
  const here = document.activeElement;
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea")];
  const isBefore = here.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING;
  const at = all.indexOf(here);
  const to = all.indexOf(one);
  const back = Boolean(isBefore) || (at < 0 && to > all.length / 2);
  if (to < 0 || (at < 0 && here !== document.body)) return [back, 0];
  const between = back ? all.slice(to + 1, at < 0 ? all.length : at) : all.slice(at + 1, to);
  const kin = (one) => (one.type === "radio" ? `radio ${one.name}` : one);
  const stops = new Set(between.filter((one) => !one.disabled && one.tabIndex >= 0
    && one.checkVisibility({ visibilityProperty: true })).map(kin));
  for (const known of [kin(one), kin(here)]) stops.delete(known);
  return [back, stops.size];
}"""
"""Whether it is nearer from behind, and how many controls one passes by for certain."""
IS_HERE = """one => {
  const here = document.activeElement;
  return one === here ? "here" : here.type === "radio" && here.name === one.name ? "group" : "";
}"""


class Hands:
    """Somebody at a keyboard, in front of a page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        """One key after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def reach(self, role: str, name: str | re.Pattern[str], *, exact: bool = False) -> Locator:
        """Tab to a control, the shorter way round; among radio buttons the arrows choose."""
        found = self.page.get_by_role(role, name=name, exact=exact)  # type: ignore[arg-type]
        return self.come_to(found.first)

    def come_to(self, wanted: Locator) -> Locator:
        """Tab to a control that was found otherwise than by its name."""
        wanted.wait_for()
        back, passed = wanted.evaluate(WAY_TO)
        key = "Shift+Tab" if back else "Tab"
        self.press(*[key] * passed)
        for _ in range(MOST_TABS):
            found = wanted.evaluate(IS_HERE)
            if found:
                return wanted if found == "here" else self._walk(wanted)
            self.press(key)
        raise AssertionError(f"the keyboard does not come to {wanted} on {self.page.url}")

    def _walk(self, wanted: Locator) -> Locator:
        for _ in range(MOST_TABS):
            self.press("ArrowDown")
            if wanted.evaluate(IS_HERE) == "here":
                return wanted
        raise AssertionError("the arrows do not come to that answer")

    def follow(self, role: str, name: str | re.Pattern[str], *, exact: bool = False) -> None:
        """Tab to a link or a button and press it; the page that it leads to is there then."""
        self.reach(role, name, exact=exact)
        self.send("Enter")

    def send(self, key: str) -> None:
        """Press a key that leads to another page, and wait until it is there."""
        with self.page.expect_navigation():
            self.press(key)

    def write(self, name: str, text: str, *, role: str = "textbox") -> None:
        """Tab to a field and type, in the place of what stands there."""
        self.reach(role, name)
        self.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, name: str, option: str) -> None:
        """Tab to a list and type the beginning of an option."""
        field = self.reach("combobox", name, exact=True)
        self.page.keyboard.type(option)
        expect(field.locator("option:checked")).to_contain_text(option)

    def unfold(self, words: str) -> None:
        """Tab to something folded away and open it."""
        self.come_to(self.page.locator("summary").filter(has_text=words))
        self.press("Enter")

    def answer(self, name: str | re.Pattern[str]) -> None:
        """Tab to one of several radio buttons and choose it."""
        button = self.reach("radio", name)
        if not button.is_checked():
            self.press("Space")
        expect(button).to_be_checked()

    def tick(self, name: str) -> None:
        """Tab to a box and switch it."""
        box = self.reach("checkbox", name)
        self.press("Space")
        expect(box).to_be_checked()
