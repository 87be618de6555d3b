"""Pages of jobs, and how they are printed."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.output import put_json, put_table
from minutehand.database import Database
from minutehand.model.row import Page, Row
from minutehand.queries.jobs import MAX_PAGE, clock, list_jobs

HEADERS = ["id", "queue", "kind", "key", "group", "state", "at"]
FIELDS = (
    *("id", "queue", "kind", "state", "key", "group", "priority", "attempts", "max_attempts"),
    *("enqueued", "run_at", "visible", "offered", "claimed", "deleted", "error"),
    *("tenant", "version", "every", "zone", "nominal", "schedule"),
)
KEY_CHARACTERS = 40


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


def put_rows(database: Database, rows: tuple[Row, ...], form: str, *, headed: bool = True) -> None:
    """Print a page of jobs."""
    if form == "table":
        now = clock(database)
        put_table(
            HEADERS,
            [[*_names(row), text.state(row, now), text.local(text.when(row))] for row in rows],
            headed=headed,
        )
    for row in rows:
        if form == "ids":
            click.echo(str(row.id))
        elif form == "json":
            put_json({name: getattr(row, name) for name in FIELDS})


def _names(row: Row) -> list[str]:
    return [str(row.id), row.queue, row.kind, _short(row.key or ""), _short(row.group or "")]


def _short(name: str) -> str:
    return name if len(name) <= KEY_CHARACTERS else f"{name[: KEY_CHARACTERS - 1]}…"
