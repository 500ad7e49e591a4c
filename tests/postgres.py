"""PostgreSQL for the tests: one private cluster a session, a fresh database a test.

``CALIBRANT_TEST_POSTGRES`` names a server that is there already (its user must be allowed to
create databases). Otherwise an installed PostgreSQL is started, and where none is installed, the
package ``postgresql`` of Debian is. Tests are never skipped for want of a server.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER_KEY = "CALIBRANT_TEST_POSTGRES_FOLDER"
"""Where the session's cluster is, for the workers of the session."""
URL_KEY = "CALIBRANT_TEST_POSTGRES"
PASSWORD = "open:sesame/1"
_UNPRIVILEGED = ("postgres", "nobody")


class NoPostgres(RuntimeError):
    """There is no PostgreSQL, and none could be installed."""


def programs() -> Path:
    """The folder of the server's programs, installing them where they are missing."""
    found = _installed()
    if found is None:
        _install()
        found = _installed()
    if found is None:
        raise NoPostgres(
            "the tests of the store need PostgreSQL 15 or newer: install the package postgresql, "
            f"or name a server in {URL_KEY}"
        )
    return found


def _installed() -> Path | None:
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), reverse=True
    )
    on_path = shutil.which("pg_ctl")
    if on_path is not None:
        folders.append(Path(on_path).resolve().parent)
    return next((f for f in folders if (f / "initdb").exists() and (f / "pg_ctl").exists()), None)


def _install() -> None:
    before = [] if os.geteuid() == 0 else ["sudo", "-n"]
    quiet: dict[str, Any] = {
        "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        "capture_output": True,
    }
    if shutil.which("apt-get") is None:
        return
    subprocess.run([*before, "apt-get", "update"], check=False, **quiet)
    subprocess.run([*before, "apt-get", "install", "-y", "postgresql"], check=False, **quiet)


class Cluster:
    """A server of one's own, which can be stopped, killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = programs()
        self.port = 0

    @property
    def url(self) -> str:
        """The address, without a database."""
        from urllib.parse import quote

        return f"postgresql://tester:{quote(PASSWORD, safe='')}@127.0.0.1:{self.port}"

    @classmethod
    def make(cls) -> Cluster:
        """A new cluster, not started yet, in a folder that only its user can enter."""
        folder = Path(tempfile.mkdtemp(prefix="calibrant-pg-", dir="/tmp"))
        cluster = cls(folder)
        if os.geteuid() == 0:
            os.chown(folder, *_somebody())
        secret = folder / "secret"
        secret.write_text(PASSWORD)
        if os.geteuid() == 0:
            os.chown(secret, *_somebody())
        words = ["-D", str(folder / "data"), "-U", "tester", "--pwfile", str(secret)]
        words += ["-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-instructions"]
        cluster._call("initdb", *words)
        secret.unlink()
        return cluster

    @classmethod
    def found(cls, folder: Path) -> Cluster:
        """The cluster that another process of the session started."""
        cluster = cls(folder)
        cluster.port = json.loads((folder / "address").read_text())
        return cluster

    def start(self) -> None:
        """Start, or start again after a crash, at the same address."""
        if not self.port:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
        settings = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder} "
            "-c fsync=on -c max_connections=60 -c shared_buffers=64MB -c restart_after_crash=on"
        )
        log = self.folder / "log"
        self._call("pg_ctl", "-D", self.folder / "data", "-l", log, "-w", "-o", settings, "start")
        address = self.folder / "address"
        address.write_text(json.dumps(self.port))

    def kill(self) -> None:
        """Kill the server and all its processes with SIGKILL, as a crash of the machine would."""
        first = self._postmaster()
        family = [first, *_children(first)]
        for process in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        while any(_alive(process) for process in family):
            time.sleep(0.02)
        (self.folder / "data/postmaster.pid").unlink()
        (self.folder / f".s.PGSQL.{self.port}.lock").unlink()

    def stop(self) -> None:
        """Stop at once and remove everything."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
            first = self._postmaster()
            os.kill(first, signal.SIGINT)
            for _ in range(600):
                if not _alive(first):
                    break
                time.sleep(0.05)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _postmaster(self) -> int:
        return int((self.folder / "data/postmaster.pid").read_text().split()[0])

    def _call(self, program: str, *words: str | Path) -> None:
        as_whom: dict[str, Any] = {}
        if os.geteuid() == 0:
            user, group = _somebody()
            as_whom = {"user": user, "group": group, "extra_groups": []}
        with (self.folder / f"{program}.out").open("a+b") as out:
            ended = subprocess.run(
                [str(self.bin / program), *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=self.folder,
                check=False,
                **as_whom,
            )
            if ended.returncode:
                out.seek(0)
                raise NoPostgres(f"{program} failed: {out.read().decode(errors='replace')}")


def _state(process: int) -> list[str]:
    """State and parent of a process, as the kernel tells them."""
    try:
        told = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return told.rpartition(")")[2].split()[:2]


def _alive(process: int) -> bool:
    return _state(process)[:1] not in ([], ["Z"], ["X"])


def _children(parent: int) -> list[int]:
    everyone = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    return [one for one in everyone if _state(one)[1:] == [str(parent)]]


def _somebody() -> tuple[int, int]:
    """A user without rights, as a server refuses to run as root."""
    for name in _UNPRIVILEGED:
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return user.pw_uid, user.pw_gid
    raise NoPostgres("run as root, the tests need a user named postgres or nobody")


def server_url() -> str:
    """The session's server, started by whichever worker first asks for it."""
    if named := os.environ.get(URL_KEY):
        return named
    folder = Path(os.environ[FOLDER_KEY])
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        told = folder / "cluster"
        if not told.exists():
            cluster = Cluster.make()
            told.write_text(str(cluster.folder))
            cluster.start()
        return Cluster.found(Path(told.read_text())).url


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """Keep other workers of the session from what would only slow both down."""
    with (Path(os.environ[FOLDER_KEY]) / name).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def begin_session() -> bool:
    """Prepare the place where workers find or leave the session's cluster; whether it is ours."""
    if FOLDER_KEY in os.environ:
        return False
    os.environ[FOLDER_KEY] = tempfile.mkdtemp(prefix="calibrant-test-")
    return True


def end_session() -> None:
    """Stop the session's cluster, if anybody started it."""
    folder = Path(os.environ.pop(FOLDER_KEY))
    told = folder / "cluster"
    if told.exists():
        place = Path(told.read_text())
        if (place / "address").exists():
            Cluster.found(place).stop()
        else:
            Cluster(place).stop()
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def fresh_database(url: str) -> Iterator[str]:
    """The address of a new, empty database; it is dropped afterwards."""
    import psycopg
    from sqlalchemy import make_url

    parsed = make_url(url)
    name = f"calibrant_{uuid.uuid4().hex}"
    admin = parsed.set(drivername="postgresql", database=parsed.database or "postgres")
    place = admin.set(database=name).render_as_string(hide_password=False)
    with psycopg.connect(admin.render_as_string(hide_password=False), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
        try:
            yield place
        finally:
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
