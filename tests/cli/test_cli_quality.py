"""``calibrant quality`` as its users call it, and what it finds in tables made for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import calibrant
from calibrant.cli.main import cli
from calibrant.core.errors import SourceError

EXAMPLES = Path(__file__).parents[2] / "examples"
COACHING, RESPONSES = EXAMPLES / "coaching-conversation", EXAMPLES / "ai-response"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["quality", *map(str, arguments)])


def told(*arguments: str | Path) -> dict[str, Any]:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def world(seed: int, *, planted: bool = False, items: int = 160) -> pl.DataFrame:
    """Five criteria from 1 to 5 that go together; B is worse on topic c, if that is planted."""
    random = np.random.default_rng(seed)
    topic, worth = random.choice(list("abcd"), items), random.normal(1.5, 1, items)
    columns: dict[str, Any] = {"item": [f"i{at}" for at in range(items)], "topic": topic}
    for name in "ABCDE":
        points = (
            worth + random.normal(size=items) - 2.0 * (planted and name == "B") * (topic == "c")
        )
        columns[name] = np.clip(np.round(3.5 + points), 1, 5).astype(int)
    return pl.DataFrame(columns).unpivot(
        list("ABCDE"), index=["item", "topic"], variable_name="criterion", value_name="answer"
    )


def test_a_planted_slice_is_found_and_said_in_a_sentence() -> None:
    found = calibrant.quality(world(0, planted=True), level="ordinal", by=["topic"])
    first = min(found.slices, key=lambda one: one.p or 0.0)
    assert (first.value, first.quantity, first.finding) == ("c", "B", True)
    assert first.difference is not None and first.difference < -0.5
    assert first.difference_interval is not None and first.difference_interval[1] < 0
    assert found.findings[0].startswith(f"topic c ({first.n} items): B is {first.mean:.2f}, ")
    assert f") than {first.rest:.2f} in the other {first.n_rest}." in found.findings[0]


def test_topics_that_mean_nothing_give_findings_in_few_tables() -> None:
    """At most 5 in 100 tables are to have one; more than 6 of 30 are beyond chance (0.1 %)."""
    tables = [calibrant.quality(world(seed), level="ordinal", by=["topic"]) for seed in range(30)]
    assert all(one.tested == 20 for one in tables)
    assert sum(any(figure.finding for figure in one.slices) for one in tables) <= 6


def test_figures_are_those_of_the_rows() -> None:
    frame = world(1)
    found = calibrant.quality(frame, level="ordinal", by=["topic"])
    one = next(one for one in found.slices if (one.value, one.quantity) == ("b", "D"))
    asked = frame.filter(criterion="D")
    inside, rest = asked.filter(topic="b"), asked.filter(pl.col("topic") != "b")
    assert (one.n, one.n_rest) == (inside.height, rest.height)
    assert one.mean == pytest.approx(inside["answer"].mean())
    assert one.rest == pytest.approx(rest["answer"].mean())


def test_of_two_halves_only_the_lower_one_is_told() -> None:
    frame = world(0, planted=True).with_columns(
        pl.when(pl.col("topic") == "c").then(pl.lit("c")).otherwise(pl.lit("other")).alias("topic")
    )
    found = calibrant.quality(frame, level="ordinal", by=["topic"])
    about_b = [one for one in found.slices if one.quantity == "B"]
    assert [one.finding for one in about_b] == [True, True]
    assert about_b[0].p == pytest.approx(about_b[1].p, rel=0.5)
    about = [one.split(" (")[0] for one in found.findings if ": B is" in one]
    assert about == ["topic c"]


def test_many_numbers_are_taken_in_quarters() -> None:
    frame = world(2).with_columns(pl.col("item").str.slice(1).cast(pl.Int64).alias("length"))
    found = calibrant.quality(frame, level="ordinal", by=["length"])
    values = list(dict.fromkeys(one.value for one in found.slices))
    assert values == ["0 to 39", "40 to 79", "80 to 119", "120 to 159"]
    assert {one.n for one in found.slices} == {40}


def test_small_slices_are_told_and_not_tested() -> None:
    frame = world(3).with_columns(
        pl.when(pl.col("item").is_in(["i1", "i2", "i3"])).then(pl.lit("rare"))
        .otherwise(pl.col("topic")).alias("topic")
    )  # fmt: skip
    found = calibrant.quality(frame, level="ordinal", by=["topic"])
    assert found.too_small == [
        {"field": "topic", "value": "rare", "n": 3, "reason": "fewer than 10 items in the slice"}
    ]
    assert "rare" not in {one.value for one in found.slices}


def test_criteria_that_say_the_same_are_told() -> None:
    frame = world(4)
    twin = frame.filter(criterion="A").with_columns(pl.lit("Z").alias("criterion"))
    found = calibrant.quality(pl.concat([frame, twin]), level="ordinal")
    high = [(one.first, one.second) for one in found.pairs if one.high]
    assert ("A", "Z") in high
    assert any(one.startswith("A and Z (160 items") and "halo" in one for one in found.findings)
    assert found.notes == ["no slices: name a column with --by, or give --items"]


def test_the_low_quality_list_says_why(tmp_path: Path) -> None:
    """By the example: 04 and 05 fail at the gate, 09 and 10 miss the pass mark; 08 is undecided."""
    found = told(COACHING / "answers.jsonl", "-r", "coaching-conversation",
                 "--items", COACHING / "items.jsonl")  # fmt: skip
    low = found["low_quality"]["told"]
    assert [one["item"] for one in low] == [
        "coaching-04", "coaching-05", "coaching-09", "coaching-10"
    ]  # fmt: skip
    assert low[0]["why"] == "gate: CQ9; failed; not met: CQ3, MT3"
    assert low[3]["why"] == "failed; not met: CQ2, MT2, MT6"
    assert {"reason": "verdict undecided", "rows": 2} in found["excluded"]
    passed = found["overall"][0]
    assert (passed["quantity"], passed["n"], passed["mean"]) == ("pass rate", 8, 0.5)


@pytest.mark.parametrize("name", ["verdicts.jsonl", "verdicts.csv", "verdicts.parquet"])
def test_verdicts_in_any_file_say_what_their_answers_say(name: str, tmp_path: Path) -> None:
    rubric, path = calibrant.load_rubric("coaching-conversation"), tmp_path / name
    items = COACHING / "items.jsonl"
    calibrant.score_file(rubric, COACHING / "answers.jsonl", path, items=items)
    found = told(path, "-r", "coaching-conversation", "--items", items)
    direct = told(COACHING / "answers.jsonl", "-r", "coaching-conversation", "--items", items)
    assert {**found, "source": ""} == {**direct, "source": ""}


def test_questions_have_a_type_and_marks_can_be_set(tmp_path: Path) -> None:
    arguments = (RESPONSES / "answers.jsonl", "-r", "ai-response", "--items",
                 RESPONSES / "items.jsonl")  # fmt: skip
    found = told(*arguments, "--by", "question_type", "--below", "1.2")
    assert {one["field"] for one in found["too_small"]} == {"question_type"}
    assert sum(one["n"] for one in found["too_small"]) == 10
    assert [one["item"] for one in found["low_quality"]["told"]] == ["resp-08", "resp-05"]
    assert "no pass rate: the rubric states no pass mark" in found["notes"]
    one_rater = told(*arguments, "--rater", "annotator-1")
    assert (one_rater["items"], one_rater["sheets"]) == (10, 10)


def test_scores_that_a_red_flag_forced_do_not_make_criteria_alike() -> None:
    """Forced to 1 on every criterion, half of the items would make any two go together."""
    random = np.random.default_rng(0)
    rubric = calibrant.load_rubric("smart-action-plan")
    columns = {name: random.integers(2, 6, 60) for name in rubric.criterion_ids}
    flags = ["deception" if at % 2 else None for at in range(60)]
    frame = pl.DataFrame({"id": [f"i{at}" for at in range(60)], **columns, "flags": flags})
    found = calibrant.quality(frame, rubric=rubric)
    assert [one for one in found.pairs if one.high] == []
    assert [one.why.startswith("flag: deception; failed; low: ") for one in found.low] == [
        True
    ] * 10


def test_tags_of_items_are_slices_of_their_own(tmp_path: Path) -> None:
    frame, items = world(5).drop("topic"), tmp_path / "items.jsonl"
    lines = [
        {"id": f"i{at}", "text": "words", "tags": ["long", "old"] if at % 2 else ["old", "new"]}
        for at in range(160)
    ]
    items.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    read = calibrant.read_items(items).items
    found = calibrant.quality(frame, level="ordinal", items=read)
    counted = {one.value: (one.n, one.n_rest) for one in found.slices}
    assert counted == {"long": (80, 80), "new": (80, 80)}
    assert [(one["value"], one["n"]) for one in found.too_small] == [("old", 160)]


def test_reports_are_written(tmp_path: Path) -> None:
    table = tmp_path / "ratings.csv"
    world(0, planted=True).write_csv(table)
    arguments = (table, "--level", "ordinal", "--by", "topic")
    for name in ("quality.json", "quality.csv"):
        result = run(*arguments, "-o", tmp_path / name)
        assert result.exit_code == 0 and f"wrote {tmp_path / name}" in result.stderr
    whole = json.loads((tmp_path / "quality.json").read_text("utf-8"))
    rows = pl.read_csv(tmp_path / "quality.csv")
    assert rows.height == len(whole["overall"]) + len(whole["slices"])
    assert rows["finding"].sum() == sum(one["finding"] for one in whole["slices"]) > 0
    text = run(*arguments, "--format", "text").stdout
    assert "1. topic c (" in text and "Items of low quality" in text


def test_mistakes_are_told(tmp_path: Path) -> None:
    frame = world(6)
    with pytest.raises(SourceError, match=r"no field 'topik' to slice by; did you mean 'topic'"):
        calibrant.quality(frame, level="ordinal", by=["topik"])
    several = frame.with_columns(pl.col("criterion").alias("part"))
    with pytest.raises(SourceError, match="says several things of item 'i0'"):
        calibrant.quality(several, level="ordinal", by=["part"])
    with pytest.raises(SourceError, match="say the level of measurement, or give a rubric"):
        calibrant.quality(frame)
    with pytest.raises(SourceError, match="there is no rater 'ann'"):
        calibrant.quality(frame, level="ordinal", raters=["ann"])
    with pytest.raises(SourceError, match="empty"):
        calibrant.quality(frame.clear(), level="ordinal")
    assert run(tmp_path / "none.csv", "--level", "ordinal").exit_code != 0
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id":"a","verdict":"passed","status":"complete"}\n[1]\n', "utf-8")
    assert "record 2: must be an object" in str(run(broken).exception)
    strange = RESPONSES / "answers.jsonl", "-r", "ai-response", "--items", COACHING / "items.jsonl"
    assert "answers.jsonl: record 1: id: item 'resp-01' is not" in str(run(*strange).exception)


def test_labels_without_better_or_worse_are_counted_and_not_blamed() -> None:
    """Three labels of one question depend on one another: no low items, no correlations."""
    labels = ["cat", "dog", "cow"] * 8
    frame = pl.DataFrame({"item": range(24), "label": labels})
    found = calibrant.quality(frame, level="nominal")
    assert [one.quantity for one in found.overall] == ["cat", "cow", "dog"]
    assert [one.mean for one in found.overall] == pytest.approx([1 / 3] * 3)
    assert (found.low, found.pairs) == ([], [])


def test_criteria_that_nobody_answered_say_so(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("id,accuracy,helpfulness\nr1,5,\nr2,3,\n", "utf-8")
    found = told(path, "-r", "ai-response")
    assert [one["interval"] for one in found["overall"][:2]] == [[0, 5], [0, 5]]  # of two items
    undefined = {one["quantity"]: one["undefined"] for one in found["overall"]}
    assert undefined == {
        "mean": None, "accuracy": None, "helpfulness": "no answers", "tone_bias": "no answers"
    }  # fmt: skip
    assert any(one.startswith("answers are missing and none is NA") for one in found["notes"])


def test_verdicts_with_nothing_but_a_verdict_have_a_pass_rate(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    lines = [{"id": at, "status": "complete", "verdict": "failed" if at % 4 == 0 else "passed"}
             for at in range(20)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    found = told(path)
    assert [(one["quantity"], one["mean"]) for one in found["overall"]] == [("pass rate", 0.75)]
    assert [one["item"] for one in found["low_quality"]["told"]] == ["0", "4", "8", "12", "16"]
