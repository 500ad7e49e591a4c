"""The rubric commands, from a first file to a second version."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from calibrant import SourceError, builtin_names, load_rubric
from calibrant.cli.main import cli


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["rubric", *map(str, arguments)])


def test_init_writes_a_rubric_that_is_valid_and_its_schema(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    assert run("init", path).exit_code == 0
    assert load_rubric(path).id == "support-reply"
    schema = json.loads((tmp_path / "calibrant-rubric.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$schema=calibrant-rubric.schema.json" in path.read_text().splitlines()[0]


def test_init_replaces_nothing_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("mine")
    assert "--force" in str(run("init", path).exception)
    assert path.read_text() == "mine"
    assert run("init", path, "--force").exit_code == 0
    assert load_rubric(path)


@pytest.mark.parametrize("name", builtin_names())
def test_init_like_a_builtin_gives_that_rubric(tmp_path: Path, name: str) -> None:
    path = tmp_path / "mine.yaml"
    assert run("init", path, "--like", name).exit_code == 0
    assert load_rubric(path).hash == load_rubric(name).hash


def test_list_names_the_builtins() -> None:
    listed = json.loads(run("list").stdout)
    assert [one["id"] for one in listed] == sorted(builtin_names())
    assert "coaching-conversation" in run("list", "--format", "text").stdout


@pytest.mark.parametrize("name", builtin_names())
def test_show_tells_criteria_and_pass_mark(name: str) -> None:
    shown = json.loads(run("show", name).stdout)
    one = load_rubric(name)
    assert (shown["hash"], [c["id"] for c in shown["criteria"]]) == (
        one.hash,
        list(one.criterion_ids),
    )
    text = run("show", name, "--format", "text").stdout
    assert all(criterion in text for criterion in one.criterion_ids)


def test_validate_tells_every_mistake_with_line_and_suggestion(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    run("init", path)
    text = path.read_text()
    broken = text.replace("    weight: 0.60", "    weigth: 0.60").replace(
        "scale: yes_no", "scale: yes_on"
    )
    path.write_text(broken)
    result = run("validate", path, "--format", "text")
    assert result.exit_code == 2
    line = broken.splitlines().index("    weigth: 0.60") + 1
    assert (
        f"{path}:{line}: categories[0].weigth: unknown key (did you mean 'weight'?)"
        in result.stderr
    )
    assert result.stderr.count("'yes_on' is not defined in scales (did you mean 'yes_no'?)") == 3
    told = json.loads(run("validate", path).stdout)
    assert not told[0]["valid"]
    assert len(told[0]["faults"]) == 4


def test_validate_takes_several_files(tmp_path: Path) -> None:
    result = run("validate", "ai-response", tmp_path / "absent.yaml")
    assert result.exit_code == 2
    assert [one["valid"] for one in json.loads(result.stdout)] == [True, False]


def test_schema_is_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(run("schema").stdout))


@pytest.mark.parametrize("name", builtin_names())
@pytest.mark.parametrize("suffix", ["md", "html"])
def test_render_writes_every_anchor(tmp_path: Path, name: str, suffix: str) -> None:
    out = tmp_path / f"handbook.{suffix}"
    assert run("render", name, "-o", out).exit_code == 0
    text = out.read_text()
    for criterion in load_rubric(name).criteria:
        assert criterion.id.replace("_", r"\_") in text or criterion.id in text
        assert text.count("<tr>" if suffix == "html" else "| ") > len(criterion.anchors)


def test_render_refuses_what_is_no_handbook(tmp_path: Path) -> None:
    assert ".html or .md" in str(run("render", "ai-response", "-o", tmp_path / "x.pdf").exception)


def test_diff_tells_what_stays_valid_and_what_is_asked_again(tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    run("init", old)
    text = old.read_text().replace("version: 1.0  ", "version: 1.1  ")
    new.write_text(text.replace("Is the reply friendly, and", "Is the reply warm, and"))
    result = json.loads(run("diff", old, new).stdout)
    assert result["ask_again"] == ["tone"]
    assert result["answers_valid"] == ["solves", "next_step", "promises"]
    assert "Must be asked again: tone" in run("diff", old, new, "--format", "text").stdout


def test_one_version_with_two_contents_is_an_error_that_names_the_fix(tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    run("init", old)
    new.write_text(old.read_text().replace("value: 0.80", "value: 0.90"))
    error = run("diff", old, new).exception
    assert "version: 1.1" in str(error)


def test_a_schema_is_not_written_over_a_rubric(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    run("init", path)
    before = path.read_bytes()
    assert isinstance(run("schema", "-o", path).exception, SourceError)
    assert path.read_bytes() == before
    assert run("schema", "-o", tmp_path / "schema.json").exit_code == 0
