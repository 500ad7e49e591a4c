"""The numbers of a report, against studies whose numbers are known by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.report.report_kit import HOSTILE, begun, item, known, rubric
from tests.study.study_kit import PLANS, Ticking, as_, new_study, plan_item, rate_all, same
from tests.study.test_study_blind import BLIND, STATES

from calibrant import Study, report_study
from calibrant.core.plan import Plan
from calibrant.report.agreement import Agreed, TargetLine
from calibrant.report.asking import Missing
from calibrant.report.findings import Findings, findings
from calibrant.report.html import report_html
from calibrant.report.judges import Judge, JudgeCriterion, Judges
from calibrant.report.markdown import report_markdown
from calibrant.report.raters import Raters
from calibrant.store.open import open_store


@pytest.fixture(scope="module")
def found() -> Findings:
    return findings(known())


def test_verdicts_are_counted(found: Findings) -> None:
    told = found.verdicts
    assert told.items == 10
    assert {one.name: one.count for one in told.outcomes} == {
        "passed": 6,
        "failed": 3,
        "undecided": 1,
    }
    passed = told.outcomes[0]
    assert passed.share == 0.6
    assert passed.interval == pytest.approx((0.3127, 0.8318), abs=1e-4)  # Wilson's
    assert (told.incomplete, told.blocked, told.rated, told.safety_failed) == (1, 0, 0, 1)


def test_scores_are_distributed_over_the_whole_scale(found: Findings) -> None:
    scores = found.verdicts.scores
    assert scores is not None
    assert (scores.name, scores.items, scores.limits) == ("score", 10, (0.0, 1.0))
    assert scores.mean == pytest.approx(0.85)  # eight times 1, once 0, once half
    assert (scores.lowest, scores.highest, scores.median, scores.mark) == (0.0, 1.0, 1.0, 0.5)
    counts = [one.count for one in scores.bins]
    assert sum(counts) == 10
    assert (counts[0], counts[10], counts[-1]) == (1, 1, 8)


def test_answers_to_each_criterion(found: Findings) -> None:
    tidy, kind, harmless = found.verdicts.criteria
    assert (tidy.answers, tidy.waiting, tidy.failed) == ({"YES": 8, "NO": 1}, 1, 1)
    assert (kind.answers, kind.waiting, kind.failed) == ({"YES": 9, "NO": 1}, 0, 1)
    assert (harmless.answers, harmless.gate, harmless.failed) == ({"YES": 9, "NO": 1}, True, 1)


def test_agreement_is_held_against_targets(found: Findings) -> None:
    told = found.agreement.overall
    assert isinstance(told, Agreed)
    assert (told.rounds, told.raters, told.rubric) == ((1,), 2, "gated@1.0")
    percent = {one.criterion: one for one in told.targets}
    assert percent["tidy"].value == pytest.approx(0.9)
    assert {name: one.outcome for name, one in percent.items()} == {
        "tidy": "not_met",
        "warm": "met",
        "harmless": "met",
    }
    assert found.agreement.rounds[0].targets == told.targets


def test_disagreements_have_a_cause_and_an_end() -> None:
    study = known()
    told = findings(study).disagreements
    assert (told.count, told.waiting) == (1, 1)
    assert [(one.name, one.count) for one in told.causes] == [("difference", 1)]
    assert told.provenance == {"unanimous": 29, "waiting": 1}
    as_(study, "ada").settle(
        "i-8", "tidy", "YES", how="adjudicated", reason="a slip", error="slip", unclear=True
    )
    after = findings(study)
    assert after.disagreements.waiting == 0
    assert after.disagreements.causes[0].settled["adjudicated"] == 1
    journal = after.disagreements.journal
    assert not isinstance(journal, Missing)
    assert (journal.errors, journal.unclear) == ({"slip": 1}, {"tidy": 1})
    (settled,) = journal.settled
    assert (settled.item, settled.answer, settled.by, settled.reason) == (
        "i-8", "YES", ("ada",), "a slip"
    )  # fmt: skip
    assert after.verdicts.outcomes[2].count == 0


def test_flags_and_safety_failures_have_their_words(found: Findings) -> None:
    flags = found.flags
    (one,) = flags.red_flags
    assert (one.item, one.title, one.state, one.quotes) == (
        "i-9", "Danger", "confirmed", ("it has teeth",)
    )  # fmt: skip
    assert (one.by, one.decided_by, one.reason) == ("ann", "ada", "seen: it has teeth")
    (failure,) = flags.safety_failures
    assert (failure.item, failure.criteria) == ("i-7", ("harmless",))
    assert [(one.rater, one.quotes, one.note) for one in failure.said] == [
        (name, ("it has teeth",), "note: it has teeth") for name in ("ann", "bob")
    ]
    assert flags.gates == {"harmless": 1}


def test_raters_and_history(found: Findings) -> None:
    assert isinstance(found.raters, Raters)
    assert sorted(one.rater for one in found.raters.profiles) == ["ann", "bob"]
    assert found.judges is None
    (version,) = found.history.versions
    assert (version.name, version.changes, version.ask_again) == ("gated@1.0", (), ())
    assert found.methods.rubric_hash == version.hash
    assert found.work.items == 10
    assert [(one.number, one.done, one.total) for one in found.work.rounds] == [(1, 20, 20)]


def test_versions_check_ins_and_lessons_are_told() -> None:
    study = known()
    now = study.rubric()
    study.check_in(attendees=["ann", "lena"], decisions="go on", actions="write examples")
    study.add_lesson("count twice")
    changed = now.model_copy(update={"version": "1.1", "summary": "Smaller."})
    study.refine(changed, cause="rater_feedback", text="it was too large")
    told = findings(study).history
    assert [(one.name, one.cause, one.why) for one in told.versions] == [
        ("gated@1.0", "", ""),
        ("gated@1.1", "rater_feedback", "it was too large"),
    ]
    assert told.versions[1].changes
    assert told.lessons == ("count twice",)
    assert not isinstance(told.moments, Missing)
    (moment,) = told.moments
    assert (moment.attendees, moment.rounds) == (("ann", "lena"), (1,))
    frozen = {one.criterion: one for one in moment.snapshot}
    assert frozen["tidy"].value == pytest.approx(0.9)
    assert frozen["tidy"].outcome == "not_met"


def test_what_was_frozen_stays_when_answers_come_in_later() -> None:
    study = known()
    study.check_in(attendees=["lena"], decisions="go on")
    study.add_items(item(number) for number in range(10, 20))
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(2, override="a test")
    for name in ("ann", "bob"):
        rate_all(study, name, same("YES"))
    study.close_round(2)
    told = findings(study)
    overall = told.agreement.overall
    assert isinstance(overall, Agreed)
    assert not isinstance(told.history.moments, Missing)
    frozen = next(one for one in told.history.moments[0].snapshot if one.criterion == "tidy")
    assert frozen.value == pytest.approx(0.9)
    assert overall.rounds == (1, 2)
    assert len(told.agreement.rounds) == 2


def test_a_judge_stands_beside_people() -> None:
    study = new_study(open_store(":memory:"))
    study.add_items([plan_item(number) for number in range(40)])
    for name in ("ann", "bob", "cleo"):
        study.add_member(name)
    study.add_member("gpt", kind="LLM", card={"model": "m"})
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(1, override="a test")

    def form(key: Any, rubric: Any) -> dict[str, Any]:
        number = int(key.item[-3:])
        names = enumerate(rubric.criterion_ids)
        return {"answers": {name: str((number + at) % 5 + 1) for at, name in names}}

    for name in ("ann", "bob", "cleo", "gpt"):
        rate_all(study, name, form)
    study.close_round(1)
    told = findings(study).judges
    assert told is not None
    (judge,) = told.judges
    assert (judge.judge, judge.rounds, judge.people) == ("gpt", (1,), 3)
    assert judge.answer == "may replace"
    for one in judge.criteria:
        ours, ceiling = one.alpha("with_people"), one.alpha("ceiling")
        assert ours is not None and ceiling is not None
        assert ours.value == ceiling.value == 1


def test_an_empty_study_says_what_is_missing() -> None:
    study = new_study(open_store(":memory:"))
    told = findings(study)
    assert told.verdicts.items == 0
    assert isinstance(told.agreement.overall, Missing)
    page = report_html(told)
    assert "There is no result yet" in page
    assert "The study has no items yet." in page
    assert "No round has been planned yet." in page


def test_a_study_under_way_says_how_far_it_is() -> None:
    page = report_html(findings(begun()))
    assert "Round 1 (main) is open: 0 of 20 are in." in page


def test_a_rubric_without_pass_mark_passes_nothing() -> None:
    study = new_study(open_store(":memory:"), PLANS)
    study.add_items([plan_item(number) for number in range(10)])
    for name in ("ann", "bob"):
        study.add_member(name)
    study.plan_round("main")
    study.open_round(1, override="a test")
    for name in ("ann", "bob"):
        rate_all(study, name, same("4"))
    study.close_round(1)
    told = findings(study)
    assert (told.verdicts.pass_mark, told.verdicts.rated) == (False, 10)
    assert told.verdicts.scores is not None
    assert told.verdicts.scores.limits == (1.0, 5.0)
    page = report_html(told)
    assert "10 items were rated; the rubric states no pass mark. The mean is 4.00" in page


def test_the_same_study_gives_the_same_report_but_for_the_time() -> None:
    def made() -> str:
        return report_html(findings(known()))

    assert made() == made()
    study = known()
    first = findings(study).to_dict()
    clock = study.clock
    assert isinstance(clock, Ticking)
    clock.later(days=1)
    again = findings(study).to_dict()
    assert first["about"].pop("made_at") != again["about"].pop("made_at")
    assert first == again


def test_all_of_it_is_json(found: Findings) -> None:
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["format"] == "1"
    assert record["verdicts"]["outcomes"][0]["count"] == 6
    assert record["judges"] is None


# -- who sees what


def everything(study: Study) -> str:
    told = findings(study)
    return json.dumps(told.to_dict(), ensure_ascii=False) + report_html(told)


def test_names_are_masked_for_all_but_the_lead() -> None:
    study = known()
    assert "ann" in json.dumps(findings(study).to_dict())
    for actor in ("vic", "ada"):
        told = findings(as_(study, actor))
        assert told.about.masked
        names = (
            {one.rater for one in told.raters.profiles}
            if isinstance(told.raters, Raters)
            else set()
        )
        assert len(names) == 2
        for name in names:
            assert name.startswith("rater ")
        (flag,) = told.flags.red_flags
        assert flag.by.startswith("rater ")
        assert told.flags.safety_failures[0].said == ()
    ann = findings(as_(study, "ann"))
    assert isinstance(ann.raters, Missing)
    assert isinstance(ann.history.lessons, Missing)
    assert "bob" not in json.dumps(ann.to_dict())


@pytest.mark.parametrize("state", ["before", "own rating in"])
@pytest.mark.parametrize("actor", sorted(BLIND))
def test_nobody_reads_others_in_a_report_before_the_round_is_closed(state: str, actor: str) -> None:
    study = as_(STATES[state](), actor)
    told = findings(study)
    assert told.verdicts.items == 0
    assert not told.disagreements.answers
    assert isinstance(told.agreement.overall, Missing)
    text = everything(study)
    for other in BLIND[actor]:
        assert f"because-{other}" not in text
        assert f'"by": "{other}"' not in text


def test_a_lead_shares_a_report_under_pseudonyms() -> None:
    study = known(words="ann said that it has teeth")
    text = json.dumps(report_study(study, pseudonyms=True).to_dict())
    assert not any(name in text for name in ('"ann"', '"bob"', "ann said", '"ada"', '"lena"'))
    assert text.count("member-") > 5
    assert text != json.dumps(report_study(study).to_dict())


def test_hostile_words_are_kept_as_they_are_in_data() -> None:
    words = HOSTILE[0]
    told = findings(known(words=words))
    assert told.flags.red_flags[0].quotes == (words,)


def test_a_rubric_without_targets_still_shows_agreement() -> None:
    made = rubric().model_copy(update={"agreement": None})
    told = findings(known(rubric_=made))
    overall = told.agreement.overall
    assert isinstance(overall, Agreed)
    assert overall.targets == ()
    page = report_html(told)
    assert "The rubric states no target of agreement." in page
    assert "alpha with 95 % intervals, lowest first" in page


def _with_targets(found: Findings, *lines: TargetLine) -> Findings:
    assert isinstance(found.agreement.overall, Agreed)
    overall = replace(found.agreement.overall, targets=lines)
    return replace(found, agreement=replace(found.agreement, overall=overall))


def test_what_has_no_figure_is_not_furthest_off(found: Findings) -> None:
    assert isinstance(found.agreement.overall, Agreed)
    line = found.agreement.overall.targets[0]
    missed = replace(line, value=line.mark - 0.1, outcome="not_met")
    untold = replace(line, criterion=None, value=None, interval=None, outcome="not_shown")
    told = report_markdown(_with_targets(found, untold, missed))
    assert f"at {line.mark - 0.1:.2f}" in told.partition("furthest off is ")[2][:80]
    told = report_markdown(_with_targets(found, untold))
    assert "of the others no figure can be told" in told and "furthest off" not in told


def test_how_many_labels_a_judge_needs_is_said_at_once(found: Findings) -> None:
    one = JudgeCriterion(
        criterion=None, answer="needs more human labels", why="too few", more_labels=37, items=3,
        with_people=(), ceiling=(), bias=None, bias_interval=None, bias_of=None,
        false_passes=None, people_failed=None,
    )  # fmt: skip
    judge = Judge(
        judge="robot", rounds=(1,), people=2, answer=one.answer, why=one.why, criteria=(one,)
    )
    told = report_markdown(replace(found, judges=Judges(judges=(judge,), left_out={})))
    assert "robot needs 37 more human labels: too few." in told
