"""The report: what the study came to, on a page and as a file to keep."""

from __future__ import annotations

from fastapi import Request
from markupsafe import Markup
from starlette.responses import Response

from calibrant.report.files import json_text
from calibrant.report.findings import Findings, findings
from calibrant.report.html import body_html, report_html, style_sheet
from calibrant.report.markdown import report_markdown
from calibrant.web.access import PUBLIC, Routes, Seat, member
from calibrant.web.export_files import TYPES
from calibrant.web.kept import comes_later, kept_for
from calibrant.web.render import page, static_mark

routes = Routes()
READERS = member("lead", "adjudicator", "viewer")
MAKERS = {"html": report_html, "md": report_markdown, "json": json_text}


@routes.get("/s/{study}/report", access=READERS)
def report(request: Request, seat: Seat, now: bool = False, part: bool = False) -> Response:
    """The report; on a large study it comes by a second request, or ``now`` where that is said."""
    ready = now or part or not comes_later(request, seat, "report")
    body = ""
    if ready:
        # the report escapes whatever anybody said: the one place where its markup is taken over
        body = Markup(body_html(_found(request, seat)))  # noqa: S704
    template = "report_part.html" if part else "report.html"
    return page(request, template, seat=seat, body=body, ready=ready, mark=static_mark())


@routes.get("/s/{study}/report/file", access=READERS)
def report_file(request: Request, seat: Seat, kind: str = "html") -> Response:
    """The report as a file: a self-contained page, Markdown, or all its data."""
    kind = kind if kind in MAKERS else "html"
    text = MAKERS[kind](_found(request, seat))
    name = f"study-{seat.study.number}-report.{kind}"
    return Response(
        text.encode("utf-8", "backslashreplace"),
        media_type=TYPES[f".{kind}"],
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


@routes.get("/report.css", access=PUBLIC)
def style() -> Response:
    """What the report looks like."""
    return Response(style_sheet(), media_type="text/css")


def _found(request: Request, seat: Seat) -> Findings:
    return kept_for(request, seat, "report", findings)
