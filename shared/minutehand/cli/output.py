"""Output: a table on a terminal, aligned columns in a pipe, or one JSON object per line."""

import dataclasses
import sys
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import click

from minutehand.cli.text import safe
from minutehand.model.stored import dump, utc

# By the first word of a state in words, see `text.state`.
STYLES = {
    "dead": "red",
    "done": "green",
    "expired": "dim",
    "cancelled": "dim",
    "running": "bold",
    "retries": "yellow",
}


def print_message(message: str) -> None:
    """Print a message to stderr."""
    click.echo(safe(message), err=True)


def put_json(value: Any) -> None:
    """Print one JSON object on a line: times in ISO 8601 and UTC, durations in seconds."""
    click.echo(dump(value, _encode))


def put_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, headed: bool = True) -> None:
    """Print rows under their headers; empty columns are left out."""
    shown = [column for column in range(len(headers)) if any(row[column] for row in rows)]
    headers = [headers[column] for column in shown]
    rows = [[safe(row[column]) for column in shown] for row in rows]
    if sys.stdout.isatty():
        _put_rich(headers, rows, headed)
    else:
        _put_plain(headers, rows, headed)


def _put_plain(headers: Sequence[str], rows: Sequence[Sequence[str]], headed: bool) -> None:
    lines = [[header.upper() for header in headers], *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines if headed else lines[1:]:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _put_rich(headers: Sequence[str], rows: Sequence[Sequence[str]], headed: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    def style(header: str, cell: str) -> str:
        return STYLES.get(cell.partition(" ")[0], "") if header == "state" else ""

    table = Table(box=None, show_header=headed, header_style="bold", pad_edge=False)
    for header in headers:
        table.add_column(header, no_wrap=header in ("id", "at"), overflow="fold")
    for row in rows:
        cells = (Text(cell, style(header, cell)) for header, cell in zip(headers, row, strict=True))
        table.add_row(*cells)
    Console(soft_wrap=False).print(table)


def _encode(value: Any) -> Any:
    match value:
        case UUID():
            return str(value)
        case datetime():
            return utc(value).isoformat()
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} cannot be printed as JSON")
