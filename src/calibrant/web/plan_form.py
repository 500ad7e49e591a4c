"""The form by which a lead plans a round: what was typed, and what it asks of the study."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from decimal import Decimal
from typing import Any

from starlette.datastructures import FormData

from calibrant.core.plan import Plan, overlap_plan
from calibrant.core.rubric import Rubric
from calibrant.core.study import Round
from calibrant.study.rounds import TOGETHER
from calibrant.web.form_fields import text_of, texts_of

KINDS = {
    "onboarding": ("Onboarding", "Raters look at sample items together; nothing counts yet."),
    "calibration": ("Calibration", "Everybody rates the same few items, then talks it over."),
    "main": ("Main", "The ratings that count."),
    "recalibration": ("Recalibration", "The same items again for everybody, when raters drift."),
    "test": ("Test", "A trial of rubric or people; nothing counts."),
}
"""Title and meaning of each kind of round."""
_PER_CENT = Decimal(100)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanForm:
    """What stands in the form, as texts: nothing typed is lost when something is wrong."""

    kind: str
    way: str = ""
    """Empty: as the rubric says."""
    per_item: str = "2"
    share: str = "20"
    minimum: str = "30"
    repeats: str = "0"
    which: str = "all"
    """``all`` that are free, a ``sample`` of them, or those ``listed``."""
    sample: str = ""
    listed: str = ""
    raters: Sequence[str] = field(default_factory=tuple)
    """Empty: everybody who rates."""

    @classmethod
    def usual(cls, rubric: Rubric, kind: str) -> PlanForm:
        """The form as the rubric would fill it in."""
        overlap = overlap_plan(rubric)
        together = kind in TOGETHER
        stated = rubric.calibration.items if rubric.calibration is not None else None
        return cls(
            kind=kind,
            way="everyone" if together or rubric.agreement is None else "overlap",
            share=_shown((overlap.share or Decimal(0)) * _PER_CENT),
            minimum=str(overlap.minimum or 0),
            which="sample" if together else "all",
            sample=str(stated or "") if together else "",
        )

    @classmethod
    def read(cls, form: FormData) -> PlanForm:
        """What was sent."""
        return cls(
            kind=text_of(form, "kind") or "main",
            way=text_of(form, "way"),
            per_item=text_of(form, "per_item"),
            share=text_of(form, "share"),
            minimum=text_of(form, "minimum"),
            repeats=text_of(form, "repeats") or "0",
            which=text_of(form, "which") or "all",
            sample=text_of(form, "sample"),
            listed=text_of(form, "listed"),
            raters=tuple(texts_of(form, "raters")),
        )

    @property
    def mark(self) -> str:
        """The same for the same plan: tells whether what is kept is what was shown.

        Spaces and ends of lines do not count: a browser sends them as it likes.
        """
        texts = [" ".join(text.split()) for text in astuple(self)[:-1]]
        return hashlib.sha256(repr((texts, *self.raters)).encode()).hexdigest()[:16]

    def arguments(self) -> dict[str, Any]:
        """What ``plan_round`` is asked; raises ``ValueError`` with a sentence."""
        return {
            "kind": self.kind,
            "plan": self._plan(),
            "items": self._items(),
            "sample": self._sample(),
            "raters": list(self.raters) or None,
        }

    def _plan(self) -> Plan | None:
        repeats = _per_cent("the share of repeats", self.repeats)
        way = "everyone" if self.kind in TOGETHER else self.way
        match way:
            case "everyone":
                return Plan(way="everyone", repeats=repeats)
            case "per_item":
                many = _whole("the number of raters an item gets", self.per_item)
                return Plan(way="per_item", raters=many, repeats=repeats)
            case "overlap":
                return Plan(
                    way="overlap",
                    share=_per_cent("the share of overlap", self.share),
                    minimum=_whole("the least number of shared items", self.minimum),
                    repeats=repeats,
                )
            case "":
                return None
            case other:
                raise ValueError(f"there is no plan {other[:40]!r}: choose one of those shown")

    def _items(self) -> list[str] | None:
        if self.which != "listed":
            return None
        found = [line.strip() for line in self.listed.splitlines() if line.strip()]
        if not found:
            raise ValueError("write the ids of the items, one a line, or choose another way")
        return found

    def _sample(self) -> int | None:
        if self.which != "sample" or (not self.sample and self.kind in TOGETHER):
            return None
        return _whole("the size of the sample", self.sample)


def _whole(what: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError(f"{what} is a whole number, not {text[:40]!r}")
    return int(text)


def _per_cent(what: str, text: str) -> Decimal:
    """A share that was typed in per cent: 20, 7.5 or 20 %."""
    plain = text.removesuffix("%").strip().replace(",", ".") or "0"
    digits = plain.replace(".", "", 1)
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        raise ValueError(f"{what} is a number of per cent, not {text[:40]!r}")
    return Decimal(plain) / _PER_CENT


def _shown(number: Decimal) -> str:
    return format(number.normalize(), "f")


def next_kind(rubric: Rubric, rounds: Sequence[Round]) -> str:
    """The kind of round that probably comes next."""
    held = {one.kind for one in rounds if one.opened_at is not None}
    asked = rubric.calibration
    if asked is not None and asked.onboarding and "onboarding" not in held:
        return "onboarding"
    if asked is not None and asked.items and "calibration" not in held:
        return "calibration"
    return "main"


def plan_words(round: Round) -> str:
    """How a round was shared out, in a few words."""
    return way_words(round.plan)


def way_words(plan: Mapping[str, Any]) -> str:
    """A stored plan, in a few words."""
    match plan.get("way"):
        case "everyone":
            told = "every rater rates every item"
        case "per_item":
            told = f"{plan['raters']} raters an item"
        case "overlap":
            share = _shown(Decimal(str(plan["share"])) * _PER_CENT)
            told = f"{share} % of the items (at least {plan['minimum']}) go to several raters"
        case "imported":
            return "read from a file"
        case _:
            return ""
    repeats = Decimal(str(plan.get("repeats", 0)))
    return told + (f"; {_shown(repeats * _PER_CENT)} % come again" if repeats else "")
