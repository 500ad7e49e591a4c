"""Broken bundles and broken tables of scores: taken whole, or refused with nothing kept."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from tests.fuzz.fuzz_kit import (
    CASES,
    CHUNKS,
    ODD_TEXTS,
    ODD_VALUES,
    Findings,
    broken_bytes,
    cases,
    dump,
    odd_node,
    promise,
    promise_fault,
)
from tests.study.bundle_kit import full_study, put, resealed
from tests.study.study_kit import PLANS, new_study, panel, plan_item

import calibrant
from calibrant import RecordError, SourceError, Study
from calibrant.core.errors import CalibrantError
from calibrant.formats import bundle
from calibrant.formats.bundle_read import Verified, verified
from calibrant.formats.bundle_tables import check_tables
from calibrant.store.open import open_store
from calibrant.study.contents import follows
from calibrant.study.open import enter
from calibrant.study.restore import restore

MORNING = datetime(2026, 4, 1, tzinfo=UTC)
CASES_HERE = min(CASES, 2000) if "CALIBRANT_FUZZ_CASES" in os.environ else 240
"""A case packs, checks and restores a whole study, so there are fewer than for other readers."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a good bundle."""
    folder = tmp_path_factory.mktemp("origin") / "bundle"
    store = open_store(":memory:")
    calibrant.export_study(full_study(store), folder)
    store.close()
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def broken(rng: Random, files: dict[str, bytes]) -> dict[str, bytes]:
    """A bundle with something wrong in it, most often behind checksums that are right."""
    out = dict(files)
    lines = [name for name in files if name.endswith(".jsonl")]
    match rng.randrange(8):
        case 0:
            name = rng.choice(list(files))
            out[name] = broken_bytes(rng, files[name], text=not name.endswith(".parquet"))
            return out
        case 1:
            del out[rng.choice(list(files))]
            return out
        case 2:
            name = rng.choice((bundle.MANIFEST, bundle.STUDY, "rubrics/0001.json"))
            tree = odd_node(rng, json.loads(files[name]))
            out[name] = (dump(rng, tree) + "\n").encode("utf-8", "surrogatepass")
        case 3:
            name = rng.choice(lines)
            out[name] = broken_bytes(rng, files[name], text=True)
        case _:
            name = rng.choice(lines)
            parts = files[name].splitlines(keepends=True)
            at = rng.randrange(len(parts))
            node = odd_node(rng, json.loads(parts[at]))
            try:
                parts[at] = bundle.as_line(node)
            except (TypeError, ValueError):
                parts[at] = (dump(rng, node) + "\n").encode("utf-8", "surrogatepass")
            out[name] = b"".join(parts)
    with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        resealed(out)
    return out


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_broken_bundle_is_refused_or_is_a_study(
    chunk: int, files: dict[str, bytes], tmp_path: Path
) -> None:
    findings = Findings("bundle")
    for number in range(chunk, CASES_HERE, CHUNKS):
        with findings.case(number):
            rng = findings.random(number)
            made = broken(rng, files)
            name = rng.choice(("b", "b.zip"))
            target = tmp_path / f"{number}-{name}"
            findings.data = {n: d for n, d in made.items() if d != files.get(n)}
            _one(put(target, made), same=made == files)
            _clear(target)
    findings.settle()


