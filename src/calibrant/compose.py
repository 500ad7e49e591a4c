"""Where the rooms are put together: the only place that chooses a store and reads the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.accounts.links import Links
    from calibrant.accounts.owners import Owners
    from calibrant.accounts.sign_in import Door
    from calibrant.accounts.tokens import Tokens
    from calibrant.core.rubric import Rubric
    from calibrant.core.study import StudyRecord
    from calibrant.formats.bundle_read import Verified
    from calibrant.formats.bundle_write import Written
    from calibrant.ports.store import Store
    from calibrant.report.asking import Missing
    from calibrant.report.findings import Findings
    from calibrant.store.grouped import Grouped
    from calibrant.store.sql import SqlStore
    from calibrant.study.frozen import Frozen
    from calibrant.study.handle import Study


def now() -> datetime:
    """The present moment."""
    return datetime.now(UTC)


def open_study(place: str, name: str, *, actor: str | None = None) -> Study:
    """The study ``name`` kept at ``place``, for one of its members.

    ``place`` is the path of a SQLite file or the address of a PostgreSQL database. ``actor`` is
    who looks and acts: what they may do and see follows from it. Without one it is the lead.
    """
    from calibrant.store.open import open_store
    from calibrant.study.handle import Study
    from calibrant.study.open import enter

    found = enter(open_store(place), name, actor=actor, clock=now)
    return Study(found.store, found.number, found.record, found.actor, found.clock)


def create_study(
    place: str,
    name: str,
    rubric: Rubric,
    *,
    lead: str,
    start_on: date | None = None,
    title: str = "",
    seed: int = 0,
) -> Study:
    """A new study at ``place``, which is made where it is not there yet."""
    import secrets

    from calibrant.store.open import open_store
    from calibrant.study.handle import Study
    from calibrant.study.open import create

    made = create(
        open_store(place, create=True),
        name,
        rubric,
        lead=lead,
        clock=now,
        start_on=start_on,
        title=title,
        seed=seed,
        mask_key=secrets.token_hex(32),
    )
    return Study(made.store, made.number, made.record, made.actor, made.clock)


def studies(place: str) -> list[StudyRecord]:
    """All studies kept at ``place``, in the order in which they were begun."""
    from calibrant.store.open import open_store

    store = open_store(place)
    try:
        return [record for _, record in store.read(lambda tx: tx.studies())]
    finally:
        store.close()


@dataclass(frozen=True, slots=True)
class Opened:
    """A database to be served: its studies, and those who may come in."""

    store: Store
    """As many threads share it: in a file one writer commits what all of them hand in."""
    plain: Store
    """The same database, for work that takes long."""
    writer: Grouped
    """The same once more, for small work of which nobody's thread waits: one commit for many."""
    door: Door
    links: Links
    tokens: Tokens
    owners: Owners
    shown: str
    """Where it is, fit to be shown."""

    def close(self) -> None:
        """Let go of it, after what waits is written."""
        self.writer.close()


def open_workspace(place: str, *, create: bool = False) -> Opened:
    """The database at ``place`` with its accounts; the secret that signs forms stands beside it."""
    import secrets

    from calibrant.accounts.links import Links
    from calibrant.accounts.means import Means
    from calibrant.accounts.owners import Owners
    from calibrant.accounts.secret import workspace_secret
    from calibrant.accounts.sign_in import Door
    from calibrant.accounts.tokens import Tokens
    from calibrant.store.accounts import SqlAccounts
    from calibrant.store.grouped import for_threads, writer_of
    from calibrant.store.open import open_store

    plain = open_store(place, create=create)
    try:
        key = workspace_secret(secret_path(place), secrets.token_bytes)
    except BaseException:
        plain.close()
        raise
    writer = writer_of(plain)
    store = for_threads(writer)
    means = Means(SqlAccounts(store), now, lambda: secrets.token_urlsafe(32))
    door = Door(means, key)
    links, tokens = Links(door, plain), Tokens(means)
    owners = Owners(door, links, tokens)
    return Opened(store, plain, writer, door, links, tokens, owners, shown_place(place))


