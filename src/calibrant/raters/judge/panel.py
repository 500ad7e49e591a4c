"""Several judges, or several samples of one, as one rater: by the policy of the rubric.

Every sample of every judge has one vote. An error is no vote, and where the votes that are lacking
could change the answer there is none. Where votes come to no answer there is none, and the reason
is told; nobody is asked to believe a tie. A rubric without a policy is not
given one here: without the caller's own, nothing is combined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from calibrant.core.answer import ERROR, NA
from calibrant.core.criterion import Criterion
from calibrant.core.errors import SourceError, suggestion
from calibrant.core.ids import content_hash
from calibrant.core.process import Policy
from calibrant.core.resolution import panel as combined
from calibrant.core.rubric import Rubric
from calibrant.core.scale import OrdinalScale
from calibrant.raters.judge.rated import Rated
from calibrant.raters.judge.reading import Quote, Seen
from calibrant.raters.judge.schema import answers_of

POLICIES: tuple[Policy, ...] = get_args(Policy)


def policy_of(rubric: Rubric, named: str | None = None) -> Policy | None:
    """The policy somebody names, or else the rubric's; None where there is neither."""
    if named is None:
        return rubric.panel
    for policy in POLICIES:
        if named == policy:
            return policy
    raise SourceError(f"there is no policy {named[:40]!r}; {suggestion(named, POLICIES)}")


def no_policy(rubric: Rubric) -> str:
    """What to tell where judges are not combined."""
    return (
        f"{rubric.name} does not say how several judges become one answer, so their answers stand "
        f"side by side; name a policy to combine them: {', '.join(POLICIES)}"
    )


@dataclass(frozen=True, slots=True, order=True)
class Member:
    """One vote of a panel: a judge, and which of its samples."""

    rater: str
    card: str
    sample: int

    @property
    def name(self) -> str:
        """As votes name it."""
        return f"{self.rater}#{self.sample}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON and for the hash."""
        return {"rater": self.rater, "card": self.card, "sample": self.sample}


def member_of(one: Rated) -> Member:
    """Whose vote a rating is."""
    return Member(one.rater, one.card, one.sample)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelRating:
    """What a panel says about one item."""

    panel: Panel
    rated: Rated
    votes: Mapping[str, Mapping[str, tuple[str, ...]]]
    """By criterion and answer: who gave it. Errors are not among them."""
    dissent: Mapping[str, tuple[str, ...]]
    """By criterion: who gave another answer than the panel; where it has none, all who voted."""

    @property
    def counts(self) -> dict[str, int]:
        """How many votes each answer rests on."""
        return {name: sum(map(len, votes.values())) for name, votes in self.votes.items()}


class Panel:
    """Judges who are one rater together."""

    def __init__(self, rubric: Rubric, members: Iterable[Member], policy: Policy) -> None:
        self.rubric, self.policy = rubric, policy
        self.members = tuple(sorted(set(members)))

    @cached_property
    def card(self) -> str:
        """Hash of everything that shapes its answers: the members' cards and the policy."""
        told = {
            "kind": "panel",
            "members": [(one.card, one.sample) for one in self.members],
            "policy": self.policy,
            "rubric_hash": self.rubric.hash,
        }
        return content_hash(told)

    @cached_property
    def name(self) -> str:
        """The rater's name."""
        return f"panel-{self.card.partition(':')[2][:8]}"

    def rate(self, ratings: Sequence[Rated]) -> PanelRating:
        """The panel's rating of an item from its members' ratings of it."""
        if len({(one.item, one.content) for one in ratings}) != 1:
            raise ValueError("a panel rates one item at a time")
        votes = {one.id: votes_on(one.id, ratings) for one in self.rubric.criteria}
        answers: dict[str, str] = {}
        abstained: dict[str, str] = {}
        for criterion in self.rubric.criteria:
            given = votes[criterion.id]
            lacking = len(ratings) - sum(map(len, given.values()))
            found = answer_of(self.rubric, criterion, given, len(ratings), self.policy)
            answers[criterion.id] = found or ERROR
            if found is None:
                abstained[criterion.id] = self._no_answer(given, lacking)
        flags, doubtful = self._flags(ratings)
        return PanelRating(
            panel=self,
            rated=Rated(
                item=ratings[0].item,
                content=ratings[0].content,
                rater=self.name,
                card=self.card,
                sample=1,
                answers=answers,
                abstained=abstained,
                by_code=ratings[0].by_code,
                flags=flags,
                doubtful=doubtful,
                flags_unknown=self._flags_unknown(ratings),
            ),
            votes=votes,
            dissent=dict(_dissent(answers, votes)),
        )

    def _no_answer(self, votes: Mapping[str, tuple[str, ...]], lacking: int) -> str:
        if not votes:
            return "no member of the panel has an answer"
        told = ", ".join(f"{answer} ×{len(who)}" for answer, who in votes.items())
        without = f" without {lacking} more" if lacking else ""
        return f"{self.policy.replace('_', ' ')} of {told} is no answer{without}"

    def _flags_unknown(self, ratings: Sequence[Rated]) -> str:
        """Why red flags are not known: too few were heard on them; the strictest needs all."""
        deaf = [one.flags_unknown for one in ratings if one.flags_unknown]
        enough = self.policy != "strictest" and 2 * len(deaf) < len(ratings)
        return "" if not deaf or enough else deaf[0]

    def _flags(self, ratings: Sequence[Rated]) -> tuple[tuple[Seen, ...], dict[str, str]]:
        """Red flags that the panel sees, and those that too few of it see.

        One member is enough where the strictest counts; else it takes more than half of those who
        were heard on flags.
        """
        heard = [one for one in ratings if not one.flags_unknown]
        seen: list[Seen] = []
        doubtful: dict[str, str] = {}
        for flag in self.rubric.red_flags or ():
            quotes = [one.evidence for rated in heard for one in rated.flags if one.flag == flag.id]
            doubts = [one.doubtful[flag.id] for one in heard if flag.id in one.doubtful]
            enough = 1 if self.policy == "strictest" else len(heard) // 2 + 1
            if quotes and len(quotes) >= enough:
                evidence: dict[Quote, None] = dict.fromkeys(one for some in quotes for one in some)
                seen.append(Seen(flag=flag.id, evidence=tuple(evidence)))
            elif quotes or doubts:
                told = f"seen by {len(quotes) + len(doubts)} of {len(heard)}"
                doubtful[flag.id] = "; ".join((told, *dict.fromkeys(doubts)))
        return tuple(seen), doubtful


