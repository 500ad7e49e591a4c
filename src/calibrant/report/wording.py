"""Numbers and names in words, the same in every part of a report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.report.findings import Findings

OUTCOMES = {"met": "met", "not_met": "not met", "not_shown": "not shown"}
KINDS = {"HUMAN": "person", "LLM": "judge", "CODE": "check"}
COEFFICIENTS = {
    "percent": "percent agreement",
    "cohen_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "conger_kappa": "Conger's kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "gwet_ac": "Gwet's AC",
    "brennan_prediger": "Brennan and Prediger's coefficient",
    "icc": "intraclass correlation",
    "percent_within_one": "agreement within one point",
}
METHODS = {
    "bca": "bias-corrected and accelerated bootstrap over items",
    "fisher": "normal on Fisher's scale",
    "normal": "normal",
    "t": "Student's t",
    "F": "F distribution",
    "binomial": "exact binomial",
    "bca+binomial": "the wider limits of bootstrap and exact binomial",
    "fisher+binomial": "the wider limits of Fisher's scale and exact binomial",
}


def percent(share: float | None) -> str:
    """``43.2 %``; no false 0 or 100."""
    if share is None:
        return "–"
    if 0 < share < 0.0005:
        return "<0.1 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    return f"{100 * share:.1f} %".replace(".0 %", " %")


def percents(interval: tuple[float, float] | None) -> str:
    """An interval of a share."""
    return "" if interval is None else f"{percent(interval[0])} to {percent(interval[1])}"


def number(value: float | None, form: str = ".2f") -> str:
    """A value, or a dash."""
    return "–" if value is None else format(value, form).replace("-", "−")


def span(interval: tuple[float, float] | None, form: str = ".2f") -> str:
    """An interval of a value."""
    if interval is None:
        return ""
    return f"{number(interval[0], form)} to {number(interval[1], form)}"


def many(count: int, one: str, more: str = "") -> str:
    """``1 item``, ``2 items``."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def listed(words: Sequence[str], most: int = 6) -> str:
    """``a, b and c``; the rest of many is counted."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def day(at: str | None) -> str:
    """The day of a moment."""
    return "" if at is None else at[:10]


def moment(at: str) -> str:
    """A moment to the minute, in UTC."""
    return at[:16].replace("T", " ")


def plain(word: str) -> str:
    """``within_tolerance`` as people write it."""
    return word.replace("_", " ")


def titled(found: Findings, criterion: str | None) -> str:
    """A criterion by its title, with its id where that tells more."""
    if criterion is None:
        return "all criteria together"
    title = found.about.criteria.get(criterion, "")
    if not title:
        return criterion
    known = criterion.replace("_", " ").casefold() in title.casefold()
    return title if known else f"{title} ({criterion})"


def coefficient(name: str) -> str:
    """A coefficient as people call it: ``Krippendorff's alpha (ordinal)``."""
    base, _, kind = name.partition(":")
    return COEFFICIENTS.get(base, base) + (f" ({kind})" if kind else "")


def outcome(word: str, why: str) -> str:
    """What became of a target, and what is to say about it."""
    told = OUTCOMES.get(word, word)
    if why.startswith("not shown: "):  # decided on the estimate alone
        why = why.removeprefix("not shown: ")
    return f"{told}; {why}" if why else told


def target_words(target: str) -> str:
    """``krippendorff_alpha >= 0.6`` as people write it."""
    name, _, rest = target.partition(" ")
    return f"{coefficient(name)} {rest}".replace(">=", "at least").replace(">", "above")


def command(found: Findings, verb: str, *more: str) -> str:
    """The command that prints the numbers of a table."""
    return shlex.join(["calibrant", "study", verb, found.about.study, *more])


def cut(text: str, most: int) -> str:
    """A text of at most so many signs."""
    text = text.strip()
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
