"""What judging costs: prices as the user states them, what was spent, and what a run will take.

Money is exact: prices are decimals and spending is their product with whole tokens. What a run
will take is an estimate until the server has counted, and is always called one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import pairwise

from calibrant.core.errors import SourceError
from calibrant.ports.chat import NO_USAGE, Ask, Usage

SIGNS_A_TOKEN = 4
"""Characters that are taken for one token, before a server has counted; an estimate."""
TOKENS_AN_ANSWER = 120
"""Tokens of a reply for each criterion: a quotation, two sentences and an answer; an estimate."""
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?", re.ASCII)
_FORM = "NAME=IN/OUT or NAME=IN/OUT/CACHED, in money per million tokens, such as judge-a=0.15/0.60"


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens."""

    prompt: Decimal
    completion: Decimal
    cached: Decimal | None = None
    """Of the prompt, what the server had kept; None: as the rest of the prompt."""

    def spend(self, usage: Usage) -> Decimal:
        """What a call cost, exactly."""
        kept = min(max(usage.cached, 0), usage.prompt)
        read = self.prompt if self.cached is None else self.cached
        total = (usage.prompt - kept) * self.prompt + kept * read
        return (total + usage.completion * self.completion).scaleb(-6)


def read_price(text: str) -> tuple[str, Price]:
    """A price as it is stated on a command line: the model's name and its price."""
    name, _, stated = text.rpartition("=")
    figures = [one.strip() for one in stated.split("/")]
    known = len(figures) in (2, 3) and all(map(_NUMBER.fullmatch, figures))
    if not name.strip() or not known:
        raise SourceError(f"cannot read the price {text[:80]!r}: state {_FORM}")
    return name.strip(), Price(*map(Decimal, figures))


def read_prices(texts: Iterable[str]) -> dict[str, Price]:
    """Prices by model; raises ``SourceError`` where one is stated twice."""
    found: dict[str, Price] = {}
    for text in texts:
        name, price = read_price(text)
        if name in found:
            raise SourceError(f"the price of {name!r} is stated twice")
        found[name] = price
    return found


def money(amount: Decimal) -> str:
    """For people: two decimals, or two figures where that would be nothing; no currency."""
    size = abs(amount)
    if size == 0:
        return "0.00"
    places = 2 if size >= Decimal("0.1") else 1 - size.adjusted()
    return f"{amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN):,f}"


# -- before a run


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What calls will take, as far as can be told before anybody has counted."""

    calls: int = 0
    prompt: int = 0
    """Tokens of all prompts."""
    cached: int = 0
    """Of these, what a server that keeps prefixes reads once and need not read again."""
    completion: int = 0
    most: int = 0
    """Tokens of replies at the very most, as they are limited."""

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(
            calls=self.calls + other.calls,
            prompt=self.prompt + other.prompt,
            cached=self.cached + other.cached,
            completion=self.completion + other.completion,
            most=self.most + other.most,
        )

    def times(self, number: int) -> Estimate:
        """So many times over, as for samples."""
        return Estimate(
            calls=self.calls * number,
            prompt=self.prompt * number,
            cached=self.cached * number,
            completion=self.completion * number,
            most=self.most * number,
        )

    @property
    def fresh(self) -> int:
        """Tokens of prompts that must be read, the shared beginning of an item once."""
        return self.prompt - self.cached

    def cost(self, price: Price, *, caching: bool = True) -> Decimal:
        """At a price; without ``caching`` every prompt is read from its beginning."""
        kept = self.cached if caching else 0
        return price.spend(Usage(prompt=self.prompt, cached=kept, completion=self.completion))

    def cost_at_most(self, price: Price) -> Decimal:
        """With nothing kept and every reply as long as it may be; attempts made again not in it."""
        return price.spend(Usage(prompt=self.prompt, completion=self.most))


def tokens(signs: int) -> int:
    """About how many tokens so many characters are."""
    return -(-signs // SIGNS_A_TOKEN)


def estimate(asks: Sequence[Ask], criteria: Sequence[int]) -> Estimate:
    """What the calls about one item will take; ``criteria``: how many each of them asks about.

    What a prompt has in common with the one before it, from its beginning on, counts as kept.
    """
    prompts = [prompt_text(one) for one in asks]
    kept = sum(shared(before, after) // SIGNS_A_TOKEN for before, after in pairwise(prompts))
    # a call that asks about red flags and nothing else has an answer too
    replies = [
        min(max(number, 1) * TOKENS_AN_ANSWER, one.max_tokens)
        for one, number in zip(asks, criteria, strict=True)
    ]
    return Estimate(
        calls=len(asks),
        prompt=sum(tokens(len(text)) for text in prompts),
        cached=kept,
        completion=sum(replies),
        most=sum(one.max_tokens for one in asks),
    )


def prompt_text(ask: Ask) -> str:
    """All that is read before a reply, as one text."""
    return "\n".join(f"{one.role}\n{one.content}" for one in ask.messages)


def shared(one: str, other: str) -> int:
    """Signs that two texts have in common from their beginning on."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # halving, as comparing long pieces is fast and single signs are slow
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


# -- what a run has spent


class Spending:
    """Tokens and money by model, as calls come in."""

    def __init__(self, prices: dict[str, Price]) -> None:
        self.prices = prices
        self.usage: dict[str, Usage] = {}

    def add(self, model: str, usage: Usage) -> None:
        """Count one call in."""
        self.usage[model] = self.usage.get(model, NO_USAGE) + usage

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Models that were used and have no price: what they cost is not in the total."""
        return tuple(name for name in self.usage if name not in self.prices)

    @property
    def total(self) -> Decimal | None:
        """What models with a price have cost; None where no model has one."""
        known = [name for name in self.usage if name in self.prices]
        if not known:
            return None
        return sum((self.prices[name].spend(self.usage[name]) for name in known), Decimal(0))
