"""Rubric files: read one, report every mistake at once, publish the JSON Schema.

``load_rubric`` takes the name of a built-in rubric or the path of a YAML (or JSON) file. It
returns a usable ``Rubric`` or raises ``RubricError`` with all faults, each with line and path.
"""

from __future__ import annotations

import re
from contextlib import suppress
from copy import deepcopy
from decimal import Decimal
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from calibrant.core.document import ID_FORM, VERSION_FORM
from calibrant.core.errors import (
    Fault,
    RubricError,
    SourceError,
    UnknownName,
    nearest,
    suggestion,
)
from calibrant.core.rubric import Rubric
from calibrant.core.structure import Parts, misfits, path_text
from calibrant.core.structure import Path as NodePath
from calibrant.formats.pydantic_errors import deepest
from calibrant.formats.yaml_tree import Tree, read_tree

_WANTED = {
    "model_type": "must be a mapping of keys to values",
    "model_attributes_type": "must be a mapping of keys to values",
    "dict_type": "must be a mapping of keys to values",
    "tuple_type": "must be a list",
    "string_type": "must be text",
}
"""What to write instead, by pydantic's name for what is wrong."""
_FORMS = {
    ID_FORM: "is not an id: letters, digits, _ and -, beginning with a letter, at most 64",
    VERSION_FORM: "is not a version such as 1.0 or 1.10.2",
}
"""What a text has to look like, by its pattern."""
_TURNED = {"=>": ">=", "=<": "<=", "=": "==", "≥": ">=", "≤": "<="}
MAX_BYTES = 2_000_000
"""A rubric is a document people read; anything larger is something else."""


def builtin_names() -> tuple[str, ...]:
    """The rubrics that come with calibrant."""
    folder = resources.files("calibrant.rubrics")
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name[:-5] for name in names if name.endswith(".yaml")))


def load_rubric(source: str | Path) -> Rubric:
    """The built-in rubric of that name, or the rubric in that file."""
    if isinstance(source, str) and source in builtin_names():
        return _builtin(source)
    path = Path(source)
    if not _is_file(path):
        if isinstance(source, str) and not path.suffix:
            raise UnknownName("rubric", source, builtin_names())
        raise SourceError(f"{str(path)[:200]}: no such rubric file")
    return parse_rubric(_text_of(path), str(path))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name no file can have
        return False


@cache
def _builtin(name: str) -> Rubric:
    text = resources.files("calibrant.rubrics").joinpath(f"{name}.yaml").read_text("utf-8")
    return parse_rubric(text, f"{name}.yaml")


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise SourceError(f"{path}: larger than {MAX_BYTES // 1_000_000} MB; this is not a rubric")
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        fault = Fault("not UTF-8 text", source=str(path), line=line, hint="save the file as UTF-8")
        raise RubricError([fault]) from error


def parse_rubric(text: str, source: str = "rubric") -> Rubric:
    """The rubric that ``text`` describes; ``source`` names it in messages."""
    tree = read_tree(text, source)
    faults = list(tree.faults)
    if tree.complete and isinstance(tree.value, dict) and not faults:
        with suppress(ValidationError):
            return Rubric.model_validate(tree.value)
    if tree.complete and isinstance(tree.value, dict):
        told = {fault.path for fault in faults}
        faults += [fault for fault in _faults(tree, source) if fault.path not in told]
    elif tree.complete:
        faults.append(Fault("a rubric is a mapping of keys to values", source=source, line=1))
    if faults:
        raise RubricError(sorted(faults, key=lambda fault: fault.line or 0))
    try:
        return Rubric.model_validate(tree.value)
    except ValidationError as error:  # something no check above has a name for
        rest = [Fault(one["msg"], path_text(one["loc"]), source) for one in deepest(error)]
        raise RubricError(rest) from error


def _faults(tree: Tree, source: str) -> list[Fault]:
    """Every mistake of the sections by themselves, then of how they fit together."""
    faults: list[Fault] = []
    read: dict[str, Any] = {}
    faulty: set[str] = set()
    known = set(Rubric.model_fields)
    written = {name: name for name in known & tree.value.keys()}
    for name in tree.value.keys() - known:
        hint = suggestion(name, sorted(known))
        faults.append(Fault("unknown key", name, source, tree.line((name,)), hint=hint))
        meant = nearest(name, sorted(known))
        if meant is not None:  # what stands below a misspelt key is read all the same
            written.setdefault(meant, name)
    for name, field in Rubric.model_fields.items():
        if name not in written:
            faulty |= {name} if field.is_required() else set()
            if field.is_required():
                faults.append(Fault("required key is missing", name, source, tree.line(())))
            continue
        value, found = _section(tree, source, name, written[name])
        read[name] = value
        faulty |= {name} if found else set()
        faults += found
    parts = {name: read[name] for name in Parts.__slots__ if read.get(name) is not None}
    unreadable = frozenset(fault.path for fault in faults)
    for misfit in misfits(Parts(**parts, faulty=frozenset(faulty), unreadable=unreadable)):
        faults.append(
            Fault(misfit.message, misfit.place, source, tree.line(misfit.path), hint=misfit.hint)
        )
    return faults


