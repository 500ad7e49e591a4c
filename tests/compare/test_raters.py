"""Reports on raters, from tables as people have them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from bench.panels import Panel
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compare.rater_panels import rows

import calibrant
from calibrant.compare.rater_diagnostics import RULES, Kind
from calibrant.compare.raters import RaterReport
from calibrant.core.errors import SourceError


def report(frame: pl.DataFrame, **how: Any) -> RaterReport:
    return calibrant.rater_report(frame, level="ordinal", **how)


# -- severity and fair averages


def test_a_severe_rater_is_found_with_a_sentence_and_what_to_do() -> None:
    found = report(rows(planted={1: "severe"})).find("rater 2", "severity")
    assert found.found
    told = next(one for one in report(rows(planted={1: "severe"})).to_dict()["findings"])
    assert "more severe than the middle of the panel" in told["says"]
    assert told["do"].startswith("Calibrate")
    assert told["interval"][0] > 0
    assert told["adjusted_p"] >= told["p"]


def test_items_of_a_severe_rater_are_worth_more_with_an_average_one() -> None:
    frame = rows(3, Panel(raters=4, items=300), planted={0: "severe"})
    number = frame["item"].str.extract(r"(\d+)").cast(pl.Int64)
    first = number <= 100  # rated by the severe one and one other, the rest by the other two
    there = (first & frame["rater"].is_in(["rater 1", "rater 2"])) | (
        ~first & frame["rater"].is_in(["rater 2", "rater 3", "rater 4"])
    )
    items = report(frame.filter(there)).fair_items
    moved = (items["fair"] - items["observed"]).to_numpy()
    early = items["item"].str.extract(r"(\d+)").cast(pl.Int64).to_numpy() <= 100
    assert moved[early].mean() > 0.1
    assert moved[early].mean() > moved[~early].mean() + 0.1


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_names_and_the_order_of_rows_do_not_matter(seed: int) -> None:
    frame = rows(seed, Panel(raters=3, items=30, criteria=2))
    mixed = frame.sample(fraction=1, shuffle=True, seed=seed)
    one, other = report(frame), report(mixed)
    for profile in one.profiles:
        same = next(mine for mine in other.profiles if mine.rater == profile.rater)
        assert same.severity.value == pytest.approx(profile.severity.value, abs=1e-7)
        assert same.fair == pytest.approx(profile.fair, abs=1e-7)


def test_raters_who_share_no_item_are_refused_by_name() -> None:
    frame = rows()
    number = frame["item"].str.extract(r"(\d+)").cast(pl.Int64)
    early = frame["rater"].is_in(["rater 1", "rater 2"])
    apart = frame.filter((early & (number <= 30)) | (~early & (number > 30)))
    with pytest.raises(SourceError, match=r"\(1\) rater 1, rater 2; \(2\) rater 3, rater 4"):
        report(apart)


def test_people_and_judges_stand_in_one_table() -> None:
    frame = rows().with_columns(
        kind=pl.when(pl.col("rater") == "rater 4").then(pl.lit("LLM")).otherwise(pl.lit("HUMAN"))
    )
    kinds = {one.rater: one.kind for one in report(frame).profiles}
    assert kinds == {"rater 1": "HUMAN", "rater 2": "HUMAN", "rater 3": "HUMAN", "rater 4": "LLM"}


def test_severe_is_what_the_rubric_is_worth() -> None:
    """YES comes first in the rubric and is worth more: who says NO more often is severe."""
    random = np.random.default_rng(0)
    rubric = calibrant.load_rubric("coaching-conversation")
    records = []
    for item in range(60):
        quality = random.normal(1)
        for rater, shift in (("mild", 0.0), ("strict", 1.5), ("other", 0.0)):
            for criterion in ("CQ1", "CQ3", "CQ6", "CP2", "MT1"):
                yes = random.random() < 1 / (1 + np.exp(shift - quality))
                records.append((f"c{item}", rater, criterion, "YES" if yes else "NO"))
    frame = pl.DataFrame(records, ["item", "rater", "criterion", "answer"], orient="row")
    found = calibrant.rater_report(frame, rubric=rubric)
    assert found.findings
    assert {(one.rater, one.kind) for one in found.findings} == {("strict", "severity")}
    assert (found.find("strict", "severity").estimate.value or 0) > 1


def test_answers_without_an_order_have_no_severity() -> None:
    frame = rows().with_columns(answer=pl.lit("red"))
    frame[0, "answer"], frame[1, "answer"] = "blue", "green"
    found = calibrant.rater_report(frame, level="nominal")
    assert all(one.severity.undefined for one in found.profiles)
    assert any("no order" in note for note in found.notes)


def test_partial_credit_gives_every_criterion_steps_of_its_own() -> None:
    frame = rows()
    shared, own = report(frame), report(frame, partial_credit=True)
    assert shared.profiles[0].severity.value != own.profiles[0].severity.value
    assert own.profiles[0].severity.value == pytest.approx(
        shared.profiles[0].severity.value, abs=0.05
    )


# -- what stands beside the answers


def test_without_an_order_drift_and_recency_say_why() -> None:
    found = report(rows().drop("position"))
    for kind in ("drift", "recency", "fatigue", "straight-lining"):
        assert "order" in (found.find("rater 1", kind).estimate.undefined or "")


def test_position_time_and_the_order_of_rows_tell_the_same() -> None:
    frame = rows(2, planted={0: "drifting"})
    by_position = report(frame).find("rater 1", "drift").estimate.value
    start = datetime(2026, 1, 1)
    moments = [(start + timedelta(minutes=at)).isoformat() for at in frame["position"]]
    by_time = report(frame.drop("position").with_columns(time=pl.Series(moments)))
    assert by_time.find("rater 1", "drift").estimate.value == pytest.approx(by_position)
    in_order = frame.sort("position", maintain_order=True).drop("position")
    by_row = report(in_order, in_order=True).find("rater 1", "drift").estimate.value
    assert by_row == pytest.approx(by_position)
    renamed = frame.rename({"position": "place"})
    by_name = report(renamed, columns={"position": "place"}).find("rater 1", "drift")
    assert by_name.estimate.value == pytest.approx(by_position)


def test_days_do_not_tell_which_item_came_before() -> None:
    frame = (
        rows()
        .with_columns(time=pl.format("2026-01-{}", (10 + pl.col("position") // 20).cast(pl.String)))
        .drop("position")
    )
    found = report(frame)
    assert found.find("rater 1", "drift").estimate.value is not None
    assert "came before" in (found.find("rater 1", "recency").estimate.undefined or "")


def test_a_pause_begins_a_sitting_and_one_sitting_shows_no_fatigue() -> None:
    frame = rows()
    start = datetime(2026, 1, 1)

    def timed(pause: int) -> RaterReport:
        moments = [
            (start + timedelta(minutes=at + (pause if at > 30 else 0))).isoformat()
            for at in frame["position"]
        ]
        return report(frame.drop("position").with_columns(time=pl.Series(moments)))

    assert "one sitting" in (timed(0).find("rater 1", "fatigue").estimate.undefined or "")
    assert timed(60).find("rater 1", "fatigue").estimate.value is not None


def test_who_tires_in_every_sitting_is_not_taken_to_drift() -> None:
    """More severe by two logits over each of ten sittings of twenty items, then rested again."""
    random = np.random.default_rng(4)
    theta = random.normal(size=200)
    records = []
    for rater in ("a", "b", "c", "d"):
        for place, item in enumerate(random.permutation(200)):
            tired = 2 * (place % 20 / 19 - 0.5) if rater == "a" else 0
            for criterion in range(4):
                edges = np.array([-1.0, 0.0, 1.0]) + tired - theta[item]
                answer = int((random.logistic() > edges).sum())
                records.append(
                    (f"i{item}", rater, f"Q{criterion}", answer, place // 20, place % 20)
                )
    columns = ["item", "rater", "criterion", "answer", "session", "position"]
    found = report(pl.DataFrame(records, columns, orient="row"))
    assert {(one.rater, one.kind) for one in found.findings} >= {("a", "fatigue")}
    assert not found.find("a", "drift").found


def test_speeding_needs_durations_and_names_the_fast() -> None:
    frame = rows()
    slow = pl.when(pl.col("rater") == "rater 3").then(pl.lit(2)).otherwise(pl.lit(30))
    found = report(frame.with_columns(duration=slow))
    assert [(one.rater, one.kind) for one in found.findings] == [("rater 3", "speeding")]
    assert found.find("rater 3", "speeding").estimate.value == 1
    assert report(frame).find("rater 3", "speeding").estimate.undefined == "no durations"
    few = (pl.col("rater") == "rater 3") & (pl.col("position") <= 15)
    some = report(frame.with_columns(duration=pl.when(few).then(2).otherwise(30)))
    estimate = some.find("rater 3", "speeding").estimate
    assert estimate.value == 0.25
    # Clopper and Pearson, 15 of 60
    assert estimate.interval == pytest.approx((0.1472, 0.3788), abs=1e-3)


def test_repeats_are_compared_and_do_not_count_twice() -> None:
    frame = rows(5).with_columns(occasion=pl.lit(1))
    random = np.random.default_rng(0)
    guess = pl.Series("answer", random.integers(1, 6, frame.height))
    keeps = pl.col("rater") != "rater 2"
    again = frame.with_columns(
        occasion=pl.lit(2), answer=pl.when(keeps).then(pl.col("answer")).otherwise(guess)
    )
    once, twice = report(frame), report(pl.concat([frame, again]))
    assert [(one.rater, one.kind) for one in twice.findings] == [("rater 2", "self-agreement")]
    value = twice.find("rater 2", "self-agreement").estimate.value
    assert value is not None and value < -0.5
    same = [one.severity.value for one in once.profiles]
    assert [one.severity.value for one in twice.profiles] == pytest.approx(same)


def test_na_is_compared_on_the_same_items() -> None:
    frame = rows().with_columns(pl.col("answer").cast(pl.String))
    number = frame["item"].str.extract(r"(\d+)").cast(pl.Int64)
    # everybody says NA to every fifth item, one rater to every third as well
    na = (number % 5 == 0) | ((frame["rater"] == "rater 4") & (number % 3 == 0))
    frame = frame.with_columns(answer=pl.when(na).then(pl.lit("NA")).otherwise(pl.col("answer")))
    found = report(frame)
    assert [(one.rater, one.kind) for one in found.findings] == [("rater 4", "NA overuse")]


def test_a_rater_who_repeats_rows_is_found_by_order_and_by_rows() -> None:
    frame = rows(panel=Panel(raters=4, items=100))
    lazy = frame["rater"] == "rater 1"
    block = ((frame["position"] - 1) // 10 % 2 + 2).cast(pl.Int64)
    frame = frame.with_columns(answer=pl.when(lazy).then(block).otherwise(pl.col("answer")))
    kinds = {one.kind for one in report(frame).findings if one.rater == "rater 1"}
    assert {"straight-lining", "identical rows"} <= kinds


# -- as extreme as it gets: what does not vary at all must not slip through


def planted(rater: str, answer: pl.Expr) -> RaterReport:
    """A panel in which one rater answers otherwise."""
    frame = rows(panel=Panel(raters=4, items=60)).with_columns(pl.col("answer").cast(pl.String))
    mine = pl.col("rater") == rater
    return report(frame.with_columns(answer=pl.when(mine).then(answer).otherwise("answer")))


def test_who_answers_na_to_everything_overuses_it() -> None:
    found = planted("rater 1", pl.lit("NA")).find("rater 1", "NA overuse")
    assert found.found and found.estimate.value == pytest.approx(1)
    assert found.estimate.interval is not None and found.estimate.interval[1] <= 1


@pytest.mark.parametrize("answer", ["3", "5"])
def test_who_gives_one_row_throughout_draws_a_straight_line(answer: str) -> None:
    found = planted("rater 1", pl.lit(answer))
    told = [one for one in found.to_dict()["findings"] if one["kind"] == "straight-lining"]
    assert [one["rater"] for one in told] == ["rater 1"]
    assert told[0]["says"].startswith("the same row of answers to all 60 items")


def test_one_row_is_no_line_where_others_give_it_too() -> None:
    frame = rows(panel=Panel(raters=3, items=40)).with_columns(answer=pl.lit(4))
    assert not report(frame).findings


def test_who_never_gives_an_answer_twice_is_told() -> None:
    frame = rows(panel=Panel(raters=3, items=30)).with_columns(occasion=pl.lit(1))
    other = pl.when(pl.col("rater") == "rater 2").then(pl.col("answer") % 5 + 1)
    again = frame.with_columns(occasion=pl.lit(2), answer=other.otherwise("answer"))
    found = report(pl.concat([frame, again])).find("rater 2", "self-agreement")
    assert found.found and found.estimate.value == pytest.approx(-1)


def test_another_spelling_is_no_other_answer() -> None:
    frame = rows(panel=Panel(raters=3, items=30)).with_columns(occasion=pl.lit(1))
    frame = frame.with_columns(pl.col("answer").cast(pl.String))
    spelt = pl.when(pl.col("rater") == "rater 2").then(pl.col("answer") + ".0")
    again = frame.with_columns(occasion=pl.lit(2), answer=spelt.otherwise("answer"))
    found = report(pl.concat([frame, again])).find("rater 2", "self-agreement")
    assert not found.found and found.form == "100%"


def test_a_scale_that_was_turned_around_is_called_so() -> None:
    found = planted("rater 1", (6 - pl.col("answer").cast(pl.Int64)).cast(pl.String))
    told = next(one for one in found.to_dict()["findings"] if one["kind"] == "central tendency")
    assert told["rater"] == "rater 1" and told["says"].startswith("runs against the items")
    assert "which end of the scale" in told["do"]


def test_fair_and_observed_means_are_of_the_same_answers() -> None:
    """A criterion that all answer alike, and one that was asked of half of the items only."""
    frame = rows(panel=Panel(raters=3, items=60, criteria=2))
    name = frame["criterion"].unique().sort()[0]
    alike = frame.filter(pl.col("criterion") == name).with_columns(
        criterion=pl.lit("always"), answer=pl.lit(5, frame["answer"].dtype)
    )
    number = pl.col("item").str.extract(r"(\d+)").cast(pl.Int64)
    half = frame.filter((pl.col("criterion") == name) | (number % 2 == 0))
    found = report(pl.concat([half, alike]))
    moved = (found.fair_items["fair"] - found.fair_items["observed"]).abs()
    assert moved.max() < 0.25  # type: ignore[operator]
    for one in found.profiles:
        assert one.fair == pytest.approx(one.observed, abs=0.3)


def test_without_a_model_items_keep_what_was_observed() -> None:
    frame = rows(panel=Panel(raters=3, items=30, criteria=1)).filter(pl.col("rater") == "rater 1")
    items = report(frame).fair_items
    assert items["fair"].null_count() == 30 and items["observed"].null_count() == 0
    assert items["ratings"].to_list() == [1] * 30


# -- the report


def test_every_diagnostic_of_every_rater_has_a_value_or_a_reason() -> None:
    found = report(rows())
    kinds = {one.kind for one in found.diagnostics}
    assert kinds == set(RULES)
    for one in found.diagnostics:
        assert (one.estimate.value is None) == (one.estimate.undefined is not None)
        assert (one.p is None) == (one.estimate.value is None)
    frame = found.to_frame()
    assert frame.height == len(found.diagnostics)
    assert "<table>" in found._repr_html_()


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.filter(pl.col("rater") == "rater 1"),
        lambda frame: frame.with_columns(answer=3),
        lambda frame: frame.filter(pl.col("item").is_in(["item 1", "item 2"])),
        lambda frame: frame.filter(pl.col("criterion") == "Q1"),
        lambda frame: frame.with_columns(
            answer=pl.when(pl.col("rater") == "rater 1").then(1).otherwise(pl.col("answer"))
        ),
        lambda frame: frame.with_columns(time=pl.lit("yesterday"), duration=pl.lit("long")),
        lambda frame: frame.with_columns(position=pl.lit(None, pl.Int64)),
    ],
)
def test_poor_tables_give_reasons_and_no_nonsense(
    change: Callable[[pl.DataFrame], pl.DataFrame],
) -> None:
    found = report(change(rows()))
    for one in found.diagnostics:
        numbers = [one.estimate.value, one.estimate.se, one.p, *(one.estimate.interval or ())]
        assert all(number is None or np.isfinite(number) for number in numbers), one
    for profile in found.profiles:
        told = [profile.severity.value, profile.fair, profile.infit, profile.outfit]
        assert all(number is None or np.isfinite(number) for number in told)
    found._repr_html_()


def test_kinds_are_all_explained() -> None:
    from typing import get_args

    from calibrant.compare import rater_words

    assert set(get_args(Kind)) == set(RULES) == set(rater_words._SAYS) == set(rater_words._DO)
