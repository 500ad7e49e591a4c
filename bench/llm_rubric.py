"""Dialogues that people rated, and a model's probabilities of each answer: the LLM-Rubric data.

Source: microsoft/LLM-Rubric, MIT. The set of real users: 223 dialogues, nine questions from 1 to 4.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

DATA = Path(__file__).parents[1] / ".." / "shared" / "data" / "llm_rubric"
ANSWERS = ("1", "2", "3", "4")
OVERALL = "Q0"
"""Overall satisfaction: the question whose figures were published."""
PUBLISHED = 0.918676, 0.177301
"""RMSE and correlation of the model's expected answer with people's."""
CONSTANT = 0.793
"""RMSE of always saying people's mean."""


def judged(folder: Path = DATA) -> list[dict[str, Any]]:
    """The model's answers as ratings of a judge; its answer is the likeliest one."""
    table = pl.read_csv(folder / "gpt-3.5-turbo-16k_real_evaluations_FIXED.tsv", separator="\t")
    records: dict[str, dict[str, Any]] = {}
    for row in table.iter_rows(named=True):
        record = records.setdefault(
            row["text_id"],
            {
                "item": row["text_id"],
                "rater": "gpt-3.5",
                "kind": "LLM",
                "answers": {},
                "metadata": {"probabilities": {}},
            },
        )
        shares = {answer: min(1.0, row[f"answer{answer}_prob"]) for answer in ANSWERS}
        record["answers"][row["criterion"]] = max(shares, key=shares.__getitem__)
        record["metadata"]["probabilities"][row["criterion"]] = shares
    return list(records.values())


def labels(folder: Path = DATA) -> pl.DataFrame:
    """People's answers to the overall question."""
    table = pl.read_csv(folder / "human_judges_real_convs_FIXED_ANON.tsv", separator="\t")
    return table.select(
        pl.col("text_id").alias("item"),
        pl.format("person {}", "annotator_id").alias("rater"),
        pl.lit(OVERALL).alias("criterion"),
        pl.col(OVERALL).cast(pl.String).alias("answer"),
    )
