"""The benchmark: ``python bench/run.py [AREA[/PART] …] [--rows N] [--quick] [--list]``.

Without arguments all areas run. Run it with the project's own Python. Times are never judged:
the exit status is 1 only when an output differs from the peer's without an explanation, or when
a measurement could not be made.
"""

from __future__ import annotations

import argparse
import compileall
import signal
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent


def areas() -> dict[str, ModuleType]:
    """The areas by name: one for each module in ``bench/areas``."""
    names = sorted(path.stem for path in (HERE / "areas").glob("[!_]*.py"))
    return {name: import_module(f"bench.areas.{name}") for name in names}


def chosen(wanted: list[str], known: dict[str, ModuleType]) -> dict[str, list[str]]:
    """Parts to run, by area; ends the program where there is no such area or part."""
    picked: dict[str, list[str]] = {}
    for name in wanted or list(known):
        area, _, part = name.partition("/")
        if area not in known or (part and part not in known[area].PARTS):
            raise SystemExit(f"bench: there is no {name!r}; --list tells what there is")
        parts = picked.setdefault(area, [])
        parts += [one for one in ([part] if part else known[area].PARTS) if one not in parts]
    return picked


def list_areas(known: dict[str, ModuleType]) -> None:
    """Print areas and parts."""
    for name, area in known.items():
        print(f"{name}  {area.TITLE}")
        for part, run in area.PARTS.items():
            print(f"  {name}/{part}  {(run.__doc__ or '').splitlines()[0]}")


def run_area(name: str, area: ModuleType, parts: list[str], rows: int, quick: bool) -> bool:
    """Run the parts of one area, print and save what they find; whether all is right."""
    from bench.harness import BenchError, Context, machine, measure, right, save, show, workspace

    facts = machine() | {"quick": quick}
    print(f"\n== {name}: {area.TITLE}")
    reports, good = {}, True
    for part in parts:
        print(f"  … {name}/{part}", file=sys.stderr, flush=True)
        try:
            with workspace(part) as work:
                reports[part] = measure(area.PARTS[part], Context(rows, quick, work))
        except BenchError as error:
            print(f"\n{part}: could not be measured: {error}")
            good = False
            continue
        show(part, reports[part])
        good &= right(reports[part])
    whole = parts == list(area.PARTS)
    path = save(name if whole else "-".join([name, *parts]), facts, rows, reports)
    print(f"\nsaved to {path.relative_to(HERE.parent)}")
    return good


def main() -> int:
    """Read the command line, run what it asks for."""
    sys.path[0] = str(HERE.parent)  # the package `bench` itself, not what is in it
    from bench.harness import machine, show_machine

    reader = argparse.ArgumentParser(
        prog="bench/run.py", description=(__doc__ or "").split("\n")[0]
    )
    reader.add_argument("area", nargs="*", help="an area, or AREA/PART; all areas without")
    reader.add_argument(
        "--rows", type=int, help="sheets to score (1,000,000; 100,000 with --quick)"
    )
    reader.add_argument("--quick", action="store_true", help="smaller data, fewer runs")
    reader.add_argument("--list", action="store_true", help="list areas and parts, run nothing")
    options = reader.parse_args()
    known = areas()
    if options.list:
        list_areas(known)
        return 0
    picked = chosen(options.area, known)
    rows = options.rows or (100_000 if options.quick else 1_000_000)
    compileall.compile_dir(HERE.parent / "src", quiet=2)  # as installing a package does
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # clean up, as on Ctrl-C
    show_machine(machine())
    results = [
        run_area(name, known[name], parts, rows, options.quick) for name, parts in picked.items()
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
