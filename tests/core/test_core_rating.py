"""Answers come in through a closed door: on the scale, NA, or an error with its reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from calibrant import RecordError, Rubric, score
from calibrant.core.answer import MISSING, Abstained, Answer, Given, NotApplicable
from calibrant.core.rating import Sheet, effective_answers, read_answer, read_flags, read_sheet

Build = Callable[..., Rubric]


@pytest.mark.parametrize(
    ("criterion", "raw", "answer"),
    [
        ("tidy", "yes", Given("YES")),
        ("depth", "2.0", Given(2)),
        ("tidy", " na ", NotApplicable()),
        ("honest", "NA", NotApplicable()),
        ("depth", "NA", Abstained("not on the scale", "NA")),
        ("tidy", "error", Abstained("the rater reported an error", "error")),
        ("tidy", None, Abstained("empty answer", None)),
        ("tidy", "", Abstained("empty answer", "")),
        ("tidy", "  ", Abstained("empty answer", "  ")),
        ("tidy", "YES, mostly", Abstained("not on the scale", "YES, mostly")),
        ("tidy", True, Abstained("not on the scale", "True")),
        ("depth", 4, Abstained("not on the scale", "4")),
        ("depth", float("nan"), Abstained("not on the scale", "nan")),
    ],
)
def test_an_answer_is_read_or_says_why_not(
    small: Build, criterion: str, raw: object, answer: Answer
) -> None:
    rubric = small()
    assert read_answer(rubric, rubric.criterion(criterion), raw) == answer


@pytest.mark.parametrize("criterion", ["tidy", "depth"])
def test_an_endless_answer_is_kept_in_part(small: Build, criterion: str) -> None:
    rubric = small()
    answer = read_answer(rubric, rubric.criterion(criterion), "x" * 10_000)
    assert answer == Abstained("not on the scale", "x" * 200)


@pytest.mark.parametrize("criterion", ["tidy", "depth"])
def test_a_number_too_long_to_print_is_an_error_like_any_other(
    small: Build, criterion: str
) -> None:
    rubric = small()
    answer = read_answer(rubric, rubric.criterion(criterion), 10**5000)
    assert isinstance(answer, Abstained) and answer.reason == "not on the scale"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Given(3), "3"),
        (NotApplicable("too short"), "NA"),
        (Abstained("outage"), "ERROR"),
        (MISSING, "ERROR"),
    ],
)
def test_answers_are_written_as_the_closed_set_has_them(answer: Answer, text: str) -> None:
    assert str(answer) == text


@pytest.mark.parametrize("name", ["depth", "Depth", "DEPTH", "profundity", " depth ", "Profundity"])
def test_a_criterion_answers_to_its_id_title_and_aliases(small: Build, name: str) -> None:
    assert read_sheet(small(), {name: 3}).answers["depth"] == Given(3)


def test_a_sheet_holds_every_criterion_in_the_order_of_the_rubric(small: Build) -> None:
    sheet = read_sheet(small(), {"honest": "YES", "tidy": "NO"})
    assert sheet.answers == {
        "tidy": Given("NO"),
        "depth": MISSING,
        "honest": Given("YES"),
        "harmless": MISSING,
    }
    assert list(sheet.answers) == list(small().criterion_ids)


@pytest.mark.parametrize("name", ["", "depht", "answers", "note", "depth\u200b"])
def test_a_name_that_nothing_answers_to_is_a_fault(small: Build, name: str) -> None:
    with pytest.raises(RecordError, match="unknown criterion"):
        read_sheet(small(), {name: "YES"})


def test_a_near_miss_is_suggested(small: Build) -> None:
    with pytest.raises(RecordError, match=r"did you mean 'depth'\?"):
        read_sheet(small(), {"depht": 3})


@pytest.mark.parametrize("field", ["note", "started_at", "submitted_at", "sub_answers"])
def test_a_criterion_never_takes_the_name_of_a_field_of_the_record(
    small: Build, field: str
) -> None:
    rubric = small((("criteria", 1, "title"), field.replace("_", " ").capitalize()))
    with pytest.raises(RecordError, match="unknown criterion"):
        read_sheet(rubric, {field: "2024-05-01"})


@pytest.mark.parametrize(
    ("flags", "standing"),
    [
        ([], ()),
        (["shouting", "leak", "leak"], ("leak", "shouting")),
        (["LEAK"], ("leak",)),
        ([{"id": "leak", "state": "rejected"}], ()),
        ([{"id": "leak", "state": "rejected"}, "leak"], ("leak",)),
        ([{"flag": "Shouting", "state": "confirmed"}], ("shouting",)),
    ],
)
def test_flags_that_stand_come_in_the_order_of_the_rubric(
    small: Build, flags: list[object], standing: tuple[str, ...]
) -> None:
    assert read_flags(small(), flags) == (standing, [])


def test_unreadable_flags_are_told_and_the_others_kept(small: Build) -> None:
    standing, faults = read_flags(small(), ["leak", "leek", 7])
    assert standing == ("leak",)
    assert [fault.message for fault in faults] == [
        "unknown red flag 'leek'; did you mean 'leak'?",
        "cannot read '7' as a red flag",
    ]


@pytest.mark.parametrize(
    ("exchanges", "op", "holds"),
    [(1, "<", True), (2, "<", False), (2, "<=", True), (3, ">", True), (2, ">", False),
     (2, ">=", True), (2, "==", True), (3, "==", False)],
)  # fmt: skip
def test_a_precondition_compares_as_it_says(
    small: Build, exchanges: int, op: str, holds: bool
) -> None:
    rubric = small((("criteria", 0, "precondition", "op"), op))
    sheet = Sheet({**read_sheet(rubric, {"tidy": "NO"}).answers}, (), {"exchanges": exchanges})
    expected = NotApplicable("Short.") if holds else Given("NO")
    assert effective_answers(rubric, sheet)["tidy"] == expected


def test_what_was_handed_in_stays_beside_what_counts(small: Build) -> None:
    verdict = score(small(), {"tidy": "dunno", "depth": "dunno", "honest": None})
    assert verdict.raw == {"tidy": "dunno", "depth": None, "honest": None, "harmless": None}
    assert verdict.effective == {
        "tidy": "ERROR",
        "depth": None,
        "honest": "ERROR",
        "harmless": "ERROR",
    }
    assert (verdict.errors, verdict.missing) == (("tidy", "depth", "honest"), ("harmless",))
