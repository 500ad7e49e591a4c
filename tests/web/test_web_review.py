"""What a careful look at the whole application found wrong, so that it stays right."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Message, Receive
from tests.study.study_kit import PLANS, as_
from tests.web.conftest import HOST, Signed
from tests.web.disagreeing import ITEM, disagreeing
from tests.web.lead_kit import study_of
from tests.web.rate_kit import rating_study

from calibrant.accounts.sign_in import FREE_OF_ADDRESS
from calibrant.core.errors import StudyError
from calibrant.core.study import Key
from calibrant.study.handle import Study
from calibrant.web import security
from calibrant.web.app import make_app
from calibrant.web.jobs import FOLDER, MOST_AT_ONCE, Job, Jobs, Kind
from calibrant.web.pages import items
from calibrant.web.refs import item_ref, task_ref
from calibrant.web.serving import config_for
from calibrant.web.uploads import MOST_EACH, Upload
from calibrant.web.uploads import Job as Reading
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]


# -- what strangers send


def test_what_a_stranger_sends_at_length_is_not_read(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of wrong roles took half a minute to read, for whoever could reach the server."""
    study = rating_study(workspace.plain, clock=workspace.clock)
    nobody, path = client(), f"/api/v1/studies/{study.number}/members"
    read: list[int] = []
    measured = security._measured

    def counted(receive: Receive, most: int) -> Receive:
        take = measured(receive, most)

        async def taking() -> Message:
            message = await take()
            read.append(len(message.get("body", b"")))
            return message

        return taking

    monkeypatch.setattr(security, "_measured", counted)
    body = b'{"name": "x", "roles": [' + b"1," * 100_000 + b"1]}"
    sent = nobody.post(path, content=body, headers={"content-type": "application/json"})
    assert (sent.status_code, sum(read)) == (401, 0)
    form = nobody.post("/sign-in", data={"name": "x" * 20_000, "password": "y"})
    assert (form.status_code, sum(read)) == (403, 0)
    lena = client("lena")
    told = lena.post(
        path,
        content=body,
        headers={"content-type": "application/json", "x-calibrant-csrf": lena.csrf},
    )
    assert told.status_code == 422
    assert sum(read) == len(body)
    assert len(told.json()["faults"]) < 101


def test_a_body_that_does_not_say_its_length_is_told_to_be_too_large(client: Client) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b"a=1&" * 16_384

    lena = client("lena")
    form = {"content-type": "application/x-www-form-urlencoded", "x-calibrant-csrf": lena.csrf}
    assert lena.post("/account/tokens", content=endless(), headers=form).status_code == 413


# -- what cannot be kept, or not be shown again

HALF = "\ud83d"


def _task(study: Study, rater: str, item: str) -> str:
    return task_ref(Key(round=1, item=item, rater=rater))


def test_half_a_character_in_a_draft_does_not_shut_its_author_out(
    workspace: Workspace, client: Client
) -> None:
    """Scripts cut an emoji in two; the draft was kept, and its page was a 500 from then on."""
    study = rating_study(workspace.plain, clock=workspace.clock)
    ann, task = client("ann"), _task(study, "ann", "plan-001")
    path = f"/api/v1/studies/{study.number}/tasks/{task}"
    sent = json.dumps({"form": {"note": f"fine {HALF}", "notes": {"realism": HALF}}, "version": 0})
    headers = {"content-type": "application/json", "x-calibrant-csrf": ann.csrf}
    assert ann.put(f"{path}/draft", content=sent, headers=headers).status_code == 200
    page = ann.get(f"/s/{study.number}/rate/{task}")
    assert (page.status_code, "fine \N{REPLACEMENT CHARACTER}" in page.text) == (200, True)
    assert ann.get(path).json()["draft"]["note"] == "fine \N{REPLACEMENT CHARACTER}"
    stale = ann.put(f"{path}/draft", content=sent, headers=headers)
    assert stale.status_code == 409


@pytest.mark.parametrize(
    "form",
    [
        '{"answers": {"realism": NaN}}',
        '{"note": [[[[[[[[9]]]]]]]]}',
        json.dumps({"borderline": ["x"] * 5_000}),  # 300,000 of them held all writers up for 10 s
    ],
)
def test_a_form_that_cannot_be_kept_is_the_senders_fault(
    workspace: Workspace, client: Client, form: str
) -> None:
    study = rating_study(workspace.plain, clock=workspace.clock)
    ann, task = client("ann"), _task(study, "ann", "plan-001")
    sent = ann.put(
        f"/api/v1/studies/{study.number}/tasks/{task}/draft",
        content=f'{{"form": {form}, "version": 0}}',
        headers={"content-type": "application/json", "x-calibrant-csrf": ann.csrf},
    )
    assert sent.status_code == 422


