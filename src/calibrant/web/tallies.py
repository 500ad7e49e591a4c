"""How far raters are, remembered for a while: counting long lists takes longer than showing items.

What is handed in here is counted at once; what happens elsewhere (another process, a round that is
closed) shows within a minute. Nothing is decided by these numbers.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from calibrant.core.study import Key
from calibrant.study.claim import Duty
from calibrant.study.handle import Study

FRESH = timedelta(minutes=1)
MOST_KNOWN = 10_000


@dataclass(slots=True)
class _Known:
    duties: dict[int, Duty]
    """By round."""
    read_at: datetime
    since: set[Key] = field(default_factory=set)
    """What was handed in since."""


class Tallies:
    """The duties of raters by study and name; threads share it."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, str], _Known] = OrderedDict()
        self._turn = threading.Lock()

    def duty(self, study: Study, round: int, leaving: Key | None = None) -> Duty:
        """What the actor has done and has to do in a round; ``leaving`` is about to be done."""
        now = study.clock()
        with self._turn:
            known = self._known.get((study.number, study.actor))
        is_fresh = known is not None and timedelta() <= now - known.read_at < FRESH
        if known is None or not is_fresh or round not in known.duties:
            known = _Known({one.round: one for one in study.duties()}, now)
            with self._turn:
                self._known[study.number, study.actor] = known
                while len(self._known) > MOST_KNOWN:
                    self._known.popitem(last=False)
        with self._turn:
            done = known.since if leaving is None else known.since | {leaving}
        since = sum(key.round == round for key in done)
        return _moved(known.duties.get(round, Duty(round, "", 0, 0)), since)

    def handed_in(self, study: Study, key: Key) -> None:
        """Count one of the actor's own; told twice, it counts once."""
        with self._turn:
            known = self._known.get((study.number, study.actor))
            if known is not None:
                known.since.add(key)


def _moved(duty: Duty, many: int) -> Duty:
    """The same, with so many more done."""
    done = min(many, duty.open)
    return replace(duty, done=duty.done + done, open=duty.open - done)
