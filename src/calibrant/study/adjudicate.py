"""Disagreements of every cause in one queue, safety first; settled by consensus or by decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import polars as pl

from calibrant.compare.finals import finals as by_rule
from calibrant.compare.finals import wide
from calibrant.core.answer import NA
from calibrant.core.errors import Refused, StudyError
from calibrant.core.rubric import Rubric
from calibrant.core.study import COUNTING
from calibrant.ports.store import Reading, Writing
from calibrant.study.discuss import low_for_rule, participants_of
from calibrant.study.flags import Flag, flags_seen, open_rounds, took_part
from calibrant.study.score import finals_of, main_ratings, settlements
from calibrant.study.session import Session, current_rubric, reason_of, verb
from calibrant.study.sight import Sight, masks, sight_of
from calibrant.study.table import people

SITTING = 20
"""Cases that one sitting takes on, unless more are asked for."""
Error: TypeAlias = Literal[
    "misread_item", "misread_rubric", "missed_evidence", "outside_knowledge", "slip", "ambiguous"
]
"""What went wrong: read the item or the rubric wrongly, missed something in it, went beyond it, a
slip of the hand; or nobody did, and the case itself is ambiguous."""
Source: TypeAlias = Literal["adopted", "merged", "new"]
How: TypeAlias = Literal["consensus", "adjudicated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An item, or one criterion of it, that somebody has to settle."""

    item: str
    criterion: str | None
    """None where it is about the item as a whole: a flag."""
    causes: tuple[str, ...]
    safety: bool
    answers: dict[str, str]
    """By masked rater."""
    gap: int | None
    flags: tuple[int, ...]
    """Numbers of the flags it is about."""
    tried: bool
    """Whether the reviewers have tried for consensus and failed."""


@verb("lead", "adjudicator", shows="seen")
def queue(session: Session, *, limit: int = SITTING) -> list[Case]:
    """What waits to be settled: safety first, then the widest gap and the heaviest criterion."""

    def work(tx: Reading) -> list[Case]:
        sight = sight_of(tx, session)
        rubric = current_rubric(tx, session)
        frame = main_ratings(tx, session, sight, rubric)
        waiting = _ranked(_cases(tx, session, rubric, frame), rubric)
        flagged = [_flag_case(one) for one in _open_flags(tx, session, sight)]
        flagged.sort(key=lambda case: not case.safety)
        urgent = [case for case in flagged if case.safety]
        rest = [case for case in flagged if not case.safety]
        tried = _tried(tx, session)
        head = waiting.head(limit)
        given = _given(frame.filter(pl.col("item").is_in(head["item"].implode())), rubric)
        mask = masks(tx, session)
        drawn = [_case(row, given, tried, mask) for row in head.iter_rows(named=True)]
        return [*urgent, *drawn, *rest][:limit]

    return session.store.read(work)


def _rounds(tx: Reading, session: Session, sight: Sight) -> list[int]:
    """Rounds whose disagreements are settled: those that count, once they are closed."""
    return [
        one.number
        for one in tx.rounds(session.number)
        if one.kind in COUNTING and one.state == "closed" and one.number in sight.rounds
    ]


def _cases(tx: Reading, session: Session, rubric: Rubric, frame: pl.DataFrame) -> pl.DataFrame:
    """Item, criterion, cause, gap and size of everything that is apart and not settled."""
    final = finals_of(tx, session, frame, rubric)
    done = final.filter(pl.col("provenance").is_in(["consensus", "adjudicated"]))
    found = [final.filter(pl.col("needs_resolution"))]
    for kind, cause in (("LLM", "judge"), ("CODE", "check")):
        for rater in frame.filter(pl.col("kind") == kind)["rater"].unique().sort():
            found.append(_against_people(frame, rubric, rater, cause))
    names = ["item", "criterion", "cause", "gap", "size"]
    text = pl.col("criterion", "cause").cast(pl.String)
    together = pl.concat([one.select(names).with_columns(text) for one in found])
    done = done.with_columns(pl.col("criterion").cast(pl.String))
    return together.join(done, on=["item", "criterion"], how="anti")


