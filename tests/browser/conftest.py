"""A real server in a process of its own, and a real browser that visits it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from calibrant import compose
from calibrant.core.errors import AccountError

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MAIN = "from calibrant.cli.main import main; main()"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window; one for each module, as its loop keeps out others'."""
    assert CHROMIUM, "Chromium is missing: sh scripts/browser.sh installs it"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield opened
        opened.close()


@dataclass
class Served:
    """A server at an address, which can be killed and started again."""

    place: str
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    opened: compose.Opened | None = None
    """The same database from this side, to make accounts and look at what was kept."""
    more: tuple[str, ...] = field(default_factory=tuple)
    env: dict[str, str] = field(default_factory=dict)
    """Settings of the server beside those of this process."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [
            sys.executable, "-c", MAIN, "serve", "--db", self.place,
            "--port", str(self.port), "--no-browser", *self.more,
        ]  # fmt: skip
        log = (self.folder / "server.log").open("ab")
        self.process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=os.environ | self.env,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
        log.close()
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                with urlopen(f"{self.url}/sign-in", timeout=2):
                    return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        self.stop()
        raise AssertionError((self.folder / "server.log").read_text())

    def kill(self) -> None:
        """As a power cut would."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def cookie(self, name: str, *, owner: bool = False) -> dict[str, str]:
        """A login for somebody, as a cookie."""
        from calibrant.web.workspace import Workspace

        assert self.opened is not None
        with contextlib.suppress(AccountError):
            self.opened.owners.add(name, owner=owner, by="tests")
        cookie = Workspace(opened=self.opened, hosts=()).cookie
        return {
            "name": cookie, "value": self.opened.door.admit(name, by="tests"), "url": self.url
        }  # fmt: skip


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server and an empty database for the tests of a module that do not kill it."""
    folder = tmp_path_factory.mktemp("served")
    made = Served(str(folder / "work.db"), folder, free_port())
    made.opened = compose.open_workspace(made.place, create=True)
    made.start()
    yield made
    made.stop()
    made.opened.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Serves a database: ``serve()`` makes an empty one, ``serve(place)`` takes what is there."""
    made: list[Served] = []

    def run(place: str | None = None, *, owner: str | None = None) -> Served:
        where = place or str(tmp_path / f"work{len(made)}.db")
        more = ("--owner", owner) if owner is not None else ()
        served = Served(where, tmp_path, free_port(), more=more)
        served.opened = compose.open_workspace(where, create=True)
        made.append(served)
        served.start()
        return served

    yield run
    for one in made:
        one.stop()
        if one.opened is not None:
            one.opened.close()


@dataclass
class Watched:
    """A page, and everything that should not have happened on it."""

    page: Page
    wrong: list[str] = field(default_factory=list)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens the application as somebody: ``visit(served, "ada")``.

    Afterwards: no message on the console, no failing script, no request to another host.
    """
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def enter(served: Served, name: str | None = None, **options: object) -> Page:
        context = browser.new_context(base_url=served.url, **options)  # type: ignore[arg-type]
        contexts.append(context)
        if name is not None:
            context.add_cookies([served.cookie(name)])  # type: ignore[list-item]
        page = context.new_page()
        page.on("console", lambda message: _note(wrong, message.type, message.text))
        page.on("pageerror", lambda error: wrong.append(f"script: {error}"))
        page.on("request", lambda request: _abroad(wrong, request.url, served.url))
        return page

    yield enter
    for context in contexts:
        context.close()
    assert wrong == []


def _note(wrong: list[str], kind: str, text: str) -> None:
    """Anything but failed loads: those tests cause themselves, by cutting the network."""
    if kind in ("error", "warning") and "Failed to load resource" not in text:
        wrong.append(f"{kind}: {text}")


def _abroad(wrong: list[str], url: str, home: str) -> None:
    if not url.startswith((home, "data:", "blob:")):
        wrong.append(f"request to {url}")


os.environ.setdefault("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