def votes_on(criterion: str, ratings: Iterable[Rated]) -> dict[str, tuple[str, ...]]:
    """Who gave which answer, most votes first; who gave none is not among them."""
    votes: dict[str, list[str]] = {}
    for one in ratings:
        answer = one.answers.get(criterion, ERROR)
        if answer != ERROR:
            votes.setdefault(answer, []).append(member_of(one).name)
    ranked = sorted(votes.items(), key=lambda vote: (-len(vote[1]), vote[0]))
    return {answer: tuple(who) for answer, who in ranked}


def answer_of(
    rubric: Rubric,
    criterion: Criterion,
    votes: Mapping[str, tuple[str, ...]],
    voters: int,
    policy: Policy | None,
) -> str | None:
    """What votes come to, unless those that are lacking could change it."""
    given = [answer for answer, who in votes.items() for _ in who]
    found = combined(rubric, criterion, given, policy)
    lacking = voters - len(given)
    if found is None or not lacking:
        return found
    for other in answers_of(rubric, criterion):
        if combined(rubric, criterion, given + [other] * lacking, policy) != found:
            return None
    return found


def _dissent(
    answers: Mapping[str, str], votes: Mapping[str, Mapping[str, tuple[str, ...]]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, by_answer in votes.items():
        others = tuple(
            who for answer, some in by_answer.items() if answer != answers[name] for who in some
        )
        if others:
            yield name, others


# -- disagreements


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An item and a criterion on which judges gave different answers."""

    item: str
    criterion: str
    votes: Mapping[str, tuple[str, ...]]
    gated: bool
    """Whether a gate rests on the criterion."""
    answer: str | None
    """What the panel makes of it; None: nothing."""

    @property
    def split(self) -> float:
        """Share of the votes that are not with the most."""
        counts = sorted(map(len, self.votes.values()))
        return 1 - counts[-1] / sum(counts)


def disagreements(
    rubric: Rubric, ratings: Iterable[Rated], policy: Policy | None = None
) -> list[Disagreement]:
    """All of them, those on gates first, then the most evenly split."""
    gated = gated_criteria(rubric)
    found: list[Disagreement] = []
    for item, some in by_item(ratings).items():
        for criterion in rubric.criteria:
            votes = votes_on(criterion.id, some)
            if len(votes) < 2:
                continue
            found.append(
                Disagreement(
                    item=item,
                    criterion=criterion.id,
                    votes=votes,
                    gated=criterion.id in gated,
                    answer=answer_of(rubric, criterion, votes, len(some), policy),
                )
            )
    return sorted(found, key=lambda one: (not one.gated, -one.split))


def gated_criteria(rubric: Rubric) -> frozenset[str]:
    """Criteria on which a gate rests."""
    return frozenset(name for gate in rubric.gates or () for name in gate.criteria)


def by_item(ratings: Iterable[Rated]) -> dict[str, list[Rated]]:
    """Ratings of each item, in the order in which items first come."""
    found: dict[str, list[Rated]] = {}
    for one in ratings:
        found.setdefault(one.item, []).append(one)
    return found


# -- as arrays


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """The answers to one criterion as numbers, for ``stats.panel``."""

    criterion: str
    members: tuple[Member, ...]
    items: tuple[str, ...]
    codes: NDArray[np.float64]
    """Members × items; NaN where there is no answer."""
    ordered: bool
    """Whether the numbers stand on a scale; else they only tell answers apart."""


def answer_tables(rubric: Rubric, ratings: Iterable[Rated]) -> list[AnswerTable]:
    """One table a criterion, all with the same members and items.

    NA is an answer like others where answers have no order; on a scale of numbers it has no place
    and counts as absent. What code has decided is nobody's answer, and absent too.
    """
    ratings = list(ratings)
    members = tuple(sorted({member_of(one) for one in ratings}))
    items = tuple(by_item(ratings))
    rows = {one: at for at, one in enumerate(members)}
    columns = {one: at for at, one in enumerate(items)}
    tables = []
    for criterion in rubric.criteria:
        scale = rubric.scale_of(criterion)
        ordered = isinstance(scale, OrdinalScale)
        numbers = {
            str(value): float(value if isinstance(value, int) else at)
            for at, value in enumerate(scale.points_of_scale)
        }
        if not ordered:
            numbers[NA] = float(len(numbers))
        codes = np.full((len(members), len(items)), np.nan)
        for one in ratings:
            if criterion.id in one.by_code:
                continue
            code = numbers.get(one.answers.get(criterion.id, ERROR), np.nan)
            codes[rows[member_of(one)], columns[one.item]] = code
        tables.append(
            AnswerTable(
                criterion=criterion.id, members=members, items=items, codes=codes, ordered=ordered
            )
        )
    return tables
