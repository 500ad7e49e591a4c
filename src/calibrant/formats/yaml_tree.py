"""A YAML text as a plain tree whose scalars mean what they look like.

YAML 1.1 turns NO into false and 1.10 into 1.1. Here every scalar stays the text that was
written, except the bare word ``none``, which is an explicit absence. Aliases, tags, more than
one document and repeated keys are refused. The line of every node is kept, so that mistakes
can be shown where they are. Works on parser events with a stack of its own: the depth of a
hostile document cannot exhaust Python's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from calibrant.core.errors import Fault
from calibrant.core.structure import Path, path_text

Loader = getattr(yaml, "CLoader", yaml.Loader)
_TABS = "indent with spaces, not tabs"
_HINTS = {
    "tab character": _TABS,
    "mapping values are not allowed": "a text with a colon and a space stands in quotes",
    "comment or line break": "a text that begins with > or | stands in quotes",
    "cannot start any token": "a text that begins with a sign stands in quotes",
}
"""What to do about the commonest slips, by the words of the parser."""
MAX_DEPTH = 40
MAX_NODES = 200_000


@dataclass(slots=True)
class Tree:
    """What a document says, where each part stands, and what could not be read."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    complete: bool = False
    """Whether the parser reached the end."""

    def line(self, path: Path) -> int | None:
        """The line of the node at ``path``, or of the nearest node above it."""
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path)


class _Refused(Exception):
    """Reading cannot go on: too deep, too large, or a key that is no word."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def read_tree(text: str, source: str) -> Tree:
    """Parse ``text``; faults are collected in the tree, not raised."""
    tree = Tree()
    try:
        is_json = text.lstrip().startswith("{")
        plain = _joined(text) if is_json else text
        _Builder(tree, source, is_json).build(yaml.parse(plain, Loader=Loader))
        tree.complete = True
    except _Refused as error:
        tree.faults.append(Fault(str(error), source=source, line=error.line))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(filter(None, (error.context, error.problem)))
        line = mark.line + 1 if mark is not None else None
        hint = next((told for words, told in _HINTS.items() if words in what), "")
        if mark is not None and _sign_at(text, mark) == "\t":
            hint = _TABS
        tree.faults.append(Fault(f"not YAML: {what}", source=source, line=line, hint=hint))
    except yaml.YAMLError as error:  # unreadable characters have no mark
        what = str(error).splitlines()[0] if str(error) else "unreadable"
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        tree.faults.append(Fault(f"not YAML: {what}", source=source, line=line))
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        tree.faults.append(Fault("half a character (a lone surrogate)", source=source, line=line))
    return tree


def _sign_at(text: str, mark: yaml.Mark) -> str:
    """The sign on which the parser stopped."""
    lines = text.split("\n")
    return lines[mark.line][mark.column : mark.column + 1] if mark.line < len(lines) else ""


def _joined(text: str) -> str:
    r"""JSON writes signs beyond the basic plane as two escapes, ``\ud83c\udf31``; YAML has none."""
    pair = r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})"
    return re.sub(pair, _whole_sign, text, flags=re.IGNORECASE)


def _whole_sign(pair: re.Match[str]) -> str:
    high, low = (int(half, 16) for half in pair.groups())
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


@dataclass(slots=True)
class _Open:
    """A mapping or sequence that is being read."""

    node: dict[str, Any] | list[Any]
    path: Path
    key: str | None = None
    key_line: int = 0


class _Builder:
    def __init__(self, tree: Tree, source: str, json: bool) -> None:
        self.tree = tree
        self.json = json
        self.source = source
        self.stack: list[_Open] = []
        self.documents = 0
        self.nodes = 0

    def build(self, events: Iterator[yaml.Event]) -> None:
        for event in events:
            line = event.start_mark.line + 1 if event.start_mark else 0
            self._refuse(event, line)
            if isinstance(event, yaml.DocumentStartEvent) and self.documents:
                return  # the first document is the rubric
            match event:
                case yaml.DocumentStartEvent():
                    self.documents += 1
                case yaml.MappingStartEvent():
                    self._open({}, line)
                case yaml.SequenceStartEvent():
                    self._open([], line)
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    closed = self.stack.pop()
                    if not self.stack:
                        self.tree.value = closed.node
                case yaml.ScalarEvent():
                    self._scalar(event, line)
                case yaml.AliasEvent():
                    self._place(None, line)

    def _refuse(self, event: yaml.Event, line: int) -> None:
        if isinstance(event, yaml.DocumentStartEvent) and self.documents:
            self._fault("only one document may stand in a rubric file", line)
        if isinstance(event, yaml.AliasEvent):
            self._fault("aliases (*name) are not allowed", line, hint="write the text out")
        tag = getattr(event, "tag", None)
        if tag is not None:
            self._fault(f"tags ({tag}) are not allowed", line)

    def _fault(self, message: str, line: int, hint: str = "") -> None:
        path = path_text(self._path_of_next()) if self.stack else ""
        self.tree.faults.append(Fault(message, path, self.source, line, hint=hint))

    def _path_of_next(self) -> Path:
        top = self.stack[-1]
        step = len(top.node) if isinstance(top.node, list) else top.key
        return top.path if step is None else (*top.path, step)

    def _open(self, node: dict[str, Any] | list[Any], line: int) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise _Refused(line, f"nested deeper than {MAX_DEPTH} levels")
        path = self._place(node, line)
        self.stack.append(_Open(node, path))

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        value: str | None = event.value
        plain = not event.style
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.node, dict) and top.key is None:
            self._key(top, event.value, line)
            return
        absent = {"none", "null"} if self.json else {"none"}
        if plain and value in absent:
            value = None
        elif plain and value in ("", "~", "null", "Null", "NULL"):
            self._fault("nothing is written here", line, hint="write none where nothing is stated")
        self._place(value, line)

    def _key(self, top: _Open, key: str, line: int) -> None:
        top.key, top.key_line = key, line
        if key in top.node:
            first = self.tree.lines.get((*top.path, key))
            self._fault(f"key {key!r} stands here twice (first on line {first})", line)

    def _place(self, value: Any, line: int) -> Path:
        """Put a finished or just opened node where it belongs; its path."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise _Refused(line, f"more than {MAX_NODES:,} values; this is not a rubric")
        if not self.stack:
            self.tree.value = value
            self.tree.lines[()] = line
            return ()
        top = self.stack[-1]
        path = self._path_of_next()
        if isinstance(top.node, list):
            top.node.append(value)
            self.tree.lines[path] = line
        elif top.key is None:
            raise _Refused(line, "a key must be a plain word")
        else:
            top.node[top.key] = value
            self.tree.lines[path] = top.key_line
            top.key = None
        return path
