"""Reports as they were on a day: kept with a check-in or the end of a phase, for good.

One line of the journal says that a report was frozen. What it said stands in lines right before
that one, of a kind that is read only for it: the document without anybody's words on an item, and
the words of each item in a line of its own, so that a redaction erases them here as elsewhere.
What the document means is known where it was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calibrant.core.errors import StudyError
from calibrant.core.ids import content_hash
from calibrant.core.study import FROZEN, FROZEN_DATA, Entry
from calibrant.ports.store import Reading, Writing
from calibrant.study.contents import need_all
from calibrant.study.intake import redacted
from calibrant.study.session import Session, verb


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """A report that was frozen: when, by whom, and with what."""

    number: int
    """Of the check-in, or of the line that says that the phase is done."""
    at: str
    by: str
    what: str
    """``check_in`` or ``phase``."""
    phase: str | None
    """The one that ended."""
    hash: str
    """Of what it said, words on items left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenData:
    """What a frozen report said."""

    frozen: Frozen
    document: str
    """As it was handed in."""
    words: Mapping[str, Mapping[str, Any]]
    """By item, as they were handed in; items that have been redacted since have none."""


@verb("lead", shows="nothing")
def keep_report(
    session: Session,
    number: int,
    document: str,
    words: Mapping[str, Mapping[str, Any]],
) -> Frozen:
    """Keep the lead's report with check-in ``number``, or the phase that ended under it.

    ``document`` is a text, which is kept sign by sign. It has no words on items: these come apart,
    by item. Each occasion has one report.
    """

    def work(tx: Writing) -> None:
        occasion = _occasion(tx, session, number)
        if any(one.number == number for one in _frozen(tx, session)):
            raise StudyError(f"a report is kept with number {number} already")
        gone = redacted(tx, session)
        data = [session.entry(FROZEN_DATA, body={"findings": document})]
        data += [
            session.entry(FROZEN_DATA, item=item, words=said)
            for item, said in words.items()
            if item not in gone  # somebody may have erased it meanwhile
        ]
        body = {
            "of": number,
            "what": occasion.kind,
            "phase": occasion.body.get("phase"),
            "lines": len(data),
            "hash": content_hash(document),
        }
        tx.log(session.number, [*data, session.entry(FROZEN, body=body)])

    session.alone(work)
    return session.store.read(lambda tx: _numbered(tx, session, number)[0])


@verb("lead", shows="nothing")
def frozen_reports(session: Session) -> list[Frozen]:
    """Every report that was frozen, in order."""
    return session.store.read(lambda tx: _frozen(tx, session))


@verb("lead", shows="all")
def frozen_report(session: Session, number: int) -> FrozenData:
    """What the report said that is kept with check-in ``number``, or with the end of a phase.

    Whoever froze it reads it at any time: they have seen it. Other leads who rate read it when
    they may see every answer, since it may tell them what raters are not told.
    """

    def work(tx: Reading) -> FrozenData:
        frozen, line = _numbered(tx, session, number)
        if frozen.by != session.actor:
            need_all(tx, session)
        first = line.number - int(line.body["lines"])
        data = list(
            tx.journal(session.number, kinds=(FROZEN_DATA,), after=first - 1, until=line.number - 1)
        )
        documents = [one.body.get("findings") for one in data if one.item is None]
        document = documents[0] if documents else None
        if document is None:
            raise StudyError("this study came under pseudonyms: frozen reports stayed behind")
        if content_hash(document) != frozen.hash:
            raise StudyError(f"frozen report {number} is not what was frozen: its hash differs")
        words = {str(one.item): one.words for one in data if one.item and one.words is not None}
        return FrozenData(frozen=frozen, document=document, words=words)

    return session.store.read(work)


def _occasion(tx: Reading, session: Session, number: int) -> Entry:
    """The check-in, or the end of a phase, of that number; raises ``StudyError``."""
    lines = tx.journal(session.number, kinds=("check_in", "phase"), after=number - 1, until=number)
    found = next(lines, None)
    if found is None or (found.kind == "phase" and found.body["state"] != "done"):
        raise StudyError(f"number {number} is no check-in, and no end of a phase")
    return found


def _frozen(tx: Reading, session: Session) -> list[Frozen]:
    return [_of_line(one) for one in tx.journal(session.number, kinds=(FROZEN,))]


def _numbered(tx: Reading, session: Session, number: int) -> tuple[Frozen, Entry]:
    found = [(_of_line(one), one) for one in tx.journal(session.number, kinds=(FROZEN,))]
    for frozen, line in found:
        if frozen.number == number:
            return frozen, line
    known = ", ".join(str(frozen.number) for frozen, _ in found)
    there = f"there are: {known}" if known else "none was frozen yet"
    raise StudyError(f"study {session.name!r} has no frozen report {number}; {there}")


def _of_line(line: Entry) -> Frozen:
    body = line.body
    return Frozen(
        number=int(body["of"]),
        at=line.at,
        by=line.actor,
        what=str(body["what"]),
        phase=body.get("phase"),
        hash=str(body["hash"]),
    )
