"""What a message is about, as far as words tell: the beginnings of words that carry meaning.

Two texts that share such a beginning may speak of the same thing. It is a rough likeness, good
for pointing a reviewer to a place, and for nothing else.
"""

from __future__ import annotations

import re

WORDS = re.compile(r"[a-z]{4,}+")
"""Words of four letters and more."""
_COMMON = """
    about above after again against almost along already also although always another
    anymore anyone anything anyway around away because been before began being believe best
    better between both bring came cannot come could couldn didn does doesn doing done down
    during each either else enough even ever every everyone everything exactly feel feeling
    felt find first found from gave getting give goes going gone good gotten great guess
    happen hard have haven having hear heard help here herself himself hold honestly hope
    however inside instead into isn't itself just keep kept kind knew know known last late
    later least leave left less life like likely little long look made make many matter
    maybe mean means meant might mind moment more most much must myself need never next nice
    nothing notice obviously often okay once only other others over own part people perhaps
    place point pretty probably quite rather ready really reason right said same saying seem
    seen sense share should shouldn since some somehow someone something sometimes somewhat
    soon sort sound start stay still stop stuff such sure take talk tell than thank that
    thats their them themselves then there these they thing things think this those though
    thought three through time times today together told tomorrow tonight took toward tried
    truly trying turn under understand until upon used usually very want wasn't week well
    went were weren't what whatever when where whether which while whole whom will with
    within without wonder wondering word words worse worth would wouldn year years yesterday
    yeah your yours yourself able actually comes days early easy either else fine full half
    high inside large lots morning night once open past quick real says several side simply
    small stuck takes thats till understood using ways weeks yet
    """.split()  # noqa: SIM905 -- a page of words, not one to a line
COMMON = frozenset(word[:5] for word in _COMMON if len(word) >= 4)
"""Beginnings of words that are about nothing in particular."""


def stems(low: str) -> set[str]:
    """The beginnings of the words that carry meaning, in a text of small letters."""
    return {word[:5] for word in WORDS.findall(low)} - COMMON
