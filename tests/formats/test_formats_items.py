"""Items from files: every good record kept as it is written, every bad one named."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
from tests.formats.workbooks import save_rows

from calibrant.core.criterion import ItemType
from calibrant.core.errors import Fault
from calibrant.core.item import Conversation, Exchange, FreeItem, Message, Plan, Response
from calibrant.formats.items import (
    Duplicate,
    item_schema,
    read_item,
    read_items,
    stream_items,
)

EXAMPLES = Path(__file__).parents[2] / "examples"


def one(record: Any, kind: ItemType | None = None) -> Any:
    """The item of a record that has no fault."""
    item, faults = read_item(record, kind)
    assert not faults
    assert item is not None
    return item


def told(record: Any, kind: ItemType | None = None) -> list[tuple[str, str]]:
    """Path and message of every fault of a record."""
    item, faults = read_item(record, kind, 7, "file")
    assert item is None
    assert all((fault.record, fault.source) == (7, "file") for fault in faults)
    return [(fault.path, fault.message) for fault in faults]


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


# -- conversations

PAIRS = [("I froze.", "Say more?"), ("It was the date.", "What about it?")]
MESSAGES = [
    {"role": role, "content": text}
    for pair in PAIRS
    for role, text in zip(("user", "assistant"), pair, strict=True)
]
SIDES = [{"user": user, "assistant": assistant} for user, assistant in PAIRS]
SHAPES: dict[str, Any] = {
    "messages": {"id": "c", "messages": MESSAGES},
    "turns": {"id": "c", "turns": SIDES},
    "exchanges": {"id": "c", "exchanges": SIDES},
    "exchanges as pairs": {"id": "c", "exchanges": [list(pair) for pair in PAIRS]},
    "turns as pairs": {"id": "c", "turns": [list(pair) for pair in PAIRS]},
}


@pytest.mark.parametrize("record", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("kind", ["conversation", None])
def test_all_shapes_are_one_conversation(record: Any, kind: ItemType | None) -> None:
    item = one(record, kind)
    assert isinstance(item, Conversation)
    assert item.exchanges == tuple(Exchange(user=u, assistant=a) for u, a in PAIRS)
    assert item.preamble == ()
    assert item.measures() == {"exchanges": 2}
    assert item.hash == one(SHAPES["messages"]).hash


def test_a_bare_list_of_pairs_is_a_conversation_named_after_its_place(tmp_path: Path) -> None:
    path = lines(tmp_path / "items.jsonl", {"id": "x", "turns": SIDES}, [list(p) for p in PAIRS])
    read = read_items(path)
    assert [item.id for item in read.items] == ["x", "record-2"]
    assert [str(duplicate) for duplicate in read.duplicates] == [
        "record 2 (record-2) has the same content as record 1 (x)"
    ]


def test_what_comes_before_the_first_exchange_is_a_preamble() -> None:
    record = {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "assistant", "content": "Hello, I am here."},
            *MESSAGES,
            {"role": "system", "content": "Time is up."},
        ]
    }
    item = one(record)
    assert item.preamble == (
        Message(role="system", content="Be kind."),
        Message(role="assistant", content="Hello, I am here."),
        Message(role="system", content="Time is up."),
    )
    assert item.measures() == {"exchanges": 2}


def test_two_messages_of_a_user_are_joined() -> None:
    record = {
        "messages": [
            {"role": "user", "content": "I froze."},
            {"role": "user", "content": "And I sleep badly."},
            {"role": "assistant", "content": "Which first?"},
        ]
    }
    assert one(record).exchanges == (
        Exchange(user="I froze.\n\nAnd I sleep badly.", assistant="Which first?"),
    )


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (
            [*MESSAGES, {"role": "user", "content": "Bye"}],
            [("messages[4]", "the conversation ends with a user's message")],
        ),
        (
            [*MESSAGES, {"role": "assistant", "content": "And?"}],
            [("messages[4]", "an assistant's message without a user's before it")],
        ),
        (
            [{"role": "User", "content": "a"}, {"role": "assistant", "content": "b"}],
            [
                ("messages[0].role", "role 'User' is not known"),
                ("exchanges", "must hold at least one entry"),
            ],
        ),
        (
            [*MESSAGES, {"role": "tool", "content": "x"}, {"role": None, "content": "x"}],
            [
                ("messages[4].role", "role 'tool' is not known"),
                ("messages[5].role", "role 'None' is not known"),
            ],
        ),
        (
            [*MESSAGES, {"role": "user", "content": " "}, {"role": "assistant", "content": 5}],
            [
                ("messages[4].content", "must be text that is not empty"),
                ("messages[5].content", "must be text that is not empty"),
            ],
        ),
        ([*MESSAGES, "hello"], [("messages[4]", "must be an object with role and content")]),
        ("hello", [("messages", "must be a list")]),
        ([{"role": "system", "content": "x"}], [("exchanges", "must hold at least one entry")]),
        ([], [("exchanges", "must hold at least one entry")]),
    ],
)
def test_what_is_wrong_with_messages_and_where(
    messages: Any, expected: list[tuple[str, str]]
) -> None:
    found = told({"id": "c", "messages": messages}, "conversation")
    assert found[0] == expected[0]
    assert set(found) <= {*expected, ("exchanges", "must hold at least one entry")}


def test_a_role_that_is_nearly_right_is_suggested() -> None:
    _, faults = read_item({"messages": [{"role": "asistant", "content": "x"}]}, "conversation")
    assert faults[0].hint == "did you mean 'assistant'?"


@pytest.mark.parametrize(
    ("record", "path", "message"),
    [
        ({"turns": SIDES, "messages": MESSAGES}, "", "it has messages and turns"),
        ({"text": "x"}, "", "it has none of them"),
        ({"turns": [["a"]]}, "turns[0]", "must hold a user's message and an assistant's"),
        ({"turns": [["a", "b", "c"]]}, "turns[0]", "must hold"),
        ({"turns": [["a", "b"], {"user": "x"}]}, "turns[1]", "must hold"),
        ({"exchanges": [["a", ""]]}, "exchanges[0].assistant", "must be text that is not empty"),
        ({"exchanges": [[1, "b"]]}, "exchanges[0].user", "must be text that is not empty"),
        ({"exchanges": {"user": "a"}}, "exchanges", "must be a list"),
        ({"exchanges": []}, "exchanges", "must hold at least one entry"),
    ],
)
def test_what_is_wrong_with_pairs_and_where(record: Any, path: str, message: str) -> None:
    found = told(record, "conversation")
    assert found[0][0] == path
    assert message in found[0][1]


def test_conversations_from_a_table_of_messages(tmp_path: Path) -> None:
    path = tmp_path / "chats.csv"
    path.write_text(
        "id,role,content,topic\n"
        "c1,system,Be kind.,work\n"
        "c2,user,hello,\n"
        'c1,user,"I froze,\nbadly.",work\n'
        "c1,assistant,Say more?,work\n"
        "c2,assistant,hi,\n",
        "utf-8",
    )
    read = read_items(path, "conversation")
    assert not read.faults
    first, second = read.items
    assert isinstance(first, Conversation)
    assert isinstance(second, Conversation)
    assert first.preamble == (Message(role="system", content="Be kind."),)
    assert first.exchanges == (Exchange(user="I froze,\nbadly.", assistant="Say more?"),)
    assert second.exchanges == (Exchange(user="hello", assistant="hi"),)
    assert first.more == {"topic": "work"}


def test_conversations_from_a_table_of_exchanges(tmp_path: Path) -> None:
    path = save_rows(
        tmp_path / "chats.xlsx",
        ["id", "user", "assistant"],
        [1, "a", "b"],
        [2, "c", "d"],
        [1, "e", "f"],
    )
    read = read_items(path, "conversation")
    assert [(item.id, item.measures()) for item in read.items] == [
        ("1", {"exchanges": 2}),
        ("2", {"exchanges": 1}),
    ]


def test_every_row_without_an_id_is_named(tmp_path: Path) -> None:
    path = tmp_path / "chats.csv"
    path.write_text("id,user,assistant\n,a,b\nc,a,b\n,c,d\n", "utf-8")
    read = read_items(path, "conversation")
    assert [item.id for item in read.items] == ["c"]
    assert [(fault.record, fault.path) for fault in read.faults] == [(1, "id"), (3, "id")]


# -- plans

PLAN = {"id": "p", "profile": {"goal": "A job"}, "actions": [{"action": "Ask"}]}


def test_what_is_not_stated_stays_none() -> None:
    plan = one(PLAN)
    assert isinstance(plan, Plan)
    stated = {"goal", "more"}
    unstated = ["hours_per_week", "timeframe_weeks", "skills", "barriers", "confidence", "lacks"]
    assert [getattr(plan.profile, name) for name in unstated] == [None] * 6
    assert not stated & set(unstated)
    action = plan.actions[0]
    names = [
        "metric",
        "baseline",
        "target",
        "deadline",
        "rationale",
        "effort_estimate",
        "first_step",
    ]
    assert [getattr(action, name) for name in names] == [None] * 7
    response = one({"question": "q", "response": "r"})
    assert (response.reference, response.as_of) == (None, None)


def test_a_plan_in_full() -> None:
    plan = one(
        {
            "id": 12,
            "profile": {
                "goal": " A job ",
                "hours_per_week": 6,
                "timeframe_weeks": "8.5",
                "skills": ["typing"],
                "barriers": "no car; five years away\nlittle sleep",
                "confidence": 2,
                "lacks": [],
                "city": "Graz",
            },
            "actions": [{"action": "Call", "target": 2, "baseline": 0.5, "owner": "me"}],
            "model": "m",
        }
    )
    assert plan.id == "12"
    assert plan.more == {"model": "m"}
    profile = plan.profile
    assert (profile.goal, profile.hours_per_week) == (" A job ", Decimal(6))
    assert profile.timeframe_weeks == Decimal("8.5")
    assert profile.barriers == ("no car", "five years away", "little sleep")
    assert profile.lacks == ()
    assert profile.more == {"city": "Graz"}
    assert (plan.actions[0].target, plan.actions[0].baseline) == ("2", "0.5")
    assert plan.actions[0].more == {"owner": "me"}


@pytest.mark.parametrize(
    "number",
    [1234567, 123456789.25, 0.1234567891, 10**30, 1e-7, 10**400],
    ids=lambda n: str(n)[:12],
)
def test_a_number_given_for_text_keeps_its_value(number: float) -> None:
    plan = one({**PLAN, "actions": [{"action": "Save", "target": number}]})
    assert Decimal(plan.actions[0].target) == Decimal(str(number))


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"profile": None}, "profile", "required, but not there"),
        ({"profile": "x"}, "profile", "must be an object"),
        ({"profile": {}}, "profile.goal", "required, but not there"),
        ({"profile": {"goal": " "}}, "profile.goal", "must not be empty"),
        ({"profile": {"goal": "g", "hours_per_week": -1}}, "profile.hours_per_week", ""),
        ({"profile": {"goal": "g", "hours_per_week": True}}, "profile.hours_per_week", "truth"),
        ({"profile": {"goal": "g", "hours_per_week": "many"}}, "profile.hours_per_week", "number"),
        ({"profile": {"goal": "g", "confidence": 6}}, "profile.confidence", ""),
        ({"profile": {"goal": "g", "confidence": 2.5}}, "profile.confidence", "whole number"),
        ({"profile": {"goal": "g", "confidence": False}}, "profile.confidence", "truth"),
        ({"profile": {"goal": "g", "skills": [""]}}, "profile.skills[0]", "must not be empty"),
        ({"profile": {"goal": "g", "skills": 5}}, "profile.skills", "list"),
        ({"actions": None}, "actions", "required, but not there"),
        ({"actions": []}, "actions", "at least one"),
        ({"actions": ["x"]}, "actions[0]", "must be an object"),
        ({"actions": [{"action": "a"}, {"target": "x"}]}, "actions[1].action", "required"),
        ({"actions": [{"action": True}]}, "actions[0].action", "text"),
        ({"actions": [{"action": "a", "target": ["x"]}]}, "actions[0].target", "text"),
    ],
)
def test_what_is_wrong_with_a_plan_and_where(change: Any, path: str, message: str) -> None:
    found = told({**PLAN, **change}, "plan")
    assert [place for place, _ in found] == [path]
    assert message in found[0][1]


def test_all_faults_of_a_record_are_told_at_once() -> None:
    found = told({"id": "", "profile": "x", "actions": ["y", {"action": "a"}, None]}, "plan")
    assert [path for path, _ in found] == ["id", "profile", "actions[0]", "actions[2]"]


PLAN_TABLE: list[list[Any]] = [
    ["id", "goal", "hours_per_week", "skills", "profile.city", "action", "target", "model"],
    ["p1", "A job", 6, "typing; maths", "Graz", "Write a CV", 1, "m"],
    ["p2", "A course", None, None, None, "Ask around", None, None],
    ["p1", None, None, None, None, "Call two employers", "2 calls", None],
    ["p1", "A job", 6, "typing; maths", "Graz", "Rest", None, "m"],
]


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "parquet"])
def test_plans_from_tables_repeat_their_id(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"plans.{suffix}"
    write_table(path, PLAN_TABLE)
    read = read_items(path, "plan")
    assert not read.faults
    first, second = read.items
    assert isinstance(first, Plan)
    assert isinstance(second, Plan)
    assert first.profile.goal == "A job"
    assert first.profile.hours_per_week == 6
    assert first.profile.skills == ("typing", "maths")
    assert first.profile.more == {"city": "Graz"}
    assert first.more == {"model": "m"}
    assert [action.action for action in first.actions] == [
        "Write a CV",
        "Call two employers",
        "Rest",
    ]
    assert [action.target for action in first.actions] == ["1", "2 calls", None]
    assert (second.profile.hours_per_week, second.profile.skills) == (None, None)
    assert second.measures() == {"actions": 1}


def write_table(path: Path, rows: list[list[Any]]) -> None:
    if path.suffix == ".xlsx":
        save_rows(path, *rows)
        return
    columns = {
        name: pl.Series(
            [None if row[at] is None else str(row[at]) for row in rows[1:]], dtype=pl.String
        )
        for at, name in enumerate(rows[0])
    }
    frame = pl.DataFrame(columns)
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_rows_of_one_plan_that_contradict_each_other_are_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"plans.{suffix}"
    write_table(
        path,
        [
            ["id", "goal", "action"],
            ["p1", "A job", "x"],
            ["p2", "A course", "y"],
            ["p1", "Another job", "z"],
        ],
    )
    read = read_items(path, "plan")
    assert [item.id for item in read.items] == ["p2"]
    (fault,) = read.faults
    assert (fault.record, fault.path) == (3, "goal")
    assert "'Another job'" in fault.message
    assert "'A job'" in fault.message


def test_profile_columns_named_like_parts_of_an_action_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "plans.csv"
    path.write_text("id,goal,profile.target,action\np,g,by summer,x\n", "utf-8")
    (plan,) = read_items(path, "plan").items
    assert isinstance(plan, Plan)
    assert plan.profile.more == {"target": "by summer"}


def test_a_table_of_free_items_may_have_any_columns(tmp_path: Path) -> None:
    """What the user says the items are decides how rows are gathered."""
    path = tmp_path / "free.csv"
    path.write_text("id,action,user,assistant\na,jump,x,y\nb,run,x,y\n", "utf-8")
    read = read_items(path, "free")
    assert [(item.id, getattr(item, "content", None)) for item in read.items] == [
        ("a", {"action": "jump", "user": "x", "assistant": "y"}),
        ("b", {"action": "run", "user": "x", "assistant": "y"}),
    ]


# -- responses and free items


def test_responses_in_any_table(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["id", "question", "response", "reference", "as_of", "model"],
        ["r1", "Why red?", "Anthocyanins.", None, "2025-10-17", "m"],
        ["r2", "2 + 2?", "4", "4", None, None],
    ]
    found = []
    for suffix in ("csv", "xlsx", "parquet"):
        path = tmp_path / f"responses.{suffix}"
        write_table(path, rows)
        found.append(read_items(path).items)
    assert found[0] == found[1] == found[2]
    first, second = found[0]
    assert isinstance(first, Response)
    assert isinstance(second, Response)
    assert (first.reference, first.as_of, first.more) == (None, "2025-10-17", {"model": "m"})
    assert (second.reference, second.as_of, second.more) == ("4", None, {})


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"question": " "}, "question"),
        ({"response": None}, "response"),
        ({"response": 5}, "response"),
        ({"as_of": "yesterday"}, "as_of"),
        ({"as_of": "2025-10-17T00:00"}, "as_of"),
        ({"id": ""}, "id"),
        ({"id": "a\nb"}, "id"),
        ({"id": "x" * 501}, "id"),
        ({"id": True}, "id"),
        ({"id": 1.5}, "id"),
        ({"id": None}, "id"),
        ({"id": ["a"]}, "id"),
    ],
)
def test_what_is_wrong_with_a_response_and_where(change: Any, path: str) -> None:
    found = told({"id": "r", "question": "q", "response": "r", **change}, "response")
    assert [place for place, _ in found] == [path]


@pytest.mark.parametrize(
    ("given", "name"), [("a b", "a b"), (" a ", "a"), (12, "12"), (12.0, "12")]
)
def test_ids_are_texts_or_whole_numbers(given: Any, name: str) -> None:
    assert one({"id": given, "text": "x"}).id == name
    assert one({"item": given, "text": "x"}).id == name


@pytest.mark.parametrize("record", [{}, {"id": "a"}, {"id": "a", "x": " ", "y": None}])
def test_a_free_item_must_hold_something(record: Any) -> None:
    assert told(record, "free")[-1] == ("", "holds nothing to judge")


@pytest.mark.parametrize("record", [5, "x", None, True, 2.5])
@pytest.mark.parametrize("kind", ["plan", "response", "conversation", "free", None])
def test_a_record_is_an_object(record: Any, kind: ItemType | None) -> None:
    assert told(record, kind) == [("", "must be an object")]


def test_a_list_is_no_free_item() -> None:
    assert told([["a", "b"]], "free") == [("", "must be an object")]


DAYS = [dt.date(2024, 5, 1), dt.datetime(2024, 5, 1, 12), dt.time(8), dt.timedelta(hours=30)]


@pytest.mark.parametrize("value", DAYS)
def test_a_spreadsheet_may_hold_days_and_times(tmp_path: Path, value: object) -> None:
    path = save_rows(tmp_path / "items.xlsx", ["id", "text", "extra"], ["a", "x", value])
    read = read_items(path, "free")
    assert [item.id for item in read.items] == ["a"]
    assert not read.faults


@pytest.mark.parametrize("value", [*DAYS, b"\xff", float("nan"), float("inf"), Decimal("1.50")])
def test_cells_of_every_type_are_kept_or_named(tmp_path: Path, value: object) -> None:
    path = tmp_path / "items.parquet"
    pl.DataFrame({"id": ["a"], "text": ["x"], "extra": [value]}).write_parquet(path)
    read = read_items(path, "free")
    assert len(read.items) + len({fault.record for fault in read.faults}) == 1


@pytest.mark.parametrize("depth", [100, 400, 900])
@pytest.mark.parametrize("kind", ["free", "response"])
def test_deep_values_are_kept_or_refused(tmp_path: Path, depth: int, kind: ItemType) -> None:
    path = tmp_path / "items.jsonl"
    record = '{"question": "q", "response": "r", "x": ' + "[" * depth + "]" * depth + "}\n"
    path.write_text(record, "utf-8")
    read = read_items(path, kind)
    assert len(read.items) + len(read.faults) == 1


def test_numbers_beyond_all_bounds_are_kept_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"x": 1e999}\n{"x": -1e999}\n{"x": 1}\n', "utf-8")
    read = read_items(path, "free")
    assert len(read.items) + len(read.faults) == 3
    assert "record-3" in [item.id for item in read.items]


# -- files


def test_kinds_are_told_from_each_record(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "mixed.jsonl",
        PLAN,
        {"question": "q", "response": "r"},
        {"turns": SIDES},
        {"text": "free"},
        {"question": "only"},
    )
    kinds = [item.kind for item in read_items(path).items]
    assert kinds == ["plan", "response", "conversation", "free", "free"]


def test_order_is_kept_and_a_duplicate_follows_its_item(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "items.jsonl",
        {"id": "a", "text": "x"},
        {"id": "b", "text": "y", "id2": 1},
        {"id": "c", "text": "x"},
        {"id": "a", "text": "z"},
        {"id": "d", "text": "x"},
    )
    entries = list(stream_items(path, "free"))
    assert [type(entry).__name__ for entry in entries] == [
        "FreeItem",
        "FreeItem",
        "FreeItem",
        "Duplicate",
        "Fault",
        "FreeItem",
        "Duplicate",
    ]
    assert [entry for entry in entries if isinstance(entry, Duplicate)] == [
        Duplicate(3, "c", 1, "a"),
        Duplicate(5, "d", 1, "a"),
    ]
    (fault,) = (entry for entry in entries if isinstance(entry, Fault))
    assert (fault.record, fault.path) == (4, "id")
    assert fault.message == "id 'a' stands in record 1 already"


def test_more_is_no_content() -> None:
    plain = one({"id": "a", "question": "q", "response": "r"})
    noted = one({"id": "b", "question": "q", "response": "r", "model": "m"})
    other = one({"id": "a", "question": "q", "response": "R"})
    assert plain.hash == noted.hash != other.hash


def test_nested_parquet(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    pl.DataFrame(
        {
            "id": ["c1", "c2"],
            "messages": [MESSAGES, MESSAGES[:2]],
            "model": ["m", None],
        }
    ).write_parquet(path)
    read = read_items(path)
    assert [(item.id, item.measures(), item.more) for item in read.items] == [
        ("c1", {"exchanges": 2}, {"model": "m"}),
        ("c2", {"exchanges": 1}, {}),
    ]
    plans = tmp_path / "plans.parquet"
    pl.DataFrame(
        {
            "id": ["p1", "p2"],
            "profile": [{"goal": "g", "skills": ["a"]}, {"goal": "h", "skills": None}],
            "actions": [
                [{"action": "x", "target": "1"}, {"action": "y", "target": None}],
                [{"action": "z", "target": None}],
            ],
        }
    ).write_parquet(plans)
    first, second = read_items(plans, "plan").items
    assert isinstance(first, Plan)
    assert isinstance(second, Plan)
    assert [action.target for action in first.actions] == ["1", None]
    assert (first.profile.skills, second.profile.skills) == (("a",), None)


@pytest.mark.parametrize("column", [[["a"], ["b"]], [{"x": 1}, {"x": 2}]])
def test_ids_that_are_lists_are_named(tmp_path: Path, column: list[Any]) -> None:
    path = tmp_path / "items.parquet"
    frame = pl.DataFrame({"id": column, "role": ["user", "user"], "content": ["x", "y"]})
    frame.write_parquet(path)
    read = read_items(path, "conversation")
    assert not read.items
    assert {fault.record for fault in read.faults} == {1, 2}


def test_the_examples_are_without_fault() -> None:
    kinds: dict[str, ItemType] = {
        "coaching-conversation": "conversation",
        "smart-action-plan": "plan",
        "ai-response": "response",
    }
    for name, kind in kinds.items():
        read = read_items(EXAMPLES / name / "items.jsonl", kind)
        assert read.items
        assert not read.faults
        assert read.items == read_items(EXAMPLES / name / "items.jsonl").items


# -- schema


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("plan", [PLAN, {**PLAN, "id": 5, "extra": 1}], [{"profile": {"goal": "g"}}, 5]),
        (
            "response",
            [{"question": "q", "response": "r"}, {"question": "q", "response": "r", "x": [1]}],
            [{"question": "q"}, []],
        ),
        (
            "conversation",
            [*SHAPES.values(), [list(pair) for pair in PAIRS]],
            [{"turns": []}, {"messages": [{"role": "tool", "content": "x"}] * 2}, {"text": "x"}],
        ),
        ("free", [{"text": "x"}], [{}, "x"]),
    ],
)
def test_schemas_say_what_the_reader_does(kind: ItemType, good: list[Any], bad: list[Any]) -> None:
    schema = item_schema(kind)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for record in good:
        assert validator.is_valid(record), record
        assert read_item(record, kind)[0] is not None
    for record in bad:
        assert not validator.is_valid(record), record
        assert read_item(record, kind)[0] is None


def test_schemas_allow_what_the_reader_allows_as_a_number() -> None:
    record = {**PLAN, "profile": {"goal": "g", "hours_per_week": 6.5, "skills": ["a"]}}
    assert jsonschema.Draft202012Validator(item_schema("plan")).is_valid(record)
    listed = {**PLAN, "profile": {"goal": "g", "skills": "a; b"}}
    assert isinstance(one(listed, "plan"), Plan)
    assert isinstance(one({"text": "x"}, "free"), FreeItem)


# -- near misses


@pytest.mark.parametrize(
    ("record", "hint"),
    [
        ({"id": "a", "question": "q", "respons": "r"}, "did you mean 'response'?"),
        ({"id": "a", "question": "q"}, "both question and response"),
        ({"id": "a", "Exchanges": [["a", "b"]]}, "did you mean 'exchanges'?"),
    ],
)
def test_what_was_perhaps_meant_for_another_kind_is_told(
    tmp_path: Path, record: dict[str, Any], hint: str
) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps(record) + "\n", "utf-8")
    read = read_items(path)
    assert [item.kind for item in read.items] == ["free"]
    assert hint in read.notes[0]
    assert read_items(path, "free").notes == []


def test_columns_of_a_table_are_known_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("ID, Question ,RESPONSE\na,q,r\n", "utf-8")
    (item,) = read_items(path).items
    assert (item.kind, item.id) == ("response", "a")


@pytest.mark.parametrize("day", ["2025-13-45", "2025-02-31", "01.02.2025", "yesterday"])
def test_as_of_is_a_day_of_the_calendar(tmp_path: Path, day: str) -> None:
    path = tmp_path / "items.jsonl"
    record = {"id": "a", "question": "q", "response": "r", "as_of": day}
    path.write_text(json.dumps(record) + "\n", "utf-8")
    (fault,) = read_items(path).faults
    assert (fault.path, fault.message) == ("as_of", "must be a day such as 2025-02-28")
