"""Files of answers: one truth in every form, and nothing passed over in silence."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.formats.workbooks import save_rows

from calibrant import load_rubric, parse_rubric
from calibrant.core.errors import Fault, RecordError, RubricError, SourceError
from calibrant.core.ids import read_name
from calibrant.core.rubric import Rubric
from calibrant.core.scoring import score
from calibrant.formats.items import read_items
from calibrant.formats.score_file import ScoreRun

COACHING = load_rubric("coaching-conversation")
PLANS = load_rubric("smart-action-plan")
NAMES = COACHING.criterion_ids
YES = dict.fromkeys(NAMES, "YES")
FIVES = dict.fromkeys(PLANS.criterion_ids, 5)


def scored(
    rubric: Rubric, path: Path, **options: Any
) -> tuple[list[dict[str, Any]], list[Fault], ScoreRun]:
    """Verdicts, faults and the run, bad records left out."""
    faults: list[Fault] = []
    run = ScoreRun(rubric, path, skip_bad=True, on_fault=faults.append, **options)
    frames = list(run.frames())
    return (pl.concat(frames).to_dicts() if frames else []), faults, run


def sheets(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def text(path: Path, content: str) -> Path:
    path.write_text(content, "utf-8", newline="")
    return path


def told(faults: Iterable[Fault]) -> list[tuple[int | None, str]]:
    return [(fault.record, fault.path) for fault in faults]


# -- one truth in every form

GIVEN: dict[tuple[str, str], dict[str, str]] = {
    ("a", "r1"): YES,
    ("a", "r2"): {**YES, "CQ8": "no", "MT1": " na "},
    ("b:1", "r1"): {name: "YES" for name in NAMES if name != "CQ2"},
    ("=c", "r1"): {**YES, "CQ1": "NA", "CP2": "MAYBE", "MT4": "NO"},
    ("é", "r2"): {"CQ1": "NO"},
}
"""By item and rater; a criterion that is not there was not answered."""


def long_rows() -> list[dict[str, str]]:
    return [
        {"item": item, "rater": rater, "criterion": name, "answer": answer}
        for (item, rater), answers in GIVEN.items()
        for name, answer in answers.items()
    ]


def wide_rows() -> list[dict[str, str | None]]:
    return [
        {"id": item, "rater": rater, **{name: answers.get(name) for name in NAMES}}
        for (item, rater), answers in GIVEN.items()
    ]


def write_csv(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_xlsx(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    cells = [["'=c" if value == "=c" else value for value in row.values()] for row in rows]
    return save_rows(path, list(rows[0]), *cells)


def write_parquet(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    pl.DataFrame(list(rows), schema=dict.fromkeys(rows[0], pl.String)).write_parquet(path)
    return path


def records() -> list[dict[str, Any]]:
    return [
        {"id": item, "rater": rater, "answers": answers} for (item, rater), answers in GIVEN.items()
    ]


def flat_records() -> list[dict[str, Any]]:
    return [{"id": item, "rater": rater, **answers} for (item, rater), answers in GIVEN.items()]


def every_form(folder: Path) -> dict[str, Path]:
    def document(name: str, rows: Any) -> Path:
        return text(folder / name, json.dumps(rows))

    return {
        "jsonl sheets": sheets(folder / "sheets.jsonl", *records()),
        "jsonl sheets spaced": text(
            folder / "spaced.jsonl",
            "\r\n\n".join(json.dumps(one, separators=(" , ", " : ")) for one in records()),
        ),
        "jsonl escaped": text(
            folder / "escaped.jsonl",
            "\n".join(json.dumps(one).replace("YES", "\\u0059ES") for one in records()),
        ),
        "jsonl flat": sheets(folder / "flat.jsonl", *flat_records()),
        "jsonl long": sheets(folder / "long.jsonl", *long_rows()),
        "json sheets": document("sheets.json", records()),
        "json long": document("long.json", long_rows()),
        "csv wide": write_csv(folder / "wide.csv", wide_rows()),
        "csv long": write_csv(folder / "long.csv", long_rows()),
        "xlsx wide": write_xlsx(folder / "wide.xlsx", wide_rows()),
        "xlsx long": write_xlsx(folder / "long.xlsx", long_rows()),
        "parquet wide": write_parquet(folder / "wide.parquet", wide_rows()),
        "parquet long": write_parquet(folder / "long.parquet", long_rows()),
    }


FORMS = (
    "jsonl sheets", "jsonl sheets spaced", "jsonl escaped", "jsonl flat", "jsonl long",
    "json sheets", "json long", "csv wide", "csv long", "xlsx wide", "xlsx long", "parquet wide",
    "parquet long",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_the_same_answers_give_the_same_verdicts_in_every_form(tmp_path: Path, form: str) -> None:
    rows, faults, run = scored(COACHING, every_form(tmp_path)[form])
    assert not faults
    expected = [
        {"id": item, "rater": rater, **score(COACHING, answers).to_dict()}
        for (item, rater), answers in GIVEN.items()
    ]
    for row in rows:
        row["id"] = row["id"].removeprefix("'")
    assert rows == expected
    assert run.summary.sheets == len(GIVEN)
    assert run.summary.bad_records == 0


def test_long_rows_may_come_in_any_order(tmp_path: Path) -> None:
    forward, _, _ = scored(COACHING, sheets(tmp_path / "a.jsonl", *long_rows()))
    backward, _, _ = scored(COACHING, sheets(tmp_path / "b.jsonl", *reversed(long_rows())))
    assert sorted(forward, key=str) == sorted(backward, key=str)


def test_criteria_are_known_by_any_of_their_names(tmp_path: Path) -> None:
    first = COACHING.criteria[0]
    for name in (first.id.lower(), first.title, *first.aliases):
        answers = {**YES, name: "NO"}
        del answers["CQ1"]
        (row,), faults, _ = scored(
            COACHING, sheets(tmp_path / "a.jsonl", {"id": 1, "answers": answers})
        )
        assert not faults
        assert row["raw"]["CQ1"] == "NO"
        wide = text(tmp_path / "a.csv", f'id,"{name}"\n1,NO\n')
        assert scored(COACHING, wide)[0][0]["raw"]["CQ1"] == "NO"
        long = text(tmp_path / "b.csv", f'item,criterion,answer\n1,"{name}",NO\n')
        assert scored(COACHING, long)[0][0]["raw"]["CQ1"] == "NO"


# -- what is missing and what is an error


@pytest.mark.parametrize(
    "raw", [None, "", " ", "MAYBE", 5, True, 2.5, [], {}, ["YES"], "error", "N/A"]
)
def test_in_json_what_is_there_and_no_answer_is_an_error(tmp_path: Path, raw: Any) -> None:
    answers: dict[str, Any] = {**YES, "CQ1": raw}
    record = {"id": "a", "answers": answers}
    long = [{"item": "a", "criterion": name, "answer": one} for name, one in answers.items()]
    expected = {"id": "a", **score(COACHING, {**YES, "CQ1": raw}).to_dict()}
    assert expected["errors"] == ["CQ1"]
    for name, content in (
        ("a.jsonl", [record]),
        ("b.jsonl", [{"id": "a", **answers}]),
        ("c.jsonl", long),
    ):
        rows, faults, _ = scored(COACHING, sheets(tmp_path / name, *content))
        assert not faults
        assert rows == [expected], name
    document = text(tmp_path / "a.json", json.dumps([record]))
    assert scored(COACHING, document)[0] == [expected]


def test_in_json_what_is_not_there_is_missing(tmp_path: Path) -> None:
    answers = {name: "YES" for name in NAMES if name != "CQ1"}
    (row,), faults, _ = scored(
        COACHING, sheets(tmp_path / "a.jsonl", {"id": "a", "answers": answers})
    )
    assert not faults
    assert (row["missing"], row["errors"]) == (["CQ1"], [])
    (empty,), _, _ = scored(COACHING, sheets(tmp_path / "b.jsonl", {"id": "a", "answers": {}}))
    assert empty["missing"] == list(NAMES)


@pytest.mark.parametrize("cell", ["", " ", "\t"])
def test_an_empty_cell_is_missing(tmp_path: Path, cell: str) -> None:
    wide = text(tmp_path / "w.csv", f'id,CQ1,CQ2\na,"{cell}",YES\n')
    long = text(tmp_path / "l.csv", f'item,criterion,answer\na,CQ1,"{cell}"\na,CQ2,YES\n')
    book = save_rows(tmp_path / "w.xlsx", ["id", "CQ1", "CQ2"], ["a", cell or None, "YES"])
    for path in (wide, long, book):
        (row,), faults, _ = scored(COACHING, path)
        assert not faults
        assert row["missing"] == [name for name in NAMES if name != "CQ2"]
        assert row["errors"] == []


@pytest.mark.parametrize("value", [None, float("nan")])
def test_null_and_nan_in_parquet_are_empty_cells(tmp_path: Path, value: float | None) -> None:
    wide, long = tmp_path / "w.parquet", tmp_path / "l.parquet"
    column = pl.Series([value, 4.0], dtype=pl.Float64)
    pl.DataFrame({"id": ["a", "b"], "realism": column}).write_parquet(wide)
    criteria = {"item": ["a", "b"], "criterion": ["realism", "realism"], "answer": column}
    pl.DataFrame(criteria).write_parquet(long)
    for path in (wide, long):
        rows, faults, _ = scored(PLANS, path)
        assert not faults
        assert [row["errors"] for row in rows] == [[], []], path
        assert "realism" in rows[0]["missing"]
        assert rows[1]["raw"]["realism"] == 4


@pytest.mark.parametrize("raw", ["\n", " \n ", "\t", " "])
def test_a_cell_of_blanks_in_parquet_is_never_an_answer(tmp_path: Path, raw: str) -> None:
    path = tmp_path / "w.parquet"
    frame = {"id": ["a", "b"], "realism": [raw, "5"], "clarity": ["NA", "4"]}
    pl.DataFrame(frame).write_parquet(path)
    rows, _, _ = scored(PLANS, path)
    assert rows[0]["not_applicable"] == []
    assert rows[0]["raw"]["realism"] is None
    assert rows[0]["errors"] == ["realism", "clarity"] or rows[0]["missing"][:1] == ["realism"]


def test_a_list_in_parquet_is_shown_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "w.parquet"
    pl.DataFrame({"id": ["a"], "CQ1": [["YES"]]}).write_parquet(path)
    (row,), _, _ = scored(COACHING, path)
    assert row["raw"]["CQ1"] == score(COACHING, {"CQ1": ["YES"]}).raw["CQ1"] == "['YES']"


def test_the_word_error_is_shown_as_it_was_given(tmp_path: Path) -> None:
    (row,), _, _ = scored(
        COACHING, sheets(tmp_path / "a.jsonl", {"id": 1, "answers": {"CQ1": " error"}})
    )
    assert row["raw"] == score(COACHING, {"CQ1": " error"}).raw


@pytest.mark.parametrize("field", ["id", "rater", "answer", "criterion", "flag", "key"])
def test_half_a_character_is_told_or_shown_and_stops_nothing(tmp_path: Path, field: str) -> None:
    """JSON can spell a surrogate without its other half; no file can hold one."""
    half = "\\ud800"
    line = {
        "id": f'{{"id": "{half}", "answers": {{"CQ1": "YES"}}}}',
        "rater": f'{{"id": "x", "rater": "{half}", "answers": {{"CQ1": "YES"}}}}',
        "answer": f'{{"id": "x", "answers": {{"CQ1": "{half}"}}}}',
        "criterion": f'{{"id": "x", "answers": {{"{half}": "YES"}}}}',
        "flag": f'{{"id": "x", "answers": {{"CQ1": "YES"}}, "flags": ["{half}"]}}',
        "key": f'{{"id": "x", "{half}": 1, "answers": {{"CQ1": "YES"}}}}',
    }[field]
    path = text(tmp_path / "a.jsonl", f'{line}\n{{"id": "good", "answers": {{"CQ1": "YES"}}}}\n')
    rows, faults, _ = scored(COACHING, path)
    assert "good" in [row["id"] for row in rows]
    assert len(rows) + len({fault.record for fault in faults}) == 2


# -- raters, rounds, occasions


def test_several_raters_rounds_and_occasions_stand_side_by_side(tmp_path: Path) -> None:
    keys = [
        {"rater": "r1", "round": 1, "occasion": "morning"},
        {"rater": "r2", "round": 1, "occasion": "morning"},
        {"rater": "r1", "round": 2, "occasion": "morning"},
        {"rater": "r1", "round": 1, "occasion": "evening"},
        {"rater": 7, "round": 1, "occasion": "morning"},
    ]
    rows, faults, _ = scored(
        COACHING,
        sheets(tmp_path / "a.jsonl", *({"id": "a", **key, "answers": YES} for key in keys)),
    )
    assert not faults
    assert [(row["rater"], row["round"], row["occasion"]) for row in rows] == [
        tuple(map(str, key.values())) for key in keys
    ]
    long = [{"item": "a", **key, "criterion": "CQ1", "answer": "YES"} for key in keys]
    again, faults, _ = scored(COACHING, sheets(tmp_path / "b.jsonl", *long))
    assert not faults
    assert [(row["rater"], row["round"], row["occasion"]) for row in again] == [
        (row["rater"], row["round"], row["occasion"]) for row in rows
    ]


def test_a_second_sheet_is_told_with_its_record(tmp_path: Path) -> None:
    path = sheets(
        tmp_path / "a.jsonl",
        {"id": "7", "rater": "r1", "answers": YES},
        {"id": 7, "rater": "r2", "answers": YES},
        {"id": 7, "rater": " r1 ", "answers": {**YES, "CQ1": "NO"}},
    )
    rows, faults, _ = scored(COACHING, path)
    assert [(row["id"], row["rater"]) for row in rows] == [("7", "r1"), ("7", "r2")]
    assert rows[0]["raw"]["CQ1"] == "YES"
    assert told(faults) == [(3, "id")]
    assert faults[0].message == "a second sheet for id '7', rater 'r1'"
    assert "occasion" in faults[0].hint


def test_a_second_answer_is_told_with_its_record(tmp_path: Path) -> None:
    path = text(
        tmp_path / "a.csv",
        "item,rater,criterion,answer\na,r,CQ1,YES\na,r,CQ2,YES\na,r,cq1,NO\na,s,CQ1,NO\n",
    )
    rows, faults, _ = scored(COACHING, path)
    assert [row["raw"]["CQ1"] for row in rows] == ["YES", "NO"]
    assert told(faults) == [(3, "criterion")]
    assert faults[0].message == "a second answer to CQ1 of item 'a' by 'r'"


def test_a_criterion_answered_under_two_names_is_told(tmp_path: Path) -> None:
    answers = {"CQ1": "YES", COACHING.criteria[0].title: "NO"}
    _, faults, _ = scored(COACHING, sheets(tmp_path / "a.jsonl", {"id": "a", "answers": answers}))
    assert faults[0].message == "CQ1 is answered twice"
    with pytest.raises(SourceError, match="one criterion"):
        scored(COACHING, text(tmp_path / "a.csv", f'id,CQ1,"{COACHING.criteria[0].title}"\n'))


@pytest.mark.parametrize("suffix", ["jsonl", "json"])
def test_keys_stay_in_their_columns_when_later_records_lack_one(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first batch of a file has raters and rounds, a later one only rounds."""
    count = 16_384 if suffix == "json" else 200
    first = [{"id": n, "rater": "r", "round": "1", "answers": YES} for n in range(count)]
    later = [{"id": n, "round": "2", "answers": YES} for n in range(200)]
    path = tmp_path / f"a.{suffix}"
    if suffix == "json":
        text(path, json.dumps([*first, *later]))
    else:
        monkeypatch.setattr("calibrant.formats.text.BLOCK", 10_000)
        sheets(path, *first, *later)
    run = ScoreRun(COACHING, path)
    frames = list(run.frames())
    assert len(frames) > 1
    for before, after in pairwise(frames):
        assert before.columns == after.columns
    assert run.schema.names() == frames[0].columns
    last = frames[-1].to_dicts()[-2:]
    assert [(row["id"], row["rater"], row["round"]) for row in last] == [
        ("198", None, "2"),
        ("199", None, "2"),
    ]


