"""The entry point. Commands are imported when they are called: ``--help`` stays fast."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import Any

import click

COMMANDS = {
    "agree": ("calibrant.cli.agree", "Tell how far raters agree, with intervals."),
    "check": ("calibrant.cli.check", "Measure items with checks, and quote what they found."),
    "items": ("calibrant.cli.items", "Check files of items, and print their JSON Schemas."),
    "rubric": ("calibrant.cli.rubric", "Write, check, read and compare rubrics."),
    "sample-size": ("calibrant.cli.sample_size", "Tell how many items a study of agreement needs."),
    "score": ("calibrant.cli.score", "Turn answers into verdicts by a rubric."),
}


class LazyGroup(click.Group):
    """A group that knows its commands' names and one-line helps without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(COMMANDS[cmd_name][0]), cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command, or the nearest one as a suggestion."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: calibrant rubric list · calibrant rubric init · calibrant score --help",
)
@click.version_option(package_name="calibrant", message="calibrant %(version)s")
def cli() -> None:
    """Evaluation that can be trusted.

    People, LLM judges and checks score the same items against one versioned rubric; calibrant
    reads their answers and gives exact verdicts, with gates that fail closed.
    """


def _leave(status: object) -> None:
    """End the process at once: nobody waits for memory to be given back piece by piece."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 0)


def main() -> None:
    """Run a command; an error that calibrant knows is a sentence, never a traceback."""
    # no plugin of another package has a say in what is valid here, and none is searched for
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.set_threshold(100_000, 20, 20)  # loading makes many objects and no garbage
    try:
        _leave(cli.main(prog_name="calibrant", standalone_mode=False))
    except click.exceptions.Abort:
        click.echo("Stopped.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        from calibrant.core.errors import CalibrantError

        if not isinstance(error, CalibrantError):
            raise
        for line in str(error).splitlines():
            click.secho(line, err=True, fg="red")
        sys.exit(2)
