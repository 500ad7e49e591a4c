"""Items are known by what is judged, and counted by code."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from decimal import Decimal
from typing import Any

import pytest

from calibrant import Conversation, FreeItem, Item, Plan, Response
from calibrant.core.item import Action, Exchange, Message, Profile

HELLO = Exchange(user="Hello.", assistant="Hello to you.")
PLAN = Plan(
    id="p",
    profile=Profile(goal="A job", hours_per_week=Decimal("10"), barriers=("no car",)),
    actions=(Action(action="Write"), Action(action="Call", metric="3 calls")),
)
TALK = Conversation(id="t", exchanges=(HELLO, HELLO))
RESPONSE = Response(id="r", question="Why?", response="Because.")
FREE = FreeItem(id="f", content={"text": "Words."})
ITEMS = [PLAN, TALK, RESPONSE, FREE]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.kind)
def test_the_hash_is_of_what_is_judged(item: Item) -> None:
    assert replace(item, id="another", more={"source": "elsewhere"}).hash == item.hash
    assert item.hash.startswith("sha256:")


@pytest.mark.parametrize(
    ("item", "changes"),
    [
        (PLAN, {"actions": PLAN.actions[::-1]}),
        (PLAN, {"profile": Profile(goal="Another job")}),
        (PLAN, {"profile": replace(PLAN.profile, barriers=None)}),
        (TALK, {"exchanges": (HELLO,)}),
        (TALK, {"exchanges": (HELLO, replace(HELLO, user="Hello. "))}),
        (TALK, {"preamble": (Message(role="system", content="Be kind."),)}),
        (RESPONSE, {"response": "Because!"}),
        (RESPONSE, {"reference": "So it is."}),
        (RESPONSE, {"as_of": "2024-05-01"}),
        (FREE, {"content": {"text": "Words"}}),
        (FREE, {"content": {"txet": "Words."}}),
    ],
)
def test_any_other_content_has_another_hash(item: Any, changes: dict[str, Any]) -> None:
    assert replace(item, **changes).hash != item.hash


def test_an_unstated_field_is_not_an_empty_one() -> None:
    profile = replace(PLAN.profile, lacks=())
    assert replace(PLAN, profile=profile).hash != PLAN.hash


def test_trailing_zeros_do_not_make_another_item() -> None:
    profile = replace(PLAN.profile, hours_per_week=Decimal("10.0"))
    assert replace(PLAN, profile=profile).hash == PLAN.hash


def test_the_kind_is_part_of_the_content() -> None:
    content = {"question": "Why?", "response": "Because.", "reference": None, "as_of": None}
    assert FreeItem(id="r", content=content).hash != RESPONSE.hash


@pytest.mark.parametrize(
    ("item", "measures"),
    [(PLAN, {"actions": 2}), (TALK, {"exchanges": 2}), (RESPONSE, {}), (FREE, {})],
    ids=["plan", "conversation", "response", "free"],
)
def test_code_counts_what_preconditions_speak_of(item: Item, measures: dict[str, int]) -> None:
    assert item.measures() == measures


def test_what_comes_before_the_first_exchange_is_not_counted() -> None:
    greeting = Message(role="assistant", content="Welcome.")
    assert replace(TALK, preamble=(greeting,)).measures() == {"exchanges": 2}


def test_an_item_is_never_changed_in_place() -> None:
    item: Any = RESPONSE
    with pytest.raises(FrozenInstanceError):
        item.response = "Otherwise."
