"""A frozen report: the same signs for good, for leads alone, and without words that were erased."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.report.report_kit import item, known
from tests.study.study_kit import as_, rate_all, same
from tests.study.test_study_blind import STATES, begun

from calibrant import Study, StudyError, compose
from calibrant.core.errors import Refused
from calibrant.core.plan import Plan
from calibrant.report import frozen
from calibrant.report.asking import Missing
from calibrant.report.files import json_text
from calibrant.report.findings import Findings, findings
from calibrant.report.frozen import freeze, thawed
from calibrant.report.html import report_html
from calibrant.report.markdown import report_markdown
from calibrant.report.recorded import Misshapen, recorded
from calibrant.study.frozen import Frozen

WORDS = "it has teeth"


def drawn(found: Findings) -> tuple[str, ...]:
    forms = (report_html, report_markdown)
    return json_text(found), *(make(found, short) for make in forms for short in (False, True))


def held(study: Study) -> int:
    return study.check_in(attendees=["lena"], decisions="go on").number


def frozen_now(study: Study) -> int:
    number = held(study)
    assert isinstance(freeze(study, number), Frozen)
    return number


def settled() -> Study:
    """A study with words in every place of a report that takes words on items."""
    study = known()
    why = f"tidy: {WORDS}"
    as_(study, "ada").settle("i-8", "tidy", "YES", how="adjudicated", reason=why)
    return study


def test_it_is_read_sign_by_sign_as_it_was_while_the_study_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    study, made = settled(), []

    def watched(study: Study, **more: Any) -> Findings:
        made.append(findings(study, **more))
        return made[-1]

    monkeypatch.setattr(frozen, "findings", watched)
    number = frozen_now(study)
    then = drawn(made[0])
    assert then[0].count(WORDS) >= 4  # red flag, its decision, a rater's quote, a settlement
    study.add_items(item(number) for number in range(10, 14))
    study.plan_round("main", plan=Plan(way="everyone"))
    study.open_round(2)
    for name in ("ann", "bob"):
        rate_all(study, name, same("NO"))
    study.close_round(2)
    assert drawn(thawed(study, number)) == then
    assert drawn(findings(study))[0] != then[0]
    bundle = tmp_path / "study.zip"
    compose.export_study(study, bundle)
    compose.verify_bundle(bundle)
    assert drawn(thawed(compose.import_study(f"{tmp_path}/other.db", bundle), number)) == then


@pytest.mark.parametrize("state", STATES)
def test_every_part_comes_back(state: str) -> None:
    study = STATES[state]()
    for actor in ("lena", "leo", "vic"):
        found = findings(as_(study, actor))
        again = found.to_dict()
        assert again.pop("format")
        assert recorded(Findings, again) == found
    assert found.judges is not None or state != "closed"
    broken = {**again, "work": {**again["work"], "items": "many"}}
    with pytest.raises(Misshapen, match=r"Findings.work.items"):
        recorded(Findings, broken)


def test_words_that_are_redacted_are_gone_from_it() -> None:
    study = settled()
    number = frozen_now(study)
    study.redact("i-9", reason="asked for")
    some = thawed(study, number)
    assert some.flags.red_flags[0].quotes == () and some.flags.safety_failures[0].said
    for name in ("i-7", "i-8"):
        study.redact(name, reason="asked for")
    now, then = findings(study), thawed(study, number)
    assert WORDS not in json_text(then) and then.flags == now.flags
    assert then.disagreements.journal == now.disagreements.journal
    for at in range(7):
        study.redact(f"i-{at}", reason="asked for")
    kept = study.store.read(lambda tx: [str(one) for one in tx.journal(study.number)])
    assert not any(WORDS in line for line in kept)


def test_words_that_were_redacted_while_it_was_made_are_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = settled()

    def slow(study: Study, **more: Any) -> Findings:
        found = findings(study, **more)
        study.redact("i-9", reason="asked for")
        return found

    monkeypatch.setattr(frozen, "findings", slow)
    assert thawed(study, frozen_now(study)).flags.red_flags[0].quotes == ()


def test_only_leads_read_it_and_one_who_rates_only_what_raters_may_know() -> None:
    study = begun()  # lena sees what bob said in the open round; leo leads, and rates in it
    number = frozen_now(study)
    assert [one.by for one in thawed(study, number).flags.red_flags] == ["bob", "bob"]
    for name in ("ann", "ada", "vic"):
        with pytest.raises(Refused):
            thawed(as_(study, name), number)
        with pytest.raises(Refused):
            as_(study, name).frozen_reports()
    leo = as_(study, "leo")
    assert [one.number for one in leo.frozen_reports()] == [number]
    with pytest.raises(Refused, match="round 1 is open"):
        thawed(leo, number)
    own = frozen_now(leo)
    assert thawed(leo, own).flags.red_flags == ()
    study.close_round(1, reason="time is up")
    assert thawed(leo, number) == thawed(study, number)


def test_the_journal_has_a_line_and_not_the_report() -> None:
    study = settled()
    number = frozen_now(study)
    line = study.journal()[-1]
    assert (line.kind, line.body["of"], line.body["what"]) == ("report", number, "check_in")
    assert not any(one.kind == "report_data" for one in study.journal())
    lines = study.contents(lambda contents, _: list(contents.journal()))
    assert sum(one.kind == "report_data" for one in lines) == line.body["lines"]


def test_under_pseudonyms_it_stays_behind(tmp_path: Path) -> None:
    study = settled()
    number = frozen_now(study)
    bundle = tmp_path / "study.zip"
    compose.export_study(study, bundle, pseudonyms=True)
    compose.verify_bundle(bundle)
    other = compose.import_study(f"{tmp_path}/other.db", bundle)
    assert [one.number for one in other.frozen_reports()] == [number]
    with pytest.raises(StudyError, match="stayed behind"):
        thawed(other, number)


def test_what_it_is_kept_with_stands_where_there_is_no_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = known()
    number = held(study)

    def broken(study: Study, **more: Any) -> Findings:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(frozen, "findings", broken)
        outcome = freeze(study, number)
    assert isinstance(outcome, Missing) and "no report was frozen" in frozen.said(outcome)
    assert study.check_ins()[-1].number == number and study.frozen_reports() == []
    assert isinstance(freeze(study, 1), Missing)  # nothing of the kind happened there
    assert isinstance(freeze(study, number), Frozen)
    assert isinstance(freeze(study, number), Missing)  # one report each
