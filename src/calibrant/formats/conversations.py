"""The four shapes in which a conversation comes, and the one it becomes.

``{"messages": [{"role", "content"}, …]}``, ``{"turns": [{"user", "assistant"}, …]}``,
``{"exchanges": [{"user", "assistant"}, …]}`` and ``[[user, assistant], …]``. System messages,
and what the assistant says before the user has spoken, are a preamble and not an exchange.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calibrant.core.errors import Fault, suggestion

ROLES = ("system", "user", "assistant")
SHAPES = ("messages", "turns", "exchanges")


def exchanges_of(record: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[Fault]]:
    """Exchanges, preamble and faults of a record in any of the four shapes."""
    if isinstance(record, list):
        return _pairs(record, "")
    present = [shape for shape in SHAPES if shape in record]
    if len(present) != 1:
        what = " and ".join(present) if present else "none of them"
        return [], [], [Fault(f"needs one of {', '.join(SHAPES)}; it has {what}")]
    shape = present[0]
    value = record[shape]
    if not isinstance(value, list):
        return [], [], [Fault("must be a list", path=shape)]
    if shape == "messages":
        return _messages(value)
    return _pairs(value, shape)


def _pairs(
    entries: Sequence[Any], shape: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[Fault]]:
    exchanges: list[dict[str, Any]] = []
    faults: list[Fault] = []
    for index, entry in enumerate(entries):
        place = f"{shape}[{index}]"
        if isinstance(entry, list | tuple) and len(entry) == 2:
            user, assistant = entry
        elif isinstance(entry, Mapping) and {"user", "assistant"} <= entry.keys():
            user, assistant = entry["user"], entry["assistant"]
        else:
            faults.append(Fault("must hold a user's message and an assistant's", path=place))
            continue
        for side, text in (("user", user), ("assistant", assistant)):
            if not isinstance(text, str) or not text.strip():
                faults.append(Fault("must be text that is not empty", path=f"{place}.{side}"))
        exchanges.append({"user": user, "assistant": assistant})
    return exchanges, [], faults


def _messages(
    messages: Sequence[Any],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[Fault]]:
    exchanges: list[dict[str, Any]] = []
    preamble: list[dict[str, Any]] = []
    faults: list[Fault] = []
    asked: list[str] = []
    for index, message in enumerate(messages):
        place = f"messages[{index}]"
        role, content, fault = _message(message, place)
        if fault is not None:
            faults.append(fault)
        elif role == "user":
            asked.append(content)
        elif role == "system" or (not exchanges and not asked):
            preamble.append({"role": role, "content": content})
        elif not asked:
            faults.append(Fault("an assistant's message without a user's before it", path=place))
        else:
            exchanges.append({"user": "\n\n".join(asked), "assistant": content})
            asked = []
    if asked and not faults:
        last = f"messages[{len(messages) - 1}]"
        faults.append(Fault("the conversation ends with a user's message", path=last))
    return exchanges, preamble, faults


def _message(message: Any, place: str) -> tuple[str, str, Fault | None]:
    if not isinstance(message, Mapping):
        return "", "", Fault("must be an object with role and content", path=place)
    role, content = message.get("role"), message.get("content")
    if role not in ROLES:
        hint = suggestion(str(role), ROLES)
        return (
            "",
            "",
            Fault(f"role {str(role)[:40]!r} is not known", path=f"{place}.role", hint=hint),
        )
    if not isinstance(content, str) or not content.strip():
        return "", "", Fault("must be text that is not empty", path=f"{place}.content")
    return str(role), content, None
