"""The frame: who is let in, what every answer carries, what an address may say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from tests.web.conftest import HOST, Signed

from calibrant.core.study import Key
from calibrant.web.refs import item_ref, read_item, read_task, task_ref
from calibrant.web.words import markdown, shown

Client = Callable[..., Signed]


def test_nobody_is_sent_to_the_door_and_somebody_is_let_in(client: Client) -> None:
    sent = client().get("/", follow_redirects=False)
    assert (sent.status_code, sent.headers["location"]) == (303, "/sign-in?next=%2F")
    assert client("lena").get("/").status_code == 200


def test_every_answer_forbids_what_we_do_not_use(client: Client) -> None:
    for path in ("/", "/nothing", "/account", "/api/v1/nothing"):
        headers = client("lena").get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_another_name_or_another_site_is_refused(client: Client) -> None:
    lena = client("lena")
    assert lena.get("/", headers={"host": "evil.example"}).status_code == 421
    for origin in ("http://evil.example", "null", f"https://{HOST}"):
        sent = lena.post("/sign-out", headers={"origin": origin}, data={"csrf": lena.csrf})
        assert sent.status_code == 403
    assert lena.post("/sign-out", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_too_much_is_not_read(client: Client) -> None:
    lena = client("lena")
    assert lena.post("/sign-out", content=b"x" * (5 * 2**20)).status_code == 413


@given(st.text(max_size=200))
def test_items_come_back_from_their_addresses(name: str) -> None:
    assert read_item(item_ref(name)) == name
    key = Key(round=2, item=name, rater="ada", occasion=1)
    assert read_task(task_ref(key), "ada") == key
    assert "/" not in item_ref(name) + task_ref(key)


@given(st.text(max_size=60))
def test_no_address_does_harm(text: str) -> None:
    for read in (read_item, lambda ref: read_task(ref, "ada")):
        try:
            read(text)
        except HTTPException as error:
            assert error.status_code == 404


@pytest.mark.parametrize("draw", [shown, markdown])
@given(text=st.text(max_size=300))
def test_nobody_elses_words_become_markup(draw: Callable[[str], str], text: str) -> None:
    drawn = draw(text + "<script>alert(1)</script><img src=x onerror=y>[a](javascript:b)")
    assert "<script" not in drawn and "<img" not in drawn and "<a" not in drawn


def test_tables_stand_on_their_side_without_a_style() -> None:
    drawn = markdown("|a|b|c|\n|---|:-:|--:|\n|1|2|3|")
    assert "style" not in drawn
    assert '<td class="side-right">3</td>' in drawn and '<td class="side-center">2</td>' in drawn


def test_large_pages_are_packed_and_their_length_tells_nothing(client: Client) -> None:
    lena = client("lena")
    lengths = {lena.get("/components").headers["content-length"] for _ in range(6)}
    assert len(lengths) > 1
    page = lena.get("/components")
    assert page.headers["content-encoding"] == "gzip" and "</html>" in page.text
    plain = lena.get("/components", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert page.text.startswith(plain.text.rstrip()[:2000])
