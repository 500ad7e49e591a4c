"""The commands about agreement as their users call them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from calibrant.cli.main import cli
from calibrant.core.errors import SourceError

EXAMPLES = Path(__file__).parents[2] / "examples"
LABELS = (
    "task,annotator,label\n1,a,YES\n1,b,YES\n2,a,NO\n2,b,NO\n3,a,NO\n3,b,YES\n4,a,YES\n4,b,YES\n"
)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(LABELS, "utf-8")
    return path


def test_the_report_is_json_in_a_pipe_and_tables_for_people(labels: Path) -> None:
    told = json.loads(run("agree", labels, "--level", "nominal").stdout)
    by_name = {one["coefficient"]: one for one in told["estimates"]}
    assert by_name["cohen_kappa"]["value"] == pytest.approx(0.5)
    shown = run("agree", labels, "--level", "nominal", "--format", "text")
    assert shown.exit_code == 0
    assert "cohen kappa" in shown.stdout
    assert "a NO, b YES" in shown.stdout


def test_files_hold_the_report_or_the_estimates(labels: Path, tmp_path: Path) -> None:
    whole, rows = tmp_path / "out.json", tmp_path / "out.csv"
    for out in (whole, rows):
        assert run("agree", labels, "--level", "nominal", "-o", out).exit_code == 0
    estimates = json.loads(whole.read_text("utf-8"))["estimates"]
    with rows.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(estimates)
    refused = run("agree", labels, "--level", "nominal", "-o", tmp_path / "out.txt")
    assert isinstance(refused.exception, SourceError)


def test_a_target_can_be_enforced(labels: Path) -> None:
    command = ("agree", labels, "--level", "nominal", "--target", "cohen_kappa>=0.9")
    assert run(*command).exit_code == 0
    assert run(*command, "--enforce").exit_code == 1
    low = ("agree", labels, "--level", "nominal", "--target", "percent>=0.01", "--enforce")
    assert run(*low).exit_code == 0


def test_a_level_or_a_rubric_is_needed_and_not_both(labels: Path) -> None:
    assert "--level" in run("agree", labels).stderr
    both = run("agree", labels, "-r", "ai-response", "--level", "nominal")
    assert both.exit_code == 2


def test_the_examples_have_something_to_say() -> None:
    plans = EXAMPLES / "smart-action-plan" / "answers.csv"
    shown = run("agree", plans, "-r", "smart-action-plan", "--format", "text")
    assert shown.exit_code == 0
    for words in ("By criterion, lowest first", "Targets", "Items that drive the disagreement"):
        assert words in shown.stdout


def test_ten_items_cannot_show_much() -> None:
    shown = run("sample-size", "--target", "0.6", "--format", "text")
    assert "Ten items cannot show 0.6" in shown.stdout
    told = json.loads(run("sample-size", "--width", "0.1", "--raters", "3").stdout)
    assert told["items_for_width"] > 50
    assert run("sample-size", "--shares", "0.5,0.6").exit_code == 2


def test_nothing_is_enforced_without_a_target(labels: Path) -> None:
    """A condition that nobody stated must not pass a pipeline."""
    done = run("agree", labels, "--level", "nominal", "--enforce")
    assert done.exit_code == 2
    assert "no target to enforce" in done.stderr


def test_the_report_is_not_written_over_the_ratings(labels: Path) -> None:
    before = labels.read_bytes()
    done = run("agree", labels, "--level", "nominal", "-o", labels)
    assert isinstance(done.exception, SourceError)
    assert labels.read_bytes() == before


def test_a_report_is_written_whole_or_not_at_all(
    labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.json"
    out.write_text("old", "utf-8")

    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    refused = run("agree", labels, "--level", "nominal", "-o", out)
    assert isinstance(refused.exception, SourceError)
    assert out.read_text("utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.csv", "out.json"]
