"""Every verb that changes a study leaves a line in the audit log; none tells an answer too early.

The test knows every verb there is. A new one fails it until it stands in the story below, or among
those that only read, which are run on a store that refuses to write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.study.study_kit import (
    RESPONSES,
    as_,
    new_study,
    panel,
    rate_all,
    response_item,
    same,
)
from tests.study.test_study_blind import CALLS, WORDS, begun, closed, own_in, told

from calibrant import CalibrantError, Rubric, Study, StudyError, Submission
from calibrant.core.audit import RATED, place_of
from calibrant.core.plan import Plan
from calibrant.core.study import Entry, Key
from calibrant.formats.study_tables import journal_table
from calibrant.ports.store import Store
from calibrant.store.open import open_store
from calibrant.study.session import VERBS

LINES = {
    "acknowledge": "acknowledged",
    "add_items": "items",
    "add_lesson": "lesson",
    "add_member": "member",
    "admit": "admitted",
    "answer_question": "answered",
    "ask": "asked",
    "check_in": "check_in",
    "close_round": "round",
    "comment": "comment",
    "correct": "corrected",
    "decide_flag": "flag_decided",
    "discuss": "discussed",
    "dismiss": "admitted",
    "drop_round": "round",
    "extend_round": "round",
    "finalise_rubric": "finalised",
    "finish_phase": "phase",
    "import_ratings": "round",
    "keep_guidelines": "override",
    "keep_pseudonyms": "pseudonyms",
    "keep_report": "report",
    "leave": "left",
    "no_consensus": "no_consensus",
    "open_round": "round",
    "plan_round": "round",
    "raise_flag": "flag",
    "redact": "redacted",
    "refine": "rubric",
    "set_roles": "roles",
    "settle": "settled",
    "start_phase": "phase",
    "submit": RATED,
    "submit_many": RATED,
    "take_step": "step",
}
"""The line that a verb leaves."""
SILENT = {"claim", "release", "save_draft"}
"""A rater's own unfinished sheet, and in which tab they are at it: no state of the study."""
Act = tuple[str, Study, Callable[[Study], Any]]


def submission(key: Key, value: str = "3") -> Submission:
    answers = dict.fromkeys(RESPONSES.criterion_ids, value)
    return Submission(key=key, form={"answers": answers}, request=f"{key}/{value}")


def varied(key: Key, rubric: Rubric) -> dict[str, Any]:
    """Everybody agrees, but on one criterion cat and ann do not."""
    number = int(key.item[-3:])
    answers = {name: str(1 + number % 4) for name in rubric.criterion_ids}
    answers[rubric.criterion_ids[1]] = "5" if key.rater == "cat" else "0"
    return {"answers": answers}


