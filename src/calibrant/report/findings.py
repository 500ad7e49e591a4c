"""Everything a report says, as data: asked of a study in somebody's hands, and no more than that.

``findings`` asks the verbs of the study one after the other. What one of them refuses to tell is
``Missing`` with the reason, and the report says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant.report.agreement import Agreement, agreement_of
from calibrant.report.asking import Asked, AsTheyAre, Missing, Naming, record
from calibrant.report.disagreements import Disagreements, disagreements_of
from calibrant.report.flags import Flags, flags_of
from calibrant.report.history import History, history_of
from calibrant.report.judges import Judges, judges_of
from calibrant.report.methods import Methods, methods_of
from calibrant.report.raters import Raters, raters_of
from calibrant.report.verdicts import Verdicts, verdicts_of
from calibrant.report.work import Work, work_of

if TYPE_CHECKING:
    from calibrant.core.rubric import Rubric
    from calibrant.study.handle import Study

FORMAT = "1"
"""The version of the report's own shape, for whoever reads its JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Which study, by whose eyes, and when."""

    study: str
    title: str
    rubric: str
    rubric_title: str
    item_type: str
    start_on: str
    made_at: str
    actor: str
    masked: bool
    """Whether names are masked for the actor."""
    pseudonyms: bool
    """Whether members go by other names that the study keeps."""
    criteria: dict[str, str]
    """Titles by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """A whole report as data."""

    about: About
    work: Work
    verdicts: Verdicts
    agreement: Agreement
    raters: Raters | Missing
    judges: Judges | None
    """None where no judge rated."""
    disagreements: Disagreements
    flags: Flags
    history: History
    methods: Methods

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        found = record(self)
        assert isinstance(found, dict)
        return {"format": FORMAT, **found}


def findings(
    study: Study,
    *,
    naming: Naming | None = None,
    on_step: Callable[[str], None] = lambda step: None,
) -> Findings:
    """Everything there is to report of a study, as far as its actor may see it.

    ``naming`` says what members are called, where not as the study tells them; ``on_step`` hears
    what is being done.
    """
    asked = Asked(study, naming or AsTheyAre())
    me = next(one for one in study.members() if one.name == study.actor)
    leads = "lead" in me.roles
    rubric, rounds, used = study.rubric(), study.rounds(), study.versions()
    versions = {one.rubric.hash: one.rubric for one in used}
    journal = asked.get(lambda one: one.journal())
    on_step("verdicts and final answers")
    verdicts, finals = study.verdicts(), study.finals()
    on_step("agreement")
    agreement = agreement_of(asked, rounds, versions)
    on_step("raters")
    raters = raters_of(asked)
    on_step("judges beside people")
    judges = judges_of(asked, rounds, versions, leads=leads)
    on_step("disagreements, flags and history")
    return Findings(
        about=_about(asked, rubric, masked=not leads, pseudonyms=naming is not None),
        work=work_of(asked, rounds, versions, journal),
        verdicts=verdicts_of(rubric, verdicts, finals),
        agreement=agreement,
        raters=raters,
        judges=judges,
        disagreements=disagreements_of(asked, rubric, finals, journal),
        flags=flags_of(asked, rubric, versions, verdicts),
        history=history_of(asked, used, journal),
        methods=methods_of(study, rubric, agreement, judges),
    )


def _about(asked: Asked, rubric: Rubric, *, masked: bool, pseudonyms: bool) -> About:
    study = asked.study
    return About(
        study=study.name,
        title=asked.naming.text(study.record.title or study.name),
        rubric=rubric.name,
        rubric_title=rubric.title,
        item_type=rubric.item_type,
        start_on=study.record.start_on,
        made_at=study.now(),
        actor=asked.naming.name(study.actor),
        masked=masked,
        pseudonyms=pseudonyms,
        criteria={one.id: one.title for one in rubric.criteria},
    )
