"""The whole story by keyboard alone: from the lead's spreadsheet to the adjudicated report."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Served
from tests.browser.keyboard import Hands

OWNER, ADJUDICATOR = "Olga", "Arno"
REVIEWERS = ("Rita", "Rob")
PASSWORD = "four plain words here"
ROWS = (
    ("dossier", "wish", "free time", "to be done", "till"),
    ("p-1", "Work as a baker", 6, "Visit two bakeries and ask for a trial day", "week 1"),
    ("p-2", "Learn to weld", 4, "Book a taster course at the college", "week 3"),
    ("p-3", "Drive a bus", 8, "Ask the bus company when its next course begins", "week 2"),
    ("p-4", "Keep bees for a living", 5, "Spend a day with a bee keeper", "week 5"),
    ("p-5", "Repair clocks", "many", "Write to a clock maker", "week 2"),
)
"""Columns under other names than ours, and a last row whose hours are no number."""
FIELDS = {
    "dossier": "id of the item",
    "wish": "profile: goal",
    "free time": "profile: hours a week",
    "to be done": "action: one row for each",
    "till": "deadline of the action",
}
TALKED_OVER = "Ten actions would be too many; one that fits is enough for a 4."
ACTS = (
    f"{OWNER} began the study with smart-action-plan@1.0",
    f"{OWNER} put version 1.0 of the rubric in force",
    f"{OWNER} added 4 items",
    *(f"{OWNER} let {name} join as reviewer" for name in REVIEWERS),
    f"{OWNER} let {ADJUDICATOR} join as adjudicator",
    f"{OWNER} planned round 1 (calibration) with 4 items",
    f"{OWNER} opened round 1 (calibration)",
    *(f"{name} read version 1.0 of the rubric" for name in REVIEWERS),
    f"{OWNER} closed round 1 (calibration)",
    f"{OWNER} recorded the discussion of usefulness of p-2 (round 1) with Rita, Rob",
    f"{OWNER} planned round 2 (main) with 4 items",
    f"{OWNER} opened round 2 although this was missing",
    f"{OWNER} opened round 2 (main)",
    f"{OWNER} closed round 2 (main)",
    f"{ADJUDICATOR} found no consensus on usefulness of p-3",
    f"{ADJUDICATOR} decided: usefulness of p-3 is 5",
)
"""The audit log of the study but for ratings, from its first line to its last."""
HANDED_IN = 2 * 2 * 4
"""Ratings: rounds, raters, items."""
DECIDED = "The one action can be done this week, so it is a 5."


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database; the secret of one on a server is kept where the program is started."""
    monkeypatch.chdir(tmp_path)
    return str(request.getfixturevalue(f"{request.param}_place"))


