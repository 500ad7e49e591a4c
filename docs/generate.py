"""Writes the generated parts of docs/reference: run it after changing what they describe.

    .venv/bin/python docs/generate.py

A page may hold regions between ``<!-- generated: NAME -->`` and ``<!-- end -->``; everything
around them is written by hand. The schemas are generated whole. ``pages`` returns every file as
it should be, and a test compares them with the files that are there.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import tomllib
import types
from collections.abc import Iterator
from dataclasses import MISSING, fields
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import click
import polars as pl
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import calibrant
from calibrant.cli.main import cli
from calibrant.core import document, item
from calibrant.core.criterion import ItemType
from calibrant.core.rubric import Rubric
from calibrant.formats.items import item_schema
from calibrant.formats.rubric_file import load_rubric, rubric_schema
from calibrant.formats.verdicts import VerdictTable
from calibrant.stats.scorebook import Scorebook

HERE = Path(__file__).resolve().parent
REFERENCE = HERE / "reference"
MEANINGS: dict[str, dict[str, str]] = tomllib.loads(
    (HERE / "meanings.toml").read_text(encoding="utf-8")
)
"""What keys mean whose class does not say so itself."""

WORDS: tuple[tuple[Any, str], ...] = (
    (document.Id, "id"),
    (document.Text, "text"),
    (document.Version, "version"),
    (document.Flag, "`true` or `false`"),
    (document.Count, "whole number from 0"),
    (document.Whole, "whole number"),
    (document.Share, "decimal from 0 to 1"),
    (document.Number, "decimal"),
    (item.Words, "text"),
    (item.Quantity, "number from 0"),
    (item.Listed, "list of texts, or one text with semicolons"),
    (str, "text"),
    (int, "whole number"),
    (Any, "anything"),
)
MARGIN = 2
"""What click leaves free at the right of a terminal."""
LIMITS = {"ge": "from {}", "gt": "above {}", "le": "up to {}", "lt": "below {}"}


def pages() -> dict[Path, str]:
    """Every generated file and its text."""
    kinds: tuple[ItemType, ...] = get_args(ItemType)
    schemas = {kind: item_schema(kind) for kind in kinds} | {"rubric": rubric_schema()}
    out = {
        REFERENCE / "schemas" / f"{name}.schema.json": _json(schema)
        for name, schema in schemas.items()
    }
    regions = {
        "rubric": "\n".join(rubric_keys()),
        "cli": "\n".join(commands(cli, "calibrant")),
        "python": "\n".join(public_names()),
        "verdict": "\n".join(verdict_fields()),
        **{
            f"item {name}": "\n".join(item_fields(getattr(item, name)))
            for name in ("Response", "Profile", "Action", "Exchange", "Message")
        },
    }
    unused = set(regions)
    for path in sorted(REFERENCE.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        names = re.findall(r"^<!-- generated: (.+) -->$", text, re.MULTILINE)
        for name in names:
            text = _replaced(text, name, regions[name])
        unused -= set(names)
        out[path] = text
    assert not unused, f"no page shows {unused}"
    stale = {f"{owner}.{key}" for owner, keys in MEANINGS.items() for key in keys} - _USED
    assert not stale, f"meanings.toml explains what is not there, or explains itself: {stale}"
    return out


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _replaced(text: str, name: str, region: str) -> str:
    begin, end = f"<!-- generated: {name} -->\n", "<!-- end -->"
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    assert found and closed, f"the region {name!r} has no end"
    return f"{before}{begin}\n{region}\n\n{end}{after}"


# -- meanings and types in words

_USED: set[str] = set()


def _meaning(owner: str, key: str, own: str | None = None) -> str:
    """What a key means: its own docstring, or the line in meanings.toml."""
    if own:
        text = own
    else:
        _USED.add(f"{owner}.{key}")
        assert key in MEANINGS.get(owner, {}), f"meanings.toml: {owner}.{key} is not explained"
        text = MEANINGS[owner][key]
    return _cell(re.sub(r"``([^`]+)``", r"`\1`", text))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def in_words(hint: Any) -> str:
    """A type as a person would say it."""
    for known, word in WORDS:
        if hint is known or hint == known:
            return word
    origin, inner = get_origin(hint), get_args(hint)
    match origin:
        case _ if origin is Annotated:
            words = _annotated(hint)
        case _ if origin in (Union, types.UnionType):
            named = [in_words(one) for one in inner if one is not type(None)]
            absent = ["`none`"] if type(None) in inner else []
            words = ", or ".join([" or ".join(named), *absent])
        case _ if origin is Literal:
            words = ", ".join(f"`{one}`" for one in inner)
        case _ if origin is tuple:
            words = f"list of {in_words(inner[0])}"
        case _ if origin is dict:
            words = f"mapping of {in_words(inner[0])} to {in_words(inner[1])}"
        case _:
            words = f"[{hint.__name__}](#{hint.__name__.lower()})"
    return words


def _annotated(hint: Any) -> str:
    """A type with constraints: the longest known beginning, then what is added to it."""
    base, *metadata = get_args(hint)
    word, rest = None, metadata
    for known, name in WORDS:
        if get_origin(known) is Annotated and get_args(known)[0] == base:
            own = get_args(known)[1:]
            if own == tuple(metadata[: len(own)]):
                word, rest = name, metadata[len(own) :]
    told = [limit for one in rest for limit in _limits(one)]
    if base is str:  # a text of at least one character
        told = ["not empty" if limit == "at least 1" else limit for limit in told]
    return " ".join([word or in_words(base), *([f"({', '.join(told)})"] if told else [])])


def _limits(constraint: Any) -> Iterator[str]:
    inner = constraint.metadata if isinstance(constraint, FieldInfo) else [constraint]
    for one in inner:
        for name, form in LIMITS.items():
            if getattr(one, name, None) is not None:
                yield form.format(getattr(one, name))
        if getattr(one, "min_length", None):
            yield f"at least {one.min_length}"
        if getattr(one, "max_length", None):
            yield f"at most {one.max_length}"
        if getattr(one, "pattern", None):
            yield f"of the form `{one.pattern}`"


def _default(value: Any) -> str:
    if value is None:
        return "`none`"
    if value in ((), {}):
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool | Decimal) else value}`"


# -- the rubric document


def rubric_keys() -> Iterator[str]:
    """A section for every model of the rubric document, in the order of first mention."""
    queue: list[type[BaseModel]] = [Rubric]
    for model in queue:
        yield f"\n## {model.__name__}\n"
        yield f"{_docstring(model)}\n"
        yield "| key | type | if left out | meaning |"
        yield "|---|---|---|---|"
        hints = get_type_hints(model, include_extras=True)
        for key, field in model.model_fields.items():
            absent = (
                "**required**"
                if field.is_required()
                else _default(field.get_default(call_default_factory=True))
            )
            meaning = _meaning(model.__name__, key, field.description)
            yield f"| `{key}` | {in_words(hints[key])} | {absent} | {meaning} |"
            queue += [one for one in _models(hints[key]) if one not in queue]


def _models(hint: Any) -> list[type[BaseModel]]:
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return [hint]
    inner = [one for one in get_args(hint) if not isinstance(one, FieldInfo)]
    return list(dict.fromkeys(model for one in inner for model in _models(one)))


def _docstring(thing: Any) -> str:
    return re.sub(r"``([^`]+)``", r"`\1`", inspect.getdoc(thing) or "")


# -- items


def item_fields(kind: Any) -> Iterator[str]:
    """The fields of one of the records that items are made of."""
    hints = get_type_hints(kind, include_extras=True)
    yield "| field | type | if left out | meaning |"
    yield "|---|---|---|---|"
    for one in fields(kind):
        if one.name in ("id", "more"):
            continue
        required = one.default is MISSING and one.default_factory is MISSING
        absent = "**a fault**" if required else "not stated"
        words = in_words(hints[one.name]).removesuffix(", or `none`")
        meaning = _meaning(kind.__name__, one.name)
        yield f"| `{one.name}` | {words} | {absent} | {meaning} |"


# -- the command line


def commands(
    command: click.Command, word: str, parent: click.Context | None = None
) -> Iterator[str]:
    """The help of a command and of all below it, as they print it at a width of 80."""
    context = command.make_context(
        word, [], parent, resilient_parsing=True, terminal_width=80 - MARGIN
    )
    yield f"\n## {context.command_path}\n"
    yield f"```text\n{command.get_help(context).rstrip()}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, name, context)


# -- the Python names


def public_names() -> Iterator[str]:
    """Signature and first sentence of everything in ``calibrant.__all__``."""
    functions = [name for name in calibrant.__all__ if inspect.isfunction(_public(name))]
    yield "| function | what it does |"
    yield "|---|---|"
    for name in functions:
        yield f"| `{name}{_signature(_public(name))}` | {_first(_public(name))} |"
    yield "\n| type | what it is |"
    yield "|---|---|"
    for name in calibrant.__all__:
        if name not in functions:
            yield f"| `{name}` | {_meaning('calibrant', name, _own_first(_public(name)))} |"


def _public(name: str) -> Any:
    return getattr(calibrant, name)


def _signature(function: Any) -> str:
    told = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(function)))
    return told.replace("|", "\\|").replace("calibrant.core.", "")


def _first(thing: Any) -> str:
    return _cell(_docstring(thing).partition("\n\n")[0])


def _own_first(thing: Any) -> str | None:
    return _docstring(thing).partition("\n\n")[0] if inspect.isclass(thing) else None


# -- the verdict record


def verdict_fields() -> Iterator[str]:
    """Fields of the output record, in order, with the types of both kinds of rubric."""
    names = ("coaching-conversation", "smart-action-plan")
    keys = ("rater", "round", "occasion")
    weighted, dimensions = (
        VerdictTable(Scorebook(load_rubric(name))).schema(keys) for name in names
    )
    yield "| field | JSON | Parquet | meaning |"
    yield "|---|---|---|---|"
    ordered = list(weighted)
    place = ordered.index("score") + 1
    ordered[place:place] = [name for name in dimensions if name not in weighted]
    for name in ordered:
        dtype = weighted.get(name) or dimensions[name]
        yield f"| `{name}` | {_json_type(dtype)} | {_parquet_type(dtype)} | " + (
            f"{_meaning('verdict', name)} |"
        )


def _json_type(kind: Any) -> str:
    if isinstance(kind, pl.List):
        return "list of texts"
    if isinstance(kind, pl.Struct):
        return "object"
    if isinstance(kind, pl.Enum):
        return ", ".join(f"`{word}`" for word in kind.categories)
    if kind == pl.Boolean:
        return "true, false"
    return "text" if kind == pl.String else "whole number" if kind.is_integer() else "number"


def _parquet_type(kind: Any) -> str:
    return str(kind.__class__.__name__ if kind.is_nested() else kind.base_type().__name__)


def main() -> None:
    """Write what has changed, and say so."""
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {path.relative_to(HERE.parent)}\n")


if __name__ == "__main__":
    main()