def test_half_a_character_of_a_model_is_shown_as_a_mark(
    workspace: Workspace, client: Client
) -> None:
    study = disagreeing(workspace.plain)
    study.comment(1, ITEM, "realism", f"what the judge wrote: {HALF}")
    ann = client("ann")
    listed = ann.get(f"/s/{study.number}/discuss/1/{item_ref(ITEM)}?criterion=realism")
    assert (listed.status_code, "U+D83D" in listed.text) == (200, True)


# -- nothing typed is lost, without scripts too


def _sent(who: Signed, study: Study, task: str, **more: str) -> Any:
    fields = {"notes.realism": "five hours\nare few", "answers.realism": "2", "version": "0"}
    return who.send_form(f"/s/{study.number}/rate/{task}", **fields, **more)


def test_what_was_typed_is_shown_again_where_the_round_closed_meanwhile(
    workspace: Workspace, client: Client
) -> None:
    study = rating_study(workspace.plain, clock=workspace.clock)
    ann, task = client("ann"), _task(study, "ann", "plan-001")
    study.close_round(1, reason="enough")
    for act in ("save", "submit"):
        told = _sent(ann, study, task, action=act)
        assert told.status_code == 409
        assert "five hours" in told.text


def test_a_draft_can_be_read_after_its_round_closed(workspace: Workspace, client: Client) -> None:
    """The browser lets go of what is saved, so the page must show what the server has."""
    study = rating_study(workspace.plain, clock=workspace.clock)
    ann, task = client("ann"), _task(study, "ann", "plan-001")
    assert _sent(ann, study, task, action="save").status_code == 303
    study.close_round(1, reason="enough")
    told = ann.get(f"/s/{study.number}/rate/{task}")
    assert (told.status_code, "five hours" in told.text) == (409, True)
    bob = client("bob").get(f"/s/{study.number}/rate/{_task(study, 'bob', 'plan-001')}")
    assert (bob.status_code, "five hours" in bob.text) == (409, False)


def test_what_was_typed_is_shown_again_where_another_program_has_the_item(
    workspace: Workspace, client: Client
) -> None:
    study = rating_study(workspace.plain, clock=workspace.clock)
    as_(study, "ann").claim(token="a program", key=Key(round=1, item="plan-001", rater="ann"))
    told = _sent(client("ann"), study, _task(study, "ann", "plan-001"), action="submit")
    assert (told.status_code, "five hours" in told.text) == (409, True)


def test_another_form_for_what_is_rated_is_shown_and_the_same_one_is_not(
    workspace: Workspace, client: Client
) -> None:
    study = rating_study(workspace.plain, clock=workspace.clock)
    ann, task = client("ann"), _task(study, "ann", "plan-001")
    answers = {f"answers.{one}": "2" for one in PLANS.criterion_ids}
    path, act = f"/s/{study.number}/rate/{task}", {"version": "0", "request": "the first"}
    assert ann.send_form(path, **answers, **act).status_code == 303
    again = ann.send_form(path, **answers, **act)
    assert again.headers["location"] == f"/s/{study.number}/past/{task}"
    other = _sent(ann, study, task, action="submit")
    assert (other.status_code, "five hours" in other.text) == (409, True)
    assert f"/s/{study.number}/past/{task}" in other.text


# -- links and tokens


def test_a_token_of_an_owner_makes_no_link_to_an_account(
    workspace: Workspace, client: Client
) -> None:
    """A token that leaked would otherwise become the account: a link sets a new password."""
    client("olga", owner=True)
    token = workspace.tokens.make("olga", "a program", may_write=True, days=None)
    program, headers = client(), {"authorization": f"Bearer {token}"}
    assert program.get("/workspace", headers=headers).status_code == 403
    for what in ("reset", "invite", "owner", "close", "sign-out"):
        refused = program.post(f"/workspace/{what}", data={"name": "olga"}, headers=headers)
        assert (refused.status_code, "/invite/" in refused.text) == (403, False)


