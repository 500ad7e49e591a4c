"""Small readings of what a form sent, and of what is said back."""

from __future__ import annotations

from starlette.datastructures import FormData


def text_of(form: FormData, name: str) -> str:
    """The text of a field, without space around it; empty where there is none, or a file."""
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def texts_of(form: FormData, name: str) -> list[str]:
    """All texts of a field that can be given several times."""
    return [one.strip() for one in form.getlist(name) if isinstance(one, str) and one.strip()]


def sentence(said: object) -> str:
    """What an error says, as a sentence; the name of a file before it stays as it is."""
    text = str(said).strip()
    if not text:
        return "That did not work."
    first = text.split(maxsplit=1)[0]
    is_name = "." in first.rstrip(".:")
    begun = text if is_name else f"{text[:1].upper()}{text[1:]}"
    return begun + ("" if text.endswith((".", "!", "?")) else ".")
