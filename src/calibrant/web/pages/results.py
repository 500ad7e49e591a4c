"""Results: verdicts, final answers with where they come from, and agreement in full."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import polars as pl
from fastapi import Request
from starlette.responses import Response

from calibrant.compare.agreement_view import blocks
from calibrant.core.errors import StudyError
from calibrant.web.access import Routes, Seat, member
from calibrant.web.blocks import page_blocks
from calibrant.web.intervals import OUTCOMES, coefficient_words, interval_of
from calibrant.web.kept import comes_later, kept_for
from calibrant.web.render import page

routes = Routes()
READERS = member("lead", "adjudicator", "viewer")
PAGE = 50
"""Rows on one page."""
VERDICTS = ("passed", "failed", "undecided")
PROVENANCES = ("unanimous", "within_tolerance", "consensus", "adjudicated", "forced", "waits")


def waiting_page(
    request: Request, seat: Seat, title: str, tab: str, *, whole: bool = False
) -> Response:
    """A page whose content takes long on a large study: it follows by a second request.

    With ``whole`` the page itself comes again once that is kept: for those with scripts.
    """
    return page(
        request,
        "results_wait.html",
        seat=seat,
        title=title,
        tab=tab,
        whole=whole,
        address=str(request.url.include_query_params(now="true").replace(scheme="", netloc="")),
    )


@routes.get("/s/{study}/results", access=READERS)
def results(
    request: Request,
    seat: Seat,
    *,
    show: str = "verdicts",
    verdict: str = "",
    criterion: str = "",
    provenance: str = "",
    item: str = "",
    at: int = 1,
    now: bool = False,
) -> Response:
    """Verdicts of items, or final answers, a page at a time."""
    asked = {"show": show, "verdict": verdict, "criterion": criterion, "provenance": provenance,
             "item": item}  # fmt: skip
    of_finals = show == "finals"
    if not now and comes_later(request, seat, "finals" if of_finals else "verdicts"):
        return waiting_page(request, seat, "Results", "results")
    if of_finals:
        frame = kept_for(request, seat, "finals", lambda study: study.finals())
        found = some_finals(frame, criterion, provenance, item)
    else:
        frame = kept_for(request, seat, "verdicts", lambda study: study.verdicts())
        found = some_verdicts(frame, verdict, item)
    last = max(1, -(-found.height // PAGE))
    at = min(max(at, 1), last)
    rows = found.slice((at - 1) * PAGE, PAGE).to_dicts()
    return page(
        request,
        "results.html",
        seat=seat,
        of_finals=of_finals,
        rows=rows if of_finals else [one | {"why": _why(one)} for one in rows],
        scored="mean" if "mean" in frame.columns else "score",
        counts=_counts(frame, of_finals),
        asked=asked,
        criteria=seat.study.rubric().criterion_ids,
        VERDICTS=VERDICTS,
        PROVENANCES=PROVENANCES,
        total=found.height,
        at=at,
        last=last,
        newer=urlencode(asked | {"at": at - 1}),
        older=urlencode(asked | {"at": at + 1}),
    )


def some_verdicts(frame: pl.DataFrame, verdict: str, item: str) -> pl.DataFrame:
    """Verdicts of one kind, or of items whose id has these signs."""
    if verdict in VERDICTS:
        frame = frame.filter(pl.col("verdict").cast(pl.String) == verdict)
    elif verdict == "blocked":
        frame = frame.filter("blocked")
    return frame.filter(pl.col("item").str.contains(item, literal=True)) if item else frame


def some_finals(frame: pl.DataFrame, criterion: str, provenance: str, item: str) -> pl.DataFrame:
    """Final answers of a criterion, of one origin, or of items whose id has these signs."""
    if criterion:
        frame = frame.filter(pl.col("criterion").cast(pl.String) == criterion)
    if provenance == "waits":
        frame = frame.filter("needs_resolution")
    elif provenance in PROVENANCES:
        frame = frame.filter(pl.col("provenance").cast(pl.String) == provenance)
    if item:
        frame = frame.filter(pl.col("item").str.contains(item, literal=True))
    return frame.sort("item", maintain_order=True)


def _counts(frame: pl.DataFrame, of_finals: bool) -> list[tuple[str, int]]:
    """How many rows there are of each kind, with words for it."""
    column = "provenance" if of_finals else "verdict"
    counted = dict(frame.group_by(pl.col(column).cast(pl.String)).len().rows())
    if of_finals:
        waits = int(frame["needs_resolution"].sum()) if frame.height else 0
        named = [(name, int(counted.get(name, 0))) for name in PROVENANCES if name != "waits"]
        return [*named, ("waits", waits)]
    blocked = int(frame["blocked"].sum()) if frame.height else 0
    return [*((name, int(counted.get(name, 0))) for name in VERDICTS), ("blocked", blocked)]


def _why(one: dict[str, Any]) -> str:
    """What led to a verdict, in a few words."""
    why = ["blocked by a red flag"] if one["blocked"] else []
    why += [f"flags: {', '.join(one['flags'])}"] if one["flags"] else []
    why += [f"to settle: {', '.join(one['missing'])}"] if one["missing"] else []
    known = {*one["missing"], *one["errors"]}
    failed = [name for name in one["failed_checks"] if name not in known]
    why += [f"failed: {', '.join(failed)}"] if failed else []
    return "; ".join(why)


@routes.get("/s/{study}/agreement", access=READERS)
def agreement(
    request: Request, seat: Seat, *, round: int = 0, kinds: str = "HUMAN", now: bool = False
) -> Response:
    """Agreement in full, of one round or of all that count."""
    name = f"agreement {round} {kinds == 'all'}"
    if not now and comes_later(request, seat, name):
        return waiting_page(request, seat, "Agreement", "agreement")
    study = seat.study
    chosen = ("HUMAN", "LLM", "CODE") if kinds == "all" else ("HUMAN",)
    rounds = [one for one in study.rounds() if one.state == "closed" or seat.has("lead")]
    compared = [one for one in rounds if one.kind != "onboarding" and one.state != "planned"]
    report, missing = None, ""
    try:
        report = kept_for(
            request,
            seat,
            name,
            lambda one: one.agreement(round=round or None, kinds=chosen),
        )
    except StudyError as error:  # the round is open, or nobody rated what another did
        missing = str(error)
    shown = page_blocks(blocks(report)) if report is not None else []
    return page(
        request,
        "results_agreement.html",
        seat=seat,
        rounds=compared,
        round=round,
        kinds=kinds,
        missing=missing,
        blocks=[one for one in shown if not one.title.startswith("Targets")],
        targets=[_target(one) for one in report.targets] if report is not None else [],
        excluded=report.excluded if report is not None else [],
        OUTCOMES=OUTCOMES,
    )


def _target(one: Any) -> tuple[Any, str, Any, Any]:
    found = one.estimate
    value = None if found is None else found.value
    limits = None if found is None else found.interval
    drawing = interval_of(value, limits, one.target.value)
    return one, coefficient_words(str(one.target)), found, drawing
