"""``calibrant account``: whoever can reach the database looks after its accounts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from calibrant.cli.main import cli
from calibrant.compose import open_workspace

GOOD = "three plain words"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A workspace with an owner, and with Ann, who is signed in and has a token."""
    path = tmp_path / "study.db"
    opened = open_workspace(str(path), create=True)
    opened.links.accept(opened.owners.begin("olga"), GOOD)
    opened.links.accept(opened.links.invite("ann", None, by="olga"), GOOD)
    opened.tokens.make("ann", "nightly export", may_write=False, days=30)
    opened.close()
    return path


def run(db: Path, *words: str) -> Result:
    env = {"CALIBRANT_DB": str(db), "COLUMNS": "100", "NO_COLOR": "1"}
    return CliRunner().invoke(cli, ["account", *words], env=env)


def ok(db: Path, *words: str) -> Any:
    result = run(db, *words)
    assert result.exit_code == 0, (result.output, result.exception)
    return json.loads(result.stdout)


def test_accounts_are_listed(db: Path) -> None:
    found = ok(db, "list")
    assert [(one["name"], one["owner"], one["signed_in"]) for one in found] == [
        ("ann", False, 1),
        ("olga", True, 1),
    ]
    text = run(db, "list", "--format", "text").stdout
    assert "olga" in text and "owner" in text
    assert "argon2" not in json.dumps(found)


def test_a_link_sets_a_new_password(db: Path) -> None:
    link = ok(db, "reset-link", "ann", "--url", "https://ratings.example.org/")["link"]
    start, _, secret = link.rpartition("/")
    assert start == "https://ratings.example.org/invite"
    opened = open_workspace(str(db))
    opened.links.accept(secret, "another good one")
    opened.door.enter("ann", "another good one")
    log = [(one.kind, one.actor) for one in opened.door.means.accounts.last_events(3)]
    assert log == [("signed_in", "ann"), ("link_used", "ann"), ("link_made", "command line")]
    opened.close()


def test_signing_out_and_closing(db: Path) -> None:
    assert ok(db, "sign-out", "ann")["ended"] == 1
    assert ok(db, "sign-out", "ann")["ended"] == 0
    assert run(db, "close", "ann").exit_code != 0, "it asks first"
    ok(db, "close", "ann", "--yes")
    assert next(one for one in ok(db, "list") if one["name"] == "ann")["closed_at"]
    assert "the only owner" in str(run(db, "close", "olga", "--yes").exception)


def test_tokens_are_listed_and_ended(db: Path) -> None:
    (token,) = ok(db, "tokens", "ann")
    assert (token["label"], token["may_write"], token["used_at"]) == (
        "nightly export",
        False,
        None,
    )
    assert ok(db, "tokens", "ann", "--end", "nightly export")["ended"] == 1
    assert ok(db, "tokens", "ann", "--end", "nightly export")["ended"] == 0
    assert "ended" in run(db, "tokens", "ann", "--format", "text").stdout
    assert "no tokens" in run(db, "tokens", "olga", "--format", "text").stdout


@pytest.mark.parametrize("command", ["reset-link", "close", "sign-out", "tokens"])
def test_an_unknown_name_is_told(db: Path, command: str) -> None:
    assert "did you mean 'ann'?" in str(run(db, command, "anna").exception)


def test_what_happened_is_shown_to_whoever_runs_the_program(db: Path) -> None:
    found = ok(db, "log")
    assert [one["kind"] for one in found][:2] == ["account_made", "link_made"]
    assert found[-1]["said"] == "ann made the token “nightly export”, which only reads"
    assert [one["kind"] for one in ok(db, "log", "--who", "ann", "--limit", "2")] == [
        "link_used",
        "token_made",
    ]
    text = run(db, "log", "--kind", "link_used", "--format", "text").stdout
    assert "ann came in by a link and began their account" in text and "token" not in text
    assert "nothing of that kind" in run(db, "log", "--kind", "x", "--format", "text").stdout
