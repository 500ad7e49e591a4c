"""The first page: the studies one takes part in, and what waits there."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from calibrant.web.access import SIGNED_IN, Routes, may_create, workspace_of
from calibrant.web.render import page
from calibrant.web.workspace import Visitor

routes = Routes()


@routes.get("/", access=SIGNED_IN)
def home(request: Request, visitor: Visitor) -> Response:
    """Studies of the visitor, with their roles and the next thing to do."""
    workspace = workspace_of(request)
    studies = []
    for number, record, joined in workspace.studies_of(visitor.name):
        entered = workspace.enter(number, visitor.name)
        if entered is None:
            continue
        study, _ = entered
        duties = study.duties() if "reviewer" in joined.roles else []
        studies.append(
            {
                "number": number,
                "title": record.title,
                "rubric": record.rubric_id,
                "roles": joined.roles,
                "open": sum(one.open for one in duties),
                "done": sum(one.done for one in duties),
            }
        )
    return page(request, "home.html", studies=studies, may_create=may_create(workspace, visitor))
