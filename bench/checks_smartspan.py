"""How the checks of the SMART matrix agree with people, on goals that people have labelled.

The goals are those of the smartspan data: each is labelled Specific, Measurable and Attainable.
Half of them, by a hash of their text, were looked at while the checks were written; the other
half was only measured. Attainable was labelled where a goal says how sure somebody is of it, so
that is the part of ``achievable`` that is asked about here.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from calibrant.core.item import Action, Plan, Profile
from calibrant.raters.checks.lexicon import lexicon
from calibrant.raters.checks.plan_matrix import LINKS, VERBS, Words, specific, words_of
from calibrant.raters.checks.plan_quantities import confidence, measures
from calibrant.raters.checks.reading import Reading, Scanner

DATA = Path(__file__).parents[1] / ".." / "shared" / "data" / "smartspan"
_SCANNER = Scanner([lexicon(VERBS), lexicon(LINKS)])


class Goal(NamedTuple):
    """A goal as it was written, and the labels that people gave it."""

    text: str
    labels: dict[str, int]

    @property
    def held_out(self) -> bool:
        """Whether it belongs to the half that was only measured."""
        return hashlib.sha256(" ".join(self.text.split()).encode()).digest()[0] % 2 == 1


class Figures(NamedTuple):
    """How one check did."""

    precision: float
    recall: float
    f1: float
    goals: int


def goals(folder: Path = DATA) -> Iterator[Goal]:
    """The labelled goals of a folder."""
    for note in json.loads((folder / "goals_all.json").read_text("utf-8")):
        yield from map(Goal, note["goals"], note["goal_details"])


def _is_specific(reading: Reading, words: Words) -> bool:
    return specific(reading, words) is not None


def _is_measurable(reading: Reading, words: Words) -> bool:
    return bool(measures(reading.low(words.texts["action"])))


def _is_attainable(reading: Reading, words: Words) -> bool:
    return bool(confidence(reading.low(words.texts["action"])))


CHECKS: dict[str, Callable[[Reading, Words], bool]] = {
    "Specific": _is_specific,
    "Measurable": _is_measurable,
    "Attainable": _is_attainable,
}


def said(label: str, text: str) -> bool:
    """What the check that corresponds to a label says of a goal."""
    plan = Plan(id="goal", profile=Profile(goal="a goal"), actions=(Action(action=text),))
    reading = Reading(plan, _SCANNER)
    (words,) = words_of(reading, 1)
    return CHECKS[label](reading, words)


def figures(label: str, among: Iterable[Goal]) -> Figures:
    """Precision, recall and F1 of one check."""
    pairs = [(said(label, one.text), bool(one.labels[label])) for one in among]
    hits, raised = pairs.count((True, True)), sum(one for one, _ in pairs)
    there = sum(one for _, one in pairs)
    return Figures(
        hits / max(raised, 1), hits / max(there, 1), 2 * hits / max(raised + there, 1), len(pairs)
    )


def report(folder: Path = DATA) -> str:
    """The figures of all three, on all goals and on those that were only measured."""
    every = list(goals(folder))
    lines = [f"{'label':<12}{'goals':<10}{'n':>5}{'precision':>11}{'recall':>8}{'F1':>7}"]
    for label in CHECKS:
        for name, among in (("all", every), ("held out", [one for one in every if one.held_out])):
            one = figures(label, among)
            lines.append(
                f"{label:<12}{name:<10}{one.goals:>5}{one.precision:>11.3f}{one.recall:>8.3f}"
                f"{one.f1:>7.3f}"
            )
    return "\n".join(lines)


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description="Checks of the SMART matrix against people.")
    parser.add_argument("data", nargs="?", type=Path, default=DATA, help="folder of smartspan")
    print(report(parser.parse_args().data))


if __name__ == "__main__":
    main()
