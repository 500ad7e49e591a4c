"""A reply becomes a reading, or says why it cannot; there is no benefit of the doubt.

Whole JSON is read first, then one JSON object in a code fence or amid words. Two objects that
could be the answer, a key that stands twice, JSON that is broken or cut off: nothing is guessed.
An answer off the scale is no answer. What a model copied out of an item never counts: it stands
inside a text, makes a second object, or is an object that the item holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

from calibrant.core.answer import Abstained
from calibrant.core.criterion import Criterion, SubQuestion, fold_name
from calibrant.core.errors import UnknownName
from calibrant.core.item import Item
from calibrant.core.rating import read_answer
from calibrant.core.rubric import Rubric
from calibrant.ports.chat import Form, Reply
from calibrant.raters.judge.kept import Kept
from calibrant.raters.judge.probabilities import Place, answer_places, shares
from calibrant.raters.judge.questions import Question
from calibrant.raters.judge.quotes import checked, stands_in
from calibrant.raters.judge.reading import Judgement, Reading, Rung, Seen, Unreadable
from calibrant.raters.judge.schema import (
    ANSWER,
    EVIDENCE,
    FLAG,
    REASONING,
    TAGS,
    answers_of,
    flags_key,
    sub_key,
)

READER = "1"
"""Version of this reader; another one is another rater."""
LONGEST = 1_000_000
"""Signs of a reply that is read at all."""
MOST_QUOTES, MOST_WORDS = 20, 4000
"""Quotations that are looked up for one criterion, and signs of reasoning that are kept."""
MOST_OBJECTS = 100
"""JSON objects that are looked at in one reply."""
LEFT_OUT, TWICE = "left out", "given twice"
_THOUGHT, _THINKS = "</think>", "<think>"
_OBJECT = re.compile(r'\{(?=\s*+["}])')
"""Where a JSON object may begin; a brace before anything else begins none."""
_FENCE = re.compile(r"```[A-Za-z]{0,10}\s*+\Z")


class _Twice(ValueError):
    """A key that stands twice in one object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found


