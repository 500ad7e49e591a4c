"""From a file of items to signals: a stream of records, resumable, and a summary.

One record an item: ``{"item", "kind", "content", "card", "signals"}``. A run writes its records
to ``OUT.partial`` as it goes, and puts the whole file in its place at the end; what an
interrupted run has left is taken up again if items, checks and rubric are still the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, overload

import msgspec

from calibrant.core.criterion import ItemType
from calibrant.core.errors import Fault, RecordError, SourceError
from calibrant.core.item import Conversation, FreeItem, Item, Plan, Response
from calibrant.core.rubric import Rubric
from calibrant.formats.items import Duplicate, stream_items
from calibrant.formats.rubric_file import load_rubric
from calibrant.raters.checks.registry import plugin_troubles
from calibrant.raters.checks.run import Checker
from calibrant.raters.checks.shelf import shelves
from calibrant.raters.checks.signal import Signal

BUILT_IN: dict[ItemType, str] = {
    "plan": "smart-action-plan",
    "response": "ai-response",
    "conversation": "coaching-conversation",
}
"""The rubric whose criteria signals speak of where none is named."""
Record: TypeAlias = dict[str, Any]
"""What was found in one item, as it stands in a line of JSON."""


class Checkers:
    """The checks for every kind of item, made ready when the first one comes."""

    def __init__(self, rubric: Rubric | None = None) -> None:
        self.rubric = rubric
        self._ready: dict[ItemType, Checker] = {}

    def of(self, kind: ItemType) -> Checker:
        """The checks for one kind."""
        if kind not in self._ready:
            rubric = self.rubric
            if rubric is None and kind in BUILT_IN:
                rubric = load_rubric(BUILT_IN[kind])
            if rubric is not None and rubric.item_type != kind:
                raise SourceError(f"{rubric.name} is for a {rubric.item_type}, not for a {kind}")
            self._ready[kind] = Checker(kind, rubric)
        return self._ready[kind]

    def signals(self, items: Sequence[Item]) -> list[tuple[Signal, ...]]:
        """What checks measured in each of some items, which are read together."""
        out: list[tuple[Signal, ...]] = [()] * len(items)
        for kind in dict.fromkeys(one.kind for one in items):
            places = [at for at, one in enumerate(items) if one.kind == kind]
            found = self.of(kind).signals_of([items[at] for at in places])
            for at, signals in zip(places, found, strict=True):
                out[at] = signals
        return out

    @property
    def used(self) -> tuple[Checker, ...]:
        """Those that were asked for."""
        return tuple(self._ready.values())


@overload
def check(item_or_items: Item, rubric: Rubric | str | None = None) -> tuple[Signal, ...]: ...
@overload
def check(
    item_or_items: Iterable[Item], rubric: Rubric | str | None = None
) -> Iterator[tuple[Signal, ...]]: ...
def check(
    item_or_items: Item | Iterable[Item], rubric: Rubric | str | None = None
) -> tuple[Signal, ...] | Iterator[tuple[Signal, ...]]:
    """The signals of an item, or of each of many, as a stream.

    Without a rubric, signals speak of the criteria of the built-in rubric for the kind of item.
    Of a stream, the first item is read by itself, and later ones some dozens at a time.
    """
    checkers = Checkers(load_rubric(rubric) if isinstance(rubric, str) else rubric)
    if isinstance(item_or_items, Plan | Response | Conversation | FreeItem):
        return checkers.of(item_or_items.kind).signals(item_or_items)
    return chain.from_iterable(map(checkers.signals, shelves(item_or_items)))


# -- what a run found


@dataclass(slots=True)
class SignalCount:
    """What became of one signal over all items."""

    criterion: str | None = None
    measured: int = 0
    not_measured: Counter[str] = field(default_factory=Counter)
    """Items in which it was not measured, by reason."""
    exceeded: int = 0
    total: float = 0.0
    numbers: int = 0
    suggested: Counter[str] = field(default_factory=Counter)
    """Items by what was suggested: ``CP5 NO``, ``flag medical_advice``, ``hint``."""

    @property
    def mean(self) -> float | None:
        """Of the measurements that are numbers."""
        return self.total / self.numbers if self.numbers else None

    def add(self, signal: Record) -> None:
        """Count one signal in."""
        self.criterion = self.criterion or signal.get("criterion")
        value = signal.get("measured")
        if "not_measured" in signal:
            # what failed names the kind of error only: messages may differ in every item
            self.not_measured[":".join(signal["not_measured"].split(":")[:2])[:120]] += 1
        else:
            self.measured += 1
        if isinstance(value, int | float) and not isinstance(value, bool):
            self.total += value
            self.numbers += 1
        self.exceeded += signal.get("exceeded") is True
        match signal.get("suggestion"):
            case {"kind": "answer", "criterion": criterion, "answer": answer}:
                self.suggested[f"{criterion} {answer}"] += 1
            case {"kind": "flag", "flag": flag}:
                self.suggested[f"flag {flag}"] += 1
            case {"kind": kind}:
                self.suggested[kind] += 1

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "criterion": self.criterion,
            "measured": self.measured,
            "not_measured": dict(self.not_measured),
            "exceeded": self.exceeded,
            "mean": None if self.mean is None else round(self.mean, 6),
            "suggested": dict(self.suggested),
        }


@dataclass(slots=True)
class CheckSummary:
    """What a run of checks found, in numbers."""

    items: int = 0
    resumed: int = 0
    """Items whose signals an earlier run had written."""
    kinds: Counter[str] = field(default_factory=Counter)
    bad_records: int = 0
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)
    signals: dict[tuple[str, str], SignalCount] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Count the signals of one item in."""
        self.items += 1
        self.kinds[record["kind"]] += 1
        for signal in record["signals"]:
            key = signal["check"], signal["signal"]
            if key not in self.signals:
                self.signals[key] = SignalCount()
            self.signals[key].add(signal)

    def to_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "items": self.items,
            "resumed": self.resumed,
            "kinds": dict(self.kinds),
            "bad_records": self.bad_records,
            "cards": self.cards,
            "signals": [
                {"check": check, "signal": name, **count.to_dict()}
                for (check, name), count in sorted(self.signals.items())
            ],
            "notes": list(dict.fromkeys(self.notes)),
        }


