"""Whether the pieces of a rubric fit together.

The checks look at whatever could be read, so that a typo in one criterion does not hide its
unknown scale or a wrong weight elsewhere. A field, or an entry of a list, that could not be
read is ``None`` here whatever its type says; its section is named in ``faulty``, and the
checks that need the whole section stand back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from calibrant.core.criterion import (
    METRICS,
    Aggregation,
    Category,
    Check,
    Criterion,
    Gate,
    ItemType,
    RedFlag,
    WeightedCategories,
    fold_name,
    is_record_field,
)
from calibrant.core.document import version_key
from calibrant.core.errors import suggestion
from calibrant.core.process import Change, Guidance, Mapping, Note, Phase, Standard
from calibrant.core.scale import AnyScale, ChoiceScale, OrdinalScale, values_as_text

Path: TypeAlias = tuple[str | int, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Misfit:
    """Two pieces that do not fit: where to mend, what is wrong, a hint."""

    path: Path
    message: str
    hint: str = ""

    @property
    def place(self) -> str:
        """``criteria[2].scale``"""
        return path_text(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The readable sections of a rubric that the checks below look at."""

    version: str | None = None
    item_type: ItemType | None = None
    reviewers: Sequence[Note | None] | None = None
    scales: Sequence[AnyScale | None] | None = None
    categories: Sequence[Category | None] | None = None
    criteria: Sequence[Criterion | None] | None = None
    gates: Sequence[Gate | None] | None = None
    red_flags: Sequence[RedFlag | None] | None = None
    aggregation: Aggregation | None = None
    phases: Sequence[Phase | None] | None = None
    guidance: Guidance | None = None
    pitfalls: Sequence[Note | None] | None = None
    difficult_cases: Sequence[Note | None] | None = None
    standards: Sequence[Standard | None] | None = None
    principles: Sequence[Note | None] | None = None
    checks: Sequence[Check | None] | None = None
    changelog: Sequence[Change | None] | None = None
    mapping: Mapping | None = None
    faulty: frozenset[str] = frozenset()
    """Sections in which something could not be read."""
    unreadable: frozenset[str] = frozenset()
    """Places of what could not be read: ``criteria[0].category``."""


def misfits(parts: Parts) -> Iterator[Misfit]:
    """Everything that does not fit, in the order of the document."""
    yield from _unique_ids(parts)
    yield from _unique_names(parts)
    yield from _reserved_names(parts)
    for index, criterion in _entries(parts.criteria):
        yield from _criterion(parts, ("criteria", index), criterion)
    yield from _weights(parts)
    yield from _gates(parts)
    yield from _red_flags(parts)
    yield from _references(parts)
    yield from _history(parts)


def empty_categories(categories: Iterable[Category], criteria: Iterable[Criterion]) -> list[str]:
    """Weighted categories without criteria: they count in full, which is rarely meant."""
    used = {criterion.category for criterion in criteria}
    return [one.id for one in categories if one.weight is not None and one.id not in used]


