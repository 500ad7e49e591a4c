"""Studies in which everything that anybody can write is written by somebody who means harm.

``furnish(store, Speech(True))`` says payloads wherever there is room for words; ``Speech(False)``
says plain words in the same places, for a page to compare with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from tests.study.study_kit import COACHING, PLANS, RESPONSES, as_
from tests.web.payloads import ALL, PAYLOADS

from calibrant import Rubric, Study, Submission
from calibrant.core.ids import MAX_NAME
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
from calibrant.core.plan import Plan as Sharing
from calibrant.core.study import Key
from calibrant.formats.rubric_file import parse_rubric
from calibrant.ports.clock import Clock
from calibrant.ports.store import Store
from calibrant.study.open import create
from calibrant.web.begin import starting_text

SPOKEN = {
    "title", "summary", "scope", "text", "independence", "question", "detail", "label", "signs",
    "context", "response", "description", "why", "dispute", "when", "failure_examples",
    "exceptions", "measured_on", "before",
}  # fmt: skip
"""Fields of a rubric that are words for people."""
FIELDS = (
    "action", "metric", "baseline", "target", "deadline", "rationale", "effort_estimate",
    "first_step",
)  # fmt: skip


def _printable() -> list[str]:
    lines = [" ".join(one.split())[:MAX_NAME].strip() for one in PAYLOADS]
    return [one for one in dict.fromkeys(lines) if one and one.isprintable()]


@dataclass
class Speech:
    """Gives words, one after the other: payloads, or plain ones in the same order."""

    hostile: bool
    count: int = 0
    texts: Any = field(default_factory=lambda: cycle(PAYLOADS))
    lines: Any = field(default_factory=lambda: cycle(_printable()))

    def text(self) -> str:
        """Words of any length and shape."""
        self.count += 1
        return str(next(self.texts)) if self.hostile else f"plain words {self.count}"

    def line(self) -> str:
        """Words that can be a name: printable, not too long, and each time others."""
        self.count += 1
        if not self.hostile:
            return f"name {self.count}"
        return f"{next(self.lines)[: MAX_NAME - 8]} {self.count}"

    def everything(self) -> str:
        """All payloads at once."""
        return ALL if self.hostile else "plain words " * 20


def a_plan(say: Speech) -> Plan:
    profile = Profile(
        goal=say.text(),
        skills=(say.text(), say.text()),
        barriers=(say.text(), say.text()),
        lacks=(say.text(),),
        more={say.line(): say.text()},
    )
    actions = tuple(_action(say) for _ in range(3))
    return Plan(id=say.line(), profile=profile, actions=actions, more={say.line(): say.text()})


def _action(say: Speech) -> Action:
    said: dict[str, Any] = {name: say.text() for name in FIELDS}
    return Action(**said)


def a_response(say: Speech) -> Response:
    return Response(
        id=say.line(), question=say.everything(), response=say.everything(), reference=say.text()
    )


def a_conversation(say: Speech) -> Conversation:
    said = tuple(Exchange(user=say.text(), assistant=say.text()) for _ in range(30))
    preamble = (
        Message(role="system", content=say.text()),
        Message(role="assistant", content=say.text()),
    )
    return Conversation(id=say.line(), exchanges=said, preamble=preamble)


def a_free_item(say: Speech) -> FreeItem:
    """Names of fields, texts in lists and in mappings within them."""
    content: dict[str, Any] = {say.line(): say.text() for _ in range(12)}
    content[say.line()] = [say.text() for _ in range(12)]
    content[say.line()] = {say.line(): {say.line(): say.text()}, "n": 1}
    return FreeItem(id=say.line(), content=content)


def spoiled(rubric: Rubric, say: Speech, version: str = "") -> Rubric:
    """The rubric with other words in every place that is read by people."""

    def walk(value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {name: walk(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [walk(one, key) for one in value]
        return say.text() if isinstance(value, str) and key in SPOKEN else value

    document = walk(rubric.model_dump(mode="json", exclude_defaults=True), "")
    document["version"] = version or rubric.version
    return Rubric.model_validate(document)


def free_rubric() -> Rubric:
    """The template, for items of any kind."""
    text = starting_text("").replace("item_type: response", "item_type: free")
    return parse_rubric(text)


@dataclass(frozen=True)
class Hostile:
    """Who is who, and the four studies: plans (closed, disputed), then three open ones."""

    studies: dict[str, Study]
    lead: str
    raters: tuple[str, str]
    adjudicator: str
    viewer: str


def ids_of(study: Study) -> list[str]:
    """The items of a study, in their order."""
    return study.store.read(lambda tx: [one for one, _ in tx.item_keys(study.number)])


def furnish(store: Store, say: Speech, clock: Clock) -> Hostile:
    """Four studies, one of each kind of item, with everything said that can be said."""
    lead, ann, bob, ada, vic = (say.line() for _ in range(5))
    made = {
        kind: _study(store, kind, say, clock, (lead, ann, bob, ada, vic))
        for kind in ("plan", "response", "conversation", "free")
    }
    found = Hostile(made, lead, (ann, bob), ada, vic)
    _quarrel(made["plan"], say, found)
    return found


MAKE: dict[str, tuple[Rubric | None, Callable[[Speech], Item], int]] = {
    "plan": (PLANS, a_plan, 5),
    "response": (RESPONSES, a_response, 2),
    "conversation": (COACHING, a_conversation, 2),
    "free": (None, a_free_item, 2),
}


def _study(store: Store, kind: str, say: Speech, clock: Clock, names: tuple[str, ...]) -> Study:
    like, make, many = MAKE[kind]
    lead, ann, bob, ada, vic = names
    rubric = spoiled(like or free_rubric(), say).model_copy(update={"calibration": None})
    made = create(
        store, say.line(), rubric, lead=lead, clock=clock, seed=7, title=say.line()
    )  # fmt: skip
    study = Study(made.store, made.number, made.record, made.actor, made.clock)
    study.add_items([make(say) for _ in range(many)])
    for one in (ann, bob):
        study.add_member(one, group=say.line())
    study.add_member(ada, roles=("adjudicator",), group=say.line())
    study.add_member(vic, roles=("viewer",))
    study.plan_round("main", plan=Sharing(way="everyone"))
    study.open_round(1, override=say.text())
    for one in (ann, bob):
        as_(study, one).acknowledge()
    return study


def _quarrel(study: Study, say: Speech, who: Hostile) -> None:
    """Two rate apart, with notes on everything; then it is talked over, decided and gone on."""
    rubric = study.rubric()
    items = ids_of(study)
    for rater, value in zip(who.raters, ("1", "4"), strict=True):
        for item in items:
            _hand_in(study, rubric, say, rater, item, value)
        mine = as_(study, rater)
        mine.ask(say.text(), item=items[0], criterion=rubric.criterion_ids[0])
        mine.raise_flag(items[1], what="edge_case", reason=say.text())
        mine.raise_flag(items[2], what="review", reason=say.text())
        mine.add_lesson(say.text())
    asked = study.questions()
    study.answer_question(asked[0].number, say.text(), share=True)
    study.close_round(1)
    _talk(study, say, who, items, rubric.criterion_ids)
    study.check_in(attendees=[who.lead], decisions=say.text(), actions=say.text())
    study.keep_guidelines(reason=say.text())
    study.refine(spoiled(PLANS, say, "1.1"), cause=_cause(rubric), text=say.text())
    study.leave(who.raters[1], reason=say.text())
    study.redact(items[4], reason=say.text())


def _cause(rubric: Rubric) -> Any:
    return (rubric.update_causes or ("edge_case",))[0]


def _hand_in(study: Study, rubric: Rubric, say: Speech, rater: str, item: str, value: str) -> None:
    plan = study.item(item)
    assert isinstance(plan, Plan)
    quote = plan.actions[0].action
    ids = rubric.criterion_ids
    red = [one.id for one in rubric.red_flags or () if one.evidence != "item_and_profile"]
    form = {
        "answers": dict.fromkeys(ids, value),
        "notes": {one: say.text() for one in ids},
        "evidence": {ids[0]: [quote]},
        "borderline": [ids[1]],
        "flags": [{"flag": red[0], "evidence": [quote]}],
        "edge_case": say.text(),
    }
    key = Key(round=1, item=item, rater=rater)
    as_(study, rater).submit(Submission(key=key, form=form, request=f"{value}/{item[:60]}"))


def _talk(
    study: Study, say: Speech, who: Hostile, items: list[str], criteria: tuple[str, ...]
) -> None:
    both, first = list(who.raters), criteria[0]
    for rater in both:
        as_(study, rater).comment(1, items[0], first, say.text())
    mine = as_(study, both[0])
    mine.discuss(1, items[0], first, outcome=say.text(), participants=both, unclear=True)
    mine.no_consensus(items[0], first, participants=both, reason=say.text())
    mine.settle(
        items[1], first, "2", how="consensus", reason=say.text(), participants=both, unclear=True
    )
    judge = as_(study, who.adjudicator)
    judge.settle(items[0], first, "2", how="adjudicated", reason=say.text(), error="slip")
    flag = next(one for one in judge.flags(state="raised") if one.item == items[1])
    judge.decide_flag(flag.number, confirm=True, reason=say.text())
