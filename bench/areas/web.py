"""The web application: saves by many people at once, the rating page, beside others' servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from bench.areas.study import databases
from bench.harness import (
    HERE,
    PYTHON,
    BenchError,
    Check,
    Context,
    Floor,
    Part,
    Quantity,
    Report,
    Row,
    Run,
)
from bench.web_browser import first_visit, next_items, visiting
from bench.web_peers import Visited, label_studio, last_line, potato
from bench.web_servers import Loaded, Served, free_port, put, serving
from bench.web_studies import (
    DRAFTS,
    Prepared,
    asked_for,
    bare_load,
    kept,
    long_conversations,
    our_load,
    ours,
    prepared,
)

TITLE = "the web application: saves by many at once, the rating page"

PEOPLE = (50, 200)
LEAST = 0.4
"""Of the bare endpoint's saves a second."""
FEW = 50
TIMES = Floor(5)
"""What we have to store beside the fastest peer, at a better p95."""
MOST_SAVES = 2_500
"""A second: for so many there is work."""
RATERS = 5
"""Of the study whose rating page is looked at."""
PAGE_SECONDS, NEXT_SECONDS, PAGE_BYTES = 0.030, 0.100, 100e3


@contextmanager
def bare(made: Prepared, place: str) -> Iterator[Served]:
    """The least a server can do, on a database of its own."""
    port = free_port()
    command: list[str | Path] = [PYTHON, HERE / "peers" / "web_bare.py", place, str(port)]
    with serving("bare", command, folder=made.folder, port=port, ready="/docs") as found:
        yield found


def saves(ctx: Context) -> Report:
    """50 and 200 reviewers who are logged in save and submit, beside a bare endpoint."""
    rows: list[Row] = []
    checks: list[Check] = []
    notes: list[str] = []
    with databases(ctx) as kinds:
        for kind, place in kinds.items():
            for people in PEOPLE:
                _saves_of(ctx, kind, place, people, rows, checks, notes)
    return Report(
        f"reviewers without a pause, {DRAFTS} drafts of an item, then its rating; one server",
        rows,
        checks,
        notes=[
            "bare: FastAPI, a row with a commit of its own for each request, as durable, and "
            "nothing else; a save of ours is a draft or a rating, acknowledged when it is on disk",
            "an error, a lost save and a locked database count as a difference",
            *notes,
        ],
        headings=("ours", "bare", "ratio"),
    )


def _saves_of(
    ctx: Context,
    kind: str,
    place: Callable[[], str],
    people: int,
    rows: list[Row],
    checks: list[Check],
    notes: list[str],
) -> None:
    windows = 1 if ctx.quick else 2
    seconds, warm_up = (3.0, 1.0) if ctx.quick else (6.0, 1.5)
    ctx.say(f"{kind}, {people} reviewers: a study")
    each = round(MOST_SAVES * (seconds + warm_up) / people / (DRAFTS + 1)) + 2
    made = prepared(ctx, place(), people=people, items=each * windows)
    bare_place = place()
    mine: list[Loaded] = []
    least: list[Loaded] = []
    with ExitStack() as stack:
        server, simple = (
            stack.enter_context(ours(made)),
            stack.enter_context(bare(made, bare_place)),
        )
        for at in range(windows):
            part = made.items[at * each : (at + 1) * each]
            ctx.say(f"{kind}, {people} reviewers: ours, then bare")
            work = our_load(made, made.names, part)
            mine.append(put(server, work, ctx, seconds=seconds, warm_up=warm_up))
            work = bare_load(made, made.names, part)
            least.append(put(simple, work, ctx, seconds=seconds, warm_up=warm_up))
        locked = server.complaints()
    checks += [
        _checked(mine, made.place, ("rating", "draft"), locked),
        _checked(least, bare_place, ("bare_rating", "bare_draft"), 0),
    ]
    rows += beside(f"{kind}, {people} reviewers", mine, least, "bare", LEAST)
    notes.append(_busy(f"{kind}, {people} reviewers", mine, least))


def _checked(loads: Sequence[Loaded], place: str, tables: tuple[str, str], locked: int) -> Check:
    """Whether every rating that was acknowledged is kept, and nothing went wrong."""
    handed_in = sum(one.done[-1] for one in loads)
    ratings, _ = kept(place, *tables)
    wrong = sum(one.wrong for one in loads)
    examples = [f"{count} times {what}" for one in loads for what, count in one.errors.items()]
    return Check(
        sum(sum(one.done) for one in loads),
        wrong + abs(ratings - handed_in) + locked,
        examples=examples[:5],
    )


