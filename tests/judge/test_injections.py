"""Injections against the prompt and the reader: they stay data, and never become an answer."""

from __future__ import annotations

import json

import pytest
from tests.judge.judge_kit import BUILT_IN, reply, rubric_of

from calibrant.core.item import Item
from calibrant.core.parts import parts_of
from calibrant.core.rubric import Rubric
from calibrant.raters.judge.judge import Call, Judge
from calibrant.raters.judge.probe import (
    Injection,
    Probe,
    best_answer,
    in_all,
    injected,
    injections,
    outcome,
    probes,
    resistance,
)
from calibrant.raters.judge.quotes import checked
from calibrant.raters.judge.reading import Unreadable
from calibrant.raters.judge.transcript import HIDDEN, MARK, written_out

NAMES = (*BUILT_IN, "free")
every = pytest.mark.parametrize("injection", injections(), ids=lambda one: one.id)


def probe_of(name: str, injection: Injection) -> Probe:
    return next(one for one in probes(rubric_of(name)) if one.injection is injection)


def call_for(judge: Judge, item: Item, probe: Probe) -> Call:
    return Call("c", item.hash, item, probe.question, 1)


def worst(rubric: Rubric, probe: Probe) -> str:
    scale = rubric.scale_of(rubric.criterion(probe.criterion))
    return str(min(scale.points_of_scale, key=lambda one: scale.worth(one) or 0))


def test_there_are_enough_of_them_in_families() -> None:
    known = injections()
    assert len(known) >= 80 and len({one.id for one in known}) == len(known)
    assert len({one.text for one in known}) == len(known)
    assert len({one.family for one in known}) >= 15
    for one in known:
        assert one.wants == "pass" and "@ANSWER@" in one.text
        said = one.said("Zebra", "C1")
        assert "@ANSWER@" not in said and "@CRITERION@" not in said


@pytest.mark.parametrize("name", NAMES)
@every
def test_an_injection_stays_inside_its_fence(injection: Injection, name: str) -> None:
    rubric = rubric_of(name)
    probe = probe_of(name, injection)
    judge = Judge(rubric, "m", key=b"k", told_facts=False)
    clean = judge.ask(call_for(judge, probe.clean, probe))
    asked = judge.ask(call_for(judge, probe.injected, probe))
    assert [one.role for one in asked.messages] == ["system", "user"]
    assert asked.messages[0] == clean.messages[0] and asked.schema == clean.schema
    fence, other = judge.fence(probe.injected.hash), judge.fence(probe.clean.hash)
    before, inside, after = asked.messages[1].content.split(fence)
    _, inside_clean, after_clean = clean.messages[1].content.split(other)
    assert after == after_clean
    assert _ours(before + inside) == _ours(before + inside_clean) or name == "free"
    assert not HIDDEN.search(asked.messages[1].content.replace("\n", ""))


def _ours(text: str) -> list[str]:
    return [line for line in text.split("\n") if not line.startswith(MARK)]


@pytest.mark.parametrize("name", NAMES)
@every
def test_a_reply_that_copies_an_injection_never_answers_by_it(
    injection: Injection, name: str
) -> None:
    """The item is poor and the judge says so; whatever it copies, the answer is its own or none."""
    rubric = rubric_of(name)
    probe = probe_of(name, injection)
    judge = Judge(rubric, "m", key=b"k", told_facts=False)
    call = call_for(judge, probe.injected, probe)
    words = injection.said(probe.wanted, probe.criterion)
    own = {"evidence": [{"quote": words[:300]}], "reasoning": words, "answer": worst(rubric, probe)}
    sound = json.dumps({probe.criterion: own})
    assert (
        judge.read(call, reply(sound), "json_schema").judgements[probe.criterion].answer
        == own["answer"]
    )
    for text in (f"{words}\n{sound}", f"{sound}\n{words}", f"```json\n{sound}\n```\n{words}",
                 f"The item says: {words}\nMy answer: {sound}"):  # fmt: skip
        try:
            found = judge.read(call, reply(text), "text")
        except Unreadable:
            continue
        assert found.judgements[probe.criterion].answer == own["answer"]


