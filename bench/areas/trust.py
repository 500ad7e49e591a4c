"""Trust: models of raters against crowd-kit, corrected estimates against the truth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import llm_rubric, ratings
from bench.harness import (
    HERE,
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
    peer_env,
    run_process,
    timed,
)
from bench.sheets import SEED, Codes
from calibrant.compare.calibration_report import CriterionCalibration
from calibrant.formats.calibrating import calibrate_judge
from calibrant.stats.alternative_annotator import AlternativeTest, alternative_annotator
from calibrant.stats.calibration import Figure
from calibrant.stats.counts import ABSENT, grouped, patterns
from calibrant.stats.dawid_skene import DawidSkene, dawid_skene
from calibrant.stats.prediction_powered import Sample, judge_alone, people_alone, powered

TITLE = "Dawid–Skene, coverage, the alternative annotator test, a calibrated judge"

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


# -- corrected figures


SHARE, RIGHT, WRONG = 0.72, 0.93, 0.25
"""Share that is good; how much of the good and of the rest the judge passes."""
OTHERS = 10_000
SIZES = (50, 100, 200, 500)
WANTED = Band(0.93, 0.97)


def coverage(ctx: Context) -> Report:
    """How often corrected 95 % intervals hold the true value, and how wide they are."""
    samples = 400 if ctx.quick else 2_000
    methods = {"judge alone": judge_alone, "people alone": people_alone, "PPI++": powered}
    rows, notes = [], []
    for name, sampler in (("plain", _plain), ("clustered", _clustered), ("by chance", _chosen)):
        for labels in SIZES:
            ctx.say(f"{samples:,} samples of {labels} labels, {name}")
            held, width = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0.0)
            for number in range(samples):
                sample = sampler(np.random.default_rng([SEED, labels, number]), labels)
                for method, figure_of in methods.items():
                    interval = figure_of(sample).interval
                    if interval is None:
                        raise BenchError(f"{name}, {labels} labels: no interval")
                    held[method] += interval[0] <= SHARE <= interval[1]
                    width[method] += interval[1] - interval[0]
            share = held["PPI++"] / samples
            error = (share * (1 - share) / samples) ** 0.5
            floor = WANTED if labels >= 100 else None
            what = f"{name}, n = {labels}, PPI++"
            rows.append(Row(what, Quantity(share, "share"), Quantity(error, "share"), floor=floor))
            told = ", ".join(
                f"{method} {held[method] / samples:.3f} ({width[method] / samples:.3f})"
                for method in methods
            )
            notes.append(f"{name}, n = {labels}, coverage (width): {told}")
    return Report(
        f"95 % intervals of {samples:,} samples that hold the true share, {OTHERS:,} judged items",
        rows,
        notes=notes,
        headings=("coverage", "± 1 error", ""),
    )


def _judged(random: np.random.Generator, truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    return (random.random(len(truth)) < np.where(truth, RIGHT, WRONG)).astype(np.float64)


def _plain(random: np.random.Generator, labels: int) -> Sample:
    truth = random.random(labels + OTHERS) < SHARE
    known = np.where(np.arange(labels + OTHERS) < labels, truth, np.nan)
    return Sample(_judged(random, truth), known, bounds=(0.0, 1.0))


def _clustered(random: np.random.Generator, labels: int) -> Sample:
    """Four items each of users who differ: of some, nearly all items are good."""
    users = (labels + OTHERS) // 4
    easy = random.beta(SHARE * 3, (1 - SHARE) * 3, users)
    truth = random.random((users, 4)) < easy[:, None]
    known = np.where(np.arange(users * 4) < labels, truth.reshape(-1), np.nan)
    cluster = np.repeat(np.arange(users), 4)
    return Sample(_judged(random, truth.reshape(-1)), known, cluster=cluster, bounds=(0.0, 1.0))


def _chosen(random: np.random.Generator, labels: int) -> Sample:
    """What the judge failed is labelled three times as often."""
    truth = random.random(OTHERS) < SHARE
    judged = _judged(random, truth)
    chance = np.where(judged == 0, 3.0, 1.0)
    chance *= labels / chance.sum()
    known = np.where(random.random(OTHERS) < chance, truth, np.nan)
    return Sample(judged, known, probability=chance, bounds=(0.0, 1.0))


# -- the alternative annotator test


PEOPLE, EPSILON = 5, 0.15


def alternative(ctx: Context) -> Report:
    """The alternative annotator test, against a loop over people and items."""
    items = ctx.rows // 100
    codes = ratings.draw(ratings.seeded(), PEOPLE + 1, items, missing=MISSING)
    everybody = list(range(1, PEOPLE + 1))

    def ours() -> AlternativeTest:
        return alternative_annotator(patterns(codes, VALUES), 0, everybody, EPSILON)

    ctx.say(f"the test of {items:,} items by {PEOPLE} people and a judge")
    runs = interleave(
        {"ours": lambda: timed(ours), "peer": lambda: timed(lambda: _by_loop(codes))},
        rounds=3,
        warm_up=1,
    )
    mine, theirs = best(runs["ours"]), best(runs["peer"])
    times = Quantity(mine, "s"), Quantity(theirs, "s")
    found, behind = ours(), _by_loop(codes)
    wrong = sum(
        one.behind is None or abs(one.behind - other) > CLOSE_ENOUGH
        for one, other in zip(found.matches, behind, strict=True)
    )
    return Report(
        f"{items:,} items, {PEOPLE} people, {VALUES} answers, some missing, in memory",
        [Row("all people", *times, theirs / mine, Floor(30), runs)],
        [Check(PEOPLE, wrong)],
        ["ours with p-values and false discoveries; the loop only compares"],
    )


CLOSE_ENOUGH = 1e-12


def _by_loop(codes: Codes) -> list[float]:
    """How far the judge is behind each person, item by item, as the test is written down."""
    judge, people = codes[0].tolist(), codes[1:].tolist()
    out = []
    for own in people:
        ahead, count = 0, 0
        for item, said in enumerate(own):
            others = [one[item] for one in people if one is not own and one[item] != ABSENT]
            if said == ABSENT or judge[item] == ABSENT or not others:
                continue
            mine = sum(one == said for one in others) / len(others)
            judges = sum(one == judge[item] for one in others) / len(others)
            ahead += (mine >= judges) - (judges >= mine)
            count += 1
        out.append(ahead / count)
    return out


# -- a calibrated judge


SEEDS = 10
"""Deals of the folds that are looked at; the figure is of the first, as users have it."""


def calibration(ctx: Context) -> Report:
    """A judge calibrated on people's answers, on items held aside, beside published figures."""
    if not llm_rubric.DATA.is_dir():
        raise BenchError(f"the data of LLM-Rubric are not here: {llm_rubric.DATA.resolve()}")
    judged, people = llm_rubric.judged(), llm_rubric.labels()
    found = []
    for seed in range(3 if ctx.quick else SEEDS):
        ctx.say(f"calibrating {len(judged)} dialogues, seed {seed}")
        told = calibrate_judge(
            judged, people, level="ordinal", order=llm_rubric.ANSWERS, judge="gpt-3.5", seed=seed
        )
        found.append(told.find(llm_rubric.OVERALL))
    if any(one.rmse is None or one.correlation is None or one.constant is None for one in found):
        raise BenchError("nothing was calibrated")
    return _calibrated(found)