def test_a_rater_that_turns_up_later_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calibrant.formats.text.BLOCK", 1000)
    early = [{"id": n, "answers": YES} for n in range(20)]
    path = sheets(tmp_path / "a.jsonl", *early, {"id": "x", "rater": "r", "answers": YES})
    rows, faults, _ = scored(COACHING, path)
    assert len(rows) == 20
    assert told(faults) == [(21, "rater")]


def test_second_sheets_are_found_across_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calibrant.formats.text.BLOCK", 2000)
    many = [{"id": n % 300, "answers": {"CQ1": "YES"}} for n in range(700)]
    rows, faults, run = scored(COACHING, sheets(tmp_path / "a.jsonl", *many))
    assert [row["id"] for row in rows] == [str(n) for n in range(300)]
    assert [fault.record for fault in faults] == list(range(301, 701))
    assert run.summary.bad_records == 400


# -- what nobody knows


def test_fields_nobody_knows_are_told_with_their_records(tmp_path: Path) -> None:
    path = sheets(
        tmp_path / "a.jsonl",
        {"id": "a", "answers": YES, "note": "fine", "metadata": {"x": 1}},
        {"id": "b", "answers": YES, "ratr": "r"},
        {"id": "c", "answers": {**YES, "CQ99": "YES", "XX": "NO"}},
        {"id": "d", "CQ1": "YES", "colour": "red"},
    )
    rows, faults, _ = scored(COACHING, path)
    assert [row["id"] for row in rows] == ["a"]
    assert [fault.record for fault in faults] == [2, 3, 3, 4]
    assert faults[0].message == "unknown field"
    assert "'rater'" in faults[0].hint
    assert "--ignore ratr" in faults[0].hint
    assert "CQ99" in faults[1].message


