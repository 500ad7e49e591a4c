"""Corrected figures: formulas worked out beside them, designs, and coverage by simulation."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.stats.next_labels import draw, groups_of, plan
from calibrant.stats.prediction_powered import (
    Sample,
    judge_alone,
    people_alone,
    powered,
    representative,
)
from calibrant.stats.rogan_gladen import rogan_gladen
from calibrant.stats.shares import Z95

SHARE = (0.0, 1.0)


def drawn(
    seed: int,
    labels: int,
    others: int,
    share: float = 0.72,
    right: float = 0.93,
    wrong: float = 0.25,
) -> Sample:
    """A judge that passes ``right`` of what is good and ``wrong`` of what is not."""
    random = np.random.default_rng(seed)
    truth = random.random(labels + others) < share
    judged = random.random(labels + others) < np.where(truth, right, wrong)
    known = np.where(np.arange(labels + others) < labels, truth, np.nan)
    return Sample(judged.astype(np.float64), known, bounds=SHARE)


# -- exact small examples


def test_the_formula_of_ppi_plus_plus() -> None:
    sample = drawn(0, 150, 900)
    y, f = sample.labels[:150], sample.judged[:150]
    other = sample.judged[150:]
    weight = np.cov(y, f)[0, 1] / 150 / (f.var(ddof=1) / 150 + other.var(ddof=1) / 900)
    value = weight * other.mean() + (y - weight * f).mean()
    variance = weight**2 * other.var(ddof=1) / 900 + (y - weight * f).var(ddof=1) / 150
    found = powered(sample)
    assert found.weight == pytest.approx(weight, abs=1e-12)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.se == pytest.approx(variance**0.5, abs=1e-12)
    assert found.interval == pytest.approx(
        (value - Z95 * variance**0.5, value + Z95 * variance**0.5)
    )
    assert found.how == "normal"


def test_an_example_worked_by_hand() -> None:
    """Twelve labels, eight of them passed, judge and people apart on four; 100 others.

    Judge among labels: y = 1 eight times, f = 1 for six of these and two of the four others.
    cov = (6 − 12·(8/12)²)/11 = 2/33; var f = (8 − 12·(8/12)²)/11 = 8/33; var f of the others =
    (50 − 25)/99 = 25/99. Under 100 labels λ is cross-fitted; people alone: 8/12 ± t(11)·se with
    se² = (8/33)/12.
    """
    y = np.array([1.0] * 8 + [0.0] * 4)
    f = np.array([1.0] * 6 + [0.0] * 2 + [1.0] * 2 + [0.0] * 2)
    sample = Sample(np.append(f, [1.0, 0.0] * 50), np.append(y, [np.nan] * 100))
    alone = people_alone(sample)
    assert alone.value == pytest.approx(8 / 12)
    assert alone.se == pytest.approx((8 / 33 / 12) ** 0.5)
    assert alone.how == "t"
    assert alone.interval is not None
    assert alone.interval[1] - 8 / 12 == pytest.approx(2.200985160 * (8 / 33 / 12) ** 0.5)
    found = powered(sample)
    assert found.how == "t" and found.weight is not None and 0 <= found.weight <= 1


def test_the_cross_fitted_estimate_is_the_sum_of_its_halves() -> None:
    sample = drawn(3, 60, 500)
    found = powered(sample, seed=1)
    y, f, other = sample.labels[:60], sample.judged[:60], sample.judged[60:]
    order = np.lexsort((np.random.default_rng(1).random(60), np.zeros(60)))
    half = np.zeros(60, bool)
    half[order[::2]] = True
    value = 0.0
    for mine in (half, ~half):
        a, b = y[~mine], f[~mine]
        weight = np.cov(a, b)[0, 1] / 30 / (b.var(ddof=1) / 30 + other.var(ddof=1) / 500)
        weight = min(1.0, max(0.0, weight))
        value += 0.5 * (weight * other.mean() + (y[mine] - weight * f[mine]).mean())
    assert found.value == pytest.approx(value, abs=1e-12)


def test_strata_add_up() -> None:
    """Two strata with λ = 0, of shares 1/4 and 3/4: means and variances weighed by those."""
    random = np.random.default_rng(5)
    stratum = np.repeat([0, 1], [200, 600])
    labels = np.full(800, np.nan)
    labels[:30] = random.random(30) < 0.3
    labels[200:250] = random.random(50) < 0.8
    sample = Sample(np.zeros(800), labels, stratum)
    found = people_alone(sample)
    a, b = labels[:30], labels[200:250]
    assert found.value == pytest.approx(0.25 * a.mean() + 0.75 * b.mean())
    variance = 0.25**2 * a.var(ddof=1) / 30 + 0.75**2 * b.var(ddof=1) / 50
    assert found.se == pytest.approx(variance**0.5)


def test_clusters_are_summed_before_they_are_squared() -> None:
    random = np.random.default_rng(6)
    cluster = np.repeat(np.arange(40), 5)
    y = np.repeat(random.random(40) < 0.6, 5).astype(np.float64)  # all of a cluster alike
    sample = Sample(np.zeros(200), y, cluster=cluster)
    found = people_alone(sample)
    by_cluster = y.reshape(40, 5)[:, 0]
    assert found.se == pytest.approx((by_cluster.var(ddof=1) / 40) ** 0.5)
    assert people_alone(Sample(np.zeros(200), y)).se == pytest.approx((y.var(ddof=1) / 200) ** 0.5)


def test_a_cluster_of_one_item_is_no_cluster() -> None:
    sample = drawn(8, 150, 300)
    alone = Sample(sample.judged, sample.labels, cluster=np.arange(450))
    assert powered(alone).se == pytest.approx(powered(sample).se, rel=0.01)


def test_unequal_probabilities_are_weighed() -> None:
    """Every item's chance is the same: as if nothing had been said, but the base is all items."""
    sample = drawn(9, 200, 1_000)
    alike = Sample(sample.judged, sample.labels, probability=np.full(1_200, 1 / 6))
    one, other = powered(alike), powered(sample)
    assert one.value == pytest.approx(other.value, abs=1e-3)
    assert one.se == pytest.approx(other.se, rel=0.02)


