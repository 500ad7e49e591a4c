"""The secret of a workspace: made on first start, in a file that only its owner can read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from calibrant.core.errors import AccountError

LENGTH = 32


def workspace_secret(path: Path, draw: Callable[[int], bytes]) -> bytes:
    """The secret in a file, which is made where there is none; ``draw`` gives random bytes.

    Raises ``AccountError`` where others can read the file, or it holds no such secret.
    """
    try:
        _make(path, draw(LENGTH))
    except FileExistsError:
        pass
    except OSError as error:
        raise AccountError(f"{path}: the file cannot be made: {error.strerror}") from error
    return _read(path)


def _make(path: Path, secret: bytes) -> None:
    """Whole or not at all, and never over another: a second start may be making it too."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{secret[:4].hex()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    if path.exists():
        raise FileExistsError
    handle = os.open(part, flags, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        os.link(part, path)
    finally:
        part.unlink()


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(LENGTH + 1)
    except OSError as error:
        raise AccountError(f"{path}: the file cannot be read: {error.strerror}") from error
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise AccountError(f"{path}: others may read the secret of this workspace; run chmod 600")
    if len(secret) != LENGTH:
        raise AccountError(
            f"{path}: does not hold the secret of a workspace; move it away, and a new one is made"
        )
    return secret
