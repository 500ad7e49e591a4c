"""``calibrant estimate`` as its users call it."""

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
from calibrant.core.errors import SourceError
from calibrant.stats.next_labels import draw, groups_of, plan
from calibrant.stats.prediction_powered import Sample, powered

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


def told(*arguments: str | Path) -> dict[str, Any]:
    result = run("estimate", *arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def world(items: int = 1_200, labels: int = 150, seed: int = 0) -> pl.DataFrame:
    """A judge of all items, two people for the first ones; users have four items each."""
    random = np.random.default_rng(seed)
    truth = random.random(items) < 0.7
    judged = random.random(items) < np.where(truth, 0.9, 0.2)
    rows = []
    for at in range(items):
        item, user = f"i{at}", f"u{at // 4}"
        rows.append((item, "gpt", "LLM", "YES" if judged[at] else "NO", user))
        for who in ("ann", "bob") if at < labels else ():
            right = truth[at] if random.random() < 0.95 else not truth[at]
            rows.append((item, who, "HUMAN", "YES" if right else "NO", user))
    return pl.DataFrame(rows, schema=["item", "rater", "kind", "answer", "user"], orient="row")


def by_hand(frame: pl.DataFrame) -> Sample:
    """The sample behind ``world``, made another way."""
    judge = frame.filter(pl.col("rater") == "gpt").with_columns(
        (pl.col("answer") == "YES").cast(pl.Float64).alias("f")
    )
    people = frame.filter(pl.col("kind") == "HUMAN").group_by("item").agg(
        (pl.col("answer") == "YES").mean().alias("y")
    )  # fmt: skip
    both = judge.join(people, "item", "left", maintain_order="left")
    return Sample(both["f"].to_numpy(), both["y"].fill_null(np.nan).to_numpy(), bounds=(0.0, 1.0))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    frame = world()
    judge, people = tmp_path / "judge.csv", tmp_path / "people.csv"
    frame.filter(pl.col("kind") == "LLM").drop("kind").write_csv(judge)
    frame.filter(pl.col("kind") == "HUMAN").drop("kind", "user").write_csv(people)
    return judge, people


def test_two_files_and_one_give_the_same_figures(files: tuple[Path, Path]) -> None:
    judge, people = files
    found = told(judge, people, "--level", "nominal")
    assert found["judge"] == "gpt" and sorted(found["people"]) == ["ann", "bob"]
    expected = powered(by_hand(world()))
    (figure,) = [one for one in found["figures"] if one["method"] == "prediction_powered"]
    assert figure["quantity"] == "answer: YES" and figure["use"]
    assert figure["value"] == pytest.approx(expected.value)
    assert figure["interval"] == pytest.approx(expected.interval)
    assert figure["worth"] > 150
    report = calibrant.estimate(world(), level="nominal")
    assert report.find("answer: YES").figure.value == pytest.approx(expected.value)
    assert report.find("answer: YES", "people_alone").figure.n_labels == 150


def test_figures_stand_side_by_side_on_a_terminal(files: tuple[Path, Path]) -> None:
    shown = run("estimate", *files, "--level", "nominal", "--next", "30", "--format", "text")
    assert shown.exit_code == 0
    for word in ("judge alone", "people alone", "prediction-powered", "Rogan–Gladen", "Label next"):
        assert word in shown.stdout


def test_clusters_widen_what_items_of_a_user_share(files: tuple[Path, Path]) -> None:
    found = told(*files, "--level", "nominal", "--cluster", "user")
    (figure,) = [one for one in found["figures"] if one["method"] == "prediction_powered"]
    assert figure["how"] == "t"  # 38 users were labelled
    refused = run("estimate", *files, "--level", "nominal", "--cluster", "usr")
    assert isinstance(refused.exception, SourceError)
    assert "user" in str(refused.exception)


def test_the_judge_s_answers_may_be_the_strata(files: tuple[Path, Path]) -> None:
    plain = calibrant.estimate(world(), level="nominal").find("answer: YES").figure
    strata = calibrant.estimate(world(), level="nominal", strata="answer: YES")
    figure = strata.find("answer: YES").figure
    assert figure.value == pytest.approx(plain.value, abs=0.01)
    assert figure.se == pytest.approx(plain.se, rel=0.1)


def test_verdicts_give_pass_rate_and_mean_score(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    lines: dict[str, list[str]] = {"judge": [], "people": []}
    for at in range(400):
        passed = random.random() < 0.6
        for side in ("judge", "people"):
            if side == "people" and at >= 60:
                continue
            verdict = "passed" if passed == (random.random() < 0.9) else "failed"
            if side == "judge" and at == 399:
                verdict = "undecided"
            score = 0.9 if verdict == "passed" else 0.4
            record = {"id": f"c{at}", "status": "complete", "verdict": verdict, "score": score}
            lines[side].append(json.dumps(record))
    paths = []
    for side, records in lines.items():
        paths.append(tmp_path / f"{side}.jsonl")
        paths[-1].write_text("\n".join(records) + "\n", "utf-8")
    found = told(*paths)
    names = {one["quantity"] for one in found["figures"]}
    assert names == {"pass rate", "score"}
    assert {"reason": "verdict undecided", "rows": 1} in found["excluded"]
    rate = next(one for one in found["figures"] if one["use"] and one["quantity"] == "pass rate")
    assert rate["n_judged"] == 399 and rate["n_labels"] == 60
    mixed = run("estimate", paths[0], tmp_path / "labels.csv")
    assert mixed.exception is not None


def test_verdicts_of_the_scorer_are_read(tmp_path: Path) -> None:
    answers = EXAMPLES / "coaching-conversation" / "answers.jsonl"
    for name in ("judge", "people"):
        out = tmp_path / f"{name}.jsonl"
        assert run("score", answers, "-r", "coaching-conversation", "-o", out).exit_code == 0
    found = told(tmp_path / "judge.jsonl", tmp_path / "people.jsonl")
    figure = next(one for one in found["figures"] if one["method"] == "prediction_powered")
    assert "too few" in figure["undefined"]


def test_na_makes_a_ratio_of_the_figure() -> None:
    """A third does not apply; of the rest 80 % are YES, whatever share applies."""
    random = np.random.default_rng(1)
    rows = []
    for at in range(3_000):
        answer = "NA" if at % 3 == 0 else "YES" if random.random() < 0.8 else "NO"
        judge = answer if random.random() < 0.9 else "YES"
        rows.append((f"i{at}", "gpt", "LLM", judge))
        if random.random() < 0.1:
            rows.append((f"i{at}", "ann", "HUMAN", answer))
    frame = pl.DataFrame(rows, schema=["item", "rater", "kind", "answer"], orient="row")
    found = calibrant.estimate(frame, level="nominal").find("answer: YES").figure
    assert found.value is not None and found.se is not None
    assert abs(found.value - 0.8) < 3 * found.se
    alone = calibrant.estimate(frame, level="nominal").find("answer: YES", "people_alone").figure
    given = frame.filter((pl.col("rater") == "ann") & (pl.col("answer") != "NA"))
    assert alone.value == pytest.approx((given["answer"] == "YES").mean())


def test_ordered_scales_have_means(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    rows = []
    for at in range(500):
        score = int(random.integers(1, 6))
        rows.append((f"i{at}", "gpt", "LLM", min(5, score + int(random.random() < 0.5))))
        if at < 120:
            rows.append((f"i{at}", "ann", "HUMAN", score))
    frame = pl.DataFrame(rows, schema=["item", "rater", "kind", "score"], orient="row")
    report = calibrant.estimate(frame, level="ordinal")
    found = report.find("mean").figure
    naive = report.find("mean", "judge_alone").figure
    assert found.value is not None and naive.value is not None and found.se is not None
    assert abs(found.value - 3) < 3 * found.se < 0.5
    assert naive.value > found.value + 0.2
    assert found.interval is not None and 1 <= found.interval[0] <= found.interval[1] <= 5


def systems() -> pl.DataFrame:
    random = np.random.default_rng(4)
    parts = []
    for system, share in (("new", 0.85), ("old", 0.7)):
        hard = np.random.default_rng(9).random(800)  # the same tasks
        truth = hard < share
        for at in range(800):
            judged = truth[at] if random.random() < 0.9 else not truth[at]
            parts.append((f"t{at}", "gpt", "LLM", "YES" if judged else "NO", system))
            if at < 120:
                parts.append((f"t{at}", "ann", "HUMAN", "YES" if truth[at] else "NO", system))
    names = ["item", "rater", "kind", "answer", "model"]
    return pl.DataFrame(parts, schema=names, orient="row")


def test_two_systems_are_compared_task_by_task() -> None:
    report = calibrant.estimate(systems(), level="nominal", system="model")
    found = report.find("answer: YES", system="new − old").figure
    apart = [report.find("answer: YES", system=name).figure.se for name in ("new", "old")]
    assert found.value is not None and found.se is not None and found.interval is not None
    assert abs(found.value - 0.15) < 3 * found.se
    assert found.interval[0] > 0
    unpaired = sum(one**2 for one in apart if one is not None) ** 0.5
    assert found.se < unpaired  # the same tasks: part of the noise falls away


def test_labels_of_another_mix_are_noticed(tmp_path: Path) -> None:
    frame = world(labels=0)
    failed = frame.filter(pl.col("answer") == "NO")["item"].to_list()[:100]
    rows = [
        (item, "ann", "HUMAN", "NO" if at % 3 else "YES", "u") for at, item in enumerate(failed)
    ]
    labels = pl.DataFrame(rows, schema=frame.columns, orient="row")
    report = calibrant.estimate(frame, labels, level="nominal")
    assert any("no random sample" in note for note in report.notes)


def test_labels_from_elsewhere_carry_error_rates_over() -> None:
    target = world(items=2_000, labels=0, seed=5)
    other = world(items=200, labels=200, seed=6).with_columns(
        ("other-" + pl.col("item")).alias("item")
    )
    both = pl.concat([target, other])
    report = calibrant.estimate(both, level="nominal", shifted=True, judge="gpt")
    assert report.find("answer: YES").method == "rogan_gladen"


def test_the_next_items_are_written(files: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "next.txt"
    command = ("estimate", *files, "--level", "nominal", "--next", "25", "--next-out", out)
    assert run(*command).exit_code == 0
    items = out.read_text("utf-8").split()
    labelled = {f"i{at}" for at in range(150)}
    assert len(set(items)) == 25 and not labelled & set(items)
    assert run("estimate", *files, "--level", "nominal", "--next-out", out).exit_code == 2


def test_unequal_chances_of_a_label_are_told_by_a_column() -> None:
    random = np.random.default_rng(8)
    frame = world(items=3_000, labels=3_000, seed=7)
    judge = frame.filter(pl.col("kind") == "LLM").with_columns(
        pl.when(pl.col("answer") == "NO").then(0.3).otherwise(0.05).alias("chance")
    )
    drawn = judge.filter(pl.Series(random.random(3_000)) < pl.col("chance"))["item"].to_list()
    labels = frame.filter((pl.col("rater") == "ann") & pl.col("item").is_in(drawn))
    report = calibrant.estimate(judge, labels, level="nominal", probability="chance")
    truth = frame.filter(pl.col("rater") == "ann")["answer"].eq("YES").mean()
    found = report.find("answer: YES").figure
    assert found.value is not None and found.se is not None and isinstance(truth, float)
    assert abs(found.value - truth) < 3 * found.se
    wrong = judge.with_columns(pl.lit(1.5).alias("chance"))
    with pytest.raises(SourceError, match="above 0"):
        calibrant.estimate(wrong, labels, level="nominal", probability="chance")


def test_who_is_who_must_be_told(files: tuple[Path, Path]) -> None:
    judge, people = files
    with pytest.raises(SourceError, match="which rater is the judge"):
        calibrant.estimate(world().drop("kind"), level="nominal")
    named = calibrant.estimate(world().drop("kind"), level="nominal", judge="gpt")
    assert named.people == ("ann", "bob")
    with pytest.raises(SourceError, match="gpt"):
        calibrant.estimate(world(), level="nominal", judge="gtp")
    assert isinstance(run("estimate", judge, people).exception, SourceError)  # no level


@pytest.mark.parametrize("command", ["estimate", "validate-judge"])
@pytest.mark.parametrize(
    ("judge", "people", "why"),
    [
        ("item,rater,answer\n", "item,rater,answer\n1,ann,YES\n", "empty"),
        ("item,rater,answer\n1,gpt,YES\n", "item,rater,answer\n", "empty"),
        ("item,rater,answer\n1,gpt,YES\n", "id,status,verdict\n1,complete,passed\n", "verdicts"),
        (
            "id,status,verdict\n1,complete,maybe\n",
            "id,status,verdict\n1,complete,passed\n",
            "verdict",
        ),
        ("item,rater,answer\n1,gpt,YES\n", "item,rater,answer\n1,ann,\n", "no people"),
    ],
)
def test_tables_that_cannot_be_held_together_are_refused(
    command: str, judge: str, people: str, why: str, tmp_path: Path
) -> None:
    (tmp_path / "judge.csv").write_text(judge, "utf-8")
    (tmp_path / "people.csv").write_text(people, "utf-8")
    found = run(command, tmp_path / "judge.csv", tmp_path / "people.csv", "--level", "nominal")
    assert isinstance(found.exception, SourceError)
    assert why in str(found.exception)


def test_a_wrong_answer_is_told_with_its_file_and_record(tmp_path: Path) -> None:
    judge, people = tmp_path / "judge.jsonl", tmp_path / "people.jsonl"
    sheet = '{{"id": "c{}", "rater": "{}", "answers": {{"CQ1": "YES", "CP4": "{}"}}}}'
    judge.write_text("\n".join(sheet.format(n, "gpt", "YES") for n in range(3)), "utf-8")
    answers = ("YES", "NO", "maybe")
    people.write_text(
        "\n".join(sheet.format(n, "ann", answer) for n, answer in enumerate(answers)), "utf-8"
    )
    for command in ("estimate", "validate-judge"):
        found = run(command, judge, people, "-r", "coaching-conversation")
        assert f"{people}: record 3: answer: 'maybe'" in str(found.exception)


def test_somebody_without_an_answer_is_nobody(tmp_path: Path) -> None:
    frame = world()
    silent = pl.DataFrame([("i0", "cy", "HUMAN", None, "u0")], schema=frame.schema, orient="row")
    report = calibrant.estimate(pl.concat([frame, silent]), level="nominal")
    assert report.people == ("ann", "bob")


def test_nothing_but_na_leaves_nothing_to_estimate() -> None:
    frame = world(items=40, labels=20).with_columns(pl.lit("NA").alias("answer"))
    with pytest.raises(SourceError, match="nothing to estimate"):
        calibrant.estimate(frame, level="nominal")


def test_labels_chosen_by_the_judge_s_answer_are_strata_afterwards() -> None:
    """Two waves, the second where people differ: 150 seeded worlds, each estimated by strata."""
    held = 0
    for seed in range(150):
        random = np.random.default_rng([3, seed])
        truth = random.random(1_200) < 0.8
        judged = (random.random(1_200) < np.where(truth, 0.97, 0.4)).astype(np.float64)
        labels = np.where(np.arange(1_200) < 60, truth, np.nan)
        groups = groups_of(judged)
        more = plan(Sample(judged, labels), groups, 60).more
        chosen = draw(groups, ~np.isnan(labels), more, seed)
        labels[chosen] = truth[chosen]
        found = powered(Sample(judged, labels, groups, bounds=(0.0, 1.0), found_strata=True))
        assert found.interval is not None
        held += found.interval[0] <= 0.8 <= found.interval[1]
    assert 0.92 <= held / 150 <= 0.99


def test_a_rubric_of_several_criteria_asks_which() -> None:
    rubric = calibrant.load_rubric("ai-response")
    with pytest.raises(SourceError, match="which criterion"):
        calibrant.estimate(world().with_columns(pl.lit("4").alias("answer")), rubric=rubric)


def test_the_order_of_rows_means_nothing(tmp_path: Path) -> None:
    frame = world(items=200, labels=40)
    parts = [frame, frame.sample(fraction=1, shuffle=True, seed=3)]
    found = []
    for at, part in enumerate(parts):
        part.write_csv(path := tmp_path / f"{at}.csv")
        found.append(told(path, "--level", "nominal", "--next", "5", "--format", "json"))
    assert found[0] == found[1]


def test_a_system_without_answers_is_told_and_has_no_difference(tmp_path: Path) -> None:
    """People say NA to all of the other system's items: 0 of them is no figure to subtract."""
    first = world(items=200, labels=40).with_columns(model=pl.lit("a"))
    na = pl.when(pl.col("kind") == "HUMAN").then(pl.lit("NA")).otherwise("answer")
    other = first.with_columns(answer=na, model=pl.lit("b"))
    pl.concat([first, other]).write_csv(path := tmp_path / "all.csv")
    found = told(path, "--level", "nominal", "--system", "model", "--format", "json")
    figures = {(one["system"], one["method"]): one for one in found["figures"]}
    assert figures["b", "prediction_powered"]["undefined"] == "it applies to no item"
    assert figures["a − b", "prediction_powered"]["undefined"] == "it applies to no item"
    nothing = pl.concat([first, first.with_columns(answer=pl.lit("NA"), model=pl.lit("c"))])
    nothing.write_csv(path)
    found = told(path, "--level", "nominal", "--system", "model", "--format", "json")
    assert found["notes"][0].startswith("c: there is nothing to estimate")


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("command", ["estimate", "validate-judge", "calibrate-judge"])
def test_a_criterion_that_applies_to_nothing_spoils_no_other(
    command: str, level: str, tmp_path: Path
) -> None:
    answer = (pl.col("answer") == "YES").cast(pl.Int64).cast(pl.String)
    one = world(items=80, labels=80).with_columns(answer=answer, criterion=pl.lit("one"))
    other = one.with_columns(answer=pl.lit("NA"), criterion=pl.lit("other"))
    pl.concat([one, other]).write_csv(path := tmp_path / "all.csv")
    result = run(command, path, "--level", level, "--format", "json")
    assert result.exit_code == 0, (result.output, result.exception)
