"""What all findings share: how a study is asked, what is missing, what people are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from calibrant.core.errors import RecordError, SourceError, StudyError

if TYPE_CHECKING:
    from calibrant.study.handle import Study

T = TypeVar("T")


class Naming(Protocol):
    """What members are called in a report; ``study.pseudonyms.Pseudonyms`` is one."""

    def name(self, name: str, /) -> str:
        """What somebody is called."""

    def text(self, text: str, /) -> str:
        """A text in which people are called so."""


class AsTheyAre:
    """Names as the study tells them: masked for those who may not know them."""

    def name(self, name: str) -> str:
        """The name itself."""
        return name

    def text(self, text: str) -> str:
        """The text itself."""
        return text


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that a report has not got, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A study that is asked for a report: what is kept from the actor comes back as ``Missing``."""

    study: Study
    naming: Naming

    def get(self, ask: Callable[[Study], T]) -> T | Missing:
        """What a verb tells, or why it does not."""
        try:
            return ask(self.study)
        except (StudyError, SourceError, RecordError) as error:
            return Missing(self.naming.text(str(error)))

    def names(self, names: Iterable[str]) -> tuple[str, ...]:
        """What several people are called, sorted."""
        return tuple(sorted(map(self.naming.name, names)))


def record(value: Any) -> Any:
    """A finding as JSON knows it: dataclasses become mappings, what is missing says why."""
    match value:
        case Missing(why):
            return {"missing": why}
        case dict():
            return {str(key): record(inner) for key, inner in value.items()}
        case list() | tuple():
            return [record(inner) for inner in value]
        case str() | int() | float() | bool() | None:
            return value
        case _ if is_dataclass(value):
            return {one.name: record(getattr(value, one.name)) for one in fields(value)}
    raise TypeError(f"{type(value).__name__} is no finding")
