"""Words that raters quoted, marked where they stand in an item, each with who quoted them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from markupsafe import Markup

from calibrant.web.words import markdown, shown

LONGEST = 400_000
"""Characters of a drawn item in which quotations are looked for; in longer ones none is marked."""
MOST = 20
"""Places of one quotation: a word that stands everywhere marks nothing."""
STYLES = 5
"""Ways to underline, so that raters are told apart without colours."""
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)([^>]*)>")
_SIGN = re.compile(r"&(?:#[0-9]+|#x[0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);|\S")
_VOID = frozenset({"br", "hr", "img", "input", "wbr", "col"})
_GAP = "\0"


class _Drawn:
    """The signs of an item's own words, without spaces, and where each stands in the HTML."""

    def __init__(self, drawn: str) -> None:
        self.html = drawn
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.pieces: list[int] = []
        """The piece of text between two tags that a sign belongs to."""
        signs: list[str] = []
        for number, (start, end, apart) in enumerate(_pieces(drawn)):
            if apart:  # a quotation does not run from one text into another
                signs.append(_GAP)
                self._at(start, start, -1)
            for found in _SIGN.finditer(drawn, start, end):
                for sign in html.unescape(found[0]):
                    signs.append(sign)
                    self._at(found.start(), found.end(), number)
        self.text = "".join(signs)

    def _at(self, start: int, end: int, piece: int) -> None:
        self.starts.append(start)
        self.ends.append(end)
        self.pieces.append(piece)

    def places(self, quote: str) -> list[tuple[int, int]]:
        """Where a quotation stands: as Markdown draws it, or letter by letter."""
        for drawn in (markdown(quote), shown(quote)):
            wanted = "".join(html.unescape(_TAG.sub("", str(drawn))).split())
            found = list(_finds(self.text, wanted)) if wanted else []
            if found:
                return found if len(found) <= MOST else []
        return []


def _pieces(drawn: str) -> Iterator[tuple[int, int, bool]]:
    """Texts between tags inside elements of the class ``words``; whether another one begins."""
    depth: list[bool] = []
    last, entered = 0, False
    for tag in [*_TAG.finditer(drawn), None]:
        end = len(drawn) if tag is None else tag.start()
        if end > last and any(depth):
            yield last, end, entered
            entered = False
        if tag is None:
            return
        last = tag.end()
        closing, name, more = tag[1], tag[2].lower(), tag[3]
        if name in _VOID or more.endswith("/"):
            continue
        if closing:
            del depth[-1:]
        else:
            own = re.search(r'class="(?:[^"]* )?words[ "]', more) is not None
            entered = entered or (own and not any(depth))
            depth.append(own)


def _finds(text: str, wanted: str) -> Iterator[tuple[int, int]]:
    at = text.find(wanted)
    while at >= 0:
        yield at, at + len(wanted)
        at = text.find(wanted, at + len(wanted))


def highlighted(drawn: str, quotes: Sequence[Sequence[str]]) -> Markup:
    """An item as it was drawn, with the quotations of each rater marked and numbered from 1."""
    if not any(quotes) or len(drawn) > LONGEST:
        return Markup(drawn)  # noqa: S704 - drawn by our own templates
    signs = _Drawn(drawn)
    said: list[int] = [0] * len(signs.text)
    """By sign, a bit for every rater who quoted it."""
    ends: dict[int, list[int]] = {}
    for number, texts in enumerate(quotes, 1):
        for quote in dict.fromkeys(texts):
            for start, end in signs.places(quote):
                said[start:end] = [bits | 1 << number for bits in said[start:end]]
                ends.setdefault(end - 1, []).append(number)
    return Markup("".join(_marked(signs, said, ends)))  # noqa: S704 - escaped when it was drawn


def _marked(signs: _Drawn, said: list[int], ends: dict[int, list[int]]) -> Iterator[str]:
    last = 0
    marked = [at for at, bits in enumerate(said) if bits]
    for _, run in groupby(
        enumerate(marked), lambda pair: (pair[1] - pair[0], said[pair[1]], signs.pieces[pair[1]])
    ):
        places = [at for _, at in run]
        for part in _until_ends(places, ends):
            start, end = signs.starts[part[0]], signs.ends[part[-1]]
            yield signs.html[last:start]
            yield f'<mark class="{_class(said[part[0]])}">{signs.html[start:end]}</mark>'
            yield from (_number(number) for number in sorted(set(ends.get(part[-1], ()))))
            last = end
    yield signs.html[last:]


def _until_ends(places: list[int], ends: dict[int, list[int]]) -> Iterator[list[int]]:
    """A run of signs in parts, each up to where a quotation ends."""
    part: list[int] = []
    for at in places:
        part.append(at)
        if at in ends:
            yield part
            part = []
    if part:
        yield part


def _class(bits: int) -> str:
    numbers = [number for number in range(1, bits.bit_length()) if bits >> number & 1]
    return "said said-many" if len(numbers) > 1 else f"said {said_style(numbers[0])}"


def said_style(number: int) -> str:
    """The class under which a rater's quotations are underlined."""
    return f"said-{(number - 1) % STYLES + 1}"


def _number(number: int) -> str:
    return f'<sup class="said-by"><span class="unseen">quoted by </span>{number}</sup>'
