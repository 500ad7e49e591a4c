"""The audit log: everything that happened, in sentences, the newest first."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import Response

from calibrant.web.access import Routes, Seat, member
from calibrant.web.journal_words import LABELS, label_of, raw_of, said_of, sentence_of
from calibrant.web.render import page

routes = Routes()
PAGE = 60
"""Lines on one page."""


@routes.get("/s/{study}/journal", access=member("lead"))
def journal(
    request: Request,
    seat: Seat,
    *,
    kind: str = "",
    actor: str = "",
    item: str = "",
    before: int = 0,
) -> Response:
    """Lines of the journal, of one kind, person or item where that is asked for."""
    everything = seat.study.journal()
    found = [
        one
        for one in reversed(everything)
        if kind in ("", one.kind) and actor in ("", one.actor) and item in ("", one.item)
    ]
    older = [one for one in found if not before or one.number < before]
    shown = older[:PAGE]
    order = list(LABELS)
    kinds = sorted({one.kind for one in everything}, key=lambda name: _place(order, name))
    asked = {"kind": kind, "actor": actor, "item": item}
    return page(
        request,
        "journal.html",
        seat=seat,
        lines=[
            (one, label_of(one.kind), sentence_of(one), said_of(one), raw_of(one)) for one in shown
        ],
        kinds=[(name, label_of(name)) for name in kinds],
        actors=sorted({one.actor for one in everything}),
        kind=kind,
        actor=actor,
        item=item,
        total=len(found),
        older=urlencode({**asked, "before": shown[-1].number}) if len(older) > PAGE else "",
        newest=urlencode(asked) if before else "",
    )


def _place(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)
