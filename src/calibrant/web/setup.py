"""The steps from a new study to its first open round: which are done, and which comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from calibrant.ports.store import Reading
from calibrant.web.access import Seat


@dataclass(frozen=True, slots=True)
class Step:
    """One step of setting a study up."""

    title: str
    path: str
    state: Literal["done", "next", "later"]
    told: str
    """How it stands, in a few words."""


def steps_of(seat: Seat) -> list[Step]:
    """The steps of a study that has no open round yet; none once it had one."""
    number = seat.study.number

    def work(tx: Reading) -> tuple[int, int, list[str]]:
        raters = [
            one
            for one in tx.members(number)
            if "reviewer" in one.roles and one.left_at is None and one.kind == "HUMAN"
        ]
        states = [one.state if one.opened_at else "dropped" if one.closed_at else one.state
                  for one in tx.rounds(number)]  # fmt: skip
        return tx.count_items(number), len(raters), states

    items, raters, rounds = seat.study.store.read(work)
    if any(state in ("open", "closed") for state in rounds):
        return []
    planned = rounds.count("planned")
    facts = (
        ("Rubric", "/rubric", True, seat.study.record.rubric_id),
        ("Items", "/items", items > 0, f"{items:,} there" if items else "upload them"),
        ("People", "/people", raters > 0, _many(raters) if raters else "add raters"),
        ("First round", "/rounds", planned > 0, "planned" if planned else "plan it"),
        ("Begin", "/rounds", False, "open the round"),
    )
    steps: list[Step] = []
    is_next = True
    for title, path, done, told in facts:
        state: Literal["done", "next", "later"] = "done" if done else "next" if is_next else "later"
        is_next = is_next and done
        steps.append(Step(title, seat.path + path, state, told))
    return steps


def _many(raters: int) -> str:
    return "1 rater" if raters == 1 else f"{raters:,} raters"
