"""Seeded coaching conversations for the benchmark of checks, put together from sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.sheets import SEED

USER = (
    "Work has been piling up again and my manager moved the deadline without telling me.",
    "I slept badly, and then I snapped at my sister over breakfast.",
    "The interview went better than I thought it would.",
    "My knee is fine now, thanks for asking.",
    "I keep putting off the call with the landlord.",
    "We talked about the move and I still do not know what I want.",
    "Honestly I am dying to see how the new team works out.",
    "Some days I feel like nothing I do is good enough for them.",
    "I did try the list you mentioned, and it helped a bit on Tuesday.",
    "My mother phones every evening and it is a lot.",
    "There is also the question of money, which I have been avoiding.",
    "I do not think I want to talk about that part yet.",
)
ASSISTANT = (
    "**Work:** The new date came without any warning, and you were left to make it fit.",
    "**Your sister:** It sounds as if breakfast was where the whole week came out.",
    "I hear you, and that sounds really hard.",
    "You might notice what changes on the days when the list helps.",
    "What would a good evening look like for you?",
    "Earlier you told me that the calls with your mother leave you tired.",
    "Perhaps the landlord can wait until you have eaten something.",
    "You need to speak to your manager this week, because the deadline will not move by itself.",
    "It may be worth a line in your notebook before you decide anything.",
    "How does that feel as you say it?",
    "Not wanting to talk about it yet is an answer too, and we can leave it there.",
    "The interview going well is good news; let it be good news for a day.",
    "There is no rush with the move, and you have not lost anything by waiting.",
)


def conversations(number: int, exchanges: int = 15) -> Iterator[list[tuple[str, str]]]:
    """Messages of two to four sentences, replies of four to seven."""
    random = np.random.default_rng(SEED)
    for _ in range(number):
        yield [
            (_text(random, USER, 2, 5), _text(random, ASSISTANT, 4, 8)) for _ in range(exchanges)
        ]


def _text(random: np.random.Generator, sentences: tuple[str, ...], least: int, below: int) -> str:
    chosen = random.choice(len(sentences), size=random.integers(least, below), replace=False)
    return " ".join(sentences[at] for at in chosen)


def write(path: Path, number: int) -> Path:
    """One conversation a line, as the importer of items reads them."""
    with path.open("w", encoding="utf-8") as file:
        for at, said in enumerate(conversations(number)):
            turns = [{"user": user, "assistant": assistant} for user, assistant in said]
            file.write(json.dumps({"id": f"c{at}", "exchanges": turns}) + "\n")
    return path
