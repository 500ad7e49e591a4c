"""Numbers and how often: what in a text tells when something is done, and how sure one is of it.

Numbers that measure nothing are left out: a stated confidence, a time of day, a date, an address,
the number in a name.
"""

from __future__ import annotations

import re

_CARDINAL = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    "|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
    "|thousand"
)
NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "a": 1, "an": 1, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90,
}  # fmt: skip
"""Numbers as people write them out."""
_EDGE, _STOP = r"(?<![^\W_])", r"(?![^\W_])"
CONFIDENCE = re.compile(
    rf"{_EDGE}(?:\(?\s?(?:confiden(?:ce|t)(?:\slevel)?(?:\s(?:score|rating))?(?:\s(?:of|is|at))?"
    r"\s?[:=]?\s?)(?:\d{1,3}(?:\.\d)?\s?(?:%|/\s?10|out\sof\s(?:10|ten)|percent)?)"
    r"|\d{1,3}(?:\.\d)?\s?(?:%|/\s?10|out\sof\s(?:10|ten)|percent)\s?(?:confiden(?:ce|t))"
    r"|\(?\d{1,2}(?:\.\d)?\s?/\s?10)"
    rf"{_STOP}"
    r"|(?<=\()\s?\d{1,3}\s?%(?=\s?\))|(?<=, )\d{1,3}%(?=\.?$)"
)
"""How sure somebody is of reaching a goal: *confidence 8/10*, *(90% confident)*."""
_NO_MEASURE = re.compile(
    rf"{_EDGE}(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}[:.]\d{{2}}\s?(?:am|pm)?|\d{{1,2}}\s?(?:am|pm)"
    r"|\d{1,2}(?:st|nd|rd|th)?\s(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december)|(?:module|chapter|level|step|phase|part|page|room|unit|video)\s\d++"
    r"(?:\.\d++)?"
    rf"|(?:19|20)\d{{2}}|(?:one|two)\sof\sthe(?:m|se)|one\s(?:another|day)){_STOP}"
)
AMOUNT = re.compile(
    rf"{_EDGE}(?:\d++(?:[.,]\d++)*+\s?(?:%|[a-z]{{1,4}}+)?|(?:{_CARDINAL})|one|once|twice|thrice|half|quarter"
    rf"|a\sdozen|dozens?|a\scouple|zero|no\smore\sthan|at\sleast|at\smost){_STOP}"
)
OFTEN = re.compile(
    rf"{_EDGE}(?:daily|weekly|monthly|nightly|fortnightly|hourly|everyday|each\sday"
    r"|(?:every|each)\s(?:other\s)?(?:single\s)?(?:day|week|month|night|morning|evening|afternoon"
    r"|weekday|weekend|meal|lunch|dinner|breakfast|session|monday|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday|application|interview|call|time)"
    rf"|(?:per|a)\s(?:day|week|month)){_STOP}"
)
UNTIL = re.compile(
    rf"{_EDGE}(?:(?:by|before|until|at|in|within)\s(?:the\s)?)?(?:next|upcoming|following)\s"
    rf"(?:\w++\s)?(?:session|meeting|appointment|review){_STOP}"
)
"""A point at which it can be seen whether a thing was done."""


def amounts(text: str) -> list[tuple[int, int]]:
    """Where a text of small letters and plain signs says how much or how many."""
    for pattern in (CONFIDENCE, _NO_MEASURE):
        text = pattern.sub(_blank, text)
    return [one.span() for one in AMOUNT.finditer(text)]


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


def measures(text: str) -> list[tuple[int, int]]:
    """Where a text says how much, how many, how often, or by when one will see."""
    found = [one.span() for pattern in (OFTEN, UNTIL) for one in pattern.finditer(text)]
    return sorted(amounts(text) + found)


def confidence(text: str) -> list[tuple[int, int]]:
    """Where a text says how sure somebody is."""
    return [one.span() for one in CONFIDENCE.finditer(text)]
