"""Files of items: columns are mapped, every bad row is named, nothing comes in unasked."""

from __future__ import annotations

import json
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from tests.formats.workbooks import FIRST, HEADER, sheet_xml, write_workbook
from tests.study.study_kit import COACHING, PLANS, RESPONSES, Ticking, response_item
from tests.web.conftest import HOST, Signed
from tests.web.lead_kit import (
    alert,
    chosen,
    path_of,
    rows_of,
    send,
    send_file,
    settled,
    study_of,
    words,
    workbook,
)

from calibrant.compose import now
from calibrant.core.errors import StoreError
from calibrant.core.item import Item
from calibrant.core.rubric import Rubric
from calibrant.formats import workbook_guard
from calibrant.formats.rubric_file import parse_rubric
from calibrant.study.handle import Study
from calibrant.web.app import make_app
from calibrant.web.begin import starting_text
from calibrant.web.refs import item_ref
from calibrant.web.uploads import FOLDER, MOST_EACH, Uploads, shown_name
from calibrant.web.workspace import Workspace

CSV = b"id,question,response\nq-1,Why?,Because.\nq-2,When?,Now.\n"


@pytest.fixture
def lena(client: Callable[..., Signed]) -> Signed:
    return client("lena")


@pytest.fixture
def study(workspace: Workspace) -> Study:
    return study_of(workspace, RESPONSES, "answers")


@pytest.fixture
def starter() -> Rubric:
    """The template, for items of any kind."""
    text = starting_text("").replace("item_type: response", "item_type: free")
    return parse_rubric(text)


def ids(study: Study) -> list[str]:
    return study.items()["item"].to_list()


def up(who: Signed, study: Study, name: str, content: bytes):  # type: ignore[no-untyped-def]
    return send_file(who, f"/s/{study.number}/items/upload", name, content)


def take(who: Signed, found, check: str = "1"):  # type: ignore[no-untyped-def]
    return settled(who, send(who, f"{path_of(found)}/take", check=check))


def test_nothing_comes_in_before_somebody_says_so(lena: Signed, study: Study) -> None:
    shown = up(lena, study, "answers.csv", CSV)
    assert "2 new items" in words(shown) and "nothing is taken in yet" in words(shown)
    assert ids(study) == []
    done = take(lena, shown)
    assert path_of(done) == f"/s/{study.number}/items"
    assert "2 items taken in." in words(done)
    assert ids(study) == ["q-1", "q-2"]


def test_a_file_that_was_taken_in_is_gone(lena: Signed, study: Study, app: FastAPI) -> None:
    shown = up(lena, study, "answers.csv", CSV)
    (path,) = app.state.uploads._folder.rglob("upload.csv")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(app.state.uploads._folder.stat().st_mode) == 0o700
    take(lena, shown)
    assert not path.exists()
    assert lena.get(path_of(shown)).status_code == 404


def test_columns_of_other_names_are_guessed_and_can_be_changed(lena: Signed, study: Study) -> None:
    rows = [("Nr", "Prompt", "Model output", "Model"), (1, "Why?", "Because.", "m-1")]
    shown = up(lena, study, "answers.xlsx", workbook(*rows))
    assert chosen(shown) == {
        "Nr": "id",
        "Prompt": "question",
        "Model output": "response",
        "Model": "beside",
    }
    again = settled(
        lena,
        send(lena, f"{path_of(shown)}/columns", **{"column-1": "response", "column-2": "question"}),
    )
    assert chosen(again)["Prompt"] == "response"
    take(lena, again, check="2")
    item = study.item("1")
    assert (item.question, item.response) == ("Because.", "Why?")  # type: ignore[union-attr]
    assert json.loads(study.items()["source"][0]) == {"Model": "m-1"}


