"""Lexicons: phrases as data, each with sentences that it must find and must not find.

``phrase.py`` tells what a phrase may say. A lexicon refuses keys it does not know, phrases that
cannot be read and entries without sentences for and against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from typing import Any, get_args

import yaml

from calibrant.core.errors import Fault, RecordError, UnknownName
from calibrant.core.ids import content_hash
from calibrant.core.parts import Role
from calibrant.raters.checks.phrase import read_phrase

GAP = 4
_KEYS = frozenset((
    "id", "language", "version", "what", "roles", "gap", "entries", "exceptions", "around",
    "sentences", "weights",
))  # fmt: skip
_ENTRY_KEYS = frozenset(("phrase", "phrases", "label", "for", "against", "unless"))


@dataclass(frozen=True, slots=True)
class Entry:
    """Phrases that mean one thing, and the sentences that prove it."""

    phrases: tuple[str, ...]
    label: str
    """A kind within the lexicon, for the check that reads it; empty where there is none."""
    found_in: tuple[str, ...]
    not_in: tuple[str, ...]
    unless: tuple[str, ...]
    """Phrases that undo a hit which they overlap."""


@dataclass(frozen=True)
class Lexicon:
    """Entries in one language."""

    id: str
    language: str
    version: str
    what: str
    gap: int
    entries: tuple[Entry, ...]
    exceptions: tuple[str, ...]
    """Phrases that undo a hit of any entry which they overlap."""
    roles: tuple[str, ...] = ()
    """Whose words it is about (``user``, ``assistant``); other texts are not searched for it."""
    around: tuple[Entry, ...] = ()
    """Entries that are looked for only in sentences in which one of ``entries`` was found."""
    sentences: int = 1
    """How many sentences are weighed together."""
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    """What a label, or a pair of labels (``self > death``), adds to the score of a sentence."""

    @cached_property
    def hash(self) -> str:
        """Content hash of what decides hits: sentences that test it do not count."""
        said = [(one.phrases, one.label, one.unless) for one in self.entries]
        told = [self.id, self.language, self.gap, said, self.exceptions, self.roles]
        if self.weights:
            near = [(one.phrases, one.label, one.unless) for one in self.around]
            told += [near, self.sentences, sorted(self.weights.items())]
        return content_hash(told)


# -- reading


class _Strict(getattr(yaml, "CBaseLoader", yaml.BaseLoader)):  # type: ignore[misc]
    """YAML in which every scalar is text and no key stands twice."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = next((key for at, key in enumerate(keys) if key in keys[:at]), None)
        if twice is not None:
            raise yaml.YAMLError(f"line {node.start_mark.line + 1}: {twice!r} stands twice")
        out: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return out


@cache
def lexicon(name: str) -> Lexicon:
    """A lexicon that comes with calibrant."""
    file = _folder().joinpath(f"{name}.yaml")
    if not name.replace("-", "").isalnum() or not file.is_file():
        raise UnknownName("lexicon", name, lexicon_names())
    return read_lexicon(file.read_text("utf-8"), f"{name}.yaml")


def lexicon_names() -> tuple[str, ...]:
    """The lexicons that come with calibrant."""
    names = (one.name for one in _folder().iterdir()) if _folder().is_dir() else ()
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


def _folder() -> resources.abc.Traversable:
    return resources.files("calibrant.raters.checks").joinpath("lexicons")


