"""`minutehand reschedule`: move jobs to another time."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import click

from minutehand.cli.actor import actor
from minutehand.cli.change_jobs import UPCOMING, Action, change_jobs
from minutehand.cli.options import tz_option
from minutehand.cli.selection import Selection, selection_options
from minutehand.cli.times import later
from minutehand.cli.values import duration, option_time
from minutehand.database import Database
from minutehand.operations import jobs
from minutehand.operations.change import Change


@click.command()
@click.option(
    "--at", metavar="TIME", help="ISO 8601 with an offset, such as 2030-03-01T08:00:00+01:00, or with --tz."
)
@click.option("--in", "delay", type=duration, help="Delay from now, such as 90s, 10m, 2h30m or 3d.")
@tz_option
@selection_options
def reschedule(at: str | None, delay: timedelta | None, tz: str | None, **selection: Any) -> int:
    """Move upcoming jobs to another time; a time in the past means now.

    Give IDS, pipe them in (`-`), or use filters. A running job is not changed, but reported as refused.

    \b
    Examples:
      minutehand reschedule 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10 --in 2h30m
      minutehand reschedule --kind newsletter --at 2030-03-01T08:00Z --yes
    """
    if (at is None) == (delay is None):
        raise click.UsageError(f"expected --at or --in, got {'both' if at is not None else 'neither'}")
    moment = None if at is None else option_time(at, tz, "--at")
    by = actor()

    def move(database: Database, ids: Sequence[UUID]) -> list[Change]:
        run_at = moment or later(database, delay or timedelta(), "--in")
        return jobs.reschedule(database, ids, run_at, actor=by)

    return change_jobs(Action("rescheduled", UPCOMING, move), Selection(**selection))
