"""Read jobs from NDJSON and CSV files. An invalid line becomes a fault, and reading continues."""

import csv
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, BinaryIO
from zoneinfo import ZoneInfo

import click

from minutehand.model.new_job import NewJob
from minutehand.model.parse_job import FIELDS, json_fault, new_job, read_cells
from minutehand.model.parsing import parse_json

# The default of csv is less than a payload may have.
CELL_BYTES = 128 * 1024 * 1024
# Characters of an invalid header in the message.
MAX_SHOWN = 200


@dataclass(frozen=True)
class Item:
    """The job of a line, or its fault."""

    line: int
    job: NewJob | None = None
    fault: str = ""


def read_ndjson(file: BinaryIO, zone: ZoneInfo | None) -> Generator[Item, None, None]:
    """Read a JSON object per line, with the fields of NewJob. Blank lines are counted and skipped."""
    for number, line in enumerate(file, 1):
        if line.strip():
            try:
                fields = parse_json(line.decode("utf-8-sig" if number == 1 else "utf-8"))
                yield Item(number, new_job(fields, zone))
            except ValueError as error:
                yield Item(number, fault=json_fault(error))


def read_csv(file: BinaryIO, zone: ZoneInfo | None) -> Generator[Item, None, None]:
    """Read CSV with a header of NewJob's fields. Payload, headers and retry are JSON; an empty cell means not set."""
    csv.field_size_limit(CELL_BYTES)
    text = TextIOWrapper(file, "utf-8-sig", errors="surrogateescape", newline="")
    try:
        yield from _csv_items(csv.reader(text, strict=True), zone)
    finally:
        text.detach()


def _csv_items(rows: Any, zone: ZoneInfo | None) -> Iterator[Item]:
    header = _header(rows)
    while True:
        number = rows.line_num + 1
        try:
            cells = next(rows)
            if cells:
                yield Item(number, new_job(read_cells(header, cells), zone))
        except StopIteration:
            return
        except (csv.Error, ValueError) as error:
            yield Item(number, fault=str(error))


def _header(rows: Iterator[list[str]]) -> list[str]:
    try:
        header = next(rows, [])
    except csv.Error as error:
        raise click.UsageError(f"invalid CSV header: {error}") from None
    header = [name.strip() for name in header]
    if "kind" not in header or set(header) - set(FIELDS) or len(set(header)) < len(header):
        raise click.UsageError(
            f"the CSV header must have kind, and each of these at most once: {', '.join(FIELDS[1:])}; "
            f"got {', '.join(header)[:MAX_SHOWN] or 'no header'}"
        )
    return header
