"""Opening a page in a browser, where there can be one; where there cannot, nothing is said."""

from __future__ import annotations

import os
import subprocess
import sys
import webbrowser

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")
FAR_AWAY = ("SSH_CONNECTION", "SSH_TTY")


def open_browser(link: str) -> bool:
    """Open a link before whoever sits at this terminal; whether that was tried."""
    if not (sys.stdout.isatty() and _has_screen()):
        return False
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return False
    if not isinstance(found, webbrowser.GenericBrowser):
        return found.open(link)
    # Such as xdg-open: a program that looks for a browser, and complains where there is none.
    # Others of the kind draw in the terminal, and would use up a link that leads in once.
    return isinstance(found, webbrowser.BackgroundBrowser) and _started(found, link)


def _has_screen() -> bool:
    """Whether a window would be seen here: by somebody far away only on a screen of theirs."""
    if any(os.environ.get(name) for name in SCREENS):
        return True
    has_own = sys.platform in ("darwin", "win32", "cygwin")
    return has_own and not any(os.environ.get(name) for name in FAR_AWAY)


def _started(program: webbrowser.GenericBrowser, link: str) -> bool:
    quiet = subprocess.DEVNULL
    command = [program.name, *(one.replace("%s", link) for one in program.args)]
    try:
        subprocess.Popen(  # noqa: S603 - what this machine opens links with
            command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
    except OSError:
        return False
    return True
