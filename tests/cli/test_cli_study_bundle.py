"""Leaving and coming back through commands: export, import, verify."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import polars as pl
from tests.cli.study_cli import Desk, form, opened, rated


def finished(folder: Path) -> Desk:
    desk = opened(folder, 3, "main")
    for name, far in (("ann", 4), ("bob", 2)):
        rated(desk, name, form(1), form(2, far), form(3))
    desk.ok("close", "advice")
    return desk


def test_a_study_leaves_is_proved_and_comes_back(tmp_path: Path) -> None:
    desk = finished(tmp_path)
    made = desk.ok("export", "advice", tmp_path / "advice.zip")
    assert made["counts"]["ratings"] == 6 and not made["pseudonymous"]
    proved = desk.ok("verify", tmp_path / "advice.zip")
    assert (proved["hash"], proved["study"], proved["tables"]) == (
        made["hash"], "advice", "made anew"
    )  # fmt: skip
    text = desk.ok("verify", tmp_path / "advice.zip", "--format", "text")
    assert "is whole: study advice, " in text and "6 ratings" in text and made["hash"] in text

    told = desk.fails("import", tmp_path / "advice.zip")
    assert "there is a study 'advice' already" in told
    other = ("--db", str(tmp_path / "other.db"))
    came = desk.ok("import", tmp_path / "advice.zip", *other)
    assert (came["study"], came["lead"]) == ("advice", "lena")
    assert desk.ok("import", tmp_path / "advice.zip", "--name", "two", *other)["study"] == "two"
    again = desk.ok("export", "two", tmp_path / "again", *other)
    assert again["hash"] == made["hash"]
    assert desk.ok("verdicts", "two", *other) == desk.ok("verdicts", "advice")


def test_a_bundle_that_was_touched_is_refused(tmp_path: Path) -> None:
    desk = finished(tmp_path)
    desk.ok("export", "advice", tmp_path / "b")
    ratings = tmp_path / "b/ratings.jsonl"
    ratings.write_bytes(ratings.read_bytes().replace(b'"realism":"4"', b'"realism":"5"', 1))
    for words in (("verify", tmp_path / "b"), ("import", tmp_path / "b", "--name", "x")):
        assert "ratings.jsonl is not the file that was written" in desk.fails(*words)
    assert [one["study"] for one in desk.ok("list")] == ["advice"]
    assert "no such folder or file" in desk.fails("verify", tmp_path / "nothing")


def test_names_stay_behind_on_request(tmp_path: Path) -> None:
    desk = finished(tmp_path)
    made = desk.ok("export", "advice", tmp_path / "p.zip", "--pseudonyms")
    assert made["pseudonymous"]
    with zipfile.ZipFile(tmp_path / "p.zip") as archive:
        for name in ("members.jsonl", "ratings.jsonl", "assignments.jsonl", "journal.jsonl"):
            text = archive.read(name).decode()
            assert '"ann"' not in text and '"bob"' not in text, name
    text = desk.ok("verify", tmp_path / "p.zip", "--format", "text")
    assert "members go by other names" in text


def test_tables_for_people(tmp_path: Path) -> None:
    desk = finished(tmp_path)
    made = desk.ok("export", "advice", "--tables", tmp_path / "t", "--wide")
    assert made["tables"] == str(tmp_path / "t") and "hash" not in made
    frame = pl.read_csv(tmp_path / "t/ratings.csv")
    assert {"ann", "bob"} <= set(frame.columns)
    both = desk.ok("export", "advice", tmp_path / "b", "--tables", tmp_path / "t.xlsx")
    assert both["hash"] and (tmp_path / "t.xlsx").is_file()
    assert "is there already" in desk.fails("export", "advice", tmp_path / "b")


def test_what_is_missing_and_who_may_not_is_told(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    assert "name a BUNDLE to write, or --tables" in desk.fails("export", "advice")
    assert "--wide goes with --tables" in desk.fails("export", "advice", tmp_path / "b", "--wide")
    assert "this takes a lead" in desk.fails("export", "advice", tmp_path / "b", as_="ann")
    assert not (tmp_path / "b").exists()
    text = desk.ok("export", "advice", tmp_path / "b", "--format", "text")
    hash = json.loads((tmp_path / "b/manifest.json").read_text("utf-8"))["hash"]
    assert hash in text and "2 items" in text
