"""Votes, Dawid–Skene and MACE: the published table, and what must hold of every table."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from calibrant.stats import dawid_skene as skene
from calibrant.stats import entries as answers
from calibrant.stats import mace as guessing
from calibrant.stats.counts import ABSENT, patterns
from calibrant.stats.dawid_skene import DawidSkene, dawid_skene
from calibrant.stats.entries import entries
from calibrant.stats.mace import Mace, mace
from calibrant.stats.shares import wilson
from calibrant.stats.votes import majority, median

DATA = Path(__file__).parent / "data"
OBSERVERS = (0, 0, 0, 1, 2, 3, 4)


def anaesthesia() -> NDArray[np.uint8]:
    table = np.loadtxt(DATA / "dawid_skene1979.csv", delimiter=",", skiprows=1, dtype=np.uint8)
    return np.ascontiguousarray(table.T - 1)


def drawn(
    seed: int, raters: int, items: int, values: int, care: float = 0.8, missing: float = 0.1
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    truth = random.integers(0, values, items)
    other = random.integers(0, values, (raters, items))
    codes = np.where(random.random((raters, items)) < care, truth, other).astype(np.uint8)
    codes[random.random((raters, items)) < missing] = ABSENT
    return codes, truth


# -- Dawid and Skene


def test_the_published_table_comes_out_as_published() -> None:
    found = dawid_skene(patterns(anaesthesia(), 4), 4, OBSERVERS)
    assert found.converged and not found.turned
    # printed: .40 .42 .11 .07; four digits and the log likelihood as others recomputed them
    assert found.shares == pytest.approx([0.4, 0.4216, 0.1118, 0.0667], abs=5e-5)
    assert found.log_likelihood == pytest.approx(-190.7310, abs=5e-5)
    diagonal = np.diagonal(found.confusion[0])
    assert diagonal == pytest.approx([0.9074, 0.8766, 0.6612, 0.4444], abs=5e-5)


def one_item_at_a_time(
    codes: NDArray[np.uint8], values: int, rounds: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The formulas as they are written, item by item."""
    raters, items = codes.shape
    q = np.full((items, values), 1 / values)
    for i in range(items):
        given_ = [int(x) for x in codes[:, i] if x != ABSENT]
        if given_:
            q[i] = [given_.count(k) / len(given_) for k in range(values)]
    answered = (codes != ABSENT).any(axis=0)
    for _ in range(rounds):
        shares = q[answered].mean(axis=0)
        errors = np.zeros((raters, values, values))
        for r in range(raters):
            for i in range(items):
                if codes[r, i] != ABSENT:
                    errors[r, :, codes[r, i]] += q[i]
        errors /= errors.sum(axis=2, keepdims=True)
        for i in range(items):
            each = shares.copy()
            for r in range(raters):
                if codes[r, i] != ABSENT:
                    each = each * errors[r, :, codes[r, i]]
            q[i] = each / each.sum()
    return shares, q


def test_patterns_give_what_items_one_by_one_give(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, _ = drawn(3, 4, 80, 3)
    monkeypatch.setattr(skene, "_RISE", -np.inf)  # go on to the end
    monkeypatch.setattr(skene, "MOST_ROUNDS", 12)
    found = patterns(codes, 3)
    fitted = dawid_skene(found, 3)
    shares, _ = one_item_at_a_time(codes, 3, 12)
    assert fitted.shares == pytest.approx(shares, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 6), st.integers(2, 4), st.sampled_from([0.0, 0.5]))
def test_the_likelihood_never_falls(seed: int, raters: int, values: int, smoothing: float) -> None:
    codes, _ = drawn(seed, raters, 40, values, care=0.5)
    found = patterns(codes, values)
    data = entries(found, values)
    known = data.given()
    total = known.sum(axis=0)
    posterior = np.divide(known, total, out=np.full(known.shape, 1 / values), where=total > 0)
    weight = np.where(total > 0, data.times, 0.0)
    heights = []
    for _ in range(30):
        shares, confusion = skene._learnt(data, posterior, weight, smoothing)
        posterior, height = skene._seen(data, shares, confusion, weight)
        heights.append(height + smoothing * float(np.log(np.maximum(confusion, 1e-300)).sum()))
    assert all(after >= before - 1e-8 for before, after in pairwise(heights))


def test_errors_of_raters_are_found_again() -> None:
    codes, truth = drawn(1, 5, 4_000, 3, care=0.7, missing=0.3)
    found = dawid_skene(patterns(codes, 3), 3)
    right = [(codes[r] == truth)[codes[r] != ABSENT].mean() for r in range(5)]
    assert found.accuracy == pytest.approx(right, abs=0.03)


def test_a_systematic_liar_is_of_use_to_the_model_and_of_none_to_the_vote() -> None:
    random = np.random.default_rng(7)
    truth = random.integers(0, 2, 2_000)
    honest = np.where(random.random((3, 2_000)) < 0.8, truth, 1 - truth)
    liar = np.where(random.random((2, 2_000)) < 0.95, 1 - truth, truth)
    found = patterns(np.vstack([honest, liar]).astype(np.uint8), 2)
    fitted = dawid_skene(found, 2)
    assert fitted.accuracy[3] < 0.2 or fitted.turned


def test_bias_is_told_on_an_ordered_scale() -> None:
    codes, truth = drawn(5, 4, 3_000, 4, care=0.9, missing=0)
    codes[3] = np.minimum(truth + 1, 3)
    found = dawid_skene(patterns(codes, 4), 4)
    bias = found.bias(np.arange(4.0))
    assert bias[3] == pytest.approx(0.75, abs=0.05)
    assert abs(bias[:3]).max() < 0.1


