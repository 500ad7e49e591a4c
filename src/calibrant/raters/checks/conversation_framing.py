"""How advice is framed: orders and musts against what is offered tentatively.

Counts sentences of the assistant. What the user or others say one should do, courtesies, and
questions are no orders.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from calibrant.core.parts import Part
from calibrant.raters.checks.alternatives import compiled
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.packed import KEEP, LONGEST, WordSet, shared_out
from calibrant.raters.checks.reading import Hit, Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.shelf import Shelf, Spots
from calibrant.raters.checks.signal import Hint, Signal, Span

NAME, LEXICON = "conversation_framing", "framing-en"

ORDERS = frozenset(
    """
    accept act add admit allow answer apologise apologize apply approach arrange ask attend
    avoid back ban be become begin believe block book breathe bring build buy call calm
    cancel challenge change check choose clean clear close come commit confront contact
    control cook count create cut deal decide delete demand ditch do don't donate download
    drink drop eat embrace end enjoy erase examine exercise expect explain express face
    fight fill find finish fix focus follow forget forgive get give go grow handle have hide
    hit hold ignore increase inform insist invest invite join journal jump keep kick learn
    leave let limit list listen live log look lose love lower make manage march meditate
    meet message move never open organise organize pack pay phone pick plan practise
    practice prepare prioritise prioritize protect pull push put quit raise reach read
    record reduce refuse reject relax remove repeat replace reply resist rest return ring
    run save say schedule see sell send set share show sign sit skip sleep slow snap sort
    speak spend stand start stay step stick stop switch take talk tell text think throw
    toughen track train treat try turn unfollow use visit wait wake walk wash watch wear
    work write always grab demand force draw name swap pour burn toss thank
    """.split()  # noqa: SIM905 -- a page of words, not one to a line
)
"""Verbs that begin an order."""
_LEADS = (
    "so", "then", "and", "but", "now", "first", "next", "please", "just", "simply", "honestly",
    "ok", "okay", "right", "well", "instead", "today", "tonight", "tomorrow", "seriously",
    "listen", "look", "my friend", "for now", "from now on", "starting today", "also", "finally",
    "second", "third", "step one", "above all", "if in doubt", "by tomorrow", "this week",
    "every morning", "each day", "oh", "no", "yes", "again",
)  # fmt: skip
"""Words that may come before the verb."""
_LEAD = re.compile(
    r"(?:(?:[-*>#\"'(\s]|\d{1,3}[.)])*+)(?:(?:" + "|".join(_LEADS) + r")\b[,:]?\s++)*+"
)
_LEADING = 4
_LEADS_ON = np.isin(np.arange(256), list(b'-*>#"( \t'))
"""Signs that are passed over to find the first word; those after the fourth are not."""
_BEGINNINGS = WordSet([*ORDERS, *(lead.split()[0] for lead in _LEADS)])
_FIRST = re.compile(r"[a-z']++")
_COURTESY = compiled(
    r"(?:take (?:your time|care|all the time|it easy|a moment if|good care"
    r"|heart)|let me\b|let's\b|lets\b|let us"
    r"|tell me (?:more|about|a bit|if|what|how|when|where|whatever|which"
    r"|anything|as)|tell me$|feel free"
    r"|see (?:if|how|you|what|whether)|say (?:more|as much|a bit)|help me"
    r"|thank|come back (?:to|any|when|if)|be (?:gentle|kind|proud|well|good "
    r"to)"
    r"|have (?:a (?:good|lovely|nice|safe|restful|think|great|look)|fun|you)"
    r"|sit with|stay with|hold on|bear with"
    r"|rest (?:well|up|easy)|sleep well|enjoy|welcome|good |look (?:after|at "
    r"(?:you|that|how far))|listen(?:ing)?,? i|correct me"
    r"|share (?:as|what|whatever|only|if|more)|give (?:me|it a moment)|walk me"
    r"|talk me|talk to me|think (?:of it as|about it and)|work (?:has|is|was"
    r"|and|took|sounds|feels|stress|seems|can|may|might|gets|stuff)"
    r"|change (?:is|can|takes|feels|like)|love (?:is|that|can|it|doesn't|and)"
    r"|rest (?:is|can|sounds|and)|sleep (?:is|has|can|sounds|and|comes|was"
    r"|being|feels|seems|problems)"
    r"|talk (?:is|of)|(?:call|text|message|walk|work|plan|visit|move|drink"
    r"|fight|track|show|practice|run|call|list|book|answer|end|look|stand|face"
    r"|drop|train|check|count|deal)s? (?:with|from|to|by|about|on|like)? "
    r"?(?:your (?:mum|dad|boss|sister|brother|ex) (?:was|is|has|sounds|felt)"
    r"|is\b|was\b|has\b|sounds\b|felt\b|can\b|may\b|might\b|went\b|seems\b"
    r"|feels\b)"
    r"|being|getting|never (?:mind|an easy)|always (?:a|the|here)|do (?:you"
    r"|they|we|i)\b|don't (?:you|worry|hesitate|feel you|mention)|have you"
    r"|make of|keep me posted|keep going if|be (?:sure|it)"
    r"|forgive me|live (?:music|events?)|open (?:questions?|ended)|use "
    r"whatever|pick whichever|choose whatever|start (?:anywhere|wherever"
    r"|where)|go (?:on|at your|easy|gently|ahead)(?:[,.]|$| if| and tell| pace"
    r"| on)"
    r"|wait, |rest assured|read(?:ing)? your|know that|imagine|picture|notice|remember)"
)
_TOLD = re.compile(
    r"\b(?:said|says|say|told|tells|telling|thinks|think|thought|feel|feels"
    r"|felt|feeling|believe[sd]?|heard|hear|mentioned|wrote|asked|insist\w*"
    r"|mean(?:s)?"
    r"|voice|rule|rules|expect\w*|sense that|idea that|belief that|pressure"
    r"|message that|part of you|as if|as though|like|whether|if|when|because"
    r"|wish|"
    r"decided|know|knew|worry|worried|afraid|wonder\w*|convinced|that inner|\""
    r"|the things|everything|how much|what|why|where|before|until|unless|while"
    r"|who|which|than|since|maybe|perhaps|might|may|could|hope|guess|suppose"
    r"|sometimes)\b[^.!?]{0,40}$"
)
_PLAIN_NEED = re.compile(
    r"(?<!\s)\s*+(?:be (?:at|in|there|up|back|home|on the)|get (?:to|home|up|there)"
    r"|catch|collect|pick (?:up|them|him|her)|sign|pay|renew|hand in|present"
    r"|fly|drive|work (?:late|nights|weekends)|attend|travel|share a|live with"
    r"|look after|care for|wait (?:for|until|weeks|months)|show (?:up|id)"
    r"|submit|return|move (?:out|house)|leave (?:by|at|for))\b"
)


@check(
    name=NAME,
    version="1.0",
    kinds=("conversation",),
    criteria=("CQ6",),
    parameters=(
        Parameter("share", 0.2, "share of prescriptive sentences from which it is much", 0, 1),
    ),
    lexicons=(LEXICON,),
    reads="reading",
)
def conversation_framing(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Counts prescriptive and tentative sentences, and when the first order comes."""
    replies = reading.in_language(reading.of("assistant"), "en")
    outside = len(reading.of("assistant")) - len(replies)
    left = f"{outside} replies in a language not covered" if outside else ""
    names = (
        "prescriptive_sentences",
        "share_prescriptive",
        "share_of_tentative_framing",
        "first_prescriptive_exchange",
    )
    if not replies:
        for name in names:
            yield Signal(NAME, name, criterion="CQ6", not_measured=NOT_COVERED, note=left)
        return
    orders = _orders(reading, replies, reading.hits(LEXICON, "assistant", label="prescriptive"))
    total = sum(map(reading.sentence_count, replies))
    share, most = len(orders) / max(total, 1), parameters["share"]
    spans = tuple(span for _, span in orders)
    beyond = share >= most
    yield Signal(NAME, names[0], measured=len(orders), criterion="CQ6", spans=spans, note=left)
    yield Signal(
        NAME,
        names[1],
        measured=share,
        threshold=f">= {most:g}",
        exceeded=beyond,
        criterion="CQ6",
        spans=spans if beyond else (),
        suggestion=Hint("CQ6", "many sentences tell the user what to do") if beyond else None,
        note=left,
    )
    soft = reading.spans_of(LEXICON, "assistant", "tentative")
    advice = len(orders) + len(soft)
    yield Signal(
        NAME,
        names[2],
        measured=len(soft) / advice if advice else None,
        criterion="CQ6",
        spans=tuple(soft),
        not_measured=None if advice else "nothing is framed either way",
        note=left,
    )
    yield Signal(
        NAME,
        names[3],
        measured=orders[0][0] + 1 if orders else None,
        criterion="CQ6",
        spans=spans[:1],
        not_measured=None if orders else "no prescriptive sentence",
        note=left,
    )