def test_what_the_judge_failed_may_be_labelled_more_often() -> None:
    """Labels mostly of what the judge failed: the plain mean is far off, the other is not."""
    random = np.random.default_rng(10)
    truth = random.random(6_000) < 0.8
    judged = (random.random(6_000) < np.where(truth, 0.9, 0.3)).astype(np.float64)
    chance = np.where(judged == 0, 0.3, 0.03)
    labels = np.where(random.random(6_000) < chance, truth, np.nan)
    plain = people_alone(Sample(judged, labels))
    weighed = powered(Sample(judged, labels, probability=chance))
    assert plain.value is not None and weighed.value is not None and weighed.se is not None
    assert abs(plain.value - 0.8) > 0.1
    assert abs(weighed.value - truth.mean()) < 3 * weighed.se
    off = representative(Sample(judged, labels))
    assert off is not None and off < -5


def test_a_random_sample_is_told_to_be_one() -> None:
    offs = [representative(drawn(seed, 100, 900)) for seed in range(200)]
    known = np.array([one for one in offs if one is not None])
    assert len(known) == 200
    assert abs(known.mean()) < 0.3 and 0.8 < known.std() < 1.2
    assert representative(drawn(0, 100, 0)) is None  # there is no elsewhere


# -- what must hold


def test_the_judge_alone_is_off_and_the_corrected_figure_is_not() -> None:
    """Coverage at n = 100 over 400 seeded samples: within .93 to .97; the judge alone is not."""
    held = naive = 0
    for seed in range(400):
        sample = drawn(seed, 100, 1_000)
        for figure, is_corrected in ((powered(sample), True), (judge_alone(sample), False)):
            assert figure.interval is not None
            low, high = figure.interval
            held += is_corrected and low <= 0.72 <= high
            naive += not is_corrected and low <= 0.72 <= high
    assert 0.93 <= held / 400 <= 0.97
    assert naive / 400 < 0.8


