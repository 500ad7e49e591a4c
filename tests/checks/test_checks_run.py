"""Checks run as the rubric wants them, whatever they do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata

import pytest
from tests.checks.check_kit import conversation, plan, quotes_hold, response, signals

from calibrant.core.errors import RubricError
from calibrant.core.item import Response
from calibrant.core.rubric import Rubric
from calibrant.formats.rubric_file import load_rubric
from calibrant.raters.checks import registry
from calibrant.raters.checks.registry import Parameter, Values, check, checks_for
from calibrant.raters.checks.run import Checker, shown_while_rating
from calibrant.raters.checks.signal import Hint, ProposeFlag, Signal, SuggestAnswer


def _with_checks(name: str, *checks: dict[str, object]) -> Rubric:
    return load_rubric(name).model_copy(update={"checks": checks})


@pytest.fixture
def marks() -> Iterator[str]:
    """A check of a plugin: a plain function on the item."""

    @check(
        name="marks",
        version="0.1",
        kinds=("response",),
        criteria=("tone_bias",),
        flags=("aggressive",),
        parameters=(Parameter("most", 2, "marks that are too many", 0, 9),),
    )
    def marks(item: Response, parameters: Values) -> Iterable[Signal]:
        """Counts exclamation marks."""
        count = item.response.count("!")
        if "boom" in item.response:
            raise RuntimeError("boom\nbang")
        yield Signal("other name", "marks", count, exceeded=count > parameters["most"],
                     criterion="tone_bias", suggestion=ProposeFlag("aggressive"))  # fmt: skip
        yield Signal("marks", "wrong", criterion="nowhere", suggestion=Hint("nowhere", "x"))
        yield Signal("marks", "own", suggestion=SuggestAnswer("tone_bias", "1", decides=True))

    yield "marks"
    registry.unregister("marks")


def test_a_plain_function_is_a_check(marks: str) -> None:
    found = Checker("response", load_rubric("ai-response")).signals(response("Why?", "So!!!"))
    by_name = {one.signal: one for one in found if one.check == marks}
    assert by_name["marks"].measured == 3
    assert by_name["marks"].exceeded
    assert by_name["marks"].suggestion == ProposeFlag("aggressive")
    assert by_name["wrong"].criterion is None
    assert by_name["wrong"].suggestion is None
    # code decides where the rubric says so, and not where a check does
    assert by_name["own"].suggestion == SuggestAnswer("tone_bias", "1")


def test_a_check_that_raises_is_told_and_stops_nothing(marks: str) -> None:
    found = Checker("response").signals(response("Why?", "boom"))
    (failed,) = [one for one in found if one.check == marks]
    assert failed.not_measured == "failed: RuntimeError: boom\\nbang"
    assert any(one.check == "response_length" for one in found)


def test_a_rubric_switches_off_and_changes(marks: str) -> None:
    rubric = _with_checks(
        "ai-response",
        {"name": "marks", "parameters": {"most": "5"}, "criteria": ["accuracy"]},
        {"name": "response_length", "enabled": "false"},
    )
    found = Checker("response", rubric).signals(response("Why?", "So!!!"))
    assert "response_length" not in {one.check for one in found}
    (own,) = [one for one in found if one.signal == "marks"]
    assert own.exceeded is False
    assert own.criterion == "accuracy"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"name": "markz"}, "did you mean"),
        ({"name": "marks", "parameters": {"mots": "1"}}, "did you mean 'most'?"),
        ({"name": "marks", "parameters": {"most": "1.5"}}, "must be a whole number"),
        ({"name": "marks", "parameters": {"most": "10"}}, "must be at most 9"),
        ({"name": "marks", "criteria": ["accuracy", "tone_bias"]}, "must be one"),
    ],
)
def test_what_a_rubric_says_wrongly_is_refused(
    marks: str, entry: dict[str, object], told: str
) -> None:
    with pytest.raises(RubricError, match="checks") as caught:
        Checker("response", _with_checks("ai-response", entry))
    assert told in str(caught.value)


def test_names_are_registered_once(marks: str) -> None:
    with pytest.raises(ValueError, match="already"):
        check(name=marks, version="1.0", kinds=("plan",))(lambda item, parameters: ())


def test_fewer_than_three_exchanges_make_history_na_by_the_rubric() -> None:
    checker = Checker("conversation", load_rubric("coaching-conversation"))
    turn = ("Hello there", "Good to see you.")
    for count in (1, 2, 3, 4):
        (found,) = [one for one in checker.signals(conversation(*[turn] * count))
                    if one.criterion == "MT4" and one.check == "precondition"]  # fmt: skip
        decided = SuggestAnswer("MT4", "NA", decides=True) if count < 3 else None
        assert (found.measured, found.suggestion) == (count, decided)


def test_before_the_own_rating_nothing_is_suggested() -> None:
    item = conversation(*[("Hello there", "How are you?")] * 4)
    silent = Checker("conversation", load_rubric("coaching-conversation"))
    assert shown_while_rating(silent, silent.signals(item)).signals == ()
    rubric = _with_checks(
        "coaching-conversation", {"name": "conversation_endings", "show_while_rating": "true"}
    )
    open_one = Checker("conversation", rubric)
    every = open_one.signals(item)
    assert any(one.suggestion is not None for one in every)
    shown = shown_while_rating(open_one, every)
    assert shown.checks == ("conversation_endings",)
    assert {one.check for one in shown.signals} == {"conversation_endings"}
    assert all(one.suggestion is None and one.exceeded is None for one in shown.signals)
    assert any(one.measured == 1.0 and one.spans for one in shown.signals)


def test_question_endings() -> None:
    item = conversation(
        ("Hi", "Tell me more. What happened?"),
        ("Hi", "Is that so? Good."),
        ("Hi", "(really?) 🙂"),
        ("Hi", "**Why now?**"),
    )
    found = signals(item, "conversation_endings")
    share = found["share_of_question_endings"]
    assert share.measured == 0.75
    assert share.exceeded
    assert [span.text for span in share.spans] == ["What happened?", "(really?", "**Why now?"]
    assert share.suggestion == SuggestAnswer("CP5", "NO")
    assert signals(item, "conversation_endings", share="0.8")[
        "share_of_question_endings"
    ].suggestion == SuggestAnswer("CP5", "YES")


def test_the_share_that_makes_a_pattern_comes_from_the_rubric() -> None:
    rubric = load_rubric("coaching-conversation")
    (chosen,) = [one for one in Checker("conversation", rubric).chosen
                 if one.definition.name == "conversation_endings"]  # fmt: skip
    assert chosen.values["share"] == float(rubric.criterion("CP5").violation.share)  # type: ignore[union-attr,arg-type]


def test_duplicate_actions() -> None:
    item = plan("Call three shops by Friday", "Write a CV", "call THREE shops, by Friday!")
    found = signals(item, "plan_shape")
    assert found["actions"].measured == 3
    assert found["duplicate_actions"].measured == 1
    assert [span.part for span in found["duplicate_actions"].spans] == [
        "actions[0].action",
        "actions[2].action",
    ]


def test_readability_is_not_measured_in_other_languages() -> None:
    text = "Ich habe das nicht gewusst, und wir sind noch nicht so weit. " * 10
    found = signals(response("Warum?", text), "response_length")
    assert found["reading_ease"].not_measured == "language not covered"
    assert found["words"].measured == 120


@pytest.mark.parametrize("kind", ["plan", "response", "conversation", "free"])
def test_every_check_names_what_its_rubric_has(kind: str) -> None:
    names = {"plan": "smart-action-plan", "response": "ai-response",
             "conversation": "coaching-conversation"}  # fmt: skip
    for one in checks_for(kind):  # type: ignore[arg-type]
        assert one.what, one.name
        rubric = load_rubric(names[one.kinds[0]])
        assert set(one.criteria) <= set(rubric.criterion_ids), one.name
        assert set(one.flags) <= {flag.id for flag in rubric.red_flags or ()}, one.name
        assert all(each.what for each in one.parameters)


def test_spans_quote_the_item() -> None:
    item = conversation(("Hi", "One. Two?"), ("Yes", "Three?"))
    quotes_hold(item, Checker("conversation").signals(item))


@dataclass(frozen=True)
class Point:
    """An entry point of another package."""

    name: str
    value: str = "package:module"

    def load(self) -> None:
        if self.name == "broken":
            raise ImportError("no such thing")
        check(name="plugged", version="2.0", kinds=("response",))(_plugged)


def _plugged(item: Response, parameters: Values) -> Iterable[Signal]:
    """Says that it is there."""
    yield Signal("plugged", "there", measured=True)


def test_other_packages_register_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [Point("good"), Point("broken")]
    monkeypatch.setattr(metadata, "entry_points", lambda group: points)
    registry.plugin_troubles.cache_clear()
    try:
        found = Checker("response").signals(response("Why?", "So."))
        assert [one.measured for one in found if one.check == "plugged"] == [True]
        (told,) = registry.plugin_troubles()
        assert "'broken'" in told
        assert "no such thing" in told
    finally:
        registry.unregister("plugged")
        registry.plugin_troubles.cache_clear()
