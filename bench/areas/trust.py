"""Trust: models of raters against crowd-kit, corrected estimates against the truth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from bench import ratings
from bench.harness import (
    HERE,
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
    peer_env,
    run_process,
    timed,
)
from bench.sheets import Codes
from calibrant.stats.counts import grouped
from calibrant.stats.dawid_skene import DawidSkene, dawid_skene

TITLE = "trust: Dawid–Skene against crowd-kit"

ITEMS = 100_000
VALUES = len(ratings.WORDS)
MISSING = 0.05
ROUNDS = 50
"""Rounds of the peer where outputs are compared; its own rule stops it earlier."""
CLOSE = 1e-3
"""How far shares may be apart after ``ROUNDS`` of the peer's."""


def crowd_kit(source: Path, target: Path, rounds: int) -> Run:
    """One run of the package, which tells its own time: making its table is left out of it."""
    python = peer_env("crowd-kit", ["crowd-kit==1.4.1", "numpy<2.3"])
    script = HERE / "peers" / "crowdkit_dawid_skene.py"
    run_process([python, "-I", script, source, target, str(rounds)])
    told = json.loads(target.read_text(encoding="utf-8"))
    return Run(told["seconds"], told["cpu"])


def _fitted(codes: Codes) -> tuple[DawidSkene, Codes]:
    """The model, and the best answer of every item."""
    found, places = grouped(codes, VALUES)
    fitted = dawid_skene(found, VALUES)
    return fitted, fitted.posterior.argmax(axis=1).astype(np.uint8)[places()]


def models(ctx: Context) -> Report:
    """Dawid–Skene of 100,000 items, from codes to every item's answer, against crowd-kit."""
    rows, checks, notes = [], [], []
    for raters in (3, 10):
        row, check, note = _model(ctx, raters)
        rows.append(row)
        checks.append(check)
        notes.append(note)
    return Report(
        f"Dawid–Skene of {ITEMS:,} items, {VALUES} answers, some missing, in memory: from codes "
        "to every item's answer",
        rows,
        checks,
        [
            *notes,
            "best of as many runs each, the first left out; the peer's own table is made before "
            f"its clock starts; answers and shares compared after {ROUNDS} rounds of the peer's",
        ],
    )


def _model(ctx: Context, raters: int) -> tuple[Row, Check, str]:
    codes = ratings.draw(ratings.seeded(), raters, ITEMS, missing=MISSING)
    source, target = ctx.work / "in.npy", ctx.work / "out.json"
    np.save(source, codes)
    ctx.say(f"Dawid–Skene of {ITEMS:,} items by {raters} raters")
    runs = interleave(
        {
            "ours": lambda: timed(lambda: _fitted(codes)),
            "peer": lambda: crowd_kit(source, target, 0),
        },
        rounds=2 if ctx.quick else 3,
        warm_up=1,
    )
    own = json.loads(target.read_text(encoding="utf-8"))["rounds"]
    mine, theirs = best(runs["ours"]), best(runs["peer"])
    name = f"{raters} raters"
    times = Quantity(mine, "s"), Quantity(theirs, "s")
    row = Row(name, *times, theirs / mine, Floor(100), runs)
    fitted, answers = _fitted(codes)
    crowd_kit(source, target, ROUNDS)
    note = (
        f"{raters} raters: ours {fitted.rounds} rounds until the likelihood no longer rises, the "
        f"peer {own} rounds by its own rule; processor time "
        f"{cpu(runs['peer']) / cpu(runs['ours']):,.0f}×"
    )
    return row, _same(fitted, answers, target), note


def _same(fitted: DawidSkene, answers: Codes, target: Path) -> Check:
    """The best answer of every item, and the shares."""
    told = json.loads(target.read_text(encoding="utf-8"))
    theirs = np.array(told["labels"], np.uint8)
    wrong = int((answers[told["items"]] != theirs).sum())
    apart = np.abs(fitted.shares - told["shares"]).max()
    far = int(apart > CLOSE)
    examples = [f"shares up to {apart:.2g} apart, {wrong:,} answers differ"]
    return Check(len(theirs) + VALUES, wrong + far, 0, "", examples if wrong + far else ())


PARTS: dict[str, Part] = {"models": models}
