"""The house stays in order: public names, imports, nothing that must not be committed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import calibrant

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src/calibrant").rglob("*.py"))


def test_public_names_are_sorted_importable_and_documented() -> None:
    assert calibrant.__all__ == sorted(calibrant.__all__)
    for name in calibrant.__all__:
        assert getattr(calibrant, name).__doc__ or name == "Item", name


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, calibrant; sys.exit(bool({'polars', 'numpy', 'pydantic'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_room_is_called_after_nothing(path: Path) -> None:
    vague = {"utils", "helpers", "common", "manager", "service", "base"}
    assert path.stem not in vague
    assert len(path.read_text("utf-8").splitlines()) <= 450


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_fit_on_a_screen(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno < 80, f"{node.name} in {path.name}"


def test_no_host_of_a_registry_and_no_path_of_a_machine_is_committed() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    assert "://" not in lock
    for name in listed:
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".yaml", ".sh", ".json") and path.is_file():
            found = re.search(r"(?<![\w.])/(?:root|home|work|farm)/[a-z.]", path.read_text("utf-8"))
            assert found is None, f"{name}: {found}"
