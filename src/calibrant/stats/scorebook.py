"""A rubric compiled to integer tables; scores millions of sheets with whole-array arithmetic.

Answers come as *codes*: 0 is NA, 1 to V the points of the scale in their order, 254 an error,
255 a missing answer. Arrays hold one row per criterion and one column per sheet, shape
``(C, n)``, so that each step runs over contiguous bytes. All arithmetic is on integers: a
score is a count of 1/D, where D is the least common denominator of everything it is made of.
The results are those of ``core.scoring``, sheet by sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.core.answer import Abstained, Answer, Given, Missing, NotApplicable
from calibrant.core.criterion import Category, Criterion, Dimensions, WeightedCategories
from calibrant.core.document import holds
from calibrant.core.rating import read_answer
from calibrant.core.rubric import Rubric
from calibrant.stats.runs import (
    Codes,
    Mask,
    Run,
    add,
    add_scaled,
    among,
    count_hits,
    runs,
    smallest,
    within,
    worth_runs,
)

NA_CODE, ERROR_CODE, MISSING_CODE = 0, 254, 255
BLOCK = 131_072
"""Sheets handled at a time: the rows in work fit the cache, and few calls go over them."""

PASSED, FAILED, UNKNOWN = 0, 1, 2
"""States of the gate."""
UNDECIDED = 2
"""With PASSED and FAILED, the outcomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What a batch of sheets amounts to; arrays of length n unless said otherwise."""

    codes: Codes
    """After preconditions, shape (C, n)."""
    counted: Codes
    """After red flags too, shape (C, n); the same array where no flag forces anything."""
    units: NDArray[Any] | None
    """Score, in 1/``Scorebook.denominator``; None without weighted categories."""
    category_units: NDArray[Any] | None
    """Shape (categories, n), each row in 1/``Scorebook.categories[i].denominator``."""
    total: NDArray[np.int64] | None
    """Sum of the dimensions; None with weighted categories."""
    count: NDArray[np.int64] | None
    minimum: NDArray[np.int64] | None
    """Lowest dimension, where ``count`` is not 0."""
    failed: Mask
    """Criteria that failed, shape (C, n)."""
    shut: Mask
    """Criteria that keep a gate shut, one row for each of ``Scorebook.gated``."""
    gate: NDArray[np.uint8]
    incomplete: Mask
    flagged: Mask
    """Sheets that a red flag fails."""
    passed: Mask
    outcome: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class CategoryTable:
    """One weighted category: its criteria and what each of their codes is worth."""

    id: str
    rows: tuple[int, ...]
    worths: tuple[tuple[tuple[Run, int], ...], ...]
    """By criterion: runs of codes with their worth in 1/``denominator``."""
    denominator: int
    factor: int
    """What one unit of the category adds to the score, in units of the score."""
    share: int
    """What one assessed criterion adds to the assessed weight, in units of the score."""
    all_or_nothing: bool
    """Whether every criterion is worth 1 unless it failed, and then nothing."""


class Scorebook:
    """A rubric, ready to score arrays of codes."""

    def __init__(self, rubric: Rubric) -> None:
        self.rubric = rubric
        self.values = [rubric.scale_of(one).points_of_scale for one in rubric.criteria]
        self.takes_na = [one.na.policy != "excluded" for one in rubric.criteria]
        self.failing: list[tuple[Run, ...]] = []
        self.shutting: list[tuple[Run, ...]] = []
        for one in rubric.criteria:
            failing = {str(value) for value in rubric.failing_values(one)}
            gates = [gate for gate in rubric.gates or () if one.id in gate.criteria]
            shutting = {word for gate in gates for word in gate.fails_on}
            self.failing.append(runs(self._failing_codes(one, failing)))
            self.shutting.append(runs(self._failing_codes(one, shutting)) if gates else ())
        self.gated = tuple(row for row, shutting in enumerate(self.shutting) if shutting)
        self._flags = rubric.red_flags or ()
        self.denominator = 1
        self.categories: tuple[CategoryTable, ...] = ()
        if isinstance(rubric.aggregation, WeightedCategories):
            self._compile_categories(rubric.aggregation)

    # -- codes

    def encode(self, row: int, answer: Answer) -> int:
        """The code of an answer to the criterion in that row."""
        match answer:
            case Given(value):
                return self.values[row].index(value) + 1
            case NotApplicable():
                return NA_CODE
            case Abstained():
                return ERROR_CODE
            case Missing():
                return MISSING_CODE

    def apply_preconditions(self, codes: Codes, measures: Mapping[str, NDArray[np.int64]]) -> Codes:
        """NA where the rubric's preconditions hold; ``codes`` itself is left alone."""
        out = codes
        for row, criterion in enumerate(self.rubric.criteria):
            condition = criterion.precondition
            if condition is None or condition.metric not in measures:
                continue
            counts, inverse = np.unique(measures[condition.metric], return_inverse=True)
            hit = np.array([holds(int(n), condition.op, condition.value) for n in counts])
            if hit.any():
                out = codes.copy() if out is codes else out
                out[row][hit[inverse]] = NA_CODE
        return out

    def flag_bits(self, names: Iterable[str]) -> int:
        """Red flags as the bits of one number, in the rubric's order."""
        ids = [flag.id for flag in self._flags]
        return sum(1 << ids.index(name) for name in set(names))

    # -- scoring

    def score(self, codes: Codes, flags: NDArray[np.uint64] | None = None) -> Scored:
        """Verdicts of n sheets from their codes, shape (C, n), and the bits of their flags."""
        if codes.dtype != np.uint8 or codes.shape[:1] != (len(self.values),) or codes.ndim != 2:
            raise ValueError(f"codes must be uint8 of shape ({len(self.values)}, n)")
        if flags is not None and flags.shape != codes.shape[1:]:
            raise ValueError(f"flags must be of shape {codes.shape[1:]}")
        known = np.uint64((1 << len(self._flags)) - 1)
        if flags is not None and (flags & ~known).any():
            raise ValueError("flags hold a bit that is no red flag of the rubric")
        flagged = self._flagged(codes.shape[1], flags)
        out = _Batch(self, codes, self._forced(codes, flags), flagged)
        for start in range(0, codes.shape[1], BLOCK):
            out.fill(slice(start, start + BLOCK))
        return out.scored()

    def assessed_units(self, counted: Codes) -> NDArray[Any]:
        """Weight of the criteria that were answered on their scale, in 1/``denominator``."""
        units = np.zeros(counted.shape[1], smallest(self.denominator))
        given = np.empty(counted.shape, bool)
        for table in self.categories:
            for row in table.rows:
                top = int(counted[row].max(initial=0))
                within(counted[row], (1, len(self.values[row])), top, given[row])
            if table.rows:
                add_scaled(units, count_hits(given, table.rows), table.share)
        return units

    def _forced(self, codes: Codes, flags: NDArray[np.uint64] | None) -> Codes:
        """Codes as red flags force them."""
        out = codes
        if flags is None or not flags.any():
            return out
        for bit, flag in reversed(list(enumerate(self._flags))):  # the first flag has the last word
            hit = (flags >> np.uint64(bit) & np.uint64(1)).astype(bool)
            if flag.forced_value is not None and hit.any():
                out = codes.copy() if out is codes else out
                for row, criterion in enumerate(self.rubric.criteria):
                    forced = read_answer(self.rubric, criterion, flag.forced_value)
                    out[row][hit] = self.encode(row, forced)
        return out

    def _flagged(self, n: int, flags: NDArray[np.uint64] | None) -> Mask:
        failing = self.flag_bits(flag.id for flag in self._flags if flag.effect != "indicate")
        if flags is None:
            return np.zeros(n, bool)
        return (flags & np.uint64(failing)).astype(bool)

    # -- compiling

    def _failing_codes(self, criterion: Criterion, words: Iterable[str]) -> set[int]:
        """Codes of the answers that read as one of ``words``, and all that fails closed."""
        values = self.rubric.scale_of(criterion).points_of_scale
        codes = {code for code, value in enumerate(values, 1) if str(value) in words}
        invalid_na = {NA_CODE} if criterion.na.policy == "invalid" else set()
        # no code lies between the scale and the errors: where both ends fail, one run covers all
        between = range(len(values) + 1, ERROR_CODE) if len(values) in codes else ()
        return codes | invalid_na | set(between) | {ERROR_CODE, MISSING_CODE}

    def _compile_categories(self, rule: WeightedCategories) -> None:
        """Integer tables of the weighted categories, all in units of one denominator."""
        parts: list[
            tuple[Category, tuple[Criterion, ...], list[dict[int, Fraction]], Fraction]
        ] = []
        for category in self.rubric.categories or ():
            if category.weight is not None:
                criteria = self.rubric.criteria_of(category.id)
                worths = [self._worths(rule, criterion) for criterion in criteria]
                share = Fraction(category.weight) / max(1, len(criteria))
                parts.append((category, criteria, worths, share))
        grains = [
            lcm(*(w.denominator for t in worths for w in t.values())) for _, _, worths, _ in parts
        ]
        self.denominator = lcm(
            *((part[3] / grain).denominator for part, grain in zip(parts, grains, strict=True))
        )
        ids = self.rubric.criterion_ids
        self.categories = tuple(
            CategoryTable(
                id=category.id,
                rows=tuple(ids.index(one.id) for one in criteria),
                worths=tuple(worth_runs(table, grain) for table in worths),
                denominator=grain * max(1, len(criteria)),
                factor=int(share / grain * self.denominator),
                share=int(share * self.denominator),
                all_or_nothing=all(map(self._is_all_or_nothing, criteria, worths)),
            )
            for (category, criteria, worths, share), grain in zip(parts, grains, strict=True)
        )

    def _is_all_or_nothing(self, criterion: Criterion, worths: Mapping[int, Fraction]) -> bool:
        failing = self.failing[self.rubric.criterion_ids.index(criterion.id)]
        failed = {code for low, high in failing for code in range(low, high + 1)}
        return all(worth == (0 if code in failed else 1) for code, worth in worths.items())

    def _worths(self, rule: WeightedCategories, criterion: Criterion) -> dict[int, Fraction]:
        """What each code is worth, from 0 to 1."""
        scale = self.rubric.scale_of(criterion)
        invalid = criterion.na.policy == "invalid"
        error = Fraction(rule.error_counts)
        return {
            NA_CODE: Fraction(rule.invalid_na_counts if invalid else rule.na_counts),
            **{
                code: scale.worth(value) or Fraction(0)
                for code, value in enumerate(scale.points_of_scale, 1)
            },
            ERROR_CODE: error,
            MISSING_CODE: error,
        }

    def least_passing(self) -> int | None:
        """The least number of units that reaches the pass mark of weighted categories."""
        rule = self.rubric.aggregation
        if not isinstance(rule, WeightedCategories) or rule.pass_mark is None:
            return None
        exact = Fraction(rule.pass_mark.value) * self.denominator
        return floor(exact) + 1 if rule.pass_mark.op == ">" else ceil(exact)

    def least_assessed(self) -> int:
        """The least number of units that must have been assessed for a verdict."""
        rule = self.rubric.aggregation
        if not isinstance(rule, WeightedCategories) or rule.minimum_assessed_weight is None:
            return 0
        return ceil(Fraction(rule.minimum_assessed_weight) * self.denominator)


