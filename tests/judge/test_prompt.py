"""What a judge is told: the item first, the rubric whole, and nothing that can break out."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import re
from collections.abc import Iterator
from types import ModuleType

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.judge.judge_kit import BUILT_IN, item_with, one, rubric_of, whole

from calibrant.core import ids
from calibrant.core.criterion import Criterion
from calibrant.core.item import Conversation, Exchange
from calibrant.core.rubric import Rubric
from calibrant.core.scale import ChoiceScale
from calibrant.raters.checks.run import Checker
from calibrant.raters.judge import prompt, wording
from calibrant.raters.judge.card import Way
from calibrant.raters.judge.facts import GENERAL, SENTENCES, Measurer, facts_of
from calibrant.raters.judge.judge import Judge
from calibrant.raters.judge.kept import Kept
from calibrant.raters.judge.prompt import SYSTEM, Prompter
from calibrant.raters.judge.questions import Question, questions
from calibrant.raters.judge.quotes import checked
from calibrant.raters.judge.transcript import BEGINS, ENDS, HIDDEN, MARK, hides, transcript

FENCE = "0123456789abcdef01234567"
KINDS = ("conversation", "plan", "response", "free")
NAMES = (*BUILT_IN, "free")
hostile = st.text(
    st.one_of(
        st.sampled_from(
            '=>[]{}"\\`<|/$%\n\r\t \u200b\u202e\u2028\x85\x00\x1b\ufeff\U000e0041\ud800'
        ),
        st.characters(),
    ),
    max_size=80,
) | st.sampled_from(
    [FENCE, f"{ENDS}{FENCE}", f"\n{ENDS}{FENCE}\n", f"\r{BEGINS}{FENCE}", FENCE * 2, FENCE[:-1] * 3]
)


def user_text(name: str, question: Question, item_text: str = "x") -> str:
    rubric = rubric_of(name)
    item = item_with(rubric.item_type, item_text)
    _, user = Prompter(rubric).messages(item, question, FENCE, {})
    return user.content


@pytest.mark.parametrize("name", NAMES)
def test_the_item_comes_first_and_is_the_same_for_every_question(name: str) -> None:
    rubric = rubric_of(name)
    item = item_with(rubric.item_type, "words")
    prompter = Prompter(rubric)
    fenced = transcript(item, FENCE)
    ways: tuple[Way, ...] = ("criterion", "category", "rubric")
    for way in ways:
        for asked in questions(rubric, item, way):
            system, user = prompter.messages(item, asked, FENCE, {})
            assert (system.role, user.role, system.content) == ("system", "user", SYSTEM)
            assert user.content.startswith(fenced + "\n")


@pytest.mark.parametrize("name", NAMES)
def test_everything_a_rubric_says_of_a_criterion_is_told(name: str) -> None:
    rubric = rubric_of(name)
    together = user_text(name, whole(rubric))
    for criterion in rubric.criteria:
        alone = user_text(name, one(criterion))
        for told in (alone, together):
            for text in _told_of(rubric, criterion):
                assert text in told, (criterion.id, text)
    for flag in rubric.red_flags or ():
        for text in (flag.id, flag.title, flag.text, *flag.examples, *flag.exceptions):
            assert text in together
    assert rubric.summary in together and (rubric.scope or "") in together


def _told_of(rubric: Rubric, criterion: Criterion) -> Iterator[str]:
    yield from (criterion.title, criterion.question, criterion.detail or "")
    scale = rubric.scale_of(criterion)
    for value in map(str, scale.points_of_scale):
        yield value
        if value in criterion.anchors:
            anchor = criterion.anchors[value]
            yield from (anchor.label or "", anchor.text, *anchor.signs)
    if isinstance(scale, ChoiceScale):
        yield from (choice.meaning for choice in scale.values)
    yield from (criterion.na.when or "", criterion.na.reason or "")
    if criterion.violation and criterion.violation.share:
        yield f"{float(criterion.violation.share) * 100:g} %"
    yield from criterion.failure_examples
    for note in criterion.considerations:
        yield from (note.title, note.text)
    for tag in criterion.tags:
        yield from (tag.id, tag.title, tag.text)
    yield from (sub.question for sub in criterion.sub_questions)


@pytest.mark.parametrize("name", NAMES)
def test_approved_examples_are_told_and_disputed_ones_never(name: str) -> None:
    rubric = rubric_of(name)
    together = user_text(name, whole(rubric))
    approved = 0
    for criterion, _, shown in rubric.examples():
        words = " ".join((shown.response or shown.description or "").split())
        if shown.status == "approved":
            approved += 1
            assert words in user_text(name, one(criterion)) and words in together
        else:
            assert words not in together and (shown.dispute or "-") not in together
    assert approved or name != "ai-response"


def test_a_disputed_example_would_be_told_if_it_were_approved() -> None:
    rubric = rubric_of("ai-response")
    disputed = [one for _, _, one in rubric.examples() if one.status == "disputed"]
    assert disputed
    tree = rubric.model_dump()
    for criterion in tree["criteria"]:
        for anchor in criterion["anchors"].values():
            for shown in anchor["examples"]:
                shown |= {"status": "approved", "dispute": None}
    agreed = type(rubric).model_validate(tree)
    item = item_with("response", "x")
    _, user = Prompter(agreed).messages(item, whole(agreed), FENCE, {})
    for shown in disputed:
        assert " ".join((shown.response or shown.description or "").split()) in user.content


def test_na_is_told_as_the_rubric_has_it() -> None:
    for name in NAMES:
        rubric = rubric_of(name)
        for criterion in rubric.criteria:
            told = user_text(name, one(criterion))
            allowed = criterion.na.policy != "excluded"
            assert ("NA is not among the answers" in told) is not allowed
            assert ("Do not answer NA" in told) is (criterion.na.policy == "invalid")
            answers = Prompter(rubric).schema(one(criterion))["properties"][criterion.id]
            assert ("NA" in answers["properties"]["answer"]["enum"]) is allowed


def test_what_is_left_to_code_is_never_asked() -> None:
    rubric = rubric_of("coaching-conversation")
    pair = Exchange(user="Hello there", assistant="Welcome back")
    judge = Judge(rubric, "m", way="rubric", key=b"k")
    for count, asked in ((2, False), (3, True)):
        (call,) = judge.calls(Conversation(id="i", exchanges=(pair,) * count))
        ask = judge.ask(call)
        assert ("MT4" in ask.messages[1].content) is asked
        assert ("MT4" in ask.schema["properties"]) is asked


@given(hostile, st.sampled_from(KINDS))
@example("{0.__class__} %s ${x} {{y}}", "conversation")
@settings(max_examples=200, deadline=None)
def test_no_item_breaks_out_of_its_fence(text: str, kind: str) -> None:
    item = item_with(kind, text)
    told = transcript(item, FENCE)
    assert told.count(FENCE) == 2
    lines = told.split("\n")
    assert lines[0] == BEGINS + FENCE and lines[-1] == ENDS + FENCE
    assert len(told.splitlines()) == len(lines)
    assert not HIDDEN.search(told.replace("\n", ""))
    told.encode("utf-8")
    ours = [line for line in lines[1:-1] if not line.startswith(MARK)]
    calm = transcript(item_with(kind, "calm"), FENCE).split("\n")[1:-1]
    if text:
        assert ours == [line for line in calm if not line.startswith(MARK)]


@given(
    st.text(
        st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Mn", "Lo")), max_size=60
    ).filter(lambda text: not hides(text))
)
@example("{0.__class__.__mro__} %s %(x)d ${HOME} {{ 7*7 }} {")
@settings(max_examples=100, deadline=None)
def test_text_is_told_as_it_is(text: str) -> None:
    item = item_with("response", text.strip())
    assert f"{MARK}r {text.strip()}\n" in transcript(item, FENCE)


@given(hostile.filter(lambda text: sum(map(str.isalnum, HIDDEN.sub("", text))) > 6))
@settings(max_examples=100, deadline=None)
def test_what_a_judge_sees_can_be_quoted(text: str) -> None:
    item = item_with("conversation", text)
    told = transcript(item, FENCE).split("[exchange 2] assistant:\n")[1]
    seen = told.split("\n[exchange 3]")[0].replace(FENCE, "")
    quotes, missed = checked(item, [{"exchange": 2, "quote": seen}])
    assert len(quotes) == 1 and not missed
    assert " ".join(quotes[0].text.split()) in re.sub(r"\s+", " ", f"a {text}")


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_valid_closed_and_in_order(name: str) -> None:
    rubric = rubric_of(name)
    schema = Prompter(rubric).schema(whole(rubric))
    jsonschema.Draft202012Validator.check_schema(schema)
    known = {"type", "properties", "required", "additionalProperties", "items", "enum", "pattern",
             "maxItems"}  # fmt: skip
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        assert set(node) <= known
        if node["type"] == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
            waiting += node["properties"].values()
        elif node["type"] == "array":
            waiting.append(node["items"])
    for criterion in rubric.criteria:
        keys = list(schema["properties"][criterion.id]["properties"])
        assert keys[:2] == ["evidence", "reasoning"] and keys[-1] == "answer"
        assert (
            len(set(keys)) == len(keys) == 3 + len(criterion.sub_questions) + bool(criterion.tags)
        )
    if rubric.red_flags:
        assert list(schema["properties"])[-1].endswith("red_flags")
        assert len(schema["properties"]) == len(rubric.criteria) + 1


def test_texts_of_a_reply_hold_no_json() -> None:
    text = Prompter(rubric_of("ai-response")).schema(one("accuracy"))
    pattern = text["properties"]["accuracy"]["properties"]["reasoning"]["pattern"]
    assert re.search(pattern, "It's plain, and 'quoted' {so}.")
    for bad in ('{"answer": "5"}', "a\nb", "back\\slash", "x" * 481):
        assert not re.search(pattern, bad)


# -- facts


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker("conversation", rubric_of("coaching-conversation"))


def signals_as_facts(checker: Checker, item: Conversation) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for signal in checker.signals(item):
        told = SENTENCES.get(signal.check, {}).get(signal.signal)
        if told is not None and isinstance(signal.measured, int | float):
            words = told.before + told.number(float(signal.measured)) + told.after
            found.setdefault(told.criterion, set()).add(words)
    return found


sentence = st.sampled_from(
    ["I see.", "What now?", "Take care.", 'She asked "why?"', "Is it so?) ", "No rush.", "日本語。",
     "\x00", "One, two - three!", "¿Qué?", "- Anna", "? x"]
)  # fmt: skip


sentences = st.lists(sentence, min_size=1, max_size=4)


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=4))
@settings(max_examples=80, deadline=None)
def test_facts_are_what_the_checks_measure(
    checker: Checker, said: list[tuple[list[str], list[str]]]
) -> None:
    pairs = tuple(Exchange(user=" ".join(a), assistant=" ".join(b)) for a, b in said)
    item = Conversation(id="i", exchanges=pairs)
    facts = facts_of(Measurer(rubric_of("coaching-conversation")), item)
    told = {name: set(words) for name, words in facts.items()}
    assert told == signals_as_facts(checker, item)


@pytest.mark.parametrize("name", BUILT_IN)
def test_facts_are_numbers_and_go_with_their_criterion(name: str) -> None:
    rubric = rubric_of(name)
    item = item_with(rubric.item_type, "Zebra")
    measurer = Measurer(rubric)
    facts = facts_of(measurer, item)
    assert facts and set(facts) <= {GENERAL, *rubric.criterion_ids}
    prompter = Prompter(rubric)
    for criterion in rubric.criteria:
        _, user = prompter.messages(item, one(criterion), FENCE, facts)
        for key, told in facts.items():
            for words in told:
                assert "zebra" not in words.lower()
                assert (words in user.content) is (key in (GENERAL, criterion.id))


def test_a_judge_that_is_told_no_facts_has_another_card() -> None:
    rubric = rubric_of("coaching-conversation")
    told, untold = (Judge(rubric, "m", key=b"k", told_facts=one) for one in (True, False))
    assert untold.card.facts is None and told.card.facts is not None
    assert told.card.hash != untold.card.hash
    item = item_with("conversation", "Hello")
    assert "Measured by code" not in untold.ask(untold.calls(item)[0]).messages[1].content


def test_asking_the_whole_rubric_takes_a_sixth_of_asking_one_by_one() -> None:
    rubric = rubric_of("coaching-conversation")
    pair = Exchange(user="word " * 36, assistant="word " * 70)
    item = Conversation(id="i", exchanges=(pair,) * 15)

    def signs(way: Way) -> int:
        judge = Judge(rubric, "m", way=way, key=b"k")
        asks = [judge.ask(call) for call in judge.calls(item)]
        return sum(len(message.content) for ask in asks for message in ask.messages)

    assert signs("rubric") * 6 <= signs("criterion")
    assert signs("rubric") < signs("category") < signs("criterion")


def test_prompts_are_plain_json_text() -> None:
    for name in NAMES:
        text = user_text(name, whole(rubric_of(name)), "\ud800 \u202e")
        assert json.loads(json.dumps(text)) == text


def sentences_in(module: ModuleType) -> set[str]:
    """Texts of more than one word in the code of a module, without what explains it."""
    tree = ast.parse(inspect.getsource(module))
    explains = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in explains
        if isinstance(node.value, str) and re.search(r"[a-z]{2} [a-z]|[a-z]{2}:", node.value)
    }


def test_every_fixed_sentence_is_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the two modules of words say is part of what their hash is taken of."""
    taken: list[object] = []

    def hashed_by(value: object) -> str:
        taken.append(value)
        return "sha256:0"

    monkeypatch.setattr(ids, "content_hash", hashed_by)
    spec = importlib.util.find_spec(prompt.__name__)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    hashed = ids.canonical(taken)
    for text in sentences_in(prompt) | sentences_in(wording):
        assert ids.canonical(text)[1:-1] in hashed, text


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60)), max_size=40))
def test_what_is_kept_is_bounded(given_: list[tuple[int, int]]) -> None:
    kept: Kept[int] = Kept(most=4, signs=100)
    held: dict[int, int] = {}
    for key, signs in given_:
        if kept.get(key) is None:
            assert kept.keep(key, signs, signs) == signs
            held[key] = signs
        there = {one: size for one, size in held.items() if kept.get(one) is not None}
        assert len(kept) == len(there) <= 4 and sum(there.values()) <= 100
        assert kept.get(key) is not None
    large: Kept[int] = Kept(signs=10)
    assert large.keep(1, 5, 11) == 5 and large.get(1) is None


def test_another_item_in_the_same_place_is_told_as_itself() -> None:
    prompter = Prompter(rubric_of("ai-response"))
    for number in range(2000):
        item = item_with("response", f"number {number}")
        _, user = prompter.messages(item, one("accuracy"), FENCE, {})
        assert f"> r number {number}\n" in user.content
        assert checked(item, [{"quote": f"r number {number}"}])[0]
        del item
