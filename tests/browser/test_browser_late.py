"""Pages whose scripts come late, in odd orders, or never: people have begun to work by then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePosixPath

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Served
from tests.study.study_kit import PLANS, as_
from tests.web.disagreeing import FREE, disagreeing
from tests.web.rate_kit import rating_study

from calibrant import Study, Submission
from calibrant.compose import now
from calibrant.core.study import Key
from calibrant.study.open import create

pytestmark = pytest.mark.xdist_group("late")
NUMBERS = count(1)
CRITERIA = ("usefulness", "smart_adherence", "realism", "inclusivity", "clarity")


@dataclass
class Scripts:
    """The scripts of a page, each held back until somebody says that it may come."""

    page: Page
    held: dict[str, list[Route]] = field(default_factory=dict)
    here: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    all_may_come: bool = False

    def __post_init__(self) -> None:
        self.page.route("**/*.js", self._asked_for)

    def _asked_for(self, route: Route) -> None:
        name = PurePosixPath(route.request.url).stem
        if name in self.lost:
            route.abort()
        elif self.all_may_come or name in self.here:
            route.continue_()
        else:
            self.held.setdefault(name, []).append(route)

    def come(self, *names: str) -> None:
        """Let scripts arrive, one after the other; without names, all of them."""
        for name in names:
            self.here.add(name)
            for route in self.held.pop(name, []):
                with self.page.expect_response(route.request.url):
                    route.continue_()
        if not names:
            self.all_may_come = True
            for route in (one for found in self.held.values() for one in found):
                route.continue_()

    def get_lost(self, name: str) -> None:
        """A script that never comes."""
        self.lost.add(name)
        for route in self.held.pop(name, []):
            route.abort()


def opened(page: Page, address: str) -> Scripts:
    """A page without any of its scripts yet; it does not count as loaded before they are there."""
    scripts = Scripts(page)
    page.goto(address, wait_until="commit")
    expect(page.locator("#keys")).to_be_attached()  # the end of the page
    return scripts


def begun(served: Served) -> tuple[Study, str]:
    """A study in which somebody rates, and their name."""
    number = next(NUMBERS)
    name = f"ann{number}"
    assert served.opened is not None
    study = rating_study(served.opened.plain, clock=now, raters=(name,), name=f"late{number}")
    return study, name


def early(served: Served, visit: Callable[..., Page]) -> tuple[Study, str, Page, Scripts]:
    """Somebody at their first item, before any script has come."""
    study, name = begun(served)
    page = visit(served, name)
    return study, name, page, opened(page, f"/s/{study.number}/rate")


def answer(page: Page, criterion: str, value: str) -> None:
    page.locator(f"input[name='answers.{criterion}'][value='{value}']").check()


def note_on(page: Page, criterion: str, text: str) -> None:
    box = page.locator(f"#criterion-{criterion}")
    box.locator(".aside > summary").click()
    box.locator("textarea[name^='notes.']").click()
    page.keyboard.type(text)


def draft_of(study: Study, name: str, item: str) -> dict[str, object]:
    key = Key(round=1, item=item, rater=name)
    found = study.store.read(lambda tx: tx.draft(study.number, key))
    return {} if found is None else dict(found.body)


def item_of(page: Page) -> str:
    return str(page.locator("#rate").get_attribute("data-item"))


def scripted(page: Page) -> None:
    expect(page.locator("#rate.scripted")).to_be_attached()


def test_a_rating_is_handed_in_before_any_script_has_come(
    served: Served, visit: Callable[..., Page]
) -> None:
    study, name, page, scripts = early(served, visit)
    item = item_of(page)
    expect(page.locator("main kbd:visible")).to_have_count(0)  # no key works yet
    for one in CRITERIA[:4]:
        answer(page, one, "4")
    note_on(page, "realism", "few hours")
    page.get_by_role("button", name="Hand in, next").click(no_wait_after=True)
    expect(page.get_by_role("alert").first).to_contain_text("Not handed in yet")
    expect(page.locator("#save-words")).to_have_text("Not saved yet")
    # the scripts come while the form stands there with its fault: what is in it gets saved
    scripts.come()
    scripted(page)
    expect(page.locator("#save-words")).to_contain_text("Saved at")
    assert draft_of(study, name, item)["notes"] == {"realism": "few hours"}
    expect(page.locator("#rate-notices")).to_be_empty()  # nothing was put back: it was here
    answer(page, "clarity", "2")
    page.get_by_role("button", name="Hand in, next").click()
    expect(page.locator("#rate-notices")).to_contain_text(f"{item} is handed in.")
    (rated,) = as_(study, name).my_ratings()
    assert rated.answers == {**dict.fromkeys(CRITERIA[:4], "4"), "clarity": "2"}


def test_what_was_done_before_the_scripts_came_is_saved_once_they_have(
    served: Served, visit: Callable[..., Page]
) -> None:
    study, name, page, scripts = early(served, visit)
    item = item_of(page)
    answer(page, "usefulness", "5")
    answer(page, "inclusivity", "3")
    note_on(page, "realism", "too few ")
    quote = page.locator("#criterion-realism .quote-new textarea")
    quote.fill("5 hours")
    page.locator("textarea[name='notes.realism']").focus()
    page.keyboard.press("End")
    scripts.come()
    scripted(page)
    expect(page.locator("#save-words")).to_contain_text("Saved at")  # without a further key
    said = draft_of(study, name, item)
    assert said["answers"] == {"usefulness": "5", "inclusivity": "3"}
    assert said["evidence"] == {"realism": ["5 hours"]}
    # whoever types goes on typing, and keys are about the criterion that one is at
    page.keyboard.type("hours")
    expect(page.locator("textarea[name='notes.realism']")).to_have_value("too few hours")
    expect(quote).to_be_visible()
    expect(page.locator("#answered")).to_have_text("2 of 5 answered")
    page.keyboard.press("Escape")
    expect(page.locator("#criterion-realism")).to_be_focused()
    page.keyboard.press("4")
    expect(page.locator("input[name='answers.realism'][value='4']")).to_be_checked()
    expect(page.locator("#submit kbd")).to_be_visible()
    answer(page, "smart_adherence", "4")
    answer(page, "clarity", "4")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#rate")).not_to_have_attribute("data-item", item)
    (rated,) = as_(study, name).my_ratings()
    assert (rated.words or {})["notes"] == {"realism": "too few hours"}


def test_one_criterion_at_a_time_does_not_hide_where_somebody_types(
    served: Served, visit: Callable[..., Page]
) -> None:
    study, name = begun(served)
    page = visit(served, name)
    page.goto(f"/s/{study.number}/rate")
    scripted(page)
    page.keyboard.press("o")
    scripts = opened(page, f"/s/{study.number}/rate")
    note_on(page, "inclusivity", "who is ")
    scripts.come()
    scripted(page)
    page.keyboard.type("left out?")
    expect(page.locator("textarea[name='notes.inclusivity']")).to_have_value("who is left out?")
    expect(page.locator("fieldset.criterion:visible")).to_have_count(1)


KEEP = """() => {
  const { rater, study, task } = document.getElementById("rate").dataset;
  const kept = { form: { answers: { usefulness: "2", clarity: "2" } }, base: 0, at: Date.now() };
  localStorage.setItem(`calibrant:draft:${rater}:${study}:rate:${task}`, JSON.stringify(kept));
}"""
"""As a page keeps it that could not reach the server."""


def test_what_this_computer_kept_does_not_replace_what_was_just_typed(
    served: Served, visit: Callable[..., Page]
) -> None:
    study, name, page, scripts = early(served, visit)
    page.evaluate(KEEP)
    answer(page, "clarity", "5")
    scripts.come()
    scripted(page)
    expect(page.locator("#rate-notices")).to_contain_text("Put back")
    expect(page.locator("#save-words")).to_contain_text("Saved at")
    said = draft_of(study, name, item_of(page))
    assert said["answers"] == {"usefulness": "2", "clarity": "5"}


def test_scripts_that_come_after_the_form_was_taken_hand_nothing_in_twice(
    served: Served, visit: Callable[..., Page]
) -> None:
    """As where somebody handed in without scripts, and the answer is slow to come."""
    study, name, page, scripts = early(served, visit)
    item = item_of(page)
    for one in CRITERIA:
        answer(page, one, "4")
    key = Key(round=1, item=item, rater=name)
    form = {"answers": dict.fromkeys(CRITERIA, "4")}
    as_(study, name).submit(Submission(key=key, form=form, request="of the form"))
    scripts.come()
    expect(page.locator("#rate")).not_to_have_attribute("data-item", item)
    expect(page.locator("#clash")).not_to_be_visible()
    (rated,) = as_(study, name).my_ratings()
    assert (rated.key.item, rated.revision) == (item, 1)


@pytest.mark.parametrize("reverse", [False, True])
def test_modules_come_one_by_one_in_odd_orders(
    served: Served, visit: Callable[..., Page], reverse: bool
) -> None:
    study, name, page, scripts = early(served, visit)
    for at, module in enumerate(sorted(scripts.held, reverse=reverse)):
        if at % 3 == 0 and at // 3 < len(CRITERIA):
            answer(page, CRITERIA[at // 3], "3")
        scripts.come(module)
    scripted(page)
    expect(page.locator("#answered")).to_have_text("5 of 5 answered")
    item = item_of(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#rate")).not_to_have_attribute("data-item", item)
    (rated,) = as_(study, name).my_ratings()
    assert rated.answers == dict.fromkeys(CRITERIA, "3")


@pytest.mark.parametrize("lost", ["rate", "draft", "keys"])
def test_where_a_module_never_comes_the_page_is_a_form(
    served: Served, visit: Callable[..., Page], lost: str
) -> None:
    _, _, page, scripts = early(served, visit)
    item = item_of(page)
    answer(page, "usefulness", "1")
    scripts.get_lost(lost)
    scripts.come()
    page.wait_for_load_state()
    expect(page.locator("#rate.scripted")).to_have_count(0)
    expect(page.locator("main kbd:visible")).to_have_count(0)
    for one in CRITERIA[1:]:
        answer(page, one, "1")
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_text("Your draft is saved.")).to_be_visible()
    page.get_by_role("button", name="Hand in, next").click()
    expect(page.get_by_text(f"{item} is handed in.")).to_be_visible()


# -- adjudicating


def test_a_case_is_decided_while_the_scripts_come(
    served: Served, visit: Callable[..., Page]
) -> None:
    assert served.opened is not None
    rubric = FREE.model_copy(update={"version": f"1.{next(NUMBERS)}"})
    study = disagreeing(served.opened.plain, rubric)
    page = visit(served, "ada")
    page.goto(f"/s/{study.number}/adjudicate")
    page.wait_for_load_state("networkidle")
    page.locator("input[name=value][value='1']").check()
    page.locator("input[name=unclear]").check()
    before = len(as_(study, "ada").queue())

    scripts = opened(page, f"/s/{study.number}/adjudicate")
    expect(page.locator("main kbd:visible")).to_have_count(0)
    page.locator("input[name=value][value='3']").check()
    page.locator("#reason").click()
    page.keyboard.type("Part of ")
    scripts.come("page", "keys", "touched", "adjudicate_kept", "adjudicate")
    expect(page.locator("[data-adopt]").first).to_be_visible()
    page.keyboard.type("it fits.")
    expect(page.locator("input[name=value][value='3']")).to_be_checked()  # chosen last, here
    expect(page.locator("input[name=unclear]")).to_be_checked()  # kept from before
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status").first).to_contain_text("Settled")
    assert len(as_(study, "ada").queue()) == before - 1
    (one,) = [one for one in study.journal() if one.kind == "settled"]
    assert (one.body["value"], (one.words or {})["reason"]) == ("3", "Part of it fits.")

    # the next one, whose scripts never come
    scripts = opened(page, f"/s/{study.number}/adjudicate")
    scripts.get_lost("adjudicate_kept")
    scripts.come()
    page.wait_for_load_state()
    page.locator("input[name=value][value='2']").check()
    page.locator("input[name=source][value=new]").check()
    page.locator("#reason").fill("Too little.")
    page.get_by_role("button", name="Settle, and go on").click()
    expect(page.get_by_role("status").first).to_contain_text("Settled")
    assert len(as_(study, "ada").queue()) == before - 2


# -- files of items


def test_columns_are_chosen_before_the_scripts_come(
    served: Served, visit: Callable[..., Page]
) -> None:
    assert served.opened is not None
    made = create(served.opened.plain, "late-file", PLANS, lead="lena", clock=now, seed=1)
    page = visit(served, "lena")
    scripts = opened(page, f"/s/{made.number}/items")
    rows = b"id,goal,step one,what\np-1,Bake,Ask,x\n"
    page.set_input_files(
        "input[type=file]", {"name": "p.csv", "mimeType": "text/csv", "buffer": rows}
    )
    page.get_by_role("button", name="Read the file").click(no_wait_after=True)
    third = page.get_by_label("step one")
    expect(third).to_be_visible()
    third.select_option("action")
    page.get_by_label("what", exact=True).select_option("action")
    scripts.come()
    expect(third).to_have_attribute("aria-invalid", "true")  # told at once, though chosen before
    again = page.get_by_role("button", name="Read it again with these columns")
    expect(again).to_have_class("primary")
    page.get_by_label("what", exact=True).select_option("metric")
    expect(third).to_have_attribute("aria-invalid", "false")
    again.click()
    page.get_by_role("button", name="Take it in").click()
    expect(page.get_by_text("1 item taken in.")).to_be_visible()