def secret_path(place: str) -> Path:
    """Where the secret of a workspace is kept: beside its file, or here for one on a server."""
    shown = shown_place(place)
    return Path("calibrant.secret") if "://" in shown else Path(f"{shown}.secret")


def back_up(place: str, path: Path) -> None:
    """Everything kept at ``place``, as of one moment, in a new file."""
    from calibrant.store.backup import back_up as copy
    from calibrant.store.open import open_store

    store = open_store(place)
    try:
        copy(store, path)
    finally:
        store.close()


def restore(place: str, path: Path) -> None:
    """What a backup holds, in an empty database at ``place``; its log says that it came so."""
    from calibrant.store.open import open_store
    from calibrant.store.restore import restore as fill

    fill(place, path)
    store = open_store(place)
    try:
        _note(store, "restored", file=path.name)
    finally:
        store.close()


def examine(place: str) -> list[str]:
    """What is not in order with the database at ``place``, in sentences."""
    from calibrant.store.doctor import examine as look_over
    from calibrant.store.open import open_store

    store = open_store(place)
    try:
        return look_over(store)
    finally:
        store.close()


def shown_place(place: str) -> str:
    """A place as it may be shown: a file with its whole path, a server without its password."""
    from calibrant.store.open import read_place

    _, shown = read_place(place)
    is_file = "://" not in shown and shown != ":memory:"
    return str(Path(shown).absolute()) if is_file else shown


# -- leaving, and coming back


def export_study(
    study: Study,
    path: str | Path,
    *,
    pseudonyms: bool = False,
    on_record: Callable[[int], None] | None = None,
) -> Written:
    """Write everything a study holds to a bundle: a folder, or an archive where it ends in .zip.

    Plain files with checksums, and one hash that ``import_study`` gives back on either database.
    Only a lead takes everything; one who rates, once every round is closed. With
    ``pseudonyms`` members go by other names, and the bundle has a hash of its own.
    """
    from calibrant import __version__
    from calibrant.core.study import time_text
    from calibrant.formats.bundle_write import check_target, write_bundle

    place = Path(path)
    check_target(place)
    _ready(study, pseudonyms)
    return study.contents(
        lambda contents, tables: write_bundle(
            contents,
            tables,
            place,
            exported_at=time_text(study.clock()),
            version=__version__,
            on_record=on_record or _unheard,
        ),
        pseudonyms=pseudonyms,
    )


def export_tables(
    study: Study, path: str | Path, *, wide: bool = False, pseudonyms: bool = False
) -> Path:
    """Write ratings, finals, verdicts, flags and the journal for people: a folder, .xlsx or .csv.

    ``wide`` gives each rater a column. No cell is run by a spreadsheet.
    """
    from calibrant.formats.study_tables import check_tables, write_tables

    place = Path(path)
    check_tables(place)
    _ready(study, pseudonyms)
    return study.contents(
        lambda contents, tables: write_tables(contents, tables, place, wide=wide),
        pseudonyms=pseudonyms,
    )


def report_study(
    study: Study,
    path: str | Path | None = None,
    *,
    short: bool = False,
    pseudonyms: bool = False,
    replace: bool = False,
    frozen: int | None = None,
    on_step: Callable[[str], None] | None = None,
) -> Findings:
    """What a study came to, as far as its actor may see it, and written to ``path``.

    That is an .html page, .md or .json by its name; none is written where no path is given.
    ``short`` writes the answer alone. With ``pseudonyms`` members go by other names: for leads.
    A file that is there is kept, unless it is to be replaced. ``frozen`` is the number of a
    check-in, or of the end of a phase: the report is the one that was frozen with it, for leads.
    """
    from calibrant.core.errors import StudyError
    from calibrant.report.files import check_target, write_report
    from calibrant.report.findings import findings
    from calibrant.report.frozen import thawed
    from calibrant.study.pseudonyms import Pseudonyms

    if path is not None:
        check_target(Path(path), replace=replace, short=short)
    if frozen is not None:
        if pseudonyms:
            raise StudyError("a frozen report has the names of its day: it has no pseudonyms")
        found = thawed(study, frozen)
    else:
        _ready(study, pseudonyms)
        naming = study.store.read(lambda tx: Pseudonyms.of(tx, study)) if pseudonyms else None
        found = findings(study, naming=naming, on_step=on_step or (lambda step: None))
    if path is not None:
        write_report(found, Path(path), short=short)
    return found


