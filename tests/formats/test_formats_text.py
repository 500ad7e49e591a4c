"""Text files of any encoding: the same lines whatever the bytes; a guess is told."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest

from calibrant import load_rubric
from calibrant.core.errors import SourceError
from calibrant.core.item import Response
from calibrant.formats.items import ItemFile, read_items
from calibrant.formats.score_file import ScoreRun
from calibrant.formats.text import Encoding, detect_encoding, read_blocks, read_lines

FRENCH = (
    "Ça va mieux depuis l'été : j'ai retrouvé le goût d'étudier, même si la forêt près de chez "
    "nous a brûlé. Où êtes-vous allée après Noël ? Nous avons mangé des crêpes à la crème."
)
RUSSIAN = (
    "После отпуска мне стало легче просыпаться, но на работе всё по-прежнему: начальник торопит, "
    "сроки горят, а вечером я не могу уснуть. Расскажите, пожалуйста, с чего лучше начать? "
    "Я уже пробовал вести дневник, гулять перед сном и не читать новости после восьми часов."
)
ENGLISH = "A reply without a single accent."


def questions(read: ItemFile) -> list[str]:
    return [item.question for item in read.items if isinstance(item, Response)]


def item_file(path: Path, text: str, encoding: str, mark: bytes = b"") -> Path:
    record = {"id": "a", "question": text, "response": text}
    line = json.dumps(record, ensure_ascii=False) + "\n"
    path.write_bytes(mark + line.encode(encoding))
    return path


MARKED = [
    ("utf-8", codecs.BOM_UTF8),
    ("utf-16-le", codecs.BOM_UTF16_LE),
    ("utf-16-be", codecs.BOM_UTF16_BE),
    ("utf-32-le", codecs.BOM_UTF32_LE),
    ("utf-32-be", codecs.BOM_UTF32_BE),
]


@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, ENGLISH, "日本語 \U0001f600"])
@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", b""), *MARKED])
def test_unicode_with_a_mark_is_read_without_a_word(
    tmp_path: Path, encoding: str, mark: bytes, text: str
) -> None:
    read = read_items(item_file(tmp_path / "items.jsonl", text, encoding, mark), "response")
    assert questions(read) == [text]
    assert not read.faults
    assert not read.notes


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-16-le", FRENCH),
        ("utf-16-be", FRENCH),
        ("utf-16-le", ENGLISH),
        ("utf-16-be", ENGLISH),
        ("cp1252", FRENCH),
        ("cp1252", FRENCH + " “Voilà”, dit-elle – 5 €."),
        ("cp1251", RUSSIAN),
        ("koi8-r", RUSSIAN * 2),
    ],
)
def test_a_guess_is_right_and_is_told(tmp_path: Path, encoding: str, text: str) -> None:
    read = read_items(item_file(tmp_path / "items.jsonl", text, encoding), "response")
    assert questions(read) == [text]
    assert len(read.notes) == 1
    assert read.notes[0].startswith("items.jsonl: not UTF-8, read as ")


@pytest.mark.parametrize(("encoding", "text"), [("cp1252", FRENCH), ("cp1251", RUSSIAN)])
def test_a_guess_is_told_for_json_documents_too(tmp_path: Path, encoding: str, text: str) -> None:
    read = read_items(item_file(tmp_path / "items.json", text, encoding), "response")
    assert questions(read) == [text]
    assert read.notes and "not UTF-8, read as" in read.notes[0]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_accents_late_in_a_big_file(tmp_path: Path, encoding: str, suffix: str) -> None:
    """The first of them comes after ten megabytes of plain letters."""
    path = tmp_path / f"items.{suffix}"
    filler = "x" * 1000
    with path.open("wb") as file:
        if suffix == "csv":
            file.write(b"id,question,response\n")
        for number in range(10_500):
            plain = (
                f"{number},{filler},y\n"
                if suffix == "csv"
                else json.dumps({"id": number, "question": filler, "response": "y"}) + "\n"
            )
            file.write(plain.encode("ascii"))
        last = (
            f'last,"{FRENCH}",oui\n'
            if suffix == "csv"
            else json.dumps(
                {"id": "last", "question": FRENCH, "response": "oui"}, ensure_ascii=False
            )
        )
        file.write(last.encode(encoding))
    read = read_items(path, "response")
    assert not read.faults
    assert len(read.items) == 10_501
    assert getattr(read.items[-1], "question", None) == FRENCH
    assert bool(read.notes) == (encoding != "utf-8")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "latin-1"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 16, 1000])
def test_lines_do_not_depend_on_how_much_is_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str, size: int
) -> None:
    lines = ["é\n", "\n", "  ça\r\n", "\n", "a\x0bb\x85\x1c\n", "ü" * 9 + "\n", "the end"]
    path = tmp_path / "lines.txt"
    path.write_bytes("".join(lines).encode(encoding))
    monkeypatch.setattr("calibrant.formats.text.BLOCK", size)
    assert list(read_lines(path, Encoding(encoding))) == list(enumerate(lines, 1))
    assert b"".join(block.data for block in read_blocks(path, Encoding(encoding))) == (
        "".join(lines).encode()
    )


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\rh\n"
    path.write_text(text, "utf-8", newline="")
    assert list(read_lines(path, Encoding("utf-8"))) == [(1, text)]


def test_a_line_that_never_ends_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calibrant.formats.text.BLOCK", 10)
    monkeypatch.setattr("calibrant.formats.text.MAX_LINE", 100)
    path = tmp_path / "long.txt"
    path.write_text("short\n" + "x" * 99 + "\nshort\n" + "x" * 200, "utf-8")
    lines = read_lines(path, Encoding("utf-8"))
    assert [next(lines)[0] for _ in range(3)] == [1, 2, 3]
    with pytest.raises(SourceError, match="line 4 is longer"):
        next(lines)


def test_what_the_user_states_is_believed(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    item_file(path, "ÄÖÜ", "cp437")
    read = read_items(path, "response", encoding="cp437")
    assert [getattr(item, "question", None) for item in read.items] == ["ÄÖÜ"]
    assert not read.notes


@pytest.mark.parametrize("stated", ["utf-8", "UTF8", "utf-8-sig"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json"])
def test_stated_utf8_with_and_without_its_mark(
    tmp_path: Path, stated: str, mark: bytes, suffix: str
) -> None:
    path = tmp_path / f"answers.{suffix}"
    text = "id,CQ1\né,YES\n" if suffix == "csv" else '{"id": "é", "answers": {"CQ1": "YES"}}\n'
    path.write_bytes(mark + text.encode())
    run = ScoreRun(load_rubric("coaching-conversation"), path, encoding=stated)
    assert [row["id"] for frame in run.frames() for row in frame.to_dicts()] == ["é"]


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF16_LE])
def test_stated_utf16_with_and_without_its_mark(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes(mark + "id,CQ1\né,YES\n".encode("utf-16-le"))
    run = ScoreRun(load_rubric("coaching-conversation"), path, encoding="utf-16")
    assert [row["id"] for frame in run.frames() for row in frame.to_dicts()] == ["é"]


def test_a_stated_encoding_that_does_not_fit_is_told(tmp_path: Path) -> None:
    path = item_file(tmp_path / "items.jsonl", FRENCH, "cp1252")
    with pytest.raises(SourceError, match="--encoding"):
        read_items(path, "response", encoding="ascii")
    with pytest.raises(SourceError, match="name of an encoding"):
        read_items(path, "response", encoding="klingon")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_half_a_character_at_the_end(tmp_path: Path, encoding: str) -> None:
    path = item_file(tmp_path / "items.jsonl", ENGLISH, encoding)
    path.write_bytes(path.read_bytes() + b"\x00")
    with pytest.raises(SourceError, match=r"encoding|not a text file"):
        read_items(path, "response")


@pytest.mark.parametrize("data", [b"a\0b", b"\0" * 5000, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"])
def test_zero_bytes_are_no_text(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "image.csv"
    path.write_bytes(data)
    with pytest.raises(SourceError):
        read_items(path)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", "utf-8"),
        (b"plain", "utf-8"),
        ("é".encode(), "utf-8"),
        (codecs.BOM_UTF8 + b"x", "utf-8-sig"),
        (codecs.BOM_UTF16_LE + b"x\0", "utf-16"),
        (codecs.BOM_UTF32_LE + b"x\0\0\0", "utf-32"),
        ("ab\ncd".encode("utf-16-le"), "utf-16-le"),
        ("ab\ncd".encode("utf-16-be"), "utf-16-be"),
    ],
)
def test_encodings_are_told_apart(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(data)
    assert detect_encoding(path).name == name
