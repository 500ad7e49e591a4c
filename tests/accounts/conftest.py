"""A house on a store in memory, and one on each kind of store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.accounts.account_kit import House

from calibrant.store.open import open_store
from calibrant.store.sql import SqlStore


@pytest.fixture
def house() -> Iterator[House]:
    store = open_store(":memory:")
    yield House(store)
    store.close()


@pytest.fixture
def any_house(store: SqlStore) -> House:
    return House(store)
