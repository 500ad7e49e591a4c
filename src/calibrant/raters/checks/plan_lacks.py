"""Lacked resources: actions that can be done only with what the person said they do not have.

Both places are quoted: the statement in the profile and the words of the action. An action that
works round the missing thing, gets it without cost or names it as one way of several is not
meant; nor is anything on which the profile is silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from calibrant.core.parts import Part
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Hit, Reading
from calibrant.raters.checks.registry import Values, check
from calibrant.raters.checks.signal import ProposeFlag, Signal, Span
from calibrant.raters.checks.text import WORD, low

NAME, FLAG, LEXICON = "plan_lacks", "lacked_resources", "plan-resources-en"
NEED, ROUND = "need_", "round"
_STATES_LACK = re.compile(
    r"(?<![^\W_])(?:no|not|never|without|lack(?:s|ing)?|can't|cannot|don't|haven't|isn't|missing"
    r"|lost|broken?|nobody|nothing|unable)(?![^\W_])"
)
"""What makes a barrier a statement that something is lacking."""
_SUM = re.compile(r"[£$€]\s?\d|\d\s?(?:euros?|pounds?|dollars?)(?![^\W_])|\d\.\d\d(?!\d)")
_WITH_IT = re.compile(
    r"(?<![^\W_])(?:your|own|with|use|using|bring|show|take|have|need|wear)(?![^\W_])"
)
_OR = re.compile(r" or (?!so |more |less |two |three )")
"""Where something is one way of several."""
_EMPLOYER = re.compile(
    r"\s(?:shops?|stores?|schools?|firms?|compan(?:y|ies)|cent(?:re|er)s?|club|factory|museum|dealer"
    r"|banks?|department|team|desk|counter|vacanc(?:y|ies)|jobs?)(?![^\W_])"
)
"""What makes the name of a thing that of an employer."""
SORTS = frozenset(("papers", "clothes", "space", "network", "language", "tools"))
"""Things of which there are sorts: one who lacks a garden may have a desk."""
ALL_SORTS = frozenset(
    (
        "paper", "document", "id", "identification", "space", "room", "clothe", "clothing",
        "outfit", "tool", "equipment", "kit", "contact", "network", "connection", "people",
        "language", "literacy", "privacy", "storage",
    )
)  # fmt: skip
"""Words by which a statement means all sorts."""
_SMALL_WORDS = frozenset(
    (
        "a", "an", "the", "no", "not", "never", "any", "my", "i", "i'm", "i've", "we", "we've",
        "our", "me", "do", "don't", "does", "doesn't", "have", "haven't", "has", "had", "own",
        "of", "at", "home", "for", "to", "in", "on", "with", "without", "and", "or", "but", "is",
        "isn't", "are", "aren't", "there", "there's", "can't", "cannot", "can", "could", "afford",
        "get", "got", "yet", "moment", "right", "now", "this", "that", "these", "it", "one",
        "until", "till", "next", "last", "week", "month", "year", "before", "after", "from",
        "lack", "lacks", "lacking", "missing", "lost", "broken", "broke", "want", "access", "up",
        "out", "so", "much", "many", "enough", "time", "still", "currently", "work", "job",
        "valid", "proper", "good", "nearby", "local", "place", "use", "using", "some", "else",
        "nobody", "somebody", "anyone", "anybody", "nothing", "left", "over",
    )
)  # fmt: skip


class Lack(NamedTuple):
    """A statement that something is lacking: what, by the labels of the lexicon, and its words."""

    part: Part
    things: frozenset[str]
    words: frozenset[str]


@check(
    name=NAME,
    version="1.0",
    kinds=("plan",),
    flags=(FLAG,),
    lexicons=(LEXICON,),
    reads="reading",
)
def plan_lacks(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds actions that need what the profile says the person lacks, and quotes both."""
    lacks = tuple(_lacks(reading))
    if not lacks:
        yield Signal(NAME, FLAG, not_measured="the profile states no lack")
        return
    texts = reading.of("action")
    outside = reading.uncovered((*texts, *(one.part for one in lacks)))
    spans: dict[Span, None] = {}
    count = 0
    for lack in lacks:
        found = tuple(_needed(reading, lack))
        if found:
            count += 1
            spans[reading.span(lack.part, 0, len(lack.part.text))] = None
            spans.update(dict.fromkeys(found))
    if outside and not count:
        yield Signal(NAME, FLAG, not_measured=NOT_COVERED)
        return
    yield Signal(
        NAME,
        FLAG,
        measured=count,
        threshold=">= 1 statement",
        exceeded=bool(count),
        spans=tuple(spans),
        suggestion=ProposeFlag(FLAG) if count else None,
        note=f"{len(lacks)} statements of lack were held against the actions",
    )


