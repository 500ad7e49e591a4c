"""One's own ratings through commands: shown, and corrected in a form or from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.study_cli import Desk, form, opened, rated


def latest(desk: Desk, name: str, item: str = "p-01") -> dict[str, Any]:
    found: list[dict[str, Any]] = desk.ok("ratings", "advice", as_=name)
    return next(one for one in found if one["item"] == item)


def test_ratings_are_shown_to_whoever_made_them(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    assert "no ratings yet" in desk.ok("ratings", "advice", "--format", "text", as_="ann")
    rated(desk, "ann", form(1) | {"note": "mine"}, form(2, 2))
    rated(desk, "bob", form(1, 5))
    found = desk.ok("ratings", "advice", as_="ann")
    assert [(one["item"], one["revision"]) for one in found] == [("p-01", 1), ("p-02", 1)]
    assert found[0]["answers"]["realism"] == "4" and found[0]["words"] == {"note": "mine"}
    assert desk.ok("ratings", "advice", "--round", 1, as_="bob")[0]["answers"]["realism"] == "5"
    text = desk.ok("ratings", "advice", "--format", "text", as_="ann")
    assert "p-01" in text and "realism 4" in text.replace("\n", " ")


def test_a_rating_is_corrected_in_the_form_it_was_made_in(tmp_path: Path) -> None:
    desk = opened(tmp_path, 1, "main")
    first = form(1) | {
        "notes": {"realism": "no hours"},
        "borderline": ["realism"],
        "flags": [{"flag": "deception", "evidence": ["visit 1 nurseries"]}],
    }
    rated(desk, "ann", first)
    said = desk.ok(
        "correct", "advice", "p-01", "--reason", "misread", typed="clarity\n2\n\n", as_="ann"
    )
    assert "“no hours”" in said and "red flag deception" in said
    assert "p-01 is corrected: revision 2" in said
    found = latest(desk, "ann")
    assert found["revision"] == 2 and found["answers"]["clarity"] == "2"
    assert found["answers"]["realism"] == "4" and found["flags"] == ["deception"]
    assert found["words"]["notes"] == {"realism": "no hours"}
    assert len(desk.ok("flags", "advice", as_="ann")) == 1  # raised once
    (entry,) = [one for one in desk.ok("journal", "advice") if one["kind"] == "corrected"]
    assert "clarity" in json.dumps(entry) and "misread" in json.dumps(entry)


def test_nothing_is_changed_unless_it_is_handed_in(tmp_path: Path) -> None:
    desk = opened(tmp_path, 1, "main")
    rated(desk, "ann", form(1))
    for typed in ("realism\n1\nq\n", "realism\n1\ns\n", "realism\n1\n"):
        said = desk.ok("correct", "advice", "p-01", typed=typed, as_="ann")
        assert "the rating of p-01 is as it was" in said
    assert latest(desk, "ann")["revision"] == 1
    wrong = "f\n1\nnot in the item\n\n\n" + "f\n1\n\n\n"  # a fault, told; then mended
    said = desk.ok("correct", "advice", "p-01", typed=wrong, as_="ann")
    assert "does not stand in the item" in said and "revision 2" in said


def test_what_cannot_be_corrected_is_told(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    rated(desk, "ann", form(1), form(2))
    rated(desk, "bob", form(1), form(2))
    assert "you have no rating of 'p-09'" in desk.fails("correct", "advice", "p-09", as_="ann")
    assert "name the ITEM, or --file" in desk.fails("correct", "advice", as_="ann")
    desk.ok("close", "advice")
    assert "in an open round" in desk.fails("correct", "advice", "p-01", as_="ann")


def test_ratings_are_corrected_from_a_file(tmp_path: Path) -> None:
    desk = opened(tmp_path, 3, "main")
    rated(desk, "ann", form(1), form(2))
    better = desk.file("b.jsonl", form(1, 2), form(2, 9), form(3), form(7))
    result = desk.run("correct", "advice", "--file", better, as_="ann")
    assert result.exit_code == 2
    assert json.loads(result.stdout) == {"study": "advice", "corrected": 1, "bad": 3}
    assert "record 2: answers.realism" in result.stderr
    assert "record 3" in result.stderr and "no rating to correct" in result.stderr
    assert (latest(desk, "ann")["revision"], latest(desk, "ann")["answers"]["realism"]) == (2, "2")
    one = desk.file("c.jsonl", form(1, 2))
    assert desk.ok("correct", "advice", "--file", one, as_="ann")["corrected"] == 1
    assert latest(desk, "ann")["revision"] == 2  # the same form twice is one correction
    back = desk.file("d.jsonl", form(1))
    desk.ok("correct", "advice", "--file", back, as_="ann")
    assert (latest(desk, "ann")["revision"], latest(desk, "ann")["answers"]["realism"]) == (3, "4")


def test_check_ins_are_shown(tmp_path: Path) -> None:
    desk = opened(tmp_path, 1, "main")
    assert "no check-ins yet" in desk.ok("check-ins", "advice", "--format", "text")
    desk.ok("check-in", "advice", "--with", "ann,bob", "--decisions", "hours include travel")
    (found,) = desk.ok("check-ins", "advice")
    assert found["attendees"] == ["ann", "bob"] and found["decisions"] == "hours include travel"
    text = desk.ok("check-ins", "advice", "--format", "text")
    assert "ann, bob" in text and "hours include" in text
    assert "this takes a lead" in desk.fails("check-ins", "advice", as_="ann")
