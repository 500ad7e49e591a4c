"""Items of a study: the list, one item, files that bring more, and erasing words for good."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from calibrant.core.errors import SourceError, StudyError
from calibrant.core.item import Conversation, FreeItem, Item, Plan
from calibrant.core.item import Response as Answered
from calibrant.core.study import ItemRecord
from calibrant.formats.tables import Place
from calibrant.study.intake import words_of
from calibrant.web.access import NOT_FOUND, Routes, Seat, member, workspace_of
from calibrant.web.form_fields import sentence, text_of
from calibrant.web.rating_page import item_html
from calibrant.web.refs import read_item
from calibrant.web.render import page, redirect
from calibrant.web.setup import steps_of
from calibrant.web.upload_columns import Looked, troubles
from calibrant.web.upload_work import begin, check_again, read_from, take_in
from calibrant.web.uploads import Upload, uploads_of

routes = Routes()
LEAD = member("lead")
EACH = 100
"""Rows of a page."""
NOTHING = "Nothing was taken in."
HALFWAY = "What had come in by then stays. Upload the file again: it goes on where it stopped."
PATIENCE = 1.5
"""Seconds that a page waits for a file before it shows how far it is."""


@dataclass(frozen=True, slots=True)
class Row:
    """An item in the list."""

    id: str
    position: int
    redacted: bool
    gist: str
    """The first words of what is judged."""


@routes.get("/s/{study}/items", access=LEAD)
def items(request: Request, seat: Seat, find: str = "") -> Response:
    """The items, a hundred on a page, perhaps those of an id only."""
    return _list(request, seat, find.strip(), _number(request.query_params.get("page", "1")))


def _list(
    request: Request, seat: Seat, find: str = "", at: int = 1, *, wrong: tuple[str, ...] = ()
) -> Response:
    rows, matching, total = _listed(seat, find, at)
    return page(
        request,
        "items.html",
        seat=seat,
        status=422 if wrong else 200,
        rows=rows,
        matching=matching,
        total=total,
        find=find,
        at=at,
        pages=max(1, -(-matching // EACH)),
        waiting=uploads_of(request).waiting(seat),
        steps=steps_of(seat),
        wrong=wrong,
    )


def _number(text: str) -> int:
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 9 else 1


def _listed(seat: Seat, find: str, at: int) -> tuple[list[Row], int, int]:
    """The rows of a page; how many items match, and how many there are."""
    number, start = seat.study.number, (at - 1) * EACH
    (records, matching), total = seat.study.store.read(
        lambda tx: (
            tx.find_items(number, find, start=start, limit=EACH),
            tx.count_items(number),
        )
    )
    rows = [Row(one.id, one.position, one.content is None, _gist(one)) for one in records]
    return rows, matching, total


def _gist(record: ItemRecord) -> str:
    """What tells an item apart at a glance."""
    if record.content is None:
        return ""
    item = words_of(record)
    match item:
        case Plan():
            text = item.profile.goal
        case Answered():
            text = item.question
        case Conversation():
            text = item.exchanges[0].user
        case FreeItem():
            text = " · ".join(str(one) for one in item.content.values())
    line = " ".join(text[:400].split())
    return line if len(line) <= 110 else f"{line[:109]}…"


@routes.get("/s/{study}/items/{ref}", access=LEAD)
def one_item(request: Request, seat: Seat, ref: str) -> Response:
    """One item, as raters read it."""
    id = read_item(ref)
    item = _words(seat, id)
    drawn = item_html(item) if item is not None else None
    return page(request, "items_one.html", seat=seat, id=id, ref=ref, drawn=drawn)


def _words(seat: Seat, id: str) -> Item | None:
    """An item's words; None where they are gone, and not found where it never was."""
    try:
        return seat.study.item(id)
    except StudyError:
        record = seat.study.store.read(lambda tx: tx.item(seat.study.number, id))
        if record is None:
            raise HTTPException(404, NOT_FOUND) from None
        return None


# -- erasing


@routes.get("/s/{study}/items/{ref}/redact", access=LEAD)
def redact_first(request: Request, seat: Seat, ref: str) -> Response:
    """What erasing would do, before it is done."""
    return _redacting(request, seat, ref)


def _redacting(request: Request, seat: Seat, ref: str, wrong: str = "", why: str = "") -> Response:
    id = read_item(ref)
    open_ones, rated = work_on(seat, id)
    return page(
        request,
        "items_redact.html",
        seat=seat,
        status=422 if wrong else 200,
        id=id,
        ref=ref,
        item=_words(seat, id),
        open_ones=open_ones,
        rated=rated,
        wrong=wrong,
        reason=why,
    )


def work_on(seat: Seat, id: str) -> tuple[int, int]:
    """How many assignments of an item are open, and how many are done."""
    number = seat.study.number
    return seat.study.store.read(
        lambda tx: (
            sum(1 for _ in tx.assignments(number, item=id, state="open")),
            sum(1 for _ in tx.assignments(number, item=id, state="done")),
        )
    )


@routes.post("/s/{study}/items/{ref}/redact", access=LEAD)
def redact(request: Request, seat: Seat, ref: str, form: FormData) -> Response:
    """Erase the words of an item for good."""
    id, why = read_item(ref), text_of(form, "reason")
    if not form.get("sure"):
        wrong = "Say that you are sure: this cannot be undone."
        return _redacting(request, seat, ref, wrong, why)
    try:
        seat.study.redact(id, reason=why)
    except StudyError as error:
        return _redacting(request, seat, ref, sentence(error), why)
    return redirect(request, f"{seat.path}/items", f"The words of {id} are erased for good.")


