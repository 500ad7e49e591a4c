"""Personal tokens: shown once, recognised until they end. The secret of the workspace."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tests.accounts.account_kit import House

from calibrant.accounts.secret import workspace_secret
from calibrant.core.errors import AccountError


def test_a_token_acts_for_its_account_until_it_ends(any_house: House) -> None:
    house = any_house
    house.owner()
    token = house.tokens.make("olga", "  nightly\nexport ", may_write=False, days=30)
    assert token.startswith("cal_")
    found = house.tokens.visitor(token)
    assert found is not None
    kept, account = found
    assert (account.name, kept.label, kept.may_write) == ("olga", "nightlyexport", False)
    assert token not in str(kept)
    used = house.tokens.tokens("olga")[0].used_at
    assert used == house.means.now()
    house.time.pass_(minutes=5)
    house.tokens.visitor(token)
    assert house.tokens.tokens("olga")[0].used_at == used, "written down now and then only"
    assert house.tokens.visitor(token[4:]) is None
    assert house.tokens.visitor("cal_guess") is None
    house.time.pass_(days=30)
    assert house.tokens.visitor(token) is None
    for_good = house.tokens.make("olga", "for good", may_write=True, days=None)
    hash = house.tokens.tokens("olga")[0].hash
    assert not house.tokens.end("somebody", hash, by="somebody"), "not theirs"
    assert house.tokens.visitor(for_good) is not None
    assert house.tokens.end("olga", hash, by="olga")
    assert not house.tokens.end("olga", hash, by="olga")
    assert house.tokens.visitor(for_good) is None
    assert house.kinds()[-3:] == ["token_made", "token_made", "token_ended"]


def test_a_token_that_another_process_ended_lets_nobody_in_soon(house: House) -> None:
    house.owner()
    token = house.tokens.make("olga", "script", may_write=True, days=None)
    assert house.tokens.visitor(token) is not None
    other = house.beside().tokens
    other.end("olga", other.tokens("olga")[0].hash, by="olga")
    house.time.pass_(seconds=6)
    assert house.tokens.visitor(token) is None


@pytest.mark.parametrize(
    ("account", "label", "days", "told"),
    [
        ("olga", " \n ", 30, "a few words"),
        ("olga", "x", 0, "from 1 to"),
        ("olga", "x", 99_999, "from 1 to"),
        ("nobody", "x", 1, "no open account"),
    ],
)
def test_tokens_that_are_not_made(
    house: House, account: str, label: str, days: int, told: str
) -> None:
    house.owner()
    with pytest.raises(AccountError, match=told):
        house.tokens.make(account, label, may_write=True, days=days)


def test_tokens_are_bounded(house: House) -> None:
    house.owner()
    for _ in range(50):
        house.tokens.make("olga", "x", may_write=False, days=None)
    with pytest.raises(AccountError, match="end one first"):
        house.tokens.make("olga", "x", may_write=False, days=None)


def test_the_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    before = os.umask(0)
    try:
        made = workspace_secret(path, os.urandom)
    finally:
        os.umask(before)
    assert len(made) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert workspace_secret(path, os.urandom) == made
    assert [one.name for one in tmp_path.iterdir()] == ["secret"]
    path.chmod(0o640)
    with pytest.raises(AccountError, match="chmod 600"):
        workspace_secret(path, os.urandom)
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(AccountError, match="does not hold the secret"):
        workspace_secret(path, os.urandom)
    with pytest.raises(AccountError, match="cannot be made"):
        workspace_secret(tmp_path / "none" / "secret", os.urandom)


def test_many_who_start_at_once_get_one_secret(tmp_path: Path) -> None:
    path, found = tmp_path / "secret", list[bytes]()
    start = threading.Barrier(8)

    def begin() -> None:
        start.wait()
        found.append(workspace_secret(path, os.urandom))

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 8
    assert len(set(found)) == 1
