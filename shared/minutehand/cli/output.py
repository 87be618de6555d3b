"""Output: a table on a terminal, aligned columns in a pipe, or one JSON object per line."""

import dataclasses
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import chain, islice
from shutil import get_terminal_size
from typing import Any
from uuid import UUID

import click

from minutehand.cli.tables import Column, column, fit, terminal_lines
from minutehand.cli.text import safe
from minutehand.model.stored import dump, utc

# A word and the space before it.
WORDS = re.compile(r"(\s*)(\S+)")


def print_message(message: str) -> None:
    """Print a message to stderr; on a terminal, in lines that fit it."""
    text = safe(message)
    for line in wrap(text, get_terminal_size().columns) if sys.stderr.isatty() else [text]:
        click.echo(line, err=True)


def put_json(value: Any) -> None:
    """Print one JSON object on a line: times in ISO 8601 and UTC, durations in seconds."""
    click.echo(json_line(value))


def json_line(value: Any) -> str:
    """Return one JSON object on a line, as `put_json` prints it."""
    return dump(value, _encode)


def is_terminal() -> bool:
    """Whether the output goes to a terminal."""
    return sys.stdout.isatty()


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
    if not paged or not is_terminal() or not sys.stdin.isatty():
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
    if not is_terminal():
        return [indent + text]
    return wrap(text, get_terminal_size().columns, indent, indent if following is None else following)


def wrap(text: str, width: int, indent: str = "", following: str = "") -> list[str]:
    """Return a text in lines of at most this width, broken between words; a word is broken if no line can hold it."""
    from rich.cells import cell_len, chop_cells

    width, lines, line = max(20, width), [], indent
    for space, word in WORDS.findall(text):
        fits_alone = cell_len(following + word) <= width
        if fits_alone and line.strip() and cell_len(line + space + word) > width:
            lines.append(line)
            line = following + word
            continue
        line += space + word
        if cell_len(line) > width:
            first = chop_cells(line, width)[0]
            rest = chop_cells(line[len(first) :], width - cell_len(following))
            lines += [first, *(following + part for part in rest[:-1])]
            line = following + rest[-1]
    return [each.rstrip() for each in [*lines, line]]


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
