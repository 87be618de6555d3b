"""`minutehand retry`: bring dead, expired and cancelled jobs back, at once or at a rate."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID

import click

from minutehand.cli.actor import actor
from minutehand.cli.change_jobs import CHUNK, Action, change_jobs
from minutehand.cli.selection import (
    Selection,
    find_finished_by_filters,
    finished_options,
    selection_options,
)
from minutehand.database import Database
from minutehand.operations import jobs
from minutehand.operations.again import step_of
from minutehand.operations.change import RETRYABLE, Change

INSTEAD = {"done": "; to run finished jobs again, use replay"}


@click.command()
@click.option("--rate", type=float, metavar="PER_MINUTE", help="Make this many jobs due per minute.")
@finished_options
@selection_options
def retry(
    rate: float | None,
    finished_since: str | None,
    finished_until: str | None,
    limit: int | None,
    **selection: Any,
) -> int:
    """Retry dead, expired or cancelled jobs with a full set of attempts, at once or at a rate.

    Give IDS, pipe them in (`-`), or use filters. Filters select dead and cancelled jobs; expired jobs require --state
    expired. With --rate, the jobs that finished last come first.

    \b
    Examples:
      minutehand retry 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand retry --kind welcome --dry-run
      minutehand retry --state dead --queue mail --rate 60 --yes
      minutehand ls --state dead -o ids | minutehand retry -
    """
    step = timedelta() if rate is None else step_of(rate)
    starts = (number * CHUNK * step for number in count())
    by = actor()

    def act(database: Database, ids: Sequence[UUID]) -> list[Change]:
        return jobs.retry(database, ids, start=next(starts), step=step, actor=by)

    options = {"finished_since": finished_since, "finished_until": finished_until, "limit": limit}
    finished = {name: value for name, value in options.items() if value is not None}
    action = Action(
        "retried", RETRYABLE, act, find_finished_by_filters, default=("dead", "cancelled"), instead=INSTEAD
    )
    return change_jobs(action, Selection(**selection, finished=finished))
