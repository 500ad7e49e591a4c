"""Tables of wide scales as products of counts: the same estimates, and no table is made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calibrant.stats import moments
from calibrant.stats.agreement import of_groups, of_pair, of_set
from calibrant.stats.counts import ABSENT, pair_tables, patterns
from calibrant.stats.estimate import Design, Estimate
from calibrant.stats.outer import Outer
from calibrant.stats.weights import Ruler

SAME = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)


def all_of(seed: int, raters: int, items: int, values: int, level: str) -> list[Estimate]:
    random = np.random.default_rng(seed)
    codes = random.integers(0, values, (raters, items)).astype(np.uint8)
    codes[random.random(codes.shape) < 0.2] = ABSENT
    points = np.arange(1.0, values + 1)
    ruler = Ruler(tuple(map(str, range(values))), level, points, True)  # type: ignore[arg-type]
    design = Design("fisher")
    out = of_set(codes, ruler, design)
    out += of_pair(pair_tables(codes, values)[0, 1], ruler, design)
    return out + of_groups(patterns(codes, values), ([0], [1, 2]), ruler, design)[0]


@SAME
@given(
    st.integers(0, 2**32),
    st.integers(3, 5),
    st.integers(1, 30),
    st.integers(2, 6),
    st.sampled_from(["nominal", "ordinal", "interval", "ratio"]),
)
def test_wide_scales_are_computed_like_narrow_ones(
    monkeypatch: pytest.MonkeyPatch, seed: int, raters: int, items: int, values: int, level: str
) -> None:
    monkeypatch.setattr(moments, "WIDE", 1_000)
    narrow = all_of(seed, raters, items, values, level)
    monkeypatch.setattr(moments, "WIDE", 1)
    wide = all_of(seed, raters, items, values, level)
    assert len(wide) == len(narrow)
    for one, other in zip(wide, narrow, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-12), one.name
        assert one.se == pytest.approx(other.se, abs=1e-6), one.name
        assert one.interval == pytest.approx(other.interval, abs=1e-5), one.name
        assert (one.undefined, one.n_items) == (other.undefined, other.n_items), one.name


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(2, 5))
def test_products_answer_like_the_tables_they_stand_for(seed: int, size: int, values: int) -> None:
    random = np.random.default_rng(seed)
    left, right, less = random.random((3, size, values))
    worth, vectors, weights = random.random(size), random.random((size, values)), np.eye(values)
    outer = Outer(left, right, less, worth)
    tables = left[:, :, None] * right[:, None, :]
    tables = tables + tables.transpose(0, 2, 1) - less[:, :, None] * np.eye(values)
    tables *= worth[:, None, None]
    weights = weights + weights.T + 1
    assert outer.total(weights) == pytest.approx((tables * weights).sum(axis=(1, 2)))
    assert outer.rows() == pytest.approx(tables.sum(axis=2))
    assert outer.times(vectors) == pytest.approx((tables @ vectors[:, :, None])[..., 0])
    assert outer.sum(vectors[:, 0]) == pytest.approx(
        (vectors[:, 0, None, None] * tables).sum(axis=0)
    )


def test_a_scale_of_a_hundred_values_is_told_with_intervals() -> None:
    found = {one.name: one for one in all_of(1, 3, 200, 101, "interval")}
    assert {"krippendorff_alpha:interval", "fleiss_kappa:quadratic", "percent"} <= set(found)
    assert "krippendorff_alpha:nominal" not in found
    for one in found.values():
        assert one.interval is not None or one.undefined, one.name
