"""The checks there are: registered functions, their parameters, and which of them a rubric chooses.

    @check(name="shouting", version="1.0", kinds=("response",), criteria=("tone_bias",),
           parameters=(Parameter("share", 0.3, "the share of capital words that is too much"),))
    def shouting(item, parameters):
        yield Signal("shouting", "share_of_capitals", measured=...)

A check is a pure function ``(item, parameters) -> signals``. One that is declared with
``reads="reading"`` is given a ``Reading`` of the item in place of the item, and shares its scan
with all others. Modules of this package that are named after a kind of item hold the built-in
checks; other packages register theirs through the entry point group ``calibrant.checks``.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from typing import Any, Literal, TypeAlias, TypeVar

from calibrant.core.criterion import Check as Choice
from calibrant.core.criterion import ItemType
from calibrant.core.document import ID_FORM, VERSION_FORM
from calibrant.core.errors import Fault, RubricError, UnknownName, suggestion
from calibrant.core.rubric import Rubric
from calibrant.raters.checks.lexicon import Lexicon, lexicon
from calibrant.raters.checks.signal import Signal

GROUP = "calibrant.checks"
Value: TypeAlias = bool | int | float | str | tuple[str, ...]
Values: TypeAlias = Mapping[str, Any]
"""The parameters of a check by name, each of the type of its default."""
Function: TypeAlias = Callable[[Any, Values], Iterable[Signal]]
F = TypeVar("F", bound=Function)


@dataclass(frozen=True, slots=True)
class Parameter:
    """Something about a check that a rubric may change."""

    name: str
    default: Value
    """Its type is that of every value: truth, whole number, number, text, or list of texts."""
    what: str
    at_least: float | None = None
    at_most: float | None = None
    one_of: tuple[str, ...] = ()
    pattern_of: str = ""
    """A criterion of the check: the share from which the rubric calls lapses in it a pattern."""

    def read(self, text: str) -> Value:
        """The value that a rubric states; ``ValueError`` says what it must be."""
        match self.default:
            case bool():
                if text not in ("true", "false"):
                    raise ValueError("must be true or false")
                return text == "true"
            case tuple():
                return tuple(one.strip() for one in text.split(";") if one.strip())
            case str():
                if self.one_of and text not in self.one_of:
                    raise ValueError(f"must be one of {', '.join(self.one_of)}")
                return text
            case int():
                if not re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII):
                    raise ValueError("must be a whole number")
                return self._within(int(text))
            case float():
                if not re.fullmatch(r"[+-]?\d{1,9}(\.\d{1,9})?", text, re.ASCII):
                    raise ValueError("must be a number such as 0.75")
                return self._within(float(text))

    def _within(self, value: float) -> float:
        if self.at_least is not None and value < self.at_least:
            raise ValueError(f"must be at least {self.at_least:g}")
        if self.at_most is not None and value > self.at_most:
            raise ValueError(f"must be at most {self.at_most:g}")
        return value


@dataclass(frozen=True, slots=True)
class Definition:
    """A registered check."""

    name: str
    version: str
    kinds: tuple[ItemType, ...]
    function: Function
    what: str
    reads: Literal["item", "reading"]
    criteria: tuple[str, ...]
    """Criteria it has evidence for, by their ids in the built-in rubric."""
    flags: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    lexicon_names: tuple[str | Lexicon, ...]

    @property
    def lexicons(self) -> tuple[Lexicon, ...]:
        """The lexicons it reads hits of."""
        return tuple(lexicon(one) if isinstance(one, str) else one for one in self.lexicon_names)

    @property
    def defaults(self) -> dict[str, Value]:
        """Its parameters as they are where no rubric says otherwise."""
        return {one.name: one.default for one in self.parameters}


_REGISTERED: dict[str, Definition] = {}


def check(
    *,
    name: str,
    version: str,
    kinds: tuple[ItemType, ...],
    criteria: tuple[str, ...] = (),
    flags: tuple[str, ...] = (),
    parameters: tuple[Parameter, ...] = (),
    lexicons: tuple[str | Lexicon, ...] = (),
    reads: Literal["item", "reading"] = "item",
) -> Callable[[F], F]:
    """Register a check; the first line of the function's docstring says what it is for."""
    if not re.fullmatch(ID_FORM, name) or not re.fullmatch(VERSION_FORM, version):
        raise ValueError(
            f"a check needs a name and a version such as 1.0, not {name!r} {version!r}"
        )
    if not kinds:
        raise ValueError(f"check {name!r} fits no kind of item")

    def register(function: F) -> F:
        if name in _REGISTERED:
            raise ValueError(f"a check {name!r} is registered already")
        what = (function.__doc__ or "").strip().split("\n")[0]
        _REGISTERED[name] = Definition(
            name, version, kinds, function, what, reads, criteria, flags, parameters, lexicons
        )
        return function

    return register


