"""Numbers that a model cannot count, measured by checks and told in plain sentences.

Only lengths, shares and counts, each of them about the item; never what a check makes of a
measurement, never a suggestion, never words of the item. Only what counting alone can tell is
measured: looking for phrases is the judge's own work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from calibrant.core.ids import content_hash
from calibrant.core.item import Conversation, Item
from calibrant.core.rubric import Rubric
from calibrant.raters.checks.card import card_of
from calibrant.raters.checks.conversation_endings import TAIL, question_at_the_end, signed_off
from calibrant.raters.checks.reading import Reading
from calibrant.raters.checks.registry import Chosen, chosen_checks
from calibrant.raters.checks.text import low, plain, question_end, word_counts

GENERAL = ""
"""Under this name come measurements that belong to no criterion and are told with each."""


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _percent(value: float) -> str:
    return f"{value * 100:.0f} %"


class Told(NamedTuple):
    """A measurement of a check, and the words around its number."""

    criterion: str
    """Of the check's own, or ``GENERAL``."""
    before: str
    number: Callable[[float], str]
    after: str


SENTENCES: Mapping[str, Mapping[str, Told]] = {
    "conversation_length": {
        "words_per_message": Told("CP2", "A message has ", _number, " words on average."),
        "words_per_reply": Told("CP2", "A reply has ", _number, " words on average."),
        "ratio_mean": Told(
            "CP2", "On average, a reply is ", _number, " times as long as its message."
        ),
        "ratio_maximum": Told(
            "CP2", "At most, a reply is ", _number, " times as long as its message."
        ),
        "share_over_2x": Told("CP2", "", _percent, " of the replies are more than twice as long."),
    },
    "conversation_endings": {
        "exchanges": Told(GENERAL, "The conversation has ", _number, " exchanges."),
        "share_of_question_endings": Told(
            "CP5", "", _percent, " of the replies end in a question."
        ),
    },
    "plan_shape": {"actions": Told("clarity", "The plan has ", _number, " actions.")},
    "plan_efforts": {
        "effort_in_total": Told(
            "realism", "The efforts that code could read come to ", _number, " hours a week in all."
        ),
    },
    "response_length": {
        "words": Told("helpfulness", "The response has ", _number, " words."),
        "sentences": Told("helpfulness", "The response has ", _number, " sentences."),
        "words_per_word_asked": Told(
            "helpfulness", "The response is ", _number, " times as long as the question."
        ),
    },
}
"""By check and measurement."""
_Measured = Iterator[tuple[str, float]]


class Measurer:
    """The checks of a rubric that count, ready to run."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric
        chosen = chosen_checks(rubric.item_type, rubric)
        self.chosen = tuple(one for one in chosen if one.definition.name in SENTENCES)

    @cached_property
    def hash(self) -> str:
        """Content hash of the checks, their parameters and the sentences."""
        card = card_of(self.rubric.item_type, self.chosen, self.rubric)
        words = {
            name: {signal: [one.before, one.after] for signal, one in told.items()}
            for name, told in SENTENCES.items()
        }
        return content_hash([card.to_dict(), words])


def facts_of(measurer: Measurer, item: Item) -> Mapping[str, Sequence[str]]:
    """Sentences by criterion; what could not be measured is not told."""
    facts: dict[str, list[str]] = {}
    for chosen in measurer.chosen:
        told = SENTENCES[chosen.definition.name]
        for signal, value in _measured(chosen, item):
            _, before, number, after = told[signal]
            criterion = told[signal].criterion
            name = chosen.criteria.get(criterion) if criterion else GENERAL
            if name is not None:
                facts.setdefault(name, []).append(before + number(value) + after)
    return facts


def _measured(chosen: Chosen, item: Item) -> _Measured:
    """What a check measures; conversations come by the thousand, and only numbers are needed."""
    match chosen.definition.name:
        case _ if not isinstance(item, Conversation):
            return _by_check(chosen, item)
        case "conversation_length":
            return _lengths(item, float(str(chosen.values["long"])))
        case "conversation_endings":
            return _endings(item)
        case _:
            return _by_check(chosen, item)


def _by_check(chosen: Chosen, item: Item) -> _Measured:
    told = SENTENCES[chosen.definition.name]
    try:
        signals = list(chosen.definition.function(Reading(item), chosen.values))
    except Exception:  # a measurement less; the judge can do without
        return
    for signal in signals:
        value = signal.measured
        if signal.signal in told and isinstance(value, int | float):
            yield signal.signal, float(value)


def _lengths(item: Conversation, long: float) -> _Measured:
    """The numbers of the check of lengths, without the places they come from."""
    texts = [text for one in item.exchanges for text in (one.user, one.assistant)]
    joined = "\0".join([text.replace("\0", " ") for text in texts])
    counts = word_counts(plain(joined), "\0")
    asked, said = counts[::2], counts[1::2]
    yield "words_per_message", sum(asked) / len(asked)
    yield "words_per_reply", sum(said) / len(said)
    ratios = [reply / words for words, reply in zip(asked, said, strict=True) if words]
    if ratios:
        yield "ratio_mean", sum(ratios) / len(ratios)
        yield "ratio_maximum", max(ratios)
        if long == 2:  # the sentence says twice
            yield "share_over_2x", sum(one > long for one in ratios) / len(ratios)


def _endings(item: Conversation) -> _Measured:
    """The numbers of the check of endings; only what ends in a quotation needs a whole reading."""
    replies = [one.assistant for one in item.exchanges]
    ended, quoted = 0, []
    for at, text in enumerate(replies):
        end = question_end(text)
        if end is None and "?" in plain(text[-TAIL:]):
            small = low(text)
            end = signed_off(small, small.rfind("?"))
        if end is not None and plain(text[end + 1 : end + 2]) == '"':
            quoted.append(at)
        else:
            ended += end is not None
    if quoted:
        reading = Reading(item)
        parts = {one.number: one for one in reading.of("assistant")}
        ended += sum(question_at_the_end(reading, parts[at]) is not None for at in quoted)
    yield "exchanges", float(len(replies))
    yield "share_of_question_endings", ended / len(replies)
