"""Scoring, against a plain function called row by row in a Python of its own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import polars as pl

from bench import sheets
from bench.compare import compare, from_arrays, read_results
from bench.harness import (
    HERE,
    PYTHON,
    BenchError,
    Context,
    Floor,
    Part,
    Quantity,
    Report,
    Row,
    Run,
    Unit,
    best,
    cpu,
    interleave,
    median,
    peak,
    peer_env,
    run_process,
    same_version,
    timed,
)
from calibrant.formats.rubric_file import load_rubric
from calibrant.stats.scorebook import Scorebook

TITLE = "scoring sheets under coaching-conversation"

PEER = HERE / "peers" / "row_score.py"
COMMAND = Path(PYTHON).with_name("calibrant")
BY_HAND = (
    "from calibrant.formats.score_file import score_file; import calibrant, sys; "
    f"score_file(calibrant.load_rubric({sheets.RUBRIC!r}), sys.argv[1], sys.argv[2])"
)
"""What the command does, for as long as there is no command."""
BIG_FILE = 1_500_000_000
"""Bytes of the file that is scored with less memory than its size."""


# -- both sides


@cache
def has_command() -> bool:
    """Whether ``calibrant score`` is there."""
    if not COMMAND.is_file():
        return False
    done = subprocess.run([COMMAND, "score", "--help"], capture_output=True, check=False)
    return done.returncode == 0


def ours(source: Path, target: Path) -> list[str | Path]:
    """Our command line for one file."""
    if has_command():
        return [COMMAND, "score", source, "-r", sheets.RUBRIC, "-o", target]
    return [PYTHON, "-c", BY_HAND, source, target]


def peer(program: str, *arguments: Path) -> list[str | Path]:
    """The peer's command line; ``-I`` keeps our environment out of it."""
    python = peer_env("row-function", [same_version("polars")])
    return [python, "-I", PEER, program, *arguments]


def _how() -> list[str]:
    if has_command():
        return []
    return ["`calibrant score` is not there yet: its function `score_file` was called instead"]


# -- parts


def arrays(ctx: Context) -> Report:
    """Coded arrays: Scorebook.score against the function over dicts, both in memory."""
    book = Scorebook(load_rubric(sheets.RUBRIC))
    codes = sheets.codes(ctx.rows)
    some = min(ctx.rows, 100_000)
    source = sheets.write_parquet(ctx.work / "in.parquet", some)
    target, seconds = ctx.work / "peer.parquet", ctx.work / "seconds.json"

    def by_rows() -> Run:
        run_process(peer("rows", source, seconds))
        told = json.loads(seconds.read_text(encoding="utf-8"))
        return Run(told["seconds"], told["cpu"])

    ctx.say(f"scoring {ctx.rows:,} sheets as arrays, {some:,} as dicts")
    runs = interleave(
        {"ours": lambda: timed(lambda: book.score(codes)), "peer": by_rows},
        rounds=3 if ctx.quick else 7,
        warm_up=1,
    )
    run_process(peer("rows", source, seconds, target))
    mine, theirs = best(runs["ours"]) / ctx.rows, best(runs["peer"]) / some
    row = Row(
        f"{ctx.rows:,} sheets",
        Quantity(mine * ctx.rows, "s"),
        Quantity(theirs * ctx.rows, "s"),
        theirs / mine,
        Floor(1000),
        runs,
    )
    scored = book.score(codes)
    return Report(
        "coded arrays against dicts, both in memory",
        [row],
        [compare(from_arrays(book, scored, some), read_results(target))],
        [
            f"the peer was timed on {some:,} dicts and its time scaled to {ctx.rows:,}; "
            f"a row takes ours {Quantity(mine, 's')}, the peer {Quantity(theirs, 's')}",
            _pair(
                "processor time a row", cpu(runs["ours"]) / ctx.rows, cpu(runs["peer"]) / some, "s"
            )
            + "; on a busy machine this is the fairer ratio, since a short run finds a quiet "
            "moment and a long one does not",
        ],
    )


