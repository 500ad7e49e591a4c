"""Rating in the terminal: by what is typed, from files, with drafts; the walk of cases."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.study_cli import Desk, form, opened, rated

from calibrant import open_study

FIVE = "4\n3\n5\n2\n4\n"


def ratings(desk: Desk, name: str) -> dict[str, dict[str, str]]:
    study = open_study(str(desk.db), "advice", actor=name)
    try:
        return {one.key.item: dict(one.answers) for one in study.my_ratings()}
    finally:
        study.store.close()


def facts(desk: Desk, name: str) -> list[tuple[dict[str, object], dict[str, object]]]:
    study = open_study(str(desk.db), "advice", actor=name)
    try:
        return [(dict(one.facts), dict(one.words or {})) for one in study.my_ratings()]
    finally:
        study.store.close()


def test_items_are_rated_one_after_the_other(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    said = desk.ok("rate", "advice", typed=f"{FIVE}\n{FIVE}\n", as_="ann")
    assert "1 of 2" in said and "2 of 2" in said and "2 ratings handed in, 0 to go" in said
    assert "secret-model" not in said
    assert list(ratings(desk, "ann")["p-01"].values()) == ["4", "3", "5", "2", "4"]
    assert "0 ratings handed in, 0 to go" in desk.ok("rate", "advice", as_="ann")


def test_a_rubric_is_read_before_it_is_used(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    desk.ok("add-rater", "advice", "cleo")
    desk.ok("leave", "advice", "bob", "--reason", "moved")
    said = desk.run("acknowledge", "advice", typed="n\n", as_="cleo")
    assert said.exit_code != 0 and "calibrant rubric render" in said.stderr
    book = tmp_path / "handbook.html"
    desk.ok("acknowledge", "advice", "--handbook", book, typed="y\n", as_="cleo")
    assert "<h1" in book.read_text("utf-8")


def test_notes_marks_flags_and_questions_go_with_the_form(tmp_path: Path) -> None:
    desk = opened(tmp_path, 1, "main")
    typed = (
        "?\nb\nbetween 3 and 4\n4\n"  # explains everything, marks it borderline, answers
        "w\nno measure\n3\n"
        "l\nwhat counts as an hour?\n5\n"
        "e\ntwo goals\n2\n"
        "f\n4\nvisit 1 nurseries\n\n4\n"
        "\n"
    )
    said = desk.ok("rate", "advice", typed=typed, as_="ann")
    assert "all there is to know" in said and "1 rating handed in" in said
    ((told, words),) = facts(desk, "ann")
    assert told["borderline"] == ["usefulness"] and told["flags"] == ["deception"]
    assert words["notes"] == {"usefulness": "between 3 and 4", "smart_adherence": "no measure"}
    assert words["edge_case"] == "two goals"
    (question,) = desk.ok("questions", "advice")
    assert (question["item"], question["criterion"]) == ("p-01", "realism")
    assert {one["what"] for one in desk.ok("flags", "advice")} == {"red_flag", "edge_case"}


def test_every_fault_is_told_at_once_and_can_be_mended(tmp_path: Path) -> None:
    desk = opened(tmp_path, 1, "main")
    typed = (
        "9\n4\n3\nb\n\n5\n2\n4\n"  # 9 is no answer; a borderline mark without a reason
        "f\n1\nnot in the item\n\n"
        "\n"  # refused, with both faults
        "realism\nw\nclose call\n5\n\n\n"  # the note; then back to the end
    )
    said = desk.run("rate", "advice", typed=typed, as_="ann").output
    assert "'9' is no answer: 1, 2, 3, 4, 5" in said
    assert "Not handed in yet, 2 things to mend" in said
    assert "realism is marked borderline" in said and "does not stand in the item" in said
    assert ratings(desk, "ann") == {}
    mended = desk.ok("rate", "advice", typed="f\n1\n\n\n", as_="ann")  # the flag is taken back
    assert "1 rating handed in" in mended


def test_whoever_stops_finds_everything_again(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    said = desk.ok("rate", "advice", typed="4\n3\nq\n", as_="ann")
    assert "0 ratings handed in, 2 to go" in said
    cut_off = desk.run("rate", "advice", typed="5\n", as_="ann")  # the line goes dead
    assert "3/5" in cut_off.stdout and "what you have said is kept" in cut_off.stderr
    again = desk.ok("rate", "advice", typed="2\n4\n\nq\n", as_="ann")
    assert "4/5" in again.split("2 of 2")[0] and "1 rating handed in" in again
    assert [*next(iter(ratings(desk, "ann").values())).values()] == ["4", "3", "5", "2", "4"]


def test_one_can_go_back_and_set_an_item_aside(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    said = desk.ok("rate", "advice", typed=f"4\nu\n1\ns\n{FIVE}\n", as_="ann")
    assert "1 rating handed in, 1 to go; 1 set aside for later" in said
    later = desk.ok("rate", "advice", typed="3\n5\n2\n4\n\n", as_="ann")
    assert "usefulness: 1" in later.lower().replace(" / actionability", "")
    assert len(ratings(desk, "ann")) == 2


def test_letters_answer_yes_no_and_not_applicable(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ok("create", "advice", "-r", "coaching-conversation", "--lead", "lena")
    turns = [{"user": f"hello {n}", "assistant": f"hi {n}"} for n in range(6)]
    desk.ok("items", "advice", desk.file("i.jsonl", {"id": "c-1", "exchanges": turns}))
    desk.ok("add-rater", "advice", "ann")
    desk.ok("plan", "advice", "--everyone")
    desk.ok("open", "advice")
    desk.ok("acknowledge", "advice", "--yes", as_="ann")
    # after CQ9 and MT5 the rubric records something beside the answer
    typed = "y\ny\ny\nn\ny\ny\n\ny\ny\ny\na\ny\ny\ny\na\ny\ny\n\n\n"
    said = desk.run("rate", "advice", typed=typed, as_="ann").output
    assert "6. Assistant" in said
    (answers,) = ratings(desk, "ann").values()
    assert answers["CQ6"] == "NO" and "NA" in answers.values() and answers["CQ1"] == "YES"


def test_forms_come_from_a_file_and_bad_ones_are_named(tmp_path: Path) -> None:
    desk = opened(tmp_path, 3, "main")
    path = desk.file("f.jsonl", form(1), form(2, 9), form(7), {"answers": {}}, form(3))
    result = desk.run("rate", "advice", "--file", path, as_="ann")
    assert result.exit_code == 2
    assert json.loads(result.stdout) == {"study": "advice", "handed_in": 2, "bad": 3}
    for told in ("record 2: answers.realism", "record 3", "record 4: names no item"):
        assert told in result.stderr
    assert sorted(ratings(desk, "ann")) == ["p-01", "p-03"]
    again = desk.run("rate", "advice", "--file", desk.file("g.jsonl", form(1)), as_="ann")
    assert json.loads(again.stdout)["handed_in"] == 1  # the same act twice is one rating
    changed = desk.run("rate", "advice", "--file", desk.file("h.jsonl", form(1, 2)), as_="ann")
    assert changed.exit_code == 2 and "rated already" in changed.stderr


def test_the_queue_is_walked_case_by_case(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    quoted = form(1) | {"flags": [{"flag": "deception", "evidence": ["visit 1 nurseries"]}]}
    rated(desk, "ann", quoted, form(2, realism=1))
    rated(desk, "bob", form(1), form(2))
    desk.ok("close", "advice")
    typed = (
        "i\nc\nit is one\n"  # the flag: the whole item, confirmed
        "3\na\nmine\n\n\n"  # refused: the reviewers come first
        "n\nann,bob\nhours\n3\na\nmine\nslip\ny\n"
    )
    said = desk.ok("adjudicate", "advice", typed=typed)
    assert "the reviewers try for consensus" in said and "2 cases settled, none left" in said
    assert "rater " in said and "ann:" not in said
    rows = [json.loads(line) for line in desk.ok("finals", "advice").splitlines()]
    final = next(one for one in rows if (one["item"], one["criterion"]) == ("p-02", "realism"))
    assert (final["answer"], final["provenance"]) == ("3", "adjudicated")
    assert desk.ok("troubles", "advice")[0]["unclear"] == 1


def test_a_rater_sees_nothing_of_others_through_any_command(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    rated(desk, "bob", form(1) | {"note": "BOBS-WORDS"}, form(2))
    for words in (
        ("status",), ("rounds",), ("raters",), ("flags",), ("questions",), ("finals",),
        ("verdicts",), ("agree",), ("disputes", 1), ("queue",), ("journal",), ("troubles",),
    ):  # fmt: skip
        verb, *rest = words
        result = desk.run(verb, "advice", *rest, as_="ann")
        assert "BOBS-WORDS" not in result.output and "bob" not in result.output, verb


@pytest.mark.parametrize("bad", ["[1]", "{", '{"item": "p-01", "answers": {}, "round": "x"}'])
def test_what_is_no_form_is_a_fault(bad: str, tmp_path: Path) -> None:
    desk = opened(tmp_path, 1, "main")
    path = tmp_path / "f.jsonl"
    path.write_text(bad + "\n", "utf-8")
    result = desk.run("rate", "advice", "--file", path, as_="ann")
    assert result.exit_code == 2 and "record 1" in result.stderr


def test_ctrl_c_ends_the_form_at_once_and_keeps_what_was_said(tmp_path: Path) -> None:
    desk = opened(tmp_path, 1, "main")
    command = Path(sys.executable).with_name("calibrant")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [command, "study", "rate", "advice", "--db", str(desk.db), "--as", "ann"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        # a shell that runs tests in the background has Ctrl-C ignored, by all that it starts
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    os.close(theirs)
    try:
        seen = read_until(ours, "usefulness>")
        os.write(ours, b"4\n")
        seen += read_until(ours, "smart_adherence>")
        process.send_signal(signal.SIGINT)
        seen += read_until(ours, "to go")
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert "what you have said is kept" in seen
    assert "2/5" in desk.ok("rate", "advice", as_="ann")


def read_until(terminal: int, wanted: str) -> str:
    """What a terminal shows, up to these words."""
    shown = b""
    while wanted.encode() not in shown:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, shown.decode()
        shown += os.read(terminal, 65_536)
    return shown.decode()
