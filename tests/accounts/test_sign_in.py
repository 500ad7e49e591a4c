"""People come in by their password, are recognised until they leave, and wait when often wrong."""

from __future__ import annotations

from datetime import timedelta

import pytest
from argon2 import PasswordHasher
from tests.accounts.account_kit import CHEAP, GOOD, House

from calibrant.accounts import sign_in
from calibrant.accounts.limits import MOST_KEPT, Limit, Seldom
from calibrant.accounts.means import hash_of
from calibrant.accounts.passwords import COMMON, LONGEST, Passwords, checked
from calibrant.core.errors import AccountError, TooOften


def wrong(house: House, name: str, address: str = "") -> str:
    with pytest.raises(AccountError) as caught:
        house.door.enter(name, "not the password", address=address)
    return str(caught.value)


def test_whoever_knows_the_password_comes_in_and_is_recognised(any_house: House) -> None:
    any_house.owner()
    secret = any_house.door.enter(" olga ", GOOD, about="Firefox\n on\x00 Linux " + "x" * 500)
    found = any_house.door.visitor(secret)
    assert found is not None
    assert (found.account.name, found.account.owner) == ("olga", True)
    assert found.login.about.startswith("Firefox on Linux")
    assert len(found.login.about) == 200
    assert any_house.door.visitor(secret + "x") is None
    assert any_house.door.visitor("half \ud800") is None
    assert secret not in str(any_house.accounts.login(found.login.hash))
    any_house.door.leave(secret)
    assert any_house.door.visitor(secret) is None
    assert any_house.kinds()[-2:] == ["signed_in", "signed_out"]


def test_nobody_learns_which_names_have_accounts(house: House) -> None:
    house.owner()
    house.owners.add("unset", by="olga")
    house.person("gone")
    house.owners.close("gone", by="olga")
    told = {wrong(house, name) for name in ("olga", "unset", "gone", "nobody", "", "\0", "a" * 999)}
    assert told == {sign_in.WRONG}


