"""The time in which the demo's studies have been going on: always before the present moment."""

from __future__ import annotations

from datetime import date, datetime, timedelta


class Calendar:
    """A clock that is set by the story and moves on a little with every look at it."""

    def __init__(self, today: datetime) -> None:
        self.today = today
        self.pace = timedelta(seconds=2)
        """How far it moves with each look."""
        self._at = datetime.min.replace(tzinfo=today.tzinfo)

    def __call__(self) -> datetime:
        """The next moment of the story; raises ``ValueError`` on one that has not come yet."""
        self._at += self.pace
        if self._at > self.today:
            raise ValueError("the story of a demo study runs into the future")
        return self._at

    @property
    def moment(self) -> datetime:
        """The time as it stands; looking at it here does not move it."""
        return self._at

    def day(self, ago: int) -> date:
        """The day so many days before today."""
        return (self.today - timedelta(days=ago)).date()

    def turn_to(self, ago: int, hour: int, minute: int = 0) -> None:
        """Go on to an hour of a day so many days ago, or stay where it is past already."""
        midnight = self.today.replace(hour=0, minute=0, second=0, microsecond=0)
        wanted = midnight - timedelta(days=ago) + timedelta(hours=hour, minutes=minute)
        self._at = max(self._at, wanted)