def _against_people(frame: pl.DataFrame, rubric: Rubric, rater: str, cause: str) -> pl.DataFrame:
    """Where a judge or a check and what people settled on lie apart, by the rubric's rule."""
    mine = people(frame)
    settled = by_rule(rubric, mine, low=low_for_rule(mine, rubric))
    names = ["item", "rater", *rubric.criterion_ids]
    agreed = wide(rubric, settled).with_columns(pl.lit("").alias("rater")).select(names)
    both = pl.concat([agreed, frame.filter(pl.col("rater") == rater).select(names)])
    found = by_rule(rubric, both, low=frozenset(rubric.criterion_ids))
    return found.filter(pl.col("needs_resolution")).with_columns(pl.lit(cause).alias("cause"))


def _ranked(cases: pl.DataFrame, rubric: Rubric) -> pl.DataFrame:
    """One row an item and criterion, the most urgent first."""
    gated = {name for gate in rubric.gates or () for name in gate.criteria}
    weights = {one.id: one.weight for one in rubric.categories or ()}
    heavy = {one.id: float(weights.get(one.category or "") or 0) for one in rubric.criteria}
    merged = cases.group_by("item", "criterion").agg(
        pl.col("cause").unique().sort().alias("causes"),
        pl.col("gap").max(),
        pl.col("size").max(),
    )
    return merged.with_columns(
        pl.col("criterion").is_in(list(gated)).alias("safety"),
        pl.col("criterion").replace_strict(heavy, return_dtype=pl.Float64).alias("weight"),
    ).sort(
        ["safety", "size", "weight", "item", "criterion"],
        descending=[True, True, True, False, False],
    )


def _given(frame: pl.DataFrame, rubric: Rubric) -> dict[tuple[str, str], dict[str, str]]:
    out: dict[tuple[str, str], dict[str, str]] = {}
    for row in frame.sort("item").iter_rows(named=True):
        for name in rubric.criterion_ids:
            if row[name] is not None:
                out.setdefault((row["item"], name), {})[row["rater"]] = row[name]
    return out


def _case(row: dict[str, Any], given: Any, tried: set[tuple[str, str]], mask: Any) -> Case:
    key = (row["item"], row["criterion"])
    answers = {mask(rater): answer for rater, answer in given.get(key, {}).items()}
    return Case(
        item=row["item"],
        criterion=row["criterion"],
        causes=tuple(row["causes"]),
        safety=row["safety"],
        answers=dict(sorted(answers.items())),  # an order by names would tell them
        gap=row["gap"],
        flags=(),
        tried=key in tried,
    )


def _open_flags(tx: Reading, session: Session, sight: Sight) -> list[Flag]:
    """Flags that can be decided now."""
    opened = open_rounds(tx, session)
    return [
        one
        for one in flags_seen(tx, session, sight)
        if one.state == "raised" and one.item not in sight.hidden and one.round not in opened
    ]


def _flag_case(flag: Flag) -> Case:
    return Case(
        item=flag.item,
        criterion=None,
        causes=(flag.flag or flag.what,) if flag.what == "red_flag" else (flag.what,),
        safety=flag.what == "red_flag",
        answers={},
        gap=None,
        flags=(flag.number,),
        tried=False,
    )


def _tried(tx: Reading, session: Session) -> set[tuple[str, str]]:
    entries = tx.journal(session.number, kinds=("no_consensus",))
    return {(str(one.item), str(one.criterion)) for one in entries}


@verb("lead", "reviewer", "adjudicator", shows="seen")
def no_consensus(
    session: Session, item: str, criterion: str, *, participants: Sequence[str], reason: str
) -> None:
    """The reviewers have talked and do not agree: now an adjudicator may decide."""
    why = reason_of(reason, "a failed consensus")

    def work(tx: Writing) -> None:
        name = _settleable(tx, session, item, criterion)
        entry = session.entry(
            "no_consensus",
            item=item,
            criterion=name,
            body={"participants": participants_of(tx, session, participants)},
            words={"reason": why},
        )
        tx.log(session.number, [entry])

    session.among(work)


def _settleable(tx: Reading, session: Session, item: str, criterion: str) -> str:
    """The criterion's id, where answers on the item may be settled by this actor now."""
    sight = sight_of(tx, session)
    name = current_rubric(tx, session).criterion(criterion).id
    if item in sight.hidden:
        raise Refused(f"rate item {item!r} first: you have it on your list")
    rounds = set(_rounds(tx, session, sight))
    if not any(one.key.round in rounds for one in tx.ratings(session.number, item=item)):
        raise StudyError(f"item {item!r} has no ratings in a closed round that counts")
    return name


