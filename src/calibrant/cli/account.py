"""``calibrant account``: accounts of a workspace, for whoever can reach its database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from calibrant.cli.serve import USUAL_PORT, need_web
from calibrant.cli.study_call import confirm, count, db_option, listed, told, yes_option
from calibrant.cli.terminal import output_option

if TYPE_CHECKING:
    from calibrant.compose import Opened

BY = "command line"
"""Who acts, in the workspace's log."""


@click.group()
def account() -> None:
    """Look after accounts: links for new passwords, closing, signing out.

    The database is --db or CALIBRANT_DB. Who can write to it needs nobody's leave.

    \b
    Examples:
      calibrant account list
      calibrant account reset-link ann
      calibrant account log --limit 20
    """


@contextmanager
def _opened(place: str) -> Iterator[Opened]:
    need_web()
    from calibrant.compose import open_workspace

    opened = open_workspace(place)
    try:
        yield opened
    finally:
        opened.close()


def _need(opened: Opened, name: str) -> None:
    from calibrant.core.errors import UnknownName

    known = [one.name for one in opened.owners.accounts()]
    if name not in known:
        raise UnknownName("account", name, known)


@account.command(name="list")
@db_option
@output_option
def list_(place: str, style: str) -> None:
    """Show all accounts."""
    with _opened(place) as opened:
        rows = [
            {
                "name": one.name,
                "owner": one.owner,
                "has_password": one.password is not None,
                "signed_in": len(opened.door.sessions(one.name)),
                "created_at": one.created_at,
                "closed_at": one.closed_at,
            }
            for one in opened.owners.accounts()
        ]
    listed(
        style,
        ("name", "", "since", "browsers", ""),
        rows,
        nothing="there is no account; calibrant serve makes the first",
        show=lambda one: [
            one["name"],
            "owner" if one["owner"] else "",
            one["created_at"][:10],
            one["signed_in"],
            f"closed {one['closed_at'][:10]}"
            if one["closed_at"]
            else ("" if one["has_password"] else "no password yet"),
        ],
    )


@account.command()
@click.option("--kind", metavar="KIND", help="Only lines of this kind: signed_in, token_made ….")
@click.option("--who", metavar="NAME", help="Only lines by or about this account.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Only the last so many.",
)
@db_option
@output_option
def log(kind: str | None, who: str | None, limit: int, place: str, style: str) -> None:
    """Show what happened to accounts, links, logins and tokens: who, what, when.

    What was done in a study stands in its own audit log: calibrant study journal.

    \b
    Examples:
      calibrant account log --limit 20
      calibrant account log --who ann --kind sign_in_failed
    """
    with _opened(place) as opened:
        from calibrant.web.event_words import sentence_of

        studies = {number: one.name for number, one in opened.plain.read(lambda tx: tx.studies())}
        found = opened.owners.last_events(limit, kind=kind, name=who)
    rows = [
        {
            "number": one.number,
            "at": one.at,
            "actor": one.actor,
            "kind": one.kind,
            "body": dict(one.body),
            "said": f"{one.actor} {sentence_of(one, studies)}",
        }
        for one in reversed(found)
    ]
    listed(
        style,
        ("", "when", "what"),
        rows,
        nothing="nothing of that kind has happened",
        show=lambda one: [one["number"], one["at"][:16].replace("T", " "), one["said"]],
    )


@account.command(name="reset-link")
@click.argument("name")
@click.option(
    "--url",
    default=f"http://127.0.0.1:{USUAL_PORT}",
    show_default=True,
    metavar="URL",
    help="Where the application is reached.",
)
@db_option
@output_option
def reset_link(name: str, url: str, place: str, style: str) -> None:
    """Make a link by which somebody chooses a new password, once.

    The account is signed out everywhere when the link is used. Links made before end.

    \b
    Example:
      calibrant account reset-link ann --url https://ratings.example.org
    """
    with _opened(place) as opened:
        _need(opened, name)
        link = f"{url.rstrip('/')}/invite/{opened.links.reset_unasked(name, by=BY)}"
    told(style, f"for {name}, once, within 14 days:  {link}", account=name, link=link)


@account.command()
@click.argument("name")
@yes_option
@db_option
@output_option
def close(name: str, yes: bool, place: str, style: str) -> None:
    """Close an account: nobody comes in by it; what it did stays.

    \b
    Example:
      calibrant account close ann
    """
    with _opened(place) as opened:
        _need(opened, name)
        confirm(f"The account {name!r} will be closed and signed out. Go on?", yes)
        opened.owners.close(name, by=BY)
    told(style, f"the account {name} is closed", account=name, closed=True)


@account.command(name="sign-out")
@click.argument("name")
@db_option
@output_option
def sign_out(name: str, place: str, style: str) -> None:
    """Sign somebody out of all browsers, within seconds.

    \b
    Example:
      calibrant account sign-out ann
    """
    with _opened(place) as opened:
        _need(opened, name)
        ended = opened.door.end_all(name, by=BY)
    told(style, f"{name} is signed out of {count(ended, 'browser')}", account=name, ended=ended)


@account.command()
@click.argument("name")
@click.option("--end", metavar="LABEL", help="End the tokens of this label.")
@db_option
@output_option
def tokens(name: str, end: str | None, place: str, style: str) -> None:
    """Show the personal tokens of an account, or end some.

    \b
    Examples:
      calibrant account tokens ann
      calibrant account tokens ann --end "nightly export"
    """
    with _opened(place) as opened:
        _need(opened, name)
        if end is not None:
            found = [one for one in opened.tokens.tokens(name) if one.label == end]
            ended = sum(opened.tokens.end(name, one.hash, by=BY) for one in found)
            told(style, f"{count(ended, 'token')} ended", account=name, ended=ended)
            return
        rows = [
            {
                "label": one.label,
                "may_write": one.may_write,
                "administers": one.administers,
                "made_at": one.made_at,
                "used_at": one.used_at,
                "ends_at": one.ends_at,
                "ended_at": one.ended_at,
            }
            for one in opened.tokens.tokens(name)
        ]
    listed(
        style,
        ("label", "", "made", "used", "ends"),
        rows,
        nothing=f"{name} has no tokens",
        show=lambda one: [
            one["label"],
            "administers" if one["administers"] else "writes" if one["may_write"] else "reads",
            one["made_at"][:10],
            (one["used_at"] or "never")[:10],
            f"ended {one['ended_at'][:10]}" if one["ended_at"] else (one["ends_at"] or "")[:10],
        ],
    )
