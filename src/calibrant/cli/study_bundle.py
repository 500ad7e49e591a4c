"""Leaving freely: ``calibrant study export``, ``import`` and ``verify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibrant.cli.study_call import db_option, study_command, told
from calibrant.cli.terminal import output_option, progress

if TYPE_CHECKING:
    from calibrant.study.handle import Study

_PATH = click.Path(path_type=Path)


@study_command
@click.argument("bundle", type=_PATH, required=False)
@click.option("--tables", type=_PATH, metavar="DIR|FILE",
              help="Tables for people: a folder of CSV files, an .xlsx workbook, or a .csv of the "
                   "ratings alone.")  # fmt: skip
@click.option("--wide", is_flag=True, help="With --tables: one column a rater.")
@click.option("--pseudonyms", is_flag=True,
              help="Members go by other names, the same ones every time.")  # fmt: skip
def export(
    study: Study,
    bundle: Path | None,
    tables: Path | None,
    wide: bool,
    pseudonyms: bool,
    style: str,
) -> None:
    """Write everything the study holds to BUNDLE, a folder or a .zip archive.

    Records are JSON, one a line; tables for analysis are Parquet; every file has its checksum, and
    one hash stands for the whole. Drafts and leases are left out. Only a lead may do this, and one
    who rates only when every round is closed. Nothing is written over.

    In CSV and XLSX a cell that a spreadsheet would run (it begins with = + - @, a tab or a line
    break) is written with ' before it; take that one sign away to have it back.

    \b
    Examples:
      calibrant study export advice advice-bundle
      calibrant study export advice advice.zip --pseudonyms
      calibrant study export advice --tables advice.xlsx --wide
    """
    from calibrant.compose import export_study, export_tables

    if bundle is None and tables is None:
        raise click.UsageError("name a BUNDLE to write, or --tables, or both")
    if wide and tables is None:
        raise click.UsageError("--wide goes with --tables")
    record: dict[str, object] = {"study": study.name, "pseudonymous": pseudonyms}
    sentences = []
    if bundle is not None:
        with progress("exporting", "records") as bar:
            made = export_study(
                study,
                bundle,
                pseudonyms=pseudonyms,
                on_record=lambda count: bar(count, None, count),
            )
        record |= {"bundle": str(bundle), "hash": made.hash, "counts": made.counts}
        sentences.append(f"wrote {bundle}: {_counted(made.counts)}\n{made.hash}")
    if tables is not None:
        export_tables(study, tables, wide=wide, pseudonyms=pseudonyms)
        record |= {"tables": str(tables)}
        sentences.append(f"wrote {tables}")
    told(style, "\n".join(sentences), **record)


@click.command("import")
@click.argument("bundle", type=_PATH)
@click.option("--name", metavar="NEW", help="Another name, where the study's own is taken.")
@db_option
@output_option
def import_(bundle: Path, name: str | None, place: str, style: str) -> None:
    """Put the study of BUNDLE into a database, all of it or nothing.

    Checksums, hash and every record are checked first. Exporting it again gives the same hash,
    whatever database it came from and goes to.

    \b
    Examples:
      calibrant study import advice.zip --db calibrant.db
      calibrant study import advice-bundle --name advice-2 --db postgresql://…
    """
    from calibrant.compose import import_study

    with progress("checking", "records") as bar:
        found = import_study(
            place, bundle, name=name, on_record=lambda count: bar(count, None, count)
        )
    try:
        where = found.store.place
        told(
            style,
            f"study {found.name} is in {where} now; its lead is {found.actor}",
            study=found.name,
            place=where,
            lead=found.actor,
        )
    finally:
        found.store.close()


@click.command()
@click.argument("bundle", type=_PATH)
@output_option
def verify(bundle: Path, style: str) -> None:
    """Prove that BUNDLE is whole: checksums, hash, every record, and the tables made from them.

    Tables are made anew from the records and compared, in a bundle of up to a million ratings.

    \b
    Examples:
      calibrant study verify advice.zip
    """
    from calibrant.compose import verify_bundle

    with progress("checking", "records") as bar:
        found = verify_bundle(bundle, on_record=lambda count: bar(count, None, count))
    counts = found["counts"]
    assert isinstance(counts, dict)
    other = " (members go by other names)" if found["pseudonymous"] else ""
    unread = "" if found["tables"] == "made anew" else "; tables by their checksums only"
    told(
        style,
        f"{bundle} is whole: study {found['study']}{other}, {_counted(counts)}{unread}\n"
        f"{found['hash']}",
        bundle=str(bundle),
        **found,
    )


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