def read_lexicon(text: str, source: str = "") -> Lexicon:
    """A lexicon from its YAML text, or every fault in it."""
    try:
        tree = yaml.load(text, Loader=_Strict)  # noqa: S506 -- builds texts, lists and mappings only
    except yaml.YAMLError as error:
        raise RecordError([Fault(" ".join(str(error).split()), source=source)]) from None
    faults: list[Fault] = []
    if not isinstance(tree, dict):
        raise RecordError([Fault("must be a mapping", source=source)])
    _closed(tree, _KEYS, "", faults)
    for key in ("id", "language", "version", "what"):
        if not isinstance(tree.get(key), str) or not tree[key].strip():
            faults.append(Fault("must be a text", key))
    gap = _number(tree, "gap", GAP, faults)
    together = _number(tree, "sentences", 1, faults)
    listed = tree.get("entries")
    if not isinstance(listed, list) or not listed:
        faults.append(Fault("must be a list of entries", "entries"))
        listed = []
    entries = [_entry(one, f"entries[{at}]", faults) for at, one in enumerate(listed)]
    near = tree.get("around", [])
    if not isinstance(near, list):
        faults.append(Fault("must be a list of entries", "around"))
        near = []
    around = tuple(_entry(one, f"around[{at}]", faults) for at, one in enumerate(near))
    weights = _weights(tree.get("weights", {}), faults)
    exceptions = _texts(tree.get("exceptions", []), "exceptions", faults)
    roles = _texts(tree.get("roles", []), "roles", faults, phrases=False)
    for role in roles:
        if role not in get_args(Role):
            faults.append(Fault(f"unknown role {role!r}", "roles", hint=f"known: {get_args(Role)}"))
    if faults:
        raise RecordError([Fault(one.message, one.path, source, hint=one.hint) for one in faults])
    return Lexicon(
        tree["id"], tree["language"], tree["version"], tree["what"], gap, tuple(entries),
        exceptions, roles, around, together, weights,
    )  # fmt: skip


def _number(tree: Mapping[str, Any], key: str, usual: int, faults: list[Fault]) -> int:
    stated = tree.get(key, str(usual))
    if not isinstance(stated, str) or not stated.isdecimal():
        faults.append(Fault("must be a whole number", key))
        return usual
    return int(stated)


def _weights(tree: Any, faults: list[Fault]) -> dict[str, float]:
    if not isinstance(tree, dict):
        faults.append(Fault("must be a mapping of labels to numbers", "weights"))
        return {}
    out = {}
    for name, stated in tree.items():
        try:
            out[name] = float(stated)
        except (TypeError, ValueError):
            faults.append(Fault("must be a number", f"weights.{name}"))
    return out


def _closed(
    tree: Mapping[str, Any], known: frozenset[str], place: str, faults: list[Fault]
) -> None:
    for key in tree:
        if key not in known:
            faults.append(
                Fault("unknown key", f"{place}.{key}".lstrip("."), hint=f"known: {sorted(known)}")
            )


def _entry(tree: Any, place: str, faults: list[Fault]) -> Entry:
    if not isinstance(tree, dict):
        faults.append(Fault("must be a mapping", place))
        return Entry((), "", (), (), ())
    _closed(tree, _ENTRY_KEYS, place, faults)
    if ("phrase" in tree) == ("phrases" in tree):
        faults.append(Fault("needs either `phrase` or `phrases`", place))
    phrases = [tree["phrase"]] if "phrase" in tree else tree.get("phrases", [])
    out = Entry(
        _texts(phrases, f"{place}.phrases", faults),
        str(tree.get("label", "")),
        _texts(tree.get("for", []), f"{place}.for", faults, phrases=False),
        _texts(tree.get("against", []), f"{place}.against", faults, phrases=False),
        _texts(tree.get("unless", []), f"{place}.unless", faults),
    )
    if not out.phrases or not out.found_in or not out.not_in:
        faults.append(Fault("needs a phrase, a sentence `for` and one `against`", place))
    return out


def _texts(listed: Any, place: str, faults: list[Fault], phrases: bool = True) -> tuple[str, ...]:
    listed = [listed] if isinstance(listed, str) else listed
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        faults.append(Fault("must be a list of texts", place))
        return ()
    if phrases:
        for one in listed:
            try:
                read_phrase(one, GAP)
            except ValueError as error:
                faults.append(Fault(str(error), place))
    return tuple(listed)
