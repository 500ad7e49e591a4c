"""Who wrote the items, and which models judges are, as files and items tell it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from calibrant.compare.judged import item_column
from calibrant.compare.own_items import Authorship
from calibrant.compare.rating_columns import Reading
from calibrant.core.errors import SourceError, suggestion
from calibrant.core.item import Item
from calibrant.core.model_names import generator_of


def authorship(
    items: Sequence[Item] | None,
    frames: Sequence[pl.DataFrame],
    how: Reading,
    *,
    author: str | None = None,
    judge_is: Sequence[str] = (),
    models: Mapping[str, Sequence[str]] | None = None,
) -> Authorship:
    """Authors by a field of the items or a column of the tables; ``models`` are by rater.

    Without ``author`` items name the model that wrote them in a field of a usual name, such as
    ``model``. Columns of a table of ratings are never guessed at: ``model`` may be the judge's.
    """
    known_as = {rater: tuple(some) for rater, some in (models or {}).items()}
    if items is None:
        if author is None:
            return Authorship()
        told = item_column(frames, how, author, one_word=True)
        return Authorship(told, known_as, tuple(judge_is))
    found = _by_field(items, author)
    if not found and author is not None:
        known = sorted({name for one in items for name in one.more})
        if not any(author in frame.columns for frame in frames):
            near = suggestion(author, known) or f"there are: {', '.join(known[:12]) or 'none'}"
            raise SourceError(f"there is no field {author!r} of the items; {near}")
        found = item_column(frames, how, author, one_word=True)
    untold = "no item says which model wrote it; name the field with --author"
    return Authorship(found, known_as, tuple(judge_is), untold)


def _by_field(items: Iterable[Item], field: str | None) -> dict[str, str]:
    """Authors by item; those that say nothing are left out."""
    out: dict[str, str] = {}
    for item in items:
        said = generator_of(item.more if field is None else {"model": item.more.get(field)})
        if said is not None:
            out[item.id] = said
    return out


def models_of(records: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """The models that ratings tell, by rater, as ``calibrant judge`` writes them."""
    found: dict[str, dict[str, None]] = {}
    for one in records:
        about = one.get("metadata")
        model = about.get("model") if isinstance(about, Mapping) else None
        if isinstance(model, str) and model.strip():
            found.setdefault(str(one.get("rater")), {})[model.strip()] = None
    return {rater: tuple(models) for rater, models in found.items()}
