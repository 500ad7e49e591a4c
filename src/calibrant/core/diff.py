"""What changed in meaning between two versions of a rubric.

Answers given to a criterion stay valid as long as everything a rater read of it is unchanged:
its question, detail, scale, anchors, NA policy, preconditions, violation rule. Weights, gates
and targets may change freely: verdicts are computed again from the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from calibrant.core.criterion import Criterion
from calibrant.core.document import version_key
from calibrant.core.errors import VersionError
from calibrant.core.rubric import Rubric

Section: TypeAlias = Literal[
    "criteria", "anchors", "scales", "weights", "gates", "red flags", "scoring", "targets",
    "process", "texts",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class RubricChange:
    """One change: what it is about, and from what to what."""

    section: Section
    subject: str
    text: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class RubricDiff:
    """All changes, and what becomes of stored answers."""

    old: str
    new: str
    changes: tuple[RubricChange, ...]
    valid: tuple[str, ...]
    """Criteria of the new version whose stored answers stay valid."""
    ask_again: tuple[str, ...]
    """Criteria of the new version that must be asked again, or for the first time."""
    renamed: tuple[tuple[str, str], ...]
    """Old and new id where answers are taken over under another name."""
    verdicts_change: bool
    """Whether verdicts may change on the same answers."""

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "old": self.old,
            "new": self.new,
            "changes": [
                {
                    "section": one.section,
                    "subject": one.subject,
                    "text": one.text,
                    "before": one.before,
                    "after": one.after,
                }
                for one in self.changes
            ],
            "answers_valid": list(self.valid),
            "ask_again": list(self.ask_again),
            "renamed": [list(pair) for pair in self.renamed],
            "verdicts_may_change": self.verdicts_change,
        }


def diff_rubrics(old: Rubric, new: Rubric) -> RubricDiff:
    """The difference; raises ``VersionError`` where one version stands for two contents."""
    same = old.id == new.id and version_key(old.version) == version_key(new.version)
    if same and old.hash != new.hash:
        higher = _next_version(new.version)
        raise VersionError(
            f"{new.name} stands for two different contents ({old.hash[:19]}… and "
            f"{new.hash[:19]}…): give the new one a version of its own, such as version: {higher}"
        )
    if old.id == new.id and version_key(old.version) > version_key(new.version):
        raise VersionError(f"{old.name} is later than {new.name}: give the older rubric first")
    names = _takeovers(old, new)
    changes = tuple(_changes(old, new, names))
    kept = {after: before for before, after in names.items()}
    valid = tuple(
        one.id
        for one in new.criteria
        if one.id in kept and _still_valid(old, new, old.criterion(kept[one.id]), one)
    )
    return RubricDiff(
        old=old.name,
        new=new.name,
        changes=changes,
        valid=valid,
        ask_again=tuple(name for name in new.criterion_ids if name not in valid),
        renamed=tuple((b, a) for b, a in names.items() if b != a and a in valid),
        verdicts_change=_rules(old, names) != _rules(new, {}),
    )


def _rules(rubric: Rubric, names: dict[str, str]) -> dict[str, Any]:
    """Everything that turns answers into a verdict, without the words around it.

    ``names`` tells how criteria are called in the version to compare with.
    """
    return {
        "criteria": [_rule(rubric, one, names.get(one.id, one.id)) for one in rubric.criteria],
        "weights": [(one.id, one.weight) for one in rubric.categories or ()],
        "gates": [
            (one.id, [names.get(name, name) for name in one.criteria], one.fails_on)
            for one in rubric.gates or ()
        ],
        "flags": [(one.id, one.effect, one.forced_value) for one in rubric.red_flags or ()],
        "aggregation": rubric.aggregation.model_dump(exclude={"decimals"}),
    }


def _rule(rubric: Rubric, criterion: Criterion, name: str) -> tuple[Any, ...]:
    scale = rubric.scale_of(criterion)
    worths = [(value, scale.worth(value)) for value in scale.points_of_scale]
    condition = criterion.precondition
    asked = None if condition is None else condition.model_dump(exclude={"reason"})
    return name, criterion.category, criterion.na.policy, asked, worths


def _next_version(version: str) -> str:
    numbers = version.split(".")
    numbers[1] = str(int(numbers[1]) + 1)
    return ".".join(numbers[:2])


def _takeovers(old: Rubric, new: Rubric) -> dict[str, str]:
    """Old id to new id of every criterion that lives on."""
    mapping = new.mapping
    if mapping is not None and mapping.from_version == old.version and old.id == new.id:
        renamed = {one.previous: one.now for one in mapping.renamed}
        gone = {*mapping.dropped, *renamed}
        fresh = {*mapping.added, *renamed.values()}
        same = [
            name
            for name in old.criterion_ids
            if name in new.criterion_ids and name not in gone and name not in fresh
        ]
        present = {b: a for b, a in renamed.items() if b in old.criterion_ids}
        return {**{name: name for name in same}, **present}
    return {name: name for name in old.criterion_ids if name in new.criterion_ids}


def _meaning(rubric: Rubric, criterion: Criterion) -> dict[str, Any]:
    """Everything a rater reads of a criterion before answering; names and examples aside."""
    told = criterion.model_dump(
        include={"question", "detail", "na", "precondition", "violation"}, mode="python"
    )
    told["anchors"] = {
        level: anchor.model_dump(exclude={"examples"})
        for level, anchor in criterion.anchors.items()
    }
    scale = rubric.scale_of(criterion)
    told["scale"] = scale.model_dump(exclude={"id"})
    for choice in told["scale"].get("values", ()):
        choice.pop("points", None)
    return told


def _still_valid(old: Rubric, new: Rubric, before: Criterion, after: Criterion) -> bool:
    mapping = new.mapping
    if mapping is not None and mapping.from_version == old.version:
        for renamed in mapping.renamed:
            if renamed.now == after.id and renamed.previous == before.id:
                was, now = old.scale_of(before).points_of_scale, new.scale_of(after).points_of_scale
                return renamed.answers == "valid" and set(was) <= set(now)
    return _meaning(old, before) == _meaning(new, after)


def _changes(old: Rubric, new: Rubric, names: dict[str, str]) -> Iterator[RubricChange]:
    yield from _criteria_changes(old, new, names)
    yield from _weight_changes(old, new)
    yield from _category_texts(old, new)
    yield from _named_changes("gates", old.gates or (), new.gates or ())
    yield from _named_changes("red flags", old.red_flags or (), new.red_flags or ())
    if old.aggregation != new.aggregation:
        yield from _field_changes("scoring", "aggregation", old.aggregation, new.aggregation)
    if old.agreement != new.agreement:
        yield RubricChange("targets", "agreement", "targets changed", _targets(old), _targets(new))
    for key in ("resolution", "panel", "calibration", "phases", "update_causes", "checks"):
        if getattr(old, key) != getattr(new, key):
            yield RubricChange("process", key, "changed")
    texts = (
        "title", "summary", "scope", "item_type", "reviewers", "independence", "guidance",
        "pitfalls", "difficult_cases", "standards", "principles",
    )  # fmt: skip
    for key in texts:
        if getattr(old, key) != getattr(new, key):
            yield RubricChange("texts", key, "reworded")


def _criteria_changes(old: Rubric, new: Rubric, names: dict[str, str]) -> Iterator[RubricChange]:
    for name in old.criterion_ids:
        if name not in names:
            yield RubricChange("criteria", name, "removed", old.criterion(name).title)
    for name in new.criterion_ids:
        if name not in names.values():
            yield RubricChange("criteria", name, "added", None, new.criterion(name).title)
    for before_id, after_id in names.items():
        before, after = old.criterion(before_id), new.criterion(after_id)
        if before_id != after_id:
            yield RubricChange("criteria", after_id, "renamed", before_id, after_id)
        yield from _criterion_changes(old, new, before, after)


def _criterion_changes(
    old: Rubric, new: Rubric, before: Criterion, after: Criterion
) -> Iterator[RubricChange]:
    for key in ("title", "question", "detail"):
        one, other = getattr(before, key), getattr(after, key)
        if one != other:
            yield RubricChange("criteria", after.id, f"{key} reworded", one, other)
    for key in ("category", "na", "precondition", "violation", "sub_questions", "tags"):
        one, other = getattr(before, key), getattr(after, key)
        if one != other:
            yield RubricChange("criteria", after.id, f"{key} changed", _short(one), _short(other))
    for key in ("failure_examples", "considerations", "aliases"):
        if getattr(before, key) != getattr(after, key):
            yield RubricChange("texts", after.id, f"{key} changed")
    if old.scale_of(before) != new.scale_of(after):
        scales = (old.scale_of(before), new.scale_of(after))
        told = [", ".join(map(str, scale.points_of_scale)) for scale in scales]
        yield RubricChange("scales", after.id, "scale changed", *told)
    for level in dict.fromkeys([*before.anchors, *after.anchors]):
        one, other = before.anchors.get(level), after.anchors.get(level)
        if one == other:
            continue
        texts = [None if anchor is None else anchor.text for anchor in (one, other)]
        what = "examples" if texts[0] == texts[1] else "anchor"
        yield RubricChange("anchors", after.id, f"{what} of {level} changed", *texts)


def _weight_changes(old: Rubric, new: Rubric) -> Iterator[RubricChange]:
    before = {one.id: one.weight for one in old.categories or ()}
    after = {one.id: one.weight for one in new.categories or ()}
    for name in dict.fromkeys([*before, *after]):
        was, now = _weight(before.get(name)), _weight(after.get(name))
        if name not in after:
            yield RubricChange("weights", name, "category removed", was)
        elif name not in before:
            yield RubricChange("weights", name, "category added", None, now)
        elif before[name] != after[name]:
            yield RubricChange("weights", name, "weight changed", was, now)


def _weight(weight: Decimal | None) -> str:
    return "none" if weight is None else str(weight)


def _category_texts(old: Rubric, new: Rubric) -> Iterator[RubricChange]:
    before = {one.id: one for one in old.categories or ()}
    for after in new.categories or ():
        for key in ("title", "question", "note"):
            was = getattr(before.get(after.id, after), key)
            if was != getattr(after, key):
                yield RubricChange("texts", after.id, f"{key} reworded", was, getattr(after, key))


def _named_changes(section: Section, before: Any, after: Any) -> Iterator[RubricChange]:
    """Changes in a list of entries with ids."""
    old, new = {one.id: one for one in before}, {one.id: one for one in after}
    for name in dict.fromkeys([*old, *new]):
        if name not in new:
            yield RubricChange(section, name, "removed", old[name].title)
        elif name not in old:
            yield RubricChange(section, name, "added", None, new[name].title)
        elif old[name] != new[name]:
            yield from _field_changes(section, name, old[name], new[name])


def _field_changes(
    section: Section, subject: str, before: Any, after: Any
) -> Iterator[RubricChange]:
    keys = dict.fromkeys([*type(before).model_fields, *type(after).model_fields])
    for key in keys:
        one, other = getattr(before, key, None), getattr(after, key, None)
        if one != other:
            yield RubricChange(section, subject, f"{key} changed", _short(one), _short(other))


def _targets(rubric: Rubric) -> str | None:
    if rubric.agreement is None:
        return None
    return "; ".join(
        " ".join(
            filter(None, (one.coefficient, one.weights, one.op, str(one.value), one.decided_on))
        )
        for one in rubric.agreement.targets
    )


def _short(value: Any) -> str | None:
    if value is None:
        return None
    if hasattr(value, "model_dump"):
        told = {key: one for key, one in value.model_dump(mode="json").items() if one is not None}
        return ", ".join(f"{key} {one}" for key, one in told.items())
    if isinstance(value, tuple):
        return ", ".join(str(getattr(one, "id", one)) for one in value) or "nothing"
    return str(value)
