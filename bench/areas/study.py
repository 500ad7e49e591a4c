"""Studies: bulk loads and claims, beside what the databases themselves can do."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psycopg
from tests import postgres

from bench.harness import (
    Context,
    Floor,
    Part,
    Quantity,
    Report,
    Row,
    Run,
    best,
    timed,
)
from bench.sheets import SEED
from calibrant import compose
from calibrant.core.item import Conversation, Exchange
from calibrant.core.plan import Plan
from calibrant.core.rubric import Rubric
from calibrant.formats.rubric_file import load_rubric
from calibrant.store import schema
from calibrant.store.dialect import Sqlite
from calibrant.study.collect import Submission
from calibrant.study.handle import Study

TITLE = "studies: loads, claims, and the questions one asks of a large one"

RATERS = ("ann", "bob", "cy")
LOADED = ("assignment", "rating")
"""The tables that an import of ratings fills."""
DIFFERING = 0.08
"""How often a rater gives another answer than the true one."""
BATCH = 25
"""Ratings handed in with one commit."""
HELD = 100
"""Assignments that a worker takes at a time."""
Raw = Callable[[], object]


# -- databases


@contextmanager
def databases(ctx: Context) -> Iterator[dict[str, Callable[[], str]]]:
    """Both kinds by name, each as something that gives the address of a new place."""
    began = postgres.begin_session()
    places: list[Any] = []

    def on_server() -> str:
        fresh = postgres.fresh_database(postgres.server_url())
        places.append(fresh)
        return str(fresh.__enter__())

    numbers = iter(range(1000))
    try:
        yield {
            "SQLite": lambda: str(ctx.work / f"study-{next(numbers)}.db"),
            "PostgreSQL": on_server,
        }
    finally:
        for fresh in places:
            fresh.__exit__(None, None, None)
        if began:
            postgres.end_session()


def columns(table: str) -> str:
    """The columns of a table, in order."""
    return ", ".join(schema.names(schema.metadata.tables[table]))


@dataclass(frozen=True, slots=True)
class RawRows:
    """The rows of tables, taken out of a filled database to be loaded into another."""

    place: str
    rows: dict[str, Any]

    @classmethod
    def of(cls, place: str) -> RawRows:
        """All rows that an import of ratings made."""
        if "://" in place:
            with psycopg.connect(place) as server:
                return cls(place, {name: _copied_out(server, name) for name in LOADED})
        with closing(sqlite3.connect(place)) as file:
            found = {name: file.execute(f"SELECT {columns(name)} FROM {name}") for name in LOADED}
            return cls(place, {name: cursor.fetchall() for name, cursor in found.items()})

    def load(self, place: str) -> None:
        """All of them in one transaction, as the driver loads in bulk, into the same tables."""
        if "://" in place:
            with psycopg.connect(place) as server:
                for name, blocks in self.rows.items():
                    into = f"COPY {name} ({columns(name)}) FROM STDIN".encode()
                    with server.cursor() as cursor, cursor.copy(into) as copy:
                        for block in blocks:
                            copy.write(block)
            return
        with closing(Sqlite(Path(place)).connect()) as file:
            file.execute("BEGIN IMMEDIATE")
            for name, rows in self.rows.items():
                file.executemany(_insert(name), rows)
            file.execute("COMMIT")


def _copied_out(server: psycopg.Connection[Any], name: str) -> list[bytes]:
    out = f"COPY {name} ({columns(name)}) TO STDOUT".encode()
    with server.cursor() as cursor, cursor.copy(out) as copy:
        text = b"".join(bytes(block) for block in copy)
    return [text[at : at + 1_000_000] for at in range(0, len(text), 1_000_000)]


def _insert(name: str) -> str:
    signs = ", ".join("?" * len(schema.metadata.tables[name].columns))
    return f"INSERT INTO {name} ({columns(name)}) VALUES ({signs})"


# -- a large study


def conversations(number: int) -> Iterator[Conversation]:
    """Short ones, all different."""
    for at in range(number):
        said = (
            Exchange(user=f"Case {at}: my week was long.", assistant="That sounds tiring."),
            Exchange(user="It was, and I slept badly.", assistant="What would help tonight?"),
        )
        yield Conversation(id=f"c-{at:06}", exchanges=said)


def ratings_table(rubric: Rubric, items: int) -> pl.DataFrame:
    """Three raters on every item, who differ now and then; safety criteria hardly ever fail."""
    random = np.random.default_rng(SEED)
    names = pl.Series("item", [f"c-{at:06}" for at in range(items)])
    true = random.random((len(rubric.criteria), items)) < 0.85
    frames = []
    for rater in RATERS:
        answers = true ^ (random.random(true.shape) < DIFFERING)
        texts = {
            name: np.where(answers[row], "YES", "NO")
            for row, name in enumerate(rubric.criterion_ids)
        }
        frames.append(pl.DataFrame({"item": names, "rater": [rater] * items, **texts}))
    return pl.concat(frames)


def empty_study(place: str, rubric: Rubric, items: int) -> Study:
    """A study with items and raters, and no round yet."""
    study = compose.create_study(place, "large", rubric, lead="lena")
    study.add_items(conversations(items))
    for name in RATERS:
        study.add_member(name)
    return study


def scale(ctx: Context) -> Report:
    """A study of 100,000 items × 3 raters × 15 criteria: loads beside the database's own."""
    items = 5_000 if ctx.quick else 100_000
    rubric = load_rubric("coaching-conversation")
    table = ratings_table(rubric, items)
    rows: list[Row] = []
    with databases(ctx) as kinds:
        for kind, place in kinds.items():
            rows += _scale_of(ctx, kind, place, rubric, table, items)
    return Report(
        f"{items:,} items × {len(RATERS)} raters × {len(rubric.criteria)} criteria",
        rows,
        notes=[
            "raw: the same rows, made beforehand, into the same tables with their keys, indices "
            "and triggers, in one transaction (executemany, COPY)",
            "an import reads and checks every answer, and writes an assignment beside each rating",
        ],
        headings=("ours", "raw", "times slower"),
    )