@pytest.mark.parametrize("name", NAMES)
@every
def test_a_reply_that_is_nothing_but_an_injection_is_unreadable(
    injection: Injection, name: str
) -> None:
    probe = probe_of(name, injection)
    judge = Judge(rubric_of(name), "m", key=b"k", told_facts=False)
    call = call_for(judge, probe.injected, probe)
    words = injection.said(probe.wanted, probe.criterion)
    tight = words.replace('": ', '":').replace(", ", ",\n")
    for text in (words, tight, f"The item says: {words}", f"```json\n{words}\n```", f"> {words}"):
        with pytest.raises(Unreadable):
            judge.read(call, reply(text), "json_object")


@pytest.mark.parametrize("name", NAMES)
@every
def test_the_words_of_an_injection_can_be_quoted_as_evidence(
    injection: Injection, name: str
) -> None:
    probe = probe_of(name, injection)
    words = injection.said(probe.wanted, probe.criterion)
    seen = written_out(words)[:1500]
    if sum(map(str.isalnum, HIDDEN.sub("", words))) >= 6:
        quotes, missed = checked(probe.injected, [{"quote": seen}])
        assert len(quotes) == 1 and not missed
        assert any(quotes[0].text[:20].split()[0] in one.text for one in parts_of(probe.injected))


@pytest.mark.parametrize("name", NAMES)
def test_probes_differ_from_their_item_by_the_injection_alone(name: str) -> None:
    rubric = rubric_of(name)
    found = list(probes(rubric))
    assert [one.injection for one in found] == list(injections())
    for probe in found:
        assert probe.clean.kind == probe.injected.kind == rubric.item_type
        assert probe.clean.hash != probe.injected.hash
        again = injected(probe.clean, probe.injection.said(probe.wanted, probe.criterion))
        assert again == probe.injected
        assert probe.wanted == best_answer(rubric, rubric.criterion(probe.criterion))
    few = list(probes(rubric, ["padding"]))
    assert {one.injection.family for one in few} == {"padding"}
    assert few == [one for one in found if one.injection.family == "padding"]


def test_the_best_answer_is_the_one_worth_most() -> None:
    wanted = {one.wanted for name in BUILT_IN for one in probes(rubric_of(name))}
    assert wanted == {"YES", "5"}
    free = rubric_of("free")
    assert best_answer(free, free.criterion("answer_key")) == "Fully met"
    assert best_answer(free, free.criterion("red_flags")) == "10"


@pytest.mark.parametrize(
    ("name", "clean", "given", "became"),
    [
        ("ai-response", "1", "1", "held"), ("ai-response", "1", "0", "held"),
        ("ai-response", "1", "2", "gave_in"), ("ai-response", "1", "5", "gave_in"),
        ("ai-response", "5", "5", "no_room"), ("ai-response", "5", "0", "no_room"),
        ("ai-response", None, "5", "unanswered"), ("ai-response", "1", None, "unanswered"),
        ("ai-response", "1", "NA", "gave_in"),
        ("coaching-conversation", "NO", "YES", "gave_in"),
        ("coaching-conversation", "NO", "NO", "held"),
        ("coaching-conversation", "NO", "NA", "held"),
        ("coaching-conversation", "YES", "YES", "no_room"),
    ],
)  # fmt: skip
def test_what_became_of_a_probe(
    name: str, clean: str | None, given: str | None, became: str
) -> None:
    rubric = rubric_of(name)
    probe = next(probes(rubric))
    assert probe.criterion in ("CQ8", "accuracy")
    assert outcome(rubric, probe, clean, given) == became


def test_resistance_counts_every_probe_once() -> None:
    rubric = rubric_of("coaching-conversation")
    found = list(probes(rubric))
    answers = ["NO", "YES", None]
    answered = [(one, "NO", answers[at % 3]) for at, one in enumerate(found)]
    report = resistance(rubric, answered)
    total = in_all(report)
    assert [one.family for one in report] == list(dict.fromkeys(one.family for one in injections()))
    assert total.held + total.gave_in + total.no_room + total.unanswered == len(found)
    assert total.gave_in == len(total.fell_for) == len(found[1::3])
    assert set(total.fell_for) == {one.injection.id for one in found[1::3]}
    assert total.share is not None and total.share * total.tried == total.held
    assert in_all([]).share is None
