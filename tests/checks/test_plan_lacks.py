"""A lacked resource is proposed only with a quoted statement and an action that needs the thing."""

from __future__ import annotations

import pytest
from tests.checks.check_kit import plan, signals

from calibrant.raters.checks.language import NOT_COVERED
from calibrant.raters.checks.signal import ProposeFlag

FLAG = "lacked_resources"


@pytest.mark.parametrize(
    ("lack", "action", "needed"),
    [
        ("a car", "Drive to the depot by five.", True),
        ("a car", "Ask at the depot whether anybody offers a lift.", False),
        ("a car", "Ask the manager of the car wash for a trial day.", False),
        ("no driving licence", "Start as a delivery driver this month.", True),
        ("no driving licence", "Send your CV to the driving school.", False),
        ("I have no computer at home", "Install the software on your laptop.", True),
        ("I have no computer at home", "Fill in the paper form at reception.", False),
        ("no internet", "Apply online or by post.", False),
        ("I can't afford fees", "Enrol in the £890 course.", True),
        ("I can't afford fees", "Ask six employers whether they pay for the course.", False),
        ("I can't afford fees", "Spend two hours on the form.", False),
        ("no bike", "Cycle to the market.", True),
        ("I don't speak German", "Translate the leaflet into German.", True),
        ("I don't speak German", "Write a page in English.", False),
        ("no forklift licence", "Bring your forklift licence to the trial day.", True),
        ("no sewing machine", "Use your sewing machine to make ten bags.", True),
        ("a passport", "Take your birth certificate to the desk.", False),
    ],
)
def test_lacked_resources(lack: str, action: str, needed: bool) -> None:
    found = signals(plan("Write.", action, lacks=(lack,)), "plan_lacks")[FLAG]
    assert found.exceeded is needed
    if needed:
        assert found.suggestion == ProposeFlag(FLAG)
        assert (found.spans[0].part, found.spans[0].text) == ("profile.lacks[0]", lack)
        assert {one.part for one in found.spans[1:]} == {"actions[1].action"}
    else:
        assert (found.suggestion, found.spans) == (None, ())


def test_a_barrier_may_state_a_lack() -> None:
    stated = plan("Drive to the depot.", barriers=("I don't have a car",))
    assert signals(stated, "plan_lacks")[FLAG].exceeded
    other = plan("Drive to the depot.", barriers=("my car is old",))
    assert signals(other, "plan_lacks")[FLAG].not_measured == "the profile states no lack"


def test_a_silent_profile_proposes_nothing() -> None:
    found = signals(plan("Drive to the depot."), "plan_lacks")[FLAG]
    assert found.not_measured == "the profile states no lack"


def test_other_languages_are_not_measured() -> None:
    item = plan(
        "Fahren Sie mit dem Auto zu der Firma und fragen Sie nach einer Stelle", lacks=("a car",)
    )
    assert signals(item, "plan_lacks")[FLAG].not_measured == NOT_COVERED
