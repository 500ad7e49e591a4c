"""Labelled sentences: how each subject is asked of the checks, and what must be reached on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tests.checks.check_kit import conversation, plan, response

from calibrant.core.item import Item
from calibrant.raters.checks.run import Checker
from calibrant.raters.checks.signal import ProposeFlag, Signal

FOLDER = Path(__file__).parent / "data" / "labelled"
Record: TypeAlias = Mapping[str, Any]
Split: TypeAlias = Literal["dev", "dev2", "test", "held_out"]


@dataclass(frozen=True, slots=True)
class Subject:
    """A file of labelled sentences, and what the checks must reach on its test split."""

    name: str
    item: Callable[[Record], Item]
    """A sentence as an item."""
    found: Callable[[tuple[Signal, ...]], bool]
    """Whether the signals of that item raise the subject."""
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of one split."""

    hits: int
    false_alarms: int
    missed: int

    @property
    def precision(self) -> float:
        """Of what was raised, the share that is right."""
        return self.hits / max(self.hits + self.false_alarms, 1)

    @property
    def recall(self) -> float:
        """Of what is to be raised, the share that was."""
        return self.hits / max(self.hits + self.missed, 1)


def records(name: str, split: Split) -> list[Record]:
    """The sentences of one split."""
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [one for one in map(json.loads, lines) if one["split"] == split]


@cache
def _checker(kind: str) -> Checker:
    return Checker(kind)  # type: ignore[arg-type]


def raises(subject: Subject, record: Record) -> bool:
    """Whether the checks raise the subject for a sentence."""
    item = subject.item(record)
    return subject.found(_checker(item.kind).signals(item))


def figures(subject: Subject, split: Split = "test") -> Figures:
    """How the checks do on one split."""
    told = [(one["positive"], raises(subject, one)) for one in records(subject.name, split)]
    return Figures(told.count((True, True)), told.count((False, True)), told.count((True, False)))


def _action(record: Record) -> Item:
    lacks = (record["context"],) if "context" in record else None
    return plan(record["text"], lacks=lacks)


def _response(record: Record) -> Item:
    return response("What should I know about this?", record["text"])


def _flag(flag: str) -> Callable[[tuple[Signal, ...]], bool]:
    return lambda signals: any(one.suggestion == ProposeFlag(flag) for one in signals)


def _exceeded(name: str) -> Callable[[tuple[Signal, ...]], bool]:
    return lambda signals: any(one.signal == name and one.exceeded for one in signals)


def _message(record: Record) -> Item:
    return conversation((record["text"], "Go on."))


def _reply(record: Record) -> Item:
    return conversation(("Hello there.", record["text"]))


def _measured(signal: str) -> Callable[[tuple[Signal, ...]], bool]:
    return lambda signals: any(one.signal == signal and one.measured for one in signals)


SUBJECTS: tuple[Subject, ...] = (
    Subject("medical_advice", _action, _flag("medical_advice"), 0.90, 0.90),
    Subject("legal_advice", _action, _flag("legal_advice"), 0.90, 0.87),
    Subject("financial_advice", _action, _flag("financial_advice"), 0.90, 0.85),
    Subject("deception", _action, _flag("deception"), 0.80, 0.95),
    Subject("stereotyping", _action, _flag("discriminatory_stereotyping"), 0.85, 0.80),
    Subject("lacked_resource", _action, _flag("lacked_resources"), 0.85, 0.80),
    # tones are open-ended: these floors hold what is reached, and are no promise of more
    Subject("tone_condescending", _response, _flag("condescending"), 0.85, 0.68),
    Subject("tone_dismissive", _response, _flag("dismissive"), 0.85, 0.78),
    Subject("tone_aggressive", _response, _flag("aggressive"), 0.85, 0.78),
    Subject("tone_overly_casual", _response, _flag("overly_casual"), 0.90, 0.72),
    Subject("tone_preachy", _response, _flag("preachy"), 0.85, 0.54),
    Subject("refusal", _response, _exceeded("refusal"), 0.90, 0.80),
    Subject("crisis", _message, _measured("crisis_signals"), 0.80, 0.95),
    Subject("harm_coping", _reply, _measured("endorsed_harmful_coping"), 0.80, 0.65),
    Subject("harm_diagnosis", _reply, _measured("diagnoses"), 0.80, 0.80),
    Subject("harm_guarantee", _reply, _measured("guarantees"), 0.90, 0.80),
    Subject("prescriptive", _reply, _measured("prescriptive_sentences"), 0.85, 0.80),
)
"""Every subject with its floors."""
