"""``calibrant serve``: the web application on one's own database."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING

import click

from calibrant.cli.open_browser import open_browser
from calibrant.cli.study_call import db_option
from calibrant.cli.terminal import visible

if TYPE_CHECKING:
    from calibrant.compose import Opened
    from calibrant.web.serving import Listening
    from calibrant.web.workspace import Workspace

USUAL_PORT = 8321


@click.command(
    epilog="Example: calibrant serve --db study.db   (then open the link that it prints)"
)
@db_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", default=USUAL_PORT, show_default=True, type=click.IntRange(1, 65535), help="The port."
)
@click.option("--owner", metavar="NAME", help="Your name, where the workspace has no account yet.")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A name by which others reach this server, such as ratings.example.org.",
)
@click.option("--allow-others", is_flag=True, help="Let other machines reach this server.")
@click.option("--https", "secure", is_flag=True, help="It is reached by HTTPS, by a server before.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
def serve(
    place: str,
    host: str,
    port: int,
    owner: str | None,
    names: tuple[str, ...],
    allow_others: bool,
    secure: bool,
    no_browser: bool,
) -> None:
    """Serve the web application: people rate, discuss, adjudicate and lead in a browser.

    It listens on this machine alone unless you say otherwise. The link it prints lets you in
    once; invite others from the pages.
    """
    need_web()
    from calibrant.compose import open_workspace
    from calibrant.web.serving import Listening, need_safe

    listening = Listening(
        host=host, port=port, names=names, allow_others=allow_others, secure=secure
    )
    opened = open_workspace(place, create=True)
    try:
        need_safe(opened, listening)
        _serve(opened, listening, _owner(opened, owner), may_open=not no_browser)
    finally:
        opened.close()


def need_web() -> None:
    """Say what is missing before anything else does."""
    try:
        import argon2  # noqa: F401
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise click.ClickException(
            "the web application needs more packages: pip install 'calibrant[web]'"
        ) from None


def _owner(opened: Opened, named: str | None) -> str:
    """Who looks after the workspace; on the first start an account is made for them."""
    owners = [one.name for one in opened.owners.accounts() if one.owner and not one.closed_at]
    if owners:
        return named if named in owners else owners[0]
    name = named or getpass.getuser()
    opened.owners.add(name, owner=True, by=name)
    return name


def _serve(opened: Opened, listening: Listening, owner: str, *, may_open: bool) -> None:
    from calibrant.web.serving import bound, run, workspace_for

    taken = bound(listening)
    workspace = workspace_for(opened, listening)
    link = f"{listening.url}/enter/{workspace.entries.add(owner)}"

    def ready() -> None:
        click.echo(f"The database is {visible(opened.shown)}")
        click.echo(f"Come in as {visible(owner)}, once, by  {link}")
        click.echo("Stop with Ctrl-C; what was saved is kept.")
        if may_open:
            open_browser(link)

    run(workspace, taken, on_ready=ready)


def entry_links(workspace: Workspace, url: str, people: dict[str, str]) -> dict[str, str]:
    """Links that lead in again and again while the program runs: for demonstrations."""
    return {
        role: f"{url}/enter/{workspace.entries.add(name, again=True)}"
        for role, name in people.items()
    }