def test_columns_nobody_knows_stop_a_wide_table(tmp_path: Path) -> None:
    path = text(tmp_path / "a.csv", "id,CQ1,usefullness,ratr\na,YES,1,r\n")
    with pytest.raises(SourceError) as caught:
        scored(COACHING, path)
    assert str(caught.value).count("\n") == 1
    assert "'usefullness'" in str(caught.value)
    assert "did you mean 'rater'?" in str(caught.value)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("column", ["flag", "ratr", "ocassion"])
def test_columns_nobody_knows_are_told_in_long_rows_too(
    tmp_path: Path, suffix: str, column: str
) -> None:
    """A misspelt column of red flags must not let a plan pass."""
    row = {"item": "a", "criterion": "realism", "answer": "5", column: "deception"}
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        write_csv(path, [row])
    elif suffix == "jsonl":
        sheets(path, row)
    else:
        write_parquet(path, [row])
    with pytest.raises((SourceError, RecordError), match=column):
        list(ScoreRun(PLANS, path).frames())


def test_what_is_to_be_ignored_is_ignored(tmp_path: Path) -> None:
    path = sheets(
        tmp_path / "a.jsonl",
        {"id": "a", "answers": {**YES, "CQ99": 1}, "colour": "red", "rubric": "other@1.0"},
    )
    rows, faults, _ = scored(COACHING, path, ignore=["CQ99", "colour", "rubric"])
    assert not faults
    assert rows[0]["raw"] == YES
    wide = text(tmp_path / "a.csv", "id,CQ1,CQ2,colour,rubric\na,YES,NO,red,other\n")
    rows, faults, _ = scored(COACHING, wide, ignore=["colour", "rubric", "CQ2"])
    assert not faults
    assert (rows[0]["raw"]["CQ1"], rows[0]["raw"]["CQ2"]) == ("YES", None)
    long = text(tmp_path / "b.csv", "item,rater,kind,criterion,answer\na,r,robot,CQ1,YES\n")
    rows, faults, _ = scored(COACHING, long, ignore=["rater", "kind"])
    assert not faults
    assert "rater" not in rows[0]


