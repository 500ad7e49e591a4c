"""What a diagnostic says in a plain sentence, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable

from calibrant.compare.rater_diagnostics import Diagnostic, Kind


def sentence(one: Diagnostic) -> str:
    """What was found, not found, or could not be looked for."""
    value = one.estimate.value
    if value is None:
        return f"not looked for: {one.estimate.undefined}"
    if not one.found:
        return "nothing found" if one.form != "random" else _RANDOM_SLOPE
    return _SAYS[one.kind](one, value)


def advice(one: Diagnostic) -> str | None:
    """What to do about a finding."""
    if not one.found:
        return None
    value = one.estimate.value or 0.0
    if one.kind == "central tendency" and _turned(one):
        return "Ask which end of the scale was taken for the best."
    if one.kind == "central tendency" and value > 0:
        return "Go through the anchors of the middle of the scale together."
    return _DO[one.kind]


def _severity(one: Diagnostic, value: float) -> str:
    way = "more severe" if value > 0 else "more lenient"
    return f"{abs(value):.2f} logits {way} than the middle of the panel"


def _on_criterion(one: Diagnostic, value: float) -> str:
    way = "more severe" if value > 0 else "more lenient"
    return f"on {one.criterion} {abs(value):.2f} logits {way} than this rater is elsewhere"


def _turned(one: Diagnostic) -> bool:
    """Whether a slope goes down where the panel's goes up."""
    limits = one.estimate.interval
    return limits is not None and limits[1] < -1


def _slope(one: Diagnostic, value: float) -> str:
    if _turned(one):
        return f"runs against the items: the better one is, the lower the answer ({1 + value:.0%} of the usual slope)"  # noqa: E501
    if value < 0:
        return f"stays near the middle of the scale: follows the items at {1 + value:.0%} of the usual slope"  # noqa: E501
    return f"goes to the ends of the scale: follows the items at {1 + value:.0%} of the usual slope"


def _trend(where: str) -> Callable[[Diagnostic, float], str]:
    def told(one: Diagnostic, value: float) -> str:
        way = "more severe" if value > 0 else "more lenient"
        return f"grows {abs(value):.2f} logits {way} {where}"

    return told


def _recency(one: Diagnostic, value: float) -> str:
    if one.form == "contrast":
        way = "away from" if value < 0 else "towards"
        return f"leans {way} the quality of the item before ({value:+.2f} logits a logit)"
    way = "carries over" if value > 0 else "turns against"
    return f"{way} what was answered to the item before (correlation {value:+.2f})"


def _straight(one: Diagnostic, value: float) -> str:
    if one.form == "one row":
        return (
            f"the same row of answers to all {one.estimate.n_items:,} items, where others' differ"
        )
    return f"answers like those to the item before, {value:.0%} more often than chance gives"


_RANDOM_SLOPE = "a flat slope that random answers explain better: see carelessness"
_SAYS: dict[Kind, Callable[[Diagnostic, float], str]] = {
    "severity": _severity,
    "severity on a criterion": _on_criterion,
    "halo": lambda one, value: (
        f"answers to different criteria go together by {value:.2f} more than the panel's"
    ),
    "identical rows": lambda one, value: (
        f"the same answer to every criterion in {value:.0%} more of the items than expected"
    ),
    "central tendency": _slope,
    "carelessness": lambda one, value: (
        f"as if {value:.0%} more of the answers were given at random than the panel's"
    ),
    "drift": _trend("from the first item to the last"),
    "fatigue": _trend("from the beginning to the end of a sitting"),
    "recency": _recency,
    "straight-lining": _straight,
    "speeding": lambda one, value: f"{value:.0%} of the items in under a third of the usual time",
    "self-agreement": lambda one, value: (
        f"repeats an answer in {one.form} of the cases, {-value:.0%} less than the others do"
    ),
    "NA overuse": lambda one, value: (
        f"answers NA in {value:.0%} more of the cases than others do on the same items"
    ),
}
_DO: dict[Kind, str] = {
    "severity": "Calibrate on items with agreed answers; use fair averages meanwhile.",
    "severity on a criterion": "Discuss what the anchors of this criterion mean.",
    "halo": "Have one criterion rated at a time, over all items.",
    "identical rows": "Ask for a reason by criterion; rate one criterion at a time.",
    "central tendency": "Show examples of the ends of the scale, and ask for them to be used.",
    "carelessness": "Look at the items furthest off together; rate a sample again.",
    "drift": "Calibrate again, and have early and late items rated once more.",
    "fatigue": "Shorten sittings, and have the last items of each rated again.",
    "recency": "Shuffle the items for each rater, with a pause between them.",
    "straight-lining": "Put in items with known answers, and rate the repeated rows again.",
    "speeding": "Ask whether the items were read; rate the fast ones again.",
    "self-agreement": "Go through the items answered differently, and train again.",
    "NA overuse": "Go through what NA is for, with examples where it does not hold.",
}
