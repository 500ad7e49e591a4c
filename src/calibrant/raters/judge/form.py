"""What a judge hands in about an item of a study, through the same door as people.

Whatever a model has said, the form is one that ``core.acceptance`` takes: what could not be read is
an error with its reason, what could not be verified is left out of the evidence, and a red flag
without the words that carry it is put up for review. The replies are kept word for word.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from calibrant.core.acceptance import MAX_REPLY, MAX_TEXT
from calibrant.core.item import Item
from calibrant.raters.judge.judge import Judge
from calibrant.raters.judge.outcome import Asked
from calibrant.raters.judge.rated import Rated, rated

MOST = 2**53 - 1
"""The largest number that is kept; servers may say anything about tokens."""


def judge_form(
    judge: Judge, item: Item, asked: Sequence[Asked], sample: int = 1
) -> Mapping[str, Any]:
    """The form of a judge for an item."""
    found = rated(judge.rubric, judge.card, item, sample, asked)
    card = judge.card.facts
    form: dict[str, Any] = {
        # what code decides is left to the door, which gives the rubric's reason for it
        "answers": {
            name: text for name, text in found.answers.items() if name not in found.by_code
        },
        "reasons": {name: why[:MAX_TEXT] for name, why in found.abstained.items()},
        "notes": dict(found.notes),
        "evidence": {name: [one.text for one in some] for name, some in found.evidence.items()},
        "sub_answers": {name: dict(given) for name, given in found.sub_answers.items()},
        "tags": {name: list(tags) for name, tags in found.tags.items()},
        "probabilities": {name: dict(shares) for name, shares in found.probabilities.items()},
        "flags": [
            {"flag": one.flag, "evidence": [quote.text for quote in one.evidence]}
            for one in found.flags
        ],
        "review": review_of(found)[:MAX_TEXT],
        "shown": [] if card is None else [card],
        "measured": measured(asked, found.unverified),
        "reply": replies(asked),
    }
    return {name: value for name, value in form.items() if value}


def review_of(found: Rated) -> str:
    """What people should look at: red flags that do not stand, or were not asked about."""
    told = [f"the judge sees {flag}: {why}" for flag, why in found.doubtful.items()]
    if found.flags_unknown:
        told.append(f"the judge was not heard on red flags ({found.flags_unknown})")
    return "; ".join(told)


def measured(asked: Sequence[Asked], unverified: int = 0) -> dict[str, int | float]:
    """What a rating took, in numbers."""
    usages = [one.usage for one in asked]
    counts = {
        "calls": len(asked),
        "kept": sum(one.kept for one in asked),
        "attempts": sum(one.attempts for one in asked),
        "prompt_tokens": sum(one.prompt for one in usages),
        "cached_tokens": sum(one.cached for one in usages),
        "completion_tokens": sum(one.completion for one in usages),
        "unverified": unverified,
    }
    seconds = round(sum(one.seconds for one in asked), 6)
    return {"seconds": seconds, **{name: min(n, MOST) for name, n in counts.items()}}


def replies(asked: Sequence[Asked]) -> str:
    """All replies as one JSON text, by question; where they are too long, each is cut alike."""
    found = {one.call.question.id: one.reply.text for one in asked if one.reply is not None}
    if not found:
        return ""
    text = json.dumps(found, ensure_ascii=False)
    longest = max(map(len, found.values()))
    while len(text) > MAX_REPLY:  # JSON may write one sign as six
        longest //= 2
        text = json.dumps({name: one[:longest] for name, one in found.items()}, ensure_ascii=False)
    return text