@pytest.mark.parametrize("form", ["sheet", "long", "wide"])
def test_kinds_and_rubrics_are_checked(tmp_path: Path, form: str) -> None:
    values = [
        {"kind": "HUMAN", "rubric": COACHING.name},
        {"kind": "llm", "rubric": COACHING.hash},
        {"kind": "robot", "rubric": COACHING.id},
        {"kind": "CODE", "rubric": "coaching-conversation@2.0"},
        {"kind": "", "rubric": "x"},
    ]
    match form:
        case "sheet":
            rows = [{"id": str(n), **one, "answers": YES} for n, one in enumerate(values)]
            path = sheets(tmp_path / "a.jsonl", *rows)
        case "long":
            long = [
                {"item": str(n), **one, "criterion": "CQ1", "answer": "YES"}
                for n, one in enumerate(values)
            ]
            path = write_csv(tmp_path / "a.csv", long)
        case _:
            wide = [{"id": str(n), **one, "CQ1": "YES"} for n, one in enumerate(values)]
            path = write_csv(tmp_path / "a.csv", wide)
    found, faults, _ = scored(COACHING, path)
    assert [row["id"] for row in found] == ["0", "1"]
    assert {fault.record for fault in faults} == {3, 4, 5}
    by_path = [(fault.record, fault.path) for fault in faults]
    assert (3, "kind") in by_path
    assert (4, "rubric") in by_path
    assert (5, "rubric") in by_path