def _clear(target: Path) -> None:
    for path in target.parent.glob(f"{target.name}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _one(path: Path, same: bool) -> None:
    try:
        with verified(path) as found:
            _take(found, path)
    except (RecordError, SourceError) as error:
        promise(not same, "a good bundle is taken", error)
        for fault in getattr(error, "faults", ()):
            promise_fault(fault)
        promise("\n" not in str(error) or isinstance(error, RecordError), "one line", error)


def _take(found: Verified, path: Path) -> None:
    store = open_store(":memory:")
    try:
        restore(store, found.contents, unchanged=found.unchanged)
    except (RecordError, SourceError):
        left = store.read(lambda tx: tx.studies())
        promise(not left, "nothing is left of a refused bundle", left)
        raise
    else:
        _comes_out_again(store, found.hash, path)
        _tables_are_looked_at(store, found)
    finally:
        store.close()


def _comes_out_again(store: Any, hash: str, path: Path) -> None:
    """What was taken is a study: it can be looked at, and leaves with the hash it came with."""
    ((number, record),) = store.read(lambda tx: tx.studies())
    lead = next(
        one.name
        for one in store.read(lambda tx: tx.members(number))
        if "lead" in one.roles and one.left_at is None
    )
    study = Study(store, number, record, lead, lambda: MORNING)
    try:
        made = calibrant.export_study(study, path.parent / f"{path.name}.out")
    except CalibrantError:
        return  # a lead who rates now may not
    promise(made.hash == hash, "the hash stays the same", made.hash, hash)
    study.status()


def _tables_are_looked_at(store: Any, found: Verified) -> None:
    """Broken tables are told, never thrown at anybody."""
    session = enter(store, found.contents.study.name, actor=None, clock=lambda: MORNING)
    with suppress(SourceError):
        store.read(lambda tx: check_tables(found, follows(tx, session)))


# -- tables of scores


@pytest.fixture(scope="module")
def study() -> Iterator[Study]:
    store = open_store(":memory:")
    made = new_study(store)
    made.add_items([plan_item(number) for number in range(4)])
    panel(made, "ann", "bob")
    yield made
    store.close()


def table(rng: Random) -> pl.DataFrame:
    """Ratings of four items by two raters, with things in them that nobody expects."""
    rows: list[dict[str, Any]] = [
        {"item": f"plan-{at:03}", "rater": rater, **dict.fromkeys(PLANS.criterion_ids, "3")}
        for at in range(4)
        for rater in ("ann", "bob")
    ]
    for row in rows:
        if rng.random() < 0.3:
            row["occasion"] = rng.choice([1, 2, 0, -1, "1", None, 2**40])
        if rng.random() < 0.3:
            row["submitted_at"] = rng.choice(["2026-03-02", "2026-03-02T10:00:00Z", "soon", "", 7])
    for _ in range(rng.randrange(4)):
        row = rng.choice(rows)
        odd = rng.choice((*ODD_TEXTS, *ODD_VALUES))
        row[rng.choice([*row, *ODD_TEXTS[:20]])] = odd
    if rng.random() < 0.2:
        rows.append(dict(rng.choice(rows)))
    if rng.random() < 0.1:
        rows = rows[: rng.randrange(2)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    if rng.random() < 0.1 and names:
        names.remove(rng.choice(names))
    columns = []
    for name in names:
        values = [row.get(name) for row in rows]
        try:
            columns.append(pl.Series(name, values, strict=rng.random() < 0.3))
        except (TypeError, OverflowError, pl.exceptions.PolarsError, ValueError):
            texts = [None if value is None else str(value)[:50] for value in values]
            columns.append(pl.Series(name, texts, dtype=pl.String))
    return pl.DataFrame(columns)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_table_of_scores_is_taken_whole_or_told_to_be_wrong(chunk: int, study: Study) -> None:
    findings = Findings("import-scores")
    for number in cases(chunk):
        with findings.case(number):
            frame = table(findings.random(number))
            findings.data = frame.to_dicts()
            before = study.store.read(lambda tx: len(tx.rounds(study.number)))
            try:
                loaded = study.import_ratings(frame, kind="test")
            except CalibrantError as error:
                for fault in getattr(error, "faults", ()):
                    promise_fault(fault)
                after = study.store.read(lambda tx: len(tx.rounds(study.number)))
                promise(after == before, "nothing is left of a refused table")
                continue
            promise(loaded.ratings == frame.height, "every row is a rating")
            kept = study.store.read(
                lambda tx: list(tx.ratings(study.number, round=loaded.round))  # noqa: B023
            )
            promise(len(kept) == loaded.ratings, "what is told is kept", len(kept))
            for one in kept:
                promise(set(one.answers) <= set(PLANS.criterion_ids), "only criteria", one)
    findings.settle()
