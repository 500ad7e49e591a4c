"""A blank spaCy pipeline looks for phrases: ``spacy_phrases.py IN.jsonl PHRASES.json OUT.json N``.

Of N conversations every message goes through the tokeniser and the phrase matcher; nothing else is
measured. OUT tells the time, and how many phrases were found.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import islice
from pathlib import Path

import spacy
from spacy.matcher import PhraseMatcher


def main(source: str, phrases: str, target: str, number: str) -> None:
    """Load, then look through; only looking through is timed."""
    nlp = spacy.blank("en")
    matcher = PhraseMatcher(nlp.vocab, attr="LOWER")
    listed = json.loads(Path(phrases).read_text(encoding="utf-8"))
    for name, texts in listed.items():
        matcher.add(name, list(nlp.tokenizer.pipe(texts)))
    with Path(source).open(encoding="utf-8") as file:
        items = [json.loads(line) for line in islice(file, int(number))]
    texts = [text for item in items for turn in item["exchanges"] for text in turn.values()]
    before_cpu, before, found = time.process_time(), time.perf_counter(), 0
    for doc in nlp.pipe(texts):
        found += len(matcher(doc))
    seconds, cpu = time.perf_counter() - before, time.process_time() - before_cpu
    told = {"seconds": seconds, "cpu": cpu, "found": found, "texts": len(texts)}
    Path(target).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
