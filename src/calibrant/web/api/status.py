"""How a study stands, for programs: progress, status, phases, and criteria that make trouble."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import Request

from calibrant.web.access import Routes, Seat, member
from calibrant.web.kept import kept_for
from calibrant.web.lead_models import TROUBLE
from calibrant.web.run_models import ProgressOut, StatusOut, TroublesOut

routes = Routes("/api/v1/studies/{study}", tags=["status"])


@routes.get("/progress", access=member(), response_model=ProgressOut, responses=TROUBLE)
def progress(seat: Seat) -> Any:
    """How far each round is: quick, whatever the size of the study."""
    return {"rounds": [asdict(one) for one in seat.study.progress()]}


@routes.get("/status", access=member(), response_model=StatusOut, responses=TROUBLE)
def status(request: Request, seat: Seat) -> Any:
    """Everything at a glance, as far as you may see it; on a large study this takes seconds."""
    return asdict(kept_for(request, seat, "status", lambda study: study.status()))


@routes.get("/troubles", access=member(), response_model=TroublesOut, responses=TROUBLE)
def troubles(seat: Seat) -> Any:
    """Criteria by how much trouble they make in the rounds that you may see."""
    return {"troubles": [asdict(one) for one in seat.study.troubles()]}
