"""``calibrant combine`` as its users call it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import calibrant
from calibrant.cli.main import cli
from calibrant.core.errors import SourceError

DATA = Path(__file__).parents[1] / "stats" / "data"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dawid and Skene's table as long rows, the first observer's repeats told by occasion."""
    with (DATA / "dawid_skene1979.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = ["item,rater,occasion,label"]
    for number, row in enumerate(rows, 1):
        for column, answer in row.items():
            repeat = "abc".find(column[-1]) + 1 or 1
            lines.append(f"p{number:02d},{column[:9]},{repeat},{answer}")
    path = tmp_path_factory.mktemp("combine") / "patients.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def told(*arguments: str | Path) -> dict[str, Any]:
    result = run("combine", *arguments)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_published_table_through_the_command(patients: Path) -> None:
    (one,) = told(patients, "--level", "ordinal")["criteria"]
    assert list(one["shares"].values()) == pytest.approx([0.4, 0.4216, 0.1118, 0.0667], abs=5e-5)
    fits = {fit["model"]: fit for fit in one["fits"]}
    assert fits["dawid_skene"]["height"] == pytest.approx(-190.731, abs=5e-4)
    assert fits["mace"]["start"] == "best of 10 starts, seed 0"
    assert all(fit["converged"] for fit in fits.values())
    assert [rater["answers"] for rater in one["raters"]] == [135, 45, 45, 45, 45]
    diagonal = [one["confusion"]["observer1"][at][at] for at in range(4)]
    assert diagonal == pytest.approx([0.9074, 0.8766, 0.6612, 0.4444], abs=5e-5)


def test_differing_items_stand_with_their_reason(patients: Path) -> None:
    (one,) = told(patients, "--level", "ordinal")["criteria"]
    by_item = {row["item"]: row for row in one["differing"]}
    # four answered 2 (three of them the first observer), two 1, one 3: one vote a rater ties
    assert by_item["p04"]["majority"] is None
    assert by_item["p04"]["median"] == "2"
    assert "tie between 1 and 2" in by_item["p04"]["why"]
    assert by_item["p02"]["majority"] == "3" and by_item["p02"]["dawid_skene"] == "4"
    assert "methods differ" in by_item["p02"]["why"]
    shown = run("combine", patients, "--level", "ordinal", "--format", "text").stdout
    assert "Look at these again" in shown and "p02" in shown


def test_every_item_is_written(patients: Path, tmp_path: Path) -> None:
    rows, whole = tmp_path / "items.csv", tmp_path / "report.json"
    assert run("combine", patients, "--level", "nominal", "-o", rows).exit_code == 0
    frame = pl.read_csv(rows)
    assert frame.height == 45 and "dawid_skene_probability" in frame.columns
    assert "median" not in frame.columns  # names have no middle
    sure = frame.filter(pl.col("mace_probability") > 0.999)["mace_entropy"].max()
    assert isinstance(sure, float) and 0 <= sure < 0.01
    assert run("combine", patients, "--level", "nominal", "-o", whole).exit_code == 0
    assert len(json.loads(whole.read_text("utf-8"))["criteria"][0]["items"]) == 45


def panel(items: int = 60) -> pl.DataFrame:
    """Three people and a judge that always says YES; the third person says NA now and then."""
    random = np.random.default_rng(0)
    truth = random.random(items) < 0.5
    rows = []
    for rater, kind in (("ann", "HUMAN"), ("bob", "HUMAN"), ("cy", "HUMAN"), ("bot", "LLM")):
        for at in range(items):
            right = truth[at] if random.random() < 0.85 else not truth[at]
            answer = "YES" if rater == "bot" or right else "NO"
            if rater == "cy" and at % 10 == 0:
                answer = "NA"
            rows.append((f"i{at:02d}", rater, kind, answer))
    return pl.DataFrame(rows, schema=["item", "rater", "kind", "answer"], orient="row")


def test_judges_are_no_part_of_what_they_are_measured_against() -> None:
    people = calibrant.combine(panel(), level="nominal")
    assert people.left_out == ("bot",)
    assert people.raters == ("ann", "bob", "cy")
    everybody = calibrant.combine(panel(), level="nominal", every_rater=True)
    assert everybody.raters == ("ann", "bob", "cy", "bot")
    assert "bot" in everybody.criteria[0].confusion
    assert "bot" not in people.criteria[0].confusion


def test_na_is_an_answer_like_the_others() -> None:
    (one,) = calibrant.combine(panel(), level="nominal").criteria
    assert one.labels == ("NO", "YES", "NA")
    first = one.items.filter(pl.col("item") == "i00").row(0, named=True)
    assert "NA 1" in first["answers"]


def test_final_answers_stand_beside_the_methods(tmp_path: Path) -> None:
    ratings, finals = tmp_path / "ratings.csv", tmp_path / "finals.csv"
    panel().write_csv(ratings)
    finals.write_text("item,answer,provenance\ni01,YES,adjudicated\ni02,NO,unanimous\n", "utf-8")
    (one,) = told(ratings, "--level", "nominal", "--finals", finals)["criteria"]
    assert {found["method"] for found in one["against_final"]} == {
        "majority", "dawid_skene", "mace"
    }  # fmt: skip
    assert all(found["decided"] + found["undecided"] == 2 for found in one["against_final"])
    majority = calibrant.combine(panel(), level="nominal", finals=pl.read_csv(finals))
    items = majority.criteria[0].items
    expected = items.filter(pl.col("majority") == pl.col("final")).height
    found = next(one for one in majority.criteria[0].against_final if one.method == "majority")
    assert found.same == expected
    apart = items.filter(pl.col("majority") != pl.col("final"))
    assert all("final answer differs" in why for why in apart["why"])


def test_judges_against_all_people_and_shut_gates_are_reasons() -> None:
    rows = [
        ("i1", "ann", "HUMAN", "CQ8", "YES"), ("i1", "bob", "HUMAN", "CQ8", "YES"),
        ("i1", "bot", "LLM", "CQ8", "NO"), ("i2", "ann", "HUMAN", "CQ8", "YES"),
        ("i2", "bob", "HUMAN", "CQ8", "YES"), ("i2", "bot", "LLM", "CQ8", "YES"),
        ("i3", "ann", "HUMAN", "CQ8", "NO"), ("i3", "bob", "HUMAN", "CQ8", "NO"),
        ("i3", "bot", "LLM", "CQ8", "NO"), ("i4", "ann", "HUMAN", "CQ8", "YES"),
        ("i4", "bot", "LLM", "CQ8", "NO"),
    ]  # fmt: skip
    names = ["item", "rater", "kind", "criterion", "answer"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    rubric = calibrant.load_rubric("coaching-conversation")
    (one,) = calibrant.combine(frame, rubric=rubric).criteria
    why = dict(one.items.select("item", "why").iter_rows())
    assert why == {
        "i1": "a judge contradicts all people",
        "i2": "",
        "i3": "somebody's answer shuts a gate",
        "i4": "",  # one person is not all people
    }


def test_two_raters_are_counted_and_not_modelled(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text(
        "item,a,b\n" + "".join(f"{at},{at % 2},{at % 3 % 2}\n" for at in range(20)), "utf-8"
    )
    (one,) = told(path, "--wide", "--level", "nominal")["criteria"]
    assert all("fewer than three" in fit["undefined"] for fit in one["fits"])
    assert {row["why"] for row in one["differing"]} == {"tie between 0 and 1"}


def test_few_items_and_no_variation_have_their_reason() -> None:
    few = pl.DataFrame({"item": [1, 2], "a": [1, 2], "b": [1, 2], "c": [2, 2]})
    found = calibrant.combine(few, wide=True, level="ordinal").criteria[0].fits
    assert all("too few" in (fit.undefined or "") for fit in found)
    apart = {
        name: [at % 2 if at % 3 == n else None for at in range(60)] for n, name in enumerate("abc")
    }
    found = (
        calibrant.combine(pl.DataFrame({"item": range(60)} | apart), wide=True, level="ordinal")
        .criteria[0]
        .fits
    )
    assert all("0 items with two answers" in (fit.undefined or "") for fit in found)
    alike = pl.DataFrame({"item": range(20)} | {name: [1] * 20 for name in "abc"})
    found = calibrant.combine(alike, wide=True, level="ordinal").criteria[0].fits
    assert all("no variation" in (fit.undefined or "") for fit in found)


def test_columns_that_are_no_persons_are_counted_and_not_modelled(tmp_path: Path) -> None:
    path = tmp_path / "crowd.csv"
    path.write_text("item,a,b,c\n" + "".join(f"{n},{n % 2},1,0\n" for n in range(30)), "utf-8")
    (one,) = told(path, "--wide", "--level", "nominal", "--anonymous-raters")["criteria"]
    assert {fit["undefined"] for fit in one["fits"]} == {"raters are not told apart"}


def test_what_cannot_be_read_or_written_is_refused(patients: Path, tmp_path: Path) -> None:
    assert run("combine", patients).exit_code == 2  # no level
    refused = run("combine", patients, "--level", "nominal", "-o", patients)
    assert isinstance(refused.exception, SourceError)
    assert run("combine", tmp_path / "none.csv", "--level", "nominal").exception is not None


def test_one_person_asked_twice_is_not_all_people(tmp_path: Path) -> None:
    rows = [
        (f"i{at}", who, kind, occasion, answer)
        for at in range(4)
        for who, kind, occasion, answer in (
            ("ann", "HUMAN", "1", "YES"), ("ann", "HUMAN", "2", "YES"), ("gpt", "LLM", "1", "NO"),
        )
    ]  # fmt: skip
    path = tmp_path / "twice.csv"
    columns = ["item", "rater", "kind", "occasion", "answer"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(path)
    found = told(path, "--level", "nominal")
    assert found["criteria"][0]["differing"] == []


def test_a_final_4_0_is_a_4(tmp_path: Path) -> None:
    ratings, finals = tmp_path / "ratings.csv", tmp_path / "finals.csv"
    rows = [(f"i{at}", who, at % 5 + 1) for at in range(20) for who in "abc"]
    pl.DataFrame(rows, schema=["item", "rater", "answer"], orient="row").write_csv(ratings)
    settled = [(f"i{at}", f"{at % 5 + 1}.0") for at in range(20)]
    pl.DataFrame(settled, schema=["item", "answer"], orient="row").write_csv(finals)
    found = told(ratings, "--level", "ordinal", "--finals", finals)["criteria"][0]
    assert [one["same"] for one in found["against_final"]] == [20] * 4
    assert found["differing"] == []


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("command", ["combine", "agree", "raters", "quality"])
def test_a_criterion_that_applies_to_nothing_spoils_no_other(
    command: str, level: str, tmp_path: Path
) -> None:
    rows = [
        (f"i{at}", who, name, answer)
        for at in range(20)
        for who in "abc"
        for name, answer in (("one", str((at + (who == "a")) % 4)), ("other", "NA"))
    ]
    path = tmp_path / "some.csv"
    pl.DataFrame(rows, schema=["item", "rater", "criterion", "answer"], orient="row").write_csv(
        path
    )
    result = run(command, path, "--level", level, "--format", "json")
    assert result.exit_code == 0, (result.output, result.exception)
