"""Tables of ratings: read in any form, refused when they make no sense, reported in full."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.formats.workbooks import save_rows

from calibrant import RecordError, SourceError, agreement, load_rubric
from calibrant.compare.agreement import AgreementReport, agreement_of_frames
from calibrant.compare.agreement_view import blocks
from calibrant.compare.rating_columns import Reading
from calibrant.compare.rating_tables import rating_table
from calibrant.compare.targets import AgreementTarget
from calibrant.formats import rating_files
from calibrant.formats.rating_files import frames_of

PLANS = load_rubric("smart-action-plan")
COACHING = load_rubric("coaching-conversation")
NOMINAL = Reading(level="nominal")

ANSWERS = {
    "1": {"ann": "a", "bob": "a", "cid": "a"},
    "2": {"ann": "a", "bob": "b", "cid": "a"},
    "3": {"ann": "b", "bob": "b", "cid": "b"},
    "4": {"ann": "c", "bob": "c", "cid": "b"},
    "5": {"ann": "b", "bob": "b"},
    "6": {"ann": "a", "bob": "a", "cid": "c"},
}


def of_file(path: Path, how: Reading) -> AgreementReport:
    return agreement_of_frames(frames_of(path), how, str(path))


def long_rows(**names: str) -> list[dict[str, str]]:
    item, rater, answer = (names.get(one, one) for one in ("item", "rater", "answer"))
    return [
        {item: one, rater: who, answer: what}
        for one, given in ANSWERS.items()
        for who, what in given.items()
    ]


def write(folder: Path, suffix: str, rows: list[dict[str, Any]]) -> Path:
    path = folder / f"ratings{suffix}"
    frame = pl.DataFrame(rows)
    match suffix:
        case ".csv":
            frame.write_csv(path)
        case ".parquet":
            frame.write_parquet(path)
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        case ".xlsx":
            save_rows(path, list(rows[0]), *(list(row.values()) for row in rows))
    return path


# -- one truth in every form


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".xlsx"])
def test_every_file_gives_the_same(tmp_path: Path, suffix: str) -> None:
    expected = agreement(pl.DataFrame(long_rows()), level="nominal").to_dict()
    path = write(tmp_path, suffix, long_rows())
    assert of_file(path, NOMINAL).to_dict() == expected


@pytest.mark.parametrize(
    "names",
    [
        {"item": "task", "rater": "annotator", "answer": "label"},
        {"item": "Item_ID", "rater": "Judge", "answer": "Rating"},
    ],
)
def test_usual_names_are_known(names: dict[str, str]) -> None:
    expected = agreement(pl.DataFrame(long_rows()), level="nominal").to_dict()
    assert agreement(pl.DataFrame(long_rows(**names)), level="nominal").to_dict() == expected


def test_other_names_are_mapped() -> None:
    rows = pl.DataFrame(long_rows(item="thing", rater="who", answer="said"))
    columns = {"item": "thing", "rater": "who", "answer": "said"}
    found = agreement(rows, level="nominal", columns=columns)
    assert (
        found.find("percent").value
        == agreement(pl.DataFrame(long_rows()), level="nominal").find("percent").value
    )


def test_wide_tables_give_what_long_ones_give() -> None:
    wide = pl.DataFrame([{"item": one, "ann": None, "bob": None, "cid": None, **given}
                         for one, given in ANSWERS.items()])  # fmt: skip
    expected = agreement(pl.DataFrame(long_rows()), level="nominal")
    found = agreement(wide, level="nominal", wide=True)
    assert [one.value for one in found.estimates] == [one.value for one in expected.estimates]


def test_one_column_a_criterion_is_read_with_a_rubric(tmp_path: Path) -> None:
    rows = [
        {"id": str(n), "rater": who, "realism": 1 + (n + at) % 5, "clarity": 1 + n % 5}
        for n in range(8)
        for at, who in enumerate(("ann", "bob"))
    ]
    sheets = [
        {"id": row["id"], "rater": row["rater"], "flags": [],
         "answers": {"realism": row["realism"], "clarity": row["clarity"]}}
        for row in rows
    ]  # fmt: skip
    found = agreement(pl.DataFrame(rows), rubric=PLANS)
    assert {one.criterion for one in found.estimates} == {"realism", "clarity", None}
    assert found.find("percent", criterion="clarity").value == 1
    path = write(tmp_path, ".jsonl", sheets)
    assert of_file(path, Reading(rubric=PLANS)).to_dict() == found.to_dict()


def test_raters_without_names_are_anonymous() -> None:
    rows = pl.DataFrame([{"item": one, "answer": what} for one, given in ANSWERS.items()
                         for what in given.values()])  # fmt: skip
    found = agreement(rows, level="nominal")
    named = agreement(pl.DataFrame(long_rows()), level="nominal")
    name = "krippendorff_alpha:nominal"
    assert found.find(name).value == named.find(name).value
    assert not any(one.coefficient in ("cohen_kappa", "conger_kappa") for one in found.estimates)


def test_two_way_correlations_of_anonymous_columns_are_refused() -> None:
    numbers = np.random.default_rng(1).integers(1, 6, (20, 3))
    wide = pl.DataFrame({"item": list(range(20)), **{f"r{n}": numbers[:, n] for n in range(3)}})
    found = agreement(wide, level="interval", wide=True, anonymous_raters=True)
    refused = found.find("icc", form="ICC(2,1)")
    assert refused.value is None
    assert "not the same rater" in (refused.undefined or "")
    assert found.find("icc", form="ICC(1,1)").value is not None


# -- order and level


def test_numbers_order_as_numbers_and_a_missing_one_leaves_its_gap() -> None:
    rows = pl.DataFrame({"item": [1, 1, 2, 2, 3, 3], "rater": ["a", "b"] * 3,
                         "answer": [2, 10, 2, 2, 4, 10]})  # fmt: skip
    how = Reading(level="ordinal")
    (table,) = rating_table([rows], how, "x").criteria
    assert table.ruler.labels == ("2", "4", "10")
    assert table.ruler.points.tolist() == [2, 4, 10]


def test_the_alphabet_is_no_order() -> None:
    rows = pl.DataFrame({"item": [1, 1], "rater": ["a", "b"], "answer": ["low", "high"]})
    with pytest.raises(SourceError, match="--order"):
        agreement(rows, level="ordinal")
    found = agreement(rows, level="ordinal", order=("low", "mid", "high"))
    assert found.find("percent_within_one").value == 0


def test_words_are_no_numbers() -> None:
    rows = pl.DataFrame({"item": [1, 1, 2], "rater": ["a", "b", "a"], "answer": ["1", "2", "many"]})
    with pytest.raises(RecordError) as caught:
        agreement(rows, level="interval")
    (fault,) = caught.value.faults
    assert (fault.record, fault.path) == (3, "answer")
    assert "'many'" in fault.message


# -- what makes no sense is refused, with its rows


def test_an_answer_the_rubric_does_not_know_is_named() -> None:
    rows = [{"item": "1", "rater": who, "criterion": "CQ1", "answer": what}
            for who, what in (("a", "YES"), ("b", "YEAH"))]  # fmt: skip
    with pytest.raises(RecordError, match="YEAH") as caught:
        agreement(pl.DataFrame(rows), rubric=COACHING)
    assert [fault.record for fault in caught.value.faults] == [2]


def test_two_answers_by_one_rater_to_one_item_are_named() -> None:
    rows = [*long_rows(), {"item": "1", "rater": "ann", "answer": "b"}]
    with pytest.raises(RecordError, match="second answer") as caught:
        agreement(pl.DataFrame(rows), level="nominal")
    assert [fault.record for fault in caught.value.faults] == [len(rows)]


def test_occasions_tell_repeats_apart_and_the_first_counts() -> None:
    rows = [{**row, "occasion": "1"} for row in long_rows()]
    rows.append({"item": "1", "rater": "ann", "answer": "c", "occasion": "2"})
    found = agreement(pl.DataFrame(rows), level="nominal")
    plain = agreement(pl.DataFrame(long_rows()), level="nominal")
    assert found.find("percent").value == plain.find("percent").value
    assert found.excluded == [{"reason": "a later occasion of the same rater", "rows": 1}]


def test_a_rater_column_full_of_text_is_not_believed() -> None:
    rows = pl.DataFrame({"item": [str(n) for n in range(600)],
                         "rater": [f"I think that {n}" for n in range(600)],
                         "answer": ["a"] * 600})  # fmt: skip
    with pytest.raises(SourceError, match="600 different raters"):
        agreement(rows, level="nominal")


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (pl.DataFrame({"item": [], "rater": [], "answer": []}), "empty"),
        (pl.DataFrame({"item": ["1"], "rater": ["a"], "answer": [None]}), "no answer"),
        (
            pl.DataFrame({"x": ["1"], "rater": ["a"], "answer": ["a"]}),
            "which column names the item",
        ),
        (
            pl.DataFrame({"item": ["1"], "rater": ["a"], "said": ["a"]}),
            "which column holds the ans",
        ),
    ],
)
def test_tables_that_say_nothing(frame: pl.DataFrame, told: str) -> None:
    with pytest.raises(SourceError, match=told):
        agreement(frame, level="nominal")


def test_a_level_has_to_be_said() -> None:
    with pytest.raises(SourceError, match="--level"):
        agreement(pl.DataFrame(long_rows()))


# -- groups, NA, parts


def test_groups_of_raters_are_compared_within_and_across() -> None:
    kinds = {"ann": "HUMAN", "bob": "human", "cid": "LLM"}
    rows = pl.DataFrame([{**row, "kind": kinds[row["rater"]]} for row in long_rows()])
    found = agreement(rows, level="nominal")
    assert {one.group for one in found.estimates} == {None, "HUMAN–HUMAN", "HUMAN–LLM"}
    among = found.find("percent", group="HUMAN–HUMAN")
    assert among.value == pytest.approx(5 / 6)
    across = found.find("percent", group="HUMAN–LLM")
    # items 1 2 3 4 6 have both; cid agrees with 2, 1, 2, 0 and 0 of the two
    assert across.value == pytest.approx((1 + 0.5 + 1 + 0 + 0) / 5)
    assert across.raters == ("ann", "bob", "cid")


def test_na_is_reported_both_ways() -> None:
    answers = [("1", "YES", "YES"), ("2", "NA", "NA"), ("3", "NO", "YES"), ("4", "NA", "NO")]
    rows = [{"item": one, "rater": who, "criterion": "CQ9", "answer": what}
            for one, *given in answers for who, what in zip("ab", given, strict=True)]  # fmt: skip
    found = agreement(pl.DataFrame(rows), rubric=COACHING)
    assert found.find("percent", na="left_out").value == pytest.approx(1 / 2)
    assert found.find("percent", na="answer").value == pytest.approx(2 / 4)
    assert found.find("percent", na="answer").prevalence["NA"] == pytest.approx(3 / 8)


def test_rounds_are_units_of_their_own_and_parts_of_the_report() -> None:
    rows = [{**row, "round": number, "time": f"2026-0{number}-10"}
            for number in "12" for row in long_rows()]  # fmt: skip
    found = agreement(pl.DataFrame(rows), level="nominal")
    plain = agreement(pl.DataFrame(long_rows()), level="nominal")
    assert found.find("percent").n_items == 2 * plain.find("percent").n_items
    for part in ("round 1", "round 2", "time 2026-01"):
        assert found.find("percent", slice=part).value == plain.find("percent").value


def test_the_items_that_drive_the_disagreement_come_first() -> None:
    rows = pl.DataFrame({"item": ["x", "x", "y", "y", "z", "z"], "rater": ["a", "b"] * 3,
                         "answer": [1, 5, 3, 3, 2, 3]})  # fmt: skip
    found = agreement(rows, level="ordinal")
    assert [one.item for one in found.drivers] == ["x", "z"]
    assert found.drivers[0].answers == {"a": "1", "b": "5"}
    (confusion,) = found.confusions
    assert confusion.counts[confusion.labels.index("1")][confusion.labels.index("5")] == 1


# -- targets


def many(n: int, agreeing: float, seed: int = 3) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    first = random.integers(0, 2, n)
    second = np.where(random.random(n) < agreeing, first, 1 - first)
    return pl.DataFrame({"item": [*range(n)] * 2, "rater": ["a"] * n + ["b"] * n,
                         "answer": [*first.tolist(), *second.tolist()]})  # fmt: skip


@pytest.mark.parametrize(
    ("agreeing", "n", "outcome"),
    [(0.98, 400, "met"), (0.6, 400, "not_met"), (0.85, 30, "not_shown")],
)
def test_a_target_is_met_or_not_or_not_shown(agreeing: float, n: int, outcome: str) -> None:
    found = agreement(many(n, agreeing), level="nominal", targets=["cohen_kappa>=0.7"])
    (result,) = found.targets
    assert result.outcome == outcome
    assert (result.more_items is not None) == (outcome == "not_shown")
    assert found.met == (outcome == "met")


def test_ten_perfect_items_show_nothing_much() -> None:
    found = agreement(many(10, 1.0), level="nominal", targets=["krippendorff_alpha>=0.6"])
    assert found.targets[0].outcome == "not_shown"
    assert found.find("krippendorff_alpha").value == 1


def test_the_rubric_brings_its_targets() -> None:
    rows = many(40, 0.9).with_columns(criterion=pl.lit("realism"), answer=pl.col("answer") + 3)
    found = agreement(rows, rubric=PLANS)
    (result,) = found.targets
    assert (result.target.coefficient, result.target.kind) == ("cohen_kappa", "quadratic")
    assert result.target.value == 0.6


@pytest.mark.parametrize("text", ["alpha", "cohen_kapa>=0.6", "cohen_kappa=0.6", ""])
def test_targets_that_cannot_be_read(text: str) -> None:
    with pytest.raises(SourceError):
        AgreementTarget.parse(text)


def test_the_report_for_machines_has_the_promised_shape() -> None:
    told = agreement(pl.DataFrame(long_rows()), level="nominal").to_dict()
    assert told.keys() >= {"estimates", "targets", "excluded"}
    assert told["estimates"][0].keys() >= {
        "criterion", "coefficient", "level", "weights", "form", "na", "raters", "group", "slice",
        "value", "se", "interval", "method", "n_items", "n_ratings", "prevalence", "undefined",
    }  # fmt: skip
    json.dumps(told, allow_nan=False)
    frame = agreement(pl.DataFrame(long_rows()), level="nominal").to_frame()
    assert frame.height == len(told["estimates"])


def test_a_notebook_shows_tables_and_takes_nothing_for_markup() -> None:
    frame = pl.DataFrame(
        {
            "item": ["<i>1</i>", "<i>1</i>", "2", "2", "3", "3"],
            "rater": ["<b>ann</b>", "bob"] * 3,
            "answer": ["<script>", "NO", "NO", "NO", "<script>", "<script>"],
        }
    )
    shown = agreement(frame, level="nominal", targets=["percent>=0.9"])._repr_html_()
    assert "<table>" in shown and "krippendorff alpha" in shown and "not shown" in shown
    assert "&lt;script&gt;" in shown and "&lt;i&gt;1&lt;/i&gt;" in shown
    assert "<script" not in shown and "<i>" not in shown and "<b>" not in shown


def test_what_is_being_done_is_told(tmp_path: Path) -> None:
    path = tmp_path / "ratings.parquet"
    pl.DataFrame(
        {"item": ["1", "1", "2", "2"], "rater": ["a", "b"] * 2, "answer": ["x", "x", "y", "x"]}
    ).write_parquet(path)
    steps: list[str] = []
    frames = frames_of(path, on_step=steps.append)
    agreement_of_frames(frames, NOMINAL, str(path), on_step=steps.append)
    assert steps == [
        "reading ratings.parquet: 4 rows",
        "comparing raters: 0 of 1 criteria done",
    ]


def test_the_target_that_is_furthest_away_comes_first() -> None:
    rows = [
        {"item": str(n), "rater": who, "criterion": name, "answer": n % 2 if n % apart else at}
        for n in range(40)
        for at, who in enumerate(("ann", "bob"))
        for name, apart in (("good", 20), ("bad", 2), ("middling", 5))
    ]
    found = agreement(pl.DataFrame(rows), level="nominal", targets=["percent>=0.9"])
    table = next(one for one in blocks(found) if one.title.startswith("Targets"))
    assert [row[0] for row in table.rows] == ["bad", "middling", "good"]
    assert {one.criterion for one in found.estimates} == {"good", "bad", "middling", None}


def test_a_file_in_many_parts_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, ".parquet", long_rows())
    whole = of_file(path, NOMINAL).to_dict()
    monkeypatch.setattr(rating_files, "_ROWS", 3)
    assert of_file(path, NOMINAL).to_dict() == whole
    assert max(one["n_ratings"] for one in whole["estimates"]) == len(long_rows())


@pytest.mark.parametrize("items", [127, 128, 129, 32_768])
def test_any_number_of_texts_has_room(items: int) -> None:
    """Places are kept in as few bytes as hold them; 128 and 32,768 are where these run out."""
    names = [f"i{n}" for n in range(items)]
    frame = pl.DataFrame(
        {"item": names * 2, "rater": ["a"] * items + ["b"] * items, "answer": ["x", "y"] * items}
    )
    gap = frame.with_columns(answer=pl.when(pl.int_range(pl.len()) > 0).then("answer"))
    assert agreement(gap, level="nominal", method="fisher").find("percent").n_items == items - 1
    twice = pl.concat([frame, frame.tail(1)])
    with pytest.raises(RecordError, match="second answer"):
        agreement(twice, level="nominal")


def test_rounds_are_told_apart_however_many() -> None:
    rows = [
        {"item": f"i{n}", "rater": who, "round": str(part), "answer": "x" if n % 2 else who}
        for n in range(4)
        for part in range(128)
        for who in ("a", "b")
    ]
    assert agreement(pl.DataFrame(rows), level="nominal", method="fisher").raters == ("a", "b")


def test_numbers_of_a_wide_table_are_the_same_whatever_their_column() -> None:
    frame = pl.DataFrame(
        {"item": list("abcd"), "r1": [1, 2, 3, 1], "r2": [1.0, 2.0, float("nan"), 1.0]}
    )
    found = agreement(frame, wide=True, level="nominal").find("percent")
    assert (found.value, found.n_items) == (1.0, 3)


def perfect(items: int, criteria: int, raters: int = 2) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"item": f"i{n}", "rater": f"r{who}", "criterion": f"c{c}", "answer": n % 2}
            for n in range(items)
            for c in range(criteria)
            for who in range(raters)
        ]
    )


def test_criteria_together_prove_no_more_than_their_items() -> None:
    found = agreement(perfect(20, 4), level="nominal")
    one, together = (found.find("percent", criterion=name) for name in ("c0", None))
    assert one.interval == together.interval
    assert together.n_items == 20
    many = agreement(perfect(1_200, 2), level="nominal").find("percent", criterion=None)
    assert many.interval == pytest.approx((1 - 0.0030692, 1.0), abs=1e-5)


def test_criteria_are_taken_together_with_na_in_some_and_with_many_raters() -> None:
    some = perfect(12, 3).cast({"answer": pl.String})
    some[0, "answer"] = "NA"
    found = agreement(some, level="nominal", method="fisher")
    assert {one.na for one in found.estimates if one.criterion is None} == {"left_out", "answer"}
    crowd = agreement(perfect(12, 3, raters=24), level="nominal", method="fisher")
    assert crowd.find("percent", criterion=None).value == 1.0


def test_one_answer_only_shows_nothing_much() -> None:
    frame = perfect(2, 1).with_columns(answer=pl.lit("5"))
    found = agreement(frame, level="nominal", targets=["percent>=0.95", "gwet_ac>=0.8"])
    assert {one.outcome for one in found.targets} == {"not_shown"}


def test_a_month_is_that_of_the_first_rating_in_time_and_only_of_days() -> None:
    rows = [
        {"item": "i1", "rater": "a", "answer": "x", "time": "2026-02-01"},
        {"item": "i1", "rater": "b", "answer": "x", "time": "2026-01-05"},
        {"item": "i2", "rater": "a", "answer": "y", "time": "2026-02-03"},
        {"item": "i2", "rater": "b", "answer": "x", "time": "2026-02-03"},
    ]
    for order in (rows, rows[::-1]):
        found = agreement(pl.DataFrame(order), level="nominal")
        assert {one.slice for one in found.estimates} == {None, "time 2026-01", "time 2026-02"}
        assert found.find("percent", slice="time 2026-01").value == 1.0
    other = [row | {"time": f"0{at}/01/2026"} for at, row in enumerate(rows)]
    assert {one.slice for one in agreement(pl.DataFrame(other), level="nominal").estimates} == {
        None
    }


def test_a_criterion_may_have_any_name() -> None:
    frame = perfect(6, 2).with_columns(criterion=pl.col("criterion").replace("c0", "all"))
    found = agreement(frame, level="nominal", method="fisher")
    assert {one.criterion for one in found.estimates} == {"all", "c1", None}


def test_a_scale_may_have_253_answers() -> None:
    rows = [(f"i{n}", who, f"v{n}") for n in range(254) for who in ("a", "b")]
    frame = pl.DataFrame(rows, schema=["item", "rater", "answer"], orient="row")
    kept = frame.filter(pl.col("answer") != "v253")
    assert agreement(kept, level="nominal", method="fisher").find("percent").value == 1.0
    with pytest.raises(SourceError, match="254 different answers; at most 253"):
        agreement(frame, level="nominal")


def test_an_order_names_each_answer_once() -> None:
    with pytest.raises(SourceError, match="'mid' twice"):
        agreement(pl.DataFrame(long_rows()), level="ordinal", order=["low", "mid", "mid"])


def test_a_header_alone_is_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "none.csv"
    path.write_text("item,rater,answer\n", "utf-8")
    with pytest.raises(SourceError, match="the table is empty"):
        of_file(path, NOMINAL)


def test_a_target_is_a_number() -> None:
    with pytest.raises(SourceError, match="write it as"):
        AgreementTarget.parse("fleiss_kappa>=0.6.1")
    assert AgreementTarget.parse("fleiss_kappa>=.6").value == 0.6