def _section(tree: Tree, source: str, name: str, written: str) -> tuple[Any, list[Fault]]:
    """A section's value and faults; of a list, the readable entries keep their places."""
    whole = tree.value[written]
    entry_type = _entry_adapter(name)
    if not isinstance(whole, list) or entry_type is None:
        return _read(tree, source, (written,), whole, _field_adapter(Rubric, name))
    entries: list[Any] = []
    faults: list[Fault] = []
    for index, raw in enumerate(whole):
        value, found = _read(tree, source, (written, index), raw, entry_type)
        entries.append(_salvage(name, raw) if found else value)
        faults += found
    if not faults:  # what the list as a whole asks for: a least number of entries
        return _read(tree, source, (written,), whole, _field_adapter(Rubric, name))
    return entries, faults


def _read(
    tree: Tree, source: str, path: NodePath, raw: Any, adapter: TypeAdapter[Any]
) -> tuple[Any, list[Fault]]:
    try:
        return adapter.validate_python(raw), []
    except ValidationError as error:
        details = deepest(error)
    faults = []
    unknown = [_steps(tree, path, one) for one in details if one["type"] == "extra_forbidden"]
    for detail in details:
        place = _steps(tree, path, detail)
        if detail["type"] == "union_tag_not_found":
            faults += _without_kind(tree, source, place, raw)
            continue
        if detail["type"] == "union_tag_invalid":
            faults += _of_no_kind(tree, source, place, detail)
            mended = _with_kind(raw, place[len(path) :], detail)
            if mended is not None:  # the rest is read as what was probably meant
                faults += _read(tree, source, path, mended, adapter)[1]
            continue
        siblings = [str(step[-1]) for step in unknown if step[:-1] == place[:-1]]
        if detail["type"] == "missing" and nearest(str(place[-1]), siblings):
            continue  # a misspelt key is one mistake, not two
        message, hint = _explain(detail, place)
        faults.append(Fault(message, path_text(place), source, tree.line(place), hint=hint))
    return None, faults


def _without_kind(tree: Tree, source: str, place: NodePath, raw: Any) -> list[Fault]:
    """A scale or an aggregation that does not say of which kind it is, or misspells it."""
    known = _keys_at((*place, "kind"))
    misspelt = [key for key in raw if key not in known and nearest(key, ["kind"])]
    if not misspelt:
        where = path_text((*place, "kind"))
        return [Fault("required key is missing", where, source, tree.line(place))]
    path = (*place, misspelt[0])
    hint = suggestion(misspelt[0], ["kind"])
    return [Fault("unknown key", path_text(path), source, tree.line(path), hint=hint)]


def _of_no_kind(tree: Tree, source: str, place: NodePath, detail: ErrorDetails) -> list[Fault]:
    """A kind that there is not."""
    path, options, given = (*place, "kind"), _kinds(detail), str(detail["ctx"]["tag"])
    message = f"{given[:80]!r} is not one of {', '.join(map(repr, options))}"
    hint = suggestion(given, options)
    return [Fault(message, path_text(path), source, tree.line(path), hint=hint)]


def _with_kind(raw: Any, steps: NodePath, detail: ErrorDetails) -> Any:
    """The value with the kind that was probably meant; None where none is near."""
    meant = nearest(str(detail["ctx"]["tag"]), _kinds(detail))
    if meant is None:
        return None
    mended = deepcopy(raw)
    inner = mended
    for step in steps:
        inner = inner[step]
    inner["kind"] = meant
    return mended


def _kinds(detail: ErrorDetails) -> list[str]:
    return [word.strip("' ") for word in str(detail["ctx"]["expected_tags"]).split(",")]


class _Named:
    """A scale of which only the name could be read."""

    def __init__(self, name: Any) -> None:
        self.id = name if isinstance(name, str) else None


def _salvage(section: str, raw: Any) -> BaseModel | _Named | None:
    """What can be read of a faulty entry, for the checks of how entries fit together.

    A field that cannot be read is None, whatever its type says.
    """
    if section == "scales":
        return _Named(raw.get("id")) if isinstance(raw, dict) else None
    models = _models_in(Rubric.model_fields[section].annotation)
    if not isinstance(raw, dict) or not models:
        return None
    fields = {name: _field_value(models[0], name, raw) for name in models[0].model_fields}
    return models[0].model_construct(**fields)


