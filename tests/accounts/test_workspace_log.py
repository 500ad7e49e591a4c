"""All that is done to accounts, links, logins and tokens leaves a line in the workspace's log."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

from tests.accounts.account_kit import GOOD, House, a_panel

from calibrant.accounts.links import Links
from calibrant.accounts.means import hash_of
from calibrant.accounts.owners import Owners
from calibrant.accounts.sign_in import Door
from calibrant.accounts.tokens import Tokens
from calibrant.core.account import Event
from calibrant.store.accounts import SqlAccounts

SILENT = {
    "rehash_password",  # the same password
    "set_preferences",  # a theme, and the like: nobody else's business
    "touch_login",
    "touch_token",
}
"""What is written without a line, and why."""
READS = {
    Door: {"visitor", "need", "csrf", "is_csrf", "sessions", "forget"},
    Links: {"may_invite", "look", "links", "waiting"},
    Owners: {
        "is_begun", "accounts", "account", "last_events", "count_events", "set_preferences"
    },
    Tokens: {"visitor", "tokens", "forget"},
}  # fmt: skip
"""What changes nothing that stands in the log."""
Act = tuple[str, str, str, Callable[[], object]]


def story(house: House) -> Iterator[Act]:
    """Everything that can be done: by what, the line it leaves, whose it is."""
    door, links, tokens, owners = house.door, house.links, house.tokens, house.owners
    yield "Owners.begin", "account_made", "olga", lambda: owners.begin("olga")
    yield "Links.reset_unasked", "link_made", "x", lambda: links.reset_unasked("olga", by="x")
    secret = owners.begin("olga")
    yield "Links.accept", "link_used", "olga", lambda: links.accept(secret, GOOD)
    number = a_panel(house.store, "pilot", olga="lead")
    yield "Links.invite", "link_made", "olga", lambda: links.invite("ann", number, by="olga")
    waiting = links.waiting(number)[0].hash
    back = lambda: links.take_back(waiting, number, by="olga")  # noqa: E731
    yield "Links.take_back", "link_taken_back", "olga", back
    house.person("ann")
    yield "Door.enter", "signed_in", "ann", lambda: door.enter("ann", GOOD)
    ann = door.enter("ann", GOOD)
    change = lambda: door.change_password(ann, GOOD, "another good one")  # noqa: E731
    yield "Door.change_password", "password_set", "ann", change
    yield "Door.leave", "signed_out", "ann", lambda: door.leave(ann)
    yield "Door.admit", "signed_in", "ann", lambda: door.admit("ann", by="olga")
    login = hash_of(door.admit("ann", by="olga"))
    yield "Door.end", "login_ended", "olga", lambda: door.end("ann", login, by="olga")
    yield "Door.end_all", "logins_ended", "olga", lambda: door.end_all("ann", by="olga")
    yield "Owners.add", "account_made", "olga", lambda: owners.add("bea", by="olga")
    bea = door.admit("bea", by="olga")
    yield "Door.choose_password", "password_set", "bea", lambda: door.choose_password(bea, GOOD)
    make = lambda: tokens.make("ann", "nightly", may_write=True, days=3)  # noqa: E731
    yield "Tokens.make", "token_made", "ann", make
    token = tokens.tokens("ann")[0].hash
    yield "Tokens.end", "token_ended", "olga", lambda: tokens.end("ann", token, by="olga")
    yield "Owners.set_owner", "owner_set", "olga", lambda: owners.set_owner("ann", True, by="olga")
    yield "Links.reset", "link_made", "olga", lambda: links.reset("ann", by="olga")
    yield "Owners.close", "account_closed", "olga", lambda: owners.close("ann", by="olga")


def test_whatever_is_done_stands_in_the_log_with_who_did_it(house: House) -> None:
    done = set()
    for what, kind, actor, act in story(house):
        before = house.accounts.count_events()
        act()
        fresh = house.accounts.events(before)
        assert (kind, actor) in {(one.kind, one.actor) for one in fresh}, (what, fresh)
        done.add(what)
    known = {f"{room.__name__}.{name}" for room in READS for name in READS[room]}
    public = {
        f"{room.__name__}.{name}"
        for room in READS
        for name, _ in inspect.getmembers(room, inspect.isfunction)
        if not name.startswith("_")
    }
    assert public == known | done, "say here what it leaves in the log, or that it changes nothing"


def test_no_line_holds_a_secret(house: House) -> None:
    for _, _, _, act in story(house):
        act()
    said = str([one.body for one in house.accounts.events()])
    assert "secret-" not in said and GOOD not in said and "argon2" not in said
    assert not [one for one in house.accounts.tokens("ann") if one.hash in said]


def test_nothing_is_written_without_an_event() -> None:
    for name, method in inspect.getmembers(SqlAccounts, inspect.isfunction):
        start = name.partition("_")[0]
        if start in ("add", "set", "end", "use", "take", "close", "touch", "rehash"):
            assert ("event" in inspect.signature(method).parameters) == (name not in SILENT), name


def test_the_log_is_read_by_kind_by_person_and_page_by_page(any_house: House) -> None:
    any_house.owner()
    for name in ("ann", "Ann", "a%n", 'a"n'):
        any_house.person(name)
    accounts = any_house.accounts
    assert any_house.owners.count_events() == len(accounts.events())
    links = [one.body["account"] for one in accounts.last_events(9, kind="link_made")]
    assert links == ['a"n', "a%n", "Ann", "ann", "olga"]
    for name in ("ann", "Ann", "a%n", 'a"n'):
        found = accounts.last_events(9, name=name)
        assert [(one.kind, one.actor) for one in found] == [
            ("link_used", name),
            ("link_made", "olga"),
        ]
        assert accounts.count_events(name=name, kind="link_used") == 1
    pages: list[Event] = []
    while part := accounts.last_events(3, before=pages[-1].number if pages else None):
        pages += part
    assert pages == accounts.events()[::-1]
    assert accounts.last_events(9, name="\0") == []
