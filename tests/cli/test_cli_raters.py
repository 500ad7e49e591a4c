"""The command about raters as its users call it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.cli.study_cli import begun, form
from tests.cli.study_cli import rated as rate
from tests.compare.rater_panels import rows

from calibrant.cli.main import cli
from calibrant.core.errors import SourceError


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["raters", *map(str, arguments)])


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("raters") / "ratings.csv"
    rows(planted={1: "severe"}).write_csv(path)
    return path


def test_json_in_a_pipe_and_tables_for_people(ratings: Path) -> None:
    told = json.loads(run(ratings, "--level", "ordinal").stdout)
    assert [(one["rater"], one["kind"]) for one in told["findings"]] == [("rater 2", "severity")]
    assert {"separation", "reliability", "chi2", "degrees"} == set(told["separation"])
    shown = run(ratings, "--level", "ordinal", "--format", "text").stdout
    for words in ("Findings", "logits", "Severity in logits", "Not looked for", "no durations"):
        assert words in shown


def test_files_hold_the_report_the_diagnostics_and_fair_averages(
    ratings: Path, tmp_path: Path
) -> None:
    whole, lines, fair = (tmp_path / name for name in ("r.json", "r.csv", "fair.csv"))
    assert run(ratings, "--level", "ordinal", "-o", whole, "--fair", fair).exit_code == 0
    assert run(ratings, "--level", "ordinal", "-o", lines).exit_code == 0
    diagnostics = json.loads(whole.read_text("utf-8"))["diagnostics"]
    with lines.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(diagnostics)
    with fair.open(encoding="utf-8", newline="") as file:
        items = list(csv.DictReader(file))
    assert len(items) == 60
    assert set(items[0]) == {"item", "observed", "fair", "ratings"}
    refused = run(ratings, "--level", "ordinal", "--fair", tmp_path / "fair.txt")
    assert isinstance(refused.exception, SourceError)


def test_a_level_or_a_rubric_is_needed_and_not_both(ratings: Path) -> None:
    assert "--level" in run(ratings).stderr
    assert run(ratings, "-r", "ai-response", "--level", "ordinal").exit_code == 2


def test_a_wide_table_is_read_as_agree_reads_it(ratings: Path, tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    frame = rows(planted={1: "severe"})
    frame.drop("position").pivot("rater", index=["item", "criterion"], values="answer").write_csv(
        wide
    )
    long = json.loads(run(ratings, "--level", "ordinal").stdout)["raters"]
    told = json.loads(run(wide, "--level", "ordinal", "--wide").stdout)["raters"]
    assert [one["severity"] for one in told] == pytest.approx([one["severity"] for one in long])


def test_rows_in_order_tell_drift(ratings: Path, tmp_path: Path) -> None:
    path = tmp_path / "in-order.csv"
    rows().sort("position", maintain_order=True).drop("position").write_csv(path)
    told = json.loads(run(path, "--level", "ordinal", "--in-order").stdout)
    drift = [one for one in told["diagnostics"] if one["kind"] == "drift"]
    assert all(one["value"] is not None for one in drift)


def test_the_raters_of_a_study_are_told_to_whom_may_see_them(tmp_path: Path) -> None:
    desk = begun(tmp_path)
    desk.ok("plan", "advice", "--kind", "calibration")
    desk.ok("open", "advice")
    for name, more in (("ann", 0), ("bob", 1)):
        desk.ok("acknowledge", "advice", "--yes", as_=name)
        forms = [form(at, 1 + (at + more * (at % 3 == 0)) % 4) for at in range(1, 11)]
        rate(desk, name, *forms)
    command = ("--study", "advice", "--round", 1, "--db", desk.db)
    assert run(*command, "--as", "ann").exit_code != 0  # a reviewer
    desk.ok("close", "advice")
    told = json.loads(run(*command).stdout)
    assert [one["rater"] for one in told["raters"]] == ["ann", "bob"]
    assert all(one["severity"] is not None for one in told["raters"])
    assert "leave the rest out" in run("--study", "advice", "--level", "ordinal").stderr
    assert "name a file" in run().stderr