@pytest.mark.parametrize(
    "identity", [None, "", " ", "a\nb", "x" * 501, True, 1.5, [], {}, "a\u0000", ["a"]]
)
def test_ids_that_will_not_do(tmp_path: Path, identity: Any) -> None:
    path = sheets(
        tmp_path / "a.jsonl", {"id": identity, "answers": YES}, {"id": "good", "answers": YES}
    )
    rows, faults, _ = scored(COACHING, path)
    assert [row["id"] for row in rows] == ["good"]
    assert told(faults) == [(1, "id")]


@pytest.mark.parametrize(
    "identity",
    [2**63, 2**64, 10**30, 10**200, -(10**200)],
    ids=lambda n: f"{len(str(n))} signs",
)
@pytest.mark.parametrize("field", ["id", "rater"])
def test_large_whole_numbers_are_names(tmp_path: Path, identity: int, field: str) -> None:
    record = {"id": "x", "answers": YES, field: identity}
    rows, faults, _ = scored(COACHING, sheets(tmp_path / "a.jsonl", record))
    assert not faults
    assert rows[0][field] == str(identity)


@pytest.mark.parametrize("value", [True, {"x": 1}, ["a"], b"\xff", 1.5])
@pytest.mark.parametrize("field", ["id", "rater"])
def test_names_in_parquet_are_texts_or_whole_numbers_too(
    tmp_path: Path, field: str, value: Any
) -> None:
    path = tmp_path / "a.parquet"
    columns = {"id": ["x"], "CQ1": ["YES"], field: [value]}
    pl.DataFrame(columns).write_parquet(path)
    rows, faults, _ = scored(COACHING, path)
    assert not rows
    assert told(faults) == [(1, field)]


@pytest.mark.parametrize(
    "line",
    [
        "5",
        "null",
        "[]",
        '"x"',
        '{"id": "a", "answers": []}',
        '{"id": "a", "answers": null}',
        "{",
        "{}",
    ],
)
def test_lines_that_are_no_sheets(tmp_path: Path, line: str) -> None:
    good = json.dumps({"id": "good", "answers": YES})
    for content, number in ((f"{line}\n{good}\n", 1), (f"{good}\n{line}", 2)):
        rows, faults, _ = scored(COACHING, text(tmp_path / "a.jsonl", content))
        assert [row["id"] for row in rows] == ["good"]
        assert {fault.record for fault in faults} == {number}


def test_a_broken_first_line_does_not_decide_the_form_of_a_file(tmp_path: Path) -> None:
    rows = [{"item": "a", "criterion": name, "answer": "YES"} for name in NAMES]
    content = "{broken\n" + "".join(json.dumps(row) + "\n" for row in rows)
    found, faults, _ = scored(COACHING, text(tmp_path / "a.jsonl", content))
    assert [fault.record for fault in faults] == [1]
    assert [row["status"] for row in found] == ["complete"]


def test_long_rows_that_lack_something(tmp_path: Path) -> None:
    path = sheets(
        tmp_path / "a.jsonl",
        {"item": "a", "criterion": "CQ1", "answer": "YES"},
        {"item": "a", "criterion": "CQ2"},
        {"item": "a", "criterion": None, "answer": "YES"},
        {"item": "a", "answer": "YES"},
        {"item": "a", "criterion": ["CQ3"], "answer": "YES"},
        {"item": "a", "criterion": "CQ33", "answer": "YES"},
        {"criterion": "CQ3", "answer": "YES"},
        7,
    )
    rows, faults, _ = scored(COACHING, path)
    assert [row["id"] for row in rows] == ["a"]
    assert sorted((fault.record or 0, fault.path) for fault in faults) == [
        (2, "answer"),
        (3, "criterion"),
        (4, "criterion"),
        (5, "criterion"),
        (6, "criterion"),
        (7, "id"),
        (8, ""),
    ]


# -- red flags


@pytest.mark.parametrize(
    ("flags", "standing"),
    [
        ([], []),
        (None, []),
        ("", []),
        (["deception"], ["deception"]),
        (["DECEPTION "], ["deception"]),
        ("deception", ["deception"]),
        ("deception; legal_advice", ["legal_advice", "deception"]),
        ("deception,legal-advice|medical advice", ["medical_advice", "legal_advice", "deception"]),
        ([{"id": "deception"}], ["deception"]),
        ([{"flag": "deception", "state": "confirmed"}], ["deception"]),
        ([{"id": "deception", "state": "raised", "evidence": "x"}], ["deception"]),
        ([{"id": "deception", "state": "rejected"}], []),
        ([{"id": "deception", "state": "rejected"}, "legal_advice"], ["legal_advice"]),
        ({"id": "deception"}, ["deception"]),
    ],
)
def test_flags_come_in_many_forms(tmp_path: Path, flags: Any, standing: list[str]) -> None:
    path = sheets(tmp_path / "a.jsonl", {"id": "a", "answers": FIVES, "flags": flags})
    (row,), faults, _ = scored(PLANS, path)
    assert not faults
    assert row["flags"] == standing
    assert row["verdict"] == ("failed" if standing else "undecided")


