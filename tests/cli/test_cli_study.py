"""A study through its commands, from the first to the last: what is said, shown and refused."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import click
import polars as pl
import pytest
from tests.cli.study_cli import PLANS, Desk, begun, form, opened, plan_record, rated

from calibrant.cli.main import cli
from calibrant.store.accounts import SqlAccounts
from calibrant.store.open import open_store

TEN = range(1, 11)


def test_the_story_of_a_small_study(tmp_path: Path) -> None:
    desk = begun(tmp_path)
    assert desk.ok("plan", "advice", "--kind", "calibration", "--dry-run")["kept"] is False
    planned = desk.ok("plan", "advice", "--kind", "calibration")
    assert planned["workload"] == {"ann": 10, "bob": 10}
    desk.ok("open", "advice")
    for name in ("ann", "bob"):
        desk.ok("acknowledge", "advice", "--yes", as_=name)
    values = [1 + number % 5 for number in TEN]
    forms = [form(number, value) for number, value in zip(TEN, values, strict=True)]
    assert rated(desk, "ann", *forms)["handed_in"] == 10
    apart = form(1, values[0], realism=5)
    assert rated(desk, "bob", apart, *forms[1:])["handed_in"] == 10
    desk.ok("close", "advice")
    assert len(desk.ok("agree", "advice", "--round", 1)["targets"]) == 5
    (dispute,) = desk.ok("disputes", "advice", 1)
    assert dispute["answers"] == {"ann": "2", "bob": "5"}

    assert desk.ok("plan", "advice", "--everyone")["missing"] == [
        "1 disagreements of round 1 are not discussed"
    ]
    assert "not discussed" in desk.fails("open", "advice")
    desk.ok("discuss", "advice", 1, "p-01", "realism", "--outcome", "hours", "--with", "ann,bob")
    desk.ok("open", "advice", 2)
    rated(desk, "ann", *forms)
    rated(desk, "bob", apart, *forms[1:])
    words = "visit 2 nurseries"
    desk.ok("flag", "advice", "p-02", "--red-flag", "deception", "--quote", words, as_="ann")
    desk.ok("close", "advice")

    safety, gap = desk.ok("queue", "advice")
    assert safety["safety"] and safety["item"] == "p-02"
    assert set(gap["answers"].values()) == {"2", "5"} and "ann" not in gap["answers"]
    told = desk.run("verdicts", "advice", "--enforce")
    assert told.exit_code == 1 and "1 blocked" in told.stderr
    desk.ok("decide", "advice", safety["flags"][0], "--reject", "--reason", "it is fine")
    settle = ("settle", "advice", "p-01", "realism", "3", "--reason", "hours")
    assert "try for consensus" in desk.fails(*settle, "--how", "adjudicated")
    desk.ok(*settle, "--how", "consensus", "--with", "ann,bob")
    assert desk.ok("queue", "advice") == []
    rows = [json.loads(line) for line in desk.ok("finals", "advice").splitlines()]
    final = next(one for one in rows if (one["item"], one["criterion"]) == ("p-01", "realism"))
    assert (final["answer"], final["provenance"]) == ("3", "consensus")
    assert desk.run("verdicts", "advice", "--enforce").exit_code == 0

    desk.ok("lesson", "advice", "talk sooner")
    assert desk.ok("lessons", "advice") == [{"number": 1, "lesson": "talk sooner"}]
    kinds = [one["kind"] for one in desk.ok("journal", "advice")]
    assert kinds[:2] == ["study", "rubric"] and kinds[-1] == "lesson"
    desk.ok("leave", "advice", "bob", "--reason", "moved")
    assert desk.ok("raters", "advice")[-1]["left"]


def test_a_database_is_made_for_its_owner_and_its_path_is_told(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    said = desk.ok("create", "a", "-r", "ai-response", "--lead", "lena", "--format", "text")
    assert str(desk.db) in said
    assert stat.S_IMODE(desk.db.stat().st_mode) == 0o600
    assert [one["study"] for one in desk.ok("list")] == ["a"]
    assert str(desk.db) in desk.ok("status", "a", "--format", "text")
    assert desk.ok("doctor") == {"db": str(desk.db), "in_order": True, "findings": []}
    desk.db.chmod(0o644)
    assert "chmod 600" in desk.fails("doctor")


def test_a_password_is_never_shown() -> None:
    from calibrant.compose import shown_place

    shown = shown_place("postgresql://lena:pa55@host/db?password=pa55")
    assert "host/db" in shown and "pa55" not in shown


def test_nothing_comes_in_while_a_record_is_bad(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ok("create", "advice", "-r", "smart-action-plan", "--lead", "lena")
    bad = {"id": "p-02", "profile": {"goal": ""}, "actions": []}
    path = desk.file("items.jsonl", plan_record(1), bad, plan_record(1), plan_record(3))
    told = desk.fails("items", "advice", path)
    assert "record 2" in told and "record 3" in told and "2 bad records: nothing was added" in told
    assert desk.ok("status", "advice")["items"] == 0
    assert desk.ok("items", "advice", path, "--skip-bad")["added"] == 2
    assert desk.ok("items", "advice", desk.file("again.jsonl", plan_record(1)))["known"] == 1
    other = plan_record(1) | {"profile": {"goal": "another"}}
    told = desk.fails("items", "advice", desk.file("other.jsonl", plan_record(4), other))
    assert "another content" in told and desk.ok("status", "advice")["items"] == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("status", "nope"), "unknown study 'nope'"),
        (("plan", "advice", "--per-item", 1, "--everyone"), "choose one of"),
        (("plan", "advice", "--repeats", "0.5"), "repeats must be 0, or from 0.05 to 0.10"),
        (("plan", "advice", "--items", "p-01,x"), "item 'x' is not in this study"),
        (("open", "advice"), "no round is planned"),
        (("close", "advice", 9), "has no round 9"),
        (("add-rater", "advice", "ann"), "is a member already"),
        (("add-rater", "advice", "gpt", "--kind", "LLM"), "have a card"),
        (("flag", "advice", "p-01"), "say one of --red-flag"),
        (("decide", "advice", 1, "--reason", "x"), "say --confirm or --reject"),
        (("refine", "advice", "smart-action-plan"), "say --cause"),
        (("step", "advice", "realism", "discuss", "--note", "x"), "there is no loop"),
        (("opne", "advice"), "Did you mean 'open'?"),
        (("start-phase", "advice", "x"), "plans no phases"),
    ],
)
def test_mistakes_are_told_in_a_sentence(
    words: tuple[object, ...], told: str, tmp_path: Path
) -> None:
    assert told in begun(tmp_path, 2).fails(*words)


def test_who_may_not_is_refused(tmp_path: Path) -> None:
    desk = begun(tmp_path, 2)
    assert "this takes a lead" in desk.fails("plan", "advice", as_="ann")
    assert "is not a member" in desk.fails("status", "advice", "--as", "eve")
    assert [one["name"] for one in desk.ok("raters", "advice", as_="ann")] == ["lena", "ann"]


def test_what_cannot_be_undone_asks_first(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    redact = ("redact", "advice", "p-01", "--reason", "asked for")
    assert "Say --yes" in desk.fails(*redact)
    desk.fails(*redact, typed="n\n")
    assert "gardener" in desk.ok("rate", "advice", as_="ann")
    desk.ok(*redact, typed="y\n")
    assert "will be withdrawn" in desk.fails("close", "advice", "--reason", "enough")
    assert "close it with a reason" in desk.fails("close", "advice")
    assert desk.ok("close", "advice", "--reason", "enough", "--yes")["withdrawn"] == 2
    with desk.db.open("rb") as file:
        assert b"case 1" not in file.read()


def test_a_backup_comes_back_whole(tmp_path: Path) -> None:
    desk = opened(tmp_path, 10)
    copy = tmp_path / "copy.db"
    desk.ok("backup", copy)
    assert "is there already" in desk.fails("backup", copy)
    other = tmp_path / "other.db"
    assert "Say --yes" in desk.fails("restore", copy, "--db", other)
    desk.ok("restore", copy, "--db", other, "--yes")
    assert "is not empty" in desk.fails("restore", copy, "--db", other, "--yes")
    store = open_store(str(other))
    assert [one.kind for one in SqlAccounts(store).events()] == ["restored"]
    store.close()
    assert desk.ok("journal", "advice", "--db", other) == desk.ok("journal", "advice")


def test_the_journal_tells_of_ratings_and_can_be_read_in_part(tmp_path: Path) -> None:
    desk = opened(tmp_path)
    rated(desk, "ann", *(form(number, 2) for number in TEN[:4]))
    lines = desk.ok("journal", "advice")
    ratings = [one for one in lines if one["kind"] == "rated"]
    assert [one["actor"] for one in ratings] == ["ann"] * 4
    assert {one["number"] for one in ratings} == {None} and ratings[0]["words"] is None
    assert sorted(ratings[0]["body"]) == ["occasion", "rubric", "version"]
    assert desk.ok("journal", "advice", "--no-ratings") == [one for one in lines if one["number"]]
    mine = [one for one in lines if one["actor"] == "ann"]
    assert desk.ok("journal", "advice", "--who", "ann") == mine
    assert desk.ok("journal", "advice", "--limit", "3") == lines[-3:]
    third = next(at for at, one in enumerate(lines) if one["number"] == 3)
    assert desk.ok("journal", "advice", "--after", "3") == lines[third + 1 :]
    assert desk.ok("journal", "advice", "--after", "3", "--limit", "2") == lines[-2:]
    item = ratings[0]["item"]
    assert desk.ok("journal", "advice", "--kind", "rated", "--item", item) == ratings[:1]
    assert "no line '999'" in desk.fails("journal", "advice", "--after", "999")
    assert "rated" in desk.ok("journal", "advice", "--format", "text")


def test_status_is_one_screen_of_80_columns_for_everybody(tmp_path: Path) -> None:
    desk = opened(tmp_path)
    values = [1 + number % 5 for number in TEN]
    forms = [form(number, value) for number, value in zip(TEN, values, strict=True)]
    rated(desk, "ann", *forms)
    rated(desk, "bob", *forms[:4])
    screen = desk.ok("status", "advice", "--format", "text")
    *lines, path = screen.splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) < 24 and path == str(desk.db)
    assert "4 of 10" in screen and "round 1: 6 of 20 ratings to come" in screen
    mine = desk.ok("status", "advice", "--format", "text", as_="bob")
    assert "ann" not in mine and "rate 6 items of round 1" in mine
    rated(desk, "bob", *forms[4:])
    desk.ok("close", "advice")
    screen = desk.ok("status", "advice", "--format", "text")
    assert "Agreement in round 1 against cohen_kappa:quadratic >= 0.6" in screen
    assert "realism" in screen and "plan the next round" in screen
    found = desk.ok("status", "advice")
    assert found["agreement"][0]["value"] == 1 and found["actor"] == "lena"


def test_phases_are_walked_and_overridden(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    words = ("-r", "ai-response", "--lead", "lena", "--start", "2026-03-02")
    desk.ok("create", "answers", *words)
    first, second, *_ = desk.ok("phases", "answers")
    assert (first["phase"], first["first_day"]) == ("initial_annotation", "2026-03-02")
    assert "Initial annotation" in desk.ok("phases", "answers", "--format", "text")
    desk.ok("start-phase", "answers", "initial_annotation")
    assert "may override" in desk.fails("finish-phase", "answers", "initial_annotation")
    desk.ok("finish-phase", "answers", "initial_annotation", "--override", "a pilot")
    assert desk.ok("phases", "answers")[0]["state"] == "done"
    desk.ok("keep-guidelines", "answers", "--reason", "they held")
    assert desk.ok("finalise", "answers")["rubric"] == "ai-response@1.0"
    desk.ok("check-in", "answers", "--with", "lena", "--decisions", "go on")
    assert "●" in desk.ok("status", "answers", "--format", "text") or second


def test_the_next_version_is_replayed_before_it_is_in_force(tmp_path: Path) -> None:
    desk = opened(tmp_path, 2, "main")
    rated(desk, "ann", form(1), form(2))
    rated(desk, "bob", form(1), form(2))
    desk.ok("close", "advice")
    text = (Path(load_path())).read_text("utf-8")
    new = tmp_path / "rubric.yaml"
    question = PLANS.criterion("clarity").question
    new.write_text(
        text.replace('version: "1.0"', 'version: "1.1"').replace("version: 1.0", "version: 1.1")
        .replace(question, "Is the plan clear and short?"),
        "utf-8",
    )  # fmt: skip
    shown = desk.ok("refine", "advice", new, "--dry-run")
    assert shown["ask_again"] == ["clarity"] and shown["adopted"] is False
    assert [one["rubric"] for one in desk.ok("versions", "advice")] == ["smart-action-plan@1.0"]
    desk.ok("refine", "advice", new, "--cause", "edge_case", "--text", "short")
    assert desk.ok("versions", "advice")[-1]["cause"] == "edge_case"
    assert "higher version" in desk.fails("refine", "advice", "smart-action-plan", "--cause",
                                          "edge_case", "--text", "x")  # fmt: skip


def load_path() -> Path:
    from importlib.resources import files

    return Path(str(files("calibrant.rubrics") / "smart-action-plan.yaml"))


def test_questions_reach_the_lead_and_answers_come_back(tmp_path: Path) -> None:
    desk = begun(tmp_path, 2)
    desk.ok("ask", "advice", "Is a call a deadline?", "--criterion", "clarity", as_="ann")
    (asked,) = desk.ok("questions", "advice")
    assert (asked["by"], asked["criterion"]) == ("ann", "clarity")
    assert desk.ok("questions", "advice", as_="bob") == []
    desk.ok("answer", "advice", asked["number"], "No.", "--share")
    assert desk.ok("questions", "advice", as_="bob")[0]["answers"] == ["No."]
    assert desk.ok("troubles", "advice")[0] | {} == {
        "criterion": "clarity", "disagreements": 0, "unclear": 0, "questions": 1, "edge_cases": 0,
    }  # fmt: skip


# -- text from anywhere


ESCAPE = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\u202e\x9b31m"


def test_the_text_of_an_item_cannot_steer_the_terminal(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ok("create", "advice", "-r", "smart-action-plan", "--lead", "lena")
    hostile = plan_record(1) | {"actions": [{"action": f"visit{ESCAPE}\rhidden\tnow"}]}
    desk.ok("items", "advice", desk.file("items.jsonl", hostile))
    desk.ok("add-rater", "advice", "ann")
    desk.ok("plan", "advice", "--everyone")
    desk.ok("open", "advice", "--override", "a test")
    desk.ok("acknowledge", "advice", "--yes", as_="ann")
    shown = desk.ok("rate", "advice", as_="ann")
    assert "\\x1b]0;owned\\x07" in shown and "\\u202e" in shown and "\\rhidden" in shown
    desk.ok("flag", "advice", "p-01", "--review", f"look {ESCAPE}")
    desk.ok("ask", "advice", f"why {ESCAPE}", as_="ann")
    for words in (
        ("flags", "advice"), ("questions", "advice"), ("journal", "advice"), ("queue", "advice"),
        ("status", "advice"),
    ):  # fmt: skip
        shown += desk.ok(*words, "--format", "text")
    shown += desk.run("adjudicate", "advice", typed="i\nq\n").output
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(shown)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_no_cell_of_a_result_is_run_by_a_spreadsheet(suffix: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ok("create", "advice", "-r", "smart-action-plan", "--lead", "lena")
    desk.ok("items", "advice", desk.file("i.jsonl", plan_record(1) | {"id": "=cmd|' /C calc'!A0"}))
    for name in ("ann", "bob"):
        desk.ok("add-rater", "advice", name)
    desk.ok("plan", "advice", "--everyone")
    desk.ok("open", "advice", "--override", "a test")
    for name in ("ann", "bob"):
        desk.ok("acknowledge", "advice", "--yes", as_=name)
        rated(desk, name, form(1) | {"item": "=cmd|' /C calc'!A0"})
    desk.ok("close", "advice")
    out = tmp_path / f"verdicts{suffix}"
    desk.ok("verdicts", "advice", "-o", out)
    if suffix == ".csv":
        assert pl.read_csv(out)["item"][0].startswith("'=")
    else:
        from openpyxl import load_workbook

        sheet = load_workbook(out).active
        assert sheet is not None
        assert {one.data_type for row in sheet.iter_rows() for one in row} <= {"s", "n", "b"}
    assert "=cmd" in desk.ok("verdicts", "advice", "--format", "text")


def verbs() -> list[str]:
    context = click.Context(cli)
    group = cli.get_command(context, "study")
    assert isinstance(group, click.Group)
    return group.list_commands(click.Context(group))


@pytest.mark.parametrize("verb", verbs())
def test_every_verb_explains_itself_with_an_example(verb: str) -> None:
    told = Desk(Path()).ok(verb, "--help")
    assert f"calibrant study {verb} " in told.replace(f"{verb}\n", f"{verb} ")
    assert "Example" in told
    assert all(len(line) <= 100 for line in told.splitlines())
