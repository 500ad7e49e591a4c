"""A study in which something has happened: two rounds, flags, questions, a judge, low agreement."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tests.study.study_kit import RESPONSES, as_, new_study, panel, rate_all, response_item

from calibrant import Rubric, Study
from calibrant.core.plan import Plan
from calibrant.core.study import Key
from calibrant.web.workspace import Workspace

SECRET = "because-of-the-zebra"
"""Words of bob's that nobody reads before the second round is closed."""


def lively(workspace: Workspace, items: int = 10) -> Study:
    """Round 1 (calibration) is closed with low agreement on one criterion, round 2 is open.

    In round 2 bob has rated everything, ann nothing. Led by lena; ada adjudicates, vic looks on.
    """
    study = new_study(workspace.plain, RESPONSES)
    study.add_items(response_item(number) for number in range(1, items + 1))
    panel(study, "ann", "bob", "cat")
    study.add_member("ada", roles=("adjudicator",))
    study.add_member("vic", roles=("viewer",))
    study.start_phase("initial_annotation")
    study.plan_round("calibration", sample=max(items // 2, 1))
    study.open_round(1, override="a small panel")
    for name in ("ann", "bob", "cat"):
        rate_all(study, name, _form(name))
    study.close_round(1)
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(2, override="time presses")
    rate_all(study, "bob", _secretive)
    as_(study, "ann").ask("Is a joke helpful?", criterion="helpfulness")
    as_(study, "cat").ask("May tone be dry?", criterion="tone_bias")
    asked = study.questions()[0]
    study.answer_question(asked.number, "Only where it helps.", share=True)
    as_(study, "ann").raise_flag("r-001", what="edge_case", reason="two questions in one")
    study.check_in(attendees=["lena", "ann"], decisions="Read hours as hours a week.")
    study.add_lesson("Ten items were too few.")
    return study


def _form(name: str) -> Any:
    def form(key: Key, rubric: Rubric) -> Mapping[str, Any]:
        chance = random.Random(f"{key.item}")
        own = random.Random(f"{name}{key.item}")
        answers = {}
        for at, criterion in enumerate(rubric.criterion_ids):
            true = chance.choice((1, 2, 4, 5))
            slips = own.random() < (0.7 if at == 1 else 0.08)
            answers[criterion] = str(own.randint(0, 5) if slips else true)
        flagged = name == "cat" and int(key.item[-1]) % 2 == 0
        return {
            "answers": answers,
            "flags": [{"flag": "preachy", "evidence": ["It is"]}] if flagged else [],
        }

    return form


def _secretive(key: Key, rubric: Rubric) -> Mapping[str, Any]:
    return {
        "answers": dict.fromkeys(rubric.criterion_ids, "0"),
        "notes": {rubric.criterion_ids[0]: SECRET},
        "edge_case": SECRET,
        "flags": [{"flag": "dismissive", "evidence": ["It is"]}],
    }
