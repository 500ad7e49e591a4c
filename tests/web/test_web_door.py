"""Coming in: passwords, invitations, printed links; one's account; the owner's page."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.study.study_kit import new_study
from tests.web.conftest import Signed

from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
GOOD = "seven small lanterns"


def invited(workspace: Workspace, name: str, study: int | None = None) -> str:
    """Where an invitation leads."""
    return f"/invite/{workspace.links.invite(name, study, by='owen')}"


def test_an_invitation_leads_in_once(workspace: Workspace, client: Client) -> None:
    client("owen", owner=True)
    study = new_study(workspace.plain)
    study.add_member("ada", group="adviser")
    address = invited(workspace, "ada", study.number)
    ada = client()
    assert "Welcome, ada" in ada.get(address).text
    unlike = ada.post(address, data={"password": GOOD, "again": "another one entirely"})
    assert unlike.status_code == 422 and "not the same" in unlike.text
    short = ada.post(address, data={"password": "short", "again": "short"})
    assert short.status_code == 422
    came = ada.post(address, data={"password": GOOD, "again": GOOD}, follow_redirects=False)
    assert (came.status_code, came.headers["location"]) == (303, f"/s/{study.number}")
    cookie = came.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert ada.get("/").status_code == 200
    again = client().get(address)
    assert again.status_code == 404 and "used already" in again.text


def test_a_password_lets_in_and_a_wrong_one_does_not(workspace: Workspace, client: Client) -> None:
    client("owen", owner=True)
    secret = workspace.links.invite("ada", None, by="owen")
    workspace.links.accept(secret, GOOD)
    browser = client()
    wrong = browser.post("/sign-in", data={"name": "ada", "password": "seven small lamps"})
    nobody = browser.post("/sign-in", data={"name": "nobody", "password": "seven small lamps"})
    assert wrong.status_code == nobody.status_code == 403
    assert "The name or the password is not right" in wrong.text
    sent = {"name": "ada", "password": GOOD, "next": "/account"}
    right = browser.post("/sign-in", data=sent, follow_redirects=False)
    assert (right.status_code, right.headers["location"]) == (303, "/account")
    assert "ada" in browser.get("/account").text


def test_too_many_wrong_passwords_make_one_wait(client: Client) -> None:
    client("owen", owner=True)
    browser = client()
    sent = {"name": "owen", "password": "wrong and wrong again"}
    statuses = [browser.post("/sign-in", data=sent).status_code for _ in range(8)]
    assert statuses[0] == 403 and statuses[-1] == 429


@pytest.mark.parametrize(
    "next", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"]
)
def test_signing_in_leads_nowhere_else(client: Client, next: str) -> None:
    sent = client("ada").get("/sign-in", params={"next": next}, follow_redirects=False)
    assert sent.headers["location"] == "/"


def test_a_printed_link_leads_in_once(workspace: Workspace, client: Client) -> None:
    client("owen", owner=True)
    secret = workspace.entries.add("owen")
    browser = client()
    assert browser.get(f"/enter/{secret}").status_code == 200
    came = browser.post(f"/enter/{secret}", follow_redirects=False)
    assert came.headers["location"] == "/"
    assert browser.get("/workspace").status_code == 200
    assert client().post(f"/enter/{secret}").status_code == 403
    kept = workspace.entries.add("owen", again=True)
    for _ in range(2):
        assert client().post(f"/enter/{kept}", follow_redirects=False).status_code == 303


def test_signing_out_ends_the_login(client: Client) -> None:
    ada = client("ada")
    other = client("ada")
    assert ada.send_form("/sign-out").status_code == 303
    assert ada.get("/", follow_redirects=False).status_code == 303
    assert other.get("/").status_code == 200


def test_a_form_of_another_site_is_refused(client: Client) -> None:
    ada = client("ada")
    for csrf in ("", "wrong", client("bo").csrf):
        sent = ada.post("/account/sign-out-others", data={"csrf": csrf})
        assert sent.status_code == 403


def test_somebody_chooses_changes_and_keeps_a_password(client: Client) -> None:
    ada, elsewhere = client("ada"), client("ada")
    chosen = ada.send_form("/account/password", new=GOOD, again=GOOD)
    assert chosen.status_code == 303
    assert elsewhere.get("/", follow_redirects=False).status_code == 303
    wrong = ada.send_form("/account/password", old="no", new=GOOD + "s", again=GOOD + "s")
    assert wrong.status_code == 422
    changed = ada.send_form("/account/password", old=GOOD, new=GOOD + "s", again=GOOD + "s")
    assert changed.status_code == 303 and ada.get("/").status_code == 200


def test_a_token_is_shown_once_and_lets_a_program_in(client: Client) -> None:
    ada = client("ada")
    made = ada.send_form("/account/tokens", label="nightly <b>", days="30")
    (token,) = re.findall(r"cal_[\w-]+", made.text)
    assert token not in ada.get("/account").text
    program = client()
    headers = {"authorization": f"Bearer {token}"}
    assert program.get("/account", headers=headers).status_code == 200
    refused = program.post("/account/tokens", headers=headers, data={"label": "more"})
    assert refused.status_code == 403
    (hash,) = re.findall(r"/account/tokens/(\w+)/end", ada.get("/account").text)
    assert client("bo").send_form(f"/account/tokens/{hash}/end").status_code == 404
    assert ada.send_form(f"/account/tokens/{hash}/end").status_code == 303
    assert program.get("/account", headers=headers, follow_redirects=False).status_code == 303


def test_the_owner_looks_after_accounts(client: Client) -> None:
    owen, ada = client("owen", owner=True), client("ada")
    assert ada.get("/workspace").status_code == 403
    made = owen.send_form("/workspace/invite", name="bo")
    (address,) = re.findall(r"/invite/[\w-]+", made.text)
    assert client().get(address).status_code == 200
    assert owen.send_form("/workspace/invite", name="ada").status_code == 422
    assert owen.send_form("/workspace/sign-out", name="ada").status_code == 303
    assert ada.get("/", follow_redirects=False).status_code == 303
    assert owen.send_form("/workspace/close", name="ada").status_code == 303
    assert owen.send_form("/workspace/close", name="owen").status_code == 422
    assert "account closed" in owen.get("/workspace").text