def test_a_column_with_the_name_of_a_field_can_be_something_else(
    lena: Signed, study: Study
) -> None:
    content = b"id,question,prompt,response\nq-1,old,new,Yes.\n"
    shown = up(lena, study, "answers.csv", content)
    columns = {"column-1": "beside", "column-2": "question"}
    again = settled(lena, send(lena, f"{path_of(shown)}/columns", **columns))
    take(lena, again, check="2")
    assert study.item("q-1").question == "new"  # type: ignore[union-attr]
    assert json.loads(study.items()["source"][0]) == {"question (column)": "old"}


def test_a_column_can_be_left_out(lena: Signed, study: Study) -> None:
    shown = up(lena, study, "a.csv", b"id,question,response,secret\nq-1,Why?,So.,x\n")
    again = settled(lena, send(lena, f"{path_of(shown)}/columns", **{"column-3": "out"}))
    take(lena, again, check="2")
    assert study.items()["source"].to_list() == [None]


def test_every_bad_row_is_named(lena: Signed, study: Study) -> None:
    content = (
        b"id,question,response,as_of\nq-1,Why?,Because.,\nq-1,Again?,Yes.,\nq-2,,No question.,\n"
        b"q-3,When?,Then.,31 Feb\nq-4,too,many,cells,here\nq-5,Good?,Good.,2026-01-02\n"
    )
    shown = up(lena, study, "answers.csv", content)
    assert "2 new items" in words(shown) and "4 bad rows" in words(shown)
    found = rows_of(shown)
    assert [row[0] for row in found] == ["Row 3", "Row 4", "Row 5", "Row 6"]
    assert [row[1] for row in found] == ["id", "question", "as_of", ""]
    assert "stands in row 2 already" in found[0][2]
    assert all(row[3] for row in found), "what to do is told"
    done = take(lena, shown)
    assert "2 items taken in" in words(done)
    assert ids(study) == ["q-1", "q-5"]


def test_bad_rows_fill_as_many_pages_as_they_need(lena: Signed, study: Study) -> None:
    bad = "".join(f"q-{at},,none\n" for at in range(230))
    shown = up(lena, study, "a.csv", f"id,question,response\n{bad}".encode())
    named = [
        row[0] for page in (1, 2, 3) for row in rows_of(lena.get(f"{path_of(shown)}?page={page}"))
    ]
    assert named == [f"Row {at}" for at in range(2, 232)]


def test_a_column_that_is_not_there_is_told_once(lena: Signed, study: Study) -> None:
    shown = up(lena, study, "a.csv", b"id,colour,size\n1,red,2\n2,blue,3\n")
    assert "No column is the question" in alert(shown)
    assert "No column is the response" in alert(shown)
    assert rows_of(shown) == []
    refused = send(lena, f"{path_of(shown)}/take", check="1")
    assert refused.status_code == 422
    assert ids(study) == []


def test_two_columns_cannot_be_one_field(lena: Signed, study: Study) -> None:
    shown = up(lena, study, "a.csv", CSV)
    both = {"column-1": "response", "column-2": "response"}
    again = settled(lena, send(lena, f"{path_of(shown)}/columns", **both))
    assert "Two columns are the response: 'question' and 'response'" in alert(again)
    strange = settled(lena, send(lena, f"{path_of(shown)}/columns", **{"column-1": "__class__"}))
    assert "cannot be '__class__'" in alert(strange)


def test_what_is_taken_is_what_was_seen(lena: Signed, study: Study) -> None:
    """A page that shows an earlier reading does not decide about a later one."""
    shown = up(lena, study, "a.csv", CSV)
    settled(lena, send(lena, f"{path_of(shown)}/columns", **{"column-0": "beside"}))
    refused = send(lena, f"{path_of(shown)}/take", check="1")
    assert refused.status_code == 422
    assert "read again since" in alert(refused)
    assert ids(study) == []