# -- the run


class CheckRun:
    """Checks over a file of items."""

    def __init__(
        self,
        source: Path,
        rubric: Rubric | None = None,
        *,
        kind: ItemType | None = None,
        encoding: str | None = None,
        skip_bad: bool = False,
        on_fault: Callable[[Fault], None] = lambda fault: None,
        on_progress: Callable[[int], None] = lambda items: None,
    ) -> None:
        self.source = source
        self.kind = rubric.item_type if rubric is not None else kind
        self.encoding = encoding
        self.skip_bad = skip_bad
        self.checkers = Checkers(rubric)
        self.summary = CheckSummary()
        self._on_fault = on_fault
        self._on_progress = on_progress
        self._seen = 0

    def records(self, done: dict[str, tuple[str, str]] | None = None) -> Iterator[Record]:
        """One record an item, in the file's order, without those that are done already.

        Raises all faults together at the end, unless bad records are to be left out.
        """
        done = done or {}
        faults: list[Fault] = []
        self.summary.notes += plugin_troubles()
        for items in shelves(self._items(done, faults)):
            for item, signals in zip(items, self.checkers.signals(items), strict=True):
                record = _record(item, self.checkers.of(item.kind), signals)
                self.summary.add(record)
                yield record
                self._tell()
        self._close(faults, done)

    def _items(self, done: dict[str, tuple[str, str]], faults: list[Fault]) -> Iterator[Item]:
        """Items in the file's order, without those that are done already."""
        for entry in stream_items(self.source, self.kind, self.encoding, self.summary.notes):
            match entry:
                case Duplicate():
                    continue
                case Fault():
                    faults.append(entry)
                    self._on_fault(entry)
                    continue
            earlier = done.pop(entry.id, None)
            if earlier is None:
                yield entry
            elif earlier == (entry.hash, self.checkers.of(entry.kind).card.name):
                self._tell()
            else:
                raise SourceError(
                    f"item {entry.id!r}, its checks or the rubric have changed since the "
                    "interrupted run: start anew, without --resume"
                )

    def _tell(self) -> None:
        self._seen += 1
        self._on_progress(self._seen)

    def _close(self, faults: list[Fault], left: dict[str, tuple[str, str]]) -> None:
        self.summary.cards = {
            one.card.name: {**one.card.to_dict(), "hash": one.card.hash}
            for one in self.checkers.used
        }
        self.summary.bad_records = len({fault.record for fault in faults})
        if faults and not self.skip_bad:
            raise RecordError(faults)
        if left:
            raise SourceError(
                f"the interrupted run read {len(left)} items that {self.source} does not hold, "
                f"such as {next(iter(left))!r}: start anew, without --resume"
            )

    # -- files

    def write(self, out: Path, resume: bool = False) -> Path:
        """Write all records to ``OUT.partial``, which is left where the run is interrupted."""
        partial = partial_of(out)
        done = self._taken_up(partial) if resume and partial.exists() else {}
        try:
            with partial.open("ab" if resume else "wb") as file:
                for record in self.records(done):
                    file.write(msgspec.json.encode(record) + b"\n")
        except OSError as error:
            raise SourceError(f"{partial}: {error.strerror or error}") from error
        return partial

    def _taken_up(self, partial: Path) -> dict[str, tuple[str, str]]:
        """Content and card of every item that is done; half a line at the end is cut off."""
        done: dict[str, tuple[str, str]] = {}
        whole = 0
        with partial.open("rb+") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                record = _decoded(line, partial)
                done[record["item"]] = record["content"], record["card"]
                self.summary.add(record)
                whole += len(line)
            file.truncate(whole)
        self.summary.resumed = len(done)
        return done


def partial_of(out: Path) -> Path:
    """Where a run writes until it is complete."""
    return out.with_name(f"{out.name}.partial")


def read_record_file(path: Path) -> Iterator[Record]:
    """Records that a run has written, one a line."""
    with path.open("rb") as file:
        for line in file:
            yield _decoded(line, path)


def _decoded(line: bytes, path: Path) -> Record:
    try:
        record = msgspec.json.decode(line)
        names = (record["item"], record["content"], record["card"], record["kind"])
        if all(isinstance(name, str) for name in names) and isinstance(record["signals"], list):
            return dict(record)
    except (msgspec.DecodeError, LookupError, TypeError):
        pass
    raise SourceError(f"{path}: not a file that `calibrant check` has written")


def _record(item: Item, checker: Checker, signals: Iterable[Signal]) -> Record:
    return {
        "item": item.id,
        "kind": item.kind,
        "content": item.hash,
        "card": checker.card.name,
        "signals": [one.to_dict() for one in signals],
    }