def parquet(ctx: Context) -> Report:
    """Parquet in, Parquet out: whole processes, start-up included."""
    return _end_to_end(ctx, "parquet", sheets.write_parquet, Floor(15))


def jsonl(ctx: Context) -> Report:
    """JSONL in, JSONL out: whole processes, start-up included."""
    return _end_to_end(ctx, "jsonl", sheets.write_jsonl, Floor(8))


def _end_to_end(
    ctx: Context, form: str, write: Callable[[Path, int], Path], floor: Floor
) -> Report:
    source = write(ctx.work / f"in.{form}", ctx.rows)
    mine, theirs = ctx.work / f"ours.{form}", ctx.work / f"peer.{form}"
    ctx.say(f"scoring {ctx.rows:,} sheets from {form}")
    runs = interleave(
        {
            "ours": lambda: run_process(ours(source, mine)),
            "peer": lambda: run_process(peer(form, source, theirs)),
        },
        rounds=3,
    )
    ctx.say("comparing the results")
    check = compare(read_results(mine), read_results(theirs))
    fast, slow = best(runs["ours"]), best(runs["peer"])
    row = Row(
        f"{ctx.rows:,} sheets", Quantity(fast, "s"), Quantity(slow, "s"), slow / fast, floor, runs
    )
    told = [
        f"best of {len(runs['ours'])} runs each; ours {ctx.rows / fast:,.0f} sheets a second",
        _pair("processor time", cpu(runs["ours"]), cpu(runs["peer"]), "s"),
        _pair("peak memory", peak(runs["ours"]), peak(runs["peer"]), "B"),
    ]
    return Report(f"whole process, {form} to {form}", [row], [check], [*told, *_how()])


def _pair(what: str, mine: float, theirs: float, unit: Unit) -> str:
    ratio = f" ({theirs / mine:,.1f}×)" if unit == "s" else ""
    return f"{what}: ours {Quantity(mine, unit)}, peer {Quantity(theirs, unit)}{ratio}"


def memory(ctx: Context) -> Report:
    """Peak memory as files grow, and a file larger than the memory allowed."""
    small, large = (20_000, 200_000) if ctx.quick else (200_000, 2_000_000)
    writers = {"jsonl": sheets.write_jsonl, "parquet": sheets.write_parquet}
    rows, notes = [], []
    for form, write in writers.items():
        few, many = (_memory_row(ctx, form, write, count) for count in (small, large))
        rows += [few, many]
        times, grown = many.ours.value / few.ours.value, many.ours.value - few.ours.value
        notes.append(
            f"{form}: {large // small} times the sheets take {times:.2f} times "
            f"the memory, {grown / (large - small):,.0f} bytes for every sheet more"
        )
    if not ctx.quick:
        row, note = _limited(ctx)
        rows.append(row)
        notes.append(note)
    return Report(
        "peak resident memory of one process against the size of its file",
        rows,
        notes=[*notes, *_how()],
        headings=("peak RSS", "file", "RSS/file"),
    )


def _memory_row(ctx: Context, form: str, write: Callable[[Path, int], Path], count: int) -> Row:
    source, target = write(ctx.work / f"in.{form}", count), ctx.work / f"out.{form}"
    ctx.say(f"scoring {count:,} sheets from {form}")
    runs = [run_process(ours(source, target)) for _ in range(2)]
    row = _against_file(f"{form}, {count:,} sheets", source, runs)
    source.unlink()
    target.unlink()
    return row


