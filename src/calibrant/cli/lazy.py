"""Groups of commands that are imported when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeAlias

import click

Sections: TypeAlias = Mapping[str, Mapping[str, tuple[str, str]]]
"""By heading and name: where a command is, ``module`` or ``module:attribute``, and what it does in
one line. Without an attribute it is called as the command is."""


class LazyGroup(click.Group):
    """A group that knows its commands' names and one-line helps without importing them."""

    def __init__(self, *args: Any, sections: Sections, **named: Any) -> None:
        super().__init__(*args, **named)
        self.sections = sections
        self.known = {name: one for part in sections.values() for name, one in part.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, sorted."""
        return sorted(self.known)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in self.known:
            return None
        module, _, attribute = self.known[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute or cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command, or the nearest one as a suggestion."""
        if args and args[0] not in self.known and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands under their headings, without importing any."""
        width = max(map(len, self.known))
        for heading, part in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), one[1]) for name, one in part.items()])
