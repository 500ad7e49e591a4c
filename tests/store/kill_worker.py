"""A worker that leases, rates and hands in until nothing is open, and may be killed at any time.

It is a process of its own, forked from one that has loaded everything already.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.store.store_kit import HASH

from calibrant.core.study import Assignment, Rating, time_text
from calibrant.ports.store import Writing
from calibrant.store.open import open_store

BATCH = 25
LEASE = timedelta(seconds=3)


def work(place: str, study: int, rater: str, name: str, folder: Path) -> None:
    """Tell what is acknowledged and what goes wrong in files of one's own."""
    errors = os.open(folder / f"{name}.err", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(errors, 2)
    acknowledged = folder / f"{name}.ok"
    store = open_store(place, patience=50)
    with acknowledged.open("a", encoding="utf-8") as told:

        def lease(writing: Writing) -> list[Assignment]:
            now = datetime.now(UTC)
            return writing.lease(
                study,
                rater=rater,
                token=name,
                now=time_text(now),
                until=time_text(now + LEASE),
                limit=BATCH,
            )

        def hand_in(writing: Writing) -> list[str]:
            """Those it still holds, locked; a lease may have ended while it was thinking."""
            ratings = [rating(one, name) for one in lease(writing)]
            writing.add_ratings(study, ratings)
            writing.set_assignment_state(study, [one.key for one in ratings], "done")
            return [one.request for one in ratings]

        while True:
            if store.write(lease):
                done = store.write(hand_in)
                told.write("".join(f"{request}\n" for request in done))
                told.flush()
            elif any(one.state == "open" for one in store.read(lambda r: r.progress(study))):
                time.sleep(0.2)  # somebody holds the rest
            else:
                return


def rating(one: Assignment, name: str) -> Rating:
    key = one.key
    return Rating(
        key=key,
        revision=1,
        request=f"{key.rater}/{key.item}",
        rubric=HASH,
        item_hash=HASH,
        answers={"tidy": "YES", "depth": "2"},
        facts={"by": name},
        words={"note": "n" * 50},
        submitted_at="2026-03-02T09:30:00.000000Z",
    )
