"""Calls, judges and chats for tests of the loop: a judge that is a few lines, a chat that obeys."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

from calibrant.core.item import FreeItem, Item
from calibrant.ports.chat import Ask, Form, Message, Reply, Usage
from calibrant.raters.judge.card import JudgeCard, Parameters
from calibrant.raters.judge.judge import Call, Judge
from calibrant.raters.judge.questions import Question
from calibrant.raters.judge.reading import Judgement, Reading, Unreadable

USAGE = Usage(prompt=100, cached=60, completion=7)


def an_item(name: str, words: str | None = None) -> Item:
    return FreeItem(id=name, content={"text": words or f"words of {name}"})


def a_call(name: str) -> Call:
    return Call(f"{int(name):032x}", f"sha256:{name}", an_item(name), Question("C1", ("C1",)), 1)


def a_card(model: str = "model", reader: str = "1") -> JudgeCard:
    return JudgeCard(
        model=model,
        way="criterion",
        parameters=Parameters(),
        item_type="free",
        rubric="r@1",
        rubric_hash="sha256:r",
        prompt="sha256:p",
        facts=None,
        reader=reader,
    )


class PlainJudge:
    """Asks the same few questions; a reply is a JSON object of answers, or unreadable."""

    def __init__(self, model: str = "model", questions: int = 3, top_logprobs: int = 0) -> None:
        self.card, self.model = a_card(model), model
        self.questions = [Question(f"C{n}", (f"C{n}", f"D{n}")) for n in range(1, questions + 1)]
        self.top_logprobs = top_logprobs

    def calls(self, item: Item, sample: int = 1) -> list[Call]:
        content = item.hash
        return [
            Call(self._id(content, one, sample), content, item, one, sample)
            for one in self.questions
        ]

    def _id(self, content: str, question: Question, sample: int) -> str:
        return f"{content.partition(':')[2][:24]}{question.id}{self.model}{sample}".encode().hex()

    def ask(self, call: Call, form: Form) -> Ask:
        return Ask(
            model=self.model,
            messages=(Message("user", call.id),),
            schema={},
            form=form,
            top_logprobs=self.top_logprobs,
        )

    def read(self, call: Call, reply: Reply, form: Form) -> Reading:
        try:
            told = json.loads(reply.text)
        except ValueError:
            raise Unreadable("no JSON") from None
        asked = call.question.criteria
        return Reading(
            rung="json_schema",
            judgements={name: Judgement(answer=told[name]) for name in asked if name in told},
            abstained={name: "left out" for name in asked if name not in told},
        )


def a_judge(*args: Any, **settings: Any) -> Judge:
    return cast(Judge, PlainJudge(*args, **settings))


def whole_reply(call_id: str) -> Reply:
    """Everything that was asked, answered."""
    name = bytes.fromhex(call_id)[24:26].decode()
    answers = {name: "YES", f"D{name[1:]}": "NO"}
    return Reply(text=json.dumps(answers), usage=USAGE, finish="stop", model="served")


Script = Callable[[Ask, str, int], Reply | BaseException]
"""Of a request, the id of its call and how often that was asked, what comes of it."""


class ScriptedChat:
    """Does what it is told, and counts."""

    def __init__(self, script: Script | None = None, latency: float = 0.0) -> None:
        self.script, self.latency = script, latency
        self.asked: Counter[str] = Counter()
        self.asks: list[Ask] = []
        self.flying = self.most_at_once = 0

    async def ask(self, ask: Ask) -> Reply:
        call = ask.messages[0].content
        self.asked[call] += 1
        self.asks.append(ask)
        self.flying += 1
        self.most_at_once = max(self.most_at_once, self.flying)
        try:
            await asyncio.sleep(self.latency)
            found: Reply | BaseException = whole_reply(call)
            if self.script is not None:
                found = self.script(ask, call, self.asked[call])
            if isinstance(found, BaseException):
                raise found
            return found
        finally:
            self.flying -= 1

    async def close(self) -> None:
        """Nothing is open."""
