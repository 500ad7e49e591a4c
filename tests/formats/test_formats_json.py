"""JSON read strictly: no key twice, no NaN, no surprise about depth or size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calibrant.core.errors import SourceError
from calibrant.formats.items import read_items
from calibrant.formats.json_text import BadJson, parse_json
from calibrant.formats.records import read_records


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1,
        2.5,
        'é\n"',
        [],
        {},
        [1, [2, {"a": None}]],
        {"a": {"a": 1}, "b": 2},
        10**40,
    ],
)
def test_json_is_read(value: Any) -> None:
    text = json.dumps(value)
    assert parse_json(text) == value
    assert parse_json(text.encode()) == value
    assert parse_json(f" {text}\r\n") == value


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": 1, "a" :1}',
        '{"a": 1, "\\u0061": 2}',
        '{"b": [{"a": {}, "a": {}}]}',
        '{"": 1, "": 2}',
        '{"a:b": 1, "a:b": 2}',
    ],
)
def test_a_key_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(BadJson, match="stands twice"):
        parse_json(text)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("frame", ["{}", "[{}]", '{{"a": {}}}'])
def test_words_that_are_no_json_numbers(word: str, frame: str) -> None:
    with pytest.raises(BadJson, match=word):
        parse_json(frame.format(word))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "character 1"),
        ('{"a": }', "character 7"),
        ('{"a": 1} x', "character 10"),
        ("{'a': 1}", "character 2"),
        ('{"a": 1,}', "not JSON"),
        ('"a\nb"', "character 3"),
        ("01", "character 2"),
        ('"\\x"', "character 2"),
        ("[" * 100_000, "too deeply"),
        ("1" * 5000, "digits"),
        ("\ufeff{}", "not JSON"),
    ],
)
def test_what_is_wrong_and_where(text: str, told: str) -> None:
    with pytest.raises(BadJson, match=told) as caught:
        parse_json(text)
    assert len(str(caught.value).splitlines()) == 1


def test_bytes_that_are_no_utf8() -> None:
    with pytest.raises(BadJson, match="not UTF-8 at byte 1"):
        parse_json(b'"\xff"')


def test_a_long_key_is_not_repeated_at_length() -> None:
    key = "x" * 100_000
    with pytest.raises(BadJson) as caught:
        parse_json(f'{{"{key}": 1, "{key}": 2}}')
    assert len(str(caught.value)) < 200


# -- files


def test_every_line_is_a_record_of_its_number(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"a": 1}\n\n[1, 2]\r\n   \n{"a": \n"x"\n{"a": 1, "a": 2}', "utf-8", newline="")
    records = list(read_records(path).stream)
    assert [record.number for record in records] == [1, 3, 5, 6, 7]
    assert [record.value for record in records] == [{"a": 1}, [1, 2], None, "x", None]
    assert [record.fault is not None for record in records] == [False, False, True, False, True]
    told = [record.fault for record in records if record.fault is not None]
    assert [fault.record for fault in told] == [5, 7]
    assert all(fault.source == str(path) for fault in told)


def test_two_values_on_one_line_are_no_record(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"text": "a"} {"text": "b"}\n\n{"text": "c"}{"text": "d"}\n', "utf-8")
    read = read_items(path, "free")
    assert not read.items
    assert [fault.record for fault in read.faults] == [1, 3]


@pytest.mark.parametrize(
    ("text", "count"), [("[]", 0), ('[{"text": "a"}, {"text": "b"}]', 2), ('{"text": "a"}', 1)]
)
def test_a_document_is_a_list_of_records_or_one(tmp_path: Path, text: str, count: int) -> None:
    path = tmp_path / "document.json"
    path.write_text(text, "utf-8")
    assert len(list(read_records(path).stream)) == count


@pytest.mark.parametrize("text", ["", "[", '[{"a": 1}, {"a": 1, "a": 2}]', "[NaN]", "[1] [2]"])
def test_a_broken_document_is_not_read_at_all(tmp_path: Path, text: str) -> None:
    path = tmp_path / "document.json"
    path.write_text(text, "utf-8")
    with pytest.raises(SourceError, match=r"not JSON|stands twice"):
        list(read_records(path).stream)


def test_a_document_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "document.json"
    path.write_text("[" + "1, " * 1000 + "1]", "utf-8")
    monkeypatch.setattr("calibrant.formats.records.MAX_JSON", 1000)
    with pytest.raises(SourceError, match="jsonl"):
        list(read_records(path).stream)