# -- files


@routes.post("/s/{study}/items/upload", access=LEAD)
def upload(request: Request, seat: Seat, form: FormData) -> Response:
    """Put a file aside and read it; nothing is taken in yet."""
    sent = form.get("file")
    try:
        if not isinstance(sent, UploadFile) or not sent.filename:
            raise SourceError("choose a file first")
        if not sent.size:
            raise SourceError("the file is empty")
        kept = uploads_of(request).keep(seat, sent.filename, sent.file)
    except SourceError as error:
        return _list(request, seat, wrong=(sentence(error), NOTHING))
    begin(kept, seat.study)
    return redirect(request, f"{seat.path}/items/uploads/{kept.token}")


@routes.get("/s/{study}/items/uploads/{token}", access=LEAD)
def uploaded(request: Request, seat: Seat, token: str) -> Response:
    """How far a file is; or its columns, a preview, and every bad row."""
    found = uploads_of(request).find(seat, token)
    if not found.job.wait(PATIENCE):
        return page(request, "items_progress.html", seat=seat, upload=found)
    if found.job.error:
        uploads_of(request).drop(found)
        said = sentence(found.told(found.job.error))
        return _list(request, seat, wrong=(said, HALFWAY if found.taking else NOTHING))
    if found.intake is not None:
        return _taken(request, seat, found)
    return _mapping(request, seat, found)


def _taken(request: Request, seat: Seat, found: Upload) -> Response:
    assert found.intake is not None
    uploads_of(request).drop(found)
    added, known = found.intake.added, found.intake.known
    said = f"{added:,} {'item' if added == 1 else 'items'} taken in."
    if known:
        said += f" {known:,} {'was' if known == 1 else 'were'} there already."
    return redirect(request, f"{seat.path}/items", said)


def _mapping(request: Request, seat: Seat, found: Upload, wrong: tuple[str, ...] = ()) -> Response:
    assert found.looked is not None
    at = _number(request.query_params.get("page", "1"))
    listed = found.checked.wrong if found.checked is not None else []
    return page(
        request,
        "items_mapping.html",
        seat=seat,
        status=422 if wrong else 200,
        upload=found,
        looked=found.looked,
        checked=found.checked,
        troubles=list(wrong) or troubles(found.looked, found.kind, found.choices),
        wrong_rows=listed[(at - 1) * EACH : at * EACH],
        at=at,
        pages=max(1, -(-len(listed) // EACH)),
        steps=steps_of(seat),
    )


@routes.post("/s/{study}/items/uploads/{token}/columns", access=LEAD)
def columns(request: Request, seat: Seat, token: str, form: FormData) -> Response:
    """Read the file again with other columns."""
    found = uploads_of(request).find(seat, token)
    if found.looked is not None:
        check_again(found, seat.study, _choices(found.looked, form, found.choices))
    return redirect(request, f"{seat.path}/items/uploads/{token}")


@routes.post("/s/{study}/items/uploads/{token}/place", access=LEAD)
def place(request: Request, seat: Seat, token: str, form: FormData) -> Response:
    """Read the table from another sheet or another row; of another sheet the row is guessed."""
    found = uploads_of(request).find(seat, token)
    if found.looked is not None and found.looked.place is not None:
        now = found.looked.place
        sheet = text_of(form, "sheet") or now.sheet
        row = _number(text_of(form, "header")) if text_of(form, "header") else now.header
        read_from(found, seat.study, Place(sheet, row if sheet == now.sheet else None))
    return redirect(request, f"{seat.path}/items/uploads/{token}")


def _choices(looked: Looked, form: FormData, before: dict[str, str]) -> dict[str, str]:
    return {
        column.name: text_of(form, f"column-{at}") or before[column.name]
        for at, column in enumerate(looked.columns)
    }


@routes.post("/s/{study}/items/uploads/{token}/take", access=LEAD)
def take(request: Request, seat: Seat, token: str, form: FormData) -> Response:
    """Take the good rows in: those that the page has shown."""
    found = uploads_of(request).find(seat, token)
    if not found.job.is_over:
        return redirect(request, f"{seat.path}/items/uploads/{token}")
    if found.checked is None or text_of(form, "check") != str(found.checks):
        wrong = ("The file was read again since: look at it once more, and then take it.",)
        return _mapping(request, seat, found, wrong)
    if not found.checked.good:
        return _mapping(request, seat, found, ("There is no new item in this file.",))
    take_in(found, workspace_of(request).unhurried(seat.study))
    return redirect(request, f"{seat.path}/items/uploads/{token}")


@routes.post("/s/{study}/items/uploads/{token}/drop", access=LEAD)
def drop(request: Request, seat: Seat, token: str) -> Response:
    """Forget a file."""
    found = uploads_of(request).find(seat, token)
    if not found.job.is_over:
        raise StudyError("The file is being read: wait until that is done.")
    uploads_of(request).drop(found)
    return redirect(request, f"{seat.path}/items", f"{found.name} is deleted; nothing came of it.")


@routes.get("/s/{study}/items/uploads/{token}/progress.json", access=LEAD)
def progress(request: Request, seat: Seat, token: str) -> JSONResponse:
    """How far a file is, for scripts."""
    job = uploads_of(request).find(seat, token).job
    return JSONResponse({"over": job.is_over, "done": job.done, "total": job.total})
