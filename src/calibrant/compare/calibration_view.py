"""A calibrated judge as titled tables of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calibrant.compare.blocks import Block
from calibrant.compare.combined_view import without
from calibrant.stats.calibration import REPEATS

if TYPE_CHECKING:
    from calibrant.compare.calibration_report import Calibration, CriterionCalibration
    from calibrant.stats.calibration import Figure
    from calibrant.stats.estimate import Estimate


def blocks(found: Calibration) -> Iterator[Block]:
    """Before and after on held-aside items, by which methods, and what could not be fitted."""
    nameless = [one.title for one in found.criteria] == ["answer"]
    for block in _tables(found):
        yield without(block, "criterion") if nameless else block


def _tables(found: Calibration) -> Iterator[Block]:
    fitted = [one for one in found.criteria if one.rmse is not None]
    if fitted:
        yield _errors(found, fitted)
        yield _agreement(fitted)
        yield from _gates(fitted)
        yield _methods(fitted)
    rows = [(one.title, one.refused) for one in found.criteria if one.refused]
    if rows:
        yield Block("No mapping: the judge's own answers stay", ("criterion", "why"), rows)


def _errors(found: Calibration, fitted: list[CriterionCalibration]) -> Block:
    header = ("criterion", "items", "", "RMSE", "95 % interval", "r", "95 % interval")
    rows: list[tuple[str, ...]] = []
    for one in fitted:
        assert one.rmse is not None
        ties = one.correlation or (None, None)
        told = one.title, f"{one.n_items:,}"
        rows.append((*told, "judge", *_figure(one.rmse[0]), *_figure(ties[0])))
        rows.append((told[0], "", "calibrated", *_figure(one.rmse[1]), *_figure(ties[1])))
        rows.append((told[0], "", "constant", *_figure(one.constant), "", ""))
    title = (
        f"{found.judge} and {len(found.people)} people, on items held aside "
        f"({found.folds} folds, dealt {REPEATS} times)"
    )
    return Block(title, header, rows)


def _agreement(fitted: list[CriterionCalibration]) -> Block:
    header = ("criterion", "", "kappa", "95 % interval", "alpha", "95 % interval")
    rows = [
        (
            one.title,
            "calibrated" if after else "judge",
            *_estimate(one.coefficient("cohen_kappa", after=after)),
            *_estimate(one.coefficient("krippendorff_alpha", after=after)),
        )
        for one in fitted
        for after in (False, True)
    ]
    return Block("Agreement of its answers with people's, on items held aside", header, rows)


def _gates(fitted: list[CriterionCalibration]) -> Iterator[Block]:
    rows = []
    for one in fitted:
        for name, passes in zip(("judge", "calibrated"), one.false_passes or (), strict=False):
            share = f"{passes.passed:,} of {passes.failed:,}"
            limits = "–" if passes.interval is None else _limits(passes.interval)
            stopped = f"{passes.stopped:,} of {passes.let_through:,}"
            rows.append((one.title, name, share, limits, stopped))
    if rows:
        header = ("criterion", "", "false passes", "95 % interval", "false failures")
        yield Block("At the gates, on items held aside", header, rows)


def _methods(fitted: list[CriterionCalibration]) -> Block:
    rows = []
    for one in fitted:
        times = one.chosen.get(one.method or "", 0)
        share = f"{times} of {sum(one.chosen.values())}"
        rows.append((one.title, one.method or "", one.scale.heard, share, *_figure(one.gain)))
    title = "Chosen by the data (saved: squared error that the judge's own answers have more)"
    header = ("criterion", "method", "heard", "in folds", "saved", "95 % interval")
    return Block(title, header, rows)


def _figure(one: Figure | None) -> tuple[str, str]:
    if one is None or one.value is None:
        return "–", ""
    return f"{one.value:.3f}", "" if one.interval is None else _limits(one.interval)


def _estimate(one: Estimate | None) -> tuple[str, str]:
    if one is None or one.value is None:
        return "–", "" if one is None else one.undefined or ""
    return f"{one.value:.3f}", "" if one.interval is None else _limits(one.interval)


def _limits(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.2f} … {interval[1]:.2f}"
