"""Flags raised and decided; questions to the lead."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.study_call import listed, study_command, told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.study.handle import Study


@study_command
@click.argument("item")
@click.option("--red-flag", "red_flag", metavar="FLAG", help="A red flag of the rubric.")
@click.option("--quote", "quotes", multiple=True, metavar="TEXT",
              help="Words of the item that carry it; may be repeated.")  # fmt: skip
@click.option("--edge-case", "edge_case", metavar="WHY", help="What makes it an edge case.")
@click.option("--review", metavar="WHY", help="What somebody should look at.")
def flag(
    study: Study,
    item: str,
    red_flag: str | None,
    quotes: tuple[str, ...],
    edge_case: str | None,
    review: str | None,
    style: str,
) -> None:
    """Flag an item: a red flag with its quotation, an edge case, or something to review.

    One raised red flag holds the item back until somebody has decided it.

    \b
    Examples:
      calibrant study flag advice plan-07 --red-flag deception --quote "tick 'none'"
      calibrant study flag advice plan-07 --edge-case "two goals in one profile" --as ann
    """
    stated = [one for one in (red_flag, edge_case, review) if one]
    if len(stated) != 1:
        raise click.UsageError("say one of --red-flag, --edge-case and --review")
    what: Any = "red_flag" if red_flag else "edge_case" if edge_case else "review"
    study.raise_flag(
        item, what=what, flag=red_flag, evidence=quotes, reason=edge_case or review or ""
    )
    told(
        style,
        f"{item} is flagged: {red_flag or what.replace('_', ' ')}",
        study=study.name,
        item=item,
        what=what,
        flag=red_flag,
    )


@study_command
@click.option("--state", type=click.Choice(["raised", "confirmed", "rejected"]),
              help="Only these.")  # fmt: skip
def flags(study: Study, state: str | None, style: str) -> None:
    """Show the flags that you may see by now.

    \b
    Examples:
      calibrant study flags advice
      calibrant study flags advice --state raised
    """
    found = (asdict(one) for one in study.flags(state=state))  # type: ignore[arg-type]
    header = ("flag", "what", "item", "by", "state", "words")
    listed(style, header, found, nothing="no flags", show=_flag_row)


def _flag_row(one: Mapping[str, Any]) -> list[Any]:
    words = one["words"]
    quotes = " … ".join(f"“{quote}”" for quote in words.get("evidence", ()))
    return [
        one["number"],
        one["flag"] or one["what"].replace("_", " "),
        one["item"],
        one["by"],
        one["state"],
        quotes or words.get("reason", ""),
    ]


@study_command
@click.argument("number", type=int, metavar="FLAG")
@click.option("--confirm/--reject", "confirmed", default=None, help="It stands, or it does not.")
@click.option("--reason", required=True, help="Why.")
def decide(study: Study, number: int, confirmed: bool | None, reason: str, style: str) -> None:
    """Confirm or reject a flag, and the same red flag that others raised on the item.

    \b
    Examples:
      calibrant study decide advice 31 --confirm --reason "it tells the person to lie"
      calibrant study decide advice 32 --reject --reason "a quotation, not advice"
    """
    if confirmed is None:
        raise click.UsageError("say --confirm or --reject")
    study.decide_flag(number, confirm=confirmed, reason=reason)
    state = "confirmed" if confirmed else "rejected"
    told(style, f"flag {number} is {state}", study=study.name, flag=number, state=state)


@study_command
@click.argument("text")
@click.option("--item", help="About this item.")
@click.option("--criterion", help="About this criterion.")
def ask(study: Study, text: str, item: str | None, criterion: str | None, style: str) -> None:
    """Ask the lead about the rubric; say nothing of the scores you have in mind.

    \b
    Example:
      calibrant study ask advice "Is a phone call a deadline?" --criterion clarity --as ann
    """
    study.ask(text, item=item, criterion=criterion)
    told(style, "asked", study=study.name, item=item, criterion=criterion)


@study_command
@click.argument("number", type=int, metavar="QUESTION")
@click.argument("text")
@click.option("--share", is_flag=True, help="Let everybody read question and answer.")
def answer(study: Study, number: int, text: str, share: bool, style: str) -> None:
    """Answer a question.

    \b
    Example:
      calibrant study answer advice 12 "No: a deadline names a day or a week." --share
    """
    study.answer_question(number, text, share=share)
    told(style, f"question {number} is answered", study=study.name, question=number, shared=share)


@study_command
def questions(study: Study, style: str) -> None:
    """Show your questions and those shared with all; a lead reads every one.

    \b
    Example:
      calibrant study questions advice --as ann
    """
    listed(
        style,
        ("question", "by", "about", "text", "answers"),
        (asdict(one) for one in study.questions()),
        nothing="no questions",
        show=lambda one: [
            one["number"],
            one["by"],
            " ".join(filter(None, (one["item"], one["criterion"]))),
            one["text"],
            "\n".join(one["answers"]),
        ],
    )
