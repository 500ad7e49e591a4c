"""Every exception calibrant raises on purpose.

    CalibrantError
    ├── RubricError          a rubric document is not usable; carries every fault found
    ├── VersionError         one version number names two different contents
    ├── RecordError          records of items or answers are malformed; carries every fault found
    ├── SourceError          a file cannot be read at all (missing, too large, not what it claims)
    ├── ChatError            a language model cannot be asked at all: its address, file, package
    ├── StoreError           a database cannot be used: missing, damaged, full, of a newer version
    │   └── Doubled          a record of that name is there already
    ├── AccountError         a sign-in, link, password or token that is refused; says what to do
    │   └── TooOften         wrong so often that one has to wait; says for how long
    ├── StudyError           a move that the study does not allow now; says what to do first
    │   ├── Refused          this person may not do or see that
    │   ├── Stale            what was handed in rests on something that has changed since
    │   └── Unread           a version of the rubric that has to be read before anybody rates by it
    └── UnknownName          a rubric, criterion, red flag or file kind that does not exist

A *fault* is one mistake in somebody's file: where it is, what is wrong, what to do.
Faults are collected and raised together, never one at a time.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake in a file that a person can go and mend."""

    message: str
    path: str = ""
    """Where inside the document: ``criteria[2].scale``, or the field of a record."""
    source: str = ""
    """The file's name, as the user gave it."""
    line: int | None = None
    """Line of a rubric document, counted from one."""
    record: int | None = None
    """Record of a data file, counted from one (a table's header is not a record)."""
    hint: str = ""

    def __str__(self) -> str:
        place = self.source or "document"
        if self.line is not None:
            place += f":{self.line}"
        if self.record is not None:
            place += f": record {self.record}"
        where = f": {self.path}" if self.path else ""
        hint = f" ({self.hint})" if self.hint else ""
        return one_line(f"{place}{where}: {self.message}{hint}")


def one_line(text: str) -> str:
    """The text with everything that is no visible sign written as an escape."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


class CalibrantError(Exception):
    """The root of all errors that calibrant raises on purpose."""


class _FaultyFile(CalibrantError):
    """An error that carries all faults of a file."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


class RubricError(_FaultyFile):
    """A rubric document cannot be used; ``faults`` lists every reason."""


class RecordError(_FaultyFile):
    """Records of a data file are malformed; ``faults`` lists every one."""


class VersionError(CalibrantError):
    """One version number stands for two different contents."""


class SourceError(CalibrantError):
    """A file cannot be read at all."""


class ChatError(CalibrantError):
    """A language model cannot be asked at all."""


class StoreError(CalibrantError):
    """A database cannot be used."""


class Doubled(StoreError):
    """A record of that name is there already."""


class AccountError(CalibrantError):
    """A sign-in, a link, a password or a token that is refused."""


class TooOften(AccountError):
    """Wrong so often that one has to wait before trying again."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        unit = "second" if seconds == 1 else "seconds"
        super().__init__(f"too many attempts that were wrong; try again in {seconds} {unit}")


class StudyError(CalibrantError):
    """A move that the study does not allow as it stands."""


class Refused(StudyError):
    """This person may not do or see that."""


class Stale(StudyError):
    """What was handed in rests on something that has changed since."""


class Unread(StudyError):
    """Nobody rates by a version of the rubric that they have not said to have read."""

    def __init__(self, sentence: str, rubric: str) -> None:
        super().__init__(sentence)
        self.rubric = rubric
        """The content hash of the version."""


class UnknownName(CalibrantError, LookupError):
    """A name that nothing answers to; the message suggests the nearest one."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.hint = suggestion(name, known)
        super().__init__(f"unknown {what} {name[:80]!r}" + (f"; {self.hint}" if self.hint else ""))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, if one is near."""
    folded = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name[:80].casefold(), list(folded), n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """``did you mean 'weight'?`` or, when nothing is near, the few names there are."""
    names = list(known)
    near = nearest(name, names)
    if near is not None:
        return f"did you mean {near!r}?"
    return f"known: {', '.join(names)}" if 0 < len(names) <= 20 else ""
