"""Files of judges' ratings: one line a rating, which ``score`` and ``agree`` read as it is.

A run writes its lines to ``OUT.partial`` as ratings come in, and puts the whole file in its place
at the end, in the order of items, judges and samples. What earlier runs have left, in either file,
is taken up again; a rating that lacks answers may be made anew and then takes the place of the old
one. A file by other judges, or by somebody else, is never written over.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeAlias

import msgspec

from calibrant.core.answer import ERROR
from calibrant.core.errors import SourceError
from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.formats.signals import partial_of
from calibrant.formats.writers import LINE_SUFFIXES, check_output, replacing
from calibrant.ports.chat import Usage
from calibrant.raters.judge.card import KIND, JudgeCard
from calibrant.raters.judge.judge import Judge
from calibrant.raters.judge.outcome import Asked
from calibrant.raters.judge.panel import PanelRating
from calibrant.raters.judge.rated import Rated, rated
from calibrant.raters.judge.reading import Quote

Record: TypeAlias = dict[str, Any]
"""One line of a file of ratings."""


# -- records


def rating_record(
    judge: Judge, item: Item, sample: int, asked: Sequence[Asked], *, words: bool = True
) -> Record:
    """A judge's rating as a line; ``words`` keeps the raw replies in it."""
    found = rated(judge.rubric, judge.card, item, sample, asked)
    shown = judge.card.facts
    record = _record(found, judge.rubric)
    record["metadata"] |= {
        "model": judge.model,
        "shown": [] if shown is None else [shown],
        "calls": [_call(one, words) for one in asked],
    }
    return record


def panel_record(found: PanelRating) -> Record:
    """A panel's rating as a line, with who said what."""
    panel = found.panel
    record = _record(found.rated, panel.rubric)
    record["metadata"] |= {
        "policy": panel.policy,
        "members": [one.to_dict() for one in panel.members],
        "votes": {
            name: {answer: list(who) for answer, who in votes.items()}
            for name, votes in found.votes.items()
        },
        "dissent": {name: list(who) for name, who in found.dissent.items()},
        "n": found.counts,
    }
    return record


def _record(found: Rated, rubric: Rubric) -> Record:
    """What ratings of judges and of panels have in common; empty fields are left out."""
    withheld = _withheld(found, rubric)
    record: Record = {
        "item": found.item,
        "rater": found.rater,
        "kind": KIND,
        "occasion": str(found.sample),
        "rubric": rubric.name,
        "answers": {**found.answers, **dict.fromkeys(withheld, ERROR)},
    }
    beside = {
        "flags": [{"flag": one.flag, "evidence": _quotes(one.evidence)} for one in found.flags],
        "notes": dict(found.notes),
        "evidence": {name: _quotes(quotes) for name, quotes in found.evidence.items()},
        "sub_answers": {name: dict(given) for name, given in found.sub_answers.items()},
        "tags": {name: list(tags) for name, tags in found.tags.items()},
    }
    told = {
        "probabilities": {name: dict(shares) for name, shares in found.probabilities.items()},
        "abstained": dict(found.abstained),
        "by_code": list(found.by_code),
        "doubtful_flags": dict(found.doubtful),
        "flags_unknown": found.flags_unknown,
        "withheld": withheld,
    }
    return {
        **record,
        **{name: value for name, value in beside.items() if value},
        "metadata": {
            "content": found.content,
            "rubric_hash": rubric.hash,
            "card": found.card,
            **{name: value for name, value in told.items() if value},
            "unverified": found.unverified,
        },
    }


def _withheld(found: Rated, rubric: Rubric) -> dict[str, str]:
    """Answers that nobody may count yet: red flags are not known that would overrule them."""
    if not found.flags_unknown:
        return {}
    if all(flag.effect == "indicate" for flag in rubric.red_flags or ()):
        return {}
    left = {name for name, answer in found.answers.items() if answer == ERROR} | {*found.by_code}
    return {name: answer for name, answer in found.answers.items() if name not in left}


