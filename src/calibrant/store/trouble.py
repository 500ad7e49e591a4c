"""What goes wrong with databases: which trouble passes by itself, and what to do about the rest.

Errors of the drivers come in; a sentence comes out that says what is wrong, where, and what to
do. No sentence holds a password or the content of a record.
"""

from __future__ import annotations

import re
from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from calibrant.core.errors import one_line

_PASSING_SQLITE: Final = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_PASSING_STATES: Final = (
    "08",  # the connection was lost
    "40001",  # could not be serialised
    "40P01",  # deadlock
    "53300",  # too many connections
    "55P03",  # lock not available
    "57P01",  # server is shut down
    "57P02",  # server crashed
    "57P03",  # server is starting
    "57P05",  # idle too long
)
_SQLITE: Final = {
    "SQLITE_FULL": "the disk is full; make room and do it again: what was kept is still there",
    "SQLITE_READONLY": "it can only be read; let this user write the file and its folder",
    "SQLITE_CANTOPEN": "the file cannot be opened; look at its path, and whether this user may "
    "read and write the file and its folder",
    "SQLITE_PERM": "the file cannot be opened; let this user read and write it",
    "SQLITE_AUTH": "the file cannot be opened; let this user read and write it",
    "SQLITE_CORRUPT": "the file is damaged; put it aside and restore the last backup",
    "SQLITE_NOTADB": "this is not a database of calibrant, or it is damaged; name another file, "
    "or restore the last backup",
    "SQLITE_IOERR": "the disk cannot be read or written; look whether it is full or failing, then "
    "do it again: what was kept before is still there",
    "SQLITE_TOOBIG": "a text is too large to be kept; the limit is about 1 GB",
    "SQLITE_NOMEM": "memory ran out; do it again in smaller parts",
    "SQLITE_BUSY": "another program is writing and has not let go; end it, or try again later",
    "SQLITE_LOCKED": "another program is writing and has not let go; end it, or try again later",
}
_STATES: Final = {
    "28": "the server does not let this user in; look at the user name and the password",
    "3D000": "the server has no such database; make it with createdb, or name another",
    "42501": "this user may not do that there; have the owner of the database grant it",
    "53100": "the server's disk is full; make room and do it again: what was kept is still there",
    "53200": "the server's memory ran out; try again later",
    "54000": "a text is too large to be kept; the limit is about 1 GB",
    "25006": "the server only lets it be read; name the server that can be written",
    "42P01": "tables are missing; restore the last backup",
    "42703": "tables have other columns than they should; restore the last backup",
    "XX001": "the database is damaged; restore the last backup",
    "XX002": "an index is damaged; have the owner of the database run REINDEX",
}
_REFUSALS: Final = (
    (r"password|authentication|no pg_hba\.conf|role .* does not exist", "28"),
    (r"database .* does not exist", "3D000"),
)
_ABSENT: Final = (
    "the server cannot be reached; look whether it runs and whether the address is right"
)


def driver_error(error: BaseException) -> BaseException:
    """What the driver itself raised."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        return error.orig
    return error


def is_trouble(error: BaseException) -> bool:
    """Whether it is about the database, and not what somebody's work came to."""
    module = type(driver_error(error)).__module__
    return isinstance(error, SQLAlchemyError) or module.startswith(("sqlite3", "psycopg"))


def passes(error: BaseException) -> bool:
    """Whether the trouble is of the kind that is over after a while."""
    if isinstance(error, NoConnectionFree):
        return True
    raw = driver_error(error)
    name = getattr(raw, "sqlite_errorname", None)
    if name is not None:
        return str(name).startswith(_PASSING_SQLITE)
    state = state_of(raw)
    if state is not None:
        return state.startswith(_PASSING_STATES)
    return is_lost(error)


def is_lost(error: BaseException) -> bool:
    """Whether the connection is of no use any more."""
    raw = driver_error(error)
    if not type(raw).__module__.startswith("psycopg"):
        return False
    state = state_of(raw)
    if state is None:
        return type(raw).__name__ in {"OperationalError", "InterfaceError", "ConnectionTimeout"}
    return state.startswith(("08", "57P"))


def state_of(raw: BaseException) -> str | None:
    """The five signs by which a server names an error, also of one that let nobody in."""
    state = getattr(raw, "sqlstate", None)
    if state is None and type(raw).__module__.startswith("psycopg"):
        for pattern, refusal in _REFUSALS:
            if re.search(pattern, str(raw)):
                return refusal
    return state


def is_doubled(error: BaseException) -> bool:
    """Whether a row of that key is there already."""
    raw = driver_error(error)
    if state_of(raw) == "23505":
        return True
    name = getattr(raw, "sqlite_errorname", "")
    if name in {"SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"}:
        return True
    return name == "SQLITE_CONSTRAINT_TRIGGER" and "is kept already" in str(raw)


def is_refused_row(error: BaseException) -> bool:
    """Whether the row itself is what the database does not take."""
    raw = driver_error(error)
    if isinstance(raw, OverflowError | UnicodeEncodeError):
        return True
    state = state_of(raw) or ""
    name = getattr(raw, "sqlite_errorname", "")
    return state.startswith(("22", "23", "42804")) or name.startswith(
        ("SQLITE_CONSTRAINT", "SQLITE_MISMATCH")
    )


def why_refused(error: BaseException) -> str:
    """What is wrong with a row, in words."""
    raw = driver_error(error)
    name = getattr(raw, "sqlite_errorname", "")
    if state_of(raw) == "23503" or name == "SQLITE_CONSTRAINT_FOREIGNKEY":
        return "names something that the store does not have; add that first"
    if isinstance(raw, UnicodeEncodeError):
        return "holds half a character, which cannot be kept; take it out"
    if isinstance(raw, OverflowError) or state_of(raw) == "22003":
        return "holds a number too large to be kept"
    return f"is not allowed: {first_line(raw)}"


def sentence(error: BaseException, place: str) -> str:
    """What is wrong, where, and what to do."""
    if isinstance(error, NoConnectionFree):
        return f"{place}: all connections are in use; try again later"
    raw = driver_error(error)
    for start, advice in (*_SQLITE.items(), *_STATES.items()):
        name = getattr(raw, "sqlite_errorname", None) or state_of(raw) or ""
        if name.startswith(start):
            return f"{place}: {advice} ({first_line(raw)})"
    if is_lost(error):
        return f"{place}: {_ABSENT} ({first_line(raw)})"
    return f"{place}: the database refused: {first_line(raw)}"


def first_line(raw: BaseException) -> str:
    """The driver's own words, as far as they fit a message."""
    lines = [line.strip() for line in str(raw).splitlines() if line.strip()]
    return one_line(lines[0] if lines else type(raw).__name__)[:300]
