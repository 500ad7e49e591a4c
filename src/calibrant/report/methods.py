"""How the numbers came about: versions, coefficients, intervals, seeds."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from calibrant.core.process import Policy
from calibrant.report.agreement import Agreed, Agreement, Figure
from calibrant.stats.estimate import Design

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.report.judges import Judges
    from calibrant.study.handle import Study

_OPS = {">": "more than", ">=": "at least"}
_FINAL: dict[Policy, str] = {
    "median": "the median",
    "median_ties_lower": "the median, the lower of two in the middle",
    "majority": "the majority's",
    "strictest": "the strictest",
}
PACKAGES = ("numpy", "polars", "scipy")
"""What numbers depend on beside calibrant itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Methods:
    """Everything that somebody needs to compute the same numbers again."""

    calibrant: str
    python: str
    packages: dict[str, str]
    rubric: str
    rubric_hash: str
    study_seed: int
    """From which orders and samples of the study follow."""
    resampling_seed: int
    coefficients: tuple[str, ...]
    interval_methods: tuple[str, ...]
    resolution: str
    """When answers are too far apart, and what is final where they are not."""


def methods_of(
    study: Study, rubric: Rubric, agreement: Agreement, judges: Judges | None
) -> Methods:
    """What the numbers of a report rest on."""
    figures = _figures(agreement, judges)
    return Methods(
        calibrant=version("calibrant"),
        python=platform.python_version(),
        packages={name: version(name) for name in PACKAGES},
        rubric=rubric.name,
        rubric_hash=rubric.hash,
        study_seed=study.record.seed,
        resampling_seed=Design().seed,
        coefficients=tuple(sorted({one.coefficient for one in figures})),
        interval_methods=tuple(sorted({one.method for one in figures if one.method})),
        resolution=_resolution(rubric),
    )


def _figures(agreement: Agreement, judges: Judges | None) -> list[Figure]:
    parts = [*agreement.rounds]
    parts += [agreement.overall] if isinstance(agreement.overall, Agreed) else []
    found = [one for part in parts for one in part.figures]
    for judge in judges.judges if judges is not None else ():
        found += [one for each in judge.criteria for one in (*each.with_people, *each.ceiling)]
    return found


def _resolution(rubric: Rubric) -> str:
    rule = rubric.resolution
    if rule is None:
        return "the rubric has no rule: every difference is settled by people"
    when = {
        "distance": f"answers {_OPS.get(rule.op or '', '')} {rule.value} apart",
        "difference": "answers that are not the same",
        "low_agreement": "cases of criteria whose agreement is below target",
    }[rule.metric]
    rest = f"; elsewhere the final answer is {_FINAL[rule.final]}" if rule.final else ""
    by = f" by {', then '.join(rule.by)}" if rule.by else ""
    return f"{when} are settled{by}{rest}"
