"""How the rubric changed on the way, and why; check-ins, ended phases and lessons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant.core.diff import diff_rubrics
from calibrant.core.errors import VersionError
from calibrant.report.asking import Asked, Missing

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.core.study import Entry
    from calibrant.study.refine import UsedVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of the rubric that the study used."""

    name: str
    hash: str
    since: str
    cause: str
    why: str
    """In the lead's words, or as the rubric's own history has it."""
    changes: tuple[str, ...]
    """What changed in meaning since the version before."""
    ask_again: tuple[str, ...]
    """Criteria whose answers no longer stood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """How a target stood at a moment: kept then, and never computed again."""

    criterion: str | None
    target: str
    value: float | None
    interval: tuple[float, float] | None
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A check-in or the end of a phase, with how agreement stood."""

    what: str
    """``check-in``, or the phase that ended."""
    at: str
    attendees: tuple[str, ...]
    decisions: str
    actions: str
    rounds: tuple[int, ...]
    snapshot: tuple[Snapshot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What happened on the way."""

    versions: tuple[Version, ...]
    finalised: str | None
    """The version that was called final."""
    moments: tuple[Moment, ...] | Missing
    lessons: tuple[str, ...] | Missing


def history_of(
    asked: Asked,
    versions: Sequence[UsedVersion],
    journal: Sequence[Entry] | Missing,
) -> History:
    """The versions of the rubric, check-ins, ended phases and lessons."""
    entries: Sequence[Entry] = () if isinstance(journal, Missing) else journal
    final = [str(one.body["version"]) for one in entries if one.kind == "finalised"]
    lessons = asked.get(lambda study: study.lessons())
    return History(
        versions=_versions(asked, versions),
        finalised=final[-1] if final else None,
        moments=_moments(asked, entries),
        lessons=lessons if isinstance(lessons, Missing) else tuple(map(asked.naming.text, lessons)),
    )


def _versions(asked: Asked, versions: Sequence[UsedVersion]) -> tuple[Version, ...]:
    before = [None, *(one.rubric for one in versions[:-1])]
    out = []
    for used, old in zip(versions, before, strict=True):
        rubric = used.rubric
        changes, again = _changes(old, rubric)
        out.append(
            Version(
                name=rubric.name,
                hash=rubric.hash,
                since=used.at,
                cause=used.cause,
                why=asked.naming.text(used.why or _own_words(rubric)) if old is not None else "",
                changes=changes,
                ask_again=again,
            )
        )
    return tuple(out)


def _own_words(rubric: Rubric) -> str:
    """What the rubric's history says of this version."""
    lines = [one.text for one in rubric.changelog or () if one.version == rubric.version]
    return " ".join(lines)


def _changes(old: Rubric | None, new: Rubric) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if old is None:
        return (), ()
    try:
        found = diff_rubrics(old, new)
    except VersionError as error:  # an older one was put in force again
        return (str(error),), ()
    lines = (f"{one.subject}: {one.text}" if one.subject else one.text for one in found.changes)
    return tuple(lines), found.ask_again


def _moments(asked: Asked, entries: Sequence[Entry]) -> tuple[Moment, ...] | Missing:
    check_ins = asked.get(lambda study: study.check_ins())
    if isinstance(check_ins, Missing):
        return check_ins
    found = [
        Moment(
            what="check-in",
            at=one.at,
            attendees=asked.names(one.attendees),
            decisions=asked.naming.text(one.decisions),
            actions=asked.naming.text(one.actions),
            rounds=_rounds(one.snapshot),
            snapshot=tuple(map(_snapshot, one.snapshot)),
        )
        for one in check_ins
    ]
    for entry in entries:
        if entry.kind == "phase" and entry.body.get("state") == "done":
            rows = entry.body.get("snapshot") or ()
            found.append(
                Moment(
                    what=f"end of phase {entry.body['phase']}",
                    at=entry.at,
                    attendees=(),
                    decisions="",
                    actions="",
                    rounds=_rounds(rows),
                    snapshot=tuple(map(_snapshot, rows)),
                )
            )
    return tuple(sorted(found, key=lambda one: one.at))


def _rounds(rows: Sequence[dict[str, Any]]) -> tuple[int, ...]:
    return tuple(sorted({number for row in rows for number in row["rounds"]}))


def _snapshot(row: dict[str, Any]) -> Snapshot:
    interval = row.get("interval")
    return Snapshot(
        criterion=row.get("criterion"),
        target=str(row["target"]),
        value=row.get("value"),
        interval=None if interval is None else (interval[0], interval[1]),
        outcome=str(row["outcome"]),
    )
