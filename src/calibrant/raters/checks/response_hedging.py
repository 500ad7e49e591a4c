"""Hedging: how much of a response leaves open whether it is so."""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.response_voice import longest
from calibrant.raters.checks.signal import Hint, Signal

NAME, LEXICON = "response_hedging", "hedging-en"


@check(
    name=NAME,
    version="1.0",
    kinds=("response",),
    criteria=("helpfulness",),
    parameters=(
        Parameter("share", 0.6, "the share of hedged sentences that is much", 0, 1),
        Parameter("least", 3, "fewer hedges than these are not much", 1),
    ),
    lexicons=(LEXICON,),
    reads="reading",
)
def response_hedging(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Counts hedges, and the share of sentences with one."""
    response = reading.of("response")[0]
    hits = longest(reading.hits(LEXICON, "response"))
    if not hits and not reading.covered(response, "en"):
        yield Signal(NAME, "hedged_sentences", criterion="helpfulness", not_measured=NOT_COVERED)
        return
    hedged = {reading.sentence_at(response, one.start) for one in hits}
    share = len(hedged) / max(len(reading.sentences(response)), 1)
    much = share >= parameters["share"] and len(hits) >= parameters["least"]
    yield Signal(
        NAME,
        "hedged_sentences",
        measured=round(share, 3),
        threshold=f">= {parameters['share']:g} and {parameters['least']} hedges",
        exceeded=much,
        criterion="helpfulness",
        spans=tuple(one.span for one in hits),
        suggestion=Hint("helpfulness", "most sentences are hedged") if much else None,
        note=f"share of sentences with a hedge; {len(hits)} hedges",
    )
