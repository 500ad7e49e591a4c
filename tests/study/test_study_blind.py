"""Nothing that another rater, judge or check answered can be read before its time.

Everybody answers with a word of their own, so that a word in the wrong hands shows. The test
walks every verb there is, for every role, in every state of a round; a verb that this file does
not know fails it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import polars as pl
import pytest
from tests.study.study_kit import Ticking, as_, new_study

import calibrant.study
from calibrant import CalibrantError, Rubric, Study, Submission
from calibrant.core.item import FreeItem
from calibrant.core.plan import Plan
from calibrant.core.study import Key
from calibrant.ports.store import Store
from calibrant.store.open import open_store
from calibrant.study.contents import Contents, Tables
from calibrant.study.session import VERBS, Session

WORDS = {"ann": "APPLE", "bob": "ZEBRA", "leo": "LEMUR", "gpt": "QUOKKA", "rules": "WOMBAT"}
SECRETS = {name: (word, f"because-{name}") for name, word in WORDS.items()}
RUBRIC = Rubric.model_validate(
    {
        "id": "animals",
        "version": "1.0",
        "title": "Animals",
        "item_type": "free",
        "summary": "Which animal is it?",
        "scales": [
            {
                "kind": "choice",
                "id": "animal",
                "values": [
                    {"value": word, "meaning": word.lower(), "points": "1"}
                    for word in WORDS.values()
                ],
            }
        ],
        "categories": [{"id": "all", "title": "All", "weight": "1"}],
        "criteria": [
            {
                "id": name,
                "title": name,
                "category": "all",
                "scale": "animal",
                "question": "Which?",
                "na": {"policy": "valid"},
            }
            for name in ("first", "second")
        ],
        "red_flags": [{"id": "danger", "title": "Danger", "text": "It bites.", "effect": "reject"}],
        "aggregation": {
            "kind": "weighted_categories",
            "na_counts": "1",
            "invalid_na_counts": "0",
            "error_counts": "0",
            "missing": "error",
            "pass_mark": {"op": ">=", "value": "0.5"},
        },
        "agreement": {
            "targets": [
                {"coefficient": "percent", "op": ">=", "value": "0.5", "decided_on": "point"}
            ]
        },
        "resolution": {"metric": "difference"},
    }
)
ITEM = "i-1"


def form(name: str) -> dict[str, Any]:
    word, why = SECRETS[name]
    return {
        "answers": {"first": word, "second": word},
        "notes": {"first": why},
        "flags": [{"flag": "danger", "evidence": ["it has teeth"]}] if name == "bob" else [],
        "edge_case": why,
    }


def hand_in(study: Study, name: str, item: str = ITEM) -> None:
    mine = as_(study, name)
    if name not in ("gpt", "rules"):
        mine.acknowledge()
    key = Key(round=1, item=item, rater=name)
    mine.submit(Submission(key=key, form=form(name), request=f"{name}/{item}"))


def begun() -> Study:
    """A main round in which bob, the judge and the check have rated, and ann and leo have not."""
    study = new_study(open_store(":memory:"), RUBRIC, Ticking())
    study.add_items(
        FreeItem(id=f"i-{at}", content={"text": f"it has teeth, number {at}"}, more={"by": "m-9"})
        for at in (1, 2)
    )
    for name in ("ann", "bob"):
        study.add_member(name, group="adviser")
    study.add_member("leo", roles=("lead", "reviewer"))
    study.add_member("ada", roles=("adjudicator",))
    study.add_member("vic", roles=("viewer",))
    study.add_member("gpt", kind="LLM", card={"model": "m-9"})
    study.add_member("rules", kind="CODE", card={"checks": 1})
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(1)
    for name in ("bob", "gpt", "rules"):
        for item in ("i-1", "i-2"):
            hand_in(study, name, item)
    return study


def own_in(study: Study) -> Study:
    """The same with ann's and leo's ratings of the first item; the round is still open."""
    for name in ("ann", "leo"):
        hand_in(study, name)
    return study


def closed(study: Study) -> Study:
    """The round is closed; ann and leo never rated the second item."""
    study.close_round(1, reason="time is up")
    return study


STATES: dict[str, Callable[[], Study]] = {
    "before": begun,
    "own rating in": lambda: own_in(begun()),
    "closed": lambda: closed(own_in(begun())),
}


def everything(contents: Contents, tables: Tables) -> list[Any]:
    streams = (contents.ratings(), contents.journal(), contents.assignments(), contents.items())
    found: list[Any] = [one for stream in streams for one in stream]
    return [*found, *tables.ratings(), tables.finals(), tables.verdicts()]


BOBS = Key(round=1, item=ITEM, rater="bob")
CALLS: dict[str, Callable[[Study], Any]] = {
    "acknowledge": lambda s: s.acknowledge(),
    "add_items": lambda s: s.add_items([]),
    "add_lesson": lambda s: s.add_lesson("count twice"),
    "add_member": lambda s: s.add_member("new"),
    "admit": lambda s: s.admit_judge("gpt"),
    "agreement": lambda s: s.agreement(kinds=("HUMAN", "LLM", "CODE")),
    "answer_question": lambda s: s.answer_question(1, "yes"),
    "ask": lambda s: s.ask("what is an animal?", item=ITEM, criterion="first"),
    "audit_log": lambda s: list(s.audit_log().lines),
    "blockers": lambda s: s.blockers(1),
    "case_file": lambda s: [s.case_file(ITEM), s.case_file(ITEM, round=1)],
    "check_in": lambda s: s.check_in(attendees=["lena"], decisions="go on"),
    "check_ins": lambda s: s.check_ins(),
    "claim": lambda s: s.claim(token="t", limit=5),
    "close_round": lambda s: s.close_round(99),
    "comment": lambda s: s.comment(1, ITEM, "first", "it has stripes"),
    "comments": lambda s: [*s.comments(), *s.comments(round=1)],
    "contents": lambda s: s.contents(everything),
    "correct": lambda s: s.correct(Submission(key=BOBS, form=form("ann"), request="r"), revision=1),
    "decide_flag": lambda s: s.decide_flag(999, confirm=True, reason="seen"),
    "discuss": lambda s: s.discuss(1, ITEM, "first", outcome="ok", participants=["lena"]),
    "dismiss": lambda s: s.dismiss_judge("gpt", reason="no"),
    "disputes": lambda s: s.disputes(1),
    "drop_round": lambda s: s.drop_round(1, reason="x"),
    "duties": lambda s: s.duties(),
    "extend_round": lambda s: s.extend_round(1),
    "answers": lambda s: [s.answers()[0], s.answers(round=1)[0]],
    "finalise_rubric": lambda s: s.finalise_rubric(),
    "finals": lambda s: s.finals(),
    "finish_phase": lambda s: s.finish_phase("none"),
    "flags": lambda s: s.flags(),
    "frozen_report": lambda s: s.frozen_report(1),
    "frozen_reports": lambda s: s.frozen_reports(),
    "import_ratings": lambda s: s.import_ratings(
        pl.DataFrame({"item": [ITEM], "rater": ["nobody"], "first": ["APPLE"]})
    ),
    "item": lambda s: s.item(ITEM),
    "items": lambda s: s.items(),
    "journal": lambda s: s.journal(),
    "judges": lambda s: s.judges(),
    "keep_pseudonyms": lambda s: s.keep_pseudonyms("0" * 32),
    "keep_report": lambda s: s.keep_report(1, "{}", {}),
    "keep_guidelines": lambda s: s.keep_guidelines(reason="clear enough"),
    "latest_ratings": lambda s: s.latest_ratings(start=0, limit=9),
    "leave": lambda s: s.leave("nobody", reason="x"),
    "lessons": lambda s: s.lessons(),
    "members": lambda s: s.members(),
    "my_ratings": lambda s: s.my_ratings(),
    "no_consensus": lambda s: s.no_consensus(ITEM, "first", participants=["lena"], reason="no"),
    "open_round": lambda s: s.open_round(1),
    "phases": lambda s: s.phases(),
    "following": lambda s: [
        s.following(Key(round=1, item="i-1", rater=s.actor)),
        s.following(BOBS),
    ],
    "place": lambda s: [
        s.place(Key(round=1, item="i-1", rater=s.actor), token="t"),
        s.place(BOBS, token="t"),
    ],
    "waiting": lambda s: s.waiting(),
    "plan_round": lambda s: s.plan_round("recalibration", sample=1, dry_run=True),
    "progress": lambda s: s.progress(),
    "questions": lambda s: s.questions(),
    "queue": lambda s: s.queue(),
    "raise_flag": lambda s: s.raise_flag(ITEM, reason="look"),
    "rater_report": lambda s: s.rater_report(),
    "ratings": lambda s: [s.ratings(), s.ratings(round=1)],
    "redact": lambda s: s.redact("none", reason="x"),
    "refine": lambda s: s.refine(RUBRIC, cause="goal_change", text="x"),
    "release": lambda s: s.release(BOBS, token="t"),
    "replay": lambda s: s.replay(RUBRIC.model_copy(update={"version": "1.1"})),
    "rounds": lambda s: s.rounds(),
    "rubric": lambda s: s.rubric(),
    "save_draft": lambda s: s.save_draft(BOBS, {}, version=0, token="t"),
    "set_roles": lambda s: s.set_roles("nobody", ["viewer"]),
    "settle": lambda s: s.settle(ITEM, "first", "APPLE", how="adjudicated", reason="x"),
    "start_phase": lambda s: s.start_phase("none"),
    "status": lambda s: s.status(),
    "submit": lambda s: s.submit(Submission(key=BOBS, form=form("ann"), request="bob/i-1")),
    "submit_many": lambda s: s.submit_many(
        [Submission(key=BOBS, form=form("ann"), request="bob/i-1")]
    ),
    "take_up": lambda s: s.take_up(BOBS),
    "take_step": lambda s: s.take_step("first", "discuss", note="x"),
    "troubles": lambda s: s.troubles(),
    "verdicts": lambda s: s.verdicts(),
    "versions": lambda s: s.versions(),
    "whole_items": lambda s: s.whole_items(),
}


def told(value: Any) -> Iterator[str]:
    """Every text in a value. A rubric names all answers there are, and tells nobody's."""
    match value:
        case Rubric() | None | bool() | int() | float():
            return
        case str():
            yield value
        case pl.DataFrame():
            yield from told(value.to_dicts())
        case Mapping():
            for key, inner in value.items():
                yield from told(key)
                yield from told(inner)
        case list() | tuple() | set() | frozenset():
            for inner in value:
                yield from told(inner)
        case BaseException():
            yield str(value)
        case _ if is_dataclass(value):
            for one in fields(value):
                yield from told(getattr(value, one.name))
        case _:
            yield str(value)


