"""Flags: red flags with their quotations, edge cases for the team to talk over, what to review."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData
from starlette.responses import Response

from calibrant.study.flags import Flag, FlagKind
from calibrant.web.access import Routes, Seat, member
from calibrant.web.attempts import number_of, text_of, trouble_of, typed
from calibrant.web.render import page, redirect

routes = Routes()
EVERYBODY = member("lead", "reviewer", "adjudicator", "viewer")
LISTS: tuple[tuple[FlagKind, str, str], ...] = (
    ("red_flag", "Red flags", "One red flag that is not decided keeps its item from passing."),
    ("edge_case", "Edge cases", "Items that the rubric does not quite foresee, to talk over."),
    ("review", "To review", "Items that somebody wants looked at."),
)
PAGE = 50
"""Flags on one page."""


@routes.get("/s/{study}/flags", access=EVERYBODY)
def flags(
    request: Request, seat: Seat, what: str = "red_flag", state: str = "raised", at: int = 1
) -> Response:
    """Flags of one kind, open or decided, as far as one may see them."""
    return page(request, "flags.html", seat=seat, **_values(seat, what, state, at))


@routes.post("/s/{study}/flags", access=member("lead", "reviewer", "adjudicator"))
def raise_flag(request: Request, seat: Seat, form: FormData) -> Response:
    """Flag an item: a red flag with words of the item, an edge case, something to review."""
    what: FlagKind = text_of(form, "what")  # type: ignore[assignment]
    quotes = [one.strip() for one in text_of(form, "evidence").splitlines() if one.strip()]
    item = text_of(form, "item")
    trouble = trouble_of(
        lambda: seat.study.raise_flag(
            item,
            what=what,
            flag=text_of(form, "flag") or None,
            evidence=quotes,
            reason=text_of(form, "reason"),
        )
    )
    if trouble:
        values = _values(seat, str(what), "raised", 1) | {"trouble": trouble, "typed": typed(form)}
        return page(request, "flags.html", seat=seat, status=422, **values)
    return redirect(request, f"{seat.path}/flags?what={what}", f"{item} is flagged.")


@routes.post("/s/{study}/flags/decide", access=member("lead", "adjudicator"))
def decide(request: Request, seat: Seat, form: FormData) -> Response:
    """Confirm or reject a flag, and the same red flag that others raised on the item."""
    number, reason = number_of(form, "number"), text_of(form, "reason")
    what, confirms = text_of(form, "what"), text_of(form, "decision") == "confirm"
    trouble = trouble_of(lambda: seat.study.decide_flag(number, confirm=confirms, reason=reason))
    if trouble:
        values = _values(seat, what, "raised", 1)
        values |= {"trouble": trouble, "typed": typed(form), "failed": number}
        return page(request, "flags.html", seat=seat, status=422, **values)
    said = "confirmed" if confirms else "rejected"
    kind = what if what in [name for name, _, _ in LISTS] else "red_flag"
    return redirect(request, f"{seat.path}/flags?what={kind}", f"Flag {number} is {said}.")


def _values(seat: Seat, what: str, state: str, at: int) -> dict[str, Any]:
    kinds = {name: (title, told) for name, title, told in LISTS}
    chosen = what if what in kinds else "red_flag"
    found = seat.study.flags()
    is_open = state != "decided"
    mine = [one for one in found if one.what == chosen and (one.state == "raised") == is_open]
    rubric = seat.study.rubric()
    opened = {one.number for one in seat.study.rounds() if one.state == "open"}
    # those that can be decided now come first, the newest of them at the top
    mine.sort(key=lambda one: (one.round in opened, -one.number))
    alike = _together(mine, opened)
    last = max(1, -(-len(alike) // PAGE))
    at = min(max(at, 1), last)
    return {
        "lists": [(name, title, _open(found, name)) for name, title, _ in LISTS],
        "what": chosen,
        "title": kinds[chosen][0],
        "told": kinds[chosen][1],
        "is_open": is_open,
        "decided": sum(one.what == chosen and one.state != "raised" for one in found),
        "found": alike[(at - 1) * PAGE : at * PAGE],
        "at": at,
        "last": last,
        "red_flags": {one.id: one for one in rubric.red_flags or ()},
        "open_rounds": opened,
        "trouble": "",
        "typed": {},
        "failed": 0,
    }


def _open(found: list[Flag], what: str) -> int:
    return sum(one.what == what and one.state == "raised" for one in found)


@dataclass(frozen=True, slots=True)
class Together:
    """Flags that are decided together, by the first of them."""

    flags: tuple[Flag, ...]

    @property
    def first(self) -> Flag:
        """The one that stands for all."""
        return self.flags[0]

    @property
    def said(self) -> list[tuple[Flag, tuple[Flag, ...]]]:
        """Each wording once, with everybody who raised it so."""
        found: dict[str, list[Flag]] = {}
        for one in self.flags:
            found.setdefault(repr(sorted(one.words.items())), []).append(one)
        return [(same[0], tuple(same)) for same in found.values()]


def _together(flags: list[Flag], opened: set[int]) -> list[Together]:
    """The same red flag on one item is decided once; anything else stands by itself."""
    found: dict[tuple[object, ...], list[Flag]] = {}
    for one in flags:
        waits = one.round in opened
        same = (one.item, one.flag, one.state, waits) if one.flag is not None else (one.number,)
        found.setdefault(same, []).append(one)
    return [Together(tuple(same)) for same in found.values()]
