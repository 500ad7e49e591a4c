"""A study with one of everything, for tests of leaving and coming back."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.study.study_kit import PLANS, as_, new_study, panel, plan_item, rate_all

from calibrant import Rubric, Study, Submission
from calibrant.core.study import Key
from calibrant.formats import bundle
from calibrant.ports.store import Store

ITEMS = 12
RED = next(flag.id for flag in PLANS.red_flags or () if flag.evidence != "item_and_profile")


def scored(shift: int) -> Callable[[Key, Rubric], dict[str, Any]]:
    """Answers that vary with the item; every fourth is seen ``shift`` points higher."""

    def form(key: Key, rubric: Rubric) -> dict[str, Any]:
        number = int(key.item[-3:])
        far = shift if number % 4 == 0 else 0
        names = enumerate(rubric.criterion_ids)
        answers = {name: str(min(5, (number + at) % 3 + 1 + far)) for at, name in names}
        return {"answers": answers, "note": "=1+1 says ann, and half a sign: \ud800"}

    return form


def sure(form_of: Callable[[Key, Rubric], dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """As a judge hands it in: with how likely its answers are, and what they took."""

    def form(key: Key, rubric: Rubric) -> dict[str, Any]:
        plain = form_of(key, rubric)
        shares = {name: {text: 0.75, "5": 0.125} for name, text in plain["answers"].items()}
        return {**plain, "probabilities": shares, "measured": {"seconds": 0.25}, "reply": "{}"}

    return form


def full_study(store: Store) -> Study:
    """Two rounds, a correction, flags, a settlement, a report, a redaction, a second version."""
    study = new_study(store)
    study.add_items([plan_item(number) for number in range(ITEMS)])
    panel(study, "ann", "bob", "=cy")
    study.add_member("ada", roles=("adjudicator",))
    study.add_member("judge", kind="LLM", card={"model": "m-2", "kept_by": "ann"})
    study.plan_round("calibration")
    study.open_round(1)
    for name, shift in (("ann", 0), ("bob", 0), ("=cy", 2)):
        rate_all(study, name, scored(shift))
    rate_all(study, "judge", sure(scored(0)))
    ann = as_(study, "ann")
    first = ann.my_ratings()[0]
    ann.correct(
        Submission(key=first.key, form=scored(1)(first.key, PLANS), request="once more"),
        revision=1,
        reason="Ann looked again",
    )
    ann.ask("what does ann's level 2 mean?", criterion="usefulness")
    study.answer_question(next(iter(study.questions())).number, "see the anchor", share=True)
    study.close_round(1)
    study.raise_flag("plan-001", what="edge_case", reason="bob is not sure")
    study.raise_flag(
        "plan-002",
        what="red_flag",
        flag=RED,
        evidence=["visit 2 nurseries"],
    )
    as_(study, "ada").decide_flag(study.flags()[0].number, confirm=False, reason="fine")
    study.plan_round("main")
    study.open_round(2, override="for the test")
    for name, shift in (("ann", 0), ("bob", 1), ("=cy", 2), ("judge", 1)):
        rate_all(study, name, scored(shift))
    study.close_round(2)
    for case in study.queue(limit=3):
        if case.criterion is not None:
            study.no_consensus(
                case.item, case.criterion, participants=["ann", "bob"], reason="apart"
            )
            study.settle(case.item, case.criterion, "2", how="adjudicated", reason="by the anchor")
    held = study.check_in(attendees=["ann", "lena"], decisions="go on, ann")
    words = {name: {"note": f"{name}, as bob says"} for name in ("plan-001", "plan-005")}
    study.keep_report(held.number, "as ann saw it", words)
    study.add_lesson("ann says: anchors help")
    study.redact("plan-005", reason="asked for by bob")
    new = PLANS.model_copy(update={"version": "1.1", "summary": "In other words."})
    study.refine(new, cause="disagreement_pattern", text="ann read it in two ways")
    study.add_items([plan_item(ITEMS)])
    study.plan_round("main")
    study.leave("=cy", reason="moved away")
    return study


def rewritten(source: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The bundle with its files changed, and a manifest that agrees with them."""
    files = {
        str(path.relative_to(source)): path.read_bytes()
        for path in sorted(source.rglob("*"))
        if path.is_file()
    }
    change(files)
    resealed(files)
    return put(target, files)


def resealed(files: dict[str, bytes]) -> None:
    """Let the manifest state what the files are now."""
    manifest = json.loads(files[bundle.MANIFEST])
    for name in manifest["files"]:
        if name in files:
            sum_ = hashlib.sha256(files[name]).hexdigest()
            manifest["files"][name] = {"bytes": len(files[name]), "sha256": sum_}
    sums = {name: facts["sha256"] for name, facts in manifest["files"].items()}
    try:
        manifest["study"] = json.loads(files[bundle.STUDY])
        study = bundle.StudyFacts(**manifest["study"])
        manifest["hash"] = bundle.content_digest(study, sums)
    except (ValueError, TypeError, KeyError):
        pass
    files[bundle.MANIFEST] = json.dumps(manifest).encode()


def put(target: Path, files: dict[str, bytes]) -> Path:
    """Files as a folder, or as an archive where the name says so."""
    if target.suffix == ".zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return target
    for name, data in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return target
