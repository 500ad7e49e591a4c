"""How sure a model was, read from tokens that know nothing of JSON."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judge.judge_kit import item_with, one, rubric_of

from calibrant.core.acceptance import no_probabilities
from calibrant.ports.chat import Reply, Token
from calibrant.raters.judge.probabilities import Place, answer_places, shares
from calibrant.raters.judge.questions import Question
from calibrant.raters.judge.reading import Reading
from calibrant.raters.judge.reply import read_reply


def token(text: str, share: float = 1.0, **others: float) -> Token:
    return Token(text, ((text, math.log(share)), *((a, math.log(b)) for a, b in others.items())))


def certain(text: str) -> Token:
    return Token(text, ((text, 0.0),))


def read(name: str, question: Question, tokens: list[Token], text: str | None = None) -> Reading:
    rubric = rubric_of(name)
    said = "".join(one.text for one in tokens) if text is None else text
    reply = Reply(text=said, tokens=tuple(tokens))
    return read_reply(rubric, item_with(rubric.item_type, "x"), question, reply, "json_schema")


def told(
    name: str, criterion: str, tokens: list[Token], text: str | None = None
) -> dict[str, float]:
    found = read(name, one(criterion), tokens, text).judgements[criterion]
    if found.probabilities:
        rubric = rubric_of(name)
        assert not no_probabilities(rubric, rubric.criterion(criterion), found.probabilities)
        assert found.answer in found.probabilities
    return dict(found.probabilities)


def near(found: dict[str, float], **expected: float) -> bool:
    return set(found) == set(expected) and all(
        abs(found[name] - value) < 1e-5 for name, value in expected.items()
    )


HEAD, TAIL = '{"CQ1": {"reasoning": "because \\"answer\\": \\"NO\\"", "answer": ', "}}"


@pytest.mark.parametrize(
    "middle",
    [
        [certain('"'), token("YES", 0.7, NO=0.2, NA=0.05), certain('"')],
        [certain('"'), token("Y", 0.7, NO=0.2, NA=0.05), certain('ES"')],
        [token('"YES', 0.7, **{'"NO': 0.2, '"NA': 0.05})],
        [token(' "YES"', 0.7, **{'"NO"': 0.2, ' "NA': 0.05})],
        [certain('"'), token("yes", 0.7, No=0.2, na=0.05)],
    ],
)  # fmt: skip
def test_however_the_answer_is_cut(middle: list[Token]) -> None:
    last = [] if middle[-1].text.endswith('"') else [certain('"')]
    found = told("coaching-conversation", "CQ1", [certain(HEAD), *middle, *last, certain(TAIL)])
    assert near(found, YES=0.7, NO=0.2, NA=0.05)


def test_what_could_become_two_answers_goes_to_nobody() -> None:
    tokens = [
        certain(HEAD),
        certain('"'),
        token("YES", 0.6, N=0.3, Maybe=0.05),
        certain('"'),
        certain(TAIL),
    ]
    assert near(told("coaching-conversation", "CQ1", tokens), YES=0.6)
    tokens = [certain(HEAD), certain('"'), token("N", 0.9, YES=0.1), token("A", 0.5, O=0.4, B=0.1),
              certain('"'), certain(TAIL)]  # fmt: skip
    assert near(told("coaching-conversation", "CQ1", tokens), YES=0.1, NA=0.45, NO=0.36)


def test_one_and_ten_are_told_apart_by_what_follows() -> None:
    head = '{"red_flags": {"answer": '
    after = Token("}", (("}", math.log(0.75)), ("0", math.log(0.25))))
    tokens = [certain(head), token("1", 0.8, **{"2": 0.2}), after, certain("}")]
    assert near(told("free", "red_flags", tokens), **{"1": 0.6, "10": 0.2, "2": 0.2})
    tokens = [
        certain(head),
        certain('"'),
        token("10", 0.5, **{"1": 0.3, '1"': 0.2}),
        certain('"}}'),
    ]
    assert near(told("free", "red_flags", tokens), **{"10": 0.5, "1": 0.2})


def test_answers_of_several_words() -> None:
    head = '{"answer_key": {"answer": "'
    tokens = [
        certain(head),
        token("Part", 0.5, Full=0.3, Not=0.1),
        certain("ly met"),
        certain('"}}'),
    ]
    found = told("free", "answer_key", tokens)
    assert near(found, **{"Partly met": 0.5, "Fully met": 0.3, "Not met": 0.1})


def test_each_criterion_has_its_own_place() -> None:
    tokens = [certain('{"CQ1": {"answer": "'), token("YES", 0.9, NO=0.1),
              certain('"}, "CQ2": {"evidence": [{"quote": "\\"answer\\""}], "answer": "'),
              token("NO", 0.6, YES=0.4), certain('"}}')]  # fmt: skip
    found = read("coaching-conversation", Question("category:c", ("CQ1", "CQ2")), tokens)
    assert near(dict(found.judgements["CQ1"].probabilities), YES=0.9, NO=0.1)
    assert near(dict(found.judgements["CQ2"].probabilities), YES=0.4, NO=0.6)


def test_a_bare_answer_has_a_place_too() -> None:
    tokens = [certain('{"answer": "'), token("YES", 0.9, NO=0.1), certain('"}')]
    assert near(told("coaching-conversation", "CQ1", tokens), YES=0.9, NO=0.1)


def test_tokens_that_go_on_beyond_the_text_or_are_bytes() -> None:
    cut = [certain(one) for one in ('{"CQ1": {"reasoning": "', "caf", "\ufffd", "\ufffd", '", ')]
    middle = [*cut, certain('"answer": "'), token("YES", 0.9, NO=0.1), certain('"}}')]
    text = '{"CQ1": {"reasoning": "caf\u00e9", "answer": "YES"}}'
    assert near(told("coaching-conversation", "CQ1", middle, text), YES=0.9, NO=0.1)
    plain = [certain('{"answer": "'), token("YES", 0.9, NO=0.1), certain('"}')]
    more = [certain("\n"), *plain, certain("\n```"), certain("")]
    assert near(told("coaching-conversation", "CQ1", more, '{"answer": "YES"}'), YES=0.9, NO=0.1)


def test_tokens_that_say_something_else_tell_nothing() -> None:
    plain = [certain('{"answer": "'), token("NO", 0.9, YES=0.1), certain('"}')]
    assert told("coaching-conversation", "CQ1", plain, '{"answer": "YES"}') == {}
    assert told("coaching-conversation", "CQ1", plain[:1], '{"answer": "YES"}') == {}
    lost = [certain('{"answer": "'), Token("YES", (("NO", -1.0),)), certain('"}')]
    assert told("coaching-conversation", "CQ1", lost) == {}
    assert told("coaching-conversation", "CQ1", [certain("")], '{"answer": "YES"}') == {}


# -- properties

WORDS = ("YES", "NO", "NA")


@given(st.sampled_from(WORDS), st.lists(st.integers(0, 60), max_size=8), st.integers(0, 3))
def test_where_tokens_are_cut_makes_no_difference(
    answer: str, cuts: list[int], blanks: int
) -> None:
    """A model that is certain of every sign is certain of its answer, however it is cut."""
    text = f'{{"CQ1": {{"reasoning": "so", "answer":{" " * blanks}"{answer}"}}}}'
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    tokens = [certain(text[a:b]) for a, b in pairwise(edges)]
    assert told("coaching-conversation", "CQ1", tokens) == {answer: 1.0}


@given(st.data())
def test_shares_never_come_to_more_than_one(data: st.DataObject) -> None:
    texts = [
        "Y",
        "YES",
        "N",
        "NO",
        "NA",
        "A",
        "O",
        "ES",
        '"',
        '"YES',
        '"NO"',
        " YES",
        "",
        "X",
        "\ufffd",
    ]
    answer = data.draw(st.sampled_from(WORDS))
    text = f'{{"answer": "{answer}"}}'
    edges = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=5))})
    tokens = []
    for a, b in pairwise(edges):
        others = data.draw(st.lists(st.sampled_from(texts), unique=True, max_size=6))
        weights = data.draw(st.lists(st.floats(0.01, 1), min_size=7, max_size=7))
        every = [text[a:b], *(one for one in others if one != text[a:b])]
        total = sum(weights[: len(every)])
        top = tuple((t, math.log(w / total)) for t, w in zip(every, weights, strict=False))
        tokens.append(Token(text[a:b], top))
    found = told("coaching-conversation", "CQ1", tokens)
    assert sum(found.values()) <= 1 and all(0 <= value <= 1 for value in found.values())
    assert answer in found


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_no_logarithm_breaks_it(value: float) -> None:
    tokens = [certain('{"answer": "'), Token("YES", (("YES", value), ("NO", value))), certain('"}')]
    told("coaching-conversation", "CQ1", tokens)


names = st.sampled_from(["CQ1", "CQ2", "answer", "evidence"])
values = st.recursive(
    st.sampled_from(["YES", "NO", 3, None, True, 'a "quote" \\ {[', "}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=9,
)


@given(st.dictionaries(names, values), st.booleans())
def test_places_are_those_of_the_answers(value: dict[str, object], spaced: bool) -> None:
    text = "Well: " + json.dumps(value, indent=2 if spaced else None)
    places = answer_places(text, text.index("{"), "answer")
    expected = {"": value.get("answer")} if "answer" in value else {}
    for name, inner in value.items():
        if isinstance(inner, dict) and "answer" in inner:
            expected[name] = inner["answer"]
    plain = {name: one for name, one in expected.items() if not isinstance(one, dict | list)}
    found = {}
    for name, (start, end, quoted) in places.items():
        edge = 1 if quoted else 0
        found[name] = json.loads(text[start - edge : end + edge])
    assert found == plain


def test_a_place_outside_of_the_tokens() -> None:
    assert shares([certain("x")], Place(5, 6, True), WORDS, "YES") == {}
    assert shares([], Place(0, 1, False), WORDS, "YES") == {}
