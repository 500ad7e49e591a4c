"""Accounts by programs: what each kind of token may do, and what one that leaked cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi import FastAPI
from httpx2 import Response
from tests.study.study_kit import PLANS, new_study
from tests.web.conftest import Signed
from tests.web.lead_kit import study_of
from tests.web.test_web_access import ways

from calibrant.core.errors import AccountError
from calibrant.web.access import Holder, Owner
from calibrant.web.refs import item_ref
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
Asking = Callable[..., Response]
LOOKED_AFTER = (
    ("GET", "/accounts", None),
    ("GET", "/accounts/{ann}", None),
    ("GET", "/events", None),
    ("POST", "/invitations", {"name": "newcomer"}),
    ("POST", "/accounts/{ann}/reset-link", None),
    ("POST", "/accounts/{ann}/sign-out", None),
    ("PUT", "/accounts/{ann}/owner", {"owner": True}),
    ("POST", "/accounts/{ann}/close", None),
)
"""Everything that is done with accounts of others."""
OWN = (
    ("DELETE", "/account/sessions", None),
    ("DELETE", f"/account/sessions/{'0' * 64}", None),
    ("POST", "/account/tokens", {"label": "more", "may_write": True}),
    ("DELETE", f"/account/tokens/{'0' * 64}", None),
)
"""Everything that changes one's own account."""


@pytest.fixture
def house(workspace: Workspace, client: Client) -> Workspace:
    """An owner, and ann."""
    client("olga", owner=True)
    client("ann")
    return workspace


@pytest.fixture
def asks(house: Workspace, client: Client) -> Callable[[str], Asking]:
    """A program with a token: ``asks(token)("GET", "/account")``."""
    program = client()

    def having(token: str) -> Asking:
        headers = {"authorization": f"Bearer {token}"}

        def ask(method: str, path: str, body: Any = None) -> Response:
            address = f"/api/v1{path.format(ann=item_ref('ann'))}"
            return program.request(method, address, json=body, headers=headers)

        return ask

    return having


def administering(house: Workspace, name: str = "olga", days: int = 30) -> str:
    return house.tokens.make(name, "admin", may_write=True, days=days, administers=True)


def test_a_token_for_studies_looks_after_no_account(
    house: Workspace, asks: Callable[[str], Asking]
) -> None:
    """Not the owner's either: one that leaked would let anybody in."""
    before = house.owners.accounts()
    sessions = house.door.sessions("olga")
    for name in ("olga", "ann"):
        ask = asks(house.tokens.make(name, "work", may_write=True, days=None))
        for method, path, body in (*LOOKED_AFTER, *OWN):
            got = ask(method, path, body)
            assert got.status_code == 403, (name, method, path, got.text)
            assert "cal_" not in got.text and "/invite/" not in got.text
    assert house.owners.accounts() == before
    assert house.door.sessions("olga") == sessions


def test_no_route_about_accounts_opens_to_a_token_for_studies(
    house: Workspace, app: FastAPI, client: Client
) -> None:
    """Whichever route there is, or comes: pages and calls."""
    token = house.tokens.make("olga", "work", may_write=True, days=None)
    program, headers = client(), {"authorization": f"Bearer {token}"}
    found = [one for one in ways(app) if isinstance(one.access, Owner | Holder)]
    assert len(found) > 15
    for way in found:
        address = way.filled(1, item_ref("ann"), "task")
        got = program.request(way.method, address, headers=headers, follow_redirects=False)
        assert got.status_code == 403, way


def test_a_token_for_accounts_does_what_owners_do(
    house: Workspace, asks: Callable[[str], Asking], client: Client
) -> None:
    ask = asks(administering(house))
    names = [one["name"] for one in ask("GET", "/accounts").json()["accounts"]]
    assert names == ["ann", "olga"]
    part = ask("GET", "/accounts?limit=1").json()
    assert (len(part["accounts"]), part["total"], part["next"]) == (1, 2, 1)
    made = ask("POST", "/invitations", {"name": "newcomer"})
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    secret = made.json()["address"].rpartition("/")[2]
    assert house.links.look(secret).account == "newcomer"
    reset = ask("POST", "/accounts/{ann}/reset-link")
    assert house.links.look(reset.json()["address"].rpartition("/")[2]).account == "ann"
    assert ask("PUT", "/accounts/{ann}/owner", {"owner": True}).json()["owner"] is True
    assert ask("PUT", "/accounts/{ann}/owner", {"owner": False}).json()["owner"] is False
    assert ask("POST", "/accounts/{ann}/sign-out").json() == {"ended": 1}
    closed = ask("POST", "/accounts/{ann}/close").json()
    assert closed["closed_at"] and house.owners.account("olga").owner
    assert ask("POST", "/accounts/{ann}/close").status_code == 422
    assert ask("POST", f"/accounts/{item_ref('nobody')}/close").status_code == 404
    made_token = ask("GET", "/events?kind=token_made&name=olga").json()["events"]
    assert [one["said"] for one in made_token] == [
        "olga made the token “admin”, which looks after accounts"
    ]
    told = ask("GET", "/events?limit=1000").json()["events"]
    assert {one["kind"] for one in told} >= {
        "link_made", "owner_set", "logins_ended", "account_closed",
    }  # fmt: skip


