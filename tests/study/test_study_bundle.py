"""A study leaves as a bundle and comes back the same, on every database; nothing else comes in."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook
from tests.study.bundle_kit import ITEMS, full_study, put, rewritten
from tests.study.study_kit import as_, new_study, panel, plan_item, rate_all, same

import calibrant
from calibrant import RecordError, SourceError, Study, StudyError
from calibrant.core.errors import CalibrantError, Refused
from calibrant.core.study import Assignment, Key, Rating
from calibrant.formats import bundle, bundle_read, bundle_tables
from calibrant.formats.bundle_write import write_bundle
from calibrant.formats.writers import FORMULA, flat, unquoted
from calibrant.ports.store import Store
from calibrant.store.open import open_store
from calibrant.study.contents import Contents, Tables
from calibrant.study.pseudonyms import Pseudonyms


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Study, Path, str]]:
    """A full study, the folder it was exported to, and its hash."""
    folder = tmp_path_factory.mktemp("bundles")
    store = open_store(str(folder / "origin.db"), create=True)
    study = full_study(store)
    made = calibrant.export_study(study, folder / "bundle")
    yield study, folder / "bundle", made.hash
    store.close()


def everything(study: Study) -> dict[str, list[Any]]:
    def take(contents: Contents, tables: Tables) -> dict[str, list[Any]]:
        return {
            "members": list(contents.members),
            "rounds": list(contents.rounds),
            "items": list(contents.items()),
            "assignments": list(contents.assignments()),
            "ratings": list(contents.ratings()),
            "journal": list(contents.journal()),
        }

    return study.contents(take)


# -- there and back


def test_a_study_comes_back_the_same_on_each_database_in_turn(
    origin: tuple[Study, Path, str], tmp_path: Path, postgres_place: str
) -> None:
    study, folder, hash = origin
    before = everything(study)
    stops = (postgres_place, str(tmp_path / "second.db"), str(tmp_path / "third.db"))
    source = folder
    for number, place in enumerate(stops):
        there = calibrant.import_study(place, source)
        try:
            assert everything(there) == before
            source = tmp_path / (f"{number}.zip" if number % 2 else f"{number}")
            assert calibrant.export_study(there, source).hash == hash
            assert there.finals().equals(study.finals())
            assert there.verdicts().equals(study.verdicts())
            assert there.agreement(round=2).to_dict() == study.agreement(round=2).to_dict()
            assert there.status().flags == study.status().flags
        finally:
            there.store.close()


def test_each_store_exports_and_verifies(store: Store, tmp_path: Path) -> None:
    study = full_study(store)
    made = calibrant.export_study(study, tmp_path / "b.zip")
    found = calibrant.verify_bundle(tmp_path / "b.zip")
    assert found["hash"] == made.hash and found["study"] == "gardeners"
    assert found["counts"] == made.counts
    assert made.counts["items"] == ITEMS + 1 and made.counts["rubrics"] == 2
    assert calibrant.export_study(study, tmp_path / "again").hash == made.hash


def test_the_name_is_no_part_of_the_hash_and_a_taken_one_is_refused(
    origin: tuple[Study, Path, str], tmp_path: Path
) -> None:
    _, folder, hash = origin
    place = str(tmp_path / "a.db")
    calibrant.import_study(place, folder).store.close()
    with pytest.raises(StudyError, match="already"):
        calibrant.import_study(place, folder)
    other = calibrant.import_study(place, folder, name="other")
    assert calibrant.export_study(other, tmp_path / "b").hash == hash
    other.store.close()
    with pytest.raises(StudyError, match="must be a text"):
        calibrant.import_study(place, folder, name="\n")


def test_an_imported_study_goes_on(origin: tuple[Study, Path, str], tmp_path: Path) -> None:
    _, folder, _ = origin
    there = calibrant.import_study(str(tmp_path / "a.db"), folder)
    there.open_round(3, override="for the test")
    assert rate_all(there, "ann", same("3")) == 1
    assert there.journal()[-1].number > 1
    there.store.close()


def test_what_is_in_a_bundle(origin: tuple[Study, Path, str]) -> None:
    study, folder, hash = origin
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    rubrics = {"rubrics/0001.json", "rubrics/0002.json"}
    assert names == bundle.FIXED_NAMES | rubrics
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert manifest["hash"] == hash and manifest["left_out"] == ["drafts", "leases"]
    ratings = [json.loads(line) for line in (folder / "ratings.jsonl").read_bytes().splitlines()]
    assert {one["revision"] for one in ratings} == {1, 2}
    assert "lease" not in (folder / "assignments.jsonl").read_text("utf-8")
    long = pl.read_parquet(folder / "tables/ratings.parquet")
    seen = study.ratings()
    assert long.height == seen.height
    assert set(long.columns) >= {"round", "item", "rater", "criterion", "answer"}
    finals = pl.read_parquet(folder / "tables/finals.parquet")
    assert finals.height == study.finals().height
    assert pl.read_parquet(folder / "tables/verdicts.parquet").height == study.verdicts().height
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_leases_and_drafts_do_not_change_the_hash(store: Store, tmp_path: Path) -> None:
    study = new_study(store)
    study.add_items([plan_item(number) for number in range(10)])
    panel(study, "ann", "bob")
    study.plan_round("calibration")
    study.open_round(1)
    first = calibrant.export_study(study, tmp_path / "a").hash
    ann = as_(study, "ann")
    ann.acknowledge()
    second = calibrant.export_study(study, tmp_path / "b").hash
    assert second != first
    (task,) = ann.claim(token="a secret token")
    assert calibrant.export_study(study, tmp_path / "c").hash == second
    ann.save_draft(task.key, {"note": "not yet"}, version=task.version, token=task.lease)
    calibrant.export_study(study, tmp_path / "d")
    for path in (tmp_path / "d").rglob("*"):
        if path.is_file():
            assert b"a secret token" not in path.read_bytes()
            assert b"not yet" not in path.read_bytes()


def test_an_empty_study_leaves_too(store: Store, tmp_path: Path) -> None:
    made = calibrant.export_study(new_study(store), tmp_path / "a")
    there = calibrant.import_study(str(tmp_path / "b.db"), tmp_path / "a")
    assert calibrant.export_study(there, tmp_path / "b.zip").hash == made.hash
    there.store.close()


def test_a_study_with_a_dropped_round_leaves_too(store: Store, tmp_path: Path) -> None:
    study = new_study(store)
    study.add_items([plan_item(number) for number in range(3)])
    panel(study, "ann", "bob")
    study.plan_round("main")
    study.drop_round(1, reason="by mistake")
    calibrant.export_study(study, tmp_path / "a")
    calibrant.verify_bundle(tmp_path / "a")


# -- who may


def test_only_a_lead_exports(origin: tuple[Study, Path, str], tmp_path: Path) -> None:
    study, _, _ = origin
    for name in ("ann", "ada", "judge"):
        with pytest.raises(Refused):
            calibrant.export_study(as_(study, name), tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_lead_who_rates_exports_nothing_before_their_rounds_are_closed(
    store: Store, tmp_path: Path
) -> None:
    study = new_study(store)
    study.add_items([plan_item(number) for number in range(12)])
    panel(study, "ann")
    study.set_roles("lena", ("lead", "reviewer"))
    study.plan_round("calibration")
    with pytest.raises(Refused, match="have not rated them"):
        calibrant.export_study(study, tmp_path / "x")
    study.open_round(1)
    rate_all(study, "ann", same("3"))
    for verb in (calibrant.export_study, calibrant.export_tables):
        with pytest.raises(Refused, match="round 1 is open"):
            verb(study, tmp_path / "x", pseudonyms=True)
    rate_all(study, "lena", same("3"))
    with pytest.raises(Refused, match="round 1 is open"):
        calibrant.export_study(study, tmp_path / "x")
    assert not list(tmp_path.glob("x*"))
    assert not [one for one in study.journal() if one.kind == "pseudonyms"]
    study.close_round(1)
    calibrant.export_study(study, tmp_path / "x")


def test_what_a_lead_never_came_to_rate_does_not_keep_the_data_in(
    store: Store, tmp_path: Path
) -> None:
    study = new_study(store)
    study.add_items([plan_item(number) for number in range(12)])
    panel(study, "ann", "bob")
    study.set_roles("lena", ("lead", "reviewer"))
    study.plan_round("main")
    study.open_round(1, override="for the test")
    study.redact("plan-001", reason="asked for")
    for name in ("ann", "bob", "lena"):
        if name != "lena":
            rate_all(study, name, same("3"))
    study.close_round(1, reason="lena was ill")
    calibrant.export_study(study, tmp_path / "x")
    finals = pl.read_parquet(tmp_path / "x/tables/finals.parquet")
    assert finals["item"].n_unique() == 11  # all that was rated, though lena rated none of it
    assert calibrant.verify_bundle(tmp_path / "x")["tables"] == "made anew"
    assert study.finals().is_empty()  # on the screen she sees what a rater sees


# -- whole or not at all


def test_nothing_is_written_over_and_nothing_is_left_half_done(
    origin: tuple[Study, Path, str], tmp_path: Path
) -> None:
    study, _, _ = origin
    (tmp_path / "there").mkdir()
    with pytest.raises(SourceError, match="already"):
        calibrant.export_study(study, tmp_path / "there")
    with pytest.raises(SourceError, match="does not exist"):
        calibrant.export_study(study, tmp_path / "no" / "where")

    def broken(contents: Contents, tables: Tables) -> None:
        def ratings() -> Iterator[Rating]:
            yield next(iter(contents.ratings()))
            raise RuntimeError("the wire was cut")

        cut = Contents(
            **{n: getattr(contents, n) for n in Contents.__slots__} | {"ratings": ratings}
        )
        for name in ("cut", "cut.zip"):
            with pytest.raises(RuntimeError):
                write_bundle(cut, tables, tmp_path / name, exported_at="", version="")

    study.contents(broken)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["there"]


def test_memory_does_not_grow_with_the_number_of_ratings(
    origin: tuple[Study, Path, str], tmp_path: Path
) -> None:
    study, _, _ = origin

    def peak(contents: Contents, tables: Tables, count: int) -> int:
        def ratings() -> Iterator[Rating]:
            one = next(iter(contents.ratings()))
            return (one for _ in range(count))

        def assignments() -> Iterator[Assignment]:
            key = Key(round=1, item="plan-001", rater="ann")
            return (Assignment(key=key, position=at) for at in range(count))

        fields = {name: getattr(contents, name) for name in Contents.__slots__}
        many = Contents(**{**fields, "ratings": ratings, "assignments": assignments})
        tracemalloc.start()
        write_bundle(many, tables, tmp_path / f"{count}.zip", exported_at="", version="")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    small, large = study.contents(lambda c, t: (peak(c, t, 500), peak(c, t, 20_000)))
    assert large < small + 2_000_000


# -- bundles that are none


def changed_line(name: str, at: int, /, **fields: Any) -> Callable[[dict[str, bytes]], None]:
    """A change of some fields of one record."""

    def change(files: dict[str, bytes]) -> None:
        lines = files[name].splitlines(keepends=True)
        record = json.loads(lines[at])
        record.update(fields)
        lines[at] = bundle.as_line(record)
        files[name] = b"".join(lines)

    return change


def replaced(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new, 1)

    return change


def one_request(files: dict[str, bytes]) -> None:
    first = json.loads(files["ratings.jsonl"].splitlines()[0])
    changed_line("ratings.jsonl", 1, request=first["request"])(files)


UNSOUND: dict[str, tuple[Callable[[dict[str, bytes]], None], str]] = {
    "answer off the scale": (
        changed_line("ratings.jsonl", 0, answers={"usefulness": "9"}), "is no answer to it"
    ),
    "unknown criterion": (
        changed_line("ratings.jsonl", 0, answers={"beauty": "1"}), "no such criterion"
    ),
    "unknown item": (changed_line("ratings.jsonl", 3, item="zzz"), "there is no item"),
    "unknown rater": (changed_line("assignments.jsonl", 3, rater="zoe"), "there is no member"),
    "unknown round": (changed_line("assignments.jsonl", 0, round=9), "there is no round 9"),
    "other rubric": (changed_line("ratings.jsonl", 0, rubric="sha256:0"), "not the rubric of its"),
    "other item hash": (changed_line("ratings.jsonl", 0, item_hash="sha256:0"), "not the hash of"),
    "item changed": (
        changed_line(
            "items.jsonl", 0, content={"actions": [{"action": "x"}], "profile": {"goal": "y"}}
        ),
        "not that of the content",
    ),
    "item no plan": (changed_line("items.jsonl", 0, content={"x": 1}), "not what a plan looks"),
    "position": (changed_line("items.jsonl", 1, position=7), "2 comes next"),
    "journal number": (changed_line("journal.jsonl", 1, number=7), "2 comes next"),
    "journal body": (changed_line("journal.jsonl", 1, body={}), "has to say this"),
    "nobody leads": (changed_line("members.jsonl", 0, roles=["viewer"]), "nobody leads"),
    "time": (changed_line("ratings.jsonl", 0, submitted_at="yesterday"), "is no time"),
    "seed": (replaced("study.json", b'"seed":7', b'"seed":"7"'), "manifest"),
    "type": (changed_line("ratings.jsonl", 0, round="1"), "Expected `int`"),
    "surplus field": (changed_line("ratings.jsonl", 0, colour="red"), "unknown field"),
    "nul": (changed_line("ratings.jsonl", 0, request="a\0b"), "NUL"),
    "key twice": (
        replaced("ratings.jsonl", b'"answers":', b'"answers":{},"answers":'), "as export writes it"
    ),
    "not a number": (replaced("ratings.jsonl", b'"occasion":1', b'"occasion":NaN'), "not JSON"),
    "spaces": (replaced("rounds.jsonl", b'"kind":', b'"kind": '), "as export writes it"),
    "no end of line": (lambda files: files.update({"ratings.jsonl": files["ratings.jsonl"][:-1]}),
                       "as export writes it"),
    "empty line": (replaced("ratings.jsonl", b"\n", b"\n\n"), "not JSON"),
    "cut": (
        lambda files: files.update({"ratings.jsonl": files["ratings.jsonl"][:-50]}), "not JSON"
    ),
    "line twice": (
        lambda files: files.update(
            {"members.jsonl": files["members.jsonl"] + files["members.jsonl"].splitlines(True)[1]}
        ),
        "member twice",
    ),
    "deep": (
        replaced("rounds.jsonl", b'"plan":{', b'"plan":{"a":' + b"[" * 9000 + b"]" * 9000 + b","),
        "not JSON",
    ),
    "counts": (replaced("manifest.json", b'"rounds": 3', b'"rounds": 4'), "counts"),
    "rubric": (replaced("rubrics/0001.json", b'"criteria":[', b'"criteria":[1,'), "no rubric"),
    "done and not rated": (
        lambda files: files.update(
            {"ratings.jsonl": b"".join(files["ratings.jsonl"].splitlines(True)[:-1])}
        ),
        "assignments that are done and ratings for",
    ),
    "rated and withdrawn": (
        changed_line("assignments.jsonl", 0, state="withdrawn"),
        "has 9 assignments that are done and ratings for 10",
    ),
    "other occasion": (
        changed_line("assignments.jsonl", 0, occasion=2), "or for others than those"
    ),
    "rated before the round": (
        changed_line("rounds.jsonl", 0, opened_at=None), "round 1 was never open"
    ),
    "open in a closed round": (
        changed_line("assignments.jsonl", 0, state="open"), "is open, and round 1 is closed"
    ),
    "settled off the scale": (
        replaced("journal.jsonl", b'"unclear":false,"value":"2"', b'"unclear":false,"value":"9"'),
        "'9' is no answer to",
    ),
    "settled with an error": (
        replaced("journal.jsonl", b'"value":"2"', b'"value":"ERROR"'), "'ERROR' is no answer to"
    ),
    "frozen otherwise": (
        replaced("journal.jsonl", b"as ann saw it", b"as bob saw it"), "not the hash of what was"
    ),
    "frozen with nothing": (
        replaced("journal.jsonl", b'"of":', b'"of":1'), "kept with no check-in"
    ),
    "request twice": (one_request, "there already"),
}  # fmt: skip


@pytest.mark.parametrize("change, told", UNSOUND.values(), ids=UNSOUND)
def test_records_that_make_no_study_are_refused_whole(
    origin: tuple[Study, Path, str],
    tmp_path: Path,
    change: Callable[[dict[str, bytes]], None],
    told: str,
) -> None:
    _, folder, _ = origin
    bad = rewritten(folder, tmp_path / "bad", change)
    place = str(tmp_path / "a.db")
    open_store(place, create=True).close()
    with pytest.raises((RecordError, SourceError), match=re.escape(told)):
        calibrant.import_study(place, bad)
    store = open_store(place)
    assert store.read(lambda tx: tx.studies()) == []
    store.close()


@pytest.mark.parametrize("pseudonyms", [False, True], ids=["plain", "pseudonyms"])
@pytest.mark.parametrize("kind", bundle.TABLES)
def test_tables_follow_from_the_records(
    origin: tuple[Study, Path, str], tmp_path: Path, kind: str, pseudonyms: bool
) -> None:
    study, folder, hash = origin
    if pseudonyms:
        study = calibrant.import_study(str(tmp_path / "a.db"), folder)
        folder = tmp_path / "p"
        hash = calibrant.export_study(study, folder, pseudonyms=True).hash
        study.store.close()
    assert calibrant.verify_bundle(folder) | {"hash": hash, "tables": "made anew"} == (
        calibrant.verify_bundle(folder)
    )
    name = bundle.table_name(kind)
    frame = pl.read_parquet(folder / name)
    column = {"ratings": "answer", "finals": "answer", "verdicts": "exact_mean"}[kind]
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    calibrant.verify_bundle(written(folder, tmp_path / "shuffled", name, shuffled))
    for at, changed in enumerate(
        (
            frame.with_columns(pl.lit("5").alias(column)),
            frame.head(frame.height - 1),
            pl.concat([frame, frame.head(1)]),
            frame.drop(column),
            frame.with_columns(note=pl.lit("x")),
        )
    ):
        with pytest.raises(SourceError, match=f"{name} does not follow from the records"):
            calibrant.verify_bundle(written(folder, tmp_path / f"bad{at}", name, changed))
    torn = rewritten(folder, tmp_path / "torn", lambda files: files.update({name: b"PAR1"}))
    with pytest.raises(SourceError, match="not a readable Parquet file"):
        calibrant.verify_bundle(torn)


def written(folder: Path, target: Path, name: str, frame: pl.DataFrame) -> Path:
    """The bundle with another table, under a manifest that agrees."""
    data = io.BytesIO()
    frame.write_parquet(data)
    return rewritten(folder, target, lambda files: files.update({name: data.getvalue()}))


def test_tables_of_very_many_ratings_are_told_to_be_unread(
    origin: tuple[Study, Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_tables, "MOST_RATINGS", 3)
    assert calibrant.verify_bundle(origin[1])["tables"] == "checksums"


def test_all_faults_are_told_at_once(origin: tuple[Study, Path, str], tmp_path: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        for number in (0, 4, 9):
            changed_line("ratings.jsonl", number, answers={"usefulness": "9"})(files)

    with pytest.raises(RecordError) as found:
        calibrant.verify_bundle(rewritten(origin[1], tmp_path / "bad", change))
    assert [fault.record for fault in found.value.faults] == [1, 5, 10]


@pytest.mark.parametrize("packed", ["folder", "archive"])
def test_every_changed_byte_and_every_missing_file_is_found(
    origin: tuple[Study, Path, str], tmp_path: Path, packed: str
) -> None:
    folder = origin[1]
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    for at, name in enumerate(names):
        files = {one: (folder / one).read_bytes() for one in names}
        flipped = files[name]
        middle = len(flipped) // 2
        flipped = flipped[:middle] + bytes([flipped[middle] ^ 1]) + flipped[middle + 1 :]
        missing = {one: data for one, data in files.items() if one != name}
        for kind, changed in (("x", {**files, name: flipped}), ("y", missing)):
            target = tmp_path / (f"{kind}{at}" + (".zip" if packed == "archive" else ""))
            with pytest.raises(CalibrantError):
                calibrant.verify_bundle(put(target, changed))


def test_a_newer_format_is_left_alone(origin: tuple[Study, Path, str], tmp_path: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        manifest = json.loads(files["manifest.json"])
        files["manifest.json"] = json.dumps({**manifest, "version": 2, "new": True}).encode()

    with pytest.raises(SourceError, match="newer calibrant"):
        calibrant.verify_bundle(rewritten(origin[1], tmp_path / "bad", change))


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/evil", "rubrics/../../evil", "tables/x.parquet", "rubrics/1.json", "a\nb"],
)
def test_no_other_name_is_taken_from_an_archive(
    origin: tuple[Study, Path, str], tmp_path: Path, name: str
) -> None:
    def change(files: dict[str, bytes]) -> None:
        files[name] = b"x"
        manifest = json.loads(files["manifest.json"])
        manifest["files"][name] = {"bytes": 1, "sha256": ""}
        files["manifest.json"] = json.dumps(manifest).encode()

    bad = rewritten(origin[1], tmp_path / "bad.zip", change)
    with pytest.raises(SourceError, match="no part of a bundle"):
        calibrant.import_study(str(tmp_path / "a.db"), bad)
    assert not (tmp_path / "a.db").exists() and not (tmp_path.parent / "evil").exists()


def test_links_and_strangers_are_refused(origin: tuple[Study, Path, str], tmp_path: Path) -> None:
    files = {
        str(path.relative_to(origin[1])): path.read_bytes()
        for path in origin[1].rglob("*")
        if path.is_file()
    }
    linked = put(tmp_path / "linked", files)
    (linked / "items.jsonl").rename(tmp_path / "elsewhere")
    (linked / "items.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SourceError, match="no part"):
        calibrant.verify_bundle(linked)
    strange = put(tmp_path / "strange", {**files, "notes.txt": b""})
    with pytest.raises(SourceError, match="no part"):
        calibrant.verify_bundle(strange)
    piped = put(tmp_path / "piped", {n: d for n, d in files.items() if n != "items.jsonl"})
    os.mkfifo(piped / "items.jsonl")
    with pytest.raises(SourceError, match="no part"):
        calibrant.verify_bundle(piped)
    link = zipfile.ZipInfo("items.jsonl")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as archive:
        for name, data in files.items():
            archive.writestr(link if name == "items.jsonl" else name, data)
    with pytest.raises(SourceError, match="no part"):
        calibrant.verify_bundle(tmp_path / "link.zip")
    for nothing in ("nowhere", "nowhere.zip"):
        with pytest.raises(SourceError, match="no such"):
            calibrant.verify_bundle(tmp_path / nothing)
    (tmp_path / "text.zip").write_bytes(b"not an archive")
    with pytest.raises(SourceError, match="not a readable bundle"):
        calibrant.verify_bundle(tmp_path / "text.zip")


def test_a_bomb_is_not_unpacked(
    origin: tuple[Study, Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(files: dict[str, bytes]) -> None:
        files["items.jsonl"] = b"0" * 100_000_000

    bad = rewritten(origin[1], tmp_path / "bomb.zip", change)
    assert bad.stat().st_size < 1_000_000
    with pytest.raises(SourceError, match="would unpack to"):
        calibrant.verify_bundle(bad)
    monkeypatch.setattr(bundle_read, "MAX_LINE", 10_000)
    long = rewritten(
        origin[1],
        tmp_path / "long",
        lambda files: files.update({"items.jsonl": b'{"a":"' + b"0" * 20_000 + b'"}\n'}),
    )
    with pytest.raises(SourceError, match="longer than any record"):
        calibrant.verify_bundle(long)


def test_an_archive_with_a_file_twice_is_refused(
    origin: tuple[Study, Path, str], tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        for path in origin[1].rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(origin[1]))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.write(origin[1] / "items.jsonl", "items.jsonl")
    with pytest.raises(SourceError, match="twice"):
        calibrant.verify_bundle(tmp_path / "twice.zip")


def test_what_changes_between_looking_and_loading_is_not_committed(
    origin: tuple[Study, Path, str], tmp_path: Path
) -> None:
    from calibrant.study.restore import restore

    copy = rewritten(origin[1], tmp_path / "copy", lambda files: None)
    store = open_store(":memory:")
    with bundle_read.verified(copy) as found:
        path = copy / "journal.jsonl"
        path.write_bytes(path.read_bytes().replace(b"by the anchor", b"by the moment"))
        with pytest.raises(SourceError, match="was changed while it was read"):
            restore(store, found.contents, unchanged=found.unchanged)
    assert store.read(lambda tx: tx.studies()) == []
    store.close()


# -- pseudonyms


def test_under_pseudonyms_nobody_is_named_anywhere(
    origin: tuple[Study, Path, str], tmp_path: Path
) -> None:
    study = calibrant.import_study(str(tmp_path / "a.db"), origin[1])
    plain = origin[2]
    made = calibrant.export_study(study, tmp_path / "p", pseudonyms=True)
    assert made.pseudonymous and made.hash != plain
    calibrant.export_tables(study, tmp_path / "t", wide=True, pseudonyms=True)
    calibrant.export_tables(study, tmp_path / "t.xlsx", pseudonyms=True)
    names = re.compile(rb"(?<![^\W_])(ann|bob|cy|ada|lena|judge)(?![^\W_])", re.IGNORECASE)
    for path in [*(tmp_path / "p").rglob("*"), *(tmp_path / "t").rglob("*")]:
        if path.is_file() and path.suffix != ".parquet" and path.name != "items.jsonl":
            text = re.sub(rb'"criteria":.*', b"", path.read_bytes())  # the rubric's own words
            assert not names.search(text), (path, names.search(text))
    told = {one.name for one in study.members()}
    for path in (tmp_path / "p/tables").iterdir():
        frame = pl.read_parquet(path)
        for name in frame.columns:
            if frame.schema[name] == pl.String:
                assert not told & set(frame[name].to_list())
    keys = [one.body["key"] for one in study.journal() if one.kind == "pseudonyms"]
    assert len(keys) == 1
    assert keys[0].encode() not in (tmp_path / "p/journal.jsonl").read_bytes()
    # the same ones every time, and a study of its own that comes back with its own hash
    again = calibrant.export_study(study, tmp_path / "q.zip", pseudonyms=True)
    assert again.hash == made.hash
    there = calibrant.import_study(str(tmp_path / "b.db"), tmp_path / "q.zip")
    back = calibrant.export_study(there, tmp_path / "r")
    assert back.hash == made.hash and back.pseudonymous
    values = [
        [(one.criterion, one.estimate and one.estimate.value) for one in each.agreement().targets]
        for each in (study, there)
    ]
    assert values[0] == values[1]
    there.store.close()
    study.store.close()


def test_pseudonyms_follow_from_the_key_and_not_from_the_name() -> None:
    first, second = (Pseudonyms.made(key * 16, ["ann", "Ann B"]) for key in "ab")
    assert first.name("ann") != second.name("ann")
    assert first.name("ann") == Pseudonyms.made("a" * 16, ["ann"]).name("ann")
    assert first.text("Ann b and ANN, not Anna") == (
        f"{first.name('Ann B')} and {first.name('ann')}, not Anna"
    )


def test_names_are_found_beside_underscores_in_cards_and_in_names_of_files(
    tmp_path: Path,
) -> None:
    study = new_study(open_store(":memory:"))
    study.add_items([plan_item(0)])
    panel(study, "ann", "bob")
    study.add_member("judge", kind="LLM", card={"made for": {"ann": "bob_b"}})
    scores = pl.DataFrame({"item": "plan-000", "rater": ["ann", "bob"]}).with_columns(
        pl.lit("3").alias(name) for name in study.rubric().criterion_ids
    )
    study.import_ratings(scores, source="ann_scores.xlsx")
    as_(study, "ann").ask("see bob_b and _ann_ in my_ann.txt")
    calibrant.export_study(study, tmp_path / "p", pseudonyms=True)
    for path in (tmp_path / "p").glob("*.jsonl"):
        assert not re.search(r"(?<![^\W_])(ann|bob)(?![^\W_])", path.read_text("utf-8")), path
    (round,) = map(json.loads, (tmp_path / "p/rounds.jsonl").read_text("utf-8").splitlines())
    assert round["plan"] == {"way": "imported"}
    assert calibrant.verify_bundle(tmp_path / "p")["pseudonymous"]
    study.store.close()


def test_a_manifest_cannot_deny_its_pseudonyms(tmp_path: Path) -> None:
    study = new_study(open_store(":memory:"))
    calibrant.export_study(study, tmp_path / "p", pseudonyms=True)
    bad = rewritten(
        tmp_path / "p",
        tmp_path / "bad",
        lambda files: files.update(
            {
                "manifest.json": files["manifest.json"].replace(
                    b'"pseudonymous": true', b'"pseudonymous": false'
                )
            }
        ),
    )
    with pytest.raises(RecordError, match="pseudonyms"):
        calibrant.verify_bundle(bad)
    study.store.close()


# -- tables for people


def test_tables_for_people(origin: tuple[Study, Path, str], tmp_path: Path) -> None:
    study, _, _ = origin
    calibrant.export_tables(study, tmp_path / "t")
    assert sorted(path.stem for path in (tmp_path / "t").iterdir()) == [
        "finals", "flags", "journal", "ratings", "verdicts"
    ]  # fmt: skip
    with (tmp_path / "t/ratings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == study.ratings().height
    assert {unquoted(row["rater"]) for row in rows} == {"ann", "bob", "=cy", "judge"}
    assert "=cy" not in {row["rater"] for row in rows}
    calibrant.export_tables(study, tmp_path / "wide.csv", wide=True)
    with (tmp_path / "wide.csv").open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    assert header == [
        "round",
        "item",
        "occasion",
        "rubric",
        "criterion",
        "'=cy",
        "ann",
        "bob",
        "judge",
    ]
    calibrant.export_tables(study, tmp_path / "t.xlsx", wide=True)
    book = load_workbook(tmp_path / "t.xlsx")
    assert book.sheetnames == ["ratings", "finals", "verdicts", "flags", "journal"]
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert book["journal"].max_row == len(study.audit_log(limit=9999).lines) + 1
    states = [row[8].value for row in book["flags"].iter_rows(min_row=2)]
    assert sorted(map(str, states)) == ["raised", "rejected"]
    with pytest.raises(SourceError, match="already"):
        calibrant.export_tables(study, tmp_path / "t.xlsx")
    with pytest.raises(SourceError, match="folder"):
        calibrant.export_tables(study, tmp_path / "t.doc")


@given(st.text(st.sampled_from("'=+-@\t\r\n ab\x1c\u00a0"), max_size=6))
def test_what_is_made_safe_can_be_had_back(text: str) -> None:
    cell = flat(pl.DataFrame({"a": [text]}))["a"][0]
    assert unquoted(cell) == text
    assert cell[:1] not in ("=", "+", "-", "@", "\t", "\r")
    assert cell == text or pl.Series([text]).str.contains(FORMULA)[0]
