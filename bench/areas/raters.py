"""Raters: the many-facet model against a package, biases that are planted, and false alarms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from bench.harness import (
    HERE,
    Band,
    Check,
    Context,
    Floor,
    Part,
    Quantity,
    Report,
    Row,
    Run,
    cpu,
    interleave,
    peer_env,
    run_process,
    same_version,
    timed,
)
from bench.panels import APART, PLANTED, YES_NO, Panel, draw
from bench.sheets import SEED, Codes
from calibrant.compare.rater_diagnostics import Diagnostic, Look, diagnostics
from calibrant.compare.rater_model import fitted
from calibrant.compare.raters import rater_profiles
from calibrant.stats.counts import ABSENT
from calibrant.stats.rasch_design import asked_of
from calibrant.stats.rasch_fit import fit

TITLE = "raters: severity, biases that are planted, false alarms"

RATINGS = 9_000_000
NEAR = 0.03
"""Logits by which severities of two methods may differ on the data compared here."""
HONEST: Mapping[str, Panel] = {
    "8 raters, 200 items, 5 criteria of 5 points": Panel(),
    "4 raters": Panel(raters=4),
    "15 criteria with yes or no": Panel(criteria=15, steps=YES_NO),
    "3 of 8 raters an item": Panel(asked=3),
    "all raters take the items in one order": Panel(same_order=True),
    "steps of the scale a logit apart": Panel(steps=APART),
}
"""Panels without a bias, the one that the floor is about first."""


# -- planted biases and false alarms


def _findings(panel: Panel, planted: Mapping[int, str], number: int) -> list[Diagnostic]:
    table, visits = draw(np.random.default_rng([SEED, number]), panel, planted)
    model = fitted(table, None, partial_credit=False)
    return [one for one in diagnostics(Look(table, model, visits)) if one.found]


def planted(ctx: Context) -> Report:
    """How often a planted bias is found and named, in one of eight raters."""
    times = 25 if ctx.quick else 200
    rows, notes = [], []
    for at, (bias, kind) in enumerate(PLANTED.items()):
        ctx.say(f"{times} panels with a {bias} rater")
        named = others = more = 0
        for number in range(times):
            found = _findings(Panel(), {0: bias}, 1_000_000 * (at + 1) + number)
            named += any(one.rater == "rater 1" and one.kind == kind for one in found)
            others += any(one.rater != "rater 1" for one in found)
            more += any(one.rater == "rater 1" and one.kind != kind for one in found)
        power = Quantity(named / times, "share")
        rows.append(Row(f"{bias}: found as {kind}", power, floor=Band(0.8, 1)))
        notes.append(
            f"{bias}: something else said of this rater in {more / times:.1%} of the panels, "
            f"anything of another rater in {others / times:.1%}"
        )
    rows += [_apart(ctx, times), _all_seven(ctx, times // 4)]
    title = f"one of 8 raters is biased; 200 items, 5 criteria of 5 points; {times} panels each"
    return Report(title, rows, notes=notes, headings=("found", "", ""))


def _apart(ctx: Context, times: int) -> Row:
    """The bias that is hardest to see, on a scale that tells less."""
    ctx.say(f"{times} panels with a drifting rater, steps a logit apart")
    panel, bias = Panel(steps=APART), {0: "drifting"}
    found = [_findings(panel, bias, 90_000_000 + one) for one in range(times)]
    named = sum(any((one.rater, one.kind) == ("rater 1", "drift") for one in of) for of in found)
    share = Quantity(named / times, "share")
    return Row("drifting, steps of the scale a logit apart", share, floor=Band(0.8, 1))


def _all_seven(ctx: Context, times: int) -> Row:
    """Seven biased raters among twelve."""
    ctx.say(f"{times} panels with all seven biases among 12 raters")
    biased = dict(enumerate(PLANTED))
    found = 0
    for number in range(times):
        told = {(one.rater, one.kind) for one in _findings(Panel(raters=12), biased, number)}
        found += sum((f"rater {at + 1}", PLANTED[bias]) in told for at, bias in biased.items())
    share = Quantity(found / times / len(biased), "share")
    return Row("all seven at once, of 12 raters", share)


def honest(ctx: Context) -> Report:
    """How often anything at all is found in panels without a bias."""
    rows, notes = [], []
    for at, (name, panel) in enumerate(HONEST.items()):
        times = (200 if at == 0 else 50) if ctx.quick else (1000 if at == 0 else 300)
        ctx.say(f"{times} honest panels: {name}")
        alarms = [_findings(panel, {}, 50_000_000 * (at + 1) + one) for one in range(times)]
        share = sum(map(bool, alarms)) / times
        floor = Band(0, 0.05) if at == 0 else None
        rows.append(Row(f"{name} ({times:,} panels)", Quantity(share, "share"), floor=floor))
        kinds = sorted({one.kind for found in alarms for one in found})
        notes.append(f"{name}: alarms were {', '.join(kinds) or 'none'}")
    title = "panels in which an honest rater is said to have a bias"
    return Report(title, rows, notes=notes, headings=("panels with any alarm", "", ""))


# -- speed


@cache
def _codes(ratings: int, missing: float) -> Codes:
    """Ten raters, fifteen questions with yes or no."""
    random = np.random.default_rng(SEED)
    panel = Panel(raters=10, criteria=15, steps=YES_NO, items=ratings // 150, spread=0.5)
    table, _ = draw(random, panel, {})
    codes = np.stack([one.codes for one in table.criteria])
    if missing:
        codes[random.random(codes.shape, np.float32) < missing] = ABSENT
    return codes


def model(ctx: Context) -> Report:
    """The many-facet model, against RaschPy."""
    ratings = RATINGS // 10 if ctx.quick else RATINGS
    rows, checks, notes = [], [], []
    for name, missing, floor in (
        ("everybody answers everything", 0.0, Floor(50)),
        ("one rating in 100 is missing", 0.01, None),
    ):
        codes = _codes(ratings, missing)
        source, target = ctx.work / "in.npy", ctx.work / "out.json"
        np.save(source, codes)
        ctx.say(f"{codes.size:,} ratings, {name}")
        families = [range(len(codes))]

        def ours(codes: Codes = codes, families: list[range] = families) -> object:
            return fit(asked_of(codes, families))

        sides = {"ours": lambda: timed(ours), "peer": lambda: _raschpy(source, target)}  # noqa: B023
        runs = interleave(sides, rounds=2 if ctx.quick else 3)
        mine, theirs = cpu(runs["ours"]), cpu(runs["peer"])
        each = codes.size
        rows.append(
            Row(name, Quantity(mine / each, "s"), Quantity(theirs / each, "s"), theirs / mine,
                floor, runs)
        )  # fmt: skip
        checks.append(_same(fit(asked_of(codes, families)).severities, target))
        notes.append(
            f"{name}: all {each:,} ratings in {Quantity(mine, 's')}, peer {Quantity(theirs, 's')}"
        )
    notes.append("ours gives places of items and standard errors, too; the peer severities only")
    title = f"{ratings:,} ratings, 10 raters, 15 criteria: processor time per rating"
    return Report(title, rows, checks, notes)


def _raschpy(source: Path, target: Path) -> Run:
    wanted = ["raschpy==1.4.0", same_version("scipy"), same_version("numpy")]
    python = peer_env("raschpy", wanted)
    run_process([python, "-I", HERE / "peers" / "raschpy_severity.py", source, target])
    told = json.loads(target.read_text(encoding="utf-8"))
    return Run(told["seconds"], told["cpu"])


def _same(severities: np.ndarray[tuple[int], np.dtype[np.float64]], target: Path) -> Check:
    """Severities of both, which differ as estimates by different methods do."""
    theirs = json.loads(target.read_text(encoding="utf-8"))["found"]
    wrong = np.abs(severities - np.array(theirs)) > NEAR
    examples = [
        f"rater {at}: {severities[at]:.4f}, {theirs[at]:.4f}" for at in np.flatnonzero(wrong)
    ]
    return Check(len(wrong), int(wrong.sum()), examples=examples)


def report(ctx: Context) -> Report:
    """Everything that the command tells, from a table in memory."""
    rows = []
    for name, panel in (
        ("15 criteria, 10 raters, all items", Panel(10, RATINGS // 150, 15, YES_NO)),
        ("5 criteria, 30 raters, 3 an item", Panel(30, RATINGS // 90, 5, asked=3)),
    ):
        smaller = Panel(
            panel.raters, panel.items // 10 if ctx.quick else panel.items, panel.criteria,
            panel.steps, panel.asked,
        )  # fmt: skip
        table, visits = draw(np.random.default_rng(SEED), smaller, {})
        count = sum(int((one.codes != ABSENT).sum()) for one in table.criteria)
        ctx.say(f"{count:,} ratings: {name}")
        run = timed(lambda: rater_profiles(table, None, visits))  # noqa: B023
        rows.append(Row(f"{name}: {count:,} ratings", Quantity(run.cpu or 0.0, "s")))
    return Report("processor time of a whole report", rows)


PARTS: dict[str, Part] = {
    "planted": planted,
    "honest": honest,
    "model": model,
    "report": report,
}
