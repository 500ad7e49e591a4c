"""How far a rater is: counted once, moved on by what is handed in, and counted anew in time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.study.study_kit import as_
from tests.web.rate_kit import rating_study

from calibrant.core.study import Key
from calibrant.study.claim import Duty
from calibrant.web import tallies
from calibrant.web.tallies import Tallies
from calibrant.web.workspace import Workspace


def test_what_is_handed_in_counts_at_once_and_only_once(workspace: Workspace) -> None:
    study = as_(rating_study(workspace.plain, clock=workspace.clock), "ann")
    known, first = Tallies(), study.duties()[0]
    assert known.duty(study, 1) == first
    task = study.claim(token="tab")[0]
    known.handed_in(study, task.key)
    known.handed_in(study, task.key)
    assert known.duty(study, 1) == replace(first, done=first.done + 1, open=first.open - 1)
    known.handed_in(as_(study, "bob"), task.key)
    assert known.duty(study, 1).done == first.done + 1


def test_what_happens_elsewhere_shows_in_time(workspace: Workspace) -> None:
    now = [workspace.clock()]
    study = as_(rating_study(workspace.plain, clock=lambda: now[0]), "ann")
    known, first = Tallies(), study.duties()[0]
    assert known.duty(study, 1) == first
    known.handed_in(study, Key(round=1, item="never", rater="ann"))
    now[0] += tallies.FRESH
    assert known.duty(study, 1) == first
    assert known.duty(study, 7) == Duty(7, "", 0, 0)


def test_no_more_is_known_than_there_is_room_for(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "MOST_KNOWN", 1)
    study = rating_study(workspace.plain, clock=workspace.clock)
    known = Tallies()
    for name in ("ann", "bob"):
        assert known.duty(as_(study, name), 1).open > 0
    assert list(known._known) == [(study.number, "bob")]
