"""Criteria taken together: the item is what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from calibrant.stats import pooled
from calibrant.stats.agreement import of_set
from calibrant.stats.counts import ABSENT, Patterns, grouped
from calibrant.stats.estimate import Design, Estimate
from calibrant.stats.pooled import of_pool
from calibrant.stats.weights import Ruler

FISHER = Design("fisher")


def ruler(values: int) -> Ruler:
    return Ruler(tuple(map(str, range(values))), "interval", np.arange(float(values)), True)


def pool(codes: NDArray[np.uint8], values: int, design: Design = FISHER) -> dict[str, Estimate]:
    """Of codes of shape (R, S, N)."""
    raters, samples, items = codes.shape
    found, places = grouped(codes.reshape(raters, samples * items), values)
    place = places().reshape(samples, items)
    patterns = found.codes.shape[1]
    times = np.stack([np.bincount(one, minlength=patterns) for one in place])
    out = of_pool(Patterns(found.codes, times), place, ruler(values), design, anonymous=False)
    return {one.name: one for one in out}


def drawn(seed: int, raters: int, samples: int, items: int, values: int) -> NDArray[np.uint8]:
    """Raters who mostly give the true answer, and some who give none."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, values, (samples, items))
    noise = random.integers(0, values, (raters, samples, items))
    codes = np.where(random.random(noise.shape) < 0.7, truth, noise).astype(np.uint8)
    codes[random.random(noise.shape) < 0.1] = ABSENT
    return codes


def test_the_value_is_that_of_all_answers_at_once() -> None:
    codes = drawn(1, 3, 4, 60, 3)
    together = pool(codes, 3)
    at_once = {one.name: one for one in of_set(codes.reshape(3, 240), ruler(3), FISHER)}
    assert together["gwet_ac"].n_items == 60
    for name, one in together.items():
        assert one.value == pytest.approx(at_once[name].value), name


def test_the_same_answers_to_every_criterion_tell_no_more_than_to_one() -> None:
    """Taken apart, four copies would look like four times as many items."""
    codes = drawn(2, 3, 1, 300, 3)
    once = {one.name: one for one in of_set(codes[:, 0], ruler(3), FISHER)}
    copied = pool(np.repeat(codes, 4, axis=1), 3)
    for name in ("percent", "fleiss_kappa", "conger_kappa:quadratic", "gwet_ac"):
        assert copied[name].se == pytest.approx(once[name].se, rel=0.02), name
        assert copied[name].interval == pytest.approx(once[name].interval, abs=0.01), name


def test_criteria_that_have_nothing_to_do_with_one_another_are_like_more_items() -> None:
    codes = drawn(3, 3, 4, 900, 3)
    apart = {one.name: one for one in of_set(codes.reshape(3, 3600), ruler(3), FISHER)}
    for name, one in pool(codes, 3).items():
        assert one.se == pytest.approx(apart[name].se, rel=0.1), name


def test_many_items_have_the_error_that_looking_at_each_would_give(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes = drawn(4, 3, 5, 1_500, 3)
    codes[:, :, :7] = ABSENT  # items that nobody answered
    linear = pool(codes, 3)
    monkeypatch.setattr(pooled, "LARGE", 10_000)
    for name, one in pool(codes, 3).items():
        assert linear[name].value == pytest.approx(one.value), name
        assert linear[name].se == pytest.approx(one.se, rel=1e-3), name
        assert linear[name].interval == pytest.approx(one.interval, abs=1e-4), name


def test_resampling_items_finds_the_same_error() -> None:
    codes = np.minimum(drawn(5, 2, 3, 200, 2), 1)  # the published error counts gaps
    found = pool(codes, 2, Design("bca"))
    del found["percent_within_one"]  # of two answers, any two are
    for name, one in found.items():
        assert one.method == "bca"
        assert one.interval is not None and one.se is not None
        width = one.interval[1] - one.interval[0]
        assert width == pytest.approx(2 * 1.96 * one.se, rel=0.12), name


def test_what_is_called_resampled_was_resampled() -> None:
    """Below a thousand items, however many answers these have together."""
    codes = drawn(6, 3, 5, 400, 3)
    by_default, fisher = pool(codes, 3, Design()), pool(codes, 3)
    for name, one in by_default.items():
        assert one.method == "bca", name
        assert one.interval != fisher[name].interval, name
        assert one.interval == pytest.approx(fisher[name].interval, abs=0.03), name
