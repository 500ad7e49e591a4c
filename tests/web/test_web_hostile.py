"""Hostile words in every field, on every page: shown as text, and never anything more.

Every page is fetched twice: from a workspace in which everything that can be written is a payload
and from one with plain words in the same places. Payloads add no element that does anything, no
attribute that runs or loads anything; nothing is worked out; files hold no formula.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import openpyxl
import pytest
from httpx2 import Response as Answer
from markdown_it import MarkdownIt
from tests.study.study_kit import Ticking
from tests.web.conftest import HOST, Signed
from tests.web.hostile_study import Hostile, Speech, furnish, ids_of
from tests.web.lead_kit import send_file, workbook
from tests.web.payloads import ALL, EVALUATED, EVIL, HIT, LARGE, PAYLOADS
from tests.web.test_web_access import ways

from calibrant import compose
from calibrant.core.item import Response
from calibrant.core.study import Key
from calibrant.formats.rubric_text import rubric_yaml
from calibrant.web.app import make_app
from calibrant.web.export_files import KINDS
from calibrant.web.refs import item_ref, task_ref
from calibrant.web.words import markdown, shown
from calibrant.web.workspace import Workspace

NEVER = {
    "iframe", "object", "embed", "base", "frame", "frameset", "applet", "portal", "template",
    "math", "foreignobject", "animate", "video", "audio", "source", "noscript", "style",
}  # fmt: skip
COUNTED = {
    "a", "script", "svg", "img", "form", "input", "button", "textarea", "select", "option",
    "link", "meta", "label", "dialog", "details", "h1", "main", "nav", "title", "body",
}  # fmt: skip
"""Elements that do something, or that frame a page: words make none of them."""
ADDRESSES = {
    "href", "src", "action", "formaction", "data", "poster", "xlink:href", "srcset", "background",
    "ping", "cite", "longdesc", "manifest",
}  # fmt: skip
OURS = re.compile(r"(?:/(?![/\\])|#|\?|$)")


class Reader(HTMLParser):
    """What a page is made of, and what is wrong with it."""

    def __init__(self, *, alone: bool = False) -> None:
        super().__init__(convert_charrefs=True)
        self.alone = alone
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.words: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        if tag in COUNTED:
            self.counts[tag] += 1
        if tag in NEVER and not (self.alone and tag == "style"):
            self.wrong.append(f"<{tag}>")
        given = {name.lower(): value or "" for name, value in attrs}
        if tag == "script" and not given.get("src", "").startswith("/static/"):
            self.wrong.append(f"script {given}")
        for name, value in given.items():
            allowed = self.alone and value == "Content-Security-Policy"
            if name.startswith("on") or (name in ("style", "srcdoc", "http-equiv") and not allowed):
                self.wrong.append(f"<{tag} {name}={value[:80]!r}>")
            if name in ADDRESSES and not OURS.match(value.strip()):
                self.wrong.append(f"<{tag} {name}={value[:80]!r}>")

    def handle_data(self, data: str) -> None:
        if self.inside == "script" and data.strip():
            self.wrong.append(f"script {data[:80]!r}")
        self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    @property
    def text(self) -> str:
        """What one reads, with single spaces."""
        return " ".join("".join(self.words).split())


def read(html: str, **how: bool) -> Reader:
    reader = Reader(**how)
    reader.feed(html)
    reader.close()
    return reader


@dataclass
class House:
    """A furnished workspace with its people."""

    workspace: Workspace
    who: Hostile
    say: Speech
    signed: dict[str, Signed] = field(default_factory=dict)
    browsers: ExitStack = field(default_factory=ExitStack)

    def person(self, name: str) -> Signed:
        if name not in self.signed:
            app = make_app(self.workspace)
            browser = self.browsers.enter_context(Signed(app, base_url=f"http://{HOST}"))
            secret = self.workspace.door.admit(name, about=self.say.line(), by="tests")
            browser.cookies.set(self.workspace.cookie, secret)
            browser.csrf, browser.name = self.workspace.door.csrf(secret), name
            self.signed[name] = browser
        return self.signed[name]

    @property
    def lead(self) -> Signed:
        return self.person(self.who.lead)


def built(folder: Path, hostile: bool) -> House:
    folder.mkdir()
    opened = compose.open_workspace(str(folder / "work.db"), create=True)
    clock, say = Ticking(), Speech(hostile)
    workspace = Workspace(opened=opened, hosts=(HOST,), clock=clock)
    who = furnish(workspace.plain, say, clock)
    for name in (who.lead, *who.raters, who.adjudicator, who.viewer):
        workspace.owners.add(name, owner=name == who.lead, by="tests")
        workspace.tokens.make(name, say.line()[:100], may_write=False, days=1)
    newcomer = say.line()
    who.studies["plan"].add_member(newcomer, group=say.line())
    workspace.links.invite(newcomer, who.studies["plan"].number, by=who.lead)
    return House(workspace, who, say)


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, House]]:
    """A workspace full of payloads, and the same with plain words."""
    folder = tmp_path_factory.mktemp("hostile")
    both = built(folder / "bad", True), built(folder / "good", False)
    yield both
    for one in both:
        one.browsers.close()
        one.workspace.opened.close()


QUERIES = {
    "/s/{study}/flags": ("what=edge_case", "what=review", "what=red_flag&state=decided"),
    "/s/{study}/report": ("now=true",),
    "/s/{study}/journal": ("kind=flag", "before=60"),
    "/s/{study}/results": ("view=finals",),
    "/s/{study}/adjudicate/{item}": ("criterion=usefulness", "criterion=clarity"),
    "/s/{study}/discuss/{round}/{item}": ("criterion=usefulness", "criterion=clarity"),
}


def visits(house: House) -> Iterator[tuple[str, Signed, str]]:
    """A name for each place, who goes there, and its address; in the same order in any house."""
    who = house.who
    people = (who.lead, who.raters[0], who.adjudicator, who.viewer)
    for at, (kind, study) in enumerate(who.studies.items()):
        items = ids_of(study)
        for role, name in enumerate(people):
            browser = house.person(name)
            for way in ways(browser.app):  # type: ignore[arg-type]
                here = "{study}" in way.path
                if way.method != "GET" or way.access == "static":
                    continue
                if not here and (at or role > 1):
                    continue  # the same for everybody, whatever the study
                filled = _filled(way.path, study.number, items, name, who)
                for place, address in enumerate(filled):
                    label = f"{role} {kind} {way.path} {place}"
                    yield label, browser, address
                    for query in QUERIES.get(way.path, ()):
                        yield f"{label} {query}", browser, f"{address}?{query}"


def _filled(path: str, study: int, items: list[str], name: str, who: Hostile) -> list[str]:
    """An address for each thing that the path can be about."""
    path = path.replace("{study}", str(study))
    if "{task}" in path:
        tasks = [task_ref(Key(round=1, item=one, rater=name)) for one in items]
        return [path.replace("{task}", one) for one in tasks]
    if "/people/{ref}" in path or "/members/{ref}" in path:
        return [path.replace("{ref}", item_ref(one)) for one in (*who.raters, who.viewer)]
    if "{item}" in path or "{ref}" in path:
        refs = [item_ref(one) for one in items]
        return [
            re.sub(r"{(?:round|number)}", "1", re.sub("{(?:item|ref)}", one, path)) for one in refs
        ]
    return [re.sub(r"{\w+}", "1", path)]


def unspoiled(found: Answer) -> None:
    """No header was made by words of somebody, and nothing is worked out."""
    assert found.status_code < 500, (found.url, found.text[:300])
    for name, value in found.headers.multi_items():
        assert name != "stolen" and value.isprintable(), (found.url, name, value)
        if name == "set-cookie":  # one of ours, its sentence packed
            assert re.fullmatch(r'calibrant_\w+="?[\w.%/+~-]*"?(; [\w= :,-]+(=[/\w]*)?)+', value), (
                value
            )
        else:
            assert EVIL not in value, (found.url, name, value)
    if "location" in found.headers:
        assert OURS.match(found.headers["location"]), found.url
    assert EVALUATED not in found.text, found.url


def test_there_are_enough_of_them() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 80
    assert len(LARGE.encode()) > 5 * 2**20


def test_words_stay_words_on_every_page(houses: tuple[House, House]) -> None:
    bad, good = houses
    seen, hits = 0, 0
    wrong: list[object] = []
    for (label, one, here), (same, two, there) in zip(visits(bad), visits(good), strict=True):
        assert label == same
        found = one.get(here, follow_redirects=False)
        unspoiled(found)
        if not found.headers.get("content-type", "").startswith("text/html"):
            continue
        page, plain = read(found.text), two.get(there, follow_redirects=False)
        other = read(plain.text) if found.status_code == 200 else page
        if found.status_code != plain.status_code:
            wrong.append((label, found.status_code, plain.status_code, page.text[-400:]))
        if "/discuss/" in label:  # the last one in the order of names has no next
            page.counts["a"] = other.counts["a"] = 0
        if page.wrong or page.counts != other.counts:
            wrong.append(
                (label, page.wrong[:3], page.counts - other.counts, other.counts - page.counts)
            )
        seen += found.status_code == 200
        hits += HIT in page.text
    assert wrong == []
    assert seen > 120 and hits > 80, (seen, hits)


def test_every_payload_can_be_read_as_it_was_written(houses: tuple[House, House]) -> None:
    """As a question, as a note in Markdown, and in a sentence that a page says once."""
    bad, _ = houses
    study, lead = bad.who.studies["response"], bad.lead
    rater = bad.person(bad.who.raters[0])
    for one in PAYLOADS:
        sent = rater.send_form(f"/s/{study.number}/questions", text=one)
        assert sent.status_code == 303, (one, sent.text)
    found = read(lead.get(f"/s/{study.number}/questions").text)
    for one in PAYLOADS:
        assert read(shown(one)).text in found.text, one
        drawn = read(markdown(one))
        assert drawn.wrong == [] and not drawn.counts, one


def test_names_and_reasons_spoil_no_header(houses: tuple[House, House]) -> None:
    """Whatever is typed into a form: taken or refused, and said again as text."""
    bad, _ = houses
    lead, here = bad.lead, f"/s/{bad.who.studies['plan'].number}"
    for at, one in enumerate(PAYLOADS):
        if at % 4 == 0:
            sent = lead.send_form(f"{here}/people", name=one, group=one, roles="reviewer")
        elif at % 4 == 1:
            sent = lead.send_form(f"{here}/flags", item=one, what=one, reason=one, evidence=one)
        elif at % 4 == 2:
            sent = lead.send_form("/studies/new", title=one, name=one, rubric=one, start_on=one)
        else:
            sent = lead.send_form("/sign-in", name=one, password=one, next=one)
        unspoiled(sent)
        after = lead.get("/") if sent.status_code == 303 else sent
        assert read(after.text).wrong == [], one


def test_a_rubric_of_payloads_is_checked_shown_and_begun(houses: tuple[House, House]) -> None:
    bad, _ = houses
    text = rubric_yaml(bad.who.studies["response"].rubric())
    for path in ("/studies/new/rubric", "/rubrics/check"):
        for yaml in (
            text,
            ALL,
            f"title: {PAYLOADS[0]}",
            "a: &a [*a]",
            "!!python/object:os.system x",
        ):
            found = bad.lead.send_form(path, yaml=yaml, title=PAYLOADS[0], act="check")
            unspoiled(found)
            assert read(found.text).wrong == [], yaml[:80]


@pytest.mark.parametrize("name", ["csv", "jsonl", "xlsx"])
def test_files_with_hostile_names_columns_and_cells(houses: tuple[House, House], name: str) -> None:
    bad, _ = houses
    here = f"/s/{bad.who.studies['response'].number}/items/upload"
    cells = [one.replace("\x00", "") for one in PAYLOADS]
    content = {"csv": _csv, "jsonl": _jsonl, "xlsx": _xlsx}[name](cells)
    for at, title in enumerate((PAYLOADS[0], "../../x", PAYLOADS[5], "x\r\ny", "n" * 300)):
        found = send_file(bad.lead, here, f"{title}.{name}", content if at == 0 else b"x")
        unspoiled(found)
        page = read(found.text)
        assert page.wrong == [] and found.status_code in (200, 422), title
        assert "/etc" not in str(found.url)


def _csv(cells: list[str]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["id", "question", "response", *cells[:40]])
    for at, one in enumerate(cells):
        writer.writerow([f"up-{at}", one, one])
    return out.getvalue().encode()


def _jsonl(cells: list[str]) -> bytes:
    rows = [
        {"id": f"up-{at}", "question": one, "response": one, one: one, "__proto__": {}}
        for at, one in enumerate(cells)
    ]
    return "\n".join(map(json.dumps, rows)).encode()


def _xlsx(cells: list[str]) -> bytes:
    plain = [re.sub(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]", "", one) for one in cells]
    return workbook(
        ["id", "question", "response", *plain[:40]],
        *(
            [f"up-{at}", f"'{one}", one if one[:1] != "=" else f" {one}"]
            for at, one in enumerate(plain)
        ),
    )


def test_no_file_holds_a_formula_or_a_script(houses: tuple[House, House]) -> None:
    bad, _ = houses
    here = f"/s/{bad.who.studies['plan'].number}"
    for kind in KINDS:
        sent = bad.lead.send_form(f"{here}/exports", what=kind.name)
        if kind.name.startswith("agreement"):  # figures alone; the new questions have none yet
            assert read(sent.text).wrong == []
            continue
        assert sent.status_code == 200, (kind.name, read(sent.text).text)
        name = sent.headers["content-disposition"]
        assert re.fullmatch(r'attachment; filename="study-\d+-[a-z-]+\.[a-z]+"', name)
        if kind.suffix == ".csv":
            for row in csv.reader(io.StringIO(sent.content.decode("utf-8-sig"))):
                assert not [one for one in row if re.match(r"[\s]*[=@+]|-(?![\d.])|[\t\r]", one)]
        elif kind.suffix == ".xlsx":
            book = openpyxl.load_workbook(io.BytesIO(sent.content))
            kinds = {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row}
            assert "f" not in kinds and kinds <= {"s", "n", "b", "d", "inlineStr"}
        elif kind.suffix == ".jsonl":
            assert all(json.loads(one) for one in sent.text.splitlines() if one)


def test_the_report_is_text_in_every_form(houses: tuple[House, House]) -> None:
    bad, good = houses
    at = f"/s/{bad.who.studies['plan'].number}/report/file?kind="
    found = read(bad.lead.get(f"{at}html").text, alone=True)
    assert found.wrong == [] and HIT in found.text
    assert found.counts == read(good.lead.get(f"{at}html").text, alone=True).counts
    drawn = MarkdownIt("commonmark", {"html": True}).enable("table")
    text = read(drawn.render(bad.lead.get(f"{at}md").text))
    assert text.wrong == [] and HIT in text.text
    assert not text.counts - read(drawn.render(good.lead.get(f"{at}md").text)).counts
    assert json.loads(bad.lead.get(f"{at}json").text)


def test_five_megabytes_are_one_item(houses: tuple[House, House]) -> None:
    bad, _ = houses
    study = bad.who.studies["response"]
    study.add_items([Response(id="large", question="Is it long?", response=LARGE)])
    found = bad.lead.get(f"/s/{study.number}/items/{item_ref('large')}")
    assert found.status_code == 200 and found.text.count("five") > 100_000
    assert read(found.text).wrong == []


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\x00"])
def test_half_a_sign_is_refused_and_breaks_nothing(houses: tuple[House, House], text: str) -> None:
    """JSON can name halves of signs, which no text can hold."""
    bad, _ = houses
    at = f"/api/v1/studies/{bad.who.studies['response'].number}"
    key, lead = bad.lead.csrf, bad.lead
    bodies: list[tuple[str, object]] = [
        ("/questions", {"text": text}),
        ("/flags", {"item": text, "what": "review", "reason": text}),
        ("/members", {"name": text, "roles": ["reviewer"]}),
        ("/items", {"items": [{"id": "half", "question": text, "response": text}]}),
        ("/items", {"items": [{"id": text, "question": "q", "response": "r", text: text}]}),
        ("/lessons", {"text": text}),
        ("/check-ins", {"attendees": [text], "decisions": text}),
    ]
    for path, body in bodies:
        headers = {"x-calibrant-csrf": key, "content-type": "application/json"}
        sent = lead.post(f"{at}{path}", content=json.dumps(body), headers=headers)
        assert sent.status_code < 500, (path, sent.text)
    for path in ("questions", "flags", "people", "items", "check-ins", "journal"):
        assert lead.get(f"/s/{bad.who.studies['response'].number}/{path}").status_code in (200, 403)
