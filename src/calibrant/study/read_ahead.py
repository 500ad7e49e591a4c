"""What a batch asks of the store one thing after the other, asked at once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from calibrant.core.study import Assignment, ItemRecord, Key, Member, Rating, Round
from calibrant.ports.store import Writing


class ReadAhead:
    """A transaction that holds and has read what a batch is about.

    It is of use until something is written. What it has not read it asks for as usual.
    """

    def __init__(
        self, tx: Writing, study: int, keys: Collection[Key], requests: Collection[str]
    ) -> None:
        self._tx = tx
        self._raters = {name: tx.member(study, name) for name in {key.rater for key in keys}}
        self._held = {number: tx.hold_round(study, number) for number in {k.round for k in keys}}
        self._assignments = {one.key: one for one in tx.hold_assignments(study, keys)}
        self._items = {one.id: one for one in tx.items(study, {key.item for key in keys})}
        self._requests = {one.request: one for one in tx.ratings_by_request(study, requests)}

    @classmethod
    def of(
        cls, tx: Writing, study: int, keys: Collection[Key], requests: Collection[str]
    ) -> Writing:
        """The transaction for whoever works off a batch in it."""
        return cast("Writing", cls(tx, study, keys, requests) if keys else tx)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def member(self, study: int, name: str) -> Member | None:
        """As read."""
        return self._raters[name] if name in self._raters else self._tx.member(study, name)

    def hold_round(self, study: int, number: int) -> Round | None:
        """Held already."""
        return self._held[number]

    def hold_assignment(self, study: int, key: Key) -> Assignment | None:
        """Held already."""
        return self._assignments.get(key)

    def item(self, study: int, id: str) -> ItemRecord | None:
        """As read."""
        return self._items.get(id)

    def rating_by_request(self, study: int, request: str) -> Rating | None:
        """As read."""
        return self._requests.get(request)
