"""Signals in files: records, tables, ratings; runs that stop go on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import calibrant
from calibrant.core.errors import RecordError, SourceError
from calibrant.core.item import FreeItem
from calibrant.formats.rubric_file import load_rubric
from calibrant.formats.signal_tables import finish, rating_rows, signal_rows, write_ratings
from calibrant.formats.signals import CheckRun, Record, partial_of, read_record_file

TURNS = [{"user": "I slept badly.", "assistant": "That is a pity. Since when?"}] * 4


def write_items(path: Path, names: str) -> Path:
    path.write_text(
        "".join(json.dumps({"id": name, "exchanges": TURNS}) + "\n" for name in names), "utf-8"
    )
    return path


@pytest.fixture
def items(tmp_path: Path) -> Path:
    return write_items(tmp_path / "items.jsonl", "abcde")


def ids(path: Path) -> list[str]:
    return [record["item"] for record in read_record_file(path)]


def test_every_item_has_one_record_with_its_card(items: Path, tmp_path: Path) -> None:
    run = CheckRun(items)
    out = tmp_path / "out.jsonl"
    finish(run.write(out), out)
    assert not partial_of(out).exists()
    records = list(read_record_file(out))
    assert [one["item"] for one in records] == list("abcde")
    (card,) = {one["card"] for one in records}
    assert run.summary.cards[card]["rubric"] == load_rubric("coaching-conversation").name
    endings = {one["signal"]: one for one in records[0]["signals"]}["share_of_question_endings"]
    assert endings["measured"] == 1.0
    assert endings["suggestion"] == {
        "kind": "answer", "criterion": "CP5", "answer": "NO", "decides": False,
    }  # fmt: skip
    assert endings["spans"][0]["text"] == "Since when?"


def test_a_stopped_run_goes_on(items: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    finish(CheckRun(items).write(whole), whole)

    def stops(seen: int) -> None:
        if seen == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CheckRun(items, on_progress=stops).write(out)
    assert ids(partial_of(out)) == ["a", "b", "c"]
    with partial_of(out).open("ab") as file:
        file.write(b'{"item":"d","kind":"conv')  # killed in the middle of a line
    again = CheckRun(items)
    finish(again.write(out, resume=True), out)
    assert out.read_bytes() == whole.read_bytes()
    assert (again.summary.items, again.summary.resumed) == (5, 3)
    fresh = CheckRun(items)
    list(fresh.records())
    assert again.summary.to_dict()["signals"] == fresh.summary.to_dict()["signals"]


def test_without_resume_a_run_begins_anew(items: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    partial_of(out).write_text("old", "utf-8")
    assert ids(CheckRun(items).write(out)) == list("abcde")


def test_a_run_does_not_go_on_with_something_else(items: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    CheckRun(items).write(out)
    rubric = load_rubric("coaching-conversation").model_copy(
        update={"checks": ({"name": "conversation_endings", "enabled": "false"},)}
    )
    with pytest.raises(SourceError, match="have changed"):
        CheckRun(items, rubric).write(out, resume=True)
    changed = items.read_text("utf-8").replace("badly", "well")
    items.write_text(changed, "utf-8")
    with pytest.raises(SourceError, match="have changed"):
        CheckRun(items).write(out, resume=True)
    partial_of(out).write_text('{"item": 1}\n', "utf-8")
    with pytest.raises(SourceError, match="not a file that"):
        CheckRun(items).write(out, resume=True)


def test_items_that_are_gone_are_noticed(items: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    CheckRun(items).write(out)
    write_items(items, "abd")
    with pytest.raises(SourceError, match="does not hold"):
        CheckRun(items).write(out, resume=True)


def test_bad_records_are_all_told(items: Path, tmp_path: Path) -> None:
    with items.open("a", encoding="utf-8") as file:
        file.write('{"id": "x", "exchanges": []}\n{"id": "a", "exchanges": 3}\n')
    told: list[object] = []
    run = CheckRun(items, on_fault=told.append)
    with pytest.raises(RecordError):
        list(run.records())
    assert run.summary.bad_records == 2
    assert {fault.record for fault in told} == {6, 7}  # type: ignore[attr-defined]
    assert len(list(CheckRun(items, skip_bad=True).records())) == 5


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_tables_have_one_row_a_signal(items: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out{suffix}"
    run = CheckRun(items)
    finish(run.write(out), out)
    match suffix:
        case ".csv":
            frame = pl.read_csv(out)
        case ".parquet":
            frame = pl.read_parquet(out)
        case _:
            frame = pl.read_json(out)
    assert frame.height == sum(
        one.measured + one.not_measured.total() for one in run.summary.signals.values()
    )
    row = frame.filter(pl.col("signal") == "share_of_question_endings").row(0, named=True)
    assert (row["item"], row["criterion"], row["number"]) == ("a", "CP5", 1.0)
    assert (row["suggests"], row["suggestion"]) == ("answer", "NO")
    places = row["places"]
    first = places.split(";")[0] if suffix == ".csv" else places[0]
    assert first == "exchanges[0].assistant:16-27"


def test_cells_are_no_formulas(tmp_path: Path) -> None:
    items, out = tmp_path / "items.jsonl", tmp_path / "out.csv"
    turn = {"user": "Hi", "assistant": "=SUM(A1)?"}
    items.write_text(json.dumps({"id": "=1+1", "exchanges": [turn] * 3}), "utf-8")
    finish(CheckRun(items).write(out), out)
    cells = pl.read_csv(out).row(-1, named=True)
    assert cells["item"] == "'=1+1"
    assert not any(str(cell).startswith(("=", "+", "@")) for cell in cells.values())


def _record(*suggestions: dict[str, object]) -> Record:
    named = ((f"s{at}", one) for at, one in enumerate(suggestions))
    signals = [{"check": "c", "signal": name, "suggestion": one} for name, one in named]
    return {"item": "i", "kind": "conversation", "content": "x", "card": "me", "signals": signals}


def test_suggested_answers_are_ratings_of_kind_code() -> None:
    def answers(criterion: str, answer: str, decides: bool = False) -> dict[str, object]:
        return {"kind": "answer", "criterion": criterion, "answer": answer, "decides": decides}

    rows = list(rating_rows(_record(
        answers("CP5", "NO"), answers("CP5", "NO"),
        answers("CP2", "NO"), answers("CP2", "YES"),
        answers("MT4", "YES"), answers("MT4", "NA", decides=True),
        {"kind": "hint", "criterion": "CP4", "text": "look"}, {"kind": "flag", "flag": "f"},
    )))  # fmt: skip
    assert [(row["criterion"], row["answer"]) for row in rows] == [("CP5", "NO"), ("MT4", "NA")]
    assert {(row["item"], row["rater"], row["kind"]) for row in rows} == {("i", "me", "CODE")}
    (row,) = signal_rows(_record({"kind": "flag", "flag": "f"}))
    assert (row["suggests"], row["suggestion"]) == ("flag", "f")


def test_agreement_reads_the_ratings(items: Path, tmp_path: Path) -> None:
    ratings = tmp_path / "ratings.csv"
    write_ratings(CheckRun(items).write(tmp_path / "out.jsonl"), ratings)
    frame = pl.read_csv(ratings)
    person = frame.with_columns(rater=pl.lit("ann"), kind=pl.lit("HUMAN"))
    both = pl.concat([frame, person])
    report = calibrant.agreement(both, rubric=load_rubric("coaching-conversation"))
    assert "CODE" in json.dumps(report.to_dict())


def test_the_public_function_takes_one_item_or_many(items: Path) -> None:
    read = calibrant.read_items(items).items
    one = calibrant.check(read[0])
    assert isinstance(one[0], calibrant.Signal)
    many = calibrant.check(read, "coaching-conversation")
    assert isinstance(many, Iterator)
    assert list(many) == [one] * 5
    with pytest.raises(SourceError, match="is for a plan"):
        calibrant.check(read[0], "smart-action-plan")
    assert calibrant.check(FreeItem(id="f", content={"a": "b"})) == ()
