"""`minutehand schedules put`: write a schedule."""

import sys
from datetime import timedelta
from typing import Any

import click

from minutehand import schedules as library
from minutehand.cli import text
from minutehand.cli.actor import actor
from minutehand.cli.kinds import check_against_project
from minutehand.cli.options import connection_options, open_database, tenant_option, tz_option
from minutehand.cli.output import print_message
from minutehand.cli.retry_options import retry_of, retry_options
from minutehand.cli.values import duration, option_time, parse_json
from minutehand.model.new_job import NewJob
from minutehand.schedules import Schedule
from minutehand.schedules.timing import CatchUp, Overlap


@click.command(short_help="Create or change a schedule.")
@click.argument("name")
@click.argument("every")
@click.argument("kind")
@click.argument("payload", default="null")
@click.option("--zone", help="Time zone of the schedule, such as Europe/Berlin.  [UTC]")
@click.option(
    "--starts",
    metavar="TIME",
    help="Not before this time: ISO 8601 with an offset, or with --tz; durations count from it.",
)
@click.option("--ends", metavar="TIME", help="Not after this time.")
@tz_option
@click.option(
    "--jitter",
    type=duration,
    default="0s",
    help="Delay the jobs by up to this time; the delay is fixed for each name.",
)
@click.option(
    "--ahead", type=duration, default="0s", help="Enqueue each job this long before its occurrence."
)
@click.option(
    "--catch-up",
    type=click.Choice(["none", "last", "all"]),
    default="none",
    show_default=True,
    help="Which missed occurrences to fire after an outage.",
)
@click.option(
    "--limit",
    type=int,
    default=100,
    show_default=True,
    help="Maximum number of occurrences with --catch-up all.",
)
@click.option(
    "--overlap",
    type=click.Choice(["allow", "skip", "replace"]),
    default="allow",
    show_default=True,
    help="What to do while the previous job is unfinished.",
)
@click.option("--queue", help="Queue of the jobs.")
@click.option("--key", help="Key of the jobs.")
@click.option("--priority", type=int, help="Priority from 0 to 9; 9 runs first.")
@click.option("--max-attempts", type=int, help="Number of attempts; 1 means no retry.")
@click.option("--timeout", type=duration, help="Timeout of an attempt, such as 90s; at most 24h.")
@retry_options
@tenant_option
@connection_options
def put(
    name: str,
    every: str,
    kind: str,
    payload: str,
    *,
    zone: str | None,
    starts: str | None,
    ends: str | None,
    tz: str | None,
    jitter: timedelta,
    ahead: timedelta,
    catch_up: CatchUp,
    limit: int,
    overlap: Overlap,
    **options: Any,
) -> None:
    """Create or change the schedule NAME: EVERY is cron with 5 or 6 fields, @daily etc., or ISO 8601 such as PT15M.

    At each occurrence, a job of KIND is enqueued with PAYLOAD, which is JSON (- reads it from stdin).

    \b
    Examples:
      minutehand schedules put report '0 8 * * mon' report --zone Europe/Berlin
      minutehand schedules put clean PT6H clean --catch-up last --overlap skip
    """
    if tz is not None and not (starts or ends):
        raise click.UsageError("--tz is the zone of --starts and --ends; for the zone of EVERY, use --zone")
    check_against_project()
    schedule = Schedule(
        name,
        every,
        _job(kind, payload, **options),
        zone,
        starts=option_time(starts, tz, "--starts") if starts else None,
        ends=option_time(ends, tz, "--ends") if ends else None,
        jitter=jitter,
        ahead=ahead,
        catch_up=catch_up,
        max_catch_up=limit,
        overlap=overlap,
    )
    with open_database() as database:
        stored = library.save(database, schedule, actor=actor())
    print_message(f"{name}: next {text.local(stored.next) if stored.next else 'never'}")


def _job(
    kind: str,
    payload: str,
    queue: str | None,
    key: str | None,
    priority: int | None,
    max_attempts: int | None,
    timeout: timedelta | None,
    **retry: Any,
) -> NewJob:
    try:
        value = parse_json(sys.stdin.read() if payload == "-" else payload)
    except ValueError as error:
        raise click.BadParameter(f"must be JSON: {error}", param_hint="PAYLOAD") from None
    return NewJob(
        kind,
        value,
        queue,
        key,
        priority=priority,
        max_attempts=max_attempts,
        timeout=timeout,
        retry=retry_of(**retry),
    )
