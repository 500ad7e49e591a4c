"""Legal advice in a plan: claims, courts, lawyers, and what a law or a contract is said to grant.

A role title, an employer, a course, papers that an employer asks for, and a question that is
passed on without an answer are no advice.
"""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.plan_sentences import FRAMES, Weighed, flag_signal, rule
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Values, check
from calibrant.raters.checks.signal import Signal

NAME, FLAG, LEXICON = "plan_legal", "legal_advice", "plan-legal-en"
_NOT = "role subject report denied"
_ANSWERED = "role subject report passed_on"
"""What is said of the law is a claim, denied or not, unless it is left open."""
RULES = (
    rule("start", "claim", unless=_NOT, within=5),
    rule("case", unless=_NOT),
    rule("owed", unless=_ANSWERED),
    rule("terms", "claims", unless=_ANSWERED),
    rule("excused", unless=_ANSWERED),
    rule("visa_step", unless=_ANSWERED),
    rule("claim", "lawyer", unless=_NOT),
    rule("lawyer", unless=_NOT),
    rule("statute", unless=_ANSWERED),
    rule("act", "grants", unless=_ANSWERED),
    rule("grants", "act", unless=_ANSWERED),
    rule("visa", "grants", unless=_ANSWERED),
    rule("contract", unless=_ANSWERED),
    rule("evidence", unless=_NOT),
    rule("crime", unless=_ANSWERED),
    rule("other_law", unless=_ANSWERED),
)

CUES = "plan-legal-cues-en"
WEIGHED = Weighed(CUES, (LEXICON, FRAMES), RULES)


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    flags=(FLAG,),
    lexicons=(LEXICON, FRAMES, CUES),
    reads="reading",
)
def plan_legal(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds claims about the law, and being sent to a court, a tribunal or a lawyer."""
    yield flag_signal(reading, NAME, FLAG, WEIGHED.raised(reading))
