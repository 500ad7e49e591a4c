"""Mappings of calibrated judges: files of them, and ratings that they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from pydantic import ValidationError

from calibrant.compare.judge_features import Shares, heard, predicted
from calibrant.compare.judged import ALL_ANSWERS, JUDGE, long_rows
from calibrant.compare.rating_columns import Reading
from calibrant.core.answer import ERROR, NA
from calibrant.core.errors import SourceError
from calibrant.core.judge_mapping import CriterionMapping, JudgeMapping, Scale
from calibrant.formats.calibrating import are_sheets, probabilities_of, records_of, side_of
from calibrant.formats.json_text import BadJson, parse_json
from calibrant.formats.pydantic_errors import deepest
from calibrant.formats.writers import write_document
from calibrant.raters.judge.card import KIND
from calibrant.stats.calibration_fit import Array

_TOLD = ("hash", "rater", "card_of_rater")
"""Keys of a file that follow from the others."""
_KEPT = ("content", "rubric_hash", "model", "abstained", "by_code", "doubtful_flags",
         "flags_unknown", "unverified")  # fmt: skip
"""What the judge's rating tells that calibration does not change."""
_AT_ONCE = 10_000


def write_mapping(mapping: JudgeMapping, path: Path | str) -> None:
    """Write a mapping with its hash, whole or not at all."""
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise SourceError(f"{path}: a mapping is written as .json; name such a file")
    data = msgspec.json.format(msgspec.json.encode(mapping.to_dict()), indent=1)
    write_document(data + b"\n", path)


def read_mapping(path: Path | str) -> JudgeMapping:
    """A mapping as it was written; one that was changed since is refused."""
    try:
        found = parse_json(Path(path).read_bytes())
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except BadJson as error:
        raise SourceError(f"{path}: {error}") from error
    if not isinstance(found, dict) or "criteria" not in found:
        raise SourceError(f"{path}: not a mapping that `calibrant calibrate-judge` has written")
    told = {name: found.pop(name, None) for name in _TOLD}
    try:
        mapping = JudgeMapping.model_validate(found)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in deepest(error)]
        raise SourceError("\n".join(f"{path}: {line}" for line in lines)) from error
    if told != {name: mapping.to_dict()[name] for name in _TOLD}:
        raise SourceError(f"{path}: was changed after it was fitted: its hash is another")
    return mapping


# -- applying


def apply_mapping(
    mapping: JudgeMapping, judged: Any, how: Reading | None = None, encoding: str | None = None
) -> Iterator[dict[str, Any]]:
    """A judge's ratings as those of the rater that judge and mapping are together.

    ``judged`` is the path of a file of ratings, or a list of records. Ratings by others are left
    out; NA and errors stay what they are.
    """
    rows = iter(_by_judge(mapping, _sheets(judged, how or Reading(), encoding)))
    empty = True
    while some := list(islice(rows, _AT_ONCE)):
        empty = False
        yield from _mapped(mapping, some)
    if empty:
        raise SourceError(f"there are no ratings by {mapping.judge}, whom the mapping is for")


def _sheets(judged: Any, how: Reading, encoding: str | None) -> Iterable[dict[str, Any]]:
    """One record an item, rater and occasion."""
    found = records_of(judged, encoding)
    if are_sheets(found):
        return found
    sheets: dict[tuple[str, ...], dict[str, Any]] = {}
    side = side_of(judged, "judged", encoding)
    for frame in side.frames:
        for row in long_rows(frame, how, side.name, JUDGE).iter_rows(named=True):
            key = tuple(str(row[name]) for name in ("item", "rater", "occasion"))
            names = ("item", "rater", "kind", "occasion")
            own = {name: row[name] for name in names if row[name] is not None}
            sheet = sheets.setdefault(key, {**own, "answers": {}})
            if row["answer"] is not None:
                sheet["answers"][row["criterion"]] = row["answer"]
    return sheets.values()


def _by_judge(mapping: JudgeMapping, sheets: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in sheets:
        if one.get("rater") != mapping.judge:
            continue
        about = one.get("metadata", {})
        for name, wanted in (("card", mapping.card), ("rubric_hash", mapping.rubric_hash)):
            if wanted is not None and about.get(name) != wanted:
                raise SourceError(
                    f"item {one.get('item')!r}: its {name} is not the one that the mapping was "
                    "fitted to; calibrate anew"
                )
        yield one


def _mapped(mapping: JudgeMapping, sheets: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    scales = {one.criterion: one for one in mapping.scales}
    shares = {
        name: heard(scale, [_said(scale, one) for one in sheets]) for name, scale in scales.items()
    }
    found = {one.criterion: (one, *predicted(one, scales, shares)) for one in mapping.criteria}
    for at, sheet in enumerate(sheets):
        own = {
            name: (one, values[at], answers[at]) for name, (one, values, answers) in found.items()
        }
        yield _record(mapping, sheet, own, scales)


def _said(scale: Scale, sheet: Mapping[str, Any]) -> Shares | None:
    """What the judge said, as the mapping listens to it."""
    answer = sheet["answers"].get(scale.criterion)
    if answer is None or str(answer).upper() in (NA, ERROR):
        return None
    if scale.heard == "probabilities":
        return probabilities_of(sheet).get(scale.criterion)
    return {str(answer): 1.0}


def _record(
    mapping: JudgeMapping,
    sheet: Mapping[str, Any],
    found: Mapping[str, tuple[CriterionMapping, Array, str | None]],
    scales: Mapping[str, Scale],
) -> dict[str, Any]:
    about = sheet.get("metadata", {})
    answers = dict(sheet["answers"])
    told = {name: about[name] for name in _KEPT if name in about}
    shares: dict[str, Any] = dict(probabilities_of(sheet))
    means: dict[str, float] = {}
    said: dict[str, Any] = {}
    for name, (_, values, answer) in found.items():
        if str(answers.get(name, NA)).upper() in (NA, ERROR):
            continue
        said[name] = answers[name]
        shares.pop(name, None)
        if answer is None:
            answers[name] = ERROR
            told["abstained"] = told.get("abstained", {}) | {name: "nothing to calibrate by"}
            continue
        answers[name] = answer
        scale = scales[name]
        if scale.kind == "numbers":
            means[name] = float(np.clip(values[0], min(scale.points), max(scale.points)))
        else:
            each = values if len(values) > 1 else (1 - values[0], values[0])
            shares[name] = dict(zip(scale.answers, map(float, each), strict=True))
    told |= {"card": mapping.new_card}
    told |= {name: what for name, what in (("probabilities", shares), ("means", means)) if what}
    judge = {"judge": mapping.judge, "card": mapping.card, "mapping": mapping.hash, "said": said}
    record = {**sheet, "rater": mapping.rater, "kind": KIND, "answers": answers}
    record["metadata"] = told | {"calibrated": judge}
    if list(answers) == [ALL_ANSWERS]:  # a table that names no criterion
        record["answer"] = record.pop("answers")[ALL_ANSWERS]
    return record