def test_flags_in_tables(tmp_path: Path) -> None:
    wide = text(
        tmp_path / "w.csv",
        "id,realism,flags\na,5,deception\nb,5,\nc,5,deception;legal_advice\n",
    )
    rows, faults, _ = scored(PLANS, wide)
    assert not faults
    assert [row["flags"] for row in rows] == [["deception"], [], ["legal_advice", "deception"]]
    path = tmp_path / "w.parquet"
    pl.DataFrame(
        {"id": ["a", "b"], "realism": [5, 5], "flags": [["deception"], None]}
    ).write_parquet(path)
    assert [row["flags"] for row in scored(PLANS, path)[0]] == [["deception"], []]
    nested = tmp_path / "n.parquet"
    states = [[{"id": "deception", "state": "rejected"}], [{"id": "deception", "state": "raised"}]]
    pl.DataFrame({"id": ["a", "b"], "realism": [5, 5], "flags": states}).write_parquet(nested)
    assert [row["flags"] for row in scored(PLANS, nested)[0]] == [[], ["deception"]]


def test_flags_of_long_rows_are_those_of_the_sheet(tmp_path: Path) -> None:
    long = text(
        tmp_path / "l.csv",
        "item,criterion,answer,flags\na,realism,5,\na,clarity,5,deception\nb,realism,5,\n",
    )
    rows, faults, _ = scored(PLANS, long)
    assert not faults
    assert [row["flags"] for row in rows] == [["deception"], []]


@pytest.mark.parametrize(
    "flags",
    [
        ["nothing"],
        "nothing",
        7,
        [7],
        {},
        [{}],
        [None],
        [{"id": "deception", "state": "maybe"}],
        [["deception"]],
        True,
    ],
)
def test_flags_that_cannot_be_read_are_told(tmp_path: Path, flags: Any) -> None:
    path = sheets(
        tmp_path / "a.jsonl",
        {"id": "a", "answers": FIVES, "flags": flags},
        {"id": "b", "answers": FIVES},
    )
    rows, faults, _ = scored(PLANS, path)
    assert [row["id"] for row in rows] == ["b"]
    assert set(told(faults)) == {(1, "flags")}


def test_a_bad_flag_is_told_of_its_row_and_throws_out_the_sheet(tmp_path: Path) -> None:
    long = text(
        tmp_path / "l.csv",
        "item,criterion,answer,flags\na,realism,5,\nb,realism,4,\na,clarity,5,nothing\n",
    )
    rows, faults, _ = scored(PLANS, long)
    assert told(faults) == [(3, "flags")]
    assert [row["id"] for row in rows] == ["b"]


def test_a_long_quotation_does_not_hide_what_became_of_a_flag(tmp_path: Path) -> None:
    quotation = "I have ten years of experience, I would say. " * 20
    flags = [
        {"id": "deception", "evidence": quotation, "state": "raised"},
        {"id": "deception", "evidence": quotation, "state": "rejected"},
        {"evidence": quotation, "id": "legal_advice"},
        {"evidence": quotation, "id": "medical_advice"},
    ]
    path = sheets(
        tmp_path / "a.jsonl",
        *({"id": n, "answers": FIVES, "flags": [flag]} for n, flag in enumerate(flags)),
    )
    rows, faults, _ = scored(PLANS, path)
    assert not faults
    assert [row["flags"] for row in rows] == [
        ["deception"],
        [],
        ["legal_advice"],
        ["medical_advice"],
    ]


def test_a_rubric_without_flags_knows_no_flag(tmp_path: Path) -> None:
    path = sheets(tmp_path / "a.jsonl", {"id": "a", "answers": YES, "flags": ["deception"]})
    _, faults, _ = scored(COACHING, path)
    assert told(faults) == [(1, "flags")]


def rubric_with(flags: int = 0, criteria: int = 1) -> Rubric:
    """A rubric of one's own, with as many flags and criteria as wanted."""
    values = [
        {"value": "YES", "meaning": "yes", "points": "1"},
        {"value": "NO", "meaning": "no", "points": "0"},
    ]
    document = {
        "id": "many",
        "version": "1.0",
        "title": "Many",
        "item_type": "free",
        "summary": "A rubric with many parts.",
        "scales": [{"kind": "choice", "id": "yes_no", "values": values}],
        "criteria": [
            {
                "id": f"c{n}",
                "title": f"Criterion number {n}",
                "scale": "yes_no",
                "question": "Is it good?",
                "na": {"policy": "excluded"},
            }
            for n in range(criteria)
        ],
        "red_flags": [
            {"id": f"f{n}", "title": f"Flag number {n}", "text": "It matters.", "effect": "reject"}
            for n in range(flags)
        ],
        "aggregation": {"kind": "dimensions", "pass_mark": "none"},
        "agreement": "none",
    }
    return parse_rubric(json.dumps(document).replace('"none"', "none"))


