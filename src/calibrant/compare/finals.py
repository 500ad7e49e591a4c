"""Final answers and verdicts of a whole study.

Disagreements and final answers follow from the answers alone, whoever gave them. So they are found
once for each set of answers that occurs, by ``core.resolution``, and handed to every item that has
it; the cost hardly grows with the number of items.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.core.answer import NA, Given, NotApplicable
from calibrant.core.criterion import Criterion
from calibrant.core.rating import read_answer
from calibrant.core.resolution import (
    Cause,
    Final,
    Provenance,
    Settlement,
    apart,
    final,
    forced_value,
    settled,
)
from calibrant.core.rubric import Rubric
from calibrant.core.scale import values_as_text
from calibrant.core.scoring import GateState, Outcome, Status, rounded
from calibrant.stats.counts import ABSENT, Patterns, grouped
from calibrant.stats.runs import Codes, Mask
from calibrant.stats.scorebook import (
    ERROR_CODE,
    MISSING_CODE,
    NA_CODE,
    Scorebook,
    Scored,
)

PROVENANCES = pl.Enum(get_args(Provenance))
CAUSES = pl.Enum(get_args(Cause))
_STATUS = pl.Enum(get_args(Status))
_OUTCOMES = pl.Enum(get_args(Outcome))
_GATES = pl.Enum(get_args(GateState))


# -- final answers


def finals(rubric: Rubric, ratings: pl.DataFrame, *, low: Collection[str] = ()) -> pl.DataFrame:
    """The final answer of every item and criterion, or why there is none yet.

    ``ratings`` has a row for each rating: ``item``, ``rater`` and a column of texts for each
    criterion, null where nothing was answered; ``low`` names the criteria below their target of
    agreement. Rows come by criterion, in the rubric's order, then by item: ``item``,
    ``criterion``, ``answer`` and ``provenance`` (null where nothing is final), ``raters`` who
    answered, ``needs_resolution``, ``cause``, ``gap``, and ``size`` from 0 to 1.
    """
    if ratings.select("item", "rater").is_duplicated().any():
        raise ValueError("a rater has two ratings of one item: only one of them can count")
    items = ratings["item"].cast(pl.String).unique().sort()
    place = _placed(ratings["item"].cast(pl.String), items)
    cells, most = _cells(place, len(items))
    names = pl.Enum(rubric.criterion_ids)
    parts = []
    for criterion in rubric.criteria:
        table = np.full(most * len(items), ABSENT, np.uint8)
        table[cells] = _coded(ratings[criterion.id], _placing(rubric, criterion), ABSENT)
        found = _of_criterion(
            rubric, criterion, table.reshape(most, len(items)), criterion.id in low
        )
        named = pl.repeat(criterion.id, len(items), dtype=pl.String, eager=True).cast(names)
        parts.append(found.insert_column(0, items).insert_column(1, named.alias("criterion")))
    return pl.concat(parts)


def _placed(column: pl.Series, names: pl.Series) -> NDArray[np.int64]:
    """The place of each row's text among the names."""
    return column.cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()


def _cells(place: NDArray[np.int64], items: int) -> tuple[NDArray[np.int64], int]:
    """Where each rating goes in a table of rows of raters, and how many rows it needs.

    Nobody has a row to themselves: an item's ratings fill its column from above.
    """
    counts = np.bincount(place, minlength=items)
    order = np.argsort(place, kind="stable")
    row = np.empty(len(place), np.int64)
    row[order] = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    return row * items + place, int(counts.max(initial=0))


def _coded(column: pl.Series, code: Callable[[str], int], empty: int) -> Codes:
    """Codes of a column of texts, each different text being read once."""
    column = column.cast(pl.String)
    texts = column.unique().drop_nulls()
    codes = pl.Series([code(text) for text in texts], dtype=pl.UInt8)
    found = column.replace_strict(texts, codes, default=empty, return_dtype=pl.UInt8)
    return found.to_numpy()


def _placing(rubric: Rubric, criterion: Criterion) -> Callable[[str], int]:
    """What tells an answer's place on the scale; NA comes behind it, errors are absent."""
    points = rubric.scale_of(criterion).points_of_scale

    def code(text: str) -> int:
        match read_answer(rubric, criterion, text):
            case Given(value):
                return points.index(value)
            case NotApplicable():
                return len(points)
            case _:
                return ABSENT

    return code


