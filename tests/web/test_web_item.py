"""Items on a page: whole, in order, as text, with the names that evidence points at."""

from __future__ import annotations

import html
import re

import pytest
from tests.web.rate_kit import a_conversation, a_plan, a_response

from calibrant.core.item import Action, FreeItem, Item, Plan, Profile, Response
from calibrant.core.parts import parts_of
from calibrant.core.scale import ChoiceScale, OrdinalScale
from calibrant.web.criterion_view import keys_of_scale
from calibrant.web.item_view import Words
from calibrant.web.rating_page import item_html
from calibrant.web.words import markdown

FREE = FreeItem(
    id="f-1", content={"title": "A letter", "lines": ["one", "two"], "more": {"deep": "er", "n": 3}}
)


@pytest.mark.parametrize("item", [a_plan(1), a_response(1), a_conversation(1), FREE])
def test_every_text_of_an_item_is_shown_under_its_name(item: Item) -> None:
    drawn = str(item_html(item))
    shown = re.findall(r'data-part="([^"]+)"', drawn)
    assert shown.count("profile.goal") <= 1
    assert sorted(map(html.unescape, shown)) == sorted(part.name for part in parts_of(item))


@pytest.mark.parametrize("item", [a_plan(1), a_response(1), a_conversation(1), FREE])
def test_what_was_written_can_be_had_back_from_every_block(item: Item) -> None:
    """A block keeps its source, or shows it sign by sign: quotations are taken from there."""
    blocks = re.findall(
        r'data-part="([^"]+)"(?: data-source="([^"]*)")?>(.*?)</div>',
        str(item_html(item)),
        re.DOTALL,
    )
    texts = {part.name: part.text for part in parts_of(item)}
    for name, source, inner in blocks:
        plain = html.unescape(source) if source else html.unescape(re.sub("<[^>]+>", "", inner))
        assert plain.split() == texts[html.unescape(name)].split(), name


PLAIN = [
    "one line", "two\nlines", "two\n\nparagraphs", "a - b and 5 > 3", "  set in", "1 apple",
    "ends with space  \nx", "“quoted” 100 % (yes): no; why? so!", "línea é ü 中文 עברית",
    "x\n\n\n\ny", "v2.0 is out",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_a_text_without_marks_is_drawn_as_markdown_would(text: str) -> None:
    words = Words("response", text)
    assert not words.is_drawn
    squeeze = re.compile(r"\s+")
    assert squeeze.sub(" ", str(words.html)) == squeeze.sub(" ", str(markdown(text)))


MARKED = [
    "**bold**", "_soft_", "`code`", "# head", "> said", "- list", "+ list", "1. first", "2) second",
    "[a](b)", "![a](b)", "<b>", "&amp;", "a | b\n--|--", "~~gone~~", "\\*", "    code", "text\n===",
    "zero\u200bwidth", "\u202eturned", "tab\there",
]  # fmt: skip


@pytest.mark.parametrize("text", MARKED)
def test_a_text_with_marks_keeps_what_was_written(text: str) -> None:
    assert Words("response", text).is_drawn


HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))",
    '"><svg onload=alert(1)>', "{{ 7*7 }}", "</textarea><script>", "![x](https://evil.example/p.png)",
    "\u202eevil\u202c", "<iframe srcdoc='x'>",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_an_item_is_text_everywhere(text: str) -> None:
    profile = Profile(goal=text, skills=(text,), barriers=(text,), lacks=(text,))
    items: list[Item] = [
        Plan(
            id="p",
            profile=profile,
            actions=(Action(action=text, metric=text, deadline=text, rationale=text),),
        ),
        Response(id="r", question=text, response=text, reference=text),
        FreeItem(id="f", content={text: text, "list": [text, {text: text}]}),
    ]
    for item in items:
        drawn = str(item_html(item))
        tags = {name.lower() for name in re.findall(r"<([a-zA-Z]+)", drawn)}
        assert not tags & {"script", "img", "svg", "iframe", "a", "textarea"}, tags
        assert "49" not in drawn
        for tag in re.findall(r"<[a-zA-Z][^<>]*>", drawn):
            names = re.findall(r"\s([a-z-]+)=", re.sub(r'"[^"]*"', '""', tag))
            allowed = {"class", "id", "dir", "scope", "aria-labelledby", "data-part", "data-source"}
            assert set(names) <= allowed, tag


def test_what_a_profile_does_not_state_is_said_so() -> None:
    bare = Plan(id="p", profile=Profile(goal="a job"), actions=(Action(action="ask"),))
    drawn = str(item_html(bare))
    assert drawn.count("not stated") == 6 + 7


def test_digits_are_the_values_and_other_answers_are_counted() -> None:
    nought = OrdinalScale(kind="ordinal", id="s", minimum=0, maximum=5)
    assert keys_of_scale(nought) == {str(one): str(one) for one in range(6)}
    ten = OrdinalScale(kind="ordinal", id="s", minimum=1, maximum=10)
    assert keys_of_scale(ten)["10"] == "10"
    below = OrdinalScale(kind="ordinal", id="s", minimum=-1, maximum=1)
    assert keys_of_scale(below) == {"-1": "1", "0": "2", "1": "3"}
    values = [{"value": one, "meaning": one} for one in ("YES", "NO", "PARTLY")]
    words = ChoiceScale.model_validate({"kind": "choice", "id": "s", "values": values})
    assert keys_of_scale(words) == {"YES": "y", "NO": "n", "PARTLY": "3"}