def _quotes(quotes: Iterable[Quote]) -> list[dict[str, Any]]:
    return [
        {"text": one.text} | ({} if one.place is None else {"place": one.place}) for one in quotes
    ]


def _call(asked: Asked, words: bool) -> dict[str, Any]:
    reply, reading = asked.reply, asked.reading
    told: dict[str, Any] = {
        "id": asked.call.id,
        "question": asked.call.question.id,
        "rung": None if reading is None else reading.rung,
        "form": asked.form,
        "attempts": asked.attempts,
        "seconds": round(asked.seconds, 6),
        "usage": None if reply is None else _usage(asked.usage),
        "error": None if reading is not None else asked.reason,
    }
    if words:
        told["reply"] = None if reply is None else reply.text
    return told


def _usage(usage: Usage) -> dict[str, int]:
    return {"prompt": usage.prompt, "cached": usage.cached, "completion": usage.completion}


def encoded(record: Record) -> bytes:
    """A record as one line; half a pair of surrogates, as models write it, becomes ``?``."""
    try:
        return msgspec.json.encode(record) + b"\n"
    except UnicodeEncodeError:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace") + b"\n"


def decoded(line: bytes, path: Path) -> Record:
    """A line that ``encoded`` has written; raises ``SourceError`` on any other."""
    try:
        record = msgspec.json.decode(line)
        key_of(record)
        if isinstance(record["answers"], dict) and isinstance(record["rater"], str):
            return dict(record)
    except (msgspec.DecodeError, LookupError, TypeError, ValueError, AttributeError):
        pass
    raise SourceError(f"{path}: not a file that `calibrant judge` has written; name another file")


def read_ratings(path: Path) -> Iterator[Record]:
    """The ratings of a file that a run has written, one a line."""
    try:
        with path.open("rb") as file:
            for line in file:
                yield decoded(line, path)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error


