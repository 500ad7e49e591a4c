"""What the document of the API says beside its calls: its subjects, and how a program comes in."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

ABOUT = (
    "Everything that the pages do. Send a personal token with every request; it may do what its "
    "account may do in studies, and sees what that may see. Errors are a sentence, `error`, and "
    "what is to be mended, `faults`. Lists come in parts: send `next` as `after` for the rest."
)
SUBJECTS = {
    "account": "Who you are; browsers that are signed in; your tokens.",
    "accounts": "Accounts of the workspace, for owners, by a token that is made for it.",
    "adjudication": "What waits to be settled, and settling it.",
    "discussion": "Disagreements of closed rounds, talked over.",
    "exports": "Files to take out: begun, watched, fetched.",
    "flags": "Red flags, edge cases and what is to be reviewed.",
    "items": "What is judged: added as records, read, erased.",
    "journal": "The audit log.",
    "judges": "Models that rate: how they stand, whether they count, their runs.",
    "people": "Who takes part: members, invitations, roles, leaving.",
    "phases": "Phases, steps after low agreement, check-ins, lessons.",
    "questions": "Questions to the lead.",
    "rating": "Your assignments: claimed, drafted, handed in, corrected.",
    "results": "Answers, final answers, verdicts, agreement, raters, reports.",
    "rounds": "Rounds: planned, opened, extended, ended.",
    "rubric": "The rubric of a study, its versions, and those that come with calibrant.",
    "status": "How a study stands.",
    "studies": "Studies: which there are, and beginning one.",
    "uploads": "Files of items in any shape: their columns said, checked, taken in.",
}
"""By the tag of a call."""


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of the application, made when it is first asked for."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title,
            version=app.version,
            description=ABOUT,
            routes=app.routes,
            tags=[{"name": name, "description": told} for name, told in SUBJECTS.items()],
        )
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        made["security"] = [{"token": []}]
        app.openapi_schema = made
    return app.openapi_schema
