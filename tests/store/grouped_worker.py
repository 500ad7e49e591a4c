"""Many threads that write through one grouped store, in a process that is killed at any time."""

from __future__ import annotations

import itertools
import os
import threading
from pathlib import Path

from tests.store.store_kit import an_entry

from calibrant.store.grouped import writer_of
from calibrant.store.open import open_store

THREADS = 12


def work(place: str, study: int, name: str, folder: Path) -> None:
    """Tell in a file what is acknowledged, each line written at once."""
    store = writer_of(open_store(place, patience=50))
    told = os.open(folder / f"{name}.ok", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def go_on(thread: int) -> None:
        for number in itertools.count():
            mark = f"{name}/{thread}/{number}"
            store.write(lambda tx, mark=mark: tx.log(study, [an_entry(body={"mark": mark})]))  # type: ignore[misc]
            os.write(told, f"{mark}\n".encode())

    threads = [threading.Thread(target=go_on, args=(n,)) for n in range(THREADS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
