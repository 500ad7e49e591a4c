"""A rating form as a browser sends it, as the study takes it, and as a page shows it again.

Fields are named after the places that faults point at: ``answers.clarity``, ``notes.clarity``,
``sub_answers.CQ9.crisis_signals``; a red flag is ``flags.medical_advice`` and its quotations are
``flag_evidence.medical_advice``, one field each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData

from calibrant.core.acceptance import FIELDS
from calibrant.core.errors import Fault
from calibrant.core.rubric import Rubric

TEXTS = ("note", "edge_case", "review")
"""What is said of the whole item."""
LABELS = {
    "note": "Note on the whole item",
    "edge_case": "Edge case",
    "review": "To be looked at by somebody",
}
BESIDE = {
    "answers": "",
    "notes": "note",
    "borderline": "borderline",
    "evidence": "quotes",
    "tags": "tags",
    "sub_answers": "sub-questions",
}
"""Fields by criterion, as people call them."""
MOST_QUOTES = 50
"""Quotations of one field that a page shows."""


def form_of(sent: FormData, rubric: Rubric) -> dict[str, Any]:
    """What a browser sent, as ``submit`` takes it; fields left empty are left out."""
    ids = rubric.criterion_ids
    form: dict[str, Any] = {
        "answers": {one: text for one in ids if (text := _text(sent, f"answers.{one}"))},
        "notes": {one: text for one in ids if (text := _text(sent, f"notes.{one}"))},
        "borderline": [one for one in ids if _text(sent, f"borderline.{one}")],
        "evidence": {one: found for one in ids if (found := _texts(sent, f"evidence.{one}"))},
        "tags": {one: found for one in ids if (found := _texts(sent, f"tags.{one}"))},
        "sub_answers": dict(_sub_answers(sent, rubric)),
        "flags": [
            {"flag": one.id, "evidence": _texts(sent, f"flag_evidence.{one.id}")}
            for one in rubric.red_flags or ()
            if _text(sent, f"flags.{one.id}")
        ],
        **{name: _text(sent, name) for name in TEXTS},
        "sitting": _sitting(sent),
        "shown": _texts(sent, "shown"),
    }
    return {name: value for name, value in form.items() if value}


def _text(sent: FormData, name: str) -> str:
    value = sent.get(name)
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else ""


def _texts(sent: FormData, name: str) -> list[str]:
    values = [one.replace("\r\n", "\n").strip() for one in sent.getlist(name) if type(one) is str]
    return [one for one in dict.fromkeys(values) if one]


def _sub_answers(sent: FormData, rubric: Rubric) -> Iterator[tuple[str, dict[str, str]]]:
    for one in rubric.criteria:
        said = {
            question.id: text
            for question in one.sub_questions
            if (text := _text(sent, f"sub_answers.{one.id}.{question.id}"))
        }
        if said:
            yield one.id, said


def _sitting(sent: FormData) -> dict[str, Any]:
    position = _text(sent, "sitting.position")
    found = {
        "id": _text(sent, "sitting.id"),
        "position": int(position) if re.fullmatch("[0-9]{1,9}", position) else None,
    }
    return {name: value for name, value in found.items() if value is not None and value != ""}


@dataclass(frozen=True, slots=True)
class Filled:
    """A form to be shown. Drafts come from programs too: what does not fit is not shown."""

    form: Mapping[str, Any]

    def answer(self, criterion: str) -> str:
        """What is chosen; empty where nothing is."""
        value = self._of("answers", criterion)
        return str(value) if type(value) in (str, int) else ""

    def note(self, criterion: str) -> str:
        """What is said beside an answer."""
        return _plain(self._of("notes", criterion))

    def quotes(self, criterion: str) -> list[str]:
        """The words that carry an answer."""
        return _quotes(self._of("evidence", criterion))

    def is_borderline(self, criterion: str) -> bool:
        """Whether the answer was a near thing."""
        return criterion in _quotes(self.form.get("borderline"))

    def tags(self, criterion: str) -> list[str]:
        """The words attached to an answer."""
        return _quotes(self._of("tags", criterion))

    def sub_answer(self, criterion: str, question: str) -> str:
        """What a sub-question was answered with."""
        said = self._of("sub_answers", criterion)
        return _plain(said.get(question)) if isinstance(said, Mapping) else ""

    def flag(self, flag: str) -> list[str] | None:
        """The quotations of a red flag; None where it is not raised."""
        flags = self.form.get("flags")
        for one in flags if isinstance(flags, list | tuple) else ():
            if isinstance(one, Mapping) and one.get("flag") == flag:
                return _quotes(one.get("evidence"))
        return None

    def text(self, name: str) -> str:
        """Something said of the whole item."""
        return _plain(self.form.get(name))

    def _of(self, field: str, criterion: str) -> Any:
        values = self.form.get(field)
        return values.get(criterion) if isinstance(values, Mapping) else None


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _quotes(value: Any) -> list[str]:
    listed = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    return [one for one in listed if isinstance(one, str)][:MOST_QUOTES]


def known_fields(form: Mapping[str, Any]) -> list[str]:
    """What a form holds that no form may hold."""
    return [str(name)[:80] for name in form if name not in FIELDS]


# -- faults at their fields


def field_of(fault: Fault, form: Mapping[str, Any]) -> str:
    """The name of the field that a fault belongs to; empty where it is about the whole form."""
    flag = re.match(r"flags\[(\d+)\]", fault.path)
    if flag is None:
        known = (*(f"{name}." for name in BESIDE), *TEXTS)
        return fault.path if fault.path.startswith(known) else ""
    flags = form.get("flags")
    at = int(flag[1]) - 1
    raised = flags[at] if isinstance(flags, list) and at < len(flags) else None
    return f"flags.{raised.get('flag')}" if isinstance(raised, Mapping) else ""


def faults_by_field(faults: Iterable[Fault], form: Mapping[str, Any]) -> dict[str, list[str]]:
    """What is wrong with a form, by the field where it is told."""
    told: dict[str, list[str]] = {}
    for one in faults:
        told.setdefault(field_of(one, form), []).append(sentence(one))
    return told


def sentence(fault: Fault) -> str:
    """A fault as it stands beside a field: what it is about is seen there, and need not be said."""
    said = re.sub(
        r"^[\w-]+ (?:is (?=not )|(?=(?:is|needs|has) ))", "", fault.message, flags=re.ASCII
    )
    hint = f" ({fault.hint})" if fault.hint else ""
    return f"{said[:1].upper()}{said[1:]}{hint}"


# -- two versions of a form


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which two versions of a form differ, each in words."""

    field: str
    label: str
    mine: str
    theirs: str


