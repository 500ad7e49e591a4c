"""A report written to a file: what it is follows from the file's name."""

from __future__ import annotations

import json
from pathlib import Path

from calibrant.core.errors import SourceError
from calibrant.formats.writers import write_document
from calibrant.report.findings import Findings
from calibrant.report.html import report_html
from calibrant.report.markdown import report_markdown

KINDS = (".html", ".md", ".json")


def check_target(path: Path, *, replace: bool, short: bool = False) -> None:
    """Raise at once what writing would raise at the end; a file is written over only if wanted."""
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise SourceError(f"{path}: a report is written as {', '.join(KINDS)}")
    if short and kind == ".json":
        raise SourceError(f"{path}: the JSON report has all data; a short one is .html or .md")
    if not path.parent.is_dir():
        raise SourceError(f"{path}: the folder {path.parent} does not exist")
    if path.exists() and not replace:
        raise SourceError(f"{path}: is there already; name another file, or replace it (--force)")


def write_report(findings: Findings, path: Path, *, short: bool = False) -> None:
    """The report as HTML, Markdown or JSON, whole or not at all."""
    match path.suffix.lower():
        case ".html":
            text = report_html(findings, short)
        case ".md":
            text = report_markdown(findings, short)
        case _:
            text = json_text(findings)
    write_document(text.encode("utf-8", "backslashreplace"), path)


def json_text(findings: Findings) -> str:
    """All data of a report."""
    return json.dumps(findings.to_dict(), ensure_ascii=False, indent=1) + "\n"
