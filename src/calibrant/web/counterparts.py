"""What a program calls for each page, and why it has nothing to call for some.

Every page and every form of the application stands here; a test looks up each of them, and one
that is missing fails it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Calls:
    """What does the same in the API: one call, or several that do it together."""

    ways: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InPerson:
    """Nothing in the API does this, and why."""

    why: str


Counterpart: TypeAlias = Calls | InPerson
ROOT = "/api/v1"
STUDY = f"{ROOT}/studies/{{study}}"


def _calls(*ways: str) -> Calls:
    """Ways as ``GET /items``, below a study; those of the workspace begin with ``~``."""
    found = []
    for one in ways:
        method, path = one.split(" ")
        below = path.removeprefix("~")
        found.append(f"{method} {ROOT if below != path else STUDY}{below}")
    return Calls(tuple(found))


TYPED = "A password is typed by its person: a program that knew it could be anybody's."
"""Why nothing of passwords is in the API."""
_COMING_IN = {
    "GET /sign-in": InPerson("The form of a password; a program has its token."),
    "POST /sign-in": InPerson(TYPED),
    "POST /sign-out": InPerson("It ends the login of a browser; a token is ended instead."),
    "GET /enter/{secret}": InPerson("A link that this server printed for the browser beside it."),
    "POST /enter/{secret}": InPerson("It lets a browser in, for whoever runs the program."),
    "GET /invite/{secret}": InPerson("The form by which an invited person chooses a password."),
    "POST /invite/{secret}": InPerson(TYPED),
    "POST /account/password": InPerson(TYPED),
}
_DESIGN = {
    "GET /components": InPerson("It shows the design, and nothing of any study."),
    "GET /report.css": InPerson("How the report looks; its data is in the API."),
    "GET /api": InPerson("It describes the API: programs read /api/v1/openapi.json."),
}
_WORKSPACE = {
    "GET /": _calls("GET ~/studies", "GET /duties", "GET ~/account"),
    "GET /account": _calls("GET ~/account", "GET ~/account/sessions", "GET ~/account/tokens"),
    "POST /account/sign-out-others": _calls("DELETE ~/account/sessions"),
    "POST /account/sessions/{hash}/end": _calls("DELETE ~/account/sessions/{session}"),
    "POST /account/tokens": _calls("POST ~/account/tokens"),
    "POST /account/tokens/{hash}/end": _calls("DELETE ~/account/tokens/{token}"),
    "GET /workspace": _calls("GET ~/accounts", "GET ~/accounts/{ref}", "GET ~/events"),
    "GET /workspace/log": _calls("GET ~/events"),
    "POST /workspace/invite": _calls("POST ~/invitations"),
    "POST /workspace/reset": _calls("POST ~/accounts/{ref}/reset-link"),
    "POST /workspace/sign-out": _calls("POST ~/accounts/{ref}/sign-out"),
    "POST /workspace/owner": _calls("PUT ~/accounts/{ref}/owner"),
    "POST /workspace/close": _calls("POST ~/accounts/{ref}/close"),
    "GET /studies/new": _calls("GET ~/rubrics"),
    "POST /studies/new": _calls("POST ~/studies"),
    "GET /studies/new/rubric": _calls("GET ~/rubric-template", "GET ~/rubrics/{name}/text"),
    "POST /studies/new/rubric": _calls("POST ~/rubrics/check", "POST ~/studies"),
    "POST /studies/new/rubric/upload": _calls("POST ~/rubrics/check"),
    "POST /rubrics/check": _calls("POST ~/rubrics/check"),
    "GET /rubrics": _calls("GET ~/rubrics"),
    "GET /rubrics/{name}": _calls("GET ~/rubrics/{name}", "GET ~/rubrics/{name}/handbook"),
}
_RATING = {
    "GET /rate": _calls("GET /tasks/next", "GET /duties"),
    "GET /rate/{task}": _calls("GET /tasks/{task}", "POST /tasks/{task}/release"),
    "POST /rate/{task}": _calls("PUT /tasks/{task}/draft", "POST /tasks/{task}/rating"),
    "POST /rate/{task}/ask": _calls("POST /tasks/{task}/question"),
    "POST /acknowledge": _calls("POST /acknowledge"),
    "GET /past": _calls("GET /ratings/mine"),
    "GET /past/{task}": _calls("GET /ratings/mine/{task}"),
    "POST /past/{task}": _calls("POST /tasks/{task}/correction"),
    "GET /questions": _calls("GET /questions"),
    "POST /questions": _calls("POST /questions"),
    "POST /questions/answer": _calls("POST /questions/{number}/answer"),
    "GET /flags": _calls("GET /flags"),
    "POST /flags": _calls("POST /flags"),
    "POST /flags/decide": _calls("POST /flags/{number}/decision"),
}
_TALKING = {
    "GET /discuss": _calls("GET /rounds/{number}/disputes"),
    "GET /discuss/{round}/{item}": _calls(
        "GET /rounds/{number}/files/{item}", "GET /rounds/{number}/comments"
    ),
    "POST /discuss/{round}/{item}": _calls(
        "POST /rounds/{number}/comments",
        "POST /rounds/{number}/outcomes",
        "POST /consensus",
        "POST /no-consensus",
    ),
    "GET /adjudicate": _calls("GET /queue"),
    "GET /adjudicate/{item}": _calls("GET /cases/{item}"),
    "POST /adjudicate/{item}": _calls("POST /cases/{item}/settlements"),
    "POST /adjudicate/{item}/attempt": _calls("POST /no-consensus"),
    "POST /adjudicate/{item}/flag": _calls("POST /cases/flags/{number}"),
}
_ITEMS = {
    "GET /items": _calls("GET /items", "GET /uploads"),
    "GET /items/{ref}": _calls("GET /items/{ref}"),
    "GET /items/{ref}/redact": _calls("GET /items/{ref}/redact"),
    "POST /items/{ref}/redact": _calls("POST /items/{ref}/redact"),
    "POST /items/upload": _calls("POST /items/upload", "POST /items"),
    "GET /items/uploads/{token}": _calls(
        "GET /uploads/{upload}", "GET /uploads/{upload}/faults"
    ),
    "POST /items/uploads/{token}/columns": _calls("PUT /uploads/{upload}/columns"),
    "POST /items/uploads/{token}/place": _calls("PUT /uploads/{upload}/place"),
    "POST /items/uploads/{token}/take": _calls("POST /uploads/{upload}/take"),
    "POST /items/uploads/{token}/drop": _calls("DELETE /uploads/{upload}"),
    "GET /items/uploads/{token}/progress.json": _calls("GET /uploads/{upload}"),
}  # fmt: skip
_PEOPLE = {
    "GET /people": _calls("GET /members"),
    "POST /people": _calls("POST /members", "POST /members/{ref}/invitation"),
    "POST /people/many": _calls("POST /members/many", "POST /members/{ref}/invitation"),
    "GET /people/{ref}": _calls("GET /members/{ref}"),
    "POST /people/{ref}/invite": _calls("POST /members/{ref}/invitation"),
    "POST /people/{ref}/take-back": _calls("DELETE /members/{ref}/invitation"),
    "POST /people/{ref}/roles": _calls("PUT /members/{ref}/roles"),
    "GET /people/{ref}/leave": _calls("GET /members/{ref}/leave"),
    "POST /people/{ref}/leave": _calls("POST /members/{ref}/leave"),
}
_ROUNDS = {
    "GET /rounds": _calls("GET /rounds"),
    "GET /rounds/plan": _calls("POST /rounds"),
    "POST /rounds/plan": _calls("POST /rounds"),
    "GET /rounds/{number}": _calls("GET /rounds/{number}", "GET /rounds/{number}/blockers"),
    "POST /rounds/{number}/open": _calls("POST /rounds/{number}/open"),
    "GET /rounds/{number}/close": _calls("GET /rounds/{number}/ending"),
    "POST /rounds/{number}/close": _calls("POST /rounds/{number}/close"),
    "GET /rounds/{number}/drop": _calls("GET /rounds/{number}/ending"),
    "POST /rounds/{number}/drop": _calls("POST /rounds/{number}/drop"),
    "POST /rounds/{number}/extend": _calls("POST /rounds/{number}/extend"),
}
_RUBRIC = {
    "GET /rubric": _calls("GET /rubric", "GET /rubric/handbook"),
    "GET /rubric/history": _calls("GET /rubric/versions", "GET /rubric/diff"),
    "GET /rubric/troubles": _calls("GET /rubric/troubles"),
    "GET /rubric/next": _calls("GET /rubric/text"),
    "POST /rubric/next": _calls("POST /rubric/replay", "POST /rubric/versions"),
    "POST /rubric/next/upload": _calls("POST /rubric/replay"),
    "POST /rubric-stays": _calls("POST /rubric-stays"),
    "POST /rubric-final": _calls("POST /rubric-final"),
}
_LEADING = {
    "GET ": _calls("GET ~/studies/{study}", "GET /progress", "GET /duties", "GET /questions"),
    "GET /standing": _calls("GET /status", "GET /troubles"),
    "POST /phases": _calls("POST /phases/{phase}/start", "POST /phases/{phase}/finish"),
    "POST /steps": _calls("POST /steps"),
    "GET /check-ins": _calls("GET /check-ins", "GET /lessons", "GET /phases"),
    "POST /check-ins": _calls("POST /check-ins"),
    "POST /lessons": _calls("POST /lessons"),
    "GET /judges": _calls("GET /judges", "GET /judge-runs"),
    "GET /judges/run": _calls("GET /judge-runs/foreseen"),
    "POST /judges/run": _calls("POST /judge-runs"),
    "GET /judges/runs/{job}": _calls("GET /judge-runs/{job}"),
    "POST /judges/runs/{job}/stop": _calls("POST /judge-runs/{job}/stop"),
    "POST /judges/admit": _calls("POST /judges/admit"),
    "POST /judges/dismiss": _calls("POST /judges/dismiss"),
    "GET /journal": _calls("GET /journal"),
}
_RESULTS = {
    "GET /results": _calls("GET /verdicts", "GET /finals", "GET /ratings"),
    "GET /agreement": _calls("GET /agreement"),
    "GET /raters": _calls("GET /raters"),
    "GET /report": _calls("GET /report", "GET /reports"),
    "GET /report/file": _calls("GET /report/file"),
    "GET /report/frozen/{number}": _calls("GET /reports/{number}"),
    "GET /report/frozen/{number}/file": _calls("GET /reports/{number}/file"),
    "GET /exports": _calls("GET /exports", "GET /exports/kinds"),
    "POST /exports": _calls("POST /exports", "GET /exports/{job}"),
    "GET /exports/{job}/file": _calls("GET /exports/{job}/file"),
}


def _of_study(pages: dict[str, Calls]) -> dict[str, Counterpart]:
    return {name.replace(" ", " /s/{study}", 1): found for name, found in pages.items()}


COUNTERPARTS: dict[str, Counterpart] = {
    **_COMING_IN,
    **_DESIGN,
    **_WORKSPACE,
    **_of_study(
        _RATING | _TALKING | _ITEMS | _PEOPLE | _ROUNDS | _RUBRIC | _LEADING | _RESULTS
    ),
}  # fmt: skip
"""By method and path of a page."""


def in_person() -> dict[str, str]:
    """What no program does, and why."""
    return {name: one.why for name, one in COUNTERPARTS.items() if isinstance(one, InPerson)}