def differences(
    rubric: Rubric, mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> list[Difference]:
    """In which fields two forms differ, in the order of the form."""
    one, two = Filled(mine), Filled(theirs)
    return [
        Difference(field, label, left, right)
        for field, label in _places(rubric)
        if (left := _told(one, field)) != (right := _told(two, field))
    ]


def _places(rubric: Rubric) -> Iterator[tuple[str, str]]:
    for criterion in rubric.criteria:
        for field, label in BESIDE.items():
            if field == "sub_answers":
                for question in criterion.sub_questions:
                    name = f"{field}.{criterion.id}.{question.id}"
                    yield name, f"{criterion.title}: {question.question}"
            else:
                what = f": {label}" if label else ""
                yield f"{field}.{criterion.id}", f"{criterion.title}{what}"
    for flag in rubric.red_flags or ():
        yield f"flags.{flag.id}", f"Red flag: {flag.title}"
    yield from LABELS.items()


def _told(filled: Filled, field: str) -> str:
    """What a form says in a field, in words; empty where it says nothing."""
    what, _, rest = field.partition(".")
    read: dict[str, Callable[[str], str]] = {
        "answers": filled.answer,
        "notes": filled.note,
        "borderline": lambda one: "borderline" if filled.is_borderline(one) else "",
        "evidence": lambda one: _listed(filled.quotes(one)),
        "tags": lambda one: ", ".join(sorted(filled.tags(one))),
        "sub_answers": lambda one: filled.sub_answer(*one.split(".", 1)),
        "flags": lambda one: _raised(filled.flag(one)),
    }
    return read[what](rest) if what in read else filled.text(what)


def _raised(quotes: list[str] | None) -> str:
    return "" if quotes is None else f"raised {_listed(quotes)}".strip()


def _listed(quotes: list[str]) -> str:
    return " … ".join(f"“{one}”" for one in quotes)
