"""The built wheel, installed in an empty environment, can do everything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("wheel")


def call(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, cwd=cwd, env=env, check=False
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    pip = (sys.executable, "-m", "pip")
    built = call(*pip, "wheel", ROOT, "--no-deps", "--no-build-isolation", "--wheel-dir", out)
    assert built.returncode == 0, built.stderr
    return next(out.glob("calibrant-*.whl"))


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("empty")
    venv.create(home, with_pip=True)
    constraints = home / "constraints.txt"
    pins = [line.rstrip("\\ ") for line in (ROOT / "requirements.lock").read_text().splitlines()]
    constraints.write_text(
        "\n".join(line for line in pins if "==" in line and "--hash" not in line)
    )
    pip = (home / "bin/python", "-m", "pip")
    installed = call(*pip, "install", "--quiet", wheel, "--constraint", constraints)
    assert installed.returncode == 0, installed.stderr
    return home / "bin/calibrant"


def test_the_wheel_carries_data_types_and_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "calibrant/py.typed",
        "calibrant/rubrics/coaching-conversation.yaml",
        "calibrant/rubrics/smart-action-plan.yaml",
        "calibrant/rubrics/ai-response.yaml",
        "calibrant/formats/starter.yaml",
        "calibrant/formats/handbook.css",
        "calibrant/store/migrations/versions/m0001_first.py",
    ):
        assert wanted in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests", "bench", "docs")) for name in names)


def test_every_command_works_from_the_wheel(command: Path, tmp_path: Path) -> None:
    example = ROOT / "examples/coaching-conversation"
    calls: list[tuple[str | Path, ...]] = [
        ("--version",),
        ("rubric", "list"),
        ("rubric", "show", "ai-response"),
        ("rubric", "init", "mine.yaml"),
        ("rubric", "validate", "mine.yaml", "smart-action-plan"),
        ("rubric", "schema", "-o", "schema.json"),
        ("rubric", "render", "mine.yaml", "-o", "handbook.html"),
        ("rubric", "render", "ai-response", "-o", "handbook.md"),
        ("rubric", "diff", "mine.yaml", "mine.yaml"),
        ("items", "check", example / "items.jsonl"),
        ("items", "schema", "plan"),
        ("score", example / "answers.jsonl", "-r", "coaching-conversation", "-o", "v.parquet"),
        ("score", example / "answers.csv", "-r", "coaching-conversation", "--format", "text"),
    ]
    for words in calls:
        result = call(command, *words, cwd=tmp_path)
        assert result.returncode == 0, (words, result.stderr)
    rows = call(command, "score", example / "answers.jsonl", "-r", "coaching-conversation")
    assert json.loads(rows.stdout.splitlines()[0])["id"] == "coaching-01"
