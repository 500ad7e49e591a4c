"""Many texts laid end to end, and what is counted in all of them at once, by whole arrays.

What comes out is the same as ``text.py`` gives for each text by itself. One sign is one byte here:
signs beyond Latin-1 are told only by what they are, a letter, an ideogram, a blank or a mark.
Places are places in all texts together, unless they are said to be in one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from calibrant.raters.checks.packed import KEEP, Bools, Bytes, Ints, Words
from calibrant.raters.checks.text import LONGEST_BEFORE_STOP, is_no_end, plain, tails, word_counts

BREAK = "\x00"
"""Stands between texts that are read together; no phrase holds it."""
_GAP, _MARK, _ALNUM = 0, 1, 2
"""Kinds of signs: blanks and breaks, letters and digits, and all others."""
_WIDE_MARK, _WIDE_BLANK, _WIDE_LETTER, _IDEOGRAM = 0x80, 0x81, 0x82, 0x83
"""Bytes for signs beyond Latin-1; the control characters that have these codes are marks."""
PAD = 8
"""Noughts after the last sign, so that the eight signs from any place on can be asked for."""


def _kind(code: int) -> int:
    if code in (_WIDE_MARK, _WIDE_BLANK, _WIDE_LETTER, _IDEOGRAM):
        return {_WIDE_MARK: _MARK, _WIDE_BLANK: _GAP}.get(code, _ALNUM)
    sign = chr(code)
    return _GAP if not code or sign.isspace() else _ALNUM if sign.isalnum() else _MARK


_KINDS = bytes(map(_kind, range(256)))
KINDS: Bytes = np.frombuffer(_KINDS, np.uint8)
IS_ALNUM: Bools = KINDS == _ALNUM
_CLOSES = bytes(code in b"\"')]*_" for code in range(256))
_TAILS = np.zeros((256, 256), np.bool_)
for _tail in tails():
    _TAILS[tuple(_tail.lower().rjust(2, BREAK).encode())] = True
"""The two signs before a full stop that may be no end."""


def one_byte_signs(text: str) -> bytes:
    """A text with one byte a sign, and some noughts after it."""
    if text.isascii():
        return text.encode("ascii") + bytes(PAD)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    out = codes.astype(np.uint8)
    out[(codes >= _WIDE_MARK) & (codes <= _IDEOGRAM)] = _WIDE_MARK
    wide = np.flatnonzero(codes > 0xFF)
    if wide.size:
        ordered = np.sort(codes[wide])
        known = ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]
        kinds = np.array([_wide(chr(code)) for code in known.tolist()], np.uint8)
        out[wide] = kinds[np.searchsorted(known, codes[wide])]
    return out.tobytes() + bytes(PAD)


def _wide(sign: str) -> int:
    if sign.isalnum():
        return _IDEOGRAM if "\u3040" <= sign <= "\u9fff" else _WIDE_LETTER
    return _WIDE_BLANK if sign.isspace() else _WIDE_MARK


class Sentences(NamedTuple):
    """Where each sentence begins and ends, in order, and the first of each text."""

    starts: list[int]
    ends: list[int]
    first: list[int]
    """Of each text, and after the last the number of all."""


class LetterRuns(NamedTuple):
    """Runs of at least four small ASCII letters: where they stand, and their first five."""

    starts: Ints
    ends: Ints
    stems: Words
    """Packed; the order of these numbers is that of the alphabet."""


class Texts:
    """Texts in order, each once; whatever is asked for is computed once, for all of them."""

    def __init__(self, texts: Sequence[str]) -> None:
        joined = BREAK.join(texts)
        if joined.count(BREAK) >= len(texts):  # a text holds the mark itself
            joined = BREAK.join([one.replace(BREAK, " ") for one in texts])
        self.plain = plain(joined)
        """With plain quotes, dashes and spaces; places are those of the source."""
        self.low = self.plain.lower()
        """The same in small letters."""
        self.starts = [0, *accumulate([len(one) + 1 for one in texts])]
        """Where each begins, and after the last where another would."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    # -- signs

    @cached_property
    def _raw(self) -> bytes:
        return one_byte_signs(self.low)

    @cached_property
    def codes(self) -> Bytes:
        """Every sign of the small letters as a byte, and noughts after the last."""
        return np.frombuffer(self._raw, np.uint8)

    @cached_property
    def eights(self) -> Words:
        """The eight signs from each place on, as one number."""
        size = len(self.low) + 1
        return np.ndarray((size,), ">u8", self._raw, strides=(1,))

    @cached_property
    def _kinds(self) -> Bytes:
        return np.frombuffer(self._raw.translate(_KINDS), np.uint8)

    @cached_property
    def bounds(self) -> Ints:
        """Where each text begins, without the end of the last."""
        return np.array(self.starts[:-1], np.intp)

    @cached_property
    def tokens(self) -> tuple[Ints, Ints]:
        """What stands between blanks: where it begins and where it ends."""
        filled = np.empty(self._kinds.size + 1, np.bool_)
        filled[0] = False
        np.not_equal(self._kinds, _GAP, out=filled[1:])
        edges = np.flatnonzero(filled[1:] != filled[:-1])
        return edges[::2], edges[1::2]

    # -- words

    @cached_property
    def word_counts(self) -> list[int]:
        """How many words each text has."""
        if _IDEOGRAM in self._raw:
            return word_counts(self.plain, BREAK)
        starts, ends = self.tokens
        worded = self._kinds[starts] == _ALNUM
        odd = np.flatnonzero(~worded)
        if odd.size:
            pairs = np.stack((starts[odd], ends[odd]), axis=1).ravel()
            worded[odd] = np.maximum.reduceat(self._kinds, pairs)[::2] == _ALNUM
        reached = np.searchsorted(starts[worded], self.starts)
        return np.diff(reached).tolist() if len(self) else []

    @cached_property
    def letter_runs(self) -> LetterRuns:
        """Runs of at least four ASCII letters."""
        letters = np.empty(self.codes.size + 1, np.bool_)
        letters[0] = False
        np.less(self.codes - np.uint8(ord("a")), 26, out=letters[1:])
        edges = np.flatnonzero(letters[1:] != letters[:-1])
        starts, ends = edges[::2], edges[1::2]
        sizes = ends - starts
        long = np.flatnonzero(sizes >= 4)
        starts, ends, sizes = starts[long], ends[long], sizes[long]
        stems = self.eights[starts].astype(np.uint64) & KEEP[np.minimum(sizes, 5)]
        return LetterRuns(starts, ends, stems)

    # -- sentences

    @cached_property
    def sentences(self) -> Sentences:
        """Sentences of all texts; a line break ends one, an abbreviation does not."""
        starts, ends = self.tokens
        last = np.searchsorted(starts, self.starts[1:]) - 1
        closing = np.zeros(starts.size, np.bool_)
        if not starts.size:
            return Sentences([], [], [0] * (len(self) + 1))
        stopped, at = self._stops(ends)
        swallowed = np.zeros(starts.size, np.bool_)
        swallowed[stopped] = True
        closing[stopped] = True
        short = np.flatnonzero(at - starts[stopped] <= LONGEST_BEFORE_STOP)
        closing[stopped[short[self._no_ends(at[short])]]] = False
        lines = np.searchsorted(starts, np.flatnonzero(self.codes == ord("\n"))) - 1
        lines = lines[lines >= 0]
        closing[lines] |= ~swallowed[lines]  # blanks after a stop belong to it, with their breaks
        closing[last[last >= 0]] = True
        opening = np.concatenate(([True], closing[:-1]))
        begins = starts[opening]
        first = np.searchsorted(begins, self.starts)
        return Sentences(begins.tolist(), ends[closing].tolist(), first.tolist())

    def _stops(self, ends: Ints) -> tuple[Ints, Ints]:
        """Tokens that end in stops and what closes quotes, and where their stops begin."""
        codes = self.codes
        at = np.flatnonzero((codes == 46) | (codes == 33) | (codes == 63))
        begins = np.diff(at, prepend=-2) > 1
        after = at[np.concatenate((begins[1:], [True]))[: at.size]] + 1
        at = at[begins]
        closes = np.frombuffer(self._raw.translate(_CLOSES), np.bool_)
        closers = np.flatnonzero(closes[after])
        if closers.size:
            every = np.flatnonzero(closes)
            run_ends = every[np.concatenate((np.diff(every) > 1, [True]))] + 1
            reach = run_ends[np.searchsorted(run_ends, after[closers], "right")]
            after[closers] = reach
        valid = self._kinds[after] == _GAP
        return np.searchsorted(ends, after[valid]), at[valid]

    def _no_ends(self, at: Ints) -> Ints:
        """Which of these stops belong to an abbreviation, or to the number of a list."""
        codes = self.codes
        likely = np.flatnonzero(_TAILS[codes[at - 2], codes[at - 1]] & (codes[at] == ord(".")))
        found = []
        for which, place in zip(likely.tolist(), at[likely].tolist(), strict=True):
            part = bisect_right(self.starts, place) - 1
            begin, end = max(self.starts[part], place - 16), self.starts[part + 1] - 1
            if is_no_end(self.plain[begin : min(place + 2, end)], place - begin):
                found.append(which)
        return np.array(found, np.intp)

    # -- questions

    @cached_property
    def last_question_marks(self) -> list[int]:
        """Where the last question mark of each text stands in it, or -1."""
        marks = np.flatnonzero(self.codes == ord("?"))
        if not marks.size:
            return [-1] * len(self)
        last = np.searchsorted(marks, self.starts[1:]) - 1
        found: Ints = np.where(last >= 0, marks[last], -1) - self.bounds
        out: list[int] = np.maximum(found, -1).tolist()
        return out

    @cached_property
    def question_ends(self) -> list[int]:
        """Where the question mark stands that ends a text, or -1."""
        last = np.array(self.last_question_marks, np.intp)
        out: Ints = np.full(last.size, -1, np.intp)
        asked = np.flatnonzero(last >= 0)
        if asked.size:
            marks = self.bounds[asked] + last[asked]
            ends = np.array(self.starts, np.intp)[asked + 1] - 1
            pairs = np.stack((marks, ends), axis=1).ravel()
            over = np.maximum.reduceat(self._kinds, pairs)[::2] < _ALNUM
            out[asked[over]] = last[asked[over]]
        listed: list[int] = out.tolist()
        return listed
