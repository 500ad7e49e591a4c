"""A judge: a model, asked about items by a rubric, its replies read strictly.

It asks and reads; it sends nothing. Who sends, waits and asks again is ``engine.judging``.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.ports.chat import Ask, Form, Reply
from calibrant.raters.judge.card import JudgeCard, Parameters, Way
from calibrant.raters.judge.facts import Measurer, facts_of
from calibrant.raters.judge.prompt import PROMPT_HASH, Prompter
from calibrant.raters.judge.questions import Question, questions
from calibrant.raters.judge.reading import Reading
from calibrant.raters.judge.reply import READER, read_reply

PLAIN = Parameters()
LONGEST_REPLY = 16_384
"""Tokens of a reply about many criteria; many servers refuse to be asked for more."""
KEPT = 1024
"""Items whose measurements are kept at hand."""


@dataclass(frozen=True, slots=True)
class Call:
    """One question about one item, asked once: what is sent, paid for and kept."""

    id: str
    """The same for the same question to the same judge about the same content."""
    content: str
    """Content hash of the item."""
    item: Item
    question: Question
    sample: int


class Judge:
    """One model under one rubric; ``key`` makes fences that nobody can guess.

    ``asks`` chooses the questions about an item; without it, they are all that the rubric has.
    """

    def __init__(
        self,
        rubric: Rubric,
        model: str,
        *,
        way: Way = "criterion",
        parameters: Parameters = PLAIN,
        key: bytes,
        told_facts: bool = True,
        asks: Callable[[Item], Sequence[Question]] | None = None,
    ) -> None:
        self.rubric, self.model, self.way, self.parameters = rubric, model, way, parameters
        self.measurer = Measurer(rubric) if told_facts else None
        self._key, self._asks = key, asks
        self._prompter = Prompter(rubric)
        self._measured: dict[str, Mapping[str, Sequence[str]]] = {}

    @cached_property
    def card(self) -> JudgeCard:
        """Who this judge is, as a rater."""
        return JudgeCard(
            model=self.model,
            way=self.way,
            parameters=self.parameters,
            item_type=self.rubric.item_type,
            rubric=self.rubric.name,
            rubric_hash=self.rubric.hash,
            prompt=PROMPT_HASH,
            facts=None if self.measurer is None else self.measurer.hash,
            reader=READER,
        )

    def calls(self, item: Item, sample: int = 1) -> list[Call]:
        """All calls that a rating of the item takes."""
        content = item.hash
        asked = self._asks(item) if self._asks else questions(self.rubric, item, self.way, sample)
        return [
            Call(self._call_id(content, one, sample), content, item, one, sample) for one in asked
        ]

    def _call_id(self, content: str, question: Question, sample: int) -> str:
        # names hold no line break, so no two questions are written alike; thousands a second are
        asked = (self.card.asked, content, question.id, *question.criteria, str(sample))
        return hashlib.sha256("\n".join(asked).encode()).hexdigest()[:32]

    def ask(self, call: Call, form: Form = "json_schema") -> Ask:
        """The request as it is sent."""
        seed = self.parameters.seed
        return Ask(
            model=self.model,
            messages=self._prompter.messages(
                call.item, call.question, self.fence(call.content), self._told(call)
            ),
            schema=self._prompter.schema(call.question),
            form=form,
            temperature=self.parameters.temperature,
            max_tokens=self._most_tokens(call.question),
            seed=None if seed is None else seed + call.sample - 1,
            top_logprobs=self.parameters.top_logprobs,
        )

    def _most_tokens(self, question: Question) -> int:
        """A reply on several criteria may be so many times as long, within what servers take."""
        asked = len(question.criteria) + question.flags
        most = self.parameters.max_tokens
        return max(most, min(most * asked, LONGEST_REPLY))

    def fence(self, content: str) -> str:
        """What an item stands between; one for all calls about it, so that servers keep it."""
        return hmac.new(self._key, content.encode(), hashlib.sha256).hexdigest()[:24]

    def _told(self, call: Call) -> Mapping[str, Sequence[str]]:
        """Measurements of the item, made once for all calls about it."""
        if self.measurer is None:
            return {}
        if call.content not in self._measured:
            while len(self._measured) >= KEPT:
                del self._measured[next(iter(self._measured))]
            self._measured[call.content] = facts_of(self.measurer, call.item)
        return self._measured[call.content]

    def read(self, call: Call, reply: Reply, form: Form) -> Reading:
        """What a reply says; raises ``Unreadable``."""
        return read_reply(self.rubric, call.item, call.question, reply, form)
