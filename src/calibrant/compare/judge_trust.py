"""How far a judge may be trusted beside people: what ``calibrant validate-judge`` shows.

The judge is never part of what it is measured against. Every criterion ends in one answer with its
reason: the judge may replace people, may pre-sort for them, may not be used, or more labels are
needed to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import sqrt
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calibrant.compare.gate_answers import false_passes, shutting_answers
from calibrant.compare.judge_effects import (
    Effect,
    Stability,
    effects,
    held_equal,
    stability,
    stand_together,
)
from calibrant.compare.judged import ALL_ANSWERS, Side, item_column, rated_by_both, told_of_two
from calibrant.compare.own_items import Authorship, Gaps, OwnEffect, own_effects
from calibrant.compare.rating_columns import Reading
from calibrant.compare.rating_tables import CriterionTable, RatingTable
from calibrant.compare.rulers import ALL
from calibrant.compare.trust_answer import Answer, Evidence, FalsePasses, answer_of
from calibrant.stats.agreement import of_groups, of_sets
from calibrant.stats.alternative_annotator import (
    AlternativeTest,
    AmongPeople,
    alternative_annotator,
    among_people,
)
from calibrant.stats.counts import ABSENT, Patterns, patterns
from calibrant.stats.estimate import Design, Estimate
from calibrant.stats.shares import Z95
from calibrant.stats.votes import majority
from calibrant.stats.weights import Ruler

People: TypeAlias = Literal["experts", "skilled", "crowd"]
EPSILON: dict[People, float] = {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}
"""How far a judge may be behind a person, by what it costs to ask one."""


@dataclass(frozen=True, slots=True)
class Bias:
    """How far above people the judge's answers lie."""

    what: str
    """Of the mean of a scale, or of the share of an answer."""
    value: float
    interval: tuple[float, float]


@dataclass(slots=True)
class CriterionTrust:
    """One criterion: judge beside people."""

    criterion: str | None
    n_items: int
    """Items that the judge and somebody else answered."""
    ceiling: list[Estimate]
    """Agreement of people with each other."""
    agreement: list[Estimate]
    """Agreement of the judge with people."""
    labels: tuple[str, ...]
    confusion: list[list[int]]
    """A row for each answer that most people gave, a column for each of the judge's."""
    bias: Bias | None
    test: AlternativeTest
    among: AmongPeople
    correlation: float | None
    """Of the judge with the mean of people, on a scale of numbers."""
    false_passes: FalsePasses | None
    """Only of criteria that keep a gate."""
    answer: Answer
    effects: list[Effect] = field(default_factory=list)
    """What the judge's error depends on, of the columns that were asked about."""
    own_items: list[OwnEffect] = field(default_factory=list)
    """Whether it favours what it or its family wrote, where authors are told."""
    stability: Stability | None = None

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        test = asdict(self.test)
        return {
            "criterion": self.criterion,
            "answer": asdict(self.answer),
            "n_items": self.n_items,
            "ceiling": [_record(one) for one in self.ceiling],
            "agreement": [_record(one) for one in self.agreement],
            "labels": list(self.labels),
            "confusion": self.confusion,
            "bias": None if self.bias is None else asdict(self.bias),
            "alternative_annotator_test": test | {"passed": self.test.passed},
            "among_people": asdict(self.among),
            "correlation": self.correlation,
            "false_passes": None if self.false_passes is None else asdict(self.false_passes),
            "effects": [asdict(one) for one in self.effects],
            "own_items": [asdict(one) for one in self.own_items],
            "stability": None if self.stability is None else asdict(self.stability),
        }


@dataclass(slots=True)
class JudgeTrust:
    """A judge beside people, criterion by criterion."""

    judge: str
    people: tuple[str, ...]
    criteria: list[CriterionTrust]
    excluded: list[dict[str, Any]] = field(default_factory=list)
    authors: dict[str, int] = field(default_factory=dict)
    """Items by how near their authors are to the judge: own, family, unclear, other."""
    own_untold: str = ""
    """Why it cannot be told whether it favours its own items; empty where it can."""

    @property
    def answer(self) -> Answer:
        """The least that is said of any criterion: a chain is as strong as that."""
        return min((one.answer for one in self.criteria), key=lambda one: one.rank)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "judge": self.judge,
            "people": list(self.people),
            "answer": asdict(self.answer),
            "criteria": [one.to_dict() for one in self.criteria],
            "excluded": self.excluded,
            "authors": self.authors,
            "own_untold": self.own_untold,
        }

    def to_frame(self) -> pl.DataFrame:
        """One row a criterion."""
        return pl.DataFrame([_row(one) for one in self.criteria], infer_schema_length=None)


def _record(one: Estimate) -> dict[str, Any]:
    return {
        "coefficient": one.name,
        "value": one.value,
        "interval": None if one.interval is None else list(one.interval),
        "n_items": one.n_items,
        "undefined": one.undefined,
    }