def _of_criterion(rubric: Rubric, criterion: Criterion, table: Codes, low: bool) -> pl.DataFrame:
    """What the answers to one criterion come to, item by item."""
    texts = [*values_as_text(rubric.scale_of(criterion)), NA]
    if not table.size:
        nothing = np.zeros(0, np.int64)
        unique, place = Patterns(table, nothing), nothing
    else:
        unique, places = grouped(np.sort(table, axis=0), len(texts))
        place = places()
    rows = []
    for codes in unique.codes.T.tolist():
        answers = [texts[code] for code in codes if code != ABSENT]
        gone = apart(rubric, criterion, answers, low=low)
        done = final(rubric, criterion, answers, low=low)
        rows.append(
            (
                *((done.value, done.provenance) if done else (None, None)),
                len(answers),
                gone is not None,
                *((gone.cause, gone.gap, float(gone.size)) if gone else (None, None, None)),
            )
        )
    schema: dict[str, Any] = {
        "answer": pl.String,
        "provenance": PROVENANCES,
        "raters": pl.UInt32,
        "needs_resolution": pl.Boolean,
        "cause": CAUSES,
        "gap": pl.Int64,
        "size": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")[place]


def with_settlements(
    rubric: Rubric,
    found: pl.DataFrame,
    settlements: Mapping[tuple[str, str], Sequence[Settlement]],
    flags: Mapping[str, Collection[str]] | None = None,
) -> pl.DataFrame:
    """Final answers after what people settled, by item and criterion, and red flags forced.

    What is settled needs no resolution any more; cause, gap and size stay.
    """
    forced = {item: forced_value(rubric, names) for item, names in (flags or {}).items()}
    touched = {item for item, value in forced.items() if value is not None}
    touched |= {item for item, _ in settlements}
    mine = found["item"].is_in(list(touched))
    rows = []
    for item, criterion, answer, provenance in found.filter(mine)[
        "item", "criterion", "answer", "provenance"
    ].iter_rows():
        computed = None if answer is None else Final(answer, provenance)
        done = settled(settlements.get((item, criterion), ()), computed, forced.get(item))
        rows.append((done.value, done.provenance) if done else (None, None))
    answers = pl.DataFrame(
        rows, schema={"answer": pl.String, "provenance": PROVENANCES}, orient="row"
    )
    at = mine.arg_true()
    changed = found.with_columns(
        found["answer"].scatter(at, answers["answer"]),
        found["provenance"].cast(pl.String).scatter(at, answers["provenance"].cast(pl.String)),
    )
    return changed.with_columns(
        pl.col("provenance").cast(PROVENANCES),
        needs_resolution=pl.col("needs_resolution") & pl.col("answer").is_null(),
    )


def wide(rubric: Rubric, found: pl.DataFrame) -> pl.DataFrame:
    """Final answers with a row for each item: ``item``, and a column for each criterion."""
    columns = {
        name: found.filter(pl.col("criterion") == name).sort("item")["answer"]
        for name in rubric.criterion_ids
    }
    return pl.DataFrame({"item": found["item"].unique().sort(), **columns})


# -- verdicts


def final_verdicts(
    rubric: Rubric,
    answers: pl.DataFrame,
    *,
    flags: Mapping[str, Collection[str]] | None = None,
    measures: Mapping[str, Mapping[str, int]] | None = None,
) -> pl.DataFrame:
    """Verdicts on items from their final answers, a row for each.

    ``answers`` is wide: ``item`` and a column of texts for each criterion, null where nothing is
    final. ``flags`` are the red flags that stand, by item and id; ``measures`` what code counted
    in each item, for preconditions. Scores are rounded for display, and exact as texts such as
    ``17/20``.
    """
    book = Scorebook(rubric)
    codes = np.empty((len(rubric.criteria), answers.height), np.uint8)
    for row, criterion in enumerate(rubric.criteria):
        codes[row] = _coded(answers[criterion.id], _coding(book, row), MISSING_CODE)
    items = answers["item"].to_list()
    codes = _conditioned(book, codes, [(measures or {}).get(item, {}) for item in items])
    bits = [book.flag_bits(flags[item]) if item in flags else 0 for item in items] if flags else []
    standing = np.array(bits, np.uint64) if flags else np.zeros(len(items), np.uint64)
    scored = book.score(codes, standing)
    return pl.DataFrame(
        [
            answers["item"],
            *_decisions(book, scored),
            *_scores(book, scored),
            _lists("failed_checks", rubric.criterion_ids, scored.failed),
            _lists("failed_safety", [rubric.criterion_ids[row] for row in book.gated], scored.shut),
            _lists("missing", rubric.criterion_ids, scored.codes == MISSING_CODE),
            _lists("errors", rubric.criterion_ids, scored.codes == ERROR_CODE),
            _lists("not_applicable", rubric.criterion_ids, scored.codes == NA_CODE),
            _flags(rubric, standing),
        ]
    )


def _coding(book: Scorebook, row: int) -> Callable[[str], int]:
    criterion = book.rubric.criteria[row]
    return lambda text: book.encode(row, read_answer(book.rubric, criterion, text))


def _conditioned(book: Scorebook, codes: Codes, measures: Sequence[Mapping[str, int]]) -> Codes:
    """Codes after preconditions; where an item was not counted nothing changes."""
    conditions = [one.precondition for one in book.rubric.criteria]
    out = codes
    for metric in sorted({one.metric for one in conditions if one is not None}):
        known = np.array([metric in counted for counted in measures], bool)
        if known.any():
            out = out.copy()
            counts = np.array([counted[metric] for counted in measures if metric in counted])
            out[:, known] = book.apply_preconditions(out[:, known], {metric: counts})
    return out


def _decisions(book: Scorebook, scored: Scored) -> list[pl.Series]:
    """Status, verdict, whether it passed, and the gate."""
    passed = pl.Series("passed", scored.passed)
    if book.rubric.aggregation.pass_mark is None:  # only a gate or a flag decides
        decided = pl.Series(scored.shut.any(axis=0) | scored.flagged)
        passed = pl.select(pl.when(decided).then(passed).alias("passed")).to_series()
    gate = _named("gate", scored.gate, _GATES)
    if not book.rubric.gates:
        gate = pl.repeat(None, len(gate), dtype=pl.String, eager=True).cast(_GATES).alias("gate")
    return [
        _named("status", scored.incomplete.view(np.uint8), _STATUS),
        _named("verdict", scored.outcome, _OUTCOMES),
        passed,
        gate,
    ]


def _named(name: str, places: NDArray[np.uint8], words: pl.Enum) -> pl.Series:
    return pl.Series(name, words.categories.gather(places), dtype=words)


def _scores(book: Scorebook, scored: Scored) -> list[pl.Series]:
    """The score, or what describes the dimensions."""
    decimals = book.rubric.aggregation.decimals
    if scored.units is not None:
        return _fractions(
            "score", scored.units, np.full_like(scored.units, book.denominator), decimals
        )
    assert scored.total is not None and scored.count is not None and scored.minimum is not None
    minimum = pl.DataFrame({"minimum": scored.minimum, "answered": scored.count > 0})
    return [
        *_fractions("mean", scored.total, scored.count, decimals),
        minimum.select(pl.when("answered").then("minimum")).to_series(),
    ]


def _fractions(
    name: str, parts: NDArray[Any], wholes: NDArray[Any], decimals: int
) -> list[pl.Series]:
    """Parts of wholes, rounded and exact; null where the whole is nothing."""
    pairs = list(zip(parts.tolist(), wholes.tolist(), strict=True))
    exact = {pair: Fraction(*pair) if pair[1] else None for pair in set(pairs)}
    shown = {pair: rounded(value, decimals) for pair, value in exact.items()}
    told = {pair: None if value is None else str(value) for pair, value in exact.items()}
    return [
        pl.Series(name, [shown[pair] for pair in pairs], dtype=pl.Float64),
        pl.Series(f"exact_{name}", [told[pair] for pair in pairs], dtype=pl.String),
    ]


def _flags(rubric: Rubric, standing: NDArray[np.uint64]) -> pl.Series:
    ids = [flag.id for flag in rubric.red_flags or ()]
    bits = np.arange(len(ids), dtype=np.uint64)[:, None]
    return _lists("flags", ids, (standing >> bits & np.uint64(1)).astype(bool))


def _lists(name: str, words: Sequence[str], hits: Mask) -> pl.Series:
    """For each column of ``hits`` (words, n) the list of words that are hit."""
    packed = np.ascontiguousarray(np.packbits(hits, axis=0).T)
    if not packed.size:
        return pl.Series(name, [[]] * hits.shape[1], dtype=pl.List(pl.String))
    whole = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
    _, first, place = np.unique(whole, return_index=True, return_inverse=True)
    found = [[words[at] for at in np.flatnonzero(hits[:, one]).tolist()] for one in first]
    return pl.Series(name, found, dtype=pl.List(pl.String)).gather(place)
