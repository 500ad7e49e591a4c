"""A report as HTML and Markdown: whole, self-contained, and content is text wherever it stands."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt
from tests.report.report_kit import HOSTILE, known, rubric
from tests.study.study_kit import as_

from calibrant import Study
from calibrant.core.errors import CalibrantError
from calibrant.report.charts import Bar, Bars, Dot, DotRow, Dots, Histogram, svg
from calibrant.report.files import json_text
from calibrant.report.findings import Findings, findings
from calibrant.report.html import body_html, report_html, style_sheet
from calibrant.report.markdown import report_markdown

VOID = {"meta", "br", "link", "input", "img", "hr"}
TAGS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "p", "h1", "h2", "nav", "ul",
    "li", "main", "div", "section", "dl", "dt", "dd", "span", "strong", "figure", "figcaption",
    "svg", "desc", "text", "rect", "line", "circle", "path", "table", "caption", "thead", "tbody",
    "tspan", "tr", "th", "td", "code", "details", "summary", "blockquote", "br",
}  # fmt: skip
"""Everything that a report is made of."""


class Checker(HTMLParser):
    """Reads a page; every element is closed where it should be."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Checker:
    found = Checker()
    found.feed(page)
    found.close()
    assert not found.open
    return found


@pytest.fixture(scope="module")
def found() -> Findings:
    return findings(known())


def test_the_page_is_whole_and_self_contained(found: Findings) -> None:
    for short in (False, True):
        page = report_html(found, short=short)
        read_page = read(page)
        assert read_page.tags <= TAGS
        assert len(set(read_page.ids)) == len(read_page.ids)
        assert all(link.startswith("#") for link in read_page.links)
        assert {link[1:] for link in read_page.links} <= set(read_page.ids)
        names = {name for name, _ in read_page.attributes}
        assert not any(name == "style" or name.startswith("on") for name in names)


def test_the_one_style_sheet_is_pinned_by_its_hash(found: Findings) -> None:
    page = report_html(found)
    style = page.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = dict(re.findall(r'http-equiv="(Content-Security-Policy)" content="([^"]*)"', page))
    told = policy["Content-Security-Policy"].replace("&#x27;", "'")
    assert told.startswith(f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:")
    assert "url(" not in style and "@import" not in style
    assert style_sheet() in style


def test_every_table_says_where_it_comes_from(found: Findings) -> None:
    page = report_html(found)
    assert page.count("<table>") == page.count('<p class="source">') > 8
    assert page.count("<table>") == page.count("<caption>")
    assert "<code>calibrant study verdicts gardeners</code>" in page


def test_every_chart_has_words_and_a_table_after_it(found: Findings) -> None:
    page = report_html(found)
    charts = re.findall(r'<svg class="chart" role="img".*?<title id="([^"]+)">(.+?)</title>', page)
    assert len(charts) >= 4
    for key, _ in charts:
        assert f'<desc id="{key.removesuffix("-title")}-about">' in page
    for rest in page.split('<figure class="picture">')[1:]:
        assert "<table>" in rest


def test_the_body_begins_below_the_title_of_another_page(found: Findings) -> None:
    body = body_html(found)
    read_body = read(body)
    assert "h1" not in read_body.tags and "h2" in read_body.tags
    assert not {"html", "head", "style", "main"} & read_body.tags
    assert body.startswith('<div class="report">')


def test_the_short_version_is_the_answer_alone(found: Findings) -> None:
    page = report_html(found, short=True)
    assert "6 of 10 items passed (60 %, 95 % interval 31.3 % to 83.2 %). 3 failed" in page
    assert page.count("<h2") == 1 and "<table>" not in page
    assert report_markdown(found, short=True).count("## ") == 1


def test_the_paper_paragraph_names_versions_and_methods(found: Findings) -> None:
    page = report_html(found)
    for words in ("For a paper:", "calibrant 0.1.0", "version 1.0", found.methods.rubric_hash):
        assert words in page


# -- hostile words


def poisoned(words: str) -> Study:
    """The words in every place that takes any."""
    named = " ".join(words.split())[:80]
    made = rubric(title=named, criterion_title=named)
    raters: tuple[str, ...] = (f"1 {named}", f"2 {named}")
    try:
        study = known(words=words, rubric_=made, raters=raters)
    except CalibrantError:  # no name may look like that
        study = known(words=words, rubric_=made)
    study.check_in(attendees=["lena"], decisions=words, actions=words)
    study.add_lesson(words)
    as_(study, "ada").settle("i-8", "tidy", "YES", how="adjudicated", reason=words)
    changed = made.model_copy(update={"version": "1.1", "summary": "Other."})
    study.refine(changed, cause="edge_case", text=words)
    return study


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_words_are_text(words: str) -> None:
    told = findings(poisoned(words))
    page = report_html(told)
    page.encode("utf-8")
    read_page = read(page)
    assert read_page.tags <= TAGS
    assert not any(name.startswith("on") or name == "style" for name, _ in read_page.attributes)
    assert all(link.startswith("#") for link in read_page.links)
    shown = "".join(read_page.text)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\x00-\x08\x1b]", shown)
    _check_markdown(report_markdown(told))


