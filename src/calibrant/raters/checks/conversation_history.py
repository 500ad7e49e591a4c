"""What comes back: references of replies to earlier turns, and topics the user raises again."""

from __future__ import annotations

from collections.abc import Iterable

from calibrant.core.parts import Part
from calibrant.raters.checks.conversation_words import WORDS, stems
from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.reading import Hit, Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal, Span

NAME, LEXICON = "conversation_history", "back-references-en"
BACK, AGAIN = "references_back", "topics_raised_again"
QUOTED = 5
"""So many words of a message that comes back to something are enough to show it."""
TOO_SHORT = "one exchange has nothing before it"


@check(
    name=NAME,
    version="1.0",
    kinds=("conversation",),
    criteria=("MT4", "MT5"),
    parameters=(
        Parameter("words", 2, "so many words of an earlier message make a topic come back", 1),
        Parameter("away", 1, "a topic comes back after so many messages without it", 1),
    ),
    lexicons=(LEXICON,),
    reads="reading",
)
def conversation_history(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Finds references back to earlier turns, and topics the user comes back to."""
    messages, replies = reading.of("user"), reading.of("assistant")
    outside = reading.uncovered((*messages, *replies))
    left = f"{len(outside)} texts in a language not covered" if outside else ""
    why = TOO_SHORT if len(replies) < 2 else NOT_COVERED if len(outside) > len(replies) else None
    if why:
        for name, criterion in (
            (BACK, "MT4"),
            ("share_with_references_back", "MT4"),
            (AGAIN, "MT5"),
        ):
            yield Signal(NAME, name, criterion=criterion, not_measured=why, note=left)
        return
    said = {part.number: stems(reading.low(part)) for part in messages}
    hits = reading.hits(LEXICON, "assistant")
    found = [hit for hit in hits if hit.part.number and _goes_back(reading, hit, said)]
    sentences = {
        (hit.part.index, reading.sentence_at(hit.part, hit.start)): hit for hit in found[::-1]
    }
    back = sorted(sentences.values(), key=lambda hit: (hit.part.index, hit.start))
    spans = tuple(hit.span for hit in back)
    yield Signal(NAME, BACK, measured=len(back), criterion="MT4", spans=spans, note=left)
    later = sum(1 for part in replies if part.number)
    share = len({hit.part.index for hit in back}) / max(later, 1)
    yield Signal(
        NAME,
        "share_with_references_back",
        measured=share,
        criterion="MT4",
        suggestion=None
        if back
        else Hint("MT4", "no words of reference to earlier turns were found"),
        note="; ".join(one for one in ("of replies after the first", left) if one),
    )
    asked = [
        hit.span
        for hit in reading.hits(LEXICON, "user")
        if hit.label == "asked" and hit.part.number
    ]
    topics = list(_raised_again(reading, messages, said, parameters))
    yield Signal(
        NAME,
        AGAIN,
        measured=len({one.part for one in topics} | {one.part for one in asked}),
        criterion="MT5",
        spans=tuple(topics + asked),
        suggestion=Hint("MT5", "the user seems to come back to an earlier topic")
        if topics or asked
        else None,
        note="; ".join(
            one for one in ("messages that share words with one further back", left) if one
        ),
    )


def _goes_back(reading: Reading, hit: Hit, said: dict[int, set[str]]) -> bool:
    """Whether words such as "you mentioned" mean an earlier message and not the last one."""
    if hit.label == "earlier":
        return True
    if hit.label != "said":
        return False
    _, end = reading.sentence_at(hit.part, hit.start)
    meant = stems(reading.low(hit.part)[hit.end : end])
    if not meant.isdisjoint(said.get(hit.part.number, ())):
        return False
    return any(number < hit.part.number and not meant.isdisjoint(said[number]) for number in said)


def _raised_again(
    reading: Reading, messages: tuple[Part, ...], said: dict[int, set[str]], parameters: Values
) -> Iterable[Span]:
    """Words of a message that stood in one further back and in none since."""
    away, least = parameters["away"], parameters["words"]
    last: dict[str, int] = {}
    for at, part in enumerate(messages):
        words = said[part.number]
        back = sorted(word for word in words if word in last and at - last[word] > away)
        if len(back) >= least:
            first = {
                one.group()[:5]: one.span()
                for one in reversed(list(WORDS.finditer(reading.low(part))))
            }
            for word in back[:QUOTED]:
                yield reading.span(part, *first[word])
        last.update(dict.fromkeys(words, at))
