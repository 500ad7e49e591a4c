"""Studies in which people have answered apart, for the pages on which that is settled."""

from __future__ import annotations

from typing import Any

from tests.study.study_kit import PLANS, as_, new_study, panel, plan_item

from calibrant import Rubric, Study, Submission
from calibrant.core.plan import Plan
from calibrant.core.study import Key, RoundKind
from calibrant.ports.store import Store

FREE = PLANS.model_copy(
    update={"calibration": None, "resolution": PLANS.resolution.model_copy(update={"by": None})}  # type: ignore[union-attr]
)
"""The rubric for plans, with nothing to do before an adjudicator decides."""
STRICT = PLANS.model_copy(update={"calibration": None})
RED = next(one.id for one in PLANS.red_flags or () if one.evidence != "item_and_profile")
ITEM, OTHER = "plan-000", "plan-001"
QUOTE = "visit 0 nurseries"


def disagreeing(
    store: Store, rubric: Rubric = FREE, *, items: int = 2, kind: RoundKind = "main"
) -> Study:
    """Ann and bob answered everything apart; ada adjudicates, vic looks on, cy has not rated."""
    study = new_study(store, rubric)
    study.add_items([plan_item(number) for number in range(items)])
    panel(study, "ann", "bob", "cy")
    study.add_member("ada", roles=("adjudicator",))
    study.add_member("vic", roles=("viewer",))
    study.plan_round(kind, plan=Plan(way="everyone"), raters=("ann", "bob"), sample=items)
    study.open_round(1, override="for the test")
    for number in range(items):
        item = f"plan-{number:03}"
        hand_in(study, "ann", item, "1", notes={"realism": "five <b>hours</b> are few"})
        quote = f"visit {number} nurseries"
        hand_in(study, "bob", item, "4", evidence={"realism": [quote]})
    study.close_round(1)
    return study


def hand_in(study: Study, rater: str, item: str, value: str, **form: Any) -> None:
    mine = as_(study, rater)
    mine.acknowledge()
    answers = dict.fromkeys(PLANS.criterion_ids, value)
    key = Key(round=1, item=item, rater=rater)
    mine.submit(Submission(key=key, form={"answers": answers, **form}, request=f"{rater}/{item}"))
