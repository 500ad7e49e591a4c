"""Routes for what many people do at once, a small body in and a small answer out.

They are described to programs as all others are. FastAPI takes as long to read such a request, and
to look at the answer again, as the work itself takes, so here both are done plainly: the path and
one JSON body are checked by the same models, and what the work gives back is sent as it is.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

JSON = "application/json"
ITS_OWN = ("request", "study")
"""What the work finds in the request by itself."""


class QuickRoute(APIRoute):
    """A route whose work is a coroutine with a model as ``body``, and texts from its path."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        run, status = self.endpoint, self.status_code or 200
        asked = inspect.signature(run).parameters
        model = asked["body"].annotation
        texts: dict[str, TypeAdapter[Any]] = {
            name: TypeAdapter(one.annotation)
            for name, one in asked.items()
            if name not in (*ITS_OWN, "body")
        }

        async def answer(request: Request) -> Response:
            found = {name: _text(request.path_params, name, one) for name, one in texts.items()}
            body = _body(request, await request.body(), model)
            told = await run(request=request, body=body, **found)
            if isinstance(told, Response):
                return told
            return Response(told.model_dump_json(), status, media_type=JSON)

        return answer


def _text(params: Mapping[str, Any], name: str, kind: TypeAdapter[Any]) -> Any:
    try:
        return kind.validate_python(params[name])
    except ValidationError as error:
        raise _misfit(error, "path", name) from error


def _body(request: Request, sent: bytes, model: type[BaseModel]) -> BaseModel:
    """What was sent, as the model; raises what FastAPI would raise."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = kind == JSON or (kind.startswith("application/") and kind.endswith("+json"))
    try:
        return model.model_validate(json.loads(sent) if is_json and sent else None)
    except ValidationError as error:
        raise _misfit(error, "body") from error
    except ValueError as error:
        fault = {"type": "json_invalid", "loc": ("body",), "msg": "JSON decode error", "input": {}}
        raise RequestValidationError([fault]) from error
    except RecursionError as error:
        raise HTTPException(400, "There was an error parsing the body") from error


def _misfit(error: ValidationError, *where: str) -> RequestValidationError:
    faults = [{**one, "loc": (*where, *one["loc"])} for one in error.errors(include_url=False)]
    return RequestValidationError(faults)
