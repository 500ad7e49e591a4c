"""The report: what the study came to, on a page and as a file to keep."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request
from markupsafe import Markup
from starlette.responses import Response

from calibrant.report.files import json_text
from calibrant.report.findings import Findings, findings
from calibrant.report.frozen import thawed, title_of
from calibrant.report.html import body_html, report_html, style_sheet
from calibrant.report.markdown import report_markdown
from calibrant.web.access import PUBLIC, Routes, Seat, member, workspace_of
from calibrant.web.export_files import TYPES
from calibrant.web.kept import comes_later, kept_for
from calibrant.web.render import page, static_mark

routes = Routes()
READERS = member("lead", "adjudicator", "viewer")
LEAD = member("lead")
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
MAKERS = {"html": report_html, "md": report_markdown, "json": json_text}


@routes.get("/s/{study}/report", access=READERS)
def report(request: Request, seat: Seat, now: bool = False, part: bool = False) -> Response:
    """The report; on a large study it comes by a second request, or ``now`` where that is said."""
    ready = now or part or not comes_later(request, seat, "report")
    body = ""
    if ready:
        # the report escapes whatever anybody said: the one place where its markup is taken over
        body = Markup(body_html(_found(request, seat)))  # noqa: S704
    if part:
        return page(request, "report_part.html", seat=seat, body=body)
    frozen = reversed(seat.study.frozen_reports()) if seat.has("lead") else ()
    return page(
        request,
        "report.html",
        seat=seat,
        body=body,
        ready=ready,
        frozen=[(one, title_of(one)) for one in frozen],
        mark=static_mark(),
    )


@routes.get("/s/{study}/report/file", access=READERS)
def report_file(request: Request, seat: Seat, kind: str = "html") -> Response:
    """The report as a file: a self-contained page, Markdown, or all its data."""
    return as_file(_found(request, seat), kind, f"study-{seat.study.number}-report")


@routes.get("/s/{study}/report/frozen/{number}", access=LEAD)
def frozen_report(request: Request, seat: Seat, number: Number) -> Response:
    """The report as it was at a check-in, or at the end of a phase."""
    found = thawed(workspace_of(request).unhurried(seat.study), number)
    frozen = next(one for one in seat.study.frozen_reports() if one.number == number)
    return page(
        request,
        "report_frozen.html",
        seat=seat,
        body=Markup(body_html(found)),  # noqa: S704 - as above
        frozen=frozen,
        title=title_of(frozen),
        mark=static_mark(),
    )


@routes.get("/s/{study}/report/frozen/{number}/file", access=LEAD)
def frozen_file(request: Request, seat: Seat, number: Number, kind: str = "html") -> Response:
    """The same as a file."""
    found = thawed(workspace_of(request).unhurried(seat.study), number)
    return as_file(found, kind, f"study-{seat.study.number}-report-frozen-{number}")


def as_file(found: Findings, kind: str, name: str) -> Response:
    """A report as a file to keep."""
    kind = kind if kind in MAKERS else "html"
    text = MAKERS[kind](found)
    return Response(
        text.encode("utf-8", "backslashreplace"),
        media_type=TYPES[f".{kind}"],
        headers={"content-disposition": f'attachment; filename="{name}.{kind}"'},
    )


@routes.get("/report.css", access=PUBLIC)
def style() -> Response:
    """What the report looks like."""
    return Response(style_sheet(), media_type="text/css")


def _found(request: Request, seat: Seat) -> Findings:
    return kept_for(request, seat, "report", findings)