def beside(
    name: str, mine: Sequence[Loaded], others: Sequence[Loaded], side: str, least: float
) -> list[Row]:
    """Saves a second and latencies of two sides; of several windows the best of each."""
    our, their = (max(loads, key=lambda one: one.rate) for loads in (mine, others))
    runs = {
        "ours": [Run(1 / one.rate) for one in mine],
        side: [Run(1 / one.rate) for one in others],
    }
    return [
        Row(
            f"{name}: saves",
            Quantity(our.rate, "/s"),
            Quantity(their.rate, "/s"),
            our.rate / their.rate,
            Floor(least),
            runs,
        ),
        Row(f"{name}: p50", Quantity(our.p50, "s"), Quantity(their.p50, "s"), our.p50 / their.p50),
        Row(f"{name}: p95", Quantity(our.p95, "s"), Quantity(their.p95, "s"), our.p95 / their.p95),
    ]


def _busy(name: str, mine: Sequence[Loaded], least: Sequence[Loaded]) -> str:
    """How much of a core the load took, which must not be what is measured."""
    said = [
        f"{side} server {max(one.server_cpu for one in loads):.0%} "
        f"({min(one.each for one in loads) * 1e3:.2f} ms a save), load "
        f"{max(one.client_cpu for one in loads):.0%}"
        for side, loads in (("our", mine), ("bare", least))
    ]
    return f"{name}: of a core, {'; '.join(said)}"


# -- the rating page


def page(ctx: Context) -> Report:
    """The rating page with 100,000 items in the study: bytes, server time, the next item."""
    items = 5_000 if ctx.quick else 100_000
    rows: list[Row] = []
    notes: list[str] = []
    with databases(ctx) as kinds:
        for kind, place in kinds.items():
            ctx.say(f"{kind}: a study of {items:,} items, {RATERS} raters")
            made = prepared(ctx, place(), people=RATERS, items=items)
            with ours(made) as server:
                ctx.say(f"{kind}: the page, asked for again and again")
                took = asked_for(made, server, 40 if ctx.quick else 200)
                rows += _allowed(f"{kind}, {items:,} items: the page", took, PAGE_SECONDS)
                rows += _next(ctx, kind, made, server, notes)
        ctx.say("conversations of 15 exchanges")
        place = kinds["SQLite"]
        made = prepared(ctx, place(), people=RATERS, items=60, content=long_conversations)
        with ours(made) as server:
            took = asked_for(made, server, 40)
            rows += _allowed("SQLite, 15 exchanges: the page", took, PAGE_SECONDS)
            rows += _wire(made, server, notes)
    return Report(
        f"the rating page, {RATERS} raters in turn, each time with another item",
        rows,
        notes=[
            "the page: from the request to the last byte of the answer, one at a time, on loopback",
            "next item: in Chromium, from Ctrl+Enter to the first frame with the next item's text",
            *notes,
        ],
        headings=("ours", "allowed", "ratio"),
    )


def _allowed(name: str, took: Sequence[float], limit: float) -> list[Row]:
    """The middle and the slow end of some times, beside what is allowed."""
    p50, p95 = (float(one) for one in np.quantile(took, [0.5, 0.95]))
    runs = {"ours": [Run(one) for one in took]}
    most = Floor(1.0, at_most=True)
    return [
        Row(f"{name}, p50", Quantity(p50, "s")),
        Row(f"{name}, p95", Quantity(p95, "s"), Quantity(limit, "s"), p95 / limit, most, runs),
    ]


def _next(ctx: Context, kind: str, made: Prepared, server: Served, notes: list[str]) -> list[Row]:
    number = 5 if ctx.quick else 20
    ctx.say(f"{kind}: {number} items in Chromium")
    try:
        with visiting(server, made, made.names[-1]) as browser:
            took = next_items(browser, f"/s/{made.number}/rate", number)
    except BenchError as error:
        notes.append(f"{kind}, next item: could not be measured: {error}")
        return []
    return _allowed(f"{kind}, {len(made.items):,} items: next item", took, NEXT_SECONDS)