def story(study: Study) -> Iterator[Act]:
    """A study that has everything happen to it; each act is told before it is done."""
    lena = as_(study, "lena")
    yield "add_items", lena, lambda s: s.add_items(response_item(n) for n in range(6))
    yield "add_member", lena, lambda s: s.add_member("vic", roles=("viewer",))
    panel(study, "ann", "bob", "cat")
    study.add_member("ada", roles=("adjudicator",))
    study.add_member("gpt", kind="LLM", card={"model": "m"})
    ann, cat, ada = (as_(study, name) for name in ("ann", "cat", "ada"))
    yield "set_roles", lena, lambda s: s.set_roles("vic", ["viewer", "adjudicator"])
    yield "start_phase", lena, lambda s: s.start_phase("initial_annotation")
    all_ = [f"r-{number:03}" for number in range(6)]
    yield "plan_round", lena, lambda s: s.plan_round("calibration", items=all_)
    yield "open_round", lena, lambda s: s.open_round(1, override="a small one")
    yield "acknowledge", ann, lambda s: s.acknowledge()
    first, second = (Key(round=1, item=f"r-00{n}", rater="ann") for n in (0, 1))
    yield "submit", ann, lambda s: s.submit(submission(first))
    yield "submit_many", ann, lambda s: s.submit_many([submission(second)])
    yield "correct", ann, lambda s: s.correct(submission(first, "4"), revision=1, reason="a slip")
    yield "ask", ann, lambda s: s.ask("May tone be dry?")
    asked = lena.questions()[0].number
    yield "answer_question", lena, lambda s: s.answer_question(asked, "It may.")
    yield "raise_flag", ann, lambda s: s.raise_flag("r-001", reason="look")
    for name in ("ann", "bob", "cat", "gpt"):
        rate_all(study, name, varied)
    yield "close_round", lena, lambda s: s.close_round(1)
    flag = lena.flags()[0].number
    yield "decide_flag", ada, lambda s: s.decide_flag(flag, confirm=True, reason="seen")
    apart = ("r-002", RESPONSES.criterion_ids[1])
    yield "comment", ann, lambda s: s.comment(1, *apart, "it has stripes")
    yield "discuss", lena, lambda s: s.discuss(1, *apart, outcome="so", participants=["ann"])
    low = lena.status().loops[0]
    yield "take_step", lena, lambda s: s.take_step(low.criterion, "discuss", note="we talked")
    yield "admit", lena, lambda s: s.admit_judge("gpt", override="it is all we have")
    yield "dismiss", lena, lambda s: s.dismiss_judge("gpt", reason="people are back")
    yield "finish_phase", lena, lambda s: s.finish_phase("initial_annotation", override="go")
    yield "keep_guidelines", lena, lambda s: s.keep_guidelines(reason="clear enough")
    study.plan_round("main", plan=Plan(way="everyone"), raters=["ann", "cat"])
    study.add_items([response_item(6)])
    yield "extend_round", lena, lambda s: s.extend_round(2)
    study.open_round(2, override="go")
    for name in ("ann", "cat"):
        rate_all(study, name, varied)
    study.close_round(2)
    both = ["ann", "cat"]
    yield "no_consensus", lena, lambda s: s.no_consensus(*apart, participants=both, reason="no")
    yield "settle", ada, lambda s: s.settle(*apart, "2", how="adjudicated", reason="few")
    table = pl.DataFrame({"item": ["r-003"], "rater": ["bob"], RESPONSES.criterion_ids[0]: ["1"]})
    yield "import_ratings", lena, lambda s: s.import_ratings(table)
    study.plan_round("test", sample=1)
    yield "drop_round", lena, lambda s: s.drop_round(4, reason="too early")
    yield "check_in", lena, lambda s: s.check_in(attendees=["ann"], decisions="go on")
    held = lena.check_ins()[0].number
    yield "keep_report", lena, lambda s: s.keep_report(held, "{}", {})
    yield "add_lesson", cat, lambda s: s.add_lesson("count twice")
    yield "keep_pseudonyms", lena, lambda s: s.keep_pseudonyms("0" * 32)
    new = RESPONSES.model_copy(update={"version": "9.9", "summary": "In other words."})
    yield "refine", lena, lambda s: s.refine(new, cause="goal_change", text="x")
    yield "finalise_rubric", lena, lambda s: s.finalise_rubric()
    yield "leave", lena, lambda s: s.leave("cat", reason="moved away")
    yield "redact", lena, lambda s: s.redact("r-000", reason="asked for")


def everything(study: Study) -> list[Entry]:
    return list(as_(study, "lena").audit_log(limit=100_000).lines)


def test_every_verb_that_changes_something_leaves_a_line_with_who_did_it() -> None:
    study = new_study(open_store(":memory:"), RESPONSES)
    done = set()
    for verb, who, act in story(study):
        before = everything(study)
        act(who)
        fresh = [one for one in everything(study) if one not in before]
        assert (LINES[verb], who.actor) in {(one.kind, one.actor) for one in fresh}, (verb, fresh)
        done.add(verb)
    assert done == set(LINES)


