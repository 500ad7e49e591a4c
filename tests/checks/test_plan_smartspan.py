"""On a sample of goals that people have labelled, the cells of the matrix say what people say."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.checks_smartspan import figures, goals, report, said

SAMPLE = Path(__file__).parent / "data" / "smartspan"


@pytest.mark.parametrize(
    ("label", "precision", "f1"),
    [("Specific", 0.85, 0.85), ("Measurable", 0.85, 0.90), ("Attainable", 0.95, 0.95)],
)
def test_cells_agree_with_people(label: str, precision: float, f1: float) -> None:
    found = figures(label, goals(SAMPLE))
    assert found.goals == 43
    assert found.precision >= precision
    assert found.f1 >= f1


@pytest.mark.parametrize(
    ("text", "specific", "measurable", "attainable"),
    [
        ("Walk 20 minutes each evening (confidence 7/10)", True, True, True),
        ("Focus on recovery", False, False, False),
        ("Drink water with meals, 80% confident", False, False, True),
        ("Swim at 8 am", True, False, False),
    ],
)
def test_examples(text: str, specific: bool, measurable: bool, attainable: bool) -> None:
    told = [said(label, text) for label in ("Specific", "Measurable", "Attainable")]
    assert told == [specific, measurable, attainable]


def test_the_report_names_all_and_held_out_goals() -> None:
    told = report(SAMPLE)
    assert told.count("held out") == 3
    assert "Measurable" in told
