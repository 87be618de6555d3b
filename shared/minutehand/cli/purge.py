"""`minutehand purge`: finished jobs are deleted for good."""

from datetime import datetime, timedelta

import click

from minutehand.cli import text
from minutehand.cli.confirm import confirmed
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option, tz_option
from minutehand.cli.output import put_json, say
from minutehand.cli.progress import progress
from minutehand.cli.values import duration, option_moment
from minutehand.cli.who import who
from minutehand.database import Database
from minutehand.operations.jobs import purge as delete
from minutehand.operations.jobs import purgeable
from minutehand.queries.jobs import clock


@click.command()
@click.option(
    "--before", metavar="MOMENT", help="Finished before this: ISO 8601 with an offset, or with --tz."
)
@click.option("--older-than", type=duration, help="Finished longer ago than this, as 30d.")
@tz_option
@click.option(
    "--state",
    "states",
    type=click.Choice(["done", "dead", "cancelled"]),
    multiple=True,
    help="Only these; repeatable.",
)
@click.option("--queue", help="Only of this queue.")
@click.option("--kind", help="Only of this kind.")
@click.option("--dry-run", is_flag=True, help="Delete nothing; count what would be.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@output_option("table", "json")
@tenant_option
@connection_options
def purge(
    before: str | None, older_than: timedelta | None, tz: str | None, states: tuple[str, ...],
    queue: str | None, kind: str | None, dry_run: bool, yes: bool, form: str,
) -> int:  # fmt: skip
    """Delete finished jobs for good, some thousand at a time.

    Jobs that are not finished are never deleted.

    \b
    Examples:
      minutehand purge --older-than 30d --dry-run
      minutehand purge --before 2026-01-01 --tz UTC --state done --yes
    """
    if (before is None) == (older_than is None):
        raise click.UsageError("say --before or --older-than, one of them")
    moment = None if before is None else option_moment(before, tz, "--before")
    with open_database() as database:
        moment = moment or _earlier(clock(database), older_than or timedelta())
        count = purgeable(database, moment, queue=queue, kind=kind, states=states)
        if dry_run or not count:
            return _conclude(count, form, "would be deleted")
        if not confirmed(
            f"{text.jobs(count)}, finished before {text.local(moment)}, will be deleted for good.", yes=yes
        ):
            return 1
        return _conclude(_delete(database, moment, queue, kind, states, count), form, "deleted")


def _delete(
    database: Database,
    moment: datetime,
    queue: str | None,
    kind: str | None,
    states: tuple[str, ...],
    count: int,
) -> int:
    deleted = 0
    chunks = delete(database, moment, queue=queue, kind=kind, states=states, who=who())
    with progress("deleting", count) as advance:
        for chunk in chunks:
            deleted += chunk
            advance(chunk)
    return deleted


def _earlier(now: datetime, age: timedelta) -> datetime:
    try:
        return now - age
    except OverflowError:
        raise click.BadParameter("that is before the year 1", param_hint="--older-than") from None


def _conclude(count: int, form: str, what: str) -> int:
    if form == "json":
        put_json({"outcome": what, "jobs": count})
    else:
        say(f"{text.jobs(count)} {what}." if count else "No finished job is that old.")
    return 0
