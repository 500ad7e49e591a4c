"""Agreement, against the packages that compute it, and intervals against the truth."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import coverage as intervals
from bench import ratings
from bench.harness import (
    HERE,
    PYTHON,
    Band,
    BenchError,
    Check,
    Context,
    Floor,
    Part,
    Quantity,
    Report,
    Row,
    Run,
    best,
    cpu,
    interleave,
    peak,
    peer_env,
    run_process,
    same_version,
    timed,
)
from bench.sheets import Codes
from calibrant.stats.alpha import alpha
from calibrant.stats.bootstrap import replicates
from calibrant.stats.catalogue import Measure, measures
from calibrant.stats.counts import ABSENT, counts_of, pair_tables, patterns
from calibrant.stats.estimate import Design
from calibrant.stats.kappa import cohen, cohen_error
from calibrant.stats.moments import by_rater, exchangeable
from calibrant.stats.weights import Level, identity

TITLE = "agreement of raters: coefficients, resampling, pairs, intervals"

COMMAND = Path(PYTHON).with_name("calibrant")
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
VALUES = 5
POINTS = np.arange(VALUES, dtype=np.float64)
SHARES = (0.1, 0.15, 0.25, 0.3, 0.2)
"""How often each of the five values is the true one."""
MISSING = 0.1
CLOSE = 1e-9
"""How far our coefficients may be from the peer's."""


# -- both sides


@cache
def has_command() -> bool:
    """Whether ``calibrant agree`` is there."""
    if not COMMAND.is_file():
        return False
    done = subprocess.run([COMMAND, "agree", "--help"], capture_output=True, check=False)
    return done.returncode == 0


def five_values(items: int) -> Codes:
    """Three raters on a scale of five, a tenth missing."""
    return ratings.draw(ratings.seeded(), 3, items, SHARES, missing=MISSING)


def write_numbers(path: Path, codes: Codes) -> Path:
    """The codes as the krippendorff package wants them: numbers, and nan where there is none."""
    np.save(path, np.where(codes == ABSENT, np.nan, codes.astype(np.float64)))
    return path


def krippendorff(program: str, source: Path, target: Path, *arguments: str) -> Run:
    """One run of the package, which tells its own time: reading the file is left out of it."""
    python = peer_env("krippendorff", [same_version("krippendorff"), same_version("numpy")])
    script = HERE / "peers" / "krippendorff_alpha.py"
    run_process([python, "-I", script, program, source, target, *arguments])
    return _told_time(target)


def scikit_learn(source: Path, target: Path) -> Run:
    """One run of the package over some pairs of raters."""
    wanted = [same_version(name) for name in ("scikit-learn", "scipy", "numpy")]
    python = peer_env("scikit-learn", wanted)
    run_process([python, "-I", HERE / "peers" / "sklearn_kappa.py", source, target])
    return _told_time(target)


def _told(path: Path) -> dict[str, list[float]]:
    told: dict[str, list[float]] = json.loads(path.read_text(encoding="utf-8"))
    return told


def _told_time(path: Path) -> Run:
    told = json.loads(path.read_text(encoding="utf-8"))
    return Run(told["seconds"], told["cpu"])


def _same(names: list[str], mine: list[float], theirs: list[float]) -> Check:
    """Coefficients of both sides, which are the same but for rounding."""
    apart = np.abs(np.subtract(mine, theirs))
    wrong = ~(apart <= CLOSE)
    examples = [
        f"{names[at]}: ours {mine[at]!r}, peer {theirs[at]!r}" for at in np.flatnonzero(wrong)[:3]
    ]
    return Check(len(mine), int(wrong.sum()), 0, "", examples)


def _processor(mine: float, theirs: float) -> str:
    return (
        f"processor time: ours {Quantity(mine, 's')}, peer {Quantity(theirs, 's')} "
        f"({theirs / mine:,.0f}×); on a busy machine this is the fairer ratio"
    )


# -- parts