def _orders(
    reading: Reading, replies: Iterable[Part], hits: Iterable[Hit]
) -> list[tuple[int, Span]]:
    """The exchange and place of each prescriptive sentence, in order."""
    found: dict[tuple[int, int], tuple[int, Span]] = {}
    for hit in hits:
        place = reading.sentence_at(hit.part, hit.start)
        if (hit.part.index, place[0]) not in found and _is_order(reading, hit, place):
            found[hit.part.index, place[0]] = (hit.part.number, hit.span)
    inside = {part.index for part in replies}
    for part, start, stop in _imperatives(reading):
        if part.index in inside:
            span = reading.span(part, start, stop)
            found.setdefault((part.index, start), (part.number, span))
    return [found[key] for key in sorted(found)]


def _is_order(reading: Reading, hit: Hit, place: tuple[int, int]) -> bool:
    low = reading.low(hit.part)
    start, end = place
    sentence = low[start:end]
    if sentence.rstrip("\"')*_ ").endswith("?"):
        return False
    before = low[start : hit.start]
    if before.count('"') % 2 or _TOLD.search(before):
        return False
    return not _PLAIN_NEED.match(low, hit.end, end)


def _may_begin_with_orders(shelf: Shelf) -> Spots:
    """Sentences of replies whose first word allows for an order."""
    texts, starts = shelf.texts, shelf.sentence_starts
    begins = starts.copy()
    for _ in range(_LEADING):  # emphasis, quotes and bullets come before the first word
        begins += _LEADS_ON[texts.codes[begins]]
    signs = texts.codes[begins[:, None] + np.arange(LONGEST)]
    letters = (signs - np.uint8(ord("a")) < 26) | (signs == ord("'"))
    size = np.where(letters.all(axis=1), LONGEST, np.argmin(letters, axis=1))
    first = texts.eights[begins].astype(np.uint64) & KEEP[size]
    # where no letter stands even now, the first word is further on
    likely = _BEGINNINGS.holds(first) | (signs[:, 0] - np.uint8(ord("a")) >= 26)
    at = np.flatnonzero(likely)
    of_text = shared_out(starts[at], texts.bounds)
    at, of_text = at[replies := shelf.of_role("assistant")[of_text]], of_text[replies]
    ends = np.array(texts.sentences.ends, np.intp)
    return shelf.spots(of_text, starts[at], ends[at])


def _imperatives(reading: Reading) -> Iterator[tuple[Part, int, int]]:
    """Sentences that begin with an order, as places of the words that give it."""
    texts, starts, ends, of_item = reading.shelf.once(_may_begin_with_orders)
    of, to = of_item[reading.at], of_item[reading.at + 1]
    for number, start, end in zip(texts[of:to], starts[of:to], ends[of:to], strict=True):
        part = reading.shelf.flat[number]
        low = reading.low(part)
        lead = _LEAD.match(low, start, end)
        at = start if lead is None else lead.end()
        first = _FIRST.match(low, at, end)
        if first is None or first.group() not in ORDERS or low[end - 1] == "?":
            continue
        if not _COURTESY.match(low, at, end) and _is_verb(low, first.end(), end):
            yield part, start, end


_NO_VERB = re.compile(
    r"[:/*_]|(?<!\s)\s++(?:is|was|are|were|has|had|can|may|might|sounds?|feels?|felt"
    r"|seems?|comes?|came|takes|matters|means|got|stress|you said|or no)\b"
    r"|(?<!\s)\s*+$"
)


def _is_verb(low: str, at: int, end: int) -> bool:
    """Whether the word that ends here is an order and no noun."""
    return not _NO_VERB.match(low, at, end)
