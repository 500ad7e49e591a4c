"""What a judge of a study puts up for people to look at."""

from __future__ import annotations

from typing import Any, cast

from tests.judge.rating_kit import TALK, all_asked, judge_of

from calibrant.core.acceptance import MAX_TEXT, accept
from calibrant.core.item import Conversation, Exchange, Item
from calibrant.engine.judge_study import StudyWork
from calibrant.engine.judging import Done, Job, Seat
from calibrant.formats.rubric_file import load_rubric
from calibrant.judging.asking import Asking
from calibrant.judging.in_study import reviewer
from calibrant.raters.chat.nobody import Nobody

COACHING = load_rubric("coaching-conversation")
TO_PEOPLE = Asking(models=("m",), escalate_to="people")


def done(item: Item) -> Done:
    judge = judge_of(COACHING)
    return Done(Job(0, item, Seat(judge, Nobody())), tuple(all_asked(judge, item)))


def test_signs_of_a_crisis_go_to_people_whatever_the_judge_says() -> None:
    words = "I want to kill myself tonight"
    talk = Conversation(id="talk", exchanges=(Exchange(user=words, assistant="Oh."),))
    assert "signs of a crisis" in reviewer(TO_PEOPLE)(done(talk))
    assert reviewer(TO_PEOPLE)(done(TALK)) == ""
    assert reviewer(Asking(models=("m",)))(done(talk)) == ""


def test_reasons_of_any_length_go_through_the_door() -> None:
    work = StudyWork(cast(Any, None), cast(Any, None), "t", lambda one: "why " * MAX_TEXT)
    form = work._form(done(TALK))
    assert len(form["review"]) == MAX_TEXT
    accept(COACHING, TALK, "LLM", form)
