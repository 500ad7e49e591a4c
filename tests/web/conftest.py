"""A workspace on a file of its own, its application, and people who are signed in to it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import Response
from starlette.testclient import TestClient

from calibrant import compose
from calibrant.core.errors import AccountError
from calibrant.web.app import make_app
from calibrant.web.workspace import Workspace

HOST = "127.0.0.1:8321"


class Signed(TestClient):
    """A browser without scripts, signed in."""

    csrf: str = ""
    name: str = ""

    def send_form(self, path: str, **fields: Any) -> Response:
        """Send a form of ours; gives the response without following where it leads."""
        return self.post(path, data={"csrf": self.csrf, **fields}, follow_redirects=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """An empty workspace."""
    opened = compose.open_workspace(str(tmp_path / "work.db"), create=True)
    yield Workspace(opened=opened, hosts=(HOST,))
    opened.close()


@pytest.fixture
def app(workspace: Workspace) -> FastAPI:
    """Its application."""
    return make_app(workspace)


@pytest.fixture
def client(workspace: Workspace, app: FastAPI) -> Iterator[Callable[..., Signed]]:
    """Signs somebody in: ``client("lena")``; an account is made where there is none.

    Each keeps one event loop for all it asks: a new one for every request takes as long again.
    """
    browsers = contextlib.ExitStack()

    def sign_in(name: str | None = None, *, owner: bool = False) -> Signed:
        found = browsers.enter_context(Signed(app, base_url=f"http://{HOST}"))
        if name is None:
            return found
        with contextlib.suppress(AccountError):  # they have been here before
            workspace.owners.add(name, owner=owner, by="tests")
        secret = workspace.door.admit(name, by="tests")
        found.cookies.set(workspace.cookie, secret)
        found.csrf = workspace.door.csrf(secret)
        found.name = name
        return found

    with browsers:
        yield sign_in
