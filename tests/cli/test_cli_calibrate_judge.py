"""``calibrant calibrate-judge`` as its users call it."""

from __future__ import annotations

import json
import math
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result
from pydantic import ValidationError

import calibrant
from calibrant.cli.main import cli
from calibrant.core.errors import SourceError

CARD, RUBRIC = "sha256:" + "c" * 64, "sha256:" + "d" * 64


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["calibrate-judge", *map(str, arguments)])


def told(*arguments: str | Path) -> dict[str, Any]:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def sheet(number: int, answers: dict[str, str], shares: dict[str, dict[str, float]]) -> Any:
    """A rating as ``calibrant judge`` writes it."""
    return {
        "item": f"chat-{number}",
        "rater": "gpt",
        "kind": "LLM",
        "occasion": "1",
        "rubric": "coaching-conversation@3.0",
        "answers": answers,
        "notes": dict.fromkeys(answers, "because"),
        "metadata": {
            "content": f"sha256:{number}",
            "rubric_hash": RUBRIC,
            "card": CARD,
            "probabilities": shares,
            "calls": [{"id": "x", "reply": "long"}],
            "unverified": 0,
        },
    }


def of_two(draw: random.Random, good: bool, lean: float) -> tuple[str, dict[str, float]]:
    """A judge that knows, and says YES too often."""
    share = 1 / (1 + math.exp(-draw.gauss(lean + (1 if good else -1), 0.7)))
    return "YES" if share > 0.5 else "NO", {"YES": share, "NO": 1 - share}


def lenient(folder: Path, *, items: int = 160, labelled: int = 120) -> tuple[Path, Path]:
    """A judge that tells good items from bad and says YES to nearly all, and two people."""
    draw = random.Random(5)
    records, rows = [], ["item,rater,criterion,answer"]
    for number in range(items):
        good = draw.random() < 0.6
        answer, shares = of_two(draw, good, 1.5)
        records.append(sheet(number, {"CQ1": answer}, {"CQ1": shares}))
        if number < labelled:
            for who in ("ann", "bob"):
                said = good != (draw.random() < 0.05)
                rows.append(f"chat-{number},{who},CQ1,{'YES' if said else 'NO'}")
    judged, people = folder / "judged.jsonl", folder / "people.csv"
    judged.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    people.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return judged, people


RUBRIC_OPTION = ("-r", "coaching-conversation")


