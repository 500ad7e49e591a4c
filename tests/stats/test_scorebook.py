"""Scoring many sheets at once gives what scoring them one by one gives."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from calibrant import Rubric
from calibrant.core.answer import MISSING, Abstained, Answer, Given, NotApplicable
from calibrant.core.rating import Sheet
from calibrant.core.scoring import Verdict, judge
from calibrant.stats import scorebook
from calibrant.stats.runs import Codes
from calibrant.stats.scorebook import ERROR_CODE, MISSING_CODE, NA_CODE, Scorebook, Scored

Build = Callable[..., Rubric]
GATES = ("passed", "failed", "unknown")
OUTCOMES = ("passed", "failed", "undecided")


def decoded(book: Scorebook, row: int, code: int) -> Answer:
    match code:
        case 0:
            return NotApplicable()
        case 254:
            return Abstained("an outage")
        case 255:
            return MISSING
    return Given(book.values[row][code - 1])


def random_codes(book: Scorebook, n: int, seed: int) -> Codes:
    """Every code that each criterion admits, with answers on the scale the most frequent."""
    random = np.random.default_rng(seed)
    codes = np.empty((len(book.values), n), np.uint8)
    for row, criterion in enumerate(book.rubric.criteria):
        admitted = list(range(1, len(book.values[row]) + 1)) * 4 + [ERROR_CODE, MISSING_CODE]
        admitted += [] if criterion.na.policy == "excluded" else [NA_CODE] * 2
        codes[row] = random.choice(admitted, n)
    return codes


def random_flags(book: Scorebook, n: int, seed: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    most = 1 << len(book.rubric.red_flags or ())
    return np.random.default_rng(seed + 1).integers(0, most, n, np.uint64)


def one_by_one(
    book: Scorebook,
    codes: Codes,
    flags: np.ndarray[Any, np.dtype[np.uint64]],
    column: int,
) -> Verdict:
    ids = [flag.id for flag in book.rubric.red_flags or ()]
    standing = tuple(name for bit, name in enumerate(ids) if int(flags[column]) >> bit & 1)
    rows = enumerate(book.rubric.criterion_ids)
    answers = {name: decoded(book, row, int(codes[row, column])) for row, name in rows}
    return judge(book.rubric, Sheet(answers, standing))


def as_single(book: Scorebook, many: Scored, column: int) -> dict[str, Any]:
    """One column of a batch in the terms of a verdict."""
    ids = book.rubric.criterion_ids
    told: dict[str, Any] = {
        "failed": tuple(ids[row] for row in np.flatnonzero(many.failed[:, column])),
        "shut": tuple(ids[book.gated[at]] for at in np.flatnonzero(many.shut[:, column])),
        "gate": GATES[many.gate[column]] if book.rubric.gates else None,
        "incomplete": bool(many.incomplete[column]),
        "passed": bool(many.passed[column]),
        "outcome": OUTCOMES[many.outcome[column]],
        "score": None,
        "assessed": None,
        "categories": {},
        "mean": None,
        "minimum": None,
    }
    if many.units is not None:
        assert many.category_units is not None
        told["score"] = Fraction(int(many.units[column]), book.denominator)
        told["assessed"] = Fraction(
            int(book.assessed_units(many.counted)[column]), book.denominator
        )
        told["categories"] = {
            table.id: Fraction(int(many.category_units[index, column]), table.denominator)
            for index, table in enumerate(book.categories)
        }
    elif many.total is not None and many.count is not None and many.count[column]:
        assert many.minimum is not None
        told["mean"] = Fraction(int(many.total[column]), int(many.count[column]))
        told["minimum"] = int(many.minimum[column])
    return told


def as_told(verdict: Verdict) -> dict[str, Any]:
    return {
        "failed": verdict.failed_checks,
        "shut": verdict.failed_safety,
        "gate": verdict.gate,
        "incomplete": verdict.status == "incomplete",
        "passed": verdict.passed is True,
        "outcome": verdict.verdict,
        "score": verdict.exact_score,
        "assessed": verdict.exact_assessed_weight,
        "categories": verdict.exact_category_scores,
        "mean": verdict.exact_mean,
        "minimum": verdict.minimum,
    }


def assert_same(book: Scorebook, n: int, seed: int, columns: range | None = None) -> None:
    codes, flags = random_codes(book, n, seed), random_flags(book, n, seed)
    many = book.score(codes, flags)
    looked_at = range(n) if columns is None else columns
    assert [as_single(book, many, one) for one in looked_at] == [
        as_told(one_by_one(book, codes, flags, one)) for one in looked_at
    ]


@given(data=st.data(), n=st.integers(0, 20), seed=st.integers(0, 2**32))
def test_in_bulk_is_one_by_one(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject, n: int, seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scorebook, "BLOCK", 7)  # so that n is rarely a multiple of the block
        assert_same(Scorebook(data.draw(rubrics)), n, seed)


@pytest.mark.parametrize("of", ["mean", "minimum"])
@pytest.mark.parametrize("op", [">", ">="])
@pytest.mark.parametrize("value", ["2", "2.5", "3"])
def test_pass_marks_on_dimensions_are_those_of_one_sheet(
    responses: Rubric, of: str, op: str, value: str
) -> None:
    mark = {"of": of, "op": op, "value": value}
    tree = responses.model_dump() | {"aggregation": {"kind": "dimensions", "pass_mark": mark}}
    assert_same(Scorebook(Rubric.model_validate(tree)), 200, seed=6)


@pytest.mark.parametrize("op", [">", ">="])
@pytest.mark.parametrize("least", [None, "0.5", "1"])
def test_pass_marks_on_weights_are_those_of_one_sheet(
    small: Build, op: str, least: str | None
) -> None:
    rubric = small(
        (("aggregation", "pass_mark", "op"), op),
        (("aggregation", "pass_mark", "value"), "0.625"),  # reached by some sheets exactly
        (("aggregation", "minimum_assessed_weight"), least),
    )
    assert_same(Scorebook(rubric), 200, seed=7)


def test_the_last_block_may_be_short(builtin: Rubric) -> None:
    book, block = Scorebook(builtin), scorebook.BLOCK
    assert_same(book, block + 3, seed=1, columns=range(block - 2, block + 3))


@pytest.mark.parametrize("n", [0, 1, 7, 8])
def test_results_are_as_long_as_the_batch(
    builtin: Rubric, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorebook, "BLOCK", 7)
    book = Scorebook(builtin)
    many = book.score(random_codes(book, n, seed=2))
    one_each = (many.gate, many.incomplete, many.flagged, many.passed, many.outcome)
    assert {len(array) for array in one_each} == {n}
    assert many.failed.shape == many.counted.shape == (len(book.values), n)
    assert many.shut.shape == (len(book.gated), n)


def test_the_codes_that_were_handed_in_are_left_alone(plans: Rubric) -> None:
    book = Scorebook(plans)
    codes = random_codes(book, 5, seed=3)
    before = codes.copy()
    many = book.score(codes, np.full(5, book.flag_bits(["deception"]), np.uint64))
    assert np.array_equal(codes, before)
    assert np.array_equal(many.counted, np.ones_like(codes))


def test_the_first_of_two_forcing_flags_has_the_last_word(plans: Rubric) -> None:
    tree = plans.model_dump()
    tree["red_flags"][1]["forced_value"] = "3"
    book = Scorebook(Rubric.model_validate(tree))
    bits = [book.flag_bits(names) for names in (["legal_advice"], ["legal_advice", "deception"])]
    bits.append(book.flag_bits(["medical_advice", "legal_advice"]))
    many = book.score(np.full((5, 3), 5, np.uint8), np.array(bits, np.uint64))
    assert many.counted.tolist() == [[3, 3, 1]] * 5


@pytest.mark.parametrize("code", [3, 100, 253])
def test_a_code_off_the_scale_is_refused(coaching: Rubric, code: int) -> None:
    codes = np.ones((15, 4), np.uint8)
    codes[6, 2] = code
    with pytest.raises(ValueError, match="row 6 holds a code that is not on its scale"):
        Scorebook(coaching).score(codes)


def test_a_code_off_the_scale_is_refused_beside_errors_too(coaching: Rubric) -> None:
    codes = np.full((15, 4), ERROR_CODE, np.uint8)
    codes[0] = [1, 3, ERROR_CODE, MISSING_CODE]
    with pytest.raises(ValueError, match="row 0"):
        Scorebook(coaching).score(codes)


def test_na_is_refused_where_it_is_not_among_the_answers(plans: Rubric) -> None:
    with pytest.raises(ValueError, match="row 0"):
        Scorebook(plans).score(np.full((5, 1), NA_CODE, np.uint8))


@pytest.mark.parametrize(
    "codes",
    [
        np.ones((14, 3), np.uint8),
        np.ones((3, 15), np.uint8),
        np.ones(15, np.uint8),
        np.ones((15, 3, 1), np.uint8),
        np.ones((15, 3), np.int64),
        np.ones((15, 3), bool),
    ],
)
def test_codes_of_another_shape_or_type_are_refused(
    coaching: Rubric, codes: np.ndarray[Any, Any]
) -> None:
    with pytest.raises(ValueError, match=r"uint8 of shape \(15, n\)"):
        Scorebook(coaching).score(codes)


@pytest.mark.parametrize("bits", [[1], [1, 0], [1, 0, 0, 0]])
def test_flags_of_another_length_are_refused(plans: Rubric, bits: list[int]) -> None:
    codes = np.ones((5, 3), np.uint8)
    with pytest.raises(ValueError, match="flags"):
        Scorebook(plans).score(codes, np.array(bits, np.uint64))


def test_one_flag_for_three_sheets_is_not_spread_over_them(small: Build) -> None:
    with pytest.raises(ValueError, match="flags"):
        Scorebook(small()).score(np.ones((4, 3), np.uint8), np.array([1], np.uint64))


# -- exact, however fine the grain


def test_twelve_decimals_and_sevenths_stay_exact(small: Build) -> None:
    sevenths = {str(level): {"text": "A level."} for level in range(1, 9)}
    elevenths = {str(level): {"text": "A level."} for level in range(1, 13)}
    rubric = small(
        (("scales", 1, "maximum"), 8),
        (("scales", 2), {"kind": "ordinal", "id": "twelve", "minimum": 1, "maximum": 12}),
        (("criteria", 1, "anchors"), sevenths),
        (("criteria", 2, "scale"), "twelve"),
        (("criteria", 2, "anchors"), elevenths),
        (("categories", 0, "weight"), "0.123456789011"),
        (("categories", 1, "weight"), "0.876543210989"),
        (("aggregation", "na_counts"), "0.999999999999"),
    )
    book = Scorebook(rubric)
    assert book.denominator > np.iinfo(np.uint64).max  # no machine integer would hold it
    assert_same(book, 50, seed=4)


@pytest.mark.parametrize(
    ("weight", "bits"), [("0.5", 8), ("0.001", 16), ("0.0000001", 32), ("0.000000000001", 64)]
)
def test_every_width_of_integer_stays_exact(small: Build, weight: str, bits: int) -> None:
    rest = str(1 - Fraction(weight)).split("/")
    rubric = small(
        (("categories", 0, "weight"), weight),
        (("categories", 1, "weight"), f"{int(rest[0]) / int(rest[1]):.12f}"),
    )
    book = Scorebook(rubric)
    many = book.score(random_codes(book, 1, seed=0))
    assert many.units is not None and many.units.dtype.itemsize * 8 == bits
    assert_same(book, 50, seed=5)


@pytest.mark.parametrize("of", ["mean", "minimum"])
def test_a_pass_mark_of_eighteen_digits_is_compared_exactly(plans: Rubric, of: str) -> None:
    tree = plans.model_dump()
    mark = {"of": of, "op": ">", "value": "1.00000000000000001"}
    hundred = {str(level): {"text": "A level."} for level in range(1, 101)}
    tree["scales"][0]["maximum"] = 100
    tree["criteria"] = [one | {"anchors": hundred} for one in tree["criteria"]]
    tree |= {"aggregation": {"kind": "dimensions", "pass_mark": mark}, "red_flags": None}
    book = Scorebook(Rubric.model_validate(tree))
    codes = np.array([[100, 1]] * 5, np.uint8)
    assert book.score(codes).passed.tolist() == [True, False]


def flags(count: int) -> list[dict[str, str]]:
    names = [f"f{n}" for n in range(count)]
    return [{"id": one, "title": one, "text": "Found.", "effect": "reject"} for one in names]


def test_sixty_four_flags_fit_the_bits_of_one_number(small: Build) -> None:
    book = Scorebook(small((("red_flags",), flags(64))))
    bits = np.array([book.flag_bits(["f63"]), 0], np.uint64)
    assert book.score(np.ones((4, 2), np.uint8), bits).flagged.tolist() == [True, False]


def test_a_rubric_with_more_flags_than_bits_is_refused(small: Build) -> None:
    with pytest.raises(ValidationError):
        small((("red_flags",), flags(65)))


# -- codes


@given(data=st.data())
def test_codes_and_answers_are_one_to_one(
    rubrics: st.SearchStrategy[Rubric], data: st.DataObject
) -> None:
    book = Scorebook(data.draw(rubrics))
    row = data.draw(st.integers(0, len(book.values) - 1))
    codes = [*range(len(book.values[row]) + 1), ERROR_CODE, MISSING_CODE]
    assert [book.encode(row, decoded(book, row, code)) for code in codes] == codes


def test_preconditions_write_na_and_leave_the_given_codes_alone(coaching: Rubric) -> None:
    book = Scorebook(coaching)
    codes = np.full((15, 4), 2, np.uint8)
    out = book.apply_preconditions(codes, {"exchanges": np.array([1, 2, 3, 40])})
    row = coaching.criterion_ids.index("MT4")
    assert out[row].tolist() == [NA_CODE, NA_CODE, 2, 2]
    assert np.array_equal(np.delete(out, row, 0), np.delete(codes, row, 0))
    assert set(codes.flat) == {2}


def test_without_measures_preconditions_change_nothing(coaching: Rubric) -> None:
    codes = np.full((15, 4), 2, np.uint8)
    assert Scorebook(coaching).apply_preconditions(codes, {}) is codes


@pytest.mark.parametrize(("op", "more"), [(">=", 0), (">", 1)])
def test_the_least_passing_units_follow_the_operator(coaching: Rubric, op: str, more: int) -> None:
    tree = coaching.model_dump()
    tree["aggregation"]["pass_mark"]["op"] = op
    book = Scorebook(Rubric.model_validate(tree))
    assert book.least_passing() == Fraction(4, 5) * book.denominator + more
