"""Small, realistic items of every kind, as records and as tables."""

from __future__ import annotations

from typing import Any

from tests.fuzz.table_kit import Grid

from calibrant.core.criterion import ItemType

PLANS: list[Any] = [
    {
        "id": "plan-1",
        "profile": {
            "goal": "A part-time job I can reach by bus",
            "hours_per_week": 6,
            "timeframe_weeks": 8.5,
            "skills": ["typing", "bookings"],
            "barriers": "five years away; no car",
            "confidence": 2,
            "lacks": ["a car"],
            "city": "Graz",
        },
        "actions": [
            {"action": "Write a CV", "target": 1, "deadline": "week 2", "owner": "me"},
            {"action": "Call two employers: north, south", "metric": "calls", "baseline": "0"},
        ],
        "model": "m-1",
    },
    {"item": 12, "profile": {"goal": "Café work — évidemment"}, "actions": [{"action": "Ask"}]},
    {
        "id": "plan-3",
        "profile": {"goal": "g", "skills": "a; b\nc"},
        "actions": [{"action": "x"}] * 3,
    },
]
RESPONSES: list[Any] = [
    {
        "id": "r-1",
        "question": "Why do leaves turn red?",
        "response": "Anthocyanins.",
        "as_of": "2025-10-17",
    },
    {
        "id": "r-2",
        "question": "2 + 2?",
        "response": '4\nor so: "four"',
        "reference": "4",
        "note": None,
    },
    {"question": "¿Qué?", "response": "日本語の答え", "model": {"name": "m", "t": 0.7}},
]
CONVERSATIONS: list[Any] = [
    {
        "id": "c-1",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "assistant", "content": "Hello!"},
            {"role": "user", "content": "I froze."},
            {"role": "user", "content": "And I sleep badly."},
            {"role": "assistant", "content": "Which comes first?"},
        ],
        "topics": ["work", "sleep"],
    },
    {"id": "c-2", "turns": [{"user": "a", "assistant": "b"}, {"user": "c", "assistant": "d"}]},
    {"id": 3, "exchanges": [["a", "b"], {"user": "ü", "assistant": "ß"}]},
    [["hi", "hello"], ["bye", "so long"]],
]
FREE: list[Any] = [
    {"id": "f-1", "headline": "Storm over the bay", "body": "It rained.", "tags": ["weather", 7]},
    {"id": "f-2", "text": "=1+1", "size": 12.5, "draft": True},
    {"text": "no id: fine"},
]
RECORDS: dict[ItemType, list[Any]] = {
    "plan": PLANS,
    "response": RESPONSES,
    "conversation": CONVERSATIONS,
    "free": FREE,
}

_PLAN_NAMES = [
    "id",
    "goal",
    "profile.city",
    "hours_per_week",
    "skills",
    "action",
    "target",
    "model",
]
GRIDS: dict[ItemType, list[Grid]] = {
    "plan": [
        Grid(
            _PLAN_NAMES,
            [
                ["p1", "A job", "Graz", 6, "typing; maths", "Write a CV", "1", "m"],
                ["p1", None, None, None, None, "Call, then visit", "2", None],
                ["p2", "A course", None, 3.5, None, "Ask around", None, "m"],
                ["p1", "A job", "Graz", 6, "typing; maths", "Rest", None, "m"],
            ],
        )
    ],
    "response": [
        Grid(
            ["id", "question", "response", "reference", "as_of"],
            [
                ["r1", "Why red?", "Anthocyanins,\nmostly", None, "2025-10-17"],
                ["r2", "2 + 2?", 'say "4"', "4", None],
                [None, "¿Qué?", "日本語", None, None],
            ],
        )
    ],
    "conversation": [
        Grid(
            ["id", "role", "content", "topic"],
            [
                ["c1", "system", "Be kind.", "x"],
                ["c1", "user", "I froze.", "x"],
                ["c1", "assistant", "Say more?", "x"],
                ["c2", "user", "a", None],
                ["c2", "assistant", "b", None],
            ],
        ),
        Grid(
            ["id", "user", "assistant"],
            [["c1", "a", "b"], ["c2", "c", "d, e"], ["c1", "f", "g"]],
        ),
    ],
    "free": [
        Grid(
            ["id", "headline", "size"],
            [["f1", "Storm", 1], ["f2", "=1+1", 2.5], ["f3", "é", None]],
        )
    ],
}