def alphas(ctx: Context) -> Report:
    """Three alphas of coded ratings, against the krippendorff package."""
    codes = five_values(ctx.rows)
    source, target = write_numbers(ctx.work / "in.npy", codes), ctx.work / "out.json"

    def three() -> list[float]:
        rows = exchangeable(counts_of(patterns(codes, VALUES), VALUES))
        sums = rows.read(rows.sums())
        return [float(alpha(sums, level, POINTS)) for level in LEVELS]

    ctx.say(f"three alphas of {ctx.rows:,} items by 3 raters")
    runs = interleave(
        {
            "ours": lambda: timed(three),
            "peer": lambda: krippendorff("alphas", source, target, *LEVELS),
        },
        rounds=3 if ctx.quick else 5,
        warm_up=1,
    )
    mine, theirs = best(runs["ours"]), best(runs["peer"])
    row = Row(
        f"{ctx.rows:,} items",
        Quantity(mine, "s"),
        Quantity(theirs, "s"),
        theirs / mine,
        Floor(100),
        runs,
    )
    return Report(
        "nominal, ordinal and interval alpha, 3 raters, 5 values, a tenth missing, in memory",
        [row],
        [_same(list(LEVELS), three(), _told(target)["found"])],
        [
            f"best of {len(runs['ours'])} runs each, the first left out; ours from codes of a "
            f"byte, the peer from numbers; compared to {CLOSE:g}",
            _processor(cpu(runs["ours"]), cpu(runs["peer"])),
        ],
    )


def bootstrap(ctx: Context) -> Report:
    """Ten thousand resamples of all coefficients, against a loop over the krippendorff package."""
    rows, checks = [], []
    notes = [
        "the peer resamples items and computes alpha in a loop; a few rounds of it were timed "
        f"and scaled to {TIMES:,}, each way best of 3 runs",
    ]
    for items, floor in ((10_000, Floor(300)), (100_000, Floor(3_000))):
        found, check, told = _bootstrap_rows(ctx, items, floor)
        rows += found
        checks.append(check)
        notes += told
    return Report(
        f"{TIMES:,} resamples, 3 raters, 5 values, a tenth missing, in memory", rows, checks, notes
    )


TIMES = 10_000
"""Resamples."""


