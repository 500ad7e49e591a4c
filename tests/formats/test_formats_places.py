"""Columns as places of texts: the same as looking at each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.compare.places import Coder, Column, coded, combined
from calibrant.core.errors import SourceError

CELLS = st.lists(st.sampled_from(["a", "b", " a", "a ", "", "é", "longer than twelve", None]))


def column_of(parts: Sequence[Sequence[str | None]]) -> Column:
    coder = Coder(["x"])
    for part in parts:
        coder.add(pl.DataFrame({"x": pl.Series(part, dtype=pl.String)}))
    return coder.columns()["x"]


def texts(column: Column) -> list[str | None]:
    return [column.at(row) for row in range(len(column.rows))]


@given(st.lists(CELLS, min_size=1, max_size=4))
def test_rows_keep_their_texts_without_the_space_around_them(
    parts: list[list[str | None]],
) -> None:
    column = column_of(parts)
    expected = [(cell or "").strip() or None for part in parts for cell in part]
    assert texts(column) == expected
    assert column.texts == list(dict.fromkeys(text for text in expected if text))
    assert column.empty == expected.count(None)


@pytest.mark.parametrize("different", [3, 5_000, 100_000])
@pytest.mark.parametrize("order", ["runs", "mixed"])
def test_few_and_many_texts_in_runs_and_mixed(different: int, order: str) -> None:
    random = np.random.default_rng(different)
    numbers = random.integers(0, different, 120_000)
    if order == "runs":
        numbers = np.repeat(random.permutation(different), -(-120_000 // different))[:120_000]
    cells = [f"t{number}" for number in numbers]
    column = column_of([cells[:50_000], cells[50_000:]])
    assert texts(column) == cells
    assert column.texts == list(dict.fromkeys(cells))


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 2)), min_size=1))
def test_combinations_are_told_apart(rows: list[tuple[int, int]]) -> None:
    one, two = np.array(rows, np.int32).T
    first, place = combined([coded(list("abcd"), one), coded(list("xyz"), two)])
    assert [rows[first[at]] for at in place] == rows
    assert [rows[at] for at in first] == list(dict.fromkeys(rows))


def test_numbers_are_written_plainly() -> None:
    coder = Coder(["x"])
    coder.add(pl.DataFrame({"x": [4.0, 4.5, float("nan"), None, -0.0]}))
    coder.add(pl.DataFrame({"x": [4.0, 0.0]}))
    assert texts(coder.columns()["x"]) == ["4", "4.5", None, None, "0", "4", "0"]


def test_only_the_texts_of_the_rows_that_are_kept_stay() -> None:
    column = column_of([["a", "b", None, "c", "b"]])
    kept = column.only(np.array([False, True, True, True, False]))
    assert (kept.texts, texts(kept)) == (["b", "c"], ["b", None, "c"])


def test_lists_are_no_texts() -> None:
    with pytest.raises(SourceError, match="lists or objects"):
        Coder(["x"]).add(pl.DataFrame({"x": [[1], [2]]}))


def test_columns_that_are_looked_up_together_keep_their_own_texts() -> None:
    frame = pl.DataFrame(
        {"who": ["a", "b", "a", None, " a"], "what": [1, 1, 2, 1, 1], "n": ["x", "x", "y", "x", ""]}
    )
    coder = Coder(["who", "what"])
    for part in (frame.head(2), frame.tail(3)):
        coder.add(part.with_columns(pl.col("who").cast(pl.Categorical)))
    columns = coder.columns()
    assert texts(columns["who"]) == ["a", "b", "a", None, "a"]
    assert texts(columns["what"]) == ["1", "1", "2", "1", "1"]
    assert columns["who"].place.tolist() == [0, 1, 0, -1, 0]
    assert columns["who"].rows is columns["what"].rows
