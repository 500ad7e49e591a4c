"""Stereotypes in a plan: a group taken for one, or the person taken for their group.

Programmes and employers for a group, barriers that the person named, and contradicting a
stereotype are not meant. An assumption without a stereotype is for people to see.
"""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.plan_sentences import flag_signal, raised, rule
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Values, check
from calibrant.raters.checks.signal import Signal

NAME, FLAG = "plan_stereotype", "discriminatory_stereotyping"
LEXICON = "plan-stereotype-en"
RULES = (
    rule("group", "trait", "so", unless="group_only rejects", within=8),
    rule("group", "trait", unless="group_only rejects", within=1),
    rule("group", "therefore", unless="group_only rejects"),
    rule("fits", "so", unless="group_only rejects"),
    rule("so", "fits", unless="group_only rejects"),
)


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    flags=(FLAG,),
    lexicons=(LEXICON,),
    reads="reading",
)
def plan_stereotype(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds generalisations about protected groups, and the person fitted into one."""
    yield flag_signal(reading, NAME, FLAG, raised(reading, (LEXICON,), RULES))
