"""What went wrong at a server: status, headers and body of an answer that is no success.

Nothing that a server sends back is told on where it could hold the key or words of an item, but
for the first line of its own message, shortened and with the key struck out.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from calibrant.core.errors import one_line
from calibrant.ports.chat import Ask, Class, Trouble

LONGEST_WAIT = 86_400.0
"""Seconds. A server that asks for more than a day is taken to ask for a day."""
LONGEST_DETAIL = 300
MAX_NUMBER = 18
"""Signs of a number in a header; nobody waits for longer ones."""

_FORMS = re.compile(
    r"response_?format|json_schema|json_object|structured.?output|guided|grammar|json.mode", re.I
)
_LOGPROBS = re.compile(r"log_?prob|log-prob", re.I)
_NO_MONEY = re.compile(r"insufficient_quota|billing|credit balance", re.I)
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_BY_STATUS: dict[int, Class] = {408: "timeout", 409: "server_error", 425: "server_error"}
_IN_WORDS = {
    401: "the server does not accept the key",
    403: "the server does not allow this with this key",
    404: "there is no such model or address",
    413: "the request is too large for the server",
}


def trouble_of(
    status: int, headers: Mapping[str, str], body: bytes, ask: Ask, key: str | None
) -> Trouble:
    """What an answer with this status means for who asked."""
    said = _said(body)
    if status == 429 and not _NO_MONEY.search(said):
        return Trouble("rate_limited", "", wait=wait_of(headers), status=status)
    detail = _IN_WORDS.get(status) or _told(said, key)
    if status in (400, 422, 501) and (missing := _unsupported(said, ask)):
        return Trouble("unsupported", f"{missing}: {detail}", status=status)
    if 300 <= status < 400:
        return Trouble("refused", "a redirect, which is not followed", status=status)
    why = _BY_STATUS.get(status, "server_error" if status >= 500 else "refused")
    wait = wait_of(headers) if why != "refused" else None
    return Trouble(
        why, f"status {status}" + (f": {detail}" if detail else ""), wait=wait, status=status
    )


def wants_other_limit(status: int, body: bytes) -> bool:
    """Whether a server asks to be told the most tokens of a reply by their newer name."""
    return status == 400 and "max_completion_tokens" in _said(body)


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait, by any of the headers in use; no clock is read.

    A date is held against the server's own ``Date``, so a wrong clock on either side is no matter.
    """
    thousandths = _number(headers.get("retry-after-ms", ""))
    if thousandths is not None:
        return min(thousandths / 1000, LONGEST_WAIT)
    after = headers.get("retry-after", "")
    seconds = _number(after)
    if seconds is not None:
        return min(seconds, LONGEST_WAIT)
    then, now = _date(after), _date(headers.get("date", ""))
    if then and now:
        return min(max((then - now).total_seconds(), 0.0), LONGEST_WAIT)
    return _until_reset(headers)


def _until_reset(headers: Mapping[str, str]) -> float | None:
    """Of the limits that are used up, the one that is given back last."""
    waits = [
        _span(headers.get(f"x-ratelimit-reset-{what}", ""))
        for what in ("requests", "tokens")
        if _number(headers.get(f"x-ratelimit-remaining-{what}", "")) == 0
    ]
    known = [wait for wait in waits if wait is not None]
    return min(max(known), LONGEST_WAIT) if known else None


def _number(text: str) -> float | None:
    """A number that is not negative, or nothing."""
    text = text.strip()
    if not text or len(text) > MAX_NUMBER or not text.isascii():
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _span(text: str) -> float | None:
    """A span such as ``1m30s``, ``20ms`` or plain seconds."""
    text = text.strip()
    parts = _SPAN.findall(text[:64])
    if parts and "".join(map("".join, parts)) == text:
        return sum(float(amount) * _SECONDS[unit] for amount, unit in parts)
    return _number(text)


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text[:64])
    except (ValueError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else None


def _said(body: bytes) -> str:
    """A server's own message, from the shapes in use; nothing where it is a page."""
    try:
        told: Any = json.loads(body[:65_536])
    except (ValueError, RecursionError):
        return ""
    if isinstance(told, dict) and "error" in told:
        told = told["error"]
    if isinstance(told, dict):
        parts = [told.get(name) for name in ("message", "code", "type", "param", "detail")]
        told = " ".join(part for part in parts if isinstance(part, str))
    return told if isinstance(told, str) else ""


def _told(said: str, key: str | None) -> str:
    """A server's message as it may be told on: one short line, without the key."""
    if key:
        said = said.replace(key, "***")
    return one_line(" ".join(said.split()))[:LONGEST_DETAIL]


def _unsupported(said: str, ask: Ask) -> str:
    """What that was asked for the server says it does not know, if it says so."""
    if ask.top_logprobs and _LOGPROBS.search(said):
        return "logprobs"
    if ask.form != "text" and _FORMS.search(said):
        return ask.form
    return ""