def _field_value(model: type[BaseModel], name: str, raw: dict[str, Any]) -> Any:
    field = model.model_fields[name]
    if name not in raw:
        return None if field.is_required() else field.get_default(call_default_factory=True)
    try:
        return _field_adapter(model, name).validate_python(raw[name])
    except ValidationError:
        return None


def _steps(tree: Tree, path: NodePath, detail: ErrorDetails) -> NodePath:
    """Where a finding is; pydantic puts the names of union members between the steps."""
    location = (*path, *detail["loc"])
    steps: NodePath = ()
    for step in location:
        if (*steps, step) in tree.lines:
            steps = (*steps, step)
    absent = detail["type"] == "missing"
    return (*steps, location[-1]) if absent else steps


def _explain(detail: ErrorDetails, place: NodePath) -> tuple[str, str]:
    """Message and hint for one of pydantic's findings."""
    context = detail.get("ctx", {})
    given = detail["input"]
    hint = ""
    match detail["type"]:
        case "extra_forbidden":
            message, hint = "unknown key", suggestion(str(place[-1]), _keys_at(place))
        case "missing":
            message = "required key is missing"
        case "literal_error":
            expected = str(context["expected"])
            options = [word.strip("' ") for word in expected.replace(" or ", ", ").split(",")]
            message = f"{given!r} is not one of {expected}"
            turned = _TURNED.get(str(given))
            hint = f"did you mean {turned!r}?" if turned else suggestion(str(given), options)
        case "too_short":
            message = f"must hold at least {context['min_length']} entries"
        case "string_pattern_mismatch":
            message = f"{str(given)[:80]!r} {_FORMS[context['pattern']]}"
        case _ if given is None:
            message = "none is not possible here: a value is required"
        case kind:
            told = detail["msg"].lower().removeprefix("input ")
            message = _WANTED.get(kind, str(context.get("error", told)))
            hint = _number_hint(given) if "must be a number" in message else ""
    return message, hint


def _number_hint(given: Any) -> str:
    """What was probably meant where a number is wanted."""
    word = str(given).strip()
    if word.lower() in ("none", "null", "~", "nothing"):
        return "write none, in small letters"
    if re.fullmatch(r"[0-9]+,[0-9]+", word):
        return f"write {word.replace(',', '.')}"
    if re.fullmatch(r"[0-9]+ ?%", word):
        return f"write {Decimal(word.rstrip('% ')) / 100}"
    return ""


@cache
def _field_adapter(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    """The validator of one field, constraints included."""
    field = model.model_fields[name]
    kind: Any = field.annotation
    return TypeAdapter(Annotated[kind, Field(discriminator=field.discriminator), *field.metadata])


@cache
def _entry_adapter(name: str) -> TypeAdapter[Any] | None:
    """The validator of one entry of a section that is a list; None for other sections."""
    annotation = Rubric.model_fields[name].annotation
    for member in (annotation, *get_args(annotation)):
        bare = get_args(member)[0] if get_origin(member) is Annotated else member
        if get_origin(bare) is tuple:
            return TypeAdapter(get_args(bare)[0])
    return None


def _keys_at(path: NodePath) -> list[str]:
    """The keys that the document knows where the last step of ``path`` stands."""
    reached: list[type[BaseModel]] = [Rubric]
    for step in path[:-1]:
        fields = [model.model_fields[step] for model in reached if step in model.model_fields]
        if fields:  # otherwise the step is an index, or the key of an open mapping
            reached = [model for field in fields for model in _models_in(field.annotation)]
    return sorted({name for model in reached for name in model.model_fields})


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]


def rubric_schema() -> dict[str, Any]:
    """JSON Schema of a rubric file as an editor reads it.

    Editors type YAML scalars, this loader does not: wherever a text or an exact decimal is
    wanted, a number or a truth value is as good, and an absence is the word ``none``.
    """
    schema = Rubric.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "calibrant rubric"
    return _for_editors(schema)  # type: ignore[no-any-return]


def _for_editors(node: Any) -> Any:
    if isinstance(node, list):
        return [_for_editors(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    inner = {key: _for_editors(value) for key, value in node.items() if key != "default"}
    return _as_written(inner)


def _as_written(node: dict[str, Any]) -> dict[str, Any]:
    """What may stand in the file where the document wants a value of this type."""
    match node:
        case {"type": "null"}:
            return {"const": "none"}
        case {"const": str(word)}:
            return {"enum": [word, *([int(word)] if word.isdigit() else [])]}
        case {"type": "string"} if "enum" not in node:
            return {**node, "type": ["string", "number", "boolean"]}
        case {"type": "integer"}:
            return {"anyOf": [node, {"type": "string", "pattern": r"^[+-]?\d+$"}]}
        case {"type": "boolean"}:
            return {"enum": [True, False, "true", "false"]}
        case _:
            return node
