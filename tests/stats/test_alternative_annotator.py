"""The alternative annotator test and the judge among people, against the formulas one by one."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import ttest_1samp
from sklearn.metrics import cohen_kappa_score

from calibrant.compare.trust_answer import Answer, Evidence, FalsePasses, answer_of
from calibrant.stats.alternative_annotator import (
    AlternativeTest,
    Match,
    alternative_annotator,
    among_people,
    discoveries,
    items_to_win,
)
from calibrant.stats.counts import ABSENT, patterns
from calibrant.stats.estimate import Estimate

Codes = NDArray[np.uint8]


def drawn(seed: int, people: int, items: int, values: int = 3, judge: float = 0.8) -> Codes:
    """A judge and people who mostly give the true answer; a tenth of it missing."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, values, items)
    care = np.array([judge, *([0.8] * people)])[:, None]
    other = random.integers(0, values, (people + 1, items))
    codes = np.where(random.random((people + 1, items)) < care, truth, other).astype(np.uint8)
    codes[random.random(codes.shape) < 0.1] = ABSENT
    return codes


def by_loop(codes: Codes, epsilon: float, *, near: bool) -> list[tuple[int, float, float]]:
    """Items, advantage and p of each person, as the paper writes the test."""
    out = []
    for h in range(1, len(codes)):
        wins_judge, wins_person = [], []
        for i in range(codes.shape[1]):
            rest = [
                int(codes[k, i]) for k in range(1, len(codes)) if k != h and codes[k, i] != ABSENT
            ]
            if ABSENT in (codes[0, i], codes[h, i]) or not rest:
                continue

            def score(answer: int, rest: list[int] = rest) -> float:
                if near:
                    return -sqrt(np.mean([(answer - one) ** 2 for one in rest]))
                return float(np.mean([answer == one for one in rest]))

            judges, own = score(int(codes[0, i])), score(int(codes[h, i]))
            wins_judge.append(judges >= own)
            wins_person.append(own >= judges)
        gap = np.subtract(wins_person, wins_judge, dtype=float)
        p = ttest_1samp(gap, epsilon, alternative="less").pvalue
        out.append((len(gap), float(np.mean(wins_judge)), float(p)))
    return out


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_patterns_give_what_the_loop_gives(seed: int, near: bool) -> None:
    codes = drawn(seed, 3 + seed % 3, 90, values=4)
    points = np.arange(4.0) if near else None
    found = alternative_annotator(patterns(codes, 4), 0, list(range(1, len(codes))), 0.15, points)
    for match, (items, advantage, p) in zip(
        found.matches, by_loop(codes, 0.15, near=near), strict=True
    ):
        assert match.items == items
        assert match.advantage == pytest.approx(advantage)
        assert match.p == pytest.approx(p, abs=1e-12)
    assert found.advantage == pytest.approx(np.mean([one.advantage for one in found.matches]))
    wins = sum(one.won for one in found.matches)
    assert found.winning_rate == pytest.approx(wins / len(found.matches))


def test_discoveries_by_hand() -> None:
    """m = 4, 1 + 1/2 + 1/3 + 1/4 = 25/12: limits .05·12/25·k/4 = .006, .012, .018, .024."""
    assert discoveries(np.array([0.013, 0.5, 0.017, 0.001])).tolist() == [True, False, True, True]
    assert discoveries(np.array([0.013, 0.5, 0.6, 0.001])).tolist() == [False, False, False, True]
    assert not discoveries(np.array([0.007, 0.5, 0.6, 0.7])).any()


def test_a_good_judge_passes_and_a_poor_one_does_not() -> None:
    good = alternative_annotator(patterns(drawn(1, 4, 300, judge=0.95), 3), 0, [1, 2, 3, 4], 0.15)
    poor = alternative_annotator(patterns(drawn(1, 4, 300, judge=0.2), 3), 0, [1, 2, 3, 4], 0.15)
    assert good.passed and good.winning_rate == 1
    assert not poor.passed and all(one.lost for one in poor.matches)
    assert good.advantage is not None and poor.advantage is not None
    assert good.advantage > poor.advantage


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_people_means_nothing(seed: int) -> None:
    codes = drawn(seed, 4, 80)
    one = alternative_annotator(patterns(codes, 3), 0, [1, 2, 3, 4], 0.1)
    turned = alternative_annotator(patterns(codes, 3), 0, [4, 3, 2, 1], 0.1)
    assert one.winning_rate == turned.winning_rate
    assert one.matches == turned.matches[::-1]


def test_a_judge_that_is_a_person_s_twin_is_never_behind() -> None:
    codes = drawn(3, 3, 100)
    codes[0] = codes[1]
    found = alternative_annotator(patterns(codes, 3), 0, [1, 2, 3], 0.1)
    assert found.matches[0].behind == 0 and found.matches[0].advantage == 1
    assert found.matches[0].won  # no spread, and not behind


def test_few_items_are_not_tested() -> None:
    found = alternative_annotator(patterns(drawn(0, 3, 25), 3), 0, [1, 2, 3], 0.15)
    assert found.winning_rate is None and "30 items" in (found.undefined or "")
    assert not found.passed


def test_items_that_would_decide_are_enough() -> None:
    """A judge a little behind, on few items: so many more of the same kind would show it."""
    match = Match(items=60, advantage=0.8, behind=0.05, spread=0.6, p=0.1)
    test = AlternativeTest((match,) * 3, 0.15, 0.0, 0.8)
    more = items_to_win(test)
    assert more is not None
    per_person = more // 2 + 60  # two of three are needed
    level = 0.05 * 2 / 3 / (1 + 1 / 2 + 1 / 3)
    from scipy.stats import norm

    assert norm.cdf((0.05 - 0.15) / (0.6 / sqrt(per_person))) <= level
    far = AlternativeTest((Match(60, 0.5, 0.4, 0.6, 1.0),) * 3, 0.15, 0.0, 0.5)
    assert items_to_win(far) is None