@pytest.mark.parametrize("verb", sorted(set(VERBS) - set(LINES) - SILENT))
def test_a_verb_without_a_line_writes_nothing(verb: str) -> None:
    class Reader:
        """A store that can only be read."""

        def __init__(self, store: Store) -> None:
            self.store = store

        def __getattr__(self, name: str) -> Any:
            assert name != "write", f"{verb} writes: give it a line in the log, and say so here"
            return getattr(self.store, name)

    study = closed(own_in(begun()))
    for name in ("lena", "ann", "ada"):
        mine = as_(study, name)
        with suppress(CalibrantError):  # one without the role is refused
            CALLS[verb](replace(mine, store=Reader(mine.store)))


def rated_lines(study: Study, actor: str) -> list[tuple[str, str | None]]:
    lines = as_(study, actor).audit_log(kind=RATED).lines
    return [(one.actor, one.item) for one in lines]


def test_a_rating_is_a_line_without_what_was_answered() -> None:
    study = closed(own_in(begun()))
    lines = as_(study, "lena").audit_log(limit=1000).lines
    ratings = [one for one in lines if one.kind == RATED]
    assert len(ratings) == 8 and {one.number for one in ratings} == {0}
    first = ratings[0]
    assert (first.actor, first.round, first.item) == ("bob", 1, "i-1")
    assert (first.body["occasion"], first.body["version"]) == (1, "1.0")
    assert {key for one in ratings for key in one.body} == {"occasion", "rubric", "version"}
    said = "\n".join(told(ratings))
    assert not [word for word in (*WORDS.values(), "because", "teeth") if word in said]
    assert [one.at for one in lines] == sorted(one.at for one in lines)


def test_a_lead_who_rates_is_told_of_nobody_elses_rating_before_its_time() -> None:
    study = begun()
    assert len(rated_lines(study, "lena")) == 6 and rated_lines(study, "leo") == []
    own_in(study)
    assert rated_lines(study, "leo") == [("leo", "i-1")]
    assert {one.item for one in as_(study, "leo").audit_log().lines} <= {None, "i-1"}
    closed(study)
    assert {item for _, item in rated_lines(study, "leo")} == {"i-1"}, "the second is hidden"
    for name in ("ann", "ada", "vic", "gpt"):
        with pytest.raises(CalibrantError, match="takes a lead"):
            as_(study, name).audit_log()


def test_the_log_is_the_journal_with_ratings_woven_in() -> None:
    for actor in ("lena", "leo"):
        study = as_(closed(own_in(begun())), actor)
        whole = study.audit_log(limit=1000)
        assert whole.next is None
        assert [one for one in whole.lines if one.number] == study.journal()
        found: list[Entry] = []
        start: str | None = ""
        while start is not None:
            part = study.audit_log(start=start, limit=3, counted=True)
            assert part.total == len(whole.lines)
            found += part.lines
            start = part.next
        assert found == list(whole.lines)
        assert study.audit_log(start=str(whole.lines[5].number)).lines == whole.lines[6:]
    for wrong in ("x", "99999", "r", place_of(whole.lines[5])[:-4] + "!"):
        with pytest.raises(StudyError, match="no line"):
            study.audit_log(start=wrong)


def test_ratings_made_elsewhere_are_the_one_line_of_the_import() -> None:
    study = new_study(open_store(":memory:"), RESPONSES)
    study.add_items([response_item(1), response_item(2)])
    panel(study, "ann")
    table = {"item": ["r-001"], "rater": ["ann"], "submitted_at": ["2019-05-01T10:00:00Z"]}
    study.import_ratings(pl.DataFrame(table | {RESPONSES.criterion_ids[0]: ["1"]}))
    study.plan_round("calibration", items=["r-001", "r-002"])
    study.open_round(2, override="small")
    assert rate_all(study, "ann", same("3")) == 2
    assert sorted(rated_lines(study, "lena")) == [("ann", "r-001"), ("ann", "r-002")]
    frame = study.contents(lambda _, tables: journal_table(tables))
    kinds = frame["kind"].to_list()
    assert kinds[0] == "study" and kinds.count(RATED) == 2
    assert frame.filter(pl.col("kind") == RATED)["number"].null_count() == 2
    assert frame.filter(pl.col("kind") == RATED)["words"].null_count() == 2
