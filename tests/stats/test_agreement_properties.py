"""What holds for agreement in any table: invariances, plain formulas, other people's packages."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple
from itertools import combinations, product
from math import comb, isfinite, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from calibrant.stats import bootstrap, counts, icc
from calibrant.stats.agreement import of_groups, of_pair, of_set
from calibrant.stats.alpha import alpha, alpha_of
from calibrant.stats.catalogue import CATALOGUE, NAMES, measures
from calibrant.stats.counts import ABSENT, Counts, Patterns, counts_of, pair_tables
from calibrant.stats.estimate import Design, Estimate
from calibrant.stats.gwet import gwet_ac
from calibrant.stats.kappa import cohen_error
from calibrant.stats.moments import by_rater, exchangeable
from calibrant.stats.runs import Codes
from calibrant.stats.samples import NO_PAIRS, NO_VARIATION
from calibrant.stats.weights import LEVELS, Level, Ruler, Weights, agreement_weights, identity

Array = NDArray[np.float64]
FISHER = Design("fisher")
KINDS: tuple[Weights | None, ...] = (None, "linear", "quadratic")


def ruler(values: int, level: Level = "interval") -> Ruler:
    points = np.arange(1.0, values + 1)
    return Ruler(tuple(str(int(one)) for one in points), level, points, level != "nominal")


def random_codes(
    seed: int, shape: tuple[int, int], values: int, missing: float = 0.0, agreed: float = 0.6
) -> Codes:
    """Ratings that follow a truth in some share of cases, with gaps."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, values, shape[1])
    own = random.integers(0, values, shape)
    codes = np.where(random.random(shape) < agreed, truth, own).astype(np.uint8)
    codes[random.random(shape) < missing] = ABSENT
    return codes


@st.composite
def tables(draw: st.DrawFn, raters: tuple[int, int] = (2, 6)) -> tuple[Codes, int]:
    """Codes and their number of values."""
    values = draw(st.integers(2, 5))
    shape = draw(st.integers(*raters)), draw(st.integers(1, 25))
    missing = draw(st.sampled_from([0.0, 0.0, 0.1, 0.5, 0.9, 0.99]))
    agreed = draw(st.sampled_from([0.0, 0.5, 0.9, 1.0]))
    return random_codes(draw(st.integers(0, 2**32)), shape, values, missing, agreed), values


def by_name(found: list[Estimate]) -> dict[str, Estimate]:
    return {one.name: one for one in found}


def values_of(codes: Codes, values: int, level: Level = "ratio") -> dict[str, float | None]:
    return {one.name: one.value for one in of_set(codes, ruler(values, level), FISHER)}


def same(first: float | None, second: float | None, within: float = 1e-9) -> bool:
    if first is None or second is None:
        return first is second
    return first == pytest.approx(second, abs=within, rel=within)


# -- plain formulas


def ratings_by_item(codes: Codes) -> list[list[int]]:
    return [[int(one) for one in column if one != ABSENT] for column in codes.T]


def plain_observed(items: list[list[int]], weights: Array) -> float:
    """Mean over items of the mean over ordered pairs of answers."""
    shares = []
    for found in items:
        pairs = [(a, b) for i, a in enumerate(found) for j, b in enumerate(found) if i != j]
        if pairs:
            shares.append(np.mean([weights[a, b] for a, b in pairs]))
    return float(np.mean(shares))


def plain_shares(items: list[list[int]], values: int) -> Array:
    rated = [found for found in items if found]
    shares = [[found.count(v) / len(found) for v in range(values)] for found in rated]
    return np.asarray(np.mean(shares, axis=0), np.float64)


def plain_chance(name: str, codes: Codes, weights: Array) -> float:
    values = len(weights)
    share = plain_shares(ratings_by_item(codes), values)
    match name:
        case "fleiss_kappa":
            return float(share @ weights @ share)
        case "gwet_ac":
            doubt = sum(p * (1 - p) for p in share)
            return float(weights.sum() / (values * (values - 1)) * doubt)
        case "brennan_prediger":
            return float(weights.sum() / values**2)
        case _:
            rows = [row[row != ABSENT] for row in codes if (row != ABSENT).any()]
            own = [np.bincount(row, minlength=values) / len(row) for row in rows]
            return float(np.mean([p @ weights @ q for p, q in combinations(own, 2)]))