def test_a_lenient_judge_is_cut_where_people_cut(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    found = told(judged, people, *RUBRIC_OPTION, "-o", tmp_path / "mapping.json")
    (one,) = found["criteria"]
    kappa = one["agreement"]["cohen_kappa"]
    assert one["n_items"] == 120 and one["heard"] == "probabilities"
    assert one["method"] == "logistic (Platt)"
    # what it knew is in its probabilities: a cut at one half leaves half of it lying
    assert kappa["before"]["interval"][1] < kappa["after"]["interval"][0]
    assert one["rmse"]["after"]["value"] < one["rmse"]["before"]["value"]
    assert one["rmse"]["after"]["value"] < one["constant_rmse"]["value"]
    assert one["gain"]["interval"][0] > 0


def test_the_mapping_is_a_document_with_its_hash(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    out = tmp_path / "mapping.json"
    told(judged, people, *RUBRIC_OPTION, "-o", out, "--seed", "3", "--folds", "5")
    document = json.loads(out.read_text(encoding="utf-8"))
    assert (document["card"], document["rubric_hash"]) == (CARD, RUBRIC)
    assert (document["seed"], document["folds"]) == (3, 5)
    assert document["criteria"][0]["n_items"] == 120
    mapping = calibrant.read_mapping(out)
    assert mapping.hash == document["hash"]
    # the same data and seed give the same document, byte for byte
    again = tmp_path / "again.json"
    told(judged, people, *RUBRIC_OPTION, "-o", again, "--seed", "3", "--folds", "5")
    assert again.read_bytes() == out.read_bytes()
    document["criteria"][0]["cuts"] = [0.1]
    out.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(SourceError, match="was changed after it was fitted"):
        calibrant.read_mapping(out)


@pytest.mark.parametrize(
    "change",
    [
        {"cuts": ()},
        {"cuts": (0.2, 0.4)},
        {"intercept": (0.1, 0.2)},
        {"features": ()},
        {"kind": "isotonic"},
        {"criterion": "CQ2"},
    ],
)
def test_a_mapping_whose_numbers_do_not_fit_is_none(tmp_path: Path, change: dict[str, Any]) -> None:
    judged, people = lenient(tmp_path)
    rubric = calibrant.load_rubric("coaching-conversation")
    mapping = calibrant.calibrate_judge(judged, people, rubric=rubric, folds=2).mapping
    assert mapping is not None
    whole = mapping.model_dump()
    assert type(mapping).model_validate(whole) == mapping
    whole["criteria"] = [whole["criteria"][0] | change]
    with pytest.raises(ValidationError, match=r"CQ[12]"):
        type(mapping).model_validate(whole)


def test_applied_it_is_another_rater(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    mapping, out = tmp_path / "mapping.json", tmp_path / "calibrated.jsonl"
    told(judged, people, *RUBRIC_OPTION, "-o", mapping)
    assert run("--apply", mapping, judged, "-o", out).exit_code == 0
    document, before, after = calibrant.read_mapping(mapping), lines(judged), lines(out)
    assert len(after) == len(before) == 160
    (fitted,) = document.criteria
    (feature,) = fitted.features
    for old, new in zip(before, after, strict=True):
        assert new["rater"] == document.rater != old["rater"]
        about = new["metadata"]
        assert about["card"] == document.new_card != CARD
        assert about["calibrated"]["mapping"] == document.hash
        assert about["calibrated"]["said"] == old["answers"]
        assert new["notes"] == old["notes"] and "calls" not in about
        # by hand: log-odds, in standard deviations, weighed
        share = min(max(old["metadata"]["probabilities"]["CQ1"]["YES"], 0.001), 0.999)
        units = (math.log(share / (1 - share)) - feature.centre) / feature.spread
        odds = fitted.intercept[0] + feature.weights[0] * units
        mapped = 1 / (1 + math.exp(-odds))
        assert about["probabilities"]["CQ1"]["YES"] == pytest.approx(mapped)
        assert new["answers"]["CQ1"] == ("YES" if mapped >= fitted.cuts[0] else "NO")
    agreed = CliRunner().invoke(cli, ["score", str(out), *RUBRIC_OPTION])
    assert agreed.exit_code == 0, agreed.output


def test_another_mapping_makes_another_rater(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    rubric = calibrant.load_rubric("coaching-conversation")
    one = calibrant.calibrate_judge(judged, people, rubric=rubric).mapping
    fewer = people.read_text("utf-8").splitlines()[:-2]
    people.write_text("\n".join(fewer), encoding="utf-8")
    other = calibrant.calibrate_judge(judged, people, rubric=rubric).mapping
    assert one is not None and other is not None
    assert one.judge == other.judge and one.card == other.card
    assert one.rater != other.rater and one.new_card != other.new_card


def test_of_two_judges_one_is_named(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    text = judged.read_text("utf-8")
    second = text.replace('"gpt"', '"llama"').replace(CARD, "sha256:0")
    judged.write_text(text + second, encoding="utf-8")
    result = run(judged, people, *RUBRIC_OPTION)
    assert isinstance(result.exception, SourceError) and "which rater" in str(result.exception)
    found = told(judged, people, *RUBRIC_OPTION, "--judge", "llama")
    assert found["mapping"]["judge"] == "llama" and found["mapping"]["card"] == "sha256:0"


def test_the_first_time_counts_where_a_judge_was_asked_again(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    first = told(judged, people, *RUBRIC_OPTION)["mapping"]["hash"]
    again = [one | {"occasion": "2"} for one in lines(judged)]
    for one in again:
        one["metadata"]["probabilities"]["CQ1"] = {"YES": 0.5, "NO": 0.5}
    text = "".join(json.dumps(one) + "\n" for one in again)
    judged.write_text(text + judged.read_text("utf-8"), encoding="utf-8")
    assert told(judged, people, *RUBRIC_OPTION)["mapping"]["hash"] == first


def test_many_labels_may_follow_any_curve_that_never_falls(tmp_path: Path) -> None:
    """Two steps with a plain between them: no logistic curve looks like that."""
    draw = random.Random(12)
    records, rows = [], []
    for number in range(900):
        share = draw.random()
        chance = 0.1 if share < 0.1 else 0.5 if share < 0.9 else 0.95
        said = "YES" if draw.random() < chance else "NO"
        records.append(sheet(number, {"c": "YES"}, {"c": {"YES": share, "NO": 1 - share}}))
        rows.append({"item": f"chat-{number}", "rater": "a", "criterion": "c", "answer": said})
    found = calibrant.calibrate_judge(records, rows, level="nominal", folds=3)
    assert found.find("c").method == "isotonic" and found.mapping is not None
    calibrant.write_mapping(found.mapping, tmp_path / "mapping.json")
    mapping = calibrant.read_mapping(tmp_path / "mapping.json")
    mapped = list(calibrant.apply_mapping(mapping, records))
    pairs = sorted(
        (old["metadata"]["probabilities"]["c"]["YES"], new["metadata"]["probabilities"]["c"]["YES"])
        for old, new in zip(records, mapped, strict=True)
    )
    curve = [new for _, new in pairs]
    assert all(a <= b + 1e-9 for a, b in pairwise(curve))
    assert curve[450] == pytest.approx(0.5, abs=0.1) and curve[20] < 0.25 < 0.8 < curve[-20]


def test_na_errors_and_the_unknown_stay_what_they_are(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    found = calibrant.calibrate_judge(
        judged, people, rubric=calibrant.load_rubric("coaching-conversation")
    )
    assert found.mapping is not None
    records = [
        sheet(1, {"CQ1": "NA"}, {}),
        sheet(2, {"CQ1": "ERROR"}, {}),
        sheet(3, {"CQ1": "YES"}, {}),
    ]
    mapped = list(calibrant.apply_mapping(found.mapping, records))
    assert [one["answers"]["CQ1"] for one in mapped] == ["NA", "ERROR", "ERROR"]
    assert mapped[2]["metadata"]["abstained"] == {"CQ1": "nothing to calibrate by"}
    assert "abstained" not in mapped[0]["metadata"]


def test_another_judge_is_refused(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    mapping, out = tmp_path / "mapping.json", tmp_path / "calibrated.jsonl"
    told(judged, people, *RUBRIC_OPTION, "-o", mapping)
    other = tmp_path / "other.jsonl"
    other.write_text(judged.read_text("utf-8").replace(CARD, "sha256:0"), encoding="utf-8")
    result = run("--apply", mapping, other, "-o", out)
    assert isinstance(result.exception, SourceError) and "its card is not" in str(result.exception)
    other.write_text(judged.read_text("utf-8").replace('"gpt"', '"llama"'), encoding="utf-8")
    result = run("--apply", mapping, other, "-o", out)
    assert "no ratings by gpt" in str(result.exception)
    assert not out.exists()


def test_too_few_labels_say_how_many_are_needed(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path, labelled=31)
    result = run(judged, people, *RUBRIC_OPTION)
    assert isinstance(result.exception, SourceError)
    assert "31 items" in str(result.exception) and "19 more labels" in str(result.exception)


def test_an_answer_that_is_too_rare_is_named(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    kept, seen = [], 0
    for line in people.read_text("utf-8").splitlines():
        seen += line.endswith("NO")
        kept.append(line if not line.endswith("NO") or seen <= 6 else line[:-2] + "YES")
    people.write_text("\n".join(kept), encoding="utf-8")
    result = run(judged, people, *RUBRIC_OPTION)
    assert "people answer NO to 3 items; 10 are needed: 7 more" in str(result.exception)


def test_a_judge_that_knows_nothing_gets_no_mapping(tmp_path: Path) -> None:
    draw = random.Random(8)
    records, rows = [], []
    for number in range(100):
        answer, shares = of_two(draw, draw.random() < 0.5, 0.0)
        records.append(sheet(number, {"CQ1": answer}, {"CQ1": shares}))
        said = "YES" if draw.random() < 0.5 else "NO"
        rows.append({"item": f"chat-{number}", "rater": "ann", "criterion": "CQ1", "answer": said})
    found = calibrant.calibrate_judge(records, pl.DataFrame(rows), level="nominal")
    assert found.mapping is None
    assert "tell nothing" in (found.find("CQ1").refused or "")


def test_a_gate_that_would_open_keeps_the_judges_own_answers(tmp_path: Path) -> None:
    """A severe judge that knows little: cut where people cut, it would let more through."""
    draw = random.Random(4)
    records, rows = [], []
    for number in range(200):
        good = draw.random() < 0.8
        share = 1 / (1 + math.exp(-draw.gauss(-1.6 if good else -2.4, 1.0)))
        answer = "YES" if share > 0.5 else "NO"
        records.append(sheet(number, {"CQ8": answer}, {"CQ8": {"YES": share, "NO": 1 - share}}))
        said = "YES" if good else "NO"
        rows.append({"item": f"chat-{number}", "rater": "ann", "criterion": "CQ8", "answer": said})
    found = calibrant.calibrate_judge(
        records, rows, rubric=calibrant.load_rubric("coaching-conversation")
    )
    one = found.find("CQ8")
    assert one.false_passes is not None
    assert one.false_passes[1].passed > one.false_passes[0].passed
    assert found.mapping is None and "would pass the gate" in (one.refused or "")
    unkept = calibrant.calibrate_judge(records, rows, level="nominal")
    assert unkept.mapping is not None


# -- scales of numbers, and plain tables


def scores(folder: Path) -> Path:
    """A judge that is two points too high, in one table with two people."""
    draw = random.Random(6)
    rows = []
    for number in range(120):
        truth = draw.choice([1, 2, 3])
        rows.append((number, "gpt", "LLM", truth + 2 if draw.random() < 0.9 else 4))
        for who in ("ann", "bob"):
            rows.append((number, who, "HUMAN", truth if draw.random() < 0.9 else 2))
    path = folder / "all.csv"
    text = "".join(f"item-{n},{who},{kind},{answer}\n" for n, who, kind, answer in rows)
    path.write_text("item,rater,kind,answer\n" + text, encoding="utf-8")
    return path


def test_scores_without_probabilities_are_mapped(tmp_path: Path) -> None:
    path = scores(tmp_path)
    mapping, out = tmp_path / "mapping.json", tmp_path / "calibrated.jsonl"
    found = told(path, "--level", "ordinal", "-o", mapping)
    (one,) = found["criteria"]
    assert one["heard"] == "answers" and one["criterion"] == "answer"
    alpha = one["agreement"]["krippendorff_alpha:ordinal"]
    assert alpha["before"]["value"] < 0 < 0.6 < alpha["after"]["value"]
    assert one["rmse"]["before"]["value"] > 1.8 and one["rmse"]["after"]["value"] < 0.6
    assert run("--apply", mapping, path, "-o", out, "--level", "ordinal").exit_code == 0
    mapped = lines(out)
    assert len(mapped) == 120  # people's rows are not the judge's
    own = {(one["metadata"]["calibrated"]["said"]["all answers"], one["answer"]) for one in mapped}
    assert own == {("3", "1"), ("4", "2"), ("5", "3")}
    assert all(1 <= one["metadata"]["means"]["all answers"] <= 5 for one in mapped)


def test_other_criteria_are_listened_to_where_they_tell_more() -> None:
    """What people think of the whole follows from the parts, of which the judge knows."""
    draw = random.Random(9)
    records, rows = [], []
    for number in range(200):
        parts = {name: draw.choice([1, 2, 3, 4]) for name in ("tone", "facts")}
        answers = {name: str(value) for name, value in parts.items()} | {
            "overall": draw.choice("34")
        }
        records.append({"item": number, "rater": "gpt", "kind": "LLM", "answers": answers})
        said = round((parts["tone"] + parts["facts"]) / 2 + draw.gauss(0, 0.2))
        rows.append({"item": number, "rater": "a", "criterion": "overall", "answer": str(said)})
    order = ("1", "2", "3", "4")
    found = calibrant.calibrate_judge(records, rows, level="ordinal", order=order, folds=5)
    one = found.find("overall")
    assert one.method is not None and "all criteria" in one.method
    assert one.rmse is not None and one.constant is not None
    assert (one.rmse[1].value or 9) < 0.6 * (one.constant.value or 0)
    assert found.mapping is not None
    (first, *_) = calibrant.apply_mapping(found.mapping, records)
    assert first["metadata"]["calibrated"]["said"].keys() == {"overall"}  # nobody labelled it
    assert set(found.mapping.as_judged) == {"tone", "facts"}


def test_more_than_two_names_take_the_likeliest() -> None:
    draw = random.Random(10)
    words = ("low", "mid", "high")
    records, rows = [], []
    for number in range(150):
        truth = draw.choice(words)
        wrong = {"low": "mid", "mid": "high", "high": "low"}[truth]  # it mixes the names up
        records.append({"item": number, "rater": "gpt", "kind": "LLM", "answers": {"c": wrong}})
        rows.append({"item": number, "rater": "a", "criterion": "c", "answer": truth})
    found = calibrant.calibrate_judge(records, rows, level="nominal", folds=5)
    kappa = found.find("c").coefficient("cohen_kappa", after=True)
    assert kappa is not None and kappa.value == 1
    assert found.mapping is not None
    mapped = list(calibrant.apply_mapping(found.mapping, records))
    assert [one["answers"]["c"] for one in mapped] == [row["answer"] for row in rows]
    assert sum(mapped[0]["metadata"]["probabilities"]["c"].values()) == pytest.approx(1)


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    result = run(judged, people, *RUBRIC_OPTION, "-o", tmp_path / "mapping.csv")
    assert "write .json" in str(result.exception)
    (tmp_path / "no.json").write_text("{}", encoding="utf-8")
    result = run("--apply", tmp_path / "no.json", judged, "-o", tmp_path / "out.jsonl")
    assert "not a mapping" in str(result.exception)
    assert run("--apply", tmp_path / "no.json", judged).exit_code == 2
    assert run(judged, people).exit_code == 2


def test_tables_for_the_eye(tmp_path: Path) -> None:
    judged, people = lenient(tmp_path)
    result = run(judged, people, *RUBRIC_OPTION, "--format", "text", "--report", tmp_path / "r.csv")
    assert result.exit_code == 0
    assert "held aside" in result.stdout and "Platt" in result.stdout
    assert "another rater: gpt-calibrated-" in result.stdout
    row = pl.read_csv(tmp_path / "r.csv").row(0, named=True)
    assert row["criterion"] == "CQ1" and row["kappa_after"] > row["kappa_before"]


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        (lambda good: good, "at least as close"),  # a mapping would only blur it
        (lambda good: True, "tell nothing"),
    ],
)
@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_a_judge_that_is_always_right_or_always_the_same_has_no_mapping(
    level: str, judge: Any, why: str, tmp_path: Path
) -> None:
    draw = random.Random(1)
    rows = []
    for at in range(120):
        good = draw.random() < 0.5
        rows.append((f"i{at}", "ann", "HUMAN", int(good)))
        rows.append((f"i{at}", "gpt", "LLM", int(judge(good))))
    path = tmp_path / "both.csv"
    pl.DataFrame(rows, schema=["item", "rater", "kind", "answer"], orient="row").write_csv(path)
    found = told(path, "--level", level, "--format", "json")
    (one,) = found["criteria"]
    assert why in one["refused"] and found["mapping"] is None
    if why == "tell nothing":
        assert one["correlation"]["after"]["value"] is None
    else:  # without an error nobody knows how large errors are
        assert one["rmse"]["before"] == {"value": 0, "interval": None}
    shown = run(path, "--level", level, "--format", "text")
    assert why in " ".join(shown.output.split())
