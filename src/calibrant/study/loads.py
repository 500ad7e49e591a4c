"""Ratings that were made elsewhere come in as a round of their own, closed from the start."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

import polars as pl

from calibrant.core.answer import NA, Given, NotApplicable
from calibrant.core.errors import Fault, RecordError, StudyError
from calibrant.core.ids import canonical
from calibrant.core.rating import read_answer, read_flags
from calibrant.core.rubric import Rubric
from calibrant.core.study import ROUND_KINDS, Assignment, Entry, Key, Round, RoundKind
from calibrant.ports.store import AnswerRow, Reading, Writing
from calibrant.study.phases import round_phase
from calibrant.study.session import Session, current_rubric, verb

SHOWN_FAULTS = 200
_MOST = 1_000_000
"""Occasions on which somebody rates an item, at the very most."""
_TIME = "%Y-%m-%dT%H:%M:%S.%6fZ"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A round made from a table."""

    round: int
    ratings: int
    items: int
    raters: dict[str, int]
    missing: int
    """Cells without an answer: they stay missing, and their items incomplete."""
    flags: int
    """Red flags that came with them."""


@verb("lead", shows="nothing")
def import_ratings(
    session: Session, table: pl.DataFrame, *, kind: RoundKind = "main", source: str = "table"
) -> Loaded:
    """A table of ratings as a closed round; every fault of it at once, and then nothing is kept.

    A row is a rating: ``item``, ``rater``, perhaps ``occasion``, ``submitted_at`` and ``flags``
    (names of red flags between semicolons), and a column for each criterion. Items and raters are
    those of the study. Flags come in as raised, for somebody to decide.
    """
    if kind not in ROUND_KINDS:
        raise StudyError(f"a round is one of {', '.join(ROUND_KINDS)}")

    def work(tx: Writing) -> Loaded:
        rubric = current_rubric(tx, session)
        now = session.now()
        frame = _read(tx, session, rubric, table, source)
        number = len(tx.rounds(session.number)) + 1
        made = Round(
            number=number,
            kind=kind,
            state="closed",
            rubric=rubric.hash,
            phase=round_phase(tx, session, rubric, kind),
            plan={"way": "imported", "source": PurePath(source).name},
            opened_at=now,
            closed_at=now,
        )
        tx.add_round(session.number, made)
        tx.add_assignments(session.number, _assignments(frame, number))
        tx.add_answer_rows(session.number, _rows(frame, rubric, number))
        raters = Counter(frame["rater"].to_list())
        missing = sum(frame[name].null_count() for name in rubric.criterion_ids)
        body = {"state": "imported", "kind": kind, "rubric": rubric.hash, "ratings": frame.height}
        flags = list(_flags(frame, number, source, now))
        tx.log(session.number, [session.entry("round", round=number, body=body), *flags])
        items = frame["item"].n_unique()
        told = dict(sorted(raters.items()))
        return Loaded(number, frame.height, items, told, missing, len(flags))

    return session.alone(work)


def _read(
    tx: Reading, session: Session, rubric: Rubric, table: pl.DataFrame, source: str
) -> pl.DataFrame:
    """The table with answers as they are stored; raises ``RecordError`` with every fault."""
    frame = _shaped(rubric, table, session.now())
    members = {one.name for one in tx.members(session.number) if "reviewer" in one.roles}
    items = {id for id, _ in tx.item_keys(session.number)}
    faults = [
        *_strange(frame, "item", items, "an item of this study", source),
        *_strange(frame, "rater", members, "a rater of this study", source),
        *_uncounted(frame, source),
        *_doubled(frame, source),
    ]
    columns = []
    for criterion in rubric.criteria:
        column = frame[criterion.id]
        texts = column.unique().drop_nulls()
        read = {text: _stored(rubric, criterion.id, text) for text in texts}
        wrong = [text for text, value in read.items() if value is None and text.strip()]
        for text in sorted(wrong):
            row = int((column == text).arg_true()[0])
            message = f"{text[:60]!r} is no answer to it"
            faults.append(Fault(message, criterion.id, source, record=row + 1))
        columns.append(column.replace_strict(read, default=None, return_dtype=pl.String))
    flags, wrong_flags = _read_flags(frame, rubric, source)
    faults += wrong_flags
    if faults:
        raise RecordError(faults[:SHOWN_FAULTS])
    return frame.with_columns(*columns, flags)


def _read_flags(frame: pl.DataFrame, rubric: Rubric, source: str) -> tuple[pl.Series, list[Fault]]:
    """The column of flags as lists of ids, and what could not be read."""
    column = frame["flags"].fill_null("")
    read: dict[str, tuple[str, ...]] = {}
    faults = []
    for text in column.unique().sort():
        names = [part.strip() for part in re.split("[;,|]", text) if part.strip()]
        read[text], wrong = read_flags(rubric, names)
        if wrong:
            row = int((column == text).arg_true()[0])
            faults += [Fault(one.message, "flags", source, record=row + 1) for one in wrong]
    return pl.Series("flags", [list(read[text]) for text in column], pl.List(pl.String)), faults