# -- the judge among people


def test_z_is_the_formula_with_kappas_of_another_package() -> None:
    codes = drawn(5, 4, 200)
    codes[codes == ABSENT] = 0
    found = among_people(patterns(codes, 3), 0, [1, 2, 3, 4], 3)

    def kappa(a: int, b: int) -> float:
        return float(cohen_kappa_score(codes[a], codes[b], labels=[0, 1, 2]))

    judge = np.mean([kappa(0, h) for h in range(1, 5)])
    own = [np.mean([kappa(h, k) for k in range(1, 5) if k != h]) for h in range(1, 5)]
    assert found.judge == pytest.approx(judge)
    assert found.people == pytest.approx(own)
    assert found.z == pytest.approx((judge - np.mean(own)) / np.std(own, ddof=1))
    assert found.interval is not None and found.z is not None
    assert found.interval[0] < found.z < found.interval[1]


def test_a_judge_among_two_has_no_place() -> None:
    found = among_people(patterns(drawn(0, 2, 50), 3), 0, [1, 2], 3)
    assert found.z is None and "three people" in (found.undefined or "")


def test_people_who_never_met_are_left_out_of_the_mean() -> None:
    """The fourth person shares items with the first alone."""
    codes = drawn(6, 4, 300)
    codes[codes == ABSENT] = 1
    codes[4, 100:] = ABSENT
    codes[2:4, :100] = ABSENT
    found = among_people(patterns(codes, 3), 0, [1, 2, 3, 4], 3)
    assert found.z is not None and len(found.people) == 4
    only = float(cohen_kappa_score(codes[1, :100], codes[4, :100], labels=[0, 1, 2]))
    assert found.people[3] == pytest.approx(only)
    nobody = codes.copy()
    for row in range(1, 5):
        nobody[row, np.arange(300) % 4 != row - 1] = ABSENT
    apart = among_people(patterns(nobody, 3), 0, [1, 2, 3, 4], 3)
    assert "share items" in (apart.undefined or "")


# -- the answer


def evidence(
    rate: float,
    *,
    behind: float = 0.0,
    lost: bool = False,
    items: int = 100,
    people: int = 3,
    low: float = 0.5,
    ceiling: tuple[float, float] = (0.5, 0.5),
    passes: FalsePasses | None = None,
) -> Evidence:
    match = Match(items, 0.8, behind, 0.5, 0.5, won=rate >= 0.5, lost=lost)
    test = AlternativeTest((match,) * people, 0.15, rate, 0.8)
    alpha = Estimate(coefficient="krippendorff_alpha", value=low + 0.1, interval=(low, low + 0.2))
    names = ("krippendorff_alpha", "gwet_ac")
    own = tuple(
        Estimate(coefficient=name, value=least + 0.1, interval=(least, least + 0.2))
        for name, least in zip(names, ceiling, strict=True)
    )
    return Evidence(test, alpha, own, passes, people)


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (evidence(1.0), "may replace"),
        (evidence(0.0, behind=0.1), "needs more human labels"),
        (evidence(0.0, behind=0.3, lost=True), "may pre-sort"),
        (evidence(0.0, behind=0.3, lost=True, low=0.1), "may not be used"),
        (evidence(0.0, behind=0.149), "may pre-sort"),  # no number of labels in sight shows it
        (evidence(1.0, ceiling=(-0.05, 0.1)), "may not be used"),  # people agree by chance
        (evidence(1.0, ceiling=(-0.05, 0.8)), "may replace"),  # nearly all answers are one
        (evidence(1.0, ceiling=(-0.05, 0.8), low=-0.1), "needs more human labels"),  # so it seems
        (evidence(1.0, low=-0.3), "may not be used"),  # always says what nearly all answers are
        (evidence(1.0, people=2), "needs more human labels"),
        (evidence(1.0, items=20), "needs more human labels"),
        (evidence(1.0, passes=FalsePasses(0, 0, 0, 100)), "needs more human labels"),
        (evidence(1.0, passes=FalsePasses(0, 60, 5, 100)), "may replace"),
        (evidence(1.0, passes=FalsePasses(1, 40, 5, 100)), "needs more human labels"),
        (evidence(1.0, passes=FalsePasses(12, 40, 5, 100)), "may not be used"),
    ],
)
def test_every_answer_follows_from_its_evidence(found: Evidence, word: str) -> None:
    answer = answer_of(found)
    assert answer.word == word
    assert answer.why


def test_the_labels_that_are_asked_for_are_counted() -> None:
    assert answer_of(evidence(1.0, items=20)).more_labels == 3 * 10
    assert answer_of(evidence(1.0, people=2)).more_labels == 30
    none_failed = answer_of(evidence(1.0, passes=FalsePasses(0, 0, 0, 100)))
    # 0 of n has the upper limit z²/(n + z²), which is .1 at n = 9 z² = 34.6
    assert none_failed.more_labels == 35
    assert str(Answer("may replace", "it does")) == "may replace: it does"
    assert str(none_failed).startswith("needs 35 more human labels: ")


def test_a_judge_is_not_trusted_where_nothing_differs() -> None:
    found = replace(evidence(1.0), alpha=Estimate(coefficient="krippendorff_alpha"))
    assert str(answer_of(found)).startswith("needs 30 more human labels: ")
