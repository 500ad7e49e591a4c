"""``calibrant check`` as its users call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from calibrant.cli.main import cli
from calibrant.core.errors import RubricError, SourceError, UnknownName
from calibrant.formats.signals import partial_of

EXAMPLES = Path(__file__).parents[2] / "examples"
RUBRICS = Path(__file__).parents[2] / "src" / "calibrant" / "rubrics"
CHATS = EXAMPLES / "coaching-conversation" / "items.jsonl"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.mark.parametrize("name", ["coaching-conversation", "smart-action-plan", "ai-response"])
def test_a_pipe_gets_a_line_an_item(name: str) -> None:
    items = EXAMPLES / name / "items.jsonl"
    printed = run("check", items)
    assert printed.exit_code == 0, printed.stderr
    records = [json.loads(line) for line in printed.stdout.splitlines()]
    assert len(records) == len(items.read_text("utf-8").splitlines())
    assert all(record["signals"] for record in records)
    failed = [one for record in records for one in record["signals"]
              if one.get("not_measured", "").startswith("failed")]  # fmt: skip
    assert not failed


def test_a_terminal_gets_a_summary_by_signal() -> None:
    shown = run("check", CHATS, "--format", "text")
    assert shown.exit_code == 0
    assert "share_of_question_endings" in shown.stdout
    assert "10 items" in shown.stdout


def test_few_items_are_shown_with_their_places(tmp_path: Path) -> None:
    one = tmp_path / "one.jsonl"
    one.write_text(CHATS.read_text("utf-8").splitlines()[0], "utf-8")
    shown = run("check", one, "--format", "text")
    assert "coaching-01" in shown.stdout
    assert "exchanges[1].assistant: “What is the same this time" in shown.stdout


def test_a_file_gets_the_signals_and_a_pipe_the_summary(tmp_path: Path) -> None:
    out, ratings = tmp_path / "signals.jsonl", tmp_path / "ratings.csv"
    told = json.loads(run("check", CHATS, "-o", out, "--ratings", ratings).stdout)
    assert told["items"] == 10
    by_signal = {(one["check"], one["signal"]): one for one in told["signals"]}
    assert by_signal["precondition", "exchanges"]["suggested"] == {"MT4 NA": 1}
    assert len(out.read_text("utf-8").splitlines()) == 10
    assert "CODE,MT4,NA" in ratings.read_text("utf-8")


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert run("check", CHATS, "-o", whole).exit_code == 0
    lines = whole.read_text("utf-8").splitlines(keepends=True)
    partial_of(out).write_text("".join(lines[:4]) + lines[4][:50], "utf-8")
    told = json.loads(run("check", CHATS, "-o", out, "--resume").stdout)
    assert told["resumed"] == 4
    assert out.read_text("utf-8") == whole.read_text("utf-8")
    assert not partial_of(out).exists()
    assert run("check", CHATS, "--resume").exit_code == 2


def test_bad_records_are_listed_and_nothing_is_written(tmp_path: Path) -> None:
    bad, out = tmp_path / "bad.jsonl", tmp_path / "out.jsonl"
    bad.write_text(CHATS.read_text("utf-8") + '{"exchanges": 7}\n{"messages": []}\n', "utf-8")
    printed = run("check", bad, "-o", out)
    assert printed.exit_code == 2
    assert "record 11" in printed.stderr
    assert "record 12" in printed.stderr
    assert "2 bad records" in printed.stderr
    assert not out.exists()
    bad.write_text(CHATS.read_text("utf-8"), "utf-8")
    told = json.loads(run("check", bad, "-o", out, "--resume").stdout)
    assert (told["items"], told["resumed"]) == (10, 10)
    bad.write_text(CHATS.read_text("utf-8") + '{"exchanges": 7}\n', "utf-8")
    told = json.loads(run("check", bad, "-o", out, "--skip-bad").stdout)
    assert (told["items"], told["bad_records"]) == (10, 1)


def test_what_cannot_be_is_refused_before_the_work(tmp_path: Path) -> None:
    assert isinstance(run("check", tmp_path / "none.jsonl").exception, SourceError)
    assert isinstance(run("check", CHATS, "-o", tmp_path / "out.txt").exception, SourceError)
    assert isinstance(run("check", CHATS, "-o", CHATS).exception, SourceError)
    out = tmp_path / "same.csv"
    assert isinstance(run("check", CHATS, "-o", out, "--ratings", out).exception, SourceError)
    assert isinstance(run("check", CHATS, "-r", "nowhere").exception, UnknownName)
    assert run("check", CHATS, "-r", "smart-action-plan").exit_code == 2


def test_a_rubric_has_its_say(tmp_path: Path) -> None:
    rubric = tmp_path / "mine.yaml"
    text = (RUBRICS / "coaching-conversation.yaml").read_text("utf-8")
    mine = "checks:\n  - name: conversation_endings\n    parameters: {share: 0.2}\n"
    rubric.write_text(text.replace("checks: none\n", mine), "utf-8")
    out = tmp_path / "out.jsonl"
    told = json.loads(run("check", CHATS, "-r", rubric, "-o", out).stdout)
    endings = [one for one in told["signals"] if one["signal"] == "share_of_question_endings"]
    assert endings[0]["exceeded"] > 2
    rubric.write_text(text.replace("checks: none\n", mine.replace("share", "shere")), "utf-8")
    refused = run("check", CHATS, "-r", rubric)
    assert isinstance(refused.exception, RubricError)
    assert "did you mean 'share'?" in str(refused.exception)


def test_help_has_examples() -> None:
    printed = run("check", "--help").stdout
    assert "--resume" in printed
    assert "calibrant check chats.jsonl" in printed