def freeze_report(
    study: Study, number: int, on_step: Callable[[str], None] | None = None
) -> Frozen | Missing:
    """Keep the whole report as it is now with a check-in, or with the phase that just ended.

    ``number`` is what ``check_in`` or ``finish_phase`` gave. Where there can be no report, what
    comes back says why; ``report_study(study, frozen=number)`` reads one.
    """
    from calibrant.report.frozen import freeze

    return freeze(study, number, on_step or (lambda step: None))


def _unheard(count: int) -> None:
    """Nobody waits to be told."""


def _ready(study: Study, pseudonyms: bool) -> None:
    """Where pseudonyms are wanted, keep a key for them; whoever may not look is refused first."""
    if pseudonyms:
        import secrets

        study.contents(lambda contents, tables: None)
        study.keep_pseudonyms(secrets.token_hex(32))


def verify_bundle(
    path: str | Path, on_record: Callable[[int], None] | None = None
) -> dict[str, object]:
    """Prove that a bundle is whole and makes a study; what its manifest says of it.

    Raises ``SourceError`` where a file is missing or was changed, and ``RecordError`` with every
    record that does not fit. The hash covers the records; the tables are made anew from these,
    and are the same, or the bundle is refused. Above a million ratings that would take too much
    memory: ``tables`` then says that only their checksums were looked at.
    """
    from calibrant.formats.bundle_read import verified

    with verified(Path(path), on_record or _unheard) as found:
        manifest = found.manifest
        return {
            "tables": _prove_tables(found),
            "study": manifest.study.name,
            "hash": manifest.hash,
            "pseudonymous": manifest.pseudonymous,
            "exported_at": manifest.exported_at,
            "calibrant": manifest.calibrant,
            "counts": dict(manifest.counts),
        }


def _prove_tables(found: Verified) -> str:
    """Hold the tables of a bundle against its records; how far that went."""
    import tempfile

    from calibrant.formats.bundle_tables import MOST_RATINGS, check_tables
    from calibrant.store.open import open_store
    from calibrant.study.contents import follows
    from calibrant.study.open import enter
    from calibrant.study.restore import restore

    if found.manifest.counts["ratings"] > MOST_RATINGS:
        return "checksums"
    with tempfile.TemporaryDirectory(prefix="calibrant-") as folder:
        small = sum(found.manifest.counts.values()) < 50_000
        store = open_store(":memory:" if small else f"{folder}/copy.db", create=True)
        try:
            name = restore(store, found.contents, unchanged=found.unchanged)
            session = enter(store, name, actor=None, clock=now)
            store.read(lambda tx: check_tables(found, follows(tx, session)))
        finally:
            store.close()
    return "made anew"


def import_study(
    place: str,
    path: str | Path,
    *,
    name: str | None = None,
    on_record: Callable[[int], None] | None = None,
) -> Study:
    """The study of a bundle, put into the database at ``place``; all of it, or nothing.

    Checksums, hash and records are verified first; tables are not read, for they follow from the
    records. A name that is taken is refused; ``name`` gives another.
    """
    from calibrant.formats.bundle_read import verified
    from calibrant.store.open import open_store
    from calibrant.study.handle import Study
    from calibrant.study.open import enter
    from calibrant.study.restore import restore

    with verified(Path(path), on_record or _unheard) as found:
        store = open_store(place, create=True)
        try:
            kept = restore(store, found.contents, name=name, unchanged=found.unchanged)
            # its journal comes as it was: that it came stands in the workspace's own log
            _note(store, "study_imported", study=kept)
            entered = enter(store, kept, actor=None, clock=now)
        except BaseException:
            store.close()
            raise
    return Study(entered.store, entered.number, entered.record, entered.actor, entered.clock)


def _note(store: SqlStore, kind: str, **body: str) -> None:
    """A line of the workspace's log, by whoever runs the program."""
    from calibrant.core.account import Event
    from calibrant.core.study import time_text
    from calibrant.store.accounts import SqlAccounts

    at = time_text(now())
    SqlAccounts(store).log(Event(kind=kind, actor="command line", at=at, body=body))
