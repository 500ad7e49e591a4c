"""What is done with an uploaded file, each time in a thread of its own: look, check, take in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from calibrant.formats.tables import Place
from calibrant.study.handle import Study
from calibrant.web.upload_check import check, good_items, known_items
from calibrant.web.upload_columns import guess, look, names_for, troubles
from calibrant.web.uploads import Job, Upload


def begin(upload: Upload, study: Study) -> None:
    """Find the columns, guess what they are, and check the file by that guess."""

    def work(job: Job) -> None:
        _look(upload)
        _check(job, upload, study)

    upload.job.start(work)


def read_from(upload: Upload, study: Study, place: Place) -> None:
    """Read the table from another place of the file: what its columns are is guessed anew."""

    def work(job: Job) -> None:
        _look(upload, place)
        _check(job, upload, study)

    job = upload.next_job("Reading the file again")
    if job is not None:
        upload.checked = None
        job.start(work)


def _look(upload: Upload, place: Place | None = None) -> None:
    looked = look(upload.path, upload.kind, place)
    notes = tuple(map(upload.told, looked.notes))
    trouble = upload.told(looked.trouble).removeprefix(f"{upload.name}: ")
    upload.looked = replace(looked, notes=notes, trouble=trouble)
    upload.choices = guess(looked)


def check_again(upload: Upload, study: Study, choices: Mapping[str, str]) -> None:
    """Check the file with other columns."""
    job = upload.next_job("Reading the file again")
    if job is not None:
        upload.choices, upload.checked = dict(choices), None
        job.start(lambda job: _check(job, upload, study))


def _check(job: Job, upload: Upload, study: Study) -> None:
    looked = upload.looked
    assert looked is not None
    upload.checks += 1
    if troubles(looked, upload.kind, upload.choices):
        upload.checked = None  # every row would be bad for the same reason
        return
    named = names_for(looked, upload.kind, upload.choices)
    known = known_items(study)
    checking = check(upload.path, upload.kind, named, known, place=looked.place)
    for found in checking:
        job.done = found.seen
    found.notes = [upload.told(one) for one in found.notes]
    upload.checked = found


def take_in(upload: Upload, study: Study) -> None:
    """Take the good rows into the study, part by part."""
    assert upload.looked is not None and upload.checked is not None
    named = names_for(upload.looked, upload.kind, upload.choices)
    place = upload.looked.place
    job = upload.next_job("Taking the items in")
    if job is None:
        return
    upload.taking = True
    job.total = upload.checked.good + upload.checked.known

    def work(job: Job) -> None:
        def told(count: int) -> None:
            job.done = count

        known = known_items(study)
        items = good_items(upload.path, upload.kind, named, known, place=place)
        upload.intake = study.add_items(items, on_part=told)

    job.start(work)
