"""Every lexicon finds the sentences it must find, and not those it must not."""

from __future__ import annotations

import pytest

from calibrant.core.errors import RecordError, UnknownName
from calibrant.raters.checks.lexicon import (
    Entry,
    Lexicon,
    lexicon,
    lexicon_names,
    read_lexicon,
)
from calibrant.raters.checks.matcher import Matcher
from calibrant.raters.checks.phrase import inflected, read_phrase
from calibrant.raters.checks.text import low


def _alone(one: Lexicon, entry: Entry, phrases: tuple[str, ...]) -> Matcher:
    """A matcher of some phrases of one entry, with the exceptions that bear on them."""
    kept = Entry(phrases, entry.label, entry.found_in, entry.not_in, entry.unless)
    return Matcher(
        [Lexicon(one.id, one.language, one.version, one.what, one.gap, (kept,), one.exceptions)]
    )


@pytest.mark.parametrize("name", lexicon_names())
def test_a_lexicon_finds_what_it_must_and_nothing_else(name: str) -> None:
    one = lexicon(name)
    assert one.id == name
    for entry in (*one.entries, *one.around):
        whole = _alone(one, entry, entry.phrases)
        for sentence in entry.found_in:
            assert whole.scan(low(sentence)), f"{entry.phrases[0]!r} misses {sentence!r}"
        for sentence in entry.not_in:
            assert not whole.scan(low(sentence)), f"{entry.phrases[0]!r} finds {sentence!r}"
        for phrase in entry.phrases:
            single = _alone(one, entry, (phrase,))
            proved = any(single.scan(low(sentence)) for sentence in entry.found_in)
            assert proved, f"no sentence `for` holds {phrase!r}"


def test_regular_forms() -> None:
    assert inflected("stop") == ["stop", "stops", "stopped", "stopping"]
    assert inflected("advise") == ["advise", "advises", "advised", "advising"]
    assert inflected("apply") == ["apply", "applies", "applied", "applying"]
    assert inflected("visit") == ["visit", "visits", "visited", "visiting"]
    assert inflected("die") == ["die", "dies", "died", "dying"]
    assert inflected("agree") == ["agree", "agrees", "agreed", "agreeing"]
    assert inflected("wish") == ["wish", "wishes", "wished", "wishing"]


def _ways(text: str) -> set[str]:
    phrase = read_phrase(text, 4)
    assert phrase.is_anchor
    return set(phrase.anchors)


def test_alternatives_gaps_and_contractions_are_spelt_out() -> None:
    assert _ways("self(-| |)harm") == {"self-harm", "self harm", "selfharm"}
    assert _ways("don’t") == {"don't", "dont"}
    assert _ways("(go|come (in|out))") == {"go", "come in", "come out"}
    gapped = read_phrase("take ...2 pills", 4)
    assert gapped.gaps == (2,)
    assert read_phrase("take ... pills", 4).gaps == (4,)


def test_the_anchor_is_what_is_told_apart_best() -> None:
    phrase = read_phrase("(i|we) (do |) (hope|trust) (that|) you (all |)reconsider", 4)
    assert set(phrase.anchors) == {"you all reconsider", "you reconsider"}


@pytest.mark.parametrize(
    "phrase",
    ["", "...", "a ...", "... a", "(a|b", "a|b", "a)", "a* b*c", "~", "(a ... b|c)", "1~", "(|)",
     "(a|) (b|)", "a ... ... b"],
)  # fmt: skip
def test_a_phrase_that_cannot_be_read_is_refused(phrase: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_phrase(phrase, 4)


def test_too_many_ways_are_refused_at_once() -> None:
    for text in ("(a|b|c|d)" * 30, f"({' '.join(['go~'] * 30)})"):
        with pytest.raises(ValueError, match="more than"):
            read_phrase(text, 4)
    # words of their own are not multiplied
    assert read_phrase(" ".join(["(a|b|c|d)"] * 30), 4).tokens


def test_every_fault_of_a_lexicon_is_told() -> None:
    text = (
        "id: x\nlanguage: en\nversion: '1.0'\nwhat: y\ngap: many\nwrong: 1\n"
        "entries: [{phrase: a, for: [a], colour: red}]"
    )
    with pytest.raises(RecordError) as caught:
        read_lexicon(text, "x.yaml")
    told = str(caught.value)
    for place in ("gap", "wrong", "entries[0].colour", "`against`"):
        assert place in told
    with pytest.raises(RecordError, match="stands twice"):
        read_lexicon("id: x\nid: y")
    with pytest.raises(UnknownName):
        lexicon("../registry")
