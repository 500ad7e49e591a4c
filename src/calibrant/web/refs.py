"""Names of items and assignments as they stand in addresses: opaque, and never a path."""

from __future__ import annotations

import base64
import binascii
import json

from starlette.exceptions import HTTPException

from calibrant.core.study import Key

MOST = 4_000
"""Characters of a reference; longer ones are nobody's."""


def item_ref(item: str) -> str:
    """An item's id, fit for an address."""
    return _packed(item)


def read_item(ref: str) -> str:
    """The id that ``item_ref`` packed; anything else is not found."""
    found = _unpacked(ref)
    if not isinstance(found, str):
        raise _unknown()
    return found


def task_ref(key: Key) -> str:
    """An assignment, fit for an address; whose it is follows from who asks."""
    return _packed([key.round, key.item, key.occasion])


def read_task(ref: str, rater: str) -> Key:
    """The assignment that ``task_ref`` packed, as one of this rater's."""
    match _unpacked(ref):
        case [int(round), str(item), int(occasion)] if 0 < round < 2**31 and 0 < occasion < 2**31:
            return Key(round=round, item=item, rater=rater, occasion=occasion)
    raise _unknown()


def _packed(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def _unpacked(ref: str) -> object:
    if len(ref) > MOST:
        raise _unknown()
    try:
        raw = base64.b64decode(ref + "=" * (-len(ref) % 4), altchars=b"-_", validate=True)
        return json.loads(raw.decode())
    except (binascii.Error, ValueError, RecursionError):
        raise _unknown() from None


def _unknown() -> HTTPException:
    return HTTPException(404, "There is nothing at this address.")
