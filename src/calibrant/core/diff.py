"""What changed in meaning between two versions of a rubric.

Answers given to a criterion stay valid as long as everything a rater read of it is unchanged:
its question, detail, scale, anchors, NA policy, preconditions, violation rule. Weights, gates
and targets may change freely: verdicts are computed again from the same answers. White space has
no meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from calibrant.core.criterion import Criterion
from calibrant.core.document import version_key
from calibrant.core.errors import VersionError, suggestion
from calibrant.core.rubric import Rubric

Section: TypeAlias = Literal[
    "identity", "criteria", "anchors", "scales", "weights", "gates", "red flags", "scoring",
    "targets", "process", "texts",
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
    notes: tuple[str, ...] = ()
    """What does not fit: another rubric, a mapping that speaks of other names."""

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
            "notes": list(self.notes),
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
        notes=tuple(_notes(old, new)),
    )


def _notes(old: Rubric, new: Rubric) -> Iterator[str]:
    """What a reader must know before believing the rest."""
    if old.id != new.id:
        yield f"{old.name} and {new.name} are two rubrics, not two versions of one"
        return
    mapping = new.mapping
    if mapping is None or old.hash == new.hash:
        return
    if mapping.from_version != old.version:
        yield f"the mapping of {new.name} is from {mapping.from_version}: it was not used here"
        return
    for name in [*(one.previous for one in mapping.renamed), *mapping.dropped]:
        if name not in old.criterion_ids:
            near = suggestion(name, old.criterion_ids)
            hint = f" ({near})" if near else ""
            yield f"the mapping speaks of {name!r}, which {old.name} has not{hint}"
    for name in mapping.added:
        if name in old.criterion_ids:
            yield f"the mapping calls {name!r} added, but {old.name} has it"


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
    told["item_type"] = rubric.item_type
    return _plain(told)  # type: ignore[no-any-return]


def _still_valid(old: Rubric, new: Rubric, before: Criterion, after: Criterion) -> bool:
    mapping = new.mapping
    if mapping is not None and mapping.from_version == old.version:
        for renamed in mapping.renamed:
            if renamed.now == after.id and renamed.previous == before.id:
                was, now = old.scale_of(before).points_of_scale, new.scale_of(after).points_of_scale
                return renamed.answers == "valid" and set(was) <= set(now)
    return _meaning(old, before) == _meaning(new, after)


def _changes(old: Rubric, new: Rubric, names: dict[str, str]) -> Iterator[RubricChange]:
    if old.id != new.id:
        yield RubricChange("identity", "id", "another rubric", old.id, new.id)
    if old.item_type != new.item_type:
        what = "other items are judged"
        yield RubricChange("identity", "item_type", what, old.item_type, new.item_type)
    yield from _criteria_changes(old, new, names)
    yield from _weight_changes(old, new)
    yield from _category_texts(old, new)
    yield from _named_changes("gates", old.gates or (), new.gates or ())
    yield from _named_changes("red flags", old.red_flags or (), new.red_flags or ())
    if _differ(old.aggregation, new.aggregation):
        yield from _field_changes("scoring", "aggregation", old.aggregation, new.aggregation)
    if old.agreement != new.agreement:
        yield RubricChange("targets", "agreement", "targets changed", _targets(old), _targets(new))
    for key in ("resolution", "panel", "calibration", "phases", "update_causes", "checks"):
        yield from _change("process", key, "changed", getattr(old, key), getattr(new, key))
    texts = (
        "title", "summary", "scope", "reviewers", "independence", "guidance", "pitfalls",
        "difficult_cases", "standards", "principles",
    )  # fmt: skip
    for key in texts:
        yield from _change("texts", key, "reworded", getattr(old, key), getattr(new, key))


def _change(
    section: Section, subject: str, text: str, before: Any, after: Any
) -> Iterator[RubricChange]:
    """A change, if it is one, shown where the two differ."""
    if _differ(before, after):
        yield RubricChange(section, subject, text, *_apart(_short(before), _short(after)))


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
        yield from _change("criteria", after.id, f"{key} reworded", one, other)
    for key in ("category", "na", "precondition", "violation", "sub_questions", "tags"):
        one, other = getattr(before, key), getattr(after, key)
        yield from _change("criteria", after.id, f"{key} changed", one, other)
    for key in ("failure_examples", "considerations", "aliases"):
        one, other = getattr(before, key), getattr(after, key)
        yield from _change("texts", after.id, f"{key} changed", one, other)
    scales = old.scale_of(before), new.scale_of(after)
    points = [", ".join(map(str, scale.points_of_scale)) for scale in scales]
    if points[0] != points[1]:
        yield RubricChange("scales", after.id, "scale changed", *points)
    else:
        yield from _change("scales", after.id, "scale changed", *scales)
    for level in dict.fromkeys([*before.anchors, *after.anchors]):
        one, other = before.anchors.get(level), after.anchors.get(level)
        texts = [None if anchor is None else anchor.text for anchor in (one, other)]
        if _differ(*texts):
            shown = _apart(texts[0], texts[1])
            yield RubricChange("anchors", after.id, f"anchor of {level} changed", *shown)
        else:
            what = f"examples or status of {level} changed"
            yield from _change("anchors", after.id, what, one, other)


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
            yield from _change("texts", after.id, f"{key} reworded", was, getattr(after, key))


def _named_changes(section: Section, before: Any, after: Any) -> Iterator[RubricChange]:
    """Changes in a list of entries with ids."""
    old, new = {one.id: one for one in before}, {one.id: one for one in after}
    for name in dict.fromkeys([*old, *new]):
        if name not in new:
            yield RubricChange(section, name, "removed", old[name].title)
        elif name not in old:
            yield RubricChange(section, name, "added", None, new[name].title)
        elif _differ(old[name], new[name]):
            yield from _field_changes(section, name, old[name], new[name])


def _field_changes(
    section: Section, subject: str, before: Any, after: Any
) -> Iterator[RubricChange]:
    keys = dict.fromkeys([*type(before).model_fields, *type(after).model_fields])
    for key in keys:
        one, other = getattr(before, key, None), getattr(after, key, None)
        yield from _change(section, subject, f"{key} changed", one, other)


def _targets(rubric: Rubric) -> str | None:
    if rubric.agreement is None:
        return None
    return "; ".join(
        " ".join(
            filter(None, (one.coefficient, one.weights, one.op, str(one.value), one.decided_on))
        )
        for one in rubric.agreement.targets
    )


def _differ(one: Any, other: Any) -> bool:
    return bool(_plain(one) != _plain(other))


def _plain(value: Any) -> Any:
    """A value as plain data, its texts without needless white space."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def _short(value: Any) -> str | None:
    """A value in words, absent parts left out."""
    return None if value is None else _words(_plain(value))


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{key} {_words(one)}" for key, one in value.items() if one not in (None, [], {})
        )
    if isinstance(value, list):
        return "; ".join(map(_words, value)) or "nothing"
    return str(value)


def _apart(
    before: str | None, after: str | None, around: int = 15
) -> tuple[str | None, str | None]:
    """Two texts from shortly before where they begin to differ."""
    if before is None or after is None:
        return before, after
    pairs = zip(before, after, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), len(before))
    start = before.rfind(" ", 0, max(0, same - around)) + 1
    if start == 0 or same <= 2 * around:
        return before, after
    return f"… {before[start:]}", f"… {after[start:]}"
