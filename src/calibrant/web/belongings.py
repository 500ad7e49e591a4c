"""What belongs to one server while it runs: things that it makes once, and folders of its own.

A folder is held by a lock that the system lets go of however the server ends, so that the next
one knows what is left behind.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from fastapi import Request

T = TypeVar("T")
_MADE = threading.Lock()


def of_server(request: Request, name: str, make: Callable[[], T]) -> T:
    """The thing of that name, made when it is first asked for."""
    state = request.app.state
    with _MADE:
        if not hasattr(state, name):
            setattr(state, name, make())
    found: T = getattr(state, name)
    return found


def own_folder(owner: object, prefix: str) -> Path:
    """A folder that only this account of the machine can look into; it goes with its owner."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=prefix))
        held = os.open(made, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        if made.is_dir():  # another server may have taken it for one left behind
            weakref.finalize(owner, _let_go, made, held)
            return made
        os.close(held)


def clear_left_behind(prefix: str) -> None:
    """Delete what killed servers left: whole studies, perhaps, and nobody fetches them."""
    for one in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with contextlib.suppress(OSError):  # in use, or not ours
            found = one.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                _delete(one)


def _delete(folder: Path) -> None:
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(held)


def _let_go(folder: Path, held: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(held)
