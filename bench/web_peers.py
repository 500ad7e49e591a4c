"""Label Studio and Potato as servers, with people logged in who store annotations over HTTP.

Nothing leaves this machine: both are told so by their own switches, and every other way out is
closed to them.
"""

from __future__ import annotations

import contextlib
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bench.areas.study import conversations
from bench.harness import HERE, BenchError, Context, peer_env, run_process
from bench.judges import NOWHERE
from bench.web_servers import Load, Person, Served, free_port, serving
from bench.web_studies import RUBRIC
from calibrant.formats.rubric_file import load_rubric

LABEL_STUDIO = ("label-studio==1.23.2",)
POTATO = ("potato-annotation==2.12.1",)
QUESTIONS = load_rubric(RUBRIC).criterion_ids
"""Everybody is asked the same on all sides."""
ITEMS = 100
"""That peers' people annotate, round and round."""
AGAIN = 200
"""How often at most, so that nobody runs out of work."""
ALONE = {
    "HTTP_PROXY": NOWHERE,
    "HTTPS_PROXY": NOWHERE,
    "NO_PROXY": "127.0.0.1",
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
}
PREPARING = 400.0
"""Seconds for all migrations of Label Studio."""


@dataclass(frozen=True, slots=True)
class Visited:
    """A peer's server, and what people send to it."""

    server: Served
    load: Load


# -- Label Studio


@contextlib.contextmanager
def label_studio(ctx: Context, people: int, place: str) -> Iterator[Visited]:
    """Label Studio by its own command, on SQLite or PostgreSQL; everybody has a token."""
    python = peer_env("web-label-studio", LABEL_STUDIO)
    folder = ctx.work / f"label-studio-{free_port()}"
    folder.mkdir()
    told = ALONE | {"LABEL_STUDIO_BASE_DATA_DIR": str(folder)} | _database(place)
    target = folder / "made.json"
    script = HERE / "peers" / "web_label_studio.py"
    run_process(
        [python, "-I", script, str(people), str(ITEMS), ",".join(QUESTIONS), target],
        told=told,
        most_seconds=PREPARING,
    )
    made = json.loads(target.read_text(encoding="utf-8"))
    body = {
        "result": [
            {"from_name": one, "to_name": "text", "type": "choices",
             "value": {"choices": ["YES"]}}
            for one in QUESTIONS
        ],
        "lead_time": 12.5,
    }  # fmt: skip
    turn = [{"method": "POST", "path": "/api/tasks/@PLACE@/annotations/", "body": json.dumps(body)}]
    everybody = [
        Person(
            {"Authorization": f"Token {token}", "Content-Type": "application/json"},
            [str(one) for one in made["tasks"]] * AGAIN,
        )
        for token in made["tokens"]
    ]
    port = free_port()
    command: list[str | Path] = [
        python.with_name("label-studio"),
        "start",
        "--no-browser",
        "-p",
        str(port),
    ]
    with serving(
        "Label Studio", command, folder=folder, port=port, ready="/health", told=told,
        most_seconds=120,
    ) as server:  # fmt: skip
        yield Visited(server, Load(everybody, turn))


def _database(place: str) -> dict[str, str]:
    if "://" not in place:
        return {"DJANGO_DB": "sqlite", "DATABASE_NAME": place}
    parts = urllib.parse.urlsplit(place)
    return {
        "DJANGO_DB": "default",
        "POSTGRE_USER": urllib.parse.unquote(parts.username or ""),
        "POSTGRE_PASSWORD": urllib.parse.unquote(parts.password or ""),
        "POSTGRE_HOST": parts.hostname or "",
        "POSTGRE_PORT": str(parts.port or 5432),
        "POSTGRE_NAME": parts.path.lstrip("/"),
    }


# -- Potato

CONFIG: dict[str, Any] = {
    "annotation_task_name": "bench",
    "task_dir": ".",
    "output_annotation_dir": "out",
    "output_annotation_format": "json",
    "data_files": ["items.jsonl"],
    "item_properties": {"id_key": "id", "text_key": "text"},
    "user_config": {"allow_all_users": True, "users": []},
    "require_password": False,
    "annotation_schemes": [
        {
            "annotation_type": "radio",
            "name": one,
            "description": f"Is the rule {one} kept?",
            "labels": ["YES", "NO"],
        }
        for one in QUESTIONS
    ],
    "site_dir": "default",
    "secret_key": "of a benchmark",
}


@contextlib.contextmanager
def potato(ctx: Context, people: int) -> Iterator[Visited]:
    """Potato by its own command, which keeps everything in files; everybody is logged in."""
    python = peer_env("web-potato", POTATO)
    folder = ctx.work / "potato"
    folder.mkdir()
    (folder / "config.yaml").write_text(json.dumps(CONFIG), encoding="utf-8")
    ids = [one.id for one in islice(conversations(ITEMS), ITEMS)]
    lines = (json.dumps({"id": one, "text": f"{one}: my week was long."}) for one in ids)
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    chosen = {f"{one}:YES": "on" for one in QUESTIONS}
    body = {"instance_id": "@PLACE@", "annotations": chosen, "span_annotations": []}
    turn = [{"method": "POST", "path": "/updateinstance", "body": json.dumps(body)}]
    port = free_port()
    command: list[str | Path] = [
        python.with_name("potato"),
        "start",
        "config.yaml",
        "-p",
        str(port),
    ]
    with serving(
        "Potato", command, folder=folder, port=port, told=ALONE, most_seconds=120
    ) as server:
        everybody = [
            Person(
                {"Cookie": _entered(server, f"r{at:03}"), "Content-Type": "application/json"},
                ids * AGAIN,
            )
            for at in range(people)
        ]
        yield Visited(server, Load(everybody, turn))


class _Stay(urllib.request.HTTPRedirectHandler):
    """Does not go where an answer points to."""

    def redirect_request(self, *_: object) -> None:
        """Nowhere."""


def _entered(server: Served, name: str) -> str:
    """The cookie of somebody who has logged in, and looked at the first page."""
    opener = urllib.request.build_opener(_Stay)
    form = urllib.parse.urlencode({"email": name, "pass": ""}).encode()
    try:
        with opener.open(f"{server.url}/auth", form, timeout=30) as answer:
            status, found = answer.status, answer.headers
    except urllib.error.HTTPError as refused:
        status, found = refused.code, refused.headers
        refused.close()
    cookie = str(found.get("Set-Cookie", "")).partition(";")[0]
    if status != 302 or not cookie:
        raise BenchError(f"{server.name} let nobody in: {status}")
    page = urllib.request.Request(f"{server.url}/annotate", headers={"Cookie": cookie})
    opener.open(page, timeout=30).close()
    return cookie


def last_line(error: Exception) -> str:
    """What a failure comes down to."""
    lines = [one for one in str(error).splitlines() if one.strip()]
    return lines[-1][:300] if lines else type(error).__name__
