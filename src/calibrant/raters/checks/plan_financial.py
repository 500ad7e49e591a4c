"""Financial advice in a plan: investing, pensions, debt, tax, benefits, saving and spending.

A role title, an employer, a course, pay and fares as plain facts, and a question that is passed
on without an answer are no advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from calibrant.raters.checks.plan_sentences import FRAMES, Weighed, flag_signal, rule
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Values, check
from calibrant.raters.checks.signal import Signal

NAME, FLAG, LEXICON = "plan_financial", "financial_advice", "plan-financial-en"
MARKS = (
    ("coin", re.compile(r"[£$€]\s?\d")),
    ("money", re.compile(r"[£$€]\s?\d|\d\s?%")),
)
"""Sums that have no word."""
_NOT = "role subject report denied passed_on"
RULES = (
    rule("handle", "product", unless=_NOT, within=8),
    rule("product", "handle", unless=_NOT),
    rule("invest", unless=_NOT),
    rule("handle", "pension", unless=_NOT),
    rule("handle", "debt", unless=_NOT),
    rule("handle", "tax", unless=_NOT),
    rule("tax", "money", unless=_NOT),
    rule("benefit", "money", unless=_NOT),
    rule("benefit", "loss", unless=_NOT),
    rule("benefit", "safe", unless=_NOT),
    rule("coin", "gain", unless=_NOT),
    rule("steer", "loss", unless=_NOT),
    rule("spend", unless=_NOT),
)

CUES = "plan-financial-cues-en"
WEIGHED = Weighed(CUES, (LEXICON, FRAMES), RULES, MARKS)


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    flags=(FLAG,),
    lexicons=(LEXICON, FRAMES, CUES),
    reads="reading",
)
def plan_financial(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds advice on investing, pensions, debt, tax, benefits, saving and spending."""
    yield flag_signal(reading, NAME, FLAG, WEIGHED.raised(reading))
