"""How a study stands: its status, and the criteria that make trouble, for those who may know."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from calibrant.study.handle import Study
from calibrant.study.refine import Trouble
from calibrant.study.status import Status
from calibrant.web.access import Seat
from calibrant.web.kept import kept_for


@dataclass(frozen=True, slots=True)
class Standing:
    """A study at a glance."""

    status: Status
    troubles: tuple[Trouble, ...]


def standing_of(request: Request, seat: Seat) -> Standing:
    """How the study stands for whoever asks."""
    knows = seat.has("lead", "adjudicator")

    def compute(study: Study) -> Standing:
        return Standing(study.status(), tuple(study.troubles()) if knows else ())

    return kept_for(request, seat, "standing", compute)
