"""Items, rubrics and replies that the tests of judges share."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from calibrant.core.criterion import Criterion
from calibrant.core.item import (
    Action,
    Conversation,
    Exchange,
    FreeItem,
    Item,
    Message,
    Plan,
    Profile,
    Response,
)
from calibrant.core.rubric import Rubric
from calibrant.formats.rubric_file import load_rubric, parse_rubric
from calibrant.ports.chat import Reply
from calibrant.raters.judge.questions import Question

BUILT_IN = ("ai-response", "coaching-conversation", "smart-action-plan")
FREE = """
format: 1
id: free-form
version: 1.0
title: Notes
item_type: free
summary: For notes of any kind.
scales:
  - kind: choice
    id: three
    values:
      - {value: Fully met, label: Full, meaning: Nothing is missing., points: 1}
      - {value: Partly met, meaning: Something is missing., points: 0.5}
      - {value: Not met, meaning: Nearly all is missing., points: 0}
  - {kind: ordinal, id: wide, minimum: 0, maximum: 10}
categories: none
criteria:
  - id: answer_key
    title: A criterion whose sub-questions are named like our own keys
    scale: three
    question: Is the note whole?
    na: {policy: valid}
    sub_questions:
      - {id: answer, question: What is missing?, answer: text}
      - {id: evidence, question: Is anything missing?, answer: yes_no}
  - id: red_flags
    title: A criterion that is called like the red flags
    scale: wide
    question: How clear is it?
    na: {policy: invalid, reason: It can be seen in every note.}
    anchors: {"0": {text: a0}, "1": {text: a1}, "2": {text: a2}, "3": {text: a3}, "4": {text: a4},
      "5": {text: a5}, "6": {text: a6}, "7": {text: a7}, "8": {text: a8}, "9": {text: a9},
      "10": {text: a10}}
red_flags:
  - {id: secret, title: Secret, text: It tells a secret., effect: reject}
aggregation: {kind: dimensions, pass_mark: none}
agreement: none
"""


@cache
def rubric_of(name: str) -> Rubric:
    return parse_rubric(FREE) if name == "free" else load_rubric(name)


def item_with(kind: str, text: str) -> Item:
    """An item of a kind with a text in every place where somebody's words can stand."""
    match kind:
        case "conversation":
            pair = Exchange(user=f"u {text}", assistant=f"a {text}")
            told = Message(role="system", content=f"s {text}")
            return Conversation(id="i", exchanges=(pair,) * 3, preamble=(told,))
        case "plan":
            profile = Profile(goal=f"g {text}", skills=(f"s {text}",), lacks=(f"l {text}",))
            action = Action(action=f"a {text}", metric=text or None, first_step=f"f {text}")
            return Plan(id="i", profile=profile, actions=(action, action))
        case "response":
            return Response(id="i", question=f"q {text}", response=f"r {text}", reference=text)
        case _:
            return FreeItem(id="i", content={"note": text, text: ["x", {text: text, "n": 3}]})


def one(criterion: Criterion | str) -> Question:
    name = criterion if isinstance(criterion, str) else criterion.id
    return Question(name, (name,))


def whole(rubric: Rubric) -> Question:
    return Question("rubric", rubric.criterion_ids, flags=bool(rubric.red_flags))


def reply(value: Any) -> Reply:
    return Reply(text=value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
