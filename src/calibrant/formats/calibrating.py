"""Judges fitted to people: from files, records and dataframes to a mapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from calibrant.compare.calibrated import Wish, calibration
from calibrant.compare.calibration_report import Calibration
from calibrant.compare.judged import Side
from calibrant.compare.rating_columns import Reading
from calibrant.core.errors import RecordError, SourceError
from calibrant.core.ids import read_name
from calibrant.formats.rating_files import frames_of
from calibrant.formats.records import read_records
from calibrant.formats.writers import LINE_SUFFIXES

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.stats.weights import Level

FOLDS = 10


def calibrate_judge(
    judged: Any,
    labels: Any = None,
    *,
    rubric: Rubric | None = None,
    level: Level | None = None,
    order: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    judge: str | None = None,
    folds: int = FOLDS,
    seed: int = 0,
) -> Calibration:
    """Fit a judge's probabilities, or its answers, to people's answers.

    ``judged`` and ``labels`` are paths, lists of records such as ``calibrant judge`` writes, or
    polars or pandas frames; one may hold both where it tells judge and people apart. Figures are of
    items held aside; ``mapping`` of what comes back makes another rater of the judge.
    """
    how = Reading(rubric=rubric, level=level, order=tuple(order), columns=columns or {})
    more = None if labels is None else side_of(labels, "labels")
    return calibrated(judged, more, how, judge=judge, folds=folds, seed=seed)


def calibrated(
    judged: Any,
    labels: Side | None,
    how: Reading,
    *,
    judge: str | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    encoding: str | None = None,
) -> Calibration:
    """Fit a judge; ``labels`` is a table that was read already."""
    if folds < 2:
        raise SourceError("two folds at least are needed: one to fit, one to hold aside")
    told = _told(records_of(judged, encoding), judge)
    wish = Wish(judge, folds, seed, told.one("card"), told.one("rubric_hash"))
    return calibration(side_of(judged, "judged", encoding), labels, how, told.said, wish)


def records_of(source: Any, encoding: str | None = None) -> list[dict[str, Any]]:
    """Records of a file of lines, or as they were given; none of any other file or frame."""
    if isinstance(source, str | Path):
        path = Path(source)
        if path.suffix.lower() not in LINE_SUFFIXES:
            return []
        found = list(read_records(path, encoding).stream)
        faults = [one.fault for one in found if one.fault is not None]
        if faults:
            raise RecordError(faults)
        return [one.value for one in found if isinstance(one.value, dict)]
    return list(source) if isinstance(source, list | tuple) else []


def are_sheets(records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each of them holds the answers to one item by name, as judges' ratings do."""
    return bool(records) and all(
        "item" in one and isinstance(one.get("answers"), Mapping) for one in records
    )


def side_of(source: Any, name: str, encoding: str | None = None) -> Side:
    """A table in any form; answers of sheets become rows, whether or not a rubric names them."""
    called = str(source) if isinstance(source, str | Path) else name
    records = records_of(source, encoding)
    if are_sheets(records):
        return Side([pl.DataFrame(list(_rows(records)), infer_schema_length=None)], called)
    if isinstance(source, str | Path):
        return Side(list(frames_of(Path(source), encoding)), called)
    if isinstance(source, list | tuple):
        return Side([pl.DataFrame(records, infer_schema_length=None)], called)
    from calibrant.formats.frames import to_polars

    return Side([to_polars(source)[0]], name)


def _rows(records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, str | None]]:
    for record in records:
        own = {
            name: record[name] for name in ("item", "rater", "kind", "occasion") if name in record
        }
        for criterion, answer in record["answers"].items():
            row = {**own, "criterion": criterion, "answer": answer}
            yield {name: None if value is None else str(value) for name, value in row.items()}


@dataclass(slots=True)
class _Told:
    """What a judge's ratings tell beside answers."""

    said: dict[str, dict[str, Mapping[str, float]]] = field(default_factory=dict)
    """Probabilities by item and criterion, of the first time it was asked."""
    marks: dict[str, set[str]] = field(default_factory=dict)

    def one(self, name: str) -> str | None:
        """The card, or the hash of the rubric, where all ratings have the same."""
        found = self.marks.get(name, set())
        if len(found) > 1:
            raise SourceError(
                f"the judge's ratings have {len(found)} values of {name}: say which rater is the "
                "judge, and keep to one version of the rubric"
            )
        return next(iter(found), None)


def _told(records: Iterable[Mapping[str, Any]], judge: str | None) -> _Told:
    out = _Told()
    first: dict[str, str] = {}
    for record in records:
        about = record.get("metadata")
        if not isinstance(about, Mapping) or judge not in (None, record.get("rater")):
            continue
        for name in ("card", "rubric_hash"):
            if isinstance(about.get(name), str):
                out.marks.setdefault(name, set()).add(about[name])
        item, occasion = read_name(record.get("item")), str(record.get("occasion", ""))
        if item not in first or _number(occasion) < _number(first[item]):
            first[item] = occasion
            out.said[item] = probabilities_of(record)
    return out


def _number(occasion: str) -> tuple[int, str]:
    return (int(occasion), "") if occasion.isdecimal() else (0, occasion)


def probabilities_of(record: Mapping[str, Any]) -> dict[str, Mapping[str, float]]:
    """Probabilities of answers by criterion, as far as they are any."""
    about = record.get("metadata")
    told = about.get("probabilities") if isinstance(about, Mapping) else None
    if not isinstance(told, Mapping):
        return {}
    return {str(name): shares for name, shares in told.items() if _are_shares(shares)}


def _are_shares(shares: Any) -> bool:
    return isinstance(shares, Mapping) and all(
        isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one <= 1
        for one in shares.values()
    )