def answer(study: Study, verb: str) -> str:
    """All that a call tells, be it a result or a refusal."""
    try:
        return "\n".join(told(CALLS[verb](study)))
    except CalibrantError as error:
        return str(error)


def leaked(text: str, *names: str) -> list[str]:
    return [secret for name in names for secret in SECRETS[name] if secret in text]


BLIND = {
    "ann": ("bob", "leo", "gpt", "rules"),
    "leo": ("ann", "bob", "gpt", "rules"),
    "gpt": ("ann", "bob", "leo", "rules"),
    "ada": tuple(WORDS),
    "vic": tuple(WORDS),
}


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_nobody_reads_others_before_the_round_is_closed(verb: str) -> None:
    assert verb in CALLS, f"say here how {verb!r} is called, so that it is walked"
    for state in ("before", "own rating in"):
        for actor, others in BLIND.items():
            text = answer(as_(STATES[state](), actor), verb)
            assert not leaked(text, *others), (state, actor, text)


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_who_has_not_rated_an_item_does_not_read_of_it_afterwards_either(verb: str) -> None:
    # a lead takes everything out once all rounds are closed: nobody is kept from leaving
    for actor in ("ann", "leo") if verb != "contents" else ("ann",):
        study = STATES["closed"]()
        # take the ratings of the first item away from what is walked: only the second is left
        found = list(_about_second(as_(study, actor), verb))
        assert not leaked("\n".join(found), "bob", "gpt", "rules"), (actor, found)


