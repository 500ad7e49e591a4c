"""What a careful look at the whole application found wrong, so that it stays right."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.web.conftest import Signed
from tests.web.rate_kit import rating_study

from calibrant.web import security
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]


# -- what strangers send


def test_what_a_stranger_sends_at_length_is_not_read(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of wrong roles took half a minute to read, for whoever could reach the server."""
    study = rating_study(workspace.plain, clock=workspace.clock)
    nobody, path = client(), f"/api/v1/studies/{study.number}/members"
    read: list[int] = []
    measured = security._measured

    def counted(receive: security.Receive, most: int) -> security.Receive:
        take = measured(receive, most)

        async def taking() -> security.Message:
            message = await take()
            read.append(len(message.get("body", b"")))
            return message

        return taking

    monkeypatch.setattr(security, "_measured", counted)
    body = b'{"name": "x", "roles": [' + b"1," * 100_000 + b"1]}"
    sent = nobody.post(path, content=body, headers={"content-type": "application/json"})
    assert (sent.status_code, sum(read)) == (401, 0)
    form = nobody.post("/sign-in", data={"name": "x" * 20_000, "password": "y"})
    assert (form.status_code, sum(read)) == (403, 0)
    lena = client("lena")
    told = lena.post(
        path,
        content=body,
        headers={"content-type": "application/json", "x-calibrant-csrf": lena.csrf},
    )
    assert told.status_code == 422
    assert sum(read) == len(body)
    assert len(told.json()["faults"]) < 101


def test_a_body_that_does_not_say_its_length_is_told_to_be_too_large(client: Client) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b"a=1&" * 16_384

    lena = client("lena")
    form = {"content-type": "application/x-www-form-urlencoded", "x-calibrant-csrf": lena.csrf}
    assert lena.post("/account/tokens", content=endless(), headers=form).status_code == 413
