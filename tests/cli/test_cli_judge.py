"""``calibrant judge`` as its users call it, against a server that only pretends to think."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.cli.study_cli import Desk, plan_record
from tests.judge.stub_server import Running, serving

import calibrant
from calibrant.cli.judge_show import figures
from calibrant.cli.main import cli
from calibrant.core.errors import CalibrantError, SourceError
from calibrant.engine.jobs import Tally
from calibrant.ports.chat import Usage
from calibrant.raters.judge.prices import Price

EXAMPLES = Path(__file__).parents[2] / "examples"
RUBRICS = ("coaching-conversation", "smart-action-plan", "ai-response")
CHATS = EXAMPLES / "coaching-conversation" / "items.jsonl"
PLANS = EXAMPLES / "smart-action-plan" / "items.jsonl"
SECRET = "sk-nobody-may-see-this"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of this run, and no setting of this machine, has a say."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("CALIBRANT_", "OPENAI_")) and name != "CALIBRANT_TEST_POSTGRES":
            monkeypatch.delenv(name)


def run(*words: object, **env: str) -> Result:
    return CliRunner().invoke(cli, ["judge", *map(str, words)], env=env)


def told(result: Result, status: int = 0) -> dict[str, Any]:
    assert result.exit_code == status, (result.output, result.exception)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def asks(stub: Running, *more: object) -> list[object]:
    return ["--model", "stub", "--base-url", stub.base_url, *more]


@pytest.mark.parametrize("name", RUBRICS)
@pytest.mark.parametrize("way", ["criterion", "category", "rubric"])
def test_every_item_gets_every_answer(name: str, way: str) -> None:
    items, out = EXAMPLES / name / "items.jsonl", Path("r.jsonl")
    with serving() as stub:
        found = told(run(items, "-r", name, *asks(stub, "--way", way, "-o", out)))
    assert found["incomplete"] == 0 and found["run"]["stopped"] == ""
    ratings = records(out)
    ids = [json.loads(line)["id"] for line in items.read_text("utf-8").splitlines()]
    assert [one["item"] for one in ratings] == ids
    for one in ratings:
        assert "ERROR" not in one["answers"].values()
        assert one["metadata"]["card"] == found["cards"][one["rater"]]["hash"]
        assert all(call["rung"] == "json_schema" for call in one["metadata"]["calls"])
        assert all(call["reply"] for call in one["metadata"]["calls"])
        given = {
            k for k, v in one["answers"].items() if k not in one["metadata"].get("by_code", [])
        }
        assert set(one["metadata"]["probabilities"]) == given
    for command in ("score", "agree"):
        read = CliRunner().invoke(cli, [command, str(out), "-r", name])
        assert read.exit_code == 0, read.output


def test_the_same_command_pays_for_nothing_twice() -> None:
    with serving() as stub:
        first = told(run(CHATS, "-r", RUBRICS[0], *asks(stub, "-o", "r.jsonl")))
        before, text = stub.counts()["sent"], Path("r.jsonl").read_text("utf-8")
        again = told(run(CHATS, "-r", RUBRICS[0], *asks(stub, "-o", "r.jsonl")))
        assert stub.counts()["sent"] == before
        Path("r.jsonl").unlink()
        anew = told(run(CHATS, "-r", RUBRICS[0], *asks(stub, "-o", "r.jsonl")))
        assert stub.counts()["sent"] == before
    assert Path("r.jsonl").read_text("utf-8") == text
    assert first["judges"] == again["judges"] == anew["judges"]
    assert anew["run"]["kept"] == first["run"]["calls"]


def test_an_outage_is_incomplete_and_asked_again_alone() -> None:
    with serving(faults="error=0.6", seed=4) as stub:
        broken = run(CHATS, "-r", RUBRICS[0], *asks(stub, "-o", "r.jsonl", "--attempts", 1))
    found = told(broken, status=1)
    assert 0 < found["incomplete"] <= 10
    (judge,) = found["judges"].values()
    assert set(judge["abstained"]) == {"server_error"}
    scored = CliRunner().invoke(cli, ["score", "r.jsonl", "-r", RUBRICS[0]])
    verdicts = [json.loads(line) for line in scored.stdout.splitlines()]
    for one, rating in zip(verdicts, records(Path("r.jsonl")), strict=True):
        lacks = bool(rating["metadata"].get("abstained"))
        assert one["status"] == ("incomplete" if lacks else "complete")
        assert not lacks or one["verdict"] == "undecided"
    with serving() as stub:
        mended = told(run(CHATS, "-r", RUBRICS[0], *asks(stub, "-o", "r.jsonl")))
        assert stub.counts()["sent"] == sum(judge["abstained"].values())
    assert mended["incomplete"] == 0


def test_bad_records_are_named_before_anything_is_sent() -> None:
    Path("bad.jsonl").write_text('{"id": "a", "exchanges": [["u", "v"]]}\n{"id": "b"}\n', "utf-8")
    with serving() as stub:
        refused = run("bad.jsonl", "-r", RUBRICS[0], *asks(stub, "-o", "r.jsonl"))
        assert refused.exit_code == 2
        assert "1 bad record" in refused.stderr and "--skip-bad" in refused.stderr
        assert stub.counts()["sent"] == 0
        found = told(run("bad.jsonl", "-r", RUBRICS[0], *asks(stub, "-o", "r.jsonl", "--skip-bad")))
    assert found["items"] == 1


def test_a_dry_run_sends_nothing_and_writes_nothing() -> None:
    shown = told(
        run(CHATS, "-r", RUBRICS[0], "--model", "m", "--dry-run", "--price", "m=1/2",
            CALIBRANT_BASE_URL="http://127.0.0.1:9/v1")
    )  # fmt: skip
    (judge,) = shown["judges"]
    assert shown["items"] == 10 and judge["calls"] == 149
    assert [one["role"] for one in shown["messages"]] == ["system", "user"]
    assert 0 < float(judge["cost"]) < float(judge["at_most"])
    assert not list(Path().iterdir())
    text = run(CHATS, "-r", RUBRICS[0], "--model", "m", "--dry-run", "--format", "text").stdout
    assert "ITEM BEGINS" in text and "nothing was sent" in text


def test_a_panel_is_combined_and_sent_on() -> None:
    options = ("--model", "gpt-a", "--model", "gpt-b", "--samples", 2, "--policy", "majority",
               "--escalate-to", "large", "--price", "gpt-a=1/1", "--price", "gpt-b=1/1",
               "--price", "large=10/10", "-o", "r.jsonl")  # fmt: skip
    with serving() as stub:
        command = (PLANS, "-r", RUBRICS[1], "--base-url", stub.base_url, *options)
        found, calls = told(run(*command)), stub.counts()["sent"]
        assert told(run(*command))["cascade"] == found["cascade"]
        assert stub.counts()["sent"] == calls
        shown = run(*command, "--format", "text").stdout
    panel, cascade = found["panel"], found["cascade"]
    assert len(panel["members"]) == 4 and panel["policy"] == "majority"
    assert 1 <= panel["effective_number"]["value"] <= 4
    assert any("one family (gpt)" in one for one in found["warnings"])
    assert {len(one) for one in found["stability"].values()} == {5}
    sent_on = records(Path("r.escalated.jsonl"))
    assert [one["item"] for one in sent_on]
    assert len(sent_on) == cascade["escalated"] == found["judges"][cascade["to"]]["ratings"]
    assert all(one["why"] for one in sent_on) and "saved" in cascade
    together = records(Path("r.panel.jsonl"))
    assert len(together) == 10 and {one["rater"] for one in together} == {panel["rater"]}
    assert "independent judges" in shown and "saved" in shown


def test_without_a_policy_nothing_is_combined() -> None:
    with serving() as stub:
        options = ("--model", "a", "--model", "b", "--base-url", stub.base_url, "-o", "r.jsonl")
        found = told(run(PLANS, "-r", RUBRICS[1], *options))
    assert any("does not say how several judges" in one for one in found["warnings"])
    assert found["panel"]["rater"] is None and not Path("r.panel.jsonl").exists()


def test_a_replay_needs_no_server() -> None:
    with serving() as stub:
        told(run(PLANS, "-r", RUBRICS[1], *asks(stub, "-o", "r.jsonl")))
    replayed = ("--model", "stub", "--replay", "r.jsonl.calls", "-o", "again.jsonl")
    found = told(run(PLANS, "-r", RUBRICS[1], *replayed))
    assert found["run"]["kept"] == found["run"]["calls"] == 60
    assert Path("again.jsonl").read_text("utf-8") == Path("r.jsonl").read_text("utf-8")
    other = ("--model", "another", "--replay", "r.jsonl.calls", "-o", "other.jsonl")
    lacking = told(run(PLANS, "-r", RUBRICS[1], *other), status=1)
    (judge,) = lacking["judges"].values()
    assert set(judge["abstained"]) == {"not recorded"}


def test_servers_that_know_less_are_asked_for_less() -> None:
    with serving(without="json_schema,logprobs", schemas=_schemas()) as stub:
        result = run(PLANS, "-r", RUBRICS[1], *asks(stub, "--way", "rubric", "-o", "r.jsonl"))
    found = told(result)
    (judge,) = found["judges"].values()
    assert set(judge["rungs"]) == {"json_object"}
    steps = [what for _, what in found["run"]["not_known_to_server"]]
    assert sorted(steps) == ["json_schema", "log-probabilities"]


def _schemas() -> Path:
    from calibrant import load_rubric, read_items
    from calibrant.raters.judge.judge import Judge

    judge = Judge(load_rubric(RUBRICS[1]), "m", way="rubric", key=bytes(32))
    call = judge.calls(read_items(PLANS).items[0])[0]
    path = Path("schemas.json").absolute()
    path.write_text(json.dumps([{"marker": "ITEM BEGINS", "schema": judge.ask(call).schema}]))
    return path


def test_the_key_is_sent_and_never_kept_or_shown() -> None:
    Path(".env").write_text(f"CALIBRANT_API_KEY={SECRET}\n", "utf-8")
    with serving(key=SECRET) as stub:
        result = run(PLANS, "-r", RUBRICS[1], *asks(stub, "-o", "r.jsonl"))
        told(result)
        shown = result.output + "".join(
            path.read_text("utf-8") for path in Path().iterdir() if path.name != ".env"
        )
        refused = run(PLANS, "-r", RUBRICS[1], *asks(stub, "-o", "s.jsonl"),
                      CALIBRANT_API_KEY=f"wrong-{SECRET}")  # fmt: skip
    assert SECRET not in shown
    assert isinstance(refused.exception, CalibrantError)
    assert "401" in str(refused.exception) and SECRET not in str(refused.exception)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "name a model"),
        (("--model", "m"), "name a rubric"),
        (("--model", "m", "-r", RUBRICS[0]), "name a file of ITEMS"),
        (("--model", "m", "--study", "s", "-o", "r.jsonl"), "--study goes without -o"),
        (("--model", "m", "--probe", "-r", RUBRICS[0], CHATS), "--probe goes without ITEMS"),
    ],
)
def test_what_is_lacking_is_said(words: tuple[object, ...], why: str) -> None:
    result = run(*words)
    assert result.exit_code == 2 and why in result.stderr


def test_without_a_server_nothing_is_sent() -> None:
    result = run(CHATS, "-r", RUBRICS[0], "--model", "m", "-o", "r.jsonl")
    assert isinstance(result.exception, SourceError)
    assert "--base-url" in str(result.exception)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--local", PLANS), "items.jsonl: a model in this process is a .gguf file"),
        (("--model", "a@127.0.0.1:8080"), "127.0.0.1:8080 is no URL"),
        (("--model", "a@other.example/v1"), "other.example/v1 is no URL"),
        (("--model", "a", "--price", "b=1/2"), "a price for 'b', but what is asked is a"),
        (("--model", "a", "--escalate-to", "a"), "a judges already"),
        (("--model", "a", "-o", "nowhere/r.jsonl"), "the folder nowhere does not exist"),
    ],
)
def test_a_slip_never_sends_items_where_nobody_meant(words: tuple[object, ...], why: str) -> None:
    with serving() as stub:
        found = run(PLANS, "-r", RUBRICS[1], *words, CALIBRANT_BASE_URL=stub.base_url)
        assert isinstance(found.exception, SourceError) and why in str(found.exception)
        assert not stub.counts()["sent"]


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ({}, "no judge is named"),
        ({"model": "a", "way": "criteria"}, "there is no way 'criteria'"),
        ({"model": "a", "concurrency": 0}, "concurrency is more than 0"),
        ({"local": "items.jsonl"}, "is a .gguf file"),
    ],
)
def test_python_is_told_the_same(named: dict[str, Any], why: str) -> None:
    with pytest.raises(SourceError, match=why):
        calibrant.judge(PLANS, RUBRICS[1], out="r.jsonl", base_url="http://127.0.0.1:1", **named)


def test_the_end_tells_what_was_done_and_where_it_is() -> None:
    one = Path("one.jsonl")
    one.write_text(PLANS.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    more = ("--samples", 2, "--policy", "majority", "--escalate-to", "people", "-o", "r.jsonl")
    with serving() as stub:
        command = ("-r", RUBRICS[1], *asks(stub, *more), "--format", "text")
        first, again, fewer = run(PLANS, *command), run(PLANS, *command), run(one, *command)
    for name in ("r.jsonl", "r.panel.jsonl", "r.escalated.jsonl"):
        assert f"wrote {name}\n" in first.stderr and Path(name).is_file()
    assert f"Next: calibrant score r.jsonl -r {RUBRICS[1]}\n" in first.stderr
    assert "nothing was asked" not in first.stdout and "nothing was asked" in again.stdout
    assert "1 item ·" in fewer.stdout and "items that are not in this file" in fewer.stderr


def test_only_what_will_be_asked_again_is_promised() -> None:
    again, kept = "The same command asks again", "Replies that give no answer"
    command = ("-r", RUBRICS[1], "--attempts", 1, "--format", "text")
    with serving(faults="empty=1") as stub:
        unread = run(PLANS, *command, *asks(stub, "-o", "unread.jsonl")).stdout
    # a server that is down is asked ever more slowly: one item will do
    Path("one.jsonl").write_text(PLANS.read_text("utf-8").splitlines()[0], "utf-8")
    with serving(faults="error=1") as stub:
        down = run("one.jsonl", *command, *asks(stub, "-o", "down.jsonl")).stdout
    assert kept in unread and again not in unread
    assert again in down and kept not in down


def test_figures_fit_the_line() -> None:
    tally = Tally(total=20_000, done=10_000, kept=500)
    tally.errors.update(server_error=1248, connection=322, rate_limited=11)
    tally.paid("a", Usage(prompt=123_456_789, completion=4_567_890))
    prices = {"a": Price(Decimal("0.15"), Decimal("0.6"))}
    whole, short = figures(tally, prices, 60.0), figures(tally, prices, 60.0, width=63)
    assert "tokens" in whole and "server_error 1,248" in whole
    assert len(short) <= 63 and "1,581 errors" in short and short.endswith("63 s left")


def test_a_file_of_somebody_else_is_never_written_over() -> None:
    Path("mine.jsonl").write_text('{"id": "x"}\n', "utf-8")
    with serving() as stub:
        result = run(PLANS, "-r", RUBRICS[1], *asks(stub, "-o", "mine.jsonl"))
        assert isinstance(result.exception, SourceError)
        assert Path("mine.jsonl").read_text("utf-8") == '{"id": "x"}\n'
        same = run(PLANS, "-r", RUBRICS[1], *asks(stub, "-o", PLANS))
        assert isinstance(same.exception, SourceError)
        assert stub.counts()["sent"] == 0


def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on() -> None:
    with serving(latency=0.2) as stub:
        command = [sys.executable, "-m", "calibrant", "judge", CHATS, "-r", RUBRICS[0], "-j", "4",
                   *asks(stub, "-o", "r.jsonl")]  # fmt: skip
        words = list(map(str, command))
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while stub.counts()["sent"] < 8:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 130, said
        stopped = stub.counts()
        assert stopped["sent"] == stopped["answered"] < 149
        found = told(run(CHATS, "-r", RUBRICS[0], *asks(stub, "-o", "r.jsonl", "-j", 64)))
        assert stub.counts()["sent"] == 149
    assert found["incomplete"] == 0 and not Path("r.jsonl.partial").exists()
    assert b"stopping after the calls under way" in said


def test_probes_are_asked_with_and_without() -> None:
    with serving() as stub:
        dry = told(run("--probe", "-r", RUBRICS[2], *asks(stub, "--dry-run")))
        assert stub.counts()["sent"] == 0
        found = told(run("--probe", "-r", RUBRICS[2], *asks(stub)))
        assert dry["judges"][0]["calls"] == stub.counts()["sent"]
    (judge,) = found["judges"]
    total = judge["total"]
    assert total["held"] + total["gave_in"] + total["no_room"] >= 60
    assert total["unanswered"] == 0 and len(judge["families"]) >= 10


# -- in a study


def test_a_judge_joins_a_study_and_rates_like_everybody(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ok("create", "advice", "-r", "smart-action-plan", "--lead", "lena")
    desk.ok("items", "advice", desk.file("plans.jsonl", *map(plan_record, range(6))))
    desk.ok("add-rater", "advice", "ann")
    study = ("--study", "advice", "--db", desk.db)
    with serving() as stub:
        new = run(*study, *asks(stub, "--dry-run"))
        assert told(new)["judges"][0]["calls"] == 0 and "nothing is to be asked" in new.stderr
        joined = told(run(*study, *asks(stub)))
        (name,) = joined["joined"]
        assert joined["rated"] == {name: 0}
        desk.ok("plan", "advice", "--everyone")
        desk.ok("open", "advice", "1", "--override", "nobody calibrates in a test")
        dry = told(run(*study, *asks(stub, "--dry-run", "--price", "stub=1/2")))
        (judge,) = dry["judges"]
        assert (judge["rater"], judge["calls"], dry["items"]) == (name, 36, 6)
        assert float(judge["cost"]) > 0 and stub.counts()["sent"] == 0
        rated = told(run(*study, *asks(stub, "--escalate-to", "people")))
        assert rated["rated"] == {name: 6} and rated["joined"] == []
        sent = stub.counts()["sent"]
        assert told(run(*study, *asks(stub)))["rated"] == {name: 0}
        assert stub.counts()["sent"] == sent == 36
    assert "reply" not in json.dumps(desk.ok("status", "advice"))
    refused = run(*study, "--model", "m", "--samples", 2, "--base-url", "http://127.0.0.1:9")
    assert isinstance(refused.exception, SourceError)


def test_an_outage_leaves_assignments_open(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ok("create", "advice", "-r", "smart-action-plan", "--lead", "lena")
    desk.ok("items", "advice", desk.file("plans.jsonl", *map(plan_record, range(4))))
    study = ("--study", "advice", "--db", desk.db)
    with serving(faults="error=1") as stub:
        told(run(*study, *asks(stub)))
        desk.ok("plan", "advice", "--everyone")
        desk.ok("open", "advice", "1", "--override", "nobody calibrates in a test")
        down = told(run(*study, *asks(stub, "--attempts", 1)), status=1)
    (name,) = down["unreached"]
    assert down["rated"] == {name: 0} and down["unreached"] == {name: 4}
    with serving() as stub:
        up = told(run(*study, *asks(stub)))
    assert up["rated"] == {name: 4} and up["unreached"] == {}


def test_a_server_that_is_not_there_is_told_and_not_waited_for() -> None:
    result = run(CHATS, "-r", RUBRICS[0], "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert isinstance(result.exception, CalibrantError)
    assert "cannot be reached" in str(result.exception)
    sent = Path("items.ratings.jsonl.calls").read_text("utf-8").count('"line":"sent"')
    assert sent < 149, "it gave up before everything was tried"