def test_known_items_are_counted_and_conflicts_told(lena: Signed, study: Study) -> None:
    take(lena, up(lena, study, "a.csv", CSV))
    same = up(lena, study, "a.csv", CSV)
    assert "0 new items" in words(same) and "2 here already" in words(same)
    assert "in the study already" in words(same)
    changed = up(lena, study, "b.csv", CSV.replace(b"Now.", b"Later.") + b"q-3,Who?,You.\n")
    assert rows_of(changed)[0][:2] == ("Row 3", "id")
    assert "already with another content" in rows_of(changed)[0][2]
    done = take(lena, changed)
    assert "1 item taken in. 1 was there already." in words(done)
    assert study.item("q-2").response == "Now."  # type: ignore[union-attr]


def test_rows_with_the_same_content_are_told(lena: Signed, study: Study) -> None:
    shown = up(lena, study, "a.csv", CSV + b"q-9,Why?,Because.\n")
    assert "Row 4 (q-9) says the same as row 2 (q-1)." in words(shown)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.xlsx", b"this is no workbook", "not a readable workbook"),
        ("a.xlsx", b"PK\x03\x04 broken", "not a readable workbook"),
        ("a.json", b'{"id": ', "a.json:"),
        ("a.jsonl", b"\n\n", "the file is empty"),
        ("a.csv", b'id,question\n1,"never closed\n', "not CSV"),
        ("a.html", b"<script>alert(1)</script>", "a file of items is a spreadsheet"),
        ("a.parquet", b"PAR1", "a file of items is a spreadsheet"),
        ("noextension", b"id,question\n", "a file of items is a spreadsheet"),
        ("a.csv", b"", "empty"),
    ],
)
def test_files_that_are_none_are_refused_in_words(
    lena: Signed, study: Study, name: str, content: bytes, said: str
) -> None:
    shown = up(lena, study, name, content)
    assert shown.status_code == 422
    assert said.lower() in alert(shown).lower()
    assert "calibrant-uploads" not in shown.text, "where the server keeps it is nobody's business"
    assert ids(study) == []


def test_a_form_without_a_file_is_told(lena: Signed, study: Study) -> None:
    shown = send(lena, f"/s/{study.number}/items/upload")
    assert "Choose a file first." in alert(shown)


def test_a_zip_bomb_is_refused(
    lena: Signed, study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook_guard, "MAX_UNPACKED", workbook_guard.MEGABYTE)
    path = write_workbook(tmp_path / "bomb.xlsx", [sheet_xml(HEADER, FIRST), b" " * 3_000_000])
    shown = up(lena, study, "bomb.xlsx", path.read_bytes())
    assert "unpacks to more than" in alert(shown)


def test_formulas_are_text(lena: Signed, study: Study) -> None:
    content = b'id,question,response\n=1+1,"=HYPERLINK(""http://x"",""y"")",@SUM(A1)\n'
    shown = up(lena, study, "a.csv", content)
    assert '=HYPERLINK("http://x","y")' in words(shown)
    take(lena, shown)
    assert study.item("=1+1").response == "@SUM(A1)"  # type: ignore[union-attr]


def test_formulas_of_a_workbook_are_not_worked_out(lena: Signed, study: Study) -> None:
    rows = [("id", "question", "response"), ("q-1", "=1+1", "Two."), ("q-2", "Why?", "So.")]
    shown = up(lena, study, "a.xlsx", workbook(*rows))
    assert rows_of(shown)[0][:2] == ("Row 2", "question")
    take(lena, shown)
    assert ids(study) == ["q-2"]


def test_markup_in_a_file_is_text(lena: Signed, study: Study) -> None:
    bad = "<img src=x onerror=alert(1)>{{7*7}}\u202e"
    rows = [
        {"id": bad[:-1], "question": bad, "response": bad, bad: bad},
        {"id": bad, "question": bad, "response": 2},
    ]
    content = "\n".join(json.dumps(row) for row in rows).encode()
    shown = up(lena, study, f"{bad}.jsonl", content)
    for page in (shown, take(lena, shown), lena.get(f"/s/{study.number}/items")):
        assert "<img src=x" not in page.text and "49" not in words(page)
        assert "\u202e" not in page.text


