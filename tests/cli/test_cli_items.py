"""Checking files of items."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from calibrant.cli.main import cli

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["items", *map(str, arguments)])


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("coaching-conversation", "conversation"),
        ("smart-action-plan", "plan"),
        ("ai-response", "response"),
    ],
)
def test_the_examples_are_good_and_fit_their_schema(name: str, kind: str) -> None:
    path = EXAMPLES / name / "items.jsonl"
    told = json.loads(run("check", path, "--kind", kind).stdout)
    assert (told["items"], told["bad"], told["duplicates"]) == ({kind: 10}, [], [])
    schema = json.loads(run("schema", kind).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    for line in path.read_text("utf-8").splitlines():
        jsonschema.validate(json.loads(line), schema)


def test_bad_records_and_duplicates_are_named(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    records = [
        {"id": "a", "question": "Why?", "response": "Because."},
        {"id": "b", "question": "Why?"},
        {"id": "c", "question": "Why?", "response": "Because."},
        {"id": "a", "question": "How?", "response": "So."},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    result = run("check", path, "--kind", "response")
    told = json.loads(result.stdout)
    assert result.exit_code == 2
    assert [(bad["record"], bad["field"]) for bad in told["bad"]] == [(2, "response"), (4, "id")]
    assert [(one["record"], one["first_record"]) for one in told["duplicates"]] == [(3, 1)]
    text = run("check", path, "--kind", "response", "--format", "text")
    assert "record 3 (c) has the same content as record 1 (a)" in text.output


def test_a_table_below_its_title_is_found_by_its_row(tmp_path: Path) -> None:
    file = tmp_path / "titled.csv"
    file.write_text("Answers, May\n\nid;question;response\nq-1;Why?;So.\n")
    arguments = ["items", "check", str(file), "--kind", "response", "--format", "json"]
    done = CliRunner().invoke(cli, [*arguments, "--header-row", "3"])
    assert json.loads(done.stdout)["items"] == {"response": 1}
    refused = CliRunner().invoke(cli, [*arguments, "--header-row", "9"])
    assert "there is no row 9" in str(refused.exception)
