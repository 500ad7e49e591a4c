"""Phrases are found where a slow and simple reading of them finds them, and nowhere else."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from hypothesis import example, given, settings
from hypothesis import strategies as st

from calibrant.raters.checks.lexicon import Entry, Lexicon
from calibrant.raters.checks.matcher import Matcher

WORDS = ("ann", "bob", "cy", "dee")
ALTERNATIVES = (*WORDS, "ann bob", "cy dee cy", "")


class Slot(NamedTuple):
    """Alternatives, and how many words may stand between them and the slot before."""

    alternatives: tuple[str, ...]
    gap: int


slots = st.builds(
    Slot,
    st.lists(st.sampled_from(ALTERNATIVES), min_size=1, max_size=3, unique=True).map(tuple),
    st.sampled_from((0, 0, 0, 1, 2)),
)
phrases = st.lists(slots, min_size=1, max_size=5).filter(
    lambda found: (
        any("" not in slot.alternatives for slot in found)
        and all(any(slot.alternatives) for slot in found)
        and not any("" in slot.alternatives and slot.gap for slot in found)
        and not any("" in a.alternatives and b.gap for a, b in pairwise(found))
    )
)
sentences = st.lists(st.sampled_from((*WORDS, "eve", "bob.", "ann,")), max_size=14).map(" ".join)


def written(phrase: list[Slot]) -> str:
    out = []
    for at, slot in enumerate(phrase):
        out += [f"...{slot.gap}"] if slot.gap and at else []
        out.append(f"({'|'.join(slot.alternatives)})")
    return " ".join(out)


def stands_in(phrase: list[Slot], text: str) -> bool:
    """Whether the phrase stands anywhere, by trying everything, word by word."""
    words = text.split()

    def reads(at: int, rest: list[Slot], begun: bool) -> bool:
        if not rest:
            return begun
        slot = rest[0]
        for skipped in range((slot.gap if begun else 0) + 1):
            between = words[at : at + skipped]
            if len(between) < skipped or any(word[-1] == "." for word in between):
                break
            # a sign after a word ends it: only a gap may follow a comma, nothing a full stop
            before = words[at - 1] if begun and at else ""
            if before[-1:] == "." or (before[-1:] == "," and not slot.gap):
                break
            if between and between[-1][-1] == "," and not slot.gap:
                break
            start = at + skipped
            for way in slot.alternatives:
                said = way.split()
                here = words[start : start + len(said)]
                bare = [*here[:-1], here[-1].rstrip(".,")] if here else here
                if way and bare == said and reads(start + len(said), rest[1:], True):
                    return True
        return "" in slot.alternatives and reads(at, rest[1:], begun)

    return any(reads(at, phrase, False) for at in range(len(words) + 1))


@settings(max_examples=400, deadline=None)
@given(phrases, sentences)
@example([Slot(("ann",), 0), Slot(("bob", ""), 0), Slot(("cy",), 0)], "eve ann cy")
def test_a_phrase_is_found_where_it_stands(phrase: list[Slot], text: str) -> None:
    entry = Entry((written(phrase),), "", ("x",), ("y",), ())
    matcher = Matcher([Lexicon("t", "en", "1.0", "a test", 4, (entry,), ())])
    found = matcher.scan(text)
    assert bool(found) == stands_in(phrase, text), (written(phrase), text)
    for hit in found:
        quoted = text[hit.start : hit.end]
        assert stands_in(phrase, quoted), (written(phrase), text, quoted)
