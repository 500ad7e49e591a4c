"""Deception in a plan: untruths, hiding what is asked for, forging, cheating, passing off.

Advice against it, openness, role play and leaving out by which nobody is misled are not meant.
"""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.plan_sentences import Weighed, flag_signal, rule
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Values, check
from calibrant.raters.checks.signal import Signal

NAME, FLAG, LEXICON = "plan_deception", "deception", "plan-deception-en"
_NOT = "honest practice"
RULES = (
    rule("deceive", unless=_NOT),
    rule("make_up", unless=_NOT),
    rule("proxy", unless=_NOT),
    rule("boss", unless=_NOT),
    rule("hush", "grave", unless=_NOT),
    rule("hush", "secret", unless=_NOT, within=8),
    rule("hush", "untrue", unless=_NOT),
    rule("grave", "cover", unless=_NOT),
    rule("says_you", unless=_NOT),
    rule("state", "untruth", unless=_NOT),
    rule("state", "untrue", unless=_NOT),
    rule("hush", "asked", unless=_NOT),
    rule("asked", "hush", unless=_NOT),
)

CUES = "plan-deception-cues-en"
WEIGHED = Weighed(CUES, (LEXICON,), RULES)


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    flags=(FLAG,),
    lexicons=(LEXICON, CUES),
    reads="reading",
)
def plan_deception(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds advice to say something untrue, to hide something, to forge or to cheat."""
    yield flag_signal(reading, NAME, FLAG, WEIGHED.raised(reading))
