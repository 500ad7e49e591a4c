"""Whether a text is in a language that a lexicon covers: by script and by function words.

It does not name languages. It tells apart what a lexicon can be asked about from what it
cannot, so that silence about a text in another language is never taken for a finding. Short
texts in Latin letters without evidence either way count as covered.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from calibrant.raters.checks.packed import (
    KEEP,
    LONGEST,
    Bools,
    WordSet,
    shared_out,
    without_repeats,
)
from calibrant.raters.checks.texts import Texts

NOT_COVERED = "language not covered"
LONG = 10
"""From so many different words on, a text without one function word is in another language."""
SAMPLE = 4_000
"""Signs of a text that are looked at: its beginning, middle and end."""
CLEAR, GLANCE = 2_000, 90
"""A text up to so long that is clearly in the language, at a glance at its first signs or by its
words as they stand between spaces, is not taken apart."""

_WORDS: dict[str, str] = {
    "en": "the and of to is that it you was for are with they this have from had but what we can "
    "out other were there when your how each she which their if will about many then them would "
    "these could did my than who its been i'm it's don't i've didn't i'd can't that's you're "
    "isn't won't doesn't wasn't i'll couldn't not just because really very too into over after "
    "before think feel want know need should so being am does any only where our us her he",
    "es": "que los las una por para como pero sus este está muy cuando también todo hay fue "
    "porque desde nos tiene yo mi qué el y lo le más soy estoy quiero puedo del se mis nada "
    "gusta siento algo",
    "fr": "les des une est que qui dans pour vous nous je il elle sur avec mais au cette "
    "ont sont être fait tout très aussi suis c'est j'ai n'est du et mon ce ça je ma",
    "de": "der und ist nicht ich das ein eine mit auf für dem sich auch wie wir sie aber wenn "
    "oder nur noch kann habe haben sind mein zu von mir mich dass meine",
    "it": "che di il non una sono della con questo gli anche più ho ma nel "
    "perché molto hai essere quando alla dei io voglio mio",
    "pt": "que não uma para com os mas mais por foi eu ele isso você está muito também minha "
    "meu tem ao dos quando ser sem estou quero",
    "nl": "het een niet ik zijn dat voor met maar ook als bij naar wij heb heeft deze kan "
    "wel nog mijn zo worden je",
    "sv": "och att det jag är som inte på för med har kan till vi mig eller när så vill",
    "da": "og det jeg er ikke på til med har kan af vi mig eller når så vil",
    "no": "og å det jeg er ikke på til med har kan av vi meg eller når så vil",
    "fi": "ja ei se että hän mutta kun niin minä olen ovat myös tämä voi mitä en minun",
    "pl": "nie się jest że jak ale czy tak jestem mam już przez dla tego są być",
    "cs": "je se že jak jsem tak jsou když nebo jako není mám",
    "ro": "nu este pe cu că din pentru mai sunt dar să și fost foarte",
    "hu": "nem hogy az egy és csak már ez én mint vagyok nagyon",
    "tr": "bir ve bu için çok ben gibi daha ama değil benim olarak kadar",
    "id": "yang dan di ini itu dengan untuk tidak saya dari ada akan pada juga aku bisa",
    "sw": "ya wa kwa ni katika hii kuwa yangu mimi lakini sana kama za",
    "vi": "là và của tôi không có một được với những các này người như",
    "tl": "ang ng sa mga ako ay hindi siya ko ito",
    "hr": "nije da ali kao što sve moj mogu zbog biti koji",
    "la": "et est cum sed ut quod qui nec esse sunt",
}
_NONE: frozenset[str] = frozenset()
_SETS = {code: frozenset(listed.split()) for code, listed in _WORDS.items()}
_OTHERS = {
    code: frozenset().union(*(_SETS[other] for other in _SETS if other != code)) - _SETS[code]
    for code in _SETS
}
_OTHER_SCRIPT = re.compile(
    "[\u0370-\u03ff\u0400-\u052f\u0530-\u058f\u0590-\u05ff\u0600-\u07bf\u0900-\u0fff"
    "\u10a0-\u10ff\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""Letters of scripts other than Latin."""
_LATIN = re.compile("[a-z\u00df-\u024f]")
_SPLIT = re.compile(r"[^\w']++")


def covered(text: str, language: str) -> bool:
    """Whether a text of small letters and plain signs may be read with a lexicon."""
    own, others = _SETS.get(language, _NONE), _OTHERS.get(language, _NONE)
    if len(text) <= CLEAR:
        words = text[:GLANCE].split()[:-1]  # the last may be cut off
        if len(own.intersection(words)) >= 3 and others.isdisjoint(words):
            return True
        words = text.split()
        if len(own.intersection(words)) >= 5 + 2 * len(others.intersection(words)):
            return True
    sample = text if len(text) <= SAMPLE else _sampled(text)
    if not sample.isascii():
        other = len(_OTHER_SCRIPT.findall(sample))
        if other and other * 2 > len(_LATIN.findall(sample)):
            return False
    found = set(_SPLIT.split(sample))
    mine, theirs = len(found & own), len(found & others)
    if mine == theirs == 0:
        return len(found) < LONG and sum(not word.isascii() for word in found) < 2
    return mine >= theirs


@cache
def _packed(language: str) -> tuple[WordSet, WordSet]:
    """Short words of a language, and all of others, as far as they are written in ASCII."""
    own, others = _SETS.get(language, _NONE), _OTHERS.get(language, _NONE)
    short = (word for word in own if len(word) <= LONGEST)
    return WordSet(filter(str.isascii, short)), WordSet(filter(str.isascii, others))


def clearly_covered(texts: Texts, language: str) -> Bools:
    """For each of many texts, whether a glance at its first words shows it to be covered.

    Where it does, ``covered`` says the same; where it does not, ``covered`` has to be asked.
    """
    own, others = _packed(language)
    starts, ends = texts.tokens
    sizes = np.diff(texts.starts) - 1
    first = np.searchsorted(starts, texts.bounds)
    last = np.searchsorted(starts, texts.bounds + np.minimum(sizes, GLANCE))
    counts = np.maximum(last - first - 1, 0)  # the last may be cut off
    text = np.repeat(np.arange(len(texts)), counts)
    token = np.arange(text.size) + np.repeat(first - (np.cumsum(counts) - counts), counts)
    size = ends[token] - starts[token]
    keys = texts.eights[starts[token]].astype(np.uint64) & KEEP[np.minimum(size, LONGEST)]
    mine = own.places(keys)
    at = np.flatnonzero((mine >= 0) & (size <= LONGEST))
    found = without_repeats(np.sort((text[at] << 9) | mine[at]))
    clear = np.bincount(found >> 9, minlength=len(texts)) >= 3
    clear[text[np.flatnonzero(others.places(keys) >= 0)]] = False
    clear[shared_out(np.flatnonzero(texts.codes >= 0x80), texts.bounds)] = False
    return clear & (sizes <= CLEAR)


def _sampled(text: str) -> str:
    """The beginning, the middle and the end."""
    middle = len(text) // 2
    third = SAMPLE // 3
    return f"{text[:third]} {text[middle : middle + third]} {text[-third:]}"