def plain_alpha(items: list[list[int]], level: Level, points: Array) -> float | None:
    """One minus observed over expected disagreement, pair by pair."""
    paired = [given for given in items if len(given) > 1]
    pool = [one for given in paired for one in given]
    n, counted = len(pool), Counter(pool)

    def distance(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        match level:
            case "nominal":
                return float(a != b)
            case "ordinal":
                between = sum(counted[g] for g in range(low, high + 1))
                return (between - (counted[a] + counted[b]) / 2) ** 2
            case "interval":
                return float((points[a] - points[b]) ** 2)
            case "ratio":
                return float(((points[a] - points[b]) / (points[a] + points[b])) ** 2)

    within = sum(
        sum(distance(a, b) for a in given for b in given) / (len(given) - 1) for given in paired
    )
    among = sum(counted[a] * counted[b] * distance(a, b) for a in counted for b in counted)
    return None if among == 0 else 1 - (within / n) / (among / (n * (n - 1)))


def plain_values(codes: Codes, values: int) -> dict[str, float | None]:
    """Everything but the intraclass correlations, straight from the ratings."""
    items, points = ratings_by_item(codes), np.arange(1.0, values + 1)
    near = np.abs(np.subtract.outer(points, points)) <= 1
    out: dict[str, float | None] = {
        "percent": plain_observed(items, np.eye(values)),
        "percent_within_one": plain_observed(items, near.astype(np.float64)),
    }
    for name, kind in product(
        ("fleiss_kappa", "gwet_ac", "brennan_prediger", "conger_kappa"), KINDS
    ):
        weights = agreement_weights(kind, points)
        chance = plain_chance(name, codes, weights)
        full = name if kind is None else f"{name}:{kind}"
        rest = 1 - chance
        out[full] = None if rest < 1e-12 else (plain_observed(items, weights) - chance) / rest
    for level in LEVELS:
        out[f"krippendorff_alpha:{level}"] = plain_alpha(items, level, points)
    return out


def has_pairs(codes: Codes) -> bool:
    return bool(((codes != ABSENT).sum(axis=0) > 1).any())


def assert_plain(codes: Codes, values: int) -> None:
    found = values_of(codes, values)
    for name, expected in plain_values(codes, values).items():
        assert same(found[name], expected), name


@given(tables())
def test_patterns_give_what_plain_formulas_give(table: tuple[Codes, int]) -> None:
    codes, values = table
    assume(has_pairs(codes))
    assert_plain(codes, values)


@pytest.mark.parametrize("raters", [2, 3, 10, 50, 200])
@pytest.mark.parametrize("missing", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_any_number_of_raters_and_of_gaps(raters: int, missing: float) -> None:
    codes = random_codes(raters, (raters, 600 // raters), 4, missing)
    codes[:2, 0] = 0, 1
    assert_plain(codes, 4)


@given(tables(raters=(3, 6)), st.integers(0, 24))
@settings(max_examples=25)
def test_a_rater_with_one_rating(table: tuple[Codes, int], item: int) -> None:
    codes, values = table
    codes[0] = ABSENT
    codes[0, item % codes.shape[1]] = 0
    assume(has_pairs(codes))
    assert_plain(codes, values)
    for one in of_set(codes, ruler(values), Design("bca")):
        assert (one.value is None) == (one.undefined is not None)


def test_a_rater_without_a_rating_is_no_rater() -> None:
    codes = random_codes(1, (3, 30), 3)
    silent = np.vstack([codes, np.full((1, 30), ABSENT, np.uint8)])
    found, expected = by_name(of_set(silent, ruler(3), FISHER)), of_set(codes, ruler(3), FISHER)
    for one in expected:
        if one.form not in icc.TWO_WAY:
            assert same(found[one.name].value, one.value), one.name
            assert same(found[one.name].se, one.se), one.name
    assert found["icc:ICC(2,1)"].undefined == "fewer than two items were rated by every rater"


# -- invariance


def assert_same_estimates(first: list[Estimate], second: list[Estimate]) -> None:
    assert [one.name for one in first] == [one.name for one in second]
    for a, b in zip(first, second, strict=True):
        assert (a.undefined, a.n_items, a.n_ratings) == (b.undefined, b.n_items, b.n_ratings)
        assert same(a.value, b.value), a.name
        assert same(a.se, b.se, 1e-6), a.name
        for one, two in zip(a.interval or (), b.interval or (), strict=True):
            assert same(one, two, 1e-6), a.name


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_items_and_raters_does_not_matter(
    table: tuple[Codes, int], random: Any
) -> None:
    codes, values = table
    rows, columns = (list(range(n)) for n in codes.shape)
    random.shuffle(rows)
    random.shuffle(columns)
    expected = of_set(codes, ruler(values), FISHER)
    assert_same_estimates(of_set(codes[rows][:, columns], ruler(values), FISHER), expected)


@given(tables(), st.randoms(use_true_random=False))
def test_names_of_nominal_answers_do_not_matter(table: tuple[Codes, int], random: Any) -> None:
    codes, values = table
    names = list(range(values))
    random.shuffle(names)
    renamed = np.array([*names, *range(values, 256)], np.uint8)[codes]
    nominal = ruler(values, "nominal")
    assert_same_estimates(of_set(renamed, nominal, FISHER), of_set(codes, nominal, FISHER))


@given(tables())
def test_items_twice_over_keep_the_value_and_shrink_the_error(table: tuple[Codes, int]) -> None:
    """Errors fall as 1 / sqrt(n - 1). Alpha moves by its correction for the number of answers."""
    codes, values = table
    once = of_set(codes, ruler(values), FISHER)
    twice = by_name(of_set(np.hstack([codes, codes]), ruler(values), FISHER))
    sizes = (codes != ABSENT).sum(axis=0)
    answers, rated, paired = int(sizes[sizes > 1].sum()), (sizes > 0).sum(), (sizes > 1).sum()
    for one in once:
        other = twice[one.name]
        if one.value is None or other.value is None or one.coefficient == "icc":
            continue
        if one.coefficient == "krippendorff_alpha":
            factor = (2 * answers - 1) / (2 * answers - 2)
            assert same(1 - other.value, (1 - one.value) * factor), one.name
            continue
        assert same(one.value, other.value), one.name
        if one.se is not None:
            assert other.se is not None
            shrunk = one.se * sqrt((rated - 1) / (2 * rated - 1))
            assert other.se == pytest.approx(shrunk, rel=1e-5, abs=1e-7), one.name
        assert other.n_items == 2 * paired


# -- perfect, constant, empty

CORRECTED = ("cohen_kappa", "fleiss_kappa", "conger_kappa", "krippendorff_alpha", "icc")


@pytest.mark.parametrize(("raters", "items"), [(2, 1), (2, 10), (3, 10), (5, 1500)])
def test_constant_ratings_have_no_kappa_and_full_agreement(raters: int, items: int) -> None:
    found = of_set(np.ones((raters, items), np.uint8), ruler(3), Design())
    for one in found:
        if one.coefficient in CORRECTED:
            expected = NO_VARIATION if one.coefficient != "icc" or items > 1 else one.undefined
            assert (one.value, one.interval, one.undefined) == (None, None, expected), one.name
            assert one.undefined
        else:
            assert one.value == 1.0, one.name
            assert one.interval is not None
            assert one.interval[0] < one.interval[1] == 1.0, one.name
            assert one.method == "binomial"
        assert one.prevalence == {"1": 0.0, "2": 1.0, "3": 0.0}


@pytest.mark.parametrize("method", ["bca", "fisher"])
@pytest.mark.parametrize("raters", [2, 3, 5])
@pytest.mark.parametrize("yes", range(1, 10))
def test_ten_perfect_items_do_not_show_point_six(yes: int, raters: int, method: Any) -> None:
    row = np.array([0] * yes + [1] * (10 - yes), np.uint8)
    codes = np.tile(row, (raters, 1))
    table = np.diag([yes, 10 - yes])
    pair = of_pair(table, ruler(2), Design(method))
    for one in [*of_set(codes, ruler(2), Design(method)), *pair]:
        if one.coefficient in CORRECTED:
            assert one.value == pytest.approx(1.0)
            assert one.interval is not None
            if not str(one.form).endswith("k)"):  # a mean of ratings is surer than one
                assert one.interval[0] < 0.6, one.name
            assert one.interval[1] == 1.0
            assert one.method == "binomial"


@given(st.integers(2, 3000), st.integers(2, 4), st.integers(2, 5))
@settings(max_examples=25)
def test_no_perfect_sample_proves_perfection(items: int, raters: int, values: int) -> None:
    codes = np.tile(np.arange(items, dtype=np.uint8) % values, (raters, 1))
    for one in of_set(codes, ruler(values), FISHER):
        trivial = one.coefficient == "percent_within_one" and values == 2
        assert one.value == pytest.approx(1.0), one.name
        assert one.interval is not None
        assert trivial or one.interval[0] < 1, one.name


def test_answers_within_one_throughout_prove_no_more_than_the_binomial() -> None:
    codes = np.array([[0, 1, 2, 3] * 10, [1, 2, 3, 4] * 10], np.uint8)
    for design in (Design("bca"), FISHER):
        found = by_name(of_set(codes, ruler(5), design))
        near, alike = found["percent_within_one"], found["percent"]
        assert (near.value, near.method) == (1.0, "binomial")
        assert near.interval == pytest.approx((0.025 ** (1 / 40), 1.0))
        assert alike.value == 0.0  # nor does a sample without agreement prove there is none
        assert alike.interval == pytest.approx((0.0, 1 - 0.025 ** (1 / 40)))


@pytest.mark.parametrize("shape", [(2, 0), (2, 1), (1, 5), (3, 4)])
def test_without_two_answers_to_an_item_nothing_is_defined(shape: tuple[int, int]) -> None:
    codes = np.full(shape, ABSENT, np.uint8)
    codes[:1] = 0
    found = of_set(codes, ruler(3), Design())
    found += of_pair(np.zeros((3, 3), np.int64), ruler(3), Design())
    assert {one.value for one in found} == {None}
    assert {one.undefined for one in found if one.coefficient != "icc"} == {NO_PAIRS}
    assert all(one.undefined for one in found)


@given(tables(raters=(1, 6)), st.sampled_from(["bca", "fisher", "normal", "t"]))
@settings(max_examples=60)
def test_an_estimate_is_a_value_in_its_interval_or_a_reason(
    table: tuple[Codes, int], method: Any
) -> None:
    codes, values = table
    for one in of_set(codes, ruler(values), Design(method)):
        assert (one.value is None) == (one.undefined is not None), one.name
        numbers = [one.value, one.se, *(one.interval or ())]
        assert all(isfinite(number) for number in numbers if number is not None), one.name
        if one.interval is not None and one.value is not None:
            low, high = one.interval
            assert low - 1e-9 <= one.value <= high + 1e-9, one.name
            assert high <= 1 + 1e-9
        assert sum(one.prevalence.values()) == pytest.approx(1.0 if one.n_ratings else 0.0)


# -- special cases that are one another


@given(tables())
def test_ac2_with_identity_weights_is_ac1(table: tuple[Codes, int]) -> None:
    codes, values = table
    assume(has_pairs(codes))
    items = ratings_by_item(codes)
    share = plain_shares(items, values)
    chance = sum(p * (1 - p) for p in share) / (values - 1)
    expected = (plain_observed(items, np.eye(values)) - chance) / (1 - chance)
    rows = exchangeable(counts_of(counts.patterns(codes, values), values))
    assert float(gwet_ac(rows.read(rows.sums()), identity(values))) == pytest.approx(expected)


@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(2, 40))
def test_two_complete_raters(seed: int, values: int, items: int) -> None:
    """Conger's kappa is Cohen's; alpha is Scott's pi with its correction; a pair is a set."""
    codes = random_codes(seed, (2, items), values)
    together = by_name(of_set(codes, ruler(values, "ratio"), FISHER))
    table = pair_tables(codes, values)[0, 1]
    pair = by_name(of_pair(table, ruler(values, "ratio"), FISHER))
    for kind in ("", ":linear", ":quadratic"):
        assert same(together[f"conger_kappa{kind}"].value, pair[f"cohen_kappa{kind}"].value)
    for name, one in pair.items():
        if name in together:
            assert same(one.value, together[name].value), name
            assert same(one.se, together[name].se, 1e-6), name
    pi, alpha_ = pair["fleiss_kappa"].value, pair["krippendorff_alpha:nominal"].value
    if pi is not None:
        assert alpha_ == pytest.approx(pi + (1 - pi) / (2 * items), abs=1e-12)


@given(st.integers(0, 2**32), st.integers(2, 5))
def test_influences_give_the_published_error_of_kappa(seed: int, values: int) -> None:
    table = pair_tables(random_codes(seed, (2, 40), values), values)[0, 1]
    found = by_name(of_pair(table, ruler(values), FISHER))
    for kind in KINDS:
        one = found["cohen_kappa" if kind is None else f"cohen_kappa:{kind}"]
        weights = agreement_weights(kind, np.arange(float(values)))
        if one.value is not None:
            expected = float(cohen_error(table.astype(np.float64), weights))
            assert one.se == pytest.approx(expected, abs=1e-7)


@given(tables())
def test_interval_alpha_is_alpha_with_quadratic_weights(table: tuple[Codes, int]) -> None:
    codes, values = table
    rows, points = (
        exchangeable(counts_of(counts.patterns(codes, values), values)),
        np.arange(float(values)),
    )
    sums = rows.read(rows.sums())
    quadratic = alpha_of(sums.coincidences, 1 - agreement_weights("quadratic", points))
    assert float(alpha(sums, "interval", points)) == pytest.approx(float(quadratic), nan_ok=True)


@given(tables())
def test_groups_of_one_are_a_pair(table: tuple[Codes, int]) -> None:
    codes, values = table
    pair = of_pair(pair_tables(codes, values)[0, 1], ruler(values), FISHER)
    groups = of_groups(counts.patterns(codes, values), ([0], [1]), ruler(values), FISHER)[0]
    assert_same_estimates(groups, pair)
    for one, other in zip(groups, pair, strict=True):
        assert one.prevalence == pytest.approx(other.prevalence)


@given(tables(raters=(3, 6)))
def test_groups_pair_one_of_each(table: tuple[Codes, int]) -> None:
    codes, values = table
    first, second = [0], [1, 2]  # others, if any, have no say
    shares = []
    for column in codes.T:
        given_ = [
            [int(column[r]) for r in group if column[r] != ABSENT] for group in (first, second)
        ]
        if all(given_):
            shares.append(np.mean([a == b for a, b in product(*given_)]))
    one = by_name(
        of_groups(counts.patterns(codes, values), (first, second), ruler(values), FISHER)[0]
    )["percent"]
    assert one.n_items == len(shares)
    assert same(one.value, float(np.mean(shares)) if shares else None)


# -- counting


def as_counter(found: Patterns | Counts) -> Counter[tuple[int, ...]]:
    rows = found.codes.T if isinstance(found, Patterns) else found.counts
    out: Counter[tuple[int, ...]] = Counter()
    for row, times in zip(rows.tolist(), found.times.tolist(), strict=True):
        out[tuple(row)] += times
    return out


@given(tables(raters=(1, 6)))
def test_dense_and_sparse_counting_agree(table: tuple[Codes, int]) -> None:
    codes, values = table
    columns = Counter(tuple(column) for column in codes.T.tolist())
    tallies: Counter[tuple[int, ...]] = Counter()
    for column, times in columns.items():
        tallies[tuple(column.count(value) for value in range(values))] += times
    with pytest.MonkeyPatch.context() as patch:
        for dense in (1 << 22, 0):
            patch.setattr(counts, "_DENSE", dense)
            assert as_counter(counts.patterns(codes, values)) == columns
            assert as_counter(counts_of(counts.patterns(codes, values), values)) == tallies


@pytest.mark.parametrize(("raters", "items", "values"), [(2, 0, 2), (1, 70, 3), (200, 65, 254)])
def test_counting_at_the_edges(raters: int, items: int, values: int) -> None:
    codes = random_codes(7, (raters, items), values, 0.2)
    found = counts_of(counts.patterns(codes, values), values)
    assert (counts.patterns(codes, values).items, int(found.times.sum())) == (items, items)
    assert found.counts.sum(axis=1) @ found.times == (codes != ABSENT).sum()
    assert pair_tables(codes[:4], values).shape == (min(raters, 4),) * 2 + (values,) * 2


@given(tables())
def test_tables_of_pairs_count_items(table: tuple[Codes, int]) -> None:
    codes, values = table
    found = pair_tables(codes, values)
    for first, second in combinations(range(len(codes)), 2):
        edges = np.arange(values + 1) - 0.5
        expected, _, _ = np.histogram2d(codes[first], codes[second], bins=(edges, edges))
        assert (found[first, second] == expected).all()
        assert (found[second, first] == expected.T).all()


# -- intervals


@given(tables(), st.integers(0, 1000))
@settings(max_examples=30)
def test_a_seed_gives_one_interval(table: tuple[Codes, int], seed: int) -> None:
    codes, values = table
    first, second = (of_set(codes, ruler(values), Design("bca", seed)) for _ in range(2))
    assert first == second


def test_another_seed_gives_nearly_the_same_interval() -> None:
    codes = random_codes(3, (3, 200), 3)
    one, other = (of_set(codes, ruler(3), Design("bca", seed)) for seed in (1, 2))
    assert one != other
    for a, b in zip(one, other, strict=True):
        assert a.interval == pytest.approx(b.interval, abs=0.02)


def test_errors_are_those_of_resampling() -> None:
    codes = random_codes(5, (4, 500), 4)
    rows = by_rater(counts.patterns(codes, 4), 4)
    chosen = measures("ratio", np.arange(1.0, 5), pair=False)
    influence = bootstrap.influences(
        rows, lambda near: np.stack([one.value(near) for one in chosen])
    )
    se = bootstrap.standard_errors(influence, rows.times)
    drawn = bootstrap.replicates(rows, chosen, 4000, np.random.default_rng(0))
    for measure, expected, found in zip(chosen, drawn.std(axis=1), se, strict=True):
        assert found == pytest.approx(expected, rel=0.06), (measure.coefficient, measure.weights)


def test_a_rater_with_few_answers_among_very_many_has_a_right_influence() -> None:
    """Of a million items one rater answered forty. The jackknife leaves out one item at a time."""
    codes = np.zeros((3, 8), np.uint8)
    codes[:, :] = [[0, 1, 0, 1, 0, 1, 0, 1], [0, 1, 1, 0, 0, 1, 1, 0], [ABSENT] * 4 + [0, 1, 0, 1]]
    times = np.array([400_000, 500_000, 40_000, 59_960, 14, 16, 4, 6])
    rows = by_rater(Patterns(codes, times), 2)
    chosen = [
        one
        for one in measures("nominal", np.arange(2.0), pair=False)
        if "conger" in one.coefficient
    ]
    without = rows.read(rows.sums() - rows.make(np.arange(rows.patterns)))
    whole = float(chosen[0].value(rows.read(rows.sums())))
    jackknife = (times.sum() - 1) * (whole - chosen[0].value(without))
    influence = bootstrap.influences(rows, chosen[0].value)
    assert influence[4:] == pytest.approx(jackknife[4:], rel=0.06)
    assert influence[:4] == pytest.approx(jackknife[:4], rel=1e-3, abs=1e-6)


def test_items_with_one_answer_do_not_widen_an_interval() -> None:
    """They tell what answers are usual, and nothing about agreement.

    The published error counts them (see ``Measure.held``); the interval must not.
    """
    paired = random_codes(4, (2, 1500), 2)
    single = np.vstack([random_codes(5, (1, 15_000), 2), np.full((1, 15_000), ABSENT, np.uint8)])
    alone = by_name(of_set(paired, ruler(2), FISHER))
    among = by_name(of_set(np.hstack([paired, single]), ruler(2), FISHER))
    for name in ("percent", "gwet_ac", "fleiss_kappa", "brennan_prediger", "conger_kappa"):
        first, second = alone[name].interval, among[name].interval
        assert first is not None and second is not None
        assert second[1] - second[0] == pytest.approx(first[1] - first[0], rel=0.02), name


@given(st.integers(1, 400), st.integers(0, 400))
def test_limits_of_a_share_leave_the_binomial_a_fortieth_on_each_side(n: int, hits: int) -> None:
    hits = min(hits, n)
    low, high = bootstrap.binomial(hits, n)
    assert low <= hits / n <= high

    def tail(p: float, least: int, most: int) -> float:
        return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(least, most + 1))

    if n <= 40:
        assert hits == 0 or tail(low, hits, n) == pytest.approx(0.025)
        assert hits == n or tail(high, 0, hits) == pytest.approx(0.025)


# -- intraclass correlations


def plain_squares(table: Array) -> icc.Squares:
    """The analysis of variance as books have it."""
    n, k = table.shape
    items, raters = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    left = ((table - items - raters + table.mean()) ** 2).sum()
    parts = (
        k * ((items - table.mean()) ** 2).sum() / (n - 1),
        ((table - items) ** 2).sum() / (n * (k - 1)),
        n * ((raters - table.mean()) ** 2).sum() / (k - 1),
        left / ((n - 1) * (k - 1)),
    )
    return icc.Squares(*(np.asarray(one) for one in (*parts, n, k, n * (k - 1))))


@given(st.integers(0, 2**32), st.integers(3, 12), st.integers(2, 5))
def test_mean_squares_with_and_without_each_item(seed: int, patterns: int, k: int) -> None:
    random = np.random.default_rng(seed)
    table = random.integers(-4, 5, (patterns, k)).astype(np.float64)
    times = random.integers(1, 4, patterns).astype(np.float64)
    items = np.repeat(np.arange(patterns), times.astype(np.int64))
    one_way = np.full(patterns, float(k)), table.sum(axis=1), (table**2).sum(axis=1), times

    def check(found: icc.Squares, at: tuple[int, ...], expected: icc.Squares) -> None:
        for one, other in zip(astuple(found), astuple(expected), strict=True):
            if not np.isnan(one[at]):  # a one-way table knows no raters
                assert one[at] == pytest.approx(float(other), abs=1e-9)

    check(icc.two_way(table, times), (), plain_squares(table[items]))
    check(icc.one_way(*one_way), (), plain_squares(table[items]))
    for left in range(patterns):
        rest = plain_squares(table[np.delete(items, int(np.argmax(items == left)))])
        check(icc.two_way_without_each(table, times), (left,), rest)
        check(icc.one_way_without_each(*one_way), (left,), rest)


def test_limits_of_unequal_numbers_of_ratings_count_the_ratings_there_are() -> None:
    """F has n - 1 and (ratings - n) degrees of freedom, whatever the mean number of ratings is."""
    from scipy.stats import f

    items = [[1, 2], [4], [5, 5, 4], [2, 1], [3, 5]]  # 10 ratings of 5 items
    codes = np.full((3, 5), ABSENT, np.uint8)
    for at, found in enumerate(items):
        codes[: len(found), at] = np.array(found) - 1
    means, sizes = np.array([np.mean(one) for one in items]), np.array([2, 1, 3, 2, 2])
    grand = sum(map(sum, items)) / 10
    between = float(sizes @ (means - grand) ** 2) / 4
    within = sum(float(((np.array(one) - np.mean(one)) ** 2).sum()) for one in items) / 5
    k = (10 - (sizes**2).sum() / 10) / 4
    low, high = (between / within / f.ppf(share, 4, 5) for share in (0.975, 0.025))
    one = by_name(of_set(codes, ruler(5), FISHER))["icc:ICC(1,1)"]
    assert one.value == pytest.approx((between - within) / (between + (k - 1) * within))
    assert one.interval == pytest.approx(((low - 1) / (low + k - 1), (high - 1) / (high + k - 1)))


FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")
SCARCELY = (0.0270270270, -0.0434782609, -0.0357142857, 0.0769230769, -0.1428571429, -0.1153846154)
CLOSELY = (0.7797518331, 0.7799380107, 0.7825841108, 0.9340427329, 0.9341095081, 0.9350561608)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["21321", "23221", "22212"], SCARCELY),
        (["124401431233", "324300341241", "114400430041", "213400332233"], CLOSELY),
    ],
)
def test_pingouin_said_the_same(rows: list[str], expected: tuple[float, ...]) -> None:
    """What pingouin 0.6.1 answered."""
    codes = np.array([[int(one) for one in row] for row in rows], np.uint8)
    found = by_name(of_set(codes, ruler(5), FISHER))
    assert [found[f"icc:{form}"].value for form in FORMS] == pytest.approx(expected, abs=1e-10)