@pytest.fixture
def spreadsheet(tmp_path: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in ROWS:
        sheet.append(row)
    path = tmp_path / "plans.xlsx"
    book.save(path)
    return path


@pytest.fixture
def somebody(visit: Callable[..., Page]) -> Callable[[Served], Hands]:
    """A browser of one's own, with nobody signed in yet."""
    return lambda served: Hands(visit(served))


def test_a_study_by_keyboard_alone(
    place: str,
    serve: Callable[..., Served],
    somebody: Callable[[Served], Hands],
    spreadsheet: Path,
) -> None:
    served = serve(place, owner=OWNER)
    lead = somebody(served)
    comes_in_by_the_link(lead, served)
    begins_a_study(lead)
    uploads(lead, spreadsheet)
    links = invites(lead)
    plans_and_opens(lead, "Calibration", "Four plans are all there are this spring.")
    reviewers = {name: somebody(served) for name in REVIEWERS}
    for name, hands in reviewers.items():
        accepts(hands, links[name])
        reads_and_acknowledges(hands)
    rate_all(reviewers["Rita"], "44444")
    rate_all(reviewers["Rob"], "44444", unlike={"p-2": "14444"})
    closes_the_round(lead, 1)
    talks_it_over(lead)
    plans_and_opens(lead, "Main", "Agreement on four plans says little; the panel is small.")
    rate_all(reviewers["Rita"], "45454")
    rate_all(reviewers["Rob"], "45454", unlike={"p-3": "25454"})
    closes_the_round(lead, 2)
    adjudicator = somebody(served)
    accepts(adjudicator, links[ADJUDICATOR])
    settles_the_queue(adjudicator)
    reads_the_report(lead)
    takes_the_tables_out(lead, spreadsheet.with_name("tables.xlsx"))
    finds_every_act_in_the_log(lead)


def comes_in_by_the_link(lead: Hands, served: Served) -> None:
    printed = (served.folder / "server.log").read_text()
    found = re.search(r"Come in as (\w+), once, by +(\S+)", printed)
    assert found is not None and found[1] == OWNER
    lead.page.goto(found[2])
    lead.send("Enter")  # the button has the focus
    expect(lead.page.get_by_role("heading", name="My studies")).to_be_visible()


def begins_a_study(lead: Hands) -> None:
    lead.follow("link", "Begin a study")
    lead.write("Title", "Plans of one spring")
    lead.answer("action plan")
    lead.follow("button", "Begin the study", exact=True)
    expect(lead.page.get_by_role("link", name="Plans of one spring")).to_be_visible()


def uploads(lead: Hands, spreadsheet: Path) -> None:
    page = lead.page
    if not page.url.endswith("/items"):
        lead.follow("link", "Items", exact=True)
    # A file cannot be chosen by keyboard in a browser without a window; the rest can.
    page.set_input_files("input[type=file]", spreadsheet)
    lead.follow("button", "Read the file")
    expect(page.get_by_role("heading", name="Check the file")).to_be_visible()
    for column, field in FIELDS.items():
        lead.choose(column, field)
    lead.follow("button", "Read it again with these columns")
    bad = page.get_by_role("row", name=re.compile(r"^6 ")).first
    expect(bad).to_contain_text("free time")
    expect(bad).to_contain_text("number")
    lead.follow("button", "Take the 4 good ones")
    expect(page.get_by_text("4 items taken in.")).to_be_visible()


def invites(lead: Hands) -> dict[str, str]:
    """Add people, each with the link that lets them in once."""
    page = lead.page
    lead.follow("link", "People", exact=True)
    people = [(name, "reviewer") for name in REVIEWERS] + [(ADJUDICATOR, "adjudicator")]
    links = {}
    for name, role in people:
        lead.write("Name", name)
        for other in ("reviewer", "adjudicator"):
            box = page.get_by_role("checkbox", name=other)
            if box.is_checked() != (other == role):
                lead.reach("checkbox", other)
                lead.press("Space")
        lead.follow("button", "Add and invite", exact=True)
        links[name] = page.get_by_label(f"For {name}").input_value()
        lead.follow("link", "Done: back to people")
    return links


def plans_and_opens(lead: Hands, kind: str, why: str) -> None:
    """The workload is seen before the round is kept; what is missing is passed with a reason."""
    page = lead.page
    lead.follow("link", "Rounds", exact=True)
    lead.follow("link", re.compile("^Plan (a|the first) round"))
    lead.answer(re.compile(f"^{kind}"))
    if kind == "Calibration":
        lead.write("Items", "4", role="spinbutton")
    lead.follow("button", "Show the workload")
    for name in REVIEWERS:
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name))
        expect(row.get_by_role("cell", name="4", exact=True).first).to_be_visible()
    lead.follow("button", "Keep this round")
    shut = page.get_by_text("Open it all the same")
    if shut.is_visible():
        lead.unfold("Open it all the same")
        lead.write("Why", why)
        lead.follow("button", "Open it, though something is missing")
    else:
        lead.follow("button", "Open round")
    expect(page.get_by_text("is open.")).to_be_visible()


def accepts(hands: Hands, link: str) -> None:
    hands.page.goto(link)
    hands.write("Password", PASSWORD)
    hands.write("The same again", PASSWORD)
    hands.follow("button", "Come in")


def reads_and_acknowledges(hands: Hands) -> None:
    hands.follow("link", "Rate", exact=True)
    expect(hands.page.get_by_role("heading", name="Read the rubric first")).to_be_visible()
    hands.follow("button", "I have read it: begin")


def rate_all(hands: Hands, usual: str, *, unlike: dict[str, str] | None = None) -> None:
    """Four plans, five digits each; an answer by key leads on to the next criterion."""
    page = hands.page
    if "/rate" not in page.url:
        hands.follow("link", "Rate", exact=True)
    else:
        page.reload()
    for _ in range(4):
        heading = page.locator(".rate[data-item] h1")
        expect(heading).to_be_visible()
        item = str(page.locator(".rate").get_attribute("data-item"))
        for digit in (unlike or {}).get(item, usual):
            hands.press(digit)
        expect(page.locator("#answered")).to_contain_text("5 of 5")
        hands.press("Control+Enter")
        expect(page.locator(f".rate[data-item={item}]")).to_have_count(0)
    expect(page.get_by_role("heading", name="All done")).to_be_visible()


