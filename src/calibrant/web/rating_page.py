"""The page on which one item is rated, or looked at again: what its template is given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from fastapi import Request
from markupsafe import Markup
from starlette.responses import Response

from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.core.study import Key, time_of, time_text
from calibrant.study.claim import Task
from calibrant.study.handle import Study
from calibrant.web.access import Seat, workspace_of
from calibrant.web.criterion_view import advice_of, asked_of, decided
from calibrant.web.forms import Difference, Filled
from calibrant.web.item_view import view_of
from calibrant.web.refs import task_ref
from calibrant.web.render import environment, page
from calibrant.web.shown_checks import shown_checks

HOLDER = "web"
"""One holder for all pages of a person: two tabs are told apart by the version of the draft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One item in hand: to be rated, or rated and looked at again."""

    key: Key
    item: Item
    rubric: Rubric
    form: Mapping[str, Any]
    version: int
    """Of the draft; of a rating that is looked at again, its revision."""
    correcting: bool = False
    is_open: bool = True
    """Whether the round is open, so that anything can be changed."""
    faults: Mapping[str, Sequence[str]] = field(default_factory=dict)
    clash: Sequence[Difference] = ()
    """Where another tab was quicker: in what this form differs from what is kept."""
    trouble: str = ""
    sitting: tuple[str, int] | None = None
    started_at: str = ""
    request: str = ""
    reason: str = ""


def sheet_of(task: Task, **more: Any) -> Sheet:
    """An assignment in hand, with what is saved of its draft."""
    given = {"form": task.draft or {}, "version": task.version, **more}
    return Sheet(key=task.key, item=task.item, rubric=task.rubric, **given)


def sheet_page(
    request: Request, seat: Seat, sheet: Sheet, *, status: int = 200, leaving: Key | None = None
) -> Response:
    """The page of one item: the item on one side, the form on the other.

    ``leaving`` is another item that is handed in by the time the page is shown.
    """
    study, rubric = seat.study, sheet.rubric
    place = study.place(sheet.key, token=HOLDER, leaving=leaving)
    duty = workspace_of(request).tallies.duty(study, sheet.key.round, leaving)
    return page(
        request,
        "rate.html",
        seat=seat,
        status=status,
        sheet=sheet,
        filled=Filled(sheet.form),
        item_html=item_html(sheet.item),
        asked=asked_of(rubric),
        guides=guides_of(rubric),
        advice=advice_html(rubric),
        decided=decided(rubric, sheet.item),
        checks=shown_checks(rubric, sheet.item),
        red_flags=rubric.red_flags or (),
        duty=duty,
        before=address(study, place.before if place is not None else None),
        after=address(study, place.after if place is not None else None),
        sitting=sheet.sitting or (new_sitting(study), 1),
        started_at=sheet.started_at or study.now(),
        act=sheet.request or token_hex(16),
        task=task_ref(sheet.key),
    )


def address(study: Study, key: Key | None) -> str:
    """Where one of the actor's assignments is rated; empty where there is none."""
    return "" if key is None else f"/s/{study.number}/rate/{task_ref(key)}"


def next_address(study: Study, key: Key) -> str:
    """Where one goes on after an item: the next one that is open, or else the first."""
    return address(study, study.following(key))


# -- sittings and times


def new_sitting(study: Study) -> str:
    """The name of a sitting that begins now."""
    return re.sub("[^0-9TZ]", "", study.now())


def read_sitting(text: str) -> tuple[str, int] | None:
    """A sitting and the place in it, as they stand in an address without scripts."""
    found = re.fullmatch(r"([0-9A-Za-z_-]{1,64})\.([0-9]{1,6})", text)
    return None if found is None else (found[1], int(found[2]))


def moment_given(study: Study, text: str) -> str | None:
    """When somebody began, as the page has it; None where it is no moment of the past."""
    try:
        return time_text(min(time_of(text), time_of(study.now())))
    except ValueError:
        return None


# -- what never changes is drawn once


_ITEMS: dict[tuple[str, str], Markup] = {}
MOST_KEPT, LARGEST_KEPT = 256, 100_000
"""Drawings of items that are kept for the next rater, and the characters of the largest."""


def item_html(item: Item) -> Markup:
    """An item, drawn; several raters read the same one, so the drawing is kept for a while."""
    name = (item.hash, item.id)
    drawn = _ITEMS.get(name)
    if drawn is None:
        part: Any = environment().get_template("parts/item.html").module
        drawn = Markup(part.item(view_of(item)))  # noqa: S704 - made by a template of ours
        if len(drawn) <= LARGEST_KEPT:
            if len(_ITEMS) >= MOST_KEPT:
                _ITEMS.clear()
            _ITEMS[name] = drawn
    return drawn


_GUIDES: dict[str, dict[str, Markup]] = {}
_ADVICE: dict[str, Markup] = {}


def guides_of(rubric: Rubric) -> dict[str, Markup]:
    """Everything there is to know about each criterion, drawn once for a version."""
    if rubric.hash not in _GUIDES:
        part: Any = environment().get_template("parts/criterion.html").module
        drawn = {one.id: Markup(part.guide(one).strip()) for one in asked_of(rubric)}  # noqa: S704
        _GUIDES[rubric.hash] = drawn
    return _GUIDES[rubric.hash]


def advice_html(rubric: Rubric) -> Markup:
    """Advice for all criteria, drawn once for a version."""
    if rubric.hash not in _ADVICE:
        part: Any = environment().get_template("parts/rate_advice.html").module
        _ADVICE[rubric.hash] = Markup(part.advice(advice_of(rubric)))  # noqa: S704
    return _ADVICE[rubric.hash]
