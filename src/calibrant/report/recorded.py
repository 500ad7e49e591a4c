"""Findings read back from their records: the inverse of ``asking.record``, and as exact.

Numbers stay what they were, whole or not; what does not have the shape of findings is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from calibrant.report.asking import Missing

T = TypeVar("T")


class Misshapen(ValueError):
    """A record that is none of what it should be; says where."""


def recorded(kind: type[T], value: Any) -> T:
    """The dataclass whose record this is; raises ``Misshapen``."""
    found: T = _read(kind, value, kind.__name__)
    return found


def _read(kind: Any, value: Any, at: str) -> Any:
    origin = get_origin(kind)
    if origin is UnionType:
        return _read_one_of(get_args(kind), value, at)
    if origin is tuple:
        return _read_tuple(get_args(kind), value, at)
    if origin is dict and isinstance(value, Mapping):
        inner = get_args(kind)[1]
        return {key: _read(inner, one, f"{at}.{key}") for key, one in value.items()}
    if is_dataclass(kind) and isinstance(value, Mapping):
        return _read_fields(kind, value, at)
    if kind in (str, int, float, bool) and _is_plain(kind, value):
        return value
    raise Misshapen(f"{at} is not what it should be")


def _read_one_of(kinds: tuple[Any, ...], value: Any, at: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    if Missing in kinds and isinstance(value, Mapping) and set(value) == {"missing"}:
        return Missing(_read(str, value["missing"], f"{at}.missing"))
    (kind,) = (one for one in kinds if one not in (NoneType, Missing))
    return _read(kind, value, at)


def _read_tuple(kinds: tuple[Any, ...], value: Any, at: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Misshapen(f"{at} is no list")
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise Misshapen(f"{at} has {len(value)} entries and not {len(kinds)}")
    return tuple(
        _read(kind, one, f"{at}.{number}")
        for number, (kind, one) in enumerate(zip(kinds, value, strict=True))
    )


def _read_fields(kind: Any, value: Mapping[str, Any], at: str) -> Any:
    """A dataclass; a field that came later than the record has its default."""
    hints = _hints(kind)
    read = {
        name: _read(hint, value[name], f"{at}.{name}")
        for name, hint in hints.items()
        if name in value
    }
    try:
        if not set(value) <= set(hints):
            raise TypeError
        return kind(**read)
    except TypeError:
        raise Misshapen(f"{at} has not the fields of {kind.__name__}") from None


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}


def _is_plain(kind: Any, value: Any) -> bool:
    """Whether a value is of a plain type; a whole number serves for a float, and stays whole."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
