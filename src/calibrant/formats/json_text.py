"""JSON read strictly: no repeated keys, no NaN, no surprise about depth or size."""

from __future__ import annotations

import json
from typing import Any


class BadJson(ValueError):
    """The text is not JSON as this project reads it; the message says why and where."""


def parse_json(text: str | bytes) -> Any:
    """The value that ``text`` is; raises ``BadJson`` with a reason a person can act on."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except BadJson:
        raise
    except UnicodeDecodeError as error:
        raise BadJson(f"not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise BadJson(f"not JSON: {error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise BadJson("not JSON: nested too deeply") from error
    except ValueError as error:  # a number with more digits than Python converts
        raise BadJson(f"not JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BadJson(f"key {key[:80]!r} stands twice in one object")
            seen.add(key)
    return built


def _constant(word: str) -> Any:
    raise BadJson(f"not JSON: {word}")
