"""Judges at work, for the benchmark: our command, a bare loop and peers at the tests' stub server.

Nothing leaves this machine: peers are told so by their own switches, and every other way out is
closed to them.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from tests.judge.stub_server import Running, serving

from bench import coaching
from bench.harness import (
    CLEAN,
    HERE,
    PYTHON,
    ROOT,
    BenchError,
    Context,
    Run,
    node_env,
    peer_env,
    run_process,
)
from calibrant.core.item import Conversation, Exchange
from calibrant.formats.rubric_file import load_rubric
from calibrant.ports.chat import Ask
from calibrant.raters.chat.completion import Asker
from calibrant.raters.judge.card import Way
from calibrant.raters.judge.judge import Judge
from calibrant.raters.judge.transcript import transcript
from calibrant.raters.judge.wording import criterion_text

COMMAND = Path(PYTHON).with_name("calibrant")
RUBRIC = "coaching-conversation"
AT_ONCE = 200
"""Calls under way at a time, for every side."""
PATIENCE = 900.0
"""Seconds that a peer may take."""
EVERY = 0.2
"""Seconds between two looks at a command that is watched."""
RULE = "Judge the coach by this rule alone:"
VERDICT = {
    "type": "object",
    "properties": {
        "reason": {"const": "The coach keeps to the rule. GRADE: C"},
        "pass": {"const": True},
        "score": {"const": 8},
    },
}
"""A reply that every peer's reader takes: a grade for Inspect AI, a pass for promptfoo, a score
for DeepEval."""
NOWHERE = "http://127.0.0.1:9"
ALONE = {
    "HTTP_PROXY": NOWHERE,
    "HTTPS_PROXY": NOWHERE,
    "NO_PROXY": "127.0.0.1",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
}
"""What keeps peers at home. Inspect AI has nothing to switch off; promptfoo, told all this, still
tries to report that it reports nothing, and only meets a proxy that is not there."""
AIOHTTP = "aiohttp==3.14.5"
INSPECT = ("inspect-ai==0.3.285", "openai==3.49.0")
DEEPEVAL = ("deepeval==4.3.1", "openai==3.49.0")
HELPED = "DeepEval, one client"
PROMPTFOO = ("promptfoo@0.121.20",)
"""The last that runs on Node.js 20."""


# -- what is judged


def items(number: int) -> list[Conversation]:
    """Conversations of 15 exchanges, in memory."""
    return [
        Conversation(id=f"c{at}", exchanges=tuple(Exchange(user=a, assistant=b) for a, b in said))
        for at, said in enumerate(coaching.conversations(number))
    ]


def judge(way: Way = "criterion") -> Judge:
    """The judge that the command makes, but for its key."""
    return Judge(load_rubric(RUBRIC), "stub", way=way, key=bytes(32))


def asks(number: int) -> list[Ask]:
    """Different requests of a judge."""
    asking = judge()
    calls = (call for item in items(number) for call in asking.calls(item))
    return [asking.ask(one) for one in islice(calls, number)]


def write_calls(path: Path, number: int) -> Path:
    """Calls for peers: our own request for the bare loop; for others, text and rule."""
    asking, asker = judge(), Asker()
    calls = (call for item in items(number) for call in asking.calls(item))
    with path.open("w", encoding="utf-8") as file:
        for call in islice((one for one in calls if one.question.criteria), number):
            criterion = asking.rubric.criterion(call.question.criteria[0])
            line = {
                "body": json.loads(asker.body(asking.ask(call))),
                "conversation": transcript(call.item, asking.fence(call.content)),
                "rule": f"{RULE}\n{criterion_text(asking.rubric, criterion)}",
            }
            file.write(json.dumps(line) + "\n")
    return path


@contextmanager
def stub(ctx: Context, **options: Any) -> Iterator[Running]:
    """The server, which knows what peers want to read too."""
    path = ctx.work / "schemas.json"
    path.write_text(json.dumps([{"marker": RULE, "schema": VERDICT}]), encoding="utf-8")
    with serving(schemas=path, **options) as running:
        yield running


# -- our side


def command(server: Running, source: Path, target: Path) -> list[str]:
    """Our command, as one would type it."""
    asked = ["judge", source, "-r", RUBRIC, "--model", "stub", "--base-url", server.base_url]
    options = ["-j", AT_ONCE, "--no-probabilities", "-o", target, "--format", "json"]
    return [str(word) for word in (COMMAND, *asked, *options)]


@dataclass(frozen=True, slots=True)
class Look:
    """A command and its server at one moment."""

    at: float
    answered: int
    memory: int
    """Resident, in bytes."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a run of our command came to."""

    run: Run
    calls: int
    lost: int
    """Calls without an answer."""
    looks: Sequence[Look] = ()


