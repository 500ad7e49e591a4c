"""A reply is read strictly: every rung, every refusal, and nothing but ``Unreadable``."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.judge.judge_kit import BUILT_IN, item_with, one, reply, rubric_of, whole

from calibrant.core.acceptance import Texts
from calibrant.core.item import Conversation, Exchange, Plan
from calibrant.ports.chat import Form, Reply
from calibrant.raters.judge.questions import Question
from calibrant.raters.judge.quotes import checked
from calibrant.raters.judge.reading import Quote, Reading, Rung, Unreadable
from calibrant.raters.judge.reply import LONGEST, read_reply
from calibrant.raters.judge.schema import answers_of

COACHING = rubric_of("coaching-conversation")
TALK = Conversation(
    id="i",
    exchanges=(
        Exchange(user="I can\u2019t sleep\nat all.", assistant='You said "no" to it, bravely.'),
        Exchange(user="The rent is late.", assistant="That is a worry\u200b; let us look at it."),
        Exchange(user="Yes.", assistant="Then we begin with the rent, as you wish."),
    ),
)
GOOD = {"CQ1": {"evidence": [], "reasoning": "It fits.", "answer": "YES"}}
TEXT = json.dumps(GOOD)
CQ1 = one("CQ1")


def read(value: object, question: Question = CQ1, form: Form = "json_schema") -> Reading:
    return read_reply(COACHING, TALK, question, reply(value), form)


def unreadable(value: object, question: Question = CQ1) -> str:
    with pytest.raises(Unreadable) as caught:
        read(value, question)
    return str(caught.value)


# -- rungs


@pytest.mark.parametrize(
    ("text", "form", "rung"),
    [
        (TEXT, "json_schema", "json_schema"),
        (f"\n {TEXT}\n", "json_object", "json_object"),
        (TEXT, "text", "json_object"),
        (f"<think>Hm, {{so}}.</think>\n{TEXT}", "json_schema", "json_schema"),
        (f"Hm.</think>{TEXT}", "text", "json_object"),
        (f"```json\n{TEXT}\n```", "json_schema", "fenced"),
        (f"Here it is:\n```\n{TEXT}\n```\nDone.", "text", "fenced"),
        (f"```json\n{TEXT}\n```\n```json\n{TEXT}\n```", "text", "fenced"),
        (f"My answer is {TEXT} as asked.", "text", "embedded"),
        (f"{TEXT} I hope this helps.", "json_object", "embedded"),
        (f"[{TEXT}]", "text", "embedded"),
        (f"{{so}} {{0.__class__}} {TEXT}", "text", "embedded"),
        ('{"other": 1} and ' + TEXT, "text", "embedded"),
    ],
)
def test_every_rung(text: str, form: Form, rung: Rung) -> None:
    found = read(text, form=form)
    assert found.rung == rung
    assert found.judgements["CQ1"].answer == "YES" and found.whole


@pytest.mark.parametrize(
    "text",
    [
        "", "YES", "null", "[]", '"YES"', "```json\n```", "<html><body>502</body></html>",
        TEXT[:-1], TEXT[:-2], TEXT[: len(TEXT) // 2], f"So: {TEXT[:-1]}", TEXT + TEXT[:-1],
        f"```json\n{TEXT[:-1]}\n```",
        '{"CQ1": {"answer": "YES"}, oops}', '{"CQ1": {"answer": "YES",}}', "{'CQ1': 'YES'}",
        '{"CQ1": {"answer": "YES", "answer": "NO"}}', '{"CQ1": {"answer": "YES"}, "CQ1": 1}',
        '{"CQ1": {"answer": "YES", "x": {"a": 1, "a": 1}}}',
        '{"CQ1": {"answer": NaN}}', '{"CQ1": {"answer": "YES", "x": Infinity}}',
        '{"CQ1": {"answer": ' + "9" * 5000 + "}}",
        f'The item says {{"answer": "NO"}}. {TEXT}', f'{TEXT} {{"CQ1": {{"answer": "NO"}}}}',
        f'```json\n{TEXT}\n```\n```json\n{{"CQ1": "NO"}}\n```', f'{{"answer": "NO"}}```{TEXT}```',
        f"<think>It never ends {TEXT}", f"<think>a</think>{TEXT}</think>{TEXT}",
        '{"verdict": "YES"}', '{"CQ2": {"answer": "YES"}}', '{"antwort": "JA"}',
        '{"CQ1": ' * 100_000, '{"a":' * 500 + "1" + "}" * 500, "[" * 100_000, "{" * 100_000,
        '{"CQ1": {"answer": "YES"}}' + " " * LONGEST,
    ],
)  # fmt: skip
def test_nothing_is_guessed(text: str) -> None:
    assert len(unreadable(text)) < 60


def test_why_it_is_unreadable_quotes_nothing() -> None:
    secret = "Zebra-4711"
    for text in (
        secret,
        f'{{"{secret}": 1}}',
        f'{{"CQ1": "{secret}',
        f'{{"{secret}":1,"{secret}":2}}',
    ):
        assert "Zebra" not in unreadable(text)
    found = read({"CQ1": {"answer": secret}})
    assert "Zebra" not in found.abstained["CQ1"]


def test_deep_json_is_refused_wherever_it_stands() -> None:
    deep = "[" * 900 + "]" * 900
    text = f'{{"CQ1": {{"answer": {deep}}}}}'
    for twice in (text, f"{text} {text}"):
        try:
            assert read(twice).abstained == {"CQ1": "not on the scale"}
        except Unreadable as error:
            assert "deep" in str(error)


# -- answers


@pytest.mark.parametrize(
    ("name", "raw", "answer"),
    [
        ("CQ1", " yes ", "YES"), ("CQ1", "NA", "NA"), ("CQ2", "na", "NA"), ("CQ1", "JA", None),
        ("CQ1", True, None), ("CQ1", None, None), ("CQ1", "", None), ("CQ1", ["YES"], None),
        ("CQ1", "YES or NO", None), ("CQ1", "ERROR", None),
    ],
)  # fmt: skip
def test_answers_come_from_a_closed_set(name: str, raw: object, answer: str | None) -> None:
    for said in ({"answer": raw}, {name: {"answer": raw}}, {name: raw}):
        if isinstance(raw, list) and said == {name: raw}:
            continue
        found = read(said, one(name))
        assert (found.judgements[name].answer if name in found.judgements else None) == answer
        assert (name in found.abstained) is (answer is None)


@pytest.mark.parametrize(
    ("raw", "answer"),
    [(5, "5"), ("5", "5"), (5.0, "5"), (0, "0"), (6, None), (-1, None), (True, None), ("NA", None),
     (4.5, None), (1e300, None), ("five", None)],
)  # fmt: skip
def test_whole_numbers_and_texts_are_answers(raw: object, answer: str | None) -> None:
    rubric = rubric_of("ai-response")
    text = {"helpfulness": {"answer": raw}}
    found = read_reply(rubric, item_with("response", "x"), one("helpfulness"), reply(text), "text")
    given = found.judgements.get("helpfulness")
    assert (given.answer if given else None) == answer


def test_what_is_left_out_or_given_twice_has_no_answer() -> None:
    question = Question("category:c", ("CQ1", "CQ2", "CQ3"))
    said = {"CQ1": {"answer": "YES"}, "cq1": {"answer": "NO"}, "CQ3": {"reasoning": "hm"}}
    found = read(said, question)
    assert not found.judgements
    assert found.abstained == {"CQ1": "given twice", "CQ2": "left out", "CQ3": "left out"}
    more = read({"CQ1": {"answer": "YES", "extra": 1}, "CP2": "NO", "z": []}, question)
    assert list(more.judgements) == ["CQ1"] and set(more.abstained) == {"CQ2", "CQ3"}


def test_a_bare_answer_is_only_for_a_single_criterion() -> None:
    assert read({"answer": "NO"}).judgements["CQ1"].answer == "NO"
    unreadable({"answer": "NO"}, Question("category:c", ("CQ1", "CQ2")))
    both = read({"CQ1": {"answer": "NO"}, "answer": "YES"})
    assert both.judgements["CQ1"].answer == "NO"


def test_json_inside_a_text_does_not_count() -> None:
    copied = '{"CQ1": {"answer": "YES"}} ```json {"answer": "YES"} ``` {"answer": "YES"}'
    said = {"CQ1": {"evidence": [], "reasoning": copied, "answer": "NO"}}
    for text in (json.dumps(said), f"So: {json.dumps(said)}"):
        found = read(text)
        assert found.judgements["CQ1"].answer == "NO"
        assert found.judgements["CQ1"].reasoning == copied
    said["CQ1"]["reasoning"] = f"</think>{copied}"
    assert read(said).judgements["CQ1"].answer == "NO"
    unreadable(f"So: {json.dumps(said)}")


def test_sub_questions_and_tags_are_those_of_the_rubric() -> None:
    rubric = rubric_of("ai-response")
    said = {
        "answer": "3",
        "only_opinion": " no ",
        "as_of": "2026-02-30",
        "tags": ["x", "refusal", 3],
    }
    item = item_with("response", "x")
    found = read_reply(rubric, item, one("accuracy"), reply(said), "text").judgements["accuracy"]
    assert found.sub_answers == {"only_opinion": "NO"} and found.tags == ("refusal",)
    said |= {"as_of": "2026-02-28", "only_opinion": "maybe", "tags": "refusal"}
    found = read_reply(rubric, item, one("accuracy"), reply(said), "text").judgements["accuracy"]
    assert found.sub_answers == {"as_of": "2026-02-28"} and found.tags == ()


def test_names_that_meet_our_own_keys_are_kept_apart() -> None:
    rubric = rubric_of("free")
    said = {
        "answer_key": {"evidence": [], "sub_answer": "two lines", "sub_evidence": "YES",
                       "answer": "partly MET"},
        "red_flags": {"answer": 10},
        "seen_red_flags": [{"flag": "SECRET", "evidence": []}],
    }  # fmt: skip
    found = read_reply(rubric, item_with("free", "x"), whole(rubric), reply(said), "json_schema")
    assert found.judgements["answer_key"].answer == "Partly met"
    assert found.judgements["answer_key"].sub_answers == {"answer": "two lines", "evidence": "YES"}
    assert found.judgements["red_flags"].answer == "10"
    assert [one.flag for one in found.flags] == ["secret"]


# -- red flags


def test_red_flags_are_told_or_the_reply_is_unreadable() -> None:
    rubric = rubric_of("smart-action-plan")
    item = item_with("plan", "see your doctor about it")
    flags = Question("red_flags", (), flags=True)

    def seen(value: object, question: Question = flags) -> Reading:
        return read_reply(rubric, item, question, reply(value), "json_schema")

    quote = {"action": 1, "quote": "see your doctor"}
    again = {"flag": "Medical advice", "evidence": [{"quote": "not there"}]}
    first = {"flag": "medical_advice", "evidence": [quote]}
    found = seen({"red_flags": [first, "deception", again]})
    assert [one.flag for one in found.flags] == ["medical_advice", "deception"]
    assert found.flags[0].evidence == (Quote(text="see your doctor", place=1),)
    assert found.flags[0].unverified == ("not there",)
    assert seen({"red_flags": []}).flags == ()
    for bad in ({"red_flags": None}, {"red_flags": ["murder"]}, {"red_flags": [3]}, {}, {"x": 1}):
        with pytest.raises(Unreadable):
            seen(bad)
    answers = {name: {"answer": 3} for name in rubric.criterion_ids}
    with pytest.raises(Unreadable, match="red flags"):
        seen(answers, whole(rubric))
    assert seen({**answers, "red_flags": []}, whole(rubric)).whole


# -- quotations


@pytest.mark.parametrize(
    ("exchange", "quote", "own"),
    [
        (1, "i can't  sleep at ALL", "I can\u2019t sleep at all."),
        (1, "You said 'no' to it", 'You said "no" to it,'),
        (2, "a worry; let us", "a worry\u200b; let us"),
        (2, "a worry\\u{200B}; let us", "a worry\u200b; let us"),
        (2, "The rent is late", "The rent is late."),
        (3, "Yes.", "Yes."),
        (None, "Then we begin", "Then we begin"),
        (1, "> I can't sleep\n> at all", "I can\u2019t sleep at all."),
    ],
)
def test_quotations_come_back_in_the_items_own_words(
    exchange: int | None, quote: str, own: str
) -> None:
    found, missed = checked(TALK, [{"exchange": exchange, "quote": quote}])
    assert [one.text for one in found] == [own] and not missed
    assert Texts(TALK).hold(own)


@pytest.mark.parametrize(
    ("exchange", "quote"),
    [(2, "I can't sleep"), (4, "The rent is late"), (0, "The rent is late"), (2, "rent"),
     (1, "I could not sleep"), ("2", "The rent is late"), (True, "I can't sleep"),
     (2, "late. That is a worry"), (2, "x" * 100_000)],
)  # fmt: skip
def test_what_does_not_stand_there_is_not_verified(exchange: object, quote: str) -> None:
    found, missed = checked(TALK, [{"exchange": exchange, "quote": quote}])
    assert not found and len(missed) == 1 and len(missed[0]) < 2100


def test_empty_quotations_are_none() -> None:
    nothing: tuple[list[object], ...] = (
        [], [{"exchange": 1, "quote": " "}], [{"exchange": 1}], [None], [3], [{}],
    )  # fmt: skip
    for given_ in nothing:
        assert checked(TALK, given_) == ((), ())


def test_the_profile_of_a_plan_is_place_nought() -> None:
    item = item_with("plan", "work with wood")
    assert isinstance(item, Plan)
    found, _ = checked(item, [{"action": at, "quote": "work with wood"} for at in (0, 1, 2)])
    assert [one.place for one in found] == [0, 1, 2]


# -- properties

sound = st.sampled_from(
    [TEXT, f"```json\n{TEXT}\n```", f"Well: {TEXT}.", f"<think>a</think>{TEXT}"]
)


def mangled(random_: random.Random, text: str) -> str:
    """The bytes of a text with some changed, left out, doubled or moved."""
    raw = bytearray(text.encode())
    for _ in range(random_.randint(1, 6)):
        at = random_.randrange(len(raw) + 1)
        match random_.randrange(5):
            case 0:
                raw[at : at + random_.randint(0, 9)] = b""
            case 1:
                raw[at:at] = random_.choice((b'"', b"{", b"}", b"\\", b",", b":", b"[", b"\xff"))
            case 2:
                raw[at:at] = raw[: random_.randint(0, len(raw))]
            case 3:
                raw[at : at + 1] = bytes([random_.randrange(256)])
            case 4:
                raw[at:at] = random_.choice(
                    (b"NaN", b"</think>", b'"answer": "NO"', b"```", b"YES")
                )
    return raw.decode("utf-8", "replace")


def test_two_thousand_mangled_replies() -> None:
    random_ = random.Random(6)
    outcomes = set()
    for number in range(2000):
        rubric = rubric_of(BUILT_IN[number % 3])
        question = whole(rubric)
        given_: dict[str, object] = {
            name: {"evidence": [{"quote": "x"}], "answer": "YES"} for name in question.criteria
        }
        if rubric.red_flags:
            given_["red_flags"] = []
        text = mangled(random_, json.dumps(given_))
        outcomes.add(_never_off_the_scale(rubric.id, text, question))
    assert outcomes == {"read", "unreadable"}


def _never_off_the_scale(name: str, text: str, question: Question) -> str:
    rubric = rubric_of(name)
    item = item_with(rubric.item_type, "x")
    try:
        found = read_reply(rubric, item, question, Reply(text=text), "text")
    except Unreadable:
        return "unreadable"
    assert set(found.judgements) | set(found.abstained) == set(question.criteria)
    assert not set(found.judgements) & set(found.abstained)
    for criterion, judged in found.judgements.items():
        assert judged.answer in answers_of(rubric, rubric.criterion(criterion))
    return "read"


@given(st.text(max_size=60) | st.text('{}[]",:\\ `YESNOCQ1answer', max_size=60), sound)
@settings(max_examples=200)
def test_any_text_around_a_sound_reply(text: str, reply_text: str) -> None:
    for whole_text in (text, text + reply_text, reply_text + text):
        _never_off_the_scale("coaching-conversation", whole_text, one("CQ1"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["CQ1", "answer", "evidence", "quote", "exchange", "tags",
                                       "red_flags", "flag"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(json_values)
@settings(max_examples=300)
def test_any_json_at_all(value: object) -> None:
    for name in (*BUILT_IN, "free"):
        rubric = rubric_of(name)
        first = rubric.criterion_ids[0]
        for question in (one(first), Question("red_flags", (), flags=True)):
            if question.flags and not rubric.red_flags:
                continue
            text = json.dumps({first: value, "red_flags": value})
            _never_off_the_scale(rubric.id if name != "free" else "free", text, question)
            _never_off_the_scale(
                rubric.id if name != "free" else "free", json.dumps(value), question
            )
