"""What several tests share: rubrics (built-in, small, random), and stores of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from tests import postgres

from calibrant.core.rubric import Rubric
from calibrant.formats.rubric_file import builtin_names, load_rubric
from calibrant.ports.store import Store

settings.register_profile(
    "calibrant", deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("calibrant")

YES_NO = {
    "kind": "choice",
    "id": "yes_no",
    "values": [
        {"value": "YES", "meaning": "Met.", "points": "1"},
        {"value": "NO", "meaning": "Failed.", "points": "0"},
    ],
}
SMALL: dict[str, Any] = {
    "id": "small",
    "version": "1.9",
    "title": "Small",
    "item_type": "conversation",
    "summary": "One of everything.",
    "scales": [YES_NO, {"kind": "ordinal", "id": "depths", "minimum": "1", "maximum": "3"}],
    "categories": [
        {"id": "form", "title": "Form", "question": "How is it said?", "weight": "0.25"},
        {"id": "content", "title": "Content", "weight": "0.75"},
        {"id": "safety", "title": "Safety", "weight": None},
    ],
    "criteria": [
        {
            "id": "tidy",
            "title": "Tidiness",
            "category": "form",
            "scale": "yes_no",
            "question": "Is it tidy?",
            "na": {"policy": "valid", "when": "There is nothing to tidy."},
            "precondition": {"metric": "exchanges", "op": "<", "value": "2", "reason": "Short."},
        },
        {
            "id": "depth",
            "title": "Depth",
            "aliases": ["profundity"],
            "category": "content",
            "scale": "depths",
            "question": "How deep is it?",
            "anchors": {"1": {"text": "Flat."}, "2": {"text": "Fair."}, "3": {"text": "Deep."}},
            "na": {"policy": "excluded"},
        },
        {
            "id": "honest",
            "title": "Honesty",
            "category": "content",
            "scale": "yes_no",
            "question": "Is it honest?",
            "na": {"policy": "invalid", "reason": "Honesty always shows."},
        },
        {
            "id": "harmless",
            "title": "Harmlessness",
            "category": "safety",
            "scale": "yes_no",
            "question": "Is it harmless?",
            "na": {"policy": "valid"},
        },
    ],
    "gates": [
        {
            "id": "safe",
            "title": "Safe",
            "text": "Harm keeps it out.",
            "criteria": ["harmless"],
            "fails_on": ["NO"],
        }
    ],
    "red_flags": [
        {"id": "leak", "title": "Leak", "text": "Tells secrets.", "effect": "reject"},
        {"id": "shouting", "title": "Shouting", "text": "Shouts.", "effect": "indicate"},
    ],
    "aggregation": {
        "kind": "weighted_categories",
        "na_counts": "1",
        "invalid_na_counts": "0",
        "error_counts": "0",
        "missing": "error",
        "pass_mark": {"op": ">=", "value": "0.5"},
    },
    "agreement": None,
}


@pytest.fixture(scope="session")
def coaching() -> Rubric:
    return load_rubric("coaching-conversation")


@pytest.fixture(scope="session")
def plans() -> Rubric:
    return load_rubric("smart-action-plan")


@pytest.fixture(scope="session")
def responses() -> Rubric:
    return load_rubric("ai-response")


@pytest.fixture(scope="session", params=builtin_names())
def builtin(request: pytest.FixtureRequest) -> Rubric:
    return load_rubric(request.param)


@pytest.fixture(scope="session")
def small_tree() -> Callable[..., dict[str, Any]]:
    """The small rubric as a tree, with edits ``(path, value)``; the value ``...`` deletes."""

    def build(*edits: tuple[tuple[str | int, ...], Any]) -> dict[str, Any]:
        tree = deepcopy(SMALL)
        for path, value in edits:
            node: Any = tree
            for step in path[:-1]:
                node = node[step]
            if value is ...:
                del node[path[-1]]
            elif isinstance(node, list) and path[-1] == len(node):
                node.append(deepcopy(value))
            else:
                node[path[-1]] = deepcopy(value)
        return tree

    return build


@pytest.fixture(scope="session")
def small(small_tree: Callable[..., dict[str, Any]]) -> Callable[..., Rubric]:
    """The small rubric, with edits."""
    return lambda *edits: Rubric.model_validate(small_tree(*edits))


def _shares(places: int) -> st.SearchStrategy[Decimal]:
    return st.integers(0, 10**places).map(lambda n: Decimal(n).scaleb(-places))


@st.composite
def _scales(draw: st.DrawFn, index: int) -> dict[str, Any]:
    if draw(st.booleans()):
        low = draw(st.integers(-2, 2))
        high = low + draw(st.integers(1, 7))
        return {"kind": "ordinal", "id": f"s{index}", "minimum": low, "maximum": high}
    words = ["YES", "NO", "PARTLY", "1"][: draw(st.integers(2, 4))]
    values = [{"value": w, "meaning": w, "points": draw(_shares(3))} for w in words]
    return {"kind": "choice", "id": f"s{index}", "values": values}


def _points(scale: dict[str, Any]) -> list[str]:
    if scale["kind"] == "choice":
        return [choice["value"] for choice in scale["values"]]
    return [str(n) for n in range(scale["minimum"], scale["maximum"] + 1)]


@st.composite
def _weights(draw: st.DrawFn) -> list[Decimal]:
    """Exact decimals above 0 that sum to 1."""
    places = draw(st.sampled_from([1, 2, 3, 12]))
    whole = 10**places
    cuts = draw(st.sets(st.integers(1, whole - 1), max_size=3))
    ends = [0, *sorted(cuts), whole]
    return [Decimal(b - a).scaleb(-places) for a, b in pairwise(ends)]


NA_POLICIES = [
    {"policy": "valid"},
    {"policy": "invalid", "reason": "It always shows."},
    {"policy": "excluded"},
]


@st.composite
def _criteria(
    draw: st.DrawFn, scales: list[dict[str, Any]], homes: list[str]
) -> list[dict[str, Any]]:
    criteria = []
    for index in range(draw(st.integers(1, 6))):
        scale = draw(st.sampled_from(scales))
        one: dict[str, Any] = {
            "id": f"c{index}",
            "title": f"Criterion {index}",
            "category": draw(st.sampled_from(homes)) if homes else None,
            "scale": scale["id"],
            "question": "Is it?",
            "na": draw(st.sampled_from(NA_POLICIES)),
        }
        if scale["kind"] == "ordinal":
            one["anchors"] = {point: {"text": point} for point in _points(scale)}
        if one["na"]["policy"] == "valid" and draw(st.booleans()):
            one["precondition"] = {
                "metric": "exchanges",
                "op": draw(st.sampled_from(["<", ">="])),
                "value": draw(st.integers(1, 3)),
                "reason": "Counted.",
            }
        criteria.append(one)
    return criteria


@st.composite
def _gates(
    draw: st.DrawFn, criteria: list[dict[str, Any]], points: dict[str, list[str]]
) -> list[dict[str, Any]]:
    """A gate of its own for every criterion that stands in one."""
    return [
        {
            "id": f"g{one['id']}",
            "title": "Gate",
            "text": "Shut or open.",
            "criteria": [one["id"]],
            "fails_on": draw(st.lists(st.sampled_from(points[one["scale"]]), min_size=1)),
        }
        for one in criteria
        if one["category"] == "gated" or draw(st.integers(0, 3)) == 0
    ]


@st.composite
def _red_flags(draw: st.DrawFn, forcible: list[str]) -> list[dict[str, Any]]:
    effects = ["reject", "indicate"] + (["force_scores"] if forcible else [])
    flags = []
    for index in range(draw(st.integers(0, 3))):
        flag = {"id": f"f{index}", "title": f"Flag {index}", "text": "Found."}
        flag["effect"] = draw(st.sampled_from(effects))
        if flag["effect"] == "force_scores":
            flag["forced_value"] = draw(st.sampled_from(forcible))
        flags.append(flag)
    return flags


@st.composite
def _aggregations(draw: st.DrawFn, weighted: bool, marks: list[int]) -> dict[str, Any]:
    op = draw(st.sampled_from([">", ">="]))
    if weighted:
        return {
            "kind": "weighted_categories",
            "na_counts": draw(_shares(2)),
            "invalid_na_counts": 0,
            "error_counts": 0,
            "missing": "error",
            "pass_mark": draw(st.none() | _shares(2).map(lambda v: {"op": op, "value": v})),
            "minimum_assessed_weight": draw(st.none() | _shares(1)),
        }
    value = draw(st.sampled_from(marks)) + draw(st.sampled_from([Decimal(0), Decimal("0.5")]))
    mark = {"of": draw(st.sampled_from(["mean", "minimum"])), "op": op, "value": value}
    return {"kind": "dimensions", "pass_mark": draw(st.sampled_from([None, mark, mark]))}


@st.composite
def _small_rubrics(draw: st.DrawFn) -> Rubric:
    weighted = draw(st.integers(0, 2)) > 0
    scales = [draw(_scales(index)) for index in range(draw(st.integers(1, 3)))]
    points = {scale["id"]: _points(scale) for scale in scales}
    categories: list[dict[str, Any]] = []
    if weighted:
        weights = [*draw(_weights()), None]
        categories = [
            {"id": f"k{i}" if w is not None else "gated", "title": "Category", "weight": w}
            for i, w in enumerate(weights)
        ]
    criteria = draw(_criteria(scales, [one["id"] for one in categories]))
    used = [set(points[one["scale"]]) for one in criteria]
    marks = [int(point) for point in sorted(set.union(*used)) if point.lstrip("-").isdigit()]
    return Rubric.model_validate(
        {
            "id": "random",
            "version": "1.0",
            "title": "Random",
            "item_type": "conversation",
            "summary": "Drawn by hypothesis.",
            "scales": scales,
            "categories": categories or None,
            "criteria": criteria,
            "gates": draw(_gates(criteria, points)) or None,
            "red_flags": draw(_red_flags(sorted(set.intersection(*used)))) or None,
            "aggregation": draw(_aggregations(weighted, marks or [1])),
            "agreement": None,
        }
    )


@pytest.fixture(scope="session")
def rubrics() -> st.SearchStrategy[Rubric]:
    """Random small rubrics, and now and then a built-in one."""
    builtins = st.sampled_from([load_rubric(name) for name in builtin_names()])
    return st.one_of(_small_rubrics(), _small_rubrics(), _small_rubrics(), builtins)


_OWNS_POSTGRES = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    """The place for the session's PostgreSQL; it is started when a test asks for it."""
    config.stash[_OWNS_POSTGRES] = postgres.begin_session()


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.stash.get(_OWNS_POSTGRES, False):
        postgres.end_session()


@pytest.fixture
def postgres_place() -> Iterator[str]:
    """The address of a fresh, empty database."""
    with postgres.fresh_database(postgres.server_url()) as place:
        yield place


@pytest.fixture
def second_postgres_place() -> Iterator[str]:
    """Another one."""
    with postgres.fresh_database(postgres.server_url()) as place:
        yield place


@pytest.fixture
def sqlite_place(tmp_path: Path) -> str:
    """The path of a file that is not there yet."""
    return str(tmp_path / "study.db")


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store_place(request: pytest.FixtureRequest) -> str:
    """Each of the places where a store can be."""
    if request.param == "memory":
        return ":memory:"
    return str(request.getfixturevalue(f"{request.param}_place"))


@pytest.fixture
def store(store_place: str) -> Iterator[Store]:
    """An empty store of each kind."""
    from calibrant.store.open import open_store

    opened = open_store(store_place, create=True)
    yield opened
    opened.close()