def _limited(ctx: Context) -> tuple[Row, str]:
    """A JSONL file scored by a process that may not write to as much memory as its size."""
    probe = sheets.write_jsonl(ctx.work / "probe.jsonl", 1000)
    count = round(BIG_FILE / probe.stat().st_size * 1000)
    source = sheets.write_jsonl(ctx.work / "in.jsonl", count)
    limit = source.stat().st_size * 2 // 3
    ctx.say(f"scoring {count:,} sheets from jsonl, memory limited to {Quantity(limit, 'B')}")
    try:
        run = run_process(ours(source, ctx.work / "out.jsonl"), data_limit=limit)
        told = "went through"
    except BenchError as error:
        ctx.say(str(error))
        run, told = run_process(ours(source, ctx.work / "out.jsonl")), "FAILED; shown without limit"
    row = _against_file(f"jsonl, {count:,} sheets", source, [run])
    note = (
        f"the last run, with writable memory (RLIMIT_DATA) limited to {Quantity(limit, 'B')}, "
        f"two thirds of the file: {told}, {Quantity(run.seconds, 's')}"
    )
    return row, note


def _against_file(name: str, source: Path, runs: list[Run]) -> Row:
    most, size = peak(runs), source.stat().st_size
    return Row(name, Quantity(most, "B"), Quantity(size, "B"), most / size, runs={"ours": runs})


def startup(ctx: Context) -> Report:
    """Start-up: calibrant --help against a bare Python and a bare click program."""
    commands: dict[str, list[str | Path]] = {
        "bare Python": [PYTHON, "-c", "pass"],
        "bare click program": [PYTHON, HERE / "peers" / "bare_click.py", "--help"],
    }
    if not has_command():
        raise BenchError("there is no `calibrant` command yet")
    commands["ours"] = [COMMAND, "--help"]
    runs = interleave(
        {name: lambda command=command: run_process(command) for name, command in commands.items()},  # type: ignore[misc]
        rounds=10 if ctx.quick else 20,
        warm_up=2,
    )
    mine = median(runs["ours"])
    rows = []
    for name, floor in (("bare Python", Floor(8, at_most=True)), ("bare click program", None)):
        bare = median(runs[name])
        pair = {"ours": runs["ours"], "peer": runs[name]}
        rows.append(
            Row(
                f"against a {name}",
                Quantity(mine, "s"),
                Quantity(bare, "s"),
                mine / bare,
                floor,
                pair,
            )
        )
    least = ", ".join(
        f"{name} {Quantity(best(found), 's')} ({Quantity(cpu(found), 's')} of processor)"
        for name, found in runs.items()
    )
    return Report(
        "calibrant --help, whole process",
        rows,
        notes=[
            f"medians of {len(runs['ours'])}; the ratio is a cost: smaller is better",
            f"least times, which a busy machine disturbs less: {least}",
        ],
    )


def formats(ctx: Context) -> Report:
    """Other file formats, for information: sheets a second."""
    count = min(ctx.rows, 10_000 if ctx.quick else 100_000)
    wide = sheets.write_csv(ctx.work / "wide.csv", count)
    workbook = ctx.work / "wide.xlsx"
    writer = peer_env("xlsx-writer", [same_version("openpyxl")])
    run_process([writer, "-I", HERE / "peers" / "write_xlsx.py", wide, workbook])
    files = {
        "CSV, wide": wide,
        "XLSX, wide": workbook,
        "CSV, long": sheets.write_long_csv(ctx.work / "long.csv", count),
    }
    target = ctx.work / "out.parquet"
    scored: list[pl.DataFrame] = []
    rows = []
    for name, source in files.items():
        ctx.say(f"scoring {count:,} sheets from {source.name}")
        runs = [run_process(ours(source, target)) for _ in range(3)]
        scored.append(read_results(target))
        spent = best(runs)
        rows.append(
            Row(name, Quantity(count / spent, "/s"), Quantity(spent, "s"), runs={"ours": runs})
        )
    return Report(
        f"{count:,} sheets to Parquet, whole process, start-up included",
        rows,
        [compare(scored[0], other, exact=True) for other in scored[1:]],
        [
            f"a long file has {len(sheets.criteria())} rows a sheet; "
            "compared are the results of the three files with each other",
            *_how(),
        ],
        headings=("sheets", "time", ""),
    )


PARTS: dict[str, Part] = {
    "arrays": arrays,
    "parquet": parquet,
    "jsonl": jsonl,
    "memory": memory,
    "startup": startup,
    "formats": formats,
}