def test_a_good_judge_is_worth_labels_and_a_bad_one_costs_none() -> None:
    good, bad = (
        drawn(1, 200, 5_000, right=0.97, wrong=0.05),
        drawn(1, 200, 5_000, right=0.5, wrong=0.5),
    )
    for sample, most in ((good, 0.6), (bad, 1.01)):
        ours, people = powered(sample).se, people_alone(sample).se
        assert ours is not None and people is not None
        assert ours / people < most


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(10, 150), st.integers(0, 300))
def test_figures_stay_on_the_scale(seed: int, labels: int, others: int) -> None:
    random = np.random.default_rng(seed)
    sample = drawn(seed, labels, others, share=random.random())
    for figure in (powered(sample), people_alone(sample), judge_alone(sample)):
        assert figure.value is not None and figure.interval is not None
        assert figure.interval[0] <= figure.interval[1]
        assert figure.interval[0] >= 0 and figure.interval[1] <= 1
        assert figure.weight is None or 0 <= figure.weight <= 1


def test_the_order_of_items_means_nothing_to_a_large_sample() -> None:
    sample = drawn(4, 150, 500)
    order = np.random.default_rng(0).permutation(650)
    mixed = Sample(sample.judged[order], sample.labels[order])
    assert powered(mixed).value == pytest.approx(powered(sample).value)
    assert powered(mixed).se == pytest.approx(powered(sample).se)


def test_a_judge_that_was_never_seen_wrong_is_not_taken_to_be_perfect() -> None:
    truth = np.array([1.0, 0.0, 1.0] * 20)
    sample = Sample(np.tile(truth, 100), np.append(truth, [np.nan] * 5_940), bounds=SHARE)
    found = powered(sample)
    assert found.allowed and found.interval is not None
    assert found.interval[1] - found.interval[0] > 0.02
    all_alike = people_alone(
        Sample(np.ones(500), np.append(np.ones(40), [np.nan] * 460), bounds=SHARE)
    )
    assert all_alike.interval is not None
    assert all_alike.interval[0] < 0.95


def test_people_alone_have_wilson_s_interval_of_a_share() -> None:
    labels = np.append([1.0] * 8 + [0.0] * 2, [np.nan] * 20)
    found = people_alone(Sample(np.zeros(30), labels, bounds=SHARE))
    assert found.how == "wilson"
    assert found.interval == pytest.approx((0.4901625, 0.9433178), abs=1e-6)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"labels": 9}, "too few"),
        ({"labels": 30, "strata": True}, "a stratum has 0 labels"),
        ({"labels": 30, "clusters": True}, "2 labelled clusters, worth 1 of equal weight: too few"),
    ],
)
def test_what_cannot_be_estimated_says_why(more: dict[str, Any], why: str) -> None:
    sample = drawn(0, more["labels"], 100)
    size = len(sample.judged)
    stratum = (np.arange(size) >= more["labels"]).astype(np.int64) if "strata" in more else None
    cluster = np.arange(size) // 20 if "clusters" in more else None
    found = powered(Sample(sample.judged, sample.labels, stratum, cluster))
    assert found.value is None and why in (found.undefined or "")


# -- labels from elsewhere


def test_rogan_and_gladen_by_hand() -> None:
    """60 good of which 54 passed, 40 bad of which 36 failed: q1 = q0 = .9; p = .4 of 1,000.

    (p + q0 − 1)/(q0 + q1 − 1) = (.4 − .1)/.8 = .375.
    """
    people = np.repeat([1.0, 0.0], [60, 40])
    judge = np.concatenate([np.repeat([1.0, 0.0], [54, 6]), np.repeat([0.0, 1.0], [36, 4])])
    target = np.repeat([1.0, 0.0], [400, 600])
    found = rogan_gladen(people, judge, target)
    assert found.value == pytest.approx(0.375)
    z2 = Z95**2
    p, q1, q0 = (400 + z2 / 2) / (1000 + z2), 55 / 62, 37 / 42
    share = (p + q0 - 1) / (q0 + q1 - 1)
    a, b = (1 - share), share
    shift = 2 * z2 * (-a * q0 * (1 - q0) / 42 + b * q1 * (1 - q1) / 62)
    variance = p * (1 - p) / (1000 + z2) + a**2 * q0 * (1 - q0) / 42 + b**2 * q1 * (1 - q1) / 62
    half = Z95 * variance**0.5 / (q0 + q1 - 1)
    assert found.interval == pytest.approx((share + shift - half, share + shift + half))


