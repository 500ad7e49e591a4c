"""Something that a form asks for, tried: what stands against it is told beside the form."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import FormData

from calibrant.core.errors import CalibrantError, Refused, Stale, StoreError


def trouble_of(work: Callable[[], object]) -> str:
    """Do it; the sentence that stands against it, or nothing.

    What no other wording of the form would change is raised: somebody may not do it, somebody
    else was quicker, the database is away.
    """
    try:
        work()
    except (Refused, Stale, StoreError):
        raise
    except CalibrantError as error:
        return str(error)
    return ""


def text_of(form: FormData, name: str) -> str:
    """What was typed into a field; nothing where a file was sent instead."""
    found = form.get(name, "")
    return found.strip() if isinstance(found, str) else ""


def number_of(form: FormData, name: str) -> int:
    """The number in a field; 0, which nothing is numbered by, where there is none."""
    text = text_of(form, name)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def typed(form: FormData) -> dict[str, str]:
    """What was typed, so that the form can be shown again with it."""
    return {name: value for name, value in form.items() if isinstance(value, str)}
