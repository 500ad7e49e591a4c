"""Calls to models: each ends with a reading or a reason, and is paid for once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.judge.call_kit import USAGE, ScriptedChat, a_judge, an_item, whole_reply

from calibrant.core.errors import ChatError
from calibrant.engine.judging import Done, Job, Limits, Seat, Tally, judged
from calibrant.formats.call_log import CallLog
from calibrant.ports.chat import Ask, Class, Reply, Trouble

QUICK: dict[str, Any] = {"pause": 0.001, "longest_pause": 0.002, "concurrency": 8}


def jobs(seat: Seat, count: int = 5, sample: int = 1) -> list[Job]:
    return [Job(n, an_item(f"i{n}"), seat, sample) for n in range(count)]


def run(
    given_jobs: Iterable[Job],
    path: Path,
    tally: Tally | None = None,
    *,
    readonly: bool = False,
    **limits: Any,
) -> list[Done]:
    async def all_of_them() -> list[Done]:
        with CallLog.open(path, readonly=readonly) as log:
            loop = judged(
                given_jobs,
                log,
                Limits(**{**QUICK, **limits}),
                tally or Tally(),
                chance=random.Random(1),
            )
            return [done async for done in loop]

    return asyncio.run(all_of_them())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


def test_every_call_of_every_job_is_asked_once_and_read(path: Path) -> None:
    chat, tally = ScriptedChat(latency=0.001), Tally()
    done = run(jobs(Seat(a_judge(), chat), 40), path, tally)
    assert sorted(one.job.position for one in done) == list(range(40))
    for one in done:
        assert [asked.call.question.id for asked in one.asked] == ["C1", "C2", "C3"]
        for asked in one.asked:
            assert asked.call.item == one.job.item
            assert asked.reading is not None
            assert asked.reply == whole_reply(asked.call.id)
            assert (asked.why, asked.attempts, asked.kept) == (None, 1, False)
    assert set(chat.asked.values()) == {1}
    assert chat.most_at_once == 8
    assert (tally.known, tally.done, tally.kept, tally.in_flight) == (120, 120, 0, 0)
    assert tally.usage["model"].prompt == 120 * USAGE.prompt
    assert tally.usage["model"].cached == 120 * USAGE.cached
    assert tally.usage["model"].completion == 120 * USAGE.completion


def test_what_is_answered_is_not_paid_for_again(path: Path) -> None:
    first, second, tally = ScriptedChat(), ScriptedChat(), Tally()
    once = run(jobs(Seat(a_judge(), first)), path)
    again = run(jobs(Seat(a_judge(), second)), path, tally)
    assert not second.asked
    assert (tally.kept, tally.done) == (15, 15)
    by_position = {one.job.position: one for one in once}
    for one in again:
        for before, after in zip(by_position[one.job.position].asked, one.asked, strict=True):
            assert after.kept
            assert after.reading == before.reading
            assert after.reply == before.reply


def test_a_replay_sends_nothing_and_says_what_is_not_recorded(path: Path) -> None:
    chat, silent = ScriptedChat(), ScriptedChat()
    run(jobs(Seat(a_judge(), chat), 2), path)
    content = path.read_bytes()
    done = run(jobs(Seat(a_judge(), silent), 3), path, readonly=True)
    assert not silent.asked
    assert path.read_bytes() == content
    for one in done:
        for asked in one.asked:
            if one.job.position < 2:
                assert asked.reading is not None
                assert asked.kept
            else:
                assert (asked.reading, asked.why) == (None, "not recorded")


def test_a_replay_tells_why_a_call_was_given_up(path: Path) -> None:
    down = ScriptedChat(lambda *_: Trouble("connection", "nobody there"))
    run(jobs(Seat(a_judge(), down), 1), path)
    (done,) = run(jobs(Seat(a_judge(), down), 1), path, readonly=True)
    assert {(asked.why, asked.detail) for asked in done.asked} == {("connection", "nobody there")}


def test_the_same_words_are_asked_about_once(path: Path) -> None:
    chat, tally = ScriptedChat(latency=0.005), Tally()
    seat = Seat(a_judge(), chat)
    done = run([Job(n, an_item(f"i{n}", "the same"), seat) for n in range(6)], path, tally)
    assert sum(chat.asked.values()) == 3
    assert tally.kept == 15
    assert tally.usage["model"].prompt == 3 * USAGE.prompt
    for one in done:
        assert all(asked.call.item.id == one.job.item.id for asked in one.asked)
        assert all(asked.reading is not None for asked in one.asked)


PASSING_TROUBLES: tuple[Class, ...] = (
    "timeout", "server_error", "connection", "no_reply", "rate_limited",
)  # fmt: skip


@pytest.mark.parametrize("why", PASSING_TROUBLES)
def test_what_passes_is_asked_again(path: Path, why: Class) -> None:
    def script(ask: Ask, call: str, times: int) -> Reply | BaseException:
        return Trouble(why, "later", wait=0.0) if times < 3 else whole_reply(call)

    chat, tally = ScriptedChat(script), Tally()
    (done,) = run(jobs(Seat(a_judge(questions=1), chat), 1), path, tally)
    (asked,) = done.asked
    assert asked.reading is not None
    assert asked.attempts == 3
    assert tally.errors == {why: 2}
    assert tally.retried == 2


@pytest.mark.parametrize("why", [one for one in PASSING_TROUBLES if one != "rate_limited"])
def test_an_outage_ends_with_its_reason_and_is_asked_again_by_the_next_run(
    path: Path, why: Class
) -> None:
    down = ScriptedChat(lambda *_: Trouble(why, "nothing"))
    tally = Tally()
    (done,) = run(jobs(Seat(a_judge(), down), 1), path, tally)
    for asked in done.asked:
        assert (asked.reading, asked.why, asked.detail) == (None, why, "nothing")
        assert asked.attempts == 5
        assert asked.outage
    assert set(down.asked.values()) == {5}
    assert tally.abstained == {why: 3}
    up = ScriptedChat()
    (done,) = run(jobs(Seat(a_judge(), up), 1), path)
    assert set(up.asked.values()) == {1}
    assert all(asked.reading is not None and not asked.kept for asked in done.asked)


def test_a_server_that_always_says_429_is_given_up_in_the_end(path: Path) -> None:
    chat = ScriptedChat(lambda *_: Trouble("rate_limited", "no", wait=0.0))
    (done,) = run(jobs(Seat(a_judge(questions=1), chat), 1), path, attempts=1)
    assert done.asked[0].why == "rate_limited"
    assert set(chat.asked.values()) == {3}


def test_an_unreadable_reply_is_asked_again_and_then_final(path: Path) -> None:
    chat = ScriptedChat(lambda *_: Reply(text="I would rather not"))
    (done,) = run(jobs(Seat(a_judge(questions=1), chat), 1), path)
    (asked,) = done.asked
    assert (asked.why, asked.attempts, asked.outage) == ("unreadable", 5, False)
    assert asked.reply is not None
    assert asked.reply.text == "I would rather not"
    run(jobs(Seat(a_judge(questions=1), chat), 1), path)
    assert set(chat.asked.values()) == {5}, "it was paid for, and is not asked again"


def test_an_unreadable_reply_at_the_end_of_an_outage_is_not_the_last_word(path: Path) -> None:
    def down(ask: Ask, call: str, times: int) -> Reply | BaseException:
        return Trouble("timeout", "slow") if times < 5 else Reply(text="overloaded")

    chat = ScriptedChat(down)
    (done,) = run(jobs(Seat(a_judge(questions=1), chat), 1), path)
    assert done.asked[0].why == "unreadable"
    chat.script = None
    (done,) = run(jobs(Seat(a_judge(questions=1), chat), 1), path)
    assert done.asked[0].reading is not None
    assert set(chat.asked.values()) == {6}


def test_more_attempts_ask_again_for_what_could_not_be_read(path: Path) -> None:
    chat = ScriptedChat(
        lambda ask, call, times: Reply(text="?") if times < 4 else whole_reply(call)
    )
    run(jobs(Seat(a_judge(questions=1), chat), 1), path, attempts=2)
    (done,) = run(jobs(Seat(a_judge(questions=1), chat), 1), path, attempts=2)
    assert (done.asked[0].why, sum(chat.asked.values())) == ("unreadable", 2)
    (done,) = run(jobs(Seat(a_judge(questions=1), chat), 1), path, attempts=5)
    assert (done.asked[0].why, sum(chat.asked.values())) == (None, 4)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["C1", "D1", "both", "none", "broken"]), min_size=5, max_size=5))
def test_of_several_replies_the_best_is_kept(
    tmp_path_factory: pytest.TempPathFactory, told: list[str]
) -> None:
    texts = {
        "C1": '{"C1": "YES"}', "D1": '{"D1": "NO"}', "both": '{"C1": "A", "D1": "B"}',
        "none": "{}", "broken": "{",
    }  # fmt: skip
    found = {"both": 2, "C1": 1, "D1": 1, "none": 0, "broken": -1}
    chat = ScriptedChat(lambda ask, call, times: Reply(text=texts[told[times - 1]]))
    path = tmp_path_factory.mktemp("log") / "calls.jsonl"
    seat = Seat(a_judge(questions=1), chat)
    asked_for = told.index("both") + 1 if "both" in told else 5
    for _ in range(2):  # the second time from the log
        (done,) = run(jobs(seat, 1), path)
        (asked,) = done.asked
        best = max(found[one] for one in told[:asked_for])
        answers = -1 if asked.reading is None else len(asked.reading.judgements)
        assert answers == best
        assert set(chat.asked.values()) == {asked_for}


def test_an_attempt_that_an_earlier_run_paid_for_counts(path: Path) -> None:
    """A run is ended after one unreadable reply; the next has one attempt less."""
    tally = Tally()

    def script(ask: Ask, call: str, times: int) -> Reply | BaseException:
        tally.stop = True
        return Reply(text="?")

    chat = ScriptedChat(script)
    assert run(jobs(Seat(a_judge(questions=1), chat), 1), path, tally) == []
    assert sum(chat.asked.values()) == 1
    (done,) = run(jobs(Seat(a_judge(questions=1), chat), 1), path)
    assert done.asked[0].attempts == 5
    assert sum(chat.asked.values()) == 5


def test_what_would_not_help_is_not_asked_again(path: Path) -> None:
    def script(ask: Ask, call: str, times: int) -> Reply | BaseException:
        refused = whole_reply(call).text.startswith('{"C2"')
        return Trouble("refused", "too long", status=400) if refused else whole_reply(call)

    chat = ScriptedChat(script)
    done = run(jobs(Seat(a_judge(), chat), 4), path)
    for one in done:
        assert [asked.why for asked in one.asked] == [None, "refused", None]
    assert set(chat.asked.values()) == {1}


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_stops_the_run_at_once(path: Path, status: int) -> None:
    chat = ScriptedChat(lambda *_: Trouble("refused", "no such key", status=status), 0.001)
    with pytest.raises(ChatError, match=rf"status {status}.*no such key.*is the key right"):
        run(jobs(Seat(a_judge(), chat), 1000), path)
    assert sum(chat.asked.values()) < 20


@pytest.mark.parametrize(
    ("unknown", "forms", "steps"),
    [
        ({"json_schema"}, "json_object", ["json_schema"]),
        ({"json_schema", "json_object"}, "text", ["json_schema", "json_object"]),
        ({"logprobs"}, "json_schema", ["log-probabilities"]),
        ({"json_schema", "logprobs"}, "json_object", ["json_schema", "log-probabilities"]),
    ],
)
@pytest.mark.parametrize("said", [True, False])
def test_what_a_server_does_not_know_is_asked_for_once(
    path: Path, unknown: set[str], forms: str, steps: list[str], said: bool
) -> None:
    def script(ask: Ask, call: str, times: int) -> Reply | BaseException:
        if ask.form in unknown:
            return Trouble("unsupported", f"{ask.form}" if said else "no")
        if ask.top_logprobs and "logprobs" in unknown:
            return Trouble("unsupported", "logprobs" if said else "no")
        return whole_reply(call)

    chat, tally = ScriptedChat(script, 0.001), Tally()
    seat = Seat(a_judge(top_logprobs=5), chat)
    done = run(jobs(seat, 30), path, tally)
    for one in done:
        for asked in one.asked:
            assert asked.reading is not None
            assert asked.attempts == 1
    last = chat.asks[-1]
    assert bool(last.top_logprobs) == ("logprobs" not in unknown)
    if said:
        assert last.form == forms
        assert [step for _, step in tally.steps] == steps
    assert len(chat.asks) <= 90 + 8 * 6, "only what was under way is asked twice"


def test_a_server_that_knows_nothing_of_it_ends_as_unsupported(path: Path) -> None:
    chat = ScriptedChat(lambda *_: Trouble("unsupported", "no"))
    (done,) = run(jobs(Seat(a_judge(top_logprobs=5, questions=1), chat), 1), path)
    assert done.asked[0].why == "unsupported"
    assert sum(chat.asked.values()) == 6


def test_a_call_that_is_never_answered_ends_in_time(path: Path) -> None:
    chat = ScriptedChat(latency=60)
    (done,) = run(jobs(Seat(a_judge(questions=1), chat), 1), path, attempts=2, timeout=0.05)
    assert (done.asked[0].why, done.asked[0].attempts) == ("timeout", 2)
    assert chat.flying == 0


def test_a_stop_waits_for_what_is_on_its_way_and_sends_nothing_more(path: Path) -> None:
    tally = Tally()

    def script(ask: Ask, call: str, times: int) -> Reply | BaseException:
        tally.stop = True
        return whole_reply(call)

    chat = ScriptedChat(script, 0.05)
    done = run(jobs(Seat(a_judge(), chat), 100), path, tally)
    assert sum(chat.asked.values()) == 8
    assert tally.done == 8
    assert len(done) == 2, "two jobs are whole"
    with CallLog.open(path) as log:
        assert len(log) == 8
        assert not log.in_flight
    after = ScriptedChat()
    assert len(run(jobs(Seat(a_judge(), after), 100), path)) == 100
    assert sum(after.asked.values()) == 300 - 8


def test_a_server_that_is_silent_for_too_long_stops_the_run(path: Path) -> None:
    chat, tally = ScriptedChat(lambda *_: Trouble("connection", "nobody")), Tally()
    done = run(jobs(Seat(a_judge(), chat), 10_000), path, tally, patience=0.3)
    assert tally.stop
    assert "no answer" in tally.stopped
    assert len(done) < 10_000


@pytest.mark.parametrize("status", [401, 402, 429])
def test_an_account_that_runs_empty_stops_the_run(path: Path, status: int) -> None:
    def script(ask: Ask, call: str, times: int) -> Reply | BaseException:
        if len(chat.asked) <= 50:
            return whole_reply(call)
        return Trouble("refused", "no money left", status=status)

    chat, tally = ScriptedChat(script, latency=0.001), Tally()
    done = run(jobs(Seat(a_judge(), chat), 1000), path, tally)
    assert "no money left" in tally.stopped and str(status) in tally.stopped
    assert 15 <= len(done) < 50
    assert sum(chat.asked.values()) < 100
    chat.script = None
    assert len(run(jobs(Seat(a_judge(), chat), 1000), path)) == 1000


def test_items_that_are_refused_now_and_then_stop_nothing(path: Path) -> None:
    def script(ask: Ask, call: str, times: int) -> Reply | BaseException:
        refused = len(chat.asked) > 9 and len(chat.asked) % 3
        return Trouble("refused", "not this", status=403) if refused else whole_reply(call)

    chat, tally = ScriptedChat(script), Tally()
    assert len(run(jobs(Seat(a_judge(), chat), 200), path, tally)) == 200
    assert not tally.stopped


def test_a_server_that_nobody_asks_any_more_does_not_stop_the_run(path: Path) -> None:
    gone, slow, tally = ScriptedChat(lambda *_: Trouble("timeout", "")), ScriptedChat(), Tally()
    slow.latency = 0.03
    some = jobs(Seat(a_judge("gone", questions=1), gone), 2)
    more = jobs(Seat(a_judge("slow", questions=1), slow), 20)
    done = run([*some, *more], path, tally, attempts=1, patience=0.2, concurrency=1)
    assert (len(done), tally.stopped) == (22, "")


def test_attempts_longer_than_patience_are_waited_for(path: Path) -> None:
    def first_too_slow(ask: Ask, call: str, times: int) -> Reply | BaseException:
        return Trouble("timeout", "") if sum(chat.asked.values()) == 1 else whole_reply(call)

    chat, tally = ScriptedChat(first_too_slow, latency=0.5), Tally()
    (done,) = run(jobs(Seat(a_judge(questions=1), chat), 1), path, tally, patience=0.15)
    assert (done.asked[0].why, tally.stopped) == (None, "")


def test_a_wait_longer_than_patience_stops_the_run(path: Path) -> None:
    chat, tally = ScriptedChat(lambda *_: Trouble("rate_limited", "quota", wait=3600)), Tally()
    run(jobs(Seat(a_judge(), chat), 10), path, tally, patience=60)
    assert "asks to wait" in tally.stopped


def test_a_slow_server_does_not_keep_another_back(path: Path) -> None:
    slow, quick = ScriptedChat(latency=0.2), ScriptedChat()
    seats = [Seat(a_judge("slow"), slow), Seat(a_judge("quick"), quick)]
    mixed = [Job(n, an_item(f"i{n}"), seats[n % 2]) for n in range(20)]
    order = [one.job.seat.judge.card.model for one in run(mixed, path)]
    assert order[:10] == ["quick"] * 10


def test_judges_at_one_server_share_what_it_takes(path: Path) -> None:
    chat = ScriptedChat(latency=0.002)
    seats = [Seat(a_judge(name), chat) for name in ("a", "b", "c")]
    run([Job(n, an_item(f"i{n}"), seat) for n in range(20) for seat in seats], path)
    assert chat.most_at_once == 8


def test_jobs_are_taken_as_they_are_needed(path: Path) -> None:
    taken = 0

    def lazily(seat: Seat) -> Iterator[Job]:
        nonlocal taken
        for job in jobs(seat, 1000):
            taken += 1
            yield job

    async def slowly() -> None:
        count = 0
        with CallLog.open(path) as log:
            found: AsyncGenerator[Done, None] = judged(
                lazily(Seat(a_judge(), ScriptedChat())),
                log,
                Limits(**QUICK),
                Tally(),
                chance=random.Random(1),
            )
            async for _ in found:
                count += 1
                await asyncio.sleep(0.001)
                assert taken <= count + 4 * 8 + 16 + 1
                if count == 200:
                    break
            await found.aclose()

    asyncio.run(slowly())


@pytest.mark.parametrize("where", ["jobs", "chat"])
def test_what_goes_wrong_beyond_a_server_ends_the_run(path: Path, where: str) -> None:
    def broken(seat: Seat) -> Iterator[Job]:
        yield from jobs(seat, 3)
        if where == "jobs":
            raise ZeroDivisionError

    chat = ScriptedChat(None if where == "jobs" else lambda *_: ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        run(broken(Seat(a_judge(), chat)), path)


def test_a_job_without_questions_is_done(path: Path) -> None:
    (done,) = run(jobs(Seat(a_judge(questions=0), ScriptedChat()), 1), path)
    assert done.asked == ()


CLASSES: tuple[Class, ...] = ("timeout", "server_error", "connection", "no_reply")


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_whatever_a_server_does_every_call_has_an_end(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    chance = random.Random(seed)

    def script(ask: Ask, call: str, times: int) -> Reply | BaseException:
        match chance.randrange(8):
            case 0 | 1:
                return Trouble(chance.choice(CLASSES), "x")
            case 2:
                return Reply(text=chance.choice(["", "{", "{}", "null?"]))
            case 3:
                return Trouble("refused", "x", status=400)
        return whole_reply(call)

    path = tmp_path_factory.mktemp("log") / "calls.jsonl"
    chat, tally = ScriptedChat(script), Tally()
    done = run(jobs(Seat(a_judge(), chat), 10), path, tally)
    asked = [asked for one in done for asked in one.asked]
    assert len(asked) == tally.done == 30
    assert all((one.reading is None) == (one.why is not None) for one in asked)
    assert tally.in_flight == 0
    with CallLog.open(path) as log:
        assert not log.in_flight
        for one in asked:
            over = log.answered(one.call.id)
            assert over or log.given_up(one.call.id) is not None
