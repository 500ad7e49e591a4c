"""Beginning a study: what was typed, the rubric it judges by, and what is made of them."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import date
from importlib import resources

from starlette.datastructures import FormData

from calibrant.core.errors import CalibrantError, Fault, RubricError, SourceError, StudyError
from calibrant.core.rubric import Rubric
from calibrant.core.structure import empty_categories
from calibrant.formats.rubric_file import MAX_BYTES, builtin_names, load_rubric, parse_rubric
from calibrant.study.open import create
from calibrant.web.form_fields import text_of
from calibrant.web.workspace import Visitor, Workspace

MOST_TITLE = 200
MOST_SLUG = 60
WRITTEN = "rubric"
"""How a rubric that is being written is called in messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyForm:
    """What stands in the first step: nothing typed is lost on the way."""

    title: str = ""
    name: str = ""
    start_on: str = ""
    rubric: str = ""
    """A built-in one, by its name."""

    @classmethod
    def read(cls, form: FormData) -> StudyForm:
        """What was sent."""
        return cls(
            title=text_of(form, "title"),
            name=text_of(form, "name"),
            start_on=text_of(form, "start_on"),
            rubric=text_of(form, "rubric"),
        )


def begin_study(workspace: Workspace, visitor: Visitor, form: StudyForm, rubric: Rubric) -> int:
    """A study led by whoever begins it; its number."""
    title = " ".join(form.title.split())
    if not title:
        raise StudyError("give the study a title: people see it on every page")
    if len(title) > MOST_TITLE or not title.isprintable():
        raise StudyError(f"a title has at most {MOST_TITLE} characters, all of them visible")
    made = create(
        workspace.plain,
        form.name or _free_name(workspace, title),
        rubric,
        lead=visitor.name,
        clock=workspace.clock,
        start_on=_day(form.start_on),
        title=title,
        mask_key=secrets.token_hex(32),
    )
    return made.number


def _day(text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise StudyError(
            f"the day on which it begins looks like 2026-03-02, not {text[:40]!r}"
        ) from None


def _free_name(workspace: Workspace, title: str) -> str:
    """A short name made of the title, which no other study has."""
    slug = re.sub(r"[^\w]+", "-", title.lower()).strip("-_")[:MOST_SLUG] or "study"
    taken = {record.name for _, record in workspace.store.read(lambda tx: tx.studies())}
    names = (slug, *(f"{slug}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


# -- rubrics


def builtin_rubrics() -> list[Rubric]:
    """Those that come with calibrant."""
    return [load_rubric(name) for name in builtin_names()]


def starting_text(like: str) -> str:
    """What a new rubric starts from: a commented template, or a copy of a built-in one."""
    if like in builtin_names():
        return resources.files("calibrant.rubrics").joinpath(f"{like}.yaml").read_text("utf-8")
    text = resources.files("calibrant.formats").joinpath("starter.yaml").read_text("utf-8")
    lines = text.splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if not line.startswith("#") and line.strip())
    told = (
        "# A rubric of your own. Everything a reviewer sees, a judge is asked and a score is\n"
        "# made of stands in this one text. Words mean what they look like: YES is YES, 1.10 is\n"
        "# not 1.1. Where nothing is to be said, write none.\n\n"
    )
    return told + "".join(lines[first:])


@dataclass(frozen=True, slots=True)
class Proof:
    """What a rubric that somebody writes is worth so far."""

    rubric: Rubric | None
    faults: tuple[Fault, ...]
    warnings: tuple[str, ...] = ()


def proof_of(text: str) -> Proof:
    """Every fault of a written rubric, or the rubric."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        fault = Fault(f"larger than {MAX_BYTES // 1_000_000} MB: this is not a rubric")
        return Proof(None, (fault,))
    if not text.strip():
        return Proof(None, (Fault("nothing is written yet", hint="start from a template"),))
    try:
        rubric = parse_rubric(text, WRITTEN)
    except RubricError as error:
        return Proof(None, error.faults)
    except CalibrantError as error:
        return Proof(None, (Fault(str(error)),))
    empty = empty_categories(rubric.categories or (), rubric.criteria)
    return Proof(rubric, (), tuple(f"category {one!r} has no criteria" for one in empty))


def uploaded_text(data: bytes) -> str:
    """The text of a rubric file; raises ``SourceError`` where it is none."""
    if len(data) > MAX_BYTES:
        raise SourceError(f"the file is larger than {MAX_BYTES // 1_000_000} MB: not a rubric")
    try:
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SourceError(f"line {line} is not UTF-8 text: save the file as UTF-8") from None