def path_text(path: Path) -> str:
    """``("criteria", 2, "scale")`` as ``criteria[2].scale``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _entries(section: Sequence[T | None] | None) -> Iterator[tuple[int, T]]:
    return ((index, entry) for index, entry in enumerate(section or ()) if entry is not None)


def _scales(parts: Parts) -> dict[str, AnyScale]:
    """The scales that were read whole."""
    scales: Sequence[AnyScale | None] = parts.scales or ()
    return {one.id: one for one in scales if isinstance(one, ChoiceScale | OrdinalScale)}


def _unique_ids(parts: Parts) -> Iterator[Misfit]:
    sections = ("scales", "categories", "criteria", "gates", "red_flags", "phases", "standards")
    for section in sections:
        yield from _twice((section,), getattr(parts, section))
    for index, criterion in _entries(parts.criteria):
        for key in ("tags", "sub_questions"):
            yield from _twice(("criteria", index, key), getattr(criterion, key))


def _twice(path: Path, entries: Sequence[Any] | None) -> Iterator[Misfit]:
    seen: set[str] = set()
    for index, entry in _entries(entries):
        if entry.id is not None and entry.id in seen:
            yield Misfit((*path, index, "id"), f"{entry.id!r} is used twice")
        seen.add(entry.id)


def _reserved_names(parts: Parts) -> Iterator[Misfit]:
    """A column must be either a criterion or a field of the record, never both."""
    for index, criterion in _entries(parts.criteria):
        for name in filter(None, (criterion.id, *(criterion.aliases or ()))):
            if is_record_field(name):
                yield Misfit(
                    ("criteria", index), f"{name!r} is a field of every record: choose another name"
                )


def _unique_names(parts: Parts) -> Iterator[Misfit]:
    """An answer or a flag comes in under an id, an alias or a title: each must mean one thing."""
    for section in ("criteria", "red_flags"):
        owners: dict[str, str] = {}
        for index, entry in _entries(getattr(parts, section)):
            for name in filter(None, (entry.id, entry.title, *(entry.aliases or ()))):
                owner = owners.setdefault(fold_name(name), entry.id)
                if owner != entry.id:
                    yield Misfit((section, index), f"{name!r} also stands for {owner!r}")


def _criterion(parts: Parts, path: Path, criterion: Criterion) -> Iterator[Misfit]:
    yield from _known(parts, "categories", (*path, "category"), [criterion.category])
    yield from _known(parts, "scales", (*path, "scale"), [criterion.scale])
    weighted = isinstance(parts.aggregation, WeightedCategories)
    unread = path_text((*path, "category")) in parts.unreadable
    if weighted and criterion.category is None and not unread:
        yield Misfit(path, "needs a category, because categories are weighted")
    if parts.item_type is not None and criterion.precondition is not None:
        metric, known = criterion.precondition.metric, METRICS[parts.item_type]
        if metric not in known:
            yield Misfit(
                (*path, "precondition", "metric"),
                f"{metric!r} cannot be counted in a {parts.item_type}",
                suggestion(metric, known),
            )
        if criterion.na is not None and criterion.na.policy != "valid":
            yield Misfit((*path, "precondition"), "answers NA, so `na` must be valid")
    scale = _scales(parts).get(criterion.scale)
    if scale is not None:
        yield from _answers(parts, path, criterion, scale)


def _answers(parts: Parts, path: Path, criterion: Criterion, scale: AnyScale) -> Iterator[Misfit]:
    points = values_as_text(scale)
    if criterion.anchors is None:
        return
    for level in criterion.anchors:
        if level not in points:
            yield Misfit(
                (*path, "anchors", level),
                f"{level!r} is not on scale {scale.id!r}",
                suggestion(level, points),
            )
    described = [level for level in points if level in criterion.anchors]
    if len(described) < len(points) and (described or scale.level == "ordinal"):
        absent = ", ".join(level for level in points if level not in criterion.anchors)
        yield Misfit((*path, "anchors"), f"every level needs its anchor; not described: {absent}")
    if isinstance(parts.aggregation, WeightedCategories):
        for point in scale.points_of_scale:
            if scale.worth(point) is None:
                yield Misfit(
                    (*path, "scale"), f"answer {point!r} of scale {scale.id!r} has no points"
                )


def _weights(parts: Parts) -> Iterator[Misfit]:
    if not isinstance(parts.aggregation, WeightedCategories) or "categories" in parts.faulty:
        return
    if not parts.categories:
        yield Misfit(("categories",), "weighted categories need categories")
        return
    weights = [entry.weight for _, entry in _entries(parts.categories) if entry.weight is not None]
    total = sum(weights, Decimal(0))
    if total != 1:
        yield Misfit(
            ("categories",), f"weights must sum to exactly 1, they sum to {total.normalize():f}"
        )
    yield from _weightless(parts)


def _weightless(parts: Parts) -> Iterator[Misfit]:
    """A criterion must count somewhere: in a weighted category or in a gate."""
    if parts.faulty & {"gates", "criteria"}:
        return
    gated = {name for _, gate in _entries(parts.gates) for name in gate.criteria}
    weightless = {entry.id for _, entry in _entries(parts.categories) if entry.weight is None}
    for index, criterion in _entries(parts.criteria):
        if criterion.category in weightless and criterion.id not in gated:
            yield Misfit(
                ("criteria", index, "category"),
                f"{criterion.category!r} has no weight and {criterion.id!r} is in no gate: "
                "it would count nowhere",
            )


def _gates(parts: Parts) -> Iterator[Misfit]:
    criteria = {one.id: one for _, one in _entries(parts.criteria)}
    scales = _scales(parts)
    for index, gate in _entries(parts.gates):
        path: Path = ("gates", index)
        yield from _known(parts, "criteria", (*path, "criteria"), gate.criteria)
        names = [name for name in gate.criteria or () if name in criteria]
        asked = [scales[criteria[one].scale] for one in names if criteria[one].scale in scales]
        for scale in asked:
            yield from _on_scale((*path, "fails_on"), gate.fails_on or (), scale)
        if not asked:  # a misspelt criterion does not hide an answer that no scale has
            for word in gate.fails_on or ():
                each = [
                    list(_on_scale((*path, "fails_on"), [word], one)) for one in scales.values()
                ]
                if each and all(each):
                    yield each[0][0]


def _red_flags(parts: Parts) -> Iterator[Misfit]:
    scales = _scales(parts)
    for index, flag in _entries(parts.red_flags):
        path: Path = ("red_flags", index)
        yield from _known(parts, "criteria", (*path, "criteria"), flag.criteria)
        if flag.forced_value is not None:
            used = {one.scale for _, one in _entries(parts.criteria)}
            for name in sorted(used & scales.keys()):
                yield from _on_scale((*path, "forced_value"), [flag.forced_value], scales[name])


def _on_scale(path: Path, values: Iterable[str], scale: AnyScale) -> Iterator[Misfit]:
    points = values_as_text(scale)
    for value in values:
        if value not in points:
            yield Misfit(path, f"{value!r} is not on scale {scale.id!r}", suggestion(value, points))


def _references(parts: Parts) -> Iterator[Misfit]:
    """Advice that names criteria must name criteria that exist."""
    guidance = parts.guidance
    moments = ("before", "during", "after")
    lists: list[tuple[Path, Sequence[Any] | None]] = [
        (("guidance", moment), getattr(guidance, moment)) for moment in moments if guidance
    ]
    for section in (
        "reviewers",
        "pitfalls",
        "difficult_cases",
        "standards",
        "principles",
        "checks",
    ):
        lists.append(((section,), getattr(parts, section)))
    for index, criterion in _entries(parts.criteria):
        lists.append((("criteria", index, "considerations"), criterion.considerations))
    for path, notes in lists:
        for index, note in _entries(notes):
            yield from _known(parts, "criteria", (*path, index, "criteria"), note.criteria)


def _history(parts: Parts) -> Iterator[Misfit]:
    if parts.version is None:
        return
    for index, change in _entries(parts.changelog):
        if change.version and version_key(change.version) > version_key(parts.version):
            yield Misfit(
                ("changelog", index, "version"),
                f"{change.version} is later than the rubric's own version {parts.version}",
            )
    mapping = parts.mapping
    if mapping is None:
        return
    if version_key(mapping.from_version) >= version_key(parts.version):
        yield Misfit(("mapping", "from_version"), f"must be earlier than {parts.version}")
    yield from _known(parts, "criteria", ("mapping", "added"), mapping.added)
    targets = [renamed.now for renamed in mapping.renamed]
    for index, renamed in enumerate(mapping.renamed):
        if renamed.now in targets[:index]:
            place: Path = ("mapping", "renamed", index, "now")
            yield Misfit(place, f"{renamed.now!r} takes over two criteria")
        yield from _known(parts, "criteria", ("mapping", "renamed", index, "now"), [renamed.now])


def _known(
    parts: Parts, section: str, path: Path, names: Iterable[str | None] | None
) -> Iterator[Misfit]:
    """References to entries of a section, if that section was read whole."""
    entries = getattr(parts, section) or ()
    if section in parts.faulty and (
        not entries or any(one is None or one.id is None for one in entries)
    ):
        return
    known = [entry.id for _, entry in _entries(entries)]
    for name in names or ():
        if name is not None and name not in known:
            yield Misfit(path, f"{name!r} is not defined in {section}", suggestion(name, known))
