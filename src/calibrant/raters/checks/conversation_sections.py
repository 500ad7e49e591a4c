"""How replies are built: topic labels, sections and the sentences in each.

The standard that asks for labelled sections is a should: nothing measured here fails a reply.
Paragraphs and woven text are ways to be clear as well, and a reader has to judge them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from calibrant.raters.checks.conversation_labels import Section, labels, sections
from calibrant.raters.checks.conversation_words import is_said, said_by_users, stems
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Parameter, Values, check
from calibrant.raters.checks.signal import Hint, Signal, Span

NAME = "conversation_sections"
NO_SECTIONS = "no reply has labelled sections"


@check(
    name=NAME,
    version="1.0",
    kinds=("conversation",),
    criteria=("MT2", "MT6"),
    parameters=(
        Parameter("fewest", 2, "fewer sentences in a section than these are few", 0),
        Parameter("most", 6, "more sentences in a section than these are many", 1),
        Parameter("most_sections", 4, "more sections in a reply than these are many", 1),
        Parameter("even", 0.75, "share of replies with equal sections that is a pattern", 0, 1),
        Parameter("least_turns", 3, "fewer replies with sections than these make no pattern", 1),
    ),
    reads="reading",
)
def conversation_sections(reading: Reading, parameters: Values) -> Iterable[Signal]:
    """Counts topic labels, sections and the sentences in each section."""
    replies = reading.of("assistant")
    known = reading.shelf.once(labels)
    built = [sections(reading, part) for part in replies if reading.first + part.index in known]
    every = [one for found in built for one in found]
    headings = tuple([_label(reading, one) for one in every])
    yield Signal(
        NAME,
        "share_with_labels",
        measured=len(built) / len(replies),
        criterion="MT6",
        spans=headings,
        note="labels are one way of three to be clear",
    )
    blocks = len(replies)
    if reading.has("\n\n"):
        blocks += sum(reading.plain(part).strip().count("\n\n") for part in replies)
    yield Signal(NAME, "paragraphs_per_reply", measured=blocks / len(replies), criterion="MT6")
    if not every:
        for name, criterion in (
            ("sections_per_reply", "MT6"),
            ("labels_in_the_users_words", "MT6"),
            ("sentences_per_section", "MT2"),
            ("share_of_even_depth", "MT2"),
        ):
            yield Signal(NAME, name, criterion=criterion, not_measured=NO_SECTIONS)
        return
    many = [found for found in built if len(found) > parameters["most_sections"]]
    yield Signal(
        NAME,
        "sections_per_reply",
        measured=len(every) / len(built),
        threshold=f"<= {parameters['most_sections']}",
        exceeded=bool(many),
        criterion="MT6",
        spans=tuple(_label(reading, one) for found in many for one in found),
        note="of replies with labels",
    )
    yield _in_the_users_words(reading, every)
    yield from _depth(reading, built, parameters)


def _depth(reading: Reading, built: list[list[Section]], parameters: Values) -> Iterable[Signal]:
    fewest, most = parameters["fewest"], parameters["most"]
    every = [one for found in built for one in found]
    counts = [one.sentences for one in every]
    outside = [one for one in every if not fewest <= one.sentences <= most]
    yield Signal(
        NAME,
        "sentences_per_section",
        measured=sum(counts) / len(counts),
        threshold=f"{fewest} to {most}",
        exceeded=bool(outside),
        criterion="MT2",
        spans=tuple(_label(reading, one) for one in outside),
        note=f"from {min(counts)} to {max(counts)}; quick updates may be shorter",
    )
    several = [found for found in built if len(found) > 1]
    even = [found for found in several if len({one.sentences for one in found}) == 1]
    if not several:
        yield Signal(
            NAME, "share_of_even_depth", criterion="MT2", not_measured="no reply has two sections"
        )
        return
    share = len(even) / len(several)
    enough = len(several) >= parameters["least_turns"]
    beyond = share >= parameters["even"] if enough else None
    yield Signal(
        NAME,
        "share_of_even_depth",
        measured=share,
        threshold=f">= {parameters['even']:g}",
        exceeded=beyond,
        criterion="MT2",
        spans=tuple(_label(reading, one) for found in even for one in found),
        suggestion=Hint("MT2", "sections of a reply have as many sentences each")
        if beyond
        else None,
        note="replies whose sections all have as many sentences",
    )


def _in_the_users_words(reading: Reading, every: list[Section]) -> Signal:
    """Whether labels call a topic what the user has called it so far."""
    said = reading.shelf.once(said_by_users)
    first = said.first[reading.at]
    numbers = [one.number for one in reading.of("user")]
    own = []
    for one in every:
        last = first + bisect_right(numbers, one.part.number) - 1
        if any(is_said(said, stem, first, last) for stem in stems(one.label.lower())):
            own.append(one)
    return Signal(
        NAME,
        "labels_in_the_users_words",
        measured=len(own) / len(every),
        criterion="MT6",
        spans=tuple(_label(reading, one) for one in own),
        note="labels that share a word with a message so far",
    )


def _label(reading: Reading, one: Section) -> Span:
    end = one.start + len(one.part.text[one.start : one.body].rstrip())
    return reading.span(one.part, one.start, max(end, one.start + 1))