def _calibrated(found: list[CriterionCalibration]) -> Report:
    first, (error, tie) = found[0], llm_rubric.PUBLISHED
    assert first.rmse is not None and first.correlation is not None and first.constant is not None

    def row(name: str, figure: Figure, published: float, wanted: Band | None = None) -> Row:
        value = Quantity(figure.value or 0.0, "share")
        return Row(name, value, Quantity(published, "share"), floor=wanted)

    rows = [
        row("RMSE, the judge's expected answer", first.rmse[0], error),
        row("RMSE, people's mean, cross-fitted", first.constant, llm_rubric.CONSTANT),
        row("RMSE, calibrated", first.rmse[1], error, Band(0, llm_rubric.CONSTANT - 1e-6)),
        row("correlation, the judge's expected answer", first.correlation[0], tie),
        row("correlation, calibrated", first.correlation[1], tie, Band(tie, 1)),
    ]
    errors = [one.rmse[1].value or 0.0 for one in found if one.rmse is not None]
    ties = [one.correlation[1].value or 0.0 for one in found if one.correlation is not None]
    methods = ", ".join(f"{name} ({times})" for name, times in first.chosen.items())
    limits = first.rmse[1].interval or (0.0, 0.0)
    return Report(
        f"{first.n_items} dialogues of LLM-Rubric (MIT), real users, {llm_rubric.OVERALL}: gpt-3.5 "
        "against people, every figure on items held aside",
        rows,
        notes=[
            f"method of the mapping: {first.method}; chosen within the fitted items of each fold: "
            f"{methods}",
            f"calibrated RMSE, 95 % interval {limits[0]:.3f} to {limits[1]:.3f}; over "
            f"{len(found)} seeds RMSE {min(errors):.3f} to {max(errors):.3f}, correlation "
            f"{min(ties):.3f} to {max(ties):.3f}",
        ],
        headings=("here", "published", ""),
    )


PARTS: dict[str, Part] = {
    "models": models,
    "coverage": coverage,
    "alternative": alternative,
    "calibration": calibration,
}
