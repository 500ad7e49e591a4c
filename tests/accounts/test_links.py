"""Links let in once; nobody takes over a name that stands for somebody else."""

from __future__ import annotations

import threading

import pytest
from tests.accounts.account_kit import GOOD, House, a_panel

from calibrant.core.errors import AccountError


def refused(house: House, name: str, study: int | None, by: str) -> str:
    with pytest.raises(AccountError) as caught:
        house.links.invite(name, study, by=by)
    return str(caught.value)


def test_the_first_owner_begins_by_a_link(any_house: House) -> None:
    house = any_house
    assert not house.owners.is_begun()
    first = house.owners.begin("olga")
    again = house.owners.begin("olga")  # the address was lost before it was used
    with pytest.raises(AccountError, match="was begun by 'olga'"):
        house.owners.begin("mallory")
    with pytest.raises(AccountError, match="taken back"):
        house.links.look(first)
    secret = house.links.accept(again, GOOD, about="Firefox")
    entered = house.door.need(secret)
    assert (entered.account.owner, entered.login.about) == (True, "Firefox")
    with pytest.raises(AccountError, match="has accounts"):
        house.owners.begin("olga")
    assert house.kinds() == ["account_made", "link_made", "link_made", "link_used"]


def test_a_link_makes_an_account_once(any_house: House) -> None:
    house = any_house
    house.owner()
    study = a_panel(house.store, "pilot", olga="lead", ann="reviewer")
    link = house.links.invite(" ann ", study, by="olga")
    looked = house.links.look(link)
    assert (looked.account, looked.study, looked.made_by) == ("ann", study, "olga")
    assert link not in str(looked), "only its hash is kept"
    with pytest.raises(AccountError, match="too short"):
        house.links.accept(link, "short")
    assert [one.account for one in house.links.waiting(study)] == ["ann"]
    secret = house.links.accept(link, GOOD)
    assert house.door.need(secret).account.name == "ann"
    with pytest.raises(AccountError, match="used already"):
        house.links.accept(link, "another good one")
    house.door.enter("ann", GOOD)
    assert house.links.waiting(study) == []
    assert "has an account" in refused(house, "ann", study, "olga")


def test_of_two_who_use_a_link_at_once_one_comes_in(any_house: House) -> None:
    house = any_house
    house.owner()
    link = house.links.invite("ann", None, by="olga")
    start, came = threading.Barrier(4), list[str]()

    def use(number: int) -> None:
        start.wait()
        try:
            came.append(house.links.accept(link, f"{GOOD} {number}"))
        except AccountError as error:
            came.append(str(error))

    users = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for one in users:
        one.start()
    for one in users:
        one.join()
    let_in = [one for one in came if house.door.visitor(one) is not None]
    assert len(let_in) == 1
    assert sum("used already" in one for one in came) == 3
    assert len(house.door.sessions("ann")) == 1
    used = [one.actor for one in house.accounts.events() if one.kind == "link_used"]
    assert used == ["olga", "ann"]


def test_links_end(house: House) -> None:
    house.owner()
    study = a_panel(house.store, "pilot", olga="lead")
    old = house.links.invite("ann", study, by="olga")
    house.time.pass_(days=13, hours=23)
    house.links.look(old)
    newer = house.links.invite("ann", study, by="olga")
    with pytest.raises(AccountError, match="taken back"):
        house.links.accept(old, GOOD)
    house.time.pass_(days=14)
    with pytest.raises(AccountError, match="too old"):
        house.links.accept(newer, GOOD)
    last = house.links.invite("ann", study, by="olga")
    hash = house.links.look(last).hash
    assert not house.links.take_back(hash, study + 1, by="olga"), "of another study"
    assert house.links.take_back(hash, study, by="olga")
    assert not house.links.take_back(hash, study, by="olga")
    with pytest.raises(AccountError, match="taken back"):
        house.links.accept(last, GOOD)
    with pytest.raises(AccountError, match="not known"):
        house.links.look("guessed")
    assert house.accounts.account("ann") is None
    assert house.kinds().count("link_taken_back") == 1


def test_nobody_takes_a_name_over(house: House) -> None:
    house.owner()
    for name in ("lena", "max"):
        house.person(name)
    first = a_panel(house.store, "first", lena="lead", ann="reviewer", bea="reviewer")
    second = a_panel(house.store, "second", max="lead", ann="reviewer", gpt="judge", zoe="viewer")
    assert "another study" in refused(house, "ann", second, "max")
    assert "another study" in refused(house, "bea", second, "max"), "not even to one's own"
    assert "leads a study" in refused(house, "zoe", first, "max")
    assert "leads a study" in refused(house, "zoe", None, "max")
    assert "has an account" in refused(house, "olga", second, "max")
    assert "a judge or a check" in refused(house, "gpt", second, "max")
    assert "a judge or a check" in refused(house, "gpt", second, "olga")
    assert "no study number" in refused(house, "zoe", 77, "olga")
    assert "must be a text" in refused(house, "\n", second, "max")
    assert "no open account" in refused(house, "zoe", second, "stranger")
    house.links.invite("zoe", second, by="max")
    house.links.invite("ann", second, by="olga")


def test_a_closed_account_is_opened_again_by_an_owner_alone(house: House) -> None:
    house.owner()
    house.person("lena")
    secret = house.person("ann")
    token = house.tokens.make("ann", "script", may_write=True, days=None)
    study = a_panel(house.store, "first", lena="lead", ann="reviewer")
    house.owners.close("ann", by="olga")
    assert house.door.visitor(secret) is None
    assert house.tokens.visitor(token) is None
    with pytest.raises(AccountError, match="not right"):
        house.door.enter("ann", GOOD)
    assert "was closed" in refused(house, "ann", study, "lena")
    link = house.links.invite("ann", study, by="olga")
    assert house.door.need(house.links.accept(link, "yet another one")).account.name == "ann"
    assert house.tokens.visitor(token) is None


def test_a_forgotten_password_is_set_anew_by_an_owners_link(house: House) -> None:
    house.owner()
    before = house.person("ann")
    with pytest.raises(AccountError, match="only an owner"):
        house.links.reset("olga", by="ann")
    with pytest.raises(AccountError, match="no account 'zoe'"):
        house.links.reset("zoe", by="olga")
    link = house.links.reset("ann", by="olga")
    assert house.door.visitor(before) is not None
    after = house.links.accept(link, "a better password")
    assert house.door.visitor(before) is None
    assert house.door.visitor(after) is not None


def test_one_owner_always_stays(house: House) -> None:
    house.owner()
    house.person("ann")
    with pytest.raises(AccountError, match="the only owner"):
        house.owners.close("olga", by="olga")
    with pytest.raises(AccountError, match="the only owner"):
        house.owners.set_owner("olga", False, by="olga")
    house.owners.set_owner("ann", True, by="olga")
    house.owners.set_owner("olga", False, by="ann")
    assert [one.name for one in house.owners.accounts() if one.owner] == ["ann"]
    with pytest.raises(AccountError, match="no open account"):
        house.owners.close("zoe", by="ann")
    with pytest.raises(AccountError, match="already"):
        house.owners.add("ann", by="ann")