def _no_number(_: str) -> Any:
    raise ValueError("no number of JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)


def read_reply(rubric: Rubric, item: Item, question: Question, reply: Reply, form: Form) -> Reading:
    """What a reply says about all that was asked; raises ``Unreadable``."""
    try:
        return _read(rubric, item, question, reply, form)
    except RecursionError:
        raise Unreadable("its JSON is nested too deep") from None


def _read(rubric: Rubric, item: Item, question: Question, reply: Reply, form: Form) -> Reading:
    if len(reply.text) > LONGEST:
        raise Unreadable("the reply is too long")
    (found, start, end), rung = _object_in(rubric, question, reply.text, form)
    if stands_in(item, reply.text[start:end]):
        raise Unreadable("its JSON is a copy of what stands in the item")
    places = _answer_places(reply, start) if reply.tokens else {}
    given, twice = _by_criterion(rubric, question, found)
    judgements: dict[str, Judgement] = {}
    abstained: dict[str, str] = {}
    for name in question.criteria:
        if name in twice or name not in given:
            abstained[name] = TWICE if name in twice else LEFT_OUT
            continue
        key, said = given[name]
        judged = _judgement(rubric, rubric.criterion(name), item, said)
        if isinstance(judged, str):
            abstained[name] = judged
            continue
        if key in places:
            judged = _with_shares(rubric, name, judged, reply, places[key])
        judgements[name] = judged
    flags = _flags(rubric, item, found.get(flags_key(question))) if question.flags else ()
    return Reading(rung=rung, judgements=judgements, abstained=abstained, flags=flags)


# -- finding the object


class _Found(NamedTuple):
    """A JSON object, and where it stands in the reply."""

    value: dict[str, Any]
    start: int
    end: int


def _object_in(rubric: Rubric, question: Question, text: str, form: Form) -> tuple[_Found, Rung]:
    """The one object that answers, and how it was found."""
    begin = _after_thoughts(text)
    first = len(text) - len(text[begin:].lstrip())
    if _OBJECT.match(text, first):
        found = _decoded(text, first)
        if not text[found.end :].strip():
            if not _fits(rubric, question, found.value):
                raise Unreadable("nothing that was asked is answered")
            return found, "json_schema" if form == "json_schema" else "json_object"
    return _amid_words(rubric, question, text, begin)


def _after_thoughts(text: str) -> int:
    """Where a reply begins, after what a model says to itself first."""
    head = text.lstrip()[: len(_THINKS)]
    if head[:1] == "{":
        return 0
    thoughts = text.count(_THOUGHT)
    if thoughts > 1:
        raise Unreadable("its thinking ends twice")
    if thoughts:
        return text.index(_THOUGHT) + len(_THOUGHT)
    if head == _THINKS:
        raise Unreadable("it stopped while thinking")
    return 0


def _amid_words(rubric: Rubric, question: Question, text: str, begin: int) -> tuple[_Found, Rung]:
    chosen: _Found | None = None
    for found in _objects(text, begin):
        if not _fits(rubric, question, found.value):
            continue
        if chosen is not None and chosen.value != found.value:
            raise Unreadable("there are two different answers in it")
        chosen = chosen or found
    if chosen is None:
        raise Unreadable("there is no JSON object in it that answers")
    fenced = _FENCE.search(text, max(begin, chosen.start - 40), chosen.start)
    return chosen, "fenced" if fenced else "embedded"


def _objects(text: str, begin: int) -> Iterator[_Found]:
    """Every outermost JSON object; one that begins and is broken makes the reply unreadable."""
    match = _OBJECT.search(text, begin)
    seen = 0
    while match is not None:
        seen += 1
        if seen > MOST_OBJECTS:
            raise Unreadable("there are too many JSON objects in it")
        found = _decoded(text, match.start())
        yield found
        match = _OBJECT.search(text, found.end)


def _decoded(text: str, start: int) -> _Found:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except _Twice:
        raise Unreadable("a key stands twice in it") from None
    except json.JSONDecodeError:
        raise Unreadable("its JSON is broken or cut off") from None
    except ValueError:  # NaN, or a number of more digits than are read
        raise Unreadable("it holds what is no number of JSON") from None
    return _Found(value, start, end)


def _fits(rubric: Rubric, question: Question, found: Mapping[str, Any]) -> bool:
    """Whether an object answers anything that was asked."""
    if question.flags and flags_key(question) in found:
        return True
    if question.criteria and any(name in found for name in question.criteria):
        return True
    given, twice = _by_criterion(rubric, question, found)
    return bool(given or twice)


def _by_criterion(
    rubric: Rubric, question: Question, found: Mapping[str, Any]
) -> tuple[dict[str, tuple[str, Any]], set[str]]:
    """What is said of each criterion with the key it stands under, and those given twice.

    A criterion may be called by any of its names; the answer to a single one may stand alone.
    """
    given: dict[str, tuple[str, Any]] = {}
    twice: set[str] = set()
    names = _named(rubric)
    for key, value in found.items():
        name = key if key in question.criteria else names.get(fold_name(key[:200]), "")
        if name in question.criteria:
            if name in given:
                twice.add(name)
            given[name] = (key, value)
    if not given and len(question.criteria) == 1 and ANSWER in found:
        given[question.criteria[0]] = ("", found)
    return given, twice


_names: Kept[tuple[Rubric, dict[str, str]]] = Kept(most=16)


def _named(rubric: Rubric) -> dict[str, str]:
    """The criteria of a rubric by all of their names; a hostile reply may ask for thousands."""
    known = _names.get(id(rubric))
    if known is None:
        names = {
            fold_name(name): one.id
            for one in rubric.criteria
            for name in (one.title, *one.aliases, one.id)
        }
        known = _names.keep(id(rubric), (rubric, names))
    return known[1]


# -- reading what it says


def _judgement(rubric: Rubric, criterion: Criterion, item: Item, said: Any) -> Judgement | str:
    """What is said of a criterion, or why it is no answer."""
    entry = said if isinstance(said, dict) else {ANSWER: said}
    if ANSWER not in entry:
        return LEFT_OUT
    answer = read_answer(rubric, criterion, entry[ANSWER])
    if isinstance(answer, Abstained):
        return answer.reason
    evidence, unverified = _evidence(item, entry.get(EVIDENCE))
    tags = entry.get(TAGS)
    chosen = {one for one in tags if isinstance(one, str)} if isinstance(tags, list) else set()
    reasoning = entry.get(REASONING)
    return Judgement(
        answer=str(answer),
        reasoning=reasoning[:MOST_WORDS] if isinstance(reasoning, str) else "",
        evidence=evidence,
        unverified=unverified,
        sub_answers=dict(_sub_answers(criterion, entry)) if criterion.sub_questions else {},
        tags=tuple(tag.id for tag in criterion.tags if tag.id in chosen),
    )


def _evidence(item: Item, given: Any) -> tuple[Any, tuple[str, ...]]:
    if not given:
        return (), ()
    return checked(item, given[:MOST_QUOTES] if isinstance(given, list) else [given])


def _sub_answers(criterion: Criterion, entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Answers to sub-questions that are ones; what is none is left out."""
    for sub in criterion.sub_questions:
        raw = entry.get(sub_key(sub))
        if isinstance(raw, str) and raw.strip():
            read = _sub_answer(sub, raw.strip())
            if read:
                yield sub.id, read


def _sub_answer(sub: SubQuestion, text: str) -> str:
    match sub.answer:
        case "yes_no":
            return text.upper() if text.upper() in ("YES", "NO") else ""
        case "date":
            try:
                return date.fromisoformat(text).isoformat()
            except ValueError:
                return ""
        case "text":
            return text[:MOST_WORDS]


def _flags(rubric: Rubric, item: Item, given: Any) -> tuple[Seen, ...]:
    """The red flags that are seen; they must be told, and be flags of the rubric.

    Flags that are left out are not taken for none: silence must not pass an item.
    """
    if not isinstance(given, list):
        raise Unreadable("the red flags are left out")
    evidence: dict[str, list[Any]] = {}
    for one in given:
        entry = one if isinstance(one, dict) else {FLAG: one}
        name, quotes = entry.get(FLAG), entry.get(EVIDENCE)
        try:
            flag = rubric.red_flag(name[:200] if isinstance(name, str) else "").id
        except UnknownName:
            raise Unreadable("it names a red flag that the rubric does not have") from None
        listed = quotes if isinstance(quotes, list) else [quotes]
        evidence.setdefault(flag, []).extend(listed)
    return tuple(
        _seen(item, flag.id, evidence) for flag in rubric.red_flags or () if flag.id in evidence
    )


def _seen(item: Item, flag: str, evidence: Mapping[str, list[Any]]) -> Seen:
    found, missed = checked(item, evidence[flag][:MOST_QUOTES])
    return Seen(flag=flag, evidence=found, unverified=missed)


# -- probabilities


def _answer_places(reply: Reply, start: int) -> dict[str, Place]:
    """Where answers stand in the tokens of a reply, by the key of their criterion."""
    said = "".join([one.text for one in reply.tokens])
    moved = said.find(reply.text)  # tokens may go on before and after what is told as text
    if moved < 0:  # signs that were cut into bytes
        moved, start = 0, said.find("{", max(said.rfind(_THOUGHT), 0))
    return answer_places(said, moved + start, ANSWER) if start >= 0 else {}


def _with_shares(
    rubric: Rubric, name: str, judged: Judgement, reply: Reply, place: Place
) -> Judgement:
    """The judgement with how sure the model was of each answer, where its tokens tell."""
    answers = answers_of(rubric, rubric.criterion(name))
    known = shares(reply.tokens, place, answers, judged.answer)
    return replace(judged, probabilities=known) if known else judged
