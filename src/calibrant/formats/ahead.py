"""Work on the next part while the last one is in use."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(parts: Iterator[T]) -> Iterator[T]:
    """The parts in their order, each made in a thread of its own, one before it is asked for.

    What making a part raises is raised where the part would have come.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(next, parts, _END)
        while (part := future.result()) is not _END:
            future = pool.submit(next, parts, _END)
            yield part  # type: ignore[misc]


_END = object()