def _bootstrap_rows(ctx: Context, items: int, floor: Floor) -> tuple[list[Row], Check, list[str]]:
    codes = five_values(items)
    source, target = write_numbers(ctx.work / "in.npy", codes), ctx.work / "out.json"
    once = max(2, (40_000 if ctx.quick else 200_000) // items)
    chosen = measures("interval", POINTS, pair=False)

    def all_of_them() -> NDArray[np.float64]:
        rows = by_rater(patterns(codes, VALUES), VALUES)
        return replicates(rows, chosen, TIMES, np.random.default_rng(0))

    def loop(*levels: Level) -> Run:
        run = krippendorff("loop", source, target, str(once), *levels)
        return Run(run.seconds / once * TIMES, (run.cpu or 0.0) / once * TIMES)

    ctx.say(f"{TIMES:,} resamples of {items:,} items; {once} by the peer")
    runs = interleave(
        {
            "ours": lambda: timed(all_of_them),
            "one": lambda: loop("nominal"),
            "three": lambda: loop(*LEVELS),
        },
        rounds=3,
        warm_up=0 if ctx.quick else 1,
    )
    mine = best(runs["ours"])
    rows = [
        Row(
            f"{items:,} items, {len(chosen)} coefficients, peer's loop of {what}",
            Quantity(mine, "s"),
            Quantity(best(runs[key]), "s"),
            best(runs[key]) / mine,
            floor,
            {"ours": runs["ours"], "peer": runs[key]},
        )
        for key, what in (("one", "one alpha"), ("three", "three alphas"))
    ]
    return (
        rows,
        _same_spread(items, all_of_them(), chosen, _told(target)["found"]),
        [f"{items:,} items: " + _processor(cpu(runs["ours"]), cpu(runs["one"]))],
    )


def _same_spread(
    items: int,
    drawn: NDArray[np.float64],
    chosen: list[Measure],
    theirs: list[float],
) -> Check:
    """Whether the peer's few resampled alphas lie where ours do: within six standard errors."""
    at = [
        place
        for level in LEVELS
        for place, one in enumerate(chosen)
        if one.coefficient == "krippendorff_alpha" and one.level == level
    ]
    mine, spread = drawn[at].mean(axis=1), drawn[at].std(axis=1)
    wrong = np.abs(np.asarray(theirs) - mine) > 6 * spread  # (resamples, levels)
    examples = [f"{items:,} items: resamples of the peer's far from ours"] if wrong.any() else []
    return Check(wrong.size, int(wrong.sum()), 0, "", examples)


CRITERIA, RATERS = 15, 10


def pairs(ctx: Context) -> Report:
    """Kappa and its standard error of every pair of raters, against scikit-learn."""
    random = ratings.seeded()
    codes = [
        ratings.draw(random, RATERS, ctx.rows, missing=intervals.MISSING) for _ in range(CRITERIA)
    ]
    both = list(combinations(range(RATERS), 2))
    once = both[:: 15 if ctx.quick else 5]
    source, target = ctx.work / "in.npy", ctx.work / "out.json"
    np.save(source, np.stack([codes[0][list(pair)] for pair in once]))
    weights = identity(len(ratings.WORDS))
    calls = CRITERIA * len(both)

    def every_pair() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        tables = np.stack([pair_tables(one, len(ratings.WORDS)) for one in codes])
        first, second = np.transpose(both)
        chosen = tables[:, first, second].astype(np.float64)  # (criteria, pairs, K, K)
        return cohen(chosen, weights), cohen_error(chosen, weights)

    def some_pairs() -> Run:
        run = scikit_learn(source, target)
        scale = calls / len(once)
        return Run(run.seconds * scale, (run.cpu or 0.0) * scale)

    ctx.say(f"{calls} kappas of {ctx.rows:,} items; {len(once)} by the peer")
    runs = interleave(
        {"ours": lambda: timed(every_pair), "peer": some_pairs},
        rounds=3 if ctx.quick else 5,
        warm_up=1,
    )
    mine, theirs = best(runs["ours"]), best(runs["peer"])
    row = Row(
        f"{ctx.rows:,} items, {calls} pairs",
        Quantity(mine, "s"),
        Quantity(theirs, "s"),
        theirs / mine,
        Floor(100),
        runs,
    )
    kappas, errors = every_pair()
    if not (np.isfinite(kappas).all() and (errors > 0).all()):
        raise BenchError("a kappa or its standard error has no value")
    found = [float(kappas[0, both.index(pair)]) for pair in once]
    return Report(
        f"Cohen's kappa, {CRITERIA} criteria, {len(both)} pairs of {RATERS} raters, 3 answers, "
        "some missing, in memory",
        [row],
        [_same([f"raters {pair}" for pair in once], found, _told(target)["found"])],
        [
            f"ours with standard errors; {len(once)} calls of the peer were timed, from codes of "
            f"a byte with what is missing taken away before, and scaled to {calls}",
            f"best of {len(runs['ours'])} runs each; compared to {CLOSE:g}",
            _processor(cpu(runs["ours"]), cpu(runs["peer"])),
        ],
    )


def end_to_end(ctx: Context) -> Report:
    """A long Parquet file through the whole command, against polars grouping it three times."""
    if not has_command():
        raise BenchError("there is no `calibrant agree` command yet")
    raters = 5
    rows = ctx.rows * (1 if ctx.quick else 10)
    source = ratings.write_long_parquet(ctx.work / "in.parquet", rows, CRITERIA, raters)
    report, sizes = ctx.work / "out.json", ctx.work / "sizes.json"
    python = peer_env("grouping", [same_version("polars")])
    script = HERE / "peers" / "group_three_times.py"
    ctx.say(f"{rows:,} ratings from a long Parquet file")
    runs = interleave(
        {
            "ours": lambda: run_process(
                [COMMAND, "agree", source, "--level", "nominal", "-o", report]
            ),
            "peer": lambda: run_process([python, "-I", script, source, sizes]),
        },
        rounds=3,
        warm_up=1,
    )
    mine, theirs = best(runs["ours"]), best(runs["peer"])
    row = Row(
        f"{rows:,} ratings",
        Quantity(mine, "s"),
        Quantity(theirs, "s"),
        theirs / mine,
        Floor(1),
        runs,
    )
    found = json.loads(report.read_text(encoding="utf-8"))["estimates"]
    return Report(
        f"whole process, {CRITERIA} criteria, {raters} raters: `calibrant agree --level nominal` "
        "against reading and grouping alone",
        [row],
        [_estimated(found)],
        [
            f"best of {len(runs['ours'])} runs each; ours wrote {len(found):,} estimates, the "
            "peer computes none",
            f"processor time: ours {Quantity(cpu(runs['ours']), 's')}, "
            f"peer {Quantity(cpu(runs['peer']), 's')}",
            f"peak memory: ours {Quantity(peak(runs['ours']), 'B')}, "
            f"peer {Quantity(peak(runs['peer']), 'B')}",
        ],
    )


def _estimated(found: list[dict[str, object]]) -> Check:
    """Whether every criterion has an alpha near the one its raters were made with."""
    true = intervals.truth(intervals.ordinary_joint())["krippendorff_alpha:nominal"]
    values = [
        one["value"] for one in found if one["coefficient"] == "krippendorff_alpha" and _of_all(one)
    ]
    wrong = sum(not (isinstance(value, float) and abs(value - true) < 0.05) for value in values)
    missing = max(0, CRITERIA - len(values))
    return Check(
        max(CRITERIA, len(values)),
        wrong + missing,
        0,
        "",
        [f"{len(values)} alphas, {wrong} of them far from {true:.3f}"] if wrong + missing else [],
    )


def _of_all(one: dict[str, object]) -> bool:
    """Whether an estimate is of all answers of all raters, NA among them."""
    raters = one["raters"]
    several = not isinstance(raters, list) or len(raters) != 2
    return several and one["criterion"] is not None and one["na"] != "left_out"


SIZES = (30, 100, 500)
WANTED = Band(0.93, 0.97)


def coverage(ctx: Context) -> Report:
    """How often 95 % intervals hold the true value, by simulation."""
    samples = 200 if ctx.quick else 1_000
    methods = {"by default": Design(), "Fisher": Design(method="fisher")}
    designs = (
        ("ordinary", intervals.ordinary, intervals.ordinary_joint(), WANTED),
        ("hard", intervals.hard, intervals.hard_joint(), None),
    )
    rows, notes = [], []
    for name, sampler, joint, wanted in designs:
        true = intervals.truth(joint)
        for items in SIZES:
            ctx.say(f"{samples:,} samples of {items} items, {name} design")
            found = intervals.tallies(sampler, true, items, range(samples), methods)
            for (coefficient, method), tally in sorted(found.items()):
                what = f"{name}, n = {items}, {coefficient}, {method}"
                rows.append(
                    Row(
                        what,
                        Quantity(tally.coverage, "share"),
                        Quantity(tally.error, "share"),
                        floor=wanted,
                    )
                )
                if tally.none or tally.point:
                    notes.append(
                        f"{what}: {tally.none:,} of {tally.samples:,} samples had no value, "
                        f"{tally.point:,} an interval of no width"
                    )
    return Report(
        f"95 % intervals of {samples:,} samples that hold the true value",
        rows,
        notes=[
            "ordinary: 3 raters, YES/NO/NA .80/.15/.05, 5 % missing; "
            + _true(intervals.ordinary_joint()),
            "hard: 2 raters, kappa .9, prevalence .95/.05; " + _true(intervals.hard_joint()),
            "true values are exact; samples without a value are not counted in the coverage",
            *notes,
        ],
        headings=("coverage", "error", ""),
    )


def _true(joint: NDArray[np.float64]) -> str:
    found = intervals.truth(joint)
    return f"true alpha {found['krippendorff_alpha:nominal']:.3f}, AC1 {found['gwet_ac']:.3f}"


PARTS: dict[str, Part] = {
    "alphas": alphas,
    "bootstrap": bootstrap,
    "pairs": pairs,
    "end_to_end": end_to_end,
    "coverage": coverage,
}