@pytest.mark.parametrize("count", [1, 16, 17, 63, 64, 65, 100])
def test_a_rubric_has_as_many_flags_as_can_be_scored(tmp_path: Path, count: int) -> None:
    try:
        rubric = rubric_with(flags=count)
    except RubricError as error:
        assert count > 64
        assert [fault.path for fault in error.faults] == ["red_flags"]
        return
    path = sheets(
        tmp_path / "a.jsonl",
        {"id": "a", "answers": {"c0": "YES"}, "flags": [f"f{count - 1}"]},
        {"id": "b", "answers": {"c0": "YES"}, "flags": ["f0"]},
        {"id": "c", "answers": {"c0": "YES"}},
    )
    rows, faults, _ = scored(rubric, path)
    assert not faults
    assert [row["flags"] for row in rows] == [[f"f{count - 1}"], ["f0"], []]
    assert [row["verdict"] for row in rows] == ["failed", "failed", "undecided"]


@pytest.mark.parametrize("count", [1, 8, 9, 16, 17, 24, 40, 200])
def test_a_rubric_may_have_many_criteria(tmp_path: Path, count: int) -> None:
    rubric = rubric_with(criteria=count)
    given: list[dict[str, str]] = [
        dict.fromkeys(rubric.criterion_ids, "YES"),
        dict.fromkeys(rubric.criterion_ids, "NO"),
        {name: ("NO", "YES", "x")[n % 3] for n, name in enumerate(rubric.criterion_ids)},
        {rubric.criterion_ids[-1]: "NO"},
        {},
    ]
    path = sheets(tmp_path / "a.jsonl", *({"id": n, "answers": one} for n, one in enumerate(given)))
    rows, faults, _ = scored(rubric, path)
    assert not faults
    assert rows == [{"id": str(n), **score(rubric, one).to_dict()} for n, one in enumerate(given)]


# -- repeated keys and lines that are not one record


def fast_line(identity: str, answers: str) -> str:
    return f'{{"id": "{identity}", "answers": {{{answers}}}}}'