@verb("lead", "reviewer", "adjudicator", shows="seen")
def settle(
    session: Session,
    item: str,
    criterion: str,
    value: str,
    *,
    how: How,
    reason: str,
    participants: Sequence[str] = (),
    source: Source = "new",
    error: Error | None = None,
    unclear: bool = False,
) -> None:
    """Give a disagreement its final answer; the answers given before stay as they are.

    ``consensus`` is what the reviewers came to, and names them. ``adjudicated`` is a decision: an
    adjudicator's or the lead's, who has not rated the item where another could decide, and only
    after the reviewers have tried, where the rubric wants that.
    """
    why = reason_of(reason, "a settlement")
    if how not in get_args(How):
        raise StudyError(f"a case is settled by one of {', '.join(get_args(How))}")
    if source not in get_args(Source):
        raise StudyError(f"a final answer is one of {', '.join(get_args(Source))}")
    if error is not None and error not in get_args(Error):
        raise StudyError(f"errors are {', '.join(get_args(Error))}")

    def work(tx: Writing) -> None:
        name = _settleable(tx, session, item, criterion)
        rubric = current_rubric(tx, session)
        body: dict[str, Any] = {
            "value": _value(rubric, name, value),
            "how": how,
            "rubric": rubric.hash,
            "source": source,
            "error": error,
            "unclear": unclear,
        }
        _need_case(tx, session, rubric, item, name, how=how)
        if how == "consensus":
            body["participants"] = participants_of(tx, session, participants)
            _need_raters(tx, session, item, body["participants"])
        else:
            body["rated_too"] = _need_adjudicator(tx, session, rubric, item, name)
        entry = session.entry(
            "settled", item=item, criterion=name, body=body, words={"reason": why}
        )
        tx.log(session.number, [entry])

    session.among(work)


def _need_case(
    tx: Reading, session: Session, rubric: Rubric, item: str, criterion: str, *, how: How
) -> None:
    """There is a disagreement to settle, or a settled one to decide anew; raises ``StudyError``."""
    if (item, criterion) in settlements(tx, session, rubric):
        if how == "consensus":
            raise StudyError(f"{criterion} of item {item!r} is settled: only a decision changes it")
        return
    # how well people agree follows from all items, anything else from the item itself
    whole = rubric.resolution is not None and rubric.resolution.metric == "low_agreement"
    asked = None if whole else item
    frame = main_ratings(tx, session, sight_of(tx, session), rubric, asked)
    cases = _cases(tx, session, rubric, frame).select("item", "criterion")
    if (item, criterion) not in cases.iter_rows():
        raise StudyError(f"nobody disagrees about {criterion} of item {item!r}")


def _need_raters(tx: Reading, session: Session, item: str, names: Sequence[str]) -> None:
    """Two or more of those who came to a consensus rated the item; raises ``StudyError``."""
    rounds = _rounds(tx, session, sight_of(tx, session))
    given = tx.ratings(session.number, item=item)
    raters = {one.key.rater for one in given if one.key.round in rounds}
    if len(raters & set(names)) < 2:
        raise StudyError(f"a consensus takes two or more of those who rated item {item!r}")


def _value(rubric: Rubric, criterion: str, raw: str) -> str:
    one = rubric.criterion(criterion)
    value = rubric.scale_of(one).parse(raw)
    if value is not None:
        return str(value)
    if raw.strip().upper() == NA and one.na.policy != "excluded":
        return NA
    raise StudyError(f"{raw!r} is no answer to {criterion}")


def _need_adjudicator(
    tx: Reading, session: Session, rubric: Rubric, item: str, criterion: str
) -> bool:
    """Whether the actor, who may decide, has rated the item too; raises ``Refused``."""
    rated_too = took_part(tx, session, item)
    asked = rubric.resolution.by if rubric.resolution is not None else None
    first = (asked or ())[:1]
    if first and first[0] != "adjudicator" and (item, criterion) not in _tried(tx, session):
        raise StudyError(
            f"the reviewers try for {first[0]} on {item!r}, {criterion} first: record what "
            "came of it"
        )
    return rated_too