class _Batch:
    """The result arrays of one batch, filled block by block."""

    def __init__(self, book: Scorebook, codes: Codes, counted: Codes, flagged: Mask) -> None:
        rows, n = codes.shape
        self.book, self.codes, self.counted, self.flagged = book, codes, counted, flagged
        self.failed = np.empty((rows, n), bool)
        self.shut = np.empty((len(book.gated), n), bool)
        self.incomplete = np.zeros(n, bool)
        self.gate = np.empty(n, np.uint8)
        self.passed = np.empty(n, bool)
        self.outcome = np.empty(n, np.uint8)
        self.units = self.category_units = None
        self.total = self.count = self.minimum = None
        if book.categories:
            self.units = np.zeros(n, smallest(book.denominator))
            grain = smallest(max(table.denominator for table in book.categories))
            self.category_units = np.zeros((len(book.categories), n), grain)
        else:
            self.total, self.count = np.zeros(n, np.int64), np.zeros(n, np.int64)
            self.minimum = np.full(n, np.iinfo(np.int64).max)

    def fill(self, block: slice) -> None:
        """All arithmetic for the sheets of one block."""
        codes, counted = self.codes[:, block], self.counted[:, block]
        tops = [int(row.max()) for row in codes]
        self._check(codes, tops, block)
        if self.book.categories:
            same = self.counted is self.codes
            self._weigh(counted, tops if same else [int(row.max()) for row in counted], block)
        else:
            self._describe(counted, block)
        self._decide(counted, block)

    def _check(self, codes: Codes, tops: list[int], block: slice) -> None:
        """Which criteria fail, which keep a gate shut, which are not answered."""
        known = np.zeros(codes.shape[1], bool)
        unknown = np.zeros(codes.shape[1], bool)
        for row, code in enumerate(codes):
            top = tops[row]
            if not self.book.takes_na[row] and not code.min():
                raise ValueError(f"row {row} holds NA, which is not among its answers")
            unanswered = self._unanswered(row, code) if top > len(self.book.values[row]) else None
            if unanswered is not None:
                self.incomplete[block] |= unanswered
            among(code, self.book.failing[row], top, self.failed[row, block])
            if row in self.book.gated:
                shut = self.shut[self.book.gated.index(row), block]
                among(code, self.book.shutting[row], top, shut)
                known |= shut if unanswered is None else shut & ~unanswered
                if unanswered is not None:
                    unknown |= unanswered
        np.add(known.view(np.uint8), 2 * (unknown > known).view(np.uint8), out=self.gate[block])

    def _unanswered(self, row: int, code: Codes) -> Mask:
        """Errors and missing answers; refuses codes that are neither these nor on the scale."""
        unanswered = np.greater_equal(code, np.uint8(ERROR_CODE))
        off_scale = np.count_nonzero(code > len(self.book.values[row]))
        if off_scale != np.count_nonzero(unanswered):
            raise ValueError(f"row {row} holds a code that is not on its scale")
        return np.asarray(unanswered, bool)

    def _weigh(self, codes: Codes, tops: list[int], block: slice) -> None:
        """Units of every category and of the score."""
        assert self.category_units is not None and self.units is not None
        for index, table in enumerate(self.book.categories):
            units = self.category_units[index, block]
            if not table.rows:
                units += units.dtype.type(table.denominator)
            elif table.all_or_nothing and self.counted is self.codes:
                failed = count_hits(self.failed[:, block], table.rows)
                np.subtract(len(table.rows), failed, out=units, casting="unsafe")
            else:
                hit = np.empty(codes.shape[1], bool)
                for row, worths in zip(table.rows, table.worths, strict=True):
                    for run, worth in worths:
                        within(codes[row], run, tops[row], hit)
                        add(units, hit, worth)
            add_scaled(self.units[block], units, table.factor)

    def _describe(self, codes: Codes, block: slice) -> None:
        """Sum, number and minimum of the dimensions on ordinal scales."""
        assert self.total is not None and self.count is not None and self.minimum is not None
        for row, code in enumerate(codes):
            lowest = self.book.values[row][0]
            if not isinstance(lowest, int):
                continue
            given = np.empty(len(code), bool)
            within(code, (1, len(self.book.values[row])), int(code.max(initial=0)), given)
            value = code.astype(np.int64) + (lowest - 1)
            self.total[block] += value * given
            self.count[block] += given
            np.minimum(self.minimum[block], value, out=self.minimum[block], where=given)

    def _decide(self, counted: Codes, block: slice) -> None:
        """What the sheets of a block amount to."""
        flagged, incomplete = self.flagged[block], self.incomplete[block]
        stands = self.gate[block] == PASSED
        stands &= ~flagged
        passed = np.logical_and(stands, self._reached(block), out=self.passed[block])
        undecided = incomplete
        least = self.book.least_assessed()
        if least:
            too_little = self.book.assessed_units(counted) < least
            passed &= ~too_little
            undecided = incomplete | too_little
        if self.book.rubric.aggregation.pass_mark is None:
            undecided = undecided | stands  # only a gate or a flag decides
        outcome = np.subtract(1, passed.view(np.uint8), out=self.outcome[block])
        np.copyto(outcome, UNDECIDED, where=undecided & ~flagged)

    def _reached(self, block: slice) -> Mask:
        """Sheets at or above the pass mark; none where there is no mark."""
        least = self.book.least_passing()
        if least is not None and self.units is not None:
            return np.asarray(self.units[block] >= least, bool)
        rule = self.book.rubric.aggregation
        if not isinstance(rule, Dimensions) or rule.pass_mark is None:
            return np.zeros(len(self.gate[block]), bool)
        assert self.total is not None and self.count is not None and self.minimum is not None
        total, count, minimum = self.total[block], self.count[block], self.minimum[block]
        mark = Fraction(rule.pass_mark.value)
        of_mean = rule.pass_mark.of == "mean"
        reached = total if of_mean else np.where(count > 0, minimum, 0)
        needed: Any = count if of_mean else 1
        if max(abs(mark.numerator), mark.denominator) > 1_000_000:  # products beyond 64 bits
            reached, needed = reached.astype(object), np.asarray(needed, object)
        needed = needed * mark.numerator
        compare = np.greater if rule.pass_mark.op == ">" else np.greater_equal
        return np.asarray((count > 0) & compare(reached * mark.denominator, needed), bool)

    def scored(self) -> Scored:
        """The filled arrays."""
        return Scored(
            codes=self.codes,
            counted=self.counted,
            units=self.units,
            category_units=self.category_units,
            total=self.total,
            count=self.count,
            minimum=self.minimum,
            failed=self.failed,
            shut=self.shut,
            gate=self.gate,
            incomplete=self.incomplete,
            flagged=self.flagged,
            passed=self.passed,
            outcome=self.outcome,
        )