def test_links_of_a_server_with_https_are_not_for_http(workspace: Workspace) -> None:
    """The server before us asks by HTTP; a link that began so would be sent in the clear."""
    secured = replace(workspace, secure=True)
    workspace.owners.add("olga", owner=True, by="tests")
    secret = workspace.door.admit("olga", by="tests")
    olga = Signed(make_app(secured), base_url=f"http://{HOST}")
    olga.cookies.set(workspace.cookie, secret)
    sent = {"csrf": workspace.door.csrf(secret), "name": "olga"}
    made = olga.post("/workspace/reset", data=sent, headers={"origin": f"https://{HOST}"})
    assert made.status_code == 200
    assert f"https://{HOST}/invite/" in made.text
    assert f"http://{HOST}/invite/" not in made.text


# -- wrong passwords


def _wrong(app: Any, origin: str, at: str, name: str) -> int:
    """Somebody, by way of a server on this machine, does not know a password."""
    client = TestClient(app, base_url=f"http://{HOST}", client=("127.0.0.1", 5000))
    headers = {"origin": origin, "x-forwarded-for": at, "x-forwarded-proto": "https"}
    sent = client.post("/sign-in", data={"name": name, "password": "guessed"}, headers=headers)
    return sent.status_code


@pytest.mark.parametrize("secure", [True, False])
def test_wrong_passwords_count_where_they_come_from(workspace: Workspace, secure: bool) -> None:
    """Behind a server with HTTPS, one who guesses does not keep everybody else out."""
    config = config_for(replace(workspace, secure=secure))
    config.load()
    app, origin = config.loaded_app, f"{'https' if secure else 'http'}://{HOST}"
    for number in range(FREE_OF_ADDRESS):
        assert _wrong(app, origin, "203.0.113.7", f"name {number}") == 403
    assert _wrong(app, origin, "203.0.113.7", "another") == 429
    # without such a server nobody is believed who says that they are somebody else
    assert _wrong(app, origin, "203.0.113.8", "another") == (403 if secure else 429)


# -- files and jobs


def _held_job(jobs: Jobs, until: threading.Event, kind: Kind = "export") -> Job:
    job = Job(study=1, kind=kind, by="lena", title="a file", began="")

    def work(one: Job) -> str:
        until.wait(60)
        return "It is ready."

    return jobs.start(job, work)


def test_so_many_jobs_run_at_once_and_no_more() -> None:
    jobs, until = Jobs(), threading.Event()
    begun = [_held_job(jobs, until) for _ in range(MOST_AT_ONCE)]
    try:
        with pytest.raises(StudyError, match="wait until one of them is over"):
            _held_job(jobs, until)
    finally:
        until.set()
    assert all(one.over.wait(60) for one in begun)
    assert _held_job(jobs, until).over.wait(60)


def test_what_a_killed_server_left_of_exports_is_deleted_and_what_runs_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of a whole study stayed among the temporary files for good."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    script = (
        "import os, signal; from calibrant.web.jobs import Jobs; jobs = Jobs()\n"
        "(jobs._folder / 'study.zip').write_text('ratings')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", script], env=env, check=False)
    (left,) = tmp_path.glob(f"{FOLDER}*")
    assert (ended.returncode, (left / "study.zip").exists()) == (-signal.SIGKILL, True)
    running = Jobs()
    assert not left.exists()
    other = Jobs()
    assert len(list(tmp_path.glob(f"{FOLDER}*"))) == 2
    del running, other


def test_a_file_more_is_refused_while_enough_are_being_read(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is being read made no room, so that files came in faster than they were read."""
    study = study_of(workspace, PLANS, "many files")
    lena, until = client("lena"), threading.Event()

    def wait(job: Reading) -> None:
        until.wait(60)

    def slow(upload: Upload, study: Study) -> None:
        upload.job.start(wait)

    monkeypatch.setattr(items, "begin", slow)
    path, file = f"/s/{study.number}/items/upload", {"file": ("items.csv", b"id\n1\n")}
    try:
        for _ in range(MOST_EACH):
            sent = lena.post(path, data={"csrf": lena.csrf}, files=file, follow_redirects=False)
            assert sent.status_code == 303
        refused = lena.post(path, data={"csrf": lena.csrf}, files=file, follow_redirects=False)
        assert (refused.status_code, "are being read" in refused.text) == (422, True)
    finally:
        until.set()
