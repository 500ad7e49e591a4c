"""Dataframes at the edge: polars, pandas and Arrow give what the files give."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from calibrant import load_rubric, score_table
from calibrant.core.errors import RecordError, SourceError
from calibrant.core.item import Conversation, Exchange
from calibrant.core.scoring import score
from calibrant.formats.frames import CalibrantWarning, to_polars
from calibrant.formats.score_file import ScoreRun

COACHING = load_rubric("coaching-conversation")
PLANS = load_rubric("smart-action-plan")
NAMES = COACHING.criterion_ids

WIDE: dict[str, list[Any]] = {
    "id": ["a", "a", "b"],
    "rater": ["r1", "r2", "r1"],
    **{name: ["YES", "no", "NA"] for name in NAMES},
    "CQ8": ["YES", "MAYBE", None],
}
LONG: dict[str, list[Any]] = {
    "item": ["a", "a", "b", "b"],
    "rater": ["r1", "r1", "r1", "r1"],
    "criterion": ["CQ1", "CQ2", "CQ1", "CQ2"],
    "answer": ["YES", "NO", None, "NA"],
}


def frame_of(library: str, columns: dict[str, list[Any]]) -> Any:
    """The same columns as a frame of that library."""
    match library:
        case "polars":
            return pl.DataFrame(columns)
        case "lazy":
            return pl.DataFrame(columns).lazy()
        case "pandas":
            return pd.DataFrame(columns)
        case _:
            return pa.table(columns)


def from_file(path: Path, columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    frame = pl.DataFrame(columns)
    frame.write_csv(path)
    return pl.concat(list(ScoreRun(COACHING, path).frames())).to_dicts()


@pytest.mark.parametrize("columns", [WIDE, LONG], ids=["wide", "long"])
@pytest.mark.parametrize("library", ["polars", "lazy", "pandas", "pyarrow"])
def test_frames_give_what_files_give(
    tmp_path: Path, library: str, columns: dict[str, list[Any]]
) -> None:
    expected = from_file(tmp_path / "answers.csv", columns)
    if library == "pandas":
        with pytest.warns(CalibrantWarning, match="keep_default_na"):
            found = score_table(COACHING, pd.DataFrame(columns))
    else:
        found = score_table(COACHING, frame_of(library, columns))
    assert found.to_dicts() == expected


def test_pandas_turns_na_into_nan_and_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("id,CQ1,CQ2\na,YES,NA\nb,YES,YES\n", "utf-8")
    with pytest.warns(CalibrantWarning, match=r"CQ2 \(1\)"):
        careless = score_table(COACHING, pd.read_csv(path))
    careful = score_table(COACHING, pd.read_csv(path, keep_default_na=False))
    assert "CQ2" in careless["missing"].to_list()[0]
    assert careful["not_applicable"].to_list()[0] == ["CQ2"]


def test_no_warning_without_a_cause() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score_table(COACHING, pd.DataFrame({"id": ["a"], "note": [None], "CQ1": ["YES"]}))
        score_table(
            COACHING, pl.DataFrame({"id": ["a", "b"], "CQ1": ["YES", "NA"], "CQ2": [None] * 2})
        )


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_empty_cells_where_no_answer_is_na_are_told(tmp_path: Path, library: str) -> None:
    """A frame that came by way of pandas has lost its NA for good."""
    columns: dict[str, list[Any]] = {"id": ["a", "b"], "CQ1": ["YES", None]}
    with pytest.warns(CalibrantWarning, match="keep_default_na"):
        score_table(COACHING, frame_of(library, columns))
    path = tmp_path / "answers.parquet"
    pl.DataFrame(columns).write_parquet(path)
    run = ScoreRun(COACHING, path)
    list(run.frames())
    assert any("keep_default_na" in note for note in run.summary.notes)


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_nan_is_told_whichever_library_it_comes_from(library: str) -> None:
    columns: dict[str, list[Any]] = {"id": ["a", "b"], "realism": [float("nan"), 4.0]}
    with pytest.warns(CalibrantWarning, match=r"realism \(1\)"):
        found = score_table(PLANS, frame_of(library, columns))
    assert "realism" in found["missing"].to_list()[0]
    assert found["raw"].to_list()[1]["realism"] == 4


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_nan_in_long_rows_is_a_missing_answer_too(library: str) -> None:
    columns: dict[str, list[Any]] = {
        "item": ["a"],
        "criterion": ["realism"],
        "answer": [float("nan")],
    }
    with pytest.warns(CalibrantWarning):
        found = score_table(PLANS, frame_of(library, columns))
    assert (found["errors"].to_list(), len(found["missing"].to_list()[0])) == ([[]], 5)


@pytest.mark.parametrize(
    "cells",
    [
        [True, 3],
        [True, 3.5],
        [True, "3"],
        [2**70, 3],
        [1.5, "x"],
        ["5", 5, 5.0],
        [["YES"], "YES"],
        [pd.Timestamp("2024-05-01"), 3],
        ["4", None, 4],
    ],
    ids=str,
)
@pytest.mark.parametrize("criterion", ["usefulness", "CQ1"])
@pytest.mark.filterwarnings("ignore::calibrant.formats.frames.CalibrantWarning")
def test_mixed_columns_of_pandas_mean_what_each_cell_says(criterion: str, cells: list[Any]) -> None:
    """A truth value is never a number, whatever stands beside it."""
    rubric = PLANS if criterion == "usefulness" else COACHING
    frame = pd.DataFrame({"id": range(len(cells)), criterion: pd.Series(cells, dtype=object)})
    rows = score_table(rubric, frame).to_dicts()
    for row, cell in zip(rows, cells, strict=True):
        alone = score(rubric, {} if cell is None else {criterion: cell})
        assert row["errors"] == list(alone.errors), cell
        assert row["missing"] == list(alone.missing), cell
        assert row["raw"] == alone.raw, cell


def test_ids_of_any_frame_are_texts_or_whole_numbers() -> None:
    mixed = pd.DataFrame({"id": pd.Series([1, "b", 3.0], dtype=object), "CQ1": ["YES"] * 3})
    assert score_table(COACHING, mixed)["id"].to_list() == ["1", "b", "3"]
    floats = pd.DataFrame({"id": [1.0, 2.0], "CQ1": ["YES"] * 2})
    assert score_table(COACHING, floats)["id"].to_list() == ["1", "2"]
    integers = pl.DataFrame({"id": [1, 2], "CQ1": ["YES"] * 2})
    assert score_table(COACHING, integers)["id"].to_list() == ["1", "2"]


def test_categories_and_enums_are_texts() -> None:
    plain = pl.DataFrame({"id": list("abcd"), "CQ1": ["YES", "no", None, "NA"]})
    expected = score_table(COACHING, plain).to_dicts()
    for kind in (pl.Categorical(), pl.Enum(["YES", "no", "x", "NA"])):
        assert (
            score_table(COACHING, plain.with_columns(pl.col("CQ1").cast(kind))).to_dicts()
            == expected
        )
    categories = pd.DataFrame({"id": ["a", "b"], "CQ1": pd.Categorical(["YES", "no"])})
    assert score_table(COACHING, categories).to_dicts() == expected[:2]


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2), pl.String])
def test_points_of_every_type_of_number(kind: Any) -> None:
    frame = pl.DataFrame({"id": ["a", "b"], "realism": pl.Series([5, 9]).cast(kind)})
    first, second = score_table(PLANS, frame).to_dicts()
    assert first["raw"]["realism"] == 5
    assert second["errors"] == ["realism"]


def test_bad_records_are_raised_together() -> None:
    frame = pl.DataFrame(
        {"id": ["a", "", "a", "b"], "CQ1": ["YES"] * 4, "kind": ["HUMAN", "HUMAN", "LLM", "robot"]}
    )
    with pytest.raises(RecordError) as caught:
        score_table(COACHING, frame)
    assert {(fault.record, fault.path) for fault in caught.value.faults} == {
        (2, "id"),
        (3, "id"),
        (4, "kind"),
    }
    assert all(fault.source == "frame" for fault in caught.value.faults)


def test_preconditions_are_applied_where_items_are_given() -> None:
    frame = pl.DataFrame({"id": ["short", "long"], **{name: ["YES", "YES"] for name in NAMES}})
    pair = Exchange(user="a", assistant="b")
    items = [
        Conversation(id="short", exchanges=(pair,)),
        Conversation(id="long", exchanges=(pair,) * 5),
    ]
    rows = score_table(COACHING, frame, items=items).to_dicts()
    for row, item in zip(rows, items, strict=True):
        assert row.pop("id") == item.id
        assert row == score(COACHING, dict.fromkeys(NAMES, "YES"), item=item).to_dict()
    with pytest.raises(RecordError, match="not among the items"):
        score_table(COACHING, frame, items=items[:1])


@pytest.mark.parametrize(
    "frame",
    [
        5,
        "answers.csv",
        None,
        [{"id": "a"}],
        {"id": ["a"]},
        pd.Series(["YES"], name="CQ1"),
        pl.Series("CQ1", ["YES"]),
    ],
    ids=["number", "text", "none", "list", "dict", "pandas series", "polars series"],
)
def test_what_is_no_frame_is_refused(frame: Any) -> None:
    with pytest.raises(SourceError):
        score_table(COACHING, frame)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"CQ1": ["YES"]}),
        pl.DataFrame({"id": ["a"]}),
        pl.DataFrame({"id": ["a"], "CQ1": ["YES"], "colour": ["red"]}),
        pl.DataFrame(),
        pd.DataFrame([["a", "YES", "NO"]], columns=["id", "CQ1", "CQ1"]),
        pd.DataFrame([["a", "YES", 1, 2]], columns=["id", "CQ1", 1, "1"]),
        pl.DataFrame({"item": ["a"], "criterion": ["CQ1"], "answer": ["YES"], "Answer": ["NO"]}),
    ],
    ids=["no id", "no criterion", "unknown", "empty", "twice", "one and 1", "case"],
)
def test_frames_that_will_not_do_are_refused(frame: Any) -> None:
    with pytest.raises(SourceError):
        score_table(COACHING, frame)


@pytest.mark.parametrize("columns", [WIDE, LONG], ids=["wide", "long"])
def test_a_frame_without_rows_has_no_verdicts(columns: dict[str, list[Any]]) -> None:
    empty = pl.DataFrame(columns).clear()
    found = score_table(COACHING, empty)
    assert found.height == 0
    assert {"id", "verdict", "score", "raw"} <= set(found.columns)


def test_a_frame_is_left_as_it_was() -> None:
    frame = pl.DataFrame(WIDE)
    before = frame.clone()
    score_table(COACHING, frame)
    assert frame.equals(before)


def test_how_many_cells_were_nan() -> None:
    frame, nans = to_polars(pd.DataFrame({"a": [1.0, None], "b": ["x", None], "c": [1, 2]}))
    assert nans == {"a": 1, "b": 1}
    assert frame.to_dicts() == [{"a": 1.0, "b": "x", "c": 1}, {"a": None, "b": None, "c": 2}]
