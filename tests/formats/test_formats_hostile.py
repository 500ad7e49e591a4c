"""Files made to do harm: a clear sentence, bounded memory, never a traceback.

The command runs as a process of its own that may not take more than a few gigabytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.formats.workbooks import FIRST, HEADER, cell, shared_strings, sheet_xml, write_workbook

from calibrant import load_rubric, parse_rubric
from calibrant.core.errors import RubricError, SourceError
from calibrant.formats.items import read_items
from calibrant.formats.records import SUFFIXES
from calibrant.formats.score_file import ScoreRun
from calibrant.formats.tables import open_xlsx

MEGABYTE = 1024 * 1024
MEMORY = 3 * 1024 * MEGABYTE
COACHING = ("-r", "coaching-conversation")
LIMITED = (
    "import os, resource, sys; "
    f"resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY})); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


def calibrant(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command with little memory; the time is only a guard against hanging."""
    script = Path(sys.executable).with_name("calibrant")
    command = [sys.executable, "-c", LIMITED, script, *arguments]
    return subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=300,
        check=False,
    )


def refusal(*arguments: str | Path, lines: int = 1) -> str:
    """What the command says when it refuses a file; it says so in so many lines."""
    done = calibrant(*arguments)
    said = done.stderr[-2000:]
    assert "Traceback" not in done.stderr, said
    assert "panicked" not in done.stderr, said
    assert done.returncode == 2, (done.returncode, said)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == lines, said
    assert all(len(line) < 1000 for line in done.stderr.splitlines()), said
    return done.stderr


@pytest.fixture
def big(tmp_path: Path) -> Iterator[Path]:
    """A folder for large files, emptied as soon as the test is done."""
    yield tmp_path
    for path in tmp_path.iterdir():
        if path.is_file():
            path.unlink()


def fill(path: Path, head: bytes, piece: bytes, times: int) -> Path:
    with path.open("wb") as file:
        file.write(head)
        for _ in range(times):
            file.write(piece)
    return path


# -- rubrics


def test_a_rubric_of_ten_megabytes_is_no_rubric(big: Path) -> None:
    path = fill(big / "big.yaml", b"format: 1\n", b"# " + b"x" * (MEGABYTE - 3) + b"\n", 10)
    assert "larger than" in refusal("rubric", "show", path)
    answers = big / "answers.jsonl"
    answers.write_text('{"id": "a", "answers": {}}\n', "utf-8")
    assert "larger than" in refusal("score", answers, "-r", path)


def test_a_long_text_of_many_values_ends_early() -> None:
    with pytest.raises(RubricError, match="this is not a rubric"):
        parse_rubric("[" + "a," * 300_000 + "]")