@pytest.mark.parametrize(
    "broken",
    [
        fast_line("x", '"CQ8":"NO","CQ8" :"YES"'),
        fast_line("x", '"CQ8": "NO", "CQ8": "YES"'),
        fast_line("x", '"CQ8": "YES", "CQ8": "YES"'),
        fast_line("x", '"CQ8": "NO", "\\u0043Q8": "YES"'),
        fast_line("a:b:c", '"CQ8": "NO", "CQ8": "YES"'),
        '{"id": "x", "id": "y", "answers": {"CQ8": "YES"}}',
        '{"id": "x:y", "id": "y", "answers": {"CQ8": "YES"}}',
        '{"id": "x", "answers": {"CQ8": "NO"}, "answers": {"CQ8": "YES"}}',
        '{"id": "x", "answers": {}, "answers": {"CQ8": "YES"}}',
        '{"id": "x", "flags": ["a:b"], "flags": [], "answers": {"CQ8": "YES"}}',
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_repeated_key_is_refused_however_it_is_spelt(
    tmp_path: Path, broken: str, place: int
) -> None:
    """Also where all lines around it are of the plain form that is read in bulk."""
    lines = [fast_line("a:1", '"CQ8": "YES"'), fast_line("b", '"CQ8": "NO"')]
    lines.insert(place, broken)
    rows, faults, _ = scored(COACHING, text(tmp_path / "a.jsonl", "\n".join(lines) + "\n"))
    assert [row["id"] for row in rows] == ["a:1", "b"]
    assert [fault.record for fault in faults] == [place + 1]
    assert "stands twice" in faults[0].message
    document = text(tmp_path / "a.json", "[" + ",".join(lines) + "]")
    with pytest.raises(SourceError, match="stands twice"):
        scored(COACHING, document)


GOOD = [fast_line(name, '"CQ8": "YES"') for name in "abcd"]


@pytest.mark.parametrize(
    ("content", "bad"),
    [
        (f"{GOOD[0]} {GOOD[1]}\n\n{GOOD[2]}\n", {1}),
        (f"{GOOD[0]}{GOOD[1]}\n\n", {1}),
        (f"{GOOD[0]}\n{GOOD[1]}\t{GOOD[2]}\n \n{GOOD[3]}\n", {2}),
        (GOOD[0].replace(", ", ",\n") + f"\n{GOOD[1]} {GOOD[2]}\n", {1, 2, 3}),
        (f"{GOOD[0]},\n{GOOD[1]}\n", {1}),
        (f"[{GOOD[0]}]\n{GOOD[1]}\n", {1}),
        (f"{GOOD[0]}\n\x00{GOOD[1]}\n", {2}),
    ],
    ids=["two on a line", "two joined", "tab", "one on two lines", "comma", "list", "zero byte"],
)
def test_a_line_is_one_record_no_more_and_no_less(
    tmp_path: Path, content: str, bad: set[int]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content.encode())
    if "\0" in content:
        with pytest.raises(SourceError, match="zero bytes"):
            scored(COACHING, path)
        return
    rows, faults, _ = scored(COACHING, path)
    assert {fault.record for fault in faults} == bad
    filled = [number for number, line in enumerate(content.split("\n"), 1) if line.strip()]
    assert len(rows) == len(filled) - len(bad)


def test_faults_are_one_line_whatever_they_quote(tmp_path: Path) -> None:
    path = sheets(
        tmp_path / "a.jsonl",
        {"id": "a", "answers": YES, "a\nb": 1},
        {"id": "b", "answers": {"c\nd": "YES"}},
        {"id": "c", "answers": YES, "kind": "x\ny", "rubric": "x\ny"},
        {"id": "d", "answers": YES, "flags": ["x\ny", {"id": "x\ny"}]},
        {"id": "e\nf", "answers": YES},
        {"id": "f", "answers": {"CQ1\n": "YES", "CQ1": "YES"}},
    )
    _, faults, _ = scored(COACHING, path)
    assert {fault.record for fault in faults} == {1, 2, 3, 4, 5, 6}
    for fault in faults:
        assert len(str(fault).splitlines()) == 1, fault


def test_columns_that_differ_in_case_only(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    columns = {"item": ["a"], "criterion": ["CQ1"], "answer": ["YES"], "Answer": ["NO"]}
    pl.DataFrame(columns).write_parquet(path)
    with pytest.raises(SourceError, match="nswer"):
        scored(COACHING, path)
    with pytest.raises(SourceError, match="nswer"):
        scored(COACHING, text(tmp_path / "a.csv", "item,criterion,answer,Answer\na,CQ1,YES,NO\n"))


# -- CSV that breaks off


def test_rows_after_a_broken_quote_are_not_left_out_in_silence(tmp_path: Path) -> None:
    """Whoever asks to leave bad records out does not ask to leave out the rest of the file."""
    rows = "".join(f"i{n},YES\n" for n in range(50))
    path = text(tmp_path / "a.csv", f'id,CQ1\na,YES\n"b"x,YES\n{rows}')
    faults: list[Fault] = []
    try:
        run = ScoreRun(COACHING, path, skip_bad=True, on_fault=faults.append)
        found = sum(frame.height for frame in run.frames())
    except (SourceError, RecordError):
        return
    assert found + len({fault.record for fault in faults}) == 52


# -- names

ODD_NAMES = ["a\u00a0b", "a\u2028b", " a ", "a\tb", "\x1ca", "é ", "a\u200bb", "x" * 501, "名 前"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_items_and_answers_in_every_form_take_the_same_names(tmp_path: Path, name: str) -> None:
    expected = [read_name(name)] if read_name(name) else []
    items = sheets(tmp_path / "items.jsonl", {"id": name, "content": "words"})
    assert [item.id for item in read_items(items).items] == expected
    frame = pl.DataFrame({"id": [name], "CQ1": ["YES"]})
    frame.write_parquet(tmp_path / "wide.parquet")
    long = {"item": name, "criterion": "CQ1", "answer": "YES"}
    for path in (
        sheets(tmp_path / "sheets.jsonl", {"id": name, "answers": {"CQ1": "YES"}}),
        sheets(tmp_path / "long.jsonl", long),
        tmp_path / "wide.parquet",
    ):
        rows, faults, _ = scored(COACHING, path)
        assert [row["id"] for row in rows] == expected
        assert told(faults) == ([] if expected else [(1, "id")])


def test_every_long_row_with_a_bad_name_is_told(tmp_path: Path) -> None:
    row = {"criterion": "CQ1", "answer": "YES"}
    path = sheets(tmp_path / "a.jsonl", {"item": [], **row}, row, {"item": {}, "rater": "", **row})
    rows, faults, _ = scored(COACHING, path)
    assert (rows, told(faults)) == ([], [(1, "id"), (2, "id"), (3, "id"), (3, "rater")])


# -- what a run does with bad records


def test_without_leave_bad_records_end_the_run_with_all_of_them(tmp_path: Path) -> None:
    path = sheets(
        tmp_path / "a.jsonl",
        {"id": "a", "answers": YES},
        {"id": "", "answers": YES},
        {"id": "b", "answers": {"X": 1}},
    )
    run = ScoreRun(COACHING, path)
    with pytest.raises(RecordError) as caught:
        list(run.frames())
    assert [fault.record for fault in caught.value.faults] == [2, 3]
    assert run.summary.bad_records == 2


def test_preconditions_come_from_the_items(tmp_path: Path) -> None:
    items = tmp_path / "items.jsonl"
    short = {"id": "short", "turns": [["a", "b"]]}
    long = {"id": "long", "turns": [["a", "b"]] * 5}
    sheets(items, short, long)
    answers = sheets(
        tmp_path / "a.jsonl",
        {"id": "short", "answers": YES},
        {"id": "long", "answers": YES},
        {"id": "unknown", "answers": YES},
    )
    rows, faults, run = scored(COACHING, answers, items=items)
    assert [row["id"] for row in rows] == ["short", "long"]
    assert told(faults) == [(3, "id")]
    by_id = {item.id: item for item in read_items(items).items}
    for row in rows:
        name = row.pop("id")
        assert row == score(COACHING, YES, item=by_id[name]).to_dict()
    assert not any("preconditions not applied" in note for note in run.summary.notes)
