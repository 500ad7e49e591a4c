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
ACTS = "-"
"""Asks for all kinds but ratings, which are most lines of a large study."""


@routes.get("/s/{study}/journal", access=member("lead"))
def journal(
    request: Request,
    seat: Seat,
    *,
    kind: str = "",
    actor: str = "",
    item: str = "",
    before: str = "",
) -> Response:
    """Lines of the log, of one kind, person or item where that is asked for."""
    found = seat.study.audit_log(
        kind=None if kind in ("", ACTS) else kind,
        ratings=kind != ACTS,
        actor=actor or None,
        item=item or None,
        start=before,
        newest_first=True,
        limit=PAGE,
        counted=True,
    )
    asked = {"kind": kind, "actor": actor, "item": item}
    return page(
        request,
        "journal.html",
        seat=seat,
        lines=[
            (one, label_of(one.kind), sentence_of(one), said_of(one), raw_of(one))
            for one in found.lines
        ],
        kinds=[(ACTS, "all but ratings"), *LABELS.items()],
        actors=sorted(one.name for one in seat.study.members()),
        kind=kind,
        actor=actor,
        item=item,
        total=found.total,
        older=urlencode({**asked, "before": found.next}) if found.next else "",
        newest=urlencode(asked) if before else "",
    )
