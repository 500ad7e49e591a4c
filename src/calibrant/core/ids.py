"""Content hashes: the identity of documents and items.

A hash carries the name of its algorithm, so that a later change of algorithm is visible
and old hashes stay readable. It is taken over canonical JSON: sorted keys, no spaces,
decimals written without trailing zeros.
"""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal

TAG = "sha256"


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
