"""The closed door of a study: what was handed in becomes an accepted form, or every fault.

People, judges and checks come through the same door. A person answers every criterion. A judge
does too, and may abstain with a reason; a check answers what it can measure. Quotations must
stand in the item, borderline marks need a note, and nothing unknown is passed over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

from calibrant.core.answer import ERROR, NA, Abstained, Given, NotApplicable
from calibrant.core.criterion import Criterion, RedFlag, SubQuestion
from calibrant.core.document import holds
from calibrant.core.errors import Fault, RecordError, UnknownName, suggestion
from calibrant.core.ids import TAG
from calibrant.core.item import Item
from calibrant.core.parts import Role, parts_of
from calibrant.core.rating import RaterKind, read_answer
from calibrant.core.rubric import Rubric

FIELDS = (
    "answers", "flags", "notes", "note", "evidence", "borderline", "tags", "sub_answers",
    "edge_case", "review", "reasons", "sitting", "shown", "reply", "measured", "probabilities",
)  # fmt: skip
"""What a form may hold. ``note`` is on the whole item, ``notes`` are by criterion."""
MAX_TEXT = 20_000
MAX_REPLY = 1_000_000
"""Of what a judge said, word for word: the replies to all its calls about an item."""
MAX_FACTS = 200
"""Checks shown with an item, or numbers measured on a reply, at most."""
_SHORT = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_SHORT_RULE = "a short name: up to 64 letters, digits, - and _"
_CARD = re.compile(rf"{TAG}:[0-9a-f]{{64}}", re.ASCII)
_LARGEST = 2**53
_ROUNDING = 1e-6
"""By so much may probabilities that were rounded come to more than one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedFlag:
    """A red flag with the words that carry it."""

    flag: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A form that holds everything the rubric asks for."""

    answers: Mapping[str, str]
    flags: tuple[RaisedFlag, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)


def accept(rubric: Rubric, item: Item, kind: RaterKind, form: Mapping[str, Any]) -> Accepted:
    """The form read by the rubric; raises ``RecordError`` with every fault at once."""
    door = _Door(rubric, item, kind)
    return door.read(form)


def accept_flag(rubric: Rubric, item: Item, flag: str, evidence: Iterable[str]) -> RaisedFlag:
    """A red flag raised by itself, under the rules of a form; raises ``RecordError``."""
    door = _Door(rubric, item, "HUMAN")
    (raised,) = door.read_flags([{"flag": rubric.red_flag(flag).id, "evidence": list(evidence)}])
    return raised


class _Door:
    """Reads one form, gathering faults."""

    def __init__(self, rubric: Rubric, item: Item, kind: RaterKind) -> None:
        self.rubric, self.item, self.kind = rubric, item, kind
        self.texts = Texts(item)
        self.faults: list[Fault] = []
        self.reasons: dict[str, str] = {}
        """Made by code: no words of anybody, so that they outlast a redaction."""

    def fault(self, message: str, path: str, hint: str = "") -> None:
        self.faults.append(Fault(message, path, "form", hint=hint))

    def read(self, form: Mapping[str, Any]) -> Accepted:
        for name in form:
            if name not in FIELDS:
                self.fault(f"there is no field {str(name)[:80]!r}", "", suggestion(name, FIELDS))
        answers = self._answers(self._mapping(form, "answers"))
        flags = tuple(self._flags(self._list(form.get("flags"), "flags")))
        notes = {
            name: self._text(text, f"notes.{name}") for name, text in self._named(form, "notes")
        }
        borderline = self._borderline(self._list(form.get("borderline"), "borderline"), notes)
        evidence = {
            name: self._quotes(quotes, f"evidence.{name}")
            for name, quotes in self._named(form, "evidence")
        }
        tags = dict(self._tags(form))
        subs = dict(self._sub_answers(form))
        words: dict[str, Any] = {
            name: self._text(form[name], name, self._most(name))
            for name in ("note", "reply")
            if form.get(name)
        }
        raised = {
            name: self._text(form[name], name) for name in ("edge_case", "review") if form.get(name)
        }
        told = {
            name: self._text(text, f"reasons.{name}") for name, text in self._named(form, "reasons")
        }
        plain = dict(self._plain(form)) | {"probabilities": dict(self._probabilities(form))}
        if self.faults:
            raise RecordError(self.faults)
        facts = {
            "flags": [one.flag for one in flags],
            "borderline": borderline,
            "tags": tags,
            "reasons": self.reasons,
            "raised": sorted(raised),
            **plain,
        }
        words |= {"notes": notes, "evidence": evidence, "sub_answers": subs, "reasons": told}
        words |= raised
        return Accepted(
            answers=answers,
            flags=flags,
            facts={key: value for key, value in facts.items() if value},
            words={key: value for key, value in words.items() if value},
        )

    def read_flags(self, given: Iterable[Any]) -> tuple[RaisedFlag, ...]:
        """Red flags and nothing else; raises ``RecordError``."""
        flags = tuple(self._flags(given))
        if self.faults:
            raise RecordError(self.faults)
        return flags

    # -- answers

    def _answers(self, given: Mapping[str, Any]) -> dict[str, str]:
        read: dict[str, str] = {}
        for name, raw in given.items():
            criterion = self._criterion(name, f"answers.{name}")
            if criterion is None:
                continue
            if criterion.id in read:
                self.fault(f"{criterion.id} is answered twice", f"answers.{name}")
            text = self._answer(criterion, raw)
            if text is not None:
                read[criterion.id] = text
        for criterion in self.rubric.criteria:
            if criterion.id not in read:
                self._absent(criterion, read)
        return {name: read[name] for name in self.rubric.criterion_ids if name in read}

    def _answer(self, criterion: Criterion, raw: Any) -> str | None:
        answer = read_answer(self.rubric, criterion, raw)
        match answer:
            case Given(value):
                return str(value)
            case NotApplicable():
                return NA
            case Abstained(reason=reason) if self.kind == "LLM":
                self.reasons[criterion.id] = reason
                return ERROR
            case Abstained(given=given) if given is not None and given.strip():
                place = f"answers.{criterion.id}"
                self.fault(f"{given!r} is no answer to it", place, self._choices(criterion))
        return None

    def _choices(self, criterion: Criterion) -> str:
        points = [str(value) for value in self.rubric.scale_of(criterion).points_of_scale]
        return "one of " + ", ".join(points + ([NA] if criterion.na.policy != "excluded" else []))

    def _absent(self, criterion: Criterion, read: dict[str, str]) -> None:
        """Nothing was handed in: code may decide, a check need not answer, others must."""
        condition, measures = criterion.precondition, self.item.measures()
        if condition is not None and holds(
            measures[condition.metric], condition.op, condition.value
        ):
            read[criterion.id] = NA
            self.reasons[criterion.id] = condition.reason
            return
        place = f"answers.{criterion.id}"
        if self.kind != "CODE" and not any(one.path == place for one in self.faults):
            self.fault(f"{criterion.id} is not answered", place, self._choices(criterion))

    # -- flags and quotations

    def _flags(self, given: Iterable[Any]) -> Iterator[RaisedFlag]:
        seen: set[str] = set()
        for at, raw in enumerate(given, 1):
            place = f"flags[{at}]"
            entry = raw if isinstance(raw, Mapping) else {"flag": raw}
            name = entry.get("flag", entry.get("id"))
            try:
                flag = self.rubric.red_flag(str(name))
            except UnknownName as error:
                self.fault(str(error), place)
                continue
            if flag.id in seen:
                self.fault(f"{flag.id} is raised twice; put all quotations into one", place)
            seen.add(flag.id)
            yield RaisedFlag(flag=flag.id, evidence=self._flag_quotes(flag, entry, place))

    def _flag_quotes(self, flag: RedFlag, entry: Mapping[str, Any], place: str) -> tuple[str, ...]:
        quotes = self._quotes(entry.get("evidence") or (), f"{place}.evidence")
        for lack, hint in self.texts.lacks(flag, quotes):
            self.fault(f"{flag.id} {lack}", place, hint)
        return tuple(quotes)

    def _quotes(self, given: Any, place: str) -> list[str]:
        """Texts that stand in the item, as they stand there."""
        quotes = self._list(given, place)
        texts = [one.get("text") if isinstance(one, Mapping) else one for one in quotes]
        found = [one.strip() for one in texts if isinstance(one, str) and one.strip()]
        if len(found) < len(texts):
            self.fault("a quotation is a text that is not empty", place)
        for quote in found:
            if not self.texts.hold(quote):
                self.fault(f"{quote[:60]!r} does not stand in the item", place, "quote it as it is")
        return found

    # -- what stands beside answers

    def _list(self, given: Any, place: str) -> list[Any]:
        """One thing, or a list of them."""
        if given is None or given in ("", [], {}):
            return []
        if isinstance(given, str | Mapping):
            return [given]
        if isinstance(given, list | tuple):
            return list(given)
        self.fault("must be a list", place)
        return []

    def _plain(self, form: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Facts that outlast a redaction, so nothing that could be a sentence."""
        readers: dict[str, Callable[[Any], Any]] = {
            "sitting": self._sitting, "shown": self._shown, "measured": self._measured,
        }  # fmt: skip
        for name, read in readers.items():
            if form.get(name) not in (None, "", [], {}):
                yield name, read(form[name])

    def _sitting(self, given: Any) -> dict[str, Any]:
        """Which sitting it was, and which form of it."""
        if not isinstance(given, Mapping) or not set(given) <= {"id", "position"}:
            self.fault("must be a mapping of id and position", "sitting")
            return {}
        id, position = given.get("id"), given.get("position")
        if id is not None and not _is_short(id):
            self.fault(f"must be {_SHORT_RULE}", "sitting.id")
        if position is not None and not (type(position) is int and 0 <= position < _LARGEST):
            self.fault("must be a whole number", "sitting.position")
        return {key: value for key, value in given.items() if value is not None}

    def _shown(self, given: Any) -> list[Any]:
        """The checks that were shown with the item, by name or by card."""
        shown = given if isinstance(given, list | tuple) else None
        if shown is None or len(shown) > MAX_FACTS:
            self.fault(f"must be a list of at most {MAX_FACTS} names", "shown")
            return []
        for at, one in enumerate(shown, 1):
            if not _is_short(one) and not (isinstance(one, str) and _CARD.fullmatch(one)):
                self.fault(f"must be {_SHORT_RULE}; or the hash of a card", f"shown[{at}]")
        return list(shown)

    def _measured(self, given: Any) -> dict[str, int | float]:
        """What a reply took: seconds, tokens, cost."""
        if not isinstance(given, Mapping) or len(given) > MAX_FACTS:
            self.fault(f"must be a mapping of at most {MAX_FACTS} names to numbers", "measured")
            return {}
        for name, value in given.items():
            if not _is_short(name):
                self.fault(f"its names must each be {_SHORT_RULE}", "measured")
            elif not _is_number(value):
                self.fault("must be a number", f"measured.{name}")
        return dict(given)

    def _probabilities(self, form: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, float]]]:
        """How sure a judge was of each answer, by criterion."""
        for name, given in self._named(form, "probabilities"):
            wrong = no_probabilities(self.rubric, self.rubric.criterion(name), given)
            if wrong:
                self.fault(wrong, f"probabilities.{name}")
            else:
                yield name, {str(value): float(share) for value, share in given.items()}

    def _mapping(self, form: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        value = form.get(name)
        if value is None or isinstance(value, Mapping):
            return value or {}
        self.fault("must be a mapping by criterion", name)
        return {}

    def _named(self, form: Mapping[str, Any], name: str) -> Iterator[tuple[str, Any]]:
        for key, value in self._mapping(form, name).items():
            criterion = self._criterion(key, f"{name}.{key}")
            if criterion is not None and value not in (None, "", [], {}):
                yield criterion.id, value

    def _criterion(self, name: Any, place: str) -> Criterion | None:
        try:
            return self.rubric.criterion(str(name))
        except UnknownName as error:
            self.fault(str(error), place[:200])
            return None

    def _borderline(self, given: Iterable[Any], notes: Mapping[str, str]) -> list[str]:
        marked = [self._criterion(name, "borderline") for name in given]
        found = {one.id for one in marked if one is not None}
        for name in sorted(found - {key for key, text in notes.items() if text.strip()}):
            self.fault(f"{name} is marked borderline and has no note", f"notes.{name}", "say why")
        return [name for name in self.rubric.criterion_ids if name in found]

    def _tags(self, form: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
        for name, given in self._named(form, "tags"):
            known = [tag.id for tag in self.rubric.criterion(name).tags]
            chosen = self._list(given, f"tags.{name}")
            for tag in chosen:
                if tag not in known:
                    hint = suggestion(str(tag), known)
                    self.fault(f"{name} has no tag {str(tag)[:60]!r}", f"tags.{name}", hint)
            yield name, [tag for tag in known if tag in chosen]

    def _sub_answers(self, form: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
        for name, given in self._named(form, "sub_answers"):
            known = {one.id: one for one in self.rubric.criterion(name).sub_questions}
            read: dict[str, str] = {}
            if not isinstance(given, Mapping):
                self.fault("must be a mapping by sub-question", f"sub_answers.{name}")
                continue
            for key, raw in given.items():
                place = f"sub_answers.{name}.{key}"
                if key not in known:
                    self.fault(f"{name} has no sub-question {key!r}", place, suggestion(key, known))
                else:
                    read[key] = self._sub_answer(known[key], self._text(raw, place), place)
            yield name, read

    def _sub_answer(self, question: SubQuestion, text: str, place: str) -> str:
        wrong = no_sub_answer(question, text)
        if wrong:
            self.fault(wrong, place)
        return text.strip().upper() if question.answer == "yes_no" else text.strip()

    def _most(self, name: str) -> int:
        return MAX_REPLY if name == "reply" and self.kind == "LLM" else MAX_TEXT

    def _text(self, raw: Any, place: str, most: int = MAX_TEXT) -> str:
        if not isinstance(raw, str) or len(raw) > most:
            self.fault(f"must be a text of at most {most:,} characters", place)
            return ""
        return raw


class Texts:
    """The texts of an item, for looking up whether words stand in them."""

    def __init__(self, item: Item) -> None:
        self.item = item

    @cached_property
    def _plain(self) -> list[tuple[Role, str]]:
        return [(part.role, part.text) for part in parts_of(self.item)]

    @cached_property
    def _spaced(self) -> list[tuple[Role, str]]:
        return [(role, one_space(text)) for role, text in self._plain]

    def hold(self, quote: str, role: Role | None = None) -> bool:
        """Whether the words stand in the item, or in its texts of one role."""
        if any(quote in text for own, text in self._plain if role is None or own == role):
            return True
        wanted = one_space(quote)
        return any(wanted in text for own, text in self._spaced if role is None or own == role)

    def lacks(self, flag: RedFlag, quotes: Iterable[str]) -> Iterator[tuple[str, str]]:
        """What quotations that stand in the item lack to carry a red flag, with a hint each."""
        quotes = list(quotes)
        if not quotes:
            yield "needs the words that carry it", "quote the item"
        elif flag.evidence == "item_and_profile":
            sides: tuple[tuple[Role, str], ...] = (
                ("action", "an action"), ("profile", "the profile"),
            )  # fmt: skip
            for role, what in sides:
                if not any(self.hold(quote, role) for quote in quotes):
                    yield f"needs a quotation from {what} too", ""


def no_sub_answer(question: SubQuestion, text: str) -> str:
    """Why a text is no answer to a sub-question; empty where it is."""
    match question.answer:
        case "yes_no" if text.strip().upper() not in ("YES", "NO"):
            return f"{text[:40]!r} is neither YES nor NO"
        case "date":
            try:
                date.fromisoformat(text.strip())
            except ValueError:
                return f"{text[:40]!r} is no day such as 2026-02-28"
    return ""


def no_probabilities(rubric: Rubric, criterion: Criterion, given: Any) -> str:
    """Why these are no probabilities of answers to a criterion; empty where they are."""
    if not isinstance(given, Mapping) or not given:
        return "must be a mapping of answers to numbers"
    points = [str(value) for value in rubric.scale_of(criterion).points_of_scale]
    known = points + ([NA] if criterion.na.policy != "excluded" else [])
    if any(value not in known for value in given):
        return "its names must be answers: " + ", ".join(known)
    if not all(_is_number(share) and 0 <= share <= 1 for share in given.values()):
        return "must be numbers from 0 to 1"
    if sum(given.values()) > 1 + _ROUNDING:
        return "must not come to more than 1"
    return ""


def _is_short(value: Any) -> bool:
    return isinstance(value, str) and _SHORT.fullmatch(value) is not None


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) < _LARGEST


def one_space(text: str) -> str:
    """As people copy it: runs of white space count as one."""
    return re.sub(r"\s+", " ", text)