def _wire(made: Prepared, server: Served, notes: list[str]) -> list[Row]:
    try:
        with visiting(server, made, made.names[-1]) as browser:
            found = first_visit(browser, f"/s/{made.number}/rate")
    except BenchError as error:
        notes.append(f"bytes: could not be measured: {error}")
        return []
    told = ", ".join(f"{name} {size / 1e3:.1f}" for name, size in found.items())
    notes.append(f"kB of the first visit: {told}")
    whole = float(sum(found.values()))
    return [
        Row(
            "first visit, page and all it loads",
            Quantity(whole, "B"),
            Quantity(PAGE_BYTES, "B"),
            whole / PAGE_BYTES,
            Floor(1.0, at_most=True),
        )
    ]


# -- beside others


def peers(ctx: Context) -> Report:
    """50 people who store annotations: ours, Label Studio and Potato in the same run."""
    rows: list[Row] = []
    notes: list[str] = []
    checks: list[Check] = []
    seconds, warm_up = (4.0, 1.0) if ctx.quick else (10.0, 2.0)
    with databases(ctx) as kinds:
        mine: dict[str, Loaded] = {}
        for kind, place in kinds.items():
            mine[kind] = _ours_alone(ctx, kind, place(), checks, seconds=seconds, warm_up=warm_up)
        known: dict[tuple[str, str], Callable[[], AbstractContextManager[Visited]]] = {
            ("Potato", "SQLite"): lambda: potato(ctx, FEW),
            **{
                ("Label Studio", kind): partial(label_studio, ctx, FEW, place())
                for kind, place in kinds.items()
            },
        }
        theirs: dict[tuple[str, str], Loaded] = {}
        for (name, kind), visit in known.items():
            where = _called(name, kind)
            ctx.say(f"{where}: getting ready")
            try:
                with visit() as visited:
                    ctx.say(f"{where}: {FEW} people")
                    load = visited.load
                    found = put(visited.server, load, ctx, seconds=seconds, warm_up=warm_up)
            except (BenchError, OSError) as error:
                notes.append(f"{where} could not be measured: {last_line(error)}")
                continue
            theirs[name, kind] = found
            notes.append(_went(where, found))
    for (name, kind), found in theirs.items():
        rows += _beside_peer(_called(name, kind), mine[kind], found)
    if theirs:
        first, fastest = max(theirs.items(), key=lambda one: one[1].rate)
        for kind, our in mine.items():
            rows += _beside_peer(
                f"ours on {kind} beside the fastest ({first[0]})", our, fastest, floors=True
            )
    return Report(
        f"{FEW} people at once, one server process each",
        rows,
        checks,
        notes=[
            "a peer's annotation answers the 15 questions of ours, stored as its own page does "
            "it; ours are drafts with up to 15 answers and a note, and ratings",
            *notes,
        ],
        headings=("ours", "theirs", "ratio"),
    )


def _ours_alone(
    ctx: Context, kind: str, place: str, checks: list[Check], *, seconds: float, warm_up: float
) -> Loaded:
    ctx.say(f"ours on {kind}: {FEW} reviewers")
    items = round(MOST_SAVES * (seconds + warm_up) / FEW / (DRAFTS + 1)) + 2
    made = prepared(ctx, place, people=FEW, items=items)
    with ours(made) as server:
        load = our_load(made, made.names, made.items)
        found = put(server, load, ctx, seconds=seconds, warm_up=warm_up)
        locked = server.complaints()
    checks.append(_checked([found], place, ("rating", "draft"), locked))
    return found


def _called(name: str, kind: str) -> str:
    return f"{name} on {'files' if name == 'Potato' else kind}"


def _beside_peer(name: str, mine: Loaded, theirs: Loaded, *, floors: bool = False) -> list[Row]:
    runs = {"ours": [Run(1 / mine.rate)], "peer": [Run(1 / theirs.rate)]}
    rates = Quantity(mine.rate, "/s"), Quantity(theirs.rate, "/s")
    slow = Quantity(mine.p95, "s"), Quantity(theirs.p95, "s")
    least, most = (TIMES, Floor(1.0, at_most=True)) if floors else (None, None)
    return [
        Row(f"{name}: stored", *rates, mine.rate / theirs.rate, least, runs),
        Row(f"{name}: p95", *slow, mine.p95 / theirs.p95, most),
    ]


def _went(where: str, found: Loaded) -> str:
    """How a peer fared: its errors, as a share of all that was sent."""
    share = found.wrong / (found.wrong + sum(found.done))
    some = max(found.errors, key=lambda one: found.errors[one], default="")
    told = f", mostly {' '.join(some.split())[:100]!r}" if some else ""
    return f"{where}: {found.answers:,} stored, {share:.1%} errors{told}"


PARTS: dict[str, Part] = {"saves": saves, "peers": peers, "page": page}
