"""What every area of the benchmark stands on: timing, peer environments, tables, results.

An area is a module in ``bench/areas`` with a ``TITLE`` and its ``PARTS``, functions by name
that take a ``Context`` and return a ``Report``. Nothing here asserts a time: a floor is
stated, and the report says whether it was met. What does fail a run is an output that differs
from the peer's without an explanation.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
STORE = ROOT / ".bench"
"""Environments, results and, while a part runs, its data; not under version control."""
PYTHON = sys.executable
"""The project's own Python, which runs the benchmark too."""
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | {
    "PYTHONPYCACHEPREFIX": str(STORE / "pycache")
}
"""What measured processes are told: modules are compiled once, as in an installed package,
whatever the shell the benchmark was started from has to say about it."""
PACKAGES = ("calibrant", "numpy", "polars", "msgspec", "click")

Unit = Literal["s", "B", "/s", "share", "tokens"]


class BenchError(Exception):
    """A measurement could not be made."""


# -- what is measured


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one side."""

    seconds: float
    cpu: float | None = None
    peak: int | None = None
    """Peak resident memory in bytes."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure with its unit."""

    value: float
    unit: Unit

    def __str__(self) -> str:
        if self.unit == "/s":
            return f"{self.value:,.0f} /s"
        if self.unit == "share":
            return f"{self.value:.3f}"
        if self.unit == "tokens":
            return f"{self.value:,.0f}"
        if self.unit == "B":
            small = self.value < 1e6
            return f"{self.value / 1e3:,.1f} kB" if small else f"{self.value / 1e6:,.1f} MB"
        for size, name in ((1.0, "s"), (1e-3, "ms")):
            if self.value >= size:
                return f"{self.value / size:.3g} {name}"
        return f"{self.value / 1e-9:.3g} ns" if self.value < 1e-6 else f"{self.value / 1e-6:.3g} µs"


@dataclass(frozen=True, slots=True)
class Floor:
    """What a ratio has to reach or, where it is a cost, must not exceed."""

    limit: float
    at_most: bool = False

    def met(self, ratio: float) -> bool:
        """Whether the ratio is good enough."""
        return ratio <= self.limit if self.at_most else ratio >= self.limit

    def __str__(self) -> str:
        return f"{'at most' if self.at_most else 'at least'} {self.limit:,g}×"


@dataclass(frozen=True, slots=True)
class Band:
    """Where our own figure has to lie."""

    low: float
    high: float

    def met(self, figure: float) -> bool:
        """Whether the figure lies there."""
        return self.low <= round(figure, 12) <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: our figure, the peer's, and how they compare."""

    name: str
    ours: Quantity
    peer: Quantity | None = None
    ratio: float | None = None
    floor: Floor | Band | None = None
    runs: Mapping[str, Sequence[Run]] = field(default_factory=dict)
    """Every run behind the figures, by side."""

    @property
    def met(self) -> bool | None:
        """Whether the floor is met; None where none is stated."""
        if isinstance(self.floor, Band):
            return self.floor.met(self.ours.value)
        if self.floor is None or self.ratio is None:
            return None
        return self.floor.met(self.ratio)


@dataclass(frozen=True, slots=True)
class Check:
    """How the outputs of both sides compare, row by row."""

    compared: int
    differing: int
    """Rows that differ and should not."""
    explained: int = 0
    explanation: str = ""
    examples: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What one part of an area found."""

    title: str
    rows: Sequence[Row]
    checks: Sequence[Check] = ()
    notes: Sequence[str] = ()
    headings: tuple[str, str, str] = ("ours", "peer", "ratio")
    load: tuple[float, float] | None = None
    """Of the machine, before and after; well above its cores, times are not worth much."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a part is told: how much to do, and where."""

    rows: int
    quick: bool
    work: Path
    """A folder for data, empty at first and gone afterwards."""

    def say(self, message: str) -> None:
        """Tell what is going on, to whoever waits."""
        print(f"  … {message}", file=sys.stderr, flush=True)


