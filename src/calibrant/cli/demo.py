"""``calibrant demo``: a furnished workspace to click through."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.open_browser import open_browser
from calibrant.cli.serve import USUAL_PORT, entry_links, need_web
from calibrant.cli.terminal import visible

if TYPE_CHECKING:
    from calibrant.compose import Opened
    from calibrant.demo.workspace import Furnished

FILE = "demo.db"


@click.command(epilog="Example: calibrant demo   (then open one of the links that it prints)")
@click.option(
    "--folder",
    default="calibrant-demo",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the demo's database is kept; what is there already is gone on with.",
)
@click.option(
    "--port", default=USUAL_PORT, show_default=True, type=click.IntRange(1, 65535), help="The port."
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
def demo(folder: Path, port: int, no_browser: bool) -> None:
    """Open a ready workspace: three studies in different stages, with simulated raters.

    Everything in it is invented. It listens on this machine alone, and the links it prints let
    you in as the lead, as a reviewer and as an adjudicator while it runs.
    """
    need_web()
    from calibrant.compose import open_workspace
    from calibrant.web.serving import Listening, bound, run, workspace_for

    listening = Listening(port=port)
    taken = bound(listening)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = open_workspace(str(folder / FILE), create=True)
    try:
        people = _furnished(opened)
        workspace = workspace_for(opened, listening)
        links = entry_links(workspace, listening.url, people)

        def ready() -> None:
            _tell(opened, links, people)
            if not no_browser:
                open_browser(links["lead"])

        run(workspace, taken, on_ready=ready)
    finally:
        opened.close()


def _furnished(opened: Opened) -> dict[str, str]:
    """Who plays which part; the studies are made on the first start."""
    from calibrant.compose import now
    from calibrant.demo.stage import ADJUDICATOR, LEAD, REVIEWER
    from calibrant.demo.workspace import furnish

    if not opened.owners.is_begun():
        click.echo("Furnishing three studies ...")
        _add_accounts(opened, furnish(opened.plain, clock=now))
    return {"lead": LEAD, "reviewer": REVIEWER, "adjudicator": ADJUDICATOR}


def _add_accounts(opened: Opened, furnished: Furnished) -> None:
    for name in furnished.people:
        opened.owners.add(name, owner=name == furnished.lead, by="the demo")


def _tell(opened: Opened, links: dict[str, str], people: dict[str, str]) -> None:
    click.echo(f"The database is {visible(opened.shown)}\n")
    widest = max(len(f"{role} ({people[role]})") for role in links)
    for role, link in links.items():
        click.echo(f"  {f'{role} ({people[role]})':<{widest}}  {link}")
    click.echo("\nOpen one of them in a browser. Stop with Ctrl-C; what was saved is kept.")