def test_rogan_and_gladen_stand_a_shift_that_ppi_does_not() -> None:
    """Labels half good, target a tenth good; the judge errs alike on both."""
    held = 0
    for seed in range(200):
        labels = drawn(seed, 200, 0, share=0.5, right=0.9, wrong=0.1)
        target = drawn(1_000 + seed, 0, 1_000, share=0.1, right=0.9, wrong=0.1)
        found = rogan_gladen(labels.labels, labels.judged, target.judged)
        assert found.interval is not None
        held += found.interval[0] <= 0.1 <= found.interval[1]
    assert held / 200 > 0.9


@pytest.mark.parametrize(
    ("people", "judge", "why"),
    [
        ([1.0] * 30 + [0.0] * 2, [1.0] * 32, "of each at least"),
        ([1.0, 0.0] * 20, [1.0, 1.0, 0.0, 0.0] * 10, "hardly beats chance"),
        ([1.0, 0.0] * 20, [1.0, 0.5] * 20, "not all yes or no"),
    ],
)
def test_error_rates_that_say_nothing_are_refused(
    people: list[float], judge: list[float], why: str
) -> None:
    found = rogan_gladen(np.array(people), np.array(judge), np.array([1.0, 0.0] * 50))
    assert found.value is None and why in (found.undefined or "")


# -- what to label next


def test_labels_go_where_people_differ() -> None:
    """900 that the judge passed, people always agreeing; 100 that it failed, people split."""
    judged = np.repeat([1.0, 0.0], [900, 100])
    labels = np.full(1_000, np.nan)
    labels[:60] = 1.0
    labels[900:920] = [1.0, 0.0] * 10
    groups = groups_of(judged)
    found = plan(Sample(judged, labels), groups, 40)
    assert found.more.sum() == 40
    assert found.more[0] > found.more[1]  # the failed are few, and tell more
    assert found.half_width < found.half_width_at_random
    chosen = draw(groups, ~np.isnan(labels), found.more, seed=1)
    assert len(set(chosen)) == 40 and np.isnan(labels[chosen]).all()
    assert np.bincount(groups[chosen], minlength=2).tolist() == found.more.tolist()


@given(st.integers(0, 1_000), st.integers(0, 300))
def test_no_more_is_shared_out_than_there_is(seed: int, more: int) -> None:
    random = np.random.default_rng(seed)
    judged = random.integers(0, 4, 120).astype(np.float64)
    labels = np.where(random.random(120) < 0.3, random.integers(0, 2, 120), np.nan)
    found = plan(Sample(judged, labels), groups_of(judged), more)
    assert found.more.sum() == min(more, int(np.isnan(labels).sum()))
    assert (found.more >= 0).all() and (found.more + found.labelled <= found.judged).all()


def test_many_values_become_few_ranges() -> None:
    judged = np.random.default_rng(0).random(1_000)
    groups = groups_of(judged)
    assert sorted(set(groups.tolist())) == list(range(5))
    assert all(judged[groups == at].max() <= judged[groups == at + 1].min() for at in range(4))


def test_labels_of_many_different_chances_are_covered() -> None:
    """Chances that differ from item to item: 300 seeded samples of about 100 labels."""
    held = 0
    for seed in range(300):
        random = np.random.default_rng([7, seed])
        truth = random.random(1_500) < 0.72
        judged = (random.random(1_500) < np.where(truth, 0.93, 0.25)).astype(np.float64)
        chance = random.uniform(0.5, 1.5, 1_500) * np.where(judged == 0, 2.0, 1.0)
        chance *= 100 / chance.sum()
        labels = np.where(random.random(1_500) < chance, truth, np.nan)
        found = powered(Sample(judged, labels, probability=chance, bounds=SHARE))
        assert found.interval is not None
        held += found.interval[0] <= 0.72 <= found.interval[1]
    assert 0.93 <= held / 300 <= 0.975


