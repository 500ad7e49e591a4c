"""What every answer carries, whatever kind of answer it is: the headers that OWASP asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from fastapi import FastAPI
from httpx2 import Response
from starlette.testclient import TestClient
from tests.study.study_kit import new_study, panel, plan_item
from tests.web.conftest import HOST, Signed

from calibrant.core.errors import StoreError
from calibrant.web.app import make_app
from calibrant.web.render import static_mark
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
EXACT = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "x-permitted-cross-domain-policies": "none",
    "x-dns-prefetch-control": "off",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
}
NEVER = ("server", "x-powered-by", "x-aspnet-version", "access-control-allow-origin", "pragma")
"""What tells of the machinery, or lets other sites in."""
INSIDE = "the-inside-of-the-server"


def guarded(found: Response, *, kept: bool = False, secure: bool = False) -> None:
    """Fail unless an answer carries everything; ``kept``: browsers may keep it."""
    headers, told = found.headers, (found.status_code, str(found.url))
    for name, value in EXACT.items():
        assert headers.get(name) == value, (told, name)
    policy = dict(
        one.strip().partition(" ")[::2] for one in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'", told
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert "*" not in headers["content-security-policy"]
    assert headers["referrer-policy"] in ("no-referrer", "same-origin"), told
    for what in ("camera", "microphone", "geolocation", "payment", "usb"):
        assert f"{what}=()" in headers["permissions-policy"], told
    if kept:
        assert "immutable" in headers["cache-control"], told
    else:
        assert headers["cache-control"] == "no-store", told
    assert ("strict-transport-security" in headers) == secure, told
    for name in NEVER:
        assert name not in headers, (told, name)
    assert len(headers.get_list("content-security-policy")) == 1, told
    if found.content:
        assert "content-type" in headers, told
    assert "Traceback" not in found.text and INSIDE not in found.text, told


@pytest.fixture
def study(workspace: Workspace) -> int:
    made = new_study(workspace.plain)
    made.add_items([plan_item(1)])
    panel(made, "rita", "rob")
    return made.number


def kinds(lena: Signed, study: int) -> Iterator[tuple[int, Response]]:
    """An answer of each kind, with the status that is due."""
    here = f"/s/{study}"

    def ask(method: str, path: str, **more: object) -> Response:
        return lena.request(method, path, follow_redirects=False, **more)  # type: ignore[arg-type]

    yield 200, ask("GET", "/")
    yield 200, ask("GET", here)
    yield 200, ask("GET", f"/api/v1/studies/{study}")
    yield 200, ask("GET", "/api/v1/openapi.json")
    yield 200, ask("GET", "/report.css")
    yield 200, ask("GET", f"{here}/report/file?kind=html")
    csrf = {"csrf": lena.csrf}
    yield 200, ask("POST", f"{here}/exports", data={**csrf, "what": "ratings"})
    yield 303, ask("POST", f"{here}/lessons", data={**csrf, "text": "Ten were few."})
    yield 403, ask("POST", f"{here}/lessons", data={"text": "no token of the page"})
    yield 403, ask("POST", "/sign-out", headers={"origin": "http://evil.example"})
    yield 403, ask("GET", "/workspace")
    yield 404, ask("GET", "/nothing")
    yield 404, ask("GET", "/api/v1/nothing")
    yield 404, ask("GET", "/s/99")
    yield 404, ask("GET", "/static/0/no.js")
    yield 405, ask("DELETE", here)
    yield 405, ask("OPTIONS", here)
    yield 413, ask("POST", "/sign-out", content=b"x" * (5 * 2**20))
    yield 421, ask("GET", "/", headers={"host": "evil.example"})
    yield 422, ask("POST", f"{here}/flags", data=csrf)
    yield 422, ask("POST", "/api/v1/studies", json={}, headers={"x-calibrant-csrf": lena.csrf})


def test_every_kind_of_answer_is_guarded(client: Client, study: int) -> None:
    for due, found in kinds(client("lena"), study):
        assert found.status_code == due, (found.url, found.text)
        guarded(found)


def test_whoever_is_not_signed_in_gets_no_less(client: Client, study: int) -> None:
    for path, due in ((f"/s/{study}", 303), (f"/api/v1/studies/{study}", 401), ("/sign-in", 200)):
        found = client().get(path, follow_redirects=False)
        assert found.status_code == due
        guarded(found)


def test_only_our_own_files_are_kept_by_browsers(client: Client) -> None:
    found = client().get(f"/static/{static_mark()}/css/app.css")
    assert found.headers["content-type"].startswith("text/css")
    guarded(found, kept=True)


def test_files_are_kept_and_never_shown_as_pages(client: Client, study: int) -> None:
    lena = client("lena")
    fields = {"what": "ratings", "csrf": lena.csrf}
    files = [lena.get(f"/s/{study}/report/file?kind={kind}") for kind in ("html", "md", "json")]
    files.append(lena.post(f"/s/{study}/exports", data=fields))
    for found in files:
        named = re.fullmatch(
            r'attachment; filename="study-\d+-[a-z]+\.[a-z]+"', found.headers["content-disposition"]
        )
        assert named, found.headers["content-disposition"]
        assert "html" not in found.headers["content-type"]


@pytest.mark.parametrize("path", ["/", "/api/v1/studies"])
def test_a_mistake_of_ours_is_guarded_and_tells_nothing_of_its_inside(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    lena = client("lena")
    careful = TestClient(lena.app, base_url=f"http://{HOST}", raise_server_exceptions=False)
    careful.cookies.update(lena.cookies)

    def fail(*_: object) -> None:
        raise RuntimeError(INSIDE)

    monkeypatch.setattr(Workspace, "studies_of", fail)
    found = careful.get(path)
    assert found.status_code == 500 and "went wrong" in found.text
    guarded(found)
    monkeypatch.setattr(Workspace, "by_cookie", fail)
    found = careful.get(path)
    assert found.status_code == 500 and "went wrong" in found.text
    guarded(found)


@pytest.mark.parametrize("path", ["/", "/api/v1/studies"])
def test_a_database_that_cannot_be_reached_is_told_in_words(
    client: Client, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    lena = client("lena")

    def fail(*_: object) -> None:
        raise StoreError("the database cannot be reached")

    monkeypatch.setattr(Workspace, "by_cookie", fail)
    found = lena.get(path)
    assert found.status_code == 503 and "cannot be reached" in found.text
    guarded(found)


@pytest.fixture
def secure(workspace: Workspace) -> FastAPI:
    """The same workspace, as it is reached by HTTPS."""
    return make_app(replace(workspace, secure=True, hosts=("ratings.example",)))


def test_by_https_cookies_stay_on_https(workspace: Workspace, secure: FastAPI) -> None:
    workspace.owners.add("lena", owner=True, by="tests")
    link = workspace.links.reset("lena", by="lena")
    browser = TestClient(secure, base_url="https://ratings.example", follow_redirects=False)
    words = {"password": "a long and quiet word", "again": "a long and quiet word"}
    sent = [browser.post(f"/invite/{link}", data=words), browser.post("/sign-out")]
    cookies = [one for found in sent for one in found.headers.get_list("set-cookie")]
    assert [found.status_code for found in sent] == [303, 403]
    guarded(sent[0], secure=True)
    guarded(sent[1], secure=True)
    assert cookies
    for one in cookies:
        parts = {part.strip().lower() for part in one.split(";")}
        assert {"httponly", "secure", "path=/"} <= parts, one
        assert {"samesite=lax", "samesite=strict"} & parts, one
        assert not any(part.startswith("domain=") for part in parts), one


def test_cookies_are_for_the_server_alone(client: Client, study: int) -> None:
    """Scripts do not see them, other sites do not send them; the sentence of a page neither."""
    said = client("lena").send_form(f"/s/{study}/lessons", text="Ten were few.")
    (one,) = said.headers.get_list("set-cookie")
    assert "httponly" in one.lower() and "samesite=lax" in one.lower()
    assert "domain=" not in one.lower()
