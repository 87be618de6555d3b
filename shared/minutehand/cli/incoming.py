"""Lines of a file become new jobs; one that cannot be a job becomes a fault with its number, and the rest go on."""

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

CELL_BYTES = 128 * 1024 * 1024  # csv's own limit is half of what a payload may have


@dataclass(frozen=True)
class Item:
    """A line's job, or why it is none."""

    line: int
    job: NewJob | None = None
    fault: str = ""


def read_ndjson(file: BinaryIO, zone: ZoneInfo | None) -> Generator[Item, None, None]:
    """Read a JSON object a line, with the fields of a NewJob; blank lines count and are passed over."""
    for number, line in enumerate(file, 1):
        if line.strip():
            try:
                asked = parse_json(line.decode("utf-8-sig" if number == 1 else "utf-8"))
                yield Item(number, new_job(asked, zone))
            except ValueError as error:
                yield Item(number, fault=json_fault(error))


def read_csv(file: BinaryIO, zone: ZoneInfo | None) -> Generator[Item, None, None]:
    """Read cells under a header of NewJob's fields; payload, headers and retry are JSON, an empty cell says nothing."""
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
        raise click.UsageError(f"the header cannot be read: {error}") from None
    header = [name.strip() for name in header]
    if "kind" not in header or set(header) - set(FIELDS) or len(set(header)) < len(header):
        raise click.UsageError(
            f"the header names the columns, each once: kind, and any of {', '.join(FIELDS[1:])}"
        )
    return header
