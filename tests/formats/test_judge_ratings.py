"""Files of judges' ratings: read by everybody, resumed after a stop, never written over."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.judge.rating_kit import PLAN, TALK, all_asked, judge_of, rating

from calibrant import Rubric, SourceError, load_rubric
from calibrant.cli.main import cli
from calibrant.core.item import Conversation, Exchange, Item, Plan
from calibrant.formats.judge_ratings import (
    RatingsFile,
    Record,
    encoded,
    panel_path,
    panel_record,
    rating_record,
    read_ratings,
    write_ratings,
)
from calibrant.raters.judge.judge import Judge
from calibrant.raters.judge.panel import Panel, member_of
from calibrant.raters.judge.rated import Rated, rated
from calibrant.raters.judge.reading import Judgement, Quote, Seen

COACHING = load_rubric("coaching-conversation")
JUDGES = [judge_of(COACHING, "org/model-b"), judge_of(COACHING, "model-a")]
CARDS = [one.card for one in JUDGES]


def talk(number: int) -> Conversation:
    said = Exchange(user=f"I lost job {number}", assistant="That is hard. What came next?")
    return Conversation(id=f"c{number}", exchanges=(said,) * 2)


def record(judge: Judge, item: Item, sample: int = 1, **told: Any) -> Record:
    return rating_record(judge, item, sample, all_asked(judge, item, sample=sample, **told))


def run(*arguments: str | Path) -> Any:
    result = CliRunner().invoke(cli, [*map(str, arguments), "--format", "json"])
    assert result.exit_code == 0, result.output
    try:
        return [json.loads(result.stdout)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in result.stdout.splitlines()]


# -- what a line says


def test_a_line_says_everything_and_reads_back(plans: Rubric) -> None:
    judge = judge_of(plans)
    flag = next(one.id for one in plans.red_flags or () if one.evidence == "item")
    told = Judgement(
        answer="2",
        reasoning="Too far.",
        evidence=(Quote(text="three kitchens", place=1),),
        unverified=("four kitchens",),
        probabilities={"2": 0.75, "3": 0.25},
    )
    seen = Seen(flag=flag, evidence=(Quote(text="drive"),))
    asked = all_asked(judge, PLAN, {"realism": told, "clarity": None}, flags=[seen])
    line = rating_record(judge, PLAN, 3, asked)
    assert json.loads(encoded(line)) == line
    assert Rated.of_record(line) == rated(plans, judge.card, PLAN, 3, asked)
    assert (line["item"], line["rater"], line["occasion"]) == ("plan", judge.card.name, "3")
    assert line["rubric"] == plans.name and line["kind"] == "LLM"
    assert line["answers"]["realism"] == "2" and line["answers"]["clarity"] == "ERROR"
    assert line["flags"] == [{"flag": flag, "evidence": [{"text": "drive"}]}]
    assert line["evidence"] == {"realism": [{"text": "three kitchens", "place": 1}]}
    meta = line["metadata"]
    assert meta["card"] == judge.card.hash and meta["content"] == PLAN.hash
    assert meta["rubric_hash"] == plans.hash and meta["unverified"] == 1
    assert meta["abstained"] == {"clarity": "timeout"} and meta["shown"] == [judge.card.facts]
    calls = {one["question"]: one for one in meta["calls"]}
    assert calls["realism"]["usage"] == {"prompt": 100, "cached": 80, "completion": 10}
    assert calls["realism"]["rung"] == "json_schema" and calls["realism"]["error"] is None
    assert calls["clarity"]["error"] == "timeout" and calls["clarity"]["reply"] is None
    assert calls["realism"]["reply"] == '{"the": "reply"}' and calls["clarity"]["attempts"] == 5
    short = rating_record(judge, PLAN, 3, asked, words=False)
    assert all("reply" not in one for one in short["metadata"]["calls"])


def test_half_a_character_of_a_model_does_not_spoil_the_file(tmp_path: Path) -> None:
    told = Judgement(answer="NO", reasoning="odd \ud800 sign")
    line = rating_record(JUDGES[0], TALK, 1, all_asked(JUDGES[0], TALK, {"CQ1": told}))
    write_ratings(tmp_path / "out.jsonl", [line])
    (back,) = read_ratings(tmp_path / "out.jsonl")
    assert back["notes"]["CQ1"] == "odd ? sign"
    assert run("score", tmp_path / "out.jsonl", "-r", "coaching-conversation")


def test_score_and_agree_read_it_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "ratings.jsonl"
    lines = [
        record(JUDGES[0], talk(1)),
        record(JUDGES[1], talk(1), answers={"CQ1": "NO"}),
        record(JUDGES[0], talk(2), answers={"CQ2": None}),
        record(JUDGES[1], talk(2)),
        record(JUDGES[0], talk(1), sample=2),
    ]
    write_ratings(out, lines)
    scored = run("score", out, "-r", "coaching-conversation")
    assert [one["status"] for one in scored] == ["complete"] * 2 + ["incomplete"] + ["complete"] * 2
    assert [one["id"] for one in scored] == ["c1", "c1", "c2", "c2", "c1"]
    assert scored[1]["failed_checks"] == ["CQ1"] and scored[2]["errors"] == ["CQ2"]
    assert "MT4" in scored[0]["not_applicable"] and scored[0]["raw"]["MT4"] == "NA"
    (report,) = run("agree", out, "-r", "coaching-conversation")
    told = json.dumps(report)
    assert all(card.name in told for card in CARDS) and "CQ1" in told


def test_red_flags_of_judges_count_in_scores(tmp_path: Path, plans: Rubric) -> None:
    judge = judge_of(plans)
    flag = next(one for one in plans.red_flags or () if one.effect != "indicate")
    quotes = (Quote(text="three kitchens"), Quote(text="a car"))
    other = Plan(id="other", profile=PLAN.profile, actions=PLAN.actions)
    seen = record(judge, PLAN, flags=[Seen(flag=flag.id, evidence=quotes)])
    doubt = record(judge, other, flags=[Seen(flag=flag.id)])
    assert doubt["metadata"]["doubtful_flags"].keys() == {flag.id} and "flags" not in doubt
    write_ratings(tmp_path / "out.jsonl", [seen, doubt])
    flagged, plain = run("score", tmp_path / "out.jsonl", "-r", "smart-action-plan")
    assert flagged["flags"] == [flag.id] and flagged["verdict"] == "failed"
    assert plain["flags"] == [] and plain["verdict"] != "failed"


def test_without_word_of_red_flags_no_answer_counts(tmp_path: Path, plans: Rubric) -> None:
    """A flag would overrule all answers: an outage there must not look like a good item."""
    judge = judge_of(plans)
    deaf = record(judge, PLAN, flags_fail=True)
    write_ratings(tmp_path / "out.jsonl", [deaf])
    (scored,) = run("score", tmp_path / "out.jsonl", "-r", "smart-action-plan")
    assert (scored["status"], scored["verdict"]) == ("incomplete", "undecided")
    assert scored["mean"] is None
    again = Rated.of_record(deaf)
    assert again.answers == Rated.of_record(record(judge, PLAN)).answers, "they are kept"
    assert again.flags_unknown and not again.whole


def test_a_panel_stands_in_a_file_of_its_own(tmp_path: Path) -> None:
    ratings = [
        rating(COACHING, {"CQ1": one}, model=f"m{at}") for at, one in enumerate(["YES", "NO", "NO"])
    ]
    panel = Panel(COACHING, map(member_of, ratings), "majority").rate(ratings)
    path = panel_path(tmp_path / "ratings.jsonl")
    assert path.name == "ratings.panel.jsonl"
    line = panel_record(panel)
    write_ratings(path, [line])
    (scored,) = run("score", path, "-r", "coaching-conversation")
    assert scored["rater"] == panel.panel.name and scored["failed_checks"] == ["CQ1"]
    meta = line["metadata"]
    assert meta["policy"] == "majority" and len(meta["members"]) == 3 and meta["n"]["CQ1"] == 3
    assert {answer: len(who) for answer, who in meta["votes"]["CQ1"].items()} == {"NO": 2, "YES": 1}
    assert len(meta["dissent"]["CQ1"]) == 1
    assert Rated.of_record(line) == panel.rated


# -- the file of a run


def order(path: Path) -> list[tuple[str, str, str]]:
    return [(one["item"], one["rater"], one["occasion"]) for one in read_ratings(path)]


WANTED = [(at, judge, sample) for at in range(3) for judge in JUDGES for sample in (1, 2)]
ORDERED = [(f"c{at}", judge.card.name, str(sample)) for at, judge, sample in WANTED]


def worked(
    file: RatingsFile, todo: Iterable[tuple[int, Judge, int]], stop: int = 99, **told: Any
) -> int:
    """Make what is wanted, up to so many; how many were made."""
    jobs = [job for job in todo if file.wants(job[0], talk(job[0]), job[1].card, job[2])]
    for at, judge, sample in jobs[:stop]:
        file.add(record(judge, talk(at), sample, **told))
    return min(len(jobs), stop)


def test_ratings_come_in_any_order_and_stand_in_theirs(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with RatingsFile(out, CARDS) as file:
        assert worked(file, WANTED[::-1]) == len(WANTED)
        assert not out.exists() and (tmp_path / "out.jsonl.partial").exists()
        assert [one["item"] for one in file.ratings()] == [name for name, _, _ in ORDERED]
        file.finish()
        assert [one["item"] for one in file.ratings()] == [name for name, _, _ in ORDERED]
    assert order(out) == ORDERED
    assert [one.name for one in tmp_path.iterdir()] == ["out.jsonl"]


@given(st.lists(st.integers(0, 5), max_size=5), st.integers(1, 60), st.booleans())
def test_however_often_it_is_stopped_the_file_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, stops: list[int], torn: int, tear: bool
) -> None:
    out = tmp_path_factory.mktemp("run") / "out.jsonl"
    partial = out.with_name("out.jsonl.partial")
    made = lost = 0
    for stop in stops:
        with RatingsFile(out, CARDS) as file:
            made += worked(file, WANTED, stop)
        data = partial.read_bytes()
        if tear and data:
            partial.write_bytes(data[:-torn])
            lost += 1
    with RatingsFile(out, CARDS) as file:
        made += worked(file, WANTED)
        assert file.resumed + worked(file, []) <= len(WANTED)
        file.finish()
    assert order(out) == ORDERED and made == len(WANTED) + lost


def test_what_is_complete_is_not_made_again_and_what_lacks_answers_is(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with RatingsFile(out, CARDS) as file:
        worked(file, WANTED[:2])
        worked(file, WANTED[2:], answers={"CQ1": None})
        file.finish()
    assert sum("abstained" in one["metadata"] for one in read_ratings(out)) == 10
    with RatingsFile(out, CARDS) as file:
        assert not file.wants(2, talk(2), CARDS[0], 1, again=False)
        assert worked(file, WANTED) == 10 and file.resumed == 2
        file.finish()
    assert order(out) == ORDERED
    assert not any("abstained" in one["metadata"] for one in read_ratings(out))
    with RatingsFile(out, CARDS) as file:
        assert worked(file, WANTED) == 0 and file.resumed == 12


def test_flags_that_nobody_was_heard_on_are_asked_for_again(tmp_path: Path, plans: Rubric) -> None:
    judge = judge_of(plans)
    with RatingsFile(tmp_path / "out.jsonl", [judge.card]) as file:
        file.add(record(judge, PLAN, flags_fail=True))
        assert file.wants(0, PLAN, judge.card)
        file.add(record(judge, PLAN))
        assert not file.wants(0, PLAN, judge.card)


def test_ratings_of_other_items_stay_behind_those_of_the_run(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    for todo in (WANTED[:4], WANTED[4:]):
        with RatingsFile(out, CARDS) as file:
            worked(file, todo)
            file.finish()
    assert order(out) == ORDERED[4:] + ORDERED[:4]


def test_two_items_of_the_same_words_have_a_rating_each(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    twins = [Conversation(id=name, exchanges=TALK.exchanges) for name in ("one", "two")]
    with RatingsFile(out, CARDS) as file:
        for at, twin in enumerate(twins):
            assert file.wants(at, twin, CARDS[0])
            file.add(record(JUDGES[0], twin))
        file.finish()
    assert [name for name, _, _ in order(out)] == ["one", "two"]


def test_an_item_that_has_changed_is_not_taken_for_the_one_that_was_rated(tmp_path: Path) -> None:
    with RatingsFile(tmp_path / "out.jsonl", CARDS) as file:
        worked(file, WANTED[:1])
        changed = Conversation(id="c0", exchanges=talk(9).exchanges)
        with pytest.raises(SourceError, match="'c0' has changed"):
            file.wants(0, changed, CARDS[0])


def test_anew_leaves_earlier_ratings_aside(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with RatingsFile(out, CARDS) as file:
        worked(file, WANTED)
        file.finish()
    with RatingsFile(out, CARDS, anew=True) as file:
        assert worked(file, WANTED[:3]) == 3
        assert order(out) == ORDERED  # until the end
        file.finish()
    assert order(out) == ORDERED[:3]


@pytest.mark.parametrize("which", ["out.jsonl", "out.jsonl.partial"])
@pytest.mark.parametrize(
    "text", ['{"id": 1}\n', "[1]\n", "7\n", "words\n", "\n", '{"item": "x"}\n']
)
@pytest.mark.parametrize("anew", [False, True])
def test_a_file_of_another_make_is_not_written_over(
    tmp_path: Path, which: str, text: str, anew: bool
) -> None:
    (tmp_path / which).write_text(text)
    with pytest.raises(SourceError, match="not a file that `calibrant judge` has written"):
        RatingsFile(tmp_path / "out.jsonl", CARDS, anew=anew)
    assert (tmp_path / which).read_text() == text
    assert [one.name for one in tmp_path.iterdir()] == [which]


def test_ratings_by_other_judges_are_not_written_over(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    write_ratings(out, [record(JUDGES[1], TALK)])
    with pytest.raises(SourceError, match="none of the judges"):
        RatingsFile(out, CARDS[:1])


def test_outputs_that_cannot_be_are_refused_at_once(tmp_path: Path) -> None:
    items = tmp_path / "items.jsonl"
    items.write_text("")
    for name, why in (
        ("out.csv", "written as .jsonl"),
        ("out.parquet", "written as .jsonl"),
        ("nowhere/out.jsonl", "does not exist"),
        ("items.jsonl", "would be written over"),
    ):
        with pytest.raises(SourceError, match=why):
            RatingsFile(tmp_path / name, CARDS, items)
    partial = tmp_path / "x.jsonl.partial"
    with pytest.raises(SourceError, match="would be written over"):
        RatingsFile(tmp_path / "x.jsonl", CARDS, partial)


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    with (
        RatingsFile(tmp_path / "out.jsonl", CARDS),
        pytest.raises(SourceError, match="another run"),
    ):
        RatingsFile(tmp_path / "out.jsonl", CARDS)
    RatingsFile(tmp_path / "out.jsonl", CARDS).close()