def _about_second(study: Study, verb: str) -> Iterator[str]:
    try:
        result = CALLS[verb](study)
    except CalibrantError as error:
        yield str(error)
        return
    for one in result if isinstance(result, list | tuple) else [result]:
        if isinstance(one, pl.DataFrame) and "item" in one.columns:
            yield from told(one.filter(pl.col("item") == "i-2"))
        elif getattr(one, "item", None) == "i-2":
            yield from told(one)


def test_the_walk_can_see_a_leak() -> None:
    """Once the round is closed, words do come out: the test above is not blind itself."""
    study = STATES["closed"]()
    assert leaked(answer(as_(study, "ann"), "ratings"), "bob") == ["ZEBRA"]
    assert leaked(answer(as_(study, "ada"), "queue"), "bob", "ann")
    assert "because-bob" in answer(as_(study, "ada"), "flags")
    assert leaked(answer(begun(), "ratings"), "bob")  # a lead who does not rate


@pytest.mark.parametrize("verb", sorted(set(VERBS) - {"members"}))
def test_names_of_others_stay_hidden_from_raters(verb: str) -> None:
    for state, make in STATES.items():
        text = answer(as_(make(), "ann"), verb)
        for name in ("bob", "gpt", "rules"):
            assert not any(name == part for part in text.split("\n")), (state, verb, text)


def test_where_an_item_comes_from_stays_hidden_from_raters() -> None:
    for verb in VERBS:
        for actor in ("ann", "ada", "vic"):
            assert "m-9" not in answer(as_(begun(), actor), verb), (verb, actor)


def test_every_function_that_takes_a_session_is_a_verb() -> None:
    inner = {"require"}
    for module in iter_modules(calibrant.study.__path__):
        home = import_module(f"calibrant.study.{module.name}")
        for name, one in inspect.getmembers(home, inspect.isfunction):
            if one.__module__ != home.__name__ or name.startswith("_"):
                continue
            first = next(iter(inspect.signature(one).parameters), "")
            assert first != "session" or name in VERBS or name in inner, (module.name, name)


def test_every_method_of_a_study_is_a_verb() -> None:
    for name, one in inspect.getmembers(Study, callable):
        if not name.startswith("_") and name not in dir(Session):
            assert one.__name__ in VERBS, name
            assert one.__name__ in CALLS


def test_roles_are_checked_before_anything_happens(store: Store) -> None:
    study = new_study(store, RUBRIC)
    study.add_member("vic", roles=("viewer",))
    for name, verb in VERBS.items():
        if "viewer" not in verb.roles:
            with pytest.raises(CalibrantError, match="this takes a"):
                CALLS[name](as_(study, "vic"))
        with pytest.raises(CalibrantError, match="not a member"):
            CALLS[name](as_(study, "stranger"))
