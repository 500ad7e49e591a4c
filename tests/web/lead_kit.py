"""Leading a study as a browser without scripts does it: forms, files, and what pages say."""

from __future__ import annotations

import html
import io
import re
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

import openpyxl
from httpx2 import Response
from tests.web.conftest import Signed

from calibrant.core.rubric import Rubric
from calibrant.study.handle import Study
from calibrant.study.open import create
from calibrant.web.workspace import Workspace


def study_of(workspace: Workspace, rubric: Rubric, name: str, lead: str = "lena") -> Study:
    """A study on the workspace's own clock."""
    made = create(workspace.plain, name, rubric, lead=lead, clock=workspace.clock)
    return Study(made.store, made.number, made.record, made.actor, made.clock)


def send(who: Signed, path: str, **fields: str | list[str]) -> Response:
    """Send a form, and go where it leads."""
    return who.post(path, data={"csrf": who.csrf, **fields})


def send_file(who: Signed, path: str, name: str, content: bytes, **fields: str) -> Response:
    """Send a form with a file, and wait until the page shows more than how far it is."""
    found = who.post(path, data={"csrf": who.csrf, **fields}, files={"file": (name, content)})
    return settled(who, found)


def settled(who: Signed, found: Response) -> Response:
    """The page of an upload, once nothing is being read any more."""
    until = time.monotonic() + 60
    while "data-progress" in found.text:
        assert time.monotonic() < until, "the file is still being read after a minute"
        found = who.get(path_of(found))
    return found


def path_of(found: Response) -> str:
    """Where a response came from, after all redirects."""
    return urlsplit(str(found.url)).path


def words(found: Response) -> str:
    """What a page says, without its marks."""
    body = found.text.partition("<main")[2].partition("</main>")[0]
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", body, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def alert(found: Response) -> str:
    """What a page complains of."""
    told = re.findall(r'<(p|div)[^>]*role="alert"[^>]*>(.*?)</\1>', found.text, flags=re.DOTALL)
    said = " ".join(text for _, text in told)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", said)).split())


def rows_of(found: Response) -> list[tuple[str, ...]]:
    """The rows of the table of bad rows."""
    table = re.search(r'<caption id="bad-title">.*?</table>', found.text, flags=re.DOTALL)
    if table is None:
        return []
    body = table[0].partition("<tbody>")[2]
    return [
        tuple(
            " ".join(html.unescape(re.sub(r"<[^>]*>", " ", cell)).split())
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)
        )
        for row in re.findall(r"<tr>(.*?)</tr>", body, flags=re.DOTALL)
    ]


def chosen(found: Response) -> dict[str, str]:
    """What each column of the mapping screen is taken for."""
    pairs = re.findall(
        r'<label for="(column-\d+)">(.*?)</label>.*?<select[^>]*>(.*?)</select>',
        found.text,
        flags=re.DOTALL,
    )
    marked = {label: re.search(r'value="([^"]*)" selected', list_) for _, label, list_ in pairs}
    return {html.unescape(label): one[1] for label, one in marked.items() if one is not None}


def workbook(*rows: Sequence[object], beside: str = "") -> bytes:
    """A spreadsheet of these rows, and one more sheet of that name."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in rows:
        sheet.append(list(row))
    if beside:
        book.create_sheet(beside).append(["more"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
