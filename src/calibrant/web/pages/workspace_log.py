"""The workspace's audit log, for its owners: what happened to accounts, links, logins, tokens."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request
from starlette.responses import Response

from calibrant.web.access import OWNER, Routes, workspace_of
from calibrant.web.event_words import LABELS, raw_of, told
from calibrant.web.render import page
from calibrant.web.workspace import Visitor

routes = Routes()
PAGE = 60
"""Lines on one page."""


@routes.get("/workspace/log", access=OWNER)
def workspace_log(
    request: Request,
    visitor: Visitor,
    *,
    kind: str = "",
    name: str = "",
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> Response:
    """Lines of one kind, or by or about somebody, where that is asked for; the newest first."""
    workspace = workspace_of(request)
    sought = {"kind": kind or None, "name": name or None}
    found = workspace.owners.last_events(PAGE + 1, before=before, **sought)
    shown = found[:PAGE]
    asked = {"kind": kind, "name": name}
    return page(
        request,
        "workspace_log.html",
        lines=[(*one, raw_of(one[0])) for one in told(request, shown)],
        kinds=list(LABELS.items()),
        names=[one.name for one in workspace.owners.accounts()],
        kind=kind,
        name=name,
        total=workspace.owners.count_events(**sought),
        older=urlencode({**asked, "before": shown[-1].number}) if len(found) > PAGE else "",
        newest=urlencode(asked) if before else "",
    )
