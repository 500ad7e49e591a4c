"""Ten thousand calls to a faulty server, the judge killed ten times: none lost, none paid twice.

Except those that were on their way at a kill, which the log names. The server's own counts are the
proof.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.judge.killed_judge import CONCURRENCY, KEY
from tests.judge.stub_server import ROOT, Running, serving

from calibrant.formats.call_log import CallLog

CALLS, KILLS = 10_000, 10
DEADLINE = 240.0
"""Seconds after which the run is given up; it takes a part of that."""
FAULTS = ",".join(
    (
        "rate=0.0002,rate_after=0.0002,error=0.01,page=0.005,page_ok=0.005,hang=0.002,drop=0.01",
        "cut=0.005,trickle=0.01,broken=0.01,twice=0.01,nothing=0.005,fenced=0.02,amid=0.02",
        "truncated=0.01,foreign=0.01,offscale=0.01,doubled=0.01,empty=0.005,refusal=0.001",
    )
)


def start(server: Running, log: Path, told: Path, items: int, seed: int) -> subprocess.Popen[bytes]:
    words = [server.base_url, str(log), str(told), str(items), str(seed)]
    command = [sys.executable, "-m", "tests.judge.killed_judge", *words]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)


def written(log: Path) -> int:
    return log.read_bytes().count(b'{"line":"got"') if log.exists() else 0


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_judge_killed_ten_times_loses_nothing_and_pays_nothing_twice(tmp_path: Path) -> None:
    log, told = tmp_path / "calls.jsonl", tmp_path / "told.jsonl"
    chance, until = random.Random(6), time.monotonic() + DEADLINE
    items = CALLS // 14 + 1  # of two exchanges, each with fourteen questions
    with serving(latency=0.01, faults=FAULTS, key=KEY, counts=tmp_path / "counts") as server:
        for turn in range(KILLS):
            process = start(server, log, told, items, turn)
            aim = (turn + chance.uniform(0.2, 1.0)) * CALLS / (KILLS + 1)
            while written(log) < aim and process.poll() is None:
                assert time.monotonic() < until
                time.sleep(0.02)
            assert process.poll() is None, process.communicate()[1].decode()
            process.kill()
            process.communicate()
        process = start(server, log, told, items, KILLS)
        _, errors = process.communicate(timeout=max(1.0, until - time.monotonic()))
        assert process.returncode == 0, errors.decode()
        counts = server.counts()
    ends = {one["id"]: one for one in lines_of(told)}
    assert len(ends) >= CALLS
    assert all(one["read"] != bool(one["why"]) for one in ends.values())
    assert sum(one["read"] for one in ends.values()) > 0.99 * CALLS
    check_log(log, ends)
    check_paid(log, counts)


def check_log(path: Path, ends: dict[str, dict[str, Any]]) -> None:
    """The log holds every end, and named at each start what the kill had left open."""
    with CallLog.open(path, readonly=True) as log:
        assert not log.in_flight
        for name, end in ends.items():
            assert log.answered(name) or log.given_up(name) is not None
            assert bool(log.replies(name)) or not end["read"]
    assert KEY not in path.read_text("utf-8")
    left_open = [line["ids"] for line in lines_of(path) if line["line"] == "left_open"]
    assert 0 < len(left_open) <= KILLS
    assert all(0 < len(ids) <= CONCURRENCY for ids in left_open)


def check_paid(path: Path, counts: dict[str, Any]) -> None:
    """Whatever was sent has one end; what was answered twice was on its way at a kill, or late."""
    lines = lines_of(path)
    left_open = Counter(
        name for line in lines if line["line"] == "left_open" for name in line["ids"]
    )
    kinds = {
        kind: Counter(line["id"] for line in lines if line["line"] == kind)
        for kind in ("sent", "got", "failed", "gave_up")
    }
    assert kinds["sent"] == kinds["got"] + kinds["failed"] + kinds["gave_up"] + left_open
    read = Counter(line["id"] for line in lines if line["line"] == "got" and line.get("last", True))
    assert set(read.values()) == {1}, "no call is answered twice in the log"
    late = sum(line.get("why") == "timeout" for line in lines if line["line"] != "got")
    assert counts["answered_again"] <= left_open.total() + late
    assert left_open.total() <= KILLS * CONCURRENCY