def test_half_a_sign_is_written_out() -> None:
    study = known()
    study.add_lesson("half a sign \ud800 here")
    told = findings(study)
    for text in (report_html(told), report_markdown(told)):
        text.encode("utf-8")
    assert "half a sign \\ud800 here" in report_html(told)
    lessons = json.loads(json_text(told).encode("utf-8", "backslashreplace"))["history"]["lessons"]
    assert lessons == ["half a sign \ud800 here"]


def _check_markdown(text: str) -> None:
    text.encode("utf-8")
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    kinds: set[str] = set()
    for token in tokens:
        kinds |= {token.type, *(child.type for child in token.children or ())}
    allowed = {
        "heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close", "text",
        "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close", "softbreak",
        "strong_open", "strong_close", "em_open", "em_close", "code_inline", "blockquote_open",
        "blockquote_close", "text_special",
        *(f"{part}_{end}" for part in ("table", "thead", "tbody", "tr", "th", "td")
          for end in ("open", "close")),
    }  # fmt: skip
    assert kinds <= allowed, kinds - allowed
    headings = [token for token in tokens if token.type == "heading_open"]
    assert len(headings) == 12  # the title, and the parts without judges
    prose = re.sub(r"(`+).*?\1", "", text)
    assert not re.search(r"(?i)(?<!\\):/|\bwww\.|(?<!\\)@", prose)


# -- charts


def bars(**more: Any) -> Bars:
    found = (Bar("a <b>", 1, "1"), Bar("b", 4, "4", "bad"))
    return Bars(key="k", title="T & t", about="A", bars=found, highest=4, **more)


def test_bars_are_as_long_as_their_share() -> None:
    drawn = svg(bars())
    assert re.findall(r'class="bar \w+".*?width="([\d.]+)%"', drawn) == ["25", "100"]
    assert "a &lt;b&gt;" in drawn and "T &amp; t" in drawn
    assert 'role="img"' in drawn and 'aria-labelledby="chart-k-title chart-k-about"' in drawn


def test_dots_stand_where_their_values_are() -> None:
    row = DotRow("r", "0.5", (Dot(0.5, 0.25, 1.75, "good"), Dot(0, -3, 0.5, "plain", 1)))
    drawn = svg(
        Dots(key="d", title="T", about="A", rows=(row,), limits=(0.0, 1.0), ticks=(0.0, 1.0),
             marks=((0.5, "target"),), series=("one", "two"))
    )  # fmt: skip
    assert 'class="dot good series0" cx="50%"' in drawn
    assert 'class="span good series0" x1="25.75%" x2="98.5%"' in drawn  # ends where the axis does
    assert 'class="span plain series1" x1="1.5%" x2="50%"' in drawn
    assert 'class="mark" x1="50%"' in drawn


def test_a_histogram_has_a_bar_for_each_bin() -> None:
    chart = Histogram(
        key="h", title="T", about="A", bins=((0.0, 0.5, 1), (0.5, 1.0, 3)), mark=(0.8, "pass")
    )
    drawn = svg(chart)
    assert re.findall(r'class="bar plain".*? height="([\d.]+)"', drawn) == ["50", "150"]
    assert "pass" in drawn


def test_long_labels_are_cut_and_stay_in_the_table() -> None:
    chart = Bars(key="k", title="T", about="A", bars=(Bar("x" * 200, 1, "1"),), highest=1)
    assert "x" * 63 + "…" in svg(chart)