Part = Callable[[Context], Report]


# -- timing


def timed(work: Callable[[], object]) -> Run:
    """One call, in this process; what it returns is thrown away after the clock has stopped."""
    gc.collect()
    before_cpu, before = time.process_time(), time.perf_counter()
    result = work()
    run = Run(time.perf_counter() - before, time.process_time() - before_cpu)
    del result
    return run


def run_process(
    command: Sequence[str | Path],
    *,
    data_limit: int = 0,
    told: Mapping[str, str] | None = None,
    most_seconds: float | None = None,
) -> Run:
    """One whole process, start-up included; a ``BenchError`` if it fails or takes too long.

    ``told`` is what its environment holds beside what all of them are told.
    """
    launcher = [PYTHON, "-I", "-S", str(HERE / "launch.py"), str(data_limit)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*launcher, *map(str, command)],
        stdout=pipe,
        stderr=pipe,
        text=True,
        cwd=ROOT,
        env={**CLEAN, **(told or {})},
    ) as process:
        try:
            output, errors = process.communicate(timeout=most_seconds)
        except subprocess.TimeoutExpired:
            process.terminate()
            raise BenchError(f"{command[-1]}: not done in {most_seconds:g} seconds") from None
        except BaseException:
            process.terminate()  # and the launcher ends its command
            raise
    took = json.loads(output) if output else {"status": process.returncode}
    if took["status"] != 0:
        last = "\n".join(errors.strip().splitlines()[-5:])
        shown = " ".join(map(str, command))[:300]
        raise BenchError(f"{shown}\nended with status {took['status']}\n{last}")
    return Run(took["seconds"], took["cpu"], took["peak"])


def interleave(
    sides: Mapping[str, Callable[[], Run]], *, rounds: int, warm_up: int = 0
) -> dict[str, list[Run]]:
    """Runs of all sides in turn, so that a slow minute of the machine hits them alike.

    Every side has as many runs as the others: the best of three against the best of one would
    be no comparison.
    """
    runs: dict[str, list[Run]] = {name: [] for name in sides}
    for number in range(warm_up + rounds):
        for name, side in sides.items():
            run = side()
            if number >= warm_up:
                runs[name].append(run)
    return runs


def best(runs: Sequence[Run]) -> float:
    """The least time: what the work takes when nothing gets in its way."""
    return min(run.seconds for run in runs)


def cpu(runs: Sequence[Run]) -> float:
    """The least processor time, which a busy machine disturbs less than the clock."""
    return min(run.cpu or 0.0 for run in runs)


def median(runs: Sequence[Run]) -> float:
    """The time in the middle: what one waits on an ordinary day."""
    return statistics.median(run.seconds for run in runs)


def peak(runs: Sequence[Run]) -> int:
    """The most memory any of the runs took, in bytes."""
    return max(run.peak or 0 for run in runs)


def measure(part: Part, ctx: Context) -> Report:
    """Run a part, with the load of the machine around it."""
    before = os.getloadavg()[0]
    report = part(ctx)
    return replace(report, load=(before, os.getloadavg()[0]))


# -- peer environments


