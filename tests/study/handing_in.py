"""A worker that claims and hands in through a study, and may be killed at any time.

It writes down what it is about to hand in, and what was acknowledged. Started again under its
name it cannot know whether the last batch arrived, so it hands it in once more.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.study.study_kit import same

from calibrant import Study, Submission
from calibrant.compose import open_study
from calibrant.core.study import Key, Rating

BATCH = 5


def work(place: str, rater: str, name: str, folder: Path) -> None:
    """Until nothing is left that nobody else holds."""
    os.dup2(os.open(folder / f"{name}.err", os.O_CREAT | os.O_WRONLY | os.O_APPEND), 2)
    study = open_study(place, "gardeners", actor=rater)
    with (folder / f"{name}.sent").open("a+") as sent, (folder / f"{name}.ok").open("a") as told:
        sent.seek(0)
        batches = [line for line in sent if line.endswith("\n")]
        if batches:
            tell(told, hand_in(study, name, json.loads(batches[-1])))
        while tasks := study.claim(token=name, limit=BATCH):
            items = [task.key.item for task in tasks]
            sent.write(json.dumps(items) + "\n")
            sent.flush()
            tell(told, hand_in(study, name, items))
    study.store.close()


def hand_in(study: Study, name: str, items: list[str]) -> list[str]:
    """The same request for the same item, whoever hands it in for the rater."""
    rubric = study.rubric()
    batch = []
    for item in items:
        key = Key(round=1, item=item, rater=study.actor)
        form = same("4")(key, rubric)
        batch.append(Submission(key=key, form=form, request=f"rate {item}", lease=name))
    done = study.submit_many(batch)
    assert all(isinstance(one, Rating) for one in done)
    return [f"{study.actor} {item}" for item in items]


def tell(told: object, done: list[str]) -> None:
    print(*done, sep="\n", file=told, flush=True)  # type: ignore[call-overload]
