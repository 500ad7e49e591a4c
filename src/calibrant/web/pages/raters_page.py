"""How each rater rates: severity, halo, drift and more, with what to do about it."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from calibrant.compare.rater_words import advice, sentence
from calibrant.compare.raters_view import blocks
from calibrant.core.errors import CalibrantError, StoreError
from calibrant.web.access import Routes, Seat, member
from calibrant.web.blocks import page_blocks
from calibrant.web.kept import comes_later, kept_for
from calibrant.web.pages.results import waiting_page
from calibrant.web.render import page

routes = Routes()


@routes.get("/s/{study}/raters", access=member("lead", "adjudicator", "viewer"))
def raters(request: Request, seat: Seat, round: int = 0, now: bool = False) -> Response:
    """A report on raters, of one round or of all that count."""
    if not now and comes_later(request, seat, f"raters {round}"):
        return waiting_page(request, seat, "How raters rate", "raters")
    report, missing = None, ""
    try:
        report = kept_for(
            request, seat, f"raters {round}", lambda study: study.rater_report(round=round or None)
        )
    except StoreError:
        raise
    except CalibrantError as error:  # too few raters, or items that nobody shares
        missing = str(error)
    shown = page_blocks(blocks(report)) if report is not None else []
    rounds = [
        one
        for one in seat.study.rounds()
        if one.kind != "onboarding" and (one.state == "closed" or seat.has("lead"))
    ]
    return page(
        request,
        "raters.html",
        seat=seat,
        rounds=[one for one in rounds if one.state != "planned"],
        round=round,
        missing=missing,
        findings=[(one, sentence(one), advice(one)) for one in report.findings] if report else [],
        blocks=[one for one in shown if one.title != "Findings"],
        notes=report.notes if report else (),
    )