def test_a_cell_of_five_megabytes(lena: Signed, study: Study) -> None:
    shown = up(lena, study, "a.csv", CSV + b"q-3,Long?," + b"x" * (5 * 2**20) + b"\n")
    assert "3 new items" in words(shown)
    take(lena, shown)
    assert len(study.item("q-3").response) == 5 * 2**20  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd.csv", "..\\..\\win.csv", "/abs/olute.csv", "a\x00b.csv", "%2e%2e%2fx.csv",
     "." * 300 + ".csv", "con.csv", "a\u202evsc.csv"],
)  # fmt: skip
def test_names_of_files_open_nothing(lena: Signed, study: Study, app: FastAPI, name: str) -> None:
    shown = up(lena, study, name, CSV)
    assert "2 new items" in words(shown)
    kept = [path for path in app.state.uploads._folder.rglob("*") if path.is_file()]
    assert [path.name for path in kept] == ["upload.csv"]
    assert len(kept[0].relative_to(app.state.uploads._folder).parts) == 2


def test_names_are_shown_without_folders_and_hidden_signs() -> None:
    assert shown_name("C:\\Users\\me\\plans.xlsx") == "plans.xlsx"
    assert shown_name("/etc/../x\u202e.csv") == "x.csv"
    assert shown_name("") == "file"
    assert (
        len(shown_name("a" * 500 + ".csv")) < 130 and shown_name("a" * 500 + ".csv")[-4:] == ".csv"
    )


def test_a_file_is_there_for_nobody_else(
    workspace: Workspace, client: Callable[..., Signed], study: Study
) -> None:
    """Not for another lead of the same study, nor in another study of the same lead."""
    other = study_of(workspace, RESPONSES, "others")
    study.add_member("lars", roles=["lead"])
    lena, lars = client("lena"), client("lars")
    shown = up(lena, study, "a.csv", CSV)
    token = path_of(shown).rpartition("/")[2]
    for who, number in ((lars, study.number), (lena, other.number), (client("olga"), 1)):
        base = f"/s/{number}/items/uploads/{token}"
        assert who.get(base).status_code == 404
        assert who.get(f"{base}/progress.json").status_code == 404
        for act in ("take", "columns", "drop"):
            assert send(who, f"{base}/{act}", check="1").status_code == 404
    assert "2 new items" in words(lena.get(path_of(shown)))
    assert ids(study) == [] == ids(other)


def test_a_file_can_be_given_up(lena: Signed, study: Study, app: FastAPI) -> None:
    shown = up(lena, study, "a.csv", CSV)
    assert "nothing came of it" in words(send(lena, f"{path_of(shown)}/drop"))
    assert list(app.state.uploads._folder.rglob("*")) == []


def test_files_are_kept_for_an_hour(workspace: Workspace, client: Callable[..., Signed]) -> None:
    clock = Ticking(workspace.clock())
    app = make_app(Workspace(opened=workspace.opened, hosts=(HOST,)))
    app.state.uploads = Uploads(clock)
    study = study_of(workspace, RESPONSES, "answers")
    known = client("lena")
    lena = Signed(app, base_url=f"http://{HOST}", cookies=known.cookies)
    lena.csrf = known.csrf
    shown = up(lena, study, "a.csv", CSV)
    clock.later(minutes=50)
    assert lena.get(path_of(shown)).status_code == 200
    clock.later(minutes=11)
    assert lena.get(path_of(shown)).status_code == 404
    assert list(app.state.uploads._folder.rglob("*")) == []


def test_what_a_killed_server_left_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    running = Uploads(now)
    left, other = (tmp_path / name for name in (f"{FOLDER}left", "other"))
    for one in (left, other):
        (one / "token").mkdir(parents=True)
        (one / "token" / "upload.csv").write_bytes(CSV)
    uploads = Uploads(now)
    assert not left.exists() and other.exists() and running._folder.exists()
    assert uploads._folder.parent == tmp_path
    folder = uploads._folder
    del uploads
    assert not folder.exists() and running._folder.exists()


