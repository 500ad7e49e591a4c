"""The ratings of a study as analyses take them: from the store, without files in between.

What the actor may see decides, as in every verb. Only closed rounds are read: answers of an open
one are still to come, and figures of some of them would pass for figures of all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl

from calibrant.compare.judged import Side
from calibrant.compare.own_items import Authorship
from calibrant.compare.rating_columns import Reading
from calibrant.compare.rating_tables import RatingTable, rating_table
from calibrant.core.errors import Refused, StudyError, suggestion
from calibrant.core.ids import content_hash
from calibrant.core.item import Item
from calibrant.core.study import COUNTING, Round
from calibrant.formats.authors import authorship
from calibrant.formats.combining import final_reading
from calibrant.formats.quality_files import fields_of
from calibrant.raters.judge.card import KIND
from calibrant.study.handle import Study
from calibrant.study.table import answered, first_answers, long_rows

_COLUMNS = ("item", "rater", "kind", "criterion", "answer", "occasion")


class StudyRatings:
    """Everything that was rated in a round, or in all rounds that count."""

    def __init__(self, study: Study, round: int | None = None) -> None:
        self.study, self.round = study, round
        self.rounds = _closed_rounds(study, round)
        self.frame, self.rubric = study.answers(round=round)
        if self.frame.is_empty():
            raise StudyError(f"nothing was rated in {self.where} that you may see")

    @property
    def how(self) -> Reading:
        """How its tables are read."""
        return Reading(rubric=self.rubric)

    @property
    def where(self) -> str:
        """The rounds, in words."""
        numbers = ", ".join(str(one.number) for one in self.rounds)
        of = f"of study {self.study.name!r}"
        return f"round {numbers} {of}" if len(self.rounds) == 1 else f"rounds {numbers} {of}"

    @cached_property
    def rows(self) -> pl.DataFrame:
        """One row an answer. Of a rater's answers to an item the last round's comes first.

        That is the one that counts; the others are told apart by ``occasion``, as repeats are.
        """
        rows = answered(long_rows(self.frame, self.rubric))
        rows = rows.sort("item", "rater", "occasion", pl.col("round") * -1, maintain_order=True)
        again = pl.int_range(1, pl.len() + 1).over("item", "rater", "criterion")
        return rows.with_columns(again.alias("occasion")).select(_COLUMNS)

    # -- who rated

    def need_people(self) -> None:
        """Raise where no person has rated."""
        if self.rows.filter(pl.col("kind") == "HUMAN").is_empty():
            raise StudyError(
                f"no person has rated in {self.where}: plan a round for people and close it, or "
                f"name one that they rated in with --round N{self._elsewhere('HUMAN')}"
            )

    def need_judge(self, judge: str | None) -> str:
        """The judge that is meant; raises where there is none, or several could be."""
        raters = self.rows.filter(pl.col("kind") != "HUMAN")["rater"].unique().sort().to_list()
        judges = self.rows.filter(pl.col("kind") == KIND)["rater"].unique().sort().to_list()
        if judge in raters:
            return str(judge)
        if judge is not None and judges:
            near = suggestion(judge, raters) or f"there are: {', '.join(raters)}"
            raise StudyError(f"{judge!r} is no judge that rated in {self.where}; {near}")
        if not judges:
            raise StudyError(
                f"no judge has rated in {self.where}: let one rate in a round with `calibrant judge"
                f" --study {self.study.name}`, or name a round with --round N"
                f"{self._elsewhere(KIND)}"
            )
        if len(judges) > 1:
            raise StudyError(
                f"which rater is the judge? Name one with --judge: {', '.join(judges)}"
            )
        return str(judges[0])

    def _elsewhere(self, kind: str) -> str:
        """Other rounds in which somebody of a kind rated."""
        seen = self.study.ratings()
        found = seen.filter(pl.col("kind") == kind)["round"].unique().sort().to_list()
        here = {one.number for one in self.rounds}
        others = [str(one) for one in found if one not in here]
        return f" (there are: {', '.join(others)})" if others else ""

    # -- tables

    def everybody(self) -> Side:
        """All answers, people's among them."""
        self.need_people()
        return Side([self.rows], self.study.name)

    def of_raters(self, names: Sequence[str]) -> Side:
        """Sheets that count, to be scored: people's, or all where raters are named to choose from.

        Red flags are those that somebody has confirmed, whoever raised them. Items without words
        are left out: what code would count in them is gone.
        """
        sheets = first_answers(self.frame)
        sheets = sheets.filter(~pl.col("item").is_in(self.redacted))
        if not names:
            self.need_people()
            sheets = sheets.filter(pl.col("kind") == "HUMAN")
        confirmed = self.study.verdicts().select("item", pl.col("flags").list.join(";"))
        table = sheets.select("item", "rater", "kind", *self.rubric.criterion_ids)
        joined = table.join(confirmed, on="item", how="left", maintain_order="left")
        return Side([joined.sort("item", "rater")], self.study.name)

    def with_judge(self, judge: str | None, fields: Sequence[str | None] = ()) -> tuple[Side, str]:
        """Answers of people and judges, and who the judge is; ``fields`` of items are columns."""
        name = self.need_judge(judge)
        self.need_people()
        rows = self.rows.filter((pl.col("kind") != "CODE") | (pl.col("rater") == name))
        wanted = [one for one in fields if one is not None and one not in _COLUMNS]
        return Side([self._with_fields(rows, wanted)], self.study.name), name

    def _with_fields(self, rows: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """With what items say of themselves; a name that none of them has is left to be refused."""
        known = fields_of(self.items) if names else {}
        for name in names:
            if name in known:
                words = {item: ";".join(some) for item, some in known[name].items()}
                said = pl.col("item").replace_strict(words, default=None, return_dtype=pl.String)
                rows = rows.with_columns(said.alias(name))
        return rows

    def finals(self) -> RatingTable | None:
        """Final answers to hold beside others; of all rounds that count, or there are none."""
        if self.round is not None:
            return None
        settled = self.study.finals().drop_nulls("answer").select("item", "criterion", "answer")
        if settled.is_empty():
            return None
        return rating_table([settled], final_reading(self.how), self.study.name)

    def sheets(self, judge: str) -> list[dict[str, Any]]:
        """A judge's ratings as ``calibrant judge`` writes them to a file, one record each."""
        cards = {one.name: one.card for one in self.study.members()}
        card = cards.get(judge)
        about = {"rubric_hash": self.rubric.hash}
        if card is not None:
            about["card"] = content_hash(json.loads(card))
        names = self.rubric.criterion_ids
        rows = self.frame.filter(pl.col("rater") == judge)
        rows = rows.sort("item", "occasion", pl.col("round") * -1)
        again = pl.int_range(1, pl.len() + 1).over("item")
        return [
            {
                "item": row["item"],
                "rater": judge,
                "kind": row["kind"],
                "occasion": str(row["occasion"]),
                "answers": {name: row[name] for name in names if row[name] is not None},
                "metadata": about | _probabilities(row["facts"], names),
            }
            for row in rows.with_columns(again.alias("occasion")).iter_rows(named=True)
        ]

    def to_calibrate(self, judge: str | None) -> tuple[list[dict[str, Any]], Side, str]:
        """A judge's ratings, people's answers, and who the judge is."""
        name = self.need_judge(judge)
        self.need_people()
        people = self.rows.filter(pl.col("kind") == "HUMAN")
        return self.sheets(name), Side([people], self.study.name), name

    # -- items

    @cached_property
    def items(self) -> list[Item]:
        """The items with what their file said of them; for leads."""
        return self.study.whole_items()

    @property
    def redacted(self) -> list[str]:
        """Rated items whose words are gone."""
        words = {one.id for one in self.items}
        return [one for one in self.frame["item"].unique().sort() if one not in words]

    def authorship(
        self,
        author: str | None = None,
        judge_is: Sequence[str] = (),
        models: Mapping[str, Sequence[str]] | None = None,
    ) -> Authorship:
        """Who wrote the items, as their records say, and which models judges are, by their cards.

        Whoever may not know where items come from is told just that.
        """
        try:
            items = self.items
        except Refused as error:
            return Authorship(untold=str(error))
        cards = {one.name: _model(one.card) for one in self.study.members()}
        known: dict[str, Sequence[str]] = {rater: (one,) for rater, one in cards.items() if one}
        known |= models or {}
        return authorship(items, (), self.how, author=author, judge_is=judge_is, models=known)


def _closed_rounds(study: Study, round: int | None) -> list[Round]:
    """The rounds that are read; raises where one of them is open, or there is none."""
    found = study.rounds()
    if round is None:
        meant = [one for one in found if one.kind in COUNTING and one.state != "planned"]
        # an onboarding round is rated together: there is nothing to compare in it
        alone = [one for one in found if one.kind != "onboarding"]
        others = [str(one.number) for one in alone if one.state == "closed"]
    else:
        meant, others = [one for one in found if one.number == round], []
    named = f"--round N ({', '.join(others)})"
    for one in meant:
        if one.state == "open":
            instead = f", or name a closed one with {named}" if others else ""
            raise StudyError(
                f"round {one.number} of study {study.name!r} is still open: close it first "
                f"(calibrant study close {study.name}){instead}"
            )
    if not meant and round is None:
        instead = f", or name a round of another kind with {named}" if others else ""
        raise StudyError(
            f"no main round of study {study.name!r} is closed: plan one, rate and close it{instead}"
        )
    return meant


def _probabilities(facts: str, names: Sequence[str]) -> dict[str, Any]:
    told = json.loads(facts).get("probabilities") or {}
    known = {name: shares for name, shares in told.items() if name in names}
    return {"probabilities": known} if known else {}


def _model(card: str | None) -> str | None:
    """The model on a card."""
    told = json.loads(card) if card is not None else None
    model = told.get("model") if isinstance(told, Mapping) else None
    return model if isinstance(model, str) and model.strip() else None
