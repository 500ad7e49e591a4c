"""Final answers and verdicts of a whole study are those of its items, one at a time."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import Rubric
from calibrant.compare.finals import final_verdicts, finals, wide, with_settlements
from calibrant.core.answer import ERROR, NA
from calibrant.core.rating import read_sheet
from calibrant.core.resolution import Settlement, apart, final
from calibrant.core.scale import values_as_text
from calibrant.core.scoring import judge

POLICIES = (None, "median_ties_lower", "median", "majority", "strictest")
RULES: list[dict[str, Any] | None] = [
    None,
    *(
        {"metric": name, "final": policy}
        for name in ("difference", "low_agreement")
        for policy in POLICIES
    ),
    *({"metric": "distance", "final": policy, "op": ">", "value": "1"} for policy in POLICIES),
]
Rating = tuple[str, str, dict[str, str | None]]


def frame(rubric: Rubric, ratings: list[Rating]) -> pl.DataFrame:
    schema = dict.fromkeys(("item", "rater", *rubric.criterion_ids), pl.String)
    rows = [{"item": item, "rater": rater, **answers} for item, rater, answers in ratings]
    return pl.DataFrame(rows, schema=schema)


@st.composite
def some_answers(draw: st.DrawFn, rubric: Rubric) -> dict[str, str | None]:
    return {
        one.id: draw(
            st.sampled_from([*values_as_text(rubric.scale_of(one)), NA, ERROR, "junk", None])
        )
        for one in rubric.criteria
    }


@st.composite
def some_ratings(draw: st.DrawFn, rubric: Rubric) -> list[Rating]:
    keys = st.tuples(st.sampled_from("abcde"), st.integers(0, 29))
    drawn = draw(st.lists(keys, unique=True, max_size=20))
    return [(item, f"r{rater}", draw(some_answers(rubric))) for item, rater in drawn]


# -- final answers


@given(data=st.data(), rule=st.sampled_from(RULES))
def test_finals_are_those_of_each_item(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject, rule: dict[str, Any] | None
) -> None:
    rubric = data.draw(rubrics).model_copy(update={"resolution": rule})
    ratings = data.draw(some_ratings(rubric))
    low = data.draw(st.sets(st.sampled_from(rubric.criterion_ids)))
    found = finals(rubric, frame(rubric, ratings), low=low)
    items = sorted({item for item, _, _ in ratings})
    keys = [(item, one.id) for one in rubric.criteria for item in items]
    assert list(found.select("item", "criterion").iter_rows()) == keys
    for row in found.iter_rows(named=True):
        one = rubric.criterion(row["criterion"])
        texts = [answers[one.id] for item, _, answers in ratings if item == row["item"]]
        given_ = [text for text in texts if text is not None]
        gone = apart(rubric, one, given_, low=one.id in low)
        done = final(rubric, one, given_, low=one.id in low)
        assert row["needs_resolution"] == (gone is not None)
        told = (gone.cause, gone.gap, float(gone.size)) if gone else (None, None, None)
        assert (row["cause"], row["gap"], row["size"]) == told
        ended = (done.value, done.provenance) if done else (None, None)
        assert (row["answer"], row["provenance"]) == ended
        no_answer = {ERROR, "junk"} | ({NA} if one.na.policy == "excluded" else set())
        assert row["raters"] == sum(text not in no_answer for text in given_)


def test_thirty_raters_and_one(plans: Rubric) -> None:
    four: dict[str, str | None] = dict.fromkeys(plans.criterion_ids, "4")
    five: dict[str, str | None] = dict.fromkeys(plans.criterion_ids, "5")
    many: list[Rating] = [("many", f"r{n}", four if n < 16 else five) for n in range(30)]
    found = finals(plans, frame(plans, [*many, ("one", "r1", {**five, "realism": None})]))
    rows = {(row[0], row[1]): row[2:5] for row in found.iter_rows()}
    assert rows["many", "realism"] == ("4", "within_tolerance", 30)
    assert rows["one", "usefulness"] == ("5", "unanimous", 1)
    assert rows["one", "realism"] == (None, None, 0)


def test_two_ratings_by_one_rater_are_refused(plans: Rubric) -> None:
    row: Rating = ("a", "x", dict.fromkeys(plans.criterion_ids, "4"))
    with pytest.raises(ValueError, match="two ratings of one item"):
        finals(plans, frame(plans, [row, row]))


def test_nothing_rated_yet(builtin: Rubric) -> None:
    found = finals(builtin, frame(builtin, []))
    assert found.height == 0
    assert final_verdicts(builtin, wide(builtin, found)).height == 0
    assert with_settlements(builtin, found, {}).schema == found.schema


def test_what_people_settle_counts(plans: Rubric) -> None:
    ratings: list[Rating] = [
        (item, rater, dict.fromkeys(plans.criterion_ids, value))
        for item in ("a", "b", "c")
        for rater, value in (("x", "5"), ("y", "2"))
    ]
    found = finals(plans, frame(plans, ratings))
    assert found["needs_resolution"].all()
    settlement = Settlement(value="3", how="consensus", by=("x", "y"), reason="Talked.")
    done = with_settlements(
        plans, found, {("a", "realism"): [settlement]}, {"b": ["deception"], "c": []}
    )
    rows = {(row[0], row[1]): row[2:4] for row in done.iter_rows()}
    assert rows.pop(("a", "realism")) == ("3", "consensus")
    for (item, _), told in rows.items():
        assert told == (("1", "forced") if item == "b" else (None, None))
    assert done.filter(pl.col("answer").is_null())["needs_resolution"].all()
    assert not done.filter(pl.col("answer").is_not_null())["needs_resolution"].any()
    assert done["gap"].to_list() == found["gap"].to_list()


@given(data=st.data())
def test_wide_answers_are_the_long_ones(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    rubric = data.draw(rubrics)
    found = finals(rubric, frame(rubric, data.draw(some_ratings(rubric))))
    table = wide(rubric, found.sample(fraction=1, shuffle=True, seed=1))
    back = {
        (row["item"], name): row[name]
        for row in table.iter_rows(named=True)
        for name in rubric.criterion_ids
    }
    assert back == {(row[0], row[1]): row[2] for row in found.iter_rows()}


# -- verdicts


def exact(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


@given(data=st.data())
def test_verdicts_are_those_of_each_item(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    rubric = data.draw(rubrics)
    sheets = data.draw(st.lists(some_answers(rubric), max_size=8))
    ids = [flag.id for flag in rubric.red_flags or ()]
    names = [f"i{number}" for number in range(len(sheets))]
    flagged = st.sets(st.sampled_from(ids)) if ids else st.just(set())
    flags = {name: data.draw(flagged) for name in names if data.draw(st.booleans())}
    counted = {
        name: {"exchanges": data.draw(st.integers(1, 4))}
        for name in names
        if data.draw(st.booleans())
    }
    schema = dict.fromkeys(("item", *rubric.criterion_ids), pl.String)
    rows = [{"item": name, **sheet} for name, sheet in zip(names, sheets, strict=True)]
    table = final_verdicts(rubric, pl.DataFrame(rows, schema=schema), flags=flags, measures=counted)
    assert table["item"].to_list() == names
    for row, sheet in zip(table.iter_rows(named=True), sheets, strict=True):
        given_ = {name: text for name, text in sheet.items() if text is not None}
        name = row["item"]
        verdict = judge(rubric, read_sheet(rubric, given_, flags.get(name, ()), counted.get(name)))
        for field in ("status", "verdict", "passed", "gate", "score", "mean", "minimum"):
            if field in row:
                assert row[field] == getattr(verdict, field), field
        for field in (
            "failed_checks", "failed_safety", "missing", "errors", "not_applicable", "flags",
        ):  # fmt: skip
            assert row[field] == list(getattr(verdict, field)), field
        assert exact(row.get("exact_score")) == verdict.exact_score
        assert exact(row.get("exact_mean")) == verdict.exact_mean


def test_a_large_study(coaching: Rubric) -> None:
    chance = np.random.default_rng(1)
    items = np.repeat(np.arange(100_000), 3)
    words = pl.Series(["YES", "YES", "YES", "NO", "NA", None])
    columns = {
        name: words.gather(chance.integers(0, 6, len(items))) for name in coaching.criterion_ids
    }
    raters = pl.Series(np.tile(np.arange(3), 100_000)).cast(pl.String)
    item = pl.Series(items).cast(pl.String)
    ratings = pl.DataFrame({"item": item, "rater": raters, **columns})
    before = perf_counter()
    found = finals(coaching, ratings)
    assert perf_counter() - before < 15  # one second on an idle machine
    assert found.height == 1_500_000


def test_a_final_that_waits_leaves_the_verdict_open(small: Callable[..., Rubric]) -> None:
    rubric = small()
    row = {"item": "a", "tidy": "YES", "depth": None, "honest": "YES", "harmless": "YES"}
    table = final_verdicts(rubric, pl.DataFrame([row]), flags={}, measures={})
    assert table["status"].to_list() == ["incomplete"]
    assert table["verdict"].to_list() == ["undecided"]
    assert table["missing"].to_list() == [["depth"]]
    assert table["exact_score"].to_list() == ["5/8"]