def test_a_pattern_without_answers_moves_nothing() -> None:
    codes, _ = drawn(9, 3, 60, 2, missing=0)
    empty = np.full((3, 40), ABSENT, np.uint8)
    alone = dawid_skene(patterns(codes, 2), 2)
    beside = dawid_skene(patterns(np.hstack([codes, empty]), 2), 2)
    assert beside.shares == pytest.approx(alone.shares, abs=1e-12)


@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_a_table_of_hits_and_a_list_of_answers_give_the_same(
    model: Callable[..., DawidSkene | Mace], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = patterns(drawn(8, 6, 150, 3)[0], 3)
    one = model(found, 3, (0, 0, 1, 2, 3, 4))
    monkeypatch.setattr(answers, "_DENSE", 0)
    assert answers.entries(found, 3).hits is None
    assert model(found, 3, (0, 0, 1, 2, 3, 4)).posterior == pytest.approx(one.posterior, abs=1e-9)


# -- MACE


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 4))
def test_the_bound_never_falls(seed: int, raters: int, values: int) -> None:
    codes, _ = drawn(seed, raters, 40, values, care=0.5)
    data = entries(patterns(codes, values), values)
    state = guessing._start(data, np.random.default_rng(seed))
    bounds = []
    for _ in range(30):
        state, posterior, bound = guessing._step(data, state)
        bounds.append(bound)
        assert posterior.sum(axis=0) == pytest.approx(1)
    assert all(after >= before - 1e-8 for before, after in pairwise(bounds))


def test_who_knows_and_who_guesses_is_found_again() -> None:
    random = np.random.default_rng(2)
    truth = random.integers(0, 3, 3_000)
    knows = np.array([0.9, 0.7, 0.5, 0.2, 0.0])
    guess = random.integers(0, 3, (5, 3_000))
    codes = np.where(random.random((5, 3_000)) < knows[:, None], truth, guess).astype(np.uint8)
    found = mace(patterns(codes, 3), 3)
    assert found.converged
    assert found.competence == pytest.approx(knows, abs=0.05)


def test_the_seed_alone_decides_the_starts() -> None:
    codes, _ = drawn(4, 4, 100, 3)
    found = patterns(codes, 3)
    one, again = mace(found, 3, seed=5), mace(found, 3, seed=5)
    assert np.array_equal(one.posterior, again.posterior)


def test_entropy_is_zero_where_all_is_sure() -> None:
    codes = np.tile(np.array([0, 1], np.uint8), (6, 200))
    codes[0, :20] = 1 - codes[0, :20]
    found = mace(patterns(codes, 2), 2)
    assert found.entropy.max() < 1e-6


# -- models and votes


@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_the_order_of_items_and_the_names_of_raters_mean_nothing(model: object) -> None:
    codes, _ = drawn(11, 4, 200, 3)
    order = np.random.default_rng(0).permutation(200)

    def best(table: NDArray[np.uint8]) -> NDArray[np.int64]:
        found, _ = patterns(table, 3), None
        posterior = model(found, 3).posterior  # type: ignore[operator]
        by_pattern = {
            found.codes[:, u].tobytes(): posterior[u].argmax() for u in range(len(posterior))
        }
        return np.array(
            [by_pattern[np.ascontiguousarray(table[:, i]).tobytes()] for i in range(200)]
        )

    assert np.array_equal(best(codes)[order], best(np.ascontiguousarray(codes[:, order])))
    assert np.array_equal(best(codes), best(np.ascontiguousarray(codes[::-1])))


def test_a_tie_is_no_answer_and_says_between_what() -> None:
    codes = np.array([[0, 0, 2, ABSENT], [0, 1, 0, ABSENT], [1, 1, 2, ABSENT], [1, 1, 1, ABSENT]])
    found = patterns(codes.astype(np.uint8), 3)
    vote = majority(found, 3)
    by_counts = {tuple(sorted(column)): at for at, column in enumerate(found.codes.T.tolist())}
    tied, clear = by_counts[0, 0, 1, 1], by_counts[0, 1, 1, 1]
    nobody = by_counts[(ABSENT,) * 4]
    assert vote.answer[tied] == ABSENT
    assert vote.between[tied].tolist() == [True, True, False]
    assert vote.answer[clear] == 1 and not vote.between[clear].any()
    assert vote.answer[nobody] == ABSENT and not vote.between[nobody].any()


def test_the_median_lies_in_the_middle_or_between_two_answers() -> None:
    codes = np.array([[0, 0, 1], [2, 0, 1], [3, 3, ABSENT], [ABSENT, 3, ABSENT]], np.uint8)
    found = patterns(codes, 4)
    vote = median(found, 4)
    by_counts = {tuple(sorted(column)): at for at, column in enumerate(found.codes.T.tolist())}
    assert vote.answer[by_counts[0, 2, 3, ABSENT]] == 2
    between = vote.between[by_counts[0, 0, 3, 3]]
    assert between.tolist() == [True, False, False, True]
    assert vote.answer[by_counts[1, 1, ABSENT, ABSENT]] == 1


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_the_median_is_numpy_s(answers: list[int]) -> None:
    found = patterns(np.array(answers, np.uint8)[:, None], 5)
    vote = median(found, 5)
    middle = float(np.median(answers))
    if vote.answer[0] != ABSENT:
        assert vote.answer[0] == middle
    else:
        assert np.flatnonzero(vote.between[0]).mean() == middle


def test_wilson_is_as_published_and_stays_within_bounds() -> None:
    # 8 of 10: centre (.8 + 1.9208/10)/(1 + 3.8416/10), worked by hand
    assert wilson(8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    assert wilson(0, 5)[0] == 0 and wilson(5, 5)[1] == 1
    with pytest.raises(ValueError, match="no items"):
        wilson(0, 0)
