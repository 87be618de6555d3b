"""Pages of jobs, and their lines."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from minutehand.cli import text
from minutehand.cli.output import json_line, table_lines
from minutehand.cli.streams import is_terminal
from minutehand.cli.tables import Column
from minutehand.database import Database
from minutehand.model.row import LISTED, Page, Row, without_trace
from minutehand.queries.ids import short_ids
from minutehand.queries.jobs import MAX_PAGE, clock, list_jobs

KEY_CHARACTERS = 40
# The columns of the table between the id and the state, with the text of each.
COLUMNS: list[tuple[Column, Callable[[Row], str]]] = [
    (Column(name="queue", least=6), lambda row: row.queue),
    (Column(name="kind", least=8), lambda row: row.kind),
    (Column(name="key", least=8), lambda row: _short(row.key)),
    (Column(name="group", least=6, rank=1), lambda row: _short(row.group)),
]
HEADERS = [
    Column(name="id"),
    *(column for column, _ in COLUMNS),
    Column(name="state", least=24),
    Column(name="at", rank=2),
]


def pages(
    database: Database, *, before: UUID | None = None, limit: int | None = None, **filters: Any
) -> Iterator[Page]:
    """Yield pages of jobs until there are no more, or `limit` jobs were yielded."""
    while limit is None or limit > 0:
        size = MAX_PAGE if limit is None else min(limit, MAX_PAGE)
        page = list_jobs(database, before=before, limit=size, **filters)
        if page.rows:
            yield page
        if page.before is None:
            return
        before, limit = page.before, None if limit is None else limit - len(page.rows)


def lines_of(database: Database, rows: tuple[Row, ...], form: str, *, headed: bool = True) -> Iterator[str]:
    """Yield the lines of a page of jobs. On a terminal, ids are as short as they can be."""
    if form == "table":
        now, ids = clock(database), _ids(database, rows)
        cells = [
            [
                ids[row.id],
                *(value(row) for _, value in COLUMNS),
                text.state(row, now),
                text.local(text.when(row)),
            ]
            for row in rows
        ]
        yield from table_lines(HEADERS, cells, headed=headed)
    for row in rows:
        if form == "ids":
            yield str(row.id)
        elif form == "json":
            fields = {name: getattr(row, name) for name in LISTED}
            yield json_line(fields | {"error": without_trace(row.error)})


def _ids(database: Database, rows: tuple[Row, ...]) -> dict[UUID, str]:
    # Programs that read a pipe expect full ids.
    return (
        short_ids(database, [row.id for row in rows])
        if is_terminal()
        else {row.id: str(row.id) for row in rows}
    )


def _short(name: str | None) -> str:
    """Return a key or a group; on a terminal, its beginning, so that the state is visible."""
    name = name or ""
    return name if len(name) <= KEY_CHARACTERS or not is_terminal() else f"{name[: KEY_CHARACTERS - 1]}…"
