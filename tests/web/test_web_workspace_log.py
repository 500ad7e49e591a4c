"""The workspace's audit log: sentences for its owners, filters, pages."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.study.study_kit import new_study
from tests.web.conftest import Signed

from calibrant.core.account import Event
from calibrant.web.event_words import LABELS, raw_of, sentence_of
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
HERE = "/workspace/log"


def test_an_owner_reads_what_happened_to_accounts(workspace: Workspace, client: Client) -> None:
    new_study(workspace.plain)
    owen = client("owen", owner=True)
    client("lena")
    workspace.links.invite("ann", 1, by="lena")
    workspace.owners.set_owner("lena", True, by="owen")
    shown = owen.get(HERE).text
    assert "<b>owen</b> made lena an owner" in shown
    assert "<b>lena</b> made a link inviting ann to the study gardeners" in shown
    assert "<b>tests</b> made the account owen, an owner" in shown
    about = owen.get(HERE, params={"name": "lena", "kind": "owner_set"}).text
    assert "made lena an owner" in about and "inviting ann" not in about and "1 line" in about
    assert "No such line" in owen.get(HERE, params={"kind": "exported"}).text
    brief = owen.get("/workspace").text
    assert "made lena an owner" in brief and f'href="{HERE}"' in brief


def test_older_lines_are_a_page_away(workspace: Workspace, client: Client) -> None:
    owen = client("owen", owner=True)
    for number in range(65):
        workspace.owners.add(f"person-{number:02}", by="owen")
    first = owen.get(HERE, params={"kind": "account_made"}).text
    assert "account person-64" in first and "account person-04" not in first
    link = re.search(rf'href="({HERE}\?[^"]*before=[^"]*)"', first)
    assert link is not None
    older = owen.get(link[1].replace("&amp;", "&")).text
    assert "account person-04" in older and "account person-64" not in older
    assert owen.get(HERE, params={"before": "x"}).status_code == 422


@pytest.mark.parametrize("kind", [*sorted(LABELS), "of_tomorrow"])
def test_a_line_without_anything_in_it_is_told_all_the_same(kind: str) -> None:
    event = Event(kind=kind, actor="x", at="2026-03-02T09:00:00.000000Z")
    assert sentence_of(event, {}) and raw_of(event)
