"""An adjudicator at the keyboard: three cases in a row, without touching a mouse."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.browser.conftest import Served
from tests.study.study_kit import as_
from tests.web.disagreeing import ITEM, QUOTE, RED, STRICT, disagreeing

from calibrant import Study


def served_study(serve: Callable[..., Served]) -> tuple[Served, Study]:
    served = serve()
    assert served.opened is not None
    return served, disagreeing(served.opened.plain)


def ready(page: Page, what: str) -> None:
    """A page has come, and knows its keys."""
    expect(page.locator("main")).to_contain_text(what)
    page.wait_for_load_state("networkidle")


def settled(study: Study) -> list[tuple[str, str, str, str | None, bool]]:
    return [
        (
            str(one.criterion),
            one.body["value"],
            one.body["source"],
            one.body["error"],
            one.body["unclear"],
        )
        for one in study.journal()
        if one.kind == "settled"
    ]


def test_three_cases_in_a_row_by_keyboard(
    serve: Callable[..., Served], visit: Callable[..., Page]
) -> None:
    served, study = served_study(serve)
    as_(study, "bob").raise_flag(ITEM, what="red_flag", flag=RED, evidence=[QUOTE])
    page = visit(served, "ada")
    page.goto(f"/s/{study.number}/adjudicate")
    waiting = len(as_(study, "ada").queue())

    # the flag comes first: safety
    ready(page, "Does it stand?")
    page.keyboard.press("x")
    page.keyboard.type("it is meant well, and nobody is hurt")
    page.keyboard.press("Control+Enter")
    ready(page, "The flag is rejected.")
    assert [one.state for one in study.flags()] == ["rejected"]

    # adopt somebody's answer
    first = as_(study, "ada").queue()[0]
    expect(page.locator("[data-settle] [name=criterion]")).to_have_value(first.criterion or "")
    page.keyboard.press("1")
    adopted = page.locator(".voice.adopted .voice-answer").inner_text()
    expect(page.locator("[name=source][value=adopted]")).to_be_checked()
    page.keyboard.press("r")
    page.keyboard.type("the first one reads it as the rubric does")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    page.keyboard.press("Control+Enter")
    ready(page, "Settled:")

    # decide anew, with what went wrong
    page.keyboard.press("n")
    expect(page.locator("[name=value]").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    chosen = page.locator("[name=value]:checked").input_value()
    page.keyboard.press("e")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.keyboard.type("neither saw it")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".queue summary")).to_contain_text(f"{waiting - 3} cases")
    (one, two) = settled(study)
    assert (one[1], one[2], one[4]) == (adopted, "adopted", True)
    assert two[1:4] == (chosen, "new", "misread_item")


def test_an_attempt_of_the_reviewers_is_noted_by_keyboard(
    serve: Callable[..., Served], visit: Callable[..., Page]
) -> None:
    served = serve()
    assert served.opened is not None
    study = disagreeing(served.opened.plain, STRICT)
    page = visit(served, "ada")
    page.goto(f"/s/{study.number}/adjudicate")
    ready(page, "The reviewers first")
    for key in ("1", "2", "2", "r"):
        page.keyboard.press(key)
    page.keyboard.type("each reads hours in another way")
    page.keyboard.press("Control+Enter")
    ready(page, "The answer is yours.")
    (entry,) = [one for one in study.journal() if one.kind == "no_consensus"]
    assert entry.body["participants"] == ["ann"]


def test_nothing_typed_is_lost_on_the_way(
    serve: Callable[..., Served], visit: Callable[..., Page]
) -> None:
    served, study = served_study(serve)
    page = visit(served, "ada")
    page.goto(f"/s/{study.number}/adjudicate")
    ready(page, "Case 1 of")
    title = page.get_by_role("heading", level=1).inner_text()
    page.keyboard.press("2")
    page.keyboard.press("r")
    page.keyboard.type("half a reason, 1 and j are letters here")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    ready(page, "Case 2 of")
    page.keyboard.press("k")
    ready(page, "Case 1 of")
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(page.get_by_label("Why", exact=False).first).to_have_value(
        "half a reason, 1 and j are letters here"
    )
    expect(page.locator("[name=value]:checked")).to_have_count(1)
    page.context.clear_cookies()  # the login ends while somebody types
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.context.add_cookies([served.cookie("ada")])  # type: ignore[list-item]
    page.goto(f"/s/{study.number}/adjudicate")
    ready(page, "Case 1 of")
    expect(page.get_by_label("Why", exact=False).first).to_have_value(
        "half a reason, 1 and j are letters here"
    )
    page.get_by_label("Why", exact=False).first.fill("")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")  # a reason is required: the browser says so
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    assert settled(study) == []


def test_two_raters_talk_it_over(serve: Callable[..., Served], visit: Callable[..., Page]) -> None:
    served, study = served_study(serve)
    bob = visit(served, "bob")
    bob.goto(f"/s/{study.number}/discuss")
    bob.get_by_role("link", name="Go on with the next one").press("Enter")
    ready(bob, "Nobody has said anything yet")
    bob.keyboard.press("c")
    bob.keyboard.type("an hour a day is enough, I think")
    bob.keyboard.press("Control+Enter")
    expect(bob.locator(".thread li.own")).to_contain_text("an hour a day is enough")
    ann = visit(served, "ann")
    ann.goto(bob.url.removeprefix(served.url))
    expect(ann.locator(".thread li")).to_contain_text("rater")
    expect(ann.locator(".thread li")).to_contain_text("an hour a day is enough")
    ready(ann, "an hour a day is enough")
    for box in ann.get_by_role("group", name="Who took part").get_by_role("checkbox").all():
        box.press("Space")
    ann.locator("[name=value]").nth(1).press("Space")
    ann.locator("#outcome").press_sequentially("we read the hours together")
    ann.keyboard.press("Control+Enter")
    expect(ann.get_by_role("status")).to_contain_text("Settled by consensus")
    (entry,) = [one for one in study.journal() if one.kind == "settled"]
    assert entry.body["participants"] == ["ann", "bob"]
