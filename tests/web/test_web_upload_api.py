"""A file of items by program: sent as it is, its columns said, looked at, taken in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.study.study_kit import RESPONSES, new_study
from tests.web.conftest import Signed

from calibrant import Study
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
ROWS = b"Nr,Prompt,What it said\n1,Why?,Because.\n2,When?,\n3,Who?,Nobody.\n"


@pytest.fixture
def study(workspace: Workspace) -> Study:
    """A study of responses."""
    return new_study(workspace.plain, RESPONSES)


def ended(lena: Signed, path: str) -> dict[str, Any]:
    """How a file stands once nobody is at it."""
    while True:
        found: dict[str, Any] = lena.get(path).json()
        if found["state"] not in ("reading", "taking"):
            return found


def test_a_spreadsheet_becomes_items(workspace: Workspace, client: Client, study: Study) -> None:
    lena, at = client("lena"), f"/api/v1/studies/{study.number}"
    lena.headers["x-calibrant-csrf"] = lena.csrf
    sent = lena.post(f"{at}/items/upload?name=items.csv", content=ROWS)
    assert sent.status_code == 202, sent.text
    path = f"{at}/uploads/{sent.json()['upload']}"
    first = ended(lena, path)
    assert first["troubles"] == ["No column is the response to be judged: choose one."]
    assert [(one["name"], one["choice"]) for one in first["columns"]] == [
        ("Nr", "id"), ("Prompt", "question"), ("What it said", "beside"),
    ]  # fmt: skip
    assert lena.post(f"{path}/take", json={"check": first["check"]}).status_code == 422
    said = lena.put(f"{path}/columns", json={"columns": {"What it said": "response"}})
    assert said.status_code == 200
    found = ended(lena, path)
    checked = found["checked"]
    assert (checked["good"], checked["bad"], checked["preview"][0]["id"]) == (2, 1, "1")
    (fault,) = lena.get(f"{path}/faults").json()["faults"]
    assert (fault["row"], fault["column"]) == (3, "What it said")
    assert lena.post(f"{path}/take", json={"check": first["check"]}).status_code == 409
    assert lena.post(f"{path}/take", json={"check": found["check"]}).status_code == 202
    taken = ended(lena, path)
    assert (taken["state"], taken["added"]) == ("taken", 2)
    assert lena.get(f"{at}/items").json()["total"] == 2
    assert lena.delete(path).status_code == 200
    assert lena.get(path).status_code == 404


def test_a_file_is_its_senders_alone(workspace: Workspace, client: Client, study: Study) -> None:
    study.add_member("lou", roles=("lead",))
    lena, lou, at = client("lena"), client("lou"), f"/api/v1/studies/{study.number}"
    headers = {"x-calibrant-csrf": lena.csrf}
    sent = lena.post(f"{at}/items/upload?name=items.csv", content=ROWS, headers=headers)
    path = f"{at}/uploads/{sent.json()['upload']}"
    assert ended(lena, path)["name"] == "items.csv"
    assert lou.get(path).status_code == 404
    assert lou.get(f"{at}/uploads").json() == {"uploads": []}
    assert [one["name"] for one in lena.get(f"{at}/uploads").json()["uploads"]] == ["items.csv"]


@pytest.mark.parametrize(("name", "content"), [("items.csv", b""), ("items.exe", b"MZ")])
def test_what_is_no_file_of_items_is_refused_in_words(
    client: Client, study: Study, name: str, content: bytes
) -> None:
    lena = client("lena")
    address = f"/api/v1/studies/{study.number}/items/upload?name={name}"
    refused = lena.post(address, content=content, headers={"x-calibrant-csrf": lena.csrf})
    assert refused.status_code == 422 and refused.json()["error"]
    assert client().post(address, content=content).status_code == 401
