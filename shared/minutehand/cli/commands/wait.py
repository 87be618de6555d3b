"""`minutehand wait`: wait until jobs are finished."""

from collections.abc import Iterable
from datetime import timedelta
from time import monotonic
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.exits import OK, REFUSED, UNFINISHED
from minutehand.cli.ids import GivenId, named_ids
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import print_message, put_json
from minutehand.cli.values import Stdin, duration, job_id_or_stdin
from minutehand.database import Database
from minutehand.errors import NotFoundError, UnfinishedError
from minutehand.model.row import Row
from minutehand.queries.wait import wait_encrypted


@click.command()
@click.option(
    "--timeout", type=duration, default="30s", show_default=True, help="Timeout for all jobs together."
)
@output_option("table", "json", "ids")
@click.argument("ids", nargs=-1, type=job_id_or_stdin)
@tenant_option
@connection_options
def wait(ids: tuple[GivenId | Stdin, ...], timeout: timedelta, form: str) -> int:
    """Wait until jobs are finished.

    Give IDS or pipe them in (`-`). Each job is printed when it finishes. The exit code is 0 if all jobs are done, 1 if
    one is dead, expired, cancelled or not found, and 6 after the timeout. Results are private: see `show --payload`.

    \b
    Examples:
      minutehand wait 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10 --timeout 5m
      minutehand enqueue echo -o ids | minutehand wait -
    """
    faults: list[str] = []
    if not ids:
        raise click.UsageError("expected job ids, got none; pass ids, or pipe them in with `-`")
    with open_database() as database:
        named = named_ids(database, ids, faults.append)
        codes = _wait_for_all(database, named, timeout, form)
    if not codes and not faults:
        # The command that should have printed them may have failed, so this is not a success.
        faults.append("error: no job ids were given on stdin")
    for fault in faults:
        print_message(fault)
    return max([*codes, REFUSED if faults else OK])


def _wait_for_all(database: Database, ids: Iterable[UUID], timeout: timedelta, form: str) -> list[int]:
    deadline = monotonic() + timeout.total_seconds()
    return [
        _wait_for_one(database, job_id, timedelta(seconds=max(0.0, deadline - monotonic())), form)
        for job_id in ids
    ]


def _wait_for_one(database: Database, job_id: UUID, left: timedelta, form: str) -> int:
    try:
        # The result is not printed, so no key is needed.
        row = wait_encrypted(job_id, left, connection=database)
    except NotFoundError as error:
        print_message(f"error: {error}")
        return REFUSED
    except UnfinishedError as error:
        print_message(f"timeout: job {job_id} is {error.state}")
        return UNFINISHED
    _put(row, form)
    return OK if row.state == "done" else REFUSED


def _put(row: Row, form: str) -> None:
    if form == "json":
        facts = {name: getattr(row, name) for name in ("id", "queue", "kind", "state", "attempts", "deleted")}
        put_json({**facts, "error_type": row.error and row.error.get("type")})
    elif form == "ids":
        click.echo(str(row.id))
    else:
        error = f": {row.error.get('type')}" if row.error and row.state != "done" else ""
        click.echo(text.safe(f"{row.id} {row.kind} {row.state}{error}"))
