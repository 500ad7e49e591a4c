"""Lines at speed are the same lines: read as the parser reads, written as the frame is written."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import load_rubric, score
from calibrant.formats.ahead import ahead
from calibrant.formats.coding import Batch, Coder
from calibrant.formats.pieces import Line, LookUp, Pieces
from calibrant.formats.regular_lines import PATIENCE, RegularLines
from calibrant.formats.score_file import ScoreRun
from calibrant.formats.text import Block
from calibrant.formats.verdict_lines import VerdictLines
from calibrant.formats.verdicts import VerdictTable
from calibrant.stats.scorebook import ERROR_CODE, MISSING_CODE

COACHING = load_rubric("coaching-conversation")
PLANS = load_rubric("smart-action-plan")
NAMES = COACHING.criterion_ids
FIELDS = frozenset({"id", "rater", "round"})


def sheet(random: Random, number: int, rater: bool) -> dict[str, Any]:
    answers = {name: random.choice(("YES", "YES", "NO", "NA")) for name in NAMES}
    names = {"id": f"item {number}"} | ({"rater": random.choice("ab")} if rater else {})
    return {**names, "answers": answers}


def block(*lines: str) -> Block:
    return Block("".join(lines).encode(), 1, 0)


def written(records: list[dict[str, Any]], **style: Any) -> list[str]:
    return [json.dumps(record, **style) + "\n" for record in records]


# -- reading


@pytest.mark.parametrize("rater", [False, True])
@pytest.mark.parametrize("style", [{}, {"separators": (",", ":")}, {"separators": (" , ", " : ")}])
def test_lines_of_one_form_are_read_without_a_parser(rater: bool, style: dict[str, Any]) -> None:
    records = [sheet(Random(7), number, rater) for number in range(50)]
    lines = written(records, **style)
    coder = Coder(COACHING)
    read = RegularLines(coder, lines[0].encode(), FIELDS).read(block(*lines))
    assert read is not None
    assert read.fields["id"].to_list() == [record["id"] for record in records]
    if rater:
        assert read.fields["rater"].to_list() == [record["rater"] for record in records]
    for column, record in enumerate(records):
        expected = [coder.code(row, record["answers"][name]) for name, row in coder.rows.items()]
        assert read.codes[:, column].tolist() == expected


def test_a_criterion_that_no_line_has_is_missing_in_all() -> None:
    lines = written([{"id": str(n), "answers": {"MT4": "NO", "CQ1": "YES"}} for n in range(3)])
    coder = Coder(COACHING)
    read = RegularLines(coder, lines[0].encode(), FIELDS).read(block(*lines))
    assert read is not None
    assert set(read.codes[coder.rows["MT4"]]) == {2}
    assert set(read.codes[coder.rows["CQ8"]]) == {MISSING_CODE}


PLAIN = '{"id": "a", "answers": {"CQ1": "YES", "CQ2": "NO"}}\n'


@pytest.mark.parametrize(
    "odd",
    [
        "\n",
        '{"id": "a", "answers": {"CQ1": "yes", "CQ2": "NO"}}\n',
        '{"id": "a", "answers": {"CQ1": "YEA", "CQ2": "NO"}}\n',
        '{"id": "a", "answers": {"CQ1": "YES", "CQ2": "NOT"}}\n',
        '{"id": "a", "answers": {"CQ1": "YES", "CQ2": null}}\n',
        '{"id": "a", "answers": {"CQ2": "NO", "CQ1": "YES"}}\n',
        '{"id": "a", "answers": {"CQ1": "YES"}}\n',
        '{"id": "a", "answers": {"CQ1": "YES", "CQ2": "NO", "CQ2": "NO"}}\n',
        '{"id": "a", "id": "b", "answers": {"CQ1": "YES", "CQ2": "NO"}}\n',
        '{"id": "a", "answers": {"CQ1": "YES", "CQ2": "NO"}} \n',
        '{"id": "a", "answers": {"CQ1": "YES", "CQ2": "NO"}, "flags": []}\n',
        '{"id": 7, "answers": {"CQ1": "YES", "CQ2": "NO"}}\n',
        '{"id": "\\u0061", "answers": {"CQ1": "YES", "CQ2": "NO"}}\n',
        '["id", "a"]\n',
        "junk\n",
        '{"id": "a\x01b", "answers": {"CQ1": "YES", "CQ2": "NO"}}\n',
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_line_of_another_form_leaves_the_block_to_the_parser(odd: str, place: int) -> None:
    lines = [PLAIN, PLAIN.replace('"a"', '"b"')]
    lines.insert(place, odd)
    first = next(line for line in lines if line.strip())
    assert RegularLines(Coder(COACHING), first.encode(), FIELDS).read(block(*lines)) is None


def test_after_some_failures_no_more_blocks_are_tried() -> None:
    lines = RegularLines(Coder(COACHING), PLAIN.encode(), FIELDS)
    good, bad = block(PLAIN), block(PLAIN, "junk\n")
    assert lines.read(good) is not None
    for _ in range(PATIENCE + 1):
        assert lines.read(bad) is None
    assert lines.read(good) is None


@given(st.lists(st.sampled_from(["YES", "NO", "NA", "no", "Yes ", "", "JUNK", None]), min_size=1))
def test_a_file_reads_the_same_however_its_lines_are_read(answers: list[str | None]) -> None:
    """Whether a block is regular depends on its neighbours; what a line says does not."""
    records: list[dict[str, Any]] = [
        {"id": f"{n:04}", "answers": {"CQ1": "YES", "CQ8": a}} for n, a in enumerate(answers)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_text("".join(written(records)), "utf-8")
        rows = pl.concat(ScoreRun(COACHING, path).frames()).to_dicts()
    for row, record in zip(rows, records, strict=True):
        assert row.pop("id") == record["id"]
        assert row == score(COACHING, record["answers"]).to_dict()


# -- writing


def batch_of(n: int, seed: int, rater: bool = False) -> Batch:
    """Sheets with everything in them: errors, absences, junk, odd names."""
    random = np.random.default_rng(seed)
    common = [0, 1, 1, 1, 1, 2, 2] * 5
    codes = random.choice([*common, ERROR_CODE, MISSING_CODE], (len(NAMES), n))
    names = random.choice(["plain", "two words", 'quo"te', "back\\slash", "é", "tab\tbed"], n)
    keys: dict[str, list[str | None]] = {"id": [f"{name} {at}" for at, name in enumerate(names)]}
    if rater:
        keys["rater"] = [None if hit else "ann" for hit in random.random(n) < 0.3]
    wrong = np.argwhere(codes == ERROR_CODE).tolist()
    junk: dict[tuple[int, int], str | None] = {
        (row, at): str(random.choice(['"', "YEAH", "\n"])) for row, at in wrong
    }
    frame = pl.DataFrame(keys, schema=dict.fromkeys(keys, pl.String))
    return Batch(frame, codes.astype(np.uint8), np.zeros(n, np.uint64), junk, np.arange(n))


@pytest.mark.parametrize("rater", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_lines_are_those_of_the_frame(seed: int, rater: bool) -> None:
    table = VerdictTable(Coder(COACHING).book)
    lines = VerdictLines(table)
    batch = batch_of(200, seed, rater)
    scored = table.book.score(batch.codes, batch.flags)
    expected = table.frame(batch, scored, batch.codes).write_ndjson()
    assert lines.lines(batch, scored).to_list() == expected.splitlines()
    plain = batch.keep(np.asarray(~lines._unusual(batch)))
    assert 0 < plain.keys.height < 200
    told = lines._by_pieces(plain, table.book.score(plain.codes, plain.flags)).to_list()
    assert set(told) < set(expected.splitlines())


def test_preconditions_show_in_what_counts_and_not_in_what_came_in() -> None:
    table = VerdictTable(Coder(COACHING).book)
    batch = batch_of(50, 1).keep(np.arange(50) % 2 == 0)
    batch.given.clear()
    codes = batch.codes.copy()
    codes[NAMES.index("MT4")] = 0
    scored = table.book.score(codes, batch.flags)
    expected = table.frame(batch, scored, batch.codes).write_ndjson().splitlines()
    assert VerdictLines(table).lines(batch, scored).to_list() == expected


def test_rubrics_that_have_no_ready_made_texts_are_written_as_frames() -> None:
    table = VerdictTable(Coder(PLANS).book)
    lines = VerdictLines(table)
    assert not lines.applies
    codes = np.full((len(PLANS.criterion_ids), 2), 3, np.uint8)
    batch = Batch(pl.DataFrame({"id": ["a", "b"]}), codes, np.array([0, 1], np.uint64))
    scored = table.book.score(codes, batch.flags)
    expected = table.frame(batch, scored, codes).write_ndjson().splitlines()
    assert lines.lines(batch, scored).to_list() == expected


# -- pieces


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_pieces_spell_every_combination(sizes: list[int], random: Random) -> None:
    digits = [[f"<{at}:{value}>" for value in range(size)] for at, size in enumerate(sizes)]
    values = [[random.randrange(size) for _ in range(20)] for size in sizes]
    line = Line()
    line.add("(", *Pieces(digits).found([np.array(one) for one in values]), ")")
    expected = [
        "(" + "".join(digits[at][values[at][column]] for at in range(len(sizes))) + ")"
        for column in range(20)
    ]
    assert line.texts().to_list() == expected


def test_texts_of_all_lines_join_their_neighbours() -> None:
    line = Line()
    found = LookUp(pl.Series(["x", "y"]), np.array([1, 0, 1], np.uint32))
    line.add("a", "b", found, "c", pl.Series(["1", "2", "3"]), "d")
    assert line.texts().to_list() == ["abyc1d", "abxc2d", "abyc3d"]


# -- ahead


def test_parts_come_in_their_order() -> None:
    assert list(ahead(iter(range(100)))) == list(range(100))
    assert list(ahead(iter([]))) == []


def test_what_making_a_part_raises_is_raised_in_its_place() -> None:
    def parts() -> Any:
        yield 1
        raise OSError("no more")

    made = ahead(parts())
    assert next(made) == 1
    with pytest.raises(OSError, match="no more"):
        next(made)
