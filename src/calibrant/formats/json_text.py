"""JSON read strictly: no repeated keys, no NaN, no surprise about depth or size."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
"""Half of a character that takes two escapes; alone, it cannot be written as text."""


class BadJson(ValueError):
    """The text is not JSON as this project reads it; the message says why and where."""


def parse_json(text: str | bytes) -> Any:
    """The value that ``text`` is; raises ``BadJson`` with a reason a person can act on."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
        )
        if _HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except BadJson:
        raise
    except UnicodeEncodeError as error:
        raise BadJson("half a character (a lone surrogate)") from error
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


def _float(word: str) -> float:
    number = float(word)
    if not isfinite(number):
        raise BadJson(f"not JSON: {word[:40]} is beyond all numbers")
    return number


def _constant(word: str) -> Any:
    raise BadJson(f"not JSON: {word}")
