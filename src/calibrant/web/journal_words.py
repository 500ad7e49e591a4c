"""Lines of the audit log as sentences: who did what. What they hold beside that is shown apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from calibrant.core.study import Entry

SECRETS = frozenset({"key", "mask_key"})
"""Keys of bodies whose values open something: they are never shown."""
LABELS = {
    "study": "study begun",
    "rubric": "rubric",
    "member": "joined",
    "roles": "roles",
    "left": "left",
    "items": "items",
    "redacted": "redaction",
    "round": "round",
    "override": "override",
    "acknowledged": "rubric read",
    "rated": "rating",
    "corrected": "correction",
    "flag": "flag",
    "flag_decided": "flag decided",
    "asked": "question",
    "answered": "answer",
    "comment": "comment",
    "discussed": "discussion",
    "no_consensus": "no consensus",
    "settled": "settlement",
    "step": "step",
    "admitted": "judge",
    "phase": "phase",
    "finalised": "rubric final",
    "check_in": "check-in",
    "lesson": "lesson",
    "pseudonyms": "pseudonyms",
    "report": "frozen report",
}
"""Kinds of lines as people read them."""


def label_of(kind: str) -> str:
    """What a kind of entry is called."""
    return LABELS.get(kind, kind.replace("_", " "))


def sentence_of(entry: Entry) -> str:
    """What happened, as a sentence that goes on from who did it."""
    said = _SENTENCES.get(entry.kind)
    return said(entry) if said is not None else label_of(entry.kind)


def said_of(entry: Entry) -> str:
    """What somebody wrote at that: a reason, a note, a question."""
    words = {**(entry.words or {})}
    kept = [words.get(name) for name in ("text", "reason", "outcome", "note", "decisions")]
    quotes = [f"“{one}”" for one in words.get("evidence") or ()]
    lesson = entry.body.get("text") if entry.kind == "lesson" else None
    redaction = entry.body.get("reason") if entry.kind == "redacted" else None
    return " · ".join(str(one) for one in (*kept, lesson, redaction, *quotes) if one)


def raw_of(entry: Entry) -> str:
    """All that is kept of it, as JSON, without what opens something."""
    kept = {
        "number": entry.number or None,
        "kind": entry.kind,
        "actor": entry.actor,
        "at": entry.at,
        "round": entry.round,
        "item": entry.item,
        "criterion": entry.criterion,
        "body": without_secrets(entry.body),
        "words": None if entry.words is None else dict(entry.words),
    }
    return json.dumps(kept, ensure_ascii=False, indent=1, default=str)


def without_secrets(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body as it may be shown."""
    return {key: "not shown" if key in SECRETS else value for key, value in body.items()}


# -- the sentences


def _many(count: object, one: str) -> str:
    return f"{count:,} {one}{'' if count == 1 else 's'}" if isinstance(count, int) else one


def _words(value: object) -> str:
    return str(value or "").replace("_", " ")


def _listed(values: object) -> str:
    return ", ".join(map(str, values)) if isinstance(values, list | tuple) else _words(values)


def _round(entry: Entry) -> str:
    body, number = entry.body, entry.round
    kind, state = _words(body.get("kind")), _words(body.get("state"))
    if state == "planned":
        return f"planned round {number} ({kind}) with {_many(body.get('items'), 'item')}"
    if state == "open":
        return f"opened round {number} ({kind})"
    if state == "imported":
        return f"took in round {number} ({kind}) with {_many(body.get('ratings'), 'rating')}"
    more = f" by {_many(body.get('items'), 'item')}" if state == "extended" else ""
    return f"{state} round {number} ({kind}){more}"


def _member(entry: Entry) -> str:
    body = entry.body
    roles = _listed(body.get("roles"))
    group = f", {body['group']}" if body.get("group") else ""
    return f"let {body.get('name')} join as {roles} ({_words(body.get('kind'))}{group})"


def _left(entry: Entry) -> str:
    moved = entry.body.get("moved") or {}
    work = sum(moved.values()) if isinstance(moved, Mapping) else 0
    told = f"; {_many(work, 'assignment')} went to others" if work else ""
    return f"recorded that {entry.body.get('name')} left{told}"


def _flag(entry: Entry) -> str:
    what = _words(entry.body.get("what"))
    named = f" “{_words(entry.body.get('flag'))}”" if entry.body.get("flag") else ""
    article = "an" if what.startswith("e") else "a"
    said = {"review": f"asked for a review of {entry.item}"}
    return said.get(what, f"raised {article} {what}{named} on {entry.item}")


