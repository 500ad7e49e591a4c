"""The scale of a criterion: from the rubric, or from the answers and the level that was stated.

Numbers order as numbers; other answers only in the order the user gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.rating_columns import Reading
from calibrant.core.answer import ERROR, NA, Given, NotApplicable
from calibrant.core.errors import SourceError, UnknownName
from calibrant.stats.counts import ABSENT, MOST_VALUES
from calibrant.stats.weights import Level, Ruler

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric

ALL = ""
"""The one criterion of a table that names none."""
NA_MARK, WRONG = 254, 253
"""Codes of NA, and of what is no answer, while a table is being read."""
HUGE = 1e100
"""Numbers from here on are none: their squares are beyond all arithmetic."""


@dataclass(frozen=True, slots=True)
class Values:
    """What the answers of a criterion are."""

    codes: NDArray[np.uint8]
    """Of each text that was asked about."""
    ruler: Ruler


def values_of(how: Reading, source: str, criterion: str, texts: list[str]) -> Values:
    """The scale of a criterion, and where each of these texts stands on it."""
    if how.rubric is not None:
        return _by_rubric(how.rubric, criterion, texts, source)
    words = [text for text in texts if text.upper() != NA]
    numbers = {text: number_of(text) for text in words}
    match how.level:
        case "nominal":
            values = sorted(
                words, key=lambda text: (numbers[text] is None, numbers[text] or 0, text)
            )
        case "ordinal" if how.order:
            values = list(how.order)
            twice = next((one for one in values if values.count(one) > 1), None)
            if twice is not None:
                raise SourceError(f"--order names {twice!r} twice")
        case "ordinal" | "interval" | "ratio":
            values = _in_order(how, source, words, numbers)
        case _:
            raise SourceError("without a rubric, say --level nominal, ordinal, interval or ratio")
    if len(values) > MOST_VALUES:
        where = f" to {criterion}" if criterion else ""
        raise SourceError(
            f"{source}: {len(values):,} different answers{where}; at most {MOST_VALUES} can be "
            "compared: round them"
        )
    return _placed(how, texts, values, numbers)


def as_places(frame: pl.DataFrame, how: Reading, source: str) -> pl.DataFrame:
    """Rows with their answers as the table reads them, as numbers; what is no answer is left out.

    YES and yes are one answer, and so are 4 and 4.0; ERROR is none. Numbers of different criteria
    have nothing to do with each other.
    """
    known = [pl.DataFrame(schema={"criterion": pl.String, "answer": pl.String, "_code": pl.Int64})]
    for (name,), part in frame.group_by("criterion"):
        texts = part["answer"].drop_nulls().unique().sort()
        codes = values_of(how, source, str(name), texts.to_list()).codes
        told = pl.DataFrame({"answer": texts, "_code": codes.astype(np.int64)})
        known.append(told.select(pl.lit(str(name)).alias("criterion"), "answer", "_code"))
    frame = frame.join(pl.concat(known), on=["criterion", "answer"], maintain_order="left")
    frame = frame.filter(~pl.col("_code").is_in([ABSENT, WRONG]))
    return frame.drop("answer").rename({"_code": "answer"})


def _in_order(
    how: Reading, source: str, words: list[str], numbers: Mapping[str, float | None]
) -> list[str]:
    """Answers as numbers; the alphabet is no order."""
    good = [word for word in words if numbers[word] is not None]
    if words and not good and how.level == "ordinal":
        told = ", ".join(repr(word[:30]) for word in words[:5])
        raise SourceError(
            f"{source}: in which order are {told}? Say --order low,…,high: order never "
            "comes from the alphabet"
        )
    if how.level == "ratio" and any((numbers[word] or 0) < 0 for word in good):
        raise SourceError(f"{source}: a ratio scale has no numbers below 0")
    distinct: dict[float, str] = {}
    for word in good:
        distinct.setdefault(float(numbers[word] or 0), word)
    return [distinct[number] for number in sorted(distinct)]


def _placed(
    how: Reading, texts: list[str], values: list[str], numbers: Mapping[str, float | None]
) -> Values:
    known: dict[Any, int] = {value: at for at, value in enumerate(values)}
    numeric = all(number_of(value) is not None for value in values)
    if how.level != "nominal" and numeric:  # 4 and 4.0 are one answer
        known |= {number_of(value): at for at, value in enumerate(values)}
    codes = []
    for text in texts:
        found = known.get(text, known.get(numbers.get(text)))
        is_na = text.upper() == NA and text not in known
        codes.append(NA_MARK if is_na else WRONG if found is None else found)
    # where nobody gave an answer, NA aside, there is nothing to be in an order
    level: Level = how.level if how.level and values else "nominal"
    # numbers as they are: a value that nobody gave still lies between its neighbours
    counted = numeric and level != "nominal"
    points = [number_of(value) or 0.0 for value in values] if counted else range(len(values))
    ruler = Ruler(tuple(values), level, np.array(points, np.float64), counted)
    return Values(np.array(codes, np.uint8), ruler)


def _by_rubric(rubric: Rubric, criterion: str, texts: list[str], source: str) -> Values:
    from calibrant.core.rating import read_answer

    if criterion == ALL and len(rubric.criteria) != 1:
        raise SourceError(f"{source}: which criterion? {rubric.name} has {len(rubric.criteria)}")
    try:
        asked = rubric.criteria[0] if criterion == ALL else rubric.criterion(criterion)
    except UnknownName as error:
        raise SourceError(f"{source}: {error}") from error
    scale = rubric.scale_of(asked)
    values = scale.points_of_scale
    codes = []
    for text in texts:
        match read_answer(rubric, asked, text):
            case Given(value):
                codes.append(values.index(value))
            case NotApplicable():
                codes.append(NA_MARK)
            case _:
                codes.append(ABSENT if text.upper() == ERROR else WRONG)
    numeric = scale.level == "ordinal"
    points = [float(value) for value in values] if numeric else range(len(values))
    ruler = Ruler(tuple(map(str, values)), scale.level, np.array(points, np.float64), numeric)
    return Values(np.array(codes, np.uint8), ruler)


def number_of(text: str | None) -> float | None:
    """The number that a text is, if it is one."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if abs(number) < HUGE else None