def test_a_stratum_labelled_to_the_last_item_does_not_pull_the_estimate() -> None:
    random = np.random.default_rng(5)
    stratum = np.repeat([0, 1], [60, 340])
    truth = (random.random(400) < np.where(stratum == 0, 0.9, 0.3)).astype(np.float64)
    judged = np.where(random.random(400) < 0.1, 1 - truth, truth)
    known = (stratum == 0) | (random.random(400) < 0.4)
    labels = np.where(known, truth, np.nan)
    found = powered(Sample(judged, labels, stratum, bounds=SHARE))
    rest = powered(Sample(judged[60:], labels[60:], bounds=SHARE))
    assert found.value is not None and rest.value is not None
    assert found.value == pytest.approx(0.15 * truth[:60].mean() + 0.85 * rest.value, abs=1e-9)


def test_clusters_count_where_probabilities_are_told_as_well() -> None:
    sample = drawn(1, 200, 200)
    three = np.arange(400) % 3
    found = powered(Sample(sample.judged, sample.labels, None, three, np.full(400, 0.5)))
    assert found.value is None and "3 labelled clusters, worth 2" in (found.undefined or "")


def test_a_cluster_with_most_labels_is_not_taken_for_many() -> None:
    sample = drawn(1, 90, 300)
    users = np.where(np.arange(390) % 3 > 0, 0, np.arange(390))
    found = powered(Sample(sample.judged, sample.labels, None, users))
    assert (found.undefined or "").startswith("30 labelled clusters, worth 2 of equal weight")


def test_one_cluster_of_judged_items_has_no_interval() -> None:
    sample = drawn(1, 0, 200)
    one = judge_alone(Sample(sample.judged, sample.labels, None, np.zeros(200, np.int64)))
    assert one.undefined == "fewer than two judged clusters"
    two = judge_alone(Sample(sample.judged, sample.labels, None, np.arange(200) % 2))
    assert two.interval is not None and two.how == "t"


def test_more_strata_than_clusters_still_have_an_interval() -> None:
    sample = drawn(2, 300, 300)
    found = powered(
        Sample(sample.judged, sample.labels, np.arange(600) % 12, np.arange(600) // 2 % 10)
    )
    assert found.interval is not None and np.isfinite(found.interval).all()


def test_a_corrected_share_stays_within_its_interval() -> None:
    for seed in range(200):
        found = powered(drawn(seed, 20, 60, share=0.97, right=0.7, wrong=0.3))
        if found.value is not None and found.interval is not None:
            assert found.interval[0] <= found.value <= found.interval[1]


def test_five_lucky_labels_are_no_specificity() -> None:
    """With their shares shrunken this judge is worse than chance: limits would change sides."""
    people = np.repeat([1.0, 0.0], [100, 5])
    judge = np.repeat([1.0, 0.0], [5, 100])
    found = rogan_gladen(people, judge, np.repeat([1.0, 0.0], [5, 300]))
    assert found.value is None and "hardly beats chance" in (found.undefined or "")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_as_many_labels_as_were_asked_for_and_none_better_placed(seed: int) -> None:
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(3), random.integers(2, 9, 3))
    judged = groups.astype(np.float64)
    labels = np.where(random.random(len(groups)) < 0.4, random.integers(0, 2, len(groups)), np.nan)
    more = int(random.integers(1, 6))
    found = plan(Sample(judged, labels), groups, more)
    assert found.more.sum() == min(more, int(np.isnan(labels).sum()))
    share = found.judged / found.judged.sum()
    ways = product(*(range(have, most + 1) for have, most in zip(found.labelled, found.judged, strict=True)))  # noqa: E501  # fmt: skip
    total = int((found.labelled + found.more).sum())
    with np.errstate(divide="ignore"):
        best = min(
            Z95 * np.sqrt((share**2 * found.spread**2 / np.array(way)).sum())
            for way in ways
            if sum(way) == total
        )
    assert found.half_width == pytest.approx(best)