def peer_env(name: str, requirements: Sequence[str]) -> Path:
    """The Python of an environment that holds these requirements and nothing of ours.

    It is made on first use, and again when the requirements change.
    """
    folder = STORE / name
    python = folder / "bin" / "python"
    made_of = folder / "requirements.txt"
    wanted = "".join(f"{one}\n" for one in requirements)
    if made_of.is_file() and made_of.read_text(encoding="utf-8") == wanted:
        return python
    print(f"  … making the environment {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    _quietly([PYTHON, "-m", "venv", str(folder)])
    if requirements:
        _quietly([str(python), "-m", "pip", "install", "--quiet", *requirements])
    made_of.write_text(wanted, encoding="utf-8")
    return python


def node_env(name: str, packages: Sequence[str]) -> Path:
    """The folder of programs of packages from npm, made as ``peer_env`` makes environments."""
    folder = STORE / name
    made_of = folder / "packages.txt"
    wanted = "".join(f"{one}\n" for one in packages)
    programs = folder / "node_modules" / ".bin"
    if made_of.is_file() and made_of.read_text(encoding="utf-8") == wanted:
        return programs
    print(f"  … making the environment {folder}", file=sys.stderr, flush=True)
    npm = shutil.which("npm")
    if npm is None:
        raise BenchError("there is no npm here")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _quietly([npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages])
    made_of.write_text(wanted, encoding="utf-8")
    return programs


def same_version(package: str) -> str:
    """A requirement that gives the peer the very version we use."""
    return f"{package}=={version(package)}"


def _quietly(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)}\n{done.stderr.strip()}")


# -- what the machine is


def machine() -> dict[str, Any]:
    """The facts without which a time means nothing."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": _commit(),
        "date": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def show_machine(facts: Mapping[str, Any]) -> None:
    """The facts in two lines."""
    packages = ", ".join(f"{name} {number}" for name, number in facts["packages"].items())
    print(
        f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB, load {facts['load']}; "
        f"{facts['system']}"
    )
    print(f"Python {facts['python']}; {packages}; commit {facts['commit']}")


# -- tables and results


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Plain text, the first column aligned left and the others right."""
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    for line in (header, *lines):
        first = line[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        yield "  ".join([first, *rest]).rstrip()


def show(name: str, report: Report) -> None:
    """Print a report."""
    print(f"\n{name}: {report.title}")
    floors = any(row.floor for row in report.rows)
    header = ["", *report.headings, *(["floor"] if floors else [])]
    lines = [_cells(row, floors) for row in report.rows]
    for line in table(header, lines):
        print(f"  {line}")
    for row in report.rows:
        if row.met is not None:
            print(f"  floor met: {'yes' if row.met else 'no'} ({row.name}: {row.floor})")
    for check in report.checks:
        print(f"  {_told(check)}")
        for example in check.examples:
            print(f"    {example}")
    for note in report.notes:
        print(f"  note: {note}")
    if report.load is not None:
        before, after = report.load
        print(f"  load of the machine: {before:.1f} before, {after:.1f} after")
    sys.stdout.flush()


def _cells(row: Row, floors: bool) -> list[str]:
    peer = "" if row.peer is None else str(row.peer)
    ratio = "" if row.ratio is None else f"{row.ratio:,.{0 if row.ratio >= 100 else 2}f}×"
    return [row.name, str(row.ours), peer, ratio, *([str(row.floor or "")] if floors else [])]


def _told(check: Check) -> str:
    explained = f"{check.explained:,} differ {check.explanation}; " if check.explanation else ""
    return (
        f"compared {check.compared:,} rows: {explained}"
        f"{check.differing:,} differ {'otherwise' if explained else ''}".rstrip()
    )


def right(report: Report) -> bool:
    """Whether every output was what the peer makes it, explained differences aside."""
    return all(check.differing == 0 for check in report.checks)


def save(name: str, facts: Mapping[str, Any], ctx_rows: int, reports: Mapping[str, Report]) -> Path:
    """All figures, and every run behind them, as JSON."""
    path = STORE / "results" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "machine": facts,
        "rows": ctx_rows,
        "parts": {part: _plain(report) for part, report in reports.items()},
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _plain(report: Report) -> dict[str, Any]:
    plain = asdict(report)
    for row, told in zip(report.rows, plain["rows"], strict=True):
        told["floor_met"] = row.met
    return plain


@contextmanager
def workspace(name: str) -> Iterator[Path]:
    """An empty folder for one part's data, gone afterwards."""
    STORE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"work-{name}-", dir=STORE) as folder:
        yield Path(folder)
