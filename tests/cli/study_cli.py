"""A study through its commands: what the tests of these commands share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from calibrant import load_rubric
from calibrant.cli.main import cli

PLANS = load_rubric("smart-action-plan")


class Desk:
    """Somebody at a terminal, in a folder with a database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "study.db"

    def run(self, *words: object, typed: str = "", as_: str | None = None) -> Result:
        """A command as it is typed; ``typed`` is what comes after it."""
        env = {"CALIBRANT_DB": str(self.db), "COLUMNS": "80", "NO_COLOR": "1"}
        if as_ is not None:
            env["CALIBRANT_ACTOR"] = as_
        arguments = ["study", *map(str, words)]
        return CliRunner().invoke(cli, arguments, input=typed, env=env)

    def ok(self, *words: object, typed: str = "", as_: str | None = None) -> Any:
        """What a command that succeeds says, as JSON where it is."""
        result = self.run(*words, typed=typed, as_=as_)
        assert result.exit_code == 0, (words, result.output, result.exception)
        try:
            return json.loads(result.stdout)
        except json.JSONDecodeError:
            return result.stdout

    def fails(self, *words: object, as_: str | None = None, typed: str = "") -> str:
        """What a command that is refused says."""
        result = self.run(*words, as_=as_, typed=typed)
        assert result.exit_code != 0, result.output
        return result.output + (str(result.exception) if result.exception else "")

    def file(self, name: str, *records: Mapping[str, Any]) -> Path:
        """A file of records, one a line."""
        path = self.folder / name
        path.write_text("".join(json.dumps(one) + "\n" for one in records), "utf-8")
        return path


def plan_record(number: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"p-{number:02}",
        "profile": {"goal": f"become a gardener, case {number}", "lacks": ["no computer"]},
        "actions": [{"action": f"visit {number} nurseries", "deadline": "by week 2"}],
        "model": "secret-model",
        **more,
    }


def form(number: int, answer: object = 4, **more: Any) -> dict[str, Any]:
    answers = {name: str(answer) for name in PLANS.criterion_ids}
    return {"item": f"p-{number:02}", "answers": {**answers, **more}}


def begun(folder: Path, items: int = 10) -> Desk:
    """A study of plans with items and two raters, not planned yet."""
    desk = Desk(folder)
    desk.ok("create", "advice", "-r", "smart-action-plan", "--lead", "lena", "--seed", 3)
    desk.ok("items", "advice", desk.file("items.jsonl", *map(plan_record, range(1, items + 1))))
    for name in ("ann", "bob"):
        desk.ok("add-rater", "advice", name, "--group", "adviser")
    return desk


def opened(folder: Path, items: int = 10, kind: str = "calibration") -> Desk:
    """The same with an open round, its rubric acknowledged."""
    desk = begun(folder, items)
    desk.ok("plan", "advice", "--kind", kind, "--everyone")
    desk.ok("open", "advice", "--override", "a test")
    for name in ("ann", "bob"):
        desk.ok("acknowledge", "advice", "--yes", as_=name)
    return desk


def rated(desk: Desk, name: str, *forms: Mapping[str, Any]) -> Any:
    return desk.ok("rate", "advice", "--file", desk.file(f"{name}.jsonl", *forms), as_=name)
