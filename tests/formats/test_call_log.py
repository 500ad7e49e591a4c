"""The log of calls keeps what was paid for: through kills, and by one run at a time."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.judge.call_kit import a_call, a_card

from calibrant.core.errors import SourceError
from calibrant.formats.call_log import CallLog
from calibrant.ports.chat import Reply, Token, Usage

REPLY = Reply(
    text='{"C1": {"answer": "YES"}}',
    usage=Usage(prompt=900, cached=512, completion=40),
    tokens=(Token("YES", (("YES", -0.25), ("NO", -1.5))), Token('"', ())),
    finish="stop",
    model="model-2026",
)


def got(log: CallLog, call: str, reply: Reply = REPLY, *, last: bool = True) -> None:
    log.got(
        a_call(call),
        reply,
        form="json_schema",
        attempt=1,
        seconds=0.5,
        rung="json_schema",
        last=last,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


def test_a_reply_comes_back_as_it_was(path: Path) -> None:
    with CallLog.open(path) as log:
        log.card(a_card())
        log.sent(a_call("1"), a_card().name, 1)
        got(log, "1")
        assert log.replies(a_call("1").id)[0].reply == REPLY
    with CallLog.open(path) as log:
        (kept,) = log.replies(a_call("1").id)
        assert kept.reply == REPLY
        assert (kept.form, kept.attempt, kept.seconds, kept.last) == ("json_schema", 1, 0.5, True)
        assert log.answered(a_call("1").id)
        assert not log.answered(a_call("2").id)
        assert log.replies(a_call("2").id) == []
        assert log.cards == {a_card().name: a_card().to_dict()}
        assert not log.in_flight


TEXTS = st.text(st.characters(codec=None), max_size=30)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), TEXTS), max_size=12))
def test_all_replies_to_a_call_come_back_the_newest_first(
    tmp_path_factory: pytest.TempPathFactory, written: list[tuple[int, str]]
) -> None:
    path = tmp_path_factory.mktemp("log") / "calls.jsonl"
    for at in range(0, len(written) + 1, 3):  # opened anew every three lines
        with CallLog.open(path) as log:
            for number, text in written[at : at + 3]:
                got(log, str(number), Reply(text=text), last=False)
    with CallLog.open(path, readonly=True) as log:
        for number in range(6):
            texts = [text for one, text in reversed(written) if one == number]
            writable = [text.encode("utf-8", "replace").decode() for text in texts]
            assert [kept.reply.text for kept in log.replies(a_call(str(number)).id)] == writable


def test_a_log_is_for_its_owner_only(path: Path) -> None:
    CallLog.open(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    CallLog.open(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_key_of_fences_stays_the_same_and_is_nobody_elses(path: Path, tmp_path: Path) -> None:
    with CallLog.open(path) as log:
        key = log.key
    assert len(key) == 32
    with CallLog.open(path, key=b"another key") as log:
        assert log.key == key
    with CallLog.open(tmp_path / "other.jsonl") as log:
        assert log.key != key
    with CallLog.open(tmp_path / "given.jsonl", key=b"a key that is given") as log:
        assert log.key == b"a key that is given"


def test_what_was_on_its_way_at_a_kill_is_named_once(path: Path) -> None:
    with CallLog.open(path) as log:
        for name in "12345":
            log.sent(a_call(name), "judge", 1)
        got(log, "1")
        log.gave_up(a_call("2"), "timeout", "no answer", 5)
        log.failed(a_call("3"), "timeout", 1)
    with CallLog.open(path) as log:
        assert set(log.in_flight) == {a_call("4").id, a_call("5").id}
        assert log.in_flight[a_call("4").id].item == a_call("4").item.id
        log.sent(a_call("4"), "judge", 1)
        got(log, "4")
    with CallLog.open(path) as log:
        assert not log.in_flight
    lines = path.read_text("utf-8").splitlines()
    assert sum('"left_open"' in line for line in lines) == 1


def test_what_was_given_up_is_asked_again_and_what_was_answered_is_not(path: Path) -> None:
    with CallLog.open(path) as log:
        log.gave_up(a_call("1"), "connection", "refused", 5)
        log.gave_up(a_call("2"), "connection", "refused", 5)
        got(log, "2")
        got(log, "3", last=False)
    with CallLog.open(path) as log:
        assert log.given_up(a_call("1").id) == ("connection", "refused")
        assert log.given_up(a_call("2").id) is None
        assert [log.answered(a_call(name).id) for name in "123"] == [False, True, False]
        assert len(log) == 2


def test_a_log_cut_off_anywhere_loses_its_last_line_and_nothing_else(path: Path) -> None:
    with CallLog.open(path) as log:
        for name in "123":
            got(log, name)
    whole = path.read_bytes()
    ends = [at + 1 for at, sign in enumerate(whole) if sign == ord("\n")]
    for cut in range(ends[0], len(whole) + 1, 7):
        path.write_bytes(whole[:cut])
        answered = sum(end <= cut for end in ends[1:])
        with CallLog.open(path) as log:
            assert len(log) == answered
            got(log, "9")
        with CallLog.open(path) as log:
            assert len(log) == answered + 1
            assert log.replies(a_call("9").id)[0].reply == REPLY


@pytest.mark.parametrize(
    "content",
    [
        b"item,rater\n1,2\n",
        b'{"id": 1}\n',
        b"\x00\xff\n",
        b"half a line",
        b"\n",
        b"[" * 5000 + b"\n",
    ],
)
def test_a_file_that_is_no_log_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for readonly in (False, True):
        with pytest.raises(SourceError, match="no log of calls"):
            CallLog.open(path, readonly=readonly)
    assert path.read_bytes() == content


def test_a_log_that_lines_were_taken_out_of_gives_the_rest(path: Path) -> None:
    with CallLog.open(path) as log:
        for number in range(3):
            for attempt in (1, 2, 3):
                log.sent(a_call(str(number)), "judge", attempt)
                got(log, str(number), Reply(text=f"{number}/{attempt}"), last=False)
    kept = path.read_bytes().splitlines(keepends=True)
    gone = next(at for at, line in enumerate(kept) if b'"1/2"' in line)
    path.write_bytes(b"".join(kept[:1] + kept[2:gone] + kept[gone + 1 :]))
    with CallLog.open(path, readonly=True) as log:
        told = [[one.reply.text for one in log.replies(a_call(n).id)] for n in "012"]
    assert told == [["0/3", "0/2", "0/1"], ["1/3", "1/1"], ["2/3", "2/2", "2/1"]]


def test_a_damaged_line_in_the_middle_is_refused_and_left_alone(path: Path) -> None:
    with CallLog.open(path) as log:
        got(log, "1")
    content = path.read_bytes() + b"{}\n"
    path.write_bytes(content)
    with pytest.raises(SourceError, match="line 3 is damaged"):
        CallLog.open(path)
    assert path.read_bytes() == content


def test_a_log_of_a_newer_version_is_refused(path: Path) -> None:
    CallLog.open(path).close()
    content = path.read_bytes().replace(b'"version":1', b'"version":2')
    path.write_bytes(content)
    with pytest.raises(SourceError, match="newer version"):
        CallLog.open(path)
    assert path.read_bytes() == content


def test_two_runs_never_write_one_log(path: Path) -> None:
    with CallLog.open(path) as log:
        code = (
            "import sys; from pathlib import Path; from calibrant.formats.call_log import CallLog\n"
            "try: CallLog.open(Path(sys.argv[1]))\n"
            "except Exception as error: print(error)"
        )
        told = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        ).stdout
        assert "another run is writing this log" in told
        got(log, "1")
        with CallLog.open(path, readonly=True) as reading:
            assert len(reading) == 1
    CallLog.open(path).close()


def test_a_log_that_is_read_only_is_not_written(path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        CallLog.open(path, readonly=True)
    with CallLog.open(path) as log:
        got(log, "1")
    content = path.read_bytes() + b'{"line": "got", "half'
    path.write_bytes(content)
    with CallLog.open(path, readonly=True) as log:
        assert len(log) == 1
        with pytest.raises(SourceError, match="reading only"):
            got(log, "2")
    assert path.read_bytes() == content


def test_a_folder_or_a_full_disk_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="directory"):
        CallLog.open(tmp_path)
    with pytest.raises(SourceError, match="not a file"):
        CallLog.open(Path("/dev/full"))


def test_a_line_that_does_not_fit_on_the_disk_leaves_no_half(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CallLog.open(path) as log:
        got(log, "1")
        write = os.write
        monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:10]))
        with pytest.raises(SourceError, match="disk is full"):
            got(log, "2")
        monkeypatch.undo()
        got(log, "3")
    with CallLog.open(path) as log:
        assert len(log) == 2


@pytest.mark.parametrize("share", [float("-inf"), float("nan"), -1e300, 3.0])
def test_a_probability_that_is_none_does_not_spoil_the_log(path: Path, share: float) -> None:
    with CallLog.open(path) as log:
        got(log, "1", Reply(text="x", tokens=(Token("x", (("x", share),)),)))
    with CallLog.open(path) as log:
        ((text, kept),) = log.replies(a_call("1").id)[0].reply.tokens[0].top
        assert text == "x"
        assert -9999 <= kept <= 0