def test_a_token_never_outgrows_its_account_or_itself(
    house: Workspace, asks: Callable[[str], Asking]
) -> None:
    token = administering(house, days=30)
    ask = asks(token)
    own = f"/accounts/{item_ref('olga')}/reset-link"
    assert ask("POST", own).status_code == 403
    more = ask("POST", "/account/tokens", {"label": "x", "administers": True, "days": 1})
    assert more.status_code == 422 and "cal_" not in more.text
    made = ask("POST", "/account/tokens", {"label": "x", "may_write": True, "days": None}).json()
    mine = ask("GET", "/account").json()["token"]
    assert made["ends_at"] == mine["ends_at"] and not made["administers"]
    assert asks(made["token"])("GET", "/accounts").status_code == 403
    house.owners.set_owner("ann", True, by="tests")
    house.owners.set_owner("olga", False, by="ann")
    assert ask("GET", "/accounts").status_code == 403
    assert ask("POST", "/account/tokens", {"label": "x"}).status_code == 403


def test_only_owners_make_tokens_for_accounts_and_they_end(house: Workspace) -> None:
    for name, days in (("ann", 30), ("olga", None), ("olga", 91)):
        with pytest.raises(AccountError, match="looks after accounts"):
            house.tokens.make(name, "admin", may_write=True, days=days, administers=True)
    found = house.tokens.visitor(administering(house))
    assert found is not None and found[0].administers and found[0].may_write


def test_a_person_makes_one_in_the_browser_and_is_warned(house: Workspace, client: Client) -> None:
    olga, ann = client("olga"), client("ann")
    assert "whoever holds such a token" in olga.get("/account").text
    assert 'name="administers"' not in ann.get("/account").text
    sent = {"label": "admin", "days": "30", "administers": "yes"}
    assert "looks after accounts" in olga.send_form("/account/tokens", **sent).text
    assert ann.send_form("/account/tokens", **sent).status_code == 422
    (token,) = house.tokens.tokens("olga")
    assert token.administers and house.tokens.tokens("ann") == []


def test_a_browser_keeps_its_account_by_the_api_too(house: Workspace, client: Client) -> None:
    """With the sign against forgery, and not without."""
    ann, other = client("ann"), client("ann")
    headers = {"x-calibrant-csrf": ann.csrf}
    made = ann.post("/api/v1/account/tokens", json={"label": "x"}, headers=headers)
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    listed = ann.get("/api/v1/account/tokens").json()["tokens"]
    assert [one["id"] for one in listed] == [made.json()["id"]]
    assert made.json()["token"] not in ann.get("/api/v1/account/tokens").text
    assert ann.delete("/api/v1/account/sessions").status_code == 403
    assert other.get("/api/v1/account").json()["name"] == "ann"
    assert ann.delete("/api/v1/account/sessions", headers=headers).json() == {"ended": 2}
    assert other.get("/api/v1/account").status_code == 401
    assert [one["this"] for one in ann.get("/api/v1/account/sessions").json()["sessions"]] == [True]


def test_a_token_may_end_itself(house: Workspace, asks: Callable[[str], Asking]) -> None:
    ask = asks(house.tokens.make("ann", "work", may_write=True, days=None))
    mine = ask("GET", "/account").json()["token"]["id"]
    assert ask("DELETE", f"/account/tokens/{mine}").status_code == 200
    assert ask("GET", "/account").status_code == 401


def test_an_owners_token_for_studies_invites_as_a_lead_does(
    house: Workspace, asks: Callable[[str], Asking]
) -> None:
    """A link to a closed account, or to a name of another study, would let anybody be them."""
    owned, other = new_study(house.plain), study_of(house, PLANS, "other")
    owned.add_member("olga", roles=("lead",))
    other.add_member("mia")
    house.owners.close("ann", by="olga")
    for name in ("ann", "mia", "newcomer"):
        owned.add_member(name)
    work = asks(house.tokens.make("olga", "work", may_write=True, days=1))
    admin = asks(administering(house))
    for name, due in (("ann", 422), ("mia", 422), ("newcomer", 201)):
        path = f"/studies/{owned.number}/members/{item_ref(name)}/invitation"
        refused = work("POST", path)
        assert (refused.status_code, "/invite/" in refused.text) == (due, due == 201), name
        assert admin("POST", path).status_code == 201
