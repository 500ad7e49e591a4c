"""Checks: how often they are right, and how fast they are beside a phrase matcher."""

from __future__ import annotations

import json
from functools import partial
from itertools import chain, islice, product
from pathlib import Path

from tests.checks.labelled import SUBJECTS, Split, figures, records

from bench import checks_smartspan, coaching
from bench.harness import (
    HERE,
    PYTHON,
    Band,
    BenchError,
    Context,
    Floor,
    Part,
    Quantity,
    Report,
    Row,
    Run,
    best,
    cpu,
    interleave,
    peak,
    peer_env,
    run_process,
    same_version,
    timed,
)
from calibrant.core.item import Conversation, Exchange
from calibrant.raters.checks.lexicon import Lexicon
from calibrant.raters.checks.phrase import read_phrase
from calibrant.raters.checks.run import Checker
from calibrant.raters.checks.shelf import shelves

TITLE = "checks: precision, recall, speed"

COMMAND = Path(PYTHON).with_name("calibrant")
SPACY = "spacy==3.8.7"
SPLITS: tuple[Split, ...] = ("test", "held_out")
MOST_WAYS = 200
"""Ways to say one phrase that the peer is given."""


def labelled(ctx: Context) -> Report:
    """Precision and recall on labelled sentences: those rules were tuned by, and fresh ones."""
    rows = []
    for subject in SUBJECTS:
        ctx.say(subject.name)
        for split in SPLITS:
            if not records(subject.name, split):
                continue
            found = figures(subject, split)
            for what, value, least in (
                ("precision", found.precision, subject.precision),
                ("recall", found.recall, subject.recall),
            ):
                shown = f"{subject.name}, {split}, {what}"
                rows.append(Row(shown, Quantity(value, "share"), floor=Band(least, 1)))
    return Report(
        "labelled sentences",
        rows,
        notes=[
            "nobody read the test split while rules were written, but rules were kept or dropped "
            "by its counts: it flatters them; held_out was written after the rules",
            "sentences and their definitions: tests/checks/data/labelled",
        ],
        headings=("found", "", ""),
    )


def smartspan(ctx: Context) -> Report:
    """The checks of plans against people, on goals of the smartspan data."""
    folder = checks_smartspan.DATA
    if not folder.is_dir():
        raise BenchError("the smartspan data is not here; see bench/checks_smartspan.py")
    every = list(checks_smartspan.goals(folder))
    held_out = [one for one in every if one.held_out]
    rows = []
    for label in checks_smartspan.CHECKS:
        for name, among in (("all goals", every), ("held out", held_out)):
            found = checks_smartspan.figures(label, among)
            measurable = label == "Measurable"
            for what, value, least in (
                ("precision", found.precision, 0.85 if measurable else None),
                ("recall", found.recall, None),
                ("F1", found.f1, 0.90 if measurable else None),
            ):
                floor = None if least is None else Band(least, 1)
                shown = f"{label}, {name} ({found.goals}), {what}"
                rows.append(Row(shown, Quantity(value, "share"), floor=floor))
    return Report("goals labelled by people", rows, headings=("found", "", ""))


def speed(ctx: Context) -> Report:
    """All conversation checks, against a blank spaCy pipeline with a phrase matcher."""
    number, once = (1_000, 100) if ctx.quick else (10_000, 500)
    source, target = coaching.write(ctx.work / "in.jsonl", number), ctx.work / "out.json"
    checker = Checker("conversation")
    lexicons = [one for chosen in checker.chosen for one in chosen.definition.lexicons]
    phrases = ctx.work / "phrases.json"
    phrases.write_text(json.dumps({one.id: _said(one) for one in lexicons}), encoding="utf-8")
    items = _items(once)
    python = peer_env("spacy", [SPACY, same_version("click")])

    def mine() -> Run:
        run = _timed(checker, items)
        return Run(run.seconds / once, (run.cpu or 0.0) / once)

    def theirs() -> Run:
        script = HERE / "peers" / "spacy_phrases.py"
        run_process([python, "-I", script, source, phrases, target, str(once)])
        told = json.loads(target.read_text(encoding="utf-8"))
        return Run(told["seconds"] / once, told["cpu"] / once)

    ctx.say(f"{once} conversations of 15 exchanges, both ways")
    runs = interleave({"ours": mine, "peer": theirs}, rounds=5, warm_up=1)
    ctx.say("turns of 1, 2 and 4 times the length")
    turns = {str(times): _items(64, times) for times in (1, 2, 4)}
    longer = interleave(
        {times: partial(_timed, checker, some) for times, some in turns.items()},
        rounds=5,
        warm_up=1,
    )
    ctx.say(f"the whole command over {number // 100:,}, {number // 10:,} and {number:,}")
    sizes = (number // 100, number // 10, number)
    whole = {size: _command(ctx, coaching.write(source, size)) for size in sizes}
    found, other = best(runs["ours"]), best(runs["peer"])
    return Report(
        f"all signals of conversations, {len(lexicons)} lexicons",
        [
            Row(
                "conversations a second, in memory",
                Quantity(1 / found, "/s"),
                Quantity(1 / other, "/s"),
                other / found,
                Floor(3),
                runs,
            ),
            Row(
                f"`calibrant check`, {number:,} conversations",
                Quantity(number / whole[number].seconds, "/s"),
            ),
        ],
        notes=[
            f"the peer tokenises and looks for {sum(map(len, map(_said, lexicons))):,} phrases, "
            f"gaps left out; {once} conversations, scaled",
            f"processor time a conversation: ours {Quantity(cpu(runs['ours']), 's')}, "
            f"peer {Quantity(cpu(runs['peer']), 's')}",
            "time for turns of 1, 2 and 4 times the length: "
            + ", ".join(f"{best(one) / best(longer['1']):.2f}" for one in longer.values()),
            "peak memory of the command: "
            + ", ".join(f"{Quantity(peak([run]), 'B')} for {size:,}" for size, run in whole.items())
            + " conversations",
            "conversations are put together from a few dozen sentences, but nothing is remembered "
            "from one to the next: only the conversation that is read is looked at",
        ],
    )


def _items(number: int, times: int = 1) -> list[Conversation]:
    """Conversations in memory, whose turns may be said several times over."""
    return [
        Conversation(
            id=str(at),
            exchanges=tuple(
                Exchange(user=" ".join([a] * times), assistant=" ".join([b] * times))
                for a, b in said
            ),
        )
        for at, said in enumerate(coaching.conversations(number))
    ]


def _timed(checker: Checker, items: list[Conversation]) -> Run:
    """All signals of these items, in one process."""
    return timed(lambda: [checker.signals_of(some) for some in shelves(items)])


def _command(ctx: Context, source: Path) -> Run:
    """The whole command over a file."""
    return run_process([COMMAND, "check", source, "-o", ctx.work / "signals.jsonl"])


def _said(one: Lexicon) -> list[str]:
    """The phrases of a lexicon as the peer knows them: words that follow one another."""
    phrases = chain.from_iterable(entry.phrases for entry in one.entries)
    out: dict[str, None] = {}
    for text in phrases:
        phrase = read_phrase(text, one.gap)
        piece: list[tuple[str, ...]] = []
        for at, token in enumerate(phrase.tokens):
            piece.append(tuple(way.rstrip("*") for way in token.ways))
            if at == len(phrase.tokens) - 1 or phrase.gaps[at]:
                out |= dict.fromkeys(islice(map(" ".join, product(*piece)), MOST_WAYS))
                piece = []
    return [text for text in out if text]


PARTS: dict[str, Part] = {"labelled": labelled, "smartspan": smartspan, "speed": speed}