def write_ratings(path: Path, records: Iterable[Record]) -> None:
    """Write records to one file, whole or not at all."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.writelines(map(encoded, records))


def panel_path(out: Path) -> Path:
    """Where the ratings of a panel go, beside those of its members."""
    return out.with_name(f"{out.stem}.panel{out.suffix}")


# -- the file of a run


@dataclass(frozen=True, slots=True)
class Key:
    """Which rating it is; an item is told by its name, as two may have the same words."""

    item: str
    card: str
    sample: int


def key_of(record: Mapping[str, Any]) -> Key:
    """The key of a line."""
    item, told = record["item"], record["metadata"]
    card, content = told["card"], told["content"]
    if not (isinstance(item, str) and isinstance(card, str) and isinstance(content, str)):
        raise TypeError("names are texts")
    return Key(item, card, int(record["occasion"]))


@dataclass(slots=True)
class _Line:
    """Where a rating stands, and what must be known of it without reading it again."""

    partial: bool
    start: int
    content: str
    whole: bool


class RatingsFile:
    """The ratings of one run: taken up, added to, and put in order at the end.

    ``cards`` are the judges of the run, in their order. With ``anew`` ratings of earlier runs by
    these judges are left aside.
    """

    def __init__(
        self, out: Path, cards: Iterable[JudgeCard], *inputs: Path | None, anew: bool = False
    ) -> None:
        if out.suffix.lower() not in LINE_SUFFIXES:
            raise SourceError(f"{out}: ratings of judges are written as .jsonl; name such a file")
        self.out, self.partial = out, partial_of(out)
        check_output(out, *inputs)
        if self.partial.resolve() in {one.resolve() for one in inputs if one is not None}:
            raise SourceError(f"{self.partial}: is read from, and would be written over")
        self._cards = {card.hash: at for at, card in enumerate(cards)}
        self._lines: dict[Key, _Line] = {}
        self._order: dict[Key, tuple[int, int, int]] = {}
        self.resumed = 0
        """Ratings that earlier runs had made in full."""
        self._file = self._open(anew)

    # -- taking up

    def _open(self, anew: bool) -> BinaryIO:
        try:
            if self.out.exists():
                self._take_up(self.out, partial=False)
            file = self.partial.open("ab", buffering=0)
            try:
                self._own(file)
                self._end = self._take_up(self.partial, partial=True)
                if anew:
                    self._lines.clear()
                    self._end = 0
                file.truncate(self._end)
            except BaseException:
                file.close()
                raise
        except OSError as error:
            raise SourceError(f"{self.partial}: {error.strerror or error}") from error
        return file

    def _own(self, file: BinaryIO) -> None:
        """Two runs that write one file would spoil it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SourceError(f"{self.partial}: another run is writing it") from None

    def _take_up(self, path: Path, *, partial: bool) -> int:
        """Note where the ratings of a file stand; half a line at its end does not count."""
        at = 0
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n") and partial:
                    break
                record = decoded(line, path)
                if record["metadata"]["card"] not in self._cards:
                    raise SourceError(
                        f"{path}: holds ratings by {record['rater']}, which is none of the judges "
                        "of this run (another model, rubric, way of asking or parameter makes "
                        "another judge); name another file"
                    )
                self._note(record, at, partial)
                at += len(line)
        return at

    def _note(self, record: Record, at: int, partial: bool) -> None:
        told = record["metadata"]
        whole = not told.get("abstained") and not told.get("flags_unknown")
        self._lines[key_of(record)] = _Line(partial, at, told["content"], whole)

    # -- running

    def wants(
        self, position: int, item: Item, card: JudgeCard, sample: int = 1, *, again: bool = True
    ) -> bool:
        """Whether a rating is still to be made; every rating of a run is asked for once.

        One that lacks answers is made ``again``. Raises ``SourceError`` where an earlier run has
        rated other words under the same name.
        """
        key = Key(item.id, card.hash, sample)
        self._order[key] = position, self._cards[card.hash], sample
        line = self._lines.get(key)
        if line is None:
            return True
        if line.content != item.hash:
            raise SourceError(
                f"{self.out}: item {item.id!r} has changed since it was rated; name another file"
            )
        self.resumed += line.whole
        return again and not line.whole

    def add(self, record: Record) -> None:
        """Write a rating, so that it outlasts this process."""
        data = encoded(record)
        try:
            self._file.write(data)
        except OSError as error:
            raise SourceError(f"{self.partial}: {error.strerror or error}") from error
        self._note(record, self._end, partial=True)
        self._end += len(data)

    def ratings(self) -> Iterator[Record]:
        """All ratings there are by now, in the order of items, judges and samples.

        Those of items that this run was not asked about come last.
        """
        for _, line in self._sorted():
            yield msgspec.json.decode(line)

    def _sorted(self) -> Iterator[tuple[Key, bytes]]:
        asked = [key for key in self._lines if key in self._order]
        others = [key for key in self._lines if key not in self._order]
        with _opened(self.out) as out, _opened(self.partial) as partial:
            for key in sorted(asked, key=self._order.__getitem__) + others:
                line = self._lines[key]
                file = partial if line.partial else out
                file.seek(line.start)
                yield key, file.readline().rstrip(b"\n") + b"\n"

    def finish(self) -> None:
        """Put the whole file in its place; only then does the partial one go."""
        at, lines = 0, {}
        with replacing(self.out) as temporary, temporary.open("wb") as file:
            for key, data in self._sorted():
                file.write(data)
                lines[key] = replace(self._lines[key], partial=False, start=at)
                at += len(data)
        self._lines = lines
        self.partial.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Let the file go; what was written stays in ``OUT.partial``."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _opened(path: Path) -> BinaryIO:
    """A file to read from; an empty one where there is none."""
    return path.open("rb") if path.exists() else BytesIO()
