"""Work on the next part while the last one is in use."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def ahead(parts: Iterator[T]) -> Iterator[T]:
    """The parts in their order, each made in a thread of its own, one before it is asked for.

    Work on the first begins at once. What making a part raises is raised where the part would have
    come.
    """
    pool = ThreadPoolExecutor(1)
    return _in_turn(pool, pool.submit(_next, parts), parts)


def _in_turn(pool: ThreadPoolExecutor, future: Future[list[T]], parts: Iterator[T]) -> Iterator[T]:
    with pool:
        while found := future.result():
            future = pool.submit(_next, parts)
            yield found[0]


def _next(parts: Iterator[T]) -> list[T]:
    """The next part, or nothing."""
    return list(islice(parts, 1))