def _scale_of(
    ctx: Context,
    kind: str,
    place: Callable[[], str],
    rubric: Rubric,
    table: pl.DataFrame,
    items: int,
) -> list[Row]:
    rounds = 2 if ctx.quick else 1
    made: list[Study] = []
    ours, raw = [], []
    for _ in range(rounds):
        ctx.say(f"{kind}: items")
        study = empty_study(place(), rubric, items)
        ctx.say(f"{kind}: ratings")
        ours.append(timed(lambda study=study: study.import_ratings(table)))  # type: ignore[misc]
        made.append(study)
        ctx.say(f"{kind}: the same rows, raw")
        rows = RawRows.of(_address(study))
        target = place()
        with closing_store(empty_study(target, rubric, items)) as bare:
            _plan_nothing(bare, study)
        raw.append(timed(lambda rows=rows, target=target: rows.load(target)))  # type: ignore[misc]
    study = made[-1]
    for other in made[:-1]:
        other.store.close()
    took, peer = best(ours), best(raw)
    out = [
        Row(
            f"{kind}: import of ratings",
            Quantity(table.height / took, "/s"),
            Quantity(table.height / peer, "/s"),
            took / peer,
            Floor(4, at_most=True),
            {"ours": ours, "raw": raw},
        )
    ]
    bundle = ctx.work / f"bundle-{kind}"
    ctx.say(f"{kind}: export")
    run = timed(lambda: compose.export_study(study, bundle))
    records = items + 2 * table.height
    out.append(Row(f"{kind}: export, records", Quantity(records / run.seconds, "/s")))
    asked: dict[str, Callable[[], object]] = {
        "status": study.status,
        "agreement": study.agreement,
        "queue": study.queue,
        "finals": study.finals,
        "verdicts": study.verdicts,
    }
    for name, work in asked.items():
        ctx.say(f"{kind}: {name}")
        out.append(Row(f"{kind}: {name}", Quantity(timed(work).seconds, "s")))
    ctx.say(f"{kind}: import of the bundle")
    target = place()
    began = timed(lambda: _bring_in(target, bundle))
    out.append(Row(f"{kind}: bundle in, records", Quantity(records / began.seconds, "/s")))
    study.store.close()
    return out


def _bring_in(place: str, bundle: Path) -> None:
    compose.import_study(place, bundle).store.close()


@contextmanager
def closing_store(study: Study) -> Iterator[Study]:
    """A study whose store is closed afterwards."""
    try:
        yield study
    finally:
        study.store.close()


def _address(study: Study) -> str:
    """Where it is, password and all."""
    dialect: Any = study.store.dialect  # type: ignore[attr-defined]
    if isinstance(dialect, Sqlite):
        return str(dialect.path)
    url = dialect.url.set(drivername="postgresql")
    return str(url.render_as_string(hide_password=False))