# -- other people's packages


@given(tables(), st.sampled_from(LEVELS))
def test_krippendorff_says_the_same(table: tuple[Codes, int], level: Level) -> None:
    import krippendorff

    codes, values = table
    assume(has_pairs(codes))
    found = values_of(codes, values)[f"krippendorff_alpha:{level}"]
    assume(found is not None)
    points = np.arange(1.0, values + 1)
    data = np.where(codes == ABSENT, np.nan, points[np.minimum(codes, values - 1)])
    expected = krippendorff.alpha(data, value_domain=list(points), level_of_measurement=level)
    assert found == pytest.approx(float(expected), abs=1e-9)


@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(2, 40), st.sampled_from(KINDS))
def test_scikit_learn_says_the_same(seed: int, values: int, items: int, kind: Any) -> None:
    from sklearn.metrics import cohen_kappa_score

    codes = random_codes(seed, (2, items), values)
    name = "cohen_kappa" if kind is None else f"cohen_kappa:{kind}"
    found = by_name(of_pair(pair_tables(codes, values)[0, 1], ruler(values), FISHER))[name].value
    assume(found is not None)
    expected = cohen_kappa_score(*codes, labels=list(range(values)), weights=kind)
    assert found == pytest.approx(float(expected), abs=1e-9)


@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(2, 40), st.integers(2, 8))
def test_statsmodels_says_the_same(seed: int, values: int, items: int, raters: int) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

    codes = random_codes(seed, (raters, items), values)
    found = by_name(of_set(codes, ruler(values), FISHER))
    assume(found["fleiss_kappa"].value is not None)
    tallies = np.stack([(codes == value).sum(axis=0) for value in range(values)], axis=1)
    for name, method in (("fleiss_kappa", "fleiss"), ("brennan_prediger", "randolph")):
        expected = float(fleiss_kappa(tallies, method))
        assert found[name].value == pytest.approx(expected, abs=1e-9)
    table = pair_tables(codes, values)[0, 1]
    pair = by_name(of_pair(table, ruler(values), FISHER))
    for name, kind in (("", None), (":linear", "linear"), (":quadratic", "quadratic")):
        one = pair[f"cohen_kappa{name}"]
        if one.value is not None:
            with np.errstate(invalid="ignore", divide="ignore"):  # it divides by an error of 0
                other = cohens_kappa(table, wt=kind)
            assert one.value == pytest.approx(float(other.kappa), abs=1e-9)
            assert one.se is not None
            if one.se > 1e-7:  # of no error at all it takes the root of rounding
                assert one.se == pytest.approx(float(other.std_kappa), abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_pingouin_says_the_same(seed: int) -> None:
    pingouin = pytest.importorskip("pingouin", reason="left out: it brings a plotting stack")
    import pandas as pd

    codes = random_codes(seed, (4, 20), 5)
    long = [(item, rater, float(one)) for (rater, item), one in np.ndenumerate(codes)]
    frame = pd.DataFrame(long, columns=["item", "rater", "score"])
    answer = pingouin.intraclass_corr(frame, "item", "rater", "score")
    found = by_name(of_set(codes, ruler(5), FISHER))
    for form, expected in zip(FORMS, answer["ICC"], strict=True):
        assert found[f"icc:{form}"].value == pytest.approx(float(expected), abs=1e-9)


# -- the catalogue


@pytest.mark.parametrize("level", LEVELS)
def test_what_the_catalogue_lists_is_computed(level: Level) -> None:
    codes = random_codes(2, (3, 40), 3)
    of_all = of_set(codes, ruler(3, level), FISHER)
    found = {one.coefficient for one in of_all}
    found |= {
        one.coefficient for one in of_pair(np.eye(3, dtype=np.int64), ruler(3, level), FISHER)
    }
    meant = {one.name for one in CATALOGUE if LEVELS.index(one.since) <= LEVELS.index(level)}
    assert found == meant <= set(NAMES)
    assert len({(one.name, one.level) for one in of_all}) == len(of_all)
