"""Names and content hashes: the identity of items, raters and documents.

A hash carries the name of its algorithm, so that a later change of algorithm is visible
and old hashes stay readable. It is taken over canonical JSON: sorted keys, no spaces,
decimals written without trailing zeros.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from decimal import Decimal

TAG = "sha256"
MAX_NAME = 500
PLAIN_NAME = rf"^[!-~]{{1,{MAX_NAME}}}$"
"""Names that need no reading: letters, digits and signs of ASCII, no spaces."""
NAME_RULE = f"must be a text of at most {MAX_NAME} printable characters, or a whole number"


def are_plain(names: Sequence[str]) -> bool:
    """Whether all of these need no reading, told by one look at all of them."""
    together = "".join(names)
    plain = together.isascii() and together.isprintable() and " " not in together
    return plain and all(names) and max(map(len, names), default=0) <= MAX_NAME


def read_name(raw: object) -> str:
    """The name of an item or a rater as text, empty where it cannot be one.

    7, "7", " 7 " and the 7.0 of a spreadsheet are one name.
    """
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    text = str(raw).strip() if isinstance(raw, str | int) and not isinstance(raw, bool) else ""
    return text if len(text) <= MAX_NAME and text.isprintable() else ""


def canonical(value: object) -> str:
    """The one JSON text that stands for ``value``."""
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        default=_plain,
    )


def content_hash(value: object) -> str:
    """``sha256:`` and the digest of the canonical JSON of ``value``."""
    text = canonical(value).encode("utf-8", "surrogatepass")
    return f"{TAG}:{hashlib.sha256(text).hexdigest()}"


def _plain(value: object) -> str:
    if isinstance(value, Decimal):
        return format(value.normalize() + 0, "f")  # minus nought is nought
    raise TypeError(f"{type(value).__name__} has no canonical JSON")
