"""``calibrant report``: pages, text and data; nothing is written over by a slip."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.cli.study_cli import form, opened, rated

from calibrant import open_study, report_study
from calibrant.cli.main import cli
from calibrant.core.errors import Refused, SourceError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a closed main round, rated by two people."""
    place = tmp_path_factory.mktemp("report")
    desk = opened(place, items=6, kind="main")
    tasks = desk.ok("status", "advice")
    assert tasks["rounds"][0]["total"] > 0
    for name, value in (("ann", 4), ("bob", 3)):
        rated(desk, name, *(form(number, value) for number in range(1, 7)))
    desk.ok("close", "advice", "--yes", "--reason", "a test")
    desk.ok("add-rater", "advice", "vic", "--role", "viewer")
    return place


def run(folder: Path, *words: object, **more: Any) -> Result:
    env = {"CALIBRANT_DB": str(folder / "study.db"), "COLUMNS": "80", "NO_COLOR": "1"}
    return CliRunner().invoke(cli, ["report", *map(str, words)], env=env, **more)


def test_a_pipe_gets_all_data(folder: Path) -> None:
    result = run(folder, "advice")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["about"]["study"] == "advice"
    assert record["verdicts"]["items"] == 6


def test_a_terminal_gets_the_answer(folder: Path) -> None:
    result = run(folder, "advice", "--format", "text")
    assert result.exit_code == 0, result.output
    assert "6 items were rated; the rubric states no pass mark." in result.stdout
    assert "Agreement." in result.stdout
    assert "<" not in result.stdout


@pytest.mark.parametrize(("name", "begins"), [
    ("report.html", "<!doctype html>"), ("report.md", "# "), ("report.json", "{"),
])  # fmt: skip
def test_a_file_is_what_its_name_says(folder: Path, tmp_path: Path, name: str, begins: str) -> None:
    out = tmp_path / name
    result = run(folder, "advice", "-o", out)
    assert result.exit_code == 0, result.output
    assert out.read_text("utf-8").startswith(begins)
    assert json.loads(result.stdout) == {"study": "advice", "file": str(out)}


def test_nothing_is_written_over_unless_it_may(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    out.write_text("mine")
    result = run(folder, "advice", "-o", out)
    assert isinstance(result.exception, SourceError)
    assert "is there already" in str(result.exception)
    assert out.read_text() == "mine"
    assert run(folder, "advice", "-o", out, "--force", "--short").exit_code == 0
    assert out.read_text("utf-8").count("<h2") == 1


@pytest.mark.parametrize(("words", "told"), [
    (("-o", "report.pdf"), "a report is written as .html, .md, .json"),
    (("-o", "nowhere/report.html"), "the folder nowhere does not exist"),
    (("-o", "report.json", "--short"), "the JSON report has all data"),
    (("--short",), "--short is for pages and terminals"),
])  # fmt: skip
def test_what_cannot_be_is_said_at_once(folder: Path, words: tuple[str, ...], told: str) -> None:
    result = run(folder, "advice", *words)
    assert result.exit_code != 0
    assert told in result.output + str(result.exception)


def test_the_help_has_examples(folder: Path) -> None:
    result = run(folder, "--help")
    assert "calibrant report advice -o report.html" in result.output
    assert "--pseudonyms" in result.output


def test_others_see_masks_and_leads_may_share_pseudonyms(folder: Path) -> None:
    for words in (("--as", "vic"), ("--pseudonyms",)):
        result = run(folder, "advice", *words)
        assert result.exit_code == 0, result.output
        raters = [one["rater"] for one in json.loads(result.stdout)["raters"]["profiles"]]
        assert len(raters) == 2
        assert not {"ann", "bob"} & set(raters)
    with pytest.raises(Refused):
        study = open_study(str(folder / "study.db"), "advice", actor="vic")
        try:
            report_study(study, pseudonyms=True)
        finally:
            study.store.close()


def test_what_was_frozen_is_listed_and_read_as_it_was(tmp_path: Path) -> None:
    desk = opened(tmp_path, items=2, kind="main")
    assert "no report was frozen yet" in run(tmp_path, "advice", "--frozen", "list",
                                             "--format", "text").stdout  # fmt: skip
    number = desk.ok("check-in", "advice", "--with", "ann", "--decisions", "go on")["report"]
    (line,) = json.loads(run(tmp_path, "advice", "--frozen", "list").stdout)
    assert (line["number"], line["with"]) == (number, "check-in")
    then = run(tmp_path, "advice", "--frozen", number)
    rated(desk, "ann", *(form(at, 4) for at in (1, 2)))
    out = tmp_path / "then.json"
    assert run(tmp_path, "advice", "--frozen", number, "-o", out).exit_code == 0
    assert out.read_text("utf-8") == then.stdout
    done = [json.loads(one)["work"]["rounds"][0]["done"]
            for one in (then.stdout, run(tmp_path, "advice").stdout)]  # fmt: skip
    assert done == [0, 2]
    text = run(tmp_path, "advice", "--frozen", number, "--format", "text").stdout
    assert "Round 1 (main) is open: 0 of 4 are in." in text
    for words in (["--frozen", "x"], ["--frozen", number, "--pseudonyms"]):
        assert run(tmp_path, "advice", *words).exit_code == 2
    for words, why in ((["99"], "there are:"), ([number, "--as", "ann"], "this takes a lead")):
        assert why in str(run(tmp_path, "advice", "--frozen", *words).exception)