def _shaped(rubric: Rubric, table: pl.DataFrame, now: str) -> pl.DataFrame:
    absent = [name for name in ("item", "rater") if name not in table.columns]
    if absent:
        raise StudyError(f"the table has no column {absent[0]!r}")
    names = {}
    for column in table.columns:
        if column not in ("item", "rater", "occasion", "submitted_at", "flags"):
            names[column] = rubric.criterion(column).id
            if list(names.values()).count(names[column]) > 1:
                raise StudyError(f"the table has two columns for {names[column]}")
    gone = [name for name in rubric.criterion_ids if name not in names.values()]
    frame = table.rename(names).with_columns(pl.lit(None, pl.String).alias(name) for name in gone)
    if "occasion" not in frame.columns:
        frame = frame.with_columns(pl.lit(1, pl.Int64).alias("occasion"))
    if "submitted_at" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, pl.String).alias("submitted_at"))
    if "flags" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, pl.String).alias("flags"))
    for name, kind in frame.schema.items():
        if kind.is_nested() or kind == pl.Object:
            raise StudyError(f"the column {name!r} holds lists or records, not texts")
    # a time that cannot be read is not made up: the moment of the import stands for it
    read = pl.col("submitted_at").cast(pl.String).str.to_datetime(time_zone="UTC", strict=False)
    frame = frame.with_columns(read.dt.strftime(_TIME).fill_null(now).alias("submitted_at"))
    return frame.with_columns(
        pl.col("item", "rater", "flags", *rubric.criterion_ids).cast(pl.String),
        pl.col("occasion").cast(pl.Int64, strict=False),
    )


def _uncounted(frame: pl.DataFrame, source: str) -> Iterator[Fault]:
    counted = pl.col("occasion").is_between(1, _MOST).fill_null(False)
    wrong = frame.with_row_index("row").filter(~counted)
    for row in wrong["row"].head(SHOWN_FAULTS):
        yield Fault("an occasion is a whole number from 1", "occasion", source, record=row + 1)


def _strange(
    frame: pl.DataFrame, name: str, known: set[str], what: str, source: str
) -> Iterator[Fault]:
    for value in frame[name].unique().sort():
        if value not in known:
            row = int(frame[name].eq_missing(value).arg_true()[0])
            yield Fault(f"{value!r} is not {what}", name, source, record=row + 1)


def _doubled(frame: pl.DataFrame, source: str) -> Iterator[Fault]:
    twice = frame.with_row_index("row").filter(
        ~pl.struct("item", "rater", "occasion").is_first_distinct()
    )
    for row, item, rater in twice.select("row", "item", "rater").head(SHOWN_FAULTS).iter_rows():
        message = f"{rater!r} has rated {item!r} already, on the same occasion"
        yield Fault(message, "", source, record=row + 1)


def _stored(rubric: Rubric, criterion: str, text: str) -> str | None:
    match read_answer(rubric, rubric.criterion(criterion), text):
        case Given(value):
            return str(value)
        case NotApplicable():
            return NA
        case _:
            return None


def _assignments(frame: pl.DataFrame, round: int) -> Iterator[Assignment]:
    position: Counter[str] = Counter()
    for item, rater, occasion in frame.select("item", "rater", "occasion").iter_rows():
        position[rater] += 1
        key = Key(round=round, item=item, rater=rater, occasion=occasion)
        yield Assignment(key=key, position=position[rater], state="done", version=1)


def _flags(frame: pl.DataFrame, round: int, source: str, now: str) -> Iterator[Entry]:
    """The red flags of a table, each raised by whoever rated; the table quotes nothing."""
    raised = frame.filter(pl.col("flags").list.len() > 0)
    for item, rater, occasion, ids in raised.select("item", "rater", "occasion", "flags").rows():
        for flag in ids:
            yield Entry(
                kind="flag",
                actor=rater,
                at=now,
                round=round,
                item=item,
                body={"what": "red_flag", "flag": flag, "occasion": occasion},
                words={"evidence": [], "reason": f"stood in {PurePath(source).name}"},
            )


def _rows(frame: pl.DataFrame, rubric: Rubric, round: int) -> Iterator[AnswerRow]:
    names = list(rubric.criterion_ids)
    texts = frame.select(pl.struct(names).struct.json_encode()).to_series()
    gaps = frame.select(pl.any_horizontal(pl.col(names).is_null())).to_series()
    keys = frame.select("item", "rater", "occasion", "submitted_at", "flags").iter_rows()
    for (item, rater, occasion, at, flags), text, gap in zip(keys, texts, gaps, strict=True):
        answers = _without_gaps(text) if gap else text
        facts = canonical({"flags": flags}) if flags else "{}"
        yield AnswerRow(round, item, rater, occasion, 1, rubric.hash, answers, facts, at)


def _without_gaps(text: str) -> str:
    given = {name: value for name, value in json.loads(text).items() if value is not None}
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))
