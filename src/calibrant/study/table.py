"""The ratings of a study as tables: built here and nowhere else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import polars as pl

from calibrant.core.answer import ERROR
from calibrant.core.diff import diff_rubrics
from calibrant.core.ids import canonical
from calibrant.core.rating import RaterKind
from calibrant.core.rubric import Rubric
from calibrant.core.study import Rating
from calibrant.ports.store import AnswerRow, Reading
from calibrant.study.session import Session, round_numbered, rubric_of, verb
from calibrant.study.sight import Sight, need_round, sight_of

KEYS = ("round", "item", "rater", "kind", "occasion", "time")
_ROW = {
    "round": pl.Int64,
    "item": pl.String,
    "rater": pl.String,
    "occasion": pl.Int64,
    "revision": pl.Int64,
    "rubric": pl.String,
    "answers": pl.String,
    "facts": pl.String,
    "submitted_at": pl.String,
}
assert tuple(_ROW) == AnswerRow._fields


def rated(
    tx: Reading,
    session: Session,
    rounds: Collection[int],
    rubric: Rubric,
    item: str | None = None,
) -> pl.DataFrame:
    """Ratings of these rounds, one a row, with a column for each criterion of ``rubric``.

    Of one item, where it is named. Answers given under another version stand only where what
    raters read of the criterion is unchanged; elsewhere the cell is null, as if nobody had been
    asked.
    """
    given: Iterable[Sequence[AnswerRow]] = (
        tx.answer_rows(session.number, rounds)
        if item is None
        else [[_row(one) for one in tx.ratings(session.number, item=item)]]
    )
    parts = [pl.DataFrame(part, schema=_ROW, orient="row") for part in given if part]
    rows = pl.concat(parts) if parts else pl.DataFrame(schema=_ROW)
    rows = rows if item is None else rows.filter(pl.col("round").is_in(list(rounds)))
    kinds = {one.name: one.kind for one in tx.members(session.number)}
    frames = [
        _with_answers(group, rubric_of(tx, str(version)), rubric)
        for (version,), group in rows.group_by("rubric", maintain_order=True)
    ]
    empty = (
        rows.clear()
        .drop("answers")
        .with_columns(pl.lit(None, pl.String).alias(name) for name in rubric.criterion_ids)
    )
    frame = pl.concat(frames) if frames else empty
    return _with_kinds(frame, kinds)


def _row(one: Rating) -> AnswerRow:
    """A rating as the store gives many."""
    key = one.key
    return AnswerRow(
        key.round,
        key.item,
        key.rater,
        key.occasion,
        one.revision,
        one.rubric,
        canonical(one.answers),
        canonical(one.facts),
        one.submitted_at,
    )


def answer_frames(tx: Reading, session: Session) -> Iterator[tuple[str, pl.DataFrame]]:
    """All ratings that count, in parts of one version each, with a column for each criterion."""
    kinds = {one.name: one.kind for one in tx.members(session.number)}
    for part in tx.answer_rows(session.number):
        rows = pl.DataFrame(part, schema=_ROW, orient="row")
        for (version,), group in rows.group_by("rubric", maintain_order=True):
            rubric = rubric_of(tx, str(version))
            yield str(version), _with_kinds(_with_answers(group, rubric, rubric), kinds)


def _with_kinds(frame: pl.DataFrame, kinds: dict[str, RaterKind]) -> pl.DataFrame:
    return frame.with_columns(
        pl.col("rater")
        .replace_strict(kinds, default="HUMAN", return_dtype=pl.String)
        .alias("kind"),
        pl.col("submitted_at").alias("time"),
    )


def _with_answers(rows: pl.DataFrame, given: Rubric, wanted: Rubric) -> pl.DataFrame:
    names = carried(given, wanted)
    read = pl.Struct(dict.fromkeys(names.values(), pl.String))
    answers = rows.select(pl.col("answers").str.json_decode(read).struct.unnest())
    columns = [
        answers[names[name]].alias(name)
        if name in names
        else pl.Series(name, [None] * rows.height, pl.String)
        for name in wanted.criterion_ids
    ]
    return rows.drop("answers").with_columns(columns)


def carried(given: Rubric, wanted: Rubric) -> dict[str, str]:
    """Criteria of ``wanted`` for which answers under ``given`` stand, with their name there."""
    if given.hash == wanted.hash:
        return {name: name for name in wanted.criterion_ids}
    found = diff_rubrics(given, wanted)
    before = {new: old for old, new in found.renamed}
    return {name: before.get(name, name) for name in found.valid}


def long_rows(frame: pl.DataFrame, rubric: Rubric) -> pl.DataFrame:
    """One row an answer; what nobody answered has none."""
    kept = [name for name in (*KEYS, "rubric") if name in frame.columns]
    return frame.unpivot(
        list(rubric.criterion_ids), index=kept, variable_name="criterion", value_name="answer"
    ).drop_nulls("answer")


def seen(frame: pl.DataFrame, sight: Sight) -> pl.DataFrame:
    """Only what may be seen, with names as they may be told."""
    frame = frame.filter(pl.col("round").is_in(list(sight.rounds)))
    if sight.hidden:
        frame = frame.filter(~pl.col("item").is_in(list(sight.hidden)))
    if not sight.masked:
        return frame
    names = {name: sight.mask(name) for name in frame["rater"].unique()}
    return frame.with_columns(pl.col("rater").replace_strict(names, return_dtype=pl.String))


@verb("lead", "reviewer", "adjudicator", "viewer", shows="seen")
def ratings(session: Session, *, round: int | None = None) -> pl.DataFrame:
    """The answers that the actor may see by now, one a row; ready for ``calibrant.agreement``."""

    def work(tx: Reading) -> pl.DataFrame:
        sight = sight_of(tx, session)
        if round is not None:
            need_round(sight, round_numbered(tx, session, round).number)
        frames = []
        for one in tx.rounds(session.number):
            if one.number in sight.rounds and round in (None, one.number):
                rubric = rubric_of(tx, one.rubric)
                frames.append(long_rows(rated(tx, session, [one.number], rubric), rubric))
        empty = pl.DataFrame(
            schema=dict.fromkeys((*KEYS, "rubric", "criterion", "answer"), pl.String)
        )
        if not frames:
            return empty
        found = seen(pl.concat(frames), sight)
        # rows come by name: an order that would tell who is behind a mask
        return found.sort("round", "item", "rater", maintain_order=True) if sight.masked else found

    return session.store.read(work)


def answered(frame: pl.DataFrame) -> pl.DataFrame:
    """Long rows without errors: somebody was asked, and there is no answer to compare."""
    return frame.filter(pl.col("answer") != ERROR)


def first_answers(frame: pl.DataFrame) -> pl.DataFrame:
    """One row a rater and item: the first occasion, each answer of the last round that has one."""
    kept = frame.filter(pl.col("occasion") == 1).sort("round", maintain_order=True)
    again = kept.select(pl.struct("item", "rater").is_duplicated()).to_series()
    if not again.any():
        return kept
    last = kept.filter(again).group_by("item", "rater", maintain_order=True)
    merged = last.agg(pl.all().drop_nulls().last())
    return pl.concat([kept.filter(~again), merged.select(kept.columns)])


def people(frame: pl.DataFrame) -> pl.DataFrame:
    """What people said."""
    return first_answers(frame.filter(pl.col("kind") == "HUMAN"))
