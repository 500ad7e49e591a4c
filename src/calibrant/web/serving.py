"""Running the server: where it listens, who may reach it, how it ends."""

from __future__ import annotations

import ipaddress
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn

from calibrant.compose import Opened
from calibrant.core.errors import SourceError
from calibrant.web.app import make_app
from calibrant.web.security import own_hosts
from calibrant.web.workspace import Workspace

PORT = 8321


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where a server is to be reached."""

    host: str = "127.0.0.1"
    port: int = PORT
    names: tuple[str, ...] = ()
    """Further names by which people reach it, such as ``ratings.example.org``."""
    allow_others: bool = False
    """Whether other machines may reach it: said by whoever starts it, never assumed."""
    secure: bool = False
    """Whether people reach it by HTTPS, which a server before this one provides."""

    @property
    def is_near(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def url(self) -> str:
        """Its address, for people at this machine."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        if self.names:
            return f"{'https' if self.secure else 'http'}://{self.names[0]}"
        return f"http://{'127.0.0.1' if shown in ('0.0.0.0', '[::]') else shown}:{self.port}"  # noqa: S104


def need_safe(opened: Opened, listening: Listening) -> None:
    """Refuse to be reached by others unless that is meant, and nobody gets in without a key."""
    if listening.is_near:
        return
    if not listening.allow_others:
        raise SourceError(
            f"{listening.host} can be reached by other machines: say --allow-others if that is "
            "meant, and put a server with HTTPS before this one; nothing was started"
        )
    if not any(one.password and one.owner for one in opened.owners.accounts()):
        raise SourceError(
            "other machines could reach this workspace, and no owner has a password yet: start it "
            "on 127.0.0.1 first, and choose a password under your name"
        )


def workspace_for(opened: Opened, listening: Listening) -> Workspace:
    """The workspace as it is reached there."""
    hosts = own_hosts(listening.host, listening.port, listening.names)
    return Workspace(opened=opened, hosts=tuple(hosts), secure=listening.secure)


def bound(listening: Listening) -> socket.socket:
    """The socket, taken before anything is said of it; raises ``SourceError`` where it is not."""
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((listening.host, listening.port))
        made.listen(2048)
    except OSError as error:
        made.close()
        raise SourceError(
            f"{listening.host}:{listening.port} cannot be listened on: {error.strerror}; another "
            "server may run there: stop it, or choose another --port"
        ) from None
    return made


class _Server(uvicorn.Server):
    """Tells when it is ready to answer."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As any server, and then say so."""
        await super().startup(sockets)
        self._on_ready()


def run(
    workspace: Workspace,
    taken: socket.socket,
    *,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until it is stopped (Ctrl-C); what was acknowledged is kept, whatever happens."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    _Server(config_for(workspace), on_ready).run(sockets=[taken])


def config_for(workspace: Workspace) -> uvicorn.Config:
    """How the server is run.

    With HTTPS, the server before this one says on whose behalf it asks. It is believed where it
    runs on this machine; else all would seem to come from one address, and one person's wrong
    passwords would keep everybody out.
    """
    return uvicorn.Config(
        make_app(workspace),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=75,
        limit_concurrency=2_000,
        proxy_headers=workspace.secure,
        forwarded_allow_ips=["127.0.0.1", "::1"],
    )
