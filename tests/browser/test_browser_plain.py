"""Pages with JavaScript switched off: everything that forms allow still goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Served, free_port
from tests.study.study_kit import as_
from tests.web.disagreeing import FREE, ITEM, disagreeing
from tests.web.rate_kit import rating_study

from calibrant import compose
from calibrant.compose import now
from calibrant.core.rubric import Rubric
from calibrant.core.study import Key

pytestmark = pytest.mark.xdist_group("plain")
PASSWORD = "four plain words here"
Plain = Callable[..., Page]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("plain")
    made = Served(str(folder / "work.db"), folder, free_port(), more=("--owner", "lena"))
    made.opened = compose.open_workspace(made.place, create=True)
    made.start()
    yield made
    made.stop()
    made.opened.close()


@pytest.fixture
def plain(visit: Callable[..., Page]) -> Plain:
    """A browser without scripts: ``plain(served, "ann")``."""
    return lambda served, name=None: visit(served, name, java_script_enabled=False)


def test_somebody_signs_in_with_a_password(served: Served, plain: Plain) -> None:
    assert served.opened is not None
    opened = served.opened
    opened.owners.add("ann", owner=False, by="tests")
    opened.links.accept(opened.links.reset_unasked("ann", by="tests"), PASSWORD)
    page = plain(served)
    page.goto("/account")
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill("not this one at all")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="ann")).to_be_visible()  # the page that was asked for
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()


def test_an_item_is_rated(served: Served, plain: Plain) -> None:
    """Faults are told beside the form with all that was typed; a draft waits; it is handed in."""
    assert served.opened is not None
    study = rating_study(served.opened.plain, clock=now)
    page = plain(served, "ann")
    page.goto(f"/s/{study.number}/rate")
    item = str(page.locator(".rate").get_attribute("data-item"))
    page.locator("input[name='answers.realism'][value='3']").check()
    page.get_by_role("button", name="Hand in, next").click()
    expect(page.get_by_role("alert").first).to_contain_text("Not handed in yet")
    expect(page.locator("input[name='answers.realism'][value='3']")).to_be_checked()
    expect(page.locator("#criterion-usefulness .wrong").first).not_to_be_empty()

    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_text("Your draft is saved.")).to_be_visible()
    key = Key(round=1, item=item, rater="ann")
    kept = study.store.read(lambda tx: tx.draft(study.number, key))
    assert kept is not None and kept.body["answers"] == {"realism": "3"}

    for criterion in ("usefulness", "smart_adherence", "inclusivity", "clarity"):
        page.locator(f"input[name='answers.{criterion}'][value='4']").check()
    page.get_by_role("button", name="Hand in, next").click()
    expect(page.get_by_text(f"{item} is handed in.")).to_be_visible()
    expect(page.locator(".rate")).not_to_have_attribute("data-item", item)
    (rated,) = as_(study, "ann").my_ratings()
    assert rated.key.item == item


def test_a_disagreement_is_settled(served: Served, plain: Plain) -> None:
    assert served.opened is not None
    study = disagreeing(served.opened.plain, FREE.model_copy(update={"version": "1.1"}))
    page = plain(served, "ada")
    page.goto(f"/s/{study.number}/adjudicate")
    before = len(as_(study, "ada").queue())
    item = page.get_by_text(ITEM).first
    expect(item).to_be_visible()
    page.get_by_role("button", name="Settle, and go on").click()
    page.locator("input[name=value][value='3']").check()
    page.locator("input[name=source][value=new]").check()
    page.locator("#reason").fill("Between the two: part of it fits.")
    page.get_by_role("button", name="Settle, and go on").click()
    expect(page.get_by_role("status")).to_be_visible()
    assert len(as_(study, "ada").queue()) == before - 1


def test_a_study_is_begun(served: Served, plain: Plain, plans: Rubric) -> None:
    page = plain(served, "lena")
    page.goto("/studies/new")
    page.get_by_label("Title").fill("Begun without scripts")
    page.get_by_role("radio", name=plans.title).check()
    page.get_by_role("button", name="Begin the study").last.click()
    expect(page.get_by_role("link", name="Begun without scripts")).to_be_visible()
    page.set_input_files(
        "input[type=file]",
        {"name": "p.csv", "mimeType": "text/csv", "buffer": b"id,goal,action\np-1,Bake,Ask\n"},
    )
    page.get_by_role("button", name="Read the file").click()
    page.get_by_role("button", name="Take it in").click()
    expect(page.get_by_text("1 item taken in.")).to_be_visible()
