"""Medical advice in a plan: health, medicine, treatment, tests, and those who give them.

A role title, an employer, a course and a report of what is arranged already are no advice.
"""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.plan_sentences import FRAMES, Weighed, flag_signal, rule
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Values, check
from calibrant.raters.checks.signal import Signal

NAME, FLAG, LEXICON = "plan_medical", "medical_advice", "plan-medical-en"
_NOT = "role subject report denied rule_of_all"
RULES = (
    rule("own_carer", unless="report denied"),
    rule("send", "carer", unless=_NOT, within=3),
    rule("carer", "condition", unless=_NOT),
    rule("condition", "carer", unless=_NOT),
    rule("intake", "medicine", unless=_NOT, within=6),
    rule("medicine", "intake", unless=_NOT, within=6),
    rule("medicine", "condition", unless=_NOT),
    rule("drug", unless=_NOT),
    rule("therapy", unless=_NOT),
    rule("therapy", "condition", unless=_NOT),
    rule("undergo", "test", unless=_NOT, within=4),
    rule("remedy", "condition", unless=_NOT, within=4),
    rule("condition", "remedy", unless=_NOT, within=4),
    rule("habit", "condition", unless=_NOT),
    rule("seems", "condition", unless=_NOT, within=2),
    rule("verdict", unless=_NOT),
    rule("go_ahead", unless=_NOT),
)

CUES = "plan-medical-cues-en"
WEIGHED = Weighed(CUES, (LEXICON, FRAMES), RULES)


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    flags=(FLAG,),
    lexicons=(LEXICON, FRAMES, CUES),
    reads="reading",
)
def plan_medical(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds advice on health, medicine and treatment, and being sent to a doctor."""
    yield flag_signal(reading, NAME, FLAG, WEIGHED.raised(reading))
