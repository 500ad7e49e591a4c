"""What programs can do: the API, described from its own document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.responses import Response

from calibrant.web.access import SIGNED_IN, Routes
from calibrant.web.api_document import SUBJECTS
from calibrant.web.counterparts import in_person
from calibrant.web.render import page
from calibrant.web.workspace import Visitor

routes = Routes()
METHODS = ("get", "post", "put", "delete")


@dataclass(frozen=True, slots=True)
class Call:
    """One thing a program can do."""

    method: str
    path: str
    title: str
    text: str
    parameters: tuple[tuple[str, str, str], ...]
    """Name, where it stands, and what it is."""
    body: str
    """The name of what is sent."""
    gives: str
    id: str


@routes.get("/api", access=SIGNED_IN)
def api_docs(request: Request, visitor: Visitor) -> Response:
    """All calls by subject, and the shapes that they send and give."""
    document = request.app.openapi()
    subjects: dict[str, list[Call]] = {}
    for path, ways in document["paths"].items():
        for method in METHODS:
            if method in ways:
                tag = (ways[method].get("tags") or ["more"])[0]
                subjects.setdefault(tag, []).append(_call(method, path, ways[method]))
    shapes = document.get("components", {}).get("schemas", {})
    return page(
        request,
        "api.html",
        subjects=sorted(subjects.items()),
        shapes={name: _fields(shape) for name, shape in sorted(shapes.items())},
        in_person=in_person(),
        about=SUBJECTS,
        address=f"{request.url.scheme}://{request.url.netloc}",
    )


def _call(method: str, path: str, way: dict[str, Any]) -> Call:
    told = str(way.get("description") or way.get("summary") or "").replace("``", "")
    title, _, text = told.partition("\n")
    sent = way.get("requestBody", {}).get("content", {})
    answers = way.get("responses", {})
    good: dict[str, Any] = next((one for code, one in answers.items() if code.startswith("2")), {})
    return Call(
        method=method.upper(),
        path=path,
        title=title,
        text=text.strip(),
        parameters=tuple(
            (one["name"], one["in"], _kind(one.get("schema", {})))
            for one in way.get("parameters", [])
        ),
        body=_content(sent),
        gives=_content(good.get("content", {})),
        id=f"{method}-{path.strip('/').replace('/', '-').replace('{', '').replace('}', '')}",
    )


def _content(content: dict[str, Any]) -> str:
    return next((_kind(one.get("schema", {})) for one in content.values()), "")


def _fields(shape: dict[str, Any]) -> list[tuple[str, str, bool]]:
    needed = shape.get("required", [])
    return [(name, _kind(one), name in needed) for name, one in shape.get("properties", {}).items()]


def _kind(schema: dict[str, Any]) -> str:
    """What a value is, in a few words."""
    match schema:
        case {"$ref": str(ref)}:
            told = ref.rpartition("/")[2]
        case {"anyOf": list(several)}:
            told = " or ".join(_kind(one) for one in several)
        case {"enum": list(values)}:
            told = " or ".join(map(str, values))
        case {"const": value}:
            told = str(value)
        case {"type": "array"}:
            told = f"list of {_kind(schema.get('items', {})) or 'anything'}"
        case {"type": "null"}:
            told = "nothing"
        case _:
            told = str(schema.get("type", ""))
    return told