def _lacks(reading: Reading) -> Iterator[Lack]:
    """What the profile lists as lacking, and barriers that say that something is."""
    named: dict[int, set[str]] = {}
    for hit in reading.hits(LEXICON, "profile"):
        if not hit.label.startswith(NEED) and hit.label != ROUND:
            named.setdefault(hit.part.index, set()).add(hit.label)
    for part in reading.of("profile"):
        listed = part.name.startswith("profile.lacks")
        if not listed and not part.name.startswith("profile.barriers"):
            continue
        text = reading.low(part)
        if listed or _STATES_LACK.search(text):
            words = frozenset(map(_stem, WORD.findall(text))) - _SMALL_WORDS
            yield Lack(part, frozenset(named.get(part.index, ())), words)


def _needed(reading: Reading, lack: Lack) -> Iterator[Span]:
    """The words of actions that need the thing; sentences that work round it need nothing."""
    hits = reading.hits(LEXICON, "action")
    rounds = {
        (hit.part.index, reading.sentence_at(hit.part, hit.start)[0])
        for hit in hits
        if hit.label == ROUND
    }
    for part in reading.of("action"):
        for found in _OR.finditer(reading.low(part)):
            rounds.add((part.index, reading.sentence_at(part, found.start())[0]))
    for hit in hits:
        place = hit.part.index, reading.sentence_at(hit.part, hit.start)[0]
        if hit.label.startswith(NEED) and place not in rounds and _meant(hit, lack):
            yield hit.span
    for part in reading.of("action"):
        text = reading.low(part)
        if "money" in lack.things:
            for found in _SUM.finditer(text):
                if (part.index, reading.sentence_at(part, found.start())[0]) not in rounds:
                    yield reading.span(part, *found.span())
        if len(lack.words) > 1 or (lack.words and not lack.things):
            yield from _same_words(reading, part, lack, rounds)


def _meant(hit: Hit, lack: Lack) -> bool:
    """Whether what an action needs is what is lacking."""
    thing = hit.label.removeprefix(NEED)
    if thing not in lack.things:
        return False
    if thing not in SORTS or lack.words & ALL_SORTS:
        return True
    return not lack.words.isdisjoint(_stem(one) for one in WORD.findall(low(hit.text)))


def _same_words(
    reading: Reading, part: Part, lack: Lack, rounds: set[tuple[int, int]]
) -> Iterator[Span]:
    """Half of the words of the thing or more in one sentence, after a word that puts it to use."""
    text = reading.low(part)
    for start, end in reading.sentences(part):
        if (part.index, start) in rounds:
            continue
        found = [one for one in WORD.finditer(text, start, end) if _stem(one.group()) in lack.words]
        shared = {_stem(one.group()) for one in found}
        if found and 2 * len(shared) >= len(lack.words):
            first, last = found[0].start(), found[-1].end()
            used = _WITH_IT.search(text, max(start, first - 25), first)
            if used and not _EMPLOYER.match(text, last):
                yield reading.span(part, first, last)


def _stem(word: str) -> str:
    """A word without the ending of a plural or of *-ing*."""
    if word.endswith("ing") and len(word) > 5:
        return word[:-3]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
