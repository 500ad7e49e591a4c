"""Handbooks: whatever a rubric says is text, on the page and in Markdown."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest

from calibrant import builtin_names, load_rubric
from calibrant.core.rubric import Rubric
from calibrant.formats.handbook import (
    Block,
    Bullets,
    Grid,
    Heading,
    Paragraph,
    Quote,
    handbook,
)
from calibrant.formats.handbook_pages import to_html, to_markdown

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>",
    "</main></body>",
    "<!-- ",
    "javascript:alert(1)",
    "&lt;script&gt;",
    "' onmouseover='x",
    "]]>",
)


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.comments: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


@cache
def page(name: str) -> str:
    return to_html(handbook(load_rubric(name)))


def poisoned(poison: str, name: str = "coaching-conversation") -> Rubric:
    """A rubric in which every free text is hostile."""
    document = load_rubric(name).model_dump(mode="json")
    return Rubric.model_validate(_poison(document, poison))


FREE = {
    "title", "summary", "scope", "question", "detail", "text", "meaning", "label", "note", "reason",
    "when", "context", "response", "description", "why", "dispute", "independence", "stated_date",
    "stated_version", "onboarding", "before", "repeat", "measured_on", "stated_label", "date",
}  # fmt: skip
LISTS = {"signs", "failure_examples", "examples", "exceptions", "rules", "tasks"}


def _poison(node: Any, poison: str, counter: list[int] | None = None) -> Any:
    counter = counter if counter is not None else [0]
    if isinstance(node, list):
        return [_poison(entry, poison, counter) for entry in node]
    if not isinstance(node, dict):
        return node
    out: dict[str, Any] = {}
    for key, value in node.items():
        if key in FREE and isinstance(value, str):
            counter[0] += 1  # titles must differ from one another
            out[key] = f"{poison}{counter[0]}"
        elif key in LISTS and value and isinstance(value[0], str):
            out[key] = [poison for _ in value]
        else:
            out[key] = _poison(value, poison, counter)
    return out


@pytest.mark.parametrize("poison", HOSTILE)
@pytest.mark.parametrize("name", builtin_names())
def test_hostile_text_is_shown_and_does_nothing(name: str, poison: str) -> None:
    clean, dirty = Page(page(name)), Page(to_html(handbook(poisoned(poison, name))))
    tags = {tag for tag, _ in clean.tags}
    assert {tag for tag, _ in dirty.tags} <= tags
    assert "script" not in tags
    assert "img" not in tags
    names = {name for _, attributes in dirty.tags for name in attributes}
    assert names <= {name for _, attributes in clean.tags for name in attributes}
    assert not dirty.comments
    assert poison in "".join(dirty.texts)
    ids = [attributes["id"] for _, attributes in dirty.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", builtin_names())
def test_the_policy_allows_the_one_style_and_nothing_else(name: str) -> None:
    text = page(name)
    read = Page(text)
    (policy,) = (
        attributes["content"]
        for tag, attributes in read.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode()
    rules = [rule.strip() for rule in policy.split(";")]
    assert "default-src 'none'" in rules
    assert f"style-src 'sha256-{digest}'" in rules
    assert "unsafe" not in policy
    assert not any("style" in attributes for _, attributes in read.tags)
    for _, attributes in read.tags:
        for name_ in ("src", "href", "action"):
            assert (attributes.get(name_) or "#").startswith("#")
    assert text.index("Content-Security-Policy") < text.index("<style>")


@pytest.mark.parametrize("name", builtin_names())
def test_links_lead_somewhere(name: str) -> None:
    read = Page(page(name))
    ids = {attributes["id"] for _, attributes in read.tags if "id" in attributes}
    links = [attributes["href"] for tag, attributes in read.tags if tag == "a"]
    assert links
    assert all(link is not None and link[1:] in ids for link in links)


@pytest.mark.parametrize("name", builtin_names())
def test_everything_that_counts_is_in_the_handbook(name: str) -> None:
    rubric = load_rubric(name)
    shown = " ".join(" ".join(Page(page(name)).texts).split())
    for criterion in rubric.criteria:
        assert criterion.id in shown
        assert " ".join(criterion.question.split()) in shown
        for anchor in criterion.anchors.values():
            assert " ".join(anchor.text.split()) in shown
    for flag in rubric.red_flags or ():
        assert " ".join(flag.text.split()) in shown
    assert rubric.hash in shown


# -- Markdown


def lines_of(*blocks: Any) -> list[str]:
    return to_markdown(list(blocks)).splitlines()


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[link](javascript:alert(1))",
        "![image](http://example.org/x.png)",
        "**bold** and _soft_ and `code`",
        "a | b | c",
        "back\\slash",
    ],
)
def test_signs_of_markdown_are_escaped(text: str) -> None:
    for block in (
        Paragraph(text),
        Heading(2, text),
        Bullets((("", text),)),
        Quote(text, (("", text),)),
    ):
        drawn = to_markdown([block])
        for sign in "`*_[]<|":
            bare = re.findall(r"(?<!\\)(?:\\\\)*" + re.escape(sign), drawn.replace("**", ""))
            assert not bare, (sign, drawn)


@pytest.mark.parametrize(
    "text",
    [
        "# heading",
        "- item",
        "+ item",
        "* item",
        "> quote",
        "---",
        "***",
        "___",
        "~~~",
        "```",
        "#",
        "-",
        "+",
    ],
)
def test_a_line_that_would_begin_something_begins_nothing(text: str) -> None:
    """A summary of three tildes would turn the rest of the handbook into code."""
    for drawn in (lines_of(Paragraph(text)), lines_of(Paragraph("before"), Paragraph(text))):
        assert drawn[-1] not in (text, ""), drawn
        assert drawn[-1].startswith("\\"), drawn


@pytest.mark.parametrize("text", ["1. first", "12) twelfth"])
def test_a_number_at_the_start_is_no_list(text: str) -> None:
    """Only punctuation can be escaped: a backslash before a digit would be shown."""
    (drawn,) = lines_of(Paragraph(text))
    assert drawn == re.sub(r"([.)])", r"\\\1", text, count=1)


def test_line_breaks_do_not_get_out_of_a_paragraph_or_a_cell() -> None:
    assert lines_of(Paragraph("one\n\n# two\n- three")) == ["one # two - three"]
    drawn = lines_of(Grid(("a", "b"), (("x\ny", "p | q"),)))
    assert drawn == ["| a | b |", "| --- | --- |", "| x<br>y | p \\| q |"]


def test_blocks_in_markdown() -> None:
    blocks: list[Block] = [
        Heading(1, "Title"),
        Paragraph("Text.", "Lead: "),
        Bullets((("One: ", "1"), ("", "2"))),
        Quote("Example of 5", (("Why", "because"), ("", "plain")), disputed=True),
    ]
    assert to_markdown(blocks) == (
        "# Title\n\n**Lead:** Text.\n\n- **One:** 1\n- 2\n\n"
        "> **Example of 5** (disputed)\n>\n> *Why:* because\n>\n> plain\n"
    )


@pytest.mark.parametrize("poison", HOSTILE)
def test_hostile_rubrics_as_markdown_hold_no_tags(poison: str) -> None:
    drawn = to_markdown(handbook(poisoned(poison)))
    bare = re.findall(r"(?<!\\)<(?!br>)[^\s<>]*", drawn)
    assert not bare


def test_disputed_examples_are_marked() -> None:
    rubric = load_rubric("ai-response")
    disputed = [one for _, _, one in rubric.examples() if one.status == "disputed"]
    quotes = [block for block in handbook(rubric) if isinstance(block, Quote) and block.disputed]
    assert len(quotes) == len(disputed)
    assert page("ai-response").count('class="disputed"') == len(disputed)


def test_the_dump_of_a_handbook_is_stable() -> None:
    for name in builtin_names():
        rubric = load_rubric(name)
        again = Rubric.model_validate(json.loads(rubric.model_dump_json()))
        assert to_html(handbook(again)) == page(name)
