"""A bare endpoint: ``web_bare.py PLACE PORT``; PLACE is a path, or the address of a PostgreSQL.

FastAPI with handlers that are plain functions, as ours are, under the same uvicorn. One row a
request with a commit of its own, as durable as ours: nobody is asked who they are, nothing is
checked, and nothing else is written. What storing a form over HTTP takes at least.
"""

from __future__ import annotations

import json
import logging
import queue
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI

CONNECTIONS = 20
"""To a server, as many as calibrant holds at most."""
TABLES = (
    "CREATE TABLE bare_draft (study INTEGER, task TEXT, rater TEXT, body TEXT, saved_at TEXT, "
    "version INTEGER, PRIMARY KEY (study, task, rater))",
    "CREATE TABLE bare_rating (study INTEGER, task TEXT, rater TEXT, request TEXT UNIQUE, "
    "body TEXT, saved_at TEXT, PRIMARY KEY (study, task, rater))",
)
DRAFT = (
    "INSERT INTO bare_draft VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (study, task, rater) "
    "DO UPDATE SET body = excluded.body, saved_at = excluded.saved_at, version = excluded.version"
)
RATING = "INSERT INTO bare_rating VALUES (?, ?, ?, ?, ?, ?)"
Run = Callable[[str, tuple[Any, ...]], object]


def on_file(path: str) -> Run:
    """One connection and a lock: threads that wait for SQLite's own are slower."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    for one in TABLES:
        connection.execute(one)
    turn = threading.Lock()

    def run(sentence: str, values: tuple[Any, ...]) -> object:
        with turn:
            return connection.execute(sentence, values)

    return run


def on_server(address: str) -> Run:
    """A few connections, each statement a transaction."""
    import psycopg

    waiting: queue.LifoQueue[psycopg.Connection[Any]] = queue.LifoQueue()
    for _ in range(CONNECTIONS):
        waiting.put(psycopg.connect(address, autocommit=True))
    with psycopg.connect(address, autocommit=True) as first:
        for one in TABLES:
            first.execute(one.encode())

    def run(sentence: str, values: tuple[Any, ...]) -> object:
        held = waiting.get()
        try:
            return held.execute(sentence.replace("?", "%s").encode(), values)
        finally:
            waiting.put(held)

    return run


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())


def make_app(run: Run) -> FastAPI:
    """The two routes."""
    app = FastAPI()

    @app.put("/studies/{study}/tasks/{task}/{rater}/draft")
    def draft(study: int, task: str, rater: str, sent: dict[str, Any]) -> dict[str, int]:
        version = sent["version"] + 1
        run(DRAFT, (study, task, rater, json.dumps(sent["form"]), _now(), version))
        return {"version": version}

    @app.post("/studies/{study}/tasks/{task}/{rater}/rating")
    def rating(study: int, task: str, rater: str, sent: dict[str, Any]) -> dict[str, int]:
        run(RATING, (study, task, rater, sent["request"], json.dumps(sent["form"]), _now()))
        return {"revision": 1}

    return app


def main(place: str, port: str) -> None:
    """Serve until it is stopped."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    app = make_app(on_server(place) if "://" in place else on_file(place))
    uvicorn.run(app, port=int(port), log_config=None, access_log=False, timeout_keep_alive=75)


if __name__ == "__main__":
    main(*sys.argv[1:])
