"""A browser is opened where somebody would see it, and nothing is printed where nobody would."""

from __future__ import annotations

import subprocess
import sys
import webbrowser
from typing import Any

import pytest

from calibrant.cli.open_browser import FAR_AWAY, SCREENS, open_browser

LINK = "http://127.0.0.1:8321/enter/once"


class Noted(webbrowser.BaseBrowser):
    """A browser that only notes what it is to show."""

    def __init__(self) -> None:
        super().__init__("noted")
        self.shown: list[str] = []

    def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
        self.shown.append(url)
        return True


@pytest.fixture
def at_desk(monkeypatch: pytest.MonkeyPatch) -> Noted:
    """Somebody at a terminal of a Linux machine with a screen and a browser."""
    found = Noted()
    for name in (*SCREENS, *FAR_AWAY):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(webbrowser, "get", lambda: found)
    return found


def test_a_browser_shows_the_link(at_desk: Noted) -> None:
    assert open_browser(LINK)
    assert at_desk.shown == [LINK]


@pytest.mark.parametrize(
    ("platform", "env", "terminal", "opens"),
    [
        ("linux", {}, True, False),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True, True),
        ("linux", {"SSH_TTY": "/dev/pts/1"}, True, False),
        ("linux", {"SSH_TTY": "/dev/pts/1", "DISPLAY": "localhost:10.0"}, True, True),
        ("linux", {"DISPLAY": ":0"}, False, False),
        ("darwin", {}, True, True),
        ("darwin", {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, True, False),
        ("win32", {}, True, True),
    ],
)
def test_only_where_somebody_would_see_it(
    at_desk: Noted,
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    env: dict[str, str],
    terminal: bool,
    opens: bool,
) -> None:
    monkeypatch.delenv("DISPLAY")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    assert open_browser(LINK) is opens
    assert bool(at_desk.shown) is opens


@pytest.mark.usefixtures("at_desk")
def test_nothing_is_said_where_no_browser_is_installed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def none() -> Any:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert not open_browser(LINK)
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.BackgroundBrowser("not-there"))
    assert not open_browser(LINK)
    # one that draws in the terminal would use the link up
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("w3m"))
    assert not open_browser(LINK)
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("at_desk")
def test_a_program_that_looks_for_browsers_complains_to_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[list[str], dict[str, Any]]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda what, **how: asked.append((what, how)))
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.BackgroundBrowser("xdg-open"))
    assert open_browser(LINK)
    ((command, how),) = asked
    assert command == ["xdg-open", LINK]
    assert {how[name] for name in ("stdin", "stdout", "stderr")} == {subprocess.DEVNULL}
