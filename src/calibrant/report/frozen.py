"""The report of a day, kept with a check-in or the end of a phase, and read as it was.

What the study keeps is the record of the findings, words on items apart from it: whoever has an
item redacted erases its words here as well, and the report is shown without them, as the one of
today would be.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calibrant.core.errors import CalibrantError, StudyError
from calibrant.report.asking import Missing
from calibrant.report.findings import FORMAT, Findings, findings
from calibrant.report.recorded import Misshapen, recorded
from calibrant.report.wording import plain

if TYPE_CHECKING:
    from calibrant.study.frozen import Frozen
    from calibrant.study.handle import Study

_WORDS = ("quotes", "note", "reason")
"""Fields that hold words of an item, or on it."""
_log = logging.getLogger(__name__)


def freeze(
    study: Study, number: int, on_step: Callable[[str], None] = lambda step: None
) -> Frozen | Missing:
    """Keep the report of now with check-in ``number``, or with the phase that ended under it.

    What it is kept with has happened, and stays: where there is no report, it is said why.
    """
    try:
        document, words = _apart(findings(study, on_step=on_step).to_dict())
        on_step("keeping the report")
        return study.keep_report(number, json.dumps(document), words)
    except CalibrantError as error:
        return Missing(str(error))
    except Exception:
        _log.exception("the report for number %s could not be made", number)
        return Missing("something went wrong in making it, and was written to the log")


def thawed(study: Study, number: int) -> Findings:
    """The report that is kept with check-in ``number``, or with the end of a phase."""
    data = study.frozen_report(number)
    try:
        document = _together(json.loads(data.document), data.words)
        made = document.pop("format", None)
        if made != FORMAT:
            raise StudyError(f"report {number} has format {made}; this version reads {FORMAT}")
        found = recorded(Findings, document)
    except (ValueError, RecursionError) as error:
        raise StudyError(f"frozen report {number} cannot be read: {error}") from error
    return _without_wordless(found)


def said(outcome: Frozen | Missing) -> str:
    """What became of it, as a sentence that goes on from what it is kept with."""
    if isinstance(outcome, Missing):
        return f"no report was frozen: {outcome.why.rstrip('.')}"
    return "the report of now is frozen with it"


def title_of(frozen: Frozen) -> str:
    """What a report was frozen with."""
    return f"end of phase {plain(str(frozen.phase))}" if frozen.what == "phase" else "check-in"


# -- words on items


def _apart(document: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """A record without words on items, and these by item and place; the record is changed."""
    words: dict[str, dict[str, Any]] = {}
    for item, place, record in _worded(document):
        for name in _WORDS:
            if record.get(name):
                words.setdefault(item, {})[f"{place}.{name}"] = record[name]
                record[name] = type(record[name])()
    return document, words


def _together(document: dict[str, Any], words: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The record with the words that are still there; it is changed."""
    for item, place, record in _worded(document):
        for name in _WORDS:
            if f"{place}.{name}" in words.get(item, ()):
                record[name] = words[item][f"{place}.{name}"]
    return document


def _worded(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every part of a record that may hold words on an item: the item, the place, the part."""
    try:
        flags, apart = document["flags"], document["disagreements"]["journal"]
        for at, one in enumerate(flags["red_flags"]):
            yield str(one["item"]), f"red_flags.{at}", one
        for at, one in enumerate(flags["safety_failures"]):
            for place, each in enumerate(one["said"]):
                yield str(one["item"]), f"safety_failures.{at}.{place}", each
        for at, one in enumerate(apart.get("settled", ())):
            yield str(one["item"]), f"settled.{at}", one
    except (KeyError, TypeError, AttributeError) as error:
        raise Misshapen("it is not the record of a report") from error


def _without_wordless(found: Findings) -> Findings:
    """What raters said is told by its words: where these are gone, so is it."""
    failures = tuple(
        replace(one, said=tuple(each for each in one.said if each.quotes or each.note))
        for one in found.flags.safety_failures
    )
    return replace(found, flags=replace(found.flags, safety_failures=failures))
