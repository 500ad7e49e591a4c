"""Files of items, for programs: sent, their columns said, checked row by row, taken in or dropped.

Programs that have items as records add those; this is for spreadsheets and files in any shape.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from tempfile import SpooledTemporaryFile
from typing import Annotated, Any, BinaryIO, cast

from fastapi import Depends, Path, Query, Request
from starlette.exceptions import HTTPException

from calibrant.core.errors import SourceError, StudyError
from calibrant.formats.tables import Place
from calibrant.web.access import Routes, Seat, member, need_visitor, workspace_of
from calibrant.web.lead_models import TROUBLE, Done
from calibrant.web.rating_models import Problem
from calibrant.web.run_models import After, Limit
from calibrant.web.upload_models import (
    FILE,
    ColumnsIn,
    PlaceIn,
    RowFault,
    RowFaultsOut,
    TakeIn,
    UploadOut,
    UploadsOut,
)
from calibrant.web.upload_work import begin, check_again, read_from, take_in
from calibrant.web.uploads import Upload, uploads_of

routes = Routes("/api/v1/studies/{study}", tags=["uploads"])
LEAD = member("lead")
Token = Annotated[str, Path(max_length=100, description="A file, as it was named when it came.")]
BUSY: dict[int | str, dict[str, Any]] = TROUBLE | {
    409: {"model": Problem, "description": "The file is being read, or was read again since."}
}
PATIENCE = 1.5
"""Seconds that an answer waits for a file to be read."""
IN_MEMORY = 2**20


async def sent_file(request: Request) -> AsyncIterator[BinaryIO]:
    """The body of a request as a file; it is read only of somebody who has come in."""
    need_visitor(request)
    with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        async for part in request.stream():
            file.write(part)
        file.seek(0)
        yield cast("BinaryIO", file)


Sent = Annotated[BinaryIO, Depends(sent_file)]


@routes.post(
    "/items/upload",
    access=LEAD,
    status_code=202,
    response_model=UploadOut,
    responses=TROUBLE,
    openapi_extra=FILE,
)
def upload(
    request: Request,
    seat: Seat,
    file: Sent,
    name: Annotated[str, Query(min_length=1, max_length=500, description="As in items.xlsx.")],
) -> Any:
    """Put a file aside and begin to read it; nothing is taken in yet.

    It is a spreadsheet (.xlsx), a table (.csv, .tsv) or JSON (.jsonl, .json), by its name.
    """
    if not file.read(1):
        raise SourceError("the file is empty")
    file.seek(0)
    kept = uploads_of(request).keep(seat, name, file)
    begin(kept, seat.study)
    return _waited(kept)


def _waited(found: Upload) -> UploadOut:
    found.job.wait(PATIENCE)
    return UploadOut.of(found)


@routes.get("/uploads", access=LEAD, response_model=UploadsOut, responses=TROUBLE)
def uploads(request: Request, seat: Seat) -> Any:
    """Your files that wait in this study."""
    return UploadsOut(uploads=[UploadOut.of(one) for one in uploads_of(request).waiting(seat)])


@routes.get("/uploads/{upload}", access=LEAD, response_model=UploadOut, responses=TROUBLE)
def one_upload(request: Request, seat: Seat, upload: Token) -> Any:
    """How far a file is; its columns, what they are taken for, and what it would bring."""
    return _waited(uploads_of(request).find(seat, upload))


@routes.get("/uploads/{upload}/faults", access=LEAD, response_model=RowFaultsOut, responses=TROUBLE)
def faults(
    request: Request, seat: Seat, upload: Token, limit: Limit = 100, after: After = 0
) -> Any:
    """What is wrong with its bad rows."""
    found = uploads_of(request).find(seat, upload)
    wrong = found.checked.wrong if found.checked is not None and found.job.is_over else []
    return RowFaultsOut(
        faults=[RowFault.of(one) for one in wrong[after : after + limit]],
        total=len(wrong),
        next=after + limit if after + limit < len(wrong) else None,
    )


@routes.put("/uploads/{upload}/place", access=LEAD, response_model=UploadOut, responses=BUSY)
def place(request: Request, seat: Seat, upload: Token, body: PlaceIn) -> Any:
    """Read its table from another sheet or another row; what its columns are is guessed anew."""
    found = _idle(request, seat, upload)
    looked = found.looked
    if looked is None or looked.place is None or looked.glance is None:
        raise StudyError("this file holds no table")
    now = looked.place
    sheet = body.sheet if body.sheet is not None else now.sheet
    if sheet != now.sheet and sheet not in looked.glance.sheets:
        raise StudyError(f"the file has no sheet {str(sheet)[:80]!r}")
    row = body.header_row or (now.header if sheet == now.sheet else None)
    read_from(found, seat.study, Place(sheet, row))
    return _waited(found)


@routes.put("/uploads/{upload}/columns", access=LEAD, response_model=UploadOut, responses=BUSY)
def columns(request: Request, seat: Seat, upload: Token, body: ColumnsIn) -> Any:
    """Read the file again with columns taken for something else."""
    found = _idle(request, seat, upload)
    strange = [one for one in body.columns if one not in found.choices]
    if strange:
        raise StudyError(f"the file has no column {strange[0][:80]!r}")
    check_again(found, seat.study, found.choices | body.columns)
    return _waited(found)


@routes.post(
    "/uploads/{upload}/take",
    access=LEAD,
    status_code=202,
    response_model=UploadOut,
    responses=BUSY,
)
def take(request: Request, seat: Seat, upload: Token, body: TakeIn) -> Any:
    """Take the good rows in, as the check of that number found them."""
    found = _idle(request, seat, upload)
    if found.checked is None:
        raise StudyError("these columns make no items: see what troubles there are")
    if body.check != found.checks:
        raise HTTPException(409, "The file was read again since: look at it once more.")
    if not found.checked.good:
        raise StudyError("there is no new item in this file")
    take_in(found, workspace_of(request).unhurried(seat.study))
    return _waited(found)


@routes.delete("/uploads/{upload}", access=LEAD, response_model=Done, responses=BUSY)
def drop(request: Request, seat: Seat, upload: Token) -> Any:
    """Delete a file; what was taken in stays."""
    found = _idle(request, seat, upload, taken=True)
    uploads_of(request).drop(found)
    return Done(said=f"{found.name} is deleted")


def _idle(request: Request, seat: Seat, token: str, *, taken: bool = False) -> Upload:
    """A file that nobody is at."""
    found = uploads_of(request).find(seat, token)
    if not found.job.is_over:
        raise HTTPException(409, "The file is being read: wait until that is done.")
    if not taken and (found.looked is None or found.intake is not None):
        raise StudyError("nothing more can be done with this file: send it again")
    return found
