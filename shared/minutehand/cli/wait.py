"""`minutehand wait`: stay until jobs are finished, and say by the exit code how they ended."""

from collections.abc import Iterable
from datetime import timedelta
from time import monotonic
from uuid import UUID

import click

from minutehand.cli import text
from minutehand.cli.ids import named_ids
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import put_json, say
from minutehand.cli.values import Stdin, duration, job_id_or_stdin
from minutehand.database import Database
from minutehand.errors import NotFoundError, UnfinishedError
from minutehand.queries.jobs import Row
from minutehand.queries.wait import wait as wait_for

DONE, NOT_DONE, UNFINISHED = 0, 1, 6


@click.command()
@click.option(
    "--timeout", type=duration, default="30s", show_default=True, help="How long to wait, for all of them."
)
@output_option("table", "json", "ids")
@click.argument("ids", nargs=-1, type=job_id_or_stdin)
@tenant_option
@connection_options
def wait(ids: tuple[UUID | Stdin, ...], timeout: timedelta, form: str) -> int:
    """Wait until jobs are finished.

    Name IDS or pipe them in (`-`). Each is told when it is finished. The exit code is 0 when all are done, 1 when one
    is dead, cancelled or not there, 6 when one is not finished and the time is over. The result is private: `show
    --payload` shows it.

    \b
    Examples:
      minutehand wait 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10 --timeout 5m
      minutehand enqueue echo -o ids | minutehand wait -
    """
    faults: list[str] = []
    named = named_ids(ids, faults.append)
    if named is None:
        raise click.UsageError("name the jobs by their ids, or pipe them in")
    with open_database() as database:
        codes = _wait_for_all(database, named, timeout, form)
    for fault in faults:
        say(fault)
    return max([*codes, NOT_DONE if faults else DONE])


def _wait_for_all(database: Database, ids: Iterable[UUID], timeout: timedelta, form: str) -> list[int]:
    deadline = monotonic() + timeout.total_seconds()
    return [
        _wait_for_one(database, job_id, timedelta(seconds=max(0.0, deadline - monotonic())), form)
        for job_id in ids
    ]


def _wait_for_one(database: Database, job_id: UUID, left: timedelta, form: str) -> int:
    try:
        row = wait_for(job_id, left, connection=database)
    except NotFoundError as error:
        say(str(error))
        return NOT_DONE
    except UnfinishedError as error:
        say(f"job {job_id} is {error.state}, and the time is over")
        return UNFINISHED
    _tell(row, form)
    return DONE if row.state == "done" else NOT_DONE


def _tell(row: Row, form: str) -> None:
    if form == "json":
        told = {name: getattr(row, name) for name in ("id", "queue", "kind", "state", "attempts", "deleted")}
        put_json({**told, "error_type": row.error and row.error.get("type")})
    elif form == "ids":
        click.echo(str(row.id))
    else:
        why = f": {row.error.get('type')}" if row.error and row.state != "done" else ""
        click.echo(text.safe(f"{row.id} {row.kind} {row.state}{why}"))
