"""The command as its users call it: exit statuses, files, what is said and what is not written."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result

from calibrant import SourceError, load_rubric
from calibrant.cli.main import cli

EXAMPLES = Path(__file__).parents[2] / "examples"
COACHING = EXAMPLES / "coaching-conversation"
ALL_YES = dict.fromkeys(load_rubric("coaching-conversation").criterion_ids, "YES")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["score", *map(str, arguments)])


def write_sheets(path: Path, *sheets: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(sheet) + "\n" for sheet in sheets), "utf-8")
    return path


def sheet(name: str, **answers: Any) -> dict[str, Any]:
    return {"id": name, "answers": {**ALL_YES, **answers}}


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return write_sheets(
        tmp_path / "answers.jsonl",
        sheet("good"),
        sheet("edge", CQ6="NO", MT4="NO"),
        sheet("unsafe", CQ8="no"),
        {"id": "outage", "answers": {name: "YES" for name in ALL_YES if name != "CQ9"}},
    )


def test_a_pipe_gets_one_json_verdict_a_line_and_the_summary_beside(answers: Path) -> None:
    result = run(answers, "-r", "coaching-conversation")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert [(row["id"], row["passed"], row["verdict"]) for row in rows] == [
        ("good", True, "passed"),
        ("edge", True, "passed"),
        ("unsafe", False, "failed"),
        ("outage", False, "undecided"),
    ]
    assert "4 sheets" in result.stderr


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet"])
def test_the_extension_picks_the_format(answers: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"verdicts.{suffix}"
    result = run(answers, "-r", "coaching-conversation", "-o", out)
    assert result.exit_code == 0, result.output
    read: dict[str, Callable[[Path], pl.DataFrame]] = {
        "jsonl": pl.read_ndjson,
        "json": pl.read_json,
        "csv": pl.read_csv,
        "parquet": pl.read_parquet,
    }
    frame = read[suffix](out)
    assert frame["id"].to_list() == ["good", "edge", "unsafe", "outage"]
    assert frame["score"].to_list() == [1.0, 0.8, 1.0, 1.0]


def test_the_summary_of_a_written_file_is_json_in_a_pipe(answers: Path, tmp_path: Path) -> None:
    result = run(answers, "-r", "coaching-conversation", "-o", tmp_path / "v.jsonl")
    summary = json.loads(result.stdout)
    assert (summary["sheets"], summary["complete"], summary["passed"]) == (4, 3, 2)
    assert (summary["gate_failed"], summary["gate_unknown"]) == (1, 1)
    low, high = summary["pass_interval"]
    assert 0 < low < summary["pass_rate"] < high < 1


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet"])
def test_bad_records_are_all_listed_and_nothing_is_written(tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"v.{suffix}"
    out.write_text("what was there before")
    source = write_sheets(
        tmp_path / "a.jsonl", sheet("one"), sheet("two", CP6="NO"), {"answers": {}}, sheet("one")
    )
    result = run(source, "-r", "coaching-conversation", "-o", out)
    assert result.exit_code == 2
    for record, word in ((2, "CP6"), (3, "id"), (4, "second sheet")):
        assert any(
            f"record {record}:" in line and word in line for line in result.stderr.splitlines()
        )
    assert out.read_text() == "what was there before"
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.jsonl", out.name]


def test_nothing_comes_out_of_a_pipe_when_records_are_bad(tmp_path: Path) -> None:
    source = write_sheets(tmp_path / "a.jsonl", sheet("one"), {"id": "two"})
    result = run(source, "-r", "coaching-conversation")
    assert (result.exit_code, result.stdout) == (2, "")


def test_skip_bad_keeps_the_rest_and_says_so(tmp_path: Path) -> None:
    out = tmp_path / "v.jsonl"
    source = write_sheets(tmp_path / "a.jsonl", sheet("one"), sheet("two", CP6="NO"))
    result = run(source, "-r", "coaching-conversation", "-o", out, "--skip-bad", "--format", "text")
    assert result.exit_code == 0
    assert "1 bad record" in result.output
    assert pl.read_ndjson(out)["id"].to_list() == ["one"]


@pytest.mark.parametrize(("rate", "status"), [("0.5", 0), ("0.51", 1), ("0", 0)])
def test_fail_under_counts_incomplete_sheets_as_not_passed(
    answers: Path, tmp_path: Path, rate: str, status: int
) -> None:
    out = tmp_path / "v.jsonl"
    result = run(answers, "-r", "coaching-conversation", "-o", out, "--fail-under", rate)
    assert result.exit_code == status
    assert out.exists()  # a verdict that falls short is still a verdict


def test_a_low_pass_rate_alone_is_no_failure(answers: Path) -> None:
    assert run(answers, "-r", "coaching-conversation").exit_code == 0


@pytest.mark.parametrize("gated", ["unsafe", "outage"])
def test_fail_on_gate_fails_on_a_failed_and_on_an_unknown_gate(tmp_path: Path, gated: str) -> None:
    sheets = {"unsafe": sheet("unsafe", CQ8="NO"), "outage": sheet("outage", CQ9=None)}
    source = write_sheets(tmp_path / "a.jsonl", sheet("good"), sheets[gated])
    assert run(source, "-r", "coaching-conversation", "--fail-on-gate").exit_code == 1
    good = write_sheets(tmp_path / "b.jsonl", sheet("good"))
    assert run(good, "-r", "coaching-conversation", "--fail-on-gate").exit_code == 0


def test_items_apply_preconditions_whatever_was_answered(tmp_path: Path) -> None:
    source = write_sheets(tmp_path / "a.jsonl", sheet("short", MT4="NO"), sheet("long", MT4="NO"))
    items = tmp_path / "items.jsonl"
    items.write_text(
        json.dumps({"id": "short", "exchanges": [["hi", "hello"]] * 2})
        + "\n"
        + json.dumps({"id": "long", "exchanges": [["hi", "hello"]] * 3})
    )
    result = run(source, "-r", "coaching-conversation", "--items", items)
    short, long = (json.loads(line) for line in result.stdout.splitlines())
    assert (short["raw"]["MT4"], short["effective"]["MT4"]) == ("NO", "NA")
    assert (short["score"], long["score"]) == (1.0, 0.9)
    assert short["not_applicable"] == ["MT4"]


def test_an_item_that_is_not_in_the_items_file_is_a_bad_record(tmp_path: Path) -> None:
    source = write_sheets(tmp_path / "a.jsonl", sheet("known"), sheet("unknown"))
    items = tmp_path / "items.jsonl"
    items.write_text(json.dumps({"id": "known", "exchanges": [["hi", "hello"]]}))
    result = run(source, "-r", "coaching-conversation", "--items", items)
    assert result.exit_code == 2
    assert "'unknown' is not in" in result.stderr


def test_without_items_the_user_is_told_that_preconditions_were_not_applied(
    answers: Path, tmp_path: Path
) -> None:
    result = run(answers, "-r", "coaching-conversation", "-o", tmp_path / "v.jsonl")
    assert any("exchanges < 3" in note for note in json.loads(result.stdout)["notes"])


@pytest.mark.parametrize("name", ["coaching-conversation", "smart-action-plan", "ai-response"])
def test_the_examples_score(name: str) -> None:
    folder = EXAMPLES / name
    for answers in folder.glob("answers.*"):
        result = run(answers, "-r", name, "--items", folder / "items.jsonl", "--format", "text")
        assert result.exit_code == 0, result.output
        assert name in result.output


def test_a_plan_without_a_pass_mark_is_told_as_such() -> None:
    result = run(EXAMPLES / "smart-action-plan/answers.csv", "-r", "smart-action-plan")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    flagged = [row for row in rows if row["flags"]]
    assert {(row["passed"], row["verdict"]) for row in flagged} == {(False, "failed")}
    assert {value for row in flagged for value in row["effective"].values()} == {1}
    assert any(value > 1 for row in flagged for value in row["raw"].values())
    plain = [row for row in rows if not row["flags"]]
    assert {(row["passed"], row["score"]) for row in plain} == {(None, None)}
    assert all(row["mean"] is not None and row["minimum"] is not None for row in plain)


def test_an_unknown_output_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    result = run(tmp_path / "absent.jsonl", "-r", "coaching-conversation", "-o", tmp_path / "v.pdf")
    assert "known: .jsonl" in str(result.exception)


# -- nothing is lost, nothing passes by accident


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    answers = write_sheets(tmp_path / "a.jsonl", {"id": "a", "answers": ALL_YES})
    items = tmp_path / "items.jsonl"
    items.write_text((COACHING / "items.jsonl").read_text("utf-8"), "utf-8")
    before = answers.read_bytes(), items.read_bytes()
    for out in (answers, tmp_path / "." / "a.jsonl", items):
        done = run(answers, "-r", "coaching-conversation", "--items", items, "-o", out)
        assert isinstance(done.exception, SourceError)
        assert "written over" in str(done.exception)
    assert (answers.read_bytes(), items.read_bytes()) == before


def test_what_is_no_number_is_no_rate(tmp_path: Path) -> None:
    answers = write_sheets(tmp_path / "a.jsonl", {"id": "a", "answers": ALL_YES})
    done = run(answers, "-r", "coaching-conversation", "--fail-under", "nan")
    assert done.exit_code == 2
    assert "not a rate" in done.output


def test_sheets_that_were_left_out_have_not_passed(tmp_path: Path) -> None:
    good = [{"id": f"g{n}", "answers": ALL_YES} for n in range(9)]
    answers = write_sheets(tmp_path / "a.jsonl", *good, {"id": "", "answers": ALL_YES})
    command = (answers, "-r", "coaching-conversation", "--skip-bad", "--fail-under")
    assert run(*command, "0.9").exit_code == 0
    assert run(*command, "0.91").exit_code == 1


def test_a_failure_by_score_alone_says_so(tmp_path: Path) -> None:
    rubric = tmp_path / "support.yaml"
    CliRunner().invoke(cli, ["rubric", "init", str(rubric)])
    answers = tmp_path / "w.csv"
    answers.write_text("id,solves,next_step,tone,promises\na,1,YES,YES,YES\n", "utf-8")
    done = run(answers, "-r", rubric, "--format", "text")
    assert "not >= 0.8" in done.output


def test_faults_come_in_the_order_of_the_records(tmp_path: Path) -> None:
    bad = [{"id": "", "answers": ALL_YES}, {"id": "x", "answers": {"CQX": 1, **ALL_YES}}] * 3
    answers = write_sheets(tmp_path / "a.jsonl", {"id": "a", "answers": ALL_YES}, *bad)
    done = run(answers, "-r", "coaching-conversation")
    assert done.exit_code == 2
    told = [int(line.split("record ")[1].split(":")[0]) for line in done.stderr.splitlines()[:6]]
    assert told == sorted(told)


def test_the_wrong_rubric_is_told_once(tmp_path: Path) -> None:
    sheets = [{"id": str(n), "answers": ALL_YES} for n in range(200)]
    answers = write_sheets(tmp_path / "a.jsonl", *sheets)
    done = run(answers, "-r", "smart-action-plan")
    assert "is it the right rubric?" in str(done.exception)
    long = tmp_path / "l.csv"
    rows = "".join(f"i{n},CQ1,YES\n" for n in range(200))
    long.write_text("item,criterion,answer\n" + rows, "utf-8")
    assert "is it the right rubric?" in str(run(long, "-r", "smart-action-plan").exception)


def test_answers_to_a_criterion_that_is_gone_can_be_left_aside(tmp_path: Path) -> None:
    long = tmp_path / "l.csv"
    long.write_text("item,criterion,answer\na,CQ1,YES\na,gone,YES\n", "utf-8")
    refused = run(long, "-r", "coaching-conversation")
    assert refused.exit_code == 2
    assert "--ignore gone" in refused.stderr
    assert run(long, "-r", "coaching-conversation", "--ignore", "gone").exit_code == 0


def test_what_no_number_could_be_made_of_is_shown(tmp_path: Path) -> None:
    answers = {"usefulness": 0, "realism": 3.5, "clarity": "maybe", "inclusivity": None}
    path = write_sheets(tmp_path / "a.jsonl", {"id": "a", "answers": answers})
    for suffix in (".jsonl", ".parquet", ".csv"):
        out = tmp_path / f"out{suffix}"
        assert run(path, "-r", "smart-action-plan", "-o", out).exit_code == 0
        text = (
            out.read_text("utf-8") if suffix != ".parquet" else str(pl.read_parquet(out).to_dicts())
        )
        for told in ("usefulness: 0", "realism: 3.5", "clarity: maybe"):
            assert told in text


def test_a_misspelt_column_of_a_long_table_is_one_mistake(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text("item,ratr,criterion,answer\na,x,CQ1,YES\nb,x,CQ1,YES\n", "utf-8")
    told = str(run(path, "-r", "coaching-conversation").exception)
    assert told.count("did you mean 'rater'?") == 1
    assert run(path, "-r", "coaching-conversation", "--ignore", "ratr").exit_code == 0


def test_a_run_that_is_killed_leaves_the_old_file_or_the_whole_new_one(tmp_path: Path) -> None:
    answers, out = tmp_path / "a.jsonl", tmp_path / "out.jsonl"
    write_sheets(answers, *({"id": str(n), "answers": ALL_YES} for n in range(60_000)))
    out.write_text("old\n", "utf-8")
    command = [Path(sys.executable).with_name("calibrant"), "score", answers, "-o", out]
    with subprocess.Popen(
        [*map(str, command), "-r", "coaching-conversation"], stdout=subprocess.DEVNULL
    ) as process:
        while process.poll() is None and not list(tmp_path.glob(".out.jsonl.*")):
            sleep(0.002)
        process.kill()
    lines = out.read_text("utf-8").splitlines()
    assert lines == ["old"] or len(lines) == 60_000