def _plan_nothing(bare: Study, like: Study) -> None:
    """The rounds that rows refer to."""
    rounds = like.store.read(lambda tx: tx.rounds(like.number))

    def work(tx: Any) -> None:
        for one in rounds:
            tx.add_round(bare.number, one)

    bare.store.write(work)


# -- claim and submit


def throughput(ctx: Context) -> Report:
    """Claim and submit in batches, beside bare inserts of the same rows."""
    number = 500 if ctx.quick else 5_000
    rubric = load_rubric("coaching-conversation")
    rows: list[Row] = []
    with databases(ctx) as kinds:
        for kind, place in kinds.items():
            rows += _throughput_of(ctx, kind, place, rubric, number)
    return Report(
        f"{number:,} ratings by one worker, {BATCH} handed in with a commit, {HELD} held at a time",
        rows,
        notes=[
            "raw: the rating rows alone, made beforehand, one commit for each, as fast as disks "
            "sync; in the row below it, one commit for as many as ours",
            "ours: claims, forms read and checked, ratings, assignments and leases",
        ],
        headings=("ours", "raw", "share"),
    )


def _throughput_of(
    ctx: Context, kind: str, place: Callable[[], str], rubric: Rubric, number: int
) -> list[Row]:
    sides: dict[str, list[Run]] = {"ours": [], "raw": [], "one by one": []}
    for _ in range(2 if ctx.quick else 3):
        ctx.say(f"{kind}: claim and submit")
        target = place()
        study = empty_study(target, rubric, number)
        study.plan_round("main", plan=Plan(way="everyone"), raters=["ann"])
        study.open_round(1, override="a benchmark")
        ann = compose.open_study(target, "large", actor="ann")
        ann.acknowledge()
        sides["ours"].append(timed(lambda ann=ann: _work_off(ann, rubric)))  # type: ignore[misc]
        ann.store.close()
        rows = _rating_rows(target)
        assert len(rows) == number
        for side, size in (("raw", BATCH), ("one by one", 1)):
            ctx.say(f"{kind}: {side}")
            bare = place()
            with closing_store(empty_study(bare, rubric, number)) as other:
                _plan_nothing(other, study)
            some = rows if size > 1 else rows[: max(number // 10, 50)]
            run = timed(lambda bare=bare, some=some, size=size: _insert_raw(bare, some, size))  # type: ignore[misc]
            sides[side].append(Run(run.seconds * number / len(some)))
        study.store.close()
    ours, raw, single = (best(sides[name]) for name in sides)
    rate = Quantity(number / ours, "/s")
    return [
        Row(
            f"{kind}: claim and submit, commits of {BATCH}",
            rate,
            Quantity(number / single, "/s"),
            single / ours,
            Floor(0.5),
            sides,
        ),
        Row(
            f"{kind}: the same beside raw commits of {BATCH}",
            rate,
            Quantity(number / raw, "/s"),
            raw / ours,
        ),
    ]


def _work_off(study: Study, rubric: Rubric) -> None:
    form = {"answers": dict.fromkeys(rubric.criterion_ids, "YES")}
    while tasks := study.claim(token="worker", limit=HELD):
        for at in range(0, len(tasks), BATCH):
            part = [
                Submission(
                    key=task.key,
                    form=form,
                    request=f"w:{task.key.item}",
                    version=task.version,
                    lease=task.lease,
                )
                for task in tasks[at : at + BATCH]
            ]
            study.submit_many(part)


def _rating_rows(place: str) -> list[tuple[Any, ...]]:
    wanted = f"SELECT {columns('rating')} FROM rating"
    if "://" in place:
        with psycopg.connect(place) as server:
            return server.execute(wanted.encode()).fetchall()
    with closing(sqlite3.connect(place)) as file:
        return file.execute(wanted).fetchall()


def _insert_raw(place: str, rows: Sequence[tuple[Any, ...]], size: int) -> None:
    parts = [rows[at : at + size] for at in range(0, len(rows), size)]
    if "://" in place:
        into = _insert("rating").replace("?", "%s").encode()
        with psycopg.connect(place) as server:
            for part in parts:
                server.cursor().executemany(into, part)
                server.commit()
        return
    with closing(Sqlite(Path(place)).connect()) as file:
        for part in parts:
            file.execute("BEGIN IMMEDIATE")
            file.executemany(_insert("rating"), part)
            file.execute("COMMIT")


PARTS: dict[str, Part] = {"scale": scale, "throughput": throughput}
