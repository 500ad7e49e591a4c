"""Who acts where nobody is named."""

from __future__ import annotations

import pytest
from tests.study.study_kit import new_study, panel

from calibrant import StudyError
from calibrant.ports.store import Store
from calibrant.study.open import enter


def test_the_first_lead_who_is_still_there_acts(store: Store) -> None:
    study = new_study(store)
    panel(study, "ann")
    study.add_member("mia", roles=("lead",))
    study.add_member("noa", roles=("lead",))
    assert enter(store, "gardeners", actor=None, clock=study.clock).actor == "lena"
    study.leave("lena", reason="moved away")
    assert enter(store, "gardeners", actor=None, clock=study.clock).actor == "mia"


def test_a_study_that_nobody_leads_asks_who_acts(store: Store) -> None:
    study = new_study(store)
    panel(study, "ann")
    store.write(lambda tx: tx.set_member_left(study.number, "lena", study.now()))
    with pytest.raises(StudyError, match="nobody leads study 'gardeners' by now: say who acts"):
        enter(store, "gardeners", actor=None, clock=study.clock)
    assert enter(store, "gardeners", actor="ann", clock=study.clock).actor == "ann"
