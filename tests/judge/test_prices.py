"""Prices, spending and estimates: exact where something was counted, called an estimate else."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judge.rating_kit import TALK, judge_of

from calibrant import Rubric, SourceError
from calibrant.ports.chat import Ask, Message, Usage
from calibrant.raters.judge.card import Way
from calibrant.raters.judge.prices import (
    Estimate,
    Price,
    Spending,
    estimate,
    money,
    read_price,
    read_prices,
    shared,
)


def test_a_price_is_read_as_it_is_stated() -> None:
    assert read_price("gpt-4o=2.50/10") == ("gpt-4o", Price(Decimal("2.50"), Decimal(10)))
    name, price = read_price("openai/a=b = 0.1/0.2/0.05")
    assert name == "openai/a=b" and price.cached == Decimal("0.05")


@pytest.mark.parametrize(
    "text", ["", "a", "a=", "a=1", "=1/2", "a=1/2/3/4", "a=1/-2", "a=1/NaN", "a=1/1e9", "a=1/٣"]
)
def test_anything_else_is_no_price(text: str) -> None:
    with pytest.raises(SourceError, match="NAME=IN/OUT"):
        read_price(text)


def test_a_price_is_stated_once() -> None:
    assert set(read_prices(["a=1/2", "b=1/2"])) == {"a", "b"}
    with pytest.raises(SourceError, match="twice"):
        read_prices(["a=1/2", "a=1/3"])


figures = st.decimals(0, 1000, places=4)
counts = st.integers(0, 10**9)


@given(figures, figures, st.none() | figures, counts, counts, counts)
def test_spending_is_exact(
    prompt: Decimal, out: Decimal, cached: Decimal | None, read: int, kept: int, said: int
) -> None:
    kept = min(kept, read)
    spent = Price(prompt, out, cached).spend(Usage(prompt=read, cached=kept, completion=said))
    again = Fraction(prompt if cached is None else cached)
    exact = (read - kept) * Fraction(prompt) + kept * again + said * Fraction(out)
    assert Fraction(spent) == exact / 10**6


def test_a_server_that_claims_to_have_kept_more_than_it_read_is_not_believed() -> None:
    price = Price(Decimal(1), Decimal(1), Decimal(0))
    assert price.spend(Usage(prompt=10, cached=99)) == 0
    assert price.spend(Usage(prompt=10, cached=-5)) == Decimal("0.00001")


def test_spending_adds_up_by_model_and_names_what_has_no_price() -> None:
    spending = Spending({"a": Price(Decimal(1), Decimal(2))})
    assert spending.total is None
    spending.add("b", Usage(prompt=7))
    assert spending.total is None and spending.unpriced == ("b",)
    spending.add("a", Usage(prompt=500_000, completion=1))
    spending.add("a", Usage(prompt=500_000, completion=249_999))
    assert spending.total == Decimal("1.5")


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "0.00"),
        ("0.1", "0.10"),
        ("12.345", "12.34"),
        ("1234567.5", "1,234,567.50"),
        ("0.0123", "0.012"),
        ("0.0000451", "0.000045"),
        ("-0.5", "-0.50"),
    ],
)
def test_money_is_short_and_never_nothing(amount: str, text: str) -> None:
    assert money(Decimal(amount)) == text


@given(st.text("ab", max_size=30), st.text("ab", max_size=30))
def test_shared_beginnings(one: str, other: str) -> None:
    size = shared(one, other)
    assert one[:size] == other[:size]
    assert one[size : size + 1] != other[size : size + 1] or size == len(one) == len(other)


def ask(text: str, most: int = 1000) -> Ask:
    return Ask(model="m", messages=(Message("user", text),), schema={}, max_tokens=most)


def test_an_estimate_counts_the_beginning_of_an_item_once() -> None:
    item = "x" * 4000
    found = estimate([ask(item + end * 40) for end in "abc"], [1, 1, 20])
    # "user\\n", the item and 40 signs: 4,045 signs are 1,012 tokens; 4,005 signs are kept
    assert found.calls == 3 and found.prompt == 3 * 1012 and found.cached == 2 * 1001
    assert found.fresh == 3036 - 2002
    assert found.completion == 120 + 120 + 1000 and found.most == 3000


def test_estimates_add_up_and_cost(coaching: Rubric) -> None:
    price = Price(Decimal(1), Decimal(2), Decimal("0.1"))
    one = Estimate(calls=1, prompt=100, cached=50, completion=10, most=20)
    assert one + one == one.times(2)
    assert one.cost(price) == Decimal("0.000075")
    assert one.cost(price, caching=False) == Decimal("0.00012")
    assert one.cost_at_most(price) == Decimal("0.00014")


def test_asking_about_more_at_once_reads_less(coaching: Rubric) -> None:
    ways: tuple[Way, ...] = ("rubric", "category", "criterion")
    found: list[Estimate] = []
    for way in ways:
        judge = judge_of(coaching, way=way)
        calls = judge.calls(TALK)
        asks = [judge.ask(call) for call in calls]
        found.append(estimate(asks, [len(call.question.criteria) for call in calls]))
    assert [one.prompt for one in found] == sorted(one.prompt for one in found)
    assert all(one.fresh < one.prompt for one in found[1:]) and found[0].cached == 0
