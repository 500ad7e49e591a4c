"""Judges on pages and by the API: who they are, what a run would do, and the run itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from tests.judge.stub_server import Running, serving
from tests.study.study_kit import RESPONSES, new_study, panel, rate_all, response_item, same
from tests.web.conftest import Signed

from calibrant import Study
from calibrant.core.errors import StudyError
from calibrant.settings import OPENAI_URL, OWN_URL
from calibrant.web import judge_jobs
from calibrant.web.jobs import Job, Jobs
from calibrant.web.workspace import Workspace

Client = Callable[..., Signed]
API = "/api/v1/studies/1"


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No server of whoever runs the tests is asked."""
    monkeypatch.chdir(tmp_path)
    for name in (OWN_URL, OPENAI_URL):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A server that answers anything."""
    with serving() as running:
        monkeypatch.setenv(OWN_URL, running.base_url)
        yield running


def begun(workspace: Workspace, items: int = 3) -> Study:
    study = new_study(workspace.plain, RESPONSES)
    study.add_items(response_item(number) for number in range(1, items + 1))
    panel(study, "ann", "bob")
    study.add_member("vic", roles=("viewer",))
    return study


def ended(app: FastAPI, number: str) -> Job:
    """A run, once it is over."""
    job = app.state.jobs.find(1, "judges", number)
    assert job is not None and job.over.wait(60)
    return job  # type: ignore[no-any-return]


def run_of(sent: Any) -> str:
    found = re.fullmatch(r"/s/1/judges/runs/([\w-]+)", sent.headers["location"])
    assert found is not None, sent.text
    return found[1]


def test_without_a_server_it_says_how_to_set_one(workspace: Workspace, client: Client) -> None:
    begun(workspace)
    lena = client("lena")
    assert OWN_URL in lena.get("/s/1/judges").text
    sent = lena.send_form("/s/1/judges/run", model="tiny", way="criterion")
    assert sent.status_code == 422 and OWN_URL in sent.text
    told = lena.get(f"{API}/judge-runs/foreseen", params={"model": "tiny"})
    assert told.status_code == 422 and OWN_URL in told.json()["error"]


@pytest.mark.parametrize(
    "model",
    [
        "m@http://evil.example/v1", "m@https://evil.example", "m@evil.example:80/v1", "@", "",
        "/etc/passwd.gguf", "model.GGUF", "http://evil.example", "a b", "..", "-x", "é", "a\nb",
        "x" * 200, "m//evil",
    ],
)  # fmt: skip
def test_no_name_of_a_model_leads_to_another_server_or_a_file(model: str) -> None:
    with pytest.raises(StudyError, match="name a model"):
        judge_jobs.asking_of(model, "criterion")


def test_names_of_models_that_servers_have_are_taken() -> None:
    for model in ("gpt-4o-mini", "llama3:8b", "meta-llama/Llama-3.1-8B-Instruct", "a+b_c.d"):
        assert judge_jobs.asking_of(model, "rubric").models == (model,)
    with pytest.raises(StudyError):
        judge_jobs.asking_of("tiny", "backwards")


def test_a_judge_joins_then_rates_then_counts(
    workspace: Workspace, app: FastAPI, client: Client, stub: Running
) -> None:
    study = begun(workspace)
    lena = client("lena")
    first = lena.get("/s/1/judges/run", params={"model": "tiny", "way": "rubric"}).text
    assert "is new here" in first and "Nothing would be sent" in first
    sent = lena.send_form("/s/1/judges/run", model="tiny", way="rubric")
    assert "has joined" in ended(app, run_of(sent)).said
    assert stub.counts().get("sent", 0) == 0
    sent_away = workspace.owners.last_events(1)[0]
    assert (sent_away.kind, sent_away.body["server"]) == ("judges_run", "127.0.0.1")

    study.plan_round("calibration", sample=3)
    study.open_round(1, override="few")
    foreseen = lena.get("/s/1/judges/run", params={"model": "tiny", "way": "rubric"}).text
    assert "has 3 items to rate" in foreseen and "stay on this machine" in foreseen
    sent = lena.send_form("/s/1/judges/run", model="tiny", way="rubric")
    number = run_of(sent)
    job = ended(app, number)
    assert job.state == "done" and "3 items rated" in job.said
    page = lena.get(f"/s/1/judges/runs/{number}").text
    assert "3 items rated" in page and "Stop the run" not in page
    assert "data-again" not in lena.get(f"/s/1/judges/runs/{number}?part=true").text
    assert len(_calls(workspace)) == 1

    for name in ("ann", "bob"):
        rate_all(study, name, same("3"))
    study.close_round(1)
    judge = study.judges()[0]
    assert judge.items == 3 and not judge.counts
    page = lena.get("/s/1/judges").text
    assert "does not count" in page and "Agreement with what people settled on" in page
    refused = lena.send_form("/s/1/judges/admit", rater=judge.rater)
    assert refused.status_code == 422
    done = lena.send_form("/s/1/judges/admit", rater=judge.rater, override="a pilot")
    assert done.status_code == 303 and study.judges()[0].counts
    empty = lena.send_form("/s/1/judges/dismiss", rater=judge.rater, reason=" ")
    assert empty.status_code == 422
    gone = lena.send_form("/s/1/judges/dismiss", rater=judge.rater, reason="it drifts")
    assert gone.status_code == 303 and not study.judges()[0].counts


def _calls(workspace: Workspace) -> list[Path]:
    return list(Path(workspace.opened.shown).parent.glob("*.calls"))


def test_texts_that_leave_the_machine_are_told_of(
    workspace: Workspace, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = begun(workspace)
    monkeypatch.setenv(OWN_URL, "https://models.example/v1")
    rater = judge_jobs.outlook(study, "tiny", "criterion")[1][0].rater
    lena = client("lena")
    assert "models.example" in lena.get("/s/1/judges").text
    told = lena.get(f"{API}/judge-runs/foreseen", params={"model": "tiny"}).json()
    assert told["leaves_this_machine"] and told["host"] == "models.example"
    assert told["judges"] == [{"rater": rater, "joins": True, "waiting": 0}]


def test_only_the_lead_sees_and_starts_judges(
    workspace: Workspace, client: Client, stub: Running
) -> None:
    begun(workspace)
    for name in ("ann", "vic"):
        somebody = client(name)
        assert somebody.get("/s/1/judges").status_code == 403
        assert somebody.get(f"{API}/judges").status_code == 403
        for path in ("run", "admit", "dismiss", "runs/x/stop"):
            sent = somebody.send_form(f"/s/1/judges/{path}", model="tiny", way="rubric")
            assert sent.status_code == 403


def test_programs_start_watch_and_stop(
    workspace: Workspace, app: FastAPI, client: Client, stub: Running
) -> None:
    begun(workspace)
    lena = client("lena")
    head = {"x-calibrant-csrf": lena.csrf}
    sent = lena.post(f"{API}/judge-runs", json={"model": "tiny"}, headers=head)
    assert sent.status_code == 202
    number = sent.json()["number"]
    assert ended(app, number).state == "done"
    told = lena.get(f"{API}/judge-runs/{number}").json()
    assert told["state"] == "done" and told["figures"]["done"] == 0
    assert lena.post(f"{API}/judge-runs/{number}/stop", headers=head).json()["figures"]["stopping"]
    assert lena.get(f"{API}/judge-runs").json()["jobs"][0]["number"] == number
    found = lena.get(f"{API}/judges").json()
    assert found["server"] == "127.0.0.1" and found["judges"][0]["counts"] is False
    rater = found["judges"][0]["rater"]
    body = {"rater": rater, "override": "a pilot"}
    assert lena.post(f"{API}/judges/admit", json=body, headers=head).is_success
    body = {"rater": rater, "reason": "enough"}
    assert lena.post(f"{API}/judges/dismiss", json=body, headers=head).is_success
    for field in ("base_url", "files", "server"):
        body = {"model": "tiny", field: "http://evil.example"}
        assert lena.post(f"{API}/judge-runs", json=body, headers=head).status_code == 422


def test_a_run_is_stopped_and_only_one_runs_at_a_time(
    workspace: Workspace, app: FastAPI, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(latency=0.3, capacity=1) as slow:
        monkeypatch.setenv(OWN_URL, slow.base_url)
        study = begun(workspace, 12)
        lena = client("lena")
        joined = lena.send_form("/s/1/judges/run", model="tiny", way="criterion")
        ended(app, run_of(joined))
        study.plan_round("calibration", sample=12)
        study.open_round(1, override="few")
        sent = lena.send_form("/s/1/judges/run", model="tiny", way="criterion")
        number = run_of(sent)
        page = lena.get(f"/s/1/judges/runs/{number}").text
        assert "Stop the run" in page and "data-every" in page
        second = lena.send_form("/s/1/judges/run", model="tiny", way="criterion")
        assert second.status_code == 422 and "one runs already" in second.text
        stopped = lena.send_form(f"/s/1/judges/runs/{number}/stop")
        assert stopped.status_code == 303
        assert "It was stopped" in ended(app, number).said


def test_a_job_that_breaks_says_so_and_nothing_of_its_inside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    jobs = Jobs()

    def broken(job: Job) -> str:
        raise ValueError("inside")

    job = Job(study=1, kind="export", by="x", title="t", began="now")
    assert jobs.start(job, broken).over.wait(10)
    assert job.state == "failed" and "inside" not in job.said and "inside" in caplog.text
    for _ in range(10):
        done = Job(study=1, kind="export", by="x", title="t", began="now")
        assert jobs.start(done, lambda one: "done").over.wait(10)
    assert len(jobs.of(1, "export")) <= 8
