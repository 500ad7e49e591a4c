"""The demo's workspace: each study is in its stage, and each role has something to do at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests import postgres

from calibrant.compose import export_study, verify_bundle
from calibrant.core.errors import StudyError
from calibrant.core.item import Conversation, Plan, Response
from calibrant.demo.calendar import Calendar
from calibrant.demo.material import material
from calibrant.demo.plans import furnish_plans
from calibrant.demo.workspace import Furnished, furnish
from calibrant.ports.store import Store
from calibrant.store.doctor import examine
from calibrant.store.open import open_store
from calibrant.store.sql import SqlStore
from calibrant.study import agree
from calibrant.study.collect import Submission
from calibrant.study.handle import Study
from calibrant.study.open import enter

NOW = datetime(2026, 5, 6, 0, 20, tzinfo=UTC)
PLANS, ANSWERS, TALKS = "career-plans", "assistant-answers", "coaching-talks"
Seats = Callable[[str, str], Study]
pytestmark = pytest.mark.xdist_group("demo")


def seat_in(store: Store, study: str, actor: str) -> Study:
    found = enter(store, study, actor=actor, clock=lambda: NOW)
    return Study(found.store, found.number, found.record, found.actor, found.clock)


@pytest.fixture(scope="module", params=["memory", "postgres"])
def demo(request: pytest.FixtureRequest) -> Iterator[tuple[SqlStore, Furnished]]:
    """A furnished store that tests only look at."""
    with ExitStack() as stack:
        place = ":memory:"
        if request.param == "postgres":
            place = stack.enter_context(postgres.fresh_database(postgres.server_url()))
        store = open_store(place, create=True)
        stack.callback(store.close)
        yield store, furnish(store, clock=lambda: NOW)


@pytest.fixture
def seat(demo: tuple[SqlStore, Furnished]) -> Seats:
    return lambda study, actor: seat_in(demo[0], study, actor)


@dataclass(frozen=True)
class Touched:
    """Another furnished store, in which tests act, and what was in it before they did."""

    store: Store
    hashes: dict[str, str]


@pytest.fixture(scope="module")
def touched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Touched]:
    store = open_store(":memory:", create=True)
    made = furnish(store, clock=lambda: NOW)
    folder = tmp_path_factory.mktemp("bundles")
    yield Touched(store, {one.name: bundled(store, one.name, folder) for one in made.studies})
    store.close()


def bundled(store: Store, study: str, folder: Path) -> str:
    """The hash of everything in a study, from a bundle that has been verified."""
    written = export_study(seat_in(store, study, "Dana"), folder / study)
    assert verify_bundle(folder / study)["hash"] == written.hash
    return written.hash


def test_it_tells_what_is_there(demo: tuple[SqlStore, Furnished]) -> None:
    found = demo[1]
    assert [(one.name, one.stage) for one in found.studies] == [
        (PLANS, "calibrating"),
        (ANSWERS, "rating"),
        (TALKS, "adjudicating"),
    ]
    assert (found.lead, found.reviewer, found.adjudicator) == ("Dana", "Robin", "Alex")
    assert {found.lead, found.reviewer, found.adjudicator} < set(found.people)
    machines = set(found.members) - set(found.people)
    assert sorted(name.split("-")[0] for name in machines) == ["checks", "demo"]
    for one in found.studies:
        assert seat_in(demo[0], one.name, found.lead).number == one.number


def test_plans_are_calibrating(seat: Seats) -> None:
    lead = seat(PLANS, "Dana")
    assert [(one.kind, one.state) for one in lead.rounds()] == [
        ("calibration", "closed"),
        ("calibration", "open"),
        ("main", "planned"),
    ]
    waiting = [one for one in lead.disputes(1) if not one.discussed]
    assert len(waiting) >= 4
    assert any(one.discussed for one in lead.disputes(1))
    kinds = {one.group for one in lead.members() if "reviewer" in one.roles}
    assert kinds == {"adviser", "annotator"}
    missing = lead.blockers(3)
    assert f"{len(waiting)} disagreements of round 1 are not discussed" in missing
    assert "Robin has calibrated on 0 of 10 items" in missing


def test_answers_are_being_rated(seat: Seats) -> None:
    lead = seat(ANSWERS, "Dana")
    status = lead.status()
    assert [(one.kind, one.state) for one in status.rounds] == [
        ("onboarding", "closed"),
        ("calibration", "closed"),
        ("main", "open"),
        ("test", "open"),
    ]
    main = status.rounds[2]
    assert 0.3 < main.done / main.total < 0.9
    assert any(done == all_ for done, all_ in main.raters.values())
    assert [one.state for one in status.phases] == ["done", "done", "open", "waiting"]
    assert not any(one.warnings for one in status.phases)
    assert all(one.discussed for one in lead.disputes(2))
    assert [(one.criterion, one.next) for one in status.loops] == [("tone_bias", "test_again")]
    assert [one.rubric.version for one in lead.versions()] == ["1.0", "1.1"]
    assert lead.check_ins()
    assert [one.what for one in lead.frozen_reports()] == ["phase", "phase", "check_in"]
    assert lead.lessons()


def test_talks_are_being_adjudicated(seat: Seats) -> None:
    lead = seat(TALKS, "Dana")
    assert [(one.kind, one.state) for one in lead.rounds()] == [
        ("main", "closed"),
        ("main", "planned"),
    ]
    assert {one.kind for one in lead.members()} == {"HUMAN", "LLM", "CODE"}
    came_from = set(lead.finals()["provenance"].drop_nulls())
    assert {"consensus", "adjudicated", "unanimous"} <= came_from
    assert 10 <= lead.status().disagreements <= 60


@pytest.mark.parametrize("study", [PLANS, ANSWERS, TALKS])
def test_the_adjudicator_begins_with_safety(seat: Seats, study: str) -> None:
    cases = seat(study, "Alex").queue(limit=200)
    assert cases[0].safety
    assert not cases[-1].safety
    if study == TALKS:
        urgent = {(one.item, one.criterion) for one in cases if one.safety}
        assert {criterion for _, criterion in urgent} == {"CQ8", "CQ9"}
        assert ("talk-04", "CQ9") in urgent
        assert {cause for one in cases for cause in one.causes} >= {"difference", "judge", "check"}


def test_the_lead_has_something_of_everything_to_do(seat: Seats) -> None:
    said = [line for study in (PLANS, ANSWERS, TALKS) for line in seat(study, "Dana").status().next]
    for wanted in (
        "answer 1 question",
        "decide ",
        "discuss ",
        "close round 4: every rating is in",
        "open round 2",
        "agreement on tone_bias is low",
        "adjudicate ",
    ):
        assert any(line.startswith(wanted) for line in said), wanted


def test_calibrations_agree_as_people_do(seat: Seats) -> None:
    for study in (PLANS, ANSWERS):
        rows = seat(study, "Dana").status().agreement
        assert {one.outcome for one in rows} <= {"met", "not_met"}
        for one in rows:
            assert one.value is not None
            assert 0.3 < one.value < 0.95, one
            assert one.interval is not None
    low = {
        one.criterion for one in seat(ANSWERS, "Dana").status().agreement if one.outcome != "met"
    }
    assert low == {"tone_bias"}


def test_ratings_carry_words_marks_and_times(seat: Seats) -> None:
    for study in (PLANS, ANSWERS, TALKS):
        mine = seat(study, "Mei" if study != TALKS else "Priya").my_ratings()
        words = [one.words or {} for one in mine]
        assert any(one.get("notes") for one in words)
        assert any(one.get("evidence") for one in words)
        assert any(one.facts.get("borderline") for one in mine)
        for one in mine:
            assert one.started_at is not None
            assert one.started_at < one.submitted_at < NOW.isoformat()


def test_the_journal_is_in_order_and_spread_over_weeks(seat: Seats) -> None:
    for study, weeks in ((PLANS, 1), (ANSWERS, 3), (TALKS, 3)):
        times = [one.at[:16] for one in seat(study, "Dana").journal()]  # to the minute
        assert times == sorted(times)
        first, last = (datetime.fromisoformat(f"{one}+00:00") for one in (times[0], times[-1]))
        assert last < NOW
        assert last - first > timedelta(weeks=weeks)


def test_all_is_sound_and_the_same_in_every_store(
    demo: tuple[SqlStore, Furnished], touched: Touched, tmp_path: Path
) -> None:
    assert examine(demo[0]) == []
    made = {one.name: bundled(demo[0], one.name, tmp_path) for one in demo[1].studies}
    assert made == touched.hashes


def test_another_draw_makes_another_study(touched: Touched, tmp_path: Path) -> None:
    store = open_store(":memory:", create=True)
    furnish_plans(store, Calendar(NOW), 7)
    assert bundled(store, PLANS, tmp_path) != touched.hashes[PLANS]
    store.close()


def test_there_is_enough_of_every_kind_of_item() -> None:
    plans = [one for one in material("plans", "plan").items if isinstance(one, Plan)]
    answers = [one for one in material("responses", "response").items if isinstance(one, Response)]
    talks = [
        one
        for one in material("conversations", "conversation").items
        if isinstance(one, Conversation)
    ]
    assert len(plans) >= 12
    assert all(3 <= len(one.actions) <= 6 for one in plans)
    assert len(answers) >= 40
    assert len({one.more["question_type"] for one in answers}) >= 5
    assert any("\u0600" <= one.question[0] <= "\u06ff" for one in answers)
    assert any(len(one.response) > 1_500 for one in answers)
    assert len(talks) >= 10
    assert all(3 <= len(one.exchanges) <= 8 for one in talks)


def test_a_story_does_not_run_into_the_future() -> None:
    calendar = Calendar(NOW)
    calendar.turn_to(0, 0, 19)
    calendar.pace = timedelta(minutes=2)
    with pytest.raises(ValueError, match="future"):
        calendar()


def test_the_reviewer_reads_one_handbook_first_and_rates_at_once_elsewhere(
    touched: Touched,
) -> None:
    fresh = seat_in(touched.store, PLANS, "Robin")
    with pytest.raises(StudyError, match="acknowledge"):
        fresh.claim(token="a tab")
    fresh.acknowledge()
    assert len(fresh.claim(token="a tab", limit=50)) == 10

    mine = seat_in(touched.store, ANSWERS, "Robin")
    before = {one.round: one for one in mine.duties()}[3]
    assert before.open > 5
    tasks = mine.claim(token="a tab", limit=50)
    assert len(tasks) == before.open
    (begun,) = [one for one in tasks if one.draft]
    answers = dict.fromkeys(begun.rubric.criterion_ids, "4")
    mine.submit(
        Submission(
            key=begun.key,
            form={"answers": answers},
            request="a click",
            version=begun.version,
            lease=begun.lease,
        )
    )
    assert {one.round: one for one in mine.duties()}[3].done == before.done + 1


def test_closing_the_test_round_ends_the_loop(touched: Touched) -> None:
    lead = seat_in(touched.store, ANSWERS, "Dana")
    assert lead.status().loops
    lead.close_round(4)
    assert not lead.status().loops


def test_the_second_round_of_talks_can_be_opened(touched: Touched) -> None:
    lead = seat_in(touched.store, TALKS, "Dana")
    assert lead.blockers(2) == []
    lead.open_round(2)
    assert seat_in(touched.store, TALKS, "Robin").duties()[-1].open == 2


def test_the_adjudicator_can_decide_a_gate_and_a_flag(touched: Touched) -> None:
    judge = seat_in(touched.store, TALKS, "Alex")
    first = judge.queue()[0]
    assert first.criterion is not None
    judge.settle(first.item, first.criterion, "NO", how="adjudicated", reason="It is a lapse.")
    assert judge.queue()[0] != first

    judge = seat_in(touched.store, PLANS, "Alex")
    first = judge.queue()[0]
    judge.decide_flag(first.flags[0], confirm=True, reason="The words quoted carry it.")
    assert first.item not in {one.item for one in judge.queue() if one.safety}


def test_agreement_on_the_same_ratings_is_computed_once(
    touched: Touched, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead = seat_in(touched.store, PLANS, "Dana")
    first = lead.agreement(round=1)
    monkeypatch.setattr(agree, "agreement_of_frames", pytest.fail)
    assert lead.agreement(round=1).to_dict() == first.to_dict()
