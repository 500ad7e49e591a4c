"""Members by other names: the same one each time, and none that can be worked out from a name.

Names are replaced by keyed digests. The key is drawn once and kept in the study's journal; what
leaves under pseudonyms goes without it.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from calibrant.core.errors import StudyError
from calibrant.core.ids import canonical
from calibrant.core.study import (
    FROZEN_DATA,
    Assignment,
    Entry,
    Key,
    Member,
    Rating,
    Round,
    StudyRecord,
)
from calibrant.ports.store import Reading, Writing
from calibrant.study.session import Session, verb
from calibrant.study.sight import MASK_KEY

KIND = "pseudonyms"
"""The kind of the entry that keeps the key."""
_NAMED = frozenset({"name", "rater", "participants", "attendees", "by", "moved"})
"""Keys of bodies under which names stand, and nothing else."""
_FIXED = frozenset(
    {
        "what", "state", "kind", "hash", "version", "before", "rubric", "how", "value", "error",
        "flag", "flags", "phase", "step", "low", "criterion", "cause", "ask_again", "changed",
        "group", "roles", "item", "way", "target", "decided_on", "outcome", "borderline", "tags",
        "raised", "reasons_of", "added", "first", "probabilities",
    }
)  # fmt: skip
"""Keys under which words of the program or of the rubric stand, and no names."""
_LEFT: dict[str, Any] = {"findings": None}
"""What is left of a frozen report."""


@verb("lead", shows="nothing")
def keep_pseudonyms(session: Session, key: str) -> None:
    """Keep ``key``, drawn by chance, for the study's pseudonyms; the one there is stays."""
    if len(key) < 16:
        raise StudyError("a key of pseudonyms is a long text that nobody can guess")

    def work(tx: Writing) -> None:
        if _key(tx, session) is None:
            tx.log(session.number, [session.entry(KIND, body={"key": key})])

    session.alone(work)


def entry_of_key(entry: Entry) -> bool:
    """Whether an entry keeps the key, or kept it before it left."""
    return entry.kind == KIND


def _key(tx: Reading, session: Session) -> str | None:
    kept = [one.body["key"] for one in tx.journal(session.number, kinds=(KIND,))]
    return next((str(one) for one in reversed(kept) if one is not None), None)


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """The other names of a study's members, and records that use them."""

    key: bytes
    names: Mapping[str, str]
    folded: Mapping[str, str]
    """The same, for names as they are spelt in texts."""
    spelt: re.Pattern[str]
    """Any of the names, where it stands by itself in a text."""

    @classmethod
    def of(cls, tx: Reading, session: Session) -> Pseudonyms:
        """The pseudonyms of a study; raises ``StudyError`` where no key is kept."""
        key = _key(tx, session)
        if key is None:
            raise StudyError("pseudonyms need a key: keep one first")
        return cls.made(key, [one.name for one in tx.members(session.number)])

    @classmethod
    def made(cls, key: str, members: list[str]) -> Pseudonyms:
        """Pseudonyms of these members under a key."""
        secret = key.encode()
        names = {name: f"member-{_digest(secret, name)[:12]}" for name in members}
        longest = sorted(members, key=len, reverse=True)
        spelt = "|".join(re.escape(name) for name in longest) or "(?!)"
        # letters and digits belong to a word, an underscore does not: ann_scores names ann
        pattern = re.compile(rf"(?<![^\W_])(?:{spelt})(?![^\W_])", re.IGNORECASE)
        folded = {name.casefold(): other for name, other in names.items()}
        return cls(secret, names, folded, pattern)

    def name(self, name: str) -> str:
        """The other name of somebody."""
        return self.names.get(name) or f"member-{_digest(self.key, name)[:12]}"

    def text(self, text: str) -> str:
        """A text in which nobody is named."""
        return self.spelt.sub(self._found, text)

    def _found(self, found: re.Match[str]) -> str:
        return self.names.get(found[0]) or self.folded.get(found[0].casefold(), "somebody")

    def words(self, value: Any) -> Any:
        """Any document in whose texts nobody is named."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {key: self.words(inner) for key, inner in value.items()}
            case list() | tuple():
                return [self.words(inner) for inner in value]
        return value

    def body(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """A document of facts: names replaced where names stand, and inside free text."""
        out: dict[str, Any] = {}
        for key, inner in value.items():
            if key in _NAMED:
                out[key] = self._exact(inner)
            elif key in _FIXED:
                out[key] = inner
            elif isinstance(inner, Mapping):
                out[key] = self.body(inner)
            else:
                out[key] = self.words(inner)
        return out

    def _exact(self, value: Any) -> Any:
        match value:
            case str():
                return self.name(value)
            case Mapping():
                return {self.name(key): inner for key, inner in value.items()}
            case list() | tuple():
                return sorted(self.name(str(one)) for one in value)
        return value

    # -- records

    def study(self, record: StudyRecord) -> StudyRecord:
        """A study whose title names nobody."""
        return replace(record, title=self.text(record.title))

    def member(self, member: Member) -> Member:
        """A member, and the card without names."""
        card = member.card
        if card is not None:
            card = canonical(self._card(json.loads(card)))
        return replace(member, name=self.name(member.name), card=card)

    def _card(self, value: Any) -> Any:
        """A document whose keys are somebody's words too."""
        if isinstance(value, Mapping):
            return {self.text(key): self._card(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._card(inner) for inner in value]
        return self.words(value)

    def round(self, round: Round) -> Round:
        """A round; the file it may have come from is not named, for people name files."""
        plan = {key: value for key, value in round.plan.items() if key != "source"}
        return replace(round, plan=self.body(plan))

    def assignment(self, one: Assignment) -> Assignment:
        """An assignment."""
        return replace(one, key=self._key(one.key))

    def rating(self, one: Rating) -> Rating:
        """A rating; what names the act of handing in may name the rater."""
        return replace(
            one,
            key=self._key(one.key),
            request=f"request-{_digest(self.key, one.request)[:32]}",
            facts=self.body(one.facts),
            words=None if one.words is None else self.words(one.words),
        )

    def entry(self, one: Entry) -> Entry:
        """A line of the journal; the keys stay behind, and what frozen reports said."""
        if one.kind == FROZEN_DATA:  # full of names, in places that only its maker knows
            return replace(one, actor=self.name(one.actor), body=_LEFT, words=None)
        body = {"key": None} if one.kind == KIND else self.body(one.body)
        if one.kind == "study":
            body.pop(MASK_KEY, None)
        words = None if one.words is None else self.words(one.words)
        return replace(one, actor=self.name(one.actor), body=body, words=words)

    def _key(self, key: Key) -> Key:
        return replace(key, rater=self.name(key.rater))


def _digest(key: bytes, text: str) -> str:
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()
