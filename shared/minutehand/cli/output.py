"""Output: a table on a terminal, aligned columns in a pipe, or one JSON object per line."""

import dataclasses
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import chain, islice
from shutil import get_terminal_size
from typing import Any, TextIO
from uuid import UUID

import click

from minutehand.cli.streams import is_terminal, leads_to_terminal
from minutehand.cli.tables import Column, column, fit, terminal_lines
from minutehand.cli.text import safe
from minutehand.cli.wrapping import wrap, wrap_instructions
from minutehand.model.stored import dump, utc


def print_message(message: str) -> None:
    """Print a message to stderr; on a terminal, in lines that fit it, and each command whole in a line."""
    text = safe(message)
    for line in wrap_instructions(text, _columns_of(sys.stderr)) if leads_to_terminal(sys.stderr) else [text]:
        click.echo(line, err=True)


def put_json(value: Any) -> None:
    """Print one JSON object on a line: times in ISO 8601 and UTC, durations in seconds."""
    click.echo(json_line(value))


def json_line(value: Any) -> str:
    """Return one JSON object on a line, as `put_json` prints it."""
    return dump(value, _encode)


def put_table(
    headers: Sequence[str | Column], rows: Sequence[Sequence[str]], *, headed: bool = True, paged: bool = True
) -> None:
    """Print rows under their headers; empty columns are left out. On a terminal, the table fits into its width."""
    put_lines(table_lines(headers, rows, headed=headed), paged=paged)


def table_lines(
    headers: Sequence[str | Column], rows: Sequence[Sequence[str]], *, headed: bool = True
) -> Iterator[str]:
    """Yield the lines of a table; on a terminal the last one names the columns that did not fit."""
    columns, rows = [column(each) for each in headers], [[safe(cell) for cell in row] for row in rows]
    if not is_terminal():
        yield from _plain_lines(columns, rows, headed)
        return
    layout = fit(columns, rows, get_terminal_size().columns)
    yield from terminal_lines(layout, rows, headed=headed)
    if layout.missing and headed:
        yield f"(not shown for lack of width: {', '.join(layout.missing)})"


def put_lines(lines: Iterable[str], *, paged: bool = True) -> None:
    """Print lines. On a terminal that is not high enough for them, a pager shows them."""
    if not paged or not is_terminal() or not leads_to_terminal(sys.stdin):
        for line in lines:
            click.echo(line)
        return
    rest = iter(lines)
    first = list(islice(rest, max(1, get_terminal_size().lines - 1)))
    following = next(rest, None)
    if following is None:
        for line in first:
            click.echo(line)
    else:
        click.echo_via_pager((f"{line}\n" for line in chain(first, [following], rest)), color=True)


def wrapped(text: str, indent: str = "", following: str | None = None) -> list[str]:
    """Return a text in lines that fit the terminal, broken between words; in a pipe, in one line."""
    return _on_terminal(wrap, text, indent, following)


def wrapped_instructions(text: str, indent: str = "", following: str | None = None) -> list[str]:
    """Return a text like `wrapped`, but with each of its commands whole in a line; in a pipe, in one line."""
    return _on_terminal(wrap_instructions, text, indent, following)


def _on_terminal(
    wrapper: Callable[[str, int, str, str], list[str]], text: str, indent: str, following: str | None
) -> list[str]:
    if not is_terminal():
        return [indent + text]
    return wrapper(text, get_terminal_size().columns, indent, indent if following is None else following)


def _columns_of(stream: TextIO) -> int:
    """Return the width of the terminal that a stream writes to; COLUMNS overrides it, as it does for stdout."""
    if "COLUMNS" in os.environ:
        return get_terminal_size().columns
    return os.get_terminal_size(stream.fileno()).columns or get_terminal_size().columns


def _plain_lines(columns: Sequence[Column], rows: Sequence[Sequence[str]], headed: bool) -> Iterator[str]:
    shown = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    lines = [
        [columns[place].name.upper() for place in shown],
        *([row[place] for place in shown] for row in rows),
    ]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for line in lines if headed else lines[1:]:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


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