def test_an_alias_bomb_does_not_go_off(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(lines), "utf-8")
    with pytest.raises(RubricError, match="aliases"):
        load_rubric(path)
    done = calibrant("rubric", "show", path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "aliases (*name) are not allowed" in done.stderr


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000, "a:\n" + "- - " * 100_000],
    ids=["lists", "mappings", "dashes", "keys", "lists in a key"],
)
def test_a_hundred_thousand_levels_are_too_deep(tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text(text, "utf-8")
    said = refusal("rubric", "show", path)
    assert "nested deeper" in said or "must be a plain word" in said or "not YAML" in said


def test_one_scale_with_far_too_many_points_is_told_in_one_short_line(tmp_path: Path) -> None:
    rubric = load_rubric("ai-response").model_dump(mode="json")
    rubric["scales"][0] |= {"minimum": -1_000_000, "maximum": 1_000_000}
    with pytest.raises(RubricError) as caught:
        parse_rubric(json.dumps(_written(rubric)).replace('"none"', "none"))
    assert any("maximum" in fault.message for fault in caught.value.faults)
    assert all(len(str(fault)) < 1000 for fault in caught.value.faults)


def _written(node: object) -> object:
    """Values as a rubric file has them: absences are the word none."""
    if isinstance(node, dict):
        return {key: _written(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_written(value) for value in node]
    return "none" if node is None else node if isinstance(node, bool) else str(node)


# -- long lines


@pytest.mark.parametrize("command", ["score", "items"])
def test_a_line_of_a_gigabyte_is_refused(big: Path, command: str) -> None:
    path = fill(big / "line.jsonl", b'{"id": "a", "x": "', b"x" * (64 * MEGABYTE), 16)
    arguments = ("score", path, *COACHING) if command == "score" else ("items", "check", path)
    assert "longer than" in refusal(*arguments)


def test_a_line_of_spaces_is_refused_too(big: Path) -> None:
    path = fill(big / "spaces.jsonl", b"", b" " * (16 * MEGABYTE), 16)
    assert "longer than" in refusal("score", path, *COACHING)


def test_a_json_document_of_half_a_gigabyte_is_refused(big: Path) -> None:
    path = fill(big / "big.json", b"[", b"0," * (8 * MEGABYTE), 32)
    assert "jsonl" in refusal("score", path, *COACHING)


def test_an_unclosed_quote_with_200_megabytes_behind_it(big: Path) -> None:
    row = b"b,YES\n"
    piece = row * (MEGABYTE // len(row))
    path = fill(big / "open.csv", b'id,CQ1\na,YES\nb,"YES\n', piece, 200)
    assert "record 2" in refusal("score", path, *COACHING)


def test_an_unclosed_quote_in_the_header_with_200_megabytes_behind_it(big: Path) -> None:
    path = fill(big / "open.csv", b'id,"CQ1\n', b"b,YES\n" * (MEGABYTE // 6), 200)
    assert "not CSV" in refusal("score", path, *COACHING)


def test_a_header_of_a_million_columns(big: Path) -> None:
    path = fill(big / "wide.csv", b"id,CQ1", b"," + b",".join([b"x"] * 1000), 1000)
    said = calibrant("score", path, *COACHING)
    assert said.returncode == 2
    assert "Traceback" not in said.stderr


def test_lists_in_lists_in_place_of_an_id_take_no_minutes(tmp_path: Path) -> None:
    """Two kilobytes; polars looks at nested lists again and again."""
    path = tmp_path / "deep.jsonl"
    deep = "[" * 900 + "]" * 900
    path.write_text(
        f'{{"id": {deep}, "rater": {deep}, "answers": {{"CQ1": "YES"}}}}\n', encoding="utf-8"
    )
    said = refusal("score", path, *COACHING, lines=3)
    assert "must be a text" in said


# -- workbooks


def spaces(megabytes: int) -> Iterator[bytes]:
    yield sheet_xml(HEADER, FIRST).removesuffix(b"</sheetData></worksheet>")
    for _ in range(megabytes):
        yield b" " * MEGABYTE
    yield b"</sheetData></worksheet>"


def test_a_zip_bomb_is_refused(big: Path) -> None:
    path = write_workbook(big / "bomb.xlsx", spaces(1024))
    assert path.stat().st_size < 10 * MEGABYTE
    assert "unpacks to more than" in refusal("score", path, *COACHING)


def test_many_small_bombs_are_one_bomb(big: Path) -> None:
    path = big / "bombs.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(20):
            archive.writestr(f"xl/worksheets/sheet{number}.xml", b" " * (40 * MEGABYTE))
    assert "unpacks to more than" in refusal("score", path, *COACHING)


FAR = {
    "double quotes": '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    "single quotes": "<row r='1048576'><c r='XFD1048576'><v>1</v></c></row>",
    "spaces": '<row r = "1048576"><c r = "XFD1048576"><v>1</v></c></row>',
    "line breaks": '<row\nr\n=\n"1048576"><c\nr\n=\n"XFD1048576"><v>1</v></c></row>',
    "small letters": '<row r="1048576"><c r="xfd1048576"><v>1</v></c></row>',
    "cells without a place": "<row r='3'>"
    + "<c><v>1</v></c>" * 16_384
    + '</row><row r="1048576"><c r="A1048576"><v>1</v></c></row>',
}


@pytest.mark.parametrize("far", FAR.values(), ids=FAR.keys())
def test_a_cell_in_the_last_corner_is_refused(tmp_path: Path, far: str) -> None:
    """Between the header and that cell lie 17 thousand million others."""
    path = write_workbook(tmp_path / "far.xlsx", [sheet_xml(HEADER, FIRST, far)])
    assert "far.xlsx" in refusal("score", path, *COACHING)


def test_a_sheet_may_stand_anywhere_in_the_archive(tmp_path: Path) -> None:
    place = "xl/elsewhere/data.xml"
    near = write_workbook(tmp_path / "near.xlsx", [sheet_xml(HEADER, FIRST)], sheet=place)
    assert [row.cells for row in open_xlsx(near).rows] == [["a", "YES"]]
    xml = sheet_xml(HEADER, FIRST, FAR["double quotes"])
    far = write_workbook(tmp_path / "far.xlsx", [xml], sheet=place)
    assert "far.xlsx" in refusal("score", far, *COACHING)


def test_the_largest_sheet_that_is_read_fits_the_memory(tmp_path: Path) -> None:
    far = '<row r="1048576"><c r="AT1048576"><v>1</v></c></row>'
    path = write_workbook(tmp_path / "far.xlsx", [sheet_xml(HEADER, FIRST, far)])
    done = calibrant("score", path, *COACHING)
    assert done.returncode == 2, done.stderr[-2000:]
    assert "Traceback" not in done.stderr


def test_one_long_text_that_ten_thousand_cells_share(tmp_path: Path) -> None:
    """Forty kilobytes that would become ten gigabytes."""
    rows = [
        f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c><c r="B{n}" t="s"><v>0</v></c></row>'
        for n in range(2, 5000)
    ]
    path = write_workbook(
        tmp_path / "shared.xlsx",
        [sheet_xml(HEADER, *rows)],
        shared=shared_strings(["x" * 1_000_000]),
    )
    assert path.stat().st_size < 100_000
    assert "shared.xlsx" in refusal("score", path, *COACHING)


def test_an_external_entity_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret", "utf-8")
    xml = sheet_xml(HEADER, f'<row r="2">{cell("A2", "a")}{cell("B2", "YES")}</row>')
    head = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'.encode()
    path = write_workbook(tmp_path / "entity.xlsx", [head + xml.replace(b">YES<", b">&e;<")])
    done = calibrant("score", path, *COACHING, "--format", "json")
    assert "secret" not in done.stdout.replace("secret.txt", "")
    assert "Traceback" not in done.stderr


def test_a_plain_archive_is_no_workbook(tmp_path: Path) -> None:
    path = tmp_path / "plain.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert "not a readable workbook" in refusal("score", path, *COACHING)


def test_an_archive_with_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "name.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hällo.txt", "hello")
    data = path.read_bytes()
    path.write_bytes(data.replace("hällo.txt".encode(), b"h\xff\xffllo.txt"))
    assert "not a readable workbook" in refusal("score", path, *COACHING)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_broken_member_of_another_compression(tmp_path: Path, method: int) -> None:
    path = tmp_path / "odd.xlsx"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.xml", b"x" * 1000)
    data = bytearray(path.read_bytes())
    for at in range(40, 70):
        data[at] ^= 0xFF
    path.write_bytes(bytes(data))
    assert "odd.xlsx" in refusal("score", path, *COACHING)


# -- everything else


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9, 0.999])
def test_a_parquet_file_cut_short(tmp_path: Path, keep: float) -> None:
    path = tmp_path / "cut.parquet"
    pl.DataFrame({"id": [str(n) for n in range(1000)], "CQ1": ["YES"] * 1000}).write_parquet(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    assert "not a readable Parquet file" in refusal("score", path, *COACHING)


def test_a_text_that_says_it_is_parquet(tmp_path: Path) -> None:
    path = tmp_path / "not.parquet"
    path.write_bytes(b"PAR1" + b"hello " * 100 + b"PAR1")
    assert "not a readable Parquet file" in refusal("items", "check", path)


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".xlsx", ".parquet"])
def test_a_directory_is_not_a_file(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    assert refusal("score", folder, *COACHING) == f"{folder}: not a file\n"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "missing.jsonl"
    assert refusal("score", path, *COACHING) == f"{path}: no such file\n"
    assert refusal("items", "check", path) == f"{path}: no such file\n"
    assert "no such rubric file" in refusal("rubric", "show", tmp_path / "missing.yaml")


@pytest.mark.parametrize("name", ["answers.docx", "answers", ".jsonl", "answers.jsonl.gz"])
def test_an_extension_nobody_knows(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"id": "a", "answers": {}}\n', "utf-8")
    assert "cannot tell what" in refusal("score", path, *COACHING)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_files_of_every_kind(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"empty{suffix}"
    path.touch()
    assert str(path) in refusal("score", path, *COACHING)
    with pytest.raises(SourceError):
        read_items(path)


@pytest.mark.parametrize("content", [b"\n", b"\n\n  \n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv"])
def test_files_of_nothing_but_blanks(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"blank{suffix}"
    path.write_bytes(content)
    with pytest.raises(SourceError):
        ScoreRun(load_rubric("coaching-conversation"), path)


def test_a_table_of_nothing_but_its_header(tmp_path: Path) -> None:
    """Nobody has answered yet: that is no error, and no verdict."""
    path = tmp_path / "header.csv"
    path.write_text("id,CQ1\n", "utf-8")
    done = calibrant("score", path, *COACHING)
    assert (done.returncode, done.stdout) == (0, "")
    assert "0 sheets" in done.stderr
    strict = calibrant("score", path, *COACHING, "--fail-under", "0.5")
    assert strict.returncode == 1


@pytest.mark.parametrize("where", ["answers", "rubric", "items"])
def test_a_name_too_long_for_any_file(tmp_path: Path, where: str) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": "a", "answers": {"CQ1": "YES"}}\n', "utf-8")
    name = "x" * 300
    arguments: dict[str, tuple[str | Path, ...]] = {
        "answers": ("score", f"{name}.jsonl", *COACHING),
        "rubric": ("score", answers, "-r", f"{name}.yaml"),
        "items": ("score", answers, *COACHING, "--items", f"{name}.jsonl"),
    }
    assert name[:50] in refusal(*arguments[where])


@pytest.mark.parametrize(
    "encoding", ["hex", "rot13", "base64", "zlib", "undefined", "punycode", "no-such-thing", ""]
)
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_names_that_are_not_encodings_of_text(tmp_path: Path, encoding: str, suffix: str) -> None:
    path = tmp_path / f"answers.{suffix}"
    path.write_text('[{"id": "a", "answers": {"CQ1": "YES"}}]\n', "utf-8")
    with pytest.raises(SourceError):
        list(ScoreRun(load_rubric("coaching-conversation"), path, encoding=encoding).frames())
