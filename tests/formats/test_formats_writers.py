"""Verdicts in files: the same data in every form, safe in a spreadsheet, whole or not at all."""

from __future__ import annotations

import csv
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from calibrant import load_rubric, parse_rubric, score_file
from calibrant.core.errors import RecordError, SourceError
from calibrant.core.scoring import score
from calibrant.formats.score_file import ScoreRun
from calibrant.formats.writers import check_output, flat, write_frames

COACHING = load_rubric("coaching-conversation")
PLANS = load_rubric("smart-action-plan")
NAMES = COACHING.criterion_ids
YES = dict.fromkeys(NAMES, "YES")
SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".parquet")

SHEETS: list[dict[str, Any]] = [
    {"id": "a", "rater": "r1", "answers": YES},
    {"id": "b", "rater": 'say "x"', "answers": {**YES, "CQ8": "no", "CQ2": "NA", "MT1": "a,b;c"}},
    {"id": "é, ü", "rater": "r2", "answers": {"CQ1": "NO", "CQ2": "two\nlines", "CQ3": "x\ry"}},
]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return sheets(tmp_path / "answers.jsonl", *SHEETS)


def sheets(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def expected() -> list[dict[str, Any]]:
    return [
        {"id": one["id"], "rater": one["rater"], **score(COACHING, one["answers"]).to_dict()}
        for one in SHEETS
    ]


def read_back(path: Path) -> list[dict[str, Any]]:
    match path.suffix:
        case ".jsonl" | ".ndjson":
            return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        case ".json":
            document: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
            return document
        case _:
            return pl.read_parquet(path).to_dicts()


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json", ".parquet"])
def test_every_form_holds_the_verdicts(answers: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"verdicts{suffix}"
    summary = score_file(COACHING, answers, out)
    assert summary.sheets == 3
    assert read_back(out) == expected()


def test_csv_holds_the_same_flattened(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.csv"
    score_file(COACHING, answers, out)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert len(rows) == 3
    for row, verdict in zip(rows, expected(), strict=True):
        for name, value in verdict.items():
            match value:
                case list():
                    assert row[name] == ";".join(value)
                case dict():
                    for key, inner in value.items():
                        assert _same(row[f"{name}.{key}"], inner), (name, key)
                case _:
                    assert _same(row[name], value), name


def _same(cell: str, value: Any) -> bool:
    if value is None:
        return cell == ""
    if isinstance(value, bool):
        return cell == str(value).lower()
    if isinstance(value, float):
        return float(cell) == value
    return cell == str(value)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_dimensions_without_categories(tmp_path: Path, suffix: str) -> None:
    """A record without fields is a hard thing to write."""
    answers = sheets(
        tmp_path / "a.jsonl",
        {"id": "a", "answers": dict.fromkeys(PLANS.criterion_ids, 4), "flags": ["deception"]},
        {"id": "b", "answers": {"realism": 3, "clarity": "x"}},
    )
    out = tmp_path / f"verdicts{suffix}"
    score_file(PLANS, answers, out)
    verdicts = [
        {
            "id": "a",
            **score(PLANS, dict.fromkeys(PLANS.criterion_ids, 4), flags=["deception"]).to_dict(),
        },
        {"id": "b", **score(PLANS, {"realism": 3, "clarity": "x"}).to_dict()},
    ]
    if suffix == ".csv":
        with out.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        assert [(row["id"], row["mean"], row["flags"]) for row in rows] == [
            ("a", "1.0", "deception"),
            ("b", "3.0", ""),
        ]
        return
    found = read_back(out)
    for verdict in verdicts:
        if suffix == ".parquet":
            del verdict["category_scores"]
    assert found == verdicts


# -- spreadsheets


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path, start: str) -> None:
    name = f'{start}cmd|" /C calc"!A0'
    answers = sheets(
        tmp_path / "a.jsonl", {"id": name, "rater": name, "answers": {**YES, "CQ1": name}}
    )
    out = tmp_path / "verdicts.csv"
    score_file(COACHING, answers, out)
    with out.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file, strict=True)
    assert row["id"] == row["rater"] == row["raw.CQ1"] == f"'{name}"
    assert not any(cell[:1] in ("=", "+", "-", "@", "\t", "\r") for cell in row.values())


@pytest.mark.parametrize("raw", ["\t=1+1", "\r=1+1", "=1+1", "\n=1+1", "-1"])
def test_junk_answers_are_no_formulas_either(tmp_path: Path, raw: str) -> None:
    answers = sheets(tmp_path / "a.jsonl", {"id": "a", "answers": {**YES, "CQ1": raw}})
    out = tmp_path / "verdicts.csv"
    score_file(COACHING, answers, out)
    with out.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file, strict=True)
    assert row["raw.CQ1"].lstrip("'") == raw
    assert row["raw.CQ1"].lstrip()[:1] not in ("=", "+", "-", "@")


def test_answers_that_look_like_formulas_are_none(tmp_path: Path) -> None:
    plus_minus = parse_rubric(
        """
id: signs
version: "1.0"
title: Signs
item_type: free
summary: Plus or minus.
scales:
  - kind: choice
    id: sign
    values: [{value: "+", meaning: good, points: 1}, {value: "-", meaning: bad, points: 0}]
criteria:
  - {id: c, title: Sign, scale: sign, question: Is it good?, na: {policy: excluded}}
aggregation: {kind: dimensions, pass_mark: none}
agreement: none
"""
    )
    answers = sheets(tmp_path / "a.jsonl", {"id": "a", "answers": {"c": "-"}})
    out = tmp_path / "verdicts.csv"
    score_file(plus_minus, answers, out)
    with out.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file, strict=True)
    assert (row["raw.c"], row["effective.c"]) == ("'-", "'-")