def judged(ctx: Context, server: Running, number: int, *, watched: bool = False) -> Judged:
    """Run our command on so many calls, or a few more; a ``BenchError`` if it fails."""
    target = ctx.work / "ratings.jsonl"
    for old in ctx.work.glob("ratings.jsonl*"):
        old.unlink()
    each = len(judge().calls(items(1)[0]))
    source = coaching.write(ctx.work / "items.jsonl", -(-number // each))
    summary, errors = ctx.work / "summary.json", ctx.work / "errors.txt"
    with summary.open("wb") as out, errors.open("wb") as err:
        words = command(server, source, target)
        with subprocess.Popen(words, stdout=out, stderr=err, cwd=ROOT, env=CLEAN) as process:
            looks = list(_looks(process, server)) if watched else []
            status = process.wait()
    if status != 0:
        last = errors.read_text(encoding="utf-8").strip()[-500:]
        raise BenchError(f"{' '.join(words)}\nended with status {status}\n{last}")
    told = json.loads(summary.read_bytes())["run"]
    lost = sum(told["abstained"].values())
    return Judged(Run(told["seconds"]), told["calls"], lost, looks)


def _looks(process: subprocess.Popen[bytes], server: Running) -> Iterator[Look]:
    """How far it is, again and again until it ends."""
    while process.poll() is None:
        memory = _resident(process.pid)
        yield Look(time.perf_counter(), server.counts()["answered"], memory)
        time.sleep(EVERY)


def _resident(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    sizes = [line.split()[1] for line in lines if line.startswith("VmRSS:")]
    return int(sizes[0]) * 1024 if sizes else 0


# -- peers


@dataclass(frozen=True, slots=True)
class Peer:
    """Another program that judges."""

    name: str
    words: tuple[str | Path, ...]
    """What it is started with, before the address."""
    is_helped: bool = False
    """Whether it has more than it comes with."""

    def asks(self, ctx: Context, server: Running, calls: Path, number: int) -> Run:
        """How long it takes for so many calls; a ``BenchError`` if some were not answered."""
        target = ctx.work / "peer.json"
        target.unlink(missing_ok=True)
        before = server.counts()["answered"]
        told = ALONE | {"PROMPTFOO_CONFIG_DIR": str(ctx.work / "promptfoo")}
        asked: list[str | Path] = [server.base_url, calls, target, str(AT_ONCE), str(number)]
        run_process([*self.words, *asked], told=told, most_seconds=PATIENCE)
        took = json.loads(target.read_text(encoding="utf-8"))
        served = server.counts()["answered"] - before
        if not took["answered"] == served == number:
            raise BenchError(
                f"{self.name}: {number} calls, {served} served, {took['answered']} with an answer"
            )
        return Run(took["seconds"], took.get("cpu"))


def bare_loop() -> Peer:
    """What could be had at best."""
    python = peer_env("judge-aiohttp", [AIOHTTP])
    return Peer("a bare aiohttp loop", (python, "-I", HERE / "peers" / "judge_aiohttp.py"))


def peers(notes: list[str]) -> list[Peer]:
    """Those that can be had here; of others, the notes tell why not."""
    scripts = HERE / "peers"
    deepeval = partial(peer_env, "judge-deepeval", DEEPEVAL)
    known: dict[str, Callable[[], list[str | Path]]] = {
        "Inspect AI": lambda: [
            peer_env("judge-inspect", INSPECT), "-I", scripts / "judge_inspect.py",
        ],
        "DeepEval": lambda: [deepeval(), "-I", scripts / "judge_deepeval.py", "own"],
        HELPED: lambda: [deepeval(), "-I", scripts / "judge_deepeval.py", "shared"],
        "promptfoo": lambda: [
            PYTHON, "-I", scripts / "judge_promptfoo.py",
            node_env("judge-promptfoo", PROMPTFOO) / "promptfoo",
        ],
    }  # fmt: skip
    found = []
    for name, words in known.items():
        try:
            found.append(Peer(name, tuple(words()), is_helped=name == HELPED))
        except BenchError as error:
            notes.append(f"{name} could not be had here: {str(error).splitlines()[-1]}")
    return found
