"""Quotations are marked where they stand, and nothing else of the item is touched."""

from __future__ import annotations

import re

import pytest

from calibrant.web.evidence import LONGEST, highlighted
from calibrant.web.words import markdown


def drawn(text: str) -> str:
    return f'<h2>visit</h2><div class="words" dir="auto">{markdown(text)}</div>'


def marked(html: str) -> list[str]:
    return [re.sub("<[^>]*>", "", one) for one in re.findall(r"<mark[^>]*>(.*?)</mark>", html)]


def without_marks(html: str) -> str:
    return re.sub(r'</?mark[^>]*>|<sup class="said-by">.*?</span>\d+</sup>', "", html)


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("I visit two nurseries.", "visit two", ["visit two"]),
        ("I visit\n two  nurseries.", "visit two", ["visit\n two", "visit<br>two"]),
        ("a **bold** word", "**bold** word", ["bold", "word"]),
        ("a **bold** word", "bold word", ["bold", "word"]),
        ("- one\n- two", "one\n- two", ["one", "two"]),
        ("5 < 6 & 7", "< 6 &", ["&lt; 6 &amp;"]),
        ("<b>x</b>", "<b>x", ["&lt;b&gt;x"]),
        ("مرحبا يا صديقي", "يا صديقي", ["يا صديقي"]),
        ("first\n\nsecond", "first second", ["first", "second"]),
        ("nothing of it", "elsewhere", []),
        ("a a a", "", []),
    ],
)
def test_a_quotation_is_marked_where_it_stands(text: str, quote: str, found: list[str]) -> None:
    html = drawn(text)
    shown = highlighted(html, [[quote]])
    assert without_marks(shown) == html
    said = "".join(marked(shown)).replace("\n", "").replace(" ", "")
    assert said in {"".join(found).replace("\n", "").replace(" ", ""), *(
        one.replace("<br>", "").replace("\n", "").replace(" ", "") for one in found
    )}  # fmt: skip
    assert shown.count("<mark") == shown.count("</mark>")


def test_only_words_of_the_item_are_marked() -> None:
    shown = highlighted(drawn("I go there"), [["visit"]])
    assert "<mark" not in shown


def test_raters_are_told_apart_where_they_overlap() -> None:
    shown = highlighted(drawn("one two three four"), [["one two three"], ["two three four"]])
    assert marked(shown) == ["one ", "two three", " four"] or [
        one.strip() for one in marked(shown)
    ] == ["one", "two three", "four"]
    assert re.findall(r"said-(\d|many)", shown)[:3] == ["1", "many", "2"]
    assert [int(one) for one in re.findall(r"</span>(\d+)</sup>", shown)] == [1, 2]


def test_a_quotation_does_not_run_from_one_text_into_another() -> None:
    html = '<p class="words">one</p><p class="words">two</p>'
    assert highlighted(html, [["one two"]]) == html


def test_words_that_stand_everywhere_mark_nothing_and_long_items_stay_plain() -> None:
    many = drawn("a " * 50)
    assert highlighted(many, [["a"]]) == many
    long = drawn("word " * (LONGEST // 4))
    assert highlighted(long, [["word word"]]) == long