def _flag_decided(entry: Entry) -> str:
    numbers = entry.body.get("flags") or []
    which = f"flag {_listed(numbers)}" if len(numbers) == 1 else f"flags {_listed(numbers)}"
    return f"{_words(entry.body.get('state'))} {which} on {entry.item}"


def _asked(entry: Entry) -> str:
    about = " of ".join(filter(None, (entry.criterion, entry.item)))
    return f"asked a question{f' about {about}' if about else ''}"


def _answered(entry: Entry) -> str:
    shared = " and shared it with all" if entry.body.get("share") else ""
    return f"answered question {entry.body.get('question')}{shared}"


def _settled(entry: Entry) -> str:
    how = {"consensus": "settled by consensus", "adjudicated": "decided"}
    said = how.get(str(entry.body.get("how")), "settled")
    return f"{said}: {entry.criterion} of {entry.item} is {entry.body.get('value')}"


def _discussed(entry: Entry) -> str:
    people = _listed(entry.body.get("participants"))
    unclear = "; the rubric is unclear here" if entry.body.get("unclear") else ""
    return (
        f"recorded the discussion of {entry.criterion} of {entry.item} "
        f"(round {entry.round}) with {people}{unclear}"
    )


def _admitted(entry: Entry) -> str:
    body = entry.body
    if not body.get("admitted"):
        return f"{body.get('rater')} no longer counts"
    low = f", below target on {_listed(body.get('low'))}" if body.get("low") else ""
    return f"let {body.get('rater')} count{low}"


def _override(entry: Entry) -> str:
    body = entry.body
    if body.get("what") == "guidelines_kept":
        return "kept the rubric as it is after the discussion"
    where = f" round {entry.round}" if entry.round is not None else ""
    missing = f" although this was missing: {_listed(body.get('missing'))}"
    done = "opened" if body.get("what") == "open" else f"went on with {_words(body.get('what'))}"
    return f"{done}{where}{missing if body.get('missing') else ''}"


def _phase(entry: Entry) -> str:
    moved = {"open": "began", "done": "finished"}.get(str(entry.body.get("state")), "moved")
    return f"{moved} the phase {_words(entry.body.get('phase'))}"


def _frozen(entry: Entry) -> str:
    phase = f" at the end of the phase {_words(entry.body.get('phase'))}"
    return f"froze the report{phase if entry.body.get('phase') else ' at a check-in'}"


def _rated(entry: Entry) -> str:
    body = entry.body
    again = f" (occasion {body['occasion']})" if body.get("occasion", 1) != 1 else ""
    under = f", under version {body['version']} of the rubric" if body.get("version") else ""
    return f"handed in a rating of {entry.item} in round {entry.round}{again}{under}"


def _corrected(entry: Entry) -> str:
    changed = entry.body.get("changed")
    told = f": {_listed(changed)}" if changed else ""
    return f"corrected their rating of {entry.item} in round {entry.round}{told}"


def _rubric(entry: Entry) -> str:
    cause = f" ({_words(entry.body.get('cause'))})" if entry.body.get("cause") else ""
    return f"put version {entry.body.get('version')} of the rubric in force{cause}"


_SENTENCES: dict[str, Callable[[Entry], str]] = {
    "study": lambda one: f"began the study with {one.body.get('rubric')}",
    "rubric": _rubric,
    "member": _member,
    "roles": lambda one: f"made {one.body.get('name')} {_listed(one.body.get('roles'))}",
    "left": _left,
    "items": lambda one: f"added {_many(one.body.get('added'), 'item')}",
    "redacted": lambda one: f"erased the words of {one.body.get('item')}",
    "round": _round,
    "override": _override,
    "acknowledged": lambda one: f"read version {one.body.get('version')} of the rubric",
    "rated": _rated,
    "corrected": _corrected,
    "flag": _flag,
    "flag_decided": _flag_decided,
    "asked": _asked,
    "answered": _answered,
    "comment": lambda one: f"commented on {one.criterion} of {one.item} (round {one.round})",
    "discussed": _discussed,
    "no_consensus": lambda one: f"found no consensus on {one.criterion} of {one.item}",
    "settled": _settled,
    "step": lambda one: f"took the step “{_words(one.body.get('step'))}” for {one.criterion}",
    "admitted": _admitted,
    "phase": _phase,
    "finalised": lambda one: f"declared version {one.body.get('version')} of the rubric final",
    "check_in": lambda one: f"held a check-in with {_listed(one.body.get('attendees'))}",
    "lesson": lambda one: "wrote down a lesson",
    "pseudonyms": lambda one: "drew a key for pseudonyms",
    "report": _frozen,
}