def test_other_forms_keep_such_names_as_they_are(tmp_path: Path) -> None:
    answers = sheets(tmp_path / "a.jsonl", {"id": "=1+1", "answers": YES})
    for suffix in (".jsonl", ".json", ".parquet"):
        out = tmp_path / f"verdicts{suffix}"
        score_file(COACHING, answers, out)
        assert [row["id"] for row in read_back(out)] == ["=1+1"]


def test_columns_keep_their_order_when_flattened() -> None:
    frame = pl.DataFrame(
        {"id": ["=a"], "s": [{"x": 1, "y": "@b"}], "l": [["a", "b"]], "t": ["fine"], "n": [-1]}
    )
    plain = flat(frame)
    assert plain.columns == ["id", "s.x", "s.y", "l", "t", "n"]
    assert plain.row(0) == ("'=a", 1, "'@b", "a;b", "fine", -1)


# -- whole or not at all


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("existing", [True, False])
def test_a_run_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, suffix: str, existing: bool
) -> None:
    answers = sheets(tmp_path / "a.jsonl", *SHEETS, {"id": "", "answers": YES})
    out = tmp_path / f"verdicts{suffix}"
    if existing:
        out.write_bytes(b"what was there")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(RecordError):
        score_file(COACHING, answers, out)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert not existing or out.read_bytes() == b"what was there"


class Trouble(Exception):
    """Something nobody expected."""


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_whatever_goes_wrong_goes_wrong_by_its_own_name(tmp_path: Path, suffix: str) -> None:
    good = pl.DataFrame({"id": ["a"], "n": [1]})

    def frames() -> Iterator[pl.DataFrame]:
        yield good
        raise Trouble

    out = tmp_path / f"out{suffix}"
    out.write_bytes(b"what was there")
    with pytest.raises(Trouble):
        write_frames(frames(), good.schema, out)
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    assert out.read_bytes() == b"what was there"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_old_file_is_replaced(answers: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"verdicts{suffix}"
    out.write_bytes(b"x" * 1_000_000)
    score_file(COACHING, answers, out)
    fresh = tmp_path / f"fresh{suffix}"
    score_file(COACHING, answers, fresh)
    assert out.read_bytes() == fresh.read_bytes()


def test_a_new_file_has_the_rights_of_any_new_file(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.csv"
    score_file(COACHING, answers, out)
    plain = tmp_path / "plain.txt"
    plain.touch()
    assert stat.S_IMODE(out.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_verdicts_make_a_file_too(tmp_path: Path, suffix: str) -> None:
    answers = tmp_path / "a.csv"
    answers.write_text("id,CQ1\n", "utf-8")
    out = tmp_path / f"verdicts{suffix}"
    summary = score_file(COACHING, answers, out)
    assert summary.sheets == 0
    match suffix:
        case ".json":
            assert json.loads(out.read_text("utf-8")) == []
        case ".csv":
            assert out.read_text("utf-8").startswith("id,status,verdict,")
            assert out.read_text("utf-8").count("\n") == 1
        case ".parquet":
            frame = pl.read_parquet(out)
            assert frame.height == 0
            assert "verdict" in frame.columns
        case _:
            assert out.read_bytes() == b""


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_several_batches_are_one_file(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calibrant.formats.text.BLOCK", 5000)
    answers = sheets(tmp_path / "a.jsonl", *({"id": n, "answers": YES} for n in range(500)))
    assert len(list(ScoreRun(COACHING, answers).frames())) > 5
    out = tmp_path / f"verdicts{suffix}"
    score_file(COACHING, answers, out)
    if suffix == ".csv":
        with out.open(encoding="utf-8", newline="") as file:
            ids = [row["id"] for row in csv.DictReader(file)]
    else:
        ids = [row["id"] for row in read_back(out)]
    assert ids == [str(n) for n in range(500)]


# -- places that will not do


@pytest.mark.parametrize("name", ["verdicts", "verdicts.xlsx", "verdicts.txt", ".csv"])
def test_kinds_of_files_nobody_can_write(tmp_path: Path, name: str) -> None:
    with pytest.raises(SourceError, match=r"known: \.jsonl"):
        check_output(tmp_path / name)


def test_a_folder_that_is_not_there(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "nowhere" / "verdicts.csv"
    with pytest.raises(SourceError, match="does not exist"):
        check_output(out)
    with pytest.raises(SourceError, match="does not exist"):
        score_file(COACHING, answers, out)


def test_a_folder_in_place_of_the_file(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.csv"
    out.mkdir()
    with pytest.raises(SourceError):
        score_file(COACHING, answers, out)
    assert out.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.jsonl", "verdicts.csv"]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_folder_one_may_not_write_to(answers: Path, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(SourceError):
        score_file(COACHING, answers, folder / "verdicts.csv")


def test_upper_case_extensions_are_known(answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "VERDICTS.JSONL"
    score_file(COACHING, answers, out)
    assert len(out.read_text("utf-8").splitlines()) == 3