def _row(one: CriterionTrust) -> dict[str, Any]:
    passes = one.false_passes
    return {
        "criterion": one.criterion,
        "answer": one.answer.word,
        "why": one.answer.why,
        "more_labels": one.answer.more_labels,
        "n_items": one.n_items,
        "winning_rate": one.test.winning_rate,
        "advantage": one.test.advantage,
        "z": one.among.z,
        "bias": None if one.bias is None else one.bias.value,
        "false_passes": None if passes is None else passes.passed,
        "people_failed": None if passes is None else passes.failed,
        **{what.replace(" ", "_"): _own(one, what) for what in ("own model", "own family")},
    }


def _own(one: CriterionTrust, what: str) -> float | None:
    """What the judge gives its own items more than people do."""
    found = [each for each in one.own_items if (each.what, each.against) == (what, "people")]
    return found[0].slope.value if found else None


def judge_trust(
    judged: Side,
    labels: Side | None,
    how: Reading,
    *,
    judge: str | None = None,
    people: People = "skilled",
    by: Sequence[str] = (),
    authorship: Authorship | None = None,
    seed: int = 0,
) -> JudgeTrust:
    """Hold a judge beside people, in two tables or in one that tells them apart.

    ``by`` names columns that the judge's error may depend on, such as the length of an item;
    ``authorship`` says who wrote the items, to see whether the judge favours its own.
    """
    table, name, others = rated_by_both(judged, labels, how, judge=judge)
    wish = EPSILON[people], seed
    asked = [_criterion(table, one, how, (name, others), wish) for one in table.criteria]
    frames = [*judged.frames, *(labels.frames if labels is not None else ())]
    columns = {column: item_column(frames, how, column) for column in by}
    sides = [_Sides(table, one, name, others) for one in table.criteria]
    depends = [_effects(one, columns) for one in sides]
    wrote = (authorship or Authorship()).about(name, map(str, table.units["item"].to_list()))
    untold = wrote.why_not(name)
    favours = [[] if untold else _own_items(one, wrote, columns, seed) for one in sides]
    again = stability(judged, how, name)
    for one, its, own, of in zip(
        asked, *stand_together(depends, favours), table.criteria, strict=True
    ):
        one.effects, one.own_items, one.stability = its, own, again.get(of.name)
    return JudgeTrust(name, others, asked, table.excluded, wrote.counts(name), untold)


@dataclass(slots=True)
class _Sides:
    """Judge and people on one criterion."""

    table: RatingTable
    asked: CriterionTable
    judge: str
    people: tuple[str, ...]


def _effects(one: _Sides, columns: dict[str, dict[str, str]]) -> list[Effect]:
    codes, ruler, met = _met(one.table, one.asked, (one.judge, one.people))
    gap = _gap(codes, ruler)
    return [] if gap is None else effects(gap[1], _items(one.table, met), columns)


def _own_items(
    one: _Sides, wrote: Authorship, columns: dict[str, dict[str, str]], seed: int
) -> list[OwnEffect]:
    """Against people, and against judges that are relatives of nobody concerned."""
    table = one.table
    codes, ruler, met = _met(table, one.asked, (one.judge, one.people))
    items = _items(table, met)
    found = _gap(codes, ruler)
    above: NDArray[np.float64] | None = None
    strangers = wrote.strangers(one.judge, [who for who in table.raters if who not in one.people])
    if found is not None and strangers:
        rows = [table.raters.index(who) for who in (one.judge, *strangers)]
        beside, _ = _coded(one.asked, rows)
        beside = np.ascontiguousarray(beside[:, met])
        for at, who in enumerate(strangers, 1):
            stranger = np.array([near == "other" for near in wrote.near(who, items)], bool)
            beside[at, ~stranger] = ABSENT
        against = _gap(beside, ruler)
        above = None if against is None else against[1]
    gaps = Gaps(None if found is None else found[1], above, held_equal(items, columns))
    return own_effects(gaps, wrote.near(one.judge, items), wrote.wanted(one.judge), seed)


def _items(table: RatingTable, met: NDArray[np.bool_]) -> list[str]:
    return [str(one) for one in table.units["item"].filter(pl.Series(met)).to_list()]


def _met(
    table: RatingTable, asked: CriterionTable, who: tuple[str, tuple[str, ...]]
) -> tuple[NDArray[np.uint8], Ruler, NDArray[np.bool_]]:
    """Codes of judge and people, of the items that both have answered, and which these are."""
    name, people = who
    rows = [table.raters.index(name), *(table.raters.index(one) for one in people)]
    codes, ruler = _coded(asked, rows)
    met = (codes[0] != ABSENT) & (codes[1:] != ABSENT).any(axis=0)
    return np.ascontiguousarray(codes[:, met]), ruler, met


