"""Rating in a real browser: by keyboard alone, and whatever happens to the network."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import create_engine, text
from tests.browser.conftest import Served
from tests.study.study_kit import as_
from tests.web.rate_kit import rating_study

from calibrant import Study, compose
from calibrant.core.study import Key, Rating

pytestmark = pytest.mark.xdist_group("browser-rate")
Visit = Callable[..., Page]
NUMBERS = count(1)
SAVED = "Saved at"


@dataclass
class Work:
    """A study that somebody rates in, seen from the outside."""

    served: Served
    study: Study
    name: str

    @property
    def mine(self) -> Study:
        return as_(self.study, self.name)

    def ratings(self) -> list[Rating]:
        return self.mine.my_ratings()

    def draft(self, item: str) -> dict[str, Any]:
        key = Key(round=1, item=item, rater=self.name)
        found = self.study.store.read(lambda tx: tx.draft(self.study.number, key))
        return {} if found is None else dict(found.body)

    @property
    def address(self) -> str:
        return f"/s/{self.study.number}/rate"


def begun(served: Served, kind: str = "plan", **more: Any) -> Work:
    number = next(NUMBERS)
    name = f"ann{number}"
    assert served.opened is not None
    study = rating_study(
        served.opened.plain, kind, clock=compose.now, raters=(name,), name=f"s{number}", **more
    )
    return Work(served, study, name)


def at_work(work: Work, visit: Visit, **options: Any) -> Page:
    """The page of the first item, ready for keys."""
    page = visit(work.served, work.name, **options)
    page.goto(work.address)
    ready(page)
    return page


def ready(page: Page) -> None:
    expect(page.locator("#rate.scripted")).to_be_attached()


def item_of(page: Page) -> str:
    return str(page.locator("#rate").get_attribute("data-item"))


def told(page: Page, words: str) -> None:
    expect(page.locator("#save-words")).to_contain_text(words)


def handed_in(page: Page, before: str) -> None:
    page.keyboard.press("Control+Enter")
    expect(page.locator("#rate")).not_to_have_attribute("data-item", before)


# -- by keyboard


def answer_all(page: Page, keys: str) -> None:
    """One key a criterion; where something is asked beside the answer, the arrow goes on."""
    for key, criterion in zip(keys, page.locator("fieldset.criterion").all(), strict=True):
        page.keyboard.press(key)
        if criterion.get_attribute("data-goes-on") is None:
            page.keyboard.press("ArrowDown")


@pytest.mark.parametrize(
    ("kind", "keys"), [("plan", "45342"), ("response", "350"), ("conversation", "ynyyyanyyyyyyn")]
)
def test_an_item_of_each_rubric_is_rated_by_keyboard_alone(
    served: Served, visit: Visit, kind: str, keys: str
) -> None:
    work = begun(served, kind)
    page = at_work(work, visit)
    item = item_of(page)
    answer_all(page, keys)
    expect(page.locator("#answered")).to_have_text(f"{len(keys)} of {len(keys)} answered")
    told(page, SAVED)
    handed_in(page, item)
    (rating,) = work.ratings()
    ruled = rating.facts.get("reasons", {})
    words = {"y": "YES", "n": "NO", "a": "NA"}
    given = [value for name, value in rating.answers.items() if name not in ruled]
    assert given == [words.get(key, key) for key in keys]
    assert rating.facts["sitting"]["position"] == 1
    # the next item is there without a new page, with the first criterion in focus
    expect(page.locator("fieldset.criterion").first).to_be_focused()
    expect(page.locator("#rate-notices")).to_contain_text(f"{item} is handed in.")
    assert page.url.endswith(str(page.locator("#rate").get_attribute("data-task")))
    # u opens what was just handed in
    page.keyboard.press("u")
    expect(page.locator("h1")).to_have_text(f"My rating of {item}")


def test_the_next_item_is_read_while_this_one_is_finished(served: Served, visit: Visit) -> None:
    work = begun(served)
    page = at_work(work, visit)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/rate/" in one.url else None)
    item = item_of(page)
    with page.expect_response(lambda one: "leaving=" in one.url) as ahead:
        answer_all(page, "45342")
    read = re.search('name="started_at" value="([^"]+)"', ahead.value.text())
    told(page, SAVED)
    assert item_of(page) == item  # nothing is shown before its time
    handed_in(page, item)
    assert [one.split("?")[1].split("=")[0] for one in asked] == ["leaving"]
    # what is handed in by now is neither before this one nor still to be done
    expect(page.locator(".rate-progress .numbers")).to_have_text(re.compile("^2 of"))
    expect(page.locator("#rate")).to_have_attribute("data-before", "")
    # the work on it began when it was shown
    started = page.locator("#rating [name=started_at]").input_value()
    assert read is not None
    assert datetime.fromisoformat(started) > datetime.fromisoformat(read[1])


def test_what_was_read_ahead_is_not_shown_where_it_has_changed(
    served: Served, visit: Visit
) -> None:
    work = begun(served)
    page = at_work(work, visit)
    item = item_of(page)
    with page.expect_response(lambda one: "leaving=" in one.url):
        answer_all(page, "45342")
    told(page, SAVED)
    other = page.context.new_page()  # meanwhile the next item is begun in another tab
    other.goto(str(page.locator("#rate").get_attribute("data-after")))
    ready(other)
    other.keyboard.press("2")
    told(other, SAVED)
    handed_in(page, item)
    assert item_of(page) == item_of(other)
    expect(page.locator('input[name="answers.usefulness"]:checked')).to_have_value("2")


def test_keys_do_nothing_while_somebody_types(served: Served, visit: Visit) -> None:
    page = at_work(begun(served), visit)
    page.keyboard.press("m")
    page.keyboard.type("4 nurseries are too many ?")
    expect(page.locator("input:checked")).to_have_count(0)
    expect(page.locator("#keys")).not_to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("fieldset.criterion").first).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("5")
    expect(page.locator("input:checked")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("5")
    expect(page.locator('input[name="answers.usefulness"]:checked')).to_have_value("5")


def test_arrows_go_from_item_to_item_and_lose_nothing(served: Served, visit: Visit) -> None:
    work = begun(served)
    page = at_work(work, visit)
    first = item_of(page)
    page.keyboard.press("4")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#rate")).not_to_have_attribute("data-item", first)
    assert work.draft(first)["answers"] == {"usefulness": "4"}
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#rate")).to_have_attribute("data-item", first)
    expect(page.locator('input[name="answers.usefulness"]:checked')).to_have_value("4")
    page.go_back()
    expect(page.locator("#rate")).not_to_have_attribute("data-item", first)


def test_undo_borderline_and_what_is_missing(served: Served, visit: Visit) -> None:
    work = begun(served)
    page = at_work(work, visit)
    for key in "4445":
        page.keyboard.press(key)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("b")
    expect(page.locator('textarea[name="notes.inclusivity"]')).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#rate-notices")).to_contain_text("2 things to put right")
    wrong = page.locator('[id="wrong-notes.inclusivity"]')
    expect(wrong).to_contain_text("has no note")
    expect(page.locator('[id="wrong-answers.clarity"]')).to_contain_text("Not answered")
    expect(page.locator('textarea[name="notes.inclusivity"]')).to_be_focused()
    page.keyboard.type("between two")
    expect(wrong).to_be_empty()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator('textarea[name="notes.inclusivity"]')).to_have_value("")
    page.keyboard.press("u")
    expect(page.locator('input[name="borderline.inclusivity"]')).not_to_be_checked()
    page.keyboard.press("u")
    expect(page.locator('input[name="answers.inclusivity"]:checked')).to_have_count(0)
    told(page, SAVED)
    assert work.draft(item_of(page))["answers"] == dict.fromkeys(
        ("usefulness", "smart_adherence", "realism"), "4"
    )


def test_one_criterion_at_a_time_is_remembered(served: Served, visit: Visit) -> None:
    page = at_work(begun(served), visit)
    page.keyboard.press("o")
    expect(page.locator("fieldset.criterion:visible")).to_have_count(1)
    page.keyboard.press("3")
    expect(page.locator("fieldset.criterion:visible .criterion-name")).to_have_text(
        "SMART Adherence"
    )
    page.reload()
    ready(page)
    expect(page.locator("fieldset.criterion:visible")).to_have_count(1)
    page.keyboard.press("g")
    expect(page.locator("fieldset.criterion:visible .guide-body")).to_be_visible()
    page.keyboard.press("o")
    expect(page.locator("fieldset.criterion:visible")).to_have_count(5)


def test_the_lead_is_asked_without_leaving_the_page(served: Served, visit: Visit) -> None:
    work = begun(served)
    page = at_work(work, visit)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("q")
    page.keyboard.type("Does a bus count as means?")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#rate-notices")).to_contain_text("with the lead")
    (asked,) = work.study.questions()
    assert (asked.text, asked.criterion) == ("Does a bus count as means?", "smart_adherence")


# -- evidence

SELECT = """([part, from, to]) => {
  const block = document.querySelector(`[data-part="${part}"]`);
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let started = false;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const first = node.data.indexOf(from);
    if (!started && first >= 0) { range.setStart(node, first); started = true; }
    const last = node.data.indexOf(to);
    if (started && last >= 0) { range.setEnd(node, last + to.length); break; }
  }
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}"""


def test_selected_words_become_quotations_as_they_were_written(
    served: Served, visit: Visit
) -> None:
    work = begun(served, "response")
    page = at_work(work, visit)
    page.evaluate(SELECT, ["response", "two ways", "post"])
    expect(page.locator("#picked-to")).to_have_text("Accuracy")
    page.keyboard.press("e")
    quote = page.locator('textarea[name="evidence.accuracy"]').first
    expect(quote).to_have_value(
        "**two ways** to do it:\n\n1. Ask the *office* for the form.\n2. Send it `by post`"
    )
    assert page.evaluate("CSS.highlights.get('evidence').size") == 1
    page.keyboard.press("f")
    page.evaluate(SELECT, ["question", "How do I", "permit"])
    page.keyboard.press("f")
    page.keyboard.press("Space")
    flagged = page.locator('textarea[name="flag_evidence.condescending"]').first
    expect(flagged).to_have_value("How do I apply for permit")
    told(page, SAVED)
    item = item_of(page)
    page.keyboard.press("Escape")
    for key in ("4", "ArrowDown", "4", "ArrowDown", "4"):
        page.keyboard.press(key)
    page.locator('fieldset[data-criterion="accuracy"]').focus()
    for key in ("4", "ArrowDown", "4", "ArrowDown", "4"):
        page.keyboard.press(key)
    handed_in(page, item)
    (rating,) = work.ratings()
    assert rating.facts["flags"] == ["condescending"]
    assert rating.words is not None and "`by post" in rating.words["evidence"]["accuracy"][0]


CASES = [
    ("plain words here", "plain words", "plain words"),
    ("a **bold** word", "a bold word", "a **bold** word"),
    ("a **bold** word", "bold", "bold"),
    ("see [the page](https://a.b/c_(d)) now", "the page now", "[the page](https://a.b/c_(d)) now"),
    ("1. one\n2. two", "one\ntwo", "one\n2. two"),
    ("> said *so*\n> again", "said so again", "said *so*\n> again"),
    ("salt &amp; pepper", "salt & pepper", "salt &amp; pepper"),
    ("two\n\nparts", "two parts", "two\n\nparts"),
    ("**a** * b", "* b", "* b"),
    ("ask about *seasonal work*", "about seasonal work", "about *seasonal work*"),
    ("```python\nx = 1\n```\nthen", "x = 1 then", "x = 1\n```\nthen"),
    ("| a | b |\n|---|---|\n| 1 | 2 |", "a b 1 2", "a | b |\n|---|---|\n| 1 | 2"),
    ("a \\* star", "a * star", "a \\* star"),
]


def test_words_without_their_marks_are_found_in_what_was_written(
    served: Served, visit: Visit
) -> None:
    page = at_work(begun(served), visit)
    script = str(page.locator("script[src*='js/rate.js']").get_attribute("src"))
    address = script.replace("rate.js", "evidence_text.js")
    found = page.evaluate(
        "async ([from, cases]) => { const { quoteFrom } = await import(from);"
        " return cases.map(([source, words]) => quoteFrom(source, words)?.text); }",
        [address, CASES],
    )
    assert found == [wanted for _, _, wanted in CASES]
    part = page.evaluate(
        "async (from) => { const { quoteFrom } = await import(from); return ["
        " quoteFrom('one thing and another', 'one thing never said', ['one thing', 'never said']),"
        " quoteFrom('one thing', 'nothing of the kind')]; }",
        address,
    )
    assert part == [{"text": "one thing", "whole": False}, None]


# -- whatever happens


def test_a_cut_network_loses_nothing(served: Served, visit: Visit) -> None:
    work = begun(served)
    page = at_work(work, visit)
    item = item_of(page)
    page.keyboard.press("4")
    told(page, SAVED)
    page.context.set_offline(True)
    page.keyboard.press("3")
    told(page, "Not saved: no connection, kept on this computer, trying again")
    assert work.draft(item)["answers"] == {"usefulness": "4"}
    for key in "345":
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    told(page, "Not handed in: no connection, kept on this computer, trying again")
    assert work.ratings() == []
    page.context.set_offline(False)
    expect(page.locator("#rate")).not_to_have_attribute("data-item", item, timeout=20_000)
    (rating,) = work.ratings()
    assert list(rating.answers.values()) == ["4", "3", "3", "4", "5"]


def test_what_was_typed_offline_is_put_back_after_the_laptop_was_closed(
    served: Served, visit: Visit
) -> None:
    work = begun(served)
    page = at_work(work, visit)
    page.context.set_offline(True)
    for key in "45":
        page.keyboard.press(key)
    told(page, "kept on this computer")
    page.close()
    page.context.set_offline(False)
    again = page.context.new_page()
    again.goto(work.address)
    ready(again)
    expect(again.locator("#rate-notices")).to_contain_text("Put back")
    expect(again.locator("#answered")).to_have_text("2 of 5 answered")
    told(again, SAVED)
    assert work.draft(item_of(again))["answers"] == {"usefulness": "4", "smart_adherence": "5"}
    again.reload()
    ready(again)
    expect(again.locator("#rate-notices")).to_be_empty()


def test_a_server_killed_between_two_clicks_loses_nothing(
    serve: Callable[..., Served], visit: Visit
) -> None:
    own = serve()
    work = begun(own)
    page = at_work(work, visit)
    item = item_of(page)
    page.keyboard.press("4")
    told(page, SAVED)
    own.kill()
    page.keyboard.press("3")
    told(page, "Not saved: no connection, kept on this computer")
    assert work.draft(item)["answers"] == {"usefulness": "4"}
    own.start()
    expect(page.locator("#save-words")).to_contain_text(SAVED, timeout=20_000)
    assert work.draft(item)["answers"] == {"usefulness": "4", "smart_adherence": "3"}
    for key in "335":
        page.keyboard.press(key)
    own.kill()
    page.keyboard.press("Control+Enter")
    told(page, "Not handed in")
    own.start()
    expect(page.locator("#rate")).not_to_have_attribute("data-item", item, timeout=20_000)
    (rating,) = work.ratings()
    assert (rating.key.item, rating.revision) == (item, 1)


def test_an_answer_that_was_lost_on_the_way_makes_no_second_rating(
    served: Served, visit: Visit
) -> None:
    work = begun(served)
    page = at_work(work, visit)
    item = item_of(page)
    for key in "44444":
        page.keyboard.press(key)
    told(page, SAVED)
    lost: list[str] = []

    def lose(route: Any) -> None:
        if not lost:
            route.fetch()
            lost.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    page.route("**/rating", lose)
    handed_in(page, item)
    assert len(lost) == 1
    (rating,) = work.ratings()
    assert rating.revision == 1


def test_two_computers_are_shown_both_versions(served: Served, visit: Visit) -> None:
    work = begun(served)
    one, two = at_work(work, visit), at_work(work, visit)
    item = item_of(one)
    one.keyboard.press("2")
    told(one, SAVED)
    two.keyboard.press("5")
    two.keyboard.press("3")
    dialog = two.locator("#clash")
    expect(dialog).to_be_visible()
    told(two, "Changed in another tab")
    assert work.draft(item)["answers"] == {"usefulness": "2"}
    row = dialog.locator("tr[data-field='answers.usefulness']")
    expect(row).to_contain_text("5")
    expect(row).to_contain_text("2")
    row.locator("input[value=there]").check()
    dialog.get_by_role("button", name="Keep what is chosen").click()
    told(two, SAVED)
    assert work.draft(item)["answers"] == {"usefulness": "2", "smart_adherence": "3"}


def test_two_tabs_of_one_browser_keep_up_with_each_other(served: Served, visit: Visit) -> None:
    work = begun(served)
    page = at_work(work, visit)
    other = page.context.new_page()
    other.goto(work.address)
    ready(other)
    page.keyboard.press("2")
    expect(other.locator("#rate-notices")).to_contain_text("another tab")
    expect(other.locator('input[name="answers.usefulness"]:checked')).to_have_value("2")
    other.keyboard.press("ArrowDown")
    other.keyboard.press("4")
    told(other, SAVED)
    assert work.draft(item_of(page))["answers"] == {"usefulness": "2", "smart_adherence": "4"}


def test_what_was_handed_in_elsewhere_is_corrected_not_replaced(
    served: Served, visit: Visit
) -> None:
    work = begun(served)
    one, two = at_work(work, visit), at_work(work, visit)
    item = item_of(one)
    for key in "44444":
        one.keyboard.press(key)
    handed_in(one, item)
    for key in "22222":
        two.keyboard.press(key)
    expect(two.locator("#clash")).to_contain_text("handed in already")
    two.get_by_role("button", name="Correct it with what is here").click()
    expect(two.locator("h1")).to_have_text(f"My rating of {item}")
    expect(two.locator("#answered")).to_have_text("5 of 5 answered")
    told(two, "not handed in")
    two.keyboard.press("Control+Enter")
    expect(two.locator("h1")).to_have_text("My ratings")
    (rating,) = work.ratings()
    assert (rating.revision, set(rating.answers.values())) == (2, {"2"})


def test_an_expired_login_loses_nothing_and_mixes_up_nobody(served: Served, visit: Visit) -> None:
    work = begun(served)
    page = at_work(work, visit)
    item = item_of(page)
    page.context.clear_cookies()
    page.keyboard.press("4")
    told(page, "Signed out: sign in in another tab, nothing is lost")
    expect(page.locator("#save-state a")).to_have_attribute("href", "/sign-in")
    work.study.add_member("someone")
    page.context.add_cookies([served.cookie("someone")])  # type: ignore[list-item]
    page.evaluate("dispatchEvent(new Event('focus'))")
    told(page, "Somebody else is signed in now: nothing is sent")
    assert work.draft(item) == {}
    page.reload()  # the other person sees nothing of it
    expect(page.locator("body")).not_to_contain_text("Put back")
    page.context.clear_cookies()
    page.context.add_cookies([served.cookie(work.name)])  # type: ignore[list-item]
    page.goto(work.address)
    expect(page.locator("#rate-notices")).to_contain_text("Put back")
    told(page, SAVED)
    # signed in again in another tab: this one goes on by itself
    page.context.clear_cookies()
    page.keyboard.press("3")
    told(page, "Signed out")
    page.context.add_cookies([served.cookie(work.name)])  # type: ignore[list-item]
    page.evaluate("dispatchEvent(new Event('focus'))")
    told(page, SAVED)
    assert work.draft(item)["answers"] == {"usefulness": "4", "smart_adherence": "3"}


def over(served: Served) -> None:
    """The time of every lease is over."""
    engine = create_engine(f"sqlite:///{served.place}")
    past = "UPDATE assignment SET leased_until = '2020-01-01T00:00:00.000000Z' WHERE lease > ''"
    with engine.begin() as connection:
        connection.execute(text(past))
    engine.dispose()


def test_a_lease_that_is_over_is_taken_up_again_unless_somebody_else_has_it(
    served: Served, visit: Visit
) -> None:
    work = begun(served)
    page = at_work(work, visit)
    item = item_of(page)
    over(served)
    page.keyboard.press("4")
    told(page, SAVED)
    over(served)
    key = Key(round=1, item=item, rater=work.name)
    (task,) = work.mine.claim(token="terminal", key=key)
    page.keyboard.press("3")
    told(page, "open in another place")
    told(page, "kept on this computer")
    assert work.draft(item)["answers"] == {"usefulness": "4"}
    assert work.mine.release(task.key, token="terminal")
    page.evaluate("dispatchEvent(new Event('focus'))")
    told(page, SAVED)
    assert work.draft(item)["answers"] == {"usefulness": "4", "smart_adherence": "3"}


def test_a_round_that_closes_meanwhile_is_said_and_nothing_typed_is_dropped(
    served: Served, visit: Visit
) -> None:
    work = begun(served)
    page = at_work(work, visit)
    work.study.close_round(1, reason="time is up")
    page.keyboard.press("4")
    told(page, "Not saved: round 1 is closed")
    told(page, "kept on this computer")


def test_a_pause_is_suggested_once_and_begins_a_new_sitting(served: Served, visit: Visit) -> None:
    work = begun(served)
    page = at_work(work, visit)
    page.evaluate(
        "() => { const key = Object.keys(localStorage).find((one) => one.includes(':sitting:'));"
        " const kept = JSON.parse(localStorage.getItem(key));"
        " localStorage.setItem(key, JSON.stringify({ ...kept, count: 25 })); }"
    )
    page.reload()
    ready(page)
    expect(page.locator("#rate-notices")).to_contain_text("You have rated 25 items")
    before = page.locator('input[name="sitting.id"]').input_value()
    page.get_by_role("button", name="I take a pause").click()
    assert page.locator('input[name="sitting.id"]').input_value() != before
    page.reload()
    ready(page)
    expect(page.locator("#rate-notices")).to_be_empty()
    expect(page.locator('input[name="sitting.position"]')).to_have_value("1")


@pytest.mark.parametrize("kind", ["plan", "response", "conversation"])
def test_it_fits_a_phone(served: Served, visit: Visit, kind: str) -> None:
    page = at_work(
        begun(served, kind), visit, viewport={"width": 360, "height": 640}, has_touch=True
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    expect(page.locator("#submit")).to_be_in_viewport()
    page.locator("fieldset.criterion label.answer").first.tap()
    told(page, SAVED)
    expect(page.locator("#answered")).to_contain_text("1 of")


def test_nothing_that_one_person_typed_is_shown_to_the_next_at_the_same_computer(
    served: Served, visit: Visit
) -> None:
    work = begun(served)
    page = at_work(work, visit)
    work.study.add_member("next")
    page.context.set_offline(True)
    page.keyboard.press("4")
    told(page, "kept on this computer")
    page.context.set_offline(False)
    page.context.clear_cookies()
    page.context.add_cookies([served.cookie("next")])  # type: ignore[list-item]
    page.goto(work.address)
    expect(page.locator("h1")).to_have_text("Nothing to rate yet")
