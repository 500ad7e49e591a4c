"""Turns a CSV file into a workbook: ``write_xlsx.py IN.csv OUT.xlsx``."""

import csv
import sys
from pathlib import Path

from openpyxl import Workbook


def main(source: str, target: str) -> None:
    """Copy the table to the only sheet of a new workbook, row by row."""
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet()
    with Path(source).open(newline="", encoding="utf-8") as file:
        for row in csv.reader(file):
            sheet.append(row)
    workbook.save(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