def _criterion(
    table: RatingTable,
    asked: CriterionTable,
    how: Reading,
    who: tuple[str, tuple[str, ...]],
    wish: tuple[float, int],
) -> CriterionTrust:
    (_, people), (epsilon, seed) = who, wish
    codes, ruler, _ = _met(table, asked, who)
    found = patterns(codes, len(ruler.labels))
    theirs = list(range(1, len(codes)))
    ordered = ruler.points if ruler.numeric else None
    test = alternative_annotator(found, 0, theirs, epsilon, ordered)
    agreed, ceiling = _agreement(found, theirs, ruler, Design(None, seed))
    passes = false_passes(found, ruler, shutting_answers(how.rubric, asked.name))
    shared = [one for one in ceiling if one.coefficient in ("krippendorff_alpha", "gwet_ac")]
    evidence = Evidence(test, _main(agreed, ruler), tuple(shared), passes, len(people))
    return CriterionTrust(
        None if asked.name in (ALL, ALL_ANSWERS) else asked.name,
        codes.shape[1],
        ceiling,
        agreed,
        ruler.labels,
        _confusion(found, len(ruler.labels)),
        _bias(codes, ruler),
        test,
        among_people(found, 0, theirs, len(ruler.labels), seed),
        _correlation(codes, ruler),
        passes,
        answer_of(evidence),
    )


def _coded(asked: CriterionTable, rows: Sequence[int]) -> tuple[NDArray[np.uint8], Ruler]:
    """Codes of judge and people; NA is an answer among names, and none among numbers."""
    codes, ruler = asked.codes[list(rows)], asked.ruler
    if not asked.has_na:
        return codes, ruler
    if ruler.level == "nominal":
        labels = (*ruler.labels, "NA")
        points = np.arange(len(labels), dtype=np.float64)
        return codes, replace(ruler, labels=labels, points=points)
    na = codes == len(ruler.labels)
    return np.where(na, np.uint8(ABSENT), codes), ruler


def _agreement(
    found: Patterns, people: list[int], ruler: Ruler, design: Design
) -> tuple[list[Estimate], list[Estimate]]:
    """Of the judge with people, and of people with each other."""
    wanted = ("percent", "krippendorff_alpha", "gwet_ac", "cohen_kappa")
    one_sample = Patterns(found.codes, np.atleast_2d(found.times))
    met = of_groups(one_sample, ([0], people), ruler, design)[0]
    among: list[Estimate] = []
    if len(people) > 1:
        alone = Patterns(found.codes[people], one_sample.times)
        among = of_sets(alone, ruler, design)[0]
    return [
        [one for one in some if one.coefficient in wanted and one.weights is None
         and one.level in (None, ruler.level)]
        for some in (met, among)
    ]  # type: ignore[return-value]  # fmt: skip


def _main(agreed: Sequence[Estimate], ruler: Ruler) -> Estimate | None:
    """What is looked at first: alpha at the level of the scale."""
    alphas = [one for one in agreed if one.coefficient == "krippendorff_alpha"]
    return next((one for one in alphas if one.level == ruler.level), None)


def _confusion(found: Patterns, values: int) -> list[list[int]]:
    """Most people's answer against the judge's; items without a most frequent one are left out."""
    vote = majority(Patterns(found.codes[1:], found.times), values).answer
    judge = found.codes[0]
    both = (vote != ABSENT) & (judge != ABSENT)
    cell = vote[both].astype(np.int64) * values + judge[both]
    table = np.bincount(cell, found.times[both], values * values).reshape(values, values)
    return [[int(n) for n in row] for row in table.round()]


def _bias(codes: NDArray[np.uint8], ruler: Ruler) -> Bias | None:
    """Signed: above 0 the judge is milder, or says the answer more often, than people."""
    found = _gap(codes, ruler)
    if found is None or len(found[1]) < 2:
        return None
    what, gap = found
    half = Z95 * float(gap.std(ddof=1)) / sqrt(len(gap))
    value = float(gap.mean())
    return Bias(what, value, (value - half, value + half))


def _gap(codes: NDArray[np.uint8], ruler: Ruler) -> tuple[str, NDArray[np.float64]] | None:
    """How far above people the judge is on each item, and in what."""
    if ruler.numeric:
        points, what = ruler.points, "mean"
    else:
        words = [one for one in ruler.labels if one != "NA"]
        if len(words) != 2:
            return None
        told = told_of_two(words)
        points = np.array([one == told for one in ruler.labels], np.float64)
        what = f"share of {told}"
    return what, _values(codes[:1], points) - _values(codes[1:], points)


def _values(codes: NDArray[np.uint8], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of some raters' answers to each item."""
    given = codes != ABSENT
    value = np.where(given, np.append(points, 0.0)[np.minimum(codes, len(points))], 0.0)
    with np.errstate(invalid="ignore"):  # where none of them answered there is no mean
        return np.asarray(value.sum(axis=0) / given.sum(axis=0))


def _correlation(codes: NDArray[np.uint8], ruler: Ruler) -> float | None:
    """Pearson's, of the judge with the mean of people."""
    if not ruler.numeric or codes.shape[1] < 3:
        return None
    judge, people = _values(codes[:1], ruler.points), _values(codes[1:], ruler.points)
    if judge.std() == 0 or people.std() == 0:
        return None
    return float(np.corrcoef(judge, people)[0, 1])