def test_a_file_that_waits_is_found_again(
    client: Callable[..., Signed], lena: Signed, study: Study
) -> None:
    shown = up(lena, study, "later.csv", CSV)
    study.add_member("lars", roles=["lead"])
    listed = lena.get(f"/s/{study.number}/items")
    assert "later.csv was read and waits" in words(listed) and path_of(shown) in listed.text
    assert "later.csv" not in client("lars").get(f"/s/{study.number}/items").text


def test_an_intake_that_stops_says_how_to_go_on(
    lena: Signed, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = up(lena, study, "a.csv", CSV)

    def stops(*_: object, **__: object) -> Iterator[Item]:
        yield response_item(1)
        raise StoreError("the disk is full")

    monkeypatch.setattr("calibrant.web.upload_work.good_items", stops)
    stopped = take(lena, shown)
    assert stopped.status_code == 422
    assert "The disk is full." in alert(stopped) and "Upload the file again" in alert(stopped)
    monkeypatch.undo()
    take(lena, up(lena, study, "a.csv", CSV))
    assert ids(study) == ["q-1", "q-2"]


def test_the_oldest_file_makes_room(lena: Signed, study: Study, app: FastAPI) -> None:
    shown = [up(lena, study, f"{at}.csv", CSV) for at in range(MOST_EACH + 1)]
    assert lena.get(path_of(shown[0])).status_code == 404
    assert all(lena.get(path_of(one)).status_code == 200 for one in shown[1:])


def test_a_form_from_elsewhere_brings_no_file(
    client: Callable[..., Signed], lena: Signed, study: Study, app: FastAPI
) -> None:
    path = f"/s/{study.number}/items/upload"
    files = {"file": ("a.csv", CSV)}
    assert lena.post(path, data={"csrf": "wrong"}, files=files).status_code == 403
    gone = client().post(path, files=files, follow_redirects=False)
    assert gone.status_code == 303 and gone.headers["location"].startswith("/sign-in")
    assert not hasattr(app.state, "uploads")


def test_plans_come_from_rows(workspace: Workspace, lena: Signed) -> None:
    study = study_of(workspace, PLANS, "plans")
    rows = [
        ("Plan ID", "Career goal", "Weekly hours", "Step", "Due"),
        ("p-1", "Bake bread", 6, "Visit two bakeries", "week 1"),
        ("p-1", None, None, "Ask for a trial day", "week 2"),
        ("p-2", "Drive a tram", 4, "Read the notice", None),
        (None, "Nobody", 1, "Whose is this?", None),
    ]
    shown = up(lena, study, "plans.xlsx", workbook(*rows))
    assert chosen(shown) == {
        "Plan ID": "id",
        "Career goal": "goal",
        "Weekly hours": "hours_per_week",
        "Step": "action",
        "Due": "deadline",
    }
    assert "2 new items" in words(shown)
    assert rows_of(shown)[0][:2] == ("Row 5", "Plan ID (id)")
    take(lena, shown)
    assert [one.action for one in study.item("p-1").actions] == [  # type: ignore[union-attr]
        "Visit two bakeries",
        "Ask for a trial day",
    ]


def test_conversations_come_from_rows_and_from_json(workspace: Workspace, lena: Signed) -> None:
    study = study_of(workspace, COACHING, "talks")
    rows = b"chat,speaker,text\nc-1,user,Hello\nc-1,assistant,Hello to you\n"
    shown = up(lena, study, "talks.csv", rows)
    assert chosen(shown) == {"chat": "messages"} | chosen(shown)
    columns = {"column-0": "id", "column-1": "role", "column-2": "content"}
    again = settled(lena, send(lena, f"{path_of(shown)}/columns", **columns))
    take(lena, again, check="2")
    record = {"nr": "c-2", "dialogue": [["Hi", "Hi there"]]}
    shown = up(lena, study, "talks.json", json.dumps([record]).encode())
    assert "conversation has messages, turns or exchanges" in alert(shown) or chosen(shown)
    columns = {"column-0": "id", "column-1": "exchanges"}
    again = settled(lena, send(lena, f"{path_of(shown)}/columns", **columns))
    take(lena, again, check="2")
    assert ids(study) == ["c-1", "c-2"]


def test_free_items_show_what_is_chosen(
    workspace: Workspace, lena: Signed, starter: Rubric
) -> None:
    study = study_of(workspace, starter, "free")
    shown = up(lena, study, "free.csv", b"key,advert,author\nf-1,Baker wanted,ann\n")
    assert chosen(shown) == {"key": "id", "advert": "show", "author": "show"}
    again = settled(lena, send(lena, f"{path_of(shown)}/columns", **{"column-2": "out"}))
    take(lena, again, check="2")
    assert study.item("f-1").content == {"advert": "Baker wanted"}  # type: ignore[union-attr]


def test_large_files_are_read_in_the_background(
    lena: Signed, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calibrant.web.pages.items.PATIENCE", 0.0)
    rows = "".join(f"q-{at},Question {at}?,Answer {at}.\n" for at in range(5_000))
    path = f"/s/{study.number}/items/upload"
    files = {"file": ("a.csv", f"id,question,response\n{rows}".encode())}
    shown = lena.post(path, data={"csrf": lena.csrf}, files=files)
    assert "data-progress" in shown.text and 'http-equiv="refresh"' in shown.text
    facts = lena.get(f"{path_of(shown)}/progress.json").json()
    assert set(facts) == {"over", "done", "total"}
    done = take(lena, settled(lena, shown))
    assert "5,000 items taken in." in words(done)
    assert len(ids(study)) == 5_000


# -- the list


def test_the_list_has_a_hundred_on_a_page_and_finds_by_id(lena: Signed, study: Study) -> None:
    rows = "".join(f"q-{at:03},Question {at}?,Answer {at}.\n" for at in range(250))
    take(lena, up(lena, study, "a.csv", f"id,question,response\n{rows}".encode()))
    first = lena.get(f"/s/{study.number}/items")
    assert "q-099" in words(first) and "q-100" not in words(first)
    assert "Page 1 of 3" in words(first)
    assert "q-249" in words(lena.get(f"/s/{study.number}/items?page=3"))
    found = lena.get(f"/s/{study.number}/items?find=Q-17")
    assert "10 items with" in words(found) and "Question 171?" in words(found)
    assert "No item with" in words(lena.get(f"/s/{study.number}/items?find=zebra"))
    for odd in ("0", "-1", "x", "9" * 40):
        assert lena.get(f"/s/{study.number}/items?page={odd}").status_code == 200


def test_an_item_is_shown_and_its_words_erased_for_good(lena: Signed, study: Study) -> None:
    take(lena, up(lena, study, "a.csv", CSV))
    path = f"/s/{study.number}/items/{item_ref('q-1')}"
    assert "Because." in words(lena.get(path))
    asked = lena.get(f"{path}/redact")
    assert "This cannot be undone." in words(asked)
    unsure = send(lena, f"{path}/redact", reason="a name in it")
    assert unsure.status_code == 422 and "a name in it" in unsure.text
    silent = send(lena, f"{path}/redact", sure="yes", reason=" ")
    assert silent.status_code == 422
    assert "Because." in words(lena.get(path))
    done = send(lena, f"{path}/redact", sure="yes", reason="a name in it")
    assert "erased for good" in words(done)
    assert "Because." not in lena.get(path).text and "are erased" in words(lena.get(path))
    assert lena.get(f"/s/{study.number}/items/{item_ref('none')}").status_code == 404
    assert lena.get(f"/s/{study.number}/items/nonsense").status_code == 404
