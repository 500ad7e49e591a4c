"""The entry point. Commands are imported when they are called: ``--help`` stays fast."""

from __future__ import annotations

import gc
import os
import sys

import click

from calibrant.cli.lazy import LazyGroup

COMMANDS = {
    "account": ("calibrant.cli.account", "Look after the accounts of a workspace."),
    "agree": ("calibrant.cli.agree", "Tell how far raters agree, with intervals."),
    "calibrate-judge": ("calibrant.cli.calibrate_judge", "Fit a judge to people's answers."),
    "check": ("calibrant.cli.check", "Measure items with checks, and quote what they found."),
    "combine": ("calibrant.cli.combine", "Combine several raters' answers into one."),
    "demo": ("calibrant.cli.demo", "Open a furnished workspace in the browser."),
    "estimate": ("calibrant.cli.estimate", "Correct a judged set by a sample of people's labels."),
    "items": ("calibrant.cli.items", "Check files of items, and print their JSON Schemas."),
    "judge": ("calibrant.cli.judge", "Let language models judge items by a rubric."),
    "quality": ("calibrant.cli.quality", "Tell where quality is low: items, slices, criteria."),
    "raters": ("calibrant.cli.raters", "Tell how each rater rates: severity, halo, drift, more."),
    "report": ("calibrant.cli.report", "Report what a study came to, as a page, text or data."),
    "rubric": ("calibrant.cli.rubric", "Write, check, read and compare rubrics."),
    "sample-size": ("calibrant.cli.sample_size", "Tell how many items a study of agreement needs."),
    "score": ("calibrant.cli.score", "Turn answers into verdicts by a rubric."),
    "serve": ("calibrant.cli.serve", "Run the web application on your own database."),
    "study": ("calibrant.cli.study", "Run a study: rounds, raters, adjudication, status."),
    "validate-judge": ("calibrant.cli.validate_judge", "Tell whether a judge may replace people."),
}


@click.group(
    cls=LazyGroup,
    sections={"Commands": COMMANDS},
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
        from calibrant.cli.terminal import visible
        from calibrant.core.errors import CalibrantError

        if not isinstance(error, CalibrantError):
            raise
        for line in str(error).splitlines():
            click.secho(visible(line), err=True, fg="red")
        sys.exit(2)
