"""Results, for programs: ratings, final answers, verdicts, agreement, raters, the report."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

import polars as pl
from fastapi import Path, Query, Request
from starlette.responses import Response

from calibrant.report.findings import findings
from calibrant.report.frozen import thawed
from calibrant.web.access import Routes, Seat, member, workspace_of
from calibrant.web.kept import kept_for
from calibrant.web.lead_models import TROUBLE
from calibrant.web.pages.report import as_file
from calibrant.web.pages.results import some_finals, some_verdicts
from calibrant.web.run_models import After, FrozenListOut, Limit, ReportOut, RoundNumber, RowsOut

routes = Routes("/api/v1/studies/{study}", tags=["results"])
Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Of a check-in, or as listed.")]
Kinds = Annotated[list[Literal["HUMAN", "LLM", "CODE"]], Query(description="People, unless said.")]

Sought = Annotated[str, Query(max_length=500, description="Of this alone.")]
Provenance = Literal["unanimous", "within_tolerance", "consensus", "adjudicated", "forced", "waits"]
FileKind = Literal["html", "md", "json"]
FILE: dict[int | str, dict[str, Any]] = TROUBLE | {
    200: {
        "description": "The file.",
        "content": {kind: {} for kind in ("application/octet-stream", "text/plain",
                                          "application/json")},
    }
}  # fmt: skip


@routes.get("/ratings", access=member(), response_model=RowsOut, responses=TROUBLE)
def ratings(
    request: Request, seat: Seat, round: RoundNumber = None, limit: Limit = 100, after: After = 0
) -> Any:
    """The answers that you may see by now, one a row."""
    name = f"ratings {round}"
    return _part(kept_for(request, seat, name, lambda one: one.ratings(round=round)), limit, after)


@routes.get("/finals", access=member(), response_model=RowsOut, responses=TROUBLE)
def finals(
    request: Request,
    seat: Seat,
    *,
    criterion: Sought = "",
    provenance: Provenance | None = None,
    item: Sought = "",
    limit: Limit = 100,
    after: After = 0,
) -> Any:
    """The final answer of every item and criterion, and how it came about."""
    frame = kept_for(request, seat, "finals", lambda one: one.finals())
    if criterion or provenance or item:
        frame = some_finals(frame, criterion, provenance or "", item)
    return _part(frame, limit, after)


@routes.get("/verdicts", access=member(), response_model=RowsOut, responses=TROUBLE)
def verdicts(
    request: Request,
    seat: Seat,
    *,
    verdict: Literal["passed", "failed", "undecided", "blocked"] | None = None,
    item: Sought = "",
    limit: Limit = 100,
    after: After = 0,
) -> Any:
    """The verdict of every item that was rated in a round that counts."""
    frame = kept_for(request, seat, "verdicts", lambda one: one.verdicts())
    return _part(some_verdicts(frame, verdict or "", item), limit, after)


@routes.get("/agreement", access=member(), response_model=ReportOut, responses=TROUBLE)
def agreement(
    request: Request,
    seat: Seat,
    round: RoundNumber = None,
    kinds: Kinds = ["HUMAN"],  # noqa: B006
) -> Any:
    """Agreement in a round, or over all that count, held against the rubric's targets."""
    chosen = tuple(sorted(set(kinds)))
    name = f"agreement {round} {chosen}"
    found = kept_for(request, seat, name, lambda one: one.agreement(round=round, kinds=chosen))
    return {"report": found.to_dict()}


@routes.get(
    "/raters",
    access=member("lead", "adjudicator", "viewer"),
    response_model=ReportOut,
    responses=TROUBLE,
)
def raters(request: Request, seat: Seat, round: RoundNumber = None) -> Any:
    """How each rater rates: severity, halo, drift and more."""
    name = f"raters {round or 0}"
    found = kept_for(request, seat, name, lambda one: one.rater_report(round=round))
    return {"report": found.to_dict()}


@routes.get(
    "/report",
    access=member("lead", "adjudicator", "viewer"),
    response_model=ReportOut,
    responses=TROUBLE,
)
def report(request: Request, seat: Seat) -> Any:
    """Everything there is to report, as data."""
    return {"report": kept_for(request, seat, "report", findings).to_dict()}


@routes.get(
    "/report/file",
    access=member("lead", "adjudicator", "viewer"),
    response_class=Response,
    responses=FILE,
)
def report_file(request: Request, seat: Seat, kind: FileKind = "html") -> Response:
    """The report as a file to keep: a self-contained page, Markdown, or all its data."""
    found = kept_for(request, seat, "report", findings)
    return as_file(found, kind, f"study-{seat.study.number}-report")


@routes.get("/reports", access=member("lead"), response_model=FrozenListOut, responses=TROUBLE)
def frozen_reports(seat: Seat) -> Any:
    """The reports that were frozen with check-ins and at the end of phases."""
    return {"reports": [asdict(one) for one in seat.study.frozen_reports()]}


@routes.get("/reports/{number}", access=member("lead"), response_model=ReportOut, responses=TROUBLE)
def frozen_report(request: Request, seat: Seat, number: Number) -> Any:
    """A report as it was when it was frozen, as data."""
    return {"report": thawed(workspace_of(request).unhurried(seat.study), number).to_dict()}


@routes.get(
    "/reports/{number}/file", access=member("lead"), response_class=Response, responses=FILE
)
def frozen_file(request: Request, seat: Seat, number: Number, kind: FileKind = "html") -> Response:
    """A frozen report as a file."""
    found = thawed(workspace_of(request).unhurried(seat.study), number)
    return as_file(found, kind, f"study-{seat.study.number}-report-frozen-{number}")


def _part(frame: pl.DataFrame, limit: int, after: int) -> dict[str, Any]:
    return {
        "rows": frame.slice(after, limit).to_dicts(),
        "total": frame.height,
        "next": after + limit if after + limit < frame.height else None,
    }
