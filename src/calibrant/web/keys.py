"""The keys of the pages: the one table from which hints, the cheat sheet and scripts follow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyHint:
    """A key, what it does, and where."""

    act: str
    """The name that scripts and buttons know it by."""
    keys: tuple[str, ...]
    """As browsers name them (KeyboardEvent.key), with ``Ctrl+`` before where it is held."""
    shown: str
    """As people read it."""
    what: str
    where: str
    """The pages it works on: rate, adjudicate, discuss, all."""


KEYS: tuple[KeyHint, ...] = (
    KeyHint("value", tuple("0123456789"), "0 … 9", "give the answer with that value", "rate"),
    KeyHint("yes", ("y",), "y", "answer YES", "rate"),
    KeyHint("no", ("n",), "n", "answer NO", "rate"),
    KeyHint("na", ("a",), "a", "answer NA: not applicable", "rate"),
    KeyHint("previous-criterion", ("ArrowUp", "k"), "↑ or k", "criterion before", "rate"),
    KeyHint("next-criterion", ("ArrowDown", "j"), "↓ or j", "next criterion", "rate"),
    KeyHint("previous-item", ("ArrowLeft",), "←", "item before", "rate"),
    KeyHint("next-item", ("ArrowRight",), "→", "next item", "rate"),
    KeyHint("note", ("m",), "m", "write a note on this criterion", "rate"),
    KeyHint("borderline", ("b",), "b", "mark this answer as borderline", "rate"),
    KeyHint("evidence", ("e",), "e", "attach the selected words as evidence", "rate"),
    KeyHint("flag", ("f",), "f", "raise a red flag with the selected words", "rate"),
    KeyHint("guidance", ("g",), "g", "open or close examples and guidance", "rate"),
    KeyHint("one-by-one", ("o",), "o", "one criterion at a time, or all", "rate"),
    KeyHint("ask", ("q",), "q", "ask the lead", "rate"),
    KeyHint("undo", ("u",), "u", "undo the last change", "rate"),
    KeyHint("submit", ("Ctrl+Enter",), "Ctrl + Enter", "hand in, and go to the next", "rate"),
    KeyHint("save", ("Ctrl+s",), "Ctrl + S", "save the draft now", "rate"),
    KeyHint("leave", ("Escape",), "Esc", "leave a text field", "all"),
    KeyHint("help", ("?",), "?", "show the keys of this page", "all"),
    KeyHint("next-case", ("j", "ArrowRight"), "j or →", "next case", "adjudicate"),
    KeyHint("previous-case", ("k", "ArrowLeft"), "k or ←", "case before", "adjudicate"),
    KeyHint(
        "adopt",
        tuple("123456789"),
        "1 … 9",
        "adopt that rater's answer, or: they took part",
        "adjudicate",
    ),
    KeyHint("merge", ("m",), "m", "merge several answers: choose one", "adjudicate"),
    KeyHint("anew", ("n",), "n", "decide anew: choose an answer", "adjudicate"),
    KeyHint("reason", ("r",), "r", "write the reason", "adjudicate"),
    KeyHint("error", ("e",), "e", "say what went wrong", "adjudicate"),
    KeyHint("unclear", ("u",), "u", "mark the rubric as unclear here", "adjudicate"),
    KeyHint("confirm", ("c",), "c", "the flag stands", "adjudicate"),
    KeyHint("reject", ("x",), "x", "the flag does not stand", "adjudicate"),
    KeyHint("decide", ("Ctrl+Enter",), "Ctrl + Enter", "settle, and go to the next", "adjudicate"),
    KeyHint("next-dispute", ("j", "ArrowRight"), "j or →", "next disagreement", "discuss"),
    KeyHint("previous-dispute", ("k", "ArrowLeft"), "k or ←", "disagreement before", "discuss"),
    KeyHint("comment", ("c",), "c", "write a comment", "discuss"),
    KeyHint("outcome", ("r",), "r", "write what it came to", "discuss"),
    KeyHint("send", ("Ctrl+Enter",), "Ctrl + Enter", "send what you are writing", "discuss"),
)


def keys_of(where: str) -> tuple[KeyHint, ...]:
    """The keys that work on a page."""
    return tuple(one for one in KEYS if one.where in (where, "all"))
