"""What the API on uploaded files takes and gives: columns, what a file would bring, bad rows."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from calibrant.core.item import item_text
from calibrant.web.lead_models import Body, ItemWords
from calibrant.web.upload_check import Checked, Wrong
from calibrant.web.upload_columns import MOST_COLUMNS, Looked, troubles
from calibrant.web.uploads import Upload

State = Literal["reading", "waiting", "taking", "taken", "failed"]


class ColumnOut(BaseModel):
    """A column of the file."""

    name: str
    samples: list[str] = Field(description="The first things it says.")
    choice: str = Field(description="What it is taken for.")


class ChoiceOut(BaseModel):
    """Something a column can be taken for."""

    name: str
    what: str
    needed: bool


class RowOut(BaseModel):
    """One of the first rows of a table."""

    row: int = Field(description="As a spreadsheet numbers it.")
    cells: list[str] = Field(description="What stands in it, shortened.")


class PlaceOut(BaseModel):
    """Where in the file its table is read, and where else it might be."""

    sheet: str | None = Field(description="Of a workbook.")
    header_row: int = Field(description="The row with the names of the columns.")
    is_guess: bool = Field(description="Whether it is the row that looks like the header.")
    sheets: list[str]
    rows: list[RowOut] = Field(description="The first rows in which anything stands.")

    @classmethod
    def of(cls, looked: Looked) -> PlaceOut | None:
        """Where a table stands, as it is sent; None where a file holds none."""
        if looked.place is None or looked.glance is None:
            return None
        header = looked.place.header or 1
        return cls(
            sheet=looked.place.sheet,
            header_row=header,
            is_guess=header == looked.glance.header,
            sheets=list(looked.glance.sheets),
            rows=[RowOut(row=number, cells=list(cells)) for number, cells in looked.glance.rows],
        )


class CheckedOut(BaseModel):
    """What the file would bring to the study."""

    good: int = Field(description="New items.")
    known: int = Field(description="There already, with the same content.")
    bad: int = Field(description="Rows that are no item.")
    faults: int = Field(description="Mistakes in them; `faults` lists each.")
    duplicates: int = Field(description="Rows that say what an earlier row says.")
    alike: list[str] = Field(description="The first of those.")
    notes: list[str]
    preview: list[ItemWords] = Field(description="The first items, as they would be taken in.")

    @classmethod
    def of(cls, one: Checked) -> CheckedOut:
        """What a check found, as it is sent."""
        return cls(
            good=one.good,
            known=one.known,
            bad=one.bad,
            faults=one.faults,
            duplicates=one.duplicates,
            alike=one.alike,
            notes=one.notes,
            preview=[
                ItemWords(id=item.id, kind=item.kind, content=json.loads(item_text(item)))
                for item in one.preview
            ],
        )


class UploadOut(BaseModel):
    """A file that waits, and what is known of it; it is deleted after an hour."""

    upload: str = Field(description="Its name in addresses.")
    name: str
    state: State
    said: str = Field(description="Why it failed, where it did.")
    done: int = Field(description="Rows that were read or taken in so far.")
    total: int | None
    check: int = Field(description="Counts how often it was read: send it to take the file in.")
    place: PlaceOut | None = Field(description="Where its table is read; none in JSON.")
    columns: list[ColumnOut]
    choices: list[ChoiceOut] = Field(description="What a column can be taken for.")
    troubles: list[str] = Field(description="What keeps these columns from making items.")
    checked: CheckedOut | None
    added: int | None = Field(description="Items that were taken in, once they are.")

    @classmethod
    def of(cls, one: Upload) -> UploadOut:
        """A file, as it stands."""
        state = _state(one)
        looked = one.looked if one.job.is_over else None
        checked = one.checked if one.job.is_over else None
        return cls(
            upload=one.token,
            name=one.name,
            state=state,
            said=one.told(one.job.error),
            done=one.job.done,
            total=one.job.total,
            check=one.checks,
            place=None if looked is None else PlaceOut.of(looked),
            columns=_columns(looked, one.choices),
            choices=_choices(looked),
            troubles=[] if looked is None else troubles(looked, one.kind, one.choices),
            checked=None if checked is None else CheckedOut.of(checked),
            added=None if one.intake is None else one.intake.added,
        )


def _state(one: Upload) -> State:
    if not one.job.is_over:
        return "taking" if one.taking else "reading"
    if one.job.error:
        return "failed"
    return "waiting" if one.intake is None else "taken"


def _columns(looked: Looked | None, choices: dict[str, str]) -> list[ColumnOut]:
    return [
        ColumnOut(name=one.name, samples=list(one.samples), choice=choices.get(one.name, ""))
        for one in (looked.columns if looked is not None else ())
    ]


def _choices(looked: Looked | None) -> list[ChoiceOut]:
    if looked is None:
        return []
    fields = [ChoiceOut(name=one.name, what=one.what, needed=one.needed) for one in looked.fields]
    return fields + [ChoiceOut(name=name, what=what, needed=False) for name, what in looked.others]


class UploadsOut(BaseModel):
    """Your files that wait in this study, the newest first."""

    uploads: list[UploadOut]


class ColumnsIn(Body):
    """What columns are to be taken for; those that are not named stay as they are."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"columns": {"Prompt": "question", "Notes": "out"}}]}
    )
    columns: Annotated[
        dict[str, Annotated[str, Field(max_length=100)]], Field(max_length=MOST_COLUMNS)
    ]


class PlaceIn(Body):
    """Where the table is to be read; of another sheet without a row, the row is guessed."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sheet": "Plans", "header_row": 3}]})
    sheet: Annotated[str | None, Field(max_length=200)] = None
    header_row: Annotated[int | None, Field(ge=1, le=1_000_000)] = None


class TakeIn(Body):
    """That the good rows are to be taken in, as that check found them."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"check": 1}]})
    check: Annotated[int, Field(ge=1, lt=2**31)]


class RowFault(BaseModel):
    """A mistake of one row."""

    row: int | None = Field(description="As a spreadsheet numbers it; in JSON, the record.")
    field: str
    column: str
    message: str
    hint: str

    @classmethod
    def of(cls, one: Wrong) -> RowFault:
        """A mistake, as it is sent."""
        return cls(
            row=one.row, field=one.field, column=one.column, message=one.message, hint=one.hint
        )


class RowFaultsOut(BaseModel):
    """Mistakes in the order of rows, a part at a time."""

    faults: list[RowFault]
    total: int
    next: int | None = Field(description="Send it as `after` for the rest.")


FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The bytes of the file.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
"""How a file is sent: as it is."""
