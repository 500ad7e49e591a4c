"""What raters stumbled over becomes the next version of the rubric, with its cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from calibrant.core.diff import RubricDiff, diff_rubrics
from calibrant.core.document import version_key
from calibrant.core.errors import StudyError, VersionError
from calibrant.core.process import Cause
from calibrant.core.rubric import Rubric
from calibrant.ports.store import Reading, Writing
from calibrant.study.discuss import disputed
from calibrant.study.flags import flags_seen, questions_seen
from calibrant.study.open import adoption, rubric_record
from calibrant.study.score import verdicts_under
from calibrant.study.session import Session, current_rubric, reason_of, rubric_of, verb
from calibrant.study.sight import Sight, sight_of
from calibrant.study.table import rated, seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What a criterion has given rise to: a reason to write it anew."""

    criterion: str
    disagreements: int
    unclear: int
    """How often somebody marked that the rubric says too little here."""
    questions: int
    edge_cases: int
    """Of items on which this criterion is disagreed about."""


@verb("lead", "reviewer", "adjudicator", "viewer", shows="seen")
def troubles(session: Session) -> list[Trouble]:
    """Criteria by how much trouble they make in what the actor may see by now, the worst first."""

    def work(tx: Reading) -> list[Trouble]:
        rubric = current_rubric(tx, session)
        sight = sight_of(tx, session)
        apart: list[tuple[str, str]] = []
        for round in tx.rounds(session.number):
            if round.number in sight.rounds and round.kind != "onboarding":
                frame = seen(rated(tx, session, [round.number], rubric), sight)
                apart += disputed(frame, rubric).select("item", "criterion").rows()
        return _ranked(tx, session, sight, rubric, apart)

    return session.store.read(work)


def _ranked(
    tx: Reading,
    session: Session,
    sight: Sight,
    rubric: Rubric,
    apart: Sequence[tuple[str, str]],
) -> list[Trouble]:
    """``apart``: items and criteria that are disagreed about, once for each round."""
    times = Counter(criterion for _, criterion in apart)
    pairs = set(apart)
    unclear: Counter[str] = Counter()
    edges: Counter[str] = Counter()
    for entry in tx.journal(session.number, kinds=("discussed", "settled")):
        told = entry.item not in sight.hidden and (
            entry.round is None or entry.round in sight.rounds
        )
        if told and entry.body.get("unclear"):
            unclear[entry.criterion or ""] += 1
    for flag in flags_seen(tx, session, sight):
        if flag.what == "edge_case":
            edges.update(criterion for item, criterion in pairs if item == flag.item)
    asked = Counter(one.criterion or "" for one in questions_seen(tx, session))
    found = [
        Trouble(
            criterion=name,
            disagreements=times[name],
            unclear=unclear[name],
            questions=asked[name],
            edge_cases=edges[name],
        )
        for name in rubric.criterion_ids
    ]
    return sorted(found, key=lambda one: (-one.unclear, -one.disagreements, -one.questions))


@dataclass(frozen=True, slots=True)
class Replay:
    """What a new version would make of the answers there are."""

    diff: RubricDiff
    flips: pl.DataFrame
    """Items whose verdict changes: item, before, after."""
    ask_again: tuple[str, ...]
    """Criteria whose stored answers no longer stand."""


@verb("lead", shows="seen")
def replay(session: Session, rubric: Rubric) -> Replay:
    """Compare verdicts under the version in force and under another, on the same answers."""

    def work(tx: Reading) -> Replay:
        now = current_rubric(tx, session)
        _need_next(now, rubric)
        found = diff_rubrics(now, rubric)
        names = ["item", "verdict"]
        before = verdicts_under(tx, session, now).select(names)
        after = verdicts_under(tx, session, rubric).select(names)
        both = before.join(after, on="item", suffix="_after")
        flips = both.filter(pl.col("verdict") != pl.col("verdict_after")).rename(
            {"verdict": "before", "verdict_after": "after"}
        )
        return Replay(found, flips.sort("item"), found.ask_again)

    return session.store.read(work)


def _need_next(now: Rubric, rubric: Rubric) -> None:
    """It is the next version of the rubric in force; raises ``StudyError``, ``VersionError``."""
    if rubric.id != now.id or rubric.item_type != now.item_type:
        raise StudyError(f"this study uses {now.id}; {rubric.id} is another rubric")
    if rubric.hash == now.hash:
        raise StudyError(f"{rubric.name} is in force already, word for word")
    if version_key(rubric.version) <= version_key(now.version):
        raise VersionError(
            f"{now.name} is in force: a changed rubric needs a higher version than "
            f"{now.version}, not {rubric.version}"
        )


@verb("lead", shows="nothing")
def refine(session: Session, rubric: Rubric, *, cause: Cause, text: str) -> RubricDiff:
    """Put the next version in force, with its cause; rounds made before keep theirs.

    The version number must be higher: an edit without one is refused.
    """
    why = reason_of(text, "a new version")

    def work(tx: Writing) -> RubricDiff:
        now = current_rubric(tx, session)
        _need_next(now, rubric)
        allowed: Sequence[str] = now.update_causes or ()
        if allowed and cause not in allowed:
            raise StudyError(f"causes of this rubric's updates are {', '.join(allowed)}")
        found = diff_rubrics(now, rubric)
        at = session.now()
        tx.add_rubric(rubric_record(rubric, at))
        more = {"cause": cause, "text": why, "before": now.hash, "ask_again": list(found.ask_again)}
        tx.log(session.number, [adoption(rubric, session.actor, at, **more)])
        return found

    return session.alone(work)


@verb("lead", "reviewer", "adjudicator", "viewer", shows="nothing")
def rubric(session: Session) -> Rubric:
    """The version in force."""
    return session.store.read(lambda tx: current_rubric(tx, session))


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedVersion:
    """A version that the study has used, and why it came."""

    rubric: Rubric
    at: str
    """When it came in force."""
    cause: str
    """Empty for the version that the study began with."""
    why: str
    """In the lead's own words."""


@verb("lead", "reviewer", "adjudicator", "viewer", shows="nothing")
def versions(session: Session) -> list[UsedVersion]:
    """Every version the study has used, the one in force last."""

    def work(tx: Reading) -> list[UsedVersion]:
        return [
            UsedVersion(
                rubric=rubric_of(tx, str(one.body["hash"])),
                at=one.at,
                cause=str(one.body.get("cause", "")),
                why=str(one.body.get("text", "")),
            )
            for one in tx.journal(session.number, kinds=("rubric",))
        ]

    return session.store.read(work)