def test_an_unknown_name_takes_as_much_work_as_a_known_one(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.owner()
    worked: list[str] = []
    verify = PasswordHasher.verify

    def counted(self: PasswordHasher, kept: str, password: bytes) -> bool:
        worked.append(kept.split("$")[3])
        return verify(self, kept, password)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    for name in ("olga", "nobody"):
        wrong(house, name)
    assert len(worked) == 2
    assert worked[0] == worked[1], "the same settings of argon2"


def test_waits_begin_after_five_wrong_passwords_and_double(house: House) -> None:
    house.owner()
    for _ in range(5):
        assert wrong(house, "olga") == sign_in.WRONG
    waited = []
    for _ in range(9):
        with pytest.raises(TooOften) as caught:
            house.door.enter("olga", GOOD)
        waited.append(caught.value.seconds)
        assert f"in {caught.value.seconds} seconds" in str(caught.value)
        house.time.pass_(seconds=caught.value.seconds)
        assert wrong(house, "olga") == sign_in.WRONG
    assert waited == [15, 30, 60, 120, 240, 480, 900, 900, 900]
    house.time.pass_(seconds=900)
    house.door.enter("olga", GOOD)
    for _ in range(5):
        assert wrong(house, "olga") == sign_in.WRONG, "the right one has cleared the count"


def test_an_address_waits_too_and_does_not_clear_itself_by_one_right_password(
    house: House,
) -> None:
    house.owner()
    for number in range(19):
        assert wrong(house, f"guess{number}", "192.0.2.7") == sign_in.WRONG
        house.door.enter("olga", GOOD, address="192.0.2.7")
    wrong(house, "one more", "192.0.2.7")
    with pytest.raises(TooOften):
        house.door.enter("olga", GOOD, address="192.0.2.7")
    house.door.enter("olga", GOOD, address="192.0.2.8")


def test_the_counts_are_bounded_and_forgotten(house: House) -> None:
    limit = Limit(house.time, 2, most=10)
    for number in range(1000):
        limit.attempt(f"n{number}")
    assert len(limit._tries) == 10
    limit.attempt("n999")
    with pytest.raises(TooOften):
        limit.attempt("n999")
    house.time.pass_(hours=1, seconds=1)
    limit.attempt("n999")
    limit.attempt("n999")
    seldom = Seldom(house.time, most=10)
    assert [seldom.lets(f"n{n % 20}") for n in range(40)].count(True) == 40
    assert len(seldom._last) == 10
    assert MOST_KEPT >= 10_000


def test_failures_are_logged_at_most_once_a_minute_and_only_of_accounts(house: House) -> None:
    house.owner()
    for _ in range(3):
        wrong(house, "olga", "192.0.2.7")
        wrong(house, "what if this is a password")
    assert house.kinds().count("sign_in_failed") == 1
    house.time.pass_(seconds=61)
    wrong(house, "olga")
    failed = [one for one in house.accounts.events() if one.kind == "sign_in_failed"]
    assert [one.actor for one in failed] == ["olga", "olga"]
    assert failed[0].body == {"address": "192.0.2.7"}


def test_a_login_ends_after_thirty_days_unless_it_is_used(any_house: House) -> None:
    secret = any_house.owner()
    idle = any_house.door.enter("olga", GOOD)
    for _ in range(20):
        any_house.time.pass_(days=2)
        assert any_house.door.visitor(secret) is not None
    assert any_house.door.visitor(idle) is None
    assert [one.hash for one in any_house.door.sessions("olga")] == [hash_of(secret)]
    any_house.time.pass_(days=30, seconds=1)
    assert any_house.door.visitor(secret) is None


def test_being_used_is_written_down_at_most_once_an_hour(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = house.owner()
    touched: list[str] = []
    touch = house.accounts.touch_login

    def counted(hash: str, **times: str) -> None:
        touched.append(hash)
        touch(hash, **times)

    monkeypatch.setattr(house.accounts, "touch_login", counted)
    for _ in range(130):
        house.time.pass_(minutes=1)
        assert house.door.visitor(secret) is not None
    assert len(touched) == 2


def test_a_login_that_was_ended_here_lets_nobody_in_at_once(house: House) -> None:
    first = house.owner()
    second, third = (house.door.enter("olga", GOOD) for _ in range(2))
    for secret in (first, second, third):
        assert house.door.visitor(secret) is not None
    assert house.door.end("olga", hash_of(second), by="olga")
    assert not house.door.end("olga", hash_of(second), by="olga")
    assert not house.door.end("somebody", hash_of(first), by="somebody"), "not theirs to end"
    assert house.door.visitor(second) is None
    assert house.door.end_all("olga", by="olga", but=first) == 1
    assert house.door.visitor(third) is None
    assert house.door.visitor(first) is not None


def test_a_login_that_another_process_ended_lets_nobody_in_soon(house: House) -> None:
    secret = house.owner()
    assert house.door.visitor(secret) is not None
    house.beside().door.end_all("olga", by="olga")
    house.time.pass_(seconds=sign_in.FRESH / timedelta(seconds=1) + 1)
    assert house.door.visitor(secret) is None


def test_a_login_that_ends_while_it_is_looked_up_is_not_remembered(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = house.owner()
    read = house.accounts.login

    def meanwhile(hash: str) -> object:
        found = read(hash)
        monkeypatch.setattr(house.accounts, "login", read)
        house.door.end("olga", hash_of(secret), by="olga")
        return found

    monkeypatch.setattr(house.accounts, "login", meanwhile)
    house.door.visitor(secret)
    assert house.door.visitor(secret) is None


def test_a_new_password_signs_all_other_browsers_out(any_house: House) -> None:
    here = any_house.owner()
    there = any_house.door.enter("olga", GOOD)
    with pytest.raises(AccountError, match="not right"):
        any_house.door.change_password(here, "wrong", "another good one")
    any_house.door.change_password(here, GOOD, "another good one")
    assert any_house.door.visitor(here) is not None
    assert any_house.door.visitor(there) is None
    wrong(any_house, "olga")
    with pytest.raises(AccountError):
        any_house.door.enter("olga", GOOD)
    any_house.door.enter("olga", "another good one")


def test_a_form_carries_what_only_its_login_can_know(house: House) -> None:
    first, second = house.owner(), house.door.enter("olga", GOOD)
    assert house.door.is_csrf(first, house.door.csrf(first))
    assert not house.door.is_csrf(second, house.door.csrf(first))
    assert not house.door.is_csrf(first, "é \ud800")
    assert house.door.csrf(first) not in (first, hash_of(first))


@pytest.mark.parametrize(
    ("password", "told"),
    [
        ("short", "too short"),
        ("x" * 1001, "too long"),
        ("aaaaaaaaaaaaaa", "first that anybody"),
        ("Password123", "first that anybody"),
        ("Olga.Petrova", "the name of the account"),
    ],
)
def test_poor_passwords_are_refused(password: str, told: str) -> None:
    with pytest.raises(AccountError, match=told):
        checked(password, "olga.petrova")


def test_any_script_is_a_password_however_it_is_typed() -> None:
    passwords = Passwords(CHEAP)
    kept = passwords.hash("cafe\u0301 пароль 密码", "olga")
    assert passwords.is_right(kept, "caf\u00e9 пароль 密码")
    assert not passwords.is_right(kept, "cafe пароль 密码")
    assert not passwords.is_right("no hash at all", "x")
    longest = "ab1" + "x" * (LONGEST - 3)
    kept = passwords.hash(longest, "olga")
    assert passwords.is_right(kept, longest)
    assert not passwords.is_right(kept, longest + "x")
    assert all(len(one) >= 10 and one == one.casefold() for one in COMMON)


def test_hashes_are_made_anew_when_the_settings_change(house: House) -> None:
    house.owner()
    before = house.accounts.account("olga")
    house.passwords = Passwords(PasswordHasher(time_cost=2, memory_cost=16, parallelism=1))
    stricter = house.beside()
    secret = stricter.door.enter("olga", GOOD)
    after = house.accounts.account("olga")
    assert before is not None
    assert after is not None
    assert before.password != after.password
    stricter.door.enter("olga", GOOD)
    assert house.accounts.account("olga") == after
    assert stricter.door.visitor(secret) is not None, "nobody is signed out by that"


def test_the_usual_settings_are_argon2id_and_not_weak() -> None:
    kept = Passwords().hash(GOOD, "olga")
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_whoever_is_made_to_wait_stands_in_the_log_once_a_minute(house: House) -> None:
    house.owner()
    for _ in range(9):
        wrong(house, "olga", "192.0.2.7")
        wrong(house, "what if this is a password")
    held = [one for one in house.accounts.events() if one.kind == "sign_in_held"]
    assert [(one.actor, one.body) for one in held] == [("olga", {"address": "192.0.2.7"})]
    for number in range(40):
        wrong(house, f"guess-{number}", "192.0.2.8")
    held = [one for one in house.accounts.events() if one.kind == "sign_in_held"]
    assert [one.actor for one in held] == ["olga", "somebody"]
    assert "guess" not in str([one.body for one in held])