def unregister(name: str) -> None:
    """Forget a check."""
    _REGISTERED.pop(name, None)


@cache
def _import_builtin(kind: str) -> None:
    package = import_module("calibrant.raters.checks")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith(f"{kind}_"):
            import_module(f"{package.__name__}.{module.name}")


@cache
def plugin_troubles() -> tuple[str, ...]:
    """Load what other packages register, once; what could not be loaded, in words."""
    troubles = []
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda one: one.name):
        try:
            point.load()
        except Exception as error:
            told = str(error) or type(error).__name__
            troubles.append(f"checks of {point.name!r} ({point.value}) are left out: {told}")
    return tuple(troubles)


def checks_for(kind: ItemType) -> tuple[Definition, ...]:
    """Every check that fits a kind of item, by name."""
    _import_builtin(kind)
    plugin_troubles()
    fitting = (one for one in _REGISTERED.values() if kind in one.kinds)
    return tuple(sorted(fitting, key=lambda one: one.name))


@dataclass(frozen=True, slots=True)
class Chosen:
    """A check as it is to run: with values for its parameters, for one rubric or none."""

    definition: Definition
    values: Mapping[str, Value]
    criteria: Mapping[str, str]
    """The check's own criterion: the one of the rubric that it stands for."""
    flags: frozenset[str]
    """The red flags it may propose."""
    shown: bool
    """Whether a reviewer may see its measurements before their own rating is in."""


def chosen_checks(kind: ItemType, rubric: Rubric | None = None) -> tuple[Chosen, ...]:
    """The checks that fit, as the rubric wants them; raises every fault in what it says of them."""
    fitting = {one.name: one for one in checks_for(kind)}
    stated = {one.name: (at, one) for at, one in enumerate((rubric and rubric.checks) or ())}
    faults: list[Fault] = []
    for name, (at, _) in stated.items():
        if name not in fitting:
            error = UnknownName(f"check for a {kind}", name, fitting)
            faults.append(Fault(str(error), f"checks[{at}].name"))
    out = []
    for name, definition in fitting.items():
        at, choice = stated.get(name, (0, Choice(name=name)))
        criteria = _criteria(definition, choice, rubric, f"checks[{at}].criteria", faults)
        values = _defaults(definition, criteria, rubric)
        values |= _stated(definition, choice, f"checks[{at}].parameters", faults)
        known = None if rubric is None else {one.id for one in rubric.red_flags or ()}
        flags = frozenset(one for one in definition.flags if known is None or one in known)
        if choice.enabled:
            out.append(Chosen(definition, values, criteria, flags, choice.show_while_rating))
    if faults:
        raise RubricError(
            [Fault(one.message, one.path, rubric.name if rubric else "") for one in faults]
        )
    return tuple(out)


def _defaults(
    definition: Definition, criteria: Mapping[str, str], rubric: Rubric | None
) -> dict[str, Value]:
    """The check's own values; where the rubric says what a pattern is, that."""
    values = definition.defaults
    for one in definition.parameters:
        if rubric is not None and one.pattern_of in criteria:
            violation = rubric.criterion(criteria[one.pattern_of]).violation
            if violation is not None and violation.share is not None:
                values[one.name] = float(violation.share)
    return values


def _stated(
    definition: Definition, choice: Choice, place: str, faults: list[Fault]
) -> dict[str, Value]:
    """The values that the rubric states."""
    values: dict[str, Value] = {}
    known = {one.name: one for one in definition.parameters}
    for name, text in choice.parameters.items():
        if name not in known:
            hint = suggestion(name, known) or "it has none"
            faults.append(
                Fault(f"check {definition.name!r} has no parameter {name!r}; {hint}", place)
            )
            continue
        try:
            values[name] = known[name].read(text)
        except ValueError as error:
            faults.append(Fault(f"{error}, not {text[:80]!r}", f"{place}.{name}"))
    return values


def _criteria(
    definition: Definition, choice: Choice, rubric: Rubric | None, place: str, faults: list[Fault]
) -> dict[str, str]:
    """Which criterion of the rubric each of the check's own stands for."""
    if rubric is None:
        return {one: one for one in definition.criteria}
    if not choice.criteria:
        return {one: one for one in definition.criteria if one in rubric.criterion_ids}
    if len(choice.criteria) == 1:
        return dict.fromkeys(definition.criteria, choice.criteria[0])
    if len(choice.criteria) != len(definition.criteria):
        own = ", ".join(definition.criteria)
        faults.append(Fault(f"must be one, or as many as the check has of its own: {own}", place))
        return {}
    return dict(zip(definition.criteria, choice.criteria, strict=True))