def closes_the_round(lead: Hands, number: int) -> None:
    lead.follow("link", "Rounds", exact=True)
    lead.follow("link", f"Round {number}")
    lead.follow("link", "Close the round")
    expect(lead.page.get_by_text("Every rating is in")).to_be_visible()
    lead.follow("button", f"Close round {number}")
    expect(lead.page.get_by_text(f"Round {number} is closed.")).to_be_visible()


def talks_it_over(lead: Hands) -> None:
    page = lead.page
    lead.follow("link", "Discuss", exact=True)
    expect(page.get_by_text("p-2")).to_be_visible()
    lead.follow("link", "Usefulness")
    for name in REVIEWERS:
        lead.tick(name)
    lead.press("r")
    page.keyboard.type(TALKED_OVER)
    lead.tick("The rubric is unclear here")
    lead.send("Control+Enter")
    expect(page.get_by_text("1 of 1")).to_be_visible()


def settles_the_queue(adjudicator: Hands) -> None:
    page = adjudicator.page
    adjudicator.follow("link", "Adjudicate", exact=True)
    expect(page.get_by_role("heading", name="Usefulness")).to_be_visible()
    expect(page.get_by_role("heading", name="The reviewers first")).to_be_visible()
    raters = page.get_by_role("checkbox", name=re.compile("^rater "))
    expect(raters).to_have_count(2)  # under letters: who said what is not shown
    for at in range(2):
        adjudicator.come_to(raters.nth(at))
        adjudicator.press("Space")
    adjudicator.press("r")
    page.keyboard.type("They talked for an hour, and each stands by their answer.")
    adjudicator.send("Control+Enter")
    expect(page.get_by_role("heading", name="The final answer")).to_be_visible()
    adjudicator.press("n")
    adjudicator.answer(re.compile("^5"))
    adjudicator.press("r")
    page.keyboard.type(DECIDED)
    adjudicator.send("Control+Enter")
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()


def reads_the_report(lead: Hands) -> None:
    """The figure that the adjudicator settled stands in it, and how it came about."""
    page = lead.page
    lead.follow("link", "Report", exact=True)
    settled = page.get_by_role("row").filter(has_text=DECIDED)
    expect(settled).to_contain_text("p-3")
    expect(settled.get_by_role("cell", name="5", exact=True)).to_be_visible()
    expect(page.get_by_text("The mean is 4.45 on a scale from 1 to 5.")).to_be_visible()


def takes_the_tables_out(lead: Hands, to: Path) -> None:
    lead.follow("link", "Exports", exact=True)
    with lead.page.expect_download() as coming:
        lead.reach("button", "Workbook")
        lead.press("Enter")
    coming.value.save_as(to)
    book = openpyxl.load_workbook(to)
    assert book["ratings"].max_row == 1 + 2 * 2 * 4 * 5  # rounds, raters, items, criteria
    finals = {row[:3] for row in book["finals"].iter_rows(values_only=True)}
    assert ("p-3", "usefulness", "5") in finals


def finds_every_act_in_the_log(lead: Hands) -> None:
    """What was done in the study stands there, in order; who came in and what left, elsewhere."""
    page = lead.page
    lead.follow("link", "Audit log", exact=True)
    expect(page.get_by_text(f"{len(ACTS) + HANDED_IN} lines")).to_be_visible()
    told = page.get_by_role("listitem").filter(has_text="as it is kept").all_inner_texts()
    told.sort(key=lambda line: int(line.rpartition("Line ")[2].partition(",")[0]))  # as kept
    for act, line in zip(ACTS, told, strict=True):
        assert act in line
    lead.follow("link", OWNER, exact=True)
    lead.follow("link", "Accounts of the workspace")
    lead.follow("link", "Audit log")
    rows = page.get_by_role("main").get_by_role("listitem")
    for name in (*REVIEWERS, ADJUDICATOR):
        expect(rows.filter(has_text=name).filter(has_text="link used")).to_have_count(1)
    expect(rows.filter(has_text=OWNER).filter(has_text="tables")).to_have_count(1)
