"""The API does what its OpenAPI document says, whatever is sent: schemathesis tries it.

Each group of operations gets a furnished workspace of its own, as the lead and as a reviewer of
the same study. Cases are the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.web.conftest import HOST, Signed
from tests.web.lively_kit import lively

from calibrant.web.refs import item_ref, task_ref
from calibrant.web.workspace import Workspace

TOLD = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
"""What has to hold of every answer."""
EXAMPLES = 5
ASKING = {False: ("lena", "ann"), True: ("lena", "olga")}
"""Who asks: the lead and a reviewer; of accounts also an owner, by a token made for that."""
CAREFUL = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@cache
def groups() -> list[str]:
    """The groups of operations in the document."""
    import importlib
    from pkgutil import iter_modules

    from calibrant.web import api

    found: set[str] = set()
    for one in iter_modules(api.__path__, f"{api.__name__}."):
        found.update(importlib.import_module(one.name).routes.tags)
    return sorted(found)


@pytest.mark.parametrize("group", groups())
def test_the_api_keeps_to_its_document(
    workspace: Workspace, app: FastAPI, client: Callable[..., Signed], group: str
) -> None:
    known = furnished(workspace, client)
    known |= {"ref": item_ref("ann")} if group == "accounts" else {}
    tokens = {
        name: workspace.tokens.make(
            name, "tests", may_write=True, days=1, administers=name == "olga"
        )
        for name in ASKING[group.startswith("account")]
    }
    schema = schemathesis.openapi.from_dict(app.openapi())
    schema.app = app
    tried = 0
    wrong: list[str] = []
    for found in schema.get_all_operations():
        operation = found.ok()  # type: ignore[union-attr]  # raises what is wrong
        if group not in (operation.tags or ()):
            continue
        tried += 1
        there = {one.name: known[one.name] for one in operation.path_parameters}
        cases = st.one_of(
            operation.as_strategy(path_parameters=there),
            operation.as_strategy(path_parameters=there),
            operation.as_strategy(schemathesis.GenerationMode.NEGATIVE),
        )
        for token in tokens.values():
            wrong += _wrong(cases, {"authorization": f"Bearer {token}"})
    assert tried and not wrong, "\n\n".join(wrong)


def _wrong(cases: Any, headers: dict[str, str]) -> list[str]:
    """What does not hold for an operation, with how to see it again."""

    @CAREFUL
    @given(case=cases)
    def run(case: Any) -> None:
        case.call_and_validate(base_url=f"http://{HOST}", headers=headers, checks=TOLD)

    try:
        run()
    except FailureGroup as found:
        return [str(found)]
    return []


def furnished(workspace: Workspace, client: Callable[..., Signed]) -> dict[str, object]:
    """A study with everything in it, and what the parts of addresses can be filled with."""
    study = lively(workspace, items=4)
    for name in ("lena", "ann"):
        client(name)
    client("olga", owner=True)
    lena = client("lena")
    path = f"/api/v1/studies/{study.number}/items/upload?name=items.csv"
    csrf = {"x-calibrant-csrf": lena.csrf}
    file = lena.post(path, content=b"id,question,response\n9,Why?,So.\n", headers=csrf).json()
    (first, *_) = workspace.store.read(
        lambda tx: [one for one in tx.assignments(study.number, rater="ann") if one.key.round == 2]
    )
    item = item_ref("r-001")
    return {
        "study": study.number, "item": item, "ref": item, "task": task_ref(first.key),
        "number": 1, "job": "unknown", "phase": "initial_annotation", "name": "ai-response",
        "session": "0" * 64, "token": "0" * 64, "upload": file["upload"],
    }  # fmt: skip
