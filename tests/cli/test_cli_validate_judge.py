"""``calibrant validate-judge`` as its users call it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import calibrant
from calibrant.cli.main import cli
from calibrant.compare.own_items import OwnEffect
from calibrant.core.errors import SourceError

PEOPLE = ("ann", "bob", "cy")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


def panel(
    criteria: dict[str, float], items: int = 120, *, failing: float = 0.4, seed: int = 0
) -> pl.DataFrame:
    """People right nine times in ten; a judge as often as each criterion says."""
    random = np.random.default_rng(seed)
    rows = []
    for criterion, care in criteria.items():
        truth = random.random(items) >= failing
        for rater in (*PEOPLE, "gpt"):
            right = random.random(items) < (care if rater == "gpt" else 0.9)
            for at in range(items):
                answer = "YES" if truth[at] == right[at] else "NO"
                kind = "LLM" if rater == "gpt" else "HUMAN"
                rows.append((f"i{at}", rater, kind, criterion, answer))
    names = ["item", "rater", "kind", "criterion", "answer"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_a_good_judge_may_replace_and_a_guessing_one_may_not_be_used() -> None:
    found = calibrant.validate_judge(panel({"clear": 0.95, "vague": 0.5}), level="nominal")
    words = {one.criterion: one.answer.word for one in found.criteria}
    assert words == {"clear": "may replace", "vague": "may not be used"}
    assert found.answer.word == "may not be used"  # the least of them
    clear = found.criteria[0]
    assert clear.test.winning_rate == 1
    assert sum(map(sum, clear.confusion)) == 120  # three people of two answers never tie
    frame = found.to_frame()
    assert frame["answer"].to_list() == ["may replace", "may not be used"]


def test_the_judge_is_no_part_of_the_ceiling() -> None:
    good = calibrant.validate_judge(panel({"c": 0.95}), level="nominal")
    bad = calibrant.validate_judge(panel({"c": 0.5}), level="nominal")
    ceilings = [{one.name: one.value for one in found.criteria[0].ceiling} for found in (good, bad)]
    assert ceilings[0] and ceilings[0] == pytest.approx(ceilings[1])
    assert good.people == PEOPLE and good.judge == "gpt"


def test_false_passes_at_a_gate_stand_on_their_own_line(tmp_path: Path) -> None:
    """A judge that passes everything at a gate agrees often, and may not be used."""
    frame = panel({"CQ8": 0.95, "CQ1": 0.95}, items=200, failing=0.2)
    always = pl.when((pl.col("rater") == "gpt") & (pl.col("criterion") == "CQ8"))
    frame = frame.with_columns(always.then(pl.lit("YES")).otherwise("answer").alias("answer"))
    path = tmp_path / "ratings.csv"
    frame.write_csv(path)
    result = run("validate-judge", path, "-r", "coaching-conversation")
    found = {one["criterion"]: one for one in json.loads(result.stdout)["criteria"]}
    gate = found["CQ8"]["false_passes"]
    assert gate["passed"] == gate["failed"] > 20  # it lets all of them through
    assert found["CQ8"]["answer"]["word"] == "may not be used"
    assert "pass the judge's gate" in found["CQ8"]["answer"]["why"]
    assert found["CQ1"]["false_passes"] is None  # not a gate
    assert found["CQ1"]["answer"]["word"] == "may replace"
    shown = run("validate-judge", path, "-r", "coaching-conversation", "--format", "text")
    assert "At the gates" in shown.stdout
    assert shown.stdout.strip().splitlines()[-1].startswith("gpt may not be used: ")


def test_too_few_labels_are_counted_and_asked_for(tmp_path: Path) -> None:
    found = calibrant.validate_judge(panel({"c": 0.95}, items=20), level="nominal")
    assert found.answer.more_labels == 30
    two = panel({"c": 0.95}).filter(pl.col("rater") != "cy")
    found = calibrant.validate_judge(two, level="nominal")
    assert found.answer.more_labels == 30
    assert "people" in found.answer.why


def test_a_mild_judge_has_a_signed_bias() -> None:
    random = np.random.default_rng(1)
    truth = random.integers(1, 5, 150)
    rows = [
        (f"i{at}", who, int(np.clip(truth[at] + random.integers(-1, 2), 1, 5)))
        for who in PEOPLE
        for at in range(150)
    ]
    judge = [(f"i{at}", "gpt", int(truth[at]) + 1) for at in range(150)]
    names = ["item", "rater", "score"]
    labels = pl.DataFrame(rows, schema=names, orient="row")
    found = calibrant.validate_judge(
        pl.DataFrame(judge, schema=names, orient="row"), labels, level="ordinal"
    )
    (one,) = found.criteria
    assert one.bias is not None and one.bias.what == "mean"
    assert 0.8 < one.bias.value < 1.1 and one.bias.interval[0] > 0.7
    assert one.correlation is not None and one.correlation > 0.8


def test_na_is_an_answer_among_names_and_none_among_numbers() -> None:
    frame = panel({"c": 0.95})
    some = pl.when(pl.col("item").str.ends_with("7"))
    nominal = frame.with_columns(some.then(pl.lit("NA")).otherwise("answer").alias("answer"))
    (one,) = calibrant.validate_judge(nominal, level="nominal").criteria
    assert one.labels == ("NO", "YES", "NA") and one.n_items == 120
    numbers = nominal.with_columns(pl.col("answer").replace({"YES": "5", "NO": "1"}))
    (other,) = calibrant.validate_judge(numbers, level="ordinal").criteria
    assert other.labels == ("1", "5") and other.n_items == 108


def test_two_files_reports_and_statuses(tmp_path: Path) -> None:
    frame = panel({"c": 0.5})
    judge, people = tmp_path / "judge.csv", tmp_path / "people.csv"
    frame.filter(pl.col("rater") == "gpt").write_csv(judge)
    frame.filter(pl.col("rater") != "gpt").write_csv(people)
    for name in ("report.json", "rows.csv"):
        out = tmp_path / name
        assert run("validate-judge", judge, people, "--level", "nominal", "-o", out).exit_code == 0
        assert out.stat().st_size > 50
    enforced = run("validate-judge", judge, people, "--level", "nominal", "--enforce")
    assert enforced.exit_code == 1
    assert run("validate-judge", judge, people).exit_code == 2  # no level
    refused = run("validate-judge", people, "--level", "nominal")
    assert isinstance(refused.exception, SourceError)  # no judge


def test_experts_may_be_further_ahead() -> None:
    frame = panel({"c": 0.9}, items=60, seed=3)
    for people, epsilon in (("experts", 0.2), ("skilled", 0.15), ("crowd", 0.1)):
        found = calibrant.validate_judge(frame, level="nominal", people=people)  # type: ignore[arg-type]
        assert found.criteria[0].test.epsilon == pytest.approx(epsilon)


def test_a_judge_that_likes_long_texts_is_told() -> None:
    """Its error grows with length; the other column has nothing to do with it."""
    random = np.random.default_rng(5)
    rows = []
    for at in range(200):
        length, family = int(random.integers(50, 500)), "own" if at % 2 else "other"
        truth = int(random.integers(1, 5))
        for who in PEOPLE:
            score = int(np.clip(truth + random.integers(-1, 2), 1, 5))
            rows.append((f"i{at}", who, "HUMAN", score, length, family))
        mild = int(np.clip(truth + (length > 275), 1, 5))
        rows.append((f"i{at}", "gpt", "LLM", mild, length, family))
    names = ["item", "rater", "kind", "score", "length", "family"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    found = calibrant.validate_judge(frame, level="ordinal", by=["length", "family"])
    by_column = {one.column: one for one in found.criteria[0].effects}
    assert by_column["length"].found and by_column["length"].word is None
    slope = by_column["length"].slope
    assert slope.value is not None and 0.2 < slope.value < 0.6
    assert by_column["family"].word == "other" and not by_column["family"].found
    with pytest.raises(SourceError, match="length"):
        calibrant.validate_judge(frame, level="ordinal", by=["lenght"])


def test_a_judge_that_was_asked_again_is_held_to_its_word(tmp_path: Path) -> None:
    frame = panel({"c": 0.95}).with_columns(pl.lit(1).alias("occasion"))
    judge = frame.filter(pl.col("rater") == "gpt")
    again = judge.with_columns(
        pl.when(pl.col("item") == "i0")
        .then(pl.col("answer").replace({"YES": "NO", "NO": "YES"}))
        .otherwise("answer"),
        pl.lit(2).alias("occasion"),
    )
    both = pl.concat([frame, again])
    found = calibrant.validate_judge(both, level="nominal")
    assert found.criteria[0].stability is not None
    assert (found.criteria[0].stability.same, found.criteria[0].stability.items) == (119, 120)
    path = tmp_path / "twice.csv"
    both.write_csv(path)
    shown = run("validate-judge", path, "--level", "nominal", "--by", "kind", "--format", "text")
    assert "119 of 120" in shown.stdout and "What its error depends on" in shown.stdout
    assert calibrant.validate_judge(frame, level="nominal").criteria[0].stability is None


def test_a_judge_that_spells_it_otherwise_says_the_same() -> None:
    frame = panel({"CQ1": 0.95}).with_columns(pl.lit(1).alias("occasion"))
    judge = frame.filter(pl.col("rater") == "gpt")
    again = judge.with_columns(pl.col("answer").str.to_lowercase(), pl.lit(2).alias("occasion"))
    rubric = calibrant.load_rubric("coaching-conversation")
    found = calibrant.validate_judge(pl.concat([frame, again]), rubric=rubric).criteria[0].stability
    assert found is not None and found.same == found.items == judge.height


WRITERS = ("gpt-4o", "gpt-4o-mini", "claude-3-opus", "gemini-1.5-pro")


def written(
    more: float, items: int = 160, *, length: float = 0.0, better: int = 0, seed: int = 0
) -> pl.DataFrame:
    """A judge of the gpt family that gives ``more`` to what this wrote, and ``length`` to it all.

    What the family wrote is ``better`` in everybody's eyes, and longer.
    """
    random = np.random.default_rng(seed)
    rows = []
    for at in range(items):
        writer = WRITERS[at % 4]
        own = writer.startswith("gpt")
        words = int(100 + 100 * own + random.integers(0, 200))
        truth = int(random.integers(1, 5)) + better * own
        for who in (*PEOPLE, "gpt", "gem"):
            score = truth + int(random.integers(-1, 2))
            if who == "gpt":
                score += int(own and random.random() < more) + round(length * (words - 200) / 100)
            kind = "HUMAN" if who in PEOPLE else "LLM"
            rows.append((f"i{at}", who, kind, score, writer, words))
    names = ["item", "rater", "kind", "score", "writer", "length"]
    return pl.DataFrame(rows, schema=names, orient="row")


def own_items(frame: pl.DataFrame, **more: Any) -> dict[tuple[str, str], OwnEffect]:
    models = {"gpt": "openai/gpt-4o", "gem": "gemini-2.0-flash"}
    told: dict[str, Any] = {"author": "writer", "models": models, **more}
    found = calibrant.validate_judge(frame, level="interval", judge="gpt", **told)
    return {(one.what, one.against): one for one in found.criteria[0].own_items}


def test_a_judge_that_favours_its_own_is_told() -> None:
    found = own_items(written(0.9, items=240))
    mine, family = found["own model", "people"], found["own family", "people"]
    assert (mine.n_own, mine.n_others) == (60, 120)  # relatives are no others
    assert (family.n_own, family.n_others) == (120, 120)
    for one in found.values():
        assert one.found and one.slope.interval is not None
        assert one.slope.interval[0] < 0.9 < one.slope.interval[1]
    # the other judge is a relative of what gemini wrote, and says nothing of that
    assert found["own family", "other judges"].n_others == 60


def test_the_effect_is_the_difference_of_two_gaps_to_people() -> None:
    frame = written(0.7)
    people = pl.col("score").filter(pl.col("kind") == "HUMAN").mean()
    judge = pl.col("score").filter(pl.col("rater") == "gpt").mean()
    gap = frame.group_by("item").agg(pl.col("writer").first(), (judge - people).alias("gap"))
    mean = dict(gap.group_by(pl.col("writer") == "gpt-4o").agg(pl.col("gap").mean()).iter_rows())
    others = gap.filter(~pl.col("writer").str.starts_with("gpt"))["gap"].mean()
    value = own_items(frame)["own model", "people"].slope.value
    assert value == pytest.approx(mean[True] - others)


def test_an_honest_judge_is_not_accused() -> None:
    """Its own items are better, and it says no more than people do."""
    for seed in range(2):
        found = own_items(written(0.0, better=1, seed=seed))
        assert len(found) == 4 and not any(one.found for one in found.values())


def test_a_judge_that_likes_long_texts_is_not_accused_of_liking_its_own() -> None:
    frame = written(0.0, length=1.0)
    assert own_items(frame)["own family", "people"].found  # its texts are longer
    equal = own_items(frame, by=["length"])["own family", "people"]
    assert not equal.found and equal.slope.interval is not None
    assert equal.slope.interval[0] < 0 < equal.slope.interval[1]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"author": None}, "nothing says who wrote the items"),
        ({"models": {}}, "it is not told which model gpt is"),
        ({"models": {"gpt": "llama-3"}}, "no item is told to be by llama-3 or its family"),
        ({"models": {"gpt": "mine"}}, "no item is told to be by mine, and its family is not known"),
    ],
)
def test_what_is_not_told_is_not_guessed(told: dict[str, Any], why: str) -> None:
    given: dict[str, Any] = {"author": "writer", "models": {"gpt": "gpt-4o"}} | told
    found = calibrant.validate_judge(written(0.7), level="interval", judge="gpt", **given)
    assert why in found.own_untold and found.criteria[0].own_items == []
    with pytest.raises(SourceError, match="of the ratings, and not of the items"):
        own_items(written(0.7), author="rater")


def test_items_and_ratings_of_judges_say_it_themselves(tmp_path: Path) -> None:
    frame = written(1.0).filter(pl.col("rater") != "gem")
    frame = frame.with_columns(pl.col("score").clip(1, 5), pl.lit("accuracy").alias("criterion"))
    judge, people, items = (
        tmp_path / name for name in ("judge.jsonl", "people.csv", "items.jsonl")
    )
    frame.filter(pl.col("kind") == "HUMAN").drop("writer").write_csv(people)
    mine = frame.filter(pl.col("kind") == "LLM")
    rater = {"rater": "gpt-1234", "kind": "LLM", "metadata": {"model": "gpt-4o", "card": "c"}}
    with judge.open("w") as ratings, items.open("w") as texts:
        for item, score, writer in mine.select("item", "score", "writer").iter_rows():
            rating = {"item": item, "answers": {"accuracy": score}, **rater}
            text = {"id": item, "question": "Why?", "response": f"So {item}.", "model": writer}
            ratings.write(json.dumps(rating) + "\n")
            texts.write(json.dumps(text) + "\n")
    command = ("validate-judge", judge, people, "-r", "ai-response", "--items", items)
    told = json.loads(run(*command).stdout)
    assert told["authors"] == {"own": 40, "family": 40, "unclear": 0, "other": 80}
    assert told["own_untold"] == ""
    effects = {one["what"]: one for one in told["criteria"][0]["own_items"]}
    assert effects["own family"]["found"] and effects["own family"]["slope"]["p"] < 0.001
    shown = run(*command, "--format", "text").stdout
    assert "Does it favour its own?" in shown and "80 : 80" in shown
    untold = run(*command[:-2], "--format", "text").stderr
    assert "cannot be told: nothing says who wrote the items" in untold
